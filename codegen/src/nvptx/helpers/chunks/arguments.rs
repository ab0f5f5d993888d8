//! The arguments of the kernels over chunks.

use super::super::bytes_of_words;

/// The arguments of all kernels over chunks, eight bytes each, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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

impl ChunksArguments {
    /// Bytes of all arguments.
    pub const BYTES: usize = 120;
    pub(super) const RECORDS: usize = 0;
    pub(super) const CHUNK: usize = 8;
    pub(super) const INPUT: usize = 16;
    pub(super) const TABLE: usize = 24;
    pub(super) const TABLE_BYTES: usize = 32;
    pub(super) const ROW: usize = 40;
    pub(super) const IMAGES: usize = 48;
    pub(super) const MEMBERS: usize = 56;
    pub(super) const SYMBOLS: usize = 64;
    pub(super) const LANES: usize = 72;
    pub(super) const DEPTH: usize = 80;
    pub(super) const RANGES: usize = 88;
    pub(super) const MAPS: usize = 96;
    pub(super) const BEGINS: usize = 104;
    pub(super) const OUTPUT: usize = 112;

    /// As the kernels take them.
    pub fn to_bytes(&self) -> [u8; ChunksArguments::BYTES] {
        let ChunksArguments { records, chunk, input, table, table_bytes, row, images, .. } = *self;
        let ChunksArguments { members, symbols, lanes, depth, ranges, maps, begins, output, .. } = *self;
        let words = [records, chunk, input, table, table_bytes, row, images];
        bytes_of_words(words.into_iter().chain([members, symbols, lanes, depth, ranges, maps, begins, output]))
    }
}
