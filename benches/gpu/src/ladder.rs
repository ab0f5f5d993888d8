//! The ladder: sums of `i32` by every schedule out of the scan's history, and last by the plan that
//! monoscan chooses.

use std::time::Instant;

use gpu_ladder::{LadderError, LadderScan, Rung};
use monoscan_runtime::cuda::Device;

use bench_shared::report::power;

use crate::arena::{Arena, words};
use crate::bench::{self, Bench, Effort, TIME_LIMIT};
use crate::contender::Contender;
use crate::line::Subject;
use crate::options::Options;
use crate::report::Figures;
use crate::rows::{ALL, Row};

/// The row whose operator is scanned.
const ROW: &str = "sum-i32";

/// A schedule, measured.
pub(crate) struct Step {
    name: String,
    /// How often it reads each record.
    reads: usize,
    /// At each size; none if the device has no such schedule.
    figures: Vec<Figures>,
}

/// The memory and stream that schedules are measured with.
struct Course<'a> {
    row: &'static Row,
    subject: &'a dyn Subject,
    sizes: Vec<u64>,
    effort: Effort,
}

/// Measures every rung, and then the plan. After each step, all of them so far are shown to `keep`.
pub(crate) fn measure(
    options: &Options,
    seed: u64,
    (device, arena): (&Device, &mut Arena),
    keep: impl Fn(&[Step]) -> Result<(), String>,
) -> Result<Vec<Step>, String> {
    let row = ALL.iter().find(|row| row.name == ROW).expect("the table has this row");
    let subject = (row.make)(seed).map_err(words)?;
    let mut sizes: Vec<u64> =
        options.ladder_sizes().into_iter().filter_map(|size| row.elements(size, arena.capacity())).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let course = Course { row, subject: &*subject, sizes, effort: options.effort() };
    let scan = bench::scan_of(subject.program(), device).map_err(words)?;
    let mut steps = Vec::new();
    println!("\n{}, by every rung of the ladder", row.title);
    for rung in Rung::ALL {
        steps.push(course.rung(rung, device, arena)?);
        keep(&steps)?;
    }
    let plan = scan.kernel().map_err(words)?.manifest().plan.to_string();
    let plan = plan.split(';').next().unwrap_or_default().to_owned();
    steps.push(course.step(format!("as planned: {plan}"), 1, Contender::Planned(Box::new(scan)), arena)?);
    keep(&steps)?;
    Ok(steps)
}

impl Course<'_> {
    fn rung(&self, rung: Rung, device: &Device, arena: &mut Arena) -> Result<Step, String> {
        let began = Instant::now();
        match LadderScan::new(self.subject.program(), rung, device, TIME_LIMIT) {
            Ok(scan) => {
                let code: Vec<_> = scan.code().iter().map(|kernel| kernel.facts().registers).collect();
                let made = began.elapsed().as_secs_f64();
                println!("{rung}: tiles of {}, registers {code:?}, made in {made:.2} s", scan.kernels().tile);
                self.step(rung.name().to_owned(), rung.reads(), Contender::Rung(scan), arena)
            }
            Err(LadderError::Unfit(why)) => {
                println!("{rung}: none, {why}");
                Ok(Step { name: rung.name().to_owned(), reads: rung.reads(), figures: Vec::new() })
            }
            Err(error) => Err(format!("{rung}: {}", words(error))),
        }
    }

    fn step(&self, name: String, reads: usize, contender: Contender, arena: &mut Arena) -> Result<Step, String> {
        let most = self.sizes.last().copied().unwrap_or(0);
        let mut bench = Bench::new(self.row, self.subject, contender, arena, (most, self.effort)).map_err(words)?;
        let mut figures = Vec::new();
        for &elements in &self.sizes {
            let found = bench.measure(elements);
            println!("{}", line(&name, &found));
            figures.push(found);
        }
        Ok(Step { name, reads, figures })
    }
}

