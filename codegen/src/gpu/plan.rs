//! Plans for GPUs: how a kernel goes about a program.
//!
//! A tile has consecutive records for each of `warps · 32` threads that compute: the thread's
//! items. A *load group* is as many records as make whole accesses in every column. A thread has an
//! odd number of load groups: then the wide accesses of the threads of a warp touch all banks of
//! shared memory evenly.

use std::fmt;

use monoscan_ir::{Field, Layout};

/// The schedule of a program on a GPU.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GpuPlan {
    /// How tiles come, go and talk to each other.
    pub schedule: Schedule,
    /// Warps of a block that compute.
    pub warps: usize,
    /// Records of a load group, a power of two.
    pub load_group: usize,
    /// Load groups of a thread.
    pub load_groups: usize,
}

/// How tiles come, go and talk to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Schedule {
    /// One persistent block for each multiprocessor, a ring of buffers in shared memory that bulk copies fill and drain, and
    /// folds that run ahead of the replay. Tiles find their carry by looking ahead: a warp folds what was
    /// published since the block's own last tile.
    Ring {
        /// Buffers, at least `ahead` + 2, and for a cascade 2 · `ahead` + 2; at most [`MOST_BUFFERS`].
        buffers: usize,
        /// By how many tiles the last fold is ahead, at least 1. The first fold of a cascade is twice as far ahead.
        ahead: usize,
        /// Whether columns may begin anywhere that is [natural] for them, and not only at multiples of 16.
        shifted: bool,
    },
    /// A block for each tile. A block reduces its tile, publishes that, and finds its carry by looking back at what the
    /// tiles before it published. Runs every program, on columns at any address, line by line or row by row.
    LookBack,
    /// A thread for each row, from its first record to its last: for many rows side by side.
    Columnar,
}

/// What the address of a column must be a multiple of for its fields to be read and written whole.
pub fn natural(column: &Layout) -> usize {
    let access = |field: &Field| alignment(column.size as usize, field.offset as usize).min(field.ty.size());
    column.fields.iter().map(|field| 1 << access(field).ilog2()).max().unwrap_or(1)
}

/// The largest power of two, up to 16, that divides both.
pub(crate) fn alignment(record: usize, offset: usize) -> usize {
    1 << (record | offset | 16).trailing_zeros()
}

impl Schedule {
    /// What the address of a column must be a multiple of.
    pub fn alignment(&self, column: &Layout) -> usize {
        match self {
            Schedule::Ring { shifted: false, .. } => 16,
            Schedule::Ring { shifted: true, .. } => natural(column),
            Schedule::LookBack | Schedule::Columnar => 1,
        }
    }
}

impl GpuPlan {
    /// Records of a thread.
    pub fn items_per_thread(&self) -> usize {
        self.load_group * self.load_groups
    }

    /// Records of a tile.
    pub fn tile(&self) -> usize {
        32 * self.warps * self.items_per_thread()
    }

    /// Up to how many records a line is short, if this is the plan for [short lines](super::AccessPattern::Short).
    pub fn short(&self) -> usize {
        SMALL_TILES * self.tile()
    }

    /// The plan for rows that lie side by side.
    pub fn columnar() -> GpuPlan {
        GpuPlan { schedule: Schedule::Columnar, warps: COLUMNAR_WARPS, load_group: 1, load_groups: 1 }
    }
}

/// The most buffers of a ring.
pub const MOST_BUFFERS: usize = 64;
const COLUMNAR_WARPS: usize = 4;
/// Up to how many small tiles there are no large ones.
const SMALL_TILES: usize = 256;

impl fmt::Display for GpuPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (warps, items, tile) = (self.warps, self.items_per_thread(), self.tile());
        let tile = || format!("{warps} warps × 32 threads × {items} records, tiles of {tile} records");
        match self.schedule {
            Schedule::Ring { buffers, ahead, shifted } => {
                let columns = if shifted { ", shifted columns" } else { "" };
                write!(f, "ring of {buffers} buffers, {ahead} ahead{columns}; {}", tile())
            }
            Schedule::LookBack => write!(f, "look-back; {}", tile()),
            Schedule::Columnar => write!(f, "columnar; {} warps of 32 rows", self.warps),
        }
    }
}
