//! Functions that see more than their record: those beside it, where it is, and both states. By the
//! functions and by generated code, in every kind of call, beside the functions called one by one.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};

use monoscan::ops::Sum;
use monoscan::{Rows, prelude::*};
use scan_kit::Random;

use super::calls::plans;
use super::is_native;

/// x ↦ a·x + b.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Map {
    a: u32,
    b: u32,
}

#[scan_monoid]
impl Monoid for Map {
    fn identity() -> Self {
        Map { a: 1, b: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Map { a: self.a.wrapping_mul(next.a), b: next.a.wrapping_mul(self.b).wrapping_add(next.b) }
    }
}

type Record = (u8, u32);

#[scan_fn]
fn lifted(e: Element<Record>) -> Map {
    lifted_with((1000, 200000), e)
}

#[scan_fn]
fn lifted_with(ends: (u32, u32), e: Element<Record>) -> Map {
    let bytes = e.record.0 as u32 + 256 * e.prev.0 as u32 + 65536 * e.next.0 as u32;
    let end = if e.first { ends.0 } else { 0 } + if e.last { ends.1 } else { 0 };
    Map {
        a: 2 * bytes + 1,
        b: (e.record.1 ^ e.prev.1.rotate_left(3) ^ e.next.1.rotate_left(7)).wrapping_add(e.index as u32 + end),
    }
}

#[scan_fn]
fn written(e: Element<Record, Map>) -> u32 {
    let states = e.before.a ^ e.before.b.rotate_left(5) ^ e.after.a.rotate_left(9) ^ e.after.b;
    let beside = e.prev.1.rotate_left(11) ^ e.next.1 ^ e.index as u32;
    states.wrapping_add(beside).wrapping_add(if e.first { 3 } else { 0 } + if e.last { 50 } else { 0 })
}

#[scan_fn]
fn of_record(map: Map, byte: u8, word: u32) -> u32 {
    (map.a ^ map.b).wrapping_add(byte as u32) ^ word
}

/// The results that are expected: of `written`, of `of_record` in inclusive and exclusive scans, and the totals.
#[derive(Default)]
struct Expected {
    written: Vec<u32>,
    inclusive: Vec<u32>,
    exclusive: Vec<u32>,
    totals: Vec<Map>,
}

/// Of runs of records, by their places in the order of the scan; the index of an element follows from its run and number there.
fn expected(x: &[Record], runs: &[Vec<usize>], start: Map, index: impl Fn(usize, usize) -> u64) -> Expected {
    let all = || vec![77; x.len()];
    let mut expected = Expected { written: all(), inclusive: all(), exclusive: all(), totals: Vec::new() };
    for (run, places) in runs.iter().enumerate() {
        let mut before = start;
        for (number, &place) in places.iter().enumerate() {
            let beside =
                |number: Option<usize>| number.and_then(|number| places.get(number)).map_or((0, 0), |&at| x[at]);
            let (prev, next) = (beside(number.checked_sub(1)), beside(Some(number + 1)));
            let (first, last) = (number == 0, number + 1 == places.len());
            let index = index(run, number);
            let (record, none) = (x[place], ());
            let element = Element { before: none, after: none, record, prev, next, first, last, index };
            let after = before.combine(lifted {}.call((element,)));
            let seen = Element { before, after, record, prev, next, first, last, index };
            expected.written[place] = written {}.call((seen,));
            expected.inclusive[place] = of_record {}.call((after, record.0, record.1));
            expected.exclusive[place] = of_record {}.call((before, record.0, record.1));
            before = after;
        }
        expected.totals.push(before);
    }
    expected
}

type Seeing = Scan<Map, (u8, u32), u32>;

/// All results of a request, twice, since later calls go another way than the first. Totals where they are wanted.
fn check<'a>(
    [at, with]: [&'a Seeing; 2],
    request: impl Fn(&'a Seeing) -> monoscan::Request<'a, Map, (u8, u32), u32>,
    (bytes, words): (&[u8], &[u32]),
    (expected, has_totals): (&Expected, bool),
    name: &str,
) {
    let x = (bytes, words);
    for round in 0..2 {
        let mut y = vec![77; bytes.len()];
        request(at).inclusive_into(x, &mut y).unwrap();
        assert_eq!(y, expected.written, "{name}, {round}");
        request(at).exclusive_into(x, &mut y).unwrap();
        assert_eq!(y, expected.written, "{name}, exclusive, {round}");
        request(with).inclusive_into(x, &mut y).unwrap();
        assert_eq!(y, expected.inclusive, "{name}, with record, {round}");
        request(with).exclusive_into(x, &mut y).unwrap();
        assert_eq!(y, expected.exclusive, "{name}, with record, exclusive, {round}");
        if has_totals {
            assert_eq!(request(at).totals(x).unwrap(), expected.totals, "totals of {name}, {round}");
        }
    }
}

/// From now on, counts the panics in the code around the user's functions, where none belongs. A pass goes on after them.
fn count_panics_of_passes() -> &'static AtomicUsize {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if panic.location().is_some_and(|at| at.file().contains("src/scan/")) {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        before(panic);
    }));
    &PANICS
}

