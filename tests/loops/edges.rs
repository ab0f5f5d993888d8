//! Where loops meet the ends of their types: what wraps, NaN, large constants, states that no loop
//! reaches.
//!
//! Each step is a loop that a derivation once got wrong. It is refused, or it is the loop.

#![allow(clippy::all, reason = "loops as people write them")]

use monoscan::prelude::*;
use monoscan::{Error, State};

/// The scan of a step is the loop on these records, or there is none.
macro_rules! assert_loop {
    ($step:ident, $initial:expr, [$($column:expr),+], [$($x:ident),+]) => {{
        if let Ok(scan) = Scan::from_loop($step {}, $initial) {
            let mut state = $initial;
            let expected: Vec<_> = assert_loop!(@zip [$($column),+], [$($x),+], |$($x),+| {
                state = $step(state, $($x),+);
                state
            });
            assert_eq!(scan.inclusive(($(&$column[..]),+))?, expected, "{}", scan.explain());
        }
    }};
    (@zip [$a:expr], [$x:ident], |$p:ident| $body:block) => { $a.iter().map(|&$p| $body).collect() };
    (@zip [$a:expr, $b:expr], [$x:ident, $y:ident], |$p:ident, $q:ident| $body:block) => {
        $a.iter().zip(&$b).map(|(&$p, &$q)| $body).collect()
    };
}

#[scan_fn]
fn over_a_sum(s: u32, x: u32, y: u32) -> u32 {
    if s > x + y { s - x - y } else { 0 }
}

#[scan_fn]
fn grouped(s: u32, x: u32, y: u32) -> u32 {
    if s > x + y { s - (x + y) } else { 0 }
}

#[scan_fn]
fn drained(s: u32, x: u32) -> u32 {
    if s > x { s - x } else { 0 }
}

#[test]
fn differences_without_sign_are_not_sums() -> Result<(), Error> {
    let (x, y) = ([600_000_000u32, 1], [500_000_000u32, 1]);
    assert_loop!(over_a_sum, 1_000_000_000, [x, y], [a, b]);
    assert_loop!(grouped, 1_000_000_000, [x, y], [a, b]);
    assert_loop!(drained, 4_000_000_000, [[3_000_000_000u32, 999_999_999, 5, 0]], [a]);
    assert!(Scan::from_loop(drained {}, 7).is_ok());
    Ok(())
}

#[scan_fn]
fn wrapped_modulo(s: u32, x: u32) -> u32 {
    s.wrapping_add(x) % 10
}

#[scan_fn]
fn wrapped_bound(s: u32, x: u32) -> u32 {
    s.wrapping_sub(1).max(x)
}

#[scan_fn]
fn wrapped_sum(s: u32, x: u32) -> u32 {
    s.wrapping_add(x)
}

#[test]
fn what_wraps_is_no_number_under_bounds() -> Result<(), Error> {
    assert_loop!(wrapped_modulo, 0, [[5u32, u32::MAX]], [a]);
    assert_loop!(wrapped_bound, 100, [[0u32; 101]], [a]);
    assert_loop!(wrapped_sum, 0, [[5u32, u32::MAX, u32::MAX]], [a]);
    assert!(Scan::from_loop(wrapped_sum {}, 0).is_ok());
    Ok(())
}

const LATE: i64 = 1_700_000_000_000_000_000;

#[scan_fn]
fn latest(s: i64, x: i64, set: bool) -> i64 {
    if set { x } else { (s + 1).max(x) }
}

#[scan_fn]
fn maybe_bounded(s: i64, x: i64, bound: bool) -> i64 {
    if bound { (s + 1).min(x) } else { s + 1 }
}

#[test]
fn time_stamps_are_no_infinities() -> Result<(), Error> {
    let times = [-4 * LATE, -5 * LATE, 5 * LATE, -3 * LATE];
    assert_loop!(latest, -5 * LATE, [times, [false, true, false, true]], [a, b]);
    assert_loop!(maybe_bounded, 5 * LATE, [[4 * LATE, 2 * LATE, 3 * LATE], [false, true, true]], [a, b]);
    Ok(())
}

