//! Four bytes in a 32-bit word: arithmetic on each lane by instructions on the word.
//!
//! Carries between lanes are kept out by the ways of Lamport (Multiple byte processing with
//! full-word instructions, 1975): the highest bit of each lane is worked on apart.

use crate::nvptx::emit::Value;

/// The highest bit of each lane of a word.
pub(crate) const HIGH: usize = 0x8080_8080;

/// The other bits of each lane.
pub(crate) const LOW: usize = 0x7f7f_7f7f;

/// 0xff in each lane whose highest bit is set, 0 in the others; `flags` has no other bits.
pub(crate) fn spread(flags: Value<'_>) -> Value<'_> {
    (flags - (flags >> 7)) | flags
}

pub(crate) fn add<'k>(a: Value<'k>, b: Value<'k>) -> Value<'k> {
    ((a & LOW) + (b & LOW)) ^ ((a ^ b) & HIGH)
}

pub(crate) fn sub<'k>(a: Value<'k>, b: Value<'k>) -> Value<'k> {
    ((a | HIGH) - (b & LOW)) ^ ((a ^ !b) & HIGH)
}

/// The highest bit of each lane set where a ≥ b without signs, all other bits 0; `small` if no lane is above 127.
pub(crate) fn at_least<'k>(a: Value<'k>, b: Value<'k>, small: bool) -> Value<'k> {
    // Among the low bits of lanes: the difference keeps the bit that was added.
    let low = (a | HIGH) - (b & LOW);
    if small {
        return low & HIGH;
    }
    ((a & !b) | (!(a ^ b) & low)) & HIGH
}

/// `flags` has the highest bits of lanes: a where it is set, else b.
pub(crate) fn choose<'k>(flags: Value<'k>, a: Value<'k>, b: Value<'k>) -> Value<'k> {
    b ^ ((a ^ b) & spread(flags))
}
