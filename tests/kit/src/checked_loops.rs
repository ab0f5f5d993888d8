//! Checked scans of derived loops beside the loops, which the interpreter runs.
//!
//! Loops are generated, of integers and truth values alone, which no order rounds otherwise.
//! Records are small numbers, in some calls with any among them, so that many loops overflow.

use crate::Random;
use crate::loop_step::step_arguments;
use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{Constant, Function, Opcode, Type, Value, interp, overflows};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error};

/// How many calls of checked scans of loops ended how.
#[derive(Clone, Copy, Default, Debug)]
pub struct SeenOfLoops {
    /// Those that gave what the loop gives.
    pub equal: usize,
    /// Those that found its first overflow.
    pub overflowed: usize,
    /// Those whose states came out different.
    pub regrouped: usize,
    /// Those of loops that have no checked scan.
    pub refused: usize,
}

/// Whether a loop is of integers and truth values alone.
pub fn is_exact(of: &LoopProgram) -> bool {
    let step = &of.step.function;
    step.params.iter().copied().chain(step.insts.iter().map(|inst| inst.ty)).all(|ty| !ty.is_float())
}

/// Compares a call of a loop's checked scan, over so many records, with the loop.
///
/// # Panics
/// If they differ.
pub fn compare_loop(
    of: &LoopProgram,
    scan: &DynScan,
    len: usize,
    is_wild: bool,
    random: &mut Random,
    seen: &mut SeenOfLoops,
) {
    let records: Vec<Type> = of.inputs.iter().flat_map(|column| column.types()).collect();
    let parameters: Vec<Constant> = of.parameters.iter().map(|&ty| number(ty, is_wild, random)).collect();
    let record = |_| records.iter().map(|&ty| number(ty, is_wild, random)).collect();
    let given: Vec<Vec<Constant>> = (0..len).map(record).collect();
    let bytes = |place: usize| given.iter().flat_map(|record| record[place].to_bytes()).collect::<Vec<u8>>();
    let columns: Vec<Vec<u8>> = (0..records.len()).map(bytes).collect();
    let inputs = columns.iter().zip(&of.inputs).map(|(bytes, layout)| Column::from_bytes(bytes, layout).unwrap());
    let layouts = &of.output.columns;
    let mut results: Vec<Vec<u8>> = layouts.iter().map(|layout| vec![0; len * layout.size as usize]).collect();
    let outputs = results.iter_mut().zip(layouts);
    let outputs = outputs.map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout).unwrap());
    let (inputs, mut outputs) = (inputs.collect::<Vec<_>>(), outputs.collect::<Vec<_>>());
    let got = scan.with(&parameters).unwrap().run(&Call::default(), &inputs, &mut outputs);
    let what = || format!("{len} records: {of:?}");
    match (got, states(of, &parameters, &given)) {
        (Ok(_), Ok(expected)) => {
            let column = |place: usize| expected.iter().flat_map(move |state| state[place].to_bytes());
            let same = |(place, bytes): (usize, &Vec<u8>)| column(place).eq(bytes.iter().copied());
            assert!(results.iter().enumerate().all(same), "{}", what());
            seen.equal += 1;
        }
        (Err(Error::Overflowed { index, .. }), Err(expected)) => {
            assert_eq!(index, expected, "{}", what());
            seen.overflowed += 1;
        }
        (Err(Error::Regrouped { index }), Err(expected)) if index <= expected => seen.regrouped += 1,
        (Err(Error::Regrouped { .. }), Ok(_)) => seen.regrouped += 1,
        (Err(Error::CheckedLoop), _) => seen.refused += 1,
        (got, expected) => panic!("{got:?}, {:?}: {}", expected.err(), what()),
    }
}

/// Whether native Rust panics on the way to a value, which takes one arm of an `if` only, and no more of `&&` than it needs.
fn panics(function: &Function, values: &[Constant], value: Value) -> bool {
    let Some(inst) = function.inst(value) else { return false };
    let operands = inst.operands();
    let known: Vec<Constant> = operands.iter().map(|operand| values[operand.index()]).collect();
    let on_the_way = |place: usize| panics(function, values, operands[place]);
    let is_true = |place: usize| known[place].bits() != 0;
    overflows(inst, &known)
        || match inst.opcode {
            Opcode::Select => on_the_way(0) || on_the_way(if is_true(0) { 1 } else { 2 }),
            Opcode::And if inst.ty == Type::Bool => on_the_way(0) || is_true(0) && on_the_way(1),
            Opcode::Or if inst.ty == Type::Bool => on_the_way(0) || !is_true(0) && on_the_way(1),
            _ => (0..operands.len()).any(on_the_way),
        }
}

/// The states of a loop after each record, or the first record at which it overflows.
fn states(of: &LoopProgram, parameters: &[Constant], records: &[Vec<Constant>]) -> Result<Vec<Vec<Constant>>, usize> {
    let mut state = of.initial.clone();
    let next = |place: usize| {
        let arguments = step_arguments(of, &state, parameters, records, place);
        let all: Vec<Value> = (0..arguments.len() + of.step.function.insts.len()).map(Value::new).collect();
        let values = interp::call(&Function { results: all, ..of.step.function.clone() }, &arguments, &of.tables);
        let results = &of.step.function.results;
        state = results.iter().map(|result| values[result.index()]).collect();
        let panics = results.iter().any(|&result| panics(&of.step.function, &values, result));
        if panics { Err(place) } else { Ok(state.clone()) }
    };
    (0..records.len()).map(next).collect()
}

/// A number of a type: mostly a small one, so that some loops come far.
fn number(ty: Type, is_wild: bool, random: &mut Random) -> Constant {
    match is_wild && random.chance(9) {
        true => random.constant(ty),
        false if ty == Type::Bool => Constant::from(random.chance(2)),
        false => ty.of_i64(random.below(5) as i64 - if ty.is_signed() { 2 } else { 0 }),
    }
}
