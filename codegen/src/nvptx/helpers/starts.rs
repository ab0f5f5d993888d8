//! Records looked up by number: the start of each segment beside all its records, or what an
//! algorithm asks for by places.
//!
//! A thread looks at one record. Numbers past the last state are taken for that of the last.

use super::spacing::{PIECES, copy};
use super::{argument, thread_of_launch};
use crate::nvptx::emit::{Builder, Ty};
use bytemuck::{Pod, Zeroable};

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
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

pub(super) fn write(k: &Builder) {
    let record = thread_of_launch(k);
    k.when(record.below(argument!(k, StartsArguments.records)), || {
        let numbers = argument!(k, StartsArguments.numbers).as_global();
        let number = numbers.byte(record * 4).load(Ty::I32, 4).resize(Ty::I64);
        let number = number.umin(argument!(k, StartsArguments.count) - 1);
        let bytes = argument!(k, StartsArguments.bytes);
        let (states, starts) = (argument!(k, StartsArguments.states), argument!(k, StartsArguments.starts));
        let (from, to) = (states.as_global().byte(number * bytes), starts.as_global().byte(record * bytes));
        copy(k, states | starts | bytes, (from, to, bytes), &PIECES);
    });
}
