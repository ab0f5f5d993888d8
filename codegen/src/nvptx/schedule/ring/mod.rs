//! The ring: one persistent block for each multiprocessor, fed by bulk copies, reducing tiles ahead
//! of replaying them.
//!
//! A block has `warps` warps that compute, and others that help: one that copies, and two for each
//! level. They pass tiles to each other by barriers in shared memory; nothing waits for the whole
//! block. A tile's way, where k counts the
//! tiles of the block:
//!
//! | warps | do | and then |
//! |---|---|---|
//! | copy | takes a ticket, starts the copy of that tile into the next buffer of the ring | `full` ends when it has landed |
//! | compute | reduces tile k + ahead: threads, then warps | `reduced` ends when all warps have |
//! | aggregate | scans the warps' aggregates, publishes that of the tile at once | `totalled` |
//! | look-ahead | folds what all blocks published up to tile k, and puts it before the warps' prefixes | `carried` |
//! | compute | folds the next level of a tile from the carry of the one before, and so on for each level | as above, for each level |
//! | compute | replays tile k from its buffer into its buffer | `drained` ends when all warps have |
//! | copy | starts the copy of the results to device memory; when it has been read, the buffer is free | |
//!
//! Results lie over input columns of the same size. Where that cannot be, there are places for the
//! results of two tiles beside the buffers: `freed` ends when such a place has been read, and the
//! buffer is free at once. That is how columns of other sizes are written, those whose next record
//! is read, and
//!
//! - kept records, which are put side by side there, and moved from there to their ranks;
//! - shifted columns, which begin between multiples of 16.
//!
//! Bulk copies move whole pieces of 16 bytes, best between the same places of lines of 128: so
//! these begin as far behind a line in shared memory as in device memory.
//!
//! Every lane arrives for itself where all lanes of a warp have something to publish.
//!
//! No block publishes prefixes: each folds all aggregates itself, its own carry being what it has
//! folded so far. It folds them by groups of tiles that are the same for every block and every
//! number of blocks, so floats are rounded the same way in every run.
//!
//! Tiles are taken by ticket, the first included, so that a tile waits only for tiles that run. The
//! block that draws the last ticket of all leaves the counter at zero and the epoch one higher, for
//! the next launch.

mod compute;
mod copy;
pub(in crate::nvptx) mod layout;
mod listed;
mod look_ahead;
mod marked;
mod pipeline;
mod side_by_side;

use monoscan_ir::Layout;

use crate::gpu::{Arguments, EPOCH, GpuPlan};
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::shared_memory::LINE;
use crate::nvptx::kernel::tile_states::TileStates;
use crate::nvptx::kernel::warp::Lanes;
use layout::{Results, Shared};
use pipeline::{Buffer, OutputBuffer, Pending, Pipeline, Place};

/// The ticket that says that there are no more tiles.
const END: i128 = u32::MAX as i128;

/// Warps that help: one that copies, and two for each level.
pub(in crate::nvptx) fn helpers(levels: usize) -> usize {
    1 + 2 * levels
}

/// Writes the kernel.
pub(super) fn write<'k>(
    args: (KernelArguments<'k, '_>, Value<'k>),
    recipe: &Recipe,
    plan: &GpuPlan,
    ring: (usize, usize, bool),
    shared: &Shared,
) {
    Ring::new(args, recipe, plan, shared, ring).write();
}

/// The values that all parts of the kernel use.
struct Ring<'k, 'a> {
    k: &'k Builder,
    recipe: &'a Recipe,
    plan: &'a GpuPlan,
    shared: &'a Shared,
    args: KernelArguments<'k, 'a>,
    buffers: usize,
    ahead: usize,
    /// How far each column, output columns after input columns, begins behind a whole line; none if all begin at multiples of 16.
    shifts: Option<Vec<Value<'k>>>,
    /// Where the block's shared memory begins.
    base: Value<'k>,
    pipeline: Pipeline<'k, 'a>,
    thread: Value<'k>,
    warp: Value<'k>,
    lane: Value<'k>,
    records: Value<'k>,
    /// How many tiles, how many of them are full, and how many can be copied with all that is beside them.
    tiles: Value<'k>,
    full_tiles: Value<'k>,
    whole_tiles: Value<'k>,
    workspace: Value<'k>,
    /// The tag of this launch's tile states.
    tag: Value<'k>,
}

