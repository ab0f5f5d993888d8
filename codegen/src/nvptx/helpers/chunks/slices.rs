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

    /// The byte of an entry of the table that its output begins with.
    pub(super) fn given_at(self) -> usize {
        if self.wide { 2 } else { 1 }
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
#[derive(Clone, Copy)]
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

/// The first symbols of the slices whose pieces a lane takes, in rounds.
struct Firsts<'c, 'k> {
    chunk: &'c Chunk<'k>,
    pieces: Pieces,
    symbols: usize,
    /// That of the first turn.
    first: Var<'k>,
    /// Where the chunks begin whose slices a lane takes, if they are of a list.
    listed: Option<Vec<Value<'k>>>,
}

impl<'c, 'k> Firsts<'c, 'k> {
    /// Of the slices of this number.
    fn of(chunk: &'c Chunk<'k>, pieces: Pieces, slice: Value<'k>, symbols: usize) -> Firsts<'c, 'k> {
        let begin = |turn: usize| chunk.begin_of_lane(pieces.place(turn, chunk.lane).0);
        let slice = slice.resize(Ty::I64) * symbols;
        let is_listed = chunk.kernel.pass == ChunkPass::Maps;
        let listed = is_listed.then(|| (0..pieces.of_slice).map(begin).collect());
        let first = chunk.k.var(if is_listed { slice } else { begin(0) + slice });
        Firsts { chunk, pieces, symbols, first, listed }
    }

    fn get(&self, turn: usize) -> Value<'k> {
        let first = self.first.get();
        match &self.listed {
            Some(listed) => first + listed[turn],
            // Chunks of neighbouring lanes lie side by side.
            None if self.chunk.is_from_end() => first - self.stride(turn),
            None => first + self.stride(turn),
        }
    }

    /// How far the slices of a turn lie from those of the first.
    fn stride(&self, turn: usize) -> Value<'k> {
        self.chunk.length * (turn * WARP / self.pieces.of_slice)
    }

    /// To the slices of the next round.
    fn go_on(&self) {
        let first = self.first.get();
        self.first.set(if self.chunk.is_from_end() { first - self.symbols } else { first + self.symbols });
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
        let slices = |symbols: Value<'k>| is_aligned.select(symbols >> bits, k.i64(0)).resize(Ty::I32);
        let (end, rounds) = (self.end(), slices(self.length));
        let whole = is_active.select(slices(end - self.begin), k.i32(0));
        let rest = self.begin + (whole.resize(Ty::I64) << bits);
        let single = |place: Value<'k>| {
            let found = self.input().byte(place * bytes).load_constant(self.found(), bytes);
            let given = step(self.symbol(found.resize(Ty::I32)));
            if let (Some(given), Some(bytes)) = (given, output) {
                let given = (given >> (8 * self.kernel.given_at())).resize(Ty::Int(8 * bytes as u16));
                self.output().byte(place * bytes).store(given, bytes);
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
        if self.is_from_end() {
            singles();
        }
        let pieces = Pieces::of(self.kernel.slice());
        let firsts = Firsts::of(self, pieces, slice(k.i32(0)), symbols);
        let given =
            output.map(|bytes| (bytes, Firsts::of(self, Pieces::of(symbols * bytes), slice(k.i32(0)), symbols)));
        let held: Vec<Var<'k>> = (0..pieces.of_slice).map(|_| k.unset(Ty::Words(4))).collect();
        let lanes = k.unset(Ty::I32);
        let fetch = |round: Value<'k>| {
            lanes.set(taken(round));
            for (turn, held) in held.iter().enumerate() {
                let (lane, piece) = pieces.place(turn, self.lane);
                let at = self.input().byte(firsts.get(turn) * bytes).byte(piece.resize(Ty::I64) * PIECE);
                // What is in no slice is not read; the table has a piece.
                let at = is_in(lanes.get(), lane).select(at, argument!(self.k, ChunksArguments.table).as_global());
                held.set(at.load_constant(Ty::Words(4), PIECE));
            }
            firsts.go_on();
        };
        fetch(k.i32(0));
        k.range(k.i32(0), rounds, k.i32(1), |round| {
            k.warp_barrier();
            for (turn, held) in held.iter().enumerate() {
                let (lane, piece) = pieces.place(turn, self.lane);
                self.memory().byte(pieces.byte(lane, piece)).store(held.get(), PIECE);
            }
            k.warp_barrier();
            let own = lanes.get();
            fetch(round + 1);
            k.when(is_in(own, self.lane), slice_step);
            let Some((bytes, firsts)) = &given else { return };
            k.warp_barrier();
            for turn in 0..firsts.pieces.of_slice {
                let (lane, piece) = firsts.pieces.place(turn, self.lane);
                let to = self.output().byte(firsts.get(turn) * *bytes).byte(piece.resize(Ty::I64) * PIECE);
                let piece = self.given(lane, piece).load(Ty::Words(4), PIECE);
                k.when(is_in(own, lane), || to.store(piece, PIECE));
            }
            firsts.go_on();
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
            let words: Vec<Value<'k>> = outputs.chunks(4 / bytes).map(|own| self.joined(own)).collect();
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

    /// The outputs in entries of the table, as a word.
    fn joined(&self, entries: &[Value<'k>]) -> Value<'k> {
        let pick = |of: [Value<'k>; 2], bytes: usize| {
            self.k.intrinsic(Ty::I32, "scan.pick_bytes", &[of[0], of[1], self.k.i32(bytes)])
        };
        let at = self.kernel.given_at();
        match *entries {
            [first, second] => pick([first, second], at | (at + 1) << 4 | (at + 4) << 8 | (at + 5) << 12),
            [first, second, third, fourth] => {
                let both = |of| pick(of, at | (at + 4) << 4);
                pick([both([first, second]), both([third, fourth])], 0x5410)
            }
            _ => unreachable!("a word has two outputs or four"),
        }
    }

    /// The symbols that are found in a piece of shared memory.
    pub(super) fn symbols_at(&self, piece: Value<'k>) -> Vec<Value<'k>> {
        let bytes = self.kernel.symbols.bytes();
        let four = piece.load(Ty::Words(4), PIECE);
        let found = |byte: usize| (four.word(byte / 4) >> (8 * (byte % 4))) & ((1 << (8 * bytes)) - 1);
        (0..PIECE).step_by(bytes).map(|byte| self.symbol(found(byte))).collect()
    }
}
