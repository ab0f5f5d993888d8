//! Series and numbers: scans alone.

use monoscan::algo::{numbers, on_gpu};

use super::super::loops;
use super::{There, one, with};
use crate::common::Failure;
use crate::{SCAN, drawn};

pub(super) fn series(there: &There) -> Result<(), Failure> {
    let x: Vec<i32> = drawn(there.records, 50, |bits| bits as i32);
    let is_there: Vec<bool> = drawn(there.records, 51, |bits| bits % 3 > 0);
    let (dx, dthere) = (there.upload(&x)?, there.upload(&is_there)?);
    there.line(
        ("on_gpu::forward_fill", SCAN),
        || on_gpu::forward_fill(&dx, &dthere, 0),
        one,
        ("a loop", || loops::latest(x.iter().zip(&is_there)).collect()),
    )?;
    there.line(
        ("on_gpu::backward_fill", SCAN),
        || on_gpu::backward_fill(&dx, &dthere, 0),
        one,
        ("a loop", || loops::backward_fill(&x, &is_there)),
    )?;
    let times = loops::times(drawn(there.records, 9, |bits| bits % 40));
    let dtimes = there.upload(&times)?;
    there.line(
        ("on_gpu::sessions", SCAN),
        || on_gpu::sessions(&dtimes, 37),
        one,
        ("a loop", || loops::sessions(&times, 37)),
    )?;
    there.line(
        ("on_gpu::running_argmax", SCAN),
        || on_gpu::running_argmax(&dx),
        one,
        ("a loop", || loops::running_argmax(&x)),
    )?;
    let hills: Vec<f64> = drawn(there.records, 10, |bits| (bits % 100_000) as f64);
    let dhills = there.upload(&hills)?;
    there.line(
        ("on_gpu::line_of_sight", SCAN),
        || on_gpu::line_of_sight(&dhills),
        one,
        ("a loop", || loops::line_of_sight(&hills)),
    )
}

pub(super) fn computing(there: &There) -> Result<(), Failure> {
    let digits = |seed| drawn(there.records, seed, |bits| if bits % 2 == 0 { u64::MAX } else { bits });
    let (a, b) = (digits(20), digits(21));
    let (da, db) = (there.upload(&a)?, there.upload(&b)?);
    let add = || loops::by_digits(&a, &b, u64::carrying_add);
    there.line(("on_gpu::add", SCAN), || on_gpu::add(&da, &db), with, ("a loop", add))?;
    let subtract = || loops::by_digits(&a, &b, u64::borrowing_sub);
    there.line(("on_gpu::subtract", SCAN), || on_gpu::subtract(&da, &db), with, ("a loop", subtract))?;
    // They differ in the lowest digit alone.
    let mut less = a.clone();
    less[0] = less[0].wrapping_sub(1);
    let dless = there.upload(&less)?;
    there.line(
        ("on_gpu::compare", SCAN),
        || on_gpu::compare(&da, &dless),
        Ok,
        ("a loop", || a.iter().rev().cmp(less.iter().rev())),
    )?;
    let rows = |digits: &[u64]| digits.iter().map(|&digit| [digit, u64::MAX, digit, 1]).collect::<Vec<[u64; 4]>>();
    let (a, b) = (rows(&a), rows(&b));
    let (rows_a, rows_b) = (there.upload(&a)?, there.upload(&b)?);
    there.line(
        ("on_gpu::add_rows", ["n", "0", "1"]),
        || on_gpu::add_rows(&rows_a, &rows_b),
        one,
        ("a loop", || loops::by_rows(&a, &b, u64::carrying_add)),
    )?;
    there.line(
        ("on_gpu::subtract_rows", ["n", "0", "1"]),
        || on_gpu::subtract_rows(&rows_a, &rows_b),
        one,
        ("a loop", || loops::by_rows(&a, &b, u64::borrowing_sub)),
    )?;
    let x: Vec<u32> = drawn(there.records, 22, |bits| bits as u32);
    let dx = there.upload(&x)?;
    there.line(
        ("on_gpu::horner", ["2 n", "2", "2"]),
        || on_gpu::horner(&dx, 3),
        Ok,
        ("a loop", || x.iter().fold(0u32, |y, x| y.wrapping_mul(3).wrapping_add(*x))),
    )?;
    let recurrence = numbers::Modular::<2, 998_244_353>::new([1, 1])?.on(there.gpu)?;
    there.line(
        ("on_gpu::Modular::run order 2", ["12 n", "1", "1"]),
        || recurrence.run(&dx),
        one,
        ("a loop", || loops::of_order_two(&x, 998_244_353)),
    )
}
