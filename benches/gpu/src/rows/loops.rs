//! Scans that were derived from a loop: a bounded sum, and a sum under a table of states.
//!
//! A derived program carries what a stretch of the loop does to any state, and these start from the
//! identity: a bucket that is empty after its first record, a text in its first state.

use monoscan::Error;
use monoscan::prelude::*;

use super::numbers::{bytes_of, program_of};
use crate::line::{Line, PERIOD, Subject};
use bench_shared::data;

const FULL: i64 = 100;

#[scan_fn]
fn tokens(t: i32, fill: i32, take: i32) -> i32 {
    ((t + fill).min(100) - take).max(0)
}

/// What stretches of the bucket do: min(max(t + added, low), high).
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
    let (mut fill, take) = (small(seed), small(seed + 1));
    // Whatever there was, it is empty then.
    fill[0] = 0;
    let columns = vec![bytes_of(&fill), bytes_of(&take)];
    let lift = move |place: usize| {
        let (fill, take) = (i64::from(fill[place]), i64::from(take[place]));
        Bucket { added: fill - take, low: 0, high: (FULL - take).max(0) }
    };
    let meaning = (lift, Bucket::then, |_, after: Bucket, _| after.low as i32);
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

/// What stretches of text do from each of the four states.
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

pub(super) fn json_depth(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    let output = scan!(|s: (bool, bool, i32)| -> i32 { s.2 });
    let scan = Scan::loop_builder(depth {}, (false, false, 0)).output(output).build()?;
    let text = data::json(PERIOD);
    let columns = vec![text.clone()];
    let identity = Depth { to: [0, 1, 2, 3], by: [0; 4] };
    let meaning = (move |place: usize| Depth::of(text[place]), Depth::then, |_, after: Depth, _| after.by[0]);
    Ok(Box::new(Line::new(&program_of(&scan), columns, identity, meaning)))
}
