//! The cases that are lowered and compared: every opcode on every type, known ranges, and random
//! functions.

use monoscan_ir::{Constant, Function, FunctionBuilder, Opcode, Rule, Table, Type, Value};
use scan_kit::random::{Options, random_program};

use super::host::check;
use scan_kit::opcodes::{cases, columns, functions, tables, values, vector};

/// Functions in one module.
const TOGETHER: usize = 200;

/// The operands of all cases of a type.
pub(crate) fn operands(ty: Type) -> Vec<Vec<Constant>> {
    let (bytes, count) = cases(ty);
    let columns = columns(ty);
    let operand = |case: usize, column: usize| {
        let ty: Type = columns[column];
        Constant::from_bytes(ty, &bytes[column][case * ty.size()..])
    };
    (0..count).map(|case| (0..columns.len()).map(|column| operand(case, column)).collect()).collect()
}

fn check_type(ty: Type) {
    let (tables, operands) = (tables(), operands(ty));
    let functions = [functions(ty), ranged(ty)].concat();
    for group in functions.chunks(TOGETHER) {
        check(group, &tables, |_| operands.clone());
    }
}

/// Operations whose operands are known to be in a part of their type.
pub(crate) fn ranged(ty: Type) -> Vec<Function> {
    let mut all = Vec::new();
    let mut add = |build: &dyn Fn(&mut FunctionBuilder, &[Value]) -> Value| {
        let mut b = FunctionBuilder::new();
        let params = b.params(&columns(ty));
        let result = build(&mut b, &params);
        all.push(b.finish(&[result]));
    };
    if !ty.is_vector() && !ty.is_int() {
        return all;
    }
    let every_lane = |b: &mut FunctionBuilder, bits: u128| match ty {
        Type::Bytes(lanes) => b.constant(Constant::vector(&vec![bits as u8; lanes.get()])),
        _ => b.constant(Constant::new(ty, bits)),
    };
    let top = if ty.is_vector() { 0x80 } else { (ty.mask() >> 1) + 1 };
    for &opcode in Opcode::ALL.iter().filter(|op| matches!(op.rule(), Rule::Binary(class) if class.contains(ty))) {
        for (of_a, of_b) in [(top - 1, top - 1), (top >> 1, 3), (3, top - 1), (1, 1)] {
            // Both small and not negative; both without 0; the first at least as large as the second.
            add(&|b, p| {
                let (of_a, of_b) = (every_lane(b, of_a), every_lane(b, of_b));
                let (x, y) = (b.binary(Opcode::And, p[0], of_a), b.binary(Opcode::And, p[1], of_b));
                b.binary(opcode, x, y)
            });
            add(&|b, p| {
                let (of_b, one) = (every_lane(b, of_b >> 1), every_lane(b, 1));
                let y = b.binary(Opcode::And, p[1], of_b);
                let y = b.binary(Opcode::Add, y, one);
                b.binary(opcode, p[0], y)
            });
            add(&|b, p| {
                let (of_b, top) = (every_lane(b, of_b), every_lane(b, top));
                let (x, y) = (b.binary(Opcode::Max, p[0], top), b.binary(Opcode::And, p[1], of_b));
                b.binary(opcode, x, y)
            });
        }
    }
    all
}

#[test]
fn narrow_integers_are_what_the_evaluator_says() {
    [Type::Bool, Type::I8, Type::U8, Type::I16, Type::U16].into_iter().for_each(check_type);
}

#[test]
fn wide_integers_are_what_the_evaluator_says() {
    [Type::I32, Type::U32, Type::I64, Type::U64].into_iter().for_each(check_type);
}

#[test]
fn floats_are_what_the_evaluator_says() {
    [Type::F32, Type::F64].into_iter().for_each(check_type);
}

#[test]
fn short_vectors_are_what_the_evaluator_says() {
    (1..=8).map(vector).for_each(check_type);
}

#[test]
fn long_vectors_are_what_the_evaluator_says() {
    (9..=16).map(vector).for_each(check_type);
}

/// All functions of the random program of a seed, and its tables.
pub(super) fn random_functions(seed: u64) -> (Vec<Function>, Vec<Table>) {
    let options = Options {
        stages: 3,
        allow_emit: true,
        allow_vectors: true,
        allow_next: true,
        allow_previous: false,
        allow_parameters: false,
        allow_init: false,
        associative: false,
    };
    let program = random_program(seed, &options);
    (program.functions().cloned().collect(), program.tables)
}

#[test]
fn random_functions_are_what_the_interpreter_says() {
    for seed in 0..300 {
        let (functions, tables) = random_functions(seed);
        check(&functions, &tables, |number| {
            let params: Vec<Vec<Constant>> = functions[number].params.iter().map(|&ty| values(ty)).collect();
            // Each parameter goes through its values at a pace of its own.
            let pace = |place: usize| 2 * place + 1 + seed as usize % 7;
            let operand = |case: usize, place: usize| params[place][case * pace(place) % params[place].len()];
            (0..60).map(|case| (0..params.len()).map(|place| operand(case, place)).collect()).collect()
        });
    }
}

#[test]
fn every_opcode_is_among_the_cases() {
    let mut left: Vec<Opcode> = Opcode::ALL.to_vec();
    for ty in [Type::Bool, Type::U8, Type::U16, Type::U32, Type::F32, vector(5)] {
        let functions = functions(ty);
        left.retain(|opcode| !functions.iter().any(|function| function.insts.iter().any(|i| i.opcode == *opcode)));
    }
    assert_eq!(left, []);
}
