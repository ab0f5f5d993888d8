//! Columnar: a thread for each row, from its first record to its last, without any talk among
//! threads; or for each chunk of so many records of a row, from a start of its own.
//!
//! For rows that lie side by side: then the threads of a warp read neighbouring records. There is
//! one carry for each row, so all stages of a cascade go along in the replay, and a program is read
//! once. A thread loads all records of a load group before it computes, so that it waits for memory
//! once for all of them.

use std::cell::RefCell;

use monoscan_ir::Layout;

use crate::gpu::{Arguments, GpuPlan};
use crate::nvptx::emit::{Ty, Value, Var};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::columns::{field, is_aligned, load_field, load_record, store_record};
use crate::nvptx::kernel::element::Element;
use crate::nvptx::kernel::recipe::Recipe;
use crate::nvptx::kernel::state::State;
use crate::nvptx::kernel::warp::{get, set, variables};

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
        let (begin, end) = (begin.get(), begin.get() + chunk);
        let end = end.below(records).select(end, records);
        let reversed = args.word(Arguments::REVERSED).is_not(k.i64(0));
        let states: Vec<State<'_>> = (0..recipe.levels.len()).map(|level| recipe.start(args, level)).collect();
        let states: Vec<Vec<_>> = states.iter().map(|state| variables(state)).collect();
        let before: Vec<State<'_>> = states.iter().map(|state| get(state)).collect();
        let levels = recipe.levels.len();
        let walk = Walk {
            recipe,
            args,
            columns: (0..recipe.inputs.len() + recipe.outputs.len()).map(|column| args.column(column)).collect(),
            first: plane.get() * args.word(Arguments::PITCH) + (row - beside * step),
            step,
            reversed,
            records,
            has_totals: args.word(Arguments::TOTAL).is_not(k.i64(0)),
            live: variables(&recipe.enter(args, levels, recipe.take_along(args, levels, &before))),
            states,
        };
        let group = plan.load_group;
        let whole = begin + (end - begin).udiv(k.i64(group)) * group;
        let is_aligned = walk.is_aligned();
        k.range(begin, whole, k.i64(group), |index| walk.group(index, group, is_aligned));
        if group > 1 {
            k.range(whole, end, k.i64(1), |index| walk.group(index, 1, is_aligned));
        }
        for (level, state) in walk.states.iter().enumerate() {
            recipe.tell_total(args, level, row, &get(state));
        }
    });
}

/// A row, and where a thread is in it.
struct Walk<'k, 'a> {
    recipe: &'a Recipe,
    args: KernelArguments<'k, 'a>,
    /// Where the columns begin, inputs first.
    columns: Vec<Value<'k>>,
    /// The first record of the row in memory, and from one record to the next.
    first: Value<'k>,
    step: Value<'k>,
    reversed: Value<'k>,
    records: Value<'k>,
    has_totals: Value<'k>,
    /// The states of all levels, for totals, and what the replay carries.
    states: Vec<Vec<Var<'k>>>,
    live: Vec<Var<'k>>,
}

