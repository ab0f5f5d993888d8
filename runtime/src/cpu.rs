//! Runs compiled kernels over columns: directly, or tile by tile on all cores.
//!
//! A long input is cut in tiles of W blocks (the plan says how large). Threads take tiles by ticket. For each tile a
//! thread *reduces* the W blocks in one interleaved loop, waits for the state that enters the tile, folds the W
//! aggregates onto it, publishes the result for the next tile, and *replays* the W blocks from cache while it writes.
//! The tree of combinations depends on the plan and the length alone, so results do too.
//!
//! All calls of generated code are in this file. They rely on columns that were checked: each has the program's layout
//! and the same number of records.

use std::borrow::Cow;

use scan_codegen::cpu::{Compiled, TileArgs};
use scan_codegen::plan::{Association, MAX_WAYS, Plan};
use scan_ir::facts::LengthOnly;
use scan_ir::{Constant, Layout};
use scan_protocol::chain::{Chain, Ticket};
use scan_protocol::crew;

use crate::column::{Column, ColumnMut};
use crate::slots::Slots;

/// What a scan runs with, whatever its columns.
pub(crate) struct Engine<'a> {
    pub(crate) kernels: &'a Compiled,
    pub(crate) plan: &'a Plan,
    pub(crate) state: &'a Layout,
    pub(crate) known: &'a KnownStates,
}

/// The length-only components of a state after a block: what the reduction leaves out.
pub(crate) struct KnownStates {
    length_only: LengthOnly,
    block: usize,
    after_block: Vec<(usize, Constant)>,
}

impl KnownStates {
    /// For blocks of this many elements, and for the shorter ones of a last tile.
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
        let alone = threads <= 1 && self.plan.association == Association::Any;
        if len <= self.plan.direct || alone { run.directly(seed) } else { run.in_tiles(seed, threads) }
    }
}

/// A slot for the aggregate of each block of a tile, then one for the carry into each block, then the tile's prefix.
type TileStates<'a> = Slots<'a, { 2 * MAX_WAYS + 1 }>;

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
    fn directly(&self, seed: &[Constant]) {
        let mut state = self.slots::<1>();
        state.write(0, seed.iter().copied().enumerate());
        self.replay_one(0, self.len, state.from(0));
    }

    fn in_tiles(&self, seed: &[Constant], threads: usize) {
        let tiles = self.len.div_ceil(self.engine.plan.tile());
        let mut first = self.slots::<1>();
        first.write(0, seed.iter().copied().enumerate());
        let chain = Chain::new(tiles, first.get(0)).expect("the verifier bounds states by what a chain carries");
        let work = || {
            let mut states = self.slots();
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
    fn tile(&self, ticket: Ticket<'_>, states: &mut TileStates<'_>) -> bool {
        let Plan { ways, .. } = *self.engine.plan;
        let tile = self.engine.plan.tile();
        let start = ticket.tile().get() * tile;
        let records = tile.min(self.len - start);
        let block = records / ways;

        self.reduce(start, block, states);
        let Ok(turn) = ticket.wait(states.get(ways)) else { return false };
        for way in 0..ways {
            self.combine(ways + way, way, ways + way + 1, states);
        }
        turn.publish(states.get(2 * ways));

        self.replay(start, block, states.from(ways));
        let rest = start + ways * block;
        self.replay_one(rest, start + records - rest, states.from(2 * ways - 1));
        true
    }

    /// The aggregates of W consecutive blocks of `block` elements each, into the first W slots.
    fn reduce(&self, start: usize, block: usize, states: &mut TileStates<'_>) {
        // SAFETY: the blocks are within the columns, and W slots follow.
        unsafe { self.engine.kernels.reduce(&self.args(start, block, states.from(0))) };
        let known = self.engine.known.after(block);
        for way in 0..self.engine.plan.ways {
            states.write(way, known.iter().copied());
        }
    }

    /// slot `out` = slot `left` ⊕ slot `right`
    fn combine(&self, left: usize, right: usize, out: usize, states: &mut TileStates<'_>) {
        let [left, right, out] = [left, right, out].map(|slot| states.from(slot));
        // SAFETY: all three are slots of this program's state.
        unsafe { self.engine.kernels.combine(left, right, out) };
    }

    /// Writes the results of W consecutive blocks of `block` elements each; `carries` points at their W carries.
    fn replay(&self, start: usize, block: usize, carries: *mut u8) {
        // SAFETY: the blocks are within the columns, of which no other thread writes these records; W slots follow.
        unsafe { self.engine.kernels.scan(&self.args(start, block, carries)) };
    }

    /// Writes the results of `len` elements one after the other; `carry` is replaced by the state after them.
    fn replay_one(&self, start: usize, len: usize, carry: *mut u8) {
        // SAFETY: the elements are within the columns, of which no other thread writes these records.
        unsafe { self.engine.kernels.scan_one(&self.args(start, len, carry)) };
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

    fn slots<const ROOMS: usize>(&self) -> Slots<'_, ROOMS> {
        Slots::new(self.engine.state, self.engine.kernels.state_stride())
    }
}
