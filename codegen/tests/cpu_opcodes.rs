//! Every opcode, on every type it accepts, on adversarial operands, with and without the machine's
//! extensions, against the evaluator: a program's output holds many instructions, each in a column
//! of its own.

mod cpu_support;

use cpu_support::{assert_same, compile, isas, run_directly};
use monoscan_ir::{
    Constant, Function, FunctionBuilder, Inst, Layout, Mapping, Mode, Opcode, Output, Payload, Program, Source, Stage,
    Type, Value, interp, verify,
};
use scan_kit::opcodes::{cases, columns, describe, functions, tables, vector};

/// Most output columns of one program.
const COLUMNS: usize = 60;

/// A program whose outputs are these functions of the record, whatever its one stage does.
fn program(ty: Type, functions: &[Function]) -> Program {
    let inputs = columns(ty);
    let mut b = FunctionBuilder::new();
    let params = b.params(&inputs);
    let mut results = Vec::new();
    for function in functions {
        results.extend(b.inline(function, &params));
    }
    let outputs: Vec<Type> = results.iter().map(|&result| b.type_of(result)).collect();
    let reads = (0..inputs.len() as u32).map(Source::Record).collect();
    let project = Mapping { reads, function: b.finish(&results) };
    let mut b = FunctionBuilder::new();
    let (x, y) = (b.param(Type::U8), b.param(Type::U8));
    let sum = b.binary(Opcode::Add, x, y);
    let combine = b.finish(&[sum]);
    let mut b = FunctionBuilder::new();
    let one = b.lit(1u8);
    let lift = Mapping { reads: Vec::new(), function: b.finish(&[one]) };
    let stage = Stage { state: vec![Type::U8], identity: vec![Constant::from(0u8)], lift, combine, ..Stage::default() };
    Program {
        parameters: Vec::new(),
        name: format!("opcodes_{ty}"),
        tables: tables(),
        inputs: inputs.into_iter().map(Layout::of).collect(),
        stages: vec![stage],
        output: Output { filter: None, project, columns: outputs.into_iter().map(Layout::of).collect() },
        sequential: None,
    }
}

fn check(ty: Type) {
    let functions = functions(ty);
    let (bytes, total) = cases(ty);
    let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    for group in functions.chunks(COLUMNS) {
        let program = verify(program(ty, group)).unwrap();
        let expected = interp::run(&program, &inputs, &interp::Request::default()).unwrap();
        for (machine, isa) in isas().iter().enumerate() {
            let compiled = compile(&program, Mode::Inclusive, 1, isa);
            let found = run_directly(&compiled, &program, &inputs, total);
            let what = format!("machine {machine}\n{:?}", group.iter().map(describe).collect::<Vec<_>>());
            assert_same(&program, &found, &expected.outputs, &what);
        }
    }
}

#[test]
fn integers_are_what_the_evaluator_says() {
    for ty in Type::SCALARS.into_iter().filter(|ty| ty.is_int() || *ty == Type::Bool) {
        check(ty);
    }
}

#[test]
fn floats_are_what_the_evaluator_says() {
    check(Type::F32);
    check(Type::F64);
}

#[test]
fn vectors_are_what_the_evaluator_says() {
    for lanes in 1..=16 {
        check(vector(lanes));
    }
}

#[test]
fn truth_values_in_memory_are_any_byte_but_zero() {
    let casts = [Type::U8, Type::I32, Type::U64].map(|ty| {
        let mut b = FunctionBuilder::new();
        let params = b.params(&columns(Type::Bool));
        let (zero, bit) = (b.constant(ty.zero()), b.cast(ty, params[0]));
        let one = b.op(Opcode::Select, &[params[0], bit, zero]);
        b.finish(&[one])
    });
    let functions = [functions(Type::Bool), casts.into()].concat();
    let bytes: Vec<u8> = [0, 1, 2, 0x7f, 0x80, 0xff, 0, 0x10].repeat(8);
    let total = bytes.len();
    let zeros = vec![0; total * 16];
    let rest = columns(Type::Bool).into_iter().skip(1).map(|ty| &zeros[..total * ty.size()]);
    let inputs: Vec<&[u8]> = [&bytes[..]].into_iter().chain(rest).collect();
    for group in functions.chunks(COLUMNS) {
        let program = verify(program(Type::Bool, group)).unwrap();
        let expected = interp::run(&program, &inputs, &interp::Request::default()).unwrap();
        for isa in &isas() {
            let found = run_directly(&compile(&program, Mode::Inclusive, 1, isa), &program, &inputs, total);
            assert_same(&program, &found, &expected.outputs, "truth values");
        }
    }
}

#[test]
fn every_opcode_is_covered() {
    let mut left: Vec<Opcode> = Opcode::ALL.to_vec();
    for ty in Type::SCALARS.into_iter().chain([vector(5)]) {
        for function in functions(ty) {
            left.retain(|opcode| !function.insts.iter().any(|inst| inst.opcode == *opcode));
        }
    }
    assert_eq!(left, []);
}

/// Runs one instruction of one operand over a column.
fn convert(opcode: Opcode, from: Type, to: Type, operands: &[u8]) {
    let function = Function {
        params: columns(from),
        insts: vec![Inst::new(opcode, to, &[Value::new(0)], Payload::None)],
        results: vec![Value::new(columns(from).len())],
    };
    let program = verify(program(from, &[function])).unwrap();
    let total = operands.len() / from.size();
    let zeros = vec![0; total * 16];
    let rest = columns(from).into_iter().skip(1).map(|ty| &zeros[..total * ty.size()]);
    let inputs: Vec<&[u8]> = [operands].into_iter().chain(rest).collect();
    let expected = interp::run(&program, &inputs, &interp::Request::default()).unwrap();
    let compiled = compile(&program, Mode::Inclusive, 1, &isas()[0]);
    let found = run_directly(&compiled, &program, &inputs, total);
    assert_same(&program, &found, &expected.outputs, opcode.name());
}

#[test]
fn all_halves_widen_and_dense_floats_narrow() {
    let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
    convert(Opcode::FromF16, Type::U16, Type::F32, &halves);
    convert(Opcode::FromBf16, Type::U16, Type::F32, &halves);
    // Every upper half of the bits, with the lower halves on which rounding turns.
    let floats = (0..=u16::MAX).flat_map(|high| {
        [0u32, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001].map(|low| (high as u32) << 16 | low)
    });
    let floats: Vec<u8> = floats.flat_map(u32::to_ne_bytes).collect();
    convert(Opcode::ToF16, Type::F32, Type::U16, &floats);
    convert(Opcode::ToBf16, Type::F32, Type::U16, &floats);
}
