//! From an operator to its first result: how long that takes, by phase and kernel, for narrow
//! states and wide ones.
//!
//! `in all` is the first time in the process, with everything: tracing, the comparison with Rust,
//! laws, lowering, plan, kernel, self-check, and the call. `again` is the same once the laws are
//! known and nobody holds the code. Phases and kernels are the best of some.

use std::hint::black_box;
use std::time::{Duration, Instant};

use monoscan::ir::laws::{Overflow, judge};
use monoscan::ir::transform::{Form, lower};
use monoscan::ir::{Program, Verified};
use monoscan::ops::{Affine, Matrix, StateMap};
use monoscan::prelude::*;
use monoscan::{CodegenError, Column, ColumnMut, DynScan, Error, Layout};
use monoscan_codegen::cpu::{Access, Compiled, HostIsa, Kernel};
use monoscan_codegen::plan::{PlanOptions, plan};
use monoscan_codegen::target::CpuTarget;

use crate::machine;
use crate::workloads::{self, LogMatrix};
use bench_shared::{data, scans};

/// Of how many runs the best is printed.
const RUNS: usize = 7;

/// Records of the first call.
const RECORDS: usize = 8;

/// Kernels, and the calls that need them.
const KERNELS: [(Kernel, &str); 9] = [
    (Kernel::Short, "short"),
    (Kernel::ScanOne, "one pass"),
    (Kernel::Scan, "replay"),
    (Kernel::Reduce(0), "fold"),
    (Kernel::ScanBlocks, "blocks"),
    (Kernel::Combine(0), "combine"),
    (Kernel::Whole { writes: true }, "whole"),
    (Kernel::Rows(4), "rows"),
    (Kernel::ShortWhole { writes: false }, "reduce"),
];

/// A function that builds a scan from nothing.
type Build = Box<dyn Fn() -> Result<DynScan, Error>>;

fn operators() -> Vec<(&'static str, Build)> {
    let moves = data::automaton();
    vec![
        ("sum i32", Box::new(|| Ok(scans::sum_i32(None)?.as_dyn().clone())) as Build),
        ("affine f32", Box::new(|| Ok(Scan::<Affine<f32>>::new()?.as_dyn().clone()))),
        ("largest sum i32", Box::new(|| Ok(Scan::<Largest>::new()?.as_dyn().clone()))),
        ("16 states", Box::new(move || Ok(scans::states(&moves, 1)?.as_dyn().clone()))),
        ("16 states, maps", Box::new(|| Ok(Scan::<StateMap<16>>::new()?.as_dyn().clone()))),
        ("4×4 f32", Box::new(|| Ok(Scan::<Matrix<f32, 4>>::new()?.as_dyn().clone()))),
        ("8×8 f32", Box::new(|| Ok(Scan::<Matrix<f32, 8>>::new()?.as_dyn().clone()))),
        ("HMM of 4 states", Box::new(|| Ok(workloads::hidden_markov(1)?.as_dyn().clone()))),
        ("4×4 logarithms", Box::new(|| Ok(Scan::<LogMatrix>::new()?.as_dyn().clone()))),
        ("the same, wrong", Box::new(|| Ok(Scan::<Wrong>::new()?.as_dyn().clone()))),
    ]
}

/// The largest sum of adjacent numbers.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Largest {
    sum: i32,
    from_start: i32,
    to_end: i32,
    best: i32,
}

#[scan_monoid]
impl Monoid for Largest {
    fn identity() -> Self {
        Largest { sum: 0, from_start: 0, to_end: 0, best: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Largest {
            sum: self.sum + next.sum,
            from_start: self.from_start.max(self.sum + next.from_start),
            to_end: next.to_end.max(self.to_end + next.sum),
            best: self.best.max(next.best).max(self.to_end + next.from_start),
        }
    }
    fn valid(self) -> bool {
        let ends = self.from_start >= 0 && self.to_end >= 0 && self.best >= self.from_start && self.best >= self.to_end;
        ends && self.sum <= self.from_start && self.sum <= self.to_end
    }
}

/// Matrices of logarithms that forget one term.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wrong {
    of: LogMatrix,
}

