//! A line: records that are scanned as one sequence (or its segments), and the calls of generated
//! code that do it.
//!
//! These calls rely on columns that were checked: each has the program's layout and the same number
//! of records.

use std::marker::PhantomData;
use std::ops::Range;

use monoscan_codegen::cpu::{Kernel, Spacing, TileArgs};
use monoscan_codegen::plan::Plan;
use monoscan_protocol::state::State;
use smallvec::SmallVec;

use super::interrupt::Interrupt;
use super::segments::Segments;
use super::slots::{Slots, Start};
use super::variant::Kernels;
use super::worker::{AGGREGATE, BEFORE, BLOCKS, CARRY, NEXT, Strip, Worker};

/// Where the columns start: few, so that none of these is allocated.
pub(crate) type Bases<T> = SmallVec<[T; 8]>;

/// A line to be scanned.
#[derive(Clone)]
pub(crate) struct Line<'a> {
    pub(crate) kernels: &'a Kernels,
    pub(crate) plan: &'a Plan,
    /// For each column where its record 0 is; last those of segments, which may be anything if they are made.
    pub(crate) inputs: Bases<*const u8>,
    pub(crate) outputs: Bases<*mut u8>,
    /// How far apart the records of each column are, inputs first, for kernels of spaced access.
    pub(crate) spacings: &'a [Spacing],
    /// Elements.
    pub(crate) len: usize,
    /// The number of element 0.
    pub(crate) first: usize,
    /// The record that is element 0, and how many records later each next one is. Kernels compiled for a line
    /// rely on `first` and 1.
    pub(crate) place: usize,
    pub(crate) step: isize,
    /// The segments of a segmented scan.
    pub(crate) segments: Option<Segments<'a>>,
    /// The state that segments start from, and the one that element 0 does.
    pub(crate) init: Start<'a>,
    pub(crate) carry: Start<'a>,
    /// Instead of these, a start for each of the runs that this line is a template of.
    pub(crate) each: Option<Each<'a>>,
    /// Where the values of parameters are.
    pub(crate) parameters: *const u8,
    /// The flag that may interrupt the call.
    pub(crate) interrupt: Option<&'a Interrupt<'a>>,
    /// Whether outputs are written.
    pub(crate) writes: bool,
    /// Whether its records lie one after the other, in either direction, and are more than a cache holds.
    pub(crate) is_long: bool,
    /// How many records outputs have space for, if one thread alone writes them, else 0.
    pub(crate) capacity: usize,
    /// Whether results go past the caches, as far as kernels and addresses allow.
    pub(crate) streams: bool,
    /// Whether the states after the last element are wanted whole: else only what a replay needs.
    pub(crate) totals: bool,
}

/// A start for each of many runs, in the order of the runs.
#[derive(Clone, Copy)]
pub(crate) struct Each<'a> {
    pub(crate) states: &'a Slots<'a>,
    /// Whether they are initial states, and not those that a stream goes on from.
    pub(crate) are_initial: bool,
}

// SAFETY: threads share the inputs, which are only read, and the outputs, of which each thread writes the records of
// the tiles that it claimed or the rows that it took a ticket for. In place nobody reads what somebody may write: a tile that is
// claimed is read by its owner alone.
unsafe impl Sync for Line<'_> {}
// SAFETY: as above.
unsafe impl Send for Line<'_> {}

