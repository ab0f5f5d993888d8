//! A derived scan runs the step itself for an element, between carries that are composed.

use monoscan::prelude::*;
use monoscan::{Error, PlanOptions, State};

/// Blocks of a few records, so that carries go through compositions.
fn in_blocks() -> PlanOptions {
    PlanOptions { direct: Some(0), block: Some(7), strips: Some(2), vector: Some(false), ..PlanOptions::default() }
}

fn in_one_pass() -> PlanOptions {
    PlanOptions { direct: Some(usize::MAX), vector: Some(false), ..PlanOptions::default() }
}

#[scan_fn]
fn average(s: f64, x: f64) -> f64 {
    s + 0.1 * (x - s)
}

#[test]
fn rounding_is_that_of_the_loop_but_at_the_ends_of_blocks() -> Result<(), Error> {
    let x: Vec<f64> = (0..500).map(|i| f64::from(i * i % 37) / 3.0).collect();
    let mut state = 0.1;
    let expected: Vec<f64> = x
        .iter()
        .map(|&x| {
            state = average(state, x);
            state
        })
        .collect();
    let scan = Scan::loop_builder(average {}, 0.1).plan(in_one_pass()).build()?;
    assert_eq!(scan.inclusive(&x)?, expected);
    assert_eq!(scan.reduce(&x)?, State(state));
    let scan = Scan::loop_builder(average {}, 0.1).plan(in_blocks()).threads(2).build()?;
    let found = scan.inclusive(&x)?;
    assert_eq!(found[..7], expected[..7]);
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
    Ok(())
}

#[scan_fn]
fn posterior(p: f64, x: f64, y: f64) -> f64 {
    let (a, b) = ((p * 0.75 + (1.0 - p) * 0.25) * x, (p * 0.25 + (1.0 - p) * 0.75) * y);
    a / (a + b)
}

/// Composing its maps takes longer than the loop, in vectors too.
#[test]
fn a_total_is_the_loop_where_a_plan_has_no_blocks() -> Result<(), Error> {
    let likely = |seed: u32| (0..20_000u32).map(|i| f64::from((i * seed) % 16 + 1) / 4.0).collect::<Vec<f64>>();
    let (x, y) = (likely(7919), likely(104_729));
    let state = x.iter().zip(&y).fold(0.5, |state, (&x, &y)| posterior(state, x, y));
    for threads in [1, 2] {
        let scan = Scan::loop_builder(posterior {}, 0.5).threads(threads).build()?;
        assert_eq!(scan.reduce((&x, &y))?, State(state), "{}", scan.explain_verbose());
        assert_eq!(scan.inclusive((&x, &y))?.last(), Some(&state));
    }
    Ok(())
}

#[scan_fn]
fn restarted(s: f64, start: bool, rate: f64, x: f64) -> f64 {
    if start { x } else { rate * s + x }
}

