//! Which bars were met.

use bench_shared::report::power;

use crate::report::{Role, Row};
use crate::workloads::{ALL, Bar, Workload};

/// Prints each bar that the rows have a figure for: what was wanted, what came out, and what the best rival does.
pub(crate) fn print(rows: &[Row]) {
    println!("\nbars, × baseline; the best rival on as many threads or fewer beside it");
    println!("{:15} {:>6} {:>7} {:>7} {:>9}   {:7} best rival", "workload", "n", "threads", "bar", "monoscan", "");
    for workload in &ALL {
        for bar in workload.bars {
            for (threads, ratio) in (1..).zip(bar.ratios) {
                print_one(rows, workload, bar, (threads, ratio));
            }
        }
    }
}

fn print_one(rows: &[Row], workload: &Workload, bar: &Bar, (threads, wanted): (usize, f64)) {
    let here =
        || rows.iter().filter(|row| row.workload == workload.name && row.elements == bar.elements && row.timed());
    let Some(ours) = here().find(|row| row.role == Role::Ours && row.name == "monoscan" && row.threads == threads)
    else {
        return;
    };
    let verdict = if ours.ratio.median >= wanted { "met" } else { "MISSED" };
    let rivals = here().filter(|row| matches!(row.role, Role::Rival | Role::Baseline) && row.threads <= threads);
    let best = rivals.max_by(|p, q| p.ratio.median.total_cmp(&q.ratio.median));
    let best = best.map_or(String::new(), |row| format!("{:.2} {}", row.ratio.median, row.name));
    let (name, elements, ours) = (workload.name, power(bar.elements as u64), ours.ratio.median);
    println!("{name:15} {elements:>6} {threads:7} {wanted:7.2} {ours:9.2}   {verdict:7} {best}");
}
