//! Whether bytes are UTF-8.
//!
//! A decoder has nine states: between characters; one, two or three bytes still to come; four in
//! which the second byte has a smaller range, so that no character is written too long, is a
//! surrogate, or is beyond U+10FFFF (Unicode, table 3-7); and the one for errors, which is never
//! left. Each byte maps states to states, and maps compose: Ladner and Fischer 1980. The text is
//! right if state 0 goes to state 0. Only if not, a second pass looks for where it goes wrong.
//!
//! ```text
//! monoid   StateMap<9>: one permutation of bytes composes two
//! program  byte ↦ its map, from a table of 256
//! cost     work n, depth 1 reduction, 1 pass
//! ```

use super::super::{AlgoError, compiled};
use crate::ops::StateMap;
use crate::prelude::*;

/// Between characters.
const DONE: u8 = 0;
/// After `E0`, `ED`, `F0` and `F4`, whose second bytes are not all continuations.
const AFTER_E0: u8 = 4;
const AFTER_ED: u8 = 5;
const AFTER_F0: u8 = 6;
const AFTER_F4: u8 = 7;
const WRONG: u8 = 8;

/// Where a byte takes each state.
fn map(byte: u8) -> StateMap<9> {
    let first = match byte {
        0..=0x7f => DONE,
        0xc2..=0xdf => 1,
        0xe0 => AFTER_E0,
        0xed => AFTER_ED,
        0xe1..=0xef => 2,
        0xf0 => AFTER_F0,
        0xf1..=0xf3 => 3,
        0xf4 => AFTER_F4,
        _ => WRONG,
    };
    // So many bytes are left if the byte is in the range.
    let then = |range: std::ops::RangeInclusive<u8>, left| if range.contains(&byte) { left } else { WRONG };
    let any = 0x80..=0xbf;
    let to = [
        first,
        then(any.clone(), DONE),
        then(any.clone(), 1),
        then(any, 2),
        then(0xa0..=0xbf, 1),
        then(0x80..=0x9f, 1),
        then(0x90..=0xbf, 2),
        then(0x80..=0x8f, 2),
        WRONG,
    ];
    StateMap { to }
}

#[scan_fn]
fn step(maps: Table<StateMap<9>>, byte: u8) -> StateMap<9> {
    maps.get(byte as u32)
}

#[scan_fn]
fn goes_wrong(e: Element<u8, StateMap<9>>) -> bool {
    StateMap::from_start(e.after) == WRONG && StateMap::from_start(e.before) != WRONG
}

#[scan_fn]
fn place_and_state(e: Element<u8, StateMap<9>>) -> (u64, u8) {
    (e.index, StateMap::from_start(e.before))
}

/// Checks that bytes are UTF-8, as [`std::str::from_utf8`] does.
///
/// ```
/// use monoscan::algo::{AlgoError, text::check_utf8};
/// assert!(check_utf8("σκαν".as_bytes()).is_ok());
/// assert!(matches!(check_utf8(b"ab\xc3("), Err(AlgoError::InvalidUtf8 { valid_up_to: 2 })));
/// ```
///
/// # Errors
/// [`AlgoError::InvalidUtf8`] with the bytes that are right before the first character that is not.
pub fn check_utf8(text: &[u8]) -> Result<(), AlgoError> {
    let scan = compiled(|| {
        let maps: Vec<StateMap<9>> = (0..=255).map(map).collect();
        let decoder = Scan::<StateMap<9>>::builder().lift(step {}.with_table(&maps));
        decoder.filter(goes_wrong {}).project_at(place_and_state {}).build()
    })?;
    let (place, before) = match scan.reduce(text)?.from_start() {
        DONE => return Ok(()),
        WRONG => match scan.inclusive(text)?[..] {
            [(place, before), ..] => (place as usize, before),
            [] => unreachable!("the error is entered somewhere"),
        },
        unfinished => (text.len(), unfinished),
    };
    // A character that was begun is wrong from its first byte on.
    let is_first = |&place: &usize| !(0x80..=0xbf).contains(&text[place]);
    let begun = (0..place).rev().find(is_first).unwrap_or(0);
    Err(AlgoError::InvalidUtf8 { valid_up_to: if before == DONE { place } else { begun } })
}
