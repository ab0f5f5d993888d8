//! Scans that keep some records: the lengths of runs, what differs from its neighbour, what is
//! flagged, and its sums.

use monoscan::ops::Sum;
use monoscan::prelude::*;

use super::{Session, race};
use crate::output::Output;
use crate::race::Field;
use crate::report::Row;
use bench_shared::data::{self, column};

/// Values that repeat four times on average.
fn repeated(len: usize) -> Vec<u32> {
    let mut value = 0;
    column(10, len, |numbers| {
        if numbers.below(4) == 0 {
            value = numbers.below(100) as u32;
        }
        value
    })
}

/// How many elements there were since the last run ended.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct SinceEnd {
    ended: bool,
    count: u32,
}

#[scan_monoid]
impl Monoid for SinceEnd {
    fn identity() -> Self {
        SinceEnd { ended: false, count: 0 }
    }
    fn combine(self, next: Self) -> Self {
        SinceEnd {
            ended: self.ended || next.ended,
            count: if next.ended { next.count } else { self.count + next.count },
        }
    }
}

#[scan_fn]
fn counted(e: Element<u32>) -> SinceEnd {
    let ended = e.last || e.next != e.record;
    SinceEnd { ended, count: if ended { 0 } else { 1 } }
}

#[scan_fn]
fn ends(e: Element<u32, SinceEnd>) -> bool {
    e.last || e.next != e.record
}

#[scan_fn]
fn run(e: Element<u32, SinceEnd>) -> u32 {
    e.before.count + 1
}

/// The lengths of the runs of equal values.
pub(super) fn runs(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &repeated(len)[..];
    let scan = |threads| {
        Scan::<SinceEnd>::builder()
            .lift_at(counted {})
            .filter(ends {})
            .project_at(run {})
            .threads(threads)
            .build()
            .expect("counts are a monoid")
    };
    let y = kept(len, |y| runs_loop(x, y));
    race(session, field, &y, |y| _ = runs_loop(x, y), [1, 2].map(scan), |scan, y| scan.inclusive_into(x, y))
}

#[inline(never)]
fn runs_loop(x: &[u32], y: &mut [u32]) -> usize {
    let (mut count, mut length) = (0, 0);
    for (i, &value) in x.iter().enumerate() {
        length += 1;
        if x.get(i + 1) != Some(&value) {
            y[count] = length;
            (count, length) = (count + 1, 0);
        }
    }
    count
}

#[scan_fn]
fn differs(e: Element<u32, Sum<u32>>) -> bool {
    e.last || e.next != e.record
}

/// The last of each run of equal values.
pub(super) fn unique(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &repeated(len)[..];
    let scan = |threads| {
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|_x: u32| -> Sum<u32> { Sum(0) }))
            .filter(differs {})
            .project_with_record(scan!(|_none: Sum<u32>, x: u32| -> u32 { x }))
            .threads(threads)
            .build()
            .expect("sums are a monoid")
    };
    let y = kept(len, |y| unique_loop(x, y));
    race(session, field, &y, |y| _ = unique_loop(x, y), [1, 2].map(scan), |scan, y| scan.inclusive_into(x, y))
}

#[inline(never)]
fn unique_loop(x: &[u32], y: &mut [u32]) -> usize {
    let mut count = 0;
    for (i, &value) in x.iter().enumerate() {
        if x.get(i + 1) != Some(&value) {
            y[count] = value;
            count += 1;
        }
    }
    count
}

/// Whether an element is flagged: one of two on average.
fn flags(len: usize) -> Vec<bool> {
    column(11, len, |numbers| numbers.below(2) == 0)
}

#[scan_fn]
fn is_flagged(e: Element<(bool, i32), Sum<i32>>) -> bool {
    e.record.0
}

/// The flagged records.
pub(super) fn flagged(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (flags, x) = (&flags(len)[..], &data::small_integers::<i32>(len)[..]);
    let scan = |threads| {
        Scan::<Sum<i32>>::builder()
            .lift(scan!(|_flag: bool, _x: i32| -> Sum<i32> { Sum(0) }))
            .filter(is_flagged {})
            .project_with_record(scan!(|_none: Sum<i32>, _flag: bool, x: i32| -> i32 { x }))
            .threads(threads)
            .build()
            .expect("sums are a monoid")
    };
    let y = kept(len, |y| flagged_loop(flags, x, y));
    race(
        session,
        field,
        &y,
        |y| _ = flagged_loop(flags, x, y),
        [1, 2].map(scan),
        |scan, y| scan.inclusive_into((flags, x), y),
    )
}

#[inline(never)]
fn flagged_loop(flags: &[bool], x: &[i32], y: &mut [i32]) -> usize {
    let mut count = 0;
    for (&flag, &x) in flags.iter().zip(x) {
        if flag {
            y[count] = x;
            count += 1;
        }
    }
    count
}

/// The running sums of the flagged records.
pub(super) fn flagged_sums(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (flags, x) = (&flags(len)[..], &data::small_integers::<i32>(len)[..]);
    let scan = |threads| {
        Scan::<Sum<i32>>::builder()
            .lift(scan!(|flag: bool, x: i32| -> Sum<i32> { Sum(if flag { x } else { 0 }) }))
            .filter(is_flagged {})
            .project(scan!(|sum: Sum<i32>| -> i32 { sum.0 }))
            .threads(threads)
            .build()
            .expect("sums are a monoid")
    };
    let y = kept(len, |y| flagged_sums_loop(flags, x, y));
    race(
        session,
        field,
        &y,
        |y| _ = flagged_sums_loop(flags, x, y),
        [1, 2].map(scan),
        |scan, y| scan.inclusive_into((flags, x), y),
    )
}

#[inline(never)]
fn flagged_sums_loop(flags: &[bool], x: &[i32], y: &mut [i32]) -> usize {
    let (mut count, mut sum) = (0, 0i32);
    for (&flag, &x) in flags.iter().zip(x) {
        if flag {
            sum = sum.wrapping_add(x);
            y[count] = sum;
            count += 1;
        }
    }
    count
}

/// The kept values, in a buffer that has space for all.
fn kept<T: bytemuck::Pod + Into<f64> + From<u8>>(len: usize, keep: impl FnOnce(&mut [T]) -> usize) -> Output<T> {
    let mut expected = vec![T::from(0); len];
    let count = keep(&mut expected);
    Output::first(expected, count)
}
