//! A transducer over chunks of its symbols, a thread for each chunk: what `gpu/chunks.rs` says, in
//! three kernels. Chunks are numbered in the order in which they are read.
//!
//! Every symbol looks up where it leads a state, so blocks keep that table in shared memory where
//! it fits, and stay for as many chunks as there are. Columns go through shared memory too
//! (`slices.rs`): so a warp reads and writes them in whole sectors.

mod arguments;
mod led;
mod passes;
mod slices;

pub use arguments::ChunksArguments;

use led::Led;

use super::{argument, thread_of_blocks};
use crate::gpu::{Arch, BANKS, CHUNK_WINDOW, CHUNK_WINDOWS, StateTable, WORD};
use crate::nvptx::emit::{Builder, Space, Ty, Value};

/// The work of a kernel on a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChunkPass {
    /// Finds the states that may be before it: its range.
    Ranges,
    /// Finds where each state of the range is led.
    Maps,
    /// Writes outputs, of a byte each.
    ToBytes,
    /// Writes outputs, of two bytes each.
    ToWords,
}

/// The form of a transducer's symbols, and the end where it begins to read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChunkSymbols {
    /// Bytes, from the last on.
    BytesFromEnd,
    /// Classes of bytes, from the last byte on.
    ClassesFromEnd,
    /// Bytes, from the first on.
    Bytes,
    /// Words of two bytes, from the first on.
    Words,
}

impl ChunkSymbols {
    fn are_from_end(self) -> bool {
        matches!(self, ChunkSymbols::BytesFromEnd | ChunkSymbols::ClassesFromEnd)
    }

    /// Bytes of what a symbol is found in.
    fn bytes(self) -> usize {
        if self == ChunkSymbols::Words { 2 } else { 1 }
    }
}

/// Where a kernel looks up its table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TableIn {
    /// In device memory.
    Device,
    /// In a copy in shared memory.
    Shared,
    /// In a copy of its rows for each bank of shared memory, so that all lanes of a warp look up at once.
    EachBank,
}

/// One of the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChunkKernel {
    /// The work.
    pub pass: ChunkPass,
    /// The symbols that it reads.
    pub symbols: ChunkSymbols,
    /// Most states of a range, a multiple of 16.
    pub most_states: usize,
    /// Whether numbers in the table take two bytes.
    pub wide: bool,
    /// Where it looks up the table.
    pub table_in: TableIn,
    /// Threads of a block.
    pub threads: usize,
    /// Blocks that a multiprocessor has registers for.
    pub blocks: usize,
}

/// Threads of a block, and blocks at once: small blocks first, since several on a multiprocessor fill each other's waits.
const BLOCKS: [(usize, usize); 4] = [(256, 4), (512, 2), (1024, 1), (768, 1)];

/// Those that are tried before for ranges, whose pass waits for memory and takes few registers.
const MORE_BLOCKS: [(usize, usize); 3] = [(256, 6), (512, 3), (768, 2)];

/// Threads of the only block of a multiprocessor, where shared memory has no space for more beside the table.
const FEW_THREADS: usize = 512;

/// Bytes of shared memory that each block takes besides its own.
const RESERVED: usize = 1 << 10;

/// Bytes that a thread copies at a time.
const PIECE: usize = 16;

/// Lanes of a warp.
const WARP: usize = 32;

impl ChunkKernel {
    /// The kernel that does this with such a table. Symbols of a text are classes, or bytes if the table has one for each.
    pub fn planned(
        pass: ChunkPass,
        symbols: ChunkSymbols,
        most_states: usize,
        (table, arch): (&StateTable, Arch),
    ) -> ChunkKernel {
        let symbols = match symbols {
            ChunkSymbols::ClassesFromEnd if table.by_byte => ChunkSymbols::BytesFromEnd,
            symbols => symbols,
        };
        let with = |table_in, (threads, blocks)| {
            let wide = table.wide;
            ChunkKernel { pass, symbols, most_states, wide, table_in, threads, blocks }
        };
        let fits = |kernel: &ChunkKernel, blocks: usize| {
            let each = kernel.shared_bytes(table.bytes.len()) + RESERVED;
            blocks * each <= arch.shared_bytes() + RESERVED
        };
        let full = |table_in| {
            let more = MORE_BLOCKS.into_iter().filter(|_| pass == ChunkPass::Ranges);
            more.chain(BLOCKS).map(|blocks| with(table_in, blocks)).find(|kernel| fits(kernel, kernel.blocks))
        };
        let few = || Some(with(TableIn::Shared, (FEW_THREADS, 1))).filter(|kernel| fits(kernel, 1));
        let shared = || full(TableIn::Shared).or_else(few);
        full(TableIn::EachBank).or_else(shared).unwrap_or(with(TableIn::Device, BLOCKS[0]))
    }

