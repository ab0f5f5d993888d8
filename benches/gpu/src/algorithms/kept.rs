//! Records that are selected, parted or made unique, and runs.

use monoscan::algo::on_gpu::{self, Workspace};
use monoscan::algo::select::Select;
use monoscan::prelude::*;
use rayon::prelude::*;

use super::{Bench, made, mix};
use crate::arena::Failure;

impl Bench<'_> {
    /// Half of the records are kept.
    pub(super) fn kept(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        const NAMES: [&str; 4] = ["select.i32", "selectIf.i32", "partition.i32", "partition3.i32"];
        if !NAMES.iter().any(|name| self.wants(name)) {
            return Ok(());
        }
        let x = made(len, |i| mix(i) as i32);
        let flags = made(len, |i| mix(i + (1 << 40)) & 1 == 1);
        let of = |set: bool| x.par_iter().zip(&flags).filter(move |(_, flag)| **flag == set).map(|(x, _)| *x);
        let (kept, others): (Vec<i32>, Vec<i32>) = (of(true).collect(), of(false).collect());
        let (dx, dflags) = (self.upload(&x)?, self.upload(&flags)?);
        let (mut out, mut space) = (self.upload(&x)?, Workspace::new());
        let [select, select_if, partition, partition3] = NAMES;
        if self.wants(select) {
            self.time((select, power), 5.0 * len as f64 + 4.0 * kept.len() as f64, || {
                on_gpu::select_into(&dx, &dflags, &mut out)?;
                Ok(())
            })?;
            self.check(select, &out.to_vec()?[..kept.len()], &kept);
        }
        if self.wants(select_if) {
            let positive = Select::by(scan!(|x: i32| -> bool { x > 0 }))?.on(self.device)?;
            let kept: Vec<i32> = x.par_iter().copied().filter(|&x| x > 0).collect();
            self.time((select_if, power), 4.0 * (len + kept.len()) as f64, || {
                positive.select_into(&dx, &mut out)?;
                Ok(())
            })?;
            self.check(select_if, &out.to_vec()?[..kept.len()], &kept);
        }
        if self.wants(partition) {
            let mut set = self.upload(&[0u32])?;
            self.time((partition, power), 9.0 * len as f64, || {
                Ok(space.partition_on_device(&dx, &dflags, &mut out, &mut set)?)
            })?;
            self.check(partition, &out.to_vec()?, &[&kept[..], &others].concat());
            self.check(partition, &set.to_vec()?, &[kept.len() as u32]);
        }
        if self.wants(partition3) {
            // CUB tells the classes by two predicates of the records, and reads no column of them.
            let classes: Vec<u8> = x.par_iter().map(|&x| (x as u32 % 3) as u8).collect();
            let class = |class: u32| x.par_iter().copied().filter(move |&x| x as u32 % 3 == class);
            let parts: [Vec<i32>; 3] = [class(0).collect(), class(1).collect(), class(2).collect()];
            let dclasses = self.upload(&classes)?;
            self.time((partition3, power), 9.0 * len as f64, || {
                space.partition3_into(&dx, &dclasses, &mut out)?;
                Ok(())
            })?;
            self.check(partition3, &out.to_vec()?, &parts.concat());
        }
        Ok(())
    }

    pub(super) fn runs(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        self.encode("encode.u8", power, len, |i| mix(i >> 2) as u8)?;
        self.encode("encode.u16", power, len, |i| mix(i >> 2) as u16)?;
        self.encode("encode.u32", power, len, |i| (mix(i >> 2) & 0xffff) as u32)?;
        self.encode("encode.u64", power, len, |i| mix(i >> 2))?;
        self.encode("encode.u8.long", power, len, |i| mix(i >> 6) as u8)?;
        self.encode("encode.u32.long", power, len, |i| mix(i >> 6) as u32)?;
        self.unique(power, len)
    }

    /// All vectors have space for all records, so that nothing is counted first.
    fn encode<T>(
        &mut self,
        name: &'static str,
        power: u32,
        len: usize,
        of: impl Fn(u64) -> T + Sync + Send,
    ) -> Result<(), Failure>
    where
        T: ScanType + PartialEq,
    {
        if !self.wants(name) {
            return Ok(());
        }
        let x = made(len, of);
        let (mut values, mut lengths) = (Vec::new(), Vec::new());
        for run in x.chunk_by(|a, b| a == b) {
            values.push(run[0]);
            lengths.push(run.len() as u32);
        }
        let dx = self.upload(&x)?;
        let (mut dv, mut dl) = (self.upload(&x)?, self.upload(&vec![0u32; len])?);
        let bytes = size_of_val(&x[..]) + lengths.len() * (size_of::<T>() + 4);
        self.time((name, power), bytes as f64, || {
            on_gpu::encode_into(&dx, &mut dv, &mut dl)?;
            Ok(())
        })?;
        self.check(name, &dv.to_vec()?[..values.len()], &values);
        self.check(name, &dl.to_vec()?[..lengths.len()], &lengths);
        Ok(())
    }

    fn unique(&mut self, power: u32, len: usize) -> Result<(), Failure> {
        let [unique, by_key] = ["unique.u32", "uniqueByKey.u32.i32"];
        if !self.wants(unique) && !self.wants(by_key) {
            return Ok(());
        }
        let (keys, x) = (made(len, |i| (mix(i >> 2) & 0xffff) as u32), made(len, |i| mix(i) as i32));
        let starts: Vec<usize> = (0..len).into_par_iter().filter(|&i| i == 0 || keys[i] != keys[i - 1]).collect();
        let firsts: Vec<u32> = starts.iter().map(|&i| keys[i]).collect();
        let values: Vec<i32> = starts.iter().map(|&i| x[i]).collect();
        let (dkeys, dx) = (self.upload(&keys)?, self.upload(&x)?);
        let (mut dk, mut dv) = (self.upload(&keys)?, self.upload(&x)?);
        if self.wants(unique) {
            self.time((unique, power), 4.0 * (len + firsts.len()) as f64, || {
                on_gpu::unique_into(&dkeys, &mut dk)?;
                Ok(())
            })?;
            self.check(unique, &dk.to_vec()?[..firsts.len()], &firsts);
        }
        if self.wants(by_key) {
            self.time((by_key, power), 8.0 * (len + firsts.len()) as f64, || {
                on_gpu::unique_by_key_into((&dkeys, &dx), &mut dk, &mut dv)?;
                Ok(())
            })?;
            self.check(by_key, &dk.to_vec()?[..firsts.len()], &firsts);
            self.check(by_key, &dv.to_vec()?[..values.len()], &values);
        }
        Ok(())
    }
}
