//! Sorts of keys, with values and of places, and a histogram.

use std::cmp::Ordering;

use monoscan::algo::on_gpu::{self, Workspace};
use monoscan::algo::sort::{Order, SortKey};
use rayon::prelude::*;

use super::{Bench, copy, made, mix};
use crate::arena::Failure;

impl Bench<'_> {
    pub(super) fn sorted(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        use Order::{Ascending, Descending};
        self.keys(("sort.u8", Ascending), power, len, |i| mix(i) as u8, u8::cmp)?;
        self.keys(("sort.u16", Ascending), power, len, |i| mix(i) as u16, u16::cmp)?;
        self.keys(("sort.u32", Ascending), power, len, |i| mix(i) as u32, u32::cmp)?;
        self.keys(("sort.u64", Ascending), power, len, mix, u64::cmp)?;
        self.keys(("sort.i32", Ascending), power, len, |i| mix(i) as i32, i32::cmp)?;
        self.keys(("sort.f32", Ascending), power, len, |i| mix(i) as i32 as f32, f32::total_cmp)?;
        self.keys(("sort.f64", Ascending), power, len, |i| mix(i) as i64 as f64, f64::total_cmp)?;
        self.keys(("sort.u32.descending", Descending), power, len, |i| mix(i) as u32, |a, b| b.cmp(a))?;
        self.keys(("sort.f64.descending", Descending), power, len, |i| mix(i) as i64 as f64, |a, b| b.total_cmp(a))?;
        self.pairs(power, len)?;
        self.places(power, len)?;
        self.histogram(power, len)
    }

    fn keys<K: SortKey>(
        &mut self,
        (name, order): (&'static str, Order),
        power: u32,
        len: usize,
        of: fn(u64) -> K,
        compare: fn(&K, &K) -> Ordering,
    ) -> Result<(), Failure> {
        if !self.wants(name) {
            return Ok(());
        }
        let x = made(len, of);
        let mut expected = x.clone();
        expected.par_sort_unstable_by(compare);
        let (dx, mut keys) = (self.upload(&x)?, self.upload(&x)?);
        let (mut space, stream) = (Workspace::new(), self.stream.clone());
        // Each round sorts the same numbers, not sorted ones.
        let bytes = size_of_val(&x[..]);
        self.time_after((name, power), 2.0 * bytes as f64, |is_timed| {
            if is_timed { Ok(space.sort(&mut keys, order)?) } else { copy(&stream, (&dx, &mut keys), bytes) }
        })?;
        self.check(name, &keys.to_vec()?, &expected);
        Ok(())
    }

    fn pairs(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let name = "sortPairs.u32.u32";
        if !self.wants(name) {
            return Ok(());
        }
        let x = made(len, |i| mix(i) as u32);
        let mut expected = made(len, |i| i as u32);
        let places = self.upload(&expected)?;
        expected.par_sort_by_key(|&place| x[place as usize]);
        let dx = self.upload(&x)?;
        let (mut keys, mut values) = (self.upload(&x)?, self.upload(&x)?);
        let (mut space, stream) = (Workspace::new(), self.stream.clone());
        self.time_after((name, power), 16.0 * len as f64, |is_timed| {
            if is_timed {
                return Ok(space.sort_with_values(&mut keys, &mut values, Order::Ascending)?);
            }
            copy(&stream, (&dx, &mut keys), 4 * len)?;
            copy(&stream, (&places, &mut values), 4 * len)
        })?;
        self.check(name, &values.to_vec()?, &expected);
        Ok(())
    }

    /// CUB sorts pairs of keys and places for that, and writes the keys too.
    fn places(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let name = "argsort.f64";
        if !self.wants(name) {
            return Ok(());
        }
        let x = made(len, |i| mix(i) as i64 as f64);
        let mut expected = made(len, |i| i as u32);
        expected.par_sort_by(|&a, &b| x[a as usize].total_cmp(&x[b as usize]));
        let (dx, mut places, mut space) = (self.upload(&x)?, self.upload(&vec![0u32; len])?, Workspace::new());
        self.time((name, power), 12.0 * len as f64, || Ok(space.argsort_into(&dx, Order::Ascending, &mut places)?))?;
        self.check(name, &places.to_vec()?, &expected);
        Ok(())
    }

    /// Each byte is counted, and its counts are added up, in new vectors. CUB is told that there are 256 values, and has a counter for each.
    fn histogram(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let name = "histogram.u8";
        if !self.wants(name) {
            return Ok(());
        }
        let x = made(len, |i| mix(i) as u8);
        let mut counts = [0u32; 256];
        x.iter().for_each(|&x| counts[x as usize] += 1);
        let expected = (0..=u8::MAX).zip(counts).filter(|(_, count)| *count > 0).unzip();
        let dx = self.upload(&x)?;
        let (values, counts) = on_gpu::histogram(&dx)?;
        let (expected_values, expected_counts): (Vec<u8>, Vec<u32>) = expected;
        self.check(name, &values.to_vec()?, &expected_values);
        self.check(name, &counts.to_vec()?, &expected_counts);
        self.time((name, power), len as f64, || {
            on_gpu::histogram(&dx)?;
            Ok(())
        })
    }
}
