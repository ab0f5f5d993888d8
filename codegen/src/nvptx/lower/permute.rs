//! Permutations of byte vectors, by the intrinsic that picks four of eight bytes: `prmt`.
//!
//! Its selector is a word of nibbles, so the bytes of two words of indices are first packed into
//! one word of nibbles. Indices below 8 are a selector as they are, and cost three instructions for
//! each four lanes. Of indices below 16 the three low bits pick in both halves of the source, and
//! the fourth picks between the halves, by the same intrinsic. Where indices may be larger still,
//! lanes that have such a one are cleared; of a source with an empty upper half, they read from
//! there.

use monoscan_ir::Type;

use super::swar::{HIGH, spread};
use super::vectors::{clear_beyond, join, pick, words};
use crate::nvptx::emit::Value;

/// Lane i of the result is `from[indices[i]]`, 0 where that is no lane; no index exceeds `highest`.
pub(super) fn permute<'k>(
    source: Type,
    result: Type,
    highest: i128,
    from: Value<'k>,
    indices: Value<'k>,
) -> Option<Value<'k>> {
    if !source.is_vector() || !result.is_vector() {
        return None;
    }
    let from = words(from);
    let mut picked = Vec::new();
    for pair in words(indices).chunks(2) {
        picked.extend(if highest < 8 { pick_near(&from, pair) } else { pick_far(&from, pair, highest) });
    }
    // An index beyond the vector is 0 and has read a lane.
    let cleared = picked.iter().enumerate().map(|(place, &word)| clear_beyond(result, place, word));
    join(&cleared.collect::<Vec<_>>())
}

/// The word at this place, 0 beyond the last: zeros stand above the lanes of a vector in any case.
fn word<'k>(from: &[Value<'k>], place: usize) -> Value<'k> {
    from.get(place).copied().unwrap_or_else(|| from[0].same(0))
}

/// For one or two words of indices below 8.
fn pick_near<'k>(from: &[Value<'k>], pair: &[Value<'k>]) -> Vec<Value<'k>> {
    let selector = nibbles(pair);
    let halves = (0..pair.len()).map(|half| selector >> (16 * half));
    halves.map(|selector| pick(selector.emit(), from[0], word(from, 1), selector)).collect()
}

/// For one or two words of any indices.
fn pick_far<'k>(from: &[Value<'k>], pair: &[Value<'k>], highest: i128) -> Vec<Value<'k>> {
    let wide = from.len() > 2;
    // The highest bit of each lane whose index is 16 or more.
    let outside = |indices: Value<'k>| (((indices & 0x7070_7070) + 0x7070_7070) | indices) & HIGH;
    let below_16: Vec<Value<'k>> = match (highest < 16, wide) {
        (true, _) => pair.to_vec(),
        (false, true) => pair.iter().map(|&indices| indices & 0x0f0f_0f0f).collect(),
        // The upper half is empty: what is outside goes there.
        (false, false) => pair.iter().map(|&indices| (indices & 0x0f0f_0f0f) | (outside(indices) >> 4)).collect(),
    };
    let packed = nibbles(&below_16);
    let within = packed & 0x7777_7777;
    // Lane i of the lower half is byte i, of the upper half byte i + 4.
    let between = ((packed >> 1) & 0x4444_4444) | 0x3210_3210;
    let picked = pair.iter().enumerate().map(|(half, &indices)| {
        let (k, within, between) = (indices.emit(), within >> (16 * half), between >> (16 * half));
        let low = pick(k, from[0], word(from, 1), within);
        let high = if wide { pick(k, from[2], word(from, 3), within) } else { low.same(0) };
        let picked = pick(k, low, high, between);
        if wide && highest >= 16 { picked & !spread(outside(indices)) } else { picked }
    });
    picked.collect()
}

/// The indices of one or two words, each below 16, as nibbles, those of the second word in the upper half.
fn nibbles<'k>(pair: &[Value<'k>]) -> Value<'k> {
    // Bytes 0 and 2 of the sum hold two indices each.
    let doubled: Vec<Value<'k>> = pair.iter().map(|&indices| indices + (indices >> 4)).collect();
    match *doubled.as_slice() {
        [low, high] => pick(low.emit(), low, high, low.same(0x6420)),
        _ => pick(doubled[0].emit(), doubled[0], doubled[0].same(0), doubled[0].same(0x4420)),
    }
}
