//! The arguments of the kernels over chunks.

use bytemuck::{Pod, Zeroable};

/// The arguments of all kernels over chunks, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ChunksArguments {
    /// How many symbols.
    pub records: u64,
    /// Symbols of a chunk, a multiple of [`CHUNK_STEP`](crate::gpu::CHUNK_STEP).
    pub chunk: u64,
    /// Where the bytes or words are that symbols are found in.
    pub input: u64,
    /// Where the table is: 256 classes of bytes, and a row for each state. At a multiple of 16.
    pub table: u64,
    /// Bytes of the table, a multiple of 16.
    pub table_bytes: u64,
    /// Elements of a row.
    pub row: u64,
    /// Where the images of symbols are, and behind them that of the first state.
    pub images: u64,
    /// Where the states of images are.
    pub members: u64,
    /// How many symbols there are.
    pub symbols: u64,
    /// How many symbols behind the one with an image leave at most so many states as a range has.
    pub depth: u64,
    /// Where ranges are, two bytes for each state that one may have.
    pub ranges: u64,
    /// Where maps are, a byte for each of them.
    pub maps: u64,
    /// Where the number of its first state in its range is, a byte for each chunk.
    pub begins: u64,
    /// Where outputs are to be, which no input overlaps.
    pub output: u64,
    /// Where chunks are listed that may lead to several states: how many, a `u32` that is 0 before the first pass and behind the
    /// last one, and from [`LISTED`](ChunksArguments::LISTED) bytes on their numbers, a `u32` for each chunk there is.
    pub list: u64,
}

impl ChunksArguments {
    /// Where numbers begin in a list.
    pub const LISTED: usize = 16;
}
