//! Long integers, polynomials and recurrences.

use monoscan::algo::numbers;

use crate::common::Failure;
use crate::{Table, drawn};

pub(crate) fn computing(table: &Table) -> Result<(), Failure> {
    let digits = |seed| drawn(table.records, seed, |bits| if bits % 2 == 0 { u64::MAX } else { bits });
    let (a, b) = (digits(20), digits(21));
    let by_loop = |of: fn(u64, u64, bool) -> (u64, bool)| {
        let mut carry = false;
        let digit = |(&a, &b): (&u64, &u64)| {
            let digit;
            (digit, carry) = of(a, b, carry);
            digit
        };
        let digits: Vec<u64> = a.iter().zip(&b).map(digit).collect();
        (digits, carry)
    };
    table.line(
        ("add integers", ["n", "1", "1"]),
        || numbers::add(&a, &b),
        ("a loop", || by_loop(u64::carrying_add)),
    )?;
    table.line(
        ("subtract integers", ["n", "1", "1"]),
        || numbers::subtract(&a, &b),
        ("a loop", || by_loop(u64::borrowing_sub)),
    )?;
    let horner = || a.iter().fold(0u64, |y, a| y.wrapping_mul(3).wrapping_add(*a));
    table.line(("Horner's rule", ["n", "1", "1"]), || numbers::horner(&a, 3), ("a loop", horner))?;
    let x: Vec<u32> = drawn(table.records, 22, |bits| bits as u32);
    let recurrence = numbers::Modular::<2, 998_244_353>::new([1, 1])?;
    table.line(
        ("order 2 modulo m", ["12 n", "1", "1"]),
        || recurrence.run(&x),
        ("a loop", || {
            let (mut y, mut before) = (0, 0);
            let step = |&x: &u32| {
                (y, before) = ((u64::from(x) + y + before) % 998_244_353, y);
                y as u32
            };
            x.iter().map(step).collect()
        }),
    )
}
