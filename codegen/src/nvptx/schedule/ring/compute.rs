//! The warps that compute, and the one that puts their aggregates together.

use monoscan_ir::Layout;
use monoscan_ir::automaton::Carried;

use super::layout::lead;
use super::pipeline::{Buffer, OutputBuffer, Pending, Place, Reduce, Resume, Stay};
use super::{END, Results, Ring};
use crate::gpu::Arguments;
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::columns::store_fields;
use crate::nvptx::kernel::items::{LISTED, Pass, ThreadItems};
use crate::nvptx::kernel::shared_memory::LINE;
use crate::nvptx::kernel::state::{State, select};
use crate::nvptx::kernel::warp::{get, set, variables};
use crate::nvptx::strategy::fold::{Deferred, Fold, FoldToReplay};
use crate::nvptx::strategy::replay::{Keep, Replay};

/// Where a tile is: its buffer, and where its results go if they are kept apart.
pub(super) type Tile<'k> = (Place<'k, Buffer>, Option<Place<'k, OutputBuffer>>);

/// The states before a thread's items of a tile, when a pass over them begins.
pub(super) struct Known<'k> {
    /// The states that the pass takes along, as [`Recipe::taken_along`](crate::nvptx::kernel::recipe::Recipe::taken_along) has them.
    pub(super) taken_along: State<'k>,
    /// The states that the passes behind it take along of the levels before it.
    later: State<'k>,
    /// The results of the first fold.
    from_fold: FoldToReplay<Value<'k>>,
}

/// The results of one fold for the next pass over the same items, an entry for each tile between the two: the prefix within the warp,
/// the results of the first fold, and [later](Known::later) values.
type Saved<'k> = Vec<Vec<Var<'k>>>;

/// A fold but the first, as it goes from tile to tile.
struct Following<'k, 'a> {
    stay: Stay<'k>,
    resume: Resume<'k, 'a>,
    reduce: Reduce<'k, 'a>,
}

impl<'k, 'a> Ring<'k, 'a> {
    /// The work of a warp of those that compute.
    pub(super) fn compute(&self) {
        let k = self.k;
        let levels = self.recipe.levels.len();
        let lead = |pass| lead(levels, self.ahead, pass);
        let saved: Vec<Saved<'k>> = (0..levels)
            .map(|level| (lead(level + 1)..=lead(level)).map(|_| variables(&self.nothing_saved(level))).collect())
            .collect();
        let (read, reduce) = (self.pipeline.read(), self.pipeline.reduce(0));
        let following: Vec<Following<'k, 'a>> = (1..levels)
            .map(|level| Following {
                stay: self.pipeline.stay(),
                resume: self.pipeline.resume(level - 1),
                reduce: self.pipeline.reduce(level),
            })
            .collect();
        let (drain, replay) = (self.pipeline.drain(), self.pipeline.resume(levels - 1));
        let write = self.pipeline.write();
        let end = k.var(k.bool(false));
        let [rounds, reduced, replayed] = [(); 3].map(|()| k.var(k.i32(0)));
        let last = |level: usize| &saved[level][lead(level) - lead(level + 1)];
        let reduce_next = || {
            k.when(!end.get(), || {
                let buffer = read.begin();
                let tile = self.ticket(buffer).load(Ty::I32, 4);
                k.either(
                    tile.is(k.int(Ty::I32, END)),
                    || end.set(k.bool(true)),
                    || {
                        self.fold((0, &reduce), (tile, buffer), None, last(0));
                        read.advance();
                        reduce.advance();
                        reduced.set(reduced.get() + 1);
                    },
                );
            });
        };
        k.forever(|tiles| {
            reduce_next();
            k.leave_if(tiles, end.get() & replayed.get().is(reduced.get()));
            for (level, Following { stay, resume, reduce }) in (1..).zip(&following) {
                // In the rounds before the first this wraps around.
                let folded = rounds.get() - (lead(0) - lead(level));
                k.when(folded.below(reduced.get()), || {
                    let (buffer, pending) = (stay.begin(), resume.begin());
                    let known = self.resume(level, pending, &get(&saved[level - 1][0]));
                    let tile = self.ticket(buffer).load(Ty::I32, 4);
                    self.fold((level, reduce), (tile, buffer), Some(known), last(level));
                    stay.advance();
                    resume.advance();
                    reduce.advance();
                });
            }
            // The first rounds only reduce. Were they written apart from the others, the code that reduces would be there once for each.
            k.when(rounds.get().at_least(k.i32(lead(0))), || {
                let (buffer, pending) = (drain.begin(), replay.begin());
                let output = self.shared.has_results_apart().then(|| write.begin());
                self.replay((buffer, output), pending, &get(&saved[levels - 1][0]));
                // What is listed by marks is written nowhere where bulk copies write.
                if self.recipe.marks.is_none() || self.shared.side_by_side.is_some() {
                    k.bulk_fence();
                }
                drain.end(buffer);
                drain.advance();
                replay.advance();
                write.advance();
                replayed.set(replayed.get() + 1);
            });
            rounds.set(rounds.get() + 1);
            for pair in saved.iter().flat_map(|tiles| tiles.windows(2)) {
                set(&pair[0], &get(&pair[1]));
            }
        });
    }

