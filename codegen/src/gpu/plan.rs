//! Plans for GPUs: how a kernel goes about a program.
//!
//! A tile is `warps · 32` runs of consecutive records, one for each thread that computes. A *unit* is as many records as
//! make whole accesses in every column, and a run is an odd number of units: then the wide accesses that the threads of a
//! warp make at the distance of a run touch all banks of shared memory evenly.

use std::fmt;
use std::ops::RangeInclusive;

use monoscan_ir::transform::Lowered;
use monoscan_ir::{Field, Layout};

use super::Arch;
use super::fit::Fit;

/// The schedule of a program on a GPU.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GpuPlan {
    /// How tiles come, go and talk to each other.
    pub schedule: Schedule,
    /// Warps of a block that compute.
    pub warps: usize,
    /// Records of a unit, a power of two.
    pub load_group: usize,
    /// Units of a run.
    pub load_groups: usize,
}

/// How tiles come, go and talk to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Schedule {
    /// One persistent block for each multiprocessor, a ring of stages in shared memory that bulk copies fill and drain, and
    /// a reduction that runs `ahead` tiles before the replay. Tiles find their carry by looking ahead: a warp folds what was
    /// published since the block's own last tile.
    Ring {
        /// Stages, at least `ahead` + 2.
        buffers: usize,
        /// By how many tiles the reduction is ahead, at least 1.
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

    /// The plans for a lowered program, the best first. A plan may turn out not to fit the program, which
    /// making the kernel says; the last one fits every program whose tiles fit a block.
    pub fn candidates(program: &Lowered, arch: Arch) -> Vec<GpuPlan> {
        [GpuPlan::ring(program, arch, false), GpuPlan::look_back(program, arch)].into_iter().flatten().collect()
    }

    /// The plan for long lines, in columns that may be shifted or not. None if the architecture has no bulk copies, or no ring of
    /// tiles fits a block.
    pub fn ring(program: &Lowered, arch: Arch, shifted: bool) -> Option<GpuPlan> {
        let fit = Fit::new(program, Schedule::Ring { buffers: BUFFERS, ahead: AHEAD, shifted }, arch);
        let largest = |plans: &[GpuPlan]| plans.iter().map(GpuPlan::tile).max();
        // The fewest warps whose tile is about as large as any.
        let few = |warps: RangeInclusive<usize>| {
            let plans: Vec<GpuPlan> = warps.filter_map(|warps| fit.plan(warps)).collect();
            let largest = largest(&plans)?;
            plans.into_iter().find(|plan| 20 * plan.tile() >= 19 * largest)
        };
        // The most warps whose tile is not much smaller than any.
        let many = |warps: [usize; 5]| {
            let plans: Vec<GpuPlan> = warps.into_iter().filter_map(|warps| fit.plan(warps)).collect();
            let largest = largest(&plans)?;
            plans.into_iter().rfind(|plan| 4 * plan.tile() >= 3 * largest)
        };
        let names = if fit.folds_in_names() { many(RING_WARPS_OF_NAMES) } else { None };
        let most = if fit.state_bytes() <= NARROW_STATE { *RING_WARPS.end() } else { *RING_WARPS.start() };
        let plan = names.or_else(|| few(*RING_WARPS.start()..=most));
        let plan = match plan.as_ref().is_some_and(|plan| plan.items_per_thread() >= LONG_RUN) {
            true => plan,
            false => few(FEW_RING_WARPS).or(plan).or_else(|| few(1..=3)),
        };
        plan.filter(|_| arch.has_bulk_copies())
    }

    /// The plan for short lines, up to [`short`](GpuPlan::short) records: many small tiles, where nothing has to be copied fast
    /// and every step of a block is waited for.
    pub fn small(program: &Lowered, arch: Arch) -> Option<GpuPlan> {
        let plan = GpuPlan::look_back(program, arch)?;
        Some(GpuPlan { warps: SMALL_WARPS.min(plan.warps), load_groups: 1, ..plan })
    }

    /// Up to how many records a line is short, if this is the [small](GpuPlan::small) plan.
    pub fn short(&self) -> usize {
        SMALL_TILES * self.tile()
    }

    /// The plan for columns at any address, and for what a ring does not do. None if no tile fits a block.
    pub fn look_back(program: &Lowered, arch: Arch) -> Option<GpuPlan> {
        let fit = Fit::new(program, Schedule::LookBack, arch);
        [LOOK_BACK_WARPS, 4, 2, 1].into_iter().find_map(|warps| fit.plan(warps))
    }

    /// The plan for rows that lie side by side.
    pub fn columnar() -> GpuPlan {
        GpuPlan { schedule: Schedule::Columnar, warps: COLUMNAR_WARPS, load_group: 1, load_groups: 1 }
    }
}

/// Stages of a ring and how far it reduces ahead: with fewer, blocks wait for each other in convoys, and with more, tiles get
/// too small for their copies.
const BUFFERS: usize = 5;
const AHEAD: usize = 3;
/// Warps that compute: enough to keep up with the copies, few enough for long runs. Larger tiles are better.
const RING_WARPS: RangeInclusive<usize> = 8..=12;
/// States of more bytes need more registers than threads of so many warps have: the warp that looks ahead holds a window of them.
const NARROW_STATE: usize = 24;
/// The same where each record's look-ups are waited for.
const RING_WARPS_OF_NAMES: [usize; 5] = [8, 12, 16, 20, 24];
/// Warps for records so large that runs would have fewer than so many: less than that is not worth a scan of the warp.
const FEW_RING_WARPS: RangeInclusive<usize> = 4..=7;
const LONG_RUN: usize = 8;
const LOOK_BACK_WARPS: usize = 8;
const COLUMNAR_WARPS: usize = 4;
/// Small tiles, and up to how many of them there are no large ones.
const SMALL_WARPS: usize = 4;
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
