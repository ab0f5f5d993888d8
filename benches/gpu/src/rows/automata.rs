//! Automata of 16 states, a state a byte, and lexers.

use monoscan::Error;
use monoscan::lexer::{ENDS, LexerTables, Rules};
use monoscan::ops::StateMap;
use monoscan::prelude::*;
use monoscan_ir::{Program, Verified};

use super::numbers::program_of;
use crate::line::{Line, PERIOD, Periodic, Subject};
use scan_kit::json;

use bench_shared::data;

/// Where each byte leads from each state.
type Moves = Vec<StateMap<16>>;

#[scan_fn]
fn move_of(moves: Table<StateMap<16>>, byte: u8) -> StateMap<16> {
    moves.get(byte as u32)
}

fn states(moves: Moves, text: Vec<u8>) -> Result<Box<dyn Subject>, Error> {
    let scan = Scan::<StateMap<16>>::builder()
        .lift(move_of {}.with_table(&moves))
        .project(scan!(|map: StateMap<16>| -> u8 { StateMap::from_start(map) }))
        .build()?;
    Ok(states_by(&program_of(&scan), moves, text))
}

fn states_by(program: &Verified<Program>, moves: Moves, text: Vec<u8>) -> Box<dyn Subject> {
    let columns = vec![text.clone()];
    let lift = move |place: usize| moves[usize::from(text[place])];
    let combine = |p: StateMap<16>, q: StateMap<16>| StateMap { to: p.to.map(|state| q.to[usize::from(state & 15)]) };
    let meaning = (lift, combine, |_, after: StateMap<16>, _| after.to[0]);
    Box::new(Line::new(program, columns, StateMap::identity(), meaning))
}

/// Half of the bytes keep states apart, so that the state long before matters.
pub(super) fn random(seed: u64) -> Result<Box<dyn Subject>, Error> {
    let moves = data::column(seed, 256, |numbers| StateMap { to: std::array::from_fn(|_| numbers.below(16) as u8) });
    let mut text: Vec<u8> = data::column(seed + 1, PERIOD, |numbers| numbers.bits() as u8);
    let turn = |byte: u8| StateMap { to: std::array::from_fn(|state| (state as u8 * 5 + byte) & 15) };
    let moves = moves.into_iter().zip(0u8..=255).map(|(any, byte)| if byte < 128 { turn(byte) } else { any }).collect();
    // Long stretches of the former: few bytes of the latter bring all states together.
    data::column(seed + 2, PERIOD, |numbers| numbers.below(512) == 0)
        .into_iter()
        .zip(&mut text)
        .filter(|(mixes, _)| !mixes)
        .for_each(|(_, byte)| *byte &= 127);
    states(moves, text)
}

/// The moves of an automaton for each byte.
fn moves_of(next: fn(u8, u8) -> u8) -> Moves {
    let map = |byte| StateMap { to: std::array::from_fn(|state| next(state as u8, byte)) };
    (0..=255).map(map).collect()
}

/// Over JSON text, by the moves of an automaton.
fn of_json(next: fn(u8, u8) -> u8) -> Result<Box<dyn Subject>, Error> {
    states(moves_of(next), data::json(PERIOD))
}

/// Where a byte leads from a state: rows of 256.
#[scan_fn]
fn next_of(next: Table<u8>, state: u8, byte: u8) -> u8 {
    next.get(state as u32 * 256 + byte as u32)
}

/// The automaton of [`json_tokens`] as a loop with a table of states and bytes.
pub(super) fn json_tokens_loop(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    let next: Vec<u8> = (0..16).flat_map(|state| (0..=255).map(move |byte| json::tokens(state, byte))).collect();
    let scan = Scan::from_loop(next_of {}.with_table(&next), 0)?;
    Ok(states_by(&program_of(&scan), moves_of(json::tokens), data::json(PERIOD)))
}

pub(super) fn json_tokens(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    of_json(json::tokens)
}

pub(super) fn json_numbers(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    of_json(json::numbers)
}

pub(super) fn lexer_labels(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    let tables = LexerTables::new(&Rules::json()).expect("the rules of JSON are exact in one pass");
    let text = data::json(PERIOD);
    // Periods follow each other, and end between two tokens.
    let mut expected = tables.label_sequentially(&[&text[..], &text[..]].concat());
    expected.truncate(PERIOD);
    let (program, columns) = (tables.program(), vec![text.clone()]);
    let end = move |place: usize| tables.label_sequentially(&text[..=place]).pop();
    Ok(Box::new(Periodic { program, columns, expected, later: |label, _| label, kept: |bytes| bytes, end }))
}

/// The entry of a byte that ends a token: the place behind it, counted from the beginning of the text, and the token's code.
fn ending((place, label): (usize, u8)) -> Option<u64> {
    (label & ENDS != 0).then(|| end_at(place + 1) | u64::from(label & !ENDS))
}

/// The number that listing a token adds for its end.
fn end_at(place: usize) -> u64 {
    (place as u64) << 16
}

/// Every token's end, wherever the line ends: there is always a token that ends with it.
pub(super) fn lexer_tokens(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    tokens_of(data::json(PERIOD))
}

/// The same of a text with longer tokens.
pub(super) fn lexer_tokens_of_strings(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    tokens_of(data::json_of_strings(PERIOD))
}

fn tokens_of(text: Vec<u8>) -> Result<Box<dyn Subject>, Error> {
    let tables = LexerTables::new(&Rules::json()).expect("the rules of JSON are exact in one pass");
    let mut labels = tables.label_sequentially(&[&text[..], &text[..]].concat());
    labels.truncate(PERIOD);
    let expected: Vec<u64> = labels.iter().copied().enumerate().filter_map(ending).collect();
    let (program, columns) = (tables.token_program(), vec![text.clone()]);
    let later = |ending, periods| ending + end_at(periods * PERIOD);
    let kept = move |bytes: usize| match bytes.checked_sub(1) {
        Some(last) => labels[..last].iter().filter(|&label| label & ENDS != 0).count() + 1,
        None => 0,
    };
    let end = move |place: usize| ending((place, tables.label_sequentially(&text[..=place]).pop()?));
    Ok(Box::new(Periodic { program, columns, expected, later, kept, end }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// How many transition maps an automaton has, and the size of their transition monoid.
    fn letters_and_maps(next: fn(u8, u8) -> u8) -> (usize, usize) {
        let map_of_byte = |byte| std::array::from_fn(|state| next(state as u8, byte));
        let maps_of_bytes: HashSet<[u8; 16]> = (0..=255).map(map_of_byte).collect();
        let identity: [u8; 16] = std::array::from_fn(|state| state as u8);
        let (mut maps, mut new) = (HashSet::from([identity]), vec![identity]);
        while let Some(map) = new.pop() {
            for map_of_byte in &maps_of_bytes {
                let then = map.map(|state| map_of_byte[usize::from(state)]);
                if maps.insert(then) {
                    new.push(then);
                }
            }
        }
        (maps_of_bytes.len(), maps.len())
    }

    /// Only the first has so few that CUB's operator can look products up in a table of bytes by bytes.
    #[test]
    fn automata_have_as_many_maps_as_their_rows_say() {
        assert_eq!(letters_and_maps(json::tokens), (15, 138));
        assert_eq!(letters_and_maps(json::numbers), (12, 29_523));
    }
}
