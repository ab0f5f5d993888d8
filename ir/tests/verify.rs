//! The verifier reports every broken invariant on the offending line, and survives any program.
//!
//! `files/verify/*.scan` say at the end of a line, as `; error: substring`, what is wrong with it.
//! Each annotation is matched by one diagnostic, and no diagnostic is left over: files without
//! annotations verify.

mod annotated;
#[allow(dead_code, reason = "only the parser's test needs the noise itself")]
mod mutants;

use annotated::{assert_annotated, scan_files};
use monoscan_ir::derive::{LoopProgram, derive};
use monoscan_ir::{
    Constant, Function, Inst, Layout, MAX_COLUMNS, MAX_INSTS, MAX_PARAMS, MAX_TABLE_BYTES, Opcode, Payload, Program,
    Source, Table, Type, Value, interp, text, verify, verify_function, verify_loop,
};
use mutants::{any_program, mutate, mutate_loop};
use scan_kit::random::{Options, random_loop, random_program};

const EVERYTHING: Options = Options {
    stages: 3,
    allow_emit: true,
    allow_vectors: true,
    allow_next: true,
    allow_previous: true,
    allow_parameters: true,
    allow_init: true,
    associative: false,
};

fn messages(program: Program) -> Vec<String> {
    verify(program).err().iter().flatten().map(|diagnostic| diagnostic.to_string()).collect()
}

#[test]
fn diagnostics_sit_on_the_offending_lines() {
    for (path, text) in scan_files("verify") {
        let (program, lines) = text::parse_with_lines(&text).unwrap_or_else(|errors| panic!("{path}: {errors}"));
        let errors = verify(program).err();
        let found = errors.iter().flatten();
        let found = found.map(|diagnostic| (lines.line_of(diagnostic.place), diagnostic.message.clone())).collect();
        assert_annotated(&path, &text, found);
    }
}

#[test]
fn the_verdict_of_a_program_is_the_same_each_time() {
    for seed in 0..300 {
        let mut program = any_program(seed, &EVERYTHING);
        mutate(&mut program, seed, 6);
        assert_eq!(messages(program.clone()), messages(program));
    }
}

#[test]
fn no_program_makes_the_verifier_panic_and_what_it_accepts_runs() {
    let mut accepted = 0;
    for seed in 0..4000 {
        let mut program = any_program(seed, &EVERYTHING);
        mutate(&mut program, seed, 1 + seed % 4);
        let Ok(program) = verify(program) else { continue };
        accepted += 1;
        let zeros: Vec<_> = program.parameters.iter().map(|ty| ty.zero()).collect();
        let program = verify(program.bound(&zeros).unwrap()).expect("constants break no invariant");
        let inputs: Vec<Vec<u8>> = program.inputs.iter().map(|layout| vec![0xa5; layout.size as usize * 3]).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        interp::run(&program, &inputs, &interp::Request::default()).unwrap();
    }
    assert!(accepted > 100, "{accepted} mutants verify, too few to say anything");
}

#[test]
fn no_loop_that_is_accepted_makes_the_derivation_panic() {
    let (mut accepted, mut derived, mut refused) = (0, 0, 0);
    for seed in 0..6000 {
        let mut of = random_loop(seed);
        assert!(verify_loop(&of).is_ok(), "{seed}: {}", verify_loop(&of).unwrap_err());
        mutate_loop(&mut of, seed, 1 + seed % 3);
        if verify_loop(&of).is_err() {
            refused += 1;
            continue;
        }
        accepted += 1;
        if let Ok(derivation) = derive(&of) {
            derived += 1;
            assert!(verify(derivation.program).is_ok(), "{seed}");
        }
    }
    assert!(
        accepted > 200 && derived > 100 && refused > 300,
        "{accepted} accepted, {derived} derived, {refused} refused"
    );
}

#[test]
fn malformed_loops_are_refused_with_what_was_expected() {
    let of = random_loop(5);
    let says = |change: &dyn Fn(&mut LoopProgram), expected: &str| {
        let mut of = of.clone();
        change(&mut of);
        let message = verify_loop(&of).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected:?} is not in {message}");
    };
    let (count, params) = (of.initial.len(), of.step.function.params.len());
    says(&|of| of.name.clear(), "expected a name, found an empty one");
    says(&|of| of.names.clear(), &format!("expected {count} names, one for each component of the state, found 0"));
    says(&|of| of.initial.clear(), "expected a state of at least one component, found none");
    says(&|of| of.initial[0] = Constant::from(true), "expected the first parameters");
    says(&|of| of.step.reads.push(Source::First), &format!("and one for each source, found {params}"));
    says(&|of| of.step.function.results.truncate(0), "expected the results");
    says(&|of| of.output.project.reads[0] = Source::State(99), "components of stage 0, found state.99");
}

#[test]
fn sizes_are_capped() {
    let base = random_program(0, &EVERYTHING);
    let has = |program: Program, expected: &str| {
        let found = messages(program);
        assert!(found.iter().any(|message| message.contains(expected)), "{expected:?} is not in {found:#?}");
    };
    let wide = |count: usize| vec![Layout::of(Type::U8); count];
    has(Program { inputs: wide(MAX_COLUMNS + 1), ..base.clone() }, "expected at most 64 input columns, found 65");
    let mut program = base.clone();
    program.output.columns = wide(MAX_COLUMNS + 1);
    has(program, "expected at most 64 output columns, found 65");
    let half = Table { ty: Type::U8, bytes: vec![0; MAX_TABLE_BYTES / 2 + 1] };
    has(Program { tables: vec![half.clone(), half], ..base.clone() }, "expected at most 67108864 bytes of tables");

    let long = Function {
        params: vec![Type::U8; MAX_PARAMS + 1],
        insts: vec![Inst::constant(1u8.into()); MAX_INSTS + 1],
        results: vec![Value::new(0); MAX_PARAMS + 1],
    };
    let errors = verify_function(long, &[]).unwrap_err().to_string();
    for expected in ["at most 4096 parameters, found 4097", "at most 65536 instructions", "at most 4096 results"] {
        assert!(errors.contains(expected), "{expected:?} is not in {errors}");
    }
}

#[test]
fn an_error_shows_place_message_and_context() {
    let add = Inst::new(Opcode::Add, Type::I32, &[Value::new(0), Value::new(1)], Payload::None);
    let function = Function { params: vec![Type::I32, Type::F32], insts: vec![add], results: vec![Value::new(2)] };
    assert_eq!(
        verify_function(function, &[]).unwrap_err().to_string(),
        "the function does not verify: 1 error\n\
         function, %2: expected %1 to be i32, as the result, found f32\n    %2 = add.i32 %0, %1"
    );
}
