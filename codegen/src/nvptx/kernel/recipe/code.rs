//! The code that a [`Recipe`] writes into a kernel: starts and totals, operators, steps, and the
//! replay.

use monoscan_ir::Source;
use monoscan_ir::automaton::Carried;

use super::{LevelFold, Recipe, Replayed};
use crate::gpu::Arguments;
use crate::nvptx::emit::{Builder, Ty, Value};
use crate::nvptx::kernel::arguments::KernelArguments;
use crate::nvptx::kernel::element::{Element, ElementCode, read};
use crate::nvptx::kernel::state::State;
use crate::nvptx::lower;

impl Recipe {
    /// The state that changes nothing.
    pub fn identity<'k>(&self, k: &'k Builder, level: usize) -> State<'k> {
        if self.has_ids(level) {
            return vec![k.i32(0)];
        }
        let components = self.components(level).iter();
        components.map(|&(stage, c)| lower::constant(k, self.identities[stage as usize][c as usize])).collect()
    }

    /// The state that a scan of a level starts from.
    pub fn start<'k>(&self, args: KernelArguments<'k, '_>, level: usize) -> State<'k> {
        match self.has_ids(level) {
            true => self.identity(args.k, level),
            false => self.start_argument(args, level),
        }
    }

    /// The components of a state that a scan has led to.
    fn components_of<'k>(&self, args: KernelArguments<'k, '_>, level: usize, state: &[Value<'k>]) -> State<'k> {
        match self.folds[level].map_ids.as_ref().filter(|map_ids| map_ids.is_closed()) {
            Some(map_ids) => {
                let map = map_ids.map(args, state[0]);
                let both = [self.start_argument(args, level), map].concat();
                self.folds[level].combines[0].write(args.k, &both, args.tables)
            }
            None => state.to_vec(),
        }
    }

    /// The state that the caller says the first record starts from.
    fn start_argument<'k>(&self, args: KernelArguments<'k, '_>, level: usize) -> State<'k> {
        let offset = args.layout.start();
        self.components(level).iter().map(|&component| args.component(offset, self.number(component))).collect()
    }

    /// Writes the state of a level after the last record of a row, if totals are asked for.
    pub fn tell_total<'k>(&self, args: KernelArguments<'k, '_>, level: usize, row: Value<'k>, total: &[Value<'k>]) {
        let address = args.word(Arguments::TOTAL);
        let states = &self.arguments.states;
        args.k.when(address.is_not(args.k.i64(0)), || {
            for (&component, value) in self.components(level).iter().zip(self.components_of(args, level, total)) {
                let field = states.fields[self.number(component)];
                let at = address.as_global().byte(row * states.size as usize).at(field.offset as usize);
                at.store(lower::to_memory(value, field.ty), 1);
            }
        });
    }

    /// `earlier ⊕ later`.
    pub fn combine<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        level: usize,
        earlier: &[Value<'k>],
        later: &[Value<'k>],
    ) -> State<'k> {
        let map_ids = self.folds[level].map_ids.as_ref();
        if let Some(id) = map_ids.and_then(|map_ids| map_ids.compose(args, earlier[0], later[0])) {
            return vec![id];
        }
        let mut result = Vec::new();
        let mut first = 0;
        for (&stage, code) in self.levels[level].0.stages.iter().zip(&self.folds[level].combines) {
            let own = first..first + self.identities[stage as usize].len();
            first = own.end;
            let both = [&earlier[own.clone()], &later[own]].concat();
            result.extend(code.write(args.k, &both, args.tables));
        }
        result
    }

    /// The state of a level after an element, and what the fold leaves of it to the replay, if it does. What it follows of earlier
    /// levels is in `passed`, as [`taken_along`](Recipe::taken_along) has it.
    pub fn step<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        level: usize,
        before: &[Value<'k>],
        passed: &mut [Value<'k>],
        element: &dyn Element<'k>,
    ) -> (State<'k>, Option<Value<'k>>) {
        let LevelFold { carried, step, .. } = &self.folds[level];
        // Followed values are in the order in which they are carried.
        let mut next = 0..;
        let mut places = Vec::new();
        for carried in carried {
            let own = self.place(level, carried.pair());
            places.push(own.ok_or_else(|| next.next().expect("an endless range")));
        }
        let values =
            places.iter().map(|place| place.map_or_else(|followed: usize| passed[followed], |own| before[own]));
        let values: Vec<Value<'k>> = values.collect();
        let mut results = self.write(args, step, &values, element).into_iter();
        let mut after = before.to_vec();
        for (place, result) in places.into_iter().zip(results.by_ref()) {
            match place {
                Ok(own) => after[own] = result,
                Err(followed) => passed[followed] = result,
            }
        }
        (after, results.next())
    }

    /// The step of a Mealy fold of a level: the lane after an element, as it is carried, its output symbol, and a
    /// word whose low byte is 1 if it is kept, else 0.
    pub fn mealy_step<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        level: usize,
        lane: Value<'k>,
        element: &dyn Element<'k>,
    ) -> [Value<'k>; 3] {
        let results = self.write(args, &self.folds[level].step, &[lane], element);
        results.try_into().unwrap_or_else(|_| unreachable!("the fold of a rank that is a Mealy machine gives these"))
    }

    /// The values of these before an element, out of the states of the first levels.
    pub fn take_along<'k>(&self, args: KernelArguments<'k, '_>, pass: usize, states: &[State<'k>]) -> State<'k> {
        let value = |carried: &Carried| self.value(args, carried, &states[self.level_of(carried)]);
        self.taken_along(pass).iter().map(value).collect()
    }

    /// A component, or a lane of it, out of a state that a scan of its level has led to.
    pub fn value<'k>(&self, args: KernelArguments<'k, '_>, carried: &Carried, state: &[Value<'k>]) -> Value<'k> {
        let level = self.level_of(carried);
        let place = self.place(level, carried.pair()).expect("the level has it");
        let closed = self.folds[level].map_ids.as_ref().filter(|map_ids| map_ids.is_closed());
        match (closed, carried.lane) {
            (Some(map_ids), Some(lane)) => {
                let start = lower::lane(self.start_argument(args, level)[place], lane);
                map_ids.apply(args, state[0], start).expect("ids of closed maps are applied")
            }
            (_, Some(lane)) => lower::lane(self.components_of(args, level, state)[place], lane),
            (_, None) => self.components_of(args, level, state)[place],
        }
    }

    /// The same in the identity.
    pub fn identity_of<'k>(&self, k: &'k Builder, carried: &Carried) -> Value<'k> {
        let whole = lower::constant(k, self.identities[carried.stage as usize][carried.component as usize]);
        carried.lane.map_or(whole, |lane| lower::lane(whole, lane))
    }

    /// The values that go from element to element of a pass, from those that it takes along.
    pub fn enter<'k>(&self, args: KernelArguments<'k, '_>, pass: usize, taken_along: State<'k>) -> State<'k> {
        let row = self.folds.get(pass).map_or(self.replay.row, |fold| fold.row);
        let enter = self.replay.enter.as_ref().filter(|_| pass == self.folds.len());
        match (enter, row) {
            (Some(enter), _) => enter.write(args.k, &taken_along, args.tables),
            (None, Some(row)) => {
                let values = taken_along.into_iter().zip(self.taken_along(pass));
                let start = |lane: Value<'k>| lane.resize(Ty::I32) * row as usize;
                values.map(|(value, carried)| if carried.lane.is_some() { start(value) } else { value }).collect()
            }
            (None, None) => taken_along,
        }
    }

    /// An element of the replay.
    pub fn replay<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        before: &[Value<'k>],
        element: &dyn Element<'k>,
    ) -> Replayed<'k> {
        let mut results = self.write(args, &self.replay.element, before, element).into_iter();
        let after = results.by_ref().take(before.len()).collect();
        let outputs: usize = self.outputs.iter().map(|column| column.fields.len()).sum();
        Replayed { after, outputs: results.by_ref().take(outputs).collect(), filter: results.next() }
    }

    /// Writes an element's code.
    pub(crate) fn write<'k>(
        &self,
        args: KernelArguments<'k, '_>,
        code: &ElementCode,
        carried: &[Value<'k>],
        element: &dyn Element<'k>,
    ) -> Vec<Value<'k>> {
        let mut states = carried.iter();
        let reads = code.reads.iter().map(|&source| match source {
            Source::Init { stage, component } => args.component(args.layout.init(), self.number((stage, component))),
            Source::Parameter(parameter) => args.parameter(parameter),
            source => read(element, source)
                .unwrap_or_else(|| *states.next().expect("the first parameters are the carried components")),
        });
        let arguments: Vec<Value<'k>> = reads.collect();
        code.code.write(args.k, &arguments, args.tables)
    }
}
