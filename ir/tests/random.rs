//! Random programs verify, cover the language, and are what their options promise.

use std::collections::HashSet;

use monoscan_ir::{Constant, Function, Program, Source, Stage, Type, interp, verify};
use scan_kit::random::{Options, plain_program, random_program};

const SEEDS: u64 = 3000;

fn options(case: u64) -> Options {
    Options {
        stages: 1 + (case % 3) as usize,
        allow_emit: case & 1 != 0,
        allow_vectors: case & 2 != 0,
        allow_next: case & 4 != 0,
        allow_previous: case & 8 != 0,
        allow_parameters: case & 4 != 0,
        allow_init: case & 16 != 0,
        associative: case & 8 != 0,
    }
}

fn functions(program: &Program) -> Vec<&Function> {
    let mut all = vec![&program.output.project.function];
    all.extend(program.output.filter.iter().map(|filter| &filter.function));
    for stage in &program.stages {
        all.extend([&stage.lift.function, &stage.combine]);
        all.extend(&stage.valid);
    }
    all
}

#[test]
fn every_random_program_verifies() {
    for seed in 0..SEEDS {
        let program = random_program(seed, &options(seed));
        if let Err(errors) = verify(program.clone()) {
            panic!("seed {seed}: {errors}\n{program}");
        }
    }
}

#[test]
fn a_seed_gives_the_same_program_each_time() {
    let options = options(15);
    assert_eq!(random_program(7, &options), random_program(7, &options));
    assert_ne!(random_program(7, &options).stages, random_program(8, &options).stages);
}

#[test]
fn options_bound_what_a_program_contains() {
    let plain = Options {
        stages: 2,
        allow_emit: false,
        allow_vectors: false,
        allow_next: false,
        allow_previous: false,
        allow_parameters: false,
        allow_init: false,
        associative: false,
    };
    let next = |source: &Source| matches!(source, Source::Next(_) | Source::Last);
    for seed in 0..500 {
        let program = random_program(seed, &plain);
        assert!(program.stages.len() <= 2 && program.output.filter.is_none());
        assert!(!program.output.project.reads.iter().any(next));
        assert!(!program.stages.iter().any(|stage| stage.lift.reads.iter().any(next)));
        for function in functions(&program) {
            assert!(function.insts.len() <= 64, "{function}");
            assert!(!function.params.iter().chain(function.insts.iter().map(|inst| &inst.ty)).any(|ty| ty.is_vector()));
        }
    }
}

#[test]
fn random_programs_use_every_opcode_and_every_kind_of_source() {
    let (mut opcodes, mut sources) = (HashSet::new(), HashSet::new());
    for seed in 0..SEEDS {
        let program = random_program(seed, &options(seed));
        opcodes.extend(functions(&program).iter().flat_map(|function| &function.insts).map(|inst| inst.opcode));
        let lifts = program.stages.iter().flat_map(|stage| &stage.lift.reads);
        sources.extend(lifts.chain(&program.output.project.reads).map(std::mem::discriminant));
    }
    assert_eq!(opcodes.len(), monoscan_ir::Opcode::ALL.len());
    assert_eq!(sources.len(), 11);
}

/// States out of the corners of each type, made valid.
fn states(stage: &Stage, count: usize) -> Vec<Vec<Constant>> {
    let mut bits = 0x0123_4567_89ab_cdef_u128;
    let mut component = |ty: &Type| {
        bits = bits.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
        match bits >> 125 {
            0 => ty.zero(),
            1 => Constant::new(*ty, ty.mask()),
            2..=4 => Constant::new(*ty, (bits >> 64) & 0x0303_0303_0303_0303_0303_0303_0303_0303),
            _ => Constant::new(*ty, bits >> 5),
        }
    };
    let mut states = vec![stage.identity.clone()];
    for _ in 0..400 {
        let state: Vec<Constant> = stage.state.iter().map(&mut component).collect();
        let valid =
            stage.valid.as_ref().is_none_or(|valid| interp::call(valid, &state, &[])[0] == Constant::from(true));
        if valid && states.len() < count {
            states.push(state);
        }
    }
    states
}

/// Associative ones, of both kinds.
fn associative(seed: u64) -> Program {
    match seed % 2 {
        0 => random_program(seed, &Options { associative: true, ..options(seed) }),
        _ => plain_program(seed),
    }
}

#[test]
fn every_plain_program_verifies() {
    for seed in 0..SEEDS {
        if let Err(errors) = verify(plain_program(seed)) {
            panic!("seed {seed}: {errors}\n{}", plain_program(seed));
        }
    }
}

#[test]
fn associative_programs_obey_the_laws_on_valid_states() {
    for seed in 0..800 {
        let program = associative(seed);
        for stage in &program.stages {
            let join = |a: &[Constant], b: &[Constant]| interp::call(&stage.combine, &[a, b].concat(), &program.tables);
            let states = states(stage, 7);
            for a in &states {
                assert_eq!(join(&stage.identity, a), *a, "seed {seed}: identity\n{program}");
                assert_eq!(join(a, &stage.identity), *a, "seed {seed}: identity\n{program}");
                for (b, c) in states.iter().zip(states.iter().rev()) {
                    assert_eq!(join(&join(a, b), c), join(a, &join(b, c)), "seed {seed}: {a:?} {b:?} {c:?}\n{program}");
                }
            }
        }
    }
}

#[test]
fn lifts_of_associative_programs_give_valid_states() {
    for seed in 0..800 {
        let program = associative(seed);
        for stage in &program.stages {
            let Some(valid) = &stage.valid else { continue };
            for bits in [0u128, u128::MAX, 0x5a00_ff01_0203_8040_9911_0fa0_0305_7f80] {
                let arguments =
                    stage.lift.function.params.iter().map(|&ty| Constant::new(ty, bits)).collect::<Vec<_>>();
                let state = interp::call(&stage.lift.function, &arguments, &program.tables);
                assert_eq!(interp::call(valid, &state, &[]), [Constant::from(true)], "seed {seed}\n{program}");
            }
        }
    }
}
