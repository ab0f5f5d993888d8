//! Tiles whose last elements begin a segment, or lead all states of an automaton to one: these
//! alone are reduced then. Beside them are tiles that have to be reduced whole.

use monoscan::PlanOptions;
use monoscan::ops::{Max, Segmented, StateMap, Sum};
use monoscan::prelude::*;

/// Elements of a tile: 64 and 256 of its last elements are looked at.
const TILE: usize = 4096;

/// Heads where a tile's first or last look just finds one and just does not; many; one at the start of a few tiles; none.
fn patterns(len: usize) -> Vec<Vec<bool>> {
    let from_end = [1, 63, 64, 65, 255, 256, 257, TILE - 1, TILE];
    let at_ends = from_end.map(|distance| (0..len).map(|place| place % TILE == TILE - distance).collect());
    let every = [1, 3, 50, 700, 3 * TILE, len].map(|step| (0..len).map(|place| place % step == 0).collect());
    at_ends.into_iter().chain(every).chain([vec![false; len]]).collect()
}

fn plan() -> PlanOptions {
    PlanOptions { interleave: Some(1), block: Some(TILE), strips: Some(1), direct: Some(0), ..PlanOptions::default() }
}

/// The results of a plain loop, and the last state.
fn by_hand(heads: &[bool], x: &[i32], init: i32, of: impl Fn(i32, i32) -> i32) -> (Vec<i32>, i32) {
    let mut state = init;
    let each = heads.iter().zip(x).map(|(&head, &x)| {
        state = if head { x } else { of(state, x) };
        state
    });
    (each.collect(), state)
}

fn numbers(len: usize) -> Vec<i32> {
    (0..len as u32).map(|place| (place.wrapping_mul(2_654_435_761) >> 8) as i32 - (1 << 23)).collect()
}

#[test]
fn segments_of_the_users_own_operator_go_on_from_tile_to_tile() {
    let len = 9 * TILE + 700;
    let x = numbers(len);
    for threads in [1, 2, 3] {
        let sums = Scan::<Segmented<Sum<i32>>>::builder()
            .lift(scan!(|start: bool, x: i32| -> Segmented<Sum<i32>> { Segmented { start, value: Sum(x) } }))
            .project(scan!(|segment: Segmented<Sum<i32>>| -> i32 { segment.value.0 }))
            .plan(plan())
            .threads(threads)
            .build()
            .unwrap();
        assert!(sums.explain_verbose().contains("restarts:"), "{}", sums.explain_verbose());
        for heads in patterns(len) {
            let (expected, last) = by_hand(&heads, &x, 0, i32::wrapping_add);
            assert_eq!(sums.inclusive((&heads[..], &x[..])).unwrap(), expected, "{threads} threads");
            let total = sums.reduce((&heads[..], &x[..])).unwrap();
            assert_eq!((total.start, total.value.0), (heads.contains(&true), last), "{threads} threads");
        }
    }
}

#[test]
fn segments_of_a_call_go_on_from_tile_to_tile_in_both_directions() {
    let len = 9 * TILE + 700;
    let x = numbers(len);
    let records: Vec<Max<i32>> = x.iter().map(|&x| Max(x)).collect();
    for threads in [1, 2, 3] {
        let scan = Scan::<Max<i32>>::builder().plan(plan()).threads(threads).build().unwrap();
        for heads in patterns(len) {
            let (expected, last) = by_hand(&heads, &x, i32::MIN, i32::max);
            let found = scan.request().segmented(&heads[..]).inclusive(&records[..]).unwrap();
            assert!(found.iter().map(|max| max.0).eq(expected), "{threads} threads");
            assert_eq!(scan.request().segmented(&heads[..]).reduce(&records[..]).unwrap().0, last);

            // A run of a reversed scan begins where a segment ends.
            let ends: Vec<bool> = (1..=len).rev().map(|after| heads.get(after) == Some(&true)).collect();
            let backwards: Vec<i32> = x.iter().rev().copied().collect();
            let (expected, _) = by_hand(&ends, &backwards, i32::MIN, i32::max);
            let found = scan.request().segmented(&heads[..]).reversed().inclusive(&records[..]).unwrap();
            assert!(found.iter().rev().map(|max| max.0).eq(expected), "{threads} threads, reversed");
        }
    }
}

#[scan_fn]
fn move_of(moves: Table<StateMap<16>>, symbol: u8) -> StateMap<16> {
    moves.get(symbol as u32)
}

/// Symbols 0 to 2 turn the states by so many, so that no text of them forgets its start; 3 to 18 lead all states to one.
fn turns_and_resets() -> Vec<StateMap<16>> {
    let turn = |by: u8| StateMap { to: std::array::from_fn(|state| (state as u8 + by) % 16) };
    (0..3).map(turn).chain((0..16).map(|to| StateMap { to: [to; 16] })).collect()
}

#[test]
fn automata_forget_what_was_before_a_constant_map() {
    let len = 9 * TILE + 700;
    let moves = turns_and_resets();
    for threads in [1, 2, 3] {
        let scan = Scan::<StateMap<16>>::builder()
            .lift(move_of {}.with_table(&moves))
            .project(scan!(|map: StateMap<16>| -> u8 { StateMap::from_start(map) }))
            .plan(plan())
            .threads(threads)
            .build()
            .unwrap();
        assert!(scan.explain_verbose().contains("restarts:"), "{}", scan.explain_verbose());
        for resets in patterns(len) {
            let symbol = |(reset, x): (&bool, i32)| if *reset { 3 + (x & 15) as u8 } else { (x & 3).min(2) as u8 };
            let text: Vec<u8> = resets.iter().zip(numbers(len)).map(symbol).collect();
            let mut map = StateMap { to: std::array::from_fn(|state| state as u8) };
            let expected = text.iter().map(|&symbol| {
                map.to = map.to.map(|state| moves[symbol as usize].to[state as usize]);
                map.to[0]
            });
            let expected: Vec<u8> = expected.collect();
            assert_eq!(scan.inclusive(&text[..]).unwrap(), expected, "{threads} threads");
            assert_eq!(scan.reduce(&text[..]).unwrap().to, map.to, "{threads} threads");
        }
    }
}
