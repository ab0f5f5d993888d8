//! Levels of a cascade: a tile-wise scan that folds level by level and replays gives what the
//! interpreter gives.
//!
//! The engine here is the textbook one, with an interpreter for a core. For each level it folds
//! every block from the identities, with the carries of earlier levels, and passes the carries over
//! the blocks. In the end it replays.

mod common;

use common::{compare_columns, random_inputs};
use monoscan_ir::facts::{Body, CarryUpdate, LengthOnly, Range};
use monoscan_ir::interp::{Mode, Request, Run, call, run};
use monoscan_ir::transform::{Form, Lowered, SegmentStart, lower};
use monoscan_ir::{Constant, Field, FunctionBuilder, Mapping, Opcode, Program, Source, Type, Verified, text, verify};
use scan_kit::random::{Options, random_program};

const COUNT: usize = 11;
const BLOCKS: [std::ops::Range<usize>; 4] = [0..1, 1..4, 4..4, 4..COUNT];

type State = Vec<Constant>;

struct Engine<'p> {
    program: &'p Lowered,
    inputs: &'p [Vec<u8>],
    seeds: Vec<State>,
}

impl Engine<'_> {
    fn record(&self, index: usize, component: u32) -> Constant {
        let columns = self.program.inputs.iter().enumerate();
        let mut fields = columns.flat_map(|(column, layout)| layout.fields.iter().map(move |&field| (column, field)));
        let (column, Field { offset, ty }) = fields.nth(component as usize).unwrap();
        let at = index * self.program.inputs[column].size as usize + offset as usize;
        if index < COUNT { Constant::from_bytes(ty, &self.inputs[column][at..]) } else { ty.zero() }
    }

    /// Runs a body over a block from these states, which are changed in the components carried alone, and gives the
    /// other results of each element.
    fn run(&self, body: &Body, block: std::ops::Range<usize>, states: &mut [State]) -> Vec<Vec<Constant>> {
        let mut rest = Vec::new();
        for index in block {
            let source = |source: &Source| match *source {
                Source::Record(component) => self.record(index, component),
                Source::Next(component) => self.record(index + 1, component),
                Source::Last => Constant::from(index + 1 == COUNT),
                Source::Index => Constant::from(index as u64),
                Source::Init { stage, component } => self.seeds[stage as usize][component as usize],
                Source::Before { stage, component } => states[stage as usize][component as usize],
                other => panic!("a body reads {other:?}"),
            };
            let arguments: Vec<Constant> = body.mapping.reads.iter().map(source).collect();
            let mut results = call(&body.mapping.function, &arguments, &self.program.tables);
            rest.push(results.split_off(body.carried.len()));
            for (&(stage, component), value) in body.carried.iter().zip(results) {
                states[stage as usize][component as usize] = value;
            }
        }
        rest
    }

    fn update(&self, update: &CarryUpdate, carry: &State, aggregate: &State) -> State {
        let results = call(&update.function, &[carry.as_slice(), aggregate].concat(), &self.program.tables);
        let mut next: State = carry.iter().map(|component| poison(component.ty())).collect();
        update.components.iter().zip(results).for_each(|(&component, value)| next[component as usize] = value);
        next
    }

    /// The results of the replay for each element, and the totals.
    fn scan(&self) -> (Vec<Vec<Constant>>, Vec<State>) {
        let (replay, levels) = (self.program.replay(), self.program.levels());
        let nothing: Vec<State> =
            self.program.stages.iter().map(|stage| stage.state.iter().map(|&ty| poison(ty)).collect()).collect();
        // For each block the states before it, as far as anybody needs them; at the end those behind the last one.
        let mut carries = vec![nothing.clone(); BLOCKS.len() + 1];
        let mut totals = self.seeds.clone();
        for level in levels {
            for &stage in &level.stages {
                carries[0][stage as usize].clone_from(&self.seeds[stage as usize]);
            }
            for (number, block) in BLOCKS.into_iter().enumerate() {
                let mut states = carries[number].clone();
                for &stage in &level.stages {
                    states[stage as usize] = self.start(&level.body, stage);
                }
                assert!(self.run(&level.body, block.clone(), &mut states).iter().all(Vec::is_empty));
                for &stage in &level.stages {
                    let aggregate = self.aggregate(stage, &states[stage as usize], block.len());
                    let update = self.program.carry_update(stage);
                    let whole = self.program.whole_combine(stage);
                    let stage = stage as usize;
                    carries[number + 1][stage] = self.update(&update, &carries[number][stage], &aggregate);
                    totals[stage] = self.update(&whole, &totals[stage], &aggregate);
                }
            }
        }
        let mut rows = Vec::new();
        for (block, mut states) in BLOCKS.into_iter().zip(carries) {
            rows.extend(self.run(replay, block, &mut states));
            if let Some(rank) = self.program.rank() {
                let kept = rows.iter().filter(|row| row.last() == Some(&Constant::from(true))).count() as u128;
                let before = self.seeds[rank as usize][0].bits();
                assert_eq!(states[rank as usize][0].bits(), before + kept, "a replay carries the rank");
            }
        }
        (rows, totals)
    }

    /// The identity in the components that a fold carries.
    fn start(&self, fold: &Body, stage: u32) -> State {
        let declared = &self.program.stages[stage as usize];
        let components = declared.identity.iter().zip(0..);
        let start = components.map(|(&identity, component)| match fold.carried.contains(&(stage, component)) {
            true => identity,
            false => poison(identity.ty()),
        });
        start.collect()
    }

    /// The results of a fold, with the components that depend on the length alone.
    fn aggregate(&self, stage: u32, folded: &State, len: usize) -> State {
        let after = LengthOnly::of(&self.program.stages[stage as usize], &self.program.tables).after(len as u64);
        folded.iter().zip(after).map(|(&folded, known)| known.unwrap_or(folded)).collect()
    }
}

