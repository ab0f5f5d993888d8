//! Short lines, whose scans go from the slices straight to the kernel once a line was scanned.

use std::mem::MaybeUninit;

use monoscan::PlanOptions;
use monoscan::ops::{Affine, Max, Sum};
use monoscan::prelude::*;

pub(super) type Sums = Scan<Sum<i32>, (i32,), i32>;

pub(super) fn sums() -> Sums {
    Scan::<Sum<i32>>::builder()
        .lift(scan!(|x: i32| -> Sum<i32> { Sum(x) }))
        .project(scan!(|sum: Sum<i32>| -> i32 { sum.0 }))
        .build()
        .unwrap()
}

/// Twice, since the first call of each kind finds no kernel.
#[test]
fn every_plain_entry_point_gives_the_same_from_the_second_call_on() {
    let scan = sums();
    for n in (0..40).chain([150, 1024]) {
        let x: Vec<i32> = (0..n).map(|i| 7 * i - 30).collect();
        let inclusive: Vec<i32> = (0..x.len()).map(|i| x[..=i].iter().sum()).collect();
        let exclusive: Vec<i32> = (0..x.len()).map(|i| x[..i].iter().sum()).collect();
        for _ in 0..2 {
            let mut y = vec![0; x.len()];
            assert_eq!(scan.inclusive_into(&x, &mut y).unwrap(), x.len());
            assert_eq!(y, inclusive);
            assert_eq!(scan.exclusive_into(&x, &mut y).unwrap(), x.len());
            assert_eq!(y, exclusive);
            let mut output = vec![MaybeUninit::uninit(); x.len()];
            assert_eq!(scan.inclusive_into_uninit(&x, &mut output).unwrap(), inclusive);
            assert_eq!(scan.exclusive_into_uninit(&x, &mut output).unwrap(), exclusive);
            y.copy_from_slice(&x);
            scan.inclusive_in_place(&mut y).unwrap();
            assert_eq!(y, inclusive);
            y.copy_from_slice(&x);
            scan.exclusive_in_place(&mut y).unwrap();
            assert_eq!(y, exclusive);
        }
    }
}

/// The composition of maps x ↦ 3x + b: a cascade of it and of a sum, whose state has three components of two types.
pub(super) type Cascade = Scan<(Affine<i64>, Sum<i32>), (i64, i32), i64>;

pub(super) fn cascade() -> Cascade {
    #[scan_fn]
    fn odd(e: Element<(i64, i32), Affine<i64>>) -> Sum<i32> {
        Sum(if e.after.b % 2 != 0 { e.record.1 } else { 0 })
    }
    #[scan_fn]
    fn both(e: Element<(i64, i32), (Affine<i64>, Sum<i32>)>) -> i64 {
        e.after.0.b + e.after.1.0 as i64
    }
    let lift = scan!(|b: i64, _c: i32| -> Affine<i64> { Affine { a: 3, b } });
    Scan::<Affine<i64>>::builder().lift(lift).then(odd {}).project_at(both {}).build().unwrap()
}

/// One state after another, in Rust.
pub(super) fn fold(
    (mut map, mut sum): (Affine<i64>, Sum<i32>),
    b: &[i64],
    c: &[i32],
) -> ((Affine<i64>, Sum<i32>), Vec<i64>) {
    let mut y = Vec::new();
    for (&b, &c) in b.iter().zip(c) {
        map = map.combine(Affine { a: 3, b });
        sum = sum.combine(Sum(if map.b % 2 != 0 { c } else { 0 }));
        y.push(map.b + i64::from(sum.0));
    }
    ((map, sum), y)
}

