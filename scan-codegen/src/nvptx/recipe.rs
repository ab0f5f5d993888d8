//! What kernels need of a program: its levels' folds, operators and starts, and its replay, each as code for one element.

use scan_ir::facts::{Advance, Body, Facts, Level, Range, fold_levels, replay_body, whole_combine};
use scan_ir::transform::rank_stage;
use scan_ir::{Constant, Layout, Mode, Program, Source, Table, Type, Verified};

use super::emit::{Emit, Value};
use super::error::NvptxError;
use super::given::Given;
use super::lower::{self, lower_function};
use super::state::{Packing, State};
use crate::gpu::{Arguments, GpuPlan, Manifest};

/// A [lowered](scan_ir::transform::lower) program, taken apart.
pub(crate) struct Recipe {
    pub(crate) inputs: Vec<Layout>,
    pub(crate) outputs: Vec<Layout>,
    pub(crate) arguments: Arguments,
    /// The levels, and how each one's states are packed.
    pub(crate) levels: Vec<(Level, Packing)>,
    pub(crate) replay: Body,
    /// The component of the replay's state that says where a kept record goes.
    pub(crate) rank: Option<usize>,
    pub(crate) tables: Vec<Table>,
    combines: Vec<Advance>,
    identities: Vec<Vec<Constant>>,
    ranges: Vec<Vec<Range>>,
}

/// What the replay of an element gives.
pub(crate) struct Replayed<'k> {
    /// The replay's state after the element.
    pub(crate) after: State<'k>,
    /// The components of the output record.
    pub(crate) outputs: Vec<Value<'k>>,
    /// Whether it is kept, in a program that asks.
    pub(crate) keep: Option<Value<'k>>,
}

/// What an element's code reads besides states and seeds.
pub(crate) trait Element<'k> {
    /// A component of the record, numbered through all columns.
    fn record(&self, component: usize) -> Value<'k>;
    /// The same of the next record; zeros at the last.
    fn next(&self, component: usize) -> Value<'k>;
    /// Whether it is the last.
    fn is_last(&self) -> Value<'k>;
    /// Its place in the scan, as 64 bits.
    fn index(&self) -> Value<'k>;
}

impl Recipe {
    pub(crate) fn new(program: &Verified<Program>, facts: &Facts) -> Result<Recipe, NvptxError> {
        let mappings = [Some(&program.output.project), program.output.keep.as_ref()];
        let mut reads = mappings.into_iter().flatten().flat_map(|mapping| &mapping.reads);
        if reads.any(|source| matches!(source, Source::State(_))) {
            return Err(NvptxError::NotLowered);
        }
        // Threads, warps and tiles combine runs of many lengths, so the components that depend on the length are carried
        // like all others.
        let mut facts = facts.clone();
        facts.stages.iter_mut().for_each(|stage| stage.length_only.fill(false));
        let replay = replay_body(program, &facts, Mode::Inclusive);
        let rank = rank_stage(program).and_then(|rank| replay.carried.iter().position(|&carried| carried == (rank, 0)));
        if program.output.keep.is_some() && rank.is_none() {
            return Err(NvptxError::NotLowered);
        }
        let levels = fold_levels(program, &facts).into_iter().map(|level| {
            let stages = level.stages.iter().map(|&stage| &program.stages[stage as usize]);
            let types: Vec<Type> = stages.flat_map(|stage| stage.state.iter().copied()).collect();
            (level, Packing::of(&types))
        });
        Ok(Recipe {
            inputs: program.inputs.clone(),
            outputs: program.output.columns.clone(),
            arguments: Arguments::of(program),
            levels: levels.collect(),
            replay,
            rank,
            tables: program.tables.clone(),
            combines: (0..program.stages.len() as u32).map(|stage| whole_combine(program, stage)).collect(),
            identities: program.stages.iter().map(|stage| stage.identity.clone()).collect(),
            ranges: facts.stages.iter().map(|stage| stage.ranges.clone()).collect(),
        })
    }

