//! Every request of a scan, of a scan that was derived.

use monoscan::ir::Constant;
use monoscan::prelude::*;
use monoscan::{Call, Column, ColumnMut, DynScan, Error, PlanOptions, Rows, Shape, State};

#[scan_fn]
fn balance(balance: f64, rate: f64, deposit: f64) -> f64 {
    balance * rate + deposit
}

#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Json {
    in_string: bool,
    escape: bool,
    depth: i32,
    deepest: i32,
}

const START: Json = Json { in_string: false, escape: false, depth: 0, deepest: 0 };

#[scan_fn]
fn json(s: Json, c: u8) -> Json {
    let quote = c == b'"' && !s.escape;
    let escape = c == b'\\' && s.in_string && !s.escape;
    let mut depth = s.depth;
    if !s.in_string {
        match c {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    Json { in_string: s.in_string ^ quote, escape, depth, deepest: s.deepest.max(depth) }
}

const TEXT: &[u8] = br#"{"a{\"": [1, {"b": "]"}, [[]]], "c": {}} "#;

fn states(text: &[u8], start: Json) -> Vec<Json> {
    let mut state = start;
    let step = |&c| {
        state = json(state, c);
        state
    };
    text.iter().map(step).collect()
}

#[test]
fn lines_totals_and_initial_states_are_those_of_the_loop() -> Result<(), Error> {
    let scan = Scan::from_loop(json {}, START)?;
    let expected = states(TEXT, START);
    assert_eq!(scan.inclusive(TEXT)?, expected);
    assert_eq!(scan.exclusive(TEXT)?[0], START);
    assert_eq!(scan.exclusive(TEXT)?[1..], expected[..expected.len() - 1]);
    assert_eq!(scan.reduce(TEXT)?, State(expected[expected.len() - 1]));
    assert_eq!(scan.reduce(&[])?, State(START));
    assert_eq!(scan.identity(), State(START));
    let quoted = Json { in_string: true, depth: 7, deepest: 9, ..START };
    assert_eq!(scan.init(State(quoted)).inclusive(TEXT)?, states(TEXT, quoted));
    let (all, total) = scan.inclusive_with_total(TEXT)?;
    assert_eq!((all.last(), Some(&total.0)), (expected.last(), expected.last()));
    Ok(())
}

#[test]
fn segments_rows_and_reversed_scans_start_from_the_initial_state() -> Result<(), Error> {
    let scan = Scan::from_loop(json {}, START)?;
    let half = TEXT.len() / 2;
    let parts = [states(&TEXT[..half], START), states(&TEXT[half..], START)].concat();
    assert_eq!(scan.segmented(&[0, half, TEXT.len()][..]).inclusive(TEXT)?, parts);
    let mut heads = vec![false; TEXT.len()];
    heads[half] = true;
    assert_eq!(scan.segmented(&heads).inclusive(TEXT)?, parts);
    let rows = [states(&TEXT[..20], START), states(&TEXT[20..40], START)].concat();
    assert_eq!(scan.rows(Rows::new(2, 20, 20)?).inclusive(&TEXT[..40])?, rows);
    let backwards: Vec<u8> = TEXT.iter().rev().copied().collect();
    let mut expected = states(&backwards, START);
    expected.reverse();
    assert_eq!(scan.reversed().inclusive(TEXT)?, expected);
    Ok(())
}

#[test]
fn streams_carry_the_state_of_the_loop() -> Result<(), Error> {
    let scan = Scan::from_loop(json {}, START)?;
    let expected = states(TEXT, START);
    let mut stream = scan.stream();
    assert_eq!(stream.state(), State(START));
    let mut found = Vec::new();
    for chunk in TEXT.chunks(7) {
        found.extend(stream.feed(chunk)?);
        assert_eq!(stream.state(), State(found[found.len() - 1]));
    }
    assert_eq!(found, expected);
    let mut carry = scan.identity();
    let first = scan.resume(&mut carry, &TEXT[..5])?;
    assert_eq!((first[4], carry), (expected[4], State(expected[4])));
    let counted: Result<Vec<Json>, Error> = scan.over(TEXT.iter().copied())?.collect();
    assert_eq!(counted?, expected);
    Ok(())
}

/// A state with padding between its components, and one of them that only the states of a table may have.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Meter {
    mode: u8,
    total: f64,
    count: u16,
}

const METER: Meter = Meter { mode: 1, total: 0.5, count: 3 };

#[scan_fn]
fn meter(s: Meter, x: u8) -> Meter {
    let mode = if x == 0 { (s.mode + 1) % 3 } else { s.mode };
    let total = if x > 200 { 0.0 } else { s.total + x as f64 };
    Meter { mode, total, count: if x == 7 { 0 } else { s.count.wrapping_add(1) } }
}

/// Short lines and longer ones, whose states are in memory of the caller's type: from the start, from a state that was given, resumed,
/// reduced, of rows and of segments.
#[test]
fn states_lie_in_the_callers_memory() -> Result<(), Error> {
    let scan = Scan::from_loop(meter {}, METER)?;
    for len in [0, 1, 2, 9, 64, 100, 3000usize] {
        let x: Vec<u8> = (0..len).map(|i| (i * 7919 % 509 / 2) as u8).collect();
        let from = |start: Meter, x: &[u8]| {
            let after = x.iter().scan(start, |state, &x| {
                *state = meter(*state, x);
                Some(*state)
            });
            after.collect::<Vec<_>>()
        };
        let last = |start: Meter, x: &[u8]| State(from(start, x).pop().unwrap_or(start));
        assert_eq!(scan.reduce(&x)?, last(METER, &x));
        let other = Meter { mode: 2, total: -3.0, count: 65_530 };
        // More than once: the first call of its kind makes the kernel.
        for _ in 0..2 {
            let mut y = vec![METER; len];
            scan.init(State(other)).inclusive_into(&x, &mut y)?;
            assert_eq!(y, from(other, &x));
            let mut carry = State(other);
            scan.resuming(&mut carry).exclusive_into(&x, &mut y)?;
            assert_eq!(y, [&[other][..], &from(other, &x)].concat()[..len]);
            assert_eq!(carry, last(other, &x));
            assert_eq!(scan.init(State(other)).reduce(&x)?, last(other, &x));
            let thirds = [0, len / 3, len / 3, len];
            let totals = [0, 1, 2].map(|part| last(METER, &x[thirds[part]..thirds[part + 1]]));
            assert_eq!(scan.segmented(&thirds).totals(&x)?, totals);
            let halves = scan.axis(&[2, len / 2], 1).totals(&x[..len / 2 * 2])?;
            assert_eq!(halves, [0, 1].map(|row| last(METER, &x[row * (len / 2)..(row + 1) * (len / 2)])));
        }
        // What goes on from a carry begins nowhere, so it has no start of its own.
        let mut carry = State(other);
        let mut y = vec![METER; len];
        scan.init_each(&[]).resuming(&mut carry).inclusive_into(&x, &mut y)?;
        assert_eq!(y, from(other, &x));
        let error = scan.init_each(&[State(METER)]).resuming(&mut carry).inclusive_into(&x, &mut y).unwrap_err();
        assert!(matches!(error, Error::StateCount { argument: "init_each", expected: 0, got: 1 }), "{error}");
        let starts = [State(other); 2];
        scan.init_each(&starts[..1]).inclusive_into(&x, &mut y)?;
        assert_eq!(y, from(other, &x));
        let error = scan.init_each(&starts).inclusive_into(&x, &mut y).unwrap_err();
        assert!(matches!(error, Error::StateCount { argument: "init_each", expected: 1, got: 2 }), "{error}");
        let error = scan.request().resuming_each(&mut starts.clone()).inclusive_into(&x, &mut y).unwrap_err();
        assert!(matches!(error, Error::StateCount { argument: "carry", expected: 1, got: 2 }), "{error}");
        // The table has no such mode.
        let mut carry = State(Meter { mode: 3, ..other });
        let error = scan.resuming(&mut carry).inclusive_into(&x, &mut vec![METER; len]).unwrap_err();
        assert!(matches!(error, Error::LoopState { argument: "carry", .. }), "{error}");
        let error = scan.init(carry).reduce(&x).unwrap_err();
        assert!(matches!(error, Error::LoopState { argument: "init", .. }), "{error}");
    }
    Ok(())
}

#[scan_fn]
fn bucket(tokens: i32, fill: i32, take: i32) -> i32 {
    ((tokens + fill).min(100) - take).max(0)
}

/// The program of a loop says itself where the loop starts: short lines and long ones, segments, rows, totals and streams of it are
/// those of the loop, though nobody gives its initial state. From the least number on it would leave the type.
#[test]
fn a_program_of_a_loop_starts_from_its_initial_state() -> Result<(), Error> {
    let scan = Scan::from_loop(bucket {}, 7)?;
    let alone = DynScan::new(scan.as_dyn().program().clone())?;
    for len in [1, 5, 100_000usize] {
        let fill: Vec<i32> = (0..len).map(|i| (i % 1000 * 7919 % 12) as i32).collect();
        let take: Vec<i32> = (0..len).map(|i| (i % 1000 * 7907 % 13) as i32).collect();
        let columns = || [Column::new(&fill), Column::new(&take)];
        let mut output = vec![0i32; fill.len()];
        alone.inclusive_into(&columns(), &mut [ColumnMut::new(&mut output)])?;
        assert_eq!(output, scan.inclusive((&fill, &take))?);
        let offsets = [0, len / 2, len];
        let call = Call { shape: Shape::Offsets(&offsets), ..Call::default() };
        alone.run(&call, &columns(), &mut [ColumnMut::new(&mut output)])?;
        assert_eq!(output, scan.segmented(&offsets[..]).inclusive((&fill, &take))?);
        let call = Call { shape: Shape::Rows(Rows::new(1, len, len)?), ..Call::default() };
        alone.run(&call, &columns(), &mut [ColumnMut::new(&mut output)])?;
        assert_eq!(output, scan.inclusive((&fill, &take))?);
        let total = alone.reduce(&Call::default(), &columns())?;
        assert_eq!(alone.program().seen(total), [Constant::from(scan.reduce((&fill, &take))?.0)]);
        let mut carry = alone.first_carry();
        alone.resume(&Call::default(), &mut carry, &columns(), &mut [ColumnMut::new(&mut output)])?;
        assert_eq!(output, scan.inclusive((&fill, &take))?);
    }
    Ok(())
}

#[test]
fn several_columns_and_threads() -> Result<(), Error> {
    let scan = Scan::from_loop(balance {}, 100.0)?;
    let rates: Vec<f64> = (0..100_000).map(|i| 1.0 + f64::from(i % 7 - 3) / 1024.0).collect();
    let deposits: Vec<f64> = (0..100_000).map(|i| f64::from(i % 11)).collect();
    let found = scan.inclusive((&rates, &deposits))?;
    let mut state = 100.0;
    for ((rate, deposit), found) in rates.iter().zip(&deposits).zip(&found) {
        state = balance(state, *rate, *deposit);
        assert!((state - found).abs() <= 1e-9 * state.abs());
    }
    Ok(())
}

#[test]
fn a_derivation_is_explained_level_by_level() -> Result<(), Error> {
    let scan = Scan::from_loop(json {}, START)?;
    let explained = scan.explain();
    for part in
        ["level 0", "`in_string`, `escape`", "table of 3 states", "`depth`", "running sum", "maximum", "level 2"]
    {
        assert!(explained.contains(part), "{part} is missing:\n{explained}");
    }
    Ok(())
}

/// That an element does what the step does is half of a proof; the laws are the other.
#[test]
fn a_loop_is_proved_by_its_step_and_by_laws() -> Result<(), Error> {
    let explained = |scan: &DynScan| scan.explain().contains("\n  is the loop: the step and the laws are proved; ");
    let whole = Scan::from_loop(json {}, START)?;
    let derivation = whole.as_dyn().derivation().expect("it was derived");
    assert!(derivation.is_proved() && explained(whole.as_dyn()));
    let latch = Scan::from_loop(scan!(|v: f64, x: f64, here: bool| -> f64 { if here { x } else { v } }), 0.0)?;
    let derivation = latch.as_dyn().derivation().expect("it was derived");
    assert!(derivation.is_proved() && explained(latch.as_dyn()));
    // The judge has no normal form of the number that stands for an infinite bound.
    let waiting = Scan::from_loop(scan!(|w: i32, x: i32| -> i32 { (w + x).max(0) }), 0)?;
    let derivation = waiting.as_dyn().derivation().expect("it was derived");
    assert!(derivation.is_step_proved() && !derivation.is_proved());
    assert!(
        waiting.explain().contains("is the loop: the step is proved, the laws are tested"),
        "{}",
        waiting.explain()
    );
    Ok(())
}

#[test]
fn a_refusal_names_component_operation_and_what_would_do() {
    let step = scan!(|tokens: i32, cost: i32| -> i32 { if tokens >= cost { tokens - cost } else { tokens } });
    let error = Scan::from_loop(step, 10).unwrap_err();
    assert!(matches!(error, Error::NotAScan(_)));
    let text = error.to_string();
    assert!(text.contains("`tokens` cannot be scanned: which arm is taken depends on the state"), "{text}");
    assert!(text.contains("min"), "{text}");
}

#[test]
fn wrong_states_of_a_run_time_loop_are_refused() -> Result<(), Error> {
    let program = Scan::loop_builder(balance {}, 100.0).program()?;
    let scan = monoscan::DynScan::from_loop(&program)?;
    let columns = [monoscan::Column::new(&[1.0f64]), monoscan::Column::new(&[1.0f64])];
    let init = [1i32.into()];
    let call = monoscan::Call { init: monoscan::Init::Same(&init), ..Default::default() };
    assert!(matches!(scan.collect::<f64>(&call, &columns), Err(Error::State { argument: "init", .. })));
    // Types are those of the loop's state, not of the maps that its scan composes.
    let two = [50.0f64.into(), 1.0f64.into()];
    let call = monoscan::Call { init: monoscan::Init::Same(&two), ..Default::default() };
    let error = scan.collect::<f64>(&call, &columns).unwrap_err();
    assert!(matches!(&error, Error::State { expected, got, .. } if (expected.len(), got.len()) == (1, 2)), "{error}");
    let init = [50.0f64.into()];
    let call = monoscan::Call { init: monoscan::Init::Same(&init), ..Default::default() };
    assert_eq!(scan.collect::<f64>(&call, &columns)?, [51.0]);
    Ok(())
}

#[scan_fn]
fn leaking(kept_and_most: (f64, f64), level: f64, x: f64) -> f64 {
    (kept_and_most.0.clamp(0.0, 1.0) * level + x).min(kept_and_most.1)
}

/// The scan has the values it was built with until it gets others; its blocks are composed by them too.
#[test]
fn parameters_of_a_step_are_given_at_run_time() -> Result<(), Error> {
    let x: Vec<f64> = (0..500).map(|i| (i % 7) as f64 - 1.0).collect();
    let blocks = PlanOptions { direct: Some(0), block: Some(16), strips: Some(1), ..PlanOptions::default() };
    let scan = Scan::loop_builder_with((0.5, 3.0), leaking {}, 1.0).plan(blocks).build()?;
    for (parameters, scan) in [((0.5, 3.0), scan.clone()), ((0.875, 10.0), scan.with((0.875, 10.0))?)] {
        let mut level = 1.0;
        let expected: Vec<f64> = x
            .iter()
            .map(|&x| {
                level = leaking(parameters, level, x);
                level
            })
            .collect();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let found = scan.inclusive(&x)?;
        assert!(found.iter().zip(&expected).all(|(&a, &b)| near(a, b)), "{parameters:?}: {found:?}");
        assert!(near(scan.reduce(&x)?.0, level), "{parameters:?}");
    }
    let other = scan.with(1u8).unwrap_err();
    assert!(matches!(other, Error::Parameters { .. }), "{other}");
    Ok(())
}
