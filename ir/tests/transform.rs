//! A lowered program does by plain scans what its form asks for: segment by segment what the
//! program does to the segment alone, and the rank of every kept record.

mod common;

use common::random_inputs;
use monoscan_ir::facts::{LengthOnly, Restart};
use monoscan_ir::interp::{self, Mode, Request, Run};
use monoscan_ir::transform::{Form, Lowered, Role, SegmentStart, lower};
use monoscan_ir::{Constant, Program, Source, Type, Verified, WellTyped, verify};
use scan_kit::random::{Options, random_program};

const COUNT: usize = 11;

fn forms() -> impl Iterator<Item = Form> {
    let modes = [(Mode::Inclusive, false), (Mode::Exclusive, false), (Mode::Inclusive, true), (Mode::Exclusive, true)];
    modes.into_iter().flat_map(|(mode, previous)| {
        let starts = [SegmentStart::Identity, SegmentStart::Init, SegmentStart::Each];
        let segments = [(false, SegmentStart::Identity)].into_iter().chain(starts.map(|start| (true, start)));
        segments.map(move |(heads, start)| Form { mode, heads, start, checked: false, previous })
    })
}

fn random_programs() -> impl Iterator<Item = (u64, Verified<Program>)> {
    (0..400).map(|seed| {
        let options =
            Options { stages: 3, allow_emit: true, allow_previous: true, allow_init: true, ..Options::default() };
        (seed, verify(random_program(seed, &options)).expect("random programs verify"))
    })
}

fn reads(program: &Program, is: impl Fn(&Source) -> bool) -> bool {
    program.mappings().any(|mapping| mapping.reads.iter().any(&is))
}

/// Flags of segments, of one record and of many; half of the time the first record has none.
fn random_heads(seed: u64) -> Vec<bool> {
    let bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..COUNT).map(|i| bits >> (2 * i) & 3 == 0 || (i > 4 && bits >> i & 1 == 1)).collect()
}

