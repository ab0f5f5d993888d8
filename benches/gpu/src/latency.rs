//! From a new operator to its loaded kernel: how long that takes cold, and with its machine code in
//! a cache on disk.
//!
//! Every sample has an operator that nobody has seen, so that neither this process nor the driver
//! knows its kernel.

use std::time::{Duration, Instant};

use monoscan::Error;
use monoscan_ir::{Program, Verified, text, verify};
use monoscan_runtime::DynScan;
use monoscan_runtime::cuda::{CubinCache, CudaError, Device};
use monoscan_runtime::gpu::CompileTimes;

use bench_shared::data::Numbers;

/// The constant of the programs as they are written.
const CONSTANT: &str = "123456";

/// The most PTX instructions of a kernel that counts as small.
const SMALL: usize = 1500;

const BAR_IF_SMALL: Duration = Duration::from_millis(300);
const BAR_IF_LARGE: Duration = Duration::from_secs(1);
const BAR_FROM_DISK: Duration = Duration::from_millis(5);

/// An operator with a constant in it.
struct Operator {
    name: &'static str,
    source: &'static str,
}

const OPERATORS: [Operator; 2] = [
    Operator { name: "sum of i32", source: include_str!("latency/sum.scan") },
    Operator { name: "affine maps of f32", source: include_str!("latency/affine.scan") },
];

/// How long it took.
#[derive(Clone, Copy)]
struct Sample {
    /// To judge the laws.
    judged: Duration,
    made: CompileTimes,
    /// From the program to the kernel.
    total: Duration,
    /// Of its PTX, if that was made.
    instructions: Option<usize>,
}

/// Samples of one operator, each with a constant of its own.
struct Samples {
    operator: &'static str,
    cold: Vec<Sample>,
    /// Of the same constants.
    from_disk: Vec<Sample>,
}

/// Samples of all operators.
pub(crate) struct Latency(Vec<Samples>);

impl Operator {
    /// The program with another constant.
    fn program(&self, constant: u32) -> Verified<Program> {
        let source = self.source.replace(CONSTANT, &constant.to_string());
        verify(text::parse(&source).expect("the program parses")).expect("the program is well typed")
    }

    fn measure(
        &self,
        device: &Device,
        cache: &CubinCache,
        constants: impl Iterator<Item = u32>,
    ) -> Result<Samples, Error> {
        let mut samples = Samples { operator: self.name, cold: Vec::new(), from_disk: Vec::new() };
        for constant in constants {
            let program = self.program(constant);
            samples.cold.push(sample(program.clone(), device, cache)?);
            // The first scan is dropped, and its kernel with it; the cubin is on disk.
            samples.from_disk.push(sample(program, device, cache)?);
        }
        Ok(samples)
    }
}

/// Compiles each operator with so many new constants, each twice.
pub(crate) fn measure(device: &Device, seed: u64, samples: usize) -> Result<Latency, Error> {
    let directory = tempfile::tempdir()
        .map_err(|error| CudaError::CacheDirectory { path: std::env::temp_dir(), why: error.into() })?;
    let cache = CubinCache::open(directory.path().join("cubins"))?;
    let mut numbers = Numbers::new(seed);
    let mut constants = std::iter::repeat_with(|| 1 + numbers.below(1 << 20) as u32);
    let measured = OPERATORS.iter().map(|operator| operator.measure(device, &cache, constants.by_ref().take(samples)));
    Ok(Latency(measured.collect::<Result<_, _>>()?))
}

fn sample(program: Verified<Program>, device: &Device, cache: &CubinCache) -> Result<Sample, Error> {
    let began = Instant::now();
    let scan = DynScan::builder(program).device(device).cubins(cache.clone()).build()?;
    let judged = began.elapsed();
    let kernel = scan.kernel()?;
    let total = began.elapsed();
    Ok(Sample { judged, made: kernel.times(), total, instructions: kernel.ptx_instructions() })
}

impl Latency {
    /// Two lines for each operator: medians in milliseconds, the longest, and the bar of the median. Where there is machine code on
    /// disk, "to PTX" is what it takes to write the IR that it is found by.
    pub(crate) fn table(&self) -> String {
        let head = "| from a new operator to its kernel, ms | PTX instructions | laws | to PTX | to machine code | loaded \
                    | in all | longest | bar |\n|---|---|---|---|---|---|---|---|---|\n";
        self.0.iter().map(Samples::rows).fold(head.to_owned(), |table, rows| table + &rows)
    }
}

