//! From a new operator to its loaded kernel: how long that takes cold, and with its machine code in a cache on disk.
//!
//! Every sample has an operator that nobody has seen, so that neither this process nor the driver knows its kernel.

use std::time::{Duration, Instant};

use monoscan::Error;
use scan_ir::{Program, Verified, text, verify};
use scan_runtime::cuda::{CubinCache, Device};
use scan_runtime::gpu::{CompileTimes, GpuScan};

use crate::data::Numbers;

const PROGRAM: &str = include_str!("latency.scan");

/// The constant of the program as it is written.
const CONSTANT: &str = "123456";

/// How long it took.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// To judge the laws.
    judged: Duration,
    made: CompileTimes,
    /// From the program to the kernel.
    total: Duration,
}

/// Samples of both kinds.
pub(crate) struct Latency {
    pub(crate) cold: Vec<Sample>,
    pub(crate) cached: Vec<Sample>,
}

/// The program with another constant.
fn program(constant: u32) -> Verified<Program> {
    let source = PROGRAM.replace(CONSTANT, &constant.to_string());
    verify(text::parse(&source).expect("the program parses")).expect("the program is well typed")
}

/// Compiles so many new operators, each twice.
pub(crate) fn measure(device: &Device, seed: u64, samples: usize) -> Result<Latency, Error> {
    let directory = tempfile::tempdir().map_err(|error| Error::Unsupported(error.to_string()))?;
    let cache = CubinCache::open(directory.path().join("cubins"))?;
    let mut numbers = Numbers::new(seed);
    let mut latency = Latency { cold: Vec::new(), cached: Vec::new() };
    for _ in 0..samples {
        let program = program(1 + numbers.below(1 << 20) as u32);
        latency.cold.push(sample(program.clone(), device, cache.clone())?);
        // The first scan is dropped, and its kernel with it; the cubin is on disk.
        latency.cached.push(sample(program, device, cache.clone())?);
    }
    Ok(latency)
}

fn sample(program: Verified<Program>, device: &Device, cache: CubinCache) -> Result<Sample, Error> {
    let began = Instant::now();
    let scan = GpuScan::builder(program, device).cubins(cache).build()?;
    let judged = began.elapsed();
    let made = scan.kernel()?.times();
    Ok(Sample { judged, made, total: began.elapsed() })
}

impl Latency {
    /// A line for each kind: medians in milliseconds, and the longest. Where there is machine code on disk, "to PTX" is what it takes
    /// to write the IR that it is found by.
    pub(crate) fn table(&self) -> String {
        let head = "| from a new operator to its kernel, ms | laws | to PTX | to machine code | loaded | in all | longest |\n\
                    |---|---|---|---|---|---|---|\n";
        head.to_owned() + &row("cold", &self.cold) + &row("cubin on disk", &self.cached)
    }
}

fn row(name: &str, samples: &[Sample]) -> String {
    let sorted = |of: fn(&Sample) -> Duration| {
        let mut times: Vec<Duration> = samples.iter().map(of).collect();
        times.sort();
        times
    };
    let phases: [fn(&Sample) -> Duration; 5] =
        [|s| s.judged, |s| s.made.ptx, |s| s.made.link, |s| s.made.load, |s| s.total];
    let figure = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
    let medians = phases.map(|phase| format!("{:.2}", figure(sorted(phase).get(samples.len() / 2))));
    format!("| {name} | {} | {:.2} |\n", medians.join(" | "), figure(sorted(|s| s.total).last()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan::DynScan;

    #[test]
    fn every_constant_makes_a_monoid() {
        for constant in [1, 77, 1 << 20] {
            assert!(program(constant).to_string().contains(&constant.to_string()));
            DynScan::builder(program(constant)).build().unwrap();
        }
    }
}
