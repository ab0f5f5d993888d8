//! Segments of derived loops, by flags, offsets and keys: each is the loop from its start.

use monoscan::prelude::*;
use monoscan::{Error, PlanOptions, State, by_key};
use scan_kit::Random;

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Seen {
    sum: i64,
    largest: i32,
    odd: bool,
}

const START: Seen = Seen { sum: 5, largest: -3, odd: true };

#[scan_fn]
fn seen(s: Seen, x: i32) -> Seen {
    Seen { sum: s.sum + x as i64, largest: if x == 0 { 1 } else { s.largest.max(x) }, odd: s.odd ^ (x % 2 != 0) }
}

#[scan_fn]
fn beside(s: i64, e: Element<i32>) -> i64 {
    s + if e.first { 1000 } else { 3 * e.prev as i64 } + if e.last { 7 } else { 5 * e.next as i64 }
}

#[scan_fn]
fn placed(s: i64, e: Element<i32>) -> i64 {
    s + e.index as i64 * e.record as i64
}

/// The scan over segments of all three kinds is what the loop gives: `step` has a state, the records and the place in the segment of a
/// record, and where the segment begins.
fn check<T: ScanType + PartialEq + std::fmt::Debug>(
    scan: &Scan<State<T>, (i32,), T>,
    start: T,
    step: impl Fn(T, &[i32], usize, usize) -> T,
    random: &mut Random,
) -> Result<(), Error> {
    for len in [0, 1, 2, 7, 31, 32, 33, 64, 100, 1000, 5000, 70_000] {
        for mean in [1, 2, 5, 6, 7, 20, 300, 40_000] {
            let x: Vec<i32> = (0..len).map(|_| random.below(41) - 20).collect();
            let heads: Vec<bool> = (0..len).map(|_| random.below(mean) == 0).collect();
            let mut offsets = vec![0];
            offsets.extend((1..len).filter(|&place| heads[place]));
            offsets.push(len);
            let mut key = 0;
            let keys: Vec<u64> = heads
                .iter()
                .map(|&head| {
                    key += u64::from(head);
                    key
                })
                .collect();
            let (mut inclusive, mut exclusive) = (Vec::new(), Vec::new());
            for ends in offsets.windows(2) {
                let (segment, mut state) = (&x[ends[0]..ends[1]], start);
                for place in 0..segment.len() {
                    exclusive.push(state);
                    state = step(state, segment, place, ends[0]);
                    inclusive.push(state);
                }
            }
            for _ in 0..2 {
                for (expected, is_inclusive) in [(&inclusive, true), (&exclusive, false)] {
                    let given = |request: monoscan::Request<'_, State<T>, (i32,), T>| match is_inclusive {
                        true => request.inclusive(&x),
                        false => request.exclusive(&x),
                    };
                    assert_eq!(&given(scan.segmented(&heads))?, expected, "{len} records, flags, {mean}");
                    assert_eq!(&given(scan.segmented(&offsets))?, expected, "{len} records, offsets, {mean}");
                    assert_eq!(&given(scan.segmented(by_key(&keys)))?, expected, "{len} records, keys, {mean}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn segments_of_loops_are_the_loop_from_its_start() -> Result<(), Error> {
    let random = &mut Random(2811);
    check(&Scan::from_loop(seen {}, START)?, START, |s, segment, place, _| seen(s, segment[place]), random)?;
    let scan = Scan::loop_builder_at(beside {}, 2i64).build()?;
    let neighbours = |s: i64, x: &[i32], place: usize, _| {
        let before = if place == 0 { 1000 } else { 3 * i64::from(x[place - 1]) };
        s + before + x.get(place + 1).map_or(7, |&next| 5 * i64::from(next))
    };
    check(&scan, 2, neighbours, random)?;
    // The index is that in the line.
    let scan = Scan::loop_builder_at(placed {}, -1i64).build()?;
    check(&scan, -1, |s, x, place, first| s + (first + place) as i64 * i64::from(x[place]), random)
}

#[test]
fn wrong_boundaries_of_loops_are_refused_and_nothing_is_written() -> Result<(), Error> {
    let scan = Scan::from_loop(seen {}, START)?;
    let x = [1; 100];
    for _ in 0..2 {
        let mut y = [START; 100];
        assert!(scan.segmented(&[false; 99]).inclusive_into(&x, &mut y).is_err());
        assert!(scan.segmented(&[0usize, 60, 40, 100]).inclusive_into(&x, &mut y).is_err());
        assert!(scan.segmented(&[0usize, 101]).inclusive_into(&x, &mut y).is_err());
        assert!(scan.segmented(by_key(&[1u8; 101])).inclusive_into(&x, &mut y).is_err());
        assert!(scan.segmented(&[true; 100]).inclusive_into(&x, &mut y[..99]).is_err());
        assert_eq!(y, [START; 100]);
    }
    Ok(())
}

#[test]
fn long_segments_of_floats_are_the_same_whatever_was_called_before() -> Result<(), Error> {
    let average = scan!(|s: f64, x: f64| -> f64 { s + 0.1 * (x - s) });
    let scan = Scan::from_loop(average, 0.0)?;
    let random = &mut Random(5);
    let x: Vec<f64> = (0..400_000).map(|_| random.below(1000) as f64 / 7.0).collect();
    let offsets: Vec<usize> = (0..=x.len()).step_by(5000).collect();
    let before = scan.segmented(&offsets).inclusive(&x)?;
    scan.init(State(1.0)).inclusive(&x[..10])?;
    scan.reduce(&x[..10])?;
    for _ in 0..2 {
        let after = scan.segmented(&offsets).inclusive(&x)?;
        assert!(after.iter().zip(&before).all(|(after, before)| after.to_bits() == before.to_bits()));
    }
    Ok(())
}

/// Within a block the loop's own step runs in segments too: the derived step, `0.9·s + 0.1·x`, rounds otherwise.
#[test]
fn flagged_segments_are_the_loop_to_the_bit() -> Result<(), Error> {
    let average = scan!(|s: f64, x: f64| -> f64 { s + 0.1 * (x - s) });
    let in_one_pass = PlanOptions { direct: Some(usize::MAX), vector: Some(false), ..PlanOptions::default() };
    let scan = Scan::loop_builder(average, 0.3).plan(in_one_pass).build()?;
    let random = &mut Random(6);
    let x: Vec<f64> = (0..20_000).map(|_| random.below(1000) as f64 / 7.0).collect();
    // So short on average that they are not lines of their own.
    let heads: Vec<bool> = x.iter().map(|_| random.below(3) == 0).collect();
    let starts: Vec<f64> = (0..=x.len()).map(|segment| segment as f64 / 3.0).collect();
    let by_loop = |start: &dyn Fn(usize) -> f64| -> Vec<u64> {
        let (mut s, mut segment) = (start(0), 0);
        let after = |(place, &x): (usize, &f64)| {
            if heads[place] && place > 0 {
                segment += 1;
                s = start(segment);
            }
            s += 0.1 * (x - s);
            s.to_bits()
        };
        x.iter().enumerate().map(after).collect()
    };
    let bits = |results: Vec<f64>| results.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
    for _ in 0..2 {
        assert!(bits(scan.segmented(&heads).inclusive(&x)?) == by_loop(&|_| 0.3));
        assert!(bits(scan.init(State(0.7)).segmented(&heads).inclusive(&x)?) == by_loop(&|_| 0.7));
        let count = heads[1..].iter().filter(|&&head| head).count() + 1;
        let each: Vec<State<f64>> = starts[..count].iter().map(|&start| State(start)).collect();
        assert!(bits(scan.init_each(&each).segmented(&heads).inclusive(&x)?) == by_loop(&|segment| starts[segment]));
    }
    Ok(())
}

#[test]
fn segments_of_loops_between_offsets_are_not_resumed() -> Result<(), Error> {
    let scan = Scan::from_loop(seen {}, START)?;
    for _ in 0..2 {
        let mut carry = State(START);
        for request in [scan.segmented(&[0usize, 3]), scan.segmented(by_key(&[1u8; 3]))] {
            let error = request.resuming(&mut carry).inclusive(&[1, 2, 3]).unwrap_err();
            assert!(matches!(error, Error::Combination(_)), "{error}");
            assert_eq!(carry, State(START));
        }
    }
    Ok(())
}