impl<'k, 'a> Ring<'k, 'a> {
    fn new(
        (args, base): (KernelArguments<'k, 'a>, Value<'k>),
        recipe: &'a Recipe,
        plan: &'a GpuPlan,
        shared: &'a Shared,
        (buffers, ahead, shifted): (usize, usize, bool),
    ) -> Ring<'k, 'a> {
        let k = args.k;
        let records = args.word(Arguments::RECORDS);
        let workspace = args.word(Arguments::WORKSPACE).as_global();
        let tile = k.i64(plan.tile());
        let thread = k.thread();
        let tag = k.load_control(workspace.at(EPOCH)) + 1;
        let columns = recipe.inputs.len() + recipe.outputs.len();
        let shift = |place: usize| (args.column(place).address() & (LINE - 1)).resize(Ty::I32);
        let margin = k.i64(shared.margin).umin(records);
        Ring {
            k,
            recipe,
            plan,
            shared,
            args,
            buffers,
            ahead,
            shifts: shifted.then(|| (0..columns).map(shift).collect()),
            base,
            pipeline: Pipeline::new(k, base, &shared.barriers),
            thread,
            warp: thread >> 5,
            lane: thread & 31,
            records,
            tiles: (records + (plan.tile() - 1)).udiv(tile).resize(Ty::I32),
            full_tiles: records.udiv(tile).resize(Ty::I32),
            whole_tiles: (records - margin).udiv(tile).resize(Ty::I32),
            workspace,
            tag,
        }
    }

    fn write(&self) {
        let k = self.k;
        k.when(self.thread.is(k.i32(0)), || self.pipeline.set_up(self.shared.has_results_apart()));
        k.barrier();
        let helper = |place: usize| self.warp.is(k.i32(self.plan.warps + place));
        k.either(
            self.warp.below(k.i32(self.plan.warps)),
            || self.compute(),
            || {
                let levels = self.recipe.levels.len();
                for level in 0..levels {
                    k.when(helper(2 * level), || self.aggregate(level));
                    k.when(helper(2 * level + 1), || self.look_ahead(level));
                }
                k.when(helper(2 * levels) & self.lanes(0).is_first(), || self.copy());
            },
        );
    }

    /// A warp at work on the states of a level.
    fn lanes(&self, level: usize) -> Lanes<'k, 'a> {
        Lanes { k: self.k, args: self.args, recipe: self.recipe, level, lane: self.lane }
    }

    /// The states that blocks publish of a level.
    fn tile_states(&self, level: usize) -> TileStates<'k, 'a> {
        TileStates {
            lanes: self.lanes(level),
            workspace: self.workspace,
            tag: self.tag,
            slot_bytes: self.recipe.tile_state_bytes(),
            offset: self.recipe.tile_state_offset(level),
            base: self.k.i64(0),
        }
    }

    /// Where the tile is said that a buffer holds.
    fn ticket(&self, buffer: Place<'k, Buffer>) -> Value<'k> {
        self.base.at(self.shared.tickets).byte(buffer.number() * 4)
    }

    /// Where a buffer begins.
    fn buffer(&self, buffer: Place<'k, Buffer>) -> Value<'k> {
        self.base.byte(buffer.number() * self.shared.buffer_bytes)
    }

    /// Where a place for results apart begins, by its number.
    fn results(&self, output: Option<Place<'k, OutputBuffer>>) -> Value<'k> {
        self.base.at(self.shared.results).byte(output_number(output) * self.shared.results_bytes)
    }

    /// Where the ranks before and behind the tile are said whose results are in such a place.
    fn ranks(&self, output: Option<Place<'k, OutputBuffer>>) -> Value<'k> {
        self.base.at(self.shared.ranks).byte(output_number(output) * 16)
    }

    /// How far a column begins behind a whole line, in a buffer or among the results too.
    fn shift(&self, column: usize) -> Value<'k> {
        self.shifts.as_ref().map_or(self.k.i32(0), |shifts| shifts[column])
    }

    /// The number of an output column among all columns.
    fn output(&self, place: usize) -> usize {
        self.recipe.inputs.len() + place
    }

    /// For how many of a tile's kept records there is space, from this rank on.
    fn space_from(&self, rank: Value<'k>) -> Value<'k> {
        let (k, capacity) = (self.k, self.args.word(Arguments::CAPACITY));
        let space = (capacity - rank).umin(k.i64(self.plan.tile()));
        rank.below(capacity).select(space, k.i64(0)).resize(Ty::I32)
    }

    /// Where the result of this rank is in each output column.
    fn outputs_from(&self, rank: Value<'k>) -> Vec<Value<'k>> {
        let column =
            |(place, column): (usize, &Layout)| self.args.column(self.output(place)).byte(rank * column.size as usize);
        self.recipe.outputs.iter().enumerate().map(column).collect()
    }

    /// Where a warp's aggregate of a pending tile is, which the aggregate warp replaces by the prefix before the warp.
    fn warp_aggregate(&self, level: usize, pending: Place<'k, Pending>, warp: Value<'k>) -> Value<'k> {
        self.warp_state(level, self.shared.levels[level].warp_aggregates, pending, warp)
    }

    /// Where the state is that a warp's part of a pending tile starts from.
    fn warp_carry(&self, level: usize, pending: Place<'k, Pending>, warp: Value<'k>) -> Value<'k> {
        self.warp_state(level, self.shared.levels[level].warp_carries, pending, warp)
    }

    fn warp_state(&self, level: usize, states: usize, pending: Place<'k, Pending>, warp: Value<'k>) -> Value<'k> {
        let state = self.lanes(level).packing().shared_bytes();
        self.base.at(states).byte((pending.number() * self.plan.warps + warp) * state)
    }

    /// Where the aggregate of a pending tile is.
    fn tile_aggregate(&self, level: usize, pending: Place<'k, Pending>) -> Value<'k> {
        let states = self.base.at(self.shared.levels[level].tile_aggregates);
        states.byte(pending.number() * self.lanes(level).packing().shared_bytes())
    }
}

/// Which output buffer a tile's results go to.
fn output_number<'k>(output: Option<Place<'k, OutputBuffer>>) -> Value<'k> {
    output.expect("results that are kept apart have an output buffer").number()
}