/// The segments that these flags make.
fn segments(heads: &[bool]) -> Vec<std::ops::Range<usize>> {
    let mut starts: Vec<usize> = (0..heads.len()).filter(|&i| i == 0 || heads[i]).collect();
    starts.push(heads.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// States that some elements lead to, so that they are states that occur.
fn seeds_of(program: &Verified<Program>, seed: u64) -> Vec<Vec<Constant>> {
    interpret(program, &random_inputs(program, 3, !seed), &Request::default()).states_after
}

fn interpret(program: &impl WellTyped, inputs: &[Vec<u8>], request: &Request) -> Run {
    interp::run(program, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>(), request).unwrap()
}

/// The state of a lowered program that is this state of the program.
fn lowered_state(lowered: &Lowered, state: &[Vec<Constant>], heads: bool) -> Vec<Vec<Constant>> {
    let flag = heads.then_some(Constant::from(false));
    let mut all: Vec<Vec<Constant>> = state.iter().map(|stage| stage.iter().copied().chain(flag).collect()).collect();
    all.extend(lowered.stages[state.len()..].iter().map(|added| added.identity.clone()));
    all
}

#[test]
fn a_lowered_program_scans_each_segment_as_if_it_were_alone() {
    let mut tried = [0; 4];
    for (seed, program) in random_programs().filter(|(_, program)| !reads(program, |source| *source == Source::Index)) {
        let mut inputs = random_inputs(&program, COUNT, seed);
        let heads = random_heads(seed);
        for form in forms().filter(|form| form.heads) {
            let segments = segments(&heads);
            // For each segment the state that it starts from, if it is not the identity.
            let seeds: Vec<Option<Vec<Vec<Constant>>>> = (0..segments.len() as u64)
                .map(|segment| match form.start {
                    SegmentStart::Identity => None,
                    SegmentStart::Init => Some(seeds_of(&program, seed)),
                    SegmentStart::Each => Some(seeds_of(&program, seed + segment)),
                })
                .collect();
            let mut expected = vec![Vec::new(); program.output.columns.len()];
            let (mut kept, mut states_after) = (0, Vec::new());
            for (segment, seeds) in segments.iter().zip(&seeds) {
                let sizes = program.inputs.iter().map(|layout| layout.size as usize);
                let alone = inputs
                    .iter()
                    .zip(sizes)
                    .map(|(column, size)| column[segment.start * size..segment.end * size].to_vec());
                let request = Request { mode: form.mode, init: seeds.clone(), ..Request::default() };
                let run = interpret(&program, &alone.collect::<Vec<_>>(), &request);
                expected.iter_mut().zip(run.outputs).for_each(|(all, own)| all.extend(own));
                kept += run.count;
                states_after = run.states_after;
            }

            let lowered = lower(&program, form);
            inputs.push(heads.iter().map(|&head| u8::from(head)).collect());
            if let Some(starts) = lowered.starts() {
                let state = |seeds: &Option<Vec<Vec<Constant>>>| seeds.iter().flatten().flatten().copied().collect();
                let states: Vec<Vec<Constant>> = seeds.iter().map(state).collect();
                let layout = &lowered.inputs[starts];
                let column = segments
                    .iter()
                    .zip(&states)
                    .flat_map(|(segment, state)| segment.clone().flat_map(|_| layout.to_bytes(state)));
                inputs.push(column.collect());
            }
            let start = seeds[0].as_ref().map(|seeds| lowered_state(&lowered, seeds, true));
            let run = interpret(&lowered, &inputs, &Request { mode: form.mode, init: start, ..Request::default() });
            inputs.truncate(program.inputs.len());
            assert_eq!(run.outputs, expected, "program {seed}, {form:?}, heads {heads:?}\n{}\n{}", *program, *lowered);
            assert_eq!(run.count, kept);
            for (stage, state) in states_after.iter().enumerate() {
                let got = &run.states_after[stage];
                assert_eq!(got[..state.len()], state[..], "program {seed}, {form:?}, stage {stage}");
                assert_eq!(got[state.len()..], [Constant::from(heads.contains(&true))], "whether a segment began");
            }
            if let Some(rank) = lowered.rank() {
                assert_eq!(run.states_after[rank as usize], [Constant::from(kept as u64)]);
            }
        }
        tried[program.stages.len()] += 1;
        tried[0] += usize::from(program.output.filter.is_some() && reads(&program, |s| matches!(s, Source::Next(_))));
    }
    assert!(tried.iter().all(|&programs| programs > 20), "programs of 1, 2, 3 stages, and that emit: {tried:?}");
}

#[test]
fn a_lowered_line_is_the_program_with_its_states_resolved_and_its_ranks_counted() {
    for (seed, program) in random_programs() {
        let inputs = random_inputs(&program, COUNT, seed);
        for form in forms().filter(|form| !form.heads) {
            let lowered = lower(&program, form);
            assert_eq!(
                lowered,
                lower(&program, Form { start: SegmentStart::Init, ..form }),
                "without heads seeds change nothing"
            );
            let seeds = seeds_of(&program, seed);
            let expected = interpret(
                &program,
                &inputs,
                &Request { mode: form.mode, init: Some(seeds.clone()), ..Request::default() },
            );
            // The mode that the interpreter is asked for no longer matters.
            let request = Request { init: Some(lowered_state(&lowered, &seeds, false)), ..Request::default() };
            let mut got = interpret(&lowered, &inputs, &request);
            assert_eq!(lowered.rank().is_some(), program.output.filter.is_some());
            if lowered.rank().is_some() {
                assert_eq!(got.states_after.pop(), Some(vec![Constant::from(expected.count as u64)]));
            }
            if form.previous && program.reads_previous() {
                let previous = expected.previous.iter().flatten().copied().chain([Constant::from(false)]);
                assert_eq!(got.states_after.pop(), Some(previous.collect()), "the last record, and that there is one");
            }
            got.previous.clone_from(&expected.previous);
            assert_eq!(got, expected, "program {seed}, {form:?}");
        }
    }
}

/// The same program with this stage before all others, where the verifier wants what lifts read.
fn with_stage_first(mut program: Program, first: usize) -> Program {
    let moved = program.stages.remove(first);
    program.stages.insert(0, moved);
    let mappings = program.mappings_mut();
    for source in mappings.flat_map(|mapping| &mut mapping.reads) {
        if let Source::Before { stage, .. } | Source::After { stage, .. } | Source::Init { stage, .. } = source {
            match (*stage as usize).cmp(&first) {
                std::cmp::Ordering::Less => *stage += 1,
                std::cmp::Ordering::Equal => *stage = 0,
                std::cmp::Ordering::Greater => {}
            }
        }
    }
    program
}

#[test]
fn lowered_programs_verify_but_for_the_stages_they_have_too_many() {
    let mut cascades = 0;
    for (seed, program) in random_programs() {
        for form in forms().flat_map(|form| [form, Form { checked: true, ..form }]) {
            let lowered = Program::clone(&lower(&program, form));
            assert!(!reads(&lowered, |source| matches!(source, Source::State(_))), "program {seed}, {form:?}");
            let starts = usize::from(form.start == SegmentStart::Each);
            assert_eq!(lowered.inputs.len() - program.inputs.len(), usize::from(form.heads) + starts);
            let too_many = lowered.stages.len() > monoscan_ir::MAX_STAGES;
            let has_previous = form.previous && program.reads_previous();
            match verify(if has_previous { with_stage_first(lowered, program.stages.len()) } else { lowered }) {
                Ok(_) => assert!(!too_many),
                Err(errors) => {
                    assert!(too_many, "program {seed}, {form:?}: {errors}");
                    assert_eq!(errors.len(), 1, "program {seed}, {form:?}: {errors}");
                    cascades += 1;
                }
            }
        }
    }
    assert!(cascades > 0, "some program of three stages emits");
}

#[test]
fn each_component_of_a_lowered_program_says_where_it_comes_from() {
    for (seed, program) in random_programs().take(100) {
        for form in forms().flat_map(|form| [form, Form { checked: true, ..form }]) {
            let lowered = lower(&program, form);
            let roles = |stage: usize| -> Vec<Role> {
                (0..lowered.stages[stage].state.len() as u32).map(|c| lowered.role(stage as u32, c)).collect()
            };
            let mut expected: Vec<Vec<Role>> = Vec::new();
            for stage in &program.stages {
                expected.push(vec![Role::User; stage.state.len()]);
                expected.last_mut().unwrap().extend(form.heads.then_some(Role::SegmentFlag));
            }
            let carry = program.first_carry();
            if form.previous && program.reads_previous() {
                expected.push(vec![Role::Previous; carry.len() - program.state_len()]);
                expected.last_mut().unwrap().extend(form.heads.then_some(Role::SegmentFlag));
                assert!(lowered.first_carry().eq(carry));
            } else {
                assert!(lowered.first_carry().eq(carry[..program.state_len()].iter().copied()));
            }
            assert_eq!(lowered.first_carry().count(), lowered.carried_components().iter().sum::<usize>());
            expected.extend(lowered.check().map(|check| vec![Role::Check; check.components()]));
            expected.extend(program.output.filter.as_ref().map(|_| vec![Role::Rank]));
            let got: Vec<Vec<Role>> = (0..lowered.stages.len()).map(roles).collect();
            assert_eq!(got, expected, "program {seed}, {form:?}");
            assert_eq!(lowered.check().is_some(), form.checked);
        }
    }
}

#[test]
fn nothing_that_a_head_resets_depends_on_the_length_alone() {
    let mut before = 0;
    for (seed, program) in random_programs() {
        let length_only = |program: &Program, stage: usize| {
            LengthOnly::of(&program.stages[stage], &program.tables).components().iter().filter(|is| **is).count()
        };
        let lowered = lower(&program, Form { heads: true, ..Form::default() });
        for stage in 0..program.stages.len() {
            before += length_only(&program, stage);
            assert_eq!(length_only(&lowered, stage), 0, "program {seed}, stage {stage}");
        }
    }
    assert!(before > 0, "some random program has length-only components");
}

#[test]
fn states_in_which_a_segment_began_forget_what_was_before() {
    for (seed, program) in random_programs() {
        let lowered = lower(&program, Form { heads: true, ..Form::default() });
        // Not the rank, which goes on from segment to segment.
        for (stage, facts) in lowered.stages.iter().zip(lowered.facts()).take(program.stages.len()) {
            let Some(Restart::Flag(restart)) = facts.restart else { panic!("the head, if nothing else") };
            let state = |bits| stage.state.iter().map(move |&ty| Constant::new(ty, bits));
            let mut later: Vec<Constant> = state(0x0302_0100_0403_0201_0303_0303_0000_0102).collect();
            later[restart as usize] = Constant::from(true);
            let after = |bits| {
                let both: Vec<Constant> = state(bits).chain(later.iter().copied()).collect();
                interp::call(&stage.combine, &both, &lowered.tables)
            };
            assert_eq!(after(0), after(0x0101_0101_0101_0101_0001), "program {seed}");
        }
    }
}

#[test]
fn a_flagged_state_is_valid_where_the_state_is() {
    for (seed, program) in random_programs() {
        let lowered = lower(&program, Form { heads: true, start: SegmentStart::Init, ..Form::default() });
        for (own, segmented) in program.stages.iter().zip(&lowered.stages) {
            assert_eq!(own.valid.is_some(), segmented.valid.is_some());
            let (Some(own_valid), Some(valid)) = (&own.valid, &segmented.valid) else { continue };
            assert_eq!(valid.params.last(), Some(&Type::Bool));
            for bits in [0, u128::MAX, 0x0302_0100_0403_0201_0303_0303_0000_0102] {
                let state: Vec<Constant> = own.state.iter().map(|&ty| Constant::new(ty, bits)).collect();
                let expected = interp::call(own_valid, &state, &program.tables);
                for flag in [false, true] {
                    let flagged: Vec<Constant> = state.iter().copied().chain([Constant::from(flag)]).collect();
                    assert_eq!(interp::call(valid, &flagged, &program.tables), expected, "program {seed}");
                }
            }
        }
    }
}

#[test]
fn without_outputs_a_program_comes_to_the_same_states() {
    for (seed, program) in random_programs().take(100) {
        let lowered = lower(&program, Form::default());
        let inputs = random_inputs(&program, COUNT, seed);
        let columns: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let run = |program: &Lowered| interp::run(program, &columns, &Request::default()).unwrap();
        let (whole, reduced) = (run(&lowered), run(&lowered.clone().without_outputs()));
        assert_eq!(whole.states_after, reduced.states_after, "program {seed}");
        let keeps = program.output.filter.is_some();
        assert_eq!(if keeps { whole.outputs } else { Vec::new() }, reduced.outputs, "program {seed}");
    }
}

#[test]
fn what_is_meant_to_wrap_computes_the_same() {
    let program = |seed| verify(random_program(seed, &Options::default())).unwrap();
    let mut marked = 0;
    for seed in 0..20 {
        let plain = program(seed);
        let wrapping = plain.clone().wrapping();
        marked += usize::from(wrapping != plain);
        assert!(wrapping.computes_as(&plain) && plain.computes_as(&wrapping));
        assert!(!wrapping.computes_as(&program(seed + 1)));
    }
    assert!(marked > 5);
}
