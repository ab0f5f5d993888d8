//! Each row of the bar for small inputs: a scan of 64 elements or more takes at most 1.05 times its
//! plain loop's time, on one thread and on two, rows and segments of a few elements included.
//!
//! The workloads of ordinary uses are in `workloads/`; here are all monoids of the test suite's zoo
//! as their own records, whose plain loop is `combine` in Rust, and rows and segments of every
//! length up to 16. The table has a line for each, and says which are below the bar. Scans that are
//! derived from loops are beside operators by hand, not loops.

mod by_hand;
mod elements;
mod exact;
mod rows;
mod uses;
mod zoo;

use bench_shared::report::power;

use crate::machine;
use crate::options::Options;
use crate::peers::Peers;
use crate::race::{Effort, Field};
use crate::report::{Role, Row};
use crate::workloads::{self, Session};

/// The plain loop's time over the scan's that is wanted.
const BAR: f64 = 1.0 / 1.05;

/// Numbers of elements, by their logarithms.
const SIZES: [u32; 6] = [6, 8, 10, 12, 16, 20];

/// The workloads here that are no others: names for `--workload`.
pub(crate) const NAMES: [&str; 5] = ["zoo", "rows", "segments", "uses", "by-hand"];

/// Prints the table. Says whether all results were right.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let effort = options.depth.choose(Effort::VERIFY, Effort::GLANCE, Effort::QUICK);
    let session = Session { peers: Peers::none(), effort, json: None };
    println!("{}", machine::describe());
    println!("{:44} {:>6} {:>7} {:>9} {:>9}   loop ÷ scan", "", "n", "threads", "loop ns", "scan ns");
    let mut tally = Tally::default();
    let sizes = options.sizes_or(&SIZES);
    for workload in workloads::ALL.iter().filter(|workload| workload.is_ordinary()) {
        if options.wants_workload(workload.name) {
            sizes.iter().for_each(|&elements| tally.print(workload.run_alone(&session, elements)));
        }
    }
    for &elements in &sizes {
        if options.wants_workload(NAMES[0]) {
            zoo::run(&session, elements, &mut |rows| tally.print(rows));
        }
        // Their shape does not change with their number.
        if options.wants_workload(NAMES[1]) && elements <= 1 << 12 {
            rows::rows(&session, elements, &mut |rows| tally.print(rows));
        }
        if options.wants_workload(NAMES[2]) && elements <= 1 << 12 {
            rows::segments(&session, elements, &mut |rows| tally.print(rows));
        }
        if options.wants_workload(NAMES[3]) {
            uses::run(&session, elements, &mut |rows| tally.print(rows));
        }
        if options.wants_workload(NAMES[4]) {
            by_hand::run(&session, elements, &mut |rows| tally.print(rows));
        }
    }
    println!("{}", machine::describe());
    tally.end();
    Ok(tally.wrong.is_empty())
}

/// A race of this name.
fn field<'a>(name: &str, elements: usize) -> Field<'a> {
    Field::new(name.to_owned(), elements)
}

/// The text that was printed.
#[derive(Default)]
struct Tally {
    lines: usize,
    below: Vec<String>,
    wrong: Vec<String>,
}

impl Tally {
    /// A line for each number of threads.
    fn print(&mut self, rows: Vec<Row>) {
        let plain = rows.iter().find(|row| row.role == Role::Baseline).map_or(f64::NAN, |row| row.ns.median);
        for row in rows.iter().filter(|row| row.role != Role::Copy) {
            let Row { workload, elements, threads, ns, ratio, absent, .. } = row;
            let line = format!("{workload:44} {:>6} {threads:7}", power(*elements as u64));
            match absent {
                Some(why) => {
                    println!("{line}   {}: {why}", row.name);
                    self.wrong.push(line);
                }
                None if row.role != Role::Ours => {}
                None if !row.timed() => println!("{line}   verified"),
                None => {
                    let is_below = ratio.median < BAR;
                    let mark = if is_below { "   below" } else { "" };
                    let line = format!("{line} {plain:9.3} {:9.3}   {:.2}{mark}", ns.median, ratio.median);
                    println!("{line}");
                    self.lines += 1;
                    self.below.extend(is_below.then_some(line));
                }
            }
        }
    }

    fn end(&self) {
        println!("\n{} of {} rows are below {BAR:.3}", self.below.len(), self.lines);
        self.below.iter().for_each(|line| println!("{line}"));
        if !self.wrong.is_empty() {
            println!("\n{} are wrong", self.wrong.len());
            self.wrong.iter().for_each(|line| println!("{line}"));
        }
    }
}
