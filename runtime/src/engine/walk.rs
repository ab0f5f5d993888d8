//! How a line is walked: in one sequential pass, or in passes that are bound by neither ⊕'s latency nor one core.
//!
//! A *strip* is W blocks, which kernels work on side by side. A long line is cut in tiles of a few strips. Threads take
//! tiles by ticket. For each tile a thread *reduces* its blocks, strip by strip; waits for the state that enters the
//! tile; *folds* the blocks' aggregates onto it, which gives the carry into each block and the state that enters the next
//! tile, and publishes that; and *replays* the blocks from cache while it writes. A cascade does the first three level by
//! level, since a later stage needs the true states of the earlier ones. One thread alone does the same strip by
//! strip, from a nearer cache. In all cases a carry is
//!
//! ```text
//! carry into block k+1 = carry into block k ⊕ aggregate of block k
//! ```
//!
//! so results depend on how the plan cuts blocks, and on nothing else.
//!
//! Where an operator is exact in any association and one pass is the fastest, a tile whose last elements *restart* (a segment begins
//! among them) is not reduced: they alone say what comes after the tile, which is then scanned in one pass.

use std::ops::Range;

use scan_codegen::plan::Plan;
use scan_protocol::chain::{Chain, Ticket};
use scan_protocol::crew;
use smallvec::SmallVec;

use super::line::{Line, Strip, Worker};
use super::slots::Slots;

/// Work of no more than so many tiles is done before a helper has woken up.
const LEAST_TILES: usize = 2;

/// The fewest elements at the end of a tile that are looked at for a restart, by how many times more they are next, and
/// the least part of a tile that is looked at no more: then it is reduced, for a sixth more in all.
const FEWEST_AT_END: usize = 64;
const MORE_AT_END: usize = 4;
const PART_AT_END: usize = 8;

/// How a range of elements is cut.
#[derive(Clone, Copy)]
pub(super) enum Cut {
    /// One block.
    Whole,
    /// Whole strips, at most one of shorter blocks, and a rest of less than W elements as a block of its own.
    Strips,
}

