//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use bench_shared::options::{Depth, Files};
use clap::Parser;

use crate::bench::Effort;

/// A number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    /// 2 to this power.
    Power(u32),
    /// The most that are tried.
    Largest,
}

/// monoscan, CUB and the speed of a GPU's memory, timed in one run.
#[derive(Parser)]
pub(crate) struct Options {
    /// Sums of i32 by every schedule of the ladder, with 2^20, 2^24 and 2^28 elements.
    #[arg(long, conflicts_with_all = ["rows", "cub", "svg"])]
    pub(crate) ladder: bool,
    /// Labels by lexers of one scan and of two, and nothing else.
    #[arg(long, conflicts_with_all = ["ladder", "cub", "svg"])]
    pub(crate) lexers: bool,
    /// The algorithms that run in the memory of a GPU, and nothing else; `--cub` is then what
    /// benches/peers/cub_algorithms.cu was compiled to.
    #[arg(long, conflicts_with_all = ["ladder", "lexers", "svg"])]
    pub(crate) algorithms: bool,
    /// Scans of slices in the memory of the host, with 2^20, 2^24 and 2^27 elements, and nothing else.
    #[arg(long, conflicts_with_all = ["ladder", "lexers", "algorithms", "cub", "svg"])]
    pub(crate) slices: bool,
    #[command(flatten)]
    pub(crate) depth: Depth,
    /// Only those rows whose names contain one of these.
    #[arg(long, value_name = "SUBSTRING", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
    /// 12,20,max for 2^12 and 2^20 elements and the most that fit in 12 GiB.
    #[arg(long, value_name = "LOG2", value_delimiter = ',')]
    pub(crate) sizes: Vec<Size>,
    /// The program that benches/peers/cub_scan.cu was compiled to.
    #[arg(long, value_name = "FILE")]
    pub(crate) cub: Option<PathBuf>,
    /// Not the CPU engine on all cores of this machine, which is timed beside each row of up to 2^26 elements.
    #[arg(long, conflicts_with = "ladder")]
    pub(crate) no_host: bool,
    /// Of the data; by default the clock's.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Which GPU.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) device: usize,
    #[command(flatten)]
    pub(crate) files: Files,
}

impl Options {
    /// How often things are done.
    pub(crate) fn effort(&self) -> Effort {
        self.depth.choose(Effort::VERIFY, Effort::QUICK, Effort::FULL)
    }

    /// The numbers of elements to measure the ladder with.
    pub(crate) fn ladder_sizes(&self) -> Vec<Size> {
        let default = if self.depth.quick { &[20, 24][..] } else { &[20, 24, 28] };
        self.sizes_or(default.iter().copied().map(Size::Power).collect())
    }

    /// The numbers of elements of slices.
    pub(crate) fn slice_sizes(&self) -> Vec<Size> {
        self.sizes_or([20, 24, 27].map(Size::Power).to_vec())
    }

    /// The numbers of elements to measure with.
    pub(crate) fn sizes(&self) -> Vec<Size> {
        let mut default = [12, 16, 20, 24, 28].map(Size::Power).to_vec();
        match self.depth.quick {
            true => default.truncate(4),
            false => default.push(Size::Largest),
        }
        self.sizes_or(default)
    }

    fn sizes_or(&self, default: Vec<Size>) -> Vec<Size> {
        if self.sizes.is_empty() { default } else { self.sizes.clone() }
    }

    /// Whether a row was asked for.
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|part| row.contains(&part[..]))
    }
}

impl Size {
    /// As it is written in a list of sizes.
    pub(crate) fn name(self) -> String {
        match self {
            Size::Power(power) => power.to_string(),
            Size::Largest => "max".to_owned(),
        }
    }
}

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Size, &'static str> {
        match text.parse() {
            Ok(power @ 0..=32) => Ok(Size::Power(power)),
            _ if text == "max" => Ok(Size::Largest),
            _ => Err("it is neither a whole number up to 32 nor max"),
        }
    }
}
