//! Ordinary uses whose operators do more than add: moments of each sensor, the largest drawdown, a
//! hidden Markov model, the depth of brackets.

use monoscan::Error;
use monoscan::ops::{Moments, Segmented};
use monoscan::prelude::*;

use super::{Session, race};
use crate::output::Output;
use crate::race::Field;
use crate::report::Row;
use bench_shared::data::{self, column};

/// The variance of all readings of a sensor so far, sensor after sensor.
pub(super) fn moments(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (heads, x) = (&data::heads(len)[..], &data::samples(len).collect::<Vec<f64>>()[..]);
    let mut expected = vec![0.0; len];
    moments_loop(heads, x, &mut expected);
    let scan = |threads| {
        Scan::<Segmented<Moments<f64>>>::builder()
            .lift(scan!(|start: bool, x: f64| -> Segmented<Moments<f64>> {
                Segmented { start, value: Moments::of(x) }
            }))
            .project(scan!(|sensor: Segmented<Moments<f64>>| -> f64 { Moments::variance(sensor.value) }))
            .threads(threads)
            .build()
            .expect("moments are a monoid")
    };
    let y = Output::close(expected, 1e-9);
    race(
        session,
        field,
        &y,
        |y| moments_loop(heads, x, y),
        [1, 2].map(scan),
        |scan, y| scan.inclusive_into((heads, x), y),
    )
}

/// Welford's method.
#[inline(never)]
fn moments_loop(heads: &[bool], x: &[f64], y: &mut [f64]) {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for ((&head, &x), y) in heads.iter().zip(x).zip(y) {
        if head {
            (count, mean, squares) = (0.0, 0.0, 0.0);
        }
        count += 1.0;
        let shift = x - mean;
        mean += shift / count;
        squares += shift * (x - mean);
        *y = squares / count;
    }
}

/// The most that a price fell from an earlier one.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Drawdown {
    highest: f64,
    lowest: f64,
    fall: f64,
}

#[scan_monoid]
impl Monoid for Drawdown {
    fn identity() -> Self {
        Drawdown { highest: f64::NEG_INFINITY, lowest: f64::INFINITY, fall: 0.0 }
    }
    fn combine(self, next: Self) -> Self {
        Drawdown {
            highest: self.highest.max(next.highest),
            lowest: self.lowest.min(next.lowest),
            fall: self.fall.max(next.fall).max(self.highest - next.lowest),
        }
    }
    fn valid(self) -> bool {
        let none = self.highest == f64::NEG_INFINITY && self.lowest == f64::INFINITY && self.fall == 0.0;
        none || self.lowest <= self.highest && self.fall >= 0.0 && self.fall <= self.highest - self.lowest
    }
}

pub(super) fn drawdown(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let mut price = 100.0;
    let x = data::samples(len).map(|change| {
        price += change;
        price
    });
    let x = &x.collect::<Vec<f64>>()[..];
    let mut expected = vec![0.0; len];
    drawdown_loop(x, &mut expected);
    let scan = |threads| {
        Scan::<Drawdown>::builder()
            .lift(scan!(|x: f64| -> Drawdown { Drawdown { highest: x, lowest: x, fall: 0.0 } }))
            .project(scan!(|all: Drawdown| -> f64 { all.fall }))
            .threads(threads)
            .build()
            .expect("drawdowns are a monoid")
    };
    let y = Output::exact(expected);
    race(session, field, &y, |y| drawdown_loop(x, y), [1, 2].map(scan), |scan, y| scan.inclusive_into(x, y))
}

#[inline(never)]
fn drawdown_loop(x: &[f64], y: &mut [f64]) {
    let (mut highest, mut fall) = (f64::NEG_INFINITY, 0.0f64);
    for (&x, y) in x.iter().zip(y) {
        highest = x.max(highest);
        fall = fall.max(highest - x);
        *y = fall;
    }
}

/// States of the hidden Markov model.
const STATES: usize = 4;

/// The logarithms of the probabilities to go from each state to each other.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogMatrix {
    pub(crate) m: [[f64; STATES]; STATES],
}

