//! Maps between at most eight states, as a word: nibble i says where state i is led.
//!
//! Such a word is two selectors of the intrinsic that picks four of eight bytes, so another map
//! can be put behind it by two picks. That has in byte i where state i is led, and in the upper
//! half of the byte where state i + 4 is: shifted by a nibble, it is the other four bytes to
//! pick from. Upper halves of what is picked mean nothing, and make room: the second four go
//! there. So nothing is ever packed, and no step waits for memory. Each puts the first four
//! states in the even nibbles and the others in the odd ones, which rotates the three bits of a
//! nibble's place: after three maps all are in place again.

use monoscan_ir::Type;

use super::vectors::{clear_beyond, join, pick};
use crate::nvptx::emit::{Builder, Value};

/// Each state in a byte, as maps have it that are put behind others.
const EACH: usize = 0x7362_5140;

/// The halves of bytes.
const LOWER: usize = 0x0f0f_0f0f;
const UPPER: usize = 0xf0f0_f0f0;

/// Maps after which nibbles are in place again.
const ROUND: usize = 3;

/// The map that leads each state to itself.
pub(crate) fn identity(k: &Builder) -> Value<'_> {
    k.i32(0x7654_3210)
}

/// A map, and then these, one after the other.
pub(crate) fn composed<'k>(map: Value<'k>, then: &[Value<'k>]) -> Value<'k> {
    let k = map.emit();
    let missing = then.len().next_multiple_of(ROUND) - then.len();
    let then = then.iter().copied().chain(std::iter::repeat_n(k.i32(EACH), missing));
    then.fold(map, |map, then| {
        let [low, high] = [map, map >> 16].map(|states| pick(k, then, then >> 4, states));
        (low & LOWER) | ((high << 4) & UPPER)
    })
}

/// The map as a vector of this type.
pub(crate) fn vector<'k>(map: Value<'k>, ty: Type) -> Option<Value<'k>> {
    let k = map.emit();
    let halves =
        (0..ty.size().div_ceil(4)).map(|half| pick(k, k.i32(0x0302_0100), k.i32(0x0706_0504), map >> (16 * half)));
    let halves = halves.enumerate().map(|(half, word)| clear_beyond(ty, half, word));
    join(&halves.collect::<Vec<Value<'k>>>())
}
