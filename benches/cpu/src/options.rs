//! The command line.

use std::path::PathBuf;

use bench_shared::options::{Depth, Files, power_of_two};
use clap::Parser;

use crate::busy::RUN_LENGTHS;
use crate::small;
use crate::workloads;

/// monoscan, its rivals and the speed of memory, timed in one interleaved run.
#[derive(Parser)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) depth: Depth,
    /// Scan ÷ plain loop on a busy machine: beside spinning processes, in large pools, in many threads at once.
    #[arg(long, conflicts_with_all = ["quick", "verify", "from", "elements"])]
    pub(crate) busy: bool,
    /// With --busy: how many spinning processes, one after the other.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_values_t = [0, 1, 2, 4, 8])]
    pub(crate) strangers: Vec<usize>,
    /// With --busy and --scaling: the least time for each line of the table, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pub(crate) budget: u64,
    /// Scans on 1, 2, 4, … threads up to all cores, beside copies on as many.
    #[arg(long, conflicts_with_all = ["quick", "verify", "from", "elements", "busy"])]
    pub(crate) scaling: bool,
    /// The time that the protocol of tiles would reach on 8, 32 and 128 cores, by a simulation with the kernels' costs on this machine.
    #[arg(long, conflicts_with_all = ["quick", "verify", "from", "elements", "busy", "scaling"])]
    pub(crate) simulate: bool,
    /// With --simulate: what memory moves for all cores together, in GB/s.
    #[arg(long, value_name = "GB/S", default_value_t = 300.0)]
    pub(crate) memory: f64,
    /// Short lines, rows and segments: whether a scan is ever slower than its loop.
    #[arg(long, conflicts_with_all = ["from", "elements", "busy", "scaling", "simulate", "bars"])]
    pub(crate) small: bool,
    /// How long it takes from an operator to its first result, by phase: of all operators, or those with this in their names.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["quick", "verify", "from", "elements", "busy", "scaling", "simulate"])]
    pub(crate) compiling: Option<String>,
    /// Be one of those processes, for so many seconds.
    #[arg(long, hide = true)]
    pub(crate) spin: Option<u64>,
    /// Only this one; may be given several times.
    #[arg(long = "workload", value_name = "NAME", value_parser = workload)]
    pub(crate) workloads: Vec<String>,
    /// 10,12 for 2^10 and 2^12 elements.
    #[arg(long, value_name = "LOG2", value_delimiter = ',', value_parser = power_of_two)]
    pub(crate) sizes: Vec<usize>,
    /// 1,16,150 for just so many.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', value_parser = count, conflicts_with = "sizes")]
    pub(crate) elements: Vec<usize>,
    /// Without the rivals that `cargo xtask peers` builds.
    #[arg(long)]
    pub(crate) rust_only: bool,
    /// Lex this file, repeated as needed, instead of generated text.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Say of each bar whether it was met.
    #[arg(long)]
    pub(crate) bars: bool,
    #[command(flatten)]
    pub(crate) files: Files,
    /// Show the results of an earlier run's CSV file; several are put together.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "verify", "rust_only", "json"])]
    pub(crate) from: Vec<PathBuf>,
}

impl Options {
    /// How many elements to measure with, in increasing order.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let default: &[usize] = if self.depth.quick { &[6, 10, 12, 16, 20] } else { &[6, 8, 10, 12, 16, 20, 24, 27] };
        let mut sizes: Vec<usize> = self.asked().collect();
        if sizes.is_empty() {
            sizes.extend(default.iter().map(|log2| 1 << log2));
        }
        sizes.sort_unstable();
        sizes
    }

    /// Those asked for, or else these, by their logarithms.
    pub(crate) fn sizes_or(&self, default: &[u32]) -> Vec<usize> {
        if self.sizes.is_empty() { default.iter().map(|log2| 1 << log2).collect() } else { self.sizes.clone() }
    }

    /// Whether a workload was asked for.
    pub(crate) fn wants_workload(&self, name: &str) -> bool {
        self.workloads.is_empty() || self.workloads.iter().any(|asked| asked == name)
    }

    /// The numbers of elements on the command line.
    fn asked(&self) -> impl Iterator<Item = usize> {
        self.sizes.iter().chain(&self.elements).copied()
    }

    /// Whether a workload was asked for at a size.
    pub(crate) fn wants(&self, workload: &str, elements: usize) -> bool {
        self.wants_workload(workload) && (self.asked().next().is_none() || self.asked().any(|size| size == elements))
    }
}

fn workload(name: &str) -> Result<String, String> {
    let mut names: Vec<&str> = workloads::ALL.iter().map(|workload| workload.name).collect();
    names.push(RUN_LENGTHS);
    names.extend(small::NAMES);
    if names.contains(&name) { Ok(name.to_owned()) } else { Err(format!("it is none of {}", names.join(", "))) }
}

fn count(count: &str) -> Result<usize, &'static str> {
    count.parse().ok().filter(|count| (1..=1 << 32).contains(count)).ok_or("it is no whole number from 1 to 2^32")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(format!("cpu-bench {arguments}").split_whitespace())
    }

    #[test]
    fn sizes_are_powers_or_numbers_in_increasing_order() {
        assert_eq!(parse("--sizes 12,3").unwrap().sizes(), [8, 4096]);
        assert_eq!(parse("--elements 150,1").unwrap().sizes(), [1, 150]);
        assert_eq!(parse("--quick").unwrap().sizes(), [1 << 6, 1 << 10, 1 << 12, 1 << 16, 1 << 20]);
        let options = parse("--sizes 3 --workload sum-i32").unwrap();
        assert!(options.wants("sum-i32", 8) && !options.wants("sum-i32", 16) && !options.wants("sum-f32", 8));
    }
}
