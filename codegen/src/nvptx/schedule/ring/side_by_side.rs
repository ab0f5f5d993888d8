//! Kept records by [marks](crate::nvptx::strategy::marks), put side by side in the buffer of their
//! tile.
//!
//! A warp has its records in registers before it writes over them: each thread puts what it keeps
//! where the ranks say, from the place of the warp's first record on. From there the lanes write to
//! device memory side by side, whole lines of 32 records but for the first and the last.

use super::Ring;
use super::compute::Known;
use super::pipeline::{Buffer, Pending, Place};
use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::bytes::Bytes;
use crate::nvptx::kernel::columns::store_fields;
use crate::nvptx::strategy::marks::{ByMarks, MARKED, Marks};

use super::marked::WORD;

const LANES: usize = 32;
/// Lines that are on their way at once.
const TOGETHER: usize = 4;

impl<'k> Ring<'k, '_> {
    /// Replays what is kept of a tile, over these input columns.
    pub(super) fn replay_side_by_side(
        &self,
        (tile, buffer): (Value<'k>, Place<'k, Buffer>),
        pending: Place<'k, Pending>,
        (marks, under, known): (&Marks, &[usize], &Known<'k>),
    ) {
        let (k, count) = (self.k, self.plan.items_per_thread());
        let items = self.items(tile, buffer, (&[], Vec::new()));
        let rank = self.recipe.rank.expect("marks say what is kept");
        let own = self.lanes(0).packing().load_shared(k, self.warp_carry(0, pending, self.warp));
        let first_rank = self.recipe.value(self.args, &self.recipe.taken_along(1)[rank], &own);
        let state = |component: usize, is_after: bool, rank: Value<'k>| match marks.components[component] {
            ByMarks::Rank => rank + usize::from(is_after),
            _ => own[component],
        };
        // Of a tile that is not full, some of these are no records; they have no marks.
        let starts = (0..count).step_by(self.plan.load_group).map(|group| self.thread * count + group);
        let groups: Vec<(Value<'k>, Vec<Bytes<'k>>)> = starts.map(|start| (start, items.load(start))).collect();
        let word = |first| self.marks(buffer, 0, self.word_at(k.i32(first))).load(Ty::I32, WORD);
        let words: Vec<Value<'k>> = (0..count).step_by(MARKED).map(word).collect();
        let first_of_warp = self.warp * (LANES * count);
        let area = |(&input, size): (&usize, usize)| self.input_area(buffer, input).byte(first_of_warp * size);
        let sizes = self.recipe.outputs.iter().map(|column| column.size as usize);
        let areas: Vec<Value<'k>> = under.iter().zip(sizes.clone()).map(area).collect();

        // All lanes have read their records.
        k.warp_barrier();
        let place = k.var((known.taken_along[rank] - first_rank).resize(Ty::I32));
        let elements = groups.iter().flat_map(|(start, bytes)| items.elements(*start, bytes));
        for (item, element) in elements.enumerate() {
            let mark = words[item / MARKED] & (1usize << (item % MARKED));
            let is_kept = mark.is_not(k.i32(0));
            let to = place.get();
            k.when(is_kept, || {
                let rank = first_rank + to.resize(Ty::I64);
                let states = marks.states(|component, is_after| state(component, is_after, rank));
                let results = self.recipe.write(self.args, &marks.outputs, &states, &element);
                store_fields(&self.recipe.outputs, &areas, to, &results, false);
            });
            place.set(to + is_kept.select(k.i32(1), k.i32(0)));
        }
        let kept = k.shuffle_from(place.get(), k.i32(LANES - 1));
        k.warp_barrier();

        let kept = kept.umin(self.space_from(first_rank));
        for ((size, from), to) in sizes.zip(areas).zip(self.outputs_from(first_rank)) {
            let load = |place: Value<'k>| Bytes::load(k, from.byte(place * size), size);
            let store = |place: Value<'k>, record: Bytes<'k>| record.store(to.byte(place.resize(Ty::I64) * size), size);
            // So many are in front of the first of them in its line.
            let before = (to.address() >> size.ilog2() as usize).resize(Ty::I32) & (LANES - 1);
            let first = self.lane - before;
            k.when(self.lane.at_least(before) & first.below(kept), || store(first, load(first)));
            k.range(first + LANES, kept, k.i32(LANES * TOGETHER), |first| {
                let places: Vec<Value<'k>> = (0..TOGETHER).map(|line| first + line * LANES).collect();
                let records: Vec<Bytes<'k>> = places.iter().map(|place| load(place.umin(kept - 1))).collect();
                for (line, (&place, record)) in places.iter().zip(records).enumerate() {
                    let store = || store(place, record);
                    if line == 0 { store() } else { k.when(place.below(kept), store) }
                }
            });
        }
    }
}
