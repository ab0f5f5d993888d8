//! The last record of each segment between offsets: totals of segments, out of what a scan within
//! them left.
//!
//! A thread copies one record. A segment without records gets one that stands for all such.

use super::offsets::offset;
use super::spacing::{PIECES, copy};
use super::{argument, thread_of_launch};
use crate::nvptx::emit::Builder;
use bytemuck::{Pod, Zeroable};

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct EndsArguments {
    /// How many segments, one less than there are offsets. There is a thread for each at least.
    pub segments: u64,
    /// Where the offsets are.
    pub offsets: u64,
    /// 1 if offsets are `u64`, 0 if they are `u32`.
    pub wide: u64,
    /// How many records. A segment that goes beyond them counts as one without records.
    pub records: u64,
    /// Bytes of a record.
    pub bytes: u64,
    /// Where the records are.
    pub from: u64,
    /// Where the record is that segments without records get.
    pub empty: u64,
    /// Where a record for each segment is to be.
    pub to: u64,
}

pub(super) fn write(k: &Builder) {
    let segment = thread_of_launch(k);
    k.when(segment.below(argument!(k, EndsArguments.segments)), || {
        let column = (argument!(k, EndsArguments.offsets), argument!(k, EndsArguments.wide).is_not(k.i64(0)));
        let (start, end) = (offset(k, column, segment), offset(k, column, segment + 1));
        let has_records = start.below(end) & argument!(k, EndsArguments.records).at_least(end);
        let (bytes, to) = (argument!(k, EndsArguments.bytes), argument!(k, EndsArguments.to));
        let (from, empty) = (argument!(k, EndsArguments.from), argument!(k, EndsArguments.empty));
        let last = has_records.select(from + (end - 1) * bytes, empty);
        let own = to.as_global().byte(segment * bytes);
        copy(k, from | empty | to | bytes, (last.as_global(), own, bytes), &PIECES);
    });
}
