//! Plans for GPUs: how a kernel goes about a program.
//!
//! A tile is `warps · 32` runs of consecutive records, one for each thread that computes. A *unit* is as many records as
//! make whole accesses in every column, and a run is an odd number of units: then the wide accesses that the threads of a
//! warp make at the distance of a run touch all banks of shared memory evenly.

use std::fmt;

use scan_ir::Layout;

/// The schedule of a program on a GPU.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GpuPlan {
    /// How tiles come, go and talk to each other.
    pub schedule: Schedule,
    /// Warps of a block that compute.
    pub warps: usize,
    /// Records of a unit, a power of two.
    pub unit: usize,
    /// Units of a run.
    pub units: usize,
}

/// How tiles come, go and talk to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Schedule {
    /// One persistent block for each multiprocessor, a ring of stages in shared memory that bulk copies fill and drain, and
    /// a reduction that runs `ahead` tiles before the replay. Tiles find their carry by looking ahead: a warp folds what was
    /// published since the block's own last tile.
    Ring {
        /// Stages, at least `ahead` + 2.
        stages: usize,
        /// By how many tiles the reduction is ahead, at least 1.
        ahead: usize,
    },
    /// A block for each tile. A block reduces its tile, publishes that, and finds its carry by looking back at what the
    /// tiles before it published. Runs every program, on columns at any address, line by line or row by row.
    LookBack,
    /// A thread for each row, from its first record to its last: for many rows side by side.
    Columnar,
}

impl GpuPlan {
    /// Records of a thread.
    pub fn run(&self) -> usize {
        self.unit * self.units
    }

    /// Records of a tile.
    pub fn tile(&self) -> usize {
        32 * self.warps * self.run()
    }
}

/// The largest unit whose accesses spread over all banks: the records of the widest column that has a power of two in its
/// size make one access of 16 bytes.
pub(crate) fn unit(columns: &[Layout]) -> usize {
    let zeros = columns.iter().filter(|column| column.size > 0).map(|column| column.size.trailing_zeros());
    1 << 4u32.saturating_sub(zeros.max().unwrap_or(0))
}

impl fmt::Display for GpuPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tile =
            || format!("{} warps × 32 runs of {} records, tiles of {} records", self.warps, self.run(), self.tile());
        match self.schedule {
            Schedule::Ring { stages, ahead } => write!(f, "ring of {stages} stages, {ahead} ahead; {}", tile()),
            Schedule::LookBack => write!(f, "look-back; {}", tile()),
            Schedule::Columnar => write!(f, "columnar; {} warps of 32 rows", self.warps),
        }
    }
}