    /// Bytes of shared memory that a block takes with a table of so many.
    pub fn shared_bytes(self, table: usize) -> usize {
        let copied = match self.table_in {
            TableIn::Device => 0,
            TableIn::Shared => table,
            TableIn::EachBank => CLASSES + BANKS * (table - CLASSES),
        };
        self.threads * self.own_bytes() + copied
    }

    /// Those of a thread: its slices, and what it alone needs.
    fn own_bytes(self) -> usize {
        self.columns_bytes() + self.alone_bytes()
    }

    /// Bytes that a thread alone needs: an odd number of pieces, so that threads side by side meet all banks.
    fn alone_bytes(self) -> usize {
        let bytes = match self.pass {
            ChunkPass::Ranges => CHUNK_WINDOW * self.symbols.bytes() + 2 * self.most_states,
            ChunkPass::Maps => Led::bytes(self.most_states),
            ChunkPass::ToBytes | ChunkPass::ToWords => return 0,
        };
        PIECE * ((bytes / PIECE) | 1)
    }

    pub(super) fn write(self, k: &Builder) {
        let (records, length) = (argument!(k, ChunksArguments.records), argument!(k, ChunksArguments.chunk));
        let row = argument!(k, ChunksArguments.row).resize(Ty::I32);
        let count = (records + length - 1).udiv(length);
        let threads = k.blocks().resize(Ty::I64) * self.threads;
        let (own, lane) = (thread_of_blocks(k, self.threads), k.thread() & (WARP - 1));
        let list = argument!(k, ChunksArguments.list).as_global();
        let is_listed = self.pass == ChunkPass::Maps;
        // What is no chunk is not looked up, whatever an earlier launch left.
        let listed = || list.load_constant(Ty::I32, 4).resize(Ty::I64).umin(count);
        let all = if is_listed { listed() } else { count };
        let begin = own - lane.resize(Ty::I64);
        let of_block = k.block().resize(Ty::I64) * self.threads;
        k.when(of_block.below(all), || {
            let table = self.copy_table(k);
            // The lanes of a warp stay together: behind the last chunk are some without symbols.
            k.range(begin, all, threads, |first| {
                let place = first + lane.resize(Ty::I64);
                let (is_there, place) = (place.below(all), place.umin(all - 1));
                let number = match is_listed {
                    true => list.at(ChunksArguments::LISTED).byte(place * 4).load_constant(Ty::I32, 4).resize(Ty::I64),
                    false => place,
                };
                let (number, begin) = (number.umin(count - 1), k.i64(0));
                let mut chunk =
                    Chunk { k, kernel: self, table, row, records, length, count, first, lane, number, begin, is_there };
                chunk.begin = is_there.select(chunk.begin_of(number), begin);
                match self.pass {
                    ChunkPass::Ranges => chunk.find_range(list),
                    ChunkPass::Maps => chunk.find_maps(),
                    ChunkPass::ToBytes | ChunkPass::ToWords => chunk.write_outputs(),
                }
            });
        });
        if matches!(self.pass, ChunkPass::ToBytes | ChunkPass::ToWords) {
            k.when(own.is(k.i64(0)), || list.store(k.i32(0), 4));
        }
    }
}

impl ChunkKernel {
    /// Copies the table to where it is looked up, all threads together.
    fn copy_table(self, k: &Builder) -> Value<'_> {
        let from = argument!(k, ChunksArguments.table).as_global();
        let end = argument!(k, ChunksArguments.table_bytes).resize(Ty::I32);
        let to = k.shared().at(self.threads * self.own_bytes());
        let pieces = |end: Value<'_>| {
            k.range(k.thread() * PIECE, end, k.i32(self.threads * PIECE), |byte| {
                to.byte(byte).store(from.byte(byte).load_constant(Ty::Words(4), PIECE), PIECE);
            });
        };
        match self.table_in {
            TableIn::Device => return from,
            TableIn::Shared => pieces(end),
            TableIn::EachBank => {
                pieces(k.i32(CLASSES));
                let words = (end - CLASSES) >> WORD.ilog2() as usize;
                let copies = BANKS * WORD / PIECE;
                k.range(k.thread(), words * copies, k.i32(self.threads), |piece| {
                    let word = from.at(CLASSES).byte((piece >> copies.ilog2() as usize) * WORD);
                    to.at(CLASSES).byte(piece * PIECE).store(four_of(word.load_constant(Ty::I32, WORD)), PIECE);
                });
            }
        }
        k.barrier();
        to
    }
}

