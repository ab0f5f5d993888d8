//! Facts are what the files under `files/facts` say, and true: bodies, ranges and length-only
//! values agree with the interpreter on programs made at random.
//!
//! A file is a program whose comments `;= …` at the end are its facts. `MONOSCAN_BLESS=1` writes
//! them anew.

mod common;

use std::fmt::Write;

use common::{compare_columns, random_inputs};
use monoscan_ir::automaton::{Carried, LaneBody, TableBudget};
use monoscan_ir::facts::{Body, LengthOnly, Range, step, work};
use monoscan_ir::interp::{Mode, Request, call, run};
use monoscan_ir::transform::{Form, Lowered, SegmentStart, lower};
use monoscan_ir::{Constant, Field, Program, Source, Type, Verified, text, verify};
use scan_kit::random::{Options, random_program};

#[test]
fn facts_are_what_the_files_say() {
    common::check_files("facts", |program, _| describe(program));
}

/// The program that an engine runs for scans of a line in this mode.
fn line(program: &Verified<Program>, mode: Mode) -> Lowered {
    lower(program, Form { mode, ..Form::default() })
}

fn describe(program: &Verified<Program>) -> String {
    let mut out = String::new();
    let lines = [Mode::Inclusive, Mode::Exclusive].map(|mode| line(program, mode));
    for (stage, declared) in program.stages.iter().enumerate() {
        let known = &lines[0].facts()[stage];
        let marks = |marks: &[bool]| marks.iter().map(|&mark| if mark { 'x' } else { '-' }).collect::<String>();
        let is_live = |component| lines.iter().any(|line| line.replay().carried.contains(&(stage as u32, component)));
        let live: Vec<bool> = (0..declared.state.len() as u32).map(is_live).collect();
        let ranges: Vec<String> = known.ranges.iter().map(Range::to_string).collect();
        let length_only = marks(known.length_only.components());
        writeln!(out, "stage {stage}: live {}, length only {length_only}", marks(&live)).unwrap();
        writeln!(out, "ranges {}", ranges.join(", ")).unwrap();
        writeln!(out, "latency: fold {}, replay {}", known.fold_latency, known.replay_latency).unwrap();
        writeln!(out, "step {}", step(program, stage)).unwrap();
    }
    for line in lines {
        let Body { carried, mapping, .. } = line.replay();
        writeln!(out, "{:?} replay of {carried:?} {mapping}", line.form().mode).unwrap();
    }
    out
}

/// Runs a body over all elements as an engine would, and gives the carried components after each and the rest of the
/// results of each.
fn run_body(program: &Program, body: &Body, inputs: &[Vec<u8>], count: usize) -> Vec<(Vec<Constant>, Vec<Constant>)> {
    let whole = |&(stage, component): &(u32, u32)| Carried { stage, component, lane: None };
    let carried = body.carried.iter().map(whole).collect();
    let body = LaneBody { mapping: body.mapping.clone(), carried, row: None, tables: program.tables.clone() };
    run_lanes(program, &body, inputs, count)
}

