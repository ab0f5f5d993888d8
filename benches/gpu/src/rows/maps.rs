//! Maps under composition: affine ones, matrices, and what a digit does to a carry.
//!
//! Factors are −1, 0 or 1, and matrices have one of these in each row, so that floating-point
//! products and sums are exact; order matters all the same.

use monoscan::Error;
use monoscan::ops::{Affine, Carry, Matrix};
use monoscan::prelude::*;
use monoscan_ir::{Program, Verified};

use super::numbers::{bytes_of, program_of};
use crate::line::{Line, PERIOD, Subject};
use bench_shared::data::{self, Numbers};

/// A factor and an addend. One factor in 1024 is 0, so that sums stay small.
fn step<T: From<i8>>(numbers: &mut Numbers) -> [T; 2] {
    let factor = match numbers.below(1024) {
        0 => 0,
        other => [-1, 1][other as usize % 2],
    };
    [T::from(factor), T::from(numbers.below(9) as i8 - 4)]
}

pub(super) fn affine_f32(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Affine<f32>>::new()?;
    let x: Vec<[f32; 2]> = data::column(seed, PERIOD, step);
    let columns = vec![bytes_of(&x)];
    let lift = move |place: usize| Affine { a: x[place][0], b: x[place][1] };
    let meaning = (lift, Affine::combine, |_, after: Affine<f32>, _| [after.a, after.b]);
    Ok(Box::new(Line::new(&program_of(&scan), columns, Affine::identity(), meaning)))
}

pub(super) fn affine_f32_columns(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Affine<f32>>::builder()
        .lift(scan!(|a: f32, b: f32| -> Affine<f32> { Affine { a, b } }))
        .project(scan!(|map: Affine<f32>| -> f32 { map.b }))
        .build()?;
    Ok(affine_columns_by(&program_of(&scan), seed))
}

pub(super) fn affine_columns_by(program: &Verified<Program>, seed: u64) -> Box<dyn Subject> {
    let x: Vec<[f32; 2]> = data::column(seed, PERIOD, step);
    let column = |which: usize| bytes_of(&x.iter().map(|step| step[which]).collect::<Vec<_>>());
    let columns = vec![column(0), column(1)];
    let lift = move |place: usize| Affine { a: x[place][0], b: x[place][1] };
    let meaning = (lift, Affine::combine, |_, after: Affine<f32>, _| after.b);
    Box::new(Line::new(program, columns, Affine::identity(), meaning))
}

pub(super) fn affine_f64(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Affine<f64>>::new()?;
    let x: Vec<[f64; 2]> = data::column(seed, PERIOD, step);
    let columns = vec![bytes_of(&x)];
    let lift = move |place: usize| Affine { a: x[place][0], b: x[place][1] };
    let meaning = (lift, Affine::combine, |_, after: Affine<f64>, _| [after.a, after.b]);
    Ok(Box::new(Line::new(&program_of(&scan), columns, Affine::identity(), meaning)))
}

/// A reflection or a turn by a multiple of a right angle.
fn turn<T: From<i8>>(numbers: &mut Numbers) -> [[T; 2]; 2] {
    let [s, t] = [0, 1].map(|_| T::from([-1, 1][numbers.below(2) as usize]));
    let zero = || T::from(0);
    match numbers.below(2) {
        0 => [[s, zero()], [zero(), t]],
        _ => [[zero(), s], [t, zero()]],
    }
}

pub(super) fn matrix_f32(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Matrix<f32, 2>>::new()?;
    let x: Vec<[[f32; 2]; 2]> = data::column(seed, PERIOD, turn);
    let columns = vec![bytes_of(&x)];
    let meaning =
        (move |place: usize| Matrix { rows: x[place] }, Matrix::combine, |_, after: Matrix<f32, 2>, _| after.rows);
    Ok(Box::new(Line::new(&program_of(&scan), columns, Matrix::identity(), meaning)))
}

pub(super) fn matrix_f64(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Matrix<f64, 2>>::new()?;
    let x: Vec<[[f64; 2]; 2]> = data::column(seed, PERIOD, turn);
    let columns = vec![bytes_of(&x)];
    let meaning =
        (move |place: usize| Matrix { rows: x[place] }, Matrix::combine, |_, after: Matrix<f64, 2>, _| after.rows);
    Ok(Box::new(Line::new(&program_of(&scan), columns, Matrix::identity(), meaning)))
}

/// Bit 0 generates a carry, bit 1 propagates one; most digits propagate, so that carries go far.
pub(super) fn carry(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Carry>::builder()
        .lift(scan!(|x: u8| -> Carry { Carry { generate: x & 1 != 0, propagate: x & 2 != 0 } }))
        .project(scan!(|carry: Carry| -> u8 { carry.generate as u8 | (carry.propagate as u8) << 1 }))
        .build()?;
    let x: Vec<u8> = data::column(seed, PERIOD, |numbers| match numbers.below(1 << 14) {
        0 => 0,
        1 => 1,
        2 => 3,
        _ => 2,
    });
    let columns = vec![x.clone()];
    let lift = move |place: usize| Carry { generate: x[place] & 1 != 0, propagate: x[place] & 2 != 0 };
    let project = |_, after: Carry, _| u8::from(after.generate) | u8::from(after.propagate) << 1;
    Ok(Box::new(Line::new(&program_of(&scan), columns, Carry::identity(), (lift, Carry::combine, project))))
}
