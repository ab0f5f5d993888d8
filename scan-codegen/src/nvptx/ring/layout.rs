//! What the block's shared memory holds: the stages of the ring, barriers, tickets, and the states of warps.

use scan_ir::Source;

use crate::gpu::{Arch, GpuPlan};
use crate::nvptx::bytes::width;
use crate::nvptx::columns::is_packed;
use crate::nvptx::error::NvptxError;
use crate::nvptx::recipe::Recipe;
use crate::nvptx::shared_tables::SharedTables;

/// Bytes from the start of shared memory, except where said otherwise.
pub(super) struct Shared {
    /// Where each input column is in a stage.
    pub(super) inputs: Vec<usize>,
    /// Where each output column is in a stage: over an input column of the same record size, if there is one left.
    pub(super) outputs: Vec<usize>,
    pub(super) stage_bytes: usize,
    pub(super) full: usize,
    pub(super) drained: usize,
    pub(super) reduced: usize,
    pub(super) totalled: usize,
    pub(super) carried: usize,
    pub(super) tickets: usize,
    pub(super) warp_aggregates: usize,
    pub(super) warp_carries: usize,
    pub(super) tile_aggregates: usize,
    /// Where copies of tables are.
    pub(super) tables: SharedTables,
    pub(super) bytes: usize,
}

impl Shared {
    /// Lays it out, or says why this schedule cannot run the program.
    pub(super) fn of(
        recipe: &Recipe,
        plan: &GpuPlan,
        stages: usize,
        ahead: usize,
        arch: Arch,
    ) -> Result<Shared, NvptxError> {
        let refuse = |why: String| Err(NvptxError::Plan(why));
        if !arch.has_bulk_copies() {
            return refuse(format!("{arch} has no bulk copies, which a ring is filled by"));
        }
        if recipe.levels.len() > 1 || recipe.rank.is_some() {
            return refuse("a ring runs programs of one level that write every record".into());
        }
        if recipe.reads(|source| matches!(source, Source::Next(_) | Source::Last)) {
            return refuse("a ring runs no programs that read the next record".into());
        }
        if recipe.outputs.iter().any(|column| !is_packed(column)) {
            return refuse("a ring writes whole records, and an output column has padding".into());
        }
        if ahead < 1 || stages < ahead + 2 || plan.warps < 1 || plan.warps > 29 {
            return refuse(format!("a ring of {stages} stages, {ahead} ahead, {} warps", plan.warps));
        }
        let columns = || recipe.inputs.iter().chain(&recipe.outputs);
        if let Some(column) =
            columns().find(|column| width(plan.unit * column.size as usize) < width(plan.run() * column.size as usize))
        {
            return refuse(format!("a unit of {} records of {} bytes is no whole access", plan.unit, column.size));
        }

        let mut end = 0;
        let mut take = |bytes: usize| {
            let start = end;
            end += bytes.next_multiple_of(16);
            start
        };
        let inputs: Vec<usize> = recipe.inputs.iter().map(|column| take(plan.tile() * column.size as usize)).collect();
        let mut free: Vec<usize> = (0..inputs.len()).collect();
        let outputs = recipe.outputs.iter().map(|column| {
            let over = free.iter().position(|&input| recipe.inputs[input].size == column.size);
            over.map_or_else(|| take(plan.tile() * column.size as usize), |place| inputs[free.remove(place)])
        });
        let outputs = outputs.collect();
        // Bulk copies like whole lines.
        let stage_bytes = end.next_multiple_of(128);
        end = stages * stage_bytes;
        let mut take = |bytes: usize| {
            let start = end;
            end += bytes.next_multiple_of(16);
            start
        };
        let state = recipe.levels[0].1.shared_bytes();
        let pending = ahead + 1;
        let shared = Shared {
            inputs,
            outputs,
            stage_bytes,
            full: take(8 * stages),
            drained: take(8 * stages),
            reduced: take(8 * pending),
            totalled: take(8 * pending),
            carried: take(8 * pending),
            tickets: take(4 * stages),
            warp_aggregates: take(pending * plan.warps * state),
            warp_carries: take(pending * plan.warps * state),
            tile_aggregates: take(pending * state),
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
