//! Records that are kept.

use monoscan::Error;
use monoscan::ops::Any;
use monoscan::prelude::*;

use super::numbers::{bytes_of, program_of};
use crate::line::{PERIOD, Periodic, Subject};
use bench_shared::data;

#[scan_fn]
fn is_odd(e: Element<i32, Any>) -> bool {
    e.record & 1 != 0
}

#[scan_fn]
fn record(e: Element<i32, Any>) -> i32 {
    e.record
}

/// The odd numbers among some. The state says nothing.
pub(super) fn odd(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<Any>::builder()
        .lift(scan!(|_x: i32| -> Any { Any(false) }))
        .filter(is_odd {})
        .project_at(record {})
        .build()?;
    let x: Vec<i32> = data::column(seed, PERIOD, |numbers| numbers.bits() as i32);
    let columns = vec![bytes_of(&x)];
    let expected: Vec<i32> = x.iter().copied().filter(|x| x & 1 != 0).collect();
    let kept = move |records: usize| x[..records].iter().filter(|&x| x & 1 != 0).count();
    Ok(Box::new(Periodic { program: program_of(&scan), columns, expected, later: |x, _| x, kept, end: |_| None }))
}
