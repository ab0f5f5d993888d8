//! Tiles by [marks](crate::nvptx::strategy::marks): the fold leaves them in the tile's buffer, and
//! the replay finds the states before records by them.
//!
//! The words of a thread's marks lie one after the other, as many as are a power of two. So a bit
//! of the warp has a number that says where it is, and which record it is of.

use super::Ring;
use super::pipeline::{Buffer, Place};
use crate::gpu::GpuPlan;
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::items::ThreadItems;
use crate::nvptx::strategy::marks::{ByMarks, MARKED, Marks, highest, ones};

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
                    &ByMarks::Last { mark, offset } => {
                        state.set(after((words[mark], start + first), items.first + offset, state.get()));
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
    pub(super) fn before(&self, mark: usize, word: Value<'k>) -> Value<'k> {
        let all = 32 * self.plan.warps * marked_words(self.plan) * BEFORE;
        let (_, before) = self.shared.marks.expect("the recipe has marks");
        self.base.at(before + (mark - 1) * all).byte(word * BEFORE)
    }

    /// Leaves, for each word of the marks of a component of this thread's items, the component before it.
    pub(super) fn leave_before(
        &self,
        (items, buffer): (&ThreadItems<'k, '_>, Place<'k, Buffer>),
        (component, known): (&ByMarks, Value<'k>),
    ) {
        let &ByMarks::Last { mark, offset } = component else { return };
        if mark == 0 {
            return;
        }
        let (k, count) = (self.k, self.plan.items_per_thread());
        let first = items.first + (self.thread * count).resize(Ty::I64);
        let state = k.var(known);
        let hidden = hidden(known, first + offset, count);
        for item in (0..count).step_by(MARKED) {
            let word = self.word_at(k.i32(item));
            let at = self.marks(buffer, mark, word);
            k.when(hidden.at_least(k.i32(item + 1)), || {
                let hidden = hidden - item;
                let rest = hidden.below(k.i32(MARKED)).select(k.i32(u32::MAX as usize) << hidden, k.i32(0));
                at.store(at.load(Ty::I32, WORD) & rest, WORD);
            });
            self.before(mark, word).store(state.get(), BEFORE);
            state.set(after((at.load(Ty::I32, WORD), k.i32(item)), first + offset, state.get()));
        }
    }
}

/// How many records of so many, the first of which has this place, have a place below what a component is before them: they do not
/// change it. Only what a call starts from can be more than the place of a record.
pub(super) fn hidden<'k>(known: Value<'k>, place: Value<'k>, most: usize) -> Value<'k> {
    let k = known.emit();
    let hidden = (known - place).umin(k.i64(most)).resize(Ty::I32);
    place.below(known).select(hidden, k.i32(0))
}

/// A component behind some of the marks of a word, from what it was before, which is at most the place of any record that has one. The
/// word is of records from this one on, and the place of record 0 is known.
pub(super) fn after<'k>((marks, first): (Value<'k>, Value<'k>), place: Value<'k>, before: Value<'k>) -> Value<'k> {
    // Of no marks it is any place, which does not count.
    let last = place + (first + highest(marks)).resize(Ty::I64);
    marks.is_not(marks.same(0)).select(last, before)
}
