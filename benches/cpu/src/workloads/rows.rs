//! Rows of a few elements: additions of numbers of 256 bits, each four words.

use std::cell::{RefCell, RefMut};

use monoscan::Rows;
use monoscan::prelude::*;

use super::{Session, race_judged};
use crate::race::{Field, Judge};
use crate::report::Row;
use bench_shared::data::column;

/// Words of a number.
const WORDS: usize = 4;

/// The effect of two words on the carry that enters them.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Carry {
    generated: bool,
    propagated: bool,
}

#[scan_monoid]
impl Monoid for Carry {
    fn identity() -> Self {
        Carry { generated: false, propagated: true }
    }
    fn combine(self, next: Self) -> Self {
        Carry {
            generated: next.generated || next.propagated && self.generated,
            propagated: self.propagated && next.propagated,
        }
    }
}

#[scan_fn]
fn carry_of(a: u64, b: u64) -> Carry {
    let sum = a.wrapping_add(b);
    Carry { generated: sum < a, propagated: sum == u64::MAX }
}

/// Of the carry into a word.
#[scan_fn]
fn sum_of(carry: Carry, a: u64, b: u64) -> u64 {
    let sum = a.wrapping_add(b);
    if carry.generated { sum.wrapping_add(1) } else { sum }
}

pub(super) fn u256(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let words = |seed| column(seed, len, |numbers| if numbers.below(4) == 0 { u64::MAX } else { numbers.bits() });
    let (a, b) = (&words(12)[..], &words(13)[..]);
    let mut expected = vec![0; len];
    u256_loop(a, b, &mut expected);
    // Words behind the last whole number are added to nothing.
    let rows = Rows::new(len / WORDS, WORDS, WORDS).expect("rows do not overlap");
    let scan = |threads| {
        let builder = Scan::<Carry>::builder().lift(carry_of {}).project_with_record(sum_of {});
        builder.threads(threads).build().expect("carries are a monoid")
    };
    let y = Words { values: RefCell::new(vec![0; len]), expected };
    let plain = |y: &mut [u64]| u256_loop(a, b, y);
    race_judged(
        session,
        field,
        &y,
        || RefMut::map(y.values.borrow_mut(), Vec::as_mut_slice),
        plain,
        [1, 2].map(scan),
        |scan, y| scan.rows(rows).exclusive_into((a, b), y),
    )
}

#[inline(never)]
fn u256_loop(a: &[u64], b: &[u64], y: &mut [u64]) {
    for ((a, b), y) in a.chunks_exact(WORDS).zip(b.chunks_exact(WORDS)).zip(y.chunks_exact_mut(WORDS)) {
        let mut carry = false;
        for ((&a, &b), y) in a.iter().zip(b).zip(y) {
            let (sum, first) = a.overflowing_add(b);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*y, carry) = (sum, first || second);
        }
    }
}

/// A column of words, which no `f64` holds.
struct Words {
    values: RefCell<Vec<u64>>,
    expected: Vec<u64>,
}

impl Judge for Words {
    fn spoil(&self) {
        let whole = self.expected.len() / WORDS * WORDS;
        self.values.borrow_mut()[..whole].iter_mut().zip(&self.expected).for_each(|(y, right)| *y = !right);
    }

    fn check(&self) -> Result<(), String> {
        let values = self.values.borrow();
        match values.iter().zip(&self.expected).position(|(y, right)| y != right) {
            None => Ok(()),
            Some(place) => Err(format!("word {place} is {:#x} instead of {:#x}", values[place], self.expected[place])),
        }
    }
}
