//! The monoids of the test suite's zoo, and sums and extremes of plain numbers: records are states,
//! and the plain loop is the user's own `combine`.
//!
//! Floats are small whole numbers, exact in any association.

use std::fmt::Debug;

use monoscan::ops::{Max, Min, Segmented, Sum, Xor};
use monoscan::prelude::*;
use scan_kit::Random;

use self::operators::{
    Affine, ArgMax, Bicyclic, Carry, Gaps, Hash, Interval, Matrix, Modular, PRIME, Switch, Unitriangular, Wide, Words,
};

use super::exact::Exact;
use super::field;
use crate::report::Row;
use crate::workloads::{Session, race_judged};

// Compiled here, since release builds do not optimise `scan-kit`: the plain loop is `combine`.
#[path = "../../../../tests/kit/src/zoo.rs"]
#[expect(unreachable_pub, reason = "tests use it as a public module")]
mod operators;

/// Takes the rows of a race.
pub(super) type Take<'a> = &'a mut dyn FnMut(Vec<Row>);

/// All of them, on so many elements.
pub(super) fn run(session: &Session, len: usize, take: Take<'_>) {
    macro_rules! race {
        ($($name:literal: $make:expr;)*) => { $(take(one(session, $name, len, $make));)* };
    }
    let small = |r: &mut Random| r.below(7) - 3;
    let word = |r: &mut Random| {
        let is_word = r.below(3) != 0;
        Words { any: true, first: is_word, last: is_word, count: u32::from(is_word) }
    };
    let time = |r: &mut Random| {
        let time = r.below(1 << 16) as u16;
        Gaps { any: true, ascending: true, first: time, last: time, widest: 0 }
    };
    race! {
        "xor of u8": |r, _| Xor(r.bits() as u8);
        "sum of i16": |r, _| Sum(r.below(9) as i16 - 4);
        "sum of i32": |r, _| Sum(r.below(9i32) - 4);
        "sum of i64": |r, _| Sum(r.below(9i64) - 4);
        "sum of f32": |r, _| Sum((r.below(9i32) - 4) as f32);
        "sum of f64": |r, _| Sum(f64::from(r.below(9i32) - 4));
        "maximum of i32": |r, _| Max(r.bits() as i32);
        "maximum of f64": |r, _| Max(f64::from(r.bits() as i32));
        "minimum of u64": |r, _| Min(r.bits());
        "Bicyclic": |r, _| Bicyclic { closing: r.below(3), opening: r.below(3) };
        "Interval": |_, i| Interval { empty: false, start: i as u32, end: i as u32 + 1, broken: 0 };
        "Affine of f32": |r, _| Affine { a: (r.below(3i32) - 1) as f32, b: (r.below(9i32) - 4) as f32 };
        "Affine of f64": |r, _| Affine { a: f64::from(r.below(3i32) - 1), b: f64::from(r.below(9i32) - 4) };
        "Matrix<2>": |r, _| Matrix::<2> { m: std::array::from_fn(|_| std::array::from_fn(|_| r.bits() as u32)) };
        "Matrix<3>": |r, _| Matrix::<3> { m: std::array::from_fn(|_| std::array::from_fn(|_| r.bits() as u32)) };
        "Unitriangular": move |r, _| Unitriangular { a: small(r), b: small(r), corner: small(r) };
        "Modular": |r, _| Modular { m: std::array::from_fn(|_| std::array::from_fn(|_| r.below(PRIME))) };
        "Hash": |r, _| Hash { hash: r.below(256), power: 1_000_003 };
        "ArgMax": |r, i| ArgMax { value: r.below(1000u32) as i16, place: i as u32 };
        "Segmented<Max<i32>>": |r, _| Segmented { start: r.below(9u32) == 0, value: Max(r.bits() as i32) };
        "Segmented<Words>": move |r, _| Segmented { start: r.below(9u32) == 0, value: word(r) };
        "Carry": |r, _| Carry { generate: r.below(4u32) == 0, propagate: r.below(2u32) == 0 };
        "Wide": |r, _| Wide { sums: std::array::from_fn(|_| r.bits()) };
        "Words": move |r, _| word(r);
        "Gaps": move |r, _| time(r);
        "Switch": |r, _| *r.pick(&[Switch::Off, Switch::Unset, Switch::Unset, Switch::On]);
    }
}

fn one<M: Monoid + PartialEq + Debug>(
    session: &Session,
    name: &str,
    len: usize,
    make: impl Fn(&mut Random, usize) -> M,
) -> Vec<Row> {
    let mut random = Random(1);
    let x: Vec<M> = (0..len).map(|i| make(&mut random, i)).collect();
    let mut expected = x.clone();
    plain(&x, &mut expected);
    let y = Exact::new(expected, differing(&x));
    let scan = |threads| Scan::<M>::builder().threads(threads).build().expect("the zoo has monoids");
    let scans = [1, 2].map(scan);
    let column = || y.write();
    race_judged(session, field(name, len), &y, column, |y| plain(&x, y), scans, |scan, y| scan.inclusive_into(&x, y))
}

/// Two values that differ.
fn differing<M: Monoid + PartialEq>(x: &[M]) -> [M; 2] {
    let one = M::identity();
    [one, x.iter().copied().find(|record| *record != one).expect("some record is not the identity")]
}

#[inline(never)]
fn plain<M: Monoid>(x: &[M], y: &mut [M]) {
    let mut state = M::identity();
    for (x, y) in x.iter().zip(y) {
        state = state.combine(*x);
        *y = state;
    }
}
