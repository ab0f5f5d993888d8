//! Composition of lane maps: associative because composing functions is.
//!
//! A map of N states to N states is a vector whose lane i holds where state i goes; running `self`
//! first and `next` after it is `permute(next, self)`. A map of K·N states takes K vectors. Lane i
//! of the result is in the one vector that holds the index: `next_0[self_j] | next_1[self_j − N] |
//! …`, where `permute` gives 0 for an index outside its vector. Both are composition only where
//! every lane is an index, so that must be known: from `valid`, or from what lift produces.

use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::program::{Mapping, Stage, Table};
use crate::types::{Constant, Type};

/// The name of this construction in verdicts.
pub(crate) const NAME: &str = "composition of lane maps";

/// Whether `combine` composes the maps that the state's vectors hold; if so, how many states the maps act on.
pub(crate) fn composes(types: &[Type], combine: &Function) -> Option<usize> {
    let &[first, ..] = types else { return None };
    let same = first.is_vector() && types.iter().all(|&ty| ty == first);
    let forwards = (0..types.len()).all(|j| is_composition(combine, types.len(), j, false));
    let backwards = (0..types.len()).all(|j| is_composition(combine, types.len(), j, true));
    let size = types.len() * first.size();
    (same && size <= 256 && (forwards || backwards)).then_some(size)
}

/// The same for maps of which the later one is applied last.
pub(crate) fn composes_forwards(types: &[Type], combine: &Function) -> Option<usize> {
    composes(types, combine).filter(|_| (0..types.len()).all(|j| is_composition(combine, types.len(), j, false)))
}

/// Whether the vectors map each index to itself.
pub(crate) fn is_identity_map(identity: &[Constant]) -> bool {
    let lanes = identity.iter().flat_map(|vector| vector.to_bytes());
    lanes.enumerate().all(|(i, lane)| lane as usize == i)
}

/// Result j is the union over k of vector k of the map applied last, looked up at vector j of the map applied first.
fn is_composition(combine: &Function, count: usize, j: usize, backwards: bool) -> bool {
    let (applied_first, applied_last) = if backwards { (count, 0) } else { (0, count) };
    let mut found = vec![false; count];
    let mut open = vec![combine.results[j]];
    while let Some(value) = open.pop() {
        let Some(inst) = combine.inst(value) else { return false };
        match (inst.opcode, inst.operands()) {
            (Opcode::Or, &[a, b]) => open.extend([a, b]),
            (Opcode::Permute, &[vector, lanes]) => {
                let Some(k) = vector.index().checked_sub(applied_last).filter(|&k| k < count) else { return false };
                let offset = k * inst.ty.size();
                if found[k] || !is_shifted(combine, lanes, applied_first + j, offset) {
                    return false;
                }
                found[k] = true;
            }
            _ => return false,
        }
    }
    found.into_iter().all(|found| found)
}

/// Whether `value` is the parameter less `offset` in every lane.
fn is_shifted(function: &Function, value: Value, parameter: usize, offset: usize) -> bool {
    if value.index() == parameter {
        return offset == 0;
    }
    let Some(inst) = function.inst(value) else { return false };
    let splat = |value: Value, byte: usize| {
        function.as_constant(value).is_some_and(|c| c.to_bytes().iter().all(|&lane| lane as usize == byte % 256))
    };
    match (inst.opcode, inst.operands()) {
        (Opcode::Sub, &[a, b]) => a.index() == parameter && splat(b, offset),
        (Opcode::Add, &[a, b]) => {
            let sum = |a: Value, b: Value| a.index() == parameter && splat(b, 256 - offset);
            sum(a, b) || sum(b, a)
        }
        _ => false,
    }
}

/// Whether every lane of these components is below `size` in every state that can occur.
pub(crate) fn lanes_are_below(
    stage: &Stage,
    tables: &[Table],
    components: &[usize],
    size: usize,
    lifted: bool,
) -> bool {
    if size >= 256 {
        return true;
    }
    match &stage.valid {
        Some(valid) => components.iter().all(|&component| demands(valid, valid.results.first(), component, size)),
        None => lifted && components.iter().all(|&component| produces(&stage.lift, tables, component, size)),
    }
}

/// Whether `valid` says nothing but that the lanes of these components are below `size`.
pub(crate) fn demands_only(valid: &Function, components: &[usize], size: usize) -> bool {
    let mut open: Vec<Value> = valid.results.clone();
    while let Some(value) = open.pop() {
        match valid.inst(value).map(|inst| (inst.opcode, inst.operands())) {
            Some((Opcode::And, &[a, b])) => open.extend([a, b]),
            _ if !components.iter().any(|&component| bounds(valid, value, component) == Some(size)) => return false,
            _ => {}
        }
    }
    true
}

fn demands(valid: &Function, condition: Option<&Value>, component: usize, size: usize) -> bool {
    let Some(&condition) = condition else { return false };
    match valid.inst(condition).map(|inst| (inst.opcode, inst.operands())) {
        Some((Opcode::And, [a, b])) => [a, b].iter().any(|&part| demands(valid, Some(part), component, size)),
        _ => bounds(valid, condition, component).is_some_and(|bound| bound <= size),
    }
}

/// `min(v, [b b b …]) == v`: every lane of component v is below b + 1.
fn bounds(valid: &Function, condition: Value, component: usize) -> Option<usize> {
    let operands = |value: Value, opcode: Opcode| {
        valid.inst(value).filter(|inst| inst.opcode == opcode).map(|inst| [inst.operands()[0], inst.operands()[1]])
    };
    let is_vector = |value: Value| value.index() == component;
    let other = |[a, b]: [Value; 2]| if is_vector(a) { Some(b) } else { is_vector(b).then_some(a) };
    let minimum = other(operands(condition, Opcode::Eq)?)?;
    let limit = valid.as_constant(other(operands(minimum, Opcode::Min)?)?)?;
    let lanes = limit.to_bytes();
    lanes.iter().all(|lane| lane == &lanes[0]).then(|| lanes[0] as usize + 1)
}

fn produces(lift: &Mapping, tables: &[Table], component: usize, size: usize) -> bool {
    lift.function.results.get(component).is_some_and(|&value| produced_below(&lift.function, tables, value, size))
}

fn produced_below(function: &Function, tables: &[Table], value: Value, size: usize) -> bool {
    let below = |bytes: &[u8]| bytes.iter().all(|&byte| (byte as usize) < size);
    let part = |value: &Value| produced_below(function, tables, *value, size);
    let Some(inst) = function.inst(value) else { return false };
    let x = inst.operands();
    match (inst.opcode, inst.payload) {
        (Opcode::Const, crate::Payload::Constant(constant)) => below(&constant.to_bytes()),
        (Opcode::Table, crate::Payload::Table(table)) => {
            tables.get(table as usize).is_some_and(|table| table.ty == inst.ty && below(&table.bytes))
        }
        (Opcode::Select, _) => part(&x[1]) && part(&x[2]),
        (Opcode::Permute, _) => part(&x[0]),
        (Opcode::Min, _) => x.iter().any(part),
        (Opcode::Max, _) => x.iter().all(part),
        (Opcode::Splat | Opcode::WithLane, _) => x.iter().all(part),
        _ => false,
    }
}
