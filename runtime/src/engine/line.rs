//! A line: records that are scanned as one run (or its segments), and the calls of generated code that do it.
//!
//! All calls of generated code but that for [short](super::short) lines are in this file. They rely on columns that were checked: each has the program's layout
//! and the same number of records.

use std::ops::Range;

use scan_codegen::cpu::TileArgs;
use scan_codegen::plan::Plan;
use smallvec::SmallVec;

use super::heads::FlagColumn;
use super::slots::Slots;
use super::variant::Kernels;

/// Where the columns start: few, so that none of these is allocated.
pub(crate) type Bases<T> = SmallVec<[T; 8]>;

/// A line to be scanned.
#[derive(Clone)]
pub(crate) struct Line<'a> {
    pub(crate) kernels: &'a Kernels,
    pub(crate) plan: &'a Plan,
    /// For each column where its record 0 is; that of flags that are made last, where it may be anything.
    pub(crate) inputs: Bases<*const u8>,
    pub(crate) outputs: Bases<*mut u8>,
    /// Elements.
    pub(crate) len: usize,
    /// The number of element 0.
    pub(crate) first: usize,
    /// The record that is element 0, and how many records later each next one is. Kernels compiled for a line
    /// rely on `first` and 1.
    pub(crate) place: usize,
    pub(crate) step: isize,
    /// The flags of a segmented scan.
    pub(crate) flags: Option<FlagColumn<'a>>,
    /// The states that segments start from, and the one that element 0 does.
    pub(crate) seed: &'a Slots<'a>,
    pub(crate) carry: &'a Slots<'a>,
    /// Whether outputs are written.
    pub(crate) writes: bool,
    /// Whether its records lie one after the other and are more than a cache holds.
    pub(crate) is_long: bool,
    /// Whether the states after the last element are wanted whole: else only what a replay needs.
    pub(crate) totals: bool,
}

// SAFETY: threads share the inputs, which are only read, and the outputs, of which each thread writes the records of
// the tiles or rows that it took a ticket for.
unsafe impl Sync for Line<'_> {}

/// Blocks that kernels work on side by side: W consecutive ones, or one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip {
    /// The number of the first element.
    pub(crate) start: usize,
    /// Elements of a block.
    pub(crate) block: usize,
    /// How many blocks.
    pub(crate) ways: usize,
    /// The slot of the first block.
    pub(crate) slot: usize,
}

impl Strip {
    pub(crate) fn elements(&self) -> usize {
        self.block * self.ways
    }
}

/// What a thread needs for itself.
pub(crate) struct Worker<'a> {
    pub(crate) states: Slots<'a>,
    /// Room for a record that is not kept.
    sink: SmallVec<[u128; 2]>,
    /// The inputs with the flags that were made last.
    inputs: Bases<*const u8>,
    flags: Vec<bool>,
}

