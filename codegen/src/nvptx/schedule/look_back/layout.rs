//! The layout of a block's shared memory: the tile's columns, in and out, and the states of warps.

use monoscan_ir::Source;

use crate::gpu::GpuPlan;
use crate::nvptx::kernel::columns::is_packed;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::shared_memory::SharedAllocator;
use crate::nvptx::kernel::shared_tables::SharedTables;

/// Bytes from the start of shared memory.
pub(in crate::nvptx) struct Shared {
    /// Where the first record of each input column is. If programs read a neighbour, there is memory for one more before it and
    /// after the tile.
    pub(super) inputs: Vec<usize>,
    /// Where that of each output column is; nothing if results go to device memory record by record.
    pub(super) outputs: Vec<usize>,
    /// Whether they do.
    pub(super) is_direct: bool,
    /// Whether programs read the next record.
    pub(super) reads_next: bool,
    /// Whether they read the record before.
    pub(super) reads_previous: bool,
    pub(super) ticket: usize,
    pub(super) warps: usize,
    /// Where copies of tables are.
    pub(in crate::nvptx) tables: SharedTables,
    pub(in crate::nvptx) bytes: usize,
}

impl Shared {
    /// Lays it out.
    pub(in crate::nvptx) fn of(recipe: &Recipe, plan: &GpuPlan) -> Shared {
        let reads_next = recipe.reads(|source| matches!(source, Source::Next(_) | Source::Last));
        // A block copies whole records out; where bytes between their fields must stay, or their places are not known
        // beforehand, threads write their own.
        let is_direct = recipe.rank.is_some() || recipe.outputs.iter().any(|column| !is_packed(column));

        let mut memory = SharedAllocator::default();
        let reads_previous = recipe.reads(|source| matches!(source, Source::Prev(_)));
        let beside = |size: usize| if reads_next || reads_previous { size } else { 0 };
        let inputs: Vec<usize> = recipe
            .inputs
            .iter()
            .map(|column| {
                let size = column.size as usize;
                memory.take(beside(size));
                let start = memory.take(plan.tile() * size);
                memory.take(beside(size));
                start
            })
            .collect();
        let outputs = recipe.overlays.iter().zip(&recipe.outputs).filter(|_| !is_direct);
        let outputs = outputs.map(|(over, column)| match *over {
            Some(input) => inputs[input],
            None => memory.take(plan.tile() * column.size as usize),
        });
        let outputs = outputs.collect();
        let state = recipe.levels.iter().map(|(_, packing)| packing.shared_bytes()).max().unwrap_or(0);
        Shared {
            inputs,
            outputs,
            is_direct,
            reads_next,
            reads_previous,
            ticket: memory.take(16),
            warps: memory.take(plan.warps * state),
            tables: SharedTables::of(recipe, &mut memory),
            bytes: memory.bytes(),
        }
    }
}
