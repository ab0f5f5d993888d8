//! Rules for arithmetic, shifts and the functions of one number.

use super::Rewriter;
use crate::function::{Inst, Value};
use crate::opcode::{Opcode, Rule};
use crate::types::{Constant, Type};

pub(super) fn rewrite(cx: &mut Rewriter, inst: &Inst) -> Option<Value> {
    match (inst.opcode.rule(), inst.operands()) {
        (Rule::Shift, &[a, amount]) => shift(cx, inst, a, amount),
        (Rule::Unary(_), &[a]) => unary(cx, inst.opcode, a),
        (Rule::Binary(_), &[a, b]) if inst.ty.is_float() => float(cx, inst, a, b),
        (Rule::Binary(_), &[a, b]) => integer(cx, inst, a, b),
        (Rule::Ternary(_), &[a, b, c]) => mul_add(cx, a, b, c),
        _ => None,
    }
}

fn unary(cx: &mut Rewriter, opcode: Opcode, a: Value) -> Option<Value> {
    let roundings = [Opcode::Floor, Opcode::Ceil, Opcode::Trunc, Opcode::RoundEven];
    match opcode {
        Opcode::Neg => {
            if let Some(x) = cx.unary(a, Opcode::Neg) {
                return Some(x);
            }
            // −(x − y) = y − x, but not for floats: of equal numbers both differences are +0.
            let (x, y) = cx.binary(a, Opcode::Sub).filter(|_| !cx.ty(a).is_float())?;
            Some(cx.op(Opcode::Sub, &[y, x]))
        }
        Opcode::Abs if cx.ty(a).is_int() && !cx.ty(a).is_signed() => Some(a),
        Opcode::Abs if cx.unary(a, Opcode::Abs).is_some() => Some(a),
        Opcode::Abs => {
            let x = cx.unary(a, Opcode::Neg)?;
            Some(cx.op(Opcode::Abs, &[x]))
        }
        Opcode::SwapBytes if cx.ty(a).size() == 1 => Some(a),
        Opcode::SwapBytes | Opcode::ReverseBits => cx.unary(a, opcode),
        // What one rounding gave is an integer, and the others keep integers.
        _ if roundings.contains(&opcode) => roundings.iter().any(|&done| cx.unary(a, done).is_some()).then_some(a),
        _ => None,
    }
}

fn integer(cx: &mut Rewriter, inst: &Inst, a: Value, b: Value) -> Option<Value> {
    let (opcode, ty) = (inst.opcode, inst.ty);
    let zero = ty.zero();
    let known = cx.known(b);
    let is = |constant: Constant| known == Some(constant);
    let one = Constant::new(ty, 1);
    match opcode {
        Opcode::Add if is(zero) => Some(a),
        Opcode::Add => match (cx.unary(b, Opcode::Neg), cx.unary(a, Opcode::Neg)) {
            (Some(y), _) => Some(cx.op(Opcode::Sub, &[a, y])),
            (_, Some(x)) => Some(cx.op(Opcode::Sub, &[b, x])),
            _ => cx.gather_constants(inst),
        },
        Opcode::Sub if a == b => Some(cx.constant(zero)),
        Opcode::Sub if known.is_some() => {
            let none = cx.constant(zero);
            let minus = cx.op(Opcode::Sub, &[none, b]);
            Some(cx.op(Opcode::Add, &[a, minus]))
        }
        Opcode::Sub if cx.known(a) == Some(zero) && ty.is_int() => Some(cx.op(Opcode::Neg, &[b])),
        Opcode::Sub => cancelled(cx, a, b),
        Opcode::Mul if is(zero) => Some(b),
        Opcode::Mul if is(one) => Some(a),
        Opcode::Mul if is(Constant::new(ty, u128::MAX)) => Some(cx.op(Opcode::Neg, &[a])),
        Opcode::Mul => match (cx.unary(a, Opcode::Neg), cx.unary(b, Opcode::Neg)) {
            (Some(x), Some(y)) => Some(cx.op(Opcode::Mul, &[x, y])),
            _ => cx.gather_constants(inst),
        },
        Opcode::Div | Opcode::Rem => divide(cx, inst, a, b),
        Opcode::Min | Opcode::Max if a == b => Some(a),
        Opcode::Min if is(ty.greatest()) => Some(a),
        Opcode::Max if is(ty.least()) => Some(a),
        Opcode::Min if is(ty.least()) => Some(b),
        Opcode::Max if is(ty.greatest()) => Some(b),
        Opcode::Min | Opcode::Max => cx.gather_constants(inst),
        Opcode::AddSat | Opcode::SubSat if is(zero) => Some(a),
        Opcode::SubSat if a == b => Some(cx.constant(zero)),
        Opcode::MulHigh if is(zero) => Some(b),
        _ => None,
    }
}

/// Differences whose terms meet: (x + y) − x, x − (x + y), x − (−y).
fn cancelled(cx: &mut Rewriter, a: Value, b: Value) -> Option<Value> {
    if let Some((x, y)) = cx.binary(a, Opcode::Add) {
        if y == b {
            return Some(x);
        }
        if x == b {
            return Some(y);
        }
    }
    if let Some((x, y)) = cx.binary(b, Opcode::Add).filter(|_| cx.ty(a).is_int()) {
        if x == a {
            return Some(cx.op(Opcode::Neg, &[y]));
        }
        if y == a {
            return Some(cx.op(Opcode::Neg, &[x]));
        }
    }
    let y = cx.unary(b, Opcode::Neg)?;
    Some(cx.op(Opcode::Add, &[a, y]))
}

