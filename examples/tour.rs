//! Each family of algorithms in `monoscan::algo`, beside what one would write instead.
//!
//! ```text
//! cargo run --release --example tour -- [--records N] [--device cpu|cuda:N]
//! ```
//!
//! Each line: the function in `monoscan::algo`, its work, depth in scans and passes for n records,
//! its time, and that of a plain loop or of the standard library, whose result must be the same.
//! With a GPU (and `--features gpu`) those that run there follow, on vectors that stay there,
//! beside the same loops. A test compares the names with the functions that there are.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::{Failure, device, finish, say};
use monoscan::Device;

mod common;

/// The families.
mod tour {
    pub(crate) mod computing;
    pub(crate) mod groups;
    pub(crate) mod linked;
    pub(crate) mod loops;
    #[cfg(feature = "gpu")]
    pub(crate) mod on_gpu;
    pub(crate) mod selecting;
    pub(crate) mod series;
    pub(crate) mod sorting;
    pub(crate) mod texts;
    pub(crate) mod trees;
}

#[cfg(feature = "gpu")]
use tour::on_gpu;
use tour::{computing, groups, linked, selecting, series, sorting, texts, trees};

fn main() -> ExitCode {
    finish(chosen().and_then(|(records, device)| run(records, device)), "tour [--records N] [--device cpu|cuda:N]")
}

fn chosen() -> Result<(usize, Device), Failure> {
    let mut chosen = (1 << 20, Device::cpu());
    let mut arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| Failure::Usage(format!("{argument} needs a value")));
        match argument.as_str() {
            "--records" => {
                let records = value()?;
                let parsed = records.parse().ok().filter(|&records| (1..1 << 30).contains(&records));
                chosen.0 =
                    parsed.ok_or_else(|| Failure::Usage(format!("`{records}` is no number from 1 to 2^30 - 1")))?;
            }
            "--device" => chosen.1 = device(&value()?)?,
            _ => return Err(Failure::Usage(format!("unknown argument `{argument}`"))),
        }
    }
    Ok(chosen)
}

/// The table, line by line.
struct Table {
    records: usize,
}

/// The cost of one scan, in one pass.
const SCAN: [&str; 3] = ["n", "1", "1"];

/// The cost of a plain loop.
const LOOP: [&str; 3] = ["n", "0", "1"];

/// Times are the best of so many rounds, or of those that fit this time, and of one at least.
const ROUNDS: usize = 5;
const PATIENCE: Duration = Duration::from_millis(300);

impl Table {
    /// Runs both, compares what they give, and prints the line: the function, its work, depth and passes, and both times.
    fn line<T: PartialEq, E: Into<Failure>>(
        &self,
        head: (&str, [&str; 3]),
        ours: impl Fn() -> Result<T, E>,
        rival: (&str, impl Fn() -> T),
    ) -> Result<(), Failure> {
        self.judged(head, ours, rival, T::eq)
    }

    /// The same for results that need not be equal.
    fn judged<T, E: Into<Failure>>(
        &self,
        (name, cost): (&str, [&str; 3]),
        ours: impl Fn() -> Result<T, E>,
        (rival, theirs): (&str, impl Fn() -> T),
        is_right: impl Fn(&T, &T) -> bool,
    ) -> Result<(), Failure> {
        if !is_right(&ours().map_err(Into::into)?, &theirs()) {
            return Err(Failure::Run(format!("{name} gives something else than {rival}")));
        }
        let mut ours = || {
            let start = Instant::now();
            drop(black_box(ours().map_err(Into::into)?));
            Ok(start.elapsed())
        };
        row((name, cost), best_times(&mut ours, &mut || drop(black_box(theirs())))?, rival);
        Ok(())
    }
}

/// Prints a line: the function, its work, depth and passes, both times, and what the other one is of.
fn row((name, [work, depth, passes]): (&str, [&str; 3]), times: [Duration; 2], rival: &str) {
    let [ours, theirs] = times.map(|time| time.as_secs_f64() * 1e3);
    let ratio = theirs / ours;
    say!("{name:<45} {work:>8} {depth:>8} {passes:>8} {ours:9.2} {theirs:9.2} {ratio:6.2}×  {rival}");
}

/// The shortest time of each; `ours` says its own.
fn best_times(
    ours: &mut dyn FnMut() -> Result<Duration, Failure>,
    theirs: &mut dyn FnMut(),
) -> Result<[Duration; 2], Failure> {
    let mut best = [Duration::MAX; 2];
    let began = Instant::now();
    for round in 0..ROUNDS {
        if round > 0 && began.elapsed() > PATIENCE {
            break;
        }
        best[0] = best[0].min(ours()?);
        let start = Instant::now();
        theirs();
        best[1] = best[1].min(start.elapsed());
    }
    Ok(best)
}

/// Random bits (SplitMix64).
fn bits(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn drawn<T>(records: usize, seed: u64, of: impl Fn(u64) -> T) -> Vec<T> {
    let mut bits = bits(seed);
    (0..records).map(|_| of(bits())).collect()
}

fn run(records: usize, device: Device) -> Result<(), Failure> {
    let table = Table { records };
    say!("{records} records, times in ms; every result is that of the plain loop beside it\n");
    say!(
        "{:<45} {:>8} {:>8} {:>8} {:>9} {:>9} {:>7}  beside",
        "function",
        "work",
        "depth",
        "passes",
        "monoscan",
        "the loop",
        "ratio"
    );
    selecting::selecting(&table)?;
    sorting::sorting(&table)?;
    groups::groups(&table)?;
    series::series(&table)?;
    computing::computing(&table)?;
    linked::linked(&table)?;
    trees::trees(&table)?;
    texts::texts(&table)?;
    if device.is_cpu() { Ok(()) } else { on_gpu(&table, device) }
}

/// The algorithms that run on a GPU.
#[cfg(feature = "gpu")]
fn on_gpu(table: &Table, gpu: Device) -> Result<(), Failure> {
    on_gpu::on_gpu(table, gpu)
}

#[cfg(not(feature = "gpu"))]
fn on_gpu(_: &Table, gpu: Device) -> Result<(), Failure> {
    Err(Failure::Run(format!("algorithms on {gpu} need a build with `--features gpu`")))
}