    /// Whether any element's code reads such a source.
    pub(crate) fn reads(&self, matches: impl Fn(&Source) -> bool) -> bool {
        let folds = self.levels.iter().map(|(level, _)| &level.body);
        folds.chain([&self.replay]).any(|body| body.mapping.reads.iter().any(&matches))
    }

    /// The components of a level's stages, in the order of its states.
    fn components(&self, level: usize) -> Vec<(u32, u32)> {
        let stages = self.levels[level].0.stages.iter();
        stages.flat_map(|&stage| (0..self.identities[stage as usize].len() as u32).map(move |c| (stage, c))).collect()
    }

    /// Where a component is in the states of all levels, and in the numbering through all stages.
    fn place(&self, level: usize, component: (u32, u32)) -> Option<usize> {
        self.components(level).iter().position(|&own| own == component)
    }

    fn number(&self, (stage, component): (u32, u32)) -> usize {
        self.identities[..stage as usize].iter().map(Vec::len).sum::<usize>() + component as usize
    }

    /// The state that changes nothing.
    pub(crate) fn identity<'k>(&self, k: &'k Emit, level: usize) -> State<'k> {
        let components = self.components(level).into_iter();
        components.map(|(stage, c)| lower::constant(k, self.identities[stage as usize][c as usize])).collect()
    }

    /// The state that the first record starts from.
    pub(crate) fn start<'k>(&self, given: Given<'k, '_>, level: usize) -> State<'k> {
        let offset = given.layout.start();
        self.components(level).into_iter().map(|component| given.component(offset, self.number(component))).collect()
    }

    /// Writes the state of a level after the last record of a row, if anyone wants totals.
    pub(crate) fn tell_total<'k>(&self, given: Given<'k, '_>, level: usize, row: Value<'k>, total: &[Value<'k>]) {
        let address = given.word(Arguments::TOTAL);
        let states = &self.arguments.states;
        given.k.when(address.is_not(given.k.i64(0)), || {
            for (component, &value) in self.components(level).into_iter().zip(total) {
                let field = states.fields[self.number(component)];
                let at = address.as_global().byte(row * states.size as usize).at(field.offset as usize);
                at.store(lower::to_memory(value, field.ty), 1);
            }
        });
    }

    /// How a kernel of this program is launched.
    pub(crate) fn manifest(&self, plan: &GpuPlan, threads: usize, shared_bytes: usize) -> Manifest {
        Manifest {
            plan: plan.clone(),
            threads,
            shared_bytes,
            tile_state_bytes: self.tile_state_bytes(),
            arguments: self.arguments.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
        }
    }

    /// Bytes of the states that a tile publishes, level by level.
    pub(crate) fn tile_state_bytes(&self) -> usize {
        // A slot holds 8-byte and 16-byte pieces, the latter at multiples of 16.
        let bytes: Vec<usize> = self.levels.iter().map(|(_, packing)| packing.tile_state_bytes()).collect();
        match bytes[..] {
            [only] => only,
            _ => bytes.iter().map(|bytes| bytes.next_multiple_of(16)).sum(),
        }
    }

    /// Where a level's state is in what a tile publishes.
    pub(crate) fn tile_state_offset(&self, level: usize) -> usize {
        self.levels[..level].iter().map(|(_, packing)| packing.tile_state_bytes().next_multiple_of(16)).sum()
    }

    /// `earlier ⊕ later`.
    pub(crate) fn combine<'k>(
        &self,
        given: Given<'k, '_>,
        level: usize,
        earlier: &[Value<'k>],
        later: &[Value<'k>],
    ) -> State<'k> {
        let mut result = Vec::new();
        let mut first = 0;
        for &stage in &self.levels[level].0.stages {
            let stage = stage as usize;
            let own = first..first + self.identities[stage].len();
            first = own.end;
            let both = [&earlier[own.clone()], &later[own]].concat();
            let ranges = self.ranges[stage].repeat(2);
            result.extend(lower_function(given.k, &self.combines[stage].function, &both, &ranges, given.tables));
        }
        result
    }

    /// The state of a level after an element. Stages of earlier levels that it follows are in `passed`, in the order of
    /// [`followed`](Recipe::followed).
    pub(crate) fn step<'k>(
        &self,
        given: Given<'k, '_>,
        level: usize,
        before: &[Value<'k>],
        passed: &mut [Value<'k>],
        element: &dyn Element<'k>,
    ) -> State<'k> {
        let body = &self.levels[level].0.body;
        let followed = self.followed(level);
        let followed = |component| followed.iter().position(|&f| f == component).expect("other states are followed");
        let carried = body.carried.iter().map(|&component| match self.place(level, component) {
            Some(place) => before[place],
            None => passed[followed(component)],
        });
        let carried: Vec<Value<'k>> = carried.collect();
        let results = self.run(given, body, &carried, element);
        let mut after = before.to_vec();
        for (&component, result) in body.carried.iter().zip(results) {
            match self.place(level, component) {
                Some(place) => after[place] = result,
                None => passed[followed(component)] = result,
            }
        }
        after
    }

    /// The components of earlier levels that a level's fold carries along, from their true values before the tile.
    pub(crate) fn followed(&self, level: usize) -> Vec<(u32, u32)> {
        let carried = self.levels[level].0.body.carried.iter().copied();
        carried.filter(|&component| self.place(level, component).is_none()).collect()
    }

    /// The components that the replay carries, out of the states of all levels before an element.
    pub(crate) fn live<'k>(&self, states: &[State<'k>]) -> State<'k> {
        self.select(&self.replay.carried, states)
    }

    /// These components out of the states of the first levels.
    pub(crate) fn select<'k>(&self, components: &[(u32, u32)], states: &[State<'k>]) -> State<'k> {
        let find = |&component: &(u32, u32)| {
            let mut places =
                states.iter().enumerate().filter_map(|(level, state)| Some(state[self.place(level, component)?]));
            places.next().expect("every component belongs to a level")
        };
        components.iter().map(find).collect()
    }

    /// An element of the replay.
    pub(crate) fn replay<'k>(
        &self,
        given: Given<'k, '_>,
        before: &[Value<'k>],
        element: &dyn Element<'k>,
    ) -> Replayed<'k> {
        let mut results = self.run(given, &self.replay, before, element).into_iter();
        let after = results.by_ref().take(before.len()).collect();
        let outputs: usize = self.outputs.iter().map(|column| column.fields.len()).sum();
        Replayed { after, outputs: results.by_ref().take(outputs).collect(), keep: results.next() }
    }

    /// The code of a body for one element.
    fn run<'k>(
        &self,
        given: Given<'k, '_>,
        body: &Body,
        carried: &[Value<'k>],
        element: &dyn Element<'k>,
    ) -> Vec<Value<'k>> {
        let mut states = carried.iter();
        let reads = body.mapping.reads.iter().map(|&source| match source {
            Source::Record(component) => element.record(component as usize),
            Source::Next(component) => element.next(component as usize),
            Source::Last => element.is_last(),
            Source::Index => element.index(),
            Source::Seed { stage, component } => given.component(given.layout.seed(), self.number((stage, component))),
            _ => *states.next().expect("the first parameters are the carried components"),
        });
        let arguments: Vec<Value<'k>> = reads.collect();
        let ranges: Vec<Range> = body
            .mapping
            .reads
            .iter()
            .zip(&body.mapping.function.params)
            .map(|(source, &ty)| match *source {
                Source::Before { stage, component } => self.ranges[stage as usize][component as usize],
                _ => Range::full(ty),
            })
            .collect();
        lower_function(given.k, &body.mapping.function, &arguments, &ranges, given.tables)
    }
}
