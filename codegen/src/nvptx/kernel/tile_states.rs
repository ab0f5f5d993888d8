//! Tile states in the workspace, by which blocks talk to each other: written once in a launch, and
//! waited for.
//!
//! Tiles are folded by groups of [`GROUP`] that begin at multiples of it, each group by one warp in
//! a fixed tree. Which states are combined with which thus depends on the numbers of tiles alone,
//! and floats are rounded the same way in every run.

use crate::gpu::{Arguments, FAULT, FAULT_BEFORE_TOTALS, FAULT_STUCK, GROUP, HEADER_BYTES};
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::state::{State, select};
use crate::nvptx::kernel::warp::{Lanes, get, set};

/// Tile states that a lane reads of a group.
const PER_LANE: usize = GROUP / 32;
/// Reads between two looks at the clock.
const PATIENCE: usize = 1 << 12;

/// The tile states of a level.
pub struct TileStates<'k, 'a> {
    pub lanes: Lanes<'k, 'a>,
    pub workspace: Value<'k>,
    /// The tag of this launch.
    pub tag: Value<'k>,
    /// Bytes from a slot to the next, and of the states of earlier levels in it.
    pub slot_bytes: usize,
    pub offset: usize,
    /// The first slot.
    pub base: Value<'k>,
}

impl<'k> TileStates<'k, '_> {
    /// Where a slot is.
    pub fn slot(&self, slot: Value<'k>) -> Value<'k> {
        let place = self.base + slot.resize(Ty::I64);
        self.workspace.at(HEADER_BYTES + self.offset).byte(place * self.slot_bytes)
    }

    /// Publishes a state; called by one thread.
    pub fn publish(&self, slot: Value<'k>, state: &[Value<'k>]) {
        self.lanes.packing().publish(self.lanes.k, self.slot(slot), state, self.tag);
    }

    /// Waits for the state in a slot; called by a warp.
    pub fn wait(&self, slot: Value<'k>) -> State<'k> {
        let k = self.lanes.k;
        let found: Vec<Var<'k>> = (0..self.lanes.packing().words).map(|_| k.unset(Ty::I32)).collect();
        self.until_ready(|| {
            let (words, valid) = self.lanes.packing().peek(k, self.slot(slot), self.tag);
            set(&found, &words);
            valid
        });
        self.lanes.packing().unpack(k, &get(&found))
    }

    /// Waits for the states of tiles from `first` on, a multiple of [`GROUP`], up to `end`, and gives the fold of each group; of a group
    /// that does not begin before `end`, anything. `slot` says where a tile is published. Called by a warp; a window of
    /// several groups is read at once.
    pub fn fold_groups(
        &self,
        first: Value<'k>,
        end: Value<'k>,
        groups: usize,
        slot: impl Fn(Value<'k>) -> Value<'k>,
    ) -> Vec<State<'k>> {
        let Lanes { k, lane, .. } = self.lanes;
        let packing = self.lanes.packing();
        let tile = |place: usize| first + lane * PER_LANE + (place / PER_LANE * GROUP + place % PER_LANE);
        let count = groups * PER_LANE;
        let found: Vec<Vec<Var<'k>>> =
            (0..count).map(|_| (0..packing.words).map(|_| k.unset(Ty::I32)).collect()).collect();
        self.until_ready(|| {
            // All reads are under way before the first is looked at.
            let peek = |place: usize| {
                let wanted = tile(place).below(end);
                let (words, valid) = packing.peek(k, self.slot(slot(wanted.select(tile(place), first))), self.tag);
                (words, valid | !wanted)
            };
            let peeked: Vec<_> = (0..count).map(peek).collect();
            peeked.iter().zip(&found).fold(k.bool(true), |all, ((words, valid), found)| {
                set(found, words);
                all & *valid
            })
        });
        let group = |group: usize| {
            let base = group * PER_LANE;
            let state = |place: usize| packing.unpack(k, &get(&found[place]));
            let own = (base + 1..base + PER_LANE).fold(state(base), |fold, place| {
                let both = self.lanes.combine(&fold, &state(place));
                select(tile(place).below(end), &both, &fold)
            });
            self.lanes.fold(own, |distance| (tile(base) + distance * PER_LANE).below(end))
        };
        (0..groups).map(group).collect()
    }

    /// Reads until it gives true in every lane, or waiting is hopeless.
    pub fn until_ready(&self, read: impl FnOnce() -> Value<'k>) {
        let k = self.lanes.k;
        let (tries, since) = (k.var(k.i32(0)), k.var(k.i64(0)));
        k.forever(|reads| {
            // The first look at the clock comes late, and the way out for it last: with both in one test, the driver's compiler
            // peels the first round off and waits for some reads of it before it starts the others.
            k.leave_if(reads, read());
            tries.set(tries.get() + 1);
            let gives_up = k.var(k.bool(false));
            k.when((tries.get() & (PATIENCE - 1)).is(k.i32(0)), || gives_up.set(self.is_hopeless(since)));
            k.leave_if(reads, gives_up.get());
        });
        k.warp_barrier();
    }

    /// Whether waiting has no end: another block gave up, or this one has waited for too long. A block that gives up says so, and
    /// goes on with what it has read: the results are worthless, and the launch ends.
    fn is_hopeless(&self, since: Var<'k>) -> Value<'k> {
        let k = self.lanes.k;
        let now = k.clock();
        since.set(since.get().is(k.i64(0)).select(now, since.get()));
        let late = (now - since.get()).at_least(self.lanes.args.word(Arguments::TIMEOUT));
        let fault = self.workspace.at(FAULT);
        k.when(late, || k.store_control(fault, k.i32(FAULT_STUCK as usize)));
        let is_hopeless = late | k.load_control(fault).is_not(k.i32(0));
        let totals = self.lanes.args.word(Arguments::TOTAL);
        k.when(is_hopeless & totals.is_not(k.i64(0)), || {
            let fault = (totals - k.i64(FAULT_BEFORE_TOTALS)).as_global();
            k.store_control(fault, k.i32(FAULT_STUCK as usize));
        });
        is_hopeless
    }
}