#[scan_fn]
fn largest(s: f64, x: f64) -> f64 {
    if s > x { s } else { x }
}

#[scan_fn]
fn clamped(s: f64, x: f64) -> f64 {
    (s + x).min(100.0).max(0.0)
}

#[scan_fn]
fn maximum(s: f64, x: f64) -> f64 {
    s.max(x)
}

#[test]
fn what_holds_without_nan_says_so() -> Result<(), Error> {
    for text in [Scan::from_loop(largest {}, 0.0)?.explain(), Scan::from_loop(clamped {}, 0.0)?.explain()] {
        assert!(text.contains("proved where nothing is NaN"), "{text}");
    }
    let text = Scan::from_loop(maximum {}, 0.0)?.explain();
    assert!(text.contains("proved") && !text.contains("NaN"), "{text}");
    // A state that is no number yet is a start like any other.
    Scan::from_loop(maximum {}, f64::NAN)?;
    Ok(())
}

#[scan_fn]
fn counts_two(s: u32, x: u32, y: u32) -> u32 {
    let t = s + (x & 255) + (y & 255);
    if t >= 360 { t - 360 } else { t }
}

#[scan_fn]
fn counts_by(s: u32, x: u32) -> u32 {
    let t = s + (x & 255);
    if t >= 360 { t - 360 } else { t }
}

#[scan_fn]
fn counts_three(s: u32, x: u32) -> u32 {
    let t = s + 3 + (x & 1);
    if t + 1 == 100 { 0 } else { t + 1 }
}

#[test]
fn counters_go_round_at_most_once() -> Result<(), Error> {
    assert_loop!(counts_two, 359, [[255u32, 255, 0, 9], [255u32, 255, 0, 200]], [a, b]);
    assert_loop!(counts_by, 359, [[255u32, 255, 0, 200, 17]], [a]);
    assert_loop!(counts_three, 0, [[1u32; 300]], [a]);
    assert!(Scan::from_loop(counts_by {}, 0).is_ok());
    Ok(())
}

#[scan_fn]
fn walks(s: u8, up: bool) -> u8 {
    if s == 0 {
        if up { 2 } else { 0 }
    } else if s == 2 {
        if up { 4 } else { 0 }
    } else if s == 4 {
        if up { 4 } else { 2 }
    } else {
        7
    }
}

#[test]
fn states_that_the_loop_does_not_reach_are_refused() -> Result<(), Error> {
    let scan = Scan::from_loop(walks {}, 0)?;
    let ups = [true, true, false];
    assert_eq!(scan.init(State(2)).inclusive(&ups)?, [4, 4, 2]);
    for outside in [1, 3, 5, 200] {
        let error = scan.init(State(outside)).inclusive(&ups).unwrap_err();
        assert!(matches!(error, Error::LoopState { argument: "init", .. }), "{error}");
    }
    let counter = Scan::from_loop(counts_by {}, 0)?;
    assert_eq!(counter.init(State(350)).inclusive(&[20])?, [10]);
    let error = counter.init(State(360)).inclusive(&[20]).unwrap_err();
    assert!(matches!(error, Error::LoopState { .. }), "{error}");
    let sums = Scan::from_loop(maximum {}, 0.0)?;
    assert!(sums.init(State(f64::NAN)).inclusive(&[1.0]).is_ok());
    Ok(())
}

#[scan_fn]
fn adds_much(s: u32, x: u32) -> u32 {
    (s + 3_000_000_000).min(4_000_000_000).min(x)
}

#[scan_fn]
fn takes_much(s: u32, x: u32) -> u32 {
    (s - 3_000_000_000).max(x)
}

#[scan_fn]
fn takes_one(s: u32, x: u32) -> u32 {
    (s - 1).max(x)
}

