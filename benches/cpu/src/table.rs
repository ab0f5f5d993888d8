//! The results as a table in Markdown, as `docs/measurements/cpu.md` has it: a line for each
//! workload and size.

use bench_shared::report::power;

use crate::report::{Role, Row};
use crate::workloads::ALL;

const HEAD: &str = "\
| workload | n | baseline, ns | best rival, 1 thread | best rival, 2 threads | monoscan, 1 thread | monoscan, 2 threads | memcpy, ns, 1 / 2 threads |
|---|---|---|---|---|---|---|---|
";

/// The table. Ratios are to the baseline, with the bar in brackets where there is one.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut sizes: Vec<usize> = rows.iter().map(|row| row.elements).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut out = HEAD.to_owned();
    for workload in &ALL {
        for &elements in &sizes {
            let here = |row: &&Row| row.workload == workload.name && row.elements == elements && row.timed();
            let here: Vec<&Row> = rows.iter().filter(here).collect();
            let Some(baseline) = here.iter().find(|row| row.role == Role::Baseline) else { continue };
            let bar = workload.bars.iter().find(|bar| bar.elements == elements);
            let ours = |threads: usize| match ours(&here, threads) {
                Some(row) => match bar {
                    Some(bar) => format!("{} (bar {:.2})", figures(row), bar.ratios[threads - 1]),
                    None => figures(row),
                },
                None => String::new(),
            };
            let rival = |threads| match best_rival(&here, threads) {
                Some(row) => format!("{} {}", row.name, figures(row)),
                None => "none".to_owned(),
            };
            let (title, size, ns) = (workload.title, power(elements as u64), baseline.ns.median);
            let name = if baseline.name == "plain loop" { String::new() } else { format!("{} ", baseline.name) };
            let cells = [rival(1), rival(2), ours(1), ours(2), copies(&here)].join(" | ");
            out += &format!("| {title} | {size} | {name}{ns:.3} | {cells} |\n");
        }
    }
    out
}

/// The entrant that bars are for.
fn ours<'a>(rows: &[&'a Row], threads: usize) -> Option<&'a Row> {
    rows.iter().copied().find(|row| row.role == Role::Ours && row.name == "monoscan" && row.threads == threads)
}

fn best_rival<'a>(rows: &[&'a Row], threads: usize) -> Option<&'a Row> {
    let rivals = rows.iter().copied().filter(|row| row.role == Role::Rival && row.threads == threads);
    rivals.max_by(|p, q| p.ratio.median.total_cmp(&q.ratio.median))
}

fn figures(row: &Row) -> String {
    format!("{:.3} ns, {:.2}×", row.ns.median, row.ratio.median)
}

fn copies(rows: &[&Row]) -> String {
    let memcpy = |threads| rows.iter().find(|row| row.name == "memcpy" && row.threads == threads);
    [1, 2].map(|threads| memcpy(threads).map_or("–".to_owned(), |row| format!("{:.3}", row.ns.median))).join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Quartiles;

    #[test]
    fn each_size_has_a_line_with_the_best_rival_and_the_bar() {
        let row = |role, name, threads, ns| Row {
            rounds: 1,
            ns: Quartiles::of(vec![ns]),
            ratio: Quartiles::of(vec![1.0 / ns]),
            ..Row::new("sum-i32", 1 << 16, role, name, threads)
        };
        let rows = [
            row(Role::Baseline, "plain loop", 1, 1.0),
            row(Role::Ours, "monoscan", 1, 0.5),
            row(Role::Ours, "monoscan", 2, 0.25),
            row(Role::Rival, "slow", 2, 2.0),
            row(Role::Rival, "fast", 2, 0.8),
            row(Role::Copy, "memcpy", 1, 0.1),
        ];
        let line = "| sum i32 | 2^16 | 1.000 | none | fast 0.800 ns, 1.25× | 0.500 ns, 2.00× (bar 1.50) | \
                    0.250 ns, 4.00× (bar 1.50) | 0.100 / – |";
        assert_eq!(markdown(&rows).lines().nth(2), Some(line));
    }
}
