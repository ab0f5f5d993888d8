//! Four bytes in a word, and how they are moved between words.
//!
//! An integer is the whole of its byte. Of a `bool` the lowest bit of the byte counts, the others
//! may be anything: so the bit of an integer is one after a shift.

use std::iter::zip;

use monoscan_ir::{Constant, Type};

use super::code::is_nonzero;
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::lower;

/// Four values of one type in a 32-bit register, the first one lowest.
pub(super) type Word<'k> = Value<'k>;

/// A one in each byte: as a factor it puts a byte into all four.
pub(super) const ONES: usize = 0x0101_0101;

/// Four times this constant of a byte.
pub(super) fn constant(k: &Builder, value: Constant) -> Word<'_> {
    k.i32((value.bits() as usize & 0xff) * ONES)
}

/// Four times this value.
pub(super) fn splat(value: Value<'_>) -> Word<'_> {
    value.resize(Ty::I32) * ONES
}

/// The first of the four.
pub(super) fn first(word: Word<'_>, ty: Type) -> Value<'_> {
    word.resize(lower::ty(ty))
}

/// Four values as they are in memory.
pub(super) fn from_memory(bytes: Value<'_>, ty: Type) -> Word<'_> {
    if ty == Type::Bool { is_nonzero(bytes, 0xff) } else { bytes }
}

/// The bytes that four values have in memory.
pub(super) fn to_memory(word: Word<'_>, ty: Type) -> Value<'_> {
    if ty == Type::Bool { word & ONES } else { word }
}

/// Bytes of two words, those of the second numbered from 4: the last digit of the selector is the lowest byte.
pub(super) fn pick<'k>(first: Word<'k>, second: Word<'k>, selector: usize) -> Word<'k> {
    let k = first.emit();
    k.intrinsic(Ty::I32, "scan.pick_bytes", &[first, second, k.i32(selector)])
}

fn pick_each<'k>(first: &[Word<'k>], second: &[Word<'k>], selector: usize) -> Vec<Word<'k>> {
    zip(first, second).map(|(&first, &second)| pick(first, second, selector)).collect()
}

/// The earlier of each two neighbours.
pub(super) fn earlier<'k>(first: &[Word<'k>], second: &[Word<'k>]) -> Vec<Word<'k>> {
    pick_each(first, second, 0x6420)
}

/// The later of each two neighbours.
pub(super) fn later<'k>(first: &[Word<'k>], second: &[Word<'k>]) -> Vec<Word<'k>> {
    pick_each(first, second, 0x7531)
}

/// Each value one place further on; the first place is filled.
pub(super) fn one_on<'k>(words: &[Word<'k>], fill: &[Word<'k>]) -> Vec<Word<'k>> {
    pick_each(words, fill, 0x2104)
}

/// Each value two places further on; the first two places are filled.
pub(super) fn two_on<'k>(words: &[Word<'k>], fill: &[Word<'k>]) -> Vec<Word<'k>> {
    pick_each(words, fill, 0x1044)
}

/// Four times the last value.
pub(super) fn last(word: Word<'_>) -> Word<'_> {
    pick(word, word, 0x3333)
}
