//! A chunk, slice by slice. A warp has 32 chunks: its lanes load a slice of each together, pieces
//! of it side by side, and put them into shared memory, where each lane finds its own. Outputs go
//! back the same way. So all of a sector is read or written at once.

use super::super::argument;
use super::{Chunk, ChunkKernel, ChunkPass, ChunksArguments, PIECE, WARP};
use crate::nvptx::emit::{Ty, Value, Var};

impl ChunkPass {
    /// Bytes of an output.
    fn output(self) -> Option<usize> {
        match self {
            ChunkPass::Ranges | ChunkPass::Maps => None,
            ChunkPass::ToBytes => Some(1),
            ChunkPass::ToWords => Some(2),
        }
    }
}

impl ChunkKernel {
    /// Whether outputs have more bytes than what symbols are found in.
    fn widens(self) -> bool {
        self.pass.output().is_some_and(|output| output > self.symbols.bytes())
    }

    /// Bytes of a slice of the input. It is a whole part of every chunk.
    pub(super) fn slice(self) -> usize {
        if self.widens() { 32 } else { 64 }
    }

    /// Where outputs of a slice are put in the memory of its thread: over the input where they take no more.
    fn outputs_at(self) -> usize {
        if self.widens() { self.slice() } else { 0 }
    }

    /// Bytes of a slice of the input and of outputs behind it.
    pub(super) fn columns_bytes(self) -> usize {
        if self.widens() { 3 * self.slice() } else { self.slice() }
    }
}

/// Pieces of the slices of a warp: a lane takes every 32nd.
struct Pieces {
    of_slice: usize,
}

impl Pieces {
    fn of(bytes: usize) -> Pieces {
        Pieces { of_slice: bytes / PIECE }
    }

    /// Whose slice one of them belongs to, and at which byte it is there.
    fn place<'k>(&self, turn: usize, lane: Value<'k>) -> (Value<'k>, Value<'k>) {
        let bits = self.of_slice.trailing_zeros() as usize;
        ((lane >> bits) + turn * WARP / self.of_slice, (lane & (self.of_slice - 1)) * PIECE)
    }
}

