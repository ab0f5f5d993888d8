//! Series, texts and numbers: scans alone.

use monoscan::algo::{numbers, on_gpu};

use super::{There, one, two, with};
use crate::common::Failure;
use crate::{SCAN, drawn};

pub(super) fn series(there: &There) -> Result<(), Failure> {
    let x: Vec<i32> = drawn(there.records, 50, |bits| bits as i32);
    let is_there: Vec<bool> = drawn(there.records, 51, |bits| bits % 3 > 0);
    let (dx, dthere) = (there.upload(&x)?, there.upload(&is_there)?);
    let latest = || {
        let mut last = 0;
        move |(&x, &is_there): (&i32, &bool)| {
            last = if is_there { x } else { last };
            last
        }
    };
    there.line(
        ("on_gpu::forward_fill", SCAN),
        || on_gpu::forward_fill(&dx, &dthere, 0),
        one,
        ("a loop", || x.iter().zip(&is_there).map(latest()).collect()),
    )?;
    there.line(
        ("on_gpu::backward_fill", SCAN),
        || on_gpu::backward_fill(&dx, &dthere, 0),
        one,
        ("a loop", || {
            let mut filled: Vec<i32> = x.iter().zip(&is_there).rev().map(latest()).collect();
            filled.reverse();
            filled
        }),
    )?;
    let mut now = 0;
    let after = |pause| {
        now += pause;
        now
    };
    let times: Vec<u64> = drawn(there.records, 9, |bits| bits % 40).into_iter().map(after).collect();
    let dtimes = there.upload(&times)?;
    there.line(
        ("on_gpu::sessions", SCAN),
        || on_gpu::sessions(&dtimes, 37),
        one,
        ("a loop", || {
            let mut session = 0;
            let ends = times.windows(2).map(|pair| {
                session += (pair[1] - pair[0] > 37) as u32;
                session
            });
            [0].into_iter().chain(ends).collect()
        }),
    )?;
    there.line(
        ("on_gpu::running_argmax", SCAN),
        || on_gpu::running_argmax(&dx),
        one,
        ("a loop", || {
            let mut highest = 0;
            let places = (0..x.len()).map(|i| {
                highest = if x[i] > x[highest] { i } else { highest };
                highest as u32
            });
            places.collect()
        }),
    )?;
    let hills: Vec<f64> = drawn(there.records, 10, |bits| (bits % 100_000) as f64);
    let dhills = there.upload(&hills)?;
    there.line(
        ("on_gpu::line_of_sight", SCAN),
        || on_gpu::line_of_sight(&dhills),
        one,
        ("a loop", || {
            let mut steepest = f64::NEG_INFINITY;
            let sees = |(i, &hill): (usize, &f64)| {
                let slope = if i == 0 { f64::NEG_INFINITY } else { (hill - hills[0]) / i as f64 };
                let sees = i == 0 || slope > steepest;
                steepest = steepest.max(slope);
                sees
            };
            hills.iter().enumerate().map(sees).collect()
        }),
    )?;
    let text: Vec<u8> = drawn(there.records, 59, |bits| if bits % 40 == 0 { b'\n' } else { b'a' });
    let dtext = there.upload(&text)?;
    there.line(
        ("on_gpu::lines_and_columns", SCAN),
        || on_gpu::lines_and_columns(&dtext),
        two,
        ("a loop", || {
            let (mut line, mut column) = (0, 0);
            let place = |&byte: &u8| {
                let here = (line, column);
                (line, column) = if byte == b'\n' { (line + 1, 0) } else { (line, column + 1) };
                here
            };
            text.iter().map(place).unzip()
        }),
    )
}

pub(super) fn computing(there: &There) -> Result<(), Failure> {
    let digits = |seed| drawn(there.records, seed, |bits| if bits % 2 == 0 { u64::MAX } else { bits });
    let (a, b) = (digits(20), digits(21));
    let (da, db) = (there.upload(&a)?, there.upload(&b)?);
    fn by_loop(a: &[u64], b: &[u64], of: fn(u64, u64, bool) -> (u64, bool)) -> (Vec<u64>, bool) {
        let mut carry = false;
        let digit = |(&a, &b): (&u64, &u64)| {
            let digit;
            (digit, carry) = of(a, b, carry);
            digit
        };
        let digits = a.iter().zip(b).map(digit).collect();
        (digits, carry)
    }
    let add = || by_loop(&a, &b, u64::carrying_add);
    there.line(("on_gpu::add", SCAN), || on_gpu::add(&da, &db), with, ("a loop", add))?;
    let subtract = || by_loop(&a, &b, u64::borrowing_sub);
    there.line(("on_gpu::subtract", SCAN), || on_gpu::subtract(&da, &db), with, ("a loop", subtract))?;
    let rows = |digits: &[u64]| digits.iter().map(|&digit| [digit, u64::MAX, digit, 1]).collect::<Vec<[u64; 4]>>();
    let (a, b) = (rows(&a), rows(&b));
    let (rows_a, rows_b) = (there.upload(&a)?, there.upload(&b)?);
    let each = |of: fn(u64, u64, bool) -> (u64, bool)| -> Vec<[u64; 4]> {
        let row = |(a, b): (&[u64; 4], &[u64; 4])| {
            let (mut row, mut carry) = ([0; 4], false);
            for place in 0..4 {
                (row[place], carry) = of(a[place], b[place], carry);
            }
            row
        };
        a.iter().zip(&b).map(row).collect()
    };
    there.line(
        ("on_gpu::add_rows", ["n", "0", "1"]),
        || on_gpu::add_rows(&rows_a, &rows_b),
        one,
        ("a loop", || each(u64::carrying_add)),
    )?;
    there.line(
        ("on_gpu::subtract_rows", ["n", "0", "1"]),
        || on_gpu::subtract_rows(&rows_a, &rows_b),
        one,
        ("a loop", || each(u64::borrowing_sub)),
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
