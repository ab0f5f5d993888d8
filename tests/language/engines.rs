//! Traced functions give the same on the CPU engine, in the interpreter and in Rust, over
//! adversarial records.

use std::fmt::Debug;

use monoscan::lang::trace::trace_fn;
use monoscan::lang::{from_constants, to_constants};
use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan_ir::{Constant, interp};

use scan_kit::Random;

use super::agree::value;

/// Enough for blocks, vectors and what is left over.
const RECORDS: usize = 3001;

#[scan_fn]
fn of_floats(x: f64, y: f32) -> ([f64; 5], [f32; 5], f64) {
    (
        [x.sin(), x.cos(), x.tan(), x.exp_m1(), x.ln_1p()],
        [y.sin(), y.cos(), y.tan(), y.exp_m1(), y.ln_1p()],
        x.powf(f64::from(y)) + x.powi(-3),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
enum Kind {
    Blank,
    Letter,
    Digit,
    Other = 200,
}

#[scan_fn]
impl Kind {
    fn of(byte: u8) -> Self {
        if byte.is_ascii_whitespace() {
            return Kind::Blank;
        }
        if byte.is_ascii_alphabetic() {
            return Kind::Letter;
        }
        if byte.is_ascii_digit() { Kind::Digit } else { Kind::Other }
    }

    fn is_word(self) -> bool {
        matches!(self, Kind::Letter | Kind::Digit)
    }
}

const FACTORS: [[i32; 4]; 2] = [[1, -1, 2, 3], [i32::MAX, i32::MIN, 5, -7]];

#[scan_fn]
fn of_integers(byte: u8, n: i32, m: u64, kind: Kind) -> (Kind, [i32; 3], [u32; 3], (u64, bool), bool) {
    let factor = FACTORS[kind.is_word() as usize][(byte & 3) as usize];
    (
        if kind == Kind::Blank { Kind::of(byte) } else { kind },
        [n.saturating_mul(factor), n.max(1).rem_euclid(7), std::cmp::max(n, kind as i32)],
        [(m | 1).ilog2(), (m | 1).ilog10(), u32::from(byte.to_ascii_uppercase())],
        m.overflowing_mul(u64::from(byte)),
        (byte, n) == (7, 8),
    )
}

#[scan_fn]
fn floats_of(_count: Sum<u32>, record: (f64, f32)) -> ([f64; 5], [f32; 5], f64) {
    of_floats(record.0, record.1)
}

#[scan_fn]
fn integers_of(_count: Sum<u32>, record: (u8, i32, u64, Kind)) -> (Kind, [i32; 3], [u32; 3], (u64, bool), bool) {
    of_integers(record.0, record.1, record.2, record.3)
}

/// Writes what `project` makes of each record.
fn runs<X, Y, L, P>(one: L, project: P)
where
    X: ScanType,
    Y: ScanType + Debug,
    L: ScanFn<(X,), Out = Sum<u32>> + Copy,
    P: ScanFn<(Sum<u32>, X), Out = Y> + Copy,
{
    let mut random = Random(1);
    let records: Vec<Vec<Constant>> = (0..RECORDS).map(|_| value::<X>(&mut random)).collect();
    let typed: Vec<X> = records.iter().map(|record| from_constants(record.iter().copied())).collect();
    let traced = trace_fn::<P, (Sum<u32>, X)>(&project).unwrap();
    let mut interpreter = interp::Interpreter::new(&traced.tables);
    for threads in [1, 3] {
        let scan = Scan::<Sum<u32>>::builder().lift(one).project_with_record(project).threads(threads).build().unwrap();
        let found = scan.inclusive(&typed).unwrap();
        for (record, found) in records.iter().zip(&found) {
            let arguments: Vec<Constant> = [Constant::from(0u32)].into_iter().chain(record.iter().copied()).collect();
            let expected = interpreter.call(&traced.function, &arguments);
            let same = expected.iter().zip(to_constants(found)).all(|(a, b)| a.same(b));
            assert!(same, "of {record:?}: {found:?} for {expected:?}");
        }
    }
}

#[test]
fn expansions_of_float_functions_run_as_interpreted() {
    runs(scan!(|_record: (f64, f32)| -> Sum<u32> { Sum(1) }), floats_of {});
}

#[test]
fn integer_methods_enums_and_look_ups_run_as_interpreted() {
    runs(scan!(|_record: (u8, i32, u64, Kind)| -> Sum<u32> { Sum(1) }), integers_of {});
}
