//! The layout of a block's shared memory: the buffers of the ring, barriers, tickets, and the
//! states of warps.

use monoscan_ir::{Layout, Source};

use super::marked::{BEFORE, WORD, marked_words};
use super::pipeline::{AllBarriers, OUTPUT_BUFFERS};
use crate::gpu::{Arch, GpuPlan};
use crate::nvptx::error::PlanError;
use crate::nvptx::kernel::columns::is_packed;
use crate::nvptx::kernel::items::LISTED;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::shared_memory::{LINE, SharedAllocator};
use crate::nvptx::kernel::shared_tables::SharedTables;
use crate::nvptx::strategy::marks::MARKED;

/// Bytes from the start of shared memory, except where said otherwise.
pub(in crate::nvptx) struct Shared {
    /// Where each input column is in a buffer.
    pub(super) inputs: Vec<usize>,
    /// Bytes of an input column that are copied beside a tile of it: the record before, the next one, and what lies between a
    /// multiple of 16 and the first of them.
    pub(super) beside: Vec<usize>,
    /// How many records there must be behind a tile for these to be bytes of the column.
    pub(super) margin: usize,
    /// Whether the program reads the next record.
    pub(super) reads_next: bool,
    /// Whether it reads the record before.
    pub(super) reads_previous: bool,
    /// Whether kept records go to device memory one by one.
    pub(super) is_direct: bool,
    /// Where each output column is; nothing if they do.
    pub(super) outputs: Vec<Results>,
    pub(super) buffer_bytes: usize,
    /// The tiles of results that are kept apart, if any are, and the bytes of each.
    pub(super) results: usize,
    pub(super) results_bytes: usize,
    /// The ranks before and behind each of these tiles.
    pub(super) ranks: usize,
    pub(super) barriers: AllBarriers,
    pub(super) tickets: usize,
    pub(super) levels: Vec<LevelMemory>,
    /// Queues of what folds defer, if they do.
    pub(super) deferred: Option<usize>,
    /// The input column of each output column over which warps put kept records side by side, if they do.
    pub(super) side_by_side: Option<Vec<usize>>,
    /// Where warps list which of their records are kept, if they do.
    pub(super) kept: Option<usize>,
    /// Where marks are in a buffer, and components before each word of them, if there are marks.
    pub(super) marks: Option<(usize, usize)>,
    /// Where copies of tables are.
    pub(in crate::nvptx) tables: SharedTables,
    pub(in crate::nvptx) bytes: usize,
}

/// Where the states of a level are, of pending tiles.
pub(super) struct LevelMemory {
    pub(super) warp_aggregates: usize,
    pub(super) warp_carries: usize,
    pub(super) tile_aggregates: usize,
}

/// Where an output column of a tile is until it is copied to device memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// In the buffer of the tile, over an input column.
    InBuffer(usize),
    /// Among the results that are kept apart.
    Apart(usize),
}

/// Whether a ring can run this program here.
pub(in crate::nvptx) fn check(recipe: &Recipe, arch: Arch) -> Result<(), PlanError> {
    if !arch.has_bulk_copies() {
        return Err(PlanError::NoBulkCopies(arch));
    }
    if has_padding(recipe) && recipe.rank.is_none() {
        return Err(PlanError::Padding);
    }
    Ok(())
}

/// Whether the list of a warp has an entry for each bit of its marks: 1 more than its number.
pub(in crate::nvptx) fn expect_listed(recipe: &Recipe, plan: &GpuPlan) -> Result<(), PlanError> {
    let bits = 32 * MARKED * marked_words(plan);
    if recipe.marks.is_none() || bits < 1 << (8 * LISTED) { Ok(()) } else { Err(PlanError::NoTile) }
}

/// Whether records of an output column have bytes of no field, which stay as they are in device memory.
fn has_padding(recipe: &Recipe) -> bool {
    recipe.outputs.iter().any(|column| !is_packed(column))
}

/// By how many tiles a pass is ahead of the replay, which is the last one. All folds but the first are at the same tile: else
/// blocks could wait in a circle, as `docs/design/gpu.md` says.
pub(in crate::nvptx) fn lead(levels: usize, ahead: usize, pass: usize) -> usize {
    match pass {
        0 if levels > 1 => 2 * ahead,
        _ if pass < levels => ahead,
        _ => 0,
    }
}

/// Whether threads write kept records to device memory themselves: where output symbols or marks say which they are, where these have padding, where
/// there is no space for tiles of results beside those of several levels, and where the first rank of a tile is not known from the
/// last carry.
fn is_direct(recipe: &Recipe) -> bool {
    let bytes = |columns: &[Layout]| columns.iter().map(|column| column.size as usize).sum::<usize>();
    let last = recipe.levels.len() - 1;
    let is_of_last_level = |rank: usize| recipe.level_of(&recipe.taken_along(last + 1)[rank]) == last;
    let is_large = last > 0 && bytes(&recipe.outputs) > MOST_STAGED * bytes(&recipe.inputs);
    recipe.rank.is_some_and(|rank| recipe.lists_kept() || has_padding(recipe) || is_large || !is_of_last_level(rank))
}

