//! A transducer over chunks of its symbols, a thread for each chunk: what `gpu/chunks.rs` says, in
//! three kernels. Chunks are numbered in the order in which they are read.
//!
//! Every symbol looks up where it leads a state, so blocks keep that table in shared memory where
//! it fits, and stay for as many chunks as there are.

mod arguments;

pub use arguments::ChunksArguments;

use super::{argument, thread_of_blocks};
use crate::gpu::{CHUNK_WINDOW, UNUSED_STATE};
use crate::nvptx::emit::{Builder, Space, Ty, Value, Var};

/// Threads of a block of these kernels.
pub const CHUNK_THREADS: usize = 768;

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
}

/// One of the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ChunkKernel {
    /// The work.
    pub pass: ChunkPass,
    /// The symbols that it reads.
    pub symbols: ChunkSymbols,
    /// Whether numbers in the table take two bytes.
    pub wide: bool,
    /// Whether the table is copied to shared memory.
    pub shared: bool,
}

impl ChunkKernel {
    pub(super) fn write(self, k: &Builder) {
        let table = if self.shared { k.shared() } else { argument!(k, ChunksArguments.table).as_global() };
        if self.shared {
            let from = argument!(k, ChunksArguments.table).as_global();
            let end = argument!(k, ChunksArguments.table_bytes).resize(Ty::I32);
            k.range(k.thread() * PIECE, end, k.i32(CHUNK_THREADS * PIECE), |byte| {
                table.byte(byte).store(from.byte(byte).load_constant(Ty::Words(4), PIECE), PIECE);
            });
            k.barrier();
        }
        let (records, length) = (argument!(k, ChunksArguments.records), argument!(k, ChunksArguments.chunk));
        let row = argument!(k, ChunksArguments.row).resize(Ty::I32);
        let count = (records + length - 1).udiv(length);
        let threads = k.blocks().resize(Ty::I64) * CHUNK_THREADS;
        k.range(thread_of_blocks(k, CHUNK_THREADS), count, threads, |number| {
            let is_from_end = self.symbols.are_from_end();
            let begin = (if is_from_end { count - 1 - number } else { number }) * length;
            let end = (begin + length).umin(records);
            let chunk = Chunk { k, kernel: self, table, row, records, count, number, begin, end };
            match self.pass {
                ChunkPass::Ranges => chunk.find_range(),
                ChunkPass::Maps => chunk.find_maps(),
                ChunkPass::ToBytes => chunk.write_outputs(1),
                ChunkPass::ToWords => chunk.write_outputs(2),
            }
        });
    }
}

/// Bytes that a thread copies at a time.
const PIECE: usize = 16;

/// Bytes of symbols that are taken together: whole sectors of the memory.
const GROUP_BYTES: usize = 32;

/// States that are led on together.
const LANES: usize = 2;

/// The chunk of a thread.
struct Chunk<'k> {
    k: &'k Builder,
    kernel: ChunkKernel,
    table: Value<'k>,
    row: Value<'k>,
    records: Value<'k>,
    count: Value<'k>,
    number: Value<'k>,
    begin: Value<'k>,
    end: Value<'k>,
}

impl<'k> Chunk<'k> {
    fn is_from_end(&self) -> bool {
        self.kernel.symbols.are_from_end()
    }

    /// Bytes of what a symbol is found in.
    fn bytes(&self) -> usize {
        if self.kernel.symbols == ChunkSymbols::Words { 2 } else { 1 }
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
        let place = state * self.row + symbol;
        self.tabled(ty, place * (ty.bits() as usize / 8) + CLASSES).resize(Ty::I32)
    }

