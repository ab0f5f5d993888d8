//! A program as kernels need it: the fold, operator and start of each level, and the replay, each
//! as code for one element. [`code`] writes them.

mod code;
mod own_fold;

use monoscan_ir::automaton::{self, Carried, LaneBody, MapFold};
use monoscan_ir::facts::{Level, Range};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Constant, Layout, Source, Table, Type};

use crate::gpu::{Arguments, GpuPlan, LookUps, Manifest, Schedule};
use crate::nvptx::emit::Value;
use crate::nvptx::kernel::element::ElementCode;
use crate::nvptx::kernel::overlays::overlays;
use crate::nvptx::kernel::shared_tables::{Copies, MOST_TABLE_BYTES};
use crate::nvptx::kernel::state::{Packing, State};
use crate::nvptx::lower::Code;
use crate::nvptx::strategy::map_ids::MapIds;
use crate::nvptx::strategy::marks::Marks;
use crate::nvptx::strategy::neighbours::NeighbourSymbols;
use crate::nvptx::strategy::packed::Packed;
pub(crate) use own_fold::OwnFold;

/// A [lowered](monoscan_ir::transform::lower) program, taken apart.
pub struct Recipe {
    pub inputs: Vec<Layout>,
    pub outputs: Vec<Layout>,
    /// The input column that each output column may lie over in shared memory.
    pub overlays: Vec<Option<usize>>,
    pub arguments: Arguments,
    /// Whether calls may be for rows, each of which may have states of its own: segments and kept records are of lines.
    pub has_rows: bool,
    /// The levels, and how each one's states are packed.
    pub levels: Vec<(Level, Packing)>,
    /// The component of the replay's state that says where a kept record goes.
    pub rank: Option<usize>,
    /// Its form for four records at a time, if it has one.
    pub(crate) packed: Option<Packed>,
    /// Those of the program, and those that the code of this recipe looks up besides.
    pub tables: Vec<Table>,
    /// Bytes of tables up to which blocks copy them to shared memory.
    pub most_table_bytes: usize,
    /// Those tables of which blocks keep a copy for each bank of shared memory.
    pub bank_replicated: Vec<u32>,
    /// Bytes of the queue in which a thread defers compositions.
    pub deferred_bytes: usize,
    /// The value that the fold writes over a record for the replay: its symbol.
    pub symbols: Option<Layout>,
    /// The marks that the only fold leaves, if records alone say what is kept, in a ring.
    pub(crate) marks: Option<Marks>,
    /// Whether the last fold writes an output symbol over the symbol: not 0 if the record is kept.
    pub is_mealy: bool,
    /// Whether the fold of the second level leaves a number of each record to the replay.
    pub leaves_numbers: bool,
    folds: Vec<LevelFold>,
    /// Whether [tables of neighbours](NeighbourSymbols) are copied for each bank: in a ring of one level. In cascades tiles need the
    /// space.
    copies_neighbours: bool,
    /// Whether folds are of runs of records, and none of records four at a time.
    folds_runs: bool,
    replay: Replay,
    identities: Vec<Vec<Constant>>,
}

/// How the states of a level are worked on.
struct LevelFold {
    /// The components of the level's stages, in the order of its states.
    components: Vec<(u32, u32)>,
    /// The components that the step carries: its own, and those of earlier levels that it follows.
    carried: Vec<Carried>,
    /// The latter.
    followed: Vec<Carried>,
    /// The elements of a row of its table, if a lane is followed as where its row begins.
    row: Option<u32>,
    /// For each stage of the level its operator.
    combines: Vec<Code>,
    step: ElementCode,
    /// By look-ups, if it goes by such; else each element's state is combined.
    map_ids: Option<MapIds>,
    /// In the numbers of the loop that the program was derived from, where that is less work.
    own: Option<OwnFold>,
}

/// The replay.
struct Replay {
    /// The components that it takes along from the stages.
    carried: Vec<Carried>,
    /// The elements of a row of its table, if it carries a lane as where its row begins.
    row: Option<u32>,
    /// The values that go from element to element instead, computed from those, where it runs the step of a [loop](Lowered::own_body).
    enter: Option<Code>,
    element: ElementCode,
}

