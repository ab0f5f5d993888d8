//! Plans for GPUs: how a kernel goes about a program.
//!
//! A tile has consecutive records for each of `warps · 32` threads that compute: the thread's
//! items. A *load group* is as many records as make whole accesses in every column. A thread has an
//! odd number of load groups: then the wide accesses of the threads of a warp touch all banks of
//! shared memory evenly. Where a thread has a row, a load group is what it loads at once.

use std::fmt;

use super::Schedule;

/// The schedule of a program on a GPU.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GpuPlan {
    /// How tiles come, go and talk to each other.
    pub schedule: Schedule,
    /// Warps of a block that compute.
    pub warps: usize,
    /// Records of a load group: a power of two, but for rows side by side.
    pub load_group: usize,
    /// Load groups of a thread.
    pub load_groups: usize,
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

    /// The plan for rows that lie side by side, of which a thread loads so many records at once.
    pub fn columnar(load_group: usize) -> GpuPlan {
        GpuPlan { schedule: Schedule::Columnar, warps: COLUMNAR_WARPS, load_group, load_groups: 1 }
    }
}

const COLUMNAR_WARPS: usize = 4;
/// Up to how many small tiles there are no large ones.
const SMALL_TILES: usize = 256;

impl fmt::Display for GpuPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GpuPlan { schedule, warps, load_group, .. } = self;
        match schedule {
            Schedule::Columnar => write!(f, "{schedule}; {warps} warps of 32 rows, {load_group} records at once"),
            _ => {
                let (items, tile) = (self.items_per_thread(), self.tile());
                write!(f, "{schedule}; {warps} warps × 32 threads × {items} records, tiles of {tile} records")
            }
        }
    }
}
