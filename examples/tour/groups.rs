//! Totals of segments, histograms and sparse matrices.

use monoscan::algo::groups;
use monoscan::algo::sparse::Csr;
use monoscan::ops::{Max, Sum};

use super::loops::{by_key, maxima_by_flags, moments_by_key, nearly};
use crate::common::Failure;
use crate::{LOOP, SCAN, Table, bits, drawn};

pub(crate) fn groups(table: &Table) -> Result<(), Failure> {
    let mut keys: Vec<u32> = drawn(table.records, 5, |bits| bits as u32 % 10_000);
    keys.sort_unstable();
    let amounts: Vec<i64> = drawn(table.records, 6, |bits| bits as i64 >> 40);
    let floats: Vec<f64> = amounts.iter().map(|&amount| amount as f64).collect();
    let heads: Vec<bool> = drawn(table.records, 15, |bits| bits % 10 == 0);
    let maxima: Vec<Max<i64>> = amounts.iter().copied().map(Max).collect();

    table.line(
        ("groups::totals_by_flags", SCAN),
        || groups::totals_by_flags(&heads, &maxima),
        ("a loop", || maxima_by_flags(&heads, &amounts)),
    )?;
    table.line(
        ("groups::totals_by_key", SCAN),
        || groups::totals_by_key(&keys, &maxima),
        ("a loop", || by_key(&keys, &maxima, |x| *x, |total, x| total.0 = total.0.max(x.0))),
    )?;
    table.line(
        ("groups::sums_by_key", LOOP),
        || groups::sums_by_key(&keys, &amounts),
        ("a loop", || by_key(&keys, &amounts, |x| *x, |sum, x| *sum += x)),
    )?;
    // Blocks are added up otherwise than records, so roundings differ.
    table.judged(
        ("groups::moments_by_key", LOOP),
        || groups::moments_by_key(&keys, &floats),
        ("Welford's loop", || moments_by_key(&keys, &floats)),
        nearly,
    )?;
    let shuffled: Vec<u16> = drawn(table.records, 7, |bits| bits as u16 % 1000);
    table.line(
        ("groups::histogram", LOOP),
        || groups::histogram(&shuffled),
        ("counters", || {
            let mut counts = vec![0; 1000];
            shuffled.iter().for_each(|&value| counts[value as usize] += 1);
            (0..).zip(counts).filter(|(_, count)| *count > 0).unzip()
        }),
    )?;
    rows(table, &amounts)
}

/// Rows of 0 to 6 values, and one in a thousand of 3000.
fn rows(table: &Table, amounts: &[i64]) -> Result<(), Failure> {
    let (mut offsets, mut bits) = (vec![0], bits(11));
    while offsets[offsets.len() - 1] < table.records {
        let length = if bits() % 1000 == 0 { 3000 } else { bits() as usize % 7 };
        offsets.push((offsets[offsets.len() - 1] + length).min(table.records));
    }
    let sums: Vec<Sum<i64>> = amounts.iter().copied().map(Sum).collect();
    table.line(
        ("groups::totals_by_offsets", SCAN),
        || groups::totals_by_offsets(&offsets, &sums),
        ("a loop", || offsets.windows(2).map(|ends| Sum(amounts[ends[0]..ends[1]].iter().sum())).collect()),
    )?;
    let width = 1 + table.records / 8;
    let columns: Vec<u32> = drawn(table.records, 12, |bits| (bits % width as u64) as u32);
    let values: Vec<f64> = drawn(table.records, 13, |bits| (bits % 100) as f64);
    let x: Vec<f64> = drawn(width, 14, |bits| (bits % 100) as f64);
    let matrix = Csr::new(&offsets, &columns, &values, width)?;
    table.line(
        ("sparse::Csr::times", SCAN),
        || matrix.times(&x),
        ("a loop", || {
            let dot = |ends: &[usize]| (ends[0]..ends[1]).map(|k| values[k] * x[columns[k] as usize]).sum();
            offsets.windows(2).map(dot).collect()
        }),
    )
}
