//! What the block's shared memory holds: the tile's columns, in and out, and the states of warps.

use scan_ir::Source;

use crate::gpu::{Arch, GpuPlan};
use crate::nvptx::bytes::width;
use crate::nvptx::columns::is_packed;
use crate::nvptx::error::NvptxError;
use crate::nvptx::recipe::Recipe;
use crate::nvptx::shared_tables::SharedTables;

/// Bytes from the start of shared memory.
pub(super) struct Shared {
    /// Where the first record of each input column is. There is room for one more before it and after the tile.
    pub(super) inputs: Vec<usize>,
    /// Where that of each output column is; nothing if results go to device memory record by record.
    pub(super) outputs: Vec<usize>,
    /// Whether they do.
    pub(super) is_direct: bool,
    /// Whether programs read the next record.
    pub(super) reads_next: bool,
    pub(super) ticket: usize,
    pub(super) warps: usize,
    /// Where copies of tables are.
    pub(super) tables: SharedTables,
    pub(super) bytes: usize,
}

impl Shared {
    /// Lays it out, or says why this plan cannot be.
    pub(super) fn of(recipe: &Recipe, plan: &GpuPlan, arch: Arch) -> Result<Shared, NvptxError> {
        let refuse = |why: String| Err(NvptxError::Plan(why));
        if plan.warps < 1 || plan.warps > 32 {
            return refuse(format!("blocks of {} warps, expected 1 to 32", plan.warps));
        }
        let columns = || recipe.inputs.iter().chain(&recipe.outputs).map(|column| column.size as usize);
        if let Some(size) = columns().find(|size| width(plan.unit * size) < width(plan.run() * size)) {
            return refuse(format!("a unit of {} records of {size} bytes is no whole access", plan.unit));
        }
        let reads_next = recipe.reads(|source| matches!(source, Source::Next(_) | Source::Last));
        // A block copies whole records out; where bytes between their fields must stay, or their places are not known
        // beforehand, threads write their own.
        let is_direct = recipe.rank.is_some() || recipe.outputs.iter().any(|column| !is_packed(column));

        let mut end = 0;
        let mut take = |bytes: usize| {
            let start = end;
            end += bytes.next_multiple_of(16);
            start
        };
        let room = |size: usize| if reads_next { size.next_multiple_of(16) } else { 0 };
        let inputs: Vec<usize> = recipe
            .inputs
            .iter()
            .map(|column| {
                let size = column.size as usize;
                take(room(size));
                let start = take(plan.tile() * size);
                take(room(size));
                start
            })
            .collect();
        let mut free: Vec<usize> = if reads_next { Vec::new() } else { (0..inputs.len()).collect() };
        let outputs = recipe.outputs.iter().filter(|_| !is_direct).map(|column| {
            let over = free.iter().position(|&input| recipe.inputs[input].size == column.size);
            over.map_or_else(|| take(plan.tile() * column.size as usize), |place| inputs[free.remove(place)])
        });
        let outputs = outputs.collect();
        let state = recipe.levels.iter().map(|(_, packing)| packing.shared_bytes()).max().unwrap_or(0);
        let shared = Shared {
            inputs,
            outputs,
            is_direct,
            reads_next,
            ticket: take(16),
            warps: take(plan.warps * state),
            tables: SharedTables::of(recipe, &mut take),
            bytes: 0,
        };
        let shared = Shared { bytes: end, ..shared };
        if shared.bytes > arch.shared_bytes() {
            return refuse(format!(
                "it takes {} bytes of shared memory, {arch} has {}",
                shared.bytes,
                arch.shared_bytes()
            ));
        }
        Ok(shared)
    }
}
