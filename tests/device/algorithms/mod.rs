//! On a device: algorithms give what plain loops give, and refuse what their namesakes for slices
//! refuse.
//!
//! Data are drawn anew in each run. A test that fails prints the seed they were drawn from, and
//! `MONOSCAN_SEED` gives it again.

mod kept;
mod matrices;
mod numbers;
mod refused;
mod segments;
mod series;
mod sorted;

use monoscan::{DeviceVec, prelude::*};
use scan_kit::Random;
use scan_kit::random::seed;

use super::on_gpu::gpu;

/// Runs a test with random numbers.
fn with_random(test: impl FnOnce(&mut Random)) {
    test(&mut Random(seed()));
}

/// None, few, some about the ends of warps, blocks and tiles, and one that is long enough for all multiprocessors.
fn lengths(random: &mut Random) -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, 31, 33, random.below(1000usize)];
    for unit in [256, 4096, 6144, 8192] {
        let about = unit * (1 + random.below(9usize));
        lengths.extend([about - 1, about, about + 1]);
    }
    lengths.extend([random.below(100_000usize), 1_000_000 + random.below(500_000usize)]);
    lengths
}

fn drawn<T>(random: &mut Random, len: usize, of: impl Fn(u64) -> T) -> Vec<T> {
    (0..len).map(|_| of(random.bits())).collect()
}

/// All set, none, half of them, few, long runs of either, and the first or the last alone.
fn flags(random: &mut Random, len: usize) -> Vec<Vec<bool>> {
    let half = drawn(random, len, |bits| bits & 1 == 1);
    let few = drawn(random, len, |bits| bits % 1000 == 0);
    let long = runs(random, len, 10_000).into_iter().map(|run| run % 2 == 1).collect();
    let only = |place| (0..len).map(|i| i == place).collect();
    vec![vec![true; len], vec![false; len], half, few, long, only(0), only(len.max(1) - 1)]
}

/// Numbers of runs, each of which has up to so many records.
fn runs(random: &mut Random, len: usize, most: usize) -> Vec<usize> {
    let mut runs = Vec::with_capacity(len);
    let mut run = 0;
    while runs.len() < len {
        let end = len.min(runs.len() + 1 + random.below(most));
        runs.resize(end, run);
        run += 1;
    }
    runs
}

/// Numbers of runs of several shapes: one run, each record its own, short runs, and runs of thousands.
fn shapes(random: &mut Random, len: usize) -> [Vec<usize>; 4] {
    [vec![0; len], (0..len).collect(), runs(random, len, 5), runs(random, len, 20_000)]
}

fn there<T: ScanType>(records: &[T]) -> DeviceVec<T> {
    DeviceVec::upload(&gpu(), records).unwrap()
}

fn here<T: ScanType>(records: DeviceVec<T>) -> Vec<T> {
    records.to_vec().unwrap()
}

fn pair<A: ScanType, B: ScanType>((a, b): (DeviceVec<A>, DeviceVec<B>)) -> (Vec<A>, Vec<B>) {
    (here(a), here(b))
}

/// Compares without printing millions of records.
#[track_caller]
fn same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T]) {
    assert_eq!(found.len(), expected.len(), "how many");
    if let Some(place) = (0..found.len()).find(|&place| found[place] != expected[place]) {
        panic!("record {place} of {}: {:?}, expected {:?}", found.len(), found[place], expected[place]);
    }
}