/// The same of a body that may carry lanes.
fn run_lanes(
    program: &Program,
    body: &LaneBody,
    inputs: &[Vec<u8>],
    count: usize,
) -> Vec<(Vec<Constant>, Vec<Constant>)> {
    let fields: Vec<(usize, Field)> = (program.inputs.iter().enumerate())
        .flat_map(|(column, layout)| layout.fields.iter().map(move |&field| (column, field)))
        .collect();
    let record = |index: usize, component: u32| {
        let (column, field) = fields[component as usize];
        let at = index * program.inputs[column].size as usize + field.offset as usize;
        if index < count { Constant::from_bytes(field.ty, &inputs[column][at..]) } else { field.ty.zero() }
    };
    let identity = |&(stage, component): &(u32, u32)| program.stages[stage as usize].identity[component as usize];
    let first = |carried: &Carried| {
        let whole = identity(&(carried.stage, carried.component));
        carried.lane.map_or(whole, |lane| Constant::from(whole.to_bytes()[lane as usize]))
    };
    let mut carried: Vec<Constant> = body.carried.iter().map(first).collect();
    let element = |index: usize| {
        let arguments: Vec<Constant> = (body.mapping.reads.iter().enumerate())
            .map(|(param, source)| match *source {
                Source::Record(component) => record(index, component),
                Source::Next(component) => record(index + 1, component),
                Source::Last => Constant::from(index + 1 == count),
                Source::Index => Constant::from(index as u64),
                Source::Before { stage, component } => {
                    let own = body.carried[param];
                    assert_eq!(
                        (own.stage, own.component),
                        (stage, component),
                        "carried parameters come first, in order"
                    );
                    carried[param]
                }
                Source::Init { stage, component } => identity(&(stage, component)),
                other => panic!("a body reads {other:?}"),
            })
            .collect();
        let mut results = call(&body.mapping.function, &arguments, &body.tables);
        let rest = results.split_off(body.carried.len());
        carried.clone_from(&results);
        (results, rest)
    };
    (0..count).map(element).collect()
}

fn random_programs() -> impl Iterator<Item = (u64, Verified<Program>)> {
    (0..300).map(|seed| {
        let options = Options { stages: 3, allow_emit: true, associative: seed % 2 == 0, ..Options::default() };
        (seed, verify(random_program(seed, &options)).expect("random programs verify"))
    })
}

const COUNT: usize = 9;

#[test]
fn replay_bodies_give_the_outputs_of_the_interpreter() {
    for (seed, program) in random_programs() {
        let inputs = random_inputs(&program, COUNT, seed);
        let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        for mode in [Mode::Inclusive, Mode::Exclusive] {
            let lowered = line(&program, mode);
            let mut rows: Vec<Vec<Constant>> =
                run_body(&lowered, lowered.replay(), &inputs, COUNT).into_iter().map(|(_, output)| output).collect();
            if program.output.filter.is_some() {
                rows.retain_mut(|row| row.pop() == Some(Constant::from(true)));
            }
            let expected = run(&program, &slices, &Request { mode, ..Request::default() }).unwrap();
            compare_columns(&program, &expected.outputs, &rows, &format!("program {seed}, {mode:?}"));
        }
    }
}

#[test]
fn replays_by_lanes_give_the_outputs_of_the_interpreter() {
    let mut taken_apart = 0;
    for (seed, program) in random_programs() {
        let inputs = random_inputs(&program, COUNT, seed);
        let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        for mode in [Mode::Inclusive, Mode::Exclusive] {
            let lowered = line(&program, mode);
            let body = &lowered.look_ups(TableBudget { step_bytes: 0, keeps_symbols: false }).replay;
            taken_apart += body.carried.iter().filter(|carried| carried.lane.is_some()).count();
            let mut rows: Vec<Vec<Constant>> =
                run_lanes(&lowered, body, &inputs, COUNT).into_iter().map(|(_, output)| output).collect();
            if program.output.filter.is_some() {
                rows.retain_mut(|row| row.pop() == Some(Constant::from(true)));
            }
            let expected = run(&program, &slices, &Request { mode, ..Request::default() }).unwrap();
            compare_columns(&program, &expected.outputs, &rows, &format!("program {seed}, {mode:?}"));
        }
    }
    assert!(taken_apart > 5, "{taken_apart} components of random programs are carried by lanes");
}

