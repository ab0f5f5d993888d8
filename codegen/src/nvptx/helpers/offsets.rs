//! Offsets as flags: a kernel that flags the head of each segment between offsets, in a column of
//! zeros, and writes the segment's number beside its first record, in another one, if that is asked
//! for.
//!
//! A thread looks at one segment. One without records has no head, so no two threads write the same
//! flag, unless what they read are no offsets.

use super::{argument, thread_of_launch};
use crate::nvptx::emit::{Builder, Ty, Value};
use bytemuck::{Pod, Zeroable};

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OffsetsArguments {
    /// How many segments, one less than there are offsets. There is a thread for each at least.
    pub segments: u64,
    /// How many records, and flags.
    pub records: u64,
    /// Where the offsets are.
    pub offsets: u64,
    /// Where the flags are, a byte each.
    pub flags: u64,
    /// Where the numbers are, a `u32` each: one more than the segment's own. 0 if none are asked for.
    pub numbers: u64,
    /// 1 if segments are scanned from their ends, so that these are their heads, else 0.
    pub reversed: u64,
    /// 1 if offsets are `u64`, 0 if they are `u32`.
    pub wide: u64,
}

pub(super) fn write(k: &Builder) {
    let none = k.i64(0);
    let segment = thread_of_launch(k);
    k.when(segment.below(argument!(k, OffsetsArguments.segments)), || {
        let column = (argument!(k, OffsetsArguments.offsets), argument!(k, OffsetsArguments.wide).is_not(none));
        let (start, end) = (offset(k, column, segment), offset(k, column, segment + 1));
        let head = argument!(k, OffsetsArguments.reversed).is_not(none).select(end - 1, start);
        k.when(start.below(end) & head.below(argument!(k, OffsetsArguments.records)), || {
            argument!(k, OffsetsArguments.flags).as_global().byte(head).store(k.int(Ty::I8, 1), 1);
            k.when(argument!(k, OffsetsArguments.numbers).is_not(none), || {
                let number = (segment + 1).resize(Ty::I32);
                argument!(k, OffsetsArguments.numbers).as_global().byte(start * 4).store(number, 4);
            });
        });
    });
}

/// An offset of a column at any address, of `u64` if it is wide, else of `u32`.
pub(super) fn offset<'k>(k: &'k Builder, (column, wide): (Value<'k>, Value<'k>), place: Value<'k>) -> Value<'k> {
    let offsets = column.as_global();
    let value = k.unset(Ty::I64);
    let load = |ty: Ty, size: usize| {
        let from = offsets.byte(place * size);
        let is_aligned = (column & (size - 1)).is(k.i64(0));
        let load = |align: usize| value.set(from.load(ty, align).resize(Ty::I64));
        k.either(is_aligned, || load(size), || load(1));
    };
    k.either(wide, || load(Ty::I64, 8), || load(Ty::I32, 4));
    value.get()
}
