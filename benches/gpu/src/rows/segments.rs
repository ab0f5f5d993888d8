//! Sums that start anew: at flags, and where a key differs from the one before.

use monoscan::Error;
use monoscan::ops::{Segmented, Sum};
use monoscan::prelude::*;

use super::numbers::{bytes_of, program_of, small};
use crate::line::{Line, PERIOD, Subject};
use bench_shared::data;

pub(super) fn by_flags(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Segmented<Sum<i32>>>::builder()
        .lift(scan!(|start: bool, x: i32| -> Segmented<Sum<i32>> { Segmented { start, value: Sum(x) } }))
        .project(scan!(|segment: Segmented<Sum<i32>>| -> i32 { segment.value.0 }))
        .build()?;
    let x: Vec<i32> = small(seed);
    let starts = data::column(seed + 1, PERIOD, |numbers| numbers.below(256) == 0);
    let columns = vec![starts.iter().map(|&start| u8::from(start)).collect(), bytes_of(&x)];
    let lift = move |place: usize| Segmented { start: starts[place], value: Sum(x[place]) };
    let meaning = (lift, Segmented::combine, |_, after: Segmented<Sum<i32>>, _| after.value.0);
    Ok(Box::new(Line::new(&program_of(&scan), columns, Segmented::identity(), meaning)))
}

/// The state is what a run of keys has come to before an element: nothing behind the last element of a run.
#[scan_fn]
fn carried(e: Element<(i32, i32)>) -> Segmented<Sum<i32>> {
    let ends = e.next.0 != e.record.0;
    Segmented { start: ends, value: Sum(if ends { 0 } else { e.record.1 }) }
}

#[scan_fn]
fn with_element(e: Element<(i32, i32), Segmented<Sum<i32>>>) -> i32 {
    e.before.value.0 + e.record.1
}

pub(super) fn by_key(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Segmented<Sum<i32>>>::builder()
        .lift_at::<(i32, i32), _>(carried {})
        .project_at(with_element {})
        .build()?;
    let x: Vec<i32> = small(seed);
    let mut key = 0;
    let keys = data::column(seed + 1, PERIOD, |numbers| {
        if numbers.below(64) == 0 {
            key = numbers.bits() as i32;
        }
        key
    });
    let columns = vec![bytes_of(&keys), bytes_of(&x)];
    let (addends, ends) = (x.clone(), (0..PERIOD).map(|place| keys[place] != keys[(place + 1) % PERIOD]));
    let ends: Vec<bool> = ends.collect();
    let lift = move |place: usize| {
        let value = Sum(if ends[place] { 0 } else { x[place] });
        Segmented { start: ends[place], value }
    };
    let project = move |before: Segmented<Sum<i32>>, _, place: usize| before.value.0 + addends[place];
    Ok(Box::new(Line::new(&program_of(&scan), columns, Segmented::identity(), (lift, Segmented::combine, project))))
}
