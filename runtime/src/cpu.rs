//! Runs compiled kernels over columns: in one sequential pass, or in two passes that are bound by neither ⊕'s latency
//! nor one core.
//!
//! A *strip* is W blocks, which kernels work on side by side. A long input is cut in tiles of a few strips. Threads take
//! tiles by ticket. For each tile a thread *reduces* its blocks, strip by strip; waits for the state that enters the
//! tile; *folds* the blocks' aggregates onto it, which gives the carry into each block and the state that enters the next
//! tile, and publishes that; and *replays* the blocks from cache while it writes. One thread alone does the same strip by
//! strip, from a nearer cache. In all cases a carry is
//!
//! ```text
//! carry into block k+1 = carry into block k ⊕ aggregate of block k
//! ```
//!
//! so results depend on how the plan cuts blocks, and on nothing else.
//!
//! All calls of generated code are in this file. They rely on columns that were checked: each has the program's layout
//! and the same number of records.

use std::borrow::Cow;
use std::ops::Range;

use scan_codegen::cpu::{Compiled, TileArgs};
use scan_codegen::plan::{Association, Plan};
use scan_ir::Constant;
use scan_ir::facts::LengthOnly;
use scan_protocol::chain::{Chain, Ticket};
use scan_protocol::crew;

use crate::column::{Column, ColumnMut};
use crate::slots::Slots;

/// What a scan runs with, whatever its columns.
pub(crate) struct Engine<'a> {
    pub(crate) kernels: &'a Compiled,
    pub(crate) plan: &'a Plan,
    pub(crate) known: &'a KnownStates,
}

impl Engine<'_> {
    /// Scans all `len` records of columns that were checked against the program that the kernels were compiled from,
    /// starting from the state `seed`, on at most `threads` threads.
    pub(crate) fn scan(
        &self,
        (inputs, outputs, len): (&[Column<'_>], &mut [ColumnMut<'_>], usize),
        seed: &[Constant],
        threads: usize,
    ) {
        let inputs: Vec<*const u8> = inputs.iter().map(|column| column.base).collect();
        let outputs: Vec<*mut u8> = outputs.iter_mut().map(|column| column.base).collect();
        let run = Run { engine: self, inputs: &inputs, outputs: &outputs, len };
        let free = self.plan.association == Association::Any && !self.plan.pays_alone;
        match threads {
            _ if len <= self.plan.direct => run.sequentially(seed),
            0 | 1 if free => run.sequentially(seed),
            0 | 1 => run.in_strips(seed),
            _ => run.in_tiles(seed, threads),
        }
    }
}

/// The length-only components of a state after a block: what the reduction leaves out.
pub(crate) struct KnownStates {
    length_only: LengthOnly,
    block: usize,
    after_block: Vec<(usize, Constant)>,
}

impl KnownStates {
    /// For blocks of this many elements, and for the shorter ones of a last strip.
    pub(crate) fn new(length_only: LengthOnly, block: usize) -> KnownStates {
        let after_block = after(&length_only, block);
        KnownStates { length_only, block, after_block }
    }

    fn after(&self, block: usize) -> Cow<'_, [(usize, Constant)]> {
        match block == self.block {
            true => Cow::Borrowed(&self.after_block),
            false => Cow::Owned(after(&self.length_only, block)),
        }
    }
}

fn after(length_only: &LengthOnly, block: usize) -> Vec<(usize, Constant)> {
    let values = length_only.after(block as u64).into_iter().enumerate();
    values.filter_map(|(component, value)| Some((component, value?))).collect()
}

/// W consecutive blocks.
#[derive(Clone, Copy)]
struct Strip {
    start: usize,
    block: usize,
}

/// The states of a row of blocks: for each block its aggregate and later its carry, then two for the fold.
type States<'a> = Slots<'a, Vec<u128>>;

/// One scan over checked columns.
struct Run<'a> {
    engine: &'a Engine<'a>,
    inputs: &'a [*const u8],
    outputs: &'a [*mut u8],
    len: usize,
}

// SAFETY: threads share the inputs, which are only read, and the outputs, of which each thread writes the records of
// the tiles that it took a ticket for.
unsafe impl Sync for Run<'_> {}

