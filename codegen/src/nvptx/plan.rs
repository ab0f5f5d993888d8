//! Plans, complete: what a kernel runs, the program's code for it, and where all that a block keeps
//! is in shared memory.
//!
//! A plan is made here and nowhere else, for an [access pattern](AccessPattern) or of a [`GpuPlan`]
//! that was asked for. Whatever does not fit is refused here: a [`KernelPlan`] can be written.

use std::ops::RangeInclusive;

use monoscan_ir::transform::Lowered;
use monoscan_ir::{Layout as RecordLayout, Program};

use super::Kernel;
use super::emit::Passes;
use super::error::PlanError;
use super::kernel::recipe::Recipe;
use super::schedule::{Layout, check, ring};
use crate::gpu::{AccessPattern, Arch, GpuPlan, Schedule};

/// Buffers of a ring and how far it reduces ahead: with fewer, blocks wait for each other in convoys, and with more, tiles get
/// too small for their copies.
const BUFFERS: usize = 5;
const AHEAD: usize = 3;
/// The same where each record's look-ups are waited for: a tile takes longer than its carry, and larger tiles for more warps are
/// better.
const OF_LOOK_UPS: (usize, usize) = (4, 2);
/// The same of cascades, whose first fold is twice as far ahead.
const CASCADE: (usize, usize) = (6, 2);
/// The same of cascades where look-ups are waited for and some records are kept: their results take space, too.
const KEEPING_CASCADE_OF_LOOK_UPS: (usize, usize) = (4, 1);
/// Levels up to which, where states are narrow too, no pass of a ring waits for carries that the pass before it has only just made possible.
const MOST_RING_LEVELS: usize = 2;
/// Warps that compute: enough to keep up with the copies, few enough for many items a thread. Larger tiles are better.
const RING_WARPS: RangeInclusive<usize> = 8..=12;
/// States of more bytes need more registers than threads of so many warps have: the warp that looks ahead holds a window of them.
const NARROW_STATE: usize = 24;
/// The same where each record's look-ups are waited for.
const RING_WARPS_OF_LOOK_UPS: [usize; 5] = [8, 12, 16, 20, 24];
/// The same where warps put side by side what they keep: they do so little that the tile counts for more.
const RING_WARPS_SIDE_BY_SIDE: [usize; 4] = [4, 8, 12, 16];
/// Fewest items of a thread where components are places of marked records: then a thread's word of marks is full.
const MARKED_ITEMS: usize = 32;
/// Warps for records so large that threads would have fewer items than so many: less than that is not worth a scan of the warp.
const FEW_RING_WARPS: RangeInclusive<usize> = 4..=7;
const MANY_ITEMS: usize = 8;
const LOOK_BACK_WARPS: [usize; 4] = [8, 4, 2, 1];
/// About the bytes of a tile where several blocks share a multiprocessor.
const LOOK_BACK_TILE_BYTES: usize = 24 << 10;
/// Warps of small tiles.
const SMALL_WARPS: usize = 4;
/// Records that a thread of rows side by side loads at once, most bytes of them or of what is written, and about the most instructions
/// for them.
const COLUMNAR_GROUPS: [usize; 4] = [16, 8, 4, 2];
const COLUMNAR_BYTES: usize = 64;
const COLUMNAR_WORK: usize = 500;
/// Most records of a thread.
const MOST_ITEMS: usize = 256;

/// All that is decided about a kernel.
pub struct KernelPlan {
    plan: GpuPlan,
    recipe: Recipe,
    layout: Layout,
    arch: Arch,
}

impl KernelPlan {
    /// The best plan for a program whose records are accessed like this.
    ///
    /// # Errors
    /// [`PlanError::NoTile`] if no tile of the program fits a block, [`PlanError::Keeps`] if rows side by side have no kernel for it.
    pub fn new(program: &Lowered, pattern: AccessPattern, arch: Arch) -> Result<KernelPlan, PlanError> {
        let levels = program.levels().len();
        let is_ring = levels == 1 || levels <= MOST_RING_LEVELS && state_bytes(program) <= NARROW_STATE;
        let ring = |shifted| match is_ring {
            true => Planner::ring(program, arch, shifted).or_else(|_| Planner::look_back(program, arch)),
            false => Planner::look_back(program, arch),
        };
        match pattern {
            AccessPattern::Aligned => ring(false),
            AccessPattern::Shifted => ring(true),
            AccessPattern::Short => Planner::small(program, arch),
            AccessPattern::Any => Planner::look_back(program, arch),
            AccessPattern::Columnar => Planner::columnar(program, arch),
        }
    }

