//! Where the functions of blocks of records leave the types that the loop stays within: what is
//! composed is the loop all the same, or the loop is refused.

#![allow(clippy::all, reason = "loops as people write them")]

use monoscan::ir::derive::Why;
use monoscan::prelude::*;
use monoscan::{Error, PlanOptions, State};

#[scan_fn]
fn bucket_of_64_bits(t: i64, fill: i64, take: i64) -> i64 {
    ((t + fill).min(i64::MAX / 2) - take).max(-5)
}

#[scan_fn]
fn bucket_without_sign(t: u64, fill: u64, take: u64) -> u64 {
    t.saturating_add(fill).min(u64::MAX - 3).saturating_sub(take)
}

#[scan_fn]
fn maybe_at_least(s: i64, x: i64, bounded: bool) -> i64 {
    if bounded { (s - 1).max(x) } else { s - 1 }
}

/// Sums of stretches of records leave 64 bits, and the loop does not: in blocks of a few records that are composed.
#[test]
fn bounded_sums_of_64_bits_are_exact_in_blocks() -> Result<(), Error> {
    let large = |i: i64| if i % 3 == 0 { 1 << 62 } else { i };
    let fill: Vec<i64> = (0..200).map(large).collect();
    let take: Vec<i64> = (0..200).map(|i| if i % 50 > 25 { large(i + 1) } else { 1 }).collect();
    let bounded: Vec<bool> = (0..200).map(|i| i % 7 == 0).collect();

    let scan = Scan::loop_builder(bucket_of_64_bits {}, 3).plan(blocks(4)).build()?;
    let mut t = 3;
    let expected: Vec<i64> =
        fill.iter().zip(&take).map(|(&fill, &take)| replaced(&mut t, |t| bucket_of_64_bits(t, fill, take))).collect();
    assert_eq!(scan.inclusive((&fill, &take))?, expected, "{}", scan.explain());
    assert_eq!(scan.reduce((&fill, &take))?, State(t));

    let [fill, taken] = [&fill, &take].map(|column| column.iter().map(|&x| 3 * x as u64).collect::<Vec<u64>>());
    let scan = Scan::loop_builder(bucket_without_sign {}, 3).plan(blocks(4)).build()?;
    let mut t = 3;
    let expected: Vec<u64> = fill
        .iter()
        .zip(&taken)
        .map(|(&fill, &take)| replaced(&mut t, |t| bucket_without_sign(t, fill, take)))
        .collect();
    assert_eq!(scan.inclusive((&fill, &taken))?, expected, "{}", scan.explain());
    assert_eq!(scan.reduce((&fill, &taken))?, State(t));

    let scan = Scan::loop_builder(maybe_at_least {}, 3).plan(blocks(4)).build()?;
    let mut s = 3;
    let expected: Vec<i64> =
        take.iter().zip(&bounded).map(|(&x, &is)| replaced(&mut s, |s| maybe_at_least(s, x, is))).collect();
    assert_eq!(scan.inclusive((&take, &bounded))?, expected, "{}", scan.explain());
    Ok(())
}

/// The largest and the smallest product of some last numbers, or 0.
#[scan_fn]
fn products(s: (i32, i32), x: i32) -> (i32, i32) {
    let (a, b) = (s.0 * x, s.1 * x);
    (a.max(b).max(0), a.min(b).min(0))
}

#[scan_fn]
fn products_from_here(s: (i32, i32), x: i32) -> (i32, i32) {
    (x.max(if x >= 0 { s.0 * x } else { s.1 * x }), x.min(if x < 0 { s.0 * x } else { s.1 * x }))
}

/// Products of stretches leave 32 bits where the state is 0, and only there.
#[test]
fn products_are_exact_wherever_the_loop_is() -> Result<(), Error> {
    let x: Vec<i32> = (0..300).map(|i| [100_000, -70_000, 3, 99_999][i % 4]).collect();
    let scan = Scan::loop_builder(products {}, (0, 0)).plan(blocks(4)).build()?;
    assert_eq!(scan.inclusive(&x)?, vec![(0, 0); 300], "{}", scan.explain());
    assert_eq!(scan.reduce(&x)?, State((0, 0)));

    let x: Vec<i32> = (0..300).map(|i: i32| if i % 7 == 3 { 0 } else { i * 37 % 11 - 5 }).collect();
    let scan = Scan::loop_builder(products_from_here {}, (1, 1)).plan(blocks(4)).build()?;
    let mut s = (1, 1);
    let expected: Vec<(i32, i32)> = x.iter().map(|&x| replaced(&mut s, |s| products_from_here(s, x))).collect();
    assert_eq!(scan.inclusive(&x)?, expected, "{}", scan.explain());
    assert_eq!(scan.reduce(&x)?, State(s));
    // The ends of an interval are in order.
    let turned = scan.init(State((1, 5))).inclusive(&x);
    assert!(matches!(turned, Err(Error::LoopState { .. })), "{turned:?}");
    assert!(matches!(Scan::from_loop(products_from_here {}, (1, 5)), Err(Error::NotAScan(_))));
    Ok(())
}