impl<'a> Line<'a> {
    /// Scans the line on at most `threads` threads. Gives the states after its last element.
    pub(crate) fn run(&self, threads: impl FnOnce() -> usize) -> Slots<'a> {
        let sequentially = || if self.is_one_pass() { self.in_one_pass() } else { self.in_strips(Cut::Whole) };
        if self.len <= self.plan.direct {
            return sequentially();
        }
        let threads = if self.len > LEAST_TILES * self.plan.tile() { threads() } else { 1 };
        match threads {
            threads if self.plan.is_sequential(threads) => sequentially(),
            0 | 1 => self.in_strips(Cut::Strips),
            threads => self.in_tiles(threads),
        }
    }

    /// All elements in one pass, from the carry on.
    pub(super) fn in_one_pass(&self) -> Slots<'a> {
        let mut worker = self.worker(1);
        worker.states.take(0, self.carry, 0);
        for range in self.ranges() {
            self.make_flags(range.clone(), &mut worker);
            self.pass(Strip { start: range.start, block: range.len(), ways: 1, slot: 0 }, &mut worker);
        }
        worker.states
    }

    /// Strip by strip, each reduced and replayed while it is in the nearest cache.
    pub(super) fn in_strips(&self, cut: Cut) -> Slots<'a> {
        let ways = self.plan.ways;
        let carry = ways;
        let mut worker = self.worker(ways + 2);
        worker.states.take(carry, self.carry, 0);
        for range in self.ranges() {
            self.make_flags(range.clone(), &mut worker);
            let whole = self.in_blocks(range.clone(), cut, carry, &mut worker);
            for strip in self.strips(whole..range.end, cut) {
                let strip = Strip { slot: 0, ..strip };
                self.ask_for_results(strip);
                for level in 0..self.kernels.code.levels() {
                    self.reduce(level, strip, &mut worker);
                    self.fold(level, 0..strip.ways, carry, &mut worker.states);
                }
                self.ask_for_next(strip);
                if self.writes {
                    self.replay(strip, &mut worker);
                }
            }
        }
        let mut after = Slots::new(self.kernels.code.state_layout(), 1);
        after.take(0, &worker.states, carry);
        after
    }

    /// As many whole strips of a range as there are, in one pass, if there is a kernel for that. Gives where they end.
    fn in_blocks(&self, range: Range<usize>, cut: Cut, carry: usize, worker: &mut Worker<'_>) -> usize {
        let Plan { ways, block, .. } = *self.plan;
        let is_one_pass = matches!(cut, Cut::Strips) && self.writes && !self.totals && self.step == 1;
        if !is_one_pass || !self.kernels.code.scans_blocks_of(block) {
            return range.start;
        }
        let blocks = range.len() / (ways * block) * ways;
        self.replay_blocks(Strip { start: range.start, block, ways: blocks, slot: carry }, carry, worker);
        range.start + blocks * block
    }

    /// Tile by tile, on this thread and helpers.
    fn in_tiles(&self, threads: usize) -> Slots<'a> {
        let code = &self.kernels.code;
        let parts = (0..code.levels()).map(|level| code.part_of(level));
        let seeds: SmallVec<[&[u8]; 4]> = parts.clone().map(|part| self.carry.part(0, part)).collect();
        let tiles = self.len.div_ceil(self.plan.tile());
        let mut chain = Chain::new(tiles, &seeds).expect("the verifier bounds states by what a chain carries");
        let work = || {
            // The last tile may have a rest beside its blocks; then two slots for the fold.
            let mut worker = self.worker(self.plan.ways * self.plan.strips + 1 + 2);
            while let Some(ticket) = chain.take() {
                if !self.tile(ticket, &mut worker) {
                    return;
                }
            }
        };
        let helpers = threads.min(tiles).saturating_sub(1);
        crew::with_helpers(|task| rayon::spawn(|| task.run()), helpers, &work);
        let mut after = Slots::new(code.state_layout(), 1);
        for (level, part) in parts.enumerate() {
            chain.total(level, after.part_mut(0, part)).expect("all tiles were published, or a panic was resumed");
        }
        after
    }

    /// One tile. False if another thread gave up, which only a panic makes it do.
    fn tile(&self, ticket: Ticket<'_>, worker: &mut Worker<'_>) -> bool {
        let code = &self.kernels.code;
        let tile = self.plan.tile();
        let start = ticket.tile().get() * tile;
        let range = start..self.len.min(start + tile);
        self.make_flags(range.clone(), worker);
        let is_reduced = self.reduce_end(range.clone(), worker);
        let strips = self.strips(range, if is_reduced { Cut::Whole } else { Cut::Strips });
        let blocks: usize = strips.clone().map(|strip| strip.ways).sum();
        let carry = blocks;
        let mut owed = Some(ticket);
        for level in 0..code.levels() {
            for strip in strips.clone().filter(|_| !is_reduced) {
                if level == 0 {
                    self.ask_for_results(strip);
                }
                self.reduce(level, strip, worker);
            }
            let part = code.part_of(level);
            let Some(ticket) = owed.take() else { return false };
            let Ok(turn) = ticket.wait(worker.states.part_mut(carry, part.clone())) else { return false };
            self.fold(level, 0..blocks, carry, &mut worker.states);
            owed = turn.publish(worker.states.part(carry, part));
        }
        if self.writes {
            strips.for_each(|strip| self.replay(strip, worker));
        }
        true
    }

    /// Whether a tile's last elements forget what was before them. Then slot 0 has their aggregate, which will do for that of the
    /// whole tile as one block.
    fn reduce_end(&self, tile: Range<usize>, worker: &mut Worker<'_>) -> bool {
        let Some(restarts) = &self.kernels.restarts else { return false };
        let lengths = std::iter::successors(Some(FEWEST_AT_END), |elements| Some(MORE_AT_END * elements));
        lengths.take_while(|&elements| elements <= tile.len() / PART_AT_END).any(|elements| {
            self.reduce(0, Strip { start: tile.end - elements, block: elements, ways: 1, slot: 0 }, worker);
            restarts.iter().all(|&field| worker.states.read(0, field).bits() != 0)
        })
    }

    /// The line in pieces whose flags are made together.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let piece = if self.makes_flags() { self.plan.tile() } else { self.len.max(1) };
        let len = self.len;
        (0..len.div_ceil(piece)).map(move |place| place * piece..len.min((place + 1) * piece))
    }

    /// Cuts a range of elements.
    fn strips(&self, range: Range<usize>, cut: Cut) -> impl Iterator<Item = Strip> + Clone + use<> {
        let Plan { ways, block, .. } = *self.plan;
        let (whole, shorter) = match cut {
            Cut::Whole => (0, 0),
            Cut::Strips => (range.len() / (ways * block), range.len() % (ways * block) / ways),
        };
        let strip = move |place: usize| {
            let start = range.start + place * ways * block;
            Strip { start, block, ways, slot: place * ways }
        };
        let last = Strip { block: shorter, ..strip(whole) };
        let has_shorter = shorter > 0;
        let start = last.start + ways * shorter;
        let slot = last.slot + if has_shorter { ways } else { 0 };
        let rest = Strip { start, block: range.end - start, ways: 1, slot };
        let (last, rest) = (has_shorter.then_some(last), (rest.block > 0).then_some(rest));
        (0..whole).map(strip).chain(last).chain(rest)
    }
}