#[test]
fn totals_carries_and_seeds_are_the_folds_from_the_second_call_on() {
    let scan = cascade();
    for n in (0..8).chain([30, 31]) {
        let b: Vec<i64> = (0..n).map(|i| 7 * i - 30).collect();
        let c: Vec<i32> = (0..n).map(|i| 5 - i as i32).collect();
        let init = (Affine { a: 2, b: -5 }, Sum(40));
        let (total, _) = fold(scan.identity(), &b, &c);
        let (resumed, expected) = fold(init, &b, &c);
        for _ in 0..2 {
            assert_eq!(scan.reduce((&b, &c)).unwrap(), total);
            assert_eq!(scan.init(init).reduce((&b, &c)).unwrap(), resumed);
            assert_eq!(scan.init(init).totals((&b, &c)).unwrap(), [resumed]);
            let (mut carry, mut y) = (init, vec![0; b.len()]);
            assert_eq!(scan.resume(&mut carry, (&b, &c)).unwrap(), expected);
            assert_eq!(carry, resumed);
            carry = init;
            assert_eq!(scan.resuming(&mut carry).inclusive_into((&b, &c), &mut y).unwrap(), b.len());
            assert_eq!((carry, &y), (resumed, &expected));
            y.fill(0);
            scan.init(init).inclusive_into((&b, &c), &mut y).unwrap();
            assert_eq!(y, expected);
        }
    }
}

#[test]
fn resumed_sums_are_written_over_their_input_too() {
    let scan = sums();
    for n in (0..20).chain([1000]) {
        let x: Vec<i32> = (0..n).map(|i| 3 * i - 7).collect();
        let inclusive: Vec<i32> = (0..x.len()).map(|i| 100 + x[..=i].iter().sum::<i32>()).collect();
        let exclusive: Vec<i32> = (0..x.len()).map(|i| 100 + x[..i].iter().sum::<i32>()).collect();
        let total = Sum(100 + x.iter().sum::<i32>());
        for _ in 0..2 {
            let (mut y, mut carry) = (x.clone(), Sum(100));
            scan.resuming(&mut carry).inclusive_in_place(&mut y).unwrap();
            assert_eq!((&y, carry), (&inclusive, total));
            (y, carry) = (x.clone(), Sum(100));
            scan.resuming(&mut carry).exclusive_in_place(&mut y).unwrap();
            assert_eq!((&y, carry), (&exclusive, total));
            assert_eq!(scan.init(Sum(100)).exclusive(&x).unwrap(), exclusive);
        }
    }
}

/// The second call goes another way than the first.
#[test]
fn rounded_totals_are_the_same_in_every_call() {
    let scan = Scan::<Affine<f32>>::new().unwrap();
    for n in [1, 7, 8, 9, 40, 100] {
        let x: Vec<Affine<f32>> = (0..n).map(|i| Affine { a: 0.9 - 0.1 * (i % 3) as f32, b: 0.3 * i as f32 }).collect();
        let bits = |map: Affine<f32>| (map.a.to_bits(), map.b.to_bits());
        let mut carries = [scan.identity(); 3];
        let results: Vec<Vec<_>> =
            carries.iter_mut().map(|carry| scan.resume(carry, &x).unwrap().into_iter().map(bits).collect()).collect();
        assert!(results.iter().all(|result| *result == results[0]), "{n}");
        assert!(carries.iter().all(|&carry| bits(carry) == bits(carries[0])), "{n}");
        let totals = [(); 3].map(|()| bits(scan.reduce(&x).unwrap()));
        assert_eq!(totals, [totals[0]; 3], "{n}");
    }
}

/// Kernels rely on the ranges that a program keeps to by itself; a carry may lie outside of these.
#[test]
fn a_carry_outside_of_the_ranges_of_the_program_is_taken() {
    let lift = scan!(|x: u32| -> Max<u32> { Max(x % 8) });
    let scan = Scan::<Max<u32>>::builder().lift(lift).project(scan!(|m: Max<u32>| -> u32 { m.0 })).build().unwrap();
    for _ in 0..2 {
        let mut carry = scan.identity();
        assert_eq!(scan.resume(&mut carry, &[9, 10]).unwrap(), [1, 2]);
        carry = Max(1 << 30);
        assert_eq!(scan.resume(&mut carry, &[9, 10]).unwrap(), [1 << 30; 2]);
        assert_eq!(carry, Max(1 << 30));
        assert_eq!(scan.reduce(&[9, 10]).unwrap(), Max(2));
    }
}

