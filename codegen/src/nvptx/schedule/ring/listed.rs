//! Kept records by [marks](crate::nvptx::strategy::marks), listed: the threads of a warp list which
//! of its records are kept, then each takes every 32nd of the list and writes its results.
//!
//! So all lanes write, side by side, and results take no space in shared memory. An entry of the
//! list is 1 more than a number: that of the record in the warp's part of the tile, or that of its
//! bit, where components have marks of their own. The number of a bit says where these are.

use super::Ring;
use super::compute::Known;
use super::marked::{BEFORE, WORD, after, hidden, marked_words};
use super::pipeline::{Buffer, Pending, Place};
use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::columns::store_fields;
use crate::nvptx::kernel::items::{LISTED, ThreadItems};
use crate::nvptx::kernel::state::State;
use crate::nvptx::strategy::marks::{ByMarks, MARKED, Marks};

const LANES: usize = 32;

/// The part of a tile that a warp replays.
struct Part<'k, 'a> {
    marks: &'a Marks,
    items: ThreadItems<'k, 'a>,
    buffer: Place<'k, Buffer>,
    /// The first of its records in the tile.
    first: Value<'k>,
    /// The components before it.
    before: State<'k>,
    first_rank: Value<'k>,
    /// For each component that is the place of the last kept record: how many of the first records do not change it. They are records
    /// and never bits.
    hidden: Vec<Value<'k>>,
}

