//! Maps between at most eight states, as a word: nibble i says where state i is led.
//!
//! Such a word is two selectors of the intrinsic that picks four of eight bytes: of the bytes that
//! say where a later map leads each state, it picks those of the states that it leads to itself. So
//! maps are composed from the last one on, two picks for each, and what is picked from is a byte
//! for each state all along. It becomes a word of nibbles once, when the first map has picked.

use monoscan_ir::Type;

use super::vectors::{clear_beyond, join, pick};
use crate::nvptx::emit::{Builder, Value};

/// The first four states and the others, each in a byte.
const STATES: [usize; 2] = [0x0302_0100, 0x0706_0504];

/// Of two words the even bytes.
const EVEN: usize = 0x6420;

/// The map that leads each state to itself.
pub(crate) fn identity(k: &Builder) -> Value<'_> {
    k.i32(0x7654_3210)
}

/// A map, and then these, one after the other.
pub(crate) fn composed<'k>(map: Value<'k>, then: &[Value<'k>]) -> Value<'k> {
    let k = map.emit();
    let from_last = then.iter().rev().copied().chain([map]);
    let [low, high] = from_last.fold(STATES.map(|word| k.i32(word)), |[low, high], map| {
        [map, map >> 16].map(|selector| pick(k, low, high, selector))
    });
    let [low, high] = [low, high].map(|bytes| bytes | (bytes >> 4));
    pick(k, low, high, k.i32(EVEN))
}

/// The map as a vector of this type.
pub(crate) fn vector<'k>(map: Value<'k>, ty: Type) -> Option<Value<'k>> {
    let k = map.emit();
    let [low, high] = STATES.map(|word| k.i32(word));
    let halves = (0..ty.size().div_ceil(4)).map(|half| pick(k, low, high, map >> (16 * half)));
    let halves = halves.enumerate().map(|(half, word)| clear_beyond(ty, half, word));
    join(&halves.collect::<Vec<Value<'k>>>())
}
