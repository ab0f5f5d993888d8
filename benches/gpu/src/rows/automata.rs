//! Automata of 16 states, a state a byte, and a lexer.

use monoscan::Error;
use monoscan::lexer::{LexerTables, Rules};
use monoscan::ops::StateMap;
use monoscan::prelude::*;

use super::numbers::program_of;
use crate::data;
use crate::line::{Line, PERIOD, Periodic, Subject};

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
    let columns = vec![text.clone()];
    let lift = move |place: usize| moves[usize::from(text[place])];
    let combine = |p: StateMap<16>, q: StateMap<16>| StateMap { to: p.to.map(|state| q.to[usize::from(state & 15)]) };
    let meaning = (lift, combine, |_, after: StateMap<16>, _| after.to[0]);
    Ok(Box::new(Line::new(&program_of(&scan), columns, StateMap::identity(), meaning)))
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

/// Where a byte of JSON text leads from a state: 0 between tokens, 1 in a string, 2 behind a backslash, 3 to 6 among four
/// hexadecimal digits, 7 to 14 in a number, 15 in a word.
fn json_move(state: u8, byte: u8) -> u8 {
    let outside = match byte {
        b'"' => 1,
        b'-' => 7,
        b'0' => 8,
        b'1'..=b'9' => 9,
        b'a'..=b'z' => 15,
        _ => 0,
    };
    match (state, byte) {
        (1, b'"') => 0,
        (1, b'\\') => 2,
        (1, _) => 1,
        (2, b'u') => 3,
        (2, _) | (6, _) => 1,
        (3..=5, _) => state + 1,
        (7, b'0') => 8,
        (7 | 9, b'0'..=b'9') => 9,
        (8 | 9, b'.') => 10,
        (10 | 11, b'0'..=b'9') => 11,
        (8 | 9 | 11, b'e' | b'E') => 12,
        (12, b'+' | b'-') => 13,
        (12..=14, b'0'..=b'9') => 14,
        _ => outside,
    }
}

pub(super) fn json(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    let map = |byte| StateMap { to: std::array::from_fn(|state| json_move(state as u8, byte)) };
    states((0..=255).map(map).collect(), data::json(PERIOD))
}

pub(super) fn lexer(_seed: u64) -> Result<Box<dyn Subject>, Error> {
    let tables = LexerTables::new(&Rules::json()).expect("the rules of JSON are exact in one pass");
    let text = data::json(PERIOD);
    // Periods follow each other, and end between two tokens.
    let mut expected = tables.label_sequentially(&[&text[..], &text[..]].concat());
    expected.truncate(PERIOD);
    let (program, columns) = (tables.program(), vec![text.clone()]);
    let end = move |place: usize| tables.label_sequentially(&text[..=place]).pop();
    Ok(Box::new(Periodic { program, columns, expected, kept: |records| records, end }))
}
