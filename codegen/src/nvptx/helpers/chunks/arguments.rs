//! The arguments of the kernels over chunks.

use bytemuck::{Pod, Zeroable};

/// The arguments of all kernels over chunks, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct ChunksArguments {
    /// How many symbols.
    pub records: u64,
    /// Symbols of a chunk, a multiple of 32.
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
    /// Most states of a range, a multiple of 16.
    pub lanes: u64,
    /// How many symbols behind the one with an image leave at most so many states.
    pub depth: u64,
    /// Where ranges are, two bytes for each of so many states.
    pub ranges: u64,
    /// Where maps are, a byte for each of them.
    pub maps: u64,
    /// Where the number of its first state in its range is, a byte for each chunk.
    pub begins: u64,
    /// Where outputs are to be, which no input overlaps.
    pub output: u64,
}
