//! Scans that were derived from a loop, beside those that have a row of their own by an operator
//! written by hand: maximum, counter, recurrence, Kadane (here too) and automaton.
//!
//! A derived program carries what a stretch of the loop does to any state, and starts from the
//! loop's initial state, as it does for users.

use monoscan::Error;
use monoscan::prelude::*;
use monoscan_ir::{Program, Verified};

use super::maps::affine_columns_by;
use super::numbers::{bytes_of, max_by, program_of, small, widening_by};
use crate::line::{Line, PERIOD, Subject};
use bench_shared::data;
use scan_kit::by_hand::{Best, best_of, wide_best_of};

pub(super) fn max_f32(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::from_loop(scan!(|m: f32, x: f32| -> f32 { m.max(x) }), f32::NEG_INFINITY)?;
    Ok(max_by(&program_of(&scan), seed))
}

pub(super) fn widening(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::from_loop(scan!(|count: u32, x: u8| -> u32 { count + x as u32 }), 0)?;
    Ok(widening_by(&program_of(&scan), seed))
}

pub(super) fn affine_f32_columns(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::from_loop(scan!(|y: f32, a: f32, b: f32| -> f32 { a * y + b }), 0.0)?;
    Ok(affine_columns_by(&program_of(&scan), seed))
}

fn best_by(program: &Verified<Program>, seed: u64) -> Box<dyn Subject> {
    let x: Vec<i32> = small(seed);
    let columns = vec![bytes_of(&x)];
    let lift = move |place: usize| best_of(x[place]);
    let meaning = (lift, Best::combine, |_, after: Best<i32>, _| after.best);
    Box::new(Line::new(program, columns, Best::identity(), meaning))
}

/// Kadane's algorithm by hand.
pub(super) fn best_by_hand(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let project = scan!(|so_far: Best<i32>| -> i32 { so_far.best });
    let scan = Scan::<Best<i32>>::builder().lift(best_of {}).project(project).build()?;
    Ok(best_by(&program_of(&scan), seed))
}

/// The same in 64 bits, where no sum of a stretch wraps: only this one is right wherever the loop is.
pub(super) fn best_by_hand_in_64_bits(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let project = scan!(|so_far: Best<i64>| -> i32 { so_far.best as i32 });
    let scan = Scan::<Best<i64>>::builder().lift(wide_best_of {}).project(project).build()?;
    Ok(best_by(&program_of(&scan), seed))
}

pub(super) fn best(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let step = scan!(|s: (i32, i32), x: i32| -> (i32, i32) { ((s.0 + x).max(0), s.1.max(s.0 + x)) });
    let scan = Scan::loop_builder(step, (0, 0)).output(scan!(|s: (i32, i32)| -> i32 { s.1 })).build()?;
    Ok(best_by(&program_of(&scan), seed))
}

const FULL: i64 = 100;

#[scan_fn]
fn tokens(t: i32, fill: i32, take: i32) -> i32 {
    ((t + fill).min(100) - take).max(0)
}

/// The map of a stretch of the bucket: min(max(t + added, low), high).
#[derive(Clone, Copy)]
struct Bucket {
    added: i64,
    low: i64,
    high: i64,
}

impl Bucket {
    /// Further below than any bucket goes.
    const ANY: Bucket = Bucket { added: 0, low: -1 << 40, high: 1 << 40 };

    fn after(self, t: i64) -> i64 {
        (t + self.added).max(self.low).min(self.high)
    }

    fn then(self, next: Bucket) -> Bucket {
        Bucket { added: self.added + next.added, low: next.after(self.low), high: next.after(self.high) }
    }
}

pub(super) fn bucket(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::from_loop(tokens {}, 0)?;
    let small = |seed: u64| -> Vec<i32> { data::column(seed, PERIOD, |numbers| numbers.below(20) as i32) };
    let (fill, take) = (small(seed), small(seed + 1));
    let columns = vec![bytes_of(&fill), bytes_of(&take)];
    let lift = move |place: usize| {
        let (fill, take) = (i64::from(fill[place]), i64::from(take[place]));
        Bucket { added: fill - take, low: 0, high: (FULL - take).max(0) }
    };
    let meaning = (lift, Bucket::then, |_, after: Bucket, _| after.after(0) as i32);
    Ok(Box::new(Line::new(&program_of(&scan), columns, Bucket::ANY, meaning)))
}

/// In a string, after a backslash there, and the depth.
#[scan_fn]
fn depth(s: (bool, bool, i32), c: u8) -> (bool, bool, i32) {
    let quote = c == b'"' && !s.1;
    let escape = c == b'\\' && s.0 && !s.1;
    let opens = (c == b'{' || c == b'[') && !s.0;
    let closes = (c == b'}' || c == b']') && !s.0;
    (
        s.0 ^ quote,
        escape,
        s.2 + if opens {
            1
        } else if closes {
            -1
        } else {
            0
        },
    )
}

/// The state that a stretch of text leads to from each of the four states.
#[derive(Clone, Copy)]
struct Depth {
    to: [u8; 4],
    by: [i32; 4],
}

impl Depth {
    fn of(c: u8) -> Depth {
        let from = |state: u8| depth((state & 1 != 0, state & 2 != 0, 0), c);
        let states: [(bool, bool, i32); 4] = std::array::from_fn(|state| from(state as u8));
        Depth { to: states.map(|s| u8::from(s.0) | u8::from(s.1) << 1), by: states.map(|s| s.2) }
    }

    fn then(self, next: Depth) -> Depth {
        let through = |state: usize| usize::from(self.to[state]);
        Depth {
            to: std::array::from_fn(|state| next.to[through(state)]),
            by: std::array::from_fn(|state| self.by[state].wrapping_add(next.by[through(state)])),
        }
    }
}

fn depth_by(program: &Verified<Program>, output: impl Fn(Depth) -> i32 + Sync + 'static) -> Box<dyn Subject> {
    let text = data::json(PERIOD);
    let columns = vec![text.clone()];
    let identity = Depth { to: [0, 1, 2, 3], by: [0; 4] };
    let meaning =
        (move |place: usize| Depth::of(text[place]), Depth::then, move |_, after: Depth, _: usize| output(after));
    Box::new(Line::new(program, columns, identity, meaning))
}

pub(super) fn json_depth(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    let output = scan!(|s: (bool, bool, i32)| -> i32 { s.2 });
    let scan = Scan::loop_builder(depth {}, (false, false, 0)).output(output).build()?;
    Ok(depth_by(&program_of(&scan), |after| after.by[0]))
}

/// The first level of the depth alone, with as many bytes read and written: what two levels can reach.
pub(super) fn json_strings(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    let step =
        scan!(|s: (bool, bool), c: u8| -> (bool, bool) { (s.0 ^ (c == b'"' && !s.1), c == b'\\' && s.0 && !s.1) });
    let output = scan!(|s: (bool, bool)| -> i32 { if s.0 { 1 } else { 0 } });
    let scan = Scan::loop_builder(step, (false, false)).output(output).build()?;
    Ok(depth_by(&program_of(&scan), |after| i32::from(after.to[0] & 1)))
}
