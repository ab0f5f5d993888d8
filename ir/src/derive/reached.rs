//! States that the loop does not reach: a count that starts at 0 and falls only where it is above 0
//! is never below.
//!
//! Intervals of the components that hold the initial state, and that the step leads into
//! themselves, hold whatever is reached. So the step may be any other outside of them. Of a count
//! `if s > 0 { s - 1 } else { s }` is `max(s, 1) - 1`, and of any number it is no maximum.

use super::Flat;
use super::code::Code;
use super::within::narrowed;
use crate::FunctionBuilder;
use crate::facts::Range;
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

/// Rounds after which there are no such intervals.
const ROUNDS: usize = 24;
/// Rounds in which an end moves by what the step adds, before it moves to the next constant of the step.
const SLOW_ROUNDS: usize = 2;
/// Most choices of a next value that are followed.
const CHOICES: usize = 64;

/// The loop with intervals of the components; where it stays within those too, without the ends that no test is next to.
pub(super) fn within_reach(flat: &Flat, tables: &[Table], members: &[usize]) -> Option<Flat> {
    let (code, next) = flat.code(tables);
    let tests = tested(&code.extract(&next), members);
    if tests.is_empty() || flat.rewritten.contains(&REWRITTEN) {
        return None;
    }
    let reached = reached(&code, flat, &next, members)?;
    let mut wider = reached.clone();
    for &member in members {
        let (whole, Range { min, max }) = (Range::full(flat.step.params[member]), reached[member]);
        let is_tested = |end: i128| tests.iter().any(|&(of, k)| of == member && (k - end).abs() <= 1);
        let (min, max) = (if is_tested(min) { min } else { whole.min }, if is_tested(max) { max } else { whole.max });
        wider[member] = Range { min, max };
    }
    // The step has to stay within, from wherever a caller may start.
    let stays = members.iter().all(|&member| {
        let to = Reach { code: &code, params: &wider, choices: CHOICES }.of(next[member], &mut Vec::new());
        to.is_none_or(|to| wider[member].contains(to))
    });
    let known = if stays { wider } else { reached };
    let ranges = members.iter().map(|&member| (member, known[member]));
    let ranges: Vec<(usize, Range)> =
        ranges.filter(|(member, range)| *range != Range::full(flat.step.params[*member])).collect();
    if ranges.is_empty() {
        return None;
    }
    // A state that is not reached has the seed of another one, so that it is found to be none.
    let mut b = FunctionBuilder::new();
    let own = b.params(&flat.extend.params);
    let mut all = b.inline(&flat.extend, &own);
    for &(member, range) in &ranges {
        let [least, most] = constants(range, flat.step.params[member]).map(|end| b.constant(end));
        let raised = b.binary(Opcode::Max, all[member], least);
        all[member] = b.binary(Opcode::Min, raised, most);
    }
    Some(Flat {
        extend: b.finish(&all),
        ranges,
        rewritten: [&flat.rewritten[..], &[REWRITTEN]].concat(),
        ..flat.clone()
    })
}

fn constants(range: Range, ty: Type) -> [Constant; 2] {
    [range.min, range.max].map(|end| Constant::new(ty, end as u128))
}

/// The parameters of the step, each within what is reached.
pub(super) fn reached_parameters(code: &mut Code<'_>, flat: &Flat) -> Vec<Value> {
    let mut params: Vec<Value> = (0..flat.step.params.len()).map(Value::new).collect();
    for &(member, range) in &flat.ranges {
        let [least, most] = constants(range, flat.step.params[member]).map(|end| code.constant(end));
        let raised = code.binary(Opcode::Max, params[member], least);
        params[member] = code.binary(Opcode::Min, raised, most);
    }
    params
}

const REWRITTEN: &str = "a test of what is reached alone";

/// Comparisons of a component with a constant.
fn tested(step: &Function, members: &[usize]) -> Vec<(usize, i128)> {
    let compared = |inst: &Inst| {
        use Opcode::{Eq, Ge, Gt, Le, Lt, Ne};
        let &[x, k] = inst.operands() else { return None };
        let k = step.as_constant(k).filter(|k| k.ty().is_int() && members.contains(&x.index()))?;
        matches!(inst.opcode, Eq | Ne | Lt | Le | Gt | Ge).then_some((x.index(), k.as_int()))
    };
    step.insts.iter().filter_map(compared).collect()
}

/// Intervals of all parameters that hold what is reached: for the integers among the members as the step leads them, for others
/// the whole type.
fn reached(code: &Code<'_>, flat: &Flat, next: &[Value], members: &[usize]) -> Option<Vec<Range>> {
    let ends = ends(&code.extract(next));
    let mut known: Vec<Range> = flat.step.params.iter().map(|&ty| Range::full(ty)).collect();
    let integers = members.iter().copied().filter(|&member| flat.step.params[member].is_int());
    let integers: Vec<usize> = integers.collect();
    integers.iter().for_each(|&member| known[member] = Range::of(flat.initial[member]));
    for round in 0..ROUNDS {
        let mut grown = known.clone();
        for &member in &integers {
            let mut reach = Reach { code, params: &known, choices: CHOICES };
            let Some(to) = reach.of(next[member], &mut Vec::new()) else { continue };
            let joined = known[member].join(to);
            grown[member] = match round < SLOW_ROUNDS {
                true => joined,
                false => widened(known[member], joined, flat.step.params[member], &ends),
            };
        }
        if grown == known {
            return Some(known);
        }
        known = grown;
    }
    None
}

/// Where an end may stop: at the integers of the step, and next to them.
fn ends(step: &Function) -> Vec<i128> {
    let constants = step.insts.iter().filter_map(Inst::as_constant).filter(|constant| constant.ty().is_int());
    let mut ends: Vec<i128> = constants.flat_map(|constant| [-1, 0, 1].map(|by| constant.as_int() + by)).collect();
    ends.sort_unstable();
    ends
}

/// An interval with the ends that moved at the next place where one may stop.
fn widened(known: Range, grown: Range, ty: Type, ends: &[i128]) -> Range {
    let whole = Range::full(ty);
    let below = || ends.iter().rev().copied().find(|&end| end <= grown.min).unwrap_or(whole.min).max(whole.min);
    let above = || ends.iter().copied().find(|&end| end >= grown.max).unwrap_or(whole.max).min(whole.max);
    Range {
        min: if grown.min < known.min { below() } else { known.min },
        max: if grown.max > known.max { above() } else { known.max },
    }
}

struct Reach<'a, 't> {
    code: &'a Code<'t>,
    params: &'a [Range],
    choices: usize,
}

impl Reach<'_, '_> {
    /// The interval of a value under these conditions; none where they do not hold together.
    fn of(&mut self, value: Value, assumed: &mut Vec<(Value, bool)>) -> Option<Range> {
        let params = narrowed(self.code, self.params, assumed)?;
        let choice = self.code.inst(value).filter(|inst| inst.opcode == Opcode::Select && self.choices > 0);
        let Some(&[condition, yes, no]) = choice.as_ref().map(|inst| inst.operands()) else {
            return Some(self.code.range_from(value, &params));
        };
        self.choices -= 1;
        let mut arm = |arm: Value, holds: bool| {
            assumed.push((condition, holds));
            let range = self.of(arm, assumed);
            assumed.pop();
            range
        };
        match (arm(yes, true), arm(no, false)) {
            (Some(yes), Some(no)) => Some(yes.join(no)),
            (yes, no) => yes.or(no),
        }
    }
}
