//! Scans on a machine that is not quiet, beside the plain loop of the same round: with spinning
//! processes, in a pool of more threads than cores, in many threads at once, nested in parallel
//! work. A quota or `taskset` is put on from outside.
//!
//! The ratio within a round counts. A loop and a scan of a few microseconds meet a stranger now and
//! then only, and then lose a time slice. So the table has the median and the 95th percentile, and
//! by how many milliseconds that is above the median, for the loop itself too.

pub(crate) mod operators;
pub(crate) mod strangers;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;

pub(crate) use operators::RUN_LENGTHS;
use operators::{NAMES, Pair, Visitor, visit};
use strangers::Strangers;

use crate::machine;
use crate::options::Options;
use bench_shared::report::power;

/// How a scan is called.
#[derive(Clone, Copy)]
enum Setting {
    /// From one thread, in the pool that everybody has.
    Plain,
    /// From one thread of a pool of so many.
    Pool(usize),
    /// From so many threads at once.
    Callers(usize),
    /// From so many tasks of a parallel iterator.
    Nested(usize),
}

impl Setting {
    fn name(self) -> String {
        match self {
            Setting::Plain => "one call".into(),
            Setting::Pool(threads) => format!("pool of {threads}"),
            Setting::Callers(threads) => format!("{threads} callers"),
            Setting::Nested(tasks) => format!("{tasks} nested"),
        }
    }

    /// How many columns of results are written at once.
    fn columns(self) -> usize {
        match self {
            Setting::Plain | Setting::Pool(_) => 1,
            Setting::Callers(count) | Setting::Nested(count) => count,
        }
    }
}

/// The fewest rounds.
const ROUNDS: usize = 20;

/// Prints the table.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    println!("{}", machine::describe());
    println!(
        "{:<12} {:>9} {:<14} {:>5} {:>10} {:>7} {:>7} {:>8} {:>8} {:>7} {:>7} {:>6}",
        "setting",
        "strangers",
        "operator",
        "size",
        "loop ns/el",
        "scan/l",
        "95 %",
        "ms above",
        "of loop",
        "alone/l",
        "95 %",
        "rounds"
    );
    for &count in &options.strangers {
        for elements in options.sizes_or(&[16, 18, 20, 22, 24, 26]) {
            table(options, Setting::Plain, count, elements)?;
        }
    }
    for setting in [Setting::Pool(16), Setting::Callers(32), Setting::Nested(32)] {
        let most = if setting.columns() > 1 { 1 << 20 } else { 1 << 26 };
        for elements in options.sizes_or(&[16, 20, 24]).into_iter().filter(|&elements| elements <= most) {
            table(options, setting, 0, elements)?;
        }
    }
    println!("{}", machine::describe());
    Ok(())
}

fn table(options: &Options, setting: Setting, strangers: usize, elements: usize) -> Result<(), String> {
    let budget = Duration::from_millis(options.budget);
    for name in NAMES.into_iter().filter(|name| options.wants_workload(name)) {
        let beside = Strangers::new(strangers)?;
        visit(name, elements, &mut Race { setting, strangers, elements, budget });
        drop(beside);
    }
    Ok(())
}

/// The rounds of one line of the table.
struct Race {
    setting: Setting,
    strangers: usize,
    elements: usize,
    budget: Duration,
}

impl Visitor for Race {
    fn visit<T: Copy + Default + PartialEq + Send + Sync>(&mut self, pair: Pair<T>) {
        let mut columns = vec![vec![T::default(); self.elements]; self.setting.columns()];
        let pool = match self.setting {
            Setting::Pool(threads) => rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok(),
            _ => None,
        };
        let entrants = [&pair.plain, &pair.scan, &pair.alone];
        let mut times = [const { Vec::new() }; 3];
        let mut time = |entrant: usize| match &pool {
            Some(pool) => pool.install(|| time(self.setting, &mut columns, entrants[entrant])),
            None => time(self.setting, &mut columns, entrants[entrant]),
        };
        (0..3).for_each(|entrant| _ = time(entrant));
        let start = Instant::now();
        while times[0].len() < ROUNDS || start.elapsed() < self.budget {
            let round = times[0].len();
            for place in 0..3 {
                let entrant = (place + round) % 3;
                let taken = time(entrant);
                times[entrant].push(taken);
            }
        }
        self.print(pair.name, &times);
    }
}

impl Race {
    fn print(&self, operator: &str, [plain, scan, alone]: &[Vec<f64>; 3]) {
        let ratio = |times: &[f64]| times.iter().zip(plain).map(|(time, plain)| time / plain).collect::<Vec<_>>();
        let (scan_ratio, alone_ratio) = (ratio(scan), ratio(alone));
        let above = |times: &[f64]| 1e3 * (quantile(times, 0.95) - quantile(times, 0.5));
        println!(
            "{:<12} {:>9} {operator:<14} {:>5} {:>10.3} {:>7.2} {:>7.2} {:>8.2} {:>8.2} {:>7.2} {:>7.2} {:>6}",
            self.setting.name(),
            self.strangers,
            power(self.elements as u64),
            1e9 * quantile(plain, 0.5) / (self.elements * self.setting.columns()) as f64,
            quantile(&scan_ratio, 0.5),
            quantile(&scan_ratio, 0.95),
            above(scan),
            above(plain),
            quantile(&alone_ratio, 0.5),
            quantile(&alone_ratio, 0.95),
            plain.len(),
        );
    }
}

/// The seconds that one run takes; all columns are written.
fn time<T: Send>(setting: Setting, columns: &mut [Vec<T>], run: &(dyn Fn(&mut [T]) + Sync)) -> f64 {
    match setting {
        Setting::Plain | Setting::Pool(_) => {
            let start = Instant::now();
            columns.iter_mut().for_each(|column| run(column));
            start.elapsed().as_secs_f64()
        }
        Setting::Nested(_) => {
            let start = Instant::now();
            columns.par_iter_mut().for_each(|column| run(column));
            start.elapsed().as_secs_f64()
        }
        Setting::Callers(callers) => {
            let ready = &Barrier::new(callers);
            let call = |column| {
                ready.wait();
                let start = Instant::now();
                run(column);
                [start, Instant::now()]
            };
            let times: Vec<[Instant; 2]> = thread::scope(|scope| {
                let callers: Vec<_> = columns.iter_mut().map(|column| scope.spawn(|| call(column))).collect();
                callers.into_iter().map(|caller| caller.join().expect("scans do not panic")).collect()
            });
            // A thread that watched them might get a core only when they are done.
            let [starts, ends] = [0, 1].map(|end| times.iter().map(move |times| times[end]));
            starts.min().zip(ends.max()).map_or(0.0, |(first, last)| last.duration_since(first).as_secs_f64())
        }
    }
}

/// The figure that this part of all figures is not above.
pub(crate) fn quantile(figures: &[f64], part: f64) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}
