//! The tiles of a line, shared by the threads that scan it.

use std::ops::Range;

use monoscan_codegen::plan::Plan;
use monoscan_protocol::state::State;
use monoscan_protocol::tiles::{Claim, Reading, Tiles, scan};

use super::helpers;
use super::line::Line;
use super::slots::Slots;
use super::walk::Cut;
use super::worker::{AGGREGATE, BLOCKS, CARRY, Strip, Worker};

impl<'a> Line<'a> {
    /// How many helpers the line is worth.
    pub(super) fn helpers(&self, threads: impl FnOnce() -> usize) -> usize {
        let helpers = helpers::of(self.plan.alone, self.len, self.len.div_ceil(self.plan.tile()), threads);
        // Few threads may not make up for tiles that are reduced as well as replayed.
        if self.plan.is_sequential(helpers + 1) { 0 } else { helpers }
    }

    /// Tile by tile, on this thread and helpers.
    pub(super) fn in_tiles(&self, helpers: usize) -> Slots<'a> {
        let line = Line { streams: self.should_stream(self.len, helpers + 1), capacity: 0, ..self.clone() };
        let scanned = scan(&LineTiles(&line), helpers, helpers::spawn);
        helpers::ended(self.plan.alone, self.plan.tile(), scanned.waited);
        let mut after = Slots::new(self.kernels.code.state_layout(), 1);
        after.put(CARRY, &scanned.total, 0..scanned.total.len());
        after
    }
}

/// A line as its tiles. Kernels give the same bits on every thread: they are the same code, and read nothing but the line.
struct LineTiles<'l, 'a>(&'l Line<'a>);

impl<'a> LineTiles<'_, 'a> {
    /// Whether tiles are scanned in one sequential pass, and reduced for the sake of their aggregates alone.
    fn is_one_pass(&self) -> bool {
        self.0.cut() == Cut::Whole && self.0.is_one_pass()
    }

    /// From the carry on, which becomes the one behind the tile. Its columns of segments are there.
    fn walk(&self, range: Range<usize>, cut: Cut, worker: &mut Worker<'a>) {
        match cut == Cut::Whole && self.0.is_one_pass() {
            true => self.0.pass(Strip { start: range.start, block: range.len(), interleave: 1, slot: CARRY }, worker),
            false => self.0.walk(range, cut, worker),
        }
    }

    /// Puts the carry of a level into each block of a reduced tile.
    fn enter_blocks(&self, tile: Range<usize>, level: usize, carries: &State, worker: &mut Worker<'a>) {
        worker.states.put(CARRY, carries, self.part(level));
        for strip in self.0.strips(tile, Cut::Strips) {
            self.0.fold(level, strip.slots(), &mut worker.states);
        }
    }
}

impl<'a> Tiles for LineTiles<'_, 'a> {
    type Workspace = Worker<'a>;

    fn workspace(&self) -> Worker<'a> {
        let Plan { interleave, strips, .. } = *self.0.plan;
        // The last tile may have a rest beside its blocks.
        self.0.worker(BLOCKS + interleave * strips + 1)
    }

    fn tiles(&self) -> usize {
        self.0.len.div_ceil(self.0.plan.tile())
    }

    fn levels(&self) -> usize {
        self.0.kernels.code.levels()
    }

    fn part(&self, level: usize) -> Range<usize> {
        let bytes = self.0.kernels.code.part_of(level);
        bytes.start / size_of::<u64>()..bytes.end / size_of::<u64>()
    }

    fn init(&self) -> State {
        self.0.carry.state()
    }

    fn is_in_place(&self) -> bool {
        self.0.is_in_place()
    }

    fn combine(&self, level: usize, earlier: &mut State, later: &State) {
        self.0.add_state(level, earlier, later);
    }

    fn reduce(
        &self,
        tile: &Reading<'_>,
        level: usize,
        carries: &State,
        worker: &mut Worker<'a>,
        aggregate: &mut State,
    ) {
        if self.0.is_interrupted() {
            return;
        }
        let line = self.0;
        let range = line.tile(tile.tile().get());
        match level.checked_sub(1) {
            None => line.make_segments(range.clone(), worker),
            Some(below) => self.enter_blocks(range.clone(), below, carries, worker),
        }
        if !line.reduce_end(range.clone(), worker) {
            if level == 0 {
                line.start_aggregate(&mut worker.states);
            }
            for strip in line.strips(range, Cut::Strips) {
                line.reduce(level, strip, worker);
                line.add_aggregates(level, strip.slots(), &mut worker.states);
            }
        }
        worker.states.get(AGGREGATE, aggregate, self.part(level));
    }

    fn replay(&self, tile: &Claim<'_>, carries: &State, worker: &mut Worker<'a>) {
        if self.0.is_interrupted() {
            return;
        }
        let range = self.0.tile(tile.tile().get());
        if self.is_one_pass() {
            worker.states.put(CARRY, carries, 0..carries.len());
            self.walk(range, Cut::Whole, worker);
        } else if self.0.writes {
            self.enter_blocks(range.clone(), self.levels() - 1, carries, worker);
            self.0.strips(range, Cut::Strips).for_each(|strip| self.0.replay(strip, worker));
        }
        self.0.settle();
    }

    fn scan(&self, tile: &Claim<'_>, state: &mut State, worker: &mut Worker<'a>) {
        if self.0.is_interrupted() {
            return;
        }
        let range = self.0.tile(tile.tile().get());
        let words = 0..state.len();
        worker.states.put(CARRY, state, words.clone());
        self.0.make_segments(range.clone(), worker);
        self.walk(range, self.0.cut_of_tile(), worker);
        self.0.settle();
        worker.states.get(CARRY, state, words);
    }
}
