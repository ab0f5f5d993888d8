//! The interpreter computes what the formulas in the documentation of programs say.
//!
//! A file under `files/interp` is a program with a comment `;in …` for each input column: the
//! components of its records one after the other. The comments `;= …` at its end are what comes
//! out; `MONOSCAN_BLESS=1` writes them anew.

mod common;

use std::fmt::Write;

use monoscan_ir::interp::{InterpError, Interpreter, Mode, Request, Run, call_checked, run};
use monoscan_ir::{Constant, FunctionBuilder, Layout, Opcode, Program, Type, Verified, text, verify};

#[test]
fn outputs_are_what_the_files_say() {
    common::check_files("interp", |program, source| {
        let lines: Vec<&str> = source.lines().filter_map(|line| line.strip_prefix(";in")).collect();
        let inputs: Vec<Vec<u8>> =
            program.inputs.iter().zip(lines).map(|(layout, line)| encode(layout, line)).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let mut out = String::new();
        for mode in [Mode::Inclusive, Mode::Exclusive] {
            let result = run(program, &inputs, &Request { mode, ..Request::default() }).unwrap();
            writeln!(out, "{mode:?}").unwrap();
            for (layout, column) in program.output.columns.iter().zip(&result.outputs) {
                writeln!(out, "  {}", decode(layout, column)).unwrap();
            }
            writeln!(out, "  then {:?}", result.states_after).unwrap();
        }
        out
    });
}

/// Records of integers, booleans and floats, component by component.
fn encode(layout: &Layout, line: &str) -> Vec<u8> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut bytes = Vec::new();
    for record in words.chunks(layout.fields.len()) {
        let start = bytes.len();
        bytes.resize(start + layout.size as usize, 0);
        for (field, word) in layout.fields.iter().zip(record) {
            let value = match field.ty {
                Type::F32 => Constant::from(word.parse::<f32>().unwrap()),
                Type::F64 => Constant::from(word.parse::<f64>().unwrap()),
                ty => Constant::new(ty, word.parse::<i128>().unwrap() as u128),
            };
            let at = start + field.offset as usize;
            bytes[at..at + field.ty.size()].copy_from_slice(&value.to_bytes());
        }
    }
    bytes
}

fn decode(layout: &Layout, bytes: &[u8]) -> String {
    let record = |record: &[u8]| {
        let fields = layout.fields.iter();
        let values = fields.map(|field| Constant::from_bytes(field.ty, &record[field.offset as usize..]).to_string());
        values.collect::<Vec<_>>().join(" ")
    };
    bytes.chunks_exact(layout.size as usize).map(record).collect::<Vec<_>>().join(", ")
}

fn sum() -> Verified<Program> {
    verify(text::parse(include_str!("files/interp/sum.scan")).unwrap()).unwrap()
}

fn run_sum(bytes: &[&[u8]], request: &Request) -> Result<Run, InterpError> {
    run(&sum(), bytes, request)
}

#[test]
fn a_stream_goes_on_where_its_last_part_ended() {
    let (first, rest) = ([1u8, 2, 3], [4u8, 5]);
    let before = run_sum(&[&first], &Request::default()).unwrap();
    let seeds = Some(before.states_after);
    let after = run_sum(&[&rest], &Request { mode: Mode::Exclusive, init: seeds, ..Request::default() }).unwrap();
    assert_eq!(after.outputs, [vec![6, 10]]);
    assert_eq!(after.states_after, [[Constant::from(15u8)]]);
}

#[test]
fn no_elements_give_empty_outputs_and_the_seed() {
    let seeds = Some(vec![vec![Constant::from(7u8)]]);
    let nothing =
        run_sum(&[&[]], &Request { mode: Mode::Inclusive, init: seeds.clone(), ..Request::default() }).unwrap();
    assert_eq!((nothing.outputs, nothing.count, Some(nothing.states_after)), (vec![vec![]], 0, seeds));
}

#[test]
fn wrong_inputs_and_seeds_are_errors_that_name_the_argument() {
    let expect = |result: Result<Run, InterpError>, message: &str| {
        assert_eq!(result.unwrap_err().to_string(), message);
    };
    expect(run_sum(&[], &Request::default()), "the program reads 1 input columns, got 0");
    let seeds = |seeds| Request { mode: Mode::Inclusive, init: Some(seeds), ..Request::default() };
    expect(run_sum(&[&[1]], &seeds(vec![])), "the program has 1 stages, got 0 initial states");
    let wrong = seeds(vec![vec![Constant::from(1u16)]]);
    expect(run_sum(&[&[1]], &wrong), "the initial state of stage 0 must have the types [u8], got [u16]");

    let affine = verify(text::parse(include_str!("files/interp/segmented.scan")).unwrap()).unwrap();
    let partial = run(&affine, &[&[0, 0], &[0; 7]], &Request::default());
    expect(partial, "input column 1 has 7 bytes, which is no whole number of records of 4 bytes");
    let lengths = run(&affine, &[&[0, 0], &[0; 12]], &Request::default());
    expect(lengths, "input column 1 has 3 records, the first column has 2");
}

#[test]
fn overflow_is_reported_for_the_call_in_which_it_happens() {
    let mut b = FunctionBuilder::new();
    let x = b.param(Type::I8);
    let minus = b.unary(Opcode::Neg, x);
    let negate = b.finish(&[minus]);
    assert_eq!(call_checked(&negate, &[i8::MIN.into()], &[]), (vec![i8::MIN.into()], true));
    let mut interpreter = Interpreter::checked(&[]);
    interpreter.call(&negate, &[i8::MIN.into()]);
    assert!(interpreter.overflowed());
    interpreter.call(&negate, &[1i8.into()]);
    assert!(!interpreter.overflowed());
}

#[test]
fn every_mapping_may_read_what_the_run_started_from() {
    let program = "program above_the_start
      input { size 1, align 1, u8 @ 0 }
      stage (u8)
        identity (0)
        lift (%0 = record.0: u8, %1 = init.0.0: u8) {
          %2 = add.u8 %0, %1
          return %2
        }
        combine (%0: u8, %1: u8) {
          %2 = add.u8 %0, %1
          return %2
        }
      output emit
        column { size 1, align 1, u8 @ 0 }
        filter (%0 = record.0: u8, %1 = init.0.0: u8) {
          %2 = gt.bool %0, %1
          return %2
        }
        project (%0 = state.0: u8, %1 = init.0.0: u8) {
          %2 = sub.u8 %0, %1
          return %2
        }";
    let program = verify(text::parse(program).unwrap()).unwrap();
    let seeds = Some(vec![vec![Constant::from(2u8)]]);
    let seeded =
        run(&program, &[&[1, 3, 9]], &Request { mode: Mode::Inclusive, init: seeds, ..Request::default() }).unwrap();
    assert_eq!(seeded.outputs, [vec![8, 19]], "3 and 9 are above 2; sums of elements and seeds, less the first seed");
    let from_identity = run(&program, &[&[1, 3, 9]], &Request::default()).unwrap();
    assert_eq!(from_identity.outputs, [vec![1, 4, 13]]);
}
