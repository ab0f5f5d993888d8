//! A chunk, slice by slice. A warp has 32 chunks: its lanes load a slice of each together, pieces
//! of it side by side, and put them into shared memory, where each lane finds its own. Outputs go
//! back the same way. So all of a sector is read or written at once.

use super::super::argument;
use super::{Chunk, ChunkKernel, ChunkPass, ChunksArguments, PIECE, WARP};
use crate::nvptx::emit::{Ty, Value, Var};

/// Pieces that meet all banks of shared memory once.
const AT_ONCE: usize = 8;

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

    /// Bytes of a slice of the input and of outputs beside it; none where no columns pass through.
    pub(super) fn columns_bytes(self) -> usize {
        match self.pass {
            ChunkPass::Ranges => 0,
            _ if self.widens() => 3 * self.slice(),
            _ => self.slice(),
        }
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

    /// Whose slice one of them belongs to, and its number there.
    fn place<'k>(&self, turn: usize, lane: Value<'k>) -> (Value<'k>, Value<'k>) {
        let bits = self.of_slice.trailing_zeros() as usize;
        ((lane >> bits) + turn * WARP / self.of_slice, lane & (self.of_slice - 1))
    }

    /// The byte of a piece of a lane's slice in shared memory. Eight lanes side by side meet all banks, whether each takes
    /// a piece of its own slice or all take pieces side by side.
    fn byte<'k>(&self, lane: Value<'k>, piece: Value<'k>) -> Value<'k> {
        let lanes = AT_ONCE / self.of_slice;
        (lane * self.of_slice + (piece ^ ((lane >> lanes.ilog2() as usize) & (self.of_slice - 1)))) * PIECE
    }
}

impl<'k> Chunk<'k> {
    /// Takes the symbols of the chunk, in the order in which they are read, where this lane is to: slices where all columns are
    /// at whole pieces, other symbols one by one. Writes what is given for these, and what slices leave in shared memory.
    pub(super) fn over(
        &self,
        is_active: Value<'k>,
        slice_step: &dyn Fn(),
        step: &dyn Fn(Value<'k>) -> Option<Value<'k>>,
    ) {
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
                let (lane, piece) = pieces.place(turn, self.lane);
                let at = self.input().byte(first(round, lane) * bytes).byte(piece.resize(Ty::I64) * PIECE);
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
                let (lane, piece) = pieces.place(turn, self.lane);
                self.memory().byte(pieces.byte(lane, piece)).store(held.get(), PIECE);
            }
            k.warp_barrier();
            let lanes = taken(round);
            fetch(round + 1);
            k.when(is_in(lanes, self.lane), slice_step);
            let Some(bytes) = output else { return };
            k.warp_barrier();
            let pieces = Pieces::of(symbols * bytes);
            for turn in 0..pieces.of_slice {
                let (lane, piece) = pieces.place(turn, self.lane);
                let to = self.output().byte(first(round, lane) * bytes).byte(piece.resize(Ty::I64) * PIECE);
                let piece = self.given(lane, piece).load(Ty::Words(4), PIECE);
                k.when(is_in(lanes, lane), || to.store(piece, PIECE));
            }
        });
        if !self.is_from_end() {
            singles();
        }
    }

    fn output(&self) -> Value<'k> {
        argument!(self.k, ChunksArguments.output).as_global()
    }

    /// A piece of outputs of a lane's slice in shared memory: over the input where they take no more.
    fn given(&self, lane: Value<'k>, piece: Value<'k>) -> Value<'k> {
        let slice = self.kernel.slice();
        match self.kernel.widens() {
            true => self.memory().at(WARP * slice).byte(Pieces::of(2 * slice).byte(lane, piece)),
            false => self.memory().byte(Pieces::of(slice).byte(lane, piece)),
        }
    }

    /// Takes the steps of a slice in shared memory, and puts what they give there.
    pub(super) fn over_slice(&self, step: &dyn Fn(Value<'k>) -> Option<Value<'k>>) {
        let (k, bytes, is_from_end) = (self.k, self.kernel.symbols.bytes(), self.is_from_end());
        let (slice, length) = (Pieces::of(self.kernel.slice()), PIECE / bytes);
        let count = slice.of_slice;
        k.range(k.i32(0), k.i32(count), k.i32(1), |turn| {
            let piece = if is_from_end { k.i32(count - 1) - turn } else { turn };
            let symbols = self.symbols_at(self.memory().byte(slice.byte(self.lane, piece)));
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
            let first = piece * (length * bytes);
            for (part, words) in words.chunks(4).enumerate() {
                let vector = k.poison(Ty::Words(words.len() as u8));
                let vector =
                    words.iter().enumerate().fold(vector, |vector, (place, word)| vector.with_word(place, *word));
                let to = self.given(self.lane, (first >> PIECE.ilog2() as usize) + part);
                to.byte(first & (PIECE - 1)).store(vector, 4 * words.len());
            }
        });
    }

    /// The symbols that are found in a piece of shared memory.
    pub(super) fn symbols_at(&self, piece: Value<'k>) -> Vec<Value<'k>> {
        let bytes = self.kernel.symbols.bytes();
        let four = piece.load(Ty::Words(4), PIECE);
        let found = |byte: usize| (four.word(byte / 4) >> (8 * (byte % 4))) & ((1 << (8 * bytes)) - 1);
        (0..PIECE).step_by(bytes).map(|byte| self.symbol(found(byte))).collect()
    }
}
