//! The folds of stages in the loop's own numbers: [`OwnFold`]s.
//!
//! A group that is a bounded sum has a fold of its own. Any other of the stage is folded as its
//! states are composed.

use super::Flat;
use super::assemble::Part;
use super::code::Code;
use crate::builder::FunctionBuilder;
use crate::facts::drop_unused;
use crate::opcode::Opcode;
use crate::program::{Mapping, OwnFold, Source, Stage, Table};
use crate::simplify::simplify;
use crate::types::{Constant, Type};

/// The fold of the only stage, if a group of it is a bounded sum. A cascade has none, which would gain nothing. Nor has a loop that was
/// written otherwise, which has components that the user's has not.
pub(super) fn own_folds(
    flat: &Flat,
    code: &Code<'_>,
    parts: &[Part<'_>],
    stages: &[Stage],
    tables: &[Table],
) -> Vec<OwnFold> {
    let [stage] = stages else { return Vec::new() };
    let is_other = flat.rewritten.is_empty() && parts.iter().any(|part| part.placed.ends.is_some());
    is_other.then(|| fold(flat, code, parts, stage, tables)).into_iter().collect()
}

fn fold(flat: &Flat, code: &Code<'_>, parts: &[Part<'_>], stage: &Stage, tables: &[Table]) -> OwnFold {
    let mut initial: Vec<Constant> = Vec::new();
    for part in parts {
        let own = part.first as usize..part.first as usize + part.placed.effect.types.len();
        match &part.placed.ends {
            Some(ends) => initial.extend(&ends.initial),
            None => initial.extend(&stage.identity[own]),
        }
    }
    let types: Vec<Type> = initial.iter().map(|constant| constant.ty()).collect();
    let components = flat.initial.len();
    let mut reads: Vec<Source> = (0..types.len() as u32).map(Source::State).collect();
    reads.extend((0..components as u32).map(|component| Source::Before { stage: 0, component }));
    reads.extend(&flat.reads);
    let mut b = FunctionBuilder::new();
    let carried = b.params(&types);
    let read = b.params(&flat.step.params);
    let mut leave = FunctionBuilder::new();
    let left = leave.params(&types);
    let (mut results, mut state) = (Vec::new(), Vec::new());
    let mut first = 0;
    for part in parts {
        let effect = &part.placed.effect;
        let count = part.placed.ends.as_ref().map_or(effect.types.len(), |ends| ends.initial.len());
        let own = first..first + count;
        first = own.end;
        match &part.placed.ends {
            Some(ends) => {
                let added = b.inline(&code.extract(&[ends.added]), &read)[0];
                results.push(b.wrapping(|b| b.binary(Opcode::Add, carried[own.start], added)));
                for (place, &end) in own.clone().skip(1).zip(&ends.ends) {
                    let mut arguments = read.clone();
                    arguments[part.placed.members[0]] = carried[place];
                    results.extend(b.inline(&code.extract(&[end]), &arguments));
                }
                state.extend(leave.inline(&ends.leave, &left[own]));
            }
            None => {
                let lift = b.inline(&code.extract(&effect.lift), &read);
                results.extend(b.inline(&effect.combine, &[&carried[own.clone()], &lift[..]].concat()));
                state.extend(&left[own]);
            }
        }
    }
    let function = simplify(&b.finish(&results), tables);
    let step = drop_unused(Mapping { reads, function }, 0);
    OwnFold { stage: 0, initial, step, leave: simplify(&leave.finish(&state), tables) }
}