impl<'k> Chunk<'k> {
    /// Takes a step for each symbol of the chunk, in the order in which they are read, where this lane is to, and writes what
    /// steps give. Slices are taken where all columns are at whole pieces; other symbols go one by one.
    pub(super) fn over(&self, is_active: Value<'k>, step: &dyn Fn(Value<'k>) -> Option<Value<'k>>) {
        let (k, bytes) = (self.k, self.kernel.symbols.bytes());
        let symbols = self.kernel.slice() / bytes;
        let bits = symbols.trailing_zeros() as usize;
        let output = self.kernel.pass.output();
        let columns = self.input().address() | output.map_or(k.i64(0), |_| self.output().address());
        let is_aligned = (columns & (PIECE - 1)).is(k.i64(0));
        let slices = |symbols: Value<'k>| is_aligned.select(symbols >> bits, k.i64(0));
        let (end, rounds) = (self.end(), slices(self.length));
        let whole = is_active.select(slices(end - self.begin), k.i64(0));
        let rest = self.begin + (whole << bits);
        let single = |place: Value<'k>| {
            let found = self.input().byte(place * bytes).load_constant(self.found(), bytes);
            let given = step(self.symbol(found.resize(Ty::I32)));
            if let (Some(given), Some(bytes)) = (given, output) {
                self.output().byte(place * bytes).store(given.resize(Ty::Int(8 * bytes as u16)), bytes);
            }
        };
        let singles = || {
            k.range(k.i64(0), is_active.select(end - rest, k.i64(0)), k.i64(1), |place| {
                single(if self.is_from_end() { end - 1 - place } else { rest + place });
            });
        };
        let slice = |round: Value<'k>| if self.is_from_end() { rounds - 1 - round } else { round };
        // Whose slices there are in a round.
        let taken = |round: Value<'k>| k.ballot(slice(round).below(whole));
        let is_in = |lanes: Value<'k>, lane: Value<'k>| ((lanes >> lane) & 1).is(k.i32(1));
        // The first symbol of a lane's slice.
        let first = |round: Value<'k>, lane: Value<'k>| self.begin_of_lane(lane) + (slice(round) << bits);
        let pieces = Pieces::of(self.kernel.slice());
        let held: Vec<Var<'k>> = (0..pieces.of_slice).map(|_| k.unset(Ty::Words(4))).collect();
        let fetch = |round: Value<'k>| {
            let lanes = taken(round);
            for (turn, held) in held.iter().enumerate() {
                let (lane, byte) = pieces.place(turn, self.lane);
                let at = self.input().byte(first(round, lane) * bytes).byte(byte);
                // What is in no slice is not read; the table has a piece.
                let at = is_in(lanes, lane).select(at, argument!(self.k, ChunksArguments.table).as_global());
                held.set(at.load_constant(Ty::Words(4), PIECE));
            }
        };
        if self.is_from_end() {
            singles();
        }
        fetch(k.i64(0));
        k.range(k.i64(0), rounds, k.i64(1), |round| {
            k.warp_barrier();
            for (turn, held) in held.iter().enumerate() {
                let (lane, byte) = pieces.place(turn, self.lane);
                self.shared_of(lane).byte(byte).store(held.get(), PIECE);
            }
            k.warp_barrier();
            let lanes = taken(round);
            fetch(round + 1);
            k.when(is_in(lanes, self.lane), || self.over_slice(step));
            let Some(bytes) = output else { return };
            k.warp_barrier();
            let pieces = Pieces::of(symbols * bytes);
            for turn in 0..pieces.of_slice {
                let (lane, byte) = pieces.place(turn, self.lane);
                let piece = self.shared_of(lane).at(self.kernel.outputs_at()).byte(byte).load(Ty::Words(4), PIECE);
                k.when(is_in(lanes, lane), || {
                    self.output().byte(first(round, lane) * bytes).byte(byte).store(piece, PIECE);
                });
            }
        });
        if !self.is_from_end() {
            singles();
        }
    }

    fn output(&self) -> Value<'k> {
        argument!(self.k, ChunksArguments.output).as_global()
    }

    /// Takes the steps of a slice in shared memory, and puts what they give there.
    fn over_slice(&self, step: &dyn Fn(Value<'k>) -> Option<Value<'k>>) {
        let (k, bytes, is_from_end) = (self.k, self.kernel.symbols.bytes(), self.is_from_end());
        let (own, pieces, length) = (self.shared_of(self.lane), self.kernel.slice() / PIECE, PIECE / bytes);
        k.range(k.i32(0), k.i32(pieces), k.i32(1), |turn| {
            let piece = if is_from_end { k.i32(pieces - 1) - turn } else { turn };
            let four = own.byte(piece * PIECE).load(Ty::Words(4), PIECE);
            let found = |place: usize| {
                let byte = place * bytes;
                (four.word(byte / 4) >> (8 * (byte % 4))) & ((1 << (8 * bytes)) - 1)
            };
            let symbols: Vec<Value<'k>> = (0..length).map(|place| self.symbol(found(place))).collect();
            let mut outputs = vec![None; length];
            for place in 0..length {
                let place = if is_from_end { length - 1 - place } else { place };
                outputs[place] = step(symbols[place]);
            }
            let outputs: Vec<Value<'k>> = outputs.into_iter().flatten().collect();
            let Some(bytes) = self.kernel.pass.output() else { return };
            let joined = |own: &[Value<'k>]| {
                let placed = own.iter().enumerate().map(|(place, own)| *own << (8 * bytes * place));
                placed.reduce(|low, high| low | high).expect("a word has outputs")
            };
            let words: Vec<Value<'k>> = outputs.chunks(4 / bytes).map(joined).collect();
            let to = own.at(self.kernel.outputs_at()).byte(piece * (length * bytes));
            for (part, words) in words.chunks(4).enumerate() {
                let vector = k.poison(Ty::Words(words.len() as u8));
                let vector =
                    words.iter().enumerate().fold(vector, |vector, (place, word)| vector.with_word(place, *word));
                to.at(PIECE * part).store(vector, 4 * words.len());
            }
        });
    }
}
