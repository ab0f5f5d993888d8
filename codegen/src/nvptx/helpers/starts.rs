//! Records looked up by number: the start of each segment beside all its records, or what an
//! algorithm asks for by places.
//!
//! A thread looks at one record. Numbers past the last state are taken for that of the last.

use super::spacing::{PIECES, copy};
use super::{bytes_of_words, thread_of_launch, word};
use crate::nvptx::emit::{Builder, Ty, Value};

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartsArguments {
    /// How many records. There is a thread for each at least.
    pub records: u64,
    /// Where the number of each record's segment is, a `u32` each.
    pub numbers: u64,
    /// Where the states of segments are, one after the other.
    pub states: u64,
    /// How many there are, at least one.
    pub count: u64,
    /// Bytes of a state.
    pub bytes: u64,
    /// Where the column of starts is to be, a state for each record.
    pub starts: u64,
}

impl StartsArguments {
    /// Bytes of all arguments.
    pub const BYTES: usize = 48;
    const RECORDS: usize = 0;
    const NUMBERS: usize = 8;
    const STATES: usize = 16;
    const COUNT: usize = 24;
    const STATE_BYTES: usize = 32;
    const STARTS: usize = 40;

    /// As the kernel takes them.
    pub fn to_bytes(&self) -> [u8; StartsArguments::BYTES] {
        let words = [self.records, self.numbers, self.states, self.count, self.bytes, self.starts];
        bytes_of_words(words)
    }
}

pub(super) fn write<'k>(k: &'k Builder) {
    let word = |offset: usize| word(k, offset);
    let at = |offset: usize, place: Value<'k>| word(offset).as_global().byte(place);
    let record = thread_of_launch(k);
    k.when(record.below(word(StartsArguments::RECORDS)), || {
        let number = at(StartsArguments::NUMBERS, record * 4).load(Ty::I32, 4).resize(Ty::I64);
        let number = number.umin(word(StartsArguments::COUNT) - 1);
        let bytes = word(StartsArguments::STATE_BYTES);
        let multiples = word(StartsArguments::STATES) | word(StartsArguments::STARTS) | bytes;
        let (from, to) = (at(StartsArguments::STATES, number * bytes), at(StartsArguments::STARTS, record * bytes));
        copy(k, multiples, (from, to, bytes), &PIECES);
    });
}
