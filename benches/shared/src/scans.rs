//! monoscan's side of each workload, through its public interface.

use monoscan::lexer::Lexer;
use monoscan::ops::{Affine, Max, Segmented, StateMap, Sum};
use monoscan::prelude::*;
use monoscan::recurrence::{self, Precision, Signature};
use monoscan::{DynScan, Element, Error, ScanBuilder};
use monoscan_ir::verify;

use crate::loops::Biquad;

type Failure = Box<dyn std::error::Error>;

/// A column of numbers in, their running sums out.
pub type Sums<T> = Scan<Sum<T>, (T,), T>;

/// Columns of factors and addends in, a column out.
pub type Recurrences<T> = Scan<Affine<T>, (T, T), T>;

/// Columns of heads and numbers in, sums out.
pub type SegmentedSums<T> = Scan<Segmented<Sum<T>>, (bool, T), T>;

/// A column of bytes in, a column of states out.
pub type States = Scan<StateMap<16>, (u8,), u8>;

/// A column of numbers in, the runs of equal ones out: the number and how often.
pub type RunLengths = Scan<(Sum<u32>, Max<u32>), (u8,), (u8, u32)>;

/// At most so many threads, or as many as the engine chooses.
fn limited<S, In, Out, F>(
    builder: ScanBuilder<S, In, Out, F>,
    threads: impl Into<Option<usize>>,
) -> ScanBuilder<S, In, Out, F> {
    match threads.into() {
        Some(threads) => builder.threads(threads),
        None => builder,
    }
}

/// A cascade that keeps the last record of each run.
pub fn run_lengths(threads: impl Into<Option<usize>>) -> Result<RunLengths, Error> {
    let end =
        scan!(|e: Element<u8, Sum<u32>>| -> Max<u32> { Max(if e.last || e.next != e.record { e.after.0 } else { 0 }) });
    let builder = Scan::<Sum<u32>>::builder()
        .lift(scan!(|_x: u8| -> Sum<u32> { Sum(1) }))
        .then(end)
        .filter(scan!(|e: Element<u8, (Sum<u32>, Max<u32>)>| -> bool { e.last || e.next != e.record }))
        .project_at(scan!(|e: Element<u8, (Sum<u32>, Max<u32>)>| -> (u8, u32) {
            (e.record, (e.after.0).0 - (e.before.1).0)
        }));
    limited(builder, threads).build()
}

pub fn sum_i32(threads: impl Into<Option<usize>>) -> Result<Sums<i32>, Error> {
    let builder = Scan::<Sum<i32>>::builder()
        .lift(scan!(|x: i32| -> Sum<i32> { Sum(x) }))
        .project(scan!(|sum: Sum<i32>| -> i32 { sum.0 }));
    limited(builder, threads).build()
}

pub fn sum_f32(threads: usize) -> Result<Sums<f32>, Error> {
    Scan::<Sum<f32>>::builder()
        .lift(scan!(|x: f32| -> Sum<f32> { Sum(x) }))
        .project(scan!(|sum: Sum<f32>| -> f32 { sum.0 }))
        .threads(threads)
        .build()
}

pub fn affine_f32(threads: impl Into<Option<usize>>) -> Result<Recurrences<f32>, Error> {
    let builder = Scan::<Affine<f32>>::builder()
        .lift(scan!(|a: f32, b: f32| -> Affine<f32> { Affine { a, b } }))
        .project(scan!(|map: Affine<f32>| -> f32 { map.b }));
    limited(builder, threads).build()
}

pub fn affine_f64(threads: usize) -> Result<Recurrences<f64>, Error> {
    Scan::<Affine<f64>>::builder()
        .lift(scan!(|a: f64, b: f64| -> Affine<f64> { Affine { a, b } }))
        .project(scan!(|map: Affine<f64>| -> f64 { map.b }))
        .threads(threads)
        .build()
}

#[scan_fn]
fn move_of(moves: Table<StateMap<16>>, byte: u8) -> StateMap<16> {
    moves.get(byte as u32)
}

pub fn states(moves: &[[u8; 16]], threads: impl Into<Option<usize>>) -> Result<States, Error> {
    let moves: Vec<StateMap<16>> = moves.iter().map(|&to| StateMap { to }).collect();
    let builder = Scan::<StateMap<16>>::builder()
        .lift(move_of {}.with_table(&moves))
        .project(scan!(|map: StateMap<16>| -> u8 { StateMap::from_start(map) }));
    limited(builder, threads).build()
}

pub fn segmented_i32(threads: impl Into<Option<usize>>) -> Result<SegmentedSums<i32>, Error> {
    let builder = Scan::<Segmented<Sum<i32>>>::builder()
        .lift(scan!(|start: bool, x: i32| -> Segmented<Sum<i32>> { Segmented { start, value: Sum(x) } }))
        .project(scan!(|segment: Segmented<Sum<i32>>| -> i32 { segment.value.0 }));
    limited(builder, threads).build()
}

/// A column of `f32` in, one out; the state is of `f32` too, or of `f64`.
pub fn biquad_f32(filter: Biquad, precision: Precision, threads: usize) -> Result<DynScan, Failure> {
    let signature = Signature::new(filter.a.map(decimal), filter.b.map(decimal))?;
    let program = recurrence::program::<f32>(&signature, precision)?;
    Ok(DynScan::builder(verify(program)?).threads(threads).build()?)
}

/// The decimal number that an `f32` was written as.
fn decimal(coefficient: f32) -> f64 {
    coefficient.to_string().parse().expect("a number's digits are a number")
}

/// The scan of a lexer on so many threads: a column of bytes in, a column of labels out.
pub fn labels(lexer: &Lexer, threads: usize) -> Result<DynScan, Error> {
    DynScan::builder(lexer.tables().expect("one pass lexes JSON").program()).threads(threads).build()
}
