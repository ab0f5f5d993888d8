//! Look-back: a block for each tile, which finds its carry in what the tiles before it published.
//!
//! The schedule that runs every program: cascades, programs that filter, columns at any address,
//! lines from the last record to the first, rows. For each [level](monoscan_ir::facts::Level) in
//! turn a block
//!
//! 1. folds its tile: threads their runs, warps by shuffles, the first warp the warps' aggregates;
//! 2. publishes the aggregate;
//! 3. reads, by its first warp, the aggregates of the tiles before it in its group, and the prefix
//!    of the group before, and so has the carry. The last tile of a group publishes the prefix of
//!    its group;
//! 4. gives every thread the level's state before its run.
//!
//! Then it replays. Tiles are taken by [ticket], so a tile waits only for tiles that run. A block
//! that is alone publishes nothing.

pub(in crate::nvptx) mod layout;
mod memory;

use crate::gpu::{Arguments, GROUP, GpuPlan};
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::items::ThreadItems;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::state::{State, select};
use crate::nvptx::kernel::ticket::{self, Ticket};
use crate::nvptx::kernel::tile_states::TileStates;
use crate::nvptx::kernel::warp::{Lanes, get, variables};
use crate::nvptx::strategy::fold::{Fold, FoldToReplay};
use crate::nvptx::strategy::replay::{Keep, Replay};
use layout::Shared;

/// Writes the kernel.
pub(super) fn write<'k>(args: (KernelArguments<'k, '_>, Value<'k>), recipe: &Recipe, plan: &GpuPlan, shared: &Shared) {
    Block::new(args, recipe, plan, shared).write();
}

/// The values that all parts of the kernel use.
struct Block<'k, 'a> {
    k: &'k Builder,
    recipe: &'a Recipe,
    plan: &'a GpuPlan,
    shared: &'a Shared,
    args: KernelArguments<'k, 'a>,
    base: Value<'k>,
    thread: Value<'k>,
    warp: Value<'k>,
    lane: Value<'k>,
    workspace: Value<'k>,
    tag: Value<'k>,
    /// Whether this is the only block.
    alone: Value<'k>,
    /// Records of a row, and whether they are scanned from the last to the first.
    records: Value<'k>,
    reversed: Value<'k>,
    /// Which row, as 64 bits, and which tile of it.
    row: Value<'k>,
    tile: Value<'k>,
    /// Tiles of a row.
    tiles: Value<'k>,
    /// The index of the tile's first record, as 64 bits, and how many it has.
    first: Value<'k>,
    count: Value<'k>,
    /// The place in memory of the record that comes first there.
    place: Value<'k>,
}

impl<'k, 'a> Block<'k, 'a> {
    /// Takes a ticket.
    fn new(
        (args, base): (KernelArguments<'k, 'a>, Value<'k>),
        recipe: &'a Recipe,
        plan: &'a GpuPlan,
        shared: &'a Shared,
    ) -> Block<'k, 'a> {
        let k = args.k;
        let (records, reversed) = (args.word(Arguments::RECORDS), args.word(Arguments::REVERSED).is_not(k.i64(0)));
        let workspace = args.word(Arguments::WORKSPACE).as_global();
        let thread = k.thread();
        let tile_records = k.i64(plan.tile());
        let tiles = (records + (plan.tile() - 1)).udiv(tile_records);
        let alone = k.blocks().is(k.i32(1));
        let all = args.word(Arguments::ROWS) * tiles;
        let Ticket { number: ticket, launch: tag } =
            ticket::draw(k, (thread, base.at(shared.ticket)), workspace, all, alone);
        let row = ticket.udiv(tiles);
        let tile = ticket - row * tiles;
        let first = tile * tile_records;
        let count = (records - first).umin(tile_records);
        let forward = row * args.word(Arguments::PITCH) + first;
        let backward = row * args.word(Arguments::PITCH) + records - first - count;
        Block {
            k,
            recipe,
            plan,
            shared,
            args: KernelArguments { row: recipe.has_rows.then_some(row), ..args },
            base,
            thread,
            warp: thread >> 5,
            lane: thread & 31,
            workspace,
            tag,
            alone,
            records,
            reversed,
            row,
            tile: tile.resize(Ty::I32),
            tiles: tiles.resize(Ty::I32),
            first,
            count: count.resize(Ty::I32),
            place: reversed.select(backward, forward),
        }
    }

    fn write(&self) {
        let k = self.k;
        self.fetch();
        k.barrier();
        let mut before: Vec<State<'k>> = Vec::new();
        for level in 0..self.recipe.levels.len() {
            let state = self.level(level, &before);
            before.push(state);
        }
        let levels = self.recipe.levels.len();
        let taken_along = self.recipe.take_along(self.args, levels, &before);
        let live = variables(&self.recipe.enter(self.args, levels, taken_along.clone()));
        let replay = |elsewhere: Option<Keep<'k, '_>>| {
            let (state, from_fold) = (&live, FoldToReplay::NONE);
            let replay =
                Replay { recipe: self.recipe, args: self.args, before: &taken_along, state, elsewhere, from_fold };
            self.items().each(self.is_full(), &replay);
        };
        match (self.recipe.rank, self.shared.is_direct) {
            (Some(_), _) => replay(Some(&|rank, record| self.write_kept(rank, record))),
            (None, true) => replay(Some(&|index, record| self.write_record(index, record))),
            (None, false) => {
                replay(None);
                k.barrier();
                self.write_back();
            }
        }
    }

    fn is_full(&self) -> Value<'k> {
        self.count.is(self.k.i32(self.plan.tile()))
    }