#[test]
fn large_constants_keep_their_sign() -> Result<(), Error> {
    assert_loop!(adds_much, 5, [[7u32, 9, 1_000_000_000, u32::MAX]], [a]);
    assert_loop!(takes_much, 4_000_000_000, [[3_500_000_000u32, 3_000_000_007, 9]], [a]);
    assert_loop!(takes_one, 4, [[7u32, 9, 1, 1]], [a]);
    assert!(Scan::from_loop(takes_one {}, 4).is_ok());
    Ok(())
}

/// Loops whose kernels overflow in the samples that they are checked with, or give another zero, where the loop's records do not: each was
/// once refused as miscompiled, or as no monoid though its components alone were scans.
#[test]
fn what_overflows_in_samples_alone_is_no_fault() -> Result<(), Error> {
    let rows = |scan: &Scan<State<u8>, (u8,), u8>, len: usize, rows: usize| {
        scan.axis(&[rows, len], 1).inclusive(&vec![0; rows * len])
    };
    let least = Scan::from_loop(scan!(|s: u8, x: u8| -> u8 { (s + x).min(13) }), 5)?;
    let most = Scan::from_loop(scan!(|s: u8, x: u8| -> u8 { (s + x).max(100) }), 5)?;
    for (len, count) in [(2, 1 << 17), (3, 50), (8, 2), (33, 3000)] {
        assert_eq!(rows(&least, len, count)?, vec![5; len * count]);
        assert_eq!(rows(&most, len, count)?, vec![100; len * count]);
    }
    let wide = Scan::from_loop(scan!(|a: u32, x: i32, y: i32| -> u32 { (a + (y as u32)).min(16).max(x as u32) }), 3)?;
    assert_eq!(wide.reduce((&[1; 9], &[1; 9]))?, State(12));
    let two =
        scan!(|s: (u16, u16), x: i32, y: i32| -> (u16, u16) { (s.0.max(x as u16), (s.1 + (y as u16)).max(7).min(11)) });
    let down = Scan::from_loop(two, (0, 0))?.axis(&[8, 8], 0).inclusive((&[1; 64], &[1; 64]))?;
    assert_eq!(down[56], (1, 11));
    let pair = scan!(|s: (i8, i8), x: i8| -> (i8, i8) { ((s.0 + x).max(s.1 - x), (s.1 + x).max(s.0)) });
    let pairs = Scan::from_loop(pair, (0, 0))?;
    assert_eq!(pairs.axis(&[3000, 32], 1).inclusive(&vec![0; 96_000])?, vec![(0, 0); 96_000]);
    let zeros = scan!(|s: (f64, f64), x: f64| -> (f64, f64) { ((s.0 * -0.5).max(s.1), s.1 + 0.5 * (x - s.1)) });
    assert_eq!(Scan::from_loop(zeros, (0.0, 0.0))?.reduce(&[0.0; 9])?, State((0.0, 0.0)));
    let both = scan!(|s: (i32, i32), x: i32| -> (i32, i32) { (s.0.saturating_add(x), (s.1 + x).min(5)) });
    assert_eq!(Scan::from_loop(both, (0, 0))?.inclusive(&[3, 4, -9])?, [(3, 3), (7, 5), (-2, -4)]);
    let mixed = scan!(|s: (u64, i16), x: u64, y: i16| -> (u64, i16) { ((s.0 + x).max(1), s.1.saturating_add(y)) });
    assert_eq!(Scan::from_loop(mixed, (0, 0))?.inclusive((&[0, 3], &[7, -9]))?, [(1, 7), (4, -2)]);
    // Powers of two that leave the type: NaN there, as documented, and no refusal.
    let doubled = Scan::from_loop(scan!(|c: f32, x: f32| -> f32 { 2.0 * c + x }), 0.0)?;
    let x = vec![1.0; 1 << 20];
    assert_eq!(doubled.inclusive(&x)?[..4], [1.0, 3.0, 7.0, 15.0]);
    doubled.reduce(&x)?;
    Ok(())
}

