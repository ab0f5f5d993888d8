//! The look-ahead warp of a level: finds the carry of each of the block's tiles in what all blocks
//! published.
//!
//! A carry is the fold of all whole groups of tiles before, one after the other, then that of the
//! beginning of one more group. A window of two groups is read at once, since a block is seldom
//! further behind than that, or of one group where that is better.

use super::{END, Ring};
use crate::gpu::GROUP;
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::state::select;
use crate::nvptx::kernel::warp::{get, set, variables};

/// Groups of a window.
const GROUPS: usize = 2;
/// The most bytes that a lane holds of a window of several groups: 96 registers, besides which it needs a few states more.
const WINDOW_BYTES: usize = 384;

impl<'k> Ring<'k, '_> {
    pub(super) fn look_ahead(&self, level: usize) {
        let k = self.k;
        let lanes = self.lanes(level);
        let packing = lanes.packing();
        let start = self.recipe.start(self.args, level);
        // The state after all whole groups before `position`, and before the tile in hand.
        let (carry, before) = (variables(&start), variables(&start));
        let position = k.var(k.i32(0));
        let (read, carry_in) = (self.pipeline.read(), self.pipeline.carry(level));
        k.forever(|tiles| {
            let tile = self.ticket(read.begin()).load(Ty::I32, 4);
            k.leave_if(tiles, tile.is(k.int(Ty::I32, END)));
            k.forever(|windows| {
                let rest = tile - position.get();
                self.pass_window(level, tile, position, (&carry, &before));
                k.leave_if(windows, rest.below(k.i32(self.window(level) * GROUP + 1)));
            });
            let pending = carry_in.begin();
            let before = get(&before);
            let own = self.lane.umin(k.i32(self.plan.warps - 1));
            let prefix = packing.load_shared(k, self.warp_aggregate(level, pending, own));
            let after = lanes.combine(&before, &prefix);
            let carried = select(lanes.is_first(), &before, &after);
            k.when(self.lane.below(k.i32(self.plan.warps)), || {
                packing.store_shared(k, self.warp_carry(level, pending, self.lane), &carried);
            });
            k.when(lanes.is_first() & (tile + 1).is(self.tiles), || {
                let aggregate = packing.load_shared(k, self.tile_aggregate(level, pending));
                self.recipe.tell_total(self.args, level, k.i64(0), &lanes.combine(&before, &aggregate));
            });
            carry_in.end(pending);
            read.advance();
            carry_in.advance();
        });
    }

    /// How many groups a window has: one where two would not stay in registers, and in cascades, which wait for carries most. There
    /// the first group can be folded while others still publish the second.
    fn window(&self, level: usize) -> usize {
        let held = GROUPS * GROUP / 32 * self.lanes(level).packing().tile_state_bytes();
        let is_awaited = self.recipe.levels.len() > 1;
        if held <= WINDOW_BYTES && !is_awaited { GROUPS } else { 1 }
    }

    /// Reads the window from `position` up to the tile, takes the carry past the groups of it that are whole, and finds the
    /// state before the tile if it is in reach.
    fn pass_window(&self, level: usize, tile: Value<'k>, position: Var<'k>, (carry, before): (&[Var<'k>], &[Var<'k>])) {
        let (k, lanes) = (self.k, self.lanes(level));
        let first = position.get();
        let rest = tile - first;
        let mut state = get(carry);
        let (mut reached, mut whole, mut passed) = (state.clone(), state.clone(), k.i32(0));
        let groups = self.tile_states(level).fold_groups(first, tile, self.window(level), |tile| tile);
        for (place, group) in groups.iter().enumerate() {
            state = lanes.combine(&state, group);
            reached = select(rest.at_least(k.i32(place * GROUP + 1)), &state, &reached);
            let is_whole = rest.at_least(k.i32((place + 1) * GROUP));
            whole = select(is_whole, &state, &whole);
            passed = is_whole.select(k.i32((place + 1) * GROUP), passed);
        }
        set(before, &reached);
        set(carry, &whole);
        position.set(first + passed);
    }
}
