//! Rows and segments of a few elements, 1 to 16: sums of plain numbers. Rows have two plain loops:
//! one that knows their length when it is compiled, and one that is told it.

use std::fmt::Debug;
use std::hint::black_box;

use monoscan::Rows;
use monoscan::ops::Sum;
use monoscan::prelude::*;
use scan_kit::Random;

use super::exact::Exact;
use super::field;
use super::zoo::Take;
use crate::report::Row;
use crate::workloads::{Session, race_judged};

/// Elements of a segment on average.
const SEGMENTS: [usize; 4] = [2, 4, 8, 16];

/// Rows of each length, of several types, so many elements in all.
pub(super) fn rows(session: &Session, len: usize, take: Take<'_>) {
    of_type(session, ("u8", len), Sum::<u8>, take);
    of_type(session, ("i32", len), |x| Sum(i32::from(x) - 4), take);
    of_type(session, ("i64", len), |x| Sum(i64::from(x) - 4), take);
    of_type(session, ("f32", len), |x| Sum(f32::from(x) - 4.0), take);
    of_type(session, ("f64", len), |x| Sum(f64::from(x) - 4.0), take);
}

fn of_type<M: Monoid + PartialEq + Debug>(
    session: &Session,
    (ty, len): (&str, usize),
    of: impl Fn(u8) -> M,
    take: Take<'_>,
) {
    macro_rules! lengths {
        ($($row:literal)*) => { $(of_length::<M, $row>(session, (ty, len), &of).into_iter().for_each(&mut *take);)* };
    }
    lengths! { 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 }
}

/// Small numbers; their sums over 16 are below 256.
fn numbers<M>(len: usize, of: impl Fn(u8) -> M) -> Vec<M> {
    let mut random = Random(2);
    (0..len).map(|_| of(random.below(9))).collect()
}

fn of_length<M: Monoid + PartialEq + Debug, const ROW: usize>(
    session: &Session,
    (ty, len): (&str, usize),
    of: impl Fn(u8) -> M,
) -> [Vec<Row>; 2] {
    let count = len / ROW;
    let x = &numbers(count * ROW, &of)[..];
    let mut expected = x.to_vec();
    in_rows::<M, ROW>(x, &mut expected);
    let y = Exact::new(expected, [of(200), of(201)]);
    let rows = Rows::new(count, ROW, ROW).expect("rows do not overlap");
    let scans = || [1, 2].map(|threads| Scan::<M>::builder().threads(threads).build().expect("sums are a monoid"));
    let run = |scan: &Scan<M>, y: &mut [M]| scan.rows(rows).inclusive_into(x, y);
    let name = |of: &str| format!("rows of {ROW} {ty}{of}");
    let (known, told, row) = (field(&name(""), x.len()), field(&name(", told"), x.len()), black_box(ROW));
    [
        race_judged(session, known, &y, || y.write(), |y| in_rows::<M, ROW>(x, y), scans(), run),
        race_judged(session, told, &y, || y.write(), |y| in_rows_of(row, x, y), scans(), run),
    ]
}

#[inline(never)]
fn in_rows<M: Monoid, const ROW: usize>(x: &[M], y: &mut [M]) {
    for (x, y) in x.chunks_exact(ROW).zip(y.chunks_exact_mut(ROW)) {
        let mut state = M::identity();
        for (x, y) in x.iter().zip(y) {
            state = state.combine(*x);
            *y = state;
        }
    }
}

#[inline(never)]
fn in_rows_of<M: Monoid>(row: usize, x: &[M], y: &mut [M]) {
    for (x, y) in x.chunks_exact(row).zip(y.chunks_exact_mut(row)) {
        let mut state = M::identity();
        for (x, y) in x.iter().zip(y) {
            state = state.combine(*x);
            *y = state;
        }
    }
}

/// Segments by flags and by offsets, so many elements in all.
pub(super) fn segments(session: &Session, len: usize, take: Take<'_>) {
    for mean in SEGMENTS {
        in_segments(session, ("i32", len, mean), |x| Sum(i32::from(x) - 4), take);
        in_segments(session, ("f64", len, mean), |x| Sum(f64::from(x) - 4.0), take);
    }
}

fn in_segments<M: Monoid + PartialEq + Debug>(
    session: &Session,
    (ty, len, mean): (&str, usize, usize),
    of: impl Fn(u8) -> M,
    take: Take<'_>,
) {
    let x = &numbers(len, &of)[..];
    let mut random = Random(3);
    let heads: Vec<bool> = (0..len).map(|i| i == 0 || random.below(mean) == 0).collect();
    let starts = heads.iter().enumerate().filter_map(|(i, &head)| head.then_some(i));
    let offsets: Vec<usize> = starts.chain([len]).collect();
    let mut expected = x.to_vec();
    by_flags(&heads, x, &mut expected);
    let y = Exact::new(expected, [of(200), of(201)]);
    let scan = |threads| Scan::<M>::builder().threads(threads).build().expect("sums are a monoid");
    let scans = || [1, 2].map(scan);
    let name = |of: &str| format!("segments of {mean} {ty}, {of}");
    let column = || y.write();
    let plain = |y: &mut [M]| by_flags(&heads, x, y);
    let run = |scan: &Scan<M>, y: &mut [M]| scan.segmented(&heads).inclusive_into(x, y);
    take(race_judged(session, field(&name("flags"), len), &y, column, plain, scans(), run));
    let plain = |y: &mut [M]| by_offsets(&offsets, x, y);
    let run = |scan: &Scan<M>, y: &mut [M]| scan.segmented(&offsets).inclusive_into(x, y);
    take(race_judged(session, field(&name("offsets"), len), &y, column, plain, scans(), run));
}

#[inline(never)]
fn by_flags<M: Monoid>(heads: &[bool], x: &[M], y: &mut [M]) {
    let mut state = M::identity();
    for ((&head, &x), y) in heads.iter().zip(x).zip(y) {
        state = if head { x } else { state.combine(x) };
        *y = state;
    }
}

#[inline(never)]
fn by_offsets<M: Monoid>(offsets: &[usize], x: &[M], y: &mut [M]) {
    for segment in offsets.windows(2) {
        let range = segment[0]..segment[1];
        let mut state = M::identity();
        for (x, y) in x[range.clone()].iter().zip(&mut y[range]) {
            state = state.combine(*x);
            *y = state;
        }
    }
}