impl<'k> Ring<'k, '_> {
    /// Replays what is kept of a tile.
    pub(super) fn replay_listed(
        &self,
        (tile, buffer): (Value<'k>, Place<'k, Buffer>),
        pending: Place<'k, Pending>,
        (marks, known): (&Marks, &Known<'k>),
    ) {
        let k = self.k;
        let part = self.part((tile, buffer), pending, marks);
        let carried = self.recipe.taken_along(1);
        let rank = self.recipe.rank.expect("marks say what is kept");
        let list = self.base.at(self.shared.kept.expect("what is kept is listed"));
        let list = list.byte(self.warp * (LANES * self.plan.items_per_thread() * LISTED));
        // What was listed and found of the tile before has been read.
        k.warp_barrier();
        for (carried, &known) in carried.iter().zip(&known.taken_along) {
            let component = &marks.components[self.recipe.place_in_level(carried)];
            self.leave_before((&part.items, buffer), (component, known));
        }
        let kept_before = (known.taken_along[rank] - part.first_rank).resize(Ty::I32);
        let kept = self.list(list, (&part, kept_before));
        k.warp_barrier();

        let listed = k.opaque(kept.umin(self.space_from(part.first_rank)));
        let columns = self.outputs_from(part.first_rank);
        let write = |place: Value<'k>, entries: (Value<'k>, Value<'k>)| {
            // Each column's address is then the sum of a base and this number, and no pointer of its own.
            let place = k.opaque(place).resize(Ty::I64);
            let states = self.states(&part, place, entries);
            let record = part.items.in_memory(part.first + self.record_of(marks, entries.0 - 1));
            let results = self.recipe.write(self.args, &marks.outputs, &states, &record);
            store_fields(&self.recipe.outputs, &columns, place, &results, false);
        };
        let last = listed.is(k.i32(0)).select(k.i32(0), listed - 1);
        let entry = |place: Value<'k>| list.byte(place.umin(last) * LISTED).load(Ty::Int(16), LISTED).resize(Ty::I32);
        // The first line of results is a part of one, so that all others begin at multiples of their size. No entry is before the
        // first of all.
        let first = self.lane - (part.first_rank.resize(Ty::I32) & (LANES - 1));
        k.when(first.below(listed), || {
            let is_first = first.is(k.i32(0));
            let before = is_first.select(k.i32(0), entry(is_first.select(first, first - 1)));
            write(first, (entry(first), before));
        });
        // Entries are loaded while the record before them is written.
        let next = [LANES, LANES - 1].map(|place| k.var(entry(first + place)));
        k.range(first + LANES, listed, k.i32(LANES), |place| {
            let [own, before] = next.map(|next| next.get());
            next[0].set(entry(place + LANES));
            next[1].set(entry(place + (LANES - 1)));
            write(place, (own, before));
        });
    }

    /// This warp's part of a tile.
    fn part<'s>(
        &'s self,
        (tile, buffer): (Value<'k>, Place<'k, Buffer>),
        pending: Place<'k, Pending>,
        marks: &'s Marks,
    ) -> Part<'k, 's> {
        let k = self.k;
        let items = self.items(tile, buffer, (&[], Vec::new()));
        let before = self.lanes(0).packing().load_shared(k, self.warp_carry(0, pending, self.warp));
        let rank = &self.recipe.taken_along(1)[self.recipe.rank.expect("marks say what is kept")];
        let records = LANES * self.plan.items_per_thread();
        let first = self.warp * records;
        let index = items.first + first.resize(Ty::I64);
        let hidden = marks.components.iter().zip(&before).map(|(component, &known)| match *component {
            ByMarks::Last { mark: 0, offset } => hidden(known, index + offset, records),
            _ => k.i32(0),
        });
        Part {
            marks,
            items,
            buffer,
            first,
            first_rank: self.recipe.value(self.args, rank, &before),
            hidden: hidden.collect(),
            before,
        }
    }

    /// Lists what this thread keeps, behind so many that others of the warp keep. Gives how many all of them keep.
    fn list(&self, list: Value<'k>, (part, kept_before): (&Part<'k, '_>, Value<'k>)) -> Value<'k> {
        let (k, count) = (self.k, self.plan.items_per_thread());
        let numbers = if entries_are_bits(part.marks) { MARKED * marked_words(self.plan) } else { count };
        let end = k.var(kept_before * LISTED);
        for first in (0..count).step_by(MARKED) {
            let marks = self.marks(part.buffer, 0, self.word_at(k.i32(first))).load(Ty::I32, WORD);
            let entry = self.lane * numbers + first + 1;
            for item in 0..MARKED.min(count - first) {
                let is_kept = (marks & (1usize << item)).is_not(k.i32(0));
                let at = end.get();
                k.when(is_kept, || list.byte(at).store((entry + item).resize(Ty::Int(16)), LISTED));
                end.set(at + is_kept.select(k.i32(LISTED), k.i32(0)));
            }
        }
        k.shuffle_from(end.get(), k.i32(LANES - 1)) >> LISTED.ilog2() as usize
    }

    /// Which record of the warp's part it is that has this number, or whose bit has.
    fn record_of(&self, marks: &Marks, number: Value<'k>) -> Value<'k> {
        let (count, bits) = (self.plan.items_per_thread(), MARKED * marked_words(self.plan));
        match entries_are_bits(marks) {
            true => number - (number >> bits.ilog2() as usize) * (bits - count),
            false => number,
        }
    }

    /// The states that the results of a kept record read, by its place in the list, its entry and the one before.
    fn states(&self, part: &Part<'k, '_>, place: Value<'k>, (own, before): (Value<'k>, Value<'k>)) -> State<'k> {
        let (k, first) = (self.k, part.items.first);
        part.marks.states(|component, is_after| match part.marks.components[component] {
            ByMarks::Still => part.before[component],
            ByMarks::Rank => part.first_rank + place + usize::from(is_after),
            ByMarks::Last { mark: 0, offset } => {
                let last = if is_after { own } else { before };
                let record = self.record_of(part.marks, last - 1);
                let is_hidden = last.is(k.i32(0)) | record.below(part.hidden[component]);
                is_hidden.select(part.before[component], first + offset + (part.first + record).resize(Ty::I64))
            }
            ByMarks::Last { mark, offset } => {
                let (bit, record) = (own - 1, part.first + self.record_of(part.marks, own - 1));
                let word = self.warp * (LANES * marked_words(self.plan)) + (bit >> MARKED.ilog2() as usize);
                let marks = self.marks(part.buffer, mark, word).load(Ty::I32, WORD);
                // The record has the highest bit, or the one before it.
                let up_to = marks << ((bit & (MARKED - 1)) ^ (MARKED - 1));
                let marks = match is_after {
                    true => (up_to, record - (MARKED - 1)),
                    false => (up_to << 1usize, record - MARKED),
                };
                after(marks, first + offset, self.before(mark, word).load(Ty::I64, BEFORE))
            }
        })
    }
}

/// Whether entries of the list are numbers of bits.
fn entries_are_bits(marks: &Marks) -> bool {
    marks.of_components() > 0
}
