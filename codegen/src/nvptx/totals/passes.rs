//! The two kernels: over the records of a tile, and over the slots of tiles.

use super::{LANES, TotalsKernel, WARPS, WORDS};
use crate::gpu::Arguments;
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::helpers::HELPER_THREADS;
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::bytes::Bytes;
use crate::nvptx::kernel::columns::store_fields;
use crate::nvptx::kernel::state::{State, select};
use crate::nvptx::kernel::warp::{Lanes, get, set, variables};

/// Most tiles whose states a lane has under way at once, where the states of many are put together.
const MOST_TOGETHER: usize = 16;
/// Segments of which a warp asks at once where they end, while it looks for a place among them. To ask fewer takes more rounds. But
/// each is a sector of the second-level cache, and it is sectors that gathers wait for.
const ASKED: usize = LANES;
const ASKED_BESIDE_GATHERS: usize = 8;

/// The values that both kernels use.
pub(super) struct Block<'k, 'a> {
    pub(super) k: &'k Builder,
    pub(super) of: &'a TotalsKernel,
    pub(super) args: KernelArguments<'k, 'a>,
    lanes: Lanes<'k, 'a>,
    thread: Value<'k>,
    warp: Value<'k>,
    lane: Value<'k>,
    records: Value<'k>,
}

/// The results of a scan over lanes, of each the fold behind its last end.
struct Scanned<'k> {
    /// The state before what the lane folded.
    before: State<'k>,
    /// Whether no lane before has an end.
    is_first: Value<'k>,
    /// Whether any lane has one.
    any: Value<'k>,
    /// The state behind all lanes.
    after: State<'k>,
}

impl<'k, 'a> Block<'k, 'a> {
    pub(super) fn new(of: &'a TotalsKernel, args: KernelArguments<'k, 'a>) -> Block<'k, 'a> {
        let k = args.k;
        let thread = k.thread();
        let (lane, warp) = (thread & (LANES - 1), thread >> LANES.ilog2() as usize);
        let lanes = Lanes { k, args, recipe: &of.recipe, level: 0, lane };
        Block { k, of, args, lanes, thread, warp, lane, records: args.word(Arguments::RECORDS) }
    }

