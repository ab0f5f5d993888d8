//! Checked scans of loops: what overflows in the loop as it was written, and no more.

use monoscan::prelude::*;
use monoscan::{Error, State};
use scan_kit::Random;

use crate::overflow_at;

const IN_STEP: &str = "the step of the loop";

#[test]
fn a_sum_that_overflows_is_found() {
    let sums = Scan::from_loop(scan!(|b: i64, x: i64| -> i64 { b + x }), 0).unwrap().checked();
    overflow_at(sums.inclusive(&[i64::MAX, 1]), 1, IN_STEP);
    overflow_at(sums.exclusive(&[i64::MAX, 1, 0]), 1, IN_STEP);
    overflow_at(sums.reduce(&[i64::MAX, 1]), 1, IN_STEP);
    overflow_at(sums.segmented(&[true, false, true]).inclusive(&[i64::MAX, 1, 0]), 1, IN_STEP);
    assert_eq!(sums.segmented(&[true, true]).inclusive(&[i64::MAX, 1]).unwrap(), [i64::MAX, 1]);
    overflow_at(sums.init(State(1)).inclusive(&[0, i64::MAX]), 1, IN_STEP);
    let many = vec![i64::MAX / 400_000; 1_000_000];
    overflow_at(sums.inclusive(&many), 400_000, IN_STEP);
    let mut stream = sums.stream();
    assert_eq!(stream.feed(&[i64::MAX - 1, 1]).unwrap(), [i64::MAX - 1, i64::MAX]);
    overflow_at(stream.feed(&[0, 1]), 1, IN_STEP);
}

#[test]
fn differences_that_do_not_overflow_are_not() {
    let left = Scan::from_loop(scan!(|a: u32, x: u32| -> u32 { a - x }), 5).unwrap().checked();
    assert_eq!(left.inclusive(&[1, 1, 1]).unwrap(), [4, 3, 2]);
    overflow_at(left.inclusive(&[5, 1]), 1, IN_STEP);
    let signed = Scan::from_loop(scan!(|a: i32, x: i32| -> i32 { a - x }), -5).unwrap().checked();
    assert_eq!(signed.inclusive(&[i32::MIN]).unwrap(), [i32::MAX - 4]);
    let more = Scan::from_loop(scan!(|a: i32, x: i32| -> i32 { a - x + 1 }), -1).unwrap().checked();
    assert_eq!(more.inclusive(&[i32::MIN + 1]).unwrap(), [i32::MAX]);
}

#[test]
fn bounds_products_outputs_and_levels_are_checked() {
    let bounded = Scan::from_loop(scan!(|b: i64, x: i64| -> i64 { (b + x).max(0) }), 0).unwrap().checked();
    overflow_at(bounded.inclusive(&[i64::MAX, 1]), 1, IN_STEP);
    assert_eq!(bounded.inclusive(&[-5, i64::MAX, i64::MIN]).unwrap(), [0, i64::MAX, 0]);
    let product = Scan::from_loop(scan!(|a: i64, x: i64| -> i64 { a * 3 + x * 5 }), 0).unwrap().checked();
    overflow_at(product.inclusive(&[i64::MAX / 6, 1]), 1, IN_STEP);
    let small = Scan::from_loop(scan!(|a: u8, x: u8| -> u8 { a + x }), 0).unwrap().checked();
    overflow_at(small.inclusive(&[1; 300]), 255, IN_STEP);
    let twice = Scan::loop_builder(scan!(|a: i32, x: i32| -> i32 { a + x }), 0)
        .output(scan!(|a: i32| -> i32 { a * 2 }))
        .build()
        .unwrap()
        .checked();
    overflow_at(twice.inclusive(&[1, 1 << 30, 0]), 1, "`project`");
    let two = scan!(|s: (i32, i32), x: i32| -> (i32, i32) { (s.0 + x, s.1 + s.0) });
    let two = Scan::from_loop(two, (0, 0)).unwrap().checked();
    overflow_at(two.inclusive(&[1 << 30, 0, 0, 0]), 2, IN_STEP);
    let wraps = Scan::from_loop(scan!(|a: i32, x: i32| -> i32 { a.wrapping_add(x) }), 0).unwrap().checked();
    assert_eq!(wraps.inclusive(&[i32::MAX, 1]).unwrap(), [i32::MAX, i32::MIN]);
}

#[test]
fn requests_check_the_loop_of_each_sequence() {
    let sums = Scan::from_loop(scan!(|b: i32, x: i32| -> i32 { b + x }), 0).unwrap().checked();
    let x = [1, i32::MAX, 1, i32::MAX, -1, i32::MAX];
    overflow_at(sums.reversed().inclusive(&x), 3, IN_STEP);
    overflow_at(sums.axis(&[3, 2], 1).inclusive(&x), 1, IN_STEP);
    overflow_at(sums.axis(&[3, 2], 0).inclusive(&x), 3, IN_STEP);
    overflow_at(sums.segmented(&[0usize, 1, 3, 6]).inclusive(&x), 2, IN_STEP);
    assert_eq!(sums.segmented(&[0usize, 1, 2, 3, 4, 6]).inclusive(&x).unwrap()[4..], [-1, i32::MAX - 1]);
    let starts = [State(0), State(1), State(0)];
    overflow_at(sums.axis(&[3, 2], 1).init_each(&starts).inclusive(&[1, 2, i32::MAX, 0, 3, 4]), 2, IN_STEP);
    let changes = scan!(|n: u8, e: Element<u8>| -> u8 { if !e.first && e.prev != e.record { n + 1 } else { n } });
    let changes = Scan::loop_builder_at(changes, 253).build().unwrap().checked();
    let mut stream = changes.stream();
    assert_eq!(stream.feed(&[1, 2, 2]).unwrap(), [253, 254, 254]);
    assert_eq!(stream.feed(&[3]).unwrap(), [255]);
    overflow_at(stream.feed(&[3, 3, 4]), 2, IN_STEP);
}

