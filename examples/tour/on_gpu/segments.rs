//! Totals of segments, and sparse matrices.

use monoscan::algo::on_gpu::{self, Csr};
use monoscan::ops::{Max, Sum};

use super::super::loops::{by_key, maxima_by_flags, moments_by_key, nearly};
use super::{There, one, two};
use crate::common::Failure;
use crate::{SCAN, drawn};

pub(super) fn segments(there: &There) -> Result<(), Failure> {
    let x: Vec<i32> = drawn(there.records, 50, |bits| bits as i32);
    let floats: Vec<f64> = drawn(there.records, 54, |bits| (bits >> 20) as f64);
    let mut keys: Vec<u32> = drawn(there.records, 52, |bits| bits as u32 % 10_000);
    keys.sort_unstable();
    let heads: Vec<bool> = drawn(there.records, 58, |bits| bits % 10 == 0);
    let maxima: Vec<Max<i32>> = x.iter().copied().map(Max).collect();
    let (dx, dfloats, dkeys) = (there.upload(&x)?, there.upload(&floats)?, there.upload(&keys)?);
    let (dheads, dmaxima) = (there.upload(&heads)?, there.upload(&maxima)?);
    there.line(
        ("on_gpu::sums_by_key", SCAN),
        || on_gpu::sums_by_key(&dkeys, &dx),
        two,
        ("a loop", || by_key(&keys, &x, |x| *x, |sum, x| *sum = sum.wrapping_add(*x))),
    )?;
    there.line(
        ("on_gpu::totals_by_key", SCAN),
        || on_gpu::totals_by_key(&dkeys, &dmaxima),
        two,
        ("a loop", || by_key(&keys, &maxima, |x| *x, |total, x| total.0 = total.0.max(x.0))),
    )?;
    there.line(
        ("on_gpu::totals_by_flags", SCAN),
        || on_gpu::totals_by_flags(&dheads, &dmaxima),
        one,
        ("a loop", || maxima_by_flags(&heads, &x)),
    )?;
    there.judged(
        ("on_gpu::moments_by_key", SCAN),
        (|| Ok(()), |()| on_gpu::moments_by_key(&dkeys, &dfloats)),
        two,
        ("Welford's loop", || moments_by_key(&keys, &floats)),
        nearly,
    )
}

/// Rows of 0 to 15 elements.
pub(super) fn rows(there: &There) -> Result<(), Failure> {
    let mut offsets = vec![0u32];
    for length in drawn(there.records, 55, |bits| bits as u32 & 15) {
        let end = offsets[offsets.len() - 1] + length;
        if end as usize > there.records {
            break;
        }
        offsets.push(end);
    }
    let (rows, len) = (offsets.len() - 1, offsets[offsets.len() - 1] as usize);
    let values: Vec<i32> = drawn(len, 50, |bits| bits as i32);
    let sums: Vec<Sum<i32>> = values.iter().copied().map(Sum).collect();
    let (doffsets, dsums) = (there.upload(&offsets)?, there.upload(&sums)?);
    let ends = || offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
    // Offsets are checked before.
    there.line(
        ("on_gpu::totals_by_offsets", ["n", "2", "1"]),
        || on_gpu::totals_by_offsets(&doffsets, &dsums),
        one,
        ("a loop", || ends().map(|row| Sum(values[row].iter().fold(0i32, |sum, x| sum.wrapping_add(*x)))).collect()),
    )?;
    let columns: Vec<u32> = drawn(len, 56, |bits| (bits % rows.max(1) as u64) as u32);
    let by: Vec<i32> = drawn(rows, 57, |bits| bits as i32);
    let (dcolumns, dvalues, dby) = (there.upload(&columns)?, there.upload(&values)?, there.upload(&by)?);
    let matrix = Csr::new(&doffsets, &dcolumns, &dvalues, rows)?;
    there.line(
        ("on_gpu::Csr::times", SCAN),
        || matrix.times(&dby),
        one,
        ("a loop", || {
            let add = |sum: i32, k: usize| sum.wrapping_add(values[k].wrapping_mul(by[columns[k] as usize]));
            ends().map(|row| row.fold(0, add)).collect()
        }),
    )
}
