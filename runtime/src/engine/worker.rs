//! A thread that walks a line, and the strips of blocks that it walks.
//!
//! It has a few slots for the line's own states, and behind them one for each block.

use std::ops::Range;

use monoscan_codegen::cpu::Kernel;
use smallvec::SmallVec;

use super::line::{Bases, Line};
use super::restarts::Patience;
use super::segments::Made;
use super::slots::Slots;

/// The slots of a thread that walks a line: the carry, and what it will be behind a block; the aggregate of the tile so
/// far, and the carry that entered the tile; from here on, blocks.
pub(crate) const CARRY: usize = 0;
pub(crate) const NEXT: usize = 1;
pub(crate) const AGGREGATE: usize = 2;
pub(crate) const BEFORE: usize = 3;
pub(crate) const BLOCKS: usize = 4;

/// Blocks that kernels work on side by side: W consecutive ones, or one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip {
    /// The number of the first element.
    pub(crate) start: usize,
    /// Elements of a block.
    pub(crate) block: usize,
    /// How many blocks.
    pub(crate) interleave: usize,
    /// The slot of the first block.
    pub(crate) slot: usize,
}

impl Strip {
    pub(crate) fn elements(&self) -> usize {
        self.block * self.interleave
    }

    /// The kernel that replays it.
    pub(crate) fn kernel(&self) -> Kernel {
        if self.interleave == 1 { Kernel::ScanOne } else { Kernel::Scan }
    }

    /// The slots of its blocks.
    pub(crate) fn slots(&self) -> Range<usize> {
        self.slot..self.slot + self.interleave
    }
}

/// A thread's own data.
pub(crate) struct Worker<'a> {
    pub(crate) states: Slots<'a>,
    /// Space for a record that is not kept.
    pub(super) sink: SmallVec<[u128; 2]>,
    /// The inputs with the columns of segments that were made last.
    pub(super) inputs: Bases<*const u8>,
    pub(super) made: Made,
    pub(super) patience: Patience,
}

// SAFETY: its pointers are into the line's columns and those that it made, which any thread may use that may use the line.
unsafe impl Send for Worker<'_> {}

impl<'a> Line<'a> {
    /// A worker with slots for so many states.
    pub(crate) fn worker(&self, slots: usize) -> Worker<'a> {
        let code = &self.kernels.code;
        Worker {
            states: Slots::new(code.state_layout(), slots),
            sink: SmallVec::from_elem(0, code.sink_bytes().div_ceil(16)),
            inputs: Bases::from_slice(&self.inputs),
            made: Made::default(),
            patience: Patience::default(),
        }
    }

    /// Lets a worker go on with this line, whose columns may lie elsewhere than those of its last one.
    pub(crate) fn enter(&self, worker: &mut Worker<'_>) {
        worker.inputs.copy_from_slice(&self.inputs);
    }
}