impl Samples {
    fn rows(&self) -> String {
        let instructions = self.cold.iter().filter_map(|sample| sample.instructions).max();
        let count = instructions.map_or("–".to_owned(), |count| count.to_string());
        let bar = if instructions.is_some_and(|count| count <= SMALL) { BAR_IF_SMALL } else { BAR_IF_LARGE };
        let Samples { operator, cold, from_disk } = self;
        row(&format!("{operator}, cold | {count}"), cold, bar)
            + &row(&format!("{operator}, cubin on disk | –"), from_disk, BAR_FROM_DISK)
    }
}

fn row(head: &str, samples: &[Sample], bar: Duration) -> String {
    let sorted = |of: fn(&Sample) -> Duration| {
        let mut times: Vec<f64> = samples.iter().map(|sample| 1e3 * of(sample).as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let median = |of| sorted(of).get(samples.len() / 2).copied().unwrap_or(f64::NAN);
    let longest = sorted(|s| s.total).pop().unwrap_or(f64::NAN);
    let phases: [fn(&Sample) -> Duration; 4] = [|s| s.judged, |s| s.made.ptx, |s| s.made.link, |s| s.made.load];
    let phases = phases.map(|phase| format!("{:.2}", median(phase))).join(" | ");
    let total = median(|s| s.total);
    let bar = 1e3 * bar.as_secs_f64();
    let is_met = if total <= bar { "met" } else { "**missed**" };
    format!("| {head} | {phases} | {total:.2} | {longest:.2} | {bar:.0}, {is_met} |\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan::DynScan;
    use monoscan::nvptx::{AccessPattern, Arch, Form, compile_ahead};
    use monoscan_codegen::gpu::ptx_instructions;

    #[test]
    fn every_constant_makes_a_monoid() {
        for (operator, constant) in OPERATORS.iter().flat_map(|operator| [1, 77, 1 << 20].map(|c| (operator, c))) {
            let program = operator.program(constant);
            assert!(program.to_string().contains(&constant.to_string()));
            let scan = DynScan::builder(program).build().unwrap();
            assert!(scan.judgements().all(|judgement| judgement.associativity.is_proved()), "{}", operator.name);
        }
    }

    /// If one grows beyond that, its bar is another one.
    #[test]
    fn kernels_are_small() {
        for operator in &OPERATORS {
            let made =
                compile_ahead(&operator.program(1 << 20), (Form::default(), false), AccessPattern::Aligned, Arch::Sm90);
            let count = ptx_instructions(&made.unwrap().ptx);
            assert!(0 < count && count <= SMALL, "{}: {count} instructions", operator.name);
        }
    }

    #[test]
    fn medians_are_held_against_the_bar_of_the_kernels_size() {
        let sample = |milliseconds, instructions| {
            let [judged, ptx, link, load, total] = [1, 2, 4, 8, milliseconds].map(Duration::from_millis);
            Sample { judged, made: CompileTimes { ptx, link, load }, total, instructions }
        };
        let samples = |instructions, cold: [u64; 3]| Samples {
            operator: "sum",
            cold: cold.map(|time| sample(time, Some(instructions))).to_vec(),
            from_disk: [3, 6, 7].map(|time| sample(time, None)).to_vec(),
        };
        let latency = Latency(vec![samples(SMALL, [1200, 299, 20]), samples(SMALL + 1, [999, 1001, 1002])]);
        let table = latency.table();
        let lines: Vec<&str> = table.lines().skip(2).collect();
        let on_disk = "| sum, cubin on disk | – | 1.00 | 2.00 | 4.00 | 8.00 | 6.00 | 7.00 | 5, **missed** |";
        assert_eq!(
            lines,
            [
                "| sum, cold | 1500 | 1.00 | 2.00 | 4.00 | 8.00 | 299.00 | 1200.00 | 300, met |",
                on_disk,
                "| sum, cold | 1501 | 1.00 | 2.00 | 4.00 | 8.00 | 1001.00 | 1002.00 | 1000, **missed** |",
                on_disk,
            ]
        );
    }
}