impl<'a> Line<'a> {
    /// A worker with slots for so many states.
    pub(crate) fn worker(&self, slots: usize) -> Worker<'a> {
        let code = &self.kernels.code;
        Worker {
            states: Slots::new(code.state_layout(), slots),
            sink: SmallVec::from_elem(0, code.sink_bytes().div_ceil(16)),
            inputs: self.inputs.clone(),
            flags: Vec::new(),
        }
    }

    /// Whether flags must be made for each tile.
    pub(crate) fn makes_flags(&self) -> bool {
        self.flags.is_some_and(|flags| flags.in_memory().is_none())
    }

    /// Makes the flags of these elements, if any need to be made.
    pub(crate) fn make_flags(&self, numbers: Range<usize>, worker: &mut Worker<'_>) {
        if let Some(flags) = self.flags.filter(|flags| flags.in_memory().is_none())
            && let Some(column) = worker.inputs.last_mut()
        {
            *column = flags.make(numbers, &mut worker.flags);
        }
    }

    /// Puts the aggregates of a level's stages over a strip's blocks into their slots.
    pub(crate) fn reduce(&self, level: usize, strip: Strip, worker: &mut Worker<'_>) {
        let code = &self.kernels.code;
        let args = self.args(strip, worker);
        // SAFETY: the blocks are within the columns, and a slot for each follows.
        unsafe {
            match strip.ways {
                1 => code.reduce_one(level, &args),
                _ => code.reduce(level, &args),
            }
        }
        self.add_known(level, strip, &mut worker.states);
    }

    /// Writes into a strip's aggregates what reductions leave out.
    fn add_known(&self, level: usize, strip: Strip, states: &mut Slots<'_>) {
        let known = self.kernels.known.after(&self.kernels.code, level, strip.block);
        if !known.is_empty() {
            (strip.slot..strip.slot + strip.ways).for_each(|slot| states.write(slot, known.iter().copied()));
        }
    }

    /// Replaces a level's aggregates in `blocks` slots by the carries into these blocks. The slot `carry` has the
    /// carry into the first block, and then the state after the last one; the slot after it is used for that.
    pub(crate) fn fold(&self, level: usize, blocks: Range<usize>, carry: usize, states: &mut Slots<'_>) {
        let code = &self.kernels.code;
        let part = code.part_of(level);
        let next = carry + 1;
        for block in blocks {
            let [earlier, later, out] = states.starts([carry, block, next]);
            // SAFETY: all three are slots of this program's states.
            unsafe {
                match self.totals {
                    true => code.combine(level, earlier, later, out),
                    false => code.advance(level, earlier, later, out),
                }
            }
            states.copy_part(carry, block, part.clone());
            states.copy_part(next, carry, part.clone());
        }
    }

    /// Writes the results of a strip, whose carries are in its slots.
    pub(crate) fn replay(&self, strip: Strip, worker: &mut Worker<'_>) {
        let code = &self.kernels.code;
        let args = self.args(strip, worker);
        // SAFETY: the blocks are within the columns, of which no other thread writes these records (or, of records that
        // are kept, those of these ranks); a slot for each block follows.
        unsafe {
            match strip.ways {
                1 => code.scan_one(&args),
                _ => code.scan(&args),
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

    /// Writes the results of so many blocks in one pass. The slot `carry` has the carry into the first, and then the one behind
    /// the last; the slot after it is used for that.
    pub(crate) fn replay_blocks(&self, blocks: Strip, carry: usize, worker: &mut Worker<'_>) {
        let code = &self.kernels.code;
        let aggregate = Strip { slot: carry + 1, ways: 1, ..blocks };
        self.add_known(0, aggregate, &mut worker.states);
        let args = self.args(Strip { slot: carry, ..blocks }, worker);
        // SAFETY: the blocks are within the columns, of which no other thread writes these records; two slots follow.
        unsafe { code.scan_blocks(&args) }
    }

    /// The blocks of a line are one after the other.
    fn args(&self, strip: Strip, worker: &mut Worker<'_>) -> TileArgs {
        let records = |elements: usize| (elements as isize).wrapping_mul(self.step);
        TileArgs {
            inputs: worker.inputs.as_ptr(),
            outputs: self.outputs.as_ptr(),
            start: (self.first + strip.start) as u64,
            len: strip.block as u64,
            total: (self.first + self.len) as u64,
            states: worker.states.from(strip.slot),
            seed: self.seed.as_ptr(),
            sink: worker.sink.as_mut_ptr().cast(),
            place: self.place.wrapping_add_signed(records(strip.start)) as u64,
            step: self.step as u64,
            way: records(strip.block) as u64,
            numbers: strip.block as u64,
            blocks: strip.ways as u64,
        }
    }

    /// Reduces or replays rows that start `apart` records from each other, the first at record `place`, from element
    /// `start` on: `strip` has a row a way.
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
        let args = TileArgs { place, way: apart as u64, numbers: 0, ..self.args(strip, worker) };
        // SAFETY: these elements of these rows are within the columns, and no other thread has these rows; a slot for each
        // row follows.
        unsafe {
            match (level, strip.ways) {
                (None, 1) => code.scan_one(&args),
                (None, _) => code.scan(&args),
                (Some(level), 1) => code.reduce_one(level, &args),
                (Some(level), _) => code.reduce(level, &args),
            }
        }
        if let Some(level) = level {
            self.add_known(level, strip, &mut worker.states);
        }
    }

    /// Writes the results of so many rows of this line's length, `pitch` records from one to the next, the first at record `place`, each
    /// from the carry in slot 0. Needs kernels for lines.
    pub(crate) fn rows_in_turn(&self, rows: usize, (place, pitch): (usize, usize), worker: &mut Worker<'_>) {
        let row = Strip { start: 0, block: self.len, ways: 1, slot: 0 };
        let args = self.args(row, worker);
        let args = TileArgs { start: place as u64, way: pitch as u64, blocks: rows as u64, ..args };
        // SAFETY: these rows are within the columns, and no other thread has them.
        unsafe { self.kernels.code.scan_rows(&args) };
    }

    /// Puts carry ⊕ aggregate, for a level's aggregates in these slots, into the slots from `totals` on.
    pub(crate) fn add_carry(&self, level: usize, slots: Range<usize>, totals: usize, states: &mut Slots<'_>) {
        for (way, slot) in slots.enumerate() {
            let [later, out] = states.starts([slot, totals + way]);
            // SAFETY: all three are slots of this program's states.
            unsafe { self.kernels.code.combine(level, self.carry.as_ptr(), later, out) };
        }
    }
}