impl Replay {
    /// The replay by lanes or look-ups, or by the step of the loop that the program was derived from, if that is less work.
    fn of(program: &Lowered, look_ups: &automaton::LookUps, is_packed: bool) -> Replay {
        let automaton::LookUps { replay, mealy, outputs, symbols, tables, .. } = look_ups;
        let (facts, carried) = (program.facts(), replay.carried.clone());
        let numbers = outputs.as_ref().map(|_| 256);
        let symbols = mealy.as_ref().map(|(_, outputs)| *outputs).or(numbers).or(*symbols);
        let by_stages = ElementCode::of_lanes(replay, facts, tables, symbols);
        let is_whole = symbols.is_none() && carried.iter().all(|carried| carried.lane.is_none());
        if is_whole
            && !is_packed
            && let Some(own) = program.own_body(program.replay(), true)
            && let Some(ends) = &own.ends
        {
            let element = ElementCode::new(&own.mapping, facts, tables);
            if element.code.words() < by_stages.code.words() {
                let ranges: Vec<Range> =
                    own.carried.iter().map(|&(stage, c)| facts[stage as usize].ranges[c as usize]).collect();
                let enter = Some(Code::new(&ends.enter, &ranges, tables));
                return Replay { carried, row: None, enter, element };
            }
        }
        Replay { carried, row: replay.row, enter: None, element: by_stages }
    }
}

/// The results of replaying an element.
pub struct Replayed<'k> {
    /// The replay's state after the element.
    pub after: State<'k>,
    /// The components of the output record.
    pub outputs: Vec<Value<'k>>,
    /// Whether it is kept, in a program that asks.
    pub filter: Option<Value<'k>>,
}

impl Recipe {
    /// Takes a program apart, for a schedule of ours or for any other.
    pub fn new(program: &Lowered, schedule: Option<Schedule>) -> Recipe {
        let look_ups = LookUps::of(program, schedule);
        let deferred_bytes = look_ups.deferred_bytes();
        let automaton::LookUps { folds, replay, mealy, outputs, symbols, tables } = &*look_ups;
        let is_rank = |stage| move |carried: &Carried| carried.pair() == (stage, 0);
        let rank = program.rank().and_then(|stage| replay.carried.iter().position(is_rank(stage)));
        let packed = Packed::of(program, &replay.carried);
        let folds_runs = packed.is_none() && !matches!(schedule, None | Some(Schedule::Columnar));
        let mut recipe = Recipe {
            inputs: program.inputs.clone(),
            outputs: program.output.columns.clone(),
            overlays: overlays(program, symbols.is_some()),
            arguments: Arguments::of(program),
            has_rows: !program.form().heads && program.rank().is_none(),
            levels: Vec::new(),
            rank,
            replay: Replay::of(program, &look_ups, packed.is_some()),
            packed,
            tables: tables.clone(),
            bank_replicated: look_ups.bank_replicated.clone(),
            deferred_bytes,
            most_table_bytes: MOST_TABLE_BYTES,
            symbols: symbols.map(|_| Layout::of(Type::U8)),
            is_mealy: mealy.is_some(),
            leaves_numbers: outputs.is_some(),
            marks: None,
            folds: Vec::new(),
            copies_neighbours: matches!(schedule, Some(Schedule::Ring { .. })) && program.levels().len() == 1,
            folds_runs,
            identities: program.stages.iter().map(|stage| stage.identity.clone()).collect(),
        };
        // Threads, warps and tiles combine aggregates of many lengths.
        for level in program.full_levels() {
            let stages = level.stages.iter().map(|&stage| &program.stages[stage as usize]);
            let types: Vec<Type> = stages.flat_map(|stage| stage.state.iter().copied()).collect();
            let by_look_up = match level.stages[..] {
                [stage] => folds[stage as usize].as_ref(),
                _ => None,
            };
            let follows = || match (mealy, outputs) {
                (Some((fold, _)), _) | (None, Some(fold)) => Some(fold.clone()),
                (None, None) => replay.fold_of(&level.components(program)),
            };
            let follows = (!recipe.folds.is_empty()).then(follows).flatten();
            let fold = recipe.level_fold(program, &level, (by_look_up, follows, *symbols));
            let has_ids = fold.map_ids.as_ref().is_some_and(MapIds::is_closed);
            recipe.folds.push(fold);
            recipe.levels.push((level, Packing::of(if has_ids { &[Type::U32] } else { &types })));
        }
        if let ([fold], Some(Schedule::Ring { shifted: false, .. })) = (&recipe.folds[..], schedule) {
            recipe.marks = Marks::of(program, &fold.components);
        }
        recipe
    }

