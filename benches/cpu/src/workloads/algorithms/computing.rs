//! Long integers, polynomials and recurrences beside their loops.

use monoscan::algo::numbers::{self, Modular};
use num_bigint::BigUint;

use super::super::Session;
use super::race_into;
use crate::race::Field;
use crate::report::Row;
use bench_shared::data::column;

/// A quarter of the digits are all ones, and the highest as given.
fn digits(seed: u64, len: usize, highest: u64) -> Vec<u64> {
    let mut digits = column(seed, len, |numbers| if numbers.below(4) == 0 { u64::MAX } else { numbers.bits() });
    digits[len - 1] = highest;
    digits
}

fn number(digits: &[u64]) -> BigUint {
    BigUint::new(digits.iter().flat_map(|digit| [*digit as u32, (digit >> 32) as u32]).collect())
}

/// A number of so many digits from a greater one.
pub(in super::super) fn subtract(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (a, b) = (&digits(92, len, u64::MAX)[..], &digits(93, len, 1)[..]);
    let (p, q) = (number(a), number(b));
    let by_loop = |y: &mut [u64]| {
        let mut borrow = false;
        for ((a, b), y) in a.iter().zip(b).zip(y) {
            (*y, borrow) = a.borrowing_sub(*b, borrow);
        }
        len
    };
    let by_crate = |y: &mut [u64]| {
        let difference = std::hint::black_box(&p - &q);
        let digits = difference.iter_u64_digits().chain(std::iter::repeat(0));
        y.iter_mut().zip(digits).map(|(y, digit)| *y = digit).count()
    };
    race_into((session, field), (len, 7), &[("plain loop", &by_loop), ("num-bigint", &by_crate)], |y| {
        numbers::subtract_into(a, b, y).map(|_| len)
    })
}

/// Two numbers that differ in the lowest digit alone: −1 if the first is less, 1 if it is greater.
pub(in super::super) fn compare(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let a = &digits(94, len, 1)[..];
    let mut b = a.to_vec();
    b[0] ^= 1;
    let b = &b[..];
    let (p, q) = (number(a), number(b));
    let by_loop = |y: &mut [i8]| {
        y[0] = a.iter().rev().cmp(b.iter().rev()) as i8;
        1
    };
    let by_crate = |y: &mut [i8]| {
        y[0] = p.cmp(&q) as i8;
        1
    };
    race_into((session, field), (1, 7), &[("plain loop", &by_loop), ("num-bigint", &by_crate)], |y| {
        y[0] = numbers::compare(a, b) as i8;
        Ok(1)
    })
}

/// A polynomial of so many coefficients at 3, modulo 2⁶⁴.
pub(in super::super) fn horner(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let coefficients = &column(95, len, |numbers| numbers.bits())[..];
    let by_loop = |y: &mut [u64]| {
        y[0] = coefficients.iter().fold(0u64, |y, coefficient| y.wrapping_mul(3).wrapping_add(*coefficient));
        1
    };
    race_into((session, field), (1, 7), &[("plain loop", &by_loop)], |y| {
        y[0] = numbers::horner(coefficients, 3)?;
        Ok(1)
    })
}

/// A recurrence of order 2 modulo a prime of 30 bits.
pub(in super::super) fn modular(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    const MODULUS: u32 = 998_244_353;
    let x = &column(96, len, |numbers| numbers.bits() as u32)[..];
    let recurrence = &Modular::<2, MODULUS>::new([1, 1]).expect("its state is small");
    let by_loop = |y: &mut [u32]| {
        let (mut last, mut before) = (0, 0);
        for (&x, y) in x.iter().zip(&mut *y) {
            (last, before) = ((u64::from(x) + last + before) % u64::from(MODULUS), last);
            *y = last as u32;
        }
        len
    };
    race_into((session, field), (len, 7), &[("plain loop", &by_loop)], |y| recurrence.run_into(x, y).map(|()| len))
}