/// A value where nothing was computed, so that reading it shows.
fn poison(ty: Type) -> Constant {
    Constant::new(ty, 0x5a5b_5a5d_5a5f_5a61_5a63_5a65_5a67_5a69)
}

fn check(program: &Lowered, inputs: &[Vec<u8>], seeds: Vec<State>, what: &str) {
    let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let request = Request { mode: Mode::Inclusive, init: Some(seeds.clone()), ..Request::default() };
    let Run { outputs, states_after, .. } = run(program, &slices, &request).unwrap();
    let (mut rows, totals) = Engine { program, inputs, seeds }.scan();
    if program.output.filter.is_some() {
        rows.retain_mut(|row| row.pop() == Some(Constant::from(true)));
    }
    compare_columns(program, &outputs, &rows, what);
    for (total, expected) in totals.concat().iter().zip(states_after.concat()) {
        assert!(total.same(expected), "{what}: total {total:?}, expected {expected:?}");
    }
}

#[test]
fn blocks_folded_by_level_and_replayed_give_what_the_interpreter_gives() {
    // Up to three of the user's, the rank or the check behind them, and the record before as the first.
    let mut levels = [0; 5];
    for seed in 0..300 {
        let options = Options {
            stages: 3,
            allow_emit: true,
            allow_previous: true,
            allow_init: seed % 3 == 0,
            ..Options::default()
        };
        let program = verify(random_program(seed, &options)).expect("random programs verify");
        for (heads, seeded) in [(false, false), (true, false), (true, true)] {
            let mode = [Mode::Inclusive, Mode::Exclusive][(seed % 2) as usize];
            let form = Form {
                mode,
                heads,
                start: if seeded { SegmentStart::Init } else { SegmentStart::Identity },
                checked: seed % 5 == 0,
                previous: true,
            };
            let lowered = lower(&program, form);
            levels[lowered.levels().len() - 1] += 1;
            let (warm_up, inputs) = (random_inputs(&lowered, 3, !seed), random_inputs(&lowered, COUNT, seed));
            let slices: Vec<&[u8]> = warm_up.iter().map(Vec::as_slice).collect();
            let seeds = run(&lowered, &slices, &Request::default()).unwrap().states_after;
            let identities = lowered.stages.iter().map(|stage| stage.identity.clone()).collect();
            check(&lowered, &inputs, identities, &format!("program {seed}, {form:?}"));
            check(&lowered, &inputs, seeds, &format!("program {seed}, {form:?}, seeded"));
        }
    }
    assert!(levels.iter().all(|&programs| programs > 0), "programs of 1 to 5 levels: {levels:?}");
}

fn program(file: &str) -> Verified<Program> {
    verify(text::parse(file).unwrap()).unwrap()
}

/// The work of an engine for inclusive scans of a line.
fn line(program: &Verified<Program>) -> Lowered {
    lower(program, Form::default())
}

