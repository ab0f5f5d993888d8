//! The fold of a second level as a Mealy machine: of each element the byte that the outputs need of
//! the automaton.
//!
//! The fold of the level behind an automaton walks it, as the replay does, and computes the same
//! number of each element: what a sum adds, say. Where that number fits a byte, the fold leaves it
//! to the replay, which then carries no lane and looks nothing up.

use super::replay::Split;
use super::steps::Steps;
use super::{Carried, LaneBody};
use crate::builder::FunctionBuilder;
use crate::facts::drop_unused;
use crate::function::{Function, Value};
use crate::interp;
use crate::opcode::Opcode;
use crate::program::{Mapping, Table};
use crate::simplify::simplify;
use crate::types::{Constant, Type};

/// The fold of the second of two levels and the replay, where all that these need of the automaton, the first, is a number between
/// −128 and 127.
#[derive(Clone, PartialEq, Debug)]
pub struct OutputFold {
    /// The function before the fold, by symbols: its results are those of the carried values, and the number as a `u8`.
    pub fold: LaneBody,
    /// The replay. Where it reads `record.0`, a `u8`, it means the number.
    pub replay: LaneBody,
}

impl OutputFold {
    /// Both, of a replay that carries a lane and the components of the second level.
    pub(super) fn of(
        split: &Split,
        (mapping, carried): (&Mapping, &[Carried]),
        symbols: &[&[Constant]],
        lanes: usize,
        tables: &[Table],
    ) -> Option<OutputFold> {
        let function = &mapping.function;
        let number = only_number(split, function)?;
        let ty = function.type_of(number).filter(|ty| ty.is_int() || *ty == Type::Bool)?;
        let of_found = number_of(split, function, number, tables);
        let beside = |bytes: &[u8]| {
            let found = bytes.iter().zip(&of_found.params);
            let found: Vec<Constant> =
                found.map(|(&byte, &ty)| Constant::new(ty, u128::from(byte) & ty.mask())).collect();
            let number = interp::call(&of_found, &found, tables)[0];
            i8::try_from(signed(number)).ok().map(|byte| u32::from(byte as u8))
        };
        let steps = Steps::new(&split.steps(function, symbols, lanes, beside)?, 1);
        let (before, row) = (steps.carried(), steps.row());
        let mut tables = tables.to_vec();
        let others: Vec<Carried> = carried.iter().copied().filter(|carried| carried.lane.is_none()).collect();

        let widened = |b: &mut FunctionBuilder, byte: Value| {
            if ty == Type::Bool {
                let zero = b.lit(0u8);
                return b.binary(Opcode::Ne, byte, zero);
            }
            let byte = b.bitcast(Type::I8, byte);
            let wide = b.cast(if ty.size() == 8 { Type::I64 } else { Type::I32 }, byte);
            b.cast(ty, wide)
        };

        let mut b = FunctionBuilder::new();
        let (reads, mut values, symbol) = split.enter(&mut b, mapping, Some(before));
        let lane = values[split.lane].take().expect("the lane stays");
        let (lane_after, beside) = steps.look_up(&mut b, (lane, symbol), &mut tables);
        let output = b.cast(Type::U8, beside[0]);
        values[number.index()] = Some(widened(&mut b, output));
        split.rest(&mut b, function, &mut values);
        let result =
            |place: usize| if place == split.lane { Some(lane_after) } else { values[function.results[place].index()] };
        let results = (0..carried.len()).map(result);
        let results: Vec<Value> = results.chain([Some(output)]).collect::<Option<_>>()?;
        let function_of_fold = simplify(&b.finish(&results), &tables);
        let fold = drop_unused(Mapping { reads, function: function_of_fold }, carried.len());

        let mut b = FunctionBuilder::new();
        let (reads, mut values, output) = split.enter(&mut b, mapping, None);
        values[number.index()] = Some(widened(&mut b, output));
        split.rest(&mut b, function, &mut values);
        let results = split.results_beside_lane(function, &values)?;
        let function = simplify(&b.finish(&results), &tables);
        let replay = drop_unused(Mapping { reads, function }, others.len());
        let of = |mapping, carried, row| LaneBody { mapping, carried, row, tables: tables.clone() };
        Some(OutputFold { fold: of(fold, carried.to_vec(), row), replay: of(replay, others, None) })
    }
}

/// The only value that follows from lane and symbol and that anything else is computed from, but for the lane after the element.
fn only_number(split: &Split, function: &Function) -> Option<Value> {
    let mut numbers: Vec<Value> = Vec::new();
    let mut need = |value: Value| {
        let is_constant = function.inst(value).is_some_and(|inst| inst.as_constant().is_some());
        if split.follows[value.index()] && !is_constant && !numbers.contains(&value) {
            numbers.push(value);
        }
    };
    for (value, inst) in function.values() {
        if !split.follows[value.index()] {
            inst.operands().iter().copied().for_each(&mut need);
        }
    }
    for (place, &result) in function.results.iter().enumerate() {
        if place != split.lane {
            need(result);
        }
    }
    if let [number] = numbers[..] { Some(number) } else { None }
}

/// From what is found of an element to the number.
fn number_of(split: &Split, function: &Function, number: Value, tables: &[Table]) -> Function {
    let mut b = FunctionBuilder::new();
    let mut values = vec![None; function.value_count()];
    for &found in &split.found {
        values[found.index()] = Some(b.param(function.type_of(found).expect("it is a value of the function")));
    }
    split.rest(&mut b, function, &mut values);
    simplify(&b.finish(&[values[number.index()].expect("it follows from what is found")]), tables)
}

/// A number of any integer type as if it had a sign.
fn signed(number: Constant) -> i128 {
    let bits = number.ty().bits();
    let shift = 128 - bits;
    ((number.bits() << shift) as i128) >> shift
}