/// Lanes run the stages, and what fills no vector runs the loop's own step, which rounds otherwise: which columns go which way depends
/// on nothing but their number.
#[test]
fn columns_of_floats_are_the_same_bits_for_any_number_of_threads() {
    let step = || scan!(|y: f32, x: f32| -> f32 { 0.3 * (y + x) });
    for columns in [2, 3, 5, 7, 18, 19, 66, 67, 130, 131, 257, 1001] {
        let len = 150;
        let x: Vec<f32> = (0..len * columns).map(|i| (i * 7919 % 1013) as f32 / 7.0).collect();
        let bits = |threads: usize| {
            let scan = Scan::loop_builder(step(), 0.5).threads(threads).build().unwrap();
            let y = scan.axis(&[len, columns], 0).inclusive(&x).unwrap();
            let all: Vec<u32> = y.into_iter().map(f32::to_bits).collect();
            all
        };
        let one = bits(1);
        for threads in [2, 3, 5, 8, 16] {
            assert!(bits(threads) == one, "{columns} columns, {threads} threads");
        }
    }
}

#[scan_fn]
fn lowest(s: f64, x: f64) -> f64 {
    s.min(x)
}

#[scan_fn]
fn lowest_by_comparison(s: f32, x: f32) -> f32 {
    if x < s { x } else { s }
}

#[scan_fn]
fn counted_lowest(s: (u32, f64), x: f64) -> (u32, f64) {
    (s.0 + 1, s.1.min(x))
}

/// Minima drop NaN, so one that starts from it is NaN as long as records are; a comparison is never true of it.
#[test]
fn minima_may_start_from_nan() -> Result<(), Error> {
    let scan = Scan::from_loop(lowest {}, f64::NAN)?;
    let with_counts = Scan::from_loop(counted_lowest {}, (0, f64::NAN))?;
    let mut x = vec![f64::NAN; 100_000];
    for first in [100_000, 70_000, 64, 1, 0] {
        x[first..].fill(2.0);
        let is_right =
            |states: &[f64]| states.iter().enumerate().all(|(place, state)| state.is_nan() == (place < first));
        assert!(is_right(&scan.inclusive(&x)?), "{first}: {}", scan.explain());
        assert_eq!(scan.reduce(&x)?.0.is_nan(), first == x.len());
        let (counts, lowest): (Vec<u32>, Vec<f64>) = with_counts.inclusive(&x)?.into_iter().unzip();
        assert!(is_right(&lowest) && counts.last() == Some(&100_000), "{first}");
        for rows in [[1, 100_000], [100, 1000]] {
            let totals = scan.axis(&rows, 0).totals(&x)?;
            assert!(
                totals
                    .iter()
                    .enumerate()
                    .all(|(place, total)| total.0.is_nan() == (place + (rows[0] - 1) * rows[1] < first))
            );
        }
    }
    let refused = Scan::from_loop(lowest_by_comparison {}, f32::NAN).unwrap_err();
    assert!(matches!(&refused, Error::LoopStart { .. }) && refused.to_string().contains("infinity"), "{refused}");
    // What only moves may be no number at first.
    let scan = Scan::from_loop(last_above {}, f64::NAN)?;
    let states = scan.inclusive(&[1.0, f64::NAN, 12.0, 3.0])?;
    assert!(states[1].is_nan() && states[2..] == [12.0, 12.0], "{}", scan.explain());
    // Sums and decays are NaN from there on, and zeros have their signs.
    for start in [f64::NAN, -0.0, f64::INFINITY] {
        Scan::from_loop(decayed {}, start)?;
    }
    Ok(())
}

#[scan_fn]
fn last_above(s: f64, x: f64) -> f64 {
    if x > 10.0 { x } else { s }
}

#[scan_fn]
fn decayed(s: f64, x: f64) -> f64 {
    0.5 * s + x
}
