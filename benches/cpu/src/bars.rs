//! Which bars were met.

use bench_shared::report::power;

use crate::report::{Role, Row};
use crate::workloads::{ALL, Bar, To, Workload};

/// Prints each bar that the rows have a figure for: what was wanted, what came out, and what the best rival does, × the baseline.
pub(crate) fn print(rows: &[Row]) {
    println!("\nbars, × what they are to; the best rival on as many threads or fewer beside it, × baseline");
    println!("{:15} {:>6} {:>7} {:>7} {:>9}   {:7} best rival", "workload", "n", "threads", "bar", "monoscan", "");
    for workload in &ALL {
        for bar in workload.bars {
            for (threads, ratio) in (1..).zip(bar.ratios).filter(|(_, ratio)| *ratio > 0.0) {
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
    let fastest = |rows: &mut dyn Iterator<Item = &Row>| rows.map(|row| row.ratio.median).reduce(f64::max);
    let mut copies = here().filter(|row| row.role == Role::Copy && row.name == "memcpy" && row.threads == threads);
    let rivals = here().filter(|row| matches!(row.role, Role::Rival | Role::Baseline) && row.threads <= threads);
    let best = rivals.max_by(|p, q| p.ratio.median.total_cmp(&q.ratio.median));
    let to = match bar.to {
        To::Baseline => Some(1.0),
        To::BestRival => fastest(&mut here().filter(|row| row.role == Role::Rival && row.threads <= threads)),
        To::Copy => fastest(&mut copies),
    };
    let Some(to) = to else { return };
    let ours = ours.ratio.median / to;
    let verdict = if ours >= wanted { "met" } else { "MISSED" };
    let what = match bar.to {
        To::Baseline => "",
        To::BestRival => " of the best rival",
        To::Copy => " of memcpy",
    };
    let best = best.map_or(String::new(), |row| format!("{:.2} {}", row.ratio.median, row.name));
    let (name, elements) = (workload.name, power(bar.elements as u64));
    println!("{name:15} {elements:>6} {threads:7} {wanted:7.2} {ours:9.2}   {verdict:7} {best}{what}");
}
