//! Tiles by [marks](crate::nvptx::strategy::marks): the fold leaves them in the tile's buffer, and
//! the lanes of a warp replay what is kept side by side.
//!
//! The words of a thread's marks lie one after the other, as many as are a power of two. So a bit
//! of the warp has a number that says where it is, and which record it is of.

use monoscan_ir::Layout;

use super::Ring;
use super::compute::Known;
use super::pipeline::{Buffer, Pending, Place};
use crate::gpu::{Arguments, GpuPlan};
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::columns::store_fields;
use crate::nvptx::kernel::element::ElementCode;
use crate::nvptx::kernel::items::{LISTED, ThreadItems};
use crate::nvptx::strategy::marks::{ByMarks, MARKED, Marks, highest, lowest, ones};

/// Bytes of a word of marks, and of a component before it.
pub(super) const WORD: usize = 4;
pub(super) const BEFORE: usize = 8;

/// Words of one mark of a thread's items.
pub(in crate::nvptx) fn marked_words(plan: &GpuPlan) -> usize {
    plan.items_per_thread().div_ceil(MARKED).next_power_of_two()
}

impl<'k> Ring<'k, '_> {
    /// Folds this thread's items of a tile, and leaves their marks.
    pub(super) fn mark(&self, (tile, buffer): (Value<'k>, Place<'k, Buffer>), marks: &Marks, state: &[Var<'k>]) {
        let items = self.items(tile, buffer, (&[], Vec::new()));
        let start = self.thread * self.plan.items_per_thread();
        let (recipe, is_full) = ((self.recipe, self.args), tile.below(self.full_tiles));
        marks.each_word(recipe, (&items, is_full), &|first, words| {
            for (number, &word) in words.iter().enumerate() {
                self.marks(buffer, number, self.word_at(first)).store(word, WORD);
            }
            for (component, state) in marks.components.iter().zip(state) {
                match component {
                    ByMarks::Still => {}
                    ByMarks::Rank => state.set(state.get() + ones(words[0])),
                    ByMarks::Last { mark, .. } => {
                        state.set(self.after(&items, component, (words[*mark], start + first), state.get()));
                    }
                }
            }
        });
    }

    /// The number of this thread's word, among those of the block, that has the mark of its item of this number.
    pub(super) fn word_at(&self, item: Value<'k>) -> Value<'k> {
        self.thread * marked_words(self.plan) + (item >> MARKED.ilog2() as usize)
    }

    /// Where a word of marks is.
    pub(super) fn marks(&self, buffer: Place<'k, Buffer>, number: usize, word: Value<'k>) -> Value<'k> {
        let all = 32 * self.plan.warps * marked_words(self.plan) * WORD;
        let (marks, _) = self.shared.marks.expect("the recipe has marks");
        self.buffer(buffer).at(marks + number * all).byte(word * WORD)
    }

    /// Where a component before a word of its marks is.
    fn before(&self, mark: usize, word: Value<'k>) -> Value<'k> {
        let all = 32 * self.plan.warps * marked_words(self.plan) * BEFORE;
        let (_, before) = self.shared.marks.expect("the recipe has marks");
        self.base.at(before + (mark - 1) * all).byte(word * BEFORE)
    }

    /// The component that a record of the tile says.
    fn place_of(&self, items: &ThreadItems<'k, '_>, place: &ElementCode, record: Value<'k>) -> Value<'k> {
        self.recipe.write(self.args, place, &[], &items.in_memory(record))[0]
    }

    /// A component behind some of the marks of a word, from what it was before, which is at most the place of any record that has one. The
    /// word is of the tile's records from this one on.
    fn after(
        &self,
        items: &ThreadItems<'k, '_>,
        component: &ByMarks,
        (marks, first): (Value<'k>, Value<'k>),
        before: Value<'k>,
    ) -> Value<'k> {
        let ByMarks::Last { place, .. } = component else { return before };
        // Of no marks it is any place, which does not count.
        let last = self.place_of(items, place, first + highest(marks));
        marks.is_not(marks.same(0)).select(last, before)
    }

    /// Replays what is kept of a tile. The threads of a warp list where that is; then each takes every 32nd.
    pub(super) fn replay_marked(
        &self,
        (tile, buffer): (Value<'k>, Place<'k, Buffer>),
        pending: Place<'k, Pending>,
        (marks, known): (&Marks, &Known<'k>),
    ) {
        let (k, count, bits) = (self.k, self.plan.items_per_thread(), MARKED * marked_words(self.plan));
        let items = self.items(tile, buffer, (&[], Vec::new()));
        let carried = self.recipe.taken_along(1);
        let components = carried.iter().map(|carried| &marks.components[self.recipe.place_in_level(carried)]);
        let components: Vec<(&ByMarks, Value<'k>)> = components.zip(known.taken_along.iter().copied()).collect();
        let rank = self.recipe.rank.expect("marks say what is kept");
        let own = self.lanes(0).packing().load_shared(k, self.warp_carry(0, pending, self.warp));
        let first_rank = self.recipe.value(self.args, &carried[rank], &own);
        let list = self.base.at(self.shared.kept.expect("what is kept is listed"));
        let list = list.byte(self.warp * (32 * count * LISTED));
        // What was listed and found of the tile before has been read.
        k.warp_barrier();
        self.leave_before((&items, buffer), &components);
        let end = k.var((components[rank].1 - first_rank).resize(Ty::I32) * LISTED);
        for first in (0..count).step_by(MARKED) {
            let marks = k.var(self.marks(buffer, 0, self.word_at(k.i32(first))).load(Ty::I32, WORD));
            let bit = self.lane * bits + first;
            let is_left = || marks.get().is_not(k.i32(0));
            k.repeat_while(is_left, || {
                let left = marks.get();
                list.byte(end.get()).store((bit + lowest(left)).resize(Ty::Int(16)), LISTED);
                marks.set(left & (left - 1));
                end.set(end.get() + LISTED);
            });
        }
        k.warp_barrier();
        // There is space for so many of them.
        let capacity = self.args.word(Arguments::CAPACITY);
        let has_space = first_rank.below(capacity);
        let space = has_space.select((capacity - first_rank).umin(k.i64(self.plan.tile())), k.i64(0));
        let listed = (k.shuffle_from(end.get(), k.i32(31)) >> LISTED.ilog2() as usize).umin(space.resize(Ty::I32));
        let listed = k.opaque(listed);
        let column = |(place, column): (usize, &Layout)| {
            self.args.column(self.output(place)).byte(first_rank * column.size as usize)
        };
        let columns: Vec<Value<'k>> = self.recipe.outputs.iter().enumerate().map(column).collect();
        // Each entry of the list is loaded while the record before it is written.
        let last = listed - 1;
        let entry = |place: Value<'k>| list.byte(place.umin(last) * LISTED).load(Ty::Int(16), LISTED).resize(Ty::I32);
        let next = k.var(entry(self.lane));
        k.range(self.lane, listed, k.i32(32), |place| {
            let bit = next.get();
            next.set(entry(place + 32));
            let word = self.warp * (32 * marked_words(self.plan)) + (bit >> MARKED.ilog2() as usize);
            let record = self.warp * (32 * count) + bit - (bit >> bits.ilog2() as usize) * (bits - count);
            // Each column's address is then the sum of a base and this number, and no pointer of its own.
            let place = k.opaque(place).resize(Ty::I64);
            let state = |&(component, known): &(&ByMarks, Value<'k>)| match component {
                ByMarks::Still => known,
                ByMarks::Rank => first_rank + place,
                ByMarks::Last { mark, .. } => {
                    let marks = self.marks(buffer, *mark, word).load(Ty::I32, WORD);
                    // The record before this one has the highest bit.
                    let earlier = (marks << ((bit & (MARKED - 1)) ^ (MARKED - 1))) << 1usize;
                    let before = self.before(*mark, word).load(Ty::I64, BEFORE);
                    self.after(&items, component, (earlier, record - MARKED), before)
                }
            };
            let state: Vec<Value<'k>> = components.iter().map(state).collect();
            let results = self.recipe.replay(self.args, &state, &items.in_memory(record)).outputs;
            store_fields(&self.recipe.outputs, &columns, place, &results, false);
        });
    }

    /// Leaves, for each word of marks of this thread's items, each component before it.
    fn leave_before(
        &self,
        (items, buffer): (&ThreadItems<'k, '_>, Place<'k, Buffer>),
        components: &[(&ByMarks, Value<'k>)],
    ) {
        let (k, count) = (self.k, self.plan.items_per_thread());
        for &(component, known) in components {
            let ByMarks::Last { mark, ref place } = *component else { continue };
            let state = k.var(known);
            // Only what a call starts from can be more than the place of a record: marks of such places are cleared.
            let start = self.thread * count;
            k.when(self.place_of(items, place, start).below(known), || {
                for first in (0..count).step_by(MARKED) {
                    let word = self.marks(buffer, mark, self.word_at(k.i32(first)));
                    let marks = k.var(word.load(Ty::I32, WORD));
                    let is_hidden = || {
                        let record = start + first + lowest(marks.get());
                        let is_less = self.place_of(items, place, record).below(known);
                        marks.get().is_not(k.i32(0)).select(is_less, k.bool(false))
                    };
                    k.repeat_while(is_hidden, || marks.set(marks.get() & (marks.get() - 1)));
                    word.store(marks.get(), WORD);
                }
            });
            for first in (0..count).step_by(MARKED) {
                let (word, first) = (self.word_at(k.i32(first)), self.thread * count + first);
                self.before(mark, word).store(state.get(), BEFORE);
                let marks = self.marks(buffer, mark, word).load(Ty::I32, WORD);
                state.set(self.after(items, component, (marks, first), state.get()));
            }
        }
    }
}
