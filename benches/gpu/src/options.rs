//! The command line.

use std::path::PathBuf;

use crate::bench::Effort;

pub(crate) const USAGE: &str = "\
gpu-bench [--quick | --verify] [--rows SUBSTRING,…] [--sizes LOG2,…] [--cub FILE] [--seed NUMBER] [--device NUMBER] [OUTPUT]…
gpu-bench --ladder [--quick | --verify] [--sizes LOG2,…] [--seed NUMBER] [--device NUMBER] [--csv FILE] [--markdown FILE]

  --ladder    sums of i32 by every schedule of the ladder, with 2^20, 2^24 and 2^28 elements
  --quick     fewer repetitions, and sizes up to 2^24
  --verify    no timing: whether all results are right
  --rows      only those rows whose names contain one of these
  --sizes     12,20,max for 2^12 and 2^20 elements and the most that fit in 12 GiB
  --cub       the program that benches/peers/cub_scan.cu was compiled to
  --seed      of the data; by default the clock's
  --device    which GPU; by default the first
  OUTPUT      --csv FILE, --markdown FILE or --svg FILE: all results, the tables or the plot of them, written to a file";

/// A number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    /// 2 to this power.
    Power(u32),
    /// The most that are tried.
    Largest,
}

/// What was asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) ladder: bool,
    pub(crate) quick: bool,
    pub(crate) verify: bool,
    pub(crate) rows: Vec<String>,
    pub(crate) sizes: Option<Vec<Size>>,
    pub(crate) cub: Option<PathBuf>,
    pub(crate) seed: Option<u64>,
    pub(crate) device: usize,
    pub(crate) csv: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) svg: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--ladder" => options.ladder = true,
                "--quick" => options.quick = true,
                "--verify" => options.verify = true,
                "--rows" => options.rows.extend(value()?.split(',').map(str::to_owned)),
                "--sizes" => options.sizes = Some(sizes(&value()?)?),
                "--cub" => options.cub = Some(value()?.into()),
                "--seed" => options.seed = Some(number(&value()?)?),
                "--device" => options.device = number(&value()?)?,
                "--csv" => options.csv = Some(value()?.into()),
                "--markdown" => options.markdown = Some(value()?.into()),
                "--svg" => options.svg = Some(value()?.into()),
                _ => return Err(format!("unknown argument `{argument}`")),
            }
        }
        if options.ladder && (!options.rows.is_empty() || options.cub.is_some() || options.svg.is_some()) {
            return Err("--ladder has no --rows, no --cub and no --svg".to_owned());
        }
        Ok(options)
    }

    /// How often things are done.
    pub(crate) fn effort(&self) -> Effort {
        match self {
            Options { verify: true, .. } => Effort::VERIFY,
            Options { quick: true, .. } => Effort::QUICK,
            _ => Effort::FULL,
        }
    }

    /// The numbers of elements to measure the ladder with.
    pub(crate) fn ladder_sizes(&self) -> Vec<Size> {
        let default = if self.quick { &[20, 24][..] } else { &[20, 24, 28] };
        self.sizes.clone().unwrap_or_else(|| default.iter().copied().map(Size::Power).collect())
    }

    /// The numbers of elements to measure with.
    pub(crate) fn sizes(&self) -> Vec<Size> {
        let mut default = [12, 16, 20, 24, 28].map(Size::Power).to_vec();
        match self.quick {
            true => default.truncate(4),
            false => default.push(Size::Largest),
        }
        self.sizes.clone().unwrap_or(default)
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

fn sizes(list: &str) -> Result<Vec<Size>, String> {
    let size = |text: &str| match text.parse() {
        Ok(power @ 0..=32) => Ok(Size::Power(power)),
        _ if text == "max" => Ok(Size::Largest),
        _ => Err(format!("no size: `{text}`")),
    };
    list.split(',').map(size).collect()
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("no number: `{text}`"))
}
