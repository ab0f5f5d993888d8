//! Series and texts beside their loops, into columns that are there.

use monoscan::algo::{AlgoError, series, text};

use super::super::Session;
use super::{one_thread, race_into};
use crate::output::Output;
use crate::peers::PythonScan;
use crate::race::Field;
use crate::report::{Role, Row};
use bench_shared::data::column;

/// The last value before each that is missing, of which one of two is, at random.
pub(in super::super) fn forward_fill(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let by_loop = |x: &[f64], is_there: &[bool]| {
        let mut last = 0.0;
        let latest = |(x, there): (&f64, &bool)| {
            last = if *there { *x } else { last };
            last
        };
        x.iter().zip(is_there).map(latest).collect()
    };
    fills(session, field, len, by_loop, series::forward_fill, "forward_fill float64")
}

/// The next value after each that is missing.
pub(in super::super) fn backward_fill(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let by_loop = |x: &[f64], is_there: &[bool]| {
        let (mut next, mut filled) = (0.0, vec![0.0; x.len()]);
        for ((x, there), filled) in x.iter().zip(is_there).zip(&mut filled).rev() {
            next = if *there { *x } else { next };
            *filled = next;
        }
        filled
    };
    fills(session, field, len, by_loop, series::backward_fill, "backward_fill float64")
}

/// One of two values is missing, at random.
fn fills(
    session: &Session,
    field: Field<'_>,
    len: usize,
    by_loop: impl Fn(&[f64], &[bool]) -> Vec<f64>,
    fill: impl Fn(&[f64], &[bool], f64) -> Result<Vec<f64>, AlgoError> + Sync,
    polars: &str,
) -> Vec<Row> {
    let is_there = &column(54, len, |numbers| numbers.below(2) == 0)[..];
    let values = column(55, len, |numbers| numbers.below(1000) as f64);
    let x = &values.iter().zip(is_there).map(|(x, there)| if *there { *x } else { f64::NAN }).collect::<Vec<f64>>()[..];
    let (y, pool) = (&Output::exact(by_loop(x, is_there)), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "plain loop", 1), y, || y.replace(by_loop(x, is_there)));
    let ours = || fill(x, is_there, 0.0).expect("columns of one length");
    field.enter((Role::Ours, "monoscan", 1), y, || y.replace(pool.install(ours)));
    field.enter((Role::Ours, "monoscan", 2), y, || y.replace(ours()));
    field.enter_if((Role::Rival, "polars", 2), y, PythonScan::new(&session.peers, polars, x, y));
    field.race(session.effort)
}

/// Pauses of up to 40, of which one of 20 is longer than the gap.
pub(in super::super) fn sessions(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let mut time = 0;
    let times = &column(81, len, |numbers| {
        time += numbers.below(40);
        time
    })[..];
    let by_loop = |y: &mut [u32]| {
        let (mut session, mut last) = (0, times[0]);
        for (&time, y) in times.iter().zip(&mut *y) {
            session += (time - last > 37) as u32;
            (*y, last) = (session, time);
        }
        len
    };
    race_into((session, field), (len, 7), &[("plain loop", &by_loop)], |y| {
        series::sessions_into(times, 37, y).map(|()| len)
    })
}

/// Hills that rise, of which some hide others.
pub(in super::super) fn line_of_sight(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let mut place = 0.0;
    let hills = &column(82, len, |numbers| {
        place += 1.0;
        place * numbers.between(0.0, 1.0)
    })[..];
    let by_loop = |y: &mut [bool]| {
        let mut steepest = f64::NEG_INFINITY;
        y[0] = true;
        for (place, (&hill, y)) in hills.iter().zip(&mut *y).enumerate().skip(1) {
            let slope = (hill - hills[0]) / place as f64;
            *y = slope > steepest;
            steepest = steepest.max(slope);
        }
        len
    };
    race_into((session, field), (len, false), &[("plain loop", &by_loop)], |y| {
        series::line_of_sight_into(hills, y).map(|()| len)
    })
}

/// Numbers that rise slowly, so that the greatest changes now and then.
pub(in super::super) fn running_argmax(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let mut floor = 0;
    let x = &column(83, len, |numbers| {
        floor += (numbers.below(50) == 0) as i64;
        floor + numbers.below(3) as i64
    })[..];
    let by_loop = |y: &mut [u32]| {
        let mut highest = 0;
        for place in 0..len {
            highest = if x[place] > x[highest] { place } else { highest };
            y[place] = highest as u32;
        }
        len
    };
    race_into((session, field), (len, 7), &[("plain loop", &by_loop)], |y| {
        series::running_argmax_into(x, y).map(|()| len)
    })
}

/// Lines of 40 bytes on average: lines in the first half, columns in the second.
pub(in super::super) fn lines_and_columns(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let text = &column(84, len, |numbers| if numbers.below(40) == 0 { b'\n' } else { b'a' })[..];
    let by_loop = |y: &mut [u32]| {
        let ((lines, columns), mut at) = (y.split_at_mut(len), (0, 0));
        for ((&byte, line), column) in text.iter().zip(lines).zip(columns) {
            (*line, *column) = at;
            at = if byte == b'\n' { (at.0 + 1, 0) } else { (at.0, at.1 + 1) };
        }
        2 * len
    };
    race_into((session, field), (2 * len, 7), &[("plain loop", &by_loop)], |y| {
        let (lines, columns) = y.split_at_mut(len);
        text::lines_and_columns_into(text, lines, columns).map(|()| 2 * len)
    })
}