    /// The states that passes behind a level take along of the levels before it.
    fn later(&self, level: usize) -> Vec<Carried> {
        let mut later = Vec::new();
        for carried in (level + 1..=self.recipe.levels.len()).flat_map(|pass| self.recipe.taken_along(pass)) {
            if self.recipe.level_of(carried) < level && !later.contains(carried) {
                later.push(*carried);
            }
        }
        later
    }

    /// As many values as the fold of a level saves.
    fn nothing_saved(&self, level: usize) -> Vec<Value<'k>> {
        let k = self.k;
        let from_fold = FoldToReplay::of(self.recipe, || k.i32(0)).values();
        let later = self.later(level);
        let later = later.iter().map(|carried| self.recipe.identity_of(k, carried));
        self.lanes(level).identity().into_iter().chain(from_fold).chain(later).collect()
    }

    /// Folds a level of a tile: this thread's items, then those of the warp.
    fn fold(
        &self,
        (level, reduce): (usize, &Reduce<'k, '_>),
        (tile, buffer): (Value<'k>, Place<'k, Buffer>),
        known: Option<Known<'k>>,
        saved: &[Var<'k>],
    ) {
        let k = self.k;
        let lanes = self.lanes(level);
        let state = variables(&lanes.identity());
        let enter = |known: &Known<'k>| self.recipe.enter(self.args, level, known.taken_along.clone());
        let followed = known.as_ref().map_or(Vec::new(), |known| variables(&enter(known)));
        let deferred = self.shared.deferred.map(|deferred| Deferred {
            first: self.base.at(deferred).byte(self.thread * 2),
            threads: 32 * self.plan.warps,
        });
        let mut fold = Fold::new(self.recipe, self.args, level, &state, &followed).with_deferred(deferred);
        if let Some(known) = &known {
            fold = fold.after(known.from_fold.map(|value| k.var(value)));
        }
        let symbols = if fold.writes() { self.recipe.symbols.as_slice() } else { &[] };
        let areas = symbols.iter().map(|_| self.input_area(buffer, 0)).collect();
        match &self.recipe.marks {
            Some(marks) => self.mark((tile, buffer), marks, &state),
            None => self.each_record(tile, buffer, (symbols, areas), &fold),
        }
        // Lane 31 arrives for the warp. Between any lane's read of a carry, or of the next lane's items, and the arrival after which
        // that is written again, a warp comes through its last fold once. So this barrier does for all levels.
        // Output symbols are written over items that the lane before has read by then, if it reads them.
        // Where there are marks, the replay has such barriers.
        let is_last = level + 1 == self.recipe.levels.len() && self.recipe.marks.is_none();
        if is_last || self.recipe.is_mealy && self.recipe.keeps_first() {
            k.warp_barrier();
        }
        let inclusive = match &self.recipe.marks {
            Some(marks) => marks.scan(&lanes, &get(&state)),
            None => lanes.scan(get(&state), 32),
        };
        k.when(self.lane.is(k.i32(31)), || {
            let pending = reduce.begin();
            lanes.packing().store_shared(k, self.warp_aggregate(level, pending, self.warp), &inclusive);
            reduce.end(pending);
        });
        let exclusive = lanes.shifted_up(&inclusive, 1).into_iter();
        let (from_fold, later) = match known {
            Some(known) => (known.from_fold, known.later),
            None => (fold.from_fold(), Vec::new()),
        };
        set(saved, &exclusive.chain(from_fold.values()).chain(later).collect::<Vec<_>>());
    }

    /// The states before this thread's items when the pass behind a fold begins: that fold's results, put behind its carry.
    fn resume(&self, pass: usize, pending: Place<'k, Pending>, saved: &[Value<'k>]) -> Known<'k> {
        let level = pass - 1;
        let lanes = self.lanes(level);
        let own = lanes.packing().load_shared(self.k, self.warp_carry(level, pending, self.warp));
        let (prefix, rest) = saved.split_at(own.len());
        let mut rest = rest.iter().copied();
        let from_fold = FoldToReplay::of(self.recipe, || rest.next().expect("as much as the thread holds"));
        let earlier: Vec<(Carried, Value<'k>)> = self.later(level).into_iter().zip(rest).collect();
        let after = lanes.combine(&own, prefix);
        let before = select(lanes.is_first(), &own, &after);
        let value = |carried: &Carried| match self.recipe.level_of(carried) == level {
            true => self.recipe.value(self.args, carried, &before),
            false => earlier.iter().find(|(known, _)| known == carried).expect("it was saved").1,
        };
        Known {
            taken_along: self.recipe.taken_along(pass).iter().map(value).collect(),
            later: self.later(pass).iter().map(value).collect(),
            from_fold,
        }
    }

    /// Replays this thread's items of a tile from the state before them.
    fn replay(&self, (buffer, output): Tile<'k>, pending: Place<'k, Pending>, saved: &[Value<'k>]) {
        let k = self.k;
        let levels = self.recipe.levels.len();
        let tile = self.ticket(buffer).load(Ty::I32, 4);
        let known = self.resume(levels, pending, saved);
        if let Some(marks) = &self.recipe.marks {
            return match &self.shared.side_by_side {
                Some(under) => self.replay_side_by_side((tile, buffer), pending, (marks, under, &known)),
                None => self.replay_listed((tile, buffer), pending, (marks, &known)),
            };
        }
        if let (Some(list), Some(rank)) = (self.shared.kept, self.recipe.rank) {
            return self.replay_kept((tile, buffer), pending, (list, known.taken_along[rank]));
        }
        let before = known.taken_along;
        let live = variables(&self.recipe.enter(self.args, levels, before.clone()));
        let replay = |elsewhere: Option<Keep<'k, '_>>, areas: Vec<Value<'k>>| {
            let from_fold = known.from_fold.map(|value| k.var(value));
            let state = &live;
            let replay = Replay { recipe: self.recipe, args: self.args, before: &before, state, elsewhere, from_fold };
            self.items(tile, buffer, (&self.recipe.outputs, areas)).each(tile.below(self.full_tiles), &replay);
        };
        let Some(rank) = self.recipe.rank else { return replay(None, self.result_areas((buffer, output))) };
        if self.shared.is_direct {
            let capacity = self.args.word(Arguments::CAPACITY);
            let columns = (0..self.recipe.outputs.len()).map(|place| self.args.column(self.output(place)));
            let columns: Vec<Value<'k>> = columns.collect();
            let keep = |rank: Value<'k>, record: &[Value<'k>]| {
                let store = || store_fields(&self.recipe.outputs, &columns, rank, record, self.shifts.is_some());
                k.when(rank.below(capacity), store);
            };
            return replay(Some(&keep), Vec::new());
        }
        let first = self.lanes(levels - 1).packing().load_shared(k, self.warp_carry(levels - 1, pending, k.i32(0)));
        let first_rank = self.recipe.value(self.args, &self.recipe.taken_along(levels)[rank], &first);
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

    /// Replays what is kept of a tile, by its output symbols, the lanes of a warp side by side.
    fn replay_kept(
        &self,
        (tile, buffer): (Value<'k>, Place<'k, Buffer>),
        pending: Place<'k, Pending>,
        (list, rank): (usize, Value<'k>),
    ) {
        let (k, last) = (self.k, self.recipe.levels.len() - 1);
        let lanes = self.lanes(last);
        let own = lanes.packing().load_shared(k, self.warp_carry(last, pending, self.warp));
        let carried = &self.recipe.taken_along(last + 1)[self.recipe.rank.expect("a Mealy fold is of a rank")];
        let first = self.recipe.value(self.args, carried, &own);
        let list = (self.base.at(list), self.warp * (32 * self.plan.items_per_thread() * LISTED));
        let columns = self.outputs_from(first);
        let items = self.items(tile, buffer, (&[], Vec::new()));
        let list = (list, (rank - first).resize(Ty::I32), self.space_from(first));
        items.each_marked(tile.below(self.full_tiles), list, &|place, element| {
            let record = self.recipe.replay(self.args, &[first + place.resize(Ty::I64)], element).outputs;
            store_fields(&self.recipe.outputs, &columns, place.resize(Ty::I64), &record, self.shifts.is_some());
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

    /// Where an input column of the tile in a buffer begins.
    pub(super) fn input_area(&self, buffer: Place<'k, Buffer>, place: usize) -> Value<'k> {
        self.buffer(buffer).at(self.shared.inputs[place]).byte(self.shift(place))
    }

    /// Runs a pass over the records of this thread, which writes to these columns.
    fn each_record(
        &self,
        tile: Value<'k>,
        buffer: Place<'k, Buffer>,
        written: (&[Layout], Vec<Value<'k>>),
        pass: &dyn Pass<'k>,
    ) {
        self.items(tile, buffer, written).each(tile.below(self.full_tiles), pass);
    }

    /// The records of this thread, and the columns that are written.
    pub(super) fn items<'s>(
        &'s self,
        tile: Value<'k>,
        buffer: Place<'k, Buffer>,
        (written, outputs): (&'s [Layout], Vec<Value<'k>>),
    ) -> ThreadItems<'k, 's> {
        let k = self.k;
        let first = tile.resize(Ty::I64) * self.plan.tile();
        let inputs = (0..self.recipe.inputs.len()).map(|place| self.input_area(buffer, place));
        let rest = (self.records - first).resize(Ty::I32);
        ThreadItems {
            k,
            plan: self.plan,
            columns: (&self.recipe.inputs, written),
            inputs: inputs.collect(),
            outputs,
            thread: self.thread,
            first,
            count: tile.below(self.full_tiles).select(k.i32(self.plan.tile()), rest),
            records: self.records,
            reversed: k.bool(false),
            shifted: self.shifts.is_some(),
        }
    }

    /// The work of the warp of a level that puts the aggregates of warps together.
    pub(super) fn aggregate(&self, level: usize) {
        let k = self.k;
        let lanes = self.lanes(level);
        let (packing, lane) = (lanes.packing(), self.lane);
        let warps = self.plan.warps;
        let (read, total) = (self.pipeline.read(), self.pipeline.total(level));
        k.forever(|tiles| {
            let tile = self.ticket(read.begin()).load(Ty::I32, 4);
            k.leave_if(tiles, tile.is(k.int(Ty::I32, END)));
            let pending = total.begin();
            let own = self.warp_aggregate(level, pending, lane.umin(k.i32(warps - 1)));
            let inclusive = lanes.scan(packing.load_shared(k, own), warps);
            k.when(lane.is(k.i32(warps - 1)), || {
                self.tile_states(level).publish(tile, &inclusive);
                packing.store_shared(k, self.tile_aggregate(level, pending), &inclusive);
            });
            let exclusive = lanes.shifted_up(&inclusive, 1);
            k.warp_barrier();
            k.when(lane.below(k.i32(warps)), || packing.store_shared(k, own, &exclusive));
            total.end(pending);
            read.advance();
            total.advance();
        });
    }
}