    /// A plan that was asked for.
    ///
    /// # Errors
    /// It does not fit the program or the architecture.
    pub fn with(program: &Lowered, plan: &GpuPlan, arch: Arch) -> Result<KernelPlan, PlanError> {
        let planner = Planner::new(program, plan.schedule, arch);
        check(&planner.recipe, plan, arch)?;
        planner.complete(plan.clone())
    }

    /// How it goes about the program.
    pub fn plan(&self) -> &GpuPlan {
        &self.plan
    }

    pub(super) fn arch(&self) -> Arch {
        self.arch
    }

    /// The passes that LLVM runs over its kernel.
    pub(super) fn passes(&self) -> Passes {
        self.layout.passes()
    }

    /// The kernel as LLVM IR that calls intrinsics which it only declares, and takes its arguments by address.
    pub fn emulated(&self) -> Kernel {
        self.layout.kernel(&self.recipe, &self.plan)
    }
}

/// The facts that plans of one schedule are chosen by.
struct Planner {
    recipe: Recipe,
    schedule: Schedule,
    arch: Arch,
    load_group: usize,
}

impl Planner {
    fn new(program: &Lowered, schedule: Schedule, arch: Arch) -> Planner {
        // Shifted columns are accessed field by field.
        let is_shifted = matches!(schedule, Schedule::Ring { shifted: true, .. });
        let load_group = if is_shifted { 1 } else { load_group(program) };
        Planner { recipe: Recipe::new(program, Some(schedule)), schedule, arch, load_group }
    }

    /// The plan for long lines, in columns that may be shifted or not.
    fn ring(program: &Lowered, arch: Arch, shifted: bool) -> Result<KernelPlan, PlanError> {
        let planner = Planner::new(program, Schedule::Ring { buffers: BUFFERS, ahead: AHEAD, shifted }, arch);
        let (buffers, ahead) = match planner.recipe.levels.len() {
            1 if planner.recipe.folds_by_look_up() => OF_LOOK_UPS,
            1 => (BUFFERS, AHEAD),
            _ if planner.recipe.folds_by_look_up() && program.rank().is_some() => KEEPING_CASCADE_OF_LOOK_UPS,
            _ => CASCADE,
        };
        let planner = Planner { schedule: Schedule::Ring { buffers, ahead, shifted }, ..planner };
        ring::layout::check(&planner.recipe, arch)?;
        let largest = |plans: &[GpuPlan]| plans.iter().map(GpuPlan::tile).max();
        // By the fewest warps whose tile has 19 of 20 parts of the largest.
        let by_few_warps = |warps: RangeInclusive<usize>| {
            let plans: Vec<GpuPlan> = warps.filter_map(|warps| planner.largest(warps)).collect();
            let largest = largest(&plans)?;
            plans.into_iter().find(|plan| 20 * plan.tile() >= 19 * largest)
        };
        let marks = planner.recipe.marks.as_ref();
        let fewest_items = if marks.is_some_and(|marks| !marks.are_of_rank()) { MARKED_ITEMS } else { 1 };
        // By the most warps whose tile has so many of so many parts of the largest.
        let (warps, of, parts) = match planner.puts_side_by_side() {
            true => (&RING_WARPS_SIDE_BY_SIDE[..], 20, 19),
            false => (&RING_WARPS_OF_LOOK_UPS[..], 4, 3),
        };
        let by_many_warps = || {
            let plans = warps.iter().filter_map(|&warps| planner.largest(warps));
            let plans: Vec<GpuPlan> = plans.filter(|plan| plan.items_per_thread() >= fewest_items).collect();
            let largest = largest(&plans)?;
            plans.into_iter().rfind(|plan| of * plan.tile() >= parts * largest)
        };
        let is_narrow = state_bytes(program) <= NARROW_STATE;
        let is_waited_for = planner.recipe.folds_by_look_up() || marks.is_some();
        let plan = if is_narrow && is_waited_for { by_many_warps() } else { None };
        let most = if is_narrow { *RING_WARPS.end() } else { *RING_WARPS.start() };
        let plan = plan.or_else(|| by_few_warps(*RING_WARPS.start()..=most));
        let plan = match plan.as_ref().is_some_and(|plan| plan.items_per_thread() >= MANY_ITEMS) {
            true => plan,
            false => by_few_warps(FEW_RING_WARPS).or(plan).or_else(|| by_few_warps(1..=3)),
        };
        let plan = plan.ok_or(PlanError::NoTile)?;
        planner.complete(plan)
    }

    /// The plan for columns at any address, and for what a ring does not do.
    fn look_back(program: &Lowered, arch: Arch) -> Result<KernelPlan, PlanError> {
        let planner = Planner::new(program, Schedule::LookBack, arch);
        let plan = LOOK_BACK_WARPS.into_iter().find_map(|warps| planner.largest(warps)).ok_or(PlanError::NoTile)?;
        planner.complete(plan)
    }