    /// The fold of a level: by look-ups, or as the replay takes its components along, or as the level's own body says.
    fn level_fold(
        &mut self,
        program: &Lowered,
        level: &Level,
        (by_look_up, follows, symbols): (Option<&MapFold>, Option<LaneBody>, Option<u32>),
    ) -> LevelFold {
        let components = level.components(program);
        self.most_table_bytes += by_look_up.map_or(0, MapFold::step_bytes);
        let combine = |&stage: &u32| {
            let both = program.facts()[stage as usize].ranges.repeat(2);
            Code::new(&program.whole_combine(stage).function, &both, &program.tables)
        };
        let whole = |&(stage, component): &(u32, u32)| Carried { stage, component, lane: None };
        let (step, carried, row) = match follows {
            Some(body) => {
                (ElementCode::of_lanes(&body, program.facts(), &body.tables, symbols), body.carried, body.row)
            }
            None => {
                let step = ElementCode::new(&level.body.mapping, program.facts(), &program.tables);
                (step, level.body.carried.iter().map(whole).collect(), None)
            }
        };
        let map_ids = by_look_up.map(|fold| {
            let neighbours = fold.neighbours.as_ref().filter(|_| self.copies_neighbours);
            MapIds::new(fold, neighbours.and_then(|of| NeighbourSymbols::new(of, &mut self.tables)))
        });
        let own = (self.folds_runs && by_look_up.is_none()).then(|| OwnFold::of(program, &step)).flatten();
        LevelFold {
            followed: carried.iter().copied().filter(|carried| !components.contains(&carried.pair())).collect(),
            carried,
            row,
            components,
            combines: level.stages.iter().map(combine).collect(),
            step,
            map_ids,
            own,
        }
    }

    /// The code of elements: by marks, or of folds and the replay.
    fn elements(&self) -> Vec<&ElementCode> {
        if let Some(marks) = &self.marks {
            return marks.elements().to_vec();
        }
        let own = self.folds.iter().flat_map(|fold| &fold.own).flat_map(OwnFold::steps);
        self.folds.iter().map(|fold| &fold.step).chain(own).chain([&self.replay.element]).collect()
    }

    /// Whether any element's code reads such a source, or the symbol of an element follows from one. A symbol says what outputs read too.
    pub fn reads(&self, matches: impl Fn(&Source) -> bool) -> bool {
        let folds = if self.marks.is_some() { &[] } else { &self.folds[..] };
        let of_symbols = folds.iter().flat_map(|fold| &fold.map_ids).flat_map(MapIds::reads);
        self.elements().into_iter().flat_map(|element| &element.reads).chain(of_symbols).any(matches)
    }

    /// Whether a fold says which records are kept, by marks or by output symbols.
    pub(crate) fn lists_kept(&self) -> bool {
        self.is_mealy || self.marks.is_some()
    }

    /// Whether a fold looks each record up in a table.
    pub(crate) fn folds_by_look_up(&self) -> bool {
        self.folds.iter().any(|fold| fold.map_ids.is_some())
    }

    /// For each table, whether the code of elements looks it up.
    pub fn looked_up(&self) -> Vec<bool> {
        let mut looked_up = vec![false; self.tables.len()];
        let mut look_up = |table: u32| looked_up[table as usize] = true;
        if let Some(marks) = &self.marks {
            marks.elements().into_iter().flat_map(|element| element.code.looked_up()).for_each(look_up);
            return looked_up;
        }
        self.replay.element.code.looked_up().for_each(&mut look_up);
        for fold in &self.folds {
            match &fold.map_ids {
                Some(map_ids) => map_ids.looked_up().for_each(&mut look_up),
                None => fold.step.code.looked_up().for_each(&mut look_up),
            }
            let own = fold.own.iter().flat_map(OwnFold::steps);
            own.for_each(|step| step.code.looked_up().for_each(&mut look_up));
        }
        looked_up
    }

    /// The copies of a table that blocks keep.
    pub(crate) fn copies(&self, table: u32) -> Copies {
        let mut neighbours = self.folds.iter().flat_map(|fold| &fold.map_ids).filter_map(MapIds::neighbours);
        let of_neighbours = neighbours.find_map(|tables| match table {
            _ if table == tables.places => Some(Copies::Places),
            _ if table == tables.symbols => Some(Copies::Placed),
            _ => None,
        });
        let is_replicated = self.bank_replicated.contains(&table);
        of_neighbours.unwrap_or(if is_replicated { Copies::EachBank } else { Copies::One })
    }