/// Whether all results were right.
pub(crate) fn are_right(steps: &[Step]) -> bool {
    steps.iter().flat_map(|step| &step.figures).all(|figures| figures.wrong.is_none())
}

fn line(name: &str, figures: &Figures) -> String {
    let head = format!("  {name:20} {:5}", power(figures.elements));
    match &figures.wrong {
        Some(why) => format!("{head} BAD: {why}"),
        None if figures.call.is_nan() => format!("{head} verified"),
        None => format!(
            "{head} {:10.2} µs {:7.1} GB/s   copy {:10.2} µs   of copy {:.3}",
            1e3 * figures.call,
            figures.throughput(figures.call),
            1e3 * figures.copy,
            figures.of_copy()
        ),
    }
}

/// All results as a CSV file.
pub(crate) fn to_csv(steps: &[Step]) -> String {
    let mut out = "schedule,reads,elements,bytes,call_ms,graph_ms,copy_ms,of_copy,wrong\n".to_owned();
    for Step { name, reads, figures } in steps {
        for figures in figures {
            let Figures { elements, bytes, call, graph, copy, wrong, .. } = figures;
            let times = [*call, *graph, *copy, figures.of_copy()].map(|time| format!("{time:.6}")).join(",");
            let wrong = wrong.as_deref().unwrap_or_default().replace(['\n', '\r'], " ");
            out += &format!("{name},{reads},{elements},{bytes},{times},{wrong}\n");
        }
    }
    out
}

/// The table: a line for each schedule, with its time and its part of a copy's speed at each size.
pub(crate) fn markdown(steps: &[Step]) -> String {
    let mut sizes: Vec<u64> = steps.iter().flat_map(|step| &step.figures).map(|figures| figures.elements).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let heads: String = sizes.iter().map(|&size| format!(" {}, µs | of copy |", power(size))).collect();
    let mut out = format!("| sum i32 by | reads |{heads}\n|---|---|{}\n", "---|".repeat(2 * sizes.len()));
    for Step { name, reads, figures } in steps {
        let cells = sizes.iter().map(|&size| match figures.iter().find(|figures| figures.elements == size) {
            Some(Figures { wrong: Some(_), .. }) => " BAD | BAD |".to_owned(),
            Some(figures) => format!(" {:.1} | {:.3} |", 1e3 * figures.call, figures.of_copy()),
            None => " – | – |".to_owned(),
        });
        out += &format!("| {name} | {reads} |{}\n", cells.collect::<String>());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(elements: u64, call: f64, wrong: Option<&str>) -> Figures {
        let row = ALL.iter().find(|row| row.name == ROW).unwrap();
        let new = Figures::new(row, elements, 8 * elements);
        Figures { call, copy: 0.006, wrong: wrong.map(str::to_owned), ..new }
    }

    #[test]
    fn steps_are_told_apart_from_wrong_ones_and_missing_ones() {
        let steps = [
            Step { name: "chained".into(), reads: 1, figures: vec![figures(1 << 20, 0.012, None)] },
            Step { name: "blelloch".into(), reads: 2, figures: vec![figures(1 << 20, f64::NAN, Some("a,\nb"))] },
            Step { name: "ring".into(), reads: 1, figures: Vec::new() },
        ];
        assert_eq!(
            markdown(&steps),
            "| sum i32 by | reads | 2^20, µs | of copy |\n|---|---|---|---|\n| chained | 1 | 12.0 | 0.500 |\n\
             | blelloch | 2 | BAD | BAD |\n| ring | 1 | – | – |\n"
        );
        let csv = to_csv(&steps);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], "chained,1,1048576,8388608,0.012000,NaN,0.006000,0.500000,");
        assert!(lines[2].starts_with("blelloch,2,") && lines[2].ends_with(",a, b"));
        assert!(!are_right(&steps) && are_right(&steps[..1]));
    }
}