    fn items(&self) -> ThreadItems<'k, '_> {
        let areas = |offsets: &[usize]| offsets.iter().map(|&offset| self.base.at(offset)).collect();
        ThreadItems {
            k: self.k,
            plan: self.plan,
            columns: (&self.recipe.inputs, &self.recipe.outputs),
            inputs: areas(&self.shared.inputs),
            outputs: areas(&self.shared.outputs),
            thread: self.thread,
            first: self.first,
            count: self.count,
            records: self.records,
            reversed: self.reversed,
            shifted: false,
        }
    }

    /// The state of a level before this thread's run, when those of earlier levels are known.
    fn level(&self, level: usize, before: &[State<'k>]) -> State<'k> {
        let k = self.k;
        let lanes = Lanes { k, args: self.args, recipe: self.recipe, level, lane: self.lane };
        let state = variables(&lanes.identity());
        let taken_along = self.recipe.take_along(self.args, level, before);
        let followed = variables(&self.recipe.enter(self.args, level, taken_along));
        let fold = Fold::new(self.recipe, self.args, level, &state, &followed);
        self.items().each(self.is_full(), &fold);
        let inclusive = lanes.scan(get(&state), 32);
        let packing = lanes.packing();
        let own = |warp: Value<'k>| self.base.at(self.shared.warps).byte(warp * packing.shared_bytes());
        k.when(self.lane.is(k.i32(31)), || packing.store_shared(k, own(self.warp), &inclusive));
        k.barrier();
        k.when(self.warp.is(k.i32(0)), || {
            let place = self.lane.umin(k.i32(self.plan.warps - 1));
            let warps = lanes.scan(packing.load_shared(k, own(place)), self.plan.warps);
            let carry = self.carry(lanes, &warps);
            let after = lanes.combine(&carry, &lanes.shifted_up(&warps, 1));
            let carried = select(lanes.is_first(), &carry, &after);
            k.warp_barrier();
            k.when(self.lane.below(k.i32(self.plan.warps)), || packing.store_shared(k, own(self.lane), &carried));
        });
        k.barrier();
        let carry = packing.load_shared(k, own(self.warp));
        let after = lanes.combine(&carry, &lanes.shifted_up(&inclusive, 1));
        if level + 1 < self.recipe.levels.len() {
            // The next level uses the same memory.
            k.barrier();
        }
        select(lanes.is_first(), &carry, &after)
    }

    /// Publishes the tile's aggregate, which the last of the warps' inclusive prefixes is, and finds the state before the tile. Called by
    /// the first warp.
    fn carry(&self, lanes: Lanes<'k, '_>, warps: &[Value<'k>]) -> State<'k> {
        let k = self.k;
        // Slots: those of a group's tiles, then that of the group's prefix.
        let slots = self.tiles + self.tiles.udiv(k.i32(GROUP)) + 1;
        let tile_states = TileStates {
            lanes,
            workspace: self.workspace,
            tag: self.tag,
            slot_bytes: self.recipe.tile_state_bytes(),
            offset: self.recipe.tile_state_offset(lanes.level),
            base: self.row * slots.resize(Ty::I64),
        };
        let slot = |tile: Value<'k>| tile + tile.udiv(k.i32(GROUP));
        k.when(self.lane.is(k.i32(self.plan.warps - 1)) & !self.alone, || tile_states.publish(slot(self.tile), warps));
        let aggregate = lanes.packing().map(k, warps, |word| k.shuffle_from(word, k.i32(self.plan.warps - 1)));

        let group = self.tile.udiv(k.i32(GROUP)) * GROUP;
        let carry = variables(&self.recipe.start(self.args, lanes.level));
        k.when(group.is_not(k.i32(0)), || {
            let prefix = tile_states.wait(slot(group) - 1);
            carry.iter().zip(prefix).for_each(|(carry, prefix)| carry.set(prefix));
        });
        k.when(group.is_not(self.tile), || {
            let tiles = tile_states.fold_groups(group, self.tile, 1, slot);
            let after = lanes.combine(&get(&carry), &tiles[0]);
            carry.iter().zip(after).for_each(|(carry, after)| carry.set(after));
        });
        let carry = get(&carry);
        let after = lanes.combine(&carry, &aggregate);
        k.when(lanes.is_first(), || {
            k.when((self.tile - group).is(k.i32(GROUP - 1)), || {
                // A group's prefix is the fold of its tiles put after the prefix before: the tree of every other carry.
                tile_states.publish(slot(self.tile) + 1, &after);
            });
            k.when((self.tile + 1).is(self.tiles), || {
                self.recipe.tell_total(self.args, lanes.level, self.row, &after);
            });
        });
        carry
    }
}
