//! How large a number of a step can be: an interval of floats, from the code that computes it.
//!
//! Factors under bounds must be at most 1 in size. Products of larger ones grow along a stretch of
//! records, whose bounds the loop meets and the products do not. They leave the type where the loop
//! stays within its bounds, and infinity times a state of 0 is no number.

use rustc_hash::FxHashMap;

use super::code::Code;
use crate::function::Value;
use crate::opcode::Opcode;

/// From the least to the largest number.
type Interval = (f64, f64);

const ANY: Interval = (f64::NEG_INFINITY, f64::INFINITY);

/// Whether a float is from -1 to 1, whatever the element is, unless it is NaN. Takes time linear in the code.
pub(super) fn is_at_most_one(code: &Code<'_>, value: Value) -> bool {
    let (low, high) = interval(code, value, &mut FxHashMap::default());
    -1.0 <= low && high <= 1.0
}

fn interval(code: &Code<'_>, value: Value, known: &mut FxHashMap<Value, Interval>) -> Interval {
    if let Some(&found) = known.get(&value) {
        return found;
    }
    let found = computed(code, value, known);
    known.insert(value, found);
    found
}

fn computed(code: &Code<'_>, value: Value, known: &mut FxHashMap<Value, Interval>) -> Interval {
    if !code.ty(value).is_float() {
        return ANY;
    }
    if let Some(constant) = code.constant_of(value) {
        return (constant.as_f64(), constant.as_f64());
    }
    let Some(inst) = code.inst(value) else { return ANY };
    let operands: Vec<Interval> = inst.operands().iter().map(|&operand| interval(code, operand, known)).collect();
    match (inst.opcode, &operands[..]) {
        (Opcode::Neg, &[(low, high)]) => (-high, -low),
        (Opcode::Abs, &[(low, high)]) => (low.max(-high).max(0.0), high.max(-low)),
        (Opcode::Min, &[a, b]) => (a.0.min(b.0), a.1.min(b.1)),
        (Opcode::Max, &[a, b]) => (a.0.max(b.0), a.1.max(b.1)),
        (Opcode::Select, &[_, a, b]) => {
            let &[condition, yes, no] = inst.operands() else { unreachable!("a select has three operands") };
            let (a, b) =
                (within(code, yes, a, (condition, true), known), within(code, no, b, (condition, false), known));
            (a.0.min(b.0), a.1.max(b.1))
        }
        (Opcode::Add, &[a, b]) => ordered([a.0 + b.0, a.1 + b.1]),
        (Opcode::Sub, &[a, b]) => ordered([a.0 - b.1, a.1 - b.0]),
        (Opcode::Mul, &[a, b]) => ordered([a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1]),
        (Opcode::Div, &[a, b]) if b.0 > 0.0 || b.1 < 0.0 => ordered([a.0 / b.0, a.0 / b.1, a.1 / b.0, a.1 / b.1]),
        _ => ANY,
    }
}

/// The interval of an arm of a select, which is taken where the condition holds or does not: `if k < 0 { 0 } else { k }`.
fn within(
    code: &Code<'_>,
    arm: Value,
    (low, high): Interval,
    (condition, holds): (Value, bool),
    known: &mut FxHashMap<Value, Interval>,
) -> Interval {
    let Some(test) = code.inst(condition) else { return (low, high) };
    let (less, more) = match (test.opcode, test.operands(), holds) {
        (Opcode::Lt | Opcode::Le, &[a, b], true) | (Opcode::Gt | Opcode::Ge, &[a, b], false) => (a, b),
        (Opcode::Lt | Opcode::Le, &[a, b], false) | (Opcode::Gt | Opcode::Ge, &[a, b], true) => (b, a),
        _ => return (low, high),
    };
    match () {
        _ if arm == less => (low, high.min(interval(code, more, known).1)),
        _ if arm == more => (low.max(interval(code, less, known).0), high),
        _ => (low, high),
    }
}

/// The least and the largest of these, any number where one is none.
fn ordered<const N: usize>(ends: [f64; N]) -> Interval {
    match ends.iter().any(|end| end.is_nan()) {
        true => ANY,
        false => {
            ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &end| (low.min(end), high.max(end)))
        }
    }
}
