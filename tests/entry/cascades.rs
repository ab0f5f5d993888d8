//! Programs of several stages and kept records, against the same functions called element by
//! element.

use std::fmt::Debug;

use monoscan::ops::{Max, Sum};
use monoscan::prelude::*;
use monoscan::{Combination, Error, Rows, RowsError};

use super::reference::{Ask, Runs, SIZES, Step, asks, plans};
use scan_kit::Random;
use scan_kit::zoo::*;

/// How many records came since the last head, by a scan that sees only neighbours.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Since {
    restarted: bool,
    count: u32,
}

#[scan_monoid]
impl Monoid for Since {
    fn identity() -> Self {
        Since { restarted: false, count: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let count = if next.restarted { next.count } else { self.count.wrapping_add(next.count) };
        Since { restarted: self.restarted || next.restarted, count }
    }
}

#[scan_fn]
fn brackets(e: Element<u8>) -> Bicyclic {
    let step = if e.last { 1 } else { 1 + (e.next & 1) as u32 };
    Bicyclic { closing: (e.record & 1) as u32, opening: step * (e.record & 2) as u32 }
}

#[scan_fn]
fn restarts(e: Element<u8, Bicyclic>) -> Since {
    Since { restarted: e.before.opening < e.after.opening, count: 1 + (e.index & 1) as u32 }
}

#[scan_fn]
fn hashes(e: Element<u8, (Bicyclic, Since)>) -> Hash {
    Hash { hash: (e.after.0.closing + e.before.1.count) as u64 ^ e.record as u64 ^ (e.prev as u64) << 8, power: 31 }
}

#[scan_fn]
fn interesting(e: Element<u8, (Bicyclic, Since, Hash)>) -> bool {
    e.last || e.after.1.restarted != e.before.1.restarted || e.after.2.hash & 3 == e.record as u64 & 3
}

#[scan_fn]
fn everything(e: Element<u8, (Bicyclic, Since, Hash)>) -> (u64, u32, u32, u32, (u8, u8, bool)) {
    (
        e.after.2.hash ^ e.before.2.hash,
        e.before.1.count,
        e.after.0.opening,
        e.before.0.closing,
        (e.next, e.prev, e.first),
    )
}

type All = (Bicyclic, Since, Hash);
type Seen = Element<u8, All>;

/// Every element as an output sees it, in the order of the scan, with its place; and the totals.
fn elements(ask: &Ask<All>, x: &[u8], identity: All) -> (Vec<(usize, Seen)>, Vec<All>) {
    let (mut seen, mut totals) = (Vec::new(), Vec::new());
    for run in ask.runs(x.len()) {
        let (mut a, mut b, mut c) = ask.init.unwrap_or(identity);
        for Step { place, prev, next, index } in run {
            let (record, first, last) = (x[place], prev.is_none(), next.is_none());
            let prev = prev.map_or(0, |prev| x[prev]);
            let next = next.map_or(0, |next| x[next]);
            let (a0, b0, c0) = (a, b, c);
            a = a.combine(brackets(Element { before: (), after: (), record, prev, next, first, last, index }));
            b = b.combine(restarts(Element { before: a0, after: a, record, prev, next, first, last, index }));
            c = c.combine(hashes(Element { before: (a0, b0), after: (a, b), record, prev, next, first, last, index }));
            let (before, after) = ((a0, b0, c0), (a, b, c));
            seen.push((place, Element { before, after, record, prev, next, first, last, index }));
        }
        totals.push((a, b, c));
    }
    (seen, ask.totals(totals))
}

#[test]
fn three_stages_see_what_came_before_in_every_combination() {
    let mut r = Random(1);
    let init = (Bicyclic { closing: 3, opening: 8 }, Since { restarted: true, count: 70 }, Hash { hash: 1, power: 2 });
    for plan in plans() {
        for threads in [1, 3] {
            let stages = || {
                let builder = Scan::<Bicyclic>::builder().lift_at::<(u8,), _>(brackets {}).then(restarts {});
                builder.then(hashes {}).plan(plan.clone()).threads(threads)
            };
            let write = stages().project_at(everything {}).build().unwrap();
            let plain = stages().build().unwrap();
            let emit = stages().filter(interesting {}).project_at(everything {}).build().unwrap();
            for n in SIZES {
                let x: Vec<u8> = (0..n).map(|_| r.bits() as u8).collect();
                for ask in asks(n, init, &mut r) {
                    let (seen, totals) = elements(&ask, &x, write.identity());
                    let mut expected = vec![(7, 7, 7, 7, (7, 7, true)); n];
                    let mut states = vec![(Hash::identity(), Hash::identity()); n];
                    for &(place, element) in &seen {
                        expected[place] = everything(element);
                        states[place] = (element.before.2, element.after.2);
                    }
                    let mut y = vec![(7, 7, 7, 7, (7, 7, true)); n];
                    ask.request(&write).inclusive_into(&x, &mut y).unwrap();
                    assert_eq!(y, expected, "{ask:?}, n = {n}, {plan:?}");
                    let mut after = vec![Hash::identity(); n];
                    ask.request(&plain).inclusive_into(&x, &mut after).unwrap();
                    let mut before = vec![Hash::identity(); n];
                    ask.request(&plain).exclusive_into(&x, &mut before).unwrap();
                    assert_eq!(before.into_iter().zip(after).collect::<Vec<_>>(), states, "{ask:?}, n = {n}");
                    assert_eq!(ask.request(&plain).totals(&x).unwrap(), totals, "{ask:?}, n = {n}");
                    check_kept(&ask, &emit, &x, &seen);
                }
            }
        }
    }
}

type Written = (u64, u32, u32, u32, (u8, u8, bool));

/// Kept records are dense, and in the order of the scan.
fn check_kept(ask: &Ask<All>, emit: &Scan<All, (u8,), Written>, x: &[u8], seen: &[(usize, Seen)]) {
    if let Runs::Planes(_) = ask.runs {
        let error = ask.request(emit).inclusive(x).unwrap_err();
        let uncovered = |error: &Error| matches!(error, Error::Rows(RowsError::Uncovered { .. }));
        assert!(uncovered(&error) || matches!(error, Error::Combination(Combination::KeptOfRows { .. })), "{error}");
        return;
    }
    let mut in_order: Vec<&(usize, Seen)> = seen.iter().collect();
    in_order.sort_by_key(|(place, _)| if ask.reversed { usize::MAX - place } else { *place });
    let expected: Vec<Written> =
        in_order.iter().filter(|(_, e)| interesting(*e)).map(|(_, e)| everything(*e)).collect();
    let kept = ask.request(emit).inclusive(x).unwrap();
    assert_eq!(kept, expected, "{ask:?}, n = {}", x.len());
    let mut y = vec![(9, 9, 9, 9, (9, 9, true)); expected.len()];
    assert_eq!(ask.request(emit).inclusive_into(x, &mut y).unwrap(), expected.len(), "{ask:?}");
    assert_eq!(y, expected, "{ask:?}, n = {}", x.len());
    if let Some(capacity) = expected.len().checked_sub(1) {
        let mut y = vec![(9, 9, 9, 9, (9, 9, true)); capacity];
        let error = ask.request(emit).inclusive_into(x, &mut y).unwrap_err();
        assert!(
            matches!(error, Error::OutputTooShort { got, expected: all, .. } if got == capacity && all == expected.len()),
            "{error}"
        );
        assert_eq!(y, vec![(9, 9, 9, 9, (9, 9, true)); capacity], "something was written");
    }
}

#[test]
fn a_filter_is_retain() {
    let even = scan!(|e: Element<u32, Sum<u32>>| -> bool { e.record % 2 == 0 });
    let mut r = Random(2);
    for plan in plans() {
        let filter = Scan::<Sum<u32>>::builder()
            .lift(scan!(|_x: u32| -> Sum<u32> { Sum(1) }))
            .filter(even)
            .project_with_record(scan!(|_count: Sum<u32>, x: u32| -> u32 { x }))
            .plan(plan)
            .threads(3)
            .build()
            .unwrap();
        for n in SIZES {
            let x: Vec<u32> = (0..n).map(|_| r.bits() as u32).collect();
            let mut expected = x.clone();
            expected.retain(|x| x % 2 == 0);
            assert_eq!(filter.inclusive(&x).unwrap(), expected);
            assert_eq!(filter.exclusive(&x).unwrap(), expected);
        }
    }
}

/// Run-length encoding in one scan: the last record of each run is kept, with how many came since the run before.
#[test]
fn run_lengths_are_one_scan() {
    let count = scan!(|_x: u8| -> Sum<u32> { Sum(1) });
    let last_end =
        scan!(|e: Element<u8, Sum<u32>>| -> Max<u32> { Max(if e.last || e.next != e.record { e.after.0 } else { 0 }) });
    let ends_here = scan!(|e: Element<u8, (Sum<u32>, Max<u32>)>| -> bool { e.last || e.next != e.record });
    let run = scan!(|e: Element<u8, (Sum<u32>, Max<u32>)>| -> (u8, u32) { (e.record, (e.after.0).0 - (e.before.1).0) });
    let mut r = Random(3);
    for plan in plans() {
        let encode = Scan::<Sum<u32>>::builder()
            .lift(count)
            .then(last_end)
            .filter(ends_here)
            .project_at(run)
            .plan(plan)
            .threads(2)
            .build()
            .unwrap();
        for n in SIZES {
            let x: Vec<u8> = (0..n).map(|_| (r.below(8) == 0) as u8).collect();
            let expected: Vec<(u8, u32)> = x.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
            assert_eq!(encode.inclusive(&x).unwrap(), expected);
        }
    }
}

#[test]
fn a_function_reads_what_it_uses() {
    let scan = Scan::<Sum<u32>>::builder()
        .lift_at(scan!(|e: Element<(u8, u32)>| -> Sum<u32> { Sum(e.next.0 as u32) }))
        .project_at(scan!(|e: Element<(u8, u32), Sum<u32>>| -> u32 { e.after.0 ^ e.record.1 }))
        .build()
        .unwrap();
    let ir = scan.emit(monoscan::Representation::Ir);
    assert!(ir.contains("lift (%0 = next.0: u8)"), "{ir}");
    assert!(ir.contains("project (%0 = after.0.0: u32, %1 = record.1: u32)"), "{ir}");
    assert_eq!(scan.inclusive((&[1u8, 2, 3], &[0, 0, 0])).unwrap(), [2, 5, 5]);
}

#[test]
fn a_pair_is_one_column_or_two_as_the_scan_is_called() {
    let total = scan!(|e: Element<(u8, u32)>| -> Sum<u32> { Sum(e.record.0 as u32 * e.record.1) });
    let pairs = Scan::<Sum<u32>>::builder().lift_at(total).build().unwrap();
    assert_eq!(pairs.reduce(&[(2, 10), (3, 100)]).unwrap(), Sum(320));
    let columns = Scan::<Sum<u32>>::builder().lift_at(total).build().unwrap();
    assert_eq!(columns.reduce((&[2, 3], &[10, 100])).unwrap(), Sum(320));
}

#[test]
fn parts_that_would_change_what_others_read_are_refused() {
    let one = || Scan::<Sum<u32>>::builder().lift(scan!(|x: u32| -> Sum<u32> { Sum(x) }));
    let keep = scan!(|e: Element<u32, Sum<u32>>| -> bool { e.last });
    let stage = scan!(|e: Element<u32, Sum<u32>>| -> Max<u32> { Max(e.after.0) });
    let error = one().filter(keep).then(stage).build().unwrap_err();
    assert!(matches!(error, Error::Order { function: "then", .. }), "{error}");
    let error = one().filter(keep).lift(scan!(|x: u64| -> Sum<u32> { Sum(x as u32) })).build().unwrap_err();
    assert!(matches!(error, Error::Order { function: "lift", .. }), "{error}");
}

#[test]
fn a_wrong_stage_is_refused_wherever_it_is() {
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Difference {
        x: i64,
    }
    #[scan_monoid]
    impl Monoid for Difference {
        fn identity() -> Self {
            Difference { x: 0 }
        }
        fn combine(self, next: Self) -> Self {
            Difference { x: self.x - next.x }
        }
    }
    let second = scan!(|e: Element<Sum<i64>, Sum<i64>>| -> Difference { Difference { x: e.after.0 } });
    let error = Scan::<Sum<i64>>::builder().then(second).build().unwrap_err();
    assert!(matches!(error, Error::NotAMonoid { stage: 1, .. }), "{error}");
    assert!(error.to_string().contains("x"), "{error}");
}

#[test]
fn rows_of_a_cascade_are_their_own_lines() {
    let scan = Scan::<Max<i32>>::builder()
        .lift(scan!(|x: i32| -> Max<i32> { Max(x) }))
        .then(scan!(|e: Element<i32, Max<i32>>| -> Sum<u32> { Sum(if e.after.0 > e.before.0 { 1 } else { 0 }) }))
        .build()
        .unwrap();
    let columns = Rows::axis(&[3, 2], 0).unwrap();
    let records = scan.rows(columns).inclusive(&[1, 9, 3, 8, 2, 10]).unwrap();
    assert_eq!(records, [1, 1, 2, 1, 2, 2].map(Sum));
}