/// The chunk of a thread.
struct Chunk<'k> {
    k: &'k Builder,
    kernel: ChunkKernel,
    table: Value<'k>,
    row: Value<'k>,
    records: Value<'k>,
    /// Symbols of a chunk.
    length: Value<'k>,
    count: Value<'k>,
    /// The number of the warp's first chunk, or its place in the list.
    first: Value<'k>,
    lane: Value<'k>,
    number: Value<'k>,
    /// Its first symbol in the order of memory.
    begin: Value<'k>,
    /// Whether there is one.
    is_there: Value<'k>,
}

impl<'k> Chunk<'k> {
    fn is_from_end(&self) -> bool {
        self.kernel.symbols.are_from_end()
    }

    /// Where a chunk begins in memory.
    fn begin_of(&self, number: Value<'k>) -> Value<'k> {
        (if self.is_from_end() { self.count - 1 - number } else { number }) * self.length
    }

    /// The same for that of a lane of the warp.
    fn begin_of_lane(&self, lane: Value<'k>) -> Value<'k> {
        match self.kernel.pass {
            ChunkPass::Maps => self.told(lane).load(Ty::I64, 8),
            _ => self.begin_of(self.first + lane.resize(Ty::I64)),
        }
    }

    /// Where a lane whose chunk is of a list tells the others where that begins.
    fn told(&self, lane: Value<'k>) -> Value<'k> {
        self.alone(lane)
    }

    /// Where it ends.
    fn end(&self) -> Value<'k> {
        let end = (self.begin + self.length).umin(self.records);
        self.is_there.select(end, self.begin)
    }

    /// The shared memory of the warp, which begins with slices.
    fn memory(&self) -> Value<'k> {
        self.k.shared().byte((self.k.thread() - self.lane) * self.kernel.own_bytes())
    }

    /// That of a lane alone.
    fn alone(&self, lane: Value<'k>) -> Value<'k> {
        self.memory().at(WARP * self.kernel.columns_bytes()).byte(lane * self.kernel.alone_bytes())
    }

    /// From the table, at a byte.
    fn tabled(&self, ty: Ty, byte: Value<'k>) -> Value<'k> {
        let (from, align) = (self.table.byte(byte), ty.bits() as usize / 8);
        match self.table.ty() {
            Ty::Pointer(Space::Global) => from.load_constant(ty, align),
            _ => from.load(ty, align),
        }
    }

    /// An element of the row of a state.
    fn entry(&self, ty: Ty, state: Value<'k>, symbol: Value<'k>) -> Value<'k> {
        let bytes = ty.bits() as usize / 8;
        let byte = symbol * bytes;
        let at = match self.kernel.table_in {
            TableIn::EachBank => {
                // Words of the table are as far apart as all banks; this lane's are in its own bank.
                let line = (byte >> WORD.ilog2() as usize) * (BANKS * WORD);
                state * (self.row * (BANKS * bytes)) + (line + (byte & (WORD - 1)) + self.lane * WORD)
            }
            TableIn::Device | TableIn::Shared => (state * self.row) * bytes + byte,
        };
        self.tabled(ty, at + CLASSES).resize(Ty::I32)
    }

    fn next(&self, state: Value<'k>, symbol: Value<'k>) -> Value<'k> {
        self.entry(Ty::Int(if self.kernel.wide { 16 } else { 8 }), state, symbol)
    }

    /// The symbol that is found in a byte or a word.
    fn symbol(&self, found: Value<'k>) -> Value<'k> {
        match self.kernel.symbols {
            ChunkSymbols::ClassesFromEnd => self.tabled(Ty::I8, found).resize(Ty::I32),
            ChunkSymbols::BytesFromEnd => found,
            // If the scan that wrote them failed, they are anything.
            ChunkSymbols::Bytes | ChunkSymbols::Words => {
                found.umin(argument!(self.k, ChunksArguments.symbols).resize(Ty::I32) - 1)
            }
        }
    }

    /// The type of what a symbol is found in.
    fn found(&self) -> Ty {
        Ty::Int(8 * self.kernel.symbols.bytes() as u16)
    }

    fn input(&self) -> Value<'k> {
        argument!(self.k, ChunksArguments.input).as_global()
    }
}

/// Classes of bytes, which the table begins with.
const CLASSES: usize = 256;

/// Four times the same word.
fn four_of(word: Value<'_>) -> Value<'_> {
    (0..4).fold(word.emit().poison(Ty::Words(4)), |four, place| four.with_word(place, word))
}