    /// The plan for short lines: many small tiles, where nothing has to be copied fast and every step of a block is waited for.
    fn small(program: &Lowered, arch: Arch) -> Result<KernelPlan, PlanError> {
        let KernelPlan { plan, recipe, .. } = Planner::look_back(program, arch)?;
        let plan = GpuPlan { warps: SMALL_WARPS.min(plan.warps), load_groups: 1, ..plan };
        let layout = Layout::of(&recipe, &plan);
        Ok(KernelPlan { plan, recipe, layout, arch })
    }

    /// The plan for rows side by side: a thread has as many loads under way as it has registers for.
    fn columnar(program: &Lowered, arch: Arch) -> Result<KernelPlan, PlanError> {
        let planner = Planner::new(program, Schedule::Columnar, arch);
        let (recipe, levels) = (&planner.recipe, planner.recipe.levels.len());
        let bytes = |columns: &[RecordLayout]| -> usize {
            columns.iter().flat_map(|column| &column.fields).map(|field| field.ty.size().max(4)).sum()
        };
        let bytes = bytes(&program.inputs).max(bytes(&program.output.columns));
        let work = (0..levels).map(|level| recipe.step_work(level)).sum::<usize>() + recipe.replay_work();
        let is_small = |group: &usize| group * bytes <= COLUMNAR_BYTES && group * work <= COLUMNAR_WORK;
        let group = COLUMNAR_GROUPS.into_iter().find(is_small).unwrap_or(1);
        check(recipe, &GpuPlan::columnar(group), arch)?;
        planner.complete(GpuPlan::columnar(group))
    }

    /// The largest tile of so many warps that fits a block.
    fn largest(&self, warps: usize) -> Option<GpuPlan> {
        let Planner { schedule, load_group, .. } = *self;
        // An odd number of load groups.
        let plan = |half: usize| GpuPlan { schedule, warps, load_group, load_groups: 2 * half + 1 };
        let (mut fits, mut too_large) = (0, (MOST_ITEMS / load_group).div_ceil(2));
        if !self.fits(&plan(0)) {
            return None;
        }
        while fits + 1 < too_large {
            let middle = usize::midpoint(fits, too_large);
            *(if self.fits(&plan(middle)) { &mut fits } else { &mut too_large }) = middle;
        }
        Some(plan(fits))
    }

    fn fits(&self, plan: &GpuPlan) -> bool {
        let is_small = || self.tile_bytes(plan) <= LOOK_BACK_TILE_BYTES;
        let is_free = !matches!(self.schedule, Schedule::LookBack);
        (is_free || is_small()) && Layout::of(&self.recipe, plan).bytes() <= self.arch.shared_bytes()
    }

    /// Bytes of a tile of records, and of results that do not lie over them. What is kept is written to its place at once.
    fn tile_bytes(&self, plan: &GpuPlan) -> usize {
        let apart = self.recipe.outputs.iter().zip(&self.recipe.overlays);
        let apart = apart.filter(|(_, over)| over.is_none() && self.recipe.rank.is_none()).map(|(column, _)| column);
        let record = |column: &RecordLayout| column.size as usize;
        plan.tile() * self.recipe.inputs.iter().chain(apart).map(record).sum::<usize>()
    }

    /// Whether warps of a ring put kept records side by side in their buffer.
    fn puts_side_by_side(&self) -> bool {
        ring::layout::side_by_side(&self.recipe).is_some()
    }

    fn complete(self, plan: GpuPlan) -> Result<KernelPlan, PlanError> {
        let layout = Layout::of(&self.recipe, &plan);
        let (needs, arch) = (layout.bytes(), self.arch);
        if needs > arch.shared_bytes() {
            return Err(PlanError::SharedMemory { needs, arch });
        }
        Ok(KernelPlan { plan, recipe: self.recipe, layout, arch })
    }
}

/// Bytes of a state of all stages, in whole words.
fn state_bytes(program: &Program) -> usize {
    program.stages.iter().flat_map(|stage| &stage.state).map(|ty| ty.size().max(4)).sum()
}

/// The load group whose accesses spread over all banks: the records of the column with the highest power of two in its size
/// make one access of 16 bytes.
fn load_group(program: &Program) -> usize {
    // Kept records are written one by one.
    let outputs = program.output.columns.iter().filter(|_| program.output.filter.is_none());
    let columns = program.inputs.iter().chain(outputs);
    let zeros = columns.filter(|column| column.size > 0).map(|column| column.size.trailing_zeros());
    1 << 4u32.saturating_sub(zeros.max().unwrap_or(0))
}
