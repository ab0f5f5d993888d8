//! The algorithms that are one scan, on a GPU.

use monoscan::Device;
use monoscan::algo::{groups, runs, select};

use super::common::{Failure, say};
use super::{Table, drawn};

/// The algorithms that are one scan, on vectors that stay on the device.
pub(crate) fn on_gpu(table: &Table, gpu: Device) -> Result<(), Failure> {
    say!("\non {gpu}, with records that are there; the loop runs on the CPU\n");
    let x: Vec<i32> = drawn(table.records, 50, |bits| bits as i32);
    let flags: Vec<bool> = drawn(table.records, 51, |bits| bits & 1 == 1);
    let mut keys: Vec<u32> = drawn(table.records, 52, |bits| bits as u32 % 10_000);
    keys.sort_unstable();

    let selects = select::scan::<i32>()?.on(gpu)?;
    let (dx, dflags) = (selects.upload(&x)?, selects.upload(&flags)?);
    table.line(
        ("select", ["n", "1", "1"]),
        || selects.inclusive((&dflags, &dx))?.to_vec(),
        ("filter", || x.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(x, _)| *x).collect()),
    )?;
    let encodes = runs::scan::<u32>()?.on(gpu)?;
    let dkeys = encodes.upload(&keys)?;
    let runs = || -> (Vec<u32>, Vec<u32>) {
        let begins = |&place: &u32| place == 0 || keys[place as usize - 1] != keys[place as usize];
        (0..keys.len() as u32).filter(begins).map(|place| (keys[place as usize], place)).unzip()
    };
    table.line(
        ("run-length encode", ["n", "1", "1"]),
        || {
            let (firsts, starts) = encodes.inclusive(&dkeys)?;
            Ok::<_, monoscan::Error>((firsts.to_vec()?, starts.to_vec()?))
        },
        ("a loop", runs),
    )?;
    let sums = groups::scan::<u32, i32>()?.on(gpu)?;
    let dsums = || sums.inclusive((&dkeys, &dx))?.1.to_vec();
    table.line(
        ("sums by key", ["n", "1", "1"]),
        dsums,
        ("a loop", || {
            let mut at = 0;
            let sum = |run: &[u32]| {
                at += run.len();
                x[at - run.len()..at].iter().fold(0i32, |sum, x| sum.wrapping_add(*x))
            };
            keys.chunk_by(|a, b| a == b).map(sum).collect()
        }),
    )
}