#[test]
fn functions_that_see_the_records_beside_theirs() {
    let panics = count_panics_of_passes();
    let mut random = Random(7);
    for (number, plan) in plans().into_iter().enumerate() {
        let builder = || Scan::<Map>::builder().plan(plan.clone()).threads(2);
        let at = builder().lift_at(lifted {}).project_at(written {}).build().unwrap();
        let with = builder().lift_at_with((1000, 200000), lifted_with {});
        let with = with.project_with_record(of_record {}).build().unwrap();
        assert!(number > 0 || is_native(&at.explain()), "{}", at.explain());
        assert!(number > 0 || is_native(&with.explain()), "{}", with.explain());
        for len in [0, 1, 2, 3, 4, 17, 64, 300] {
            let bytes: Vec<u8> = (0..len).map(|_| random.bits() as u8).collect();
            let words: Vec<u32> = (0..len).map(|_| random.bits() as u32).collect();
            let x: Vec<Record> = bytes.iter().copied().zip(words.iter().copied()).collect();
            let (scans, columns) = ([&at, &with], (&bytes[..], &words[..]));
            let start = Map { a: 5, b: 9 };
            let line = [(0..len).collect::<Vec<_>>()];
            let backwards = [(0..len).rev().collect::<Vec<_>>()];
            let along = |_: usize, number: usize| number as u64;
            let identity = Map::identity();
            check(scans, |scan| scan.request(), columns, (&expected(&x, &line, identity, along), true), "line");
            check(
                scans,
                |scan| scan.init(start),
                columns,
                (&expected(&x, &line, start, along), true),
                "line from a state",
            );
            let reversed = expected(&x, &backwards, identity, along);
            check(scans, |scan| scan.reversed(), columns, (&reversed, true), "line backwards");
            for row in [1, 2, 3, 7, 21] {
                let count = len / row;
                let dense: Vec<Vec<usize>> =
                    (0..count).map(|number| (number * row..(number + 1) * row).collect()).collect();
                let rows = Rows::new(count, row, row).unwrap();
                let own = expected(&x, &dense, identity, along);
                check(scans, |scan| scan.rows(rows), columns, (&own, true), "rows");
                let down: Vec<Vec<usize>> =
                    (0..row).map(|first| (0..count).map(|number| number * row + first).collect()).collect();
                let rows = Rows::axis(&[count, row], 0).unwrap();
                let own = expected(&x, &down, identity, along);
                check(scans, |scan| scan.rows(rows), columns, (&own, true), "columns");
            }
            let flags: Vec<bool> = (0..len).map(|place| place == 0 || random.below(5) == 0).collect();
            let mut offsets: Vec<usize> = (0..len).filter(|&place| flags[place]).collect();
            offsets.push(len);
            let segments: Vec<Vec<usize>> = offsets.windows(2).map(|ends| (ends[0]..ends[1]).collect()).collect();
            let own = expected(&x, &segments, identity, |run, number| (offsets[run] + number) as u64);
            check(scans, |scan| scan.segmented(&flags), columns, (&own, false), "flagged segments");
            check(scans, |scan| scan.segmented(&offsets), columns, (&own, len > 0), "segments between offsets");
        }
    }
    assert_eq!(panics.load(Ordering::Relaxed), 0, "passes that begin within a line have a record before");
}