fn divide(cx: &mut Rewriter, inst: &Inst, a: Value, b: Value) -> Option<Value> {
    let (ty, divides) = (inst.ty, inst.opcode == Opcode::Div);
    if cx.known(a) == Some(ty.zero()) {
        return Some(a);
    }
    let divisor = cx.known(b)?.bits();
    match divisor {
        0 => Some(if divides { b } else { a }),
        1 => Some(if divides { a } else { cx.constant(ty.zero()) }),
        _ if ty.is_signed() || !divisor.is_power_of_two() => None,
        _ if divides => {
            let amount = cx.constant(divisor.trailing_zeros());
            Some(cx.op(Opcode::Shr, &[a, amount]))
        }
        _ => {
            let mask = cx.constant(Constant::new(ty, divisor - 1));
            Some(cx.op(Opcode::And, &[a, mask]))
        }
    }
}

fn shift(cx: &mut Rewriter, inst: &Inst, a: Value, amount: Value) -> Option<Value> {
    if cx.known(a) == Some(inst.ty.zero()) {
        return Some(a);
    }
    let written = cx.known(amount)?.bits() as u32;
    let masked = written % inst.ty.bits();
    if masked == 0 {
        return Some(a);
    }
    if masked != written {
        let amount = cx.constant(masked);
        return Some(cx.op(inst.opcode, &[a, amount]));
    }
    None
}

/// Rules that hold for floats whatever the operands: zeros keep their signs, infinities and NaN pass through.
fn float(cx: &mut Rewriter, inst: &Inst, a: Value, b: Value) -> Option<Value> {
    let ty = inst.ty;
    let known = cx.known(b);
    let is = |value: f64| known == Some(float_constant(ty, value));
    match inst.opcode {
        Opcode::Add if is(-0.0) => Some(a),
        Opcode::Sub if is(0.0) => Some(a),
        Opcode::Add => match (cx.unary(b, Opcode::Neg), cx.unary(a, Opcode::Neg)) {
            (Some(y), _) => Some(cx.op(Opcode::Sub, &[a, y])),
            (_, Some(x)) => Some(cx.op(Opcode::Sub, &[b, x])),
            _ => None,
        },
        Opcode::Sub if cx.known(a) == Some(float_constant(ty, -0.0)) => Some(cx.op(Opcode::Neg, &[b])),
        Opcode::Sub => {
            let y = cx.unary(b, Opcode::Neg)?;
            Some(cx.op(Opcode::Add, &[a, y]))
        }
        Opcode::Mul | Opcode::Div if is(1.0) => Some(a),
        Opcode::Mul | Opcode::Div if is(-1.0) => Some(cx.op(Opcode::Neg, &[a])),
        Opcode::Div if known.is_some() => {
            let reciprocal = exact_reciprocal(known?)?;
            let factor = cx.constant(reciprocal);
            Some(cx.op(Opcode::Mul, &[a, factor]))
        }
        Opcode::Mul | Opcode::Div => {
            let (x, y) = (cx.unary(a, Opcode::Neg)?, cx.unary(b, Opcode::Neg)?);
            Some(cx.op(inst.opcode, &[x, y]))
        }
        Opcode::Min | Opcode::Max if a == b => Some(a),
        Opcode::CopySign => {
            let negative = cx.known(b)?.bits() >> (ty.bits() - 1) != 0;
            let magnitude = cx.op(Opcode::Abs, &[a]);
            Some(if negative { cx.op(Opcode::Neg, &[magnitude]) } else { magnitude })
        }
        _ => None,
    }
}

fn mul_add(cx: &mut Rewriter, a: Value, b: Value, c: Value) -> Option<Value> {
    let ty = cx.ty(a);
    let (factor, addend) = (cx.known(b), cx.known(c));
    if factor == Some(float_constant(ty, 1.0)) {
        return Some(cx.op(Opcode::Add, &[a, c]));
    }
    if factor == Some(float_constant(ty, -1.0)) {
        return Some(cx.op(Opcode::Sub, &[c, a]));
    }
    // Adding −0 changes no product, not even a zero one.
    (addend == Some(float_constant(ty, -0.0))).then(|| cx.op(Opcode::Mul, &[a, b]))
}

/// The float `value` in type `ty`, for values that both float types have.
fn float_constant(ty: Type, value: f64) -> Constant {
    if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) }
}

/// 1 / c, if c is a power of two and its reciprocal a normal number: then x / c and x · (1 / c) round the same number.
fn exact_reciprocal(c: Constant) -> Option<Constant> {
    let exact = match c.ty() {
        Type::F32 => {
            let c = c.as_f64() as f32;
            c.is_normal() && c.to_bits() << 9 == 0 && c.recip().is_normal()
        }
        _ => {
            let c = c.as_f64();
            c.is_normal() && c.to_bits() << 12 == 0 && c.recip().is_normal()
        }
    };
    exact.then(|| float_constant(c.ty(), c.as_f64().recip()))
}
