//! A scan derived from a loop costs as much as the monoid that one would write by hand: where
//! tiles are reduced, the same work and the same chain from element to element, or less. So does
//! one pass, by the step or by maps of states.

use monoscan::ir::facts::work;
use monoscan::ir::transform::{Form, Lowered, lower};
use monoscan::ops::{Affine, Max, StateMap, Sum};
use monoscan::prelude::*;
use monoscan::{DynScan, Error};
use scan_kit::by_hand::{Best, comments, move_of, moves_of_comments, wide_best_of};

/// Instructions of an element's reduction, and cycles of its chain.
fn cost(scan: &DynScan) -> (u32, u32) {
    let lowered: Lowered = lower(scan.program(), Form::default());
    let latency = lowered.facts().iter().map(|facts| facts.fold_latency).max().unwrap_or(0);
    (work(&lowered.fold().mapping.function), latency)
}

fn assert_as_by_hand(derived: &DynScan, by_hand: &DynScan) {
    let (derived, by_hand) = (cost(derived), cost(by_hand));
    assert!(derived.0 <= by_hand.0 && derived.1 <= by_hand.1, "{derived:?}, by hand {by_hand:?}");
}

#[test]
fn reductions_cost_what_they_cost_by_hand() -> Result<(), Error> {
    let by_hand = Scan::<Sum<i32>>::builder().lift(scan!(|x: i32| -> Sum<i32> { Sum(x) })).build()?;
    let derived = Scan::from_loop(scan!(|s: i32, x: i32| -> i32 { s + x }), 0)?;
    assert_as_by_hand(derived.as_dyn(), by_hand.as_dyn());

    let by_hand =
        Scan::<Sum<u32>>::builder().lift(scan!(|c: u8| -> Sum<u32> { Sum(if c == b'\n' { 1 } else { 0 }) })).build()?;
    let derived = Scan::from_loop(scan!(|n: u32, c: u8| -> u32 { if c == b'\n' { n + 1 } else { n } }), 0)?;
    assert_as_by_hand(derived.as_dyn(), by_hand.as_dyn());

    let by_hand = Scan::<Max<f64>>::builder().lift(scan!(|x: f64| -> Max<f64> { Max(x) })).build()?;
    let derived = Scan::from_loop(scan!(|s: f64, x: f64| -> f64 { s.max(x) }), f64::NEG_INFINITY)?;
    assert_as_by_hand(derived.as_dyn(), by_hand.as_dyn());

    let by_hand = Scan::<Affine<f64>>::builder()
        .lift(scan!(|a: f64, b: f64| -> Affine<f64> { Affine { a, b } }))
        .project(scan!(|map: Affine<f64>| -> f64 { map.b }))
        .build()?;
    let derived = Scan::from_loop(scan!(|s: f64, a: f64, b: f64| -> f64 { a * s + b }), 0.0)?;
    assert_as_by_hand(derived.as_dyn(), by_hand.as_dyn());

    let by_hand =
        Scan::<Best<i64>>::builder().lift(wide_best_of {}).project(scan!(|s: Best<i64>| -> i64 { s.best })).build()?;
    let kadane = scan!(|s: (i32, i32), x: i32| -> (i32, i32) { ((s.0 + x).max(0), s.1.max(s.0 + x)) });
    let derived = Scan::loop_builder(kadane, (0, 0)).output(scan!(|s: (i32, i32)| -> i32 { s.1 })).build()?;
    assert_as_by_hand(derived.as_dyn(), by_hand.as_dyn());
    Ok(())
}

#[test]
fn a_machine_in_a_loop_is_the_automaton_of_its_maps() -> Result<(), Error> {
    let by_hand = Scan::<StateMap<4>>::builder()
        .lift(move_of {}.with_table(&moves_of_comments()))
        .project(scan!(|map: StateMap<4>| -> u8 { StateMap::from_start(map) }))
        .build()?;
    let derived = Scan::from_loop(comments {}, 0)?;
    assert_as_by_hand(derived.as_dyn(), by_hand.as_dyn());
    assert!(derived.as_dyn().program().stages[0].automaton);
    assert!(!steps_in_one_pass(derived.as_dyn()));
    Ok(())
}

/// Whether one pass runs the step of the loop, and not what was derived.
fn steps_in_one_pass(scan: &DynScan) -> bool {
    let lowered = lower(scan.program(), Form::default());
    lowered.own_body(lowered.replay(), true).is_some_and(|body| body.ends.is_some())
}

#[test]
fn a_step_of_fewer_instructions_than_its_maps_runs_in_one_pass() -> Result<(), Error> {
    let strings =
        scan!(|s: (bool, bool), c: u8| -> (bool, bool) { (s.0 ^ (c == b'"' && !s.1), c == b'\\' && s.0 && !s.1) });
    assert!(steps_in_one_pass(Scan::from_loop(strings, (false, false))?.as_dyn()));
    Ok(())
}

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    classes[b'/' as usize] = 1;
    classes[b'*' as usize] = 2;
    classes
};
const MOVES: [[u8; 3]; 4] = [[0, 1, 0], [0, 1, 2], [2, 2, 3], [2, 0, 3]];

/// The machine as a table of states and classes of bytes, as lexers are written by hand.
#[test]
fn tables_of_states_and_classes_are_automata() -> Result<(), Error> {
    let step = scan!(|s: u8, c: u8| -> u8 { MOVES[s as usize][CLASSES[c as usize] as usize] });
    let scan = Scan::from_loop(step, 0)?;
    assert!(scan.explain().contains("`s`  table of 4 states"), "{}", scan.explain());
    assert!(scan.as_dyn().program().stages[0].automaton, "{}", scan.explain());
    let text = b"a / b /* c * / **/ d /**/ e /*/ f";
    let expected: Vec<u8> = text
        .iter()
        .scan(0, |s, &c| {
            *s = comments(*s, c);
            Some(*s)
        })
        .collect();
    assert_eq!(scan.inclusive(text)?, expected);
    Ok(())
}
