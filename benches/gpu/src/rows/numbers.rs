//! Sums and maxima of numbers.

use bytemuck::Pod;
use monoscan::ops::{Max, Sum};
use monoscan::prelude::*;
use monoscan::{Error, Record};
use monoscan_ir::{Program, Verified};

use crate::line::{Line, PERIOD, Subject};
use bench_shared::data::{self, Numbers};

/// Numbers of −4 to 4. Sums of 2³⁰ of them stay below 2²⁴, so that sums of `f32` are exact in every association.
pub(super) fn small<T: From<i8>>(seed: u64) -> Vec<T> {
    data::column(seed, PERIOD, |numbers| T::from(numbers.below(9) as i8 - 4))
}

pub(super) fn bytes_of<T: Pod>(column: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(column).to_vec()
}

pub(super) fn program_of<S: monoscan::States, In: Record, Out: ScanType>(scan: &Scan<S, In, Out>) -> Verified<Program> {
    scan.as_dyn().program().clone()
}

/// A scan of numbers under an operator of theirs.
fn plain<T: Pod + PartialEq + std::fmt::Debug + Send + Sync>(
    program: Verified<Program>,
    x: Vec<T>,
    identity: T,
    combine: impl Fn(T, T) -> T + Sync + 'static,
) -> Box<dyn Subject> {
    let columns = vec![bytes_of(&x)];
    Box::new(Line::new(&program, columns, identity, (move |place| x[place], combine, |_, after, _| after)))
}

pub(super) fn sum_i32(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Sum<i32>>::new()?;
    Ok(plain(program_of(&scan), small(seed), 0, i32::wrapping_add))
}

pub(super) fn sum_f32(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Sum<f32>>::new()?;
    Ok(plain(program_of(&scan), small::<f32>(seed), 0.0, |a, b| a + b))
}

pub(super) fn sum_i64(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Sum<i64>>::new()?;
    let x = data::column(seed, PERIOD, |numbers| numbers.bits() as i64);
    Ok(plain(program_of(&scan), x, 0, i64::wrapping_add))
}

pub(super) fn sum_f64(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Sum<f64>>::new()?;
    Ok(plain(program_of(&scan), small::<f64>(seed), 0.0, |a, b| a + b))
}

pub(super) fn sum_i16(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Sum<i16>>::new()?;
    let x = data::column(seed, PERIOD, |numbers| numbers.bits() as i16);
    Ok(plain(program_of(&scan), x, 0, i16::wrapping_add))
}

pub(super) fn sum_u8(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Sum<u8>>::new()?;
    let x = data::column(seed, PERIOD, |numbers| numbers.bits() as u8);
    Ok(plain(program_of(&scan), x, 0, u8::wrapping_add))
}

pub(super) fn max_f32(seed: u64) -> Result<Box<dyn Subject>, Error> {
    Ok(max_by(&program_of(&Scan::<Max<f32>>::new()?), seed))
}

/// Numbers that grow along a period, so that there is a new maximum now and then up to its end.
pub(super) fn max_by(program: &Verified<Program>, seed: u64) -> Box<dyn Subject> {
    let mut numbers = Numbers::new(seed);
    let x = (0..PERIOD).map(|place| (place as f64 / 16.0 + numbers.between(-1e4, 0.0)) as f32).collect();
    plain(program.clone(), x, f32::NEG_INFINITY, f32::max)
}

pub(super) fn widening(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Sum<u32>>::builder()
        .lift(scan!(|x: u8| -> Sum<u32> { Sum(x as u32) }))
        .project(scan!(|sum: Sum<u32>| -> u32 { sum.0 }))
        .build()?;
    Ok(widening_by(&program_of(&scan), seed))
}

pub(super) fn widening_by(program: &Verified<Program>, seed: u64) -> Box<dyn Subject> {
    let x: Vec<u8> = data::column(seed, PERIOD, |numbers| numbers.bits() as u8);
    let columns = vec![x.clone()];
    let meaning = (move |place| u32::from(x[place]), u32::wrapping_add, |_, after, _| after);
    Box::new(Line::new(program, columns, 0u32, meaning))
}