/// The input column of each output column over which a warp may put what it keeps side by side: one of the same record size for each. The record
/// and its rank must say what its results are, and no other record may be read when they are put there.
pub(in crate::nvptx) fn side_by_side(recipe: &Recipe) -> Option<Vec<usize>> {
    let marks = recipe.marks.as_ref()?;
    let is_plain = marks.are_of_rank() && !has_padding(recipe) && !marks.reads_beside();
    let is_piece = |column: &Layout| column.size.is_power_of_two() && column.size <= 16;
    if !is_plain || !recipe.outputs.iter().all(is_piece) {
        return None;
    }
    let mut free: Vec<(usize, u32)> = recipe.inputs.iter().map(|column| column.size).enumerate().collect();
    let under = |column: &Layout| {
        let place = free.iter().position(|&(_, size)| size == column.size)?;
        Some(free.remove(place).0)
    };
    recipe.outputs.iter().map(under).collect()
}

/// How many times the bytes of a record results of a cascade may have that are kept in shared memory.
const MOST_STAGED: usize = 2;

impl Shared {
    /// Lays it out.
    pub(in crate::nvptx) fn of(
        recipe: &Recipe,
        plan: &GpuPlan,
        (buffers, ahead, shifted): (usize, usize, bool),
    ) -> Shared {
        let reads_next = recipe.reads(|source| matches!(source, Source::Next(_)));
        let reads_previous = recipe.reads(|source| matches!(source, Source::Prev(_)));
        let if_read = |is_read: bool, bytes: usize| if is_read { bytes } else { 0 };
        let pieces = |column: &Layout| (column.size as usize).next_multiple_of(16);
        let next = |column: &Layout| if_read(reads_next, pieces(column));
        let previous = |column: &Layout| if_read(reads_previous, pieces(column));
        let beside = |column: &Layout| previous(column) + next(column) + if_read(shifted, 16);
        // The record before takes up to 15 bytes more, from a multiple of 16 on; then as many less follow behind the tile.
        let behind = |column: &Layout| {
            beside(column)
                - if_read(reads_previous && !shifted, pieces(column))
                - if_read(reads_previous && shifted, column.size as usize)
        };
        let before = |column: &Layout| if_read(reads_previous, (column.size as usize + 15).next_multiple_of(LINE));
        let tile = |column: &Layout| plan.tile() * column.size as usize;
        let shift = if_read(shifted, LINE + if_read(reads_previous, 16));
        let kept_shift = if shifted || recipe.rank.is_some() { LINE } else { 0 };
        let records_behind = |column: &Layout| behind(column).div_ceil((column.size as usize).max(1));

        let mut memory = SharedAllocator::default();
        let inputs = recipe
            .inputs
            .iter()
            .map(|column| memory.take_lines(before(column) + tile(column) + next(column) + shift) + before(column));
        let inputs: Vec<usize> = inputs.collect();
        let words = 32 * plan.warps * marked_words(plan);
        let marks = recipe.marks.as_ref().map(|marks| memory.take(WORD * marks.count() * words));
        let buffer_bytes = memory.repeat(buffers);
        let mut results = SharedAllocator::default();
        let is_direct = is_direct(recipe);
        let side_by_side = side_by_side(recipe);
        let outputs = recipe.overlays.iter().zip(&recipe.outputs).filter(|_| !is_direct);
        let outputs = outputs.map(|(over, column)| match over.filter(|_| !shifted) {
            Some(input) => Results::InBuffer(inputs[input]),
            None => Results::Apart(results.take_lines(tile(column) + kept_shift)),
        });
        let outputs = outputs.collect();
        let results_bytes = results.repeat(1);
        let levels = recipe.levels.len();
        let pending = |level: usize| lead(levels, ahead, level) - lead(levels, ahead, level + 1) + 1;
        let pending: Vec<usize> = (0..levels).map(pending).collect();
        Shared {
            inputs,
            beside: recipe.inputs.iter().map(beside).collect(),
            margin: recipe.inputs.iter().map(records_behind).max().unwrap_or(0),
            reads_next,
            reads_previous,
            is_direct,
            outputs,
            buffer_bytes,
            results: memory.take_lines(OUTPUT_BUFFERS * results_bytes),
            results_bytes,
            ranks: memory.take(if recipe.rank.is_some() && !is_direct { OUTPUT_BUFFERS * 16 } else { 0 }),
            barriers: AllBarriers::new(&mut memory, (buffers, &pending), plan.warps),
            tickets: memory.take(4 * buffers),
            levels: recipe
                .levels
                .iter()
                .zip(&pending)
                .map(|((_, packing), pending)| {
                    let state = packing.shared_bytes();
                    LevelMemory {
                        warp_aggregates: memory.take(pending * plan.warps * state),
                        warp_carries: memory.take(pending * plan.warps * state),
                        tile_aggregates: memory.take(pending * state),
                    }
                })
                .collect(),
            deferred: (recipe.deferred_bytes > 0).then(|| memory.take(32 * plan.warps * recipe.deferred_bytes)),
            marks: marks
                .zip(recipe.marks.as_ref())
                .map(|(at, marks)| (at, memory.take(BEFORE * marks.of_components() * words))),
            kept: (recipe.lists_kept() && side_by_side.is_none()).then(|| memory.take(LISTED * plan.tile())),
            side_by_side,
            tables: SharedTables::of(recipe, &mut memory),
            bytes: memory.bytes(),
        }
    }

    /// Whether results of a tile are kept apart from its buffer.
    pub(super) fn has_results_apart(&self) -> bool {
        self.outputs.iter().any(|results| matches!(results, Results::Apart(_)))
    }

    /// Whether results of a tile lie in its buffer.
    pub(super) fn has_results_in_buffer(&self) -> bool {
        self.outputs.iter().any(|results| matches!(results, Results::InBuffer(_)))
    }
}