/// Products of factors above 1 leave the type within a stretch, though the loop stays within its bounds.
#[test]
fn factors_that_may_grow_under_bounds_are_refused() -> Result<(), Error> {
    let refused = |scan: Result<(), Error>| match scan {
        Err(Error::NotAScan(refusal)) => assert_eq!(refusal.why, Why::Growth, "{refusal}"),
        other => panic!("{other:?}"),
    };
    let tripled = scan!(|s: f64, x: f64| -> f64 { (3.0 * s + x).max(-1.0).min(1.0) });
    refused(Scan::from_loop(tripled, 0.0).map(drop));
    let below = scan!(|s: f32, x: f32| -> f32 { (x - 1.5 * s).max(0.0) });
    refused(Scan::from_loop(below, 0.0).map(drop));
    let of_records = scan!(|s: f64, k: f64, x: f64| -> f64 { (k * s + x).min(1.0) });
    refused(Scan::from_loop(of_records, 0.0).map(drop));
    let parameter = scan!(|k: f64, s: f64, x: f64| -> f64 { (k * s + x).min(1.0) });
    refused(Scan::loop_builder_with(0.5, parameter, 0.0).build().map(drop));
    let divided = scan!(|s: f64, x: f64| -> f64 { (s / 0.7 + x).min(1.0) });
    refused(Scan::from_loop(divided, 0.0).map(drop));
    // NaN is dropped by minima, and is in no order.
    let other = scan!(|s: f64, k: f64, t: f64| -> f64 {
        let (top, k) = (t.clamp(0.0, 1.0), k.abs());
        let k = if k > top { top } else { k };
        (k * s).min(1.0)
    });
    refused(Scan::from_loop(other, 0.0).map(drop));
    let dropped = scan!(|s: f64, a: f64, b: f64| -> f64 { (a.clamp(0.0, 1.0).min(b.clamp(0.0, 2.0)) * s).min(1.0) });
    refused(Scan::from_loop(dropped, 0.0).map(drop));
    let below = scan!(|s: f64, k: f64| -> f64 { (k.abs().max(-5.0).min(1.0) * s).min(1.0) });
    refused(Scan::from_loop(below, 0.0).map(drop));
    // In 32 bits 0.4 + 0.6 is 1.
    let weighted = scan!(|s: f32, w: f32| -> f32 { (s * (0.4 + 0.6 * w.clamp(0.0, 1.0)) + 1.0).min(9.0) });
    Scan::from_loop(weighted, 0.0)?;
    // Unbounded: the page says what becomes of a state of 0.
    Scan::from_loop(scan!(|s: f64, x: f64| -> f64 { 3.0 * s + x }), 0.0)?;

    let turned = scan!(|s: f64, x: f64| -> f64 { (x - s).max(-1.0).min(1.0) });
    let scan = Scan::loop_builder(turned, 0.0).plan(blocks(256)).build()?;
    assert!(scan.inclusive(&[0.0; 5000])?.iter().all(|&s| s == 0.0), "{}", scan.explain());
    let kept = scan!(|s: f64, k: f64, x: f64| -> f64 { (k.max(-1.0).min(1.0) * s + x).max(-1.0).min(1.0) });
    let scan = Scan::loop_builder(kept, 0.5).plan(blocks(256)).build()?;
    let (k, x) = (vec![7.0; 5000], vec![0.0; 5000]);
    assert_eq!(scan.inclusive((&k, &x))?, vec![0.5; 5000], "{}", scan.explain());
    let k: Vec<f64> = (0..5000).map(|i| if i < 4000 { -9.0 } else { 0.0 }).collect();
    let after = scan.inclusive((&k, &x))?;
    assert!(after[3998] == -0.5 && after[3999] == 0.5 && after[4000..].iter().all(|&s| s == 0.0), "{}", scan.explain());
    Ok(())
}

/// A quotient by 0 is infinite in the middle of a block, and not lost.
#[test]
fn quotients_by_zero_are_what_they_are_in_the_loop() -> Result<(), Error> {
    let step = scan!(|s: f64, x: f64| -> f64 { x + 1.0 / s });
    let scan = Scan::loop_builder(step, 1.0).plan(blocks(8)).build()?;
    for part in ["(a·u + b) / (c·u + d)", "quotients hold over the reals, with infinity"] {
        assert!(scan.explain().contains(part), "{}", scan.explain());
    }
    let x: Vec<f64> = (0..100).map(|i| [-1.0, 3.0, 1.0, 2.0, 0.5][i % 5]).collect();
    let mut s = 1.0;
    let expected: Vec<f64> = x.iter().map(|&x| replaced(&mut s, |s| x + 1.0 / s)).collect();
    assert!(expected[1] == f64::INFINITY && expected[2] == 1.0, "{expected:?}");
    let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * b.abs().max(1.0);
    let found = scan.inclusive(&x)?;
    assert!(found.iter().zip(&expected).all(|(&a, &b)| near(a, b)), "{found:?}, expected {expected:?}");
    assert!(near(scan.reduce(&x)?.0, s));
    Ok(())
}

/// A step that falls as the state rises is none of the functions that 64 bits are composed by.
#[test]
fn falling_sums_of_64_bits_under_bounds_are_refused() -> Result<(), Error> {
    let narrow = Scan::from_loop(scan!(|s: i32, x: i32| -> i32 { (x - s).max(0) }), 0)?;
    assert_eq!(narrow.inclusive(&[3, 5, 1])?, [3, 2, 0]);
    let wide = Scan::from_loop(scan!(|s: i64, x: i64| -> i64 { (x - s).max(0) }), 0);
    assert!(matches!(wide, Err(Error::NotAScan(_))));
    Ok(())
}

/// A plan of blocks of so many records, which are composed.
fn blocks(records: usize) -> PlanOptions {
    PlanOptions { direct: Some(0), block: Some(records), strips: Some(1), ..PlanOptions::default() }
}

/// Replaces a state, and gives the new one.
fn replaced<S: Copy>(state: &mut S, step: impl FnOnce(S) -> S) -> S {
    *state = step(*state);
    *state
}
