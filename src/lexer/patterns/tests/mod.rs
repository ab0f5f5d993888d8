//! Automata of patterns: their sizes, and their walks and scans, whichever of both a set takes.

mod anchors;
mod definition;

use monoscan_runtime::{Call, Column, ColumnMut, DynScan};
use regex_syntax::hir::Hir;
use scan_kit::Random;

use super::super::subsets::{Bounds, all_matches};
use super::*;

fn automaton(patterns: &[&str]) -> Automaton {
    let regexes: Vec<Hir> = patterns.iter().map(|pattern| parsed(0, pattern).expect("it parses")).collect();
    Automaton::new(&regexes).expect("it is small")
}

/// Places by a loop over the automaton's steps.
fn by_steps(automaton: &Automaton, text: &[u8]) -> Vec<u64> {
    let mut state = 0;
    let places = (0..=text.len()).map(|end| {
        let follows = text.get(end).copied();
        let set = automaton.set(state, follows);
        state = follows.map_or(state, |byte| automaton.next(state, byte));
        (end as u64, set)
    });
    places.filter(|&(_, set)| set != 0).map(|(end, set)| place(end, set)).collect()
}

/// By walks, by the scan that packs places and by that of columns, which is for texts on devices.
fn by_all_ways(automaton: &Automaton, text: &[u8]) -> [Vec<u64>; 3] {
    let start = automaton.set_at_start(text.first().copied());
    let with_start = |found: Vec<u64>| match start {
        0 => found,
        set => [vec![place(0, set)], found].concat(),
    };
    let scan = |places| {
        DynScan::builder(program(automaton, places).expect("it is small")).build().expect("the CPU has no bound")
    };
    let packed = scan(Places::Packed).inclusive(&[Column::new(text)]).expect("it is short");
    let (mut ends, mut sets) = (vec![0u32; text.len()], vec![0u16; text.len()]);
    let mut columns = [ColumnMut::new(&mut ends[..]), ColumnMut::new(&mut sets[..])];
    let places = scan(Places::Columns).run(&Call::default(), &[Column::new(text)], &mut columns).expect("it is short");
    let columns = ends.iter().zip(&sets).take(places).map(|(&end, &set)| place(end.into(), set)).collect();
    let walked = walked(automaton, &automaton.walk(), text).expect("it is short");
    [walked, with_start(packed), with_start(columns)]
}

#[test]
fn a_scan_has_256_states_at_most() {
    let of_bytes = automaton(&["(?s:[^ab])", "a", "b"]);
    assert!(program(&of_bytes, Places::Packed).is_ok());
    let large = automaton(&["(?s:a.{7}b)"]);
    let error = program(&large, Places::Packed).expect_err("it has more states");
    let PatternSetError::TooManyScannedStates { states } = error else { panic!("{error}") };
    assert!(states == large.states && states > MAX_SCANNED_STATES, "{states}");
}

/// Those of more than 32 states are for GPUs; here the CPU runs them.
#[test]
fn scans_of_all_sizes_find_what_steps_find() {
    let bytes: Vec<String> = (0..255).map(|byte| format!("\\x{byte:02x}")).collect();
    let bytes: Vec<&str> = bytes.iter().map(|byte| &byte[..]).collect();
    for (patterns, states) in [(&["a"][..], 2), (&["(?s:a.{4}b)", "bb"], 80), (&bytes, 256)] {
        let automaton = automaton(patterns);
        assert_eq!(automaton.states, states);
        let mut random = Random(89);
        let text: Vec<u8> = (0..5000).map(|_| [b'a', b'b', random.below(256) as u8][random.below(3)]).collect();
        let expected = by_steps(&automaton, &text);
        by_all_ways(&automaton, &text).into_iter().for_each(|found| assert_eq!(found, expected));
    }
}

/// `abc` has four states, and three classes of its letters and one of the other bytes.
#[test]
fn bounds_are_those_of_states_and_of_the_table() {
    let regexes = [parsed(0, "abc").expect("it parses")];
    let fits = |states, cells| all_matches(&regexes, Bounds { states, cells }).is_ok();
    assert!(fits(4, 20));
    assert!(!fits(3, 20));
    assert!(!fits(4, 19));
}

/// Only patterns that look ahead tell what follows apart; anchors and boundaries in front are told by the first states.
#[test]
fn the_kinds_of_what_follows_are_as_many_as_patterns_need() {
    for (patterns, kinds) in [
        (&["ab", r"\Aa", r"(?m:^)a", r"\ba"][..], 1),
        (&["a$"], 2),
        (&[r"a\z", "b$"], 2),
        (&["(?m)a$"], 2),
        (&["(?m:a$)", "a$"], 3),
        (&[r"a\b"], 2),
        (&[r"[a ]\b", r"[a ]\B"], 2),
        (&[r"a\b", "a$"], 3),
        (&["(?mR:a$)", "a$", r"a\b"], 4),
    ] {
        assert_eq!(automaton(patterns).kinds.count, kinds, "{patterns:?}");
    }
}
