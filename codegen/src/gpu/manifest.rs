//! The manifest of a kernel: all that a launch of it needs.

use monoscan_ir::Layout;

use super::{Arguments, GpuPlan, HEADER_BYTES, Schedule};

/// Tiles of a group: tile states are folded by groups that begin at multiples of this, so that the tree by which elements are
/// combined depends on their places alone.
pub const GROUP: usize = 128;

/// How a kernel is launched.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Manifest {
    /// How it goes about its program.
    pub plan: GpuPlan,
    /// Threads of a block.
    pub threads: usize,
    /// Bytes of shared memory of a block, all of them asked for at the launch.
    pub shared_bytes: usize,
    /// Bytes that a tile's states take in a workspace, all levels together. Workspaces are not shared among kernels where this differs.
    pub tile_state_bytes: usize,
    /// How its arguments are laid out.
    pub arguments: Arguments,
    /// The input columns of the lowered program.
    pub inputs: Vec<Layout>,
    /// The output columns.
    pub outputs: Vec<Layout>,
}

impl Manifest {
    /// Tiles of so many rows of so many records.
    pub fn tiles(&self, rows: usize, records: usize) -> usize {
        rows * records.div_ceil(self.plan.tile())
    }

    /// Blocks to launch on a device of so many multiprocessors; 0 if there is nothing to do.
    pub fn blocks(&self, rows: usize, records: usize, multiprocessors: usize) -> usize {
        let blocks_of_rows = rows.div_ceil(self.threads);
        self.plan.schedule.blocks(self.tiles(rows, records), blocks_of_rows, multiprocessors)
    }

    /// Bytes of the workspace that a launch needs.
    pub fn workspace_bytes(&self, rows: usize, records: usize) -> usize {
        if self.plan.schedule == Schedule::Columnar {
            // No thread tells another one anything.
            return HEADER_BYTES;
        }
        let tiles = self.tiles(1, records);
        HEADER_BYTES + rows * (tiles + tiles / GROUP + 1) * self.tile_state_bytes
    }
}