    /// The components of a level's stages, in the order of its states.
    fn components(&self, level: usize) -> &[(u32, u32)] {
        &self.folds[level].components
    }

    /// Where a component is in the states of all levels, and in the numbering through all stages.
    fn place(&self, level: usize, component: (u32, u32)) -> Option<usize> {
        self.components(level).iter().position(|&own| own == component)
    }

    /// Where a component is in the states of its level.
    pub fn place_in_level(&self, carried: &Carried) -> usize {
        self.place(self.level_of(carried), carried.pair()).expect("the level has it")
    }

    fn number(&self, (stage, component): (u32, u32)) -> usize {
        self.identities[..stage as usize].iter().map(Vec::len).sum::<usize>() + component as usize
    }

    /// Whether the states of a level are ids of maps, and scans of it begin with that of the identity.
    fn has_ids(&self, level: usize) -> bool {
        self.folds[level].map_ids.as_ref().is_some_and(MapIds::is_closed)
    }

    /// The fold of the only level, if its states are ids of maps and the replay carries but the state that these lead to.
    pub fn chained(&self) -> Option<&MapIds> {
        let [fold] = &self.folds[..] else { return None };
        let carries_a_lane = self.replay.carried.len() == 1 && self.symbols.is_some();
        fold.map_ids.as_ref().filter(|map_ids| map_ids.is_closed() && carries_a_lane)
    }

    /// Whether a symbol follows from the next record too, so that the first one of a thread's items must not be written over.
    pub fn keeps_first(&self) -> bool {
        self.symbols.is_some() && self.folds.iter().flat_map(|fold| &fold.map_ids).any(MapIds::reads_next)
    }

    /// How a kernel of this program is launched.
    pub fn manifest(&self, plan: &GpuPlan, threads: usize, shared_bytes: usize) -> Manifest {
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
    pub fn tile_state_bytes(&self) -> usize {
        // A slot holds 8-byte and 16-byte pieces, the latter at multiples of 16.
        let bytes: Vec<usize> = self.levels.iter().map(|(_, packing)| packing.tile_state_bytes()).collect();
        match bytes[..] {
            [only] => only,
            _ => bytes.iter().map(|bytes| bytes.next_multiple_of(16)).sum(),
        }
    }

    /// Where a level's state is in what a tile publishes.
    pub fn tile_state_offset(&self, level: usize) -> usize {
        self.levels[..level].iter().map(|(_, packing)| packing.tile_state_bytes().next_multiple_of(16)).sum()
    }

    /// About how many instructions the step of a level has, and the replay.
    pub fn step_work(&self, level: usize) -> usize {
        let LevelFold { step, own, .. } = &self.folds[level];
        own.as_ref().map_or(step, |own| own.step(false)).code.work()
    }

    pub fn replay_work(&self) -> usize {
        self.replay.element.code.work()
    }

    /// The fold of a level by look-ups, if there is one.
    pub fn map_ids(&self, level: usize) -> Option<&MapIds> {
        self.folds[level].map_ids.as_ref()
    }

    /// The fold of a level in the loop's own numbers, if there is one.
    pub(crate) fn own_fold(&self, level: usize) -> Option<&OwnFold> {
        self.folds[level].own.as_ref()
    }

    /// The form for four records at a time, if a level folds faster by it than one by one.
    pub(crate) fn packed_fold(&self, level: usize) -> Option<&Packed> {
        self.packed.as_ref().filter(|packed| packed.folds_faster(self.step_work(level)))
    }

    /// The same of the replay.
    pub(crate) fn packed_replay(&self) -> Option<&Packed> {
        self.packed.as_ref().filter(|packed| packed.replays_faster(self.replay_work()))
    }

    /// The true values that a pass over a tile takes along from before it: the fold of a level those that it follows of earlier
    /// ones; the pass after all folds, which is the replay, all that it carries.
    pub fn taken_along(&self, pass: usize) -> &[Carried] {
        self.folds.get(pass).map_or(&self.replay.carried, |fold| &fold.followed)
    }

    /// The level that a component belongs to.
    pub fn level_of(&self, carried: &Carried) -> usize {
        let is_there = |fold: &LevelFold| fold.components.contains(&carried.pair());
        self.folds.iter().position(is_there).expect("every component belongs to a level")
    }
}