impl<'k> Walk<'k, '_> {
    fn layouts(&self) -> impl Iterator<Item = &Layout> {
        self.recipe.inputs.iter().chain(&self.recipe.outputs)
    }

    /// Whether all columns begin where a record is moved in pieces as wide as its size allows. Device memory mostly does.
    fn is_aligned(&self) -> Value<'k> {
        let columns = self.columns.iter().zip(self.layouts());
        let all = columns.map(|(column, layout)| is_aligned(*column, layout));
        all.reduce(|a, b| a & b).unwrap_or(self.args.k.bool(true))
    }

    /// Goes over so many records from an element on.
    fn group(&self, index: Value<'k>, count: usize, is_aligned: Value<'k>) {
        let Walk { recipe, args, .. } = *self;
        let k = args.k;
        let place = self.first + self.reversed.select(self.records - 1usize - index, index) * self.step;
        let step = self.reversed.select(k.i64(0) - self.step, self.step);
        // Of each column, where the record before the first is, the records themselves, and the one after the last.
        let places = self.columns.iter().zip(self.layouts()).map(|(column, layout)| {
            let (size, step) = (layout.size as usize, step * layout.size as usize);
            let first = column.byte(place * size);
            let others = std::iter::successors(Some(first), |place| Some(place.byte(step)));
            [first.byte(k.i64(0) - step)].into_iter().chain(others).take(count + 2).collect()
        });
        let places: Vec<Vec<Value<'k>>> = places.collect();
        let (inputs, outputs) = places.split_at(recipe.inputs.len());
        let loaded = self.load(inputs, count, is_aligned);
        let element =
            |number: usize| InDevice { walk: self, places: inputs, loaded: &loaded, number, index: index + number };
        // Totals need every component, outputs those that live.
        k.when(self.has_totals, || {
            for number in 0..count {
                let before: Vec<State<'_>> = self.states.iter().map(|state| get(state)).collect();
                for level in 0..recipe.levels.len() {
                    let mut followed = recipe.take_along(args, level, &before);
                    let (after, _) = recipe.step(args, level, &before[level], &mut followed, &element(number));
                    set(&self.states[level], &after);
                }
            }
        });
        let replay = |number| {
            let replayed = recipe.replay(args, &get(&self.live), &element(number));
            set(&self.live, &replayed.after);
            replayed.outputs
        };
        let written: Vec<Vec<Value<'k>>> = (0..count).map(replay).collect();
        self.store(outputs, &written, is_aligned);
    }

    /// The components of records, of each in the order of the columns.
    fn load(&self, places: &[Vec<Value<'k>>], count: usize, is_aligned: Value<'k>) -> Vec<Vec<Value<'k>>> {
        let (k, inputs) = (self.args.k, &self.recipe.inputs);
        let all = |is_aligned: bool| {
            let columns =
                |number: usize| inputs.iter().zip(places).map(move |(layout, places)| (layout, places[number]));
            let records = (1..=count).flat_map(columns);
            records.flat_map(|(layout, place)| load_record(k, layout, place, is_aligned)).collect::<Vec<_>>()
        };
        let loaded = RefCell::new(Vec::new());
        let aligned = || *loaded.borrow_mut() = all(true).into_iter().map(|value| k.var(value)).collect();
        k.either(is_aligned, aligned, || set(&loaded.borrow(), &all(false)));
        let components: usize = inputs.iter().map(|layout| layout.fields.len()).sum();
        get(&loaded.borrow()).chunks(components.max(1)).map(<[_]>::to_vec).collect()
    }

    /// Stores records.
    fn store(&self, places: &[Vec<Value<'k>>], written: &[Vec<Value<'k>>], is_aligned: Value<'k>) {
        let (k, outputs) = (self.args.k, &self.recipe.outputs);
        let all = |is_aligned: bool| {
            for (number, record) in written.iter().enumerate() {
                let mut components = &record[..];
                for (layout, places) in outputs.iter().zip(places) {
                    let (own, others) = components.split_at(layout.fields.len());
                    store_record(k, layout, places[number + 1], own, is_aligned);
                    components = others;
                }
            }
        };
        if !outputs.is_empty() {
            k.either(is_aligned, || all(true), || all(false));
        }
    }
}

/// A record of a load group.
struct InDevice<'k, 'a> {
    walk: &'a Walk<'k, 'a>,
    /// Of each input column, where the record before the group is, its records, and the one after.
    places: &'a [Vec<Value<'k>>],
    /// The records of the group.
    loaded: &'a [Vec<Value<'k>>],
    /// Which of them it is.
    number: usize,
    index: Value<'k>,
}

impl<'k> InDevice<'k, '_> {
    /// A component of the record that is so many after the one before the group, where `exists`; zero elsewhere.
    fn outside(&self, number: usize, component: usize, exists: Value<'k>) -> Value<'k> {
        let (column, offset, ty) = field(&self.walk.recipe.inputs, component);
        let places = &self.places[column];
        // What may not exist is not read: the record itself is, in its place.
        let place = exists.select(places[number], places[self.number + 1]);
        let value = load_field(place, (offset, ty, 1));
        exists.select(value, self.walk.args.k.int(value.ty(), 0))
    }
}

impl<'k> Element<'k> for InDevice<'k, '_> {
    fn record(&self, component: usize) -> Value<'k> {
        self.loaded[self.number][component]
    }

    fn next(&self, component: usize) -> Value<'k> {
        match self.loaded.get(self.number + 1) {
            Some(next) => next[component],
            None => self.outside(self.number + 2, component, !self.is_last()),
        }
    }

    fn prev(&self, component: usize) -> Value<'k> {
        match self.number.checked_sub(1) {
            Some(before) => self.loaded[before][component],
            None => self.outside(0, component, !self.is_first()),
        }
    }

    fn is_last(&self) -> Value<'k> {
        (self.index + 1).is(self.walk.records)
    }

    fn index(&self) -> Value<'k> {
        self.index
    }
}