#[scan_monoid]
impl Monoid for LogMatrix {
    fn identity() -> Self {
        let mut m = [[f64::NEG_INFINITY; STATES]; STATES];
        for i in 0..STATES {
            m[i][i] = 0.0;
        }
        LogMatrix { m }
    }
    fn combine(self, next: Self) -> Self {
        let mut m = [[0.0f64; STATES]; STATES];
        for i in 0..STATES {
            for j in 0..STATES {
                let mut terms = [0.0f64; STATES];
                for k in 0..STATES {
                    terms[k] = self.m[i][k] + next.m[k][j];
                }
                m[i][j] = log_sum_exp(terms);
            }
        }
        LogMatrix { m }
    }
}

/// ln Σ exp(terms), without overflow.
#[scan_fn]
fn log_sum_exp(terms: [f64; STATES]) -> f64 {
    let mut high = terms[0];
    for k in 1..STATES {
        high = if terms[k] > high { terms[k] } else { high };
    }
    let mut sum = 0.0f64;
    for k in 0..STATES {
        sum += (terms[k] - high).exp();
    }
    if high == f64::NEG_INFINITY { high } else { high + sum.ln() }
}

/// Transitions that favour staying, as logarithms of about 0.7 and 0.1.
const STAY: f64 = -0.35;
const LEAVE: f64 = -2.3;

/// The step of one symbol, whose probability in each state has these logarithms.
#[scan_fn]
fn observed(symbol: [f64; STATES]) -> LogMatrix {
    let mut m = [[LEAVE; STATES]; STATES];
    for i in 0..STATES {
        for j in 0..STATES {
            m[i][j] = if i == j { STAY + symbol[j] } else { LEAVE + symbol[j] };
        }
    }
    LogMatrix { m }
}

/// The forward variable of the last state, from the first.
pub(crate) fn hidden_markov(threads: usize) -> Result<Scan<LogMatrix, ([f64; STATES],), f64>, Error> {
    let last = scan!(|all: LogMatrix| -> f64 { all.m[0][STATES - 1] });
    Scan::<LogMatrix>::builder().lift(observed {}).project(last).threads(threads).build()
}

pub(super) fn hmm(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let symbols = column(8, len, |numbers| std::array::from_fn(|_| numbers.between(-4.0, -0.1)));
    let symbols: &[[f64; STATES]] = &symbols;
    let mut expected = vec![0.0; len];
    hmm_loop(symbols, &mut expected);
    let scan = |threads| hidden_markov(threads).expect("matrices are a monoid");
    let y = Output::close(expected, 1e-9);
    race(session, field, &y, |y| hmm_loop(symbols, y), [1, 2].map(scan), |scan, y| scan.inclusive_into(symbols, y))
}

#[inline(never)]
fn hmm_loop(symbols: &[[f64; STATES]], y: &mut [f64]) {
    let mut forward = [f64::NEG_INFINITY; STATES];
    forward[0] = 0.0;
    for (symbol, y) in symbols.iter().zip(y) {
        forward = std::array::from_fn(|j| {
            let terms = std::array::from_fn(|i| forward[i] + if i == j { STAY } else { LEAVE } + symbol[j]);
            log_sum_exp(terms)
        });
        *y = forward[STATES - 1];
    }
}

/// Brackets that match nothing before or behind.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Brackets {
    closing: u32,
    opening: u32,
}

#[scan_monoid]
impl Monoid for Brackets {
    fn identity() -> Self {
        Brackets { closing: 0, opening: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let matched = self.opening.min(next.closing);
        Brackets { closing: self.closing + next.closing - matched, opening: self.opening - matched + next.opening }
    }
}

/// How many brackets are open; a closing one that matches nothing counts for nothing.
pub(super) fn depth(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let text = column(9, len, |numbers| b"(((a b c)))"[numbers.below(11) as usize]);
    let text = &text[..];
    let mut expected = vec![0; len];
    depth_loop(text, &mut expected);
    let scan = |threads| {
        Scan::<Brackets>::builder()
            .lift(scan!(|c: u8| -> Brackets {
                Brackets { closing: if c == b')' { 1 } else { 0 }, opening: if c == b'(' { 1 } else { 0 } }
            }))
            .project(scan!(|open: Brackets| -> u32 { open.opening }))
            .threads(threads)
            .build()
            .expect("brackets are a monoid")
    };
    let y = Output::exact(expected);
    race(session, field, &y, |y| depth_loop(text, y), [1, 2].map(scan), |scan, y| scan.inclusive_into(text, y))
}

#[inline(never)]
fn depth_loop(text: &[u8], y: &mut [u32]) {
    let mut open = 0u32;
    for (&c, y) in text.iter().zip(y) {
        match c {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        *y = open;
    }
}