#[test]
fn fold_bodies_and_length_only_values_give_the_states_of_the_interpreter() {
    let mut length_only = 0;
    for (seed, program) in random_programs() {
        let program = line(&program, Mode::default());
        let body = program.fold();
        let inputs = random_inputs(&program, COUNT, seed);
        let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let expected = run(&program, &slices, &Request::default()).unwrap().states_after;
        let carried = run_body(&program, &body, &inputs, COUNT).pop().unwrap().0;
        for (&(stage, component), got) in body.carried.iter().zip(carried) {
            let expected = expected[stage as usize][component as usize];
            assert!(expected.same(got), "program {seed}: {expected:?} {got:?}");
        }
        for (stage, declared) in program.stages.iter().enumerate().filter(|_| seed % 2 == 0) {
            let after = LengthOnly::of(declared, &program.tables).after(COUNT as u64);
            for (after, expected) in after.iter().zip(&expected[stage]).filter_map(|(a, e)| Some(((*a)?, *e))) {
                assert!(after.same(expected), "program {seed}, stage {stage}: {after:?} {expected:?}");
                length_only += 1;
            }
        }
    }
    assert!(length_only > 0, "some random program has length-only components");
}

#[test]
fn every_state_lies_in_its_ranges() {
    for (seed, program) in random_programs() {
        let program = line(&program, Mode::default());
        let inputs = random_inputs(&program, COUNT, seed);
        for count in 0..=COUNT {
            let columns = inputs.iter().zip(&program.inputs);
            let slices: Vec<&[u8]> = columns.map(|(bytes, layout)| &bytes[..count * layout.size as usize]).collect();
            let states = run(&program, &slices, &Request::default()).unwrap().states_after;
            for (stage, state) in states.iter().enumerate() {
                for (range, component) in program.facts()[stage].ranges.iter().zip(state) {
                    assert!(range.holds(*component), "program {seed}, stage {stage}: {component:?} not in {range:?}");
                }
            }
        }
    }
}

#[test]
fn states_of_seeded_segments_lie_in_their_ranges_if_the_seeds_do() {
    let mut narrow = 0;
    for (seed, program) in random_programs() {
        let program = lower(&program, Form { heads: true, start: SegmentStart::Init, ..Form::default() });
        let states = |seeds: Option<Vec<Vec<Constant>>>, seed: u64| {
            let inputs = random_inputs(&program, COUNT, seed);
            let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            run(&program, &slices, &Request { mode: Mode::Inclusive, init: seeds, ..Request::default() })
                .unwrap()
                .states_after
        };
        let seeds = states(None, !seed);
        for (stage, (seeds, states)) in seeds.iter().zip(states(Some(seeds.clone()), seed)).enumerate() {
            for (range, (seed_component, component)) in
                program.facts()[stage].ranges.iter().zip(seeds.iter().zip(states))
            {
                assert!(range.holds(*seed_component), "program {seed}, stage {stage}: a state that occurs");
                assert!(range.holds(component), "program {seed}, stage {stage}: {component:?} not in {range:?}");
                narrow += usize::from(component.ty() != Type::Bool && !range.contains(Range::full(component.ty())));
            }
        }
    }
    assert!(narrow > 20, "some ranges say something: {narrow}");
}

#[test]
fn a_length_only_matrix_is_a_power() {
    let program = text::parse(include_str!("files/facts/constant_coefficient.scan")).unwrap();
    let program = verify(program).unwrap();
    let powers = LengthOnly::of(&program.stages[0], &program.tables);
    assert_eq!(powers.components(), [true, false]);
    assert_eq!(powers.after(0), [Some(Constant::from(1i64)), None]);
    assert_eq!(powers.after(13), [Some(Constant::from(3i64.pow(13))), None]);
    let body = line(&program, Mode::default()).fold();
    assert_eq!(body.carried, [(0, 1)], "the matrix is not carried");
}

#[test]
fn the_replay_of_composed_affine_maps_is_the_plain_recurrence() {
    let program = text::parse(include_str!("files/facts/affine.scan")).unwrap();
    let program = line(&verify(program).unwrap(), Mode::Inclusive);
    let opcodes: Vec<&str> = program.replay().mapping.function.insts.iter().map(|inst| inst.opcode.name()).collect();
    assert_eq!(opcodes, ["mul", "add"]);
    assert_eq!(work(&program.fold().mapping.function), 3);
}