/// Of the record before a chunk the carry of the state alone has nothing.
#[test]
fn chunks_of_a_stream_are_those_of_generated_code() {
    let mut random = Random(8);
    for plan in plans() {
        let scan = Scan::<Map>::builder()
            .lift_at::<(u8, u32), _>(lifted {})
            .project_at(written {})
            .plan(plan)
            .build()
            .unwrap();
        let bytes: Vec<u8> = (0..90).map(|_| random.bits() as u8).collect();
        let words: Vec<u32> = (0..90).map(|_| random.bits() as u32).collect();
        let builder = Scan::<Map>::builder().lift_at::<(u8, u32), _>(lifted {}).project_at(written {});
        let other = builder.plan(super::plan(false)).build().unwrap();
        let mut carries = [Map { a: 3, b: 8 }; 2];
        for chunk in [0..1, 1..40, 40..90] {
            let x = (&bytes[chunk.clone()], &words[chunk]);
            let results = [scan.resume(&mut carries[0], x).unwrap(), other.resume(&mut carries[1], x).unwrap()];
            assert_eq!((&results[0], carries[0]), (&results[1], carries[1]));
        }
    }
}

/// These tests are built with overflow checks: the function panics, and generated code goes on from there.
#[test]
fn a_function_that_panics_is_gone_on_with() {
    let twice = scan!(|e: Element<i32>| -> Sum<i32> {
        Sum(if e.first { 100 } else { e.record + e.record + if e.last { 7 } else { e.next - e.prev } })
    });
    let placed = scan!(|e: Element<i32>| -> Sum<i32> { Sum(e.record + e.index as i32) });
    let mut random = Random(9);
    for plan in plans() {
        let builder = || Scan::<Sum<i32>>::builder().plan(plan.clone()).threads(2);
        let seen =
            builder().lift_at::<(i32,), _>(twice).project(scan!(|sum: Sum<i32>| -> i32 { sum.0 })).build().unwrap();
        let by_place =
            builder().lift_at::<(i32,), _>(placed).project(scan!(|sum: Sum<i32>| -> i32 { sum.0 })).build().unwrap();
        for len in [1, 2, 6, 64, 300] {
            let x: Vec<i32> = (0..len).map(|_| if random.below(9) == 0 { i32::MAX } else { random.below(9) }).collect();
            for row in [2, 3, len] {
                let x = &x[..x.len() / row * row];
                let rows = Rows::new(x.len() / row, row, row).unwrap();
                let (mut sums, mut of_places) = (Vec::new(), Vec::new());
                for row in x.chunks(row) {
                    let (mut sum, mut of_place) = (0i32, 0i32);
                    for (place, &x) in row.iter().enumerate() {
                        let beside = |place: usize| row.get(place).copied().unwrap_or(0);
                        let end = if place + 1 == row.len() {
                            7
                        } else {
                            beside(place + 1).wrapping_sub(beside(place.wrapping_sub(1)))
                        };
                        let own = if place == 0 { 100 } else { x.wrapping_add(x).wrapping_add(end) };
                        (sum, of_place) = (sum.wrapping_add(own), of_place.wrapping_add(x.wrapping_add(place as i32)));
                        sums.push(sum);
                        of_places.push(of_place);
                    }
                }
                for _ in 0..2 {
                    assert_eq!(seen.rows(rows).inclusive(x).unwrap(), sums);
                    assert_eq!(by_place.rows(rows).inclusive(x).unwrap(), of_places);
                    let mut replaced = x.to_vec();
                    by_place.rows(rows).inclusive_in_place(&mut replaced).unwrap();
                    assert_eq!(replaced, of_places);
                    if row == len {
                        assert_eq!(seen.inclusive(x).unwrap(), sums);
                        replaced.copy_from_slice(x);
                        by_place.inclusive_in_place(&mut replaced).unwrap();
                        assert_eq!(replaced, of_places);
                    }
                }
            }
        }
    }
}
