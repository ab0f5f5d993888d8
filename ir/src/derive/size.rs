//! How large a number of a step can be: an interval of floats, from the code that computes it.
//!
//! Factors under bounds must be at most 1 in size. Products of larger ones grow along a stretch of
//! records, whose bounds the loop meets and the products do not. They leave the type where the loop
//! stays within its bounds, and infinity times a state of 0 is no number.
//!
//! Ends are rounded as the code rounds, so intervals are those of the code: rounding is monotonic.
//! Minima and maxima drop NaN, and no comparison with it holds. So it counts whether a value may be
//! NaN.

use super::code::Code;
use crate::function::{Inst, Value};
use crate::opcode::Opcode;
use crate::types::Type;

/// All that a value can be.
#[derive(Clone, Copy)]
struct Interval {
    low: f64,
    high: f64,
    /// Whether it may be NaN besides.
    nan: bool,
}

const ANY: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

/// Whether a float is from -1 to 1, whatever the element is, unless it is NaN. Takes time linear in the code before it, and as much
/// of the fuel; none is left for a yes.
pub(super) fn is_at_most_one(code: &Code<'_>, value: Value) -> bool {
    code.fuel.spend(value.index());
    if code.fuel.is_spent() {
        return false;
    }
    let mut known: Vec<Interval> = Vec::with_capacity(value.index() + 1);
    for place in 0..=value.index() {
        let found = of(code, Value::new(place), &known);
        known.push(found);
    }
    let Interval { low, high, .. } = known[value.index()];
    -1.0 <= low && high <= 1.0
}

/// The interval of a value, if those before it are known.
fn of(code: &Code<'_>, value: Value, known: &[Interval]) -> Interval {
    let ty = code.ty(value);
    if !ty.is_float() {
        return ANY;
    }
    if let Some(constant) = code.constant_of(value) {
        let number = constant.as_f64();
        return if number.is_nan() { ANY } else { Interval { low: number, high: number, nan: false } };
    }
    let Some(inst) = code.inst(value) else { return ANY };
    let at = |operand: Value| known[operand.index()];
    let operands: Vec<Interval> = inst.operands().iter().map(|&operand| at(operand)).collect();
    match (inst.opcode, &operands[..]) {
        (Opcode::Neg, &[a]) => negated(a),
        (Opcode::Abs, &[a]) => Interval { low: a.low.max(-a.high).max(0.0), high: a.high.max(-a.low), ..a },
        (Opcode::Min, &[a, b]) => least(a, b),
        (Opcode::Max, &[a, b]) => negated(least(negated(a), negated(b))),
        (Opcode::Select, &[_, a, b]) => {
            let &[condition, yes, no] = inst.operands() else { unreachable!("a select has three operands") };
            let test = code.inst(condition);
            let (a, b) = (within(yes, a, (test, true), known), within(no, b, (test, false), known));
            Interval { low: a.low.min(b.low), high: a.high.max(b.high), nan: a.nan || b.nan }
        }
        (Opcode::Add, &[a, b]) => rounded(ty, (a, b), [a.low + b.low, a.high + b.high]),
        (Opcode::Sub, &[a, b]) => rounded(ty, (a, b), [a.low - b.high, a.high - b.low]),
        (Opcode::Mul, &[a, b]) => rounded(ty, (a, b), [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]),
        (Opcode::Div, &[a, b]) if b.low > 0.0 || b.high < 0.0 => {
            rounded(ty, (a, b), [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high])
        }
        _ => ANY,
    }
}

fn negated(a: Interval) -> Interval {
    Interval { low: -a.high, high: -a.low, ..a }
}

/// A minimum, which is the other operand where one is NaN.
fn least(a: Interval, b: Interval) -> Interval {
    let high = match (a.nan, b.nan) {
        (false, false) => a.high.min(b.high),
        (true, false) => b.high,
        (false, true) => a.high,
        (true, true) => a.high.max(b.high),
    };
    Interval { low: a.low.min(b.low), high, nan: a.nan && b.nan }
}

/// An arm of a select, which is taken where a comparison holds or does not: `if k < 0 { 0 } else { k }`.
fn within(arm: Value, own: Interval, (test, holds): (Option<Inst>, bool), known: &[Interval]) -> Interval {
    let Some(test) = test else { return own };
    let (less, more) = match (test.opcode, test.operands(), holds) {
        (Opcode::Lt | Opcode::Le, &[a, b], true) | (Opcode::Gt | Opcode::Ge, &[a, b], false) => (a, b),
        (Opcode::Lt | Opcode::Le, &[a, b], false) | (Opcode::Gt | Opcode::Ge, &[a, b], true) => (b, a),
        _ => return own,
    };
    // Where it does not hold, either may be NaN instead; the arm's own NaN stays.
    let says = |other: Value| Some(known[other.index()]).filter(|other| holds || !other.nan);
    match () {
        _ if arm == less => says(more).map_or(own, |more| Interval { high: own.high.min(more.high), ..own }),
        _ if arm == more => says(less).map_or(own, |less| Interval { low: own.low.max(less.low), ..own }),
        _ => own,
    }
}

/// The least and the largest of these, as the type rounds them; any number where one is none.
fn rounded<const N: usize>(ty: Type, (a, b): (Interval, Interval), ends: [f64; N]) -> Interval {
    let ends = if ty == Type::F32 { ends.map(|end| f64::from(end as f32)) } else { ends };
    if ends.iter().any(|end| end.is_nan()) {
        return ANY;
    }
    let is_finite = [a.low, a.high, b.low, b.high].iter().all(|end| end.is_finite());
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Interval { low, high, nan: a.nan || b.nan || !is_finite }
}
