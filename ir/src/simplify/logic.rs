//! Rules for bits, truth values, comparisons and select.

use super::{Rewriter, mirrored};
use crate::function::{Inst, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

pub(super) fn rewrite(cx: &mut Rewriter, inst: &Inst) -> Option<Value> {
    match *inst.operands() {
        [a] => not(cx, a),
        [a, b] if matches!(inst.opcode, Opcode::And | Opcode::Or | Opcode::Xor) => bits(cx, inst, a, b),
        [a, b] => compare(cx, inst.opcode, a, b),
        [condition, yes, no] => select(cx, inst.ty, condition, yes, no),
        _ => None,
    }
}

fn not(cx: &mut Rewriter, a: Value) -> Option<Value> {
    if let Some(x) = cx.unary(a, Opcode::Not) {
        return Some(x);
    }
    let (negated, [x, y]) = negated(cx, a)?;
    Some(cx.op(negated, &[x, y]))
}

/// The comparison that is true where this one is false.
fn negated(cx: &Rewriter, comparison: Value) -> Option<(Opcode, [Value; 2])> {
    let inst = cx.builder.function().inst(comparison)?;
    let &[x, y] = inst.operands() else { return None };
    let negated = match inst.opcode {
        Opcode::Eq => Opcode::Ne,
        Opcode::Ne => Opcode::Eq,
        // Of a NaN both orders are false.
        _ if cx.ty(x).is_float() => return None,
        Opcode::Lt => Opcode::Ge,
        Opcode::Le => Opcode::Gt,
        Opcode::Gt => Opcode::Le,
        Opcode::Ge => Opcode::Lt,
        _ => return None,
    };
    Some((negated, [x, y]))
}

/// Whether one truth value is the other one's opposite.
fn are_opposite(cx: &Rewriter, a: Value, b: Value) -> bool {
    let is_not = |a, b| cx.unary(a, Opcode::Not) == Some(b);
    let is_negated = || negated(cx, a).is_some_and(|(opcode, [x, y])| cx.binary(b, opcode) == Some((x, y)));
    is_not(a, b) || is_not(b, a) || is_negated()
}

fn bits(cx: &mut Rewriter, inst: &Inst, a: Value, b: Value) -> Option<Value> {
    let (opcode, ty) = (inst.opcode, inst.ty);
    let (zero, ones) = (ty.zero(), Constant::new(ty, u128::MAX));
    let known = cx.known(b);
    let opposite = cx.unary(a, Opcode::Not) == Some(b) || cx.unary(b, Opcode::Not) == Some(a);
    let absorbed = |cx: &Rewriter, x: Value, other: Value, by: Opcode| {
        cx.binary(other, by).is_some_and(|(left, right)| left == x || right == x)
    };
    match opcode {
        Opcode::And | Opcode::Or => {
            let (neutral, absorbing, dual) =
                if opcode == Opcode::And { (ones, zero, Opcode::Or) } else { (zero, ones, Opcode::And) };
            if a == b || known == Some(neutral) {
                return Some(a);
            }
            if known == Some(absorbing) || opposite {
                return Some(cx.constant(absorbing));
            }
            // x & (x | y) = x, and x & (x & y) = x & y.
            if absorbed(cx, a, b, dual) || absorbed(cx, b, a, opcode) {
                return Some(a);
            }
            if absorbed(cx, b, a, dual) || absorbed(cx, a, b, opcode) {
                return Some(b);
            }
        }
        _ => {
            if a == b {
                return Some(cx.constant(zero));
            }
            if known == Some(zero) {
                return Some(a);
            }
            if known == Some(ones) {
                return Some(cx.op(Opcode::Not, &[a]));
            }
            if opposite {
                return Some(cx.constant(ones));
            }
            if let (Some(x), Some(y)) = (cx.unary(a, Opcode::Not), cx.unary(b, Opcode::Not)) {
                return Some(cx.op(Opcode::Xor, &[x, y]));
            }
        }
    }
    cx.gather_constants(inst)
}

fn compare(cx: &mut Rewriter, opcode: Opcode, a: Value, b: Value) -> Option<Value> {
    let ty = cx.ty(a);
    if a == b {
        let equal = matches!(opcode, Opcode::Eq | Opcode::Le | Opcode::Ge);
        // A NaN is not equal to itself, but never less than itself either.
        let known = !ty.is_float() || matches!(opcode, Opcode::Lt | Opcode::Gt);
        return known.then(|| cx.constant(equal));
    }
    if ty.is_float() {
        return None;
    }
    let known = cx.known(b)?;
    if ty == Type::Bool && matches!(opcode, Opcode::Eq | Opcode::Ne) {
        let same = (known.bits() != 0) == (opcode == Opcode::Eq);
        return Some(if same { a } else { cx.op(Opcode::Not, &[a]) });
    }
    match opcode {
        Opcode::Lt if known == ty.least() => Some(cx.constant(false)),
        Opcode::Ge if known == ty.least() => Some(cx.constant(true)),
        Opcode::Gt if known == ty.greatest() => Some(cx.constant(false)),
        Opcode::Le if known == ty.greatest() => Some(cx.constant(true)),
        Opcode::Eq | Opcode::Ne => against_offset(cx, opcode, a, known),
        _ => None,
    }
}

/// x + c1 == c2 as x == c2 − c1, and likewise for ^.
fn against_offset(cx: &mut Rewriter, opcode: Opcode, a: Value, known: Constant) -> Option<Value> {
    let ty = known.ty();
    if let Some((x, offset)) = cx.with_constant(a, Opcode::Xor) {
        let target = cx.constant(known);
        let target = cx.op(Opcode::Xor, &[target, offset]);
        return Some(cx.op(opcode, &[x, target]));
    }
    let (x, offset) = cx.with_constant(a, Opcode::Add).filter(|_| ty.is_int())?;
    let target = cx.constant(known);
    let target = cx.op(Opcode::Sub, &[target, offset]);
    Some(cx.op(opcode, &[x, target]))
}

fn select(cx: &mut Rewriter, ty: Type, condition: Value, yes: Value, no: Value) -> Option<Value> {
    if yes == no {
        return Some(yes);
    }
    if let Some(known) = cx.known(condition) {
        return Some(if known.bits() != 0 { yes } else { no });
    }
    if let Some(opposite) = cx.unary(condition, Opcode::Not) {
        return Some(cx.op(Opcode::Select, &[opposite, no, yes]));
    }
    // An arm that asks the same question again knows the answer.
    let known = [arm(cx, yes, condition, true, ARM_DEPTH), arm(cx, no, condition, false, ARM_DEPTH)];
    if let [Some(_), _] | [_, Some(_)] = known {
        let [yes, no] = [known[0].unwrap_or(yes), known[1].unwrap_or(no)];
        return Some(cx.op(Opcode::Select, &[condition, yes, no]));
    }
    if ty == Type::Bool {
        return select_truth(cx, condition, yes, no);
    }
    if let Some(counted) = select_counted(cx, ty, condition, yes, no) {
        return Some(counted);
    }
    select_compared(cx, ty, condition, yes, no)
}

/// How many instructions lie between a select and the question in its arm, at most.
const ARM_DEPTH: usize = 2;

/// The simpler `value` where `condition` is `truth`, if there is one: a constant, an arm of its own, or an operation with a constant.
fn arm(cx: &mut Rewriter, value: Value, condition: Value, truth: bool, depth: usize) -> Option<Value> {
    if value == condition {
        return Some(cx.constant(truth));
    }
    let inst = cx.builder.function().inst(value).copied()?;
    if inst.opcode == Opcode::Select && inst.operands()[0] == condition {
        return Some(inst.operands()[if truth { 1 } else { 2 }]);
    }
    if inst.ty == Type::Bool && are_opposite(cx, value, condition) {
        return Some(cx.constant(!truth));
    }
    let (depth, single) = (depth.checked_sub(1)?, matches!(*inst.operands(), [_]));
    if !single && !matches!(inst.opcode, Opcode::Add | Opcode::Sub | Opcode::And | Opcode::Or | Opcode::Xor) {
        return None;
    }
    let mut is_less = false;
    let operands = inst.operands().to_vec();
    let known = operands.into_iter().map(|operand| {
        let known = arm(cx, operand, condition, truth, depth).filter(|&known| cx.known(known).is_some());
        is_less |= known.is_some();
        known.unwrap_or(operand)
    });
    let known: Vec<Value> = known.collect();
    is_less.then(|| cx.push(Inst::new(inst.opcode, inst.ty, &known, inst.payload)))
}

/// A select between truth values is a formula.
fn select_truth(cx: &mut Rewriter, condition: Value, yes: Value, no: Value) -> Option<Value> {
    let truth = |value: Option<Constant>| value.map(|known| known.bits() != 0);
    let (when, otherwise) = (truth(cx.known(yes)), truth(cx.known(no)));
    if when == Some(true) || yes == condition {
        return Some(cx.op(Opcode::Or, &[condition, no]));
    }
    if otherwise == Some(false) || no == condition {
        return Some(cx.op(Opcode::And, &[condition, yes]));
    }
    if when == Some(false) {
        let opposite = cx.op(Opcode::Not, &[condition]);
        return Some(cx.op(Opcode::And, &[opposite, no]));
    }
    if otherwise == Some(true) {
        let opposite = cx.op(Opcode::Not, &[condition]);
        return Some(cx.op(Opcode::Or, &[opposite, yes]));
    }
    None
}

/// `c ? x + 1 : x` is x + c.
fn select_counted(cx: &mut Rewriter, ty: Type, condition: Value, yes: Value, no: Value) -> Option<Value> {
    let is_one_more = |more, x| {
        cx.with_constant(more, Opcode::Add)
            .is_some_and(|(a, one)| a == x && cx.known(one) == Some(Constant::new(ty, 1)))
    };
    let (x, counted) = match ty.is_int() {
        true if is_one_more(yes, no) => (no, condition),
        true if is_one_more(no, yes) => (yes, cx.op(Opcode::Not, &[condition])),
        _ => return None,
    };
    let counted = cx.cast(Opcode::Cast, ty, counted);
    Some(cx.op(Opcode::Add, &[x, counted]))
}

/// `a < b ? a : b` is a minimum, `a == b ? a : b` is b: exact for everything but floats.
fn select_compared(cx: &mut Rewriter, ty: Type, condition: Value, yes: Value, no: Value) -> Option<Value> {
    if ty.is_float() {
        return None;
    }
    for opcode in [Opcode::Eq, Opcode::Ne, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge] {
        let Some((x, y)) = cx.binary(condition, opcode) else { continue };
        let of_arms = match (x, y) {
            _ if (x, y) == (yes, no) => opcode,
            _ if (x, y) == (no, yes) => mirrored(opcode),
            _ => return None,
        };
        return match of_arms {
            Opcode::Eq => Some(no),
            Opcode::Ne => Some(yes),
            Opcode::Lt | Opcode::Le => Some(cx.op(Opcode::Min, &[yes, no])),
            _ => Some(cx.op(Opcode::Max, &[yes, no])),
        };
    }
    None
}
