//! The fold of a stage in the numbers of the loop that its program was derived from.
//!
//! A program says how ([`OwnFold`](crate::program::OwnFold)).

use super::ranges::{Range, value_ranges};
use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Source, Table};
use crate::simplify::simplify;
use crate::transform::Lowered;
use crate::types::{Constant, Type};

/// A stage's fold in the loop's own numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnFold {
    /// The values that it carries before the first element.
    pub initial: Vec<Constant>,
    /// Those after an element: the first parameters are those before it.
    pub step: Mapping,
    /// The same where an element came before: bounds that every element leaves need not be looked at again.
    pub later: Mapping,
    /// From what it carries to the stage's state.
    pub leave: Function,
}

impl Lowered {
    /// How a stage is folded in the loop's own numbers. None if the program does not say so.
    pub fn own_fold(&self, stage: u32) -> Option<OwnFold> {
        let fold = self.sequential.as_ref()?.folds.iter().find(|fold| fold.stage == stage)?;
        let carried = fold.initial.len();
        let mut reads: Vec<Source> = (0..carried as u32).map(Source::State).collect();
        let mut types: Vec<Type> = fold.initial.iter().map(|constant| constant.ty()).collect();
        for (&source, &ty) in fold.step.reads.iter().zip(&fold.step.function.params) {
            if !reads.contains(&source) {
                reads.push(source);
                types.push(ty);
            }
        }
        let mut b = FunctionBuilder::new();
        let params = b.params(&types);
        let place = |source: &Source| reads.iter().position(|read| read == source).expect("every source is read");
        let arguments: Vec<Value> = fold.step.reads.iter().map(|source| params[place(source)]).collect();
        let results = b.inline(&fold.step.function, &arguments);
        let function = simplify(&b.finish(&results), &self.tables);
        let later = Mapping { reads: reads.clone(), function: behind_one(&function, carried, &self.tables) };
        let (initial, leave) = (fold.initial.clone(), fold.leave.clone());
        Some(OwnFold { initial, step: Mapping { reads, function }, later, leave })
    }
}

/// A step whose first parameters are in the ranges of its results.
fn behind_one(function: &Function, carried: usize, tables: &[Table]) -> Function {
    let ranges = value_ranges(function, &[], tables);
    let carried: Vec<Range> = function.results[..carried].iter().map(|result| ranges[result.index()]).collect();
    let ranges = value_ranges(function, &carried, tables);
    let mut b = FunctionBuilder::new();
    let mut values = b.params(&function.params);
    for inst in &function.insts {
        let operand = |place: usize| values[inst.operands()[place].index()];
        values.push(match decided(inst, &ranges) {
            Some(place) => operand(place),
            None => b.push(inst.map_operands(|operand| values[operand.index()])),
        });
    }
    let results: Vec<Value> = function.results.iter().map(|result| values[result.index()]).collect();
    simplify(&b.finish(&results), tables)
}

/// The operand that an extreme of two integers is, if their ranges say which.
fn decided(inst: &Inst, ranges: &[Range]) -> Option<usize> {
    let &[a, b] = inst.operands() else { return None };
    if !inst.ty.is_int() {
        return None;
    }
    let at_most = |low: Value, high: Value| ranges[low.index()].max <= ranges[high.index()].min;
    match inst.opcode {
        Opcode::Max if at_most(a, b) => Some(1),
        Opcode::Max if at_most(b, a) => Some(0),
        Opcode::Min if at_most(a, b) => Some(0),
        Opcode::Min if at_most(b, a) => Some(1),
        _ => None,
    }
}