/// Sums whose lifts add up what these lists name.
fn cascade(lifts: &[&[Source]]) -> Verified<Program> {
    let mut program = program(include_str!("files/interp/sum.scan")).into_inner();
    let template = program.stages[0].clone();
    program.stages = Vec::new();
    for reads in lifts {
        let mut b = FunctionBuilder::new();
        let params: Vec<_> = reads.iter().map(|_| b.param(template.state[0])).collect();
        let sum = params[1..].iter().fold(params[0], |sum, &param| b.binary(Opcode::Add, sum, param));
        let lift = Mapping { reads: reads.to_vec(), function: b.finish(&[sum]) };
        program.stages.push(monoscan_ir::Stage { lift, ..template.clone() });
    }
    verify(program).unwrap()
}

#[test]
fn a_stage_is_one_level_above_the_highest_that_it_reads() {
    let (record, first) = (Source::Record(0), Source::After { stage: 0, component: 0 });
    let second = Source::Before { stage: 1, component: 0 };
    let levels = |lifts: &[&[Source]]| -> Vec<Vec<u32>> {
        line(&cascade(lifts)).levels().iter().map(|level| level.stages.clone()).collect()
    };
    assert_eq!(levels(&[&[record]]), [[0]]);
    assert_eq!(levels(&[&[record], &[record], &[record]]), [[0, 1, 2]]);
    assert_eq!(levels(&[&[record], &[first, record], &[record]]), [vec![0, 2], vec![1]]);
    assert_eq!(levels(&[&[record], &[record], &[first, second]]), [vec![0, 1], vec![2]]);
    assert_eq!(levels(&[&[record], &[first], &[record, second]]), [[0], [1], [2]]);
}

#[test]
fn a_level_computes_nothing_that_its_stages_do_not_need() {
    let (record, first) = (Source::Record(0), Source::After { stage: 0, component: 0 });
    let program = line(&cascade(&[&[record], &[record], &[first]]));
    let levels = program.levels();
    assert_eq!(levels[0].body.carried, [(0, 0), (1, 0)]);
    assert_eq!(levels[1].body.carried, [(0, 0), (2, 0)], "stage 1 has been folded, and stage 2 reads stage 0");
    assert_eq!(program.carry_update(0).components, [0]);
    assert_eq!(program.carry_update(1).components, [] as [u32; 0]);
    assert_eq!(program.whole_combine(1).components, [0]);
}

#[test]
fn one_stage_is_one_level_which_leaves_out_what_its_length_tells() {
    let program = line(&program(include_str!("files/facts/constant_coefficient.scan")));
    let [level] = program.levels() else { panic!("one level") };
    assert_eq!(level.body.carried, [(0, 1)]);
    assert_eq!(level.body, program.fold());
    assert_eq!(program.full_levels()[0].body.carried, [(0, 0), (0, 1)]);
}

#[test]
fn facts_for_any_states_say_nothing_of_ranges_and_all_else() {
    for seed in 0..50 {
        let program = verify(random_program(seed, &Options::default())).expect("random programs verify");
        let lowered = lower(&program, Form { heads: seed % 2 == 0, ..Form::default() });
        let any = lowered.clone().for_any_states();
        assert!(any.holds_any());
        let mut facts = lowered.facts().to_vec();
        for (known, declared) in facts.iter_mut().zip(&lowered.stages) {
            known.ranges = declared.state.iter().map(|&ty| Range::full(ty)).collect();
        }
        assert_eq!(facts, any.facts());
        assert_eq!((lowered.levels(), lowered.replay()), (any.levels(), any.replay()));
    }
}

#[test]
fn a_carry_update_has_what_combine_computes_its_components_from() {
    // (n, s) ⊕ (m, t) = (n + m, s + t + n·m): no element, where m is 0, needs n, but a block does for all that is known.
    let program = program(
        "program crossed
           input { size 4, align 4, i32 @ 0 }
           stage (i32, i32)
             identity (0, 0)
             lift (%0 = record.0: i32) {
               %1 = const.i32 0
               return %1, %0
             }
             combine (%0: i32, %1: i32, %2: i32, %3: i32) {
               %4 = add.i32 %0, %2
               %5 = mul.i32 %0, %2
               %6 = add.i32 %1, %3
               %7 = add.i32 %5, %6
               return %4, %7
             }
           output write
             column { size 4, align 4, i32 @ 0 }
             project (%0 = state.1: i32) { return %0 }",
    );
    let program = line(&program);
    assert_eq!(program.replay().carried, [(0, 1)]);
    assert_eq!(program.carry_update(0).components, [0, 1]);
    assert_eq!(CarryUpdate::of(&program, 0, [0]).components, [0]);
    assert_eq!(CarryUpdate::of(&program, 0, []).components, [] as [u32; 0]);
    assert_eq!(program.whole_combine(0).components, [0, 1]);
}