#[test]
fn totals_of_columns_of_different_lengths_are_refused_whether_or_not_a_line_was_reduced() {
    let scan = cascade();
    for _ in 0..2 {
        assert!(scan.reduce((&[1, 2], &[3])).is_err());
        let mut carry = scan.identity();
        assert!(scan.resume(&mut carry, (&[1, 2], &[3])).is_err());
        assert_eq!(carry, scan.identity());
        scan.reduce((&[1, 2], &[3, 4])).unwrap();
        scan.resume(&mut carry, (&[1, 2], &[3, 4])).unwrap();
    }
}

#[test]
fn wrong_lengths_are_refused_whether_or_not_a_line_was_scanned() {
    let scan = sums();
    for _ in 0..2 {
        let mut y = [9; 3];
        assert!(scan.inclusive_into(&[1, 2], &mut y).is_err());
        assert!(scan.exclusive_into(&[1, 2, 3, 4], &mut y).is_err());
        assert_eq!(y, [9; 3]);
        scan.inclusive_into(&[1, 2, 3], &mut y).unwrap();
        scan.exclusive_into(&[1, 2, 3], &mut y).unwrap();
    }
}

/// A record that was overwritten is no next record.
#[test]
fn what_reads_the_next_record_is_refused_in_place_whether_or_not_a_line_was_scanned() {
    #[scan_fn]
    fn next(e: Element<i32>) -> Sum<i32> {
        Sum(e.next)
    }
    let value = scan!(|sum: Sum<i32>| -> i32 { sum.0 });
    let scan = Scan::<Sum<i32>>::builder().lift_at(next {}).project(value).build().unwrap();
    for _ in 0..2 {
        let mut y = [1, 2, 3];
        assert!(scan.inclusive_in_place(&mut y).is_err());
        assert_eq!(y, [1, 2, 3]);
        scan.inclusive_into(&[1, 2, 3], &mut y).unwrap();
        assert_eq!(y, [2, 5, 5]);
    }
}

/// More columns than the kernel for short lines has arguments for.
#[test]
fn lines_of_many_columns_are_scanned_too() {
    let lift = scan!(|a: i32, b: i32, c: i32, d: i32, e: i32| -> Sum<i32> { Sum(a + b * c + d * e) });
    let value = scan!(|sum: Sum<i32>| -> i32 { sum.0 });
    let scan = Scan::<Sum<i32>>::builder().lift(lift).project(value).build().unwrap();
    let (x, mut y) = ([1, 2, 3], [0; 3]);
    for _ in 0..2 {
        scan.inclusive_into((&x, &x, &x, &x, &x), &mut y).unwrap();
        assert_eq!(y, [3, 13, 34]);
    }
}

/// Numbers that differ from the next one, each with how many were kept before.
fn changes() -> Scan<Sum<u32>, (i32,), (u32, i32)> {
    #[scan_fn]
    fn differs(e: Element<i32, Sum<u32>>) -> bool {
        e.last || e.next != e.record
    }
    #[scan_fn]
    fn one(e: Element<i32>) -> Sum<u32> {
        Sum(if e.last || e.next != e.record { 1 } else { 0 })
    }
    #[scan_fn]
    fn numbered(e: Element<i32, Sum<u32>>) -> (u32, i32) {
        (e.before.0, e.record)
    }
    Scan::<Sum<u32>>::builder().lift_at(one {}).filter(differs {}).project_at(numbered {}).build().unwrap()
}

