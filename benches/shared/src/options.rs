//! Options of both command lines: how much to measure, and where the results go.

use std::path::PathBuf;

use clap::Args;

use crate::report::write;

/// How much is measured.
#[derive(Args, Clone, Copy, Default)]
pub struct Depth {
    /// Fewer repetitions, and no large sizes.
    #[arg(long)]
    pub quick: bool,
    /// No timing: whether all results are right.
    #[arg(long)]
    pub verify: bool,
}

impl Depth {
    /// One of three: for `--verify`, for `--quick`, or in full.
    pub fn choose<T>(self, verify: T, quick: T, full: T) -> T {
        match self {
            Depth { verify: true, .. } => verify,
            Depth { quick: true, .. } => quick,
            _ => full,
        }
    }
}

/// The files that results are written to.
#[derive(Args, Clone, Default)]
pub struct Files {
    /// Write all results to this file.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the tables of the results to this file.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the plot of the results to this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

impl Files {
    /// Writes those that were asked for.
    ///
    /// # Errors
    /// The file that cannot be written, and why.
    pub fn keep(
        &self,
        csv: impl FnOnce() -> String,
        markdown: impl FnOnce() -> String,
        svg: impl FnOnce() -> String,
    ) -> Result<(), String> {
        if let Some(file) = &self.csv {
            write(file, &csv())?;
        }
        if let Some(file) = &self.markdown {
            write(file, &markdown())?;
        }
        if let Some(file) = &self.svg {
            write(file, &svg())?;
        }
        Ok(())
    }
}

/// A power of two by its logarithm, up to 32.
///
/// # Errors
/// The reason why it is not one.
pub fn power_of_two(log2: &str) -> Result<usize, &'static str> {
    log2.parse().ok().filter(|log2| *log2 <= 32).map(|log2: u32| 1 << log2).ok_or("it is no whole number up to 32")
}
