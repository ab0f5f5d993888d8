//! Groups, series and sparse matrices.

use monoscan::algo::sparse::Csr;
use monoscan::algo::{groups, series};

use crate::common::Failure;
use crate::{Table, bits, drawn};

pub(crate) fn ragged(table: &Table) -> Result<(), Failure> {
    let mut keys: Vec<u32> = drawn(table.records, 5, |bits| bits as u32 % 10_000);
    keys.sort_unstable();
    let amounts: Vec<i64> = drawn(table.records, 6, |bits| bits as i64 >> 40);
    table.line(
        ("sums by key", ["n", "0", "1"]),
        || groups::sums_by_key(&keys, &amounts),
        ("a loop", || {
            let mut sums: (Vec<u32>, Vec<i64>) = Default::default();
            for (key, amount) in keys.iter().zip(&amounts) {
                if sums.0.last() == Some(key) {
                    *sums.1.last_mut().expect("as many sums as keys") += amount;
                } else {
                    sums.0.push(*key);
                    sums.1.push(*amount);
                }
            }
            sums
        }),
    )?;
    let shuffled: Vec<u16> = drawn(table.records, 7, |bits| bits as u16 % 1000);
    table.line(
        ("histogram", ["n", "0", "2"]),
        || groups::histogram(&shuffled),
        ("counters", || {
            let mut counts = vec![0; 1000];
            shuffled.iter().for_each(|&value| counts[value as usize] += 1);
            (0..).zip(counts).filter(|(_, count)| *count > 0).unzip()
        }),
    )?;
    let is_there: Vec<bool> = drawn(table.records, 8, |bits| bits % 3 > 0);
    table.line(
        ("forward fill", ["n", "1", "1"]),
        || series::forward_fill(&amounts, &is_there, 0),
        ("a loop", || {
            let mut last = 0;
            let fill = |(&x, &is_there): (&i64, &bool)| {
                last = if is_there { x } else { last };
                last
            };
            amounts.iter().zip(&is_there).map(fill).collect()
        }),
    )?;
    let mut now = 0;
    let after = |pause| {
        now += pause;
        now
    };
    let times: Vec<u64> = drawn(table.records, 9, |bits| bits % 40).into_iter().map(after).collect();
    table.line(
        ("sessions", ["n", "1", "1"]),
        || series::sessions(&times, 37),
        ("a loop", || {
            let mut session = 0;
            let ends = times.windows(2).map(|pair| {
                session += (pair[1] - pair[0] > 37) as u32;
                session
            });
            [0].into_iter().chain(ends).collect()
        }),
    )?;
    let hills: Vec<f64> = drawn(table.records, 10, |bits| (bits % 100_000) as f64);
    table.line(
        ("line of sight", ["n", "1", "1"]),
        || series::line_of_sight(&hills),
        ("a loop", || {
            let mut steepest = f64::NEG_INFINITY;
            let sees = |(i, &hill): (usize, &f64)| {
                let slope = if i == 0 { f64::NEG_INFINITY } else { (hill - hills[0]) / i as f64 };
                let sees = i == 0 || slope > steepest;
                steepest = steepest.max(slope);
                sees
            };
            hills.iter().enumerate().map(sees).collect()
        }),
    )?;
    table.line(
        ("running arg-max", ["n", "1", "1"]),
        || series::running_argmax(&amounts),
        ("a loop", || {
            let mut highest = 0;
            let places = (0..amounts.len()).map(|i| {
                highest = if amounts[i] > amounts[highest] { i } else { highest };
                highest as u32
            });
            places.collect()
        }),
    )?;

    // Rows of 0 to 6 values, and one in a thousand of 3000.
    let (mut offsets, mut bits) = (vec![0], bits(11));
    while offsets[offsets.len() - 1] < table.records {
        let length = if bits() % 1000 == 0 { 3000 } else { bits() as usize % 7 };
        offsets.push((offsets[offsets.len() - 1] + length).min(table.records));
    }
    let width = 1 + table.records / 8;
    let columns: Vec<u32> = drawn(table.records, 12, |bits| (bits % width as u64) as u32);
    let values: Vec<f64> = drawn(table.records, 13, |bits| (bits % 100) as f64);
    let x: Vec<f64> = drawn(width, 14, |bits| (bits % 100) as f64);
    let matrix = Csr::new(&offsets, &columns, &values, width)?;
    table.line(
        ("sparse matrix · x", ["n", "1", "1"]),
        || matrix.times(&x),
        ("a loop", || {
            let dot = |ends: &[usize]| (ends[0]..ends[1]).map(|k| values[k] * x[columns[k] as usize]).sum();
            offsets.windows(2).map(dot).collect()
        }),
    )
}
