//! The command line.

use std::path::PathBuf;

use crate::workloads;

pub(crate) const USAGE: &str = "\
cpu-bench [--quick | --verify] [--workload NAME]… [--sizes LOG2,… | --elements N,…] [--rust-only] [--json FILE] [--bars] [OUTPUT]…
cpu-bench --from FILE… [--workload NAME]… [--sizes LOG2,…] [--bars] [OUTPUT]…

  --quick       fewer and shorter rounds, and sizes up to 2^20
  --verify      no timing: whether everyone's results are right
  --workload    only this one; may be given several times
  --sizes       10,12 for 2^10 and 2^12 elements
  --elements    1,16,150 for just so many
  --rust-only   without the rivals that `cargo xtask peers` builds
  --json        lex this file, repeated as needed, instead of generated text
  --bars        says of each bar whether it was met
  OUTPUT        --csv FILE, --markdown FILE or --svg FILE: all results, the table or the plot of them, written to a file
  --from        show the results of an earlier run's CSV file; several are put together";

/// What was asked for.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) verify: bool,
    pub(crate) rust_only: bool,
    pub(crate) bars: bool,
    pub(crate) workloads: Vec<String>,
    pub(crate) sizes: Option<Vec<usize>>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) csv: Option<PathBuf>,
    pub(crate) markdown: Option<PathBuf>,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) from: Vec<PathBuf>,
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
                "--quick" => options.quick = true,
                "--verify" => options.verify = true,
                "--rust-only" => options.rust_only = true,
                "--bars" => options.bars = true,
                "--workload" => options.workloads.push(workload(value()?)?),
                "--sizes" => options.sizes = Some(sizes(&value()?, power)?),
                "--elements" => options.sizes = Some(sizes(&value()?, count)?),
                "--json" => options.json = Some(value()?.into()),
                "--csv" => options.csv = Some(value()?.into()),
                "--markdown" => options.markdown = Some(value()?.into()),
                "--svg" => options.svg = Some(value()?.into()),
                "--from" => options.from.push(value()?.into()),
                _ => return Err(format!("unknown argument `{argument}`")),
            }
        }
        Ok(options)
    }

    /// How many elements to measure with, in increasing order.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let default: &[usize] = if self.quick { &[10, 12, 16, 20] } else { &[10, 12, 16, 20, 24, 27] };
        self.sizes.clone().unwrap_or(default.iter().map(|log2| 1 << log2).collect())
    }

    /// Whether a workload was asked for at a size.
    pub(crate) fn wants(&self, workload: &str, elements: usize) -> bool {
        (self.workloads.is_empty() || self.workloads.iter().any(|name| name == workload))
            && self.sizes.as_ref().is_none_or(|sizes| sizes.contains(&elements))
    }
}

fn workload(name: String) -> Result<String, String> {
    let names = workloads::ALL.map(|workload| workload.name);
    if names.contains(&&name[..]) { Ok(name) } else { Err(format!("no workload `{name}` among {}", names.join(", "))) }
}

/// A list of sizes in increasing order, each read by `size`.
fn sizes(list: &str, size: fn(&str) -> Option<usize>) -> Result<Vec<usize>, String> {
    let mut sizes: Vec<usize> =
        list.split(',').map(|text| size(text).ok_or_else(|| format!("no size: `{text}`"))).collect::<Result<_, _>>()?;
    sizes.sort_unstable();
    Ok(sizes)
}

fn power(text: &str) -> Option<usize> {
    text.parse().ok().filter(|log2| *log2 <= 32).map(|log2: u32| 1 << log2)
}

fn count(text: &str) -> Option<usize> {
    text.parse().ok().filter(|count| (1..=1 << 32).contains(count))
}