#[test]
fn what_is_kept_of_a_short_line_is_counted_and_nothing_is_written_behind_it() {
    let scan = changes();
    for n in (0..20).chain([300]) {
        let x: Vec<i32> = (0..n).map(|i| i * i % 7 / 3).collect();
        let ends = (0..x.len()).filter(|&i| x.get(i + 1) != Some(&x[i]));
        let expected: Vec<(u32, i32)> = (0..).zip(ends).map(|(place, i)| (place, x[i])).collect();
        let count = Sum(expected.len() as u32);
        for _ in 0..2 {
            let mut y = vec![(77, 77); x.len()];
            assert_eq!(scan.inclusive_into(&x, &mut y).unwrap(), expected.len());
            assert_eq!(y[..expected.len()], expected);
            assert!(y[expected.len()..].iter().all(|&rest| rest == (77, 77)));
            assert_eq!(scan.exclusive(&x).unwrap(), expected);
            assert_eq!(scan.reduce(&x).unwrap(), count);
            let mut carry = Sum(5);
            let resumed: Vec<(u32, i32)> = expected.iter().map(|&(place, x)| (place + 5, x)).collect();
            assert_eq!(scan.resume(&mut carry, &x).unwrap(), resumed);
            assert_eq!(carry, Sum(5 + count.0));
            // With less space, or more.
            let mut exact = vec![(77, 77); expected.len()];
            assert_eq!(scan.inclusive_into(&x, &mut exact).unwrap(), expected.len());
            assert_eq!(exact, expected);
            let mut more = vec![(77, 77); x.len() + 3];
            assert_eq!(scan.inclusive_into(&x, &mut more).unwrap(), expected.len());
            assert_eq!(more[..expected.len()], expected);
        }
    }
}

/// Numbers that differ from the one before, with space for all, for those alone, and for more.
#[test]
fn records_that_differ_are_kept_whatever_space_there_is() {
    #[scan_fn]
    fn differs(e: Element<i32, Sum<i32>>) -> bool {
        e.first || e.prev != e.record
    }
    let value = scan!(|sum: Sum<i32>, x: i32| -> i32 { sum.0 - x });
    let lift = scan!(|x: i32| -> Sum<i32> { Sum(x) });
    let scan = Scan::<Sum<i32>>::builder().lift(lift).filter(differs {}).project_with_record(value).build().unwrap();
    for n in (0..40).chain([300, 50_000]) {
        // The last are alike, so that vectors end in which none is kept.
        let x: Vec<i32> = (0..n).map(|i| i.min((n - 9).max(0)) % 1000 * i.min((n - 9).max(0)) % 7 / 3).collect();
        let starts = (0..x.len()).filter(|&i| i == 0 || x[i - 1] != x[i]);
        let mut sums = x.iter().scan(0, |sum, x| Some(std::mem::replace(sum, *sum + x))).collect::<Vec<i32>>();
        let expected: Vec<i32> = starts.map(|i| std::mem::take(&mut sums[i])).collect();
        for capacity in [x.len(), expected.len(), x.len(), x.len() + 9] {
            let mut y = vec![77; capacity];
            assert_eq!(scan.inclusive_into(&x, &mut y).unwrap(), expected.len());
            assert_eq!(y[..expected.len()], expected, "of {n}, with space for {capacity}");
            let behind = &y[(expected.len() + 4).min(capacity)..];
            assert!(behind.iter().all(|&rest| rest == 77), "of {n}, with space for {capacity}");
        }
    }
}

/// Sums that are rounded, of flagged numbers: how much space there is and how many threads there are does not show.
#[test]
fn space_does_not_show_in_what_is_rounded() {
    #[scan_fn]
    fn is_flagged(e: Element<(bool, f32), Sum<f32>>) -> bool {
        e.record.0
    }
    let (flags, x): (Vec<bool>, Vec<f32>) = (0..40_000).map(|i| (i * i % 7 < 3, 1.0 / (1 + i % 97) as f32)).unzip();
    for vector in [None, Some(true)] {
        let sums = |threads| {
            let lift = scan!(|_flag: bool, x: f32| -> Sum<f32> { Sum(x) });
            let builder = Scan::<Sum<f32>>::builder().lift(lift).filter(is_flagged {});
            let builder = builder.project(scan!(|sum: Sum<f32>| -> f32 { sum.0 })).threads(threads);
            builder.plan(PlanOptions { vector, ..PlanOptions::default() }).build().unwrap()
        };
        for n in [5, 64, 1001, x.len()] {
            let columns = (&flags[..n], &x[..n]);
            let expected = sums(1).inclusive(columns).unwrap();
            for scan in [1, 3].map(sums) {
                let mut exact = vec![0.0; expected.len()];
                scan.inclusive_into(columns, &mut exact).unwrap();
                assert!(exact.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()), "{n}, {vector:?}");
            }
        }
    }
}
