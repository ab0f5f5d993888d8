//! Totals of segments, histograms and sparse matrices.

use monoscan::algo::groups;
use monoscan::algo::sparse::Csr;
use monoscan::ops::{Max, Moments, Sum};

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
        ("a loop", || {
            let mut totals = Vec::new();
            for (&head, &x) in heads.iter().zip(&amounts) {
                match totals.last_mut() {
                    Some(Max(total)) if !head => *total = x.max(*total),
                    _ => totals.push(Max(x)),
                }
            }
            totals
        }),
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

/// The moments of each run of equal keys, by Welford's loop.
pub(crate) fn moments_by_key(keys: &[u32], x: &[f64]) -> (Vec<u32>, Vec<Moments<f64>>) {
    let add = |Moments { count, mean, squares }: &mut Moments<f64>, x: &f64| {
        *count += 1.0;
        let from_mean = x - *mean;
        *mean += from_mean / *count;
        *squares += from_mean * (x - *mean);
    };
    by_key(keys, x, |x| Moments::of(*x), add)
}

/// The total of each run of equal keys, by a loop.
pub(crate) fn by_key<X, T>(
    keys: &[u32],
    x: &[X],
    of: impl Fn(&X) -> T,
    add: impl Fn(&mut T, &X),
) -> (Vec<u32>, Vec<T>) {
    let (mut names, mut totals) = (Vec::new(), Vec::new());
    for (key, x) in keys.iter().zip(x) {
        match totals.last_mut() {
            Some(total) if names.last() == Some(key) => add(total, x),
            _ => {
                names.push(*key);
                totals.push(of(x));
            }
        }
    }
    (names, totals)
}

/// Whether these have the same keys, and moments that differ by roundings alone.
pub(crate) fn nearly(a: &(Vec<u32>, Vec<Moments<f64>>), b: &(Vec<u32>, Vec<Moments<f64>>)) -> bool {
    let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-9 * scale;
    let alike = |(a, b): (&Moments<f64>, &Moments<f64>)| {
        let scale = b.mean.abs() + b.variance().sqrt();
        a.count == b.count && near(a.mean, b.mean, scale) && near(a.variance(), b.variance(), scale * scale)
    };
    a.0 == b.0 && a.1.len() == b.1.len() && a.1.iter().zip(&b.1).all(alike)
}
