//! The scans that `cargo xtask instructions` counts: they stay in the cache, on one thread, and
//! each runs once inside [`counted`].
//!
//! Under callgrind, which counts in that function alone and dumps its counts whenever that returns,
//! the k-th dump belongs to the k-th line of the output: `name elements`. All scans are compiled,
//! and run a first time, before callgrind looks at any instruction, which would take ten times as
//! long ([`valgrind`]). valgrind shows a processor with AVX2 and without AVX-512, so it is for this
//! processor that code is generated, on every machine that has at least AVX2. Plans are fixed for
//! the same reason: they would follow the sizes of the caches.

mod programs;
mod valgrind;

use std::process::ExitCode;

use monoscan::{Rows, by_key, ops::Sum, prelude::*};
use monoscan_ir::{Layout, Mode, Program, Verified};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, PlanOptions, Shape};

/// Elements of a scan whose kernels are counted.
const LEN: usize = 1 << 14;

/// Elements of scans of which most is the way into the kernel.
const SHORT: [usize; 2] = [16, 1024];

type Anything = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    if !has_expected_extensions() {
        eprintln!("figures are kept for x86-64 with AVX2, FMA and BMI2 and without AVX-512, which this is not");
        return ExitCode::from(3);
    }
    match ready().and_then(count_all) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_expected_extensions() -> bool {
    let v3 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
    v3 && !is_x86_feature_detected!("avx512f")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_expected_extensions() -> bool {
    false
}

/// A scan that was run once: what is compiled when it is first needed is there.
struct Ready {
    name: String,
    elements: usize,
    /// Says whether it was right; small, so that little but the scan is counted.
    run: Box<dyn FnMut() -> bool>,
}

fn ready() -> Result<Vec<Ready>, Anything> {
    let mut all = Vec::new();
    for (name, program) in programs::all()? {
        let case = Case::new(program, LEN)?;
        all.push(case.scan(&format!("{name} inclusive"), Mode::Inclusive)?);
        all.push(case.scan(&format!("{name} exclusive"), Mode::Exclusive)?);
        all.push(case.reduce(&format!("{name} reduce"))?);
    }
    for (name, program) in programs::flagged()? {
        all.push(Case::new(program, LEN)?.flagged(name)?);
    }
    for (name, program) in [("sum of i32", programs::sum("i32")?), ("path of i32", programs::path()?)] {
        let case = Case::new(program, LEN)?;
        let case = Case { scan: Box::leak(Box::new(case.scan.checked())), ..case };
        all.push(case.scan(&format!("checked {name} inclusive"), Mode::Inclusive)?);
    }
    for len in SHORT {
        let case = Case::with_plan(programs::sum("i32")?, len, PlanOptions::default())?;
        all.push(case.scan("short sum of i32 inclusive", Mode::Inclusive)?);
        all.push(case.reduce("short sum of i32 reduce")?);
        all.push(typed("sum of i32 inclusive", len, |sums, x, y| sums.inclusive_into(x, y).is_ok())?);
    }
    all.extend(sequences()?);
    Ok(all)
}

type Sums = Scan<Sum<i32>, (Sum<i32>,), Sum<i32>>;

/// A scan as users call it, into a slice. By generated code: which code wins a race differs from run to run.
fn typed(
    name: &str,
    len: usize,
    call: impl Fn(&Sums, &[Sum<i32>], &mut [Sum<i32>]) -> bool + 'static,
) -> Result<Ready, Anything> {
    let plan = PlanOptions { native: Some(false), ..PlanOptions::default() };
    let sums = Scan::<Sum<i32>>::builder().plan(plan).build()?;
    let (x, mut y) = (vec![Sum(1); len], vec![Sum(0); len]);
    if !call(&sums, &x, &mut y) {
        return Err(format!("{name} failed").into());
    }
    Ok(Ready { name: format!("typed {name}"), elements: len, run: Box::new(move || call(&sums, &x, &mut y)) })
}

/// Short calls of other kinds, of eight rows or segments of eight.
fn sequences() -> Result<[Ready; 4], Anything> {
    let rows = Rows::new(8, 8, 8)?;
    let offsets: Vec<usize> = (0..=8).map(|row| 8 * row).collect();
    let keys: Vec<u32> = (0..64).map(|record| record / 8).collect();
    Ok([
        typed("totals of rows", 64, move |sums, x, y| sums.rows(rows).totals_into(x, y).is_ok())?,
        typed("totals between offsets", 64, move |sums, x, y| sums.segmented(&offsets[..]).totals_into(x, y).is_ok())?,
        typed("totals by key", 64, move |sums, x, y| sums.segmented(by_key(&keys)).totals_into(x, y).is_ok())?,
        typed("sum of i32 reversed", 64, |sums, x, y| sums.reversed().inclusive_into(x, y).is_ok())?,
    ])
}

fn count_all(all: Vec<Ready>) -> Result<(), Anything> {
    valgrind::look();
    for Ready { name, elements, mut run } in all {
        // What the allocator keeps is then what this scan freed.
        if !run() || !counted(&mut *run) {
            return Err(format!("{name} failed").into());
        }
        println!("{} {elements}", name.replace(' ', "-"));
    }
    Ok(())
}

/// Everything between entry and return is counted, and nothing else is.
#[unsafe(no_mangle)]
#[inline(never)]
fn counted(scan: &mut dyn FnMut() -> bool) -> bool {
    scan()
}

/// A scan with columns for it, which are never freed: the process counts, and ends. The columns have the layouts of the scan's own
/// program, as those of typed scans do.
struct Case {
    scan: &'static DynScan,
    len: usize,
    inputs: &'static [Vec<u8>],
}

impl Case {
    fn new(program: Verified<Program>, len: usize) -> Result<Case, Anything> {
        // Strips of two hundred elements and more, all in two passes.
        let plan = PlanOptions { block: Some(256), strips: Some(4), direct: Some(0), ..PlanOptions::default() };
        Case::with_plan(program, len, plan)
    }

    fn with_plan(program: Verified<Program>, len: usize, plan: PlanOptions) -> Result<Case, Anything> {
        let inputs: Vec<Vec<u8>> = program.inputs.iter().map(|layout| records(layout, len)).collect();
        let scan = DynScan::builder(program).assume_associative().threads(1).plan(plan).build()?;
        Ok(Case { scan: Box::leak(Box::new(scan)), len, inputs: inputs.leak() })
    }

    fn scan(&self, name: &str, mode: Mode) -> Result<Ready, Anything> {
        self.run(name, Call { mode, ..Call::default() })
    }

    /// A scan of segments, of which one begins at every 29th record.
    fn flagged(&self, name: &str) -> Result<Ready, Anything> {
        let heads: Vec<bool> = (0..self.len).map(|i| i % 29 == 0).collect();
        self.run(name, Call { shape: Shape::Heads(heads.leak()), ..Call::default() })
    }

    fn run(&self, name: &str, call: Call<'static>) -> Result<Ready, Anything> {
        let (scan, inputs) = (self.scan, self.columns()?);
        let layouts = &scan.program().output.columns;
        let outputs: Vec<Vec<u8>> = layouts.iter().map(|layout| vec![0; layout.size as usize * self.len]).collect();
        let columns = outputs.leak().iter_mut().zip(layouts);
        let columns = columns.map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout));
        let mut outputs = columns.collect::<Result<Vec<_>, Error>>()?;
        self.ready(name, move || scan.run(&call, &inputs, &mut outputs).map(drop))
    }

    fn reduce(&self, name: &str) -> Result<Ready, Anything> {
        let (scan, inputs) = (self.scan, self.columns()?);
        self.ready(name, move || scan.reduce(&Call::default(), &inputs).map(drop))
    }

    fn ready(&self, name: &str, mut run: impl FnMut() -> Result<(), Error> + 'static) -> Result<Ready, Anything> {
        run()?;
        Ok(Ready { name: name.into(), elements: self.len, run: Box::new(move || run().is_ok()) })
    }

    fn columns(&self) -> Result<Vec<Column<'static>>, Error> {
        let columns = self.inputs.iter().zip(&self.scan.program().inputs);
        columns.map(|(bytes, layout)| Column::from_bytes(bytes, layout)).collect()
    }
}

/// Small numbers, and text where records are bytes: nothing that makes one run of a kernel longer than another.
fn records(layout: &Layout, len: usize) -> Vec<u8> {
    const TEXT: &[u8] = br#"{"name": "monoscan", "sizes": [1, -2.5e3, 1048576], "ok": true, "none": null}, "#;
    if layout.size == 1 {
        return TEXT.iter().copied().cycle().take(len).collect();
    }
    let mut bytes = vec![0; layout.size as usize * len];
    for (i, record) in bytes.chunks_exact_mut(layout.size as usize).enumerate() {
        for field in &layout.fields {
            let value = field.ty.of_i64((i % 3) as i64 - 1).to_bytes();
            record[field.offset as usize..][..value.len()].copy_from_slice(&value);
        }
    }
    bytes
}