    fn next(&self, state: Value<'k>, symbol: Value<'k>) -> Value<'k> {
        self.entry(Ty::Int(if self.kernel.wide { 16 } else { 8 }), state, symbol)
    }

    /// The symbol that is found in a byte or a word.
    fn symbol(&self, found: Value<'k>) -> Value<'k> {
        match self.kernel.symbols {
            ChunkSymbols::ClassesFromEnd => self.tabled(Ty::I8, found).resize(Ty::I32),
            ChunkSymbols::BytesFromEnd | ChunkSymbols::Bytes | ChunkSymbols::Words => found,
        }
    }

    fn input(&self) -> Value<'k> {
        argument!(self.k, ChunksArguments.input).as_global()
    }

    fn symbol_at(&self, place: Value<'k>) -> Value<'k> {
        let bytes = self.bytes();
        let found = self.input().byte(place * bytes).load_constant(Ty::Int(8 * bytes as u16), 1);
        self.symbol(found.resize(Ty::I32))
    }

    /// Takes a step for each symbol of the chunk, in the order in which they are read. What steps give is written, by groups
    /// where all columns are at whole ones.
    fn over(
        &self,
        step: &dyn Fn(Value<'k>) -> Option<Value<'k>>,
        write: &dyn Fn(Value<'k>, &[Value<'k>]),
        columns: Value<'k>,
    ) {
        let (k, bytes, is_from_end) = (self.k, self.bytes(), self.is_from_end());
        let length = GROUP_BYTES / bytes;
        let is_aligned = ((self.input().address() | columns) & (PIECE - 1)).is(k.i64(0));
        let at = k.var(if is_from_end { self.end } else { self.begin });
        let group = |first: Value<'k>| {
            let load =
                |part: usize| self.input().byte(first * bytes).at(PIECE * part).load_constant(Ty::Words(4), PIECE);
            let parts: Vec<Value<'k>> = (0..GROUP_BYTES / PIECE).map(load).collect();
            let found = |place: usize| {
                let byte = place * bytes;
                let word = parts[byte / PIECE].word(byte % PIECE / 4);
                (word >> (8 * (byte % 4))) & ((1 << (8 * bytes)) - 1)
            };
            let symbols: Vec<Value<'k>> = (0..length).map(|place| self.symbol(found(place))).collect();
            let mut outputs = vec![None; length];
            for place in 0..length {
                let place = if is_from_end { length - 1 - place } else { place };
                outputs[place] = step(symbols[place]);
            }
            write(first, &outputs.into_iter().flatten().collect::<Vec<_>>());
        };
        let single = |place: Value<'k>| write(place, &step(self.symbol_at(place)).into_iter().collect::<Vec<_>>());
        let left = || if is_from_end { at.get() - self.begin } else { self.end - at.get() };
        k.repeat_while(
            || left().is_not(k.i64(0)),
            || {
                let here = at.get();
                let is_at_group = (here & (length - 1)).is(k.i64(0)) & left().at_least(k.i64(length)) & is_aligned;
                let take = |some: &dyn Fn(Value<'k>), length: usize| {
                    let [first, behind] = if is_from_end { [here - length; 2] } else { [here, here + length] };
                    some(first);
                    at.set(behind);
                };
                k.either(is_at_group, || take(&group, length), || take(&single, 1));
            },
        );
    }

    /// Most states of a range.
    fn most(&self) -> Value<'k> {
        argument!(self.k, ChunksArguments.lanes).resize(Ty::I32)
    }

    /// Where a chunk's range is.
    fn range(&self, number: Value<'k>) -> Value<'k> {
        argument!(self.k, ChunksArguments.ranges)
            .as_global()
            .byte(number * argument!(self.k, ChunksArguments.lanes) * 2)
    }

    /// Stores four times the same word again and again, in so many bytes.
    fn fill(&self, to: Value<'k>, bytes: Value<'k>, word: i128) {
        let four =
            (0..4).fold(self.k.poison(Ty::Words(4)), |four, lane| four.with_word(lane, self.k.int(Ty::I32, word)));
        self.k.range(self.k.i32(0), bytes, self.k.i32(PIECE), |byte| to.byte(byte).store(four, PIECE));
    }

    /// Starts from the image of a symbol before the chunk, of those in a window one with few states, and goes on from there; or
    /// from the first state, if the text begins in the window.
    fn find_range(&self) {
        let k = self.k;
        let range = self.range(self.number);
        self.fill(range, self.most() * 2, UNUSED);
        let before = if self.is_from_end() { self.records - self.end } else { self.begin };
        let at = |distance: Value<'k>| match self.is_from_end() {
            true => self.symbol_at(self.end + distance - 1),
            false => self.symbol_at(self.begin - distance),
        };
        let image_of = |symbol: Value<'k>| {
            argument!(self.k, ChunksArguments.images).as_global().byte(symbol * 4).load_constant(Ty::I32, 4)
        };
        // An image is where its states are, and in the low byte how many.
        let image = k.var(image_of(argument!(self.k, ChunksArguments.symbols).resize(Ty::I32)));
        let behind = k.var(before);
        k.when(before.at_least(k.i64(CHUNK_WINDOW)), || {
            image.set(k.i32(0xff));
            let distance = k.var(argument!(self.k, ChunksArguments.depth) + 1);
            let is_large = || (image.get() & 0xff).at_least(k.i32(2));
            k.repeat_while(
                || is_large() & distance.get().below(k.i64(CHUNK_WINDOW + 1)),
                || {
                    let own = image_of(at(distance.get()));
                    k.when((own & 0xff).below(image.get() & 0xff), || {
                        image.set(own);
                        behind.set(distance.get() - 1);
                    });
                    distance.set(distance.get() + 1);
                },
            );
        });
        let (count, first) = (image.get() & 0xff, image.get() >> 8);
        let found = k.var(k.i32(0));
        k.range(k.i32(0), count, k.i32(LANES), |place| {
            let member = |lane: usize| {
                let place = first + (place + lane).umin(count - 1);
                argument!(self.k, ChunksArguments.members).as_global().byte(place * 2).load_constant(Ty::Int(16), 2)
            };
            let lanes = self.lanes(|lane| member(lane).resize(Ty::I32));
            let distance = k.var(behind.get());
            k.repeat_while(
                || distance.get().is_not(k.i64(0)),
                || {
                    let symbol = at(distance.get());
                    lanes.iter().for_each(|lane| lane.set(self.next(lane.get(), symbol)));
                    distance.set(distance.get() - 1);
                },
            );
            for lane in lanes {
                let is_known = k.var(k.bool(false));
                k.range(k.i32(0), found.get(), k.i32(1), |known| {
                    let known = range.byte(known * 2).load(Ty::Int(16), 2).resize(Ty::I32);
                    is_known.set(is_known.get() | known.is(lane.get()));
                });
                k.when(!is_known.get() & found.get().below(self.most()), || {
                    range.byte(found.get() * 2).store(lane.get().resize(Ty::Int(16)), 2);
                    found.set(found.get() + 1);
                });
            }
        });
    }

    /// Leads the states of the range on, some at a time, and numbers them in the next chunk's range.
    fn find_maps(&self) {
        let k = self.k;
        let map = argument!(self.k, ChunksArguments.maps)
            .as_global()
            .byte(self.number * argument!(self.k, ChunksArguments.lanes));
        self.fill(map, self.most(), 0);
        let state =
            |range: Value<'k>, place: Value<'k>| range.byte(place * 2).load_constant(Ty::Int(16), 2).resize(Ty::I32);
        let (own, next) = (self.range(self.number), self.range((self.number + 1).umin(self.count - 1)));
        // Where one state alone can follow, all lead to it.
        let is_told = state(next, k.i32(1)).is(k.i32(UNUSED_STATE.into()));
        let place = k.var(is_told.select(self.most(), k.i32(0)));
        let goes_on = || {
            let is_used = state(own, place.get().umin(self.most() - 1)).is_not(k.i32(UNUSED_STATE.into()));
            place.get().below(self.most()) & is_used
        };
        k.repeat_while(goes_on, || {
            let known = |lane: usize| {
                let state = state(own, place.get() + lane);
                state.is(k.i32(UNUSED_STATE.into())).select(k.i32(0), state)
            };
            let lanes = self.lanes(known);
            let step = |symbol| {
                lanes.iter().for_each(|lane| lane.set(self.next(lane.get(), symbol)));
                None
            };
            self.over(&step, &|_, _| {}, k.i64(0));
            let numbers = k.var(k.i32(0));
            k.range(k.i32(1), self.most(), k.i32(1), |number| {
                let other = state(next, number);
                for (place, lane) in lanes.iter().enumerate() {
                    let here = lane.get().is(other).select(number << (8 * place), k.i32(0));
                    numbers.set(numbers.get() | here);
                }
            });
            map.byte(place.get()).store(numbers.get().resize(Ty::Int(8 * LANES as u16)), LANES);
            place.set(place.get() + LANES);
        });
    }

    /// States that are led on together.
    fn lanes(&self, first: impl Fn(usize) -> Value<'k>) -> Vec<Var<'k>> {
        (0..LANES).map(|lane| self.k.var(first(lane))).collect()
    }

    /// Walks the chunk from the state in which it begins.
    fn write_outputs(&self, bytes: usize) {
        let k = self.k;
        let begins = argument!(self.k, ChunksArguments.begins).as_global().byte(self.number).load_constant(Ty::I8, 1);
        // If the scan between failed, numbers are anything: some state is taken then.
        let begins = begins.resize(Ty::I32).umin(self.most() - 1);
        let first = self.range(self.number).byte(begins * 2).load_constant(Ty::Int(16), 2).resize(Ty::I32);
        let state = k.var(first.is(k.i32(UNUSED_STATE.into())).select(k.i32(0), first));
        let output = argument!(self.k, ChunksArguments.output).as_global();
        // Half of an entry is the next state, the other one the output.
        let half = if self.kernel.wide { 16 } else { 8 };
        let step = |symbol| {
            let entry = self.entry(Ty::Int(2 * half), state.get(), symbol);
            state.set(entry & ((1 << half) - 1));
            Some(entry >> usize::from(half))
        };
        let write = |place: Value<'k>, outputs: &[Value<'k>]| {
            let to = output.byte(place * bytes);
            if let [own] = outputs {
                return to.store(own.resize(Ty::Int(8 * bytes as u16)), 1);
            }
            let joined = |own: &[Value<'k>]| {
                let placed = own.iter().enumerate().map(|(place, own)| *own << (8 * bytes * place));
                placed.reduce(|low, high| low | high).expect("a word has outputs")
            };
            let words: Vec<Value<'k>> = outputs.chunks(4 / bytes).map(joined).collect();
            for (part, four) in words.chunks(4).enumerate() {
                let four = four.iter().enumerate();
                let vector = four.fold(k.poison(Ty::Words(4)), |vector, (lane, word)| vector.with_word(lane, *word));
                to.at(PIECE * part).store(vector, PIECE);
            }
        };
        self.over(&step, &write, output.address());
    }
}

/// Classes of bytes, which the table begins with.
const CLASSES: usize = 256;

/// Two states that are none.
const UNUSED: i128 = (UNUSED_STATE as i128) << 16 | UNUSED_STATE as i128;
