//! How a line is walked: in one sequential pass, or in passes that are bound by neither ⊕'s latency
//! nor one core.
//!
//! A *strip* is W blocks, which kernels work on side by side; a *tile* is a few strips. A pass
//! *reduces* the blocks of a strip, *folds* their aggregates onto the carry, which gives the carry
//! into each block, and *replays* the blocks from the nearest cache while it writes. A cascade does
//! the first two level by level, since a later stage needs the true states of the earlier ones.
//!
//! One thread alone walks a line so; in one sequential pass, where the operator is exact; or block
//! after block in one pass ([`together`](super::together)). Where a plan has strips, timed calls
//! choose. Several threads share its tiles ([`tiles`](super::tiles)).
//!
//! The association is fixed by the plan and the length of the line alone:
//!
//! ```text
//! within a tile    carry into block k+1 = carry into block k ⊕ aggregate of block k
//! between tiles    carry into tile t+1  = carry into tile t ⊕ (identity ⊕ aggregate of block 0 ⊕ … ⊕ aggregate of block n−1 of t)
//! ```
//!
//! The second line makes a tile's aggregate something that can be known before its carry, so that
//! the chain from tile to tile is one ⊕ each. The first keeps it out of the tile: an aggregate of a
//! whole tile multiplies thousands of factors, and where those underflow, what a carry contributes
//! to the results of the tile is still right. A line of one tile has the first line alone, and so
//! has one of an operator that is exact in any association.

use std::ops::Range;

use monoscan_codegen::plan::{Association, Plan};

use super::line::Line;
use super::slots::Slots;
use super::worker::{BEFORE, BLOCKS, CARRY, Strip, Worker};

/// How a range of elements is cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// One block.
    Whole,
    /// Whole strips, at most one of shorter blocks, and a rest of less than W elements as a block of its own.
    Strips,
    /// The same blocks, one after the other, each in one pass.
    Blocks,
}