#[scan_monoid]
impl Monoid for Wrong {
    fn identity() -> Self {
        Wrong { of: LogMatrix::identity() }
    }
    fn combine(self, next: Self) -> Self {
        let mut of = self.of.combine(next.of);
        of.m[3][3] = self.of.m[3][3] + next.of.m[3][3];
        Wrong { of }
    }
}

/// Prints the table, of operators with this in their names.
pub(crate) fn run(of: &str) -> Result<(), String> {
    println!("{}\nmilliseconds; of kernels also the bytes of code", machine::describe());
    // What is found out once in a process.
    scans::sum_f32(1).map_err(|error| error.to_string())?;
    for (name, build) in operators().into_iter().filter(|(name, _)| name.contains(of)) {
        let (first, in_all) = timed(|| build().and_then(|scan| called(&scan).map(|()| scan)));
        let first = first.map(|scan| scan.program().clone());
        let again = best(|| _ = build().and_then(|scan| called(&scan)));
        print!("{name:<16} in all {:7.2}, again {:7.2}", in_all.as_secs_f64() * 1e3, again);
        match first {
            Ok(program) => phases(&program)?,
            Err(Error::NotAMonoid { .. }) => println!(", refused"),
            Err(error) => return Err(error.to_string()),
        }
    }
    println!("{}", machine::describe());
    Ok(())
}

/// A short call, as the typed front end makes it.
fn called(scan: &DynScan) -> Result<(), Error> {
    let program = scan.program();
    let bytes = |layout: &Layout| vec![0; layout.size as usize * RECORDS];
    let inputs: Vec<Vec<u8>> = program.inputs.iter().map(bytes).collect();
    let mut outputs: Vec<Vec<u8>> = program.output.columns.iter().map(bytes).collect();
    let columns = inputs.iter().zip(&program.inputs);
    let columns: Vec<Column<'_>> =
        columns.map(|(bytes, layout)| Column::from_bytes(bytes, layout)).collect::<Result<_, _>>()?;
    let results = outputs.iter_mut().zip(&program.output.columns);
    let mut results: Vec<ColumnMut<'_>> =
        results.map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout)).collect::<Result<_, _>>()?;
    scan.inclusive_into(&columns, &mut results)
}

fn phases(program: &Verified<Program>) -> Result<(), String> {
    let laws = best(|| {
        for stage in &program.stages {
            black_box(judge(stage, &program.tables, Overflow::NeverOccurs));
        }
    });
    let lowered = lower(program, Form::default());
    let lowering = best(|| _ = black_box(lower(program, Form::default())));
    let target = CpuTarget::host();
    let chosen = plan(&lowered, &target, &PlanOptions::default());
    let planning = best(|| _ = black_box(plan(&lowered, &target, &PlanOptions::default())));
    let isa = HostIsa::native().map_err(|error| error.to_string())?;
    let recipe = || Compiled::in_vectors(&lowered, Access::Line, chosen.interleave as u32, chosen.vector, &isa);
    let preparing = best(|| _ = black_box(recipe()));
    println!("; laws {laws:.2}, lowering {lowering:.2}, plan {planning:.2}, kernels' bodies {preparing:.2}");
    print!("    ");
    for (kernel, name) in KERNELS {
        let runs = (0..RUNS).map(|_| {
            let compiled = recipe().map_err(|error| error.to_string())?;
            let (made, time) = timed(|| compiled.make(kernel));
            match made {
                Ok(()) => Ok(compiled.code_bytes(kernel).map(|bytes| (time, bytes))),
                Err(CodegenError::NoKernel(_)) => Ok(None),
                Err(error) => Err(error.to_string()),
            }
        });
        let runs = runs.collect::<Result<Vec<_>, String>>()?;
        if let Some((time, bytes)) = runs.into_iter().flatten().min() {
            print!(" {name} {:.2} ({bytes})", time.as_secs_f64() * 1e3);
        }
    }
    println!();
    Ok(())
}

fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

/// The shortest of some runs, in milliseconds.
fn best(mut run: impl FnMut()) -> f64 {
    let times = (0..RUNS).map(|_| timed(&mut run).1);
    times.min().map_or(0.0, |time| time.as_secs_f64() * 1e3)
}