impl<'a> Line<'a> {
    /// Whether the call is given up: nothing more needs to be done, and results mean nothing.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(Interrupt::is_set)
    }

    /// Whether columns of segments must be made for each tile.
    pub(crate) fn makes_segments(&self) -> bool {
        self.segments.is_some_and(|segments| segments.are_made())
    }

    /// Makes the columns of segments for these elements, if any need to be made.
    pub(crate) fn make_segments(&self, numbers: Range<usize>, worker: &mut Worker<'_>) {
        if let Some(segments) = self.segments.filter(Segments::are_made) {
            let own = worker.inputs.len() - segments.columns();
            segments.make(numbers, &mut worker.made, &mut worker.inputs[own..]);
        }
    }

    /// The states that one of the runs starts from that this line is a template of: the initial one, and the one that its
    /// element 0 does.
    pub(crate) fn starts(&self, run: usize) -> (Start<'a>, Start<'a>) {
        match self.each {
            Some(Each { states, are_initial: true }) => (Start::of(states, run), Start::of(states, run)),
            Some(Each { states, are_initial: false }) => (self.init, Start::of(states, run)),
            None => (self.init, self.carry),
        }
    }

    /// Puts the aggregates of a level's stages over a strip's blocks into their slots.
    pub(crate) fn reduce(&self, level: usize, strip: Strip, worker: &mut Worker<'_>) {
        let code = &self.kernels.code;
        self.put_known(level, strip, &mut worker.states);
        let args = self.args(strip, worker);
        // SAFETY: the blocks are within the columns, and a slot for each follows.
        unsafe {
            match strip.interleave {
                1 => code.reduce_one(level, &args),
                _ => code.reduce(level, &args),
            }
        }
    }

    /// Puts the components into a strip's slots that its reduction leaves out, and leaves there.
    pub(super) fn put_known(&self, level: usize, strip: Strip, states: &mut Slots<'_>) {
        if let Some(known) = self.kernels.length_constants.after(&self.kernels.code, level, strip.block) {
            let slots = states.first(strip.slots().end);
            let part = slots.part(self.kernels.code.part_of(level));
            strip.slots().for_each(|slot| slots.put_part(&known, slot, &part));
        }
    }

    /// Replaces a level's aggregates in these slots by the carries into their blocks. The carry is that into the first block,
    /// and then the one behind the last.
    pub(crate) fn fold(&self, level: usize, blocks: Range<usize>, states: &mut Slots<'_>) {
        let add = self.kernels.code.carry_update_fn(level, self.totals);
        let (mut carry, mut next) = (CARRY, NEXT);
        let slots = states.first(blocks.end);
        let part = slots.part(self.kernels.code.part_of(level));
        for block in blocks {
            let (earlier, aggregate, out) = (slots.at(carry), slots.at(block), slots.at(next));
            // SAFETY: all three are slots of this program's states.
            unsafe {
                add(earlier, aggregate, out);
                part.copy(earlier, aggregate);
            }
            std::mem::swap(&mut carry, &mut next);
        }
        if carry != CARRY {
            slots.copy_part(carry, CARRY, &part);
        }
    }

    /// Adds a level's aggregates in these slots to the tile's.
    pub(crate) fn add_aggregates(&self, level: usize, blocks: Range<usize>, states: &mut Slots<'_>) {
        let add = self.kernels.code.carry_update_fn(level, true);
        let slots = states.first(blocks.end);
        let aggregate = slots.at(AGGREGATE);
        // SAFETY: both are slots of this program's states.
        blocks.for_each(|block| unsafe { add(aggregate, slots.at(block), aggregate) });
    }

    /// Starts the aggregate of a tile: without elements yet.
    pub(crate) fn start_aggregate(&self, states: &mut Slots<'_>) {
        states.put(AGGREGATE, &self.kernels.identity, 0..self.kernels.identity.len());
    }

    /// Puts the carry behind a tile: the one that entered it ⊕ its aggregate.
    pub(crate) fn add_tile(&self, states: &mut Slots<'_>) {
        for level in 0..self.kernels.code.levels() {
            let slots = states.first(BLOCKS);
            let (carry, aggregate, out) = (slots.at(BEFORE), slots.at(AGGREGATE), slots.at(CARRY));
            // SAFETY: all three are slots of this program's states.
            unsafe { self.kernels.code.carry_update_fn(level, self.totals)(carry, aggregate, out) };
        }
    }

    /// carry ⊕ aggregate at a level, for states that threads tell each other: the result replaces the carry.
    pub(crate) fn add_state(&self, level: usize, carry: &mut State, aggregate: &State) {
        let carry = carry.as_mut_ptr();
        // SAFETY: both are as long as a slot and aligned as one, and hold states that were in slots.
        unsafe { self.kernels.code.carry_update_fn(level, self.totals)(carry, aggregate.as_ptr(), carry) };
    }

    /// Writes the results of a strip, whose carries are in its slots.
    pub(crate) fn replay(&self, strip: Strip, worker: &mut Worker<'_>) {
        let code = &self.kernels.code;
        let args = self.args(strip, worker);
        let kernel = strip.kernel();
        // SAFETY: the blocks are within the columns, of which no other thread writes these records (or, of records that
        // are kept, those of these ranks); a slot for each block follows; blocks are aligned where stores must be.
        unsafe {
            match (self.streaming(kernel, strip), kernel) {
                (Some(scan), _) => scan(&args),
                (None, Kernel::ScanOne) => code.scan_one(&args),
                (None, _) => code.scan(&args),
            }
        }
    }

    /// Whether there is a kernel for one pass that is no more work than a reduction and a replay.
    pub(crate) fn is_one_pass(&self) -> bool {
        self.writes && !self.totals || self.kernels.code.whole_pays()
    }

    /// One pass over a block from its carry, with as much of the states after it as is wanted.
    pub(crate) fn pass(&self, block: Strip, worker: &mut Worker<'_>) {
        if self.writes && !self.totals {
            return self.replay(block, worker);
        }
        let args = self.args(block, worker);
        // SAFETY: as in `replay`, and without outputs nothing is written but the slot.
        unsafe { self.kernels.code.pass_whole(self.writes, &args) }
    }

    /// Writes the results of so many blocks in one pass. The carry is that into the first, and then the one behind the last. With
    /// `adds`, their aggregates are added to the tile's.
    pub(crate) fn replay_blocks(&self, blocks: Strip, adds: bool, worker: &mut Worker<'_>) {
        let code = &self.kernels.code;
        self.put_known(0, Strip { slot: NEXT, interleave: 1, ..blocks }, &mut worker.states);
        let args = TileArgs { adds: u64::from(adds), ..self.args(Strip { slot: CARRY, ..blocks }, worker) };
        let streaming = self.streaming(Kernel::ScanBlocks, blocks);
        // SAFETY: the blocks are within the columns, of which no other thread writes these records; the slots are as the kernel
        // has them: the carry, what reductions leave out, the tile's aggregate; blocks are aligned where stores must be.
        unsafe {
            match streaming {
                Some(scan) => scan(&args),
                None => code.scan_blocks(&args),
            }
        }
    }

    /// The blocks of a line are one after the other.
    pub(super) fn args<'tables>(&'tables self, strip: Strip, worker: &'tables mut Worker<'_>) -> TileArgs<'tables> {
        let records = |elements: usize| (elements as isize).wrapping_mul(self.step);
        TileArgs {
            inputs: worker.inputs.as_ptr(),
            outputs: self.outputs.as_ptr(),
            start: (self.first + strip.start) as u64,
            len: strip.block as u64,
            total: (self.first + self.len) as u64,
            states: worker.states.from(strip.slot),
            init: self.init.as_ptr(),
            parameters: self.parameters,
            sink: worker.sink.as_mut_ptr().cast(),
            capacity: self.capacity as u64,
            place: self.place.wrapping_add_signed(records(strip.start)) as u64,
            step: self.step as u64,
            pitch: records(strip.block) as u64,
            numbers: strip.block as u64,
            blocks: strip.interleave as u64,
            adds: 0,
            spacings: self.spacings.as_ptr(),
            tables: PhantomData,
        }
    }

    /// Reduces or replays rows that start `apart` records from each other, the first at record `place`, from element
    /// `start` on: `strip` has a row for each block.
    pub(crate) fn rows(
        &self,
        level: Option<usize>,
        strip: Strip,
        (place, apart): (usize, usize),
        worker: &mut Worker<'_>,
    ) {
        let code = &self.kernels.code;
        let records = (strip.start as isize).wrapping_mul(self.step);
        let place = place.wrapping_add_signed(records) as u64;
        if let Some(level) = level {
            self.put_known(level, strip, &mut worker.states);
        }
        let args = TileArgs { place, pitch: apart as u64, numbers: 0, ..self.args(strip, worker) };
        // SAFETY: these elements of these rows are within the columns, and no other thread has these rows; a slot for each
        // row follows.
        unsafe {
            match (level, strip.interleave) {
                (None, 1) => code.scan_one(&args),
                (None, _) => code.scan(&args),
                (Some(level), 1) => code.reduce_one(level, &args),
                (Some(level), _) => code.reduce(level, &args),
            }
        }
    }

    /// Takes as many neighbouring rows as this kernel takes past elements from `start` on, the first at record `place`: as so many vectors
    /// have, with memory for their states, if it takes any number.
    pub(crate) fn side_by_side_in_lanes(
        &self,
        kernel: Kernel,
        strip: Strip,
        place: usize,
        worker: &mut Worker<'_>,
        (vectors, memory): (usize, &mut [u128]),
    ) {
        let records = (strip.start as isize).wrapping_mul(self.step);
        let args = TileArgs {
            place: place.wrapping_add_signed(records) as u64,
            blocks: vectors as u64,
            sink: memory.as_mut_ptr().cast(),
            ..self.args(strip, worker)
        };
        // SAFETY: as in `rows`.
        unsafe { self.kernels.code.walk_side_by_side(kernel, &args) };
    }

    /// Writes the results of so many rows of this line's length, `pitch` records from one to the next, the first at record `place`, each
    /// from the carry in slot 0. Needs kernels for lines.
    pub(crate) fn rows_in_turn(&self, rows: usize, (place, pitch): (usize, usize), worker: &mut Worker<'_>) {
        let row = Strip { start: 0, block: self.len, interleave: 1, slot: 0 };
        let args = self.args(row, worker);
        let args = TileArgs { start: place as u64, pitch: pitch as u64, blocks: rows as u64, ..args };
        // SAFETY: these rows are within the columns, and no other thread has them.
        unsafe { self.kernels.code.scan_rows(&args) };
    }

    /// Puts carry ⊕ aggregate, for a level's aggregates of the rows from `first` on, which are in these slots, into the slots
    /// from `totals` on.
    pub(crate) fn add_carry(
        &self,
        level: usize,
        first: usize,
        slots: Range<usize>,
        totals: usize,
        states: &mut Slots<'_>,
    ) {
        let all = states.first(totals + slots.len());
        for (block, slot) in slots.enumerate() {
            let (_, carry) = self.starts(first + block);
            // SAFETY: all three are slots of this program's states.
            unsafe { self.kernels.code.combine(level, carry.as_ptr(), all.at(slot), all.at(totals + block)) };
        }
    }
}