impl<'a> Line<'a> {
    /// Scans the line on at most `threads` threads. Gives the states after its last element.
    pub(crate) fn run(&self, threads: impl FnOnce() -> usize) -> Slots<'a> {
        let helpers = self.helpers(threads);
        self.kernels.trials[usize::from(self.writes)].run(self.len, helpers, |helpers| {
            let after = match helpers {
                0 => {
                    let mut worker = self.worker(self.slots_alone());
                    self.alone(&mut worker);
                    worker.states
                }
                helpers => self.in_tiles(helpers),
            };
            (after, !self.is_interrupted())
        })
    }

    /// The slots that one thread alone needs.
    pub(super) fn slots_alone(&self) -> usize {
        if self.is_one_pass_alone() { 1 } else { BLOCKS + self.plan.interleave }
    }

    fn is_one_pass_alone(&self) -> bool {
        self.cut() == Cut::Whole && self.is_one_pass()
    }

    /// Scans the line on this thread, whose worker may have scanned another line of the same program. It leaves the states after the
    /// last element.
    pub(super) fn alone(&self, worker: &mut Worker<'_>) {
        let mut in_cut = |cut: Cut| match cut {
            Cut::Whole if self.is_one_pass() => self.in_one_pass(worker),
            cut => self.in_strips(cut, worker),
        };
        match self.instead_of_strips() {
            Some(other) => self.kernels.cuts[usize::from(self.writes)].choose(self.len, |is_planned| {
                in_cut(if is_planned { Cut::Strips } else { other });
                ((), !self.is_interrupted())
            }),
            None => in_cut(self.cut()),
        }
    }

    /// Besides strips, where one thread takes these, the cut that gives the same results in one pass: whether that is faster hangs on the
    /// machine.
    pub(super) fn instead_of_strips(&self) -> Option<Cut> {
        let other = match self.plan.association {
            Association::Any => self.is_one_pass().then_some(Cut::Whole),
            Association::Fixed => self.kernels.code.has_together().then_some(Cut::Blocks),
        };
        other.filter(|_| self.cut() == Cut::Strips)
    }

    /// How a thread cuts a tile whose carry it knows.
    pub(super) fn cut_of_tile(&self) -> Cut {
        let is_planned = || self.kernels.cuts[usize::from(self.writes)].prefers_planned(self.len);
        self.instead_of_strips().filter(|_| !is_planned()).unwrap_or_else(|| self.cut())
    }

    /// All elements in one pass, from the carry on.
    pub(super) fn in_one_pass(&self, worker: &mut Worker<'_>) {
        self.carry.put(&mut worker.states, CARRY);
        for range in self.ranges() {
            if self.is_interrupted() {
                break;
            }
            self.make_segments(range.clone(), worker);
            self.pass(Strip { start: range.start, block: range.len(), interleave: 1, slot: CARRY }, worker);
        }
    }

    /// Strip by strip, each reduced and replayed while it is in the nearest cache.
    pub(super) fn in_strips(&self, cut: Cut, worker: &mut Worker<'_>) {
        self.carry.put(&mut worker.states, CARRY);
        for range in self.ranges() {
            if self.is_interrupted() {
                break;
            }
            self.make_segments(range.clone(), worker);
            self.walk(range, cut, worker);
        }
    }

    /// Scans some elements from the carry on, which becomes the one behind them: the line, a tile, or a piece whose columns of segments are made
    /// together.
    pub(super) fn walk(&self, range: Range<usize>, cut: Cut, worker: &mut Worker<'_>) {
        let rounds = self.rounds_by_tile(self.len);
        if rounds {
            worker.states.copy(CARRY, BEFORE);
            self.start_aggregate(&mut worker.states);
        }
        let whole = self.walk_blocks(range.clone(), cut, worker);
        let rest = if whole < range.end { Some(self.strips(whole..range.end, cut)) } else { None };
        for strip in rest.into_iter().flatten() {
            let strip = Strip { slot: BLOCKS, ..strip };
            if cut == Cut::Blocks {
                self.together(strip, rounds, worker);
                continue;
            }
            let levels = self.kernels.code.levels();
            for level in 0..levels {
                self.ask_for_next(strip, level, levels + 1);
                self.reduce(level, strip, worker);
                if rounds {
                    self.add_aggregates(level, strip.slots(), &mut worker.states);
                }
                if self.enters_blocks(level) || !rounds {
                    self.fold(level, strip.slots(), &mut worker.states);
                }
            }
            self.ask_for_next(strip, levels, levels + 1);
            if self.writes {
                self.replay(strip, worker);
            }
        }
        if rounds {
            self.add_tile(&mut worker.states);
        }
    }

    /// As many whole strips of a range as there are, in one pass, if there is a kernel for that. Gives where they end.
    fn walk_blocks(&self, range: Range<usize>, cut: Cut, worker: &mut Worker<'_>) -> usize {
        let Plan { interleave, block, .. } = *self.plan;
        let is_one_pass = cut == Cut::Strips && self.writes && !self.totals && self.step == 1;
        if !is_one_pass || !self.kernels.code.scans_blocks_of(block) {
            return range.start;
        }
        let blocks = range.len() / (interleave * block) * interleave;
        let strip = Strip { start: range.start, block, interleave: blocks, slot: CARRY };
        self.replay_blocks(strip, self.rounds_by_tile(self.len), worker);
        range.start + blocks * block
    }

    /// How one thread cuts elements: not at all where one sequential pass is the fastest, or the line short.
    pub(super) fn cut(&self) -> Cut {
        let is_whole = self.len <= self.plan.direct || self.plan.is_sequential(1);
        if is_whole { Cut::Whole } else { Cut::Strips }
    }

    /// Whether somebody needs the carries of a level into blocks: the next level, or a replay.
    pub(super) fn enters_blocks(&self, level: usize) -> bool {
        self.writes || level + 1 < self.kernels.code.levels()
    }

    /// Whether carries of a line this long go from tile to tile by the tiles' aggregates: results are rounded, and there are several
    /// tiles.
    pub(super) fn rounds_by_tile(&self, len: usize) -> bool {
        let is_cut = len > self.plan.direct.max(self.plan.tile()) && !self.plan.is_sequential(1);
        self.plan.association == Association::Fixed && is_cut
    }

    /// The elements of a tile.
    pub(super) fn tile(&self, tile: usize) -> Range<usize> {
        let start = tile * self.plan.tile();
        start..self.len.min(start + self.plan.tile())
    }

    /// The line in tiles, or as a whole if nothing happens between them.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let is_tiled = self.makes_segments() || self.rounds_by_tile(self.len) || self.interrupt.is_some();
        let piece = if is_tiled { self.plan.tile() } else { self.len.max(1) };
        let len = self.len;
        (0..len.div_ceil(piece)).map(move |place| place * piece..len.min((place + 1) * piece))
    }

    /// Cuts a range of elements. Blocks have slots from [`BLOCKS`] on.
    pub(super) fn strips(&self, range: Range<usize>, cut: Cut) -> impl Iterator<Item = Strip> + Clone + use<> {
        let Plan { interleave, block, .. } = *self.plan;
        let (whole, shorter) = match cut {
            Cut::Whole => (0, 0),
            Cut::Strips | Cut::Blocks => {
                (range.len() / (interleave * block), range.len() % (interleave * block) / interleave)
            }
        };
        let strip = move |place: usize| {
            let start = range.start + place * interleave * block;
            Strip { start, block, interleave, slot: BLOCKS + place * interleave }
        };
        let last = Strip { block: shorter, ..strip(whole) };
        let has_shorter = shorter > 0;
        let start = last.start + interleave * shorter;
        let slot = last.slot + if has_shorter { interleave } else { 0 };
        let rest = Strip { start, block: range.end - start, interleave: 1, slot };
        let (last, rest) = (has_shorter.then_some(last), (rest.block > 0).then_some(rest));
        (0..whole).map(strip).chain(last).chain(rest)
    }
}
