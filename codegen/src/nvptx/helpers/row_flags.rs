//! Flags of rows that lie one after the other: a byte for each record, 1 for the first of a row.
//!
//! A thread makes sixteen of them.

use super::{argument, thread_of_launch};
use crate::nvptx::emit::{Builder, Ty};
use bytemuck::{Pod, Zeroable};

/// Flags that a thread makes.
pub const FLAGS_OF_THREAD: usize = 16;

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RowFlagsArguments {
    /// How many threads make [flags](FLAGS_OF_THREAD).
    pub threads: u64,
    /// Records of a row, at least one, below 2³¹.
    pub records: u64,
    /// Where flags are to be, at a multiple of 16.
    pub flags: u64,
}

pub(super) fn write(k: &Builder) {
    let thread = thread_of_launch(k);
    k.when(thread.below(argument!(k, RowFlagsArguments.threads)), || {
        let records = argument!(k, RowFlagsArguments.records);
        let first = thread * FLAGS_OF_THREAD;
        let row = first.udiv(records);
        let (mut place, records) = ((first - row * records).resize(Ty::I32), records.resize(Ty::I32));
        let flags = argument!(k, RowFlagsArguments.flags).as_global().byte(first);
        for word in 0..FLAGS_OF_THREAD / 8 {
            let mut bytes = k.i64(0);
            for byte in 0..8 {
                let flag = place.is(k.i32(0)).select(k.i64(1 << (8 * byte)), k.i64(0));
                bytes = bytes | flag;
                let next = place + 1usize;
                place = next.is(records).select(k.i32(0), next);
            }
            flags.at(8 * word).store(bytes, 8);
        }
    });
}
