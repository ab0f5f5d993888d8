//! The warps that compute, and the one that puts their aggregates together.

use super::{Cursor, END, Ring};
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::lanes::{get, set, variables};
use crate::nvptx::passes::{Fold, Replay};
use crate::nvptx::run::{Pass, Run};
use crate::nvptx::state::select;

impl<'k> Ring<'k, '_> {
    /// What a warp of those does that compute.
    pub(super) fn compute(&self) {
        let k = self.k;
        // The prefixes of this thread within its warp, of the tile that is replayed next and those ahead of it.
        let prefixes: Vec<Vec<Var<'k>>> = (0..=self.ahead).map(|_| variables(&self.lanes.identity())).collect();
        let reducing = (Cursor::new(k, self.stages), Cursor::new(k, self.ahead + 1));
        let replaying = (Cursor::new(k, self.stages), Cursor::new(k, self.ahead + 1));
        let end = k.var(k.bool(false));
        let (reduced, replayed) = (k.var(k.i32(0)), k.var(k.i32(0)));
        let reduce = |prefix: &[Var<'k>]| {
            k.when(end.get().not(), || {
                let (stage, pending) = (&reducing.0, &reducing.1);
                stage.wait(self.full());
                let tile = self.ticket(stage.get()).load(Ty::I32, 4);
                k.either(
                    tile.is(k.int(Ty::I32, END)),
                    || end.set(k.bool(true)),
                    || {
                        self.reduce(tile, stage.get(), pending.get(), prefix);
                        stage.advance();
                        pending.advance();
                        reduced.set(reduced.get() + 1);
                    },
                );
            });
        };
        prefixes[..self.ahead].iter().for_each(|prefix| reduce(prefix));
        k.forever(|tiles| {
            reduce(&prefixes[self.ahead]);
            k.leave_if(tiles, end.get() & replayed.get().is(reduced.get()));
            let (stage, pending) = (&replaying.0, &replaying.1);
            pending.wait(self.carried());
            self.replay(stage.get(), pending.get(), &get(&prefixes[0]));
            k.bulk_fence();
            // What a lane read of this tile's carries is also behind it when the last lane hands on the next aggregates.
            k.warp_barrier();
            k.barrier_arrive(self.drained().byte(stage.get() * 8));
            stage.advance();
            pending.advance();
            replayed.set(replayed.get() + 1);
            for pair in prefixes.windows(2) {
                set(&pair[0], &get(&pair[1]));
            }
        });
    }

    /// Reduces this thread's run of a tile, and scans the runs of the warp.
    fn reduce(&self, tile: Value<'k>, stage: Value<'k>, pending: Value<'k>, prefix: &[Var<'k>]) {
        let k = self.k;
        let state = variables(&self.lanes.identity());
        let fold = Fold::new(self.recipe, self.given, 0, &state, &[]);
        self.each_record(tile, stage, &fold);
        let inclusive = self.lanes.scan(get(&state), 32);
        k.when(self.lanes.lane.is(k.i32(31)), || {
            self.lanes.packing().store_shared(k, self.warp_aggregate(pending, self.warp), &inclusive);
            k.barrier_arrive(self.reduced().byte(pending * 8));
        });
        set(prefix, &self.lanes.shifted_up(&inclusive, 1));
    }

    /// Replays this thread's run of a tile from the state before it.
    fn replay(&self, stage: Value<'k>, pending: Value<'k>, prefix: &[Value<'k>]) {
        let k = self.k;
        let tile = self.ticket(stage).load(Ty::I32, 4);
        let carry = self.lanes.packing().load_shared(k, self.warp_carry(pending, self.warp));
        let after = self.lanes.combine(&carry, prefix);
        let before = select(self.lanes.is_first(), &carry, &after);
        let live = variables(&self.recipe.live(&[before]));
        let replay = Replay { recipe: self.recipe, given: self.given, state: &live, elsewhere: None };
        self.each_record(tile, stage, &replay);
    }

    fn each_record(&self, tile: Value<'k>, stage: Value<'k>, pass: &dyn Pass<'k>) {
        let k = self.k;
        let first = tile.resize(Ty::I64) * self.plan.tile();
        let stage = self.stage(stage);
        let areas = |offsets: &[usize]| offsets.iter().map(|&offset| stage.at(offset)).collect();
        let is_full = tile.below(self.full_tiles);
        let rest = (self.records - first).resize(Ty::I32);
        let run = Run {
            k,
            plan: self.plan,
            columns: (&self.recipe.inputs, &self.recipe.outputs),
            inputs: areas(&self.shared.inputs),
            outputs: areas(&self.shared.outputs),
            thread: self.thread,
            first,
            count: is_full.select(k.i32(self.plan.tile()), rest),
            records: self.records,
            reversed: k.bool(false),
        };
        run.each(is_full, pass);
    }

    /// What the warp does that puts the aggregates of warps together.
    pub(super) fn aggregate(&self) {
        let k = self.k;
        let packing = self.lanes.packing();
        let lane = self.lanes.lane;
        let warps = self.plan.warps;
        let (stage, pending) = (Cursor::new(k, self.stages), Cursor::new(k, self.ahead + 1));
        k.forever(|tiles| {
            stage.wait(self.full());
            let tile = self.ticket(stage.get()).load(Ty::I32, 4);
            k.leave_if(tiles, tile.is(k.int(Ty::I32, END)));
            pending.wait(self.reduced());
            let own = self.warp_aggregate(pending.get(), lane.umin(k.i32(warps - 1)));
            let inclusive = self.lanes.scan(packing.load_shared(k, own), warps);
            k.when(lane.is(k.i32(warps - 1)), || {
                self.published.publish(tile, &inclusive);
                packing.store_shared(k, self.tile_aggregate(pending.get()), &inclusive);
            });
            let exclusive = self.lanes.shifted_up(&inclusive, 1);
            k.warp_barrier();
            k.when(lane.below(k.i32(warps)), || packing.store_shared(k, own, &exclusive));
            k.barrier_arrive(self.totalled().byte(pending.get() * 8));
            stage.advance();
            pending.advance();
        });
    }
}
