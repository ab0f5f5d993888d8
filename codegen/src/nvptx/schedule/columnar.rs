//! Columnar: a thread for each row, from its first record to its last, without any talk among
//! threads; or for each chunk of so many records of a row, from a start of its own.
//!
//! For rows that lie side by side: then the threads of a warp read neighbouring records. There is
//! one carry for each row, so all stages of a cascade go along in the replay, and a program is read
//! once.

use crate::gpu::{Arguments, GpuPlan};
use crate::nvptx::emit::{Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::columns::{field, store_record};
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::state::State;
use crate::nvptx::kernel::warp::{get, set, variables};
use crate::nvptx::lower::from_memory;

/// Writes the kernel.
pub(super) fn write<'k>(args: KernelArguments<'k, '_>, recipe: &Recipe, plan: &GpuPlan) {
    let k = args.k;
    let row = (k.block() * (32 * plan.warps) + k.thread()).resize(Ty::I64);
    let args = KernelArguments { row: recipe.has_rows.then_some(row), ..args };
    k.when(row.below(args.word(Arguments::ROWS)), || {
        let (step, records, chunk) =
            (args.word(Arguments::STEP), args.word(Arguments::RECORDS), args.word(Arguments::CHUNK));
        let beside = row.udiv(step);
        // The plane, and the first element of the chunk.
        let (plane, begin) = (k.var(beside), k.var(k.i64(0)));
        k.when(chunk.below(records), || {
            let chunks = (records + chunk - 1usize).udiv(chunk);
            plane.set(beside.udiv(chunks));
            begin.set((beside - plane.get() * chunks) * chunk);
        });
        let first = plane.get() * args.word(Arguments::PITCH) + (row - beside * step);
        let end = begin.get() + chunk;
        let end = end.below(records).select(end, records);
        let reversed = args.word(Arguments::REVERSED).is_not(k.i64(0));
        let states: Vec<State<'_>> = (0..recipe.levels.len()).map(|level| recipe.start(args, level)).collect();
        let states: Vec<Vec<_>> = states.iter().map(|state| variables(state)).collect();
        let before: Vec<State<'_>> = states.iter().map(|state| get(state)).collect();
        let levels = recipe.levels.len();
        let live = variables(&recipe.enter(args, levels, recipe.take_along(args, levels, &before)));
        let totals = args.word(Arguments::TOTAL).is_not(k.i64(0));
        k.range(begin.get(), end, k.i64(1), |index| {
            let place = |index: Value<'k>| first + reversed.select(records - 1 - index, index) * step;
            let element =
                InDevice { recipe, args, places: (place(index), place(index + 1), place(index - 1)), index, records };
            // Totals need every component, outputs those that live.
            k.when(totals, || {
                let before: Vec<State<'_>> = states.iter().map(|state| get(state)).collect();
                for level in 0..recipe.levels.len() {
                    let mut followed = recipe.take_along(args, level, &before);
                    let (after, _) = recipe.step(args, level, &before[level], &mut followed, &element);
                    set(&states[level], &after);
                }
            });
            let replayed = recipe.replay(args, &get(&live), &element);
            set(&live, &replayed.after);
            store_record(args, recipe, element.places.0, &replayed.outputs);
        });
        for (level, state) in states.iter().enumerate() {
            recipe.tell_total(args, level, row, &get(state));
        }
    });
}

/// A record in device memory.
struct InDevice<'k, 'a> {
    recipe: &'a Recipe,
    args: KernelArguments<'k, 'a>,
    /// Which records there this one, the next and the one before are.
    places: (Value<'k>, Value<'k>, Value<'k>),
    index: Value<'k>,
    records: Value<'k>,
}

impl<'k> InDevice<'k, '_> {
    fn load(&self, place: Value<'k>, component: usize) -> Value<'k> {
        let (column, offset, ty) = field(&self.recipe.inputs, component);
        let size = self.recipe.inputs[column].size as usize;
        let bits = Ty::Int(8 * ty.size() as u16);
        from_memory(self.args.column(column).byte(place * size).at(offset).load(bits, 1), ty)
    }
}

impl<'k> Element<'k> for InDevice<'k, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        self.load(self.places.0, component)
    }

    fn next(&self, component: usize) -> Value<'k> {
        // The record after the last one may not exist: that of the last itself is read in its place.
        let is_last = self.is_last();
        let next = self.load(is_last.select(self.places.0, self.places.1), component);
        is_last.select(self.args.k.int(next.ty(), 0), next)
    }

    fn prev(&self, component: usize) -> Value<'k> {
        let is_first = self.is_first();
        let prev = self.load(is_first.select(self.places.0, self.places.2), component);
        is_first.select(self.args.k.int(prev.ty(), 0), prev)
    }

    fn is_last(&self) -> Value<'k> {
        (self.index + 1).is(self.records)
    }

    fn index(&self) -> Value<'k> {
        self.index
    }
}
