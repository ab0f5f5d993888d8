//! How long derivations take. A time is no test of a machine that others use, so this is run by
//! hand, in a build that is optimised:
//!
//! ```text
//! cargo test --release --test loops derivations_take -- --ignored --nocapture
//! ```
//!
//! `MONOSCAN_LOOP=CRC` takes those alone that have this in their names.

#![allow(clippy::all, reason = "loops as people write them")]

use std::time::{Duration, Instant};

use monoscan::ir::derive::derive;

use crate::entry::{Entry, loops};
use crate::refusals::{filtered, largest_five};
use crate::{aggregations, own, published, ways};

/// The most that a derivation may take, also beside others.
const LIMIT: Duration = Duration::from_millis(10);

const ROUNDS: usize = 5;

/// The fastest of some rounds.
fn time(entry: &Entry) -> Duration {
    let one = |_| {
        let start = Instant::now();
        // A refusal takes its time too.
        drop(std::hint::black_box(derive(&entry.program)));
        start.elapsed()
    };
    (0..ROUNDS).map(one).min().expect("there is a round")
}

/// Loops that take long: many components that read each other, of which some have no scan.
fn long() -> Vec<Entry> {
    loops! {
        "filter of 32 taps" "R" (s: ([f64; 32], f64), x: f64) = ([0.0; 32], 0.0) => { filtered(s, x) };
        "delay of 30" "R" (s: [f64; 30], x: f64) = [0.0; 30] => {
            let mut next = s;
            next[0] = x;
            for i in 1..30 {
                next[i] = s[i - 1];
            }
            next
        };
        "the largest five" "I" (s: [i32; 5], x: i32) = [0; 5] => { largest_five(s, x) };
    }
}

/// The loops of all suites whose names have what is asked for.
pub(crate) fn entries() -> Vec<Entry> {
    let suites = [published::entries(), aggregations::entries(), own::signals(), own::money(), own::events()];
    let wanted = std::env::var("MONOSCAN_LOOP").unwrap_or_default();
    let entries = suites.into_iter().chain([own::text(), own::codes()]).flatten();
    entries.filter(|entry| entry.name.contains(&wanted)).collect()
}

#[test]
#[ignore = "a time, of an optimised build on a quiet machine"]
fn derivations_take_a_few_milliseconds() {
    let wanted = std::env::var("MONOSCAN_LOOP").unwrap_or_default();
    let others = long().into_iter().chain(ways::ways()).filter(|entry| entry.name.contains(&wanted));
    let entries: Vec<Entry> = entries().into_iter().chain(others).collect();
    let mut times: Vec<(Duration, &str)> = entries.iter().map(|entry| (time(entry), entry.name)).collect();
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].0;
    println!("{} loops: median {:?}, 90 of 100 within {:?}", times.len(), at(50), at(90));
    times.iter().rev().take(12).for_each(|(time, name)| println!("  {time:?}  {name}"));
    let (longest, name) = times[times.len() - 1];
    assert!(longest <= LIMIT, "{name} takes {longest:?}");
}
