//! Totals of segments by keys and offsets, and sparse matrices.

use monoscan::algo::on_gpu::{self, Csr};
use monoscan::ops::{Max, Sum};
use monoscan::prelude::*;
use rayon::prelude::*;

use super::{Bench, made, mix};
use crate::arena::Failure;

/// Offsets of rows of these lengths.
fn offsets(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut end = 0;
    let ends = lengths.map(|length| {
        end += length;
        end
    });
    [0].into_iter().chain(ends).collect()
}

/// Rows of unequal length: the first has about as many elements as 4 in each row.
fn skewed(rows: usize) -> Vec<u32> {
    offsets((0..rows).map(|row| (8 + 4 * rows / (row + 1)) as u32))
}

/// Rows of 1 to 4 elements, and one in the middle with as many as all others.
fn half(rows: usize) -> Vec<u32> {
    let thin = |row: usize| 1 + (mix(row as u64) & 3) as u32;
    let others: u32 = (0..rows).filter(|&row| row != rows / 2).map(thin).sum();
    offsets((0..rows).map(|row| if row == rows / 2 { others } else { thin(row) }))
}

fn uniform(rows: usize) -> Vec<u32> {
    offsets((0..rows).map(|_| 8))
}

impl Bench<'_> {
    pub(super) fn segments(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        self.by_key(power, len)?;
        self.one_segment(power, len)
    }

    /// Keys in runs of ten.
    fn by_key(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let [sums, totals] = ["sumsByKey.u32.i32", "totalsByKey.u32.i32.max"];
        if !self.wants(sums) && !self.wants(totals) {
            return Ok(());
        }
        let (keys, x) = (made(len, |i| (i / 10) as u32), made(len, |i| mix(i) as i32));
        let firsts = made(len.div_ceil(10), |i| i as u32);
        let dkeys = self.upload(&keys)?;
        let mut dk = self.upload(&keys)?;
        let bytes = 8.8 * len as f64;
        if self.wants(sums) {
            let expected: Vec<i32> = x.par_chunks(10).map(|x| x.iter().fold(0, |a, b| a.wrapping_add(*b))).collect();
            let (dx, mut ds) = (self.upload(&x)?, self.upload(&x)?);
            self.time((sums, power), bytes, || {
                on_gpu::sums_by_key_into((&dkeys, &dx), &mut dk, &mut ds)?;
                Ok(())
            })?;
            self.check(sums, &dk.to_vec()?[..firsts.len()], &firsts);
            self.check(sums, &ds.to_vec()?[..firsts.len()], &expected);
        }
        if self.wants(totals) {
            let maxima: Vec<Max<i32>> = x.par_iter().copied().map(Max).collect();
            let most = |x: &[i32]| x.iter().fold(i32::MIN, |most, &x| most.max(x));
            let expected: Vec<Max<i32>> = x.par_chunks(10).map(|x| Max(most(x))).collect();
            let (dx, mut dt) = (self.upload(&maxima)?, self.upload(&maxima)?);
            self.time((totals, power), bytes, || {
                on_gpu::totals_by_key_into((&dkeys, &dx), &mut dk, &mut dt)?;
                Ok(())
            })?;
            self.check(totals, &dk.to_vec()?[..firsts.len()], &firsts);
            self.check(totals, &dt.to_vec()?[..firsts.len()], &expected);
        }
        Ok(())
    }

    /// All records in one segment.
    fn one_segment(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let name = "totalsOfOne.i32";
        if !self.wants(name) {
            return Ok(());
        }
        let x = made(len, |i| Sum(mix(i) as i32));
        let sum = x.par_iter().map(|x| x.0).reduce(|| 0, i32::wrapping_add);
        let (dx, offsets) = (self.upload(&x)?, self.upload(&[0, len as u32])?);
        let mut out = self.upload(&x[..1])?;
        self.time((name, power), 4.0 * len as f64, || Ok(on_gpu::totals_by_offsets_into(&offsets, &dx, &mut out)?))?;
        self.check(name, &[out.to_vec()?[0].0], &[sum]);
        Ok(())
    }

    pub(super) fn rows(&mut self, power: u32, rows: usize) -> Result<(), Failure> {
        self.by_offsets("totalsByOffsets.i32", power, &skewed(rows))?;
        let (skewed, half, uniform) = (skewed(rows), half(rows), uniform(rows));
        self.spmv("spmv.f32", power, &skewed, |number| number as f32)?;
        self.spmv("spmv.f64", power, &skewed, |number| number as f64)?;
        self.spmv("spmv.f32.half", power, &half, |number| number as f32)?;
        self.spmv("spmv.f64.half", power, &half, |number| number as f64)?;
        self.spmv("spmv.f32.uniform", power, &uniform, |number| number as f32)?;
        self.spmv("spmv.f64.uniform", power, &uniform, |number| number as f64)
    }

    fn by_offsets(&mut self, name: &'static str, power: u32, offsets: &[u32]) -> Result<(), Failure> {
        if !self.wants(name) {
            return Ok(());
        }
        let rows = offsets.len() - 1;
        let x = made(offsets[rows] as usize, |i| Sum(mix(i) as i32));
        let sum =
            |ends: &[u32]| x[ends[0] as usize..ends[1] as usize].iter().fold(0i32, |sum, x| sum.wrapping_add(x.0));
        let sums: Vec<i32> = offsets.par_windows(2).map(sum).collect();
        let (doffsets, dx, mut out) = (self.upload(offsets)?, self.upload(&x)?, self.upload(&x[..rows])?);
        self.time((name, power), 4.0 * x.len() as f64 + 8.0 * rows as f64, || {
            Ok(on_gpu::totals_by_offsets_into(&doffsets, &dx, &mut out)?)
        })?;
        let found: Vec<i32> = out.to_vec()?.into_iter().map(|sum| sum.0).collect();
        self.check(name, &found, &sums);
        Ok(())
    }

    /// Numbers are so small that all sums are exact.
    fn spmv<T>(&mut self, name: &'static str, power: u32, offsets: &[u32], of: fn(u64) -> T) -> Result<(), Failure>
    where
        T: Num + PartialEq,
    {
        if !self.wants(name) {
            return Ok(());
        }
        let rows = offsets.len() - 1;
        let len = offsets[rows] as usize;
        let columns = made(len, |i| (mix(i) % rows as u64) as u32);
        let (values, x) = (made(len, |i| of(mix(i) >> 62)), made(rows, |i| of(mix(i) >> 62)));
        let add = |sum: T, i: u32| sum + values[i as usize] * x[columns[i as usize] as usize];
        let products: Vec<T> = offsets.par_windows(2).map(|ends| (ends[0]..ends[1]).fold(T::ZERO, add)).collect();
        let (doffsets, dcolumns) = (self.upload(offsets)?, self.upload(&columns)?);
        let (dvalues, dx) = (self.upload(&values)?, self.upload(&x)?);
        let matrix = Csr::new(&doffsets, &dcolumns, &dvalues, rows)?;
        let mut y = matrix.times(&dx)?;
        let number = size_of::<T>();
        let bytes = (4 + number) * len + (4 + 2 * number) * rows;
        self.time((name, power), bytes as f64, || Ok(matrix.times_into(&dx, &mut y)?))?;
        self.check(name, &y.to_vec()?, &products);
        Ok(())
    }
}
