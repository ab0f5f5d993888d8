//! Selecting, parting and runs.

use monoscan::algo::runs;
use monoscan::algo::select::{self, Select};
use monoscan::prelude::*;

use super::loops::three_parts;
use crate::common::Failure;
use crate::{SCAN, Table, drawn};

pub(crate) fn selecting(table: &Table) -> Result<(), Failure> {
    let x: Vec<u32> = drawn(table.records, 1, |bits| bits as u32);
    let flags: Vec<bool> = drawn(table.records, 3, |bits| bits & 1 == 1);
    let classes: Vec<u8> = drawn(table.records, 5, |bits| (bits % 3) as u8);

    let flagged = || x.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(x, _)| *x).collect::<Vec<u32>>();
    table.line(("select::select", SCAN), || select::select(&x, &flags), ("filter", flagged))?;
    table.line(
        ("select::select_with_places", SCAN),
        || select::select_with_places(&x, &flags),
        ("filter", || {
            (0u32..).zip(&x).zip(&flags).filter(|(_, flag)| **flag).map(|((place, x), _)| (*x, place)).unzip()
        }),
    )?;
    table.line(
        ("select::places", SCAN),
        || select::places(&flags),
        ("filter", || (0..).zip(&flags).filter(|(_, flag)| **flag).map(|(place, _)| place).collect()),
    )?;

    let even = Select::by(scan!(|x: u32| -> bool { x % 2 == 0 }))?;
    table.line(
        ("select::Select::select", SCAN),
        || even.select(&x),
        ("filter", || x.iter().copied().filter(|x| x % 2 == 0).collect()),
    )?;
    table.line(
        ("select::Select::select_with_places", SCAN),
        || even.select_with_places(&x),
        ("filter", || x.iter().copied().zip(0u32..).filter(|(x, _)| x % 2 == 0).unzip()),
    )?;

    table.line(
        ("select::partition", ["2 n", "1", "2"]),
        || select::partition(&x, &flags),
        ("two filters", || {
            let kept = flagged();
            let others = x.iter().zip(&flags).filter(|(_, flag)| !**flag).map(|(x, _)| *x);
            let len = kept.len();
            (kept.into_iter().chain(others).collect(), len)
        }),
    )?;
    table.line(
        ("select::partition3", ["3 n", "1", "3"]),
        || select::partition3(&x, &classes),
        ("three pushes", || three_parts(&x, &classes)),
    )?;
    all_of_runs(table, &x)
}

fn all_of_runs(table: &Table, x: &[u32]) -> Result<(), Failure> {
    // Four of a value on average.
    let mut value = 0;
    let repeated = |bits: u64| {
        value = if bits.is_multiple_of(4) { bits as u32 >> 24 } else { value };
        value
    };
    let few: Vec<u32> = drawn(table.records, 4, |bits| bits).into_iter().map(repeated).collect();
    let (values, lengths) = runs::encode(&few)?;
    table.line(
        ("runs::encode", SCAN),
        || runs::encode(&few),
        ("chunk_by", || few.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).unzip()),
    )?;
    table.line(
        ("runs::decode", SCAN),
        || runs::decode(&values, &lengths),
        ("extend", || {
            let runs = values.iter().zip(&lengths);
            runs.flat_map(|(value, length)| std::iter::repeat_n(*value, *length as usize)).collect()
        }),
    )?;
    table.line(
        ("runs::unique", SCAN),
        || runs::unique(&few),
        ("dedup", || {
            let mut few = few.clone();
            few.dedup();
            few
        }),
    )?;
    table.line(
        ("runs::unique_by_key", SCAN),
        || runs::unique_by_key(&few, x),
        ("dedup_by_key", || {
            let mut pairs: Vec<(u32, u32)> = few.iter().copied().zip(x.iter().copied()).collect();
            pairs.dedup_by_key(|(key, _)| *key);
            pairs.into_iter().unzip()
        }),
    )
}