impl Run<'_> {
    /// All elements in one pass.
    fn sequentially(&self, seed: &[Constant]) {
        let mut state = Slots::one(self.engine.kernels.state_layout());
        state.write(0, seed.iter().copied().enumerate());
        self.replay_one(0..self.len, state.from(0));
    }

    /// Strip by strip, each reduced and replayed while it is in the nearest cache.
    fn in_strips(&self, seed: &[Constant]) {
        let ways = self.engine.plan.ways;
        let mut states = self.states(ways);
        states.write(ways, seed.iter().copied().enumerate());
        let (strips, rest) = self.strips(0..self.len);
        for strip in strips {
            self.reduce(strip, 0, &mut states);
            self.fold(ways, &mut states);
            self.replay(strip, 0, &mut states);
        }
        self.replay_one(rest, states.from(ways));
    }

    /// Tile by tile, on this thread and helpers.
    fn in_tiles(&self, seed: &[Constant], threads: usize) {
        let tiles = self.len.div_ceil(self.engine.plan.tile());
        let mut first = Slots::one(self.engine.kernels.state_layout());
        first.write(0, seed.iter().copied().enumerate());
        let chain = Chain::new(tiles, &[first.get(0)]).expect("the verifier bounds states by what a chain carries");
        let work = || {
            let plan = self.engine.plan;
            // A last tile has one strip more at most, of shorter blocks, in place of a whole one.
            let mut states = self.states(plan.ways * plan.strips);
            while let Some(ticket) = chain.take() {
                if !self.tile(ticket, &mut states) {
                    return;
                }
            }
        };
        let helpers = threads.min(tiles).saturating_sub(1);
        crew::with_helpers(|task| rayon::spawn(|| task.run()), helpers, &work);
    }

    /// One tile. False if another thread gave up, which only a panic makes it do.
    fn tile(&self, ticket: Ticket<'_>, states: &mut States<'_>) -> bool {
        let Plan { ways, .. } = *self.engine.plan;
        let tile = self.engine.plan.tile();
        let start = ticket.tile().get() * tile;
        let (strips, rest) = self.strips(start..self.len.min(start + tile));

        for (place, strip) in strips.clone().enumerate() {
            self.reduce(strip, place * ways, states);
        }
        let blocks = strips.clone().count() * ways;
        let Ok(turn) = ticket.wait(states.get(blocks)) else { return false };
        self.fold(blocks, states);
        turn.publish(states.get(blocks));

        for (place, strip) in strips.enumerate() {
            self.replay(strip, place * ways, states);
        }
        self.replay_one(rest, states.from(blocks));
        true
    }

    /// Cuts a range of elements in whole strips, at most one of shorter blocks, and a rest of less than W elements.
    fn strips(&self, range: Range<usize>) -> (impl Iterator<Item = Strip> + Clone, Range<usize>) {
        let Plan { ways, block, .. } = *self.engine.plan;
        let whole = range.len() / (ways * block);
        let last = Strip { start: range.start + whole * ways * block, block: range.len() % (ways * block) / ways };
        let strips = (0..whole).map(move |strip| Strip { start: range.start + strip * ways * block, block });
        let rest = last.start + ways * last.block..range.end;
        (strips.chain((last.block > 0).then_some(last)), rest)
    }

    /// The aggregates of a strip's blocks, into W slots from `slot` on.
    fn reduce(&self, strip: Strip, slot: usize, states: &mut States<'_>) {
        // SAFETY: the blocks are within the columns, and W slots follow.
        unsafe { self.engine.kernels.reduce(&self.args(strip.start, strip.block, states.from(slot))) };
        let known = self.engine.known.after(strip.block);
        for way in 0..self.engine.plan.ways {
            states.write(slot + way, known.iter().copied());
        }
    }

    /// Replaces the aggregates in the first `blocks` slots by the carries into these blocks. The slot after them holds
    /// the carry into the first block, and then the state after the last one.
    fn fold(&self, blocks: usize, states: &mut States<'_>) {
        let (carry, next) = (blocks, blocks + 1);
        for block in 0..blocks {
            let [left, right, out] = [carry, block, next].map(|slot| states.from(slot));
            // SAFETY: all three are slots of this program's state.
            unsafe { self.engine.kernels.advance(left, right, out) };
            states.copy(carry, block);
            states.copy(next, carry);
        }
    }

    /// Writes the results of a strip, whose W carries are in the slots from `slot` on.
    fn replay(&self, strip: Strip, slot: usize, states: &mut States<'_>) {
        // SAFETY: the blocks are within the columns, of which no other thread writes these records; W slots follow.
        unsafe { self.engine.kernels.scan(&self.args(strip.start, strip.block, states.from(slot))) };
    }

    /// Writes the results of a range, one after the other; `carry` is replaced by the state after them.
    fn replay_one(&self, range: Range<usize>, carry: *mut u8) {
        // SAFETY: the elements are within the columns, of which no other thread writes these records.
        unsafe { self.engine.kernels.scan_one(&self.args(range.start, range.len(), carry)) };
    }

    fn args(&self, start: usize, len: usize, states: *mut u8) -> TileArgs {
        TileArgs {
            inputs: self.inputs.as_ptr(),
            outputs: self.outputs.as_ptr(),
            start: start as u64,
            len: len as u64,
            total: self.len as u64,
            states,
        }
    }

    /// Slots for this many blocks and for the fold.
    fn states(&self, blocks: usize) -> States<'_> {
        Slots::many(self.engine.kernels.state_layout(), blocks + 2)
    }
}
