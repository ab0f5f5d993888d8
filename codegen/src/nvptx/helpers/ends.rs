//! The last record of each segment between offsets: totals of segments, out of what a scan within
//! them left.
//!
//! A thread copies one record. A segment without records gets one that stands for all such.

use super::offsets::offset;
use super::spacing::{PIECES, copy};
use super::{bytes_of_words, thread_of_launch, word};
use crate::nvptx::emit::Builder;

/// The arguments of the kernel, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndsArguments {
    /// How many segments, one less than there are offsets. There is a thread for each at least.
    pub segments: u64,
    /// Where the offsets are.
    pub offsets: u64,
    /// Whether offsets are `u64`, not `u32`.
    pub wide: bool,
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

impl EndsArguments {
    /// Bytes of all arguments.
    pub const BYTES: usize = 64;
    const SEGMENTS: usize = 0;
    const OFFSETS: usize = 8;
    const WIDE: usize = 16;
    const RECORDS: usize = 24;
    const RECORD_BYTES: usize = 32;
    const FROM: usize = 40;
    const EMPTY: usize = 48;
    const TO: usize = 56;

    /// As the kernel takes them.
    pub fn to_bytes(&self) -> [u8; EndsArguments::BYTES] {
        let EndsArguments { segments, offsets, wide, records, bytes, from, empty, to } = *self;
        bytes_of_words([segments, offsets, wide.into(), records, bytes, from, empty, to])
    }
}

pub(super) fn write(k: &Builder) {
    let word = |offset: usize| word(k, offset);
    let segment = thread_of_launch(k);
    k.when(segment.below(word(EndsArguments::SEGMENTS)), || {
        let column = (word(EndsArguments::OFFSETS), word(EndsArguments::WIDE).is_not(k.i64(0)));
        let (start, end) = (offset(k, column, segment), offset(k, column, segment + 1));
        let has_records = start.below(end) & word(EndsArguments::RECORDS).at_least(end);
        let [bytes, from, empty, to] =
            [EndsArguments::RECORD_BYTES, EndsArguments::FROM, EndsArguments::EMPTY, EndsArguments::TO].map(word);
        let last = has_records.select(from + (end - 1) * bytes, empty);
        let own = to.as_global().byte(segment * bytes);
        copy(k, from | empty | to | bytes, (last.as_global(), own, bytes), &PIECES);
    });
}
