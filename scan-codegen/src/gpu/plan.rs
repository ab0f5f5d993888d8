//! Plans for GPUs: how a kernel goes about a program.
//!
//! A tile is `warps · 32` runs of consecutive records, one for each thread that computes. A *unit* is as many records as
//! make whole accesses in every column, and a run is an odd number of units: then the wide accesses that the threads of a
//! warp make at the distance of a run touch all banks of shared memory evenly.

use std::fmt;

use scan_ir::Program;
use scan_ir::facts::Names;

use super::Arch;

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

impl Schedule {
    /// Most bytes of the table by which maps are folded [in names](Names). A persistent block copies it once, others copy it for
    /// each tile.
    pub(crate) fn most_name_bytes(self) -> usize {
        match self {
            Schedule::Ring { .. } => 80 << 10,
            Schedule::LookBack => 4 << 10,
            Schedule::Columnar => 0,
        }
    }
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

impl GpuPlan {
    /// The plans for a lowered program, the best first. A plan may turn out not to fit the program, which
    /// making the kernel says; the last one fits every program whose tiles fit a block.
    pub fn candidates(program: &Program, arch: Arch) -> Vec<GpuPlan> {
        let ring = || GpuPlan::fitting(program, Schedule::Ring { stages: STAGES, ahead: AHEAD }, arch);
        let plans = [arch.has_bulk_copies().then(ring).flatten(), GpuPlan::look_back(program, arch)];
        plans.into_iter().flatten().collect()
    }

    /// The plan for short lines, up to [`short`](GpuPlan::short) records: many small tiles, where nothing has to be copied fast
    /// and every step of a block is waited for.
    pub fn small(program: &Program, arch: Arch) -> Option<GpuPlan> {
        let plan = GpuPlan::look_back(program, arch)?;
        Some(GpuPlan { warps: SMALL_WARPS.min(plan.warps), units: 1, ..plan })
    }

    /// Up to how many records a line is short, if this is the [small](GpuPlan::small) plan.
    pub fn short(&self) -> usize {
        SMALL_TILES * self.tile()
    }

    /// The plan for columns at any address, and for what a ring does not do. None if no tile fits a block.
    pub fn look_back(program: &Program, arch: Arch) -> Option<GpuPlan> {
        GpuPlan::fitting(program, Schedule::LookBack, arch)
    }

    /// The plan for rows that lie side by side.
    pub fn columnar() -> GpuPlan {
        GpuPlan { schedule: Schedule::Columnar, warps: COLUMNAR_WARPS, unit: 1, units: 1 }
    }

    /// The plan of the most warps, with the largest tile that leaves shared memory for all that a block keeps.
    fn fitting(program: &Program, schedule: Schedule, arch: Arch) -> Option<GpuPlan> {
        let state: usize = program.stages.iter().flat_map(|stage| &stage.state).map(|ty| ty.size().max(4)).sum();
        let tables: usize = program.tables.iter().map(|table| 2 * table.bytes.len()).sum();
        let names = name_bytes(program, schedule);
        let kept = 1024 + tables.min(2 * MOST_TABLE_BYTES) + names;
        let (record, unit) = (record_bytes(program), unit(program));
        let warps: &[usize] = match schedule {
            Schedule::Ring { .. } if names > 0 => WARPS_OF_NAMES,
            _ => WARPS,
        };
        warps.iter().find_map(|&warps| {
            let most = match schedule {
                Schedule::Ring { stages, ahead } => {
                    let pending = (ahead + 1) * (2 * warps + 1) * state;
                    arch.shared_bytes().saturating_sub(kept + pending) / stages
                }
                _ => LOOK_BACK_TILE_BYTES.min(arch.shared_bytes().saturating_sub(kept + warps * state)),
            };
            // A tile that is not full to the last byte is no harm, and half a unit is.
            let units = most / (32 * warps * unit * record).max(1);
            let units = units.min(MOST_RUN / unit).checked_sub(1 - units % 2).filter(|&units| units > 0)?;
            let plan = GpuPlan { schedule, warps, unit, units: units - 1 + units % 2 };
            (warps <= FEW_WARPS || plan.units > 1 && 4 * plan.tile() * record >= 3 * most).then_some(plan)
        })
    }
}

/// Bytes of the tables by which maps are folded in names.
fn name_bytes(program: &Program, schedule: Schedule) -> usize {
    let most = schedule.most_name_bytes();
    let stages = 0..program.stages.len() as u32;
    let names = stages.filter_map(|stage| Names::of(program, stage, &program.tables, most));
    names.map(|names| names.step_bytes()).sum()
}

/// Stages of a ring and how far it reduces ahead: with fewer, blocks wait for each other in convoys, and with more, tiles get
/// too small for their copies.
const STAGES: usize = 5;
const AHEAD: usize = 3;
/// Warps that compute: enough to keep up with the copies, few enough for long runs.
const WARPS: &[usize] = &[8, 4, 2, 1];
/// The same where each record's look-ups are waited for; more than a few only if their tile uses the memory that there is,
/// and their runs are no single units.
const WARPS_OF_NAMES: &[usize] = &[20, 16, 12, 8, 4, 2, 1];
const FEW_WARPS: usize = 8;
const COLUMNAR_WARPS: usize = 4;
/// Small tiles, and up to how many of them there are no large ones.
const SMALL_WARPS: usize = 4;
const SMALL_TILES: usize = 256;
/// About the bytes of a tile where several blocks share a multiprocessor.
const LOOK_BACK_TILE_BYTES: usize = 24 << 10;
/// Most records of a run.
const MOST_RUN: usize = 256;
/// Most bytes of tables that blocks copy to shared memory; beyond, all stay in device memory.
pub(crate) const MOST_TABLE_BYTES: usize = 16 << 10;

/// The unit whose accesses spread over all banks: the records of the column with the highest power of two in its size
/// make one access of 16 bytes.
fn unit(program: &Program) -> usize {
    let columns = program.inputs.iter().chain(&program.output.columns);
    let zeros = columns.filter(|column| column.size > 0).map(|column| column.size.trailing_zeros());
    1 << 4u32.saturating_sub(zeros.max().unwrap_or(0))
}

/// Bytes of shared memory that a record takes: an output column lies over an input column of the same record size.
fn record_bytes(program: &Program) -> usize {
    let mut free: Vec<u32> = program.inputs.iter().map(|column| column.size).collect();
    let mut bytes: u32 = free.iter().sum();
    for column in &program.output.columns {
        match free.iter().position(|&size| size == column.size) {
            Some(place) => drop(free.swap_remove(place)),
            None => bytes += column.size,
        }
    }
    bytes.max(1) as usize
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