#[test]
#[expect(clippy::erasing_op, reason = "that it has no effect is what is tested")]
fn what_is_read_to_no_effect_changes_no_result() {
    let step = scan!(|a: i32, x: i32| -> i32 { a + x });
    let output = scan!(|e: Element<i32, i32>| -> i32 { if e.first { e.after } else { e.after + e.prev * 0 } });
    let sums = Scan::loop_builder(step, 0).output_at(output).build().unwrap();
    assert_eq!(sums.inclusive(&[1, 2, 3]).unwrap(), [1, 3, 6]);
    let step = scan!(|a: i32, e: Element<i32>| -> i32 { a + e.record + (e.prev & 0) });
    let same = Scan::loop_builder_at(step, 0).build().unwrap();
    assert_eq!(same.inclusive(&[1, 2, 3]).unwrap(), [1, 3, 6]);
    for scan in [sums.checked(), same.checked()] {
        match scan.inclusive(&[i32::MAX, 1]) {
            Err(Error::CheckedLoop) => {}
            other => overflow_at(other, 1, IN_STEP),
        }
    }
}

#[test]
fn the_first_record_is_known_in_blocks_on_threads() {
    let step = scan!(|s: u8, e: Element<u8>| -> u8 { if e.first { s } else { 2 } });
    for threads in [1, 2, 3] {
        let plan = monoscan::PlanOptions { block: Some(64), direct: Some(0), ..Default::default() };
        let scan = Scan::loop_builder_at(step, 1).plan(plan).threads(threads).build().unwrap();
        let given = scan.inclusive(&[0; 1000]).unwrap();
        assert_eq!((given[0], &given[1..]), (1, &[2; 999][..]));
    }
}

#[test]
fn a_loop_that_keeps_records_has_no_checked_scan() {
    let kept = Scan::loop_builder(scan!(|a: i32, x: i32| -> i32 { a + x }), 0)
        .filter(scan!(|e: Element<i32, i32>| -> bool { e.after > 3 }))
        .build()
        .unwrap();
    assert_eq!(kept.inclusive(&[2, 2]).unwrap(), [4]);
    assert!(matches!(kept.checked().inclusive(&[2, 2]), Err(Error::CheckedLoop)));
}

/// The states of a loop, or the record at which it overflows.
fn by_hand(start: i32, x: &[i32], step: impl Fn(i32, i32) -> Option<i32>) -> Result<Vec<i32>, usize> {
    let mut state = start;
    let next = |(place, &x): (usize, &i32)| {
        state = step(state, x).ok_or(place)?;
        Ok(state)
    };
    x.iter().enumerate().map(next).collect()
}

#[test]
fn a_scan_finds_what_its_loop_finds() {
    let add = Scan::from_loop(scan!(|a: i32, x: i32| -> i32 { a + x }), 7).unwrap().checked();
    let floor = Scan::from_loop(scan!(|a: i32, x: i32| -> i32 { (a + x).max(-100) }), 0).unwrap().checked();
    let bucket = Scan::from_loop(scan!(|a: i32, x: i32| -> i32 { (a + x).clamp(0, 1000) }), 3).unwrap().checked();
    let kadane = Scan::from_loop(scan!(|a: i32, x: i32| -> i32 { (a + x).max(x) }), 0).unwrap().checked();
    let mut random = Random(17);
    let (mut right, mut found, mut regrouped) = (0, 0, 0);
    for round in 0..400 {
        let len = [1, 2, 5, 63, 64, 1000, 40_000][random.below(7)];
        let large = 1 + random.below(len);
        let mut number = || {
            let bits = i32::from_ne_bytes(random.bytes(4).try_into().unwrap());
            if random.below(large) == 0 { bits } else { bits >> 18 }
        };
        let x: Vec<i32> = (0..len).map(|_| number()).collect();
        let (scan, expected) = match round % 4 {
            0 => (&add, by_hand(7, &x, |a: i32, x| a.checked_add(x))),
            1 => (&floor, by_hand(0, &x, |a: i32, x| Some(a.checked_add(x)?.max(-100)))),
            2 => (&bucket, by_hand(3, &x, |a: i32, x| Some(a.checked_add(x)?.clamp(0, 1000)))),
            _ => (&kadane, by_hand(0, &x, |a: i32, x| Some(a.checked_add(x)?.max(x)))),
        };
        match (scan.inclusive(&x), expected) {
            (Ok(states), Ok(expected)) => {
                assert!(states == expected, "round {round}, {len} records");
                right += 1;
            }
            (Err(Error::Overflowed { index, .. }), Err(expected)) => {
                assert_eq!(index, expected, "round {round}, {len} records");
                found += 1;
            }
            (Err(Error::Regrouped { index }), Err(expected)) if index <= expected => regrouped += 1,
            (Err(Error::Regrouped { .. }), Ok(_)) => regrouped += 1,
            (got, expected) => panic!("round {round}, {len} records: {:?}, {:?}", got.err(), expected.err()),
        }
    }
    assert!(right > 50 && found > 50 && regrouped < 20, "{right} {found} {regrouped}");
}