#[test]
fn a_reset_forgets_nan() -> Result<(), Error> {
    let start: Vec<bool> = (0..300).map(|i| i % 50 == 20).collect();
    let rate: Vec<f64> = (0..300).map(|i| if i == 5 { f64::INFINITY } else { 0.5 }).collect();
    let x: Vec<f64> = (0..300).map(|i| if i == 130 { f64::NAN } else { f64::from(i % 9) }).collect();
    let mut state = 1.0;
    let mut expected = Vec::new();
    for i in 0..300 {
        state = restarted(state, start[i], rate[i], x[i]);
        expected.push(state);
    }
    let scan = Scan::loop_builder(restarted {}, 1.0).plan(in_blocks()).threads(2).build()?;
    let found = scan.inclusive((&start, &rate, &x))?;
    let same = |(a, b): (&f64, &f64)| (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() < 1e-12;
    assert!(found.iter().zip(&expected).all(same), "{found:?}\n{expected:?}");
    Ok(())
}

#[scan_fn]
fn crc(table: Table<u32>, s: u32, c: u8) -> u32 {
    (s >> 8) ^ table.get((s ^ c as u32) & 255)
}

#[scan_fn]
fn crc_16(s: u16, c: u8) -> u16 {
    let mut s = s ^ ((c as u16) << 8);
    for _ in 0..8 {
        s = (s << 1) ^ if s & 0x8000 != 0 { 0x1021 } else { 0 };
    }
    s
}

#[test]
fn cyclic_codes_are_scans_with_a_table_and_without() -> Result<(), Error> {
    let entry = |byte: u32| (0..8).fold(byte, |s, _| if s & 1 == 0 { s >> 1 } else { (s >> 1) ^ 0xedb8_8320 });
    let table: Vec<u32> = (0..256).map(entry).collect();
    let text: Vec<u8> = (0..200u32).map(|i| (i * i % 251) as u8).collect();
    let scan = Scan::loop_builder(crc {}.with_table(&table), u32::MAX).plan(in_blocks()).threads(2).build()?;
    assert!(scan.explain().contains("M·u ^ b"), "{}", scan.explain());
    let mut state = u32::MAX;
    let step = |s: u32, c: u8| (s >> 8) ^ table[usize::from(s as u8 ^ c)];
    let expected: Vec<u32> = text
        .iter()
        .map(|&c| {
            state = step(state, c);
            state
        })
        .collect();
    assert_eq!(scan.inclusive(&text)?, expected);
    assert_eq!(scan.reduce(b"123456789")?, State(!0xcbf4_3926));

    let scan = Scan::loop_builder(crc_16 {}, 0xffff).plan(in_blocks()).threads(2).build()?;
    let mut state = 0xffff;
    let expected: Vec<u16> = text
        .iter()
        .map(|&c| {
            state = crc_16(state, c);
            state
        })
        .collect();
    assert_eq!(scan.inclusive(&text)?, expected);
    assert_eq!(scan.reduce(b"123456789")?, State(0x29b1));
    // A table that is not linear is none.
    let squares: Vec<u32> = (0..256u32).map(|i| i * i).collect();
    assert!(matches!(Scan::from_loop(crc {}.with_table(&squares), 0), Err(Error::NotAScan { .. })));
    Ok(())
}

#[test]
fn short_rows_in_vectors_are_the_loop() -> Result<(), Error> {
    let step = scan!(|t: i32, fill: i32, take: i32| -> i32 { ((t + fill).min(10) - take).max(0) });
    let scan = Scan::from_loop(step, 5)?;
    let plans = [None, Some(true), Some(false)].map(|vector| PlanOptions { vector, ..PlanOptions::default() });
    for plan in plans {
        let average = Scan::loop_builder(average {}, 0.5).plan(plan).build()?;
        for len in 1..18 {
            let x: Vec<f64> = (0..5 * len).map(|i| (i * i % 7) as f64).collect();
            average.axis(&[5, len], 1).inclusive(&x)?;
            average.axis(&[5, len], 1).init(State(0.25)).inclusive(&x)?;
        }
    }
    let average = Scan::from_loop(average {}, 0.5)?;
    for len in 2..9 {
        let fill: Vec<i32> = (0..60 * len as i32).map(|i| i * i % 7).collect();
        let take: Vec<i32> = (0..60 * len as i32).map(|i| i * 5 % 8).collect();
        let found = scan.axis(&[60, len], 1).inclusive((&fill, &take))?;
        let smooth = average.axis(&[60, len], 1).inclusive(&fill.iter().map(|&x| f64::from(x)).collect::<Vec<_>>())?;
        for row in 0..60 {
            let (mut tokens, mut mean) = (5, 0.5);
            for i in row * len..(row + 1) * len {
                tokens = ((tokens + fill[i]).min(10) - take[i]).max(0);
                mean += 0.1 * (f64::from(fill[i]) - mean);
                assert_eq!(found[i], tokens, "rows of {len}");
                assert!((smooth[i] - mean).abs() < 1e-12, "rows of {len}");
            }
        }
    }
    Ok(())
}

#[test]
fn what_a_filter_counts_is_what_is_written() -> Result<(), Error> {
    // Sums that leave i32 are others in the step than in the stages.
    let step = || scan!(|t: i32, fill: i32, take: i32| -> i32 { ((t + fill).min(10).wrapping_sub(take)).max(0) });
    let plain = scan!(|t: i32, fill: i32, take: i32| -> i32 { ((t + fill).min(10) - take).max(0) });
    assert!(Scan::from_loop(step(), 5).is_err());
    let low = scan!(|e: Element<(i32, i32), i32>| -> bool { e.after < 5 });
    let scan = Scan::loop_builder(plain, 5).filter(low).plan(in_blocks()).threads(2).build()?;
    for most in [8, i32::MAX] {
        let fill: Vec<i32> = (0..500).map(|i| i * i % 7).collect();
        let take: Vec<i32> = (0..500).map(|i| if most == 8 { i * 5 % 8 } else { i32::MIN + i % 3 }).collect();
        let found = scan.inclusive((&fill, &take))?;
        let mut exact = vec![0; found.len()];
        scan.inclusive_into((&fill, &take), &mut exact)?;
        assert_eq!(exact, found);
    }
    let rounded = scan!(|e: Element<f64, f64>| -> bool { e.after > 1.0 });
    let program = Scan::loop_builder(average {}, 0.1).filter(rounded).program()?;
    assert!(monoscan::ir::derive::derive(&program).unwrap().program.sequential.is_none());
    Ok(())
}

#[scan_fn]
fn low_bit_or(s: u32, x: u64) -> u32 {
    (((s as u64) & 1) | x) as u32
}

#[test]
fn bits_that_any_number_may_have_are_not_apart() -> Result<(), Error> {
    let x = [1u64, 1, 2, 3, u64::MAX, 0];
    let Ok(scan) = Scan::from_loop(low_bit_or {}, 1) else { return Ok(()) };
    let mut state = 1;
    let expected: Vec<u32> = x
        .iter()
        .map(|&x| {
            state = low_bit_or(state, x);
            state
        })
        .collect();
    assert_eq!(scan.inclusive(&x)?, expected);
    Ok(())
}

#[test]
fn exclusive_and_reversed_scans_replay_the_step_in_blocks() -> Result<(), Error> {
    let step = scan!(|t: i32, fill: i32, take: i32| -> i32 { ((t + fill).min(10) - take).max(0) });
    let scan = Scan::loop_builder(step, 5).plan(in_blocks()).threads(2).build()?;
    let fill: Vec<i32> = (0..300).map(|i| i * i % 7).collect();
    let take: Vec<i32> = (0..300).map(|i| i * 5 % 8).collect();
    let next = |t: i32, i: usize| ((t + fill[i]).min(10) - take[i]).max(0);
    let mut state = 5;
    let mut step_to = |i: usize| {
        let before = state;
        state = next(state, i);
        before
    };
    let before: Vec<i32> = (0..300).map(&mut step_to).collect();
    assert_eq!(scan.exclusive((&fill, &take))?, before);
    let mut state = 5;
    let mut step_to = |i: usize| {
        let before = state;
        state = next(state, i);
        before
    };
    let mut behind: Vec<i32> = (0..300).rev().map(&mut step_to).collect();
    behind.reverse();
    assert_eq!(scan.reversed().exclusive((&fill, &take))?, behind);
    Ok(())
}

/// A compensated sum, whose rounding is its purpose.
#[scan_fn]
fn compensated(s: (f64, f64), x: f64) -> (f64, f64) {
    let y = x - s.1;
    let t = s.0 + y;
    (t, (t - s.0) - y)
}

/// Kernels in vectors regroup a block, and say so; without them it is the loop, to the bit.
#[test]
fn a_block_is_the_loop_without_vectors() -> Result<(), Error> {
    let x: Vec<f64> = (0..40).map(|i| if i == 0 { 1e16 } else { 1.0 + 0.37 * i as f64 }).collect();
    let mut state = (0.0, 0.0);
    let expected: Vec<(f64, f64)> = x
        .iter()
        .map(|&x| {
            state = compensated(state, x);
            state
        })
        .collect();
    let plan = PlanOptions { vector: Some(true), ..PlanOptions::default() };
    let regrouped = Scan::loop_builder(compensated {}, (0.0, 0.0)).plan(plan).build()?;
    assert!(
        regrouped.explain().contains("by kernels in vectors from the first elements on"),
        "{}",
        regrouped.explain()
    );
    let plan = PlanOptions { vector: Some(false), ..PlanOptions::default() };
    let exact = Scan::loop_builder(compensated {}, (0.0, 0.0)).plan(plan).build()?;
    assert!(!exact.explain().contains("kernels in vectors"), "{}", exact.explain());
    assert_eq!(exact.inclusive(&x)?, expected);
    Ok(())
}
