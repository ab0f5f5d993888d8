//! The warps that compute, and the one that puts their aggregates together.

use monoscan_ir::Layout;

use super::pipeline::{Buffer, OutputBuffer, Pending, Place, Reduce};
use super::{END, Results, Ring};
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::columns::store_fields;
use crate::nvptx::kernel::items::{Pass, ThreadItems};
use crate::nvptx::kernel::shared_memory::LINE;
use crate::nvptx::kernel::state::select;
use crate::nvptx::kernel::warp::{get, set, variables};
use crate::nvptx::strategy::passes::{Deferred, Fold, FoldToReplay, Keep, Replay};

/// Where a tile is: its buffer, and where its results go if they are kept apart.
pub(super) type Tile<'k> = (Place<'k, Buffer>, Option<Place<'k, OutputBuffer>>);

impl<'k> Ring<'k, '_> {
    /// What a warp of those does that compute.
    pub(super) fn compute(&self) {
        let k = self.k;
        // The prefixes of this thread within its warp, of the tile that is replayed next and those ahead of it.
        // What folds pass to replays goes with them.
        let from_fold = || FoldToReplay::of(self.recipe, || k.i32(0)).values();
        let prefix = || self.lanes.identity().into_iter().chain(from_fold()).collect::<Vec<_>>();
        let prefixes: Vec<Vec<Var<'k>>> = (0..=self.ahead).map(|_| variables(&prefix())).collect();
        let (read, reduce) = (self.pipeline.read(), self.pipeline.reduce());
        let (drain, replay) = (self.pipeline.drain(), self.pipeline.replay());
        let write = self.pipeline.write();
        let end = k.var(k.bool(false));
        let [rounds, reduced, replayed] = [(); 3].map(|()| k.var(k.i32(0)));
        let reduce_next = |prefix: &[Var<'k>]| {
            k.when(!end.get(), || {
                let buffer = read.begin();
                let tile = self.ticket(buffer).load(Ty::I32, 4);
                k.either(
                    tile.is(k.int(Ty::I32, END)),
                    || end.set(k.bool(true)),
                    || {
                        self.reduce(tile, buffer, &reduce, prefix);
                        read.advance();
                        reduce.advance();
                        reduced.set(reduced.get() + 1);
                    },
                );
            });
        };
        k.forever(|tiles| {
            reduce_next(&prefixes[self.ahead]);
            k.leave_if(tiles, end.get() & replayed.get().is(reduced.get()));
            // The first rounds only reduce. Were they written apart from the others, the code that reduces would be there once for each.
            k.when(rounds.get().at_least(k.i32(self.ahead)), || {
                let (buffer, pending) = (drain.begin(), replay.begin());
                let output = self.shared.has_results_apart().then(|| write.begin());
                self.replay((buffer, output), pending, &get(&prefixes[0]));
                k.bulk_fence();
                drain.end(buffer);
                drain.advance();
                replay.advance();
                write.advance();
                replayed.set(replayed.get() + 1);
            });
            rounds.set(rounds.get() + 1);
            for pair in prefixes.windows(2) {
                set(&pair[0], &get(&pair[1]));
            }
        });
    }

    /// Reduces this thread's run of a tile, and scans the runs of the warp.
    fn reduce(&self, tile: Value<'k>, buffer: Place<'k, Buffer>, reduce: &Reduce<'k, '_>, prefix: &[Var<'k>]) {
        let k = self.k;
        let state = variables(&self.lanes.identity());
        let deferred = self.shared.deferred.map(|deferred| Deferred {
            first: self.base.at(deferred).byte(self.thread * 2),
            threads: 32 * self.plan.warps,
        });
        let fold = Fold::new(self.recipe, self.args, 0, &state, &[]).with_deferred(deferred);
        let symbols = self.recipe.symbols.as_slice();
        let areas = symbols.iter().map(|_| self.input_area(buffer, 0)).collect();
        self.each_record(tile, buffer, (symbols, areas), &fold);
        // What lanes read of the next one's run, and of the carries of the tile replayed before, is behind them when the last lane arrives
        // the aggregate.
        k.warp_barrier();
        let inclusive = self.lanes.scan(get(&state), 32);
        k.when(self.lanes.lane.is(k.i32(31)), || {
            let pending = reduce.begin();
            self.lanes.packing().store_shared(k, self.warp_aggregate(pending, self.warp), &inclusive);
            reduce.end(pending);
        });
        let exclusive = self.lanes.shifted_up(&inclusive, 1).into_iter();
        set(prefix, &exclusive.chain(fold.from_fold().values()).collect::<Vec<_>>());
    }

    /// Replays this thread's run of a tile from the state before it.
    fn replay(&self, (buffer, output): Tile<'k>, pending: Place<'k, Pending>, prefix: &[Value<'k>]) {
        let k = self.k;
        let tile = self.ticket(buffer).load(Ty::I32, 4);
        let carry = |warp: Value<'k>| self.lanes.packing().load_shared(k, self.warp_carry(pending, warp));
        let own = carry(self.warp);
        let (prefix, from_fold) = prefix.split_at(own.len());
        let mut from_fold = from_fold.iter();
        let from_fold = FoldToReplay::of(self.recipe, || *from_fold.next().expect("as much as the thread holds"));
        let after = self.lanes.combine(&own, prefix);
        let before = select(self.lanes.is_first(), &own, &after);
        let live = variables(&self.recipe.live(self.args, &[before]));
        let replay = |elsewhere: Option<Keep<'k, '_>>, areas: Vec<Value<'k>>| {
            let from_fold = from_fold.map(|value| k.var(value));
            let replay = Replay { recipe: self.recipe, args: self.args, state: &live, elsewhere, from_fold };
            self.each_record(tile, buffer, (&self.recipe.outputs, areas), &replay);
        };
        let Some(rank) = self.recipe.rank else { return replay(None, self.result_areas((buffer, output))) };
        let first_rank = self.recipe.live(self.args, &[carry(k.i32(0))])[rank];
        let areas = self.kept_areas(output, first_rank);
        let keep = |rank: Value<'k>, record: &[Value<'k>]| {
            store_fields(&self.recipe.outputs, &areas, (rank - first_rank).resize(Ty::I32), record, true);
        };
        replay(Some(&keep), Vec::new());
        k.when(self.thread.is(k.i32(0)), || self.ranks(output).store(first_rank, 8));
        k.when((self.thread + 1).is(k.i32(32 * self.plan.warps)), || {
            self.ranks(output).at(8).store(live[rank].get(), 8);
        });
    }

    /// Where the results of a tile begin, which lie beside their records.
    pub(super) fn result_areas(&self, (buffer, output): Tile<'k>) -> Vec<Value<'k>> {
        let area = |(place, area): (usize, &Results)| match *area {
            Results::InBuffer(offset) => self.buffer(buffer).at(offset),
            Results::Apart(offset) => self.results(output).at(offset).byte(self.shift(self.output(place))),
        };
        self.shared.outputs.iter().enumerate().map(area).collect()
    }

    /// Where the results of a tile begin that are put side by side, the first of them to go to this rank.
    pub(super) fn kept_areas(&self, output: Option<Place<'k, OutputBuffer>>, first_rank: Value<'k>) -> Vec<Value<'k>> {
        let area = |(place, (area, column)): (usize, (&Results, &Layout))| {
            let (Results::InBuffer(offset) | Results::Apart(offset)) = *area;
            let to = self.args.column(self.output(place)).byte(first_rank * column.size as usize);
            self.results(output).at(offset).byte(to.address() & (LINE - 1))
        };
        self.shared.outputs.iter().zip(&self.recipe.outputs).enumerate().map(area).collect()
    }

    /// Where an input column of the tile in a stage begins.
    pub(super) fn input_area(&self, buffer: Place<'k, Buffer>, place: usize) -> Value<'k> {
        self.buffer(buffer).at(self.shared.inputs[place]).byte(self.shift(place))
    }

    /// Runs a pass over the records of this thread, which writes to these columns.
    fn each_record(
        &self,
        tile: Value<'k>,
        buffer: Place<'k, Buffer>,
        (written, outputs): (&[Layout], Vec<Value<'k>>),
        pass: &dyn Pass<'k>,
    ) {
        let k = self.k;
        let first = tile.resize(Ty::I64) * self.plan.tile();
        let inputs = (0..self.recipe.inputs.len()).map(|place| self.input_area(buffer, place));
        let is_full = tile.below(self.full_tiles);
        let rest = (self.records - first).resize(Ty::I32);
        let items = ThreadItems {
            k,
            plan: self.plan,
            columns: (&self.recipe.inputs, written),
            inputs: inputs.collect(),
            outputs,
            thread: self.thread,
            first,
            count: is_full.select(k.i32(self.plan.tile()), rest),
            records: self.records,
            reversed: k.bool(false),
            shifted: self.shifts.is_some(),
        };
        items.each(is_full, pass);
    }

    /// What the warp does that puts the aggregates of warps together.
    pub(super) fn aggregate(&self) {
        let k = self.k;
        let packing = self.lanes.packing();
        let lane = self.lanes.lane;
        let warps = self.plan.warps;
        let (read, total) = (self.pipeline.read(), self.pipeline.total());
        k.forever(|tiles| {
            let tile = self.ticket(read.begin()).load(Ty::I32, 4);
            k.leave_if(tiles, tile.is(k.int(Ty::I32, END)));
            let pending = total.begin();
            let own = self.warp_aggregate(pending, lane.umin(k.i32(warps - 1)));
            let inclusive = self.lanes.scan(packing.load_shared(k, own), warps);
            k.when(lane.is(k.i32(warps - 1)), || {
                self.tile_states.publish(tile, &inclusive);
                packing.store_shared(k, self.tile_aggregate(pending), &inclusive);
            });
            let exclusive = self.lanes.shifted_up(&inclusive, 1);
            k.warp_barrier();
            k.when(lane.below(k.i32(warps)), || packing.store_shared(k, own, &exclusive));
            total.end(pending);
            read.advance();
            total.advance();
        });
    }
}