    /// A column behind those of the program.
    fn beside(&self, place: usize) -> Value<'k> {
        self.args.column(self.of.recipe.inputs.len() + place)
    }

    /// How many segments.
    fn rows(&self) -> Value<'k> {
        self.args.word(Arguments::ROWS).resize(Ty::I32)
    }

    fn offset(&self, place: Value<'k>) -> Value<'k> {
        self.beside(1).byte(place.resize(Ty::I64) * 4).load(Ty::I32, 4)
    }

    fn slot(&self, tile: Value<'k>) -> Value<'k> {
        self.args.word(Arguments::WORKSPACE).as_global().byte(tile.resize(Ty::I64) * self.of.slot())
    }

    fn tell(&self, segment: Value<'k>, total: &[Value<'k>]) {
        store_fields(std::slice::from_ref(&self.of.total), &[self.beside(2)], segment.resize(Ty::I64), total, true);
    }

    fn identity(&self) -> State<'k> {
        self.lanes.identity()
    }

    pub(super) fn tiles(&self) {
        let (k, of) = (self.k, self.of);
        let tile = k.block();
        let first = tile.resize(Ty::I64) * of.tile();
        let count = (self.records - first).umin(k.i64(of.tile())).resize(Ty::I32);
        // All that is read of the records is under way before anybody waits for offsets.
        let own = self.warp * of.of_warp() + self.lane * of.group;
        let loaded = self.load(first, own, count);
        self.mark(tile, first.resize(Ty::I32), count);

        let state = variables(&self.identity());
        let has_end = k.var(k.bool(false));
        let slot = k.shared().at(of.warps()).byte(self.warp * of.slot());
        let packing = self.lanes.packing();
        k.when(self.lane.is(k.i32(0)), || slot.store(k.i32(0), 4));
        k.warp_barrier();
        for (number, columns) in loaded.iter().enumerate() {
            let place = own + number * LANES * of.group;
            let marks = Bytes::load(k, k.shared().byte(place * 4), 4 * of.group).into_words();
            let step = |state: &[Value<'k>], record: usize| {
                of.recipe.step(self.args, 0, state, &mut [], &columns.record(record)).0
            };
            let is_end = |record: usize| marks[record].is_not(k.i32(0));
            let mut tail = self.identity();
            for record in 0..of.group {
                tail = select(is_end(record), &self.identity(), &step(&tail, record));
            }
            let any = (1..of.group).fold(marks[0], |any, record| any | marks[record]).is_not(k.i32(0));
            let scanned = self.scan(&get(&state), tail, any);
            k.when(any, || {
                let own = variables(&scanned.before);
                let is_first = k.var(scanned.is_first & !has_end.get());
                for (record, &mark) in marks.iter().enumerate() {
                    set(&own, &step(&get(&own), record));
                    k.when(is_end(record), || {
                        let total = get(&own);
                        k.either(
                            is_first.get(),
                            || {
                                slot.store(mark, 4);
                                packing.store_shared(k, slot.at(4 + of.state()), &total);
                            },
                            || self.tell(mark - 1, &total),
                        );
                        is_first.set(k.bool(false));
                        set(&own, &self.identity());
                    });
                }
            });
            set(&state, &scanned.after);
            has_end.set(has_end.get() | scanned.any);
        }
        k.when(self.lane.is(k.i32(0)), || packing.store_shared(k, slot.at(4), &get(&state)));
        k.barrier();
        k.when(self.warp.is(k.i32(0)), || self.settle(tile, first.resize(Ty::I32)));
    }

    /// Puts the states of the warps before in front of the first end of each warp, and fills the slot of the tile. By the first warp,
    /// of which a lane works for each warp.
    fn settle(&self, tile: Value<'k>, first: Value<'k>) {
        let (k, of) = (self.k, self.of);
        let packing = self.lanes.packing();
        let from = k.shared().at(of.warps()).byte(self.lane.umin(k.i32(WARPS - 1)) * of.slot());
        let is_warp = self.lane.below(k.i32(WARPS));
        let mark = is_warp.select(from.load(Ty::I32, 4), k.i32(0));
        let tail = select(is_warp, &packing.load_shared(k, from.at(4)), &self.identity());
        let ends = mark.is_not(k.i32(0));
        let scanned = self.scan(&self.identity(), tail, ends);
        let slot = self.slot(tile);
        k.when(self.lane.is(k.i32(0)), || {
            packing.store_shared(k, slot.at(4), &scanned.after);
            k.when(!scanned.any, || slot.store(k.i32(0), 4));
        });
        k.when(ends, || {
            let own = packing.load_shared(k, from.at(4 + of.state()));
            let total = self.lanes.combine(&scanned.before, &own);
            let began_before = scanned.is_first & self.offset(mark - 1).below(first);
            k.when(scanned.is_first, || slot.store(began_before.select(mark, k.i32(0)), 4));
            k.either(
                began_before,
                || packing.store_shared(k, slot.at(4 + of.state()), &total),
                || self.tell(mark - 1, &total),
            );
        });
    }

    /// Puts the states of the tiles before in front of the first end of each tile.
    pub(super) fn carry(&self) {
        let (k, of) = (self.k, self.of);
        let tile = k.block() * WARPS + self.warp;
        let tiles = (self.records + (of.tile() - 1)).udiv(k.i64(of.tile())).resize(Ty::I32);
        let packing = self.lanes.packing();
        k.when(tile.below(tiles), || {
            let mark = self.slot(tile).load(Ty::I32, 4);
            k.when(mark.is_not(k.i32(0)), || {
                let state = variables(&self.identity());
                let began = self.offset(mark - 1).udiv(k.i32(of.tile()));
                let tail = |before: Value<'k>| {
                    let found = packing.load_shared(k, self.slot(before.umin(tile)).at(4));
                    select(before.below(tile), &found, &self.identity())
                };
                // A lane takes so many tiles, one after the other.
                let fold = |together: usize| {
                    k.range(began, tile, k.i32(LANES * together), |first| {
                        let own = first + self.lane * together;
                        let tails: Vec<_> = (0..together).map(|part| tail(own + part)).collect();
                        let own = tails.into_iter().reduce(|all, tail| self.lanes.combine(&all, &tail));
                        let fold = self.lanes.fold(own.expect("a lane has tiles"), |_| k.bool(true));
                        set(&state, &self.lanes.combine(&get(&state), &fold));
                    });
                };
                // Most segments have few tiles, and a few have most of them.
                let is_short = (tile - began).below(k.i32(LANES + 1));
                k.either(is_short, || fold(1), || fold((WORDS / packing.words).clamp(1, MOST_TOGETHER)));
                k.when(self.lane.is(k.i32(0)), || {
                    let own = packing.load_shared(k, self.slot(tile).at(4 + of.state()));
                    self.tell(mark - 1, &self.lanes.combine(&get(&state), &own));
                });
            });
        });
    }

    /// Scans over the lanes what each has folded behind its last end; `has_end` says whether it has any.
    fn scan(&self, before: &[Value<'k>], tail: State<'k>, has_end: Value<'k>) -> Scanned<'k> {
        let (k, lanes) = (self.k, self.lanes);
        let ends = k.ballot(has_end);
        let here = k.i32(1) << self.lane;
        let earlier = ends & (here - 1);
        // A lane takes those before it, back to the last one that has an end, of which the tail counts.
        let from = k.i32(LANES - 1) - (earlier | ends & here | 1usize).math("ctlz", &[k.bool(false)]);
        let reach = self.lane - from;
        let mut all = tail;
        for distance in [1usize, 2, 4, 8, 16] {
            let both = lanes.combine(&lanes.shifted_up(&all, distance), &all);
            all = select(reach.at_least(k.i32(distance)), &both, &all);
        }
        let previous = select(lanes.is_first(), &self.identity(), &lanes.shifted_up(&all, 1));
        let is_first = earlier.is(k.i32(0));
        let any = ends.is_not(k.i32(0));
        let last = lanes.packing().map(k, &all, |word| k.shuffle_from(word, k.i32(LANES - 1)));
        Scanned {
            before: select(is_first, &lanes.combine(before, &previous), &previous),
            is_first,
            any,
            after: select(any, &last, &lanes.combine(before, &last)),
        }
    }

    /// Marks the last record of each segment with the number of the segment and 1, in shared memory, among so many records from
    /// the first one of the tile; gives segments without records, which end there too, the identity for their total.
    fn mark(&self, tile: Value<'k>, first: Value<'k>, count: Value<'k>) {
        let (k, of) = (self.k, self.of);
        let shared = k.shared();
        let zeros = Bytes::of_words(k, vec![k.i32(0); 4]);
        k.range(self.thread * 16, k.i32(of.bounds()), k.i32(16 * HELPER_THREADS), |at| {
            zeros.store(shared.byte(at), 16)
        });
        k.when(self.warp.is(k.i32(0)), || {
            let ended = self.ended(first);
            let from = tile.is(k.i32(0)).select(k.i32(0), ended);
            k.when(self.lane.is(k.i32(0)), || shared.at(of.bounds()).store(from, 4));
        });
        k.barrier();
        let (rows, behind) = (self.rows(), first + count);
        let segment = k.var(shared.at(of.bounds()).load(Ty::I32, 4) + self.thread);
        k.forever(|segments| {
            let own = segment.get();
            k.leave_if(segments, own.at_least(rows));
            let (start, end) = (self.offset(own), self.offset(own + 1));
            k.leave_if(segments, behind.below(end));
            let place = end - 1 - first;
            k.either(
                start.below(end),
                || k.when(place.below(count), || shared.byte(place * 4).store(own + 1, 4)),
                || self.tell(own, &self.identity()),
            );
            segment.set(own + HELPER_THREADS);
        });
        k.barrier();
    }

    /// How many segments end at a place or before it. Called by a warp.
    fn ended(&self, place: Value<'k>) -> Value<'k> {
        let k = self.k;
        let asked = if self.of.gathered.is_some() { ASKED_BESIDE_GATHERS } else { ASKED };
        let (low, high) = (k.var(k.i32(0)), k.var(self.rows()));
        k.repeat_while(
            || low.get().below(high.get()),
            || {
                let step = ((high.get() - low.get() - 1) >> asked.ilog2() as usize) + 1;
                let own = low.get() + (self.lane.umin(k.i32(asked - 1)) + 1) * step - 1;
                let is_there = self.lane.below(k.i32(asked)) & own.below(high.get()) & own.at_least(low.get());
                let end = self.offset(own.umin(high.get() - 1) + 1);
                let ended = k.ballot(is_there & place.at_least(end)).math("ctpop", &[]);
                low.set(low.get() + ended * step);
                let next = (low.get() + step - 1).umin(high.get());
                high.set(ended.is(k.i32(asked)).select(high.get(), next));
            },
        );
        low.get()
    }
}
