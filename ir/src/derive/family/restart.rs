//! u ↦ u ⊕ k, or k where the element starts again: sums, products, minima and their like.
//!
//! ```text
//! (r, k) ⊕ (r', k') = (r | r', r' ? k' : k ⊕ k')        identity (false, e)
//! seed(u) = (true, u)
//! ```
//!
//! Where no element starts again, r is left out, and the monoid is ⊕ itself.

use super::{Domain, Effect, Family, Group, Operand};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// The operations ⊕ that are tried.
pub(super) const OPERATIONS: [Opcode; 8] =
    [Opcode::Add, Opcode::Min, Opcode::Max, Opcode::Mul, Opcode::And, Opcode::Or, Opcode::Xor, Opcode::AddSat];

/// The identity of an operation, if it is one of this type.
pub(super) fn identity(operation: Opcode, ty: Type) -> Option<Constant> {
    let largest = match ty {
        Type::F32 | Type::F64 => None,
        _ => Some(ty.greatest()),
    };
    let infinity = |sign: f64| match ty {
        Type::F32 => Constant::from((sign * f64::INFINITY) as f32),
        _ => Constant::from(sign * f64::INFINITY),
    };
    let number = ty.is_int() || ty.is_float();
    let bits = ty.is_int() || ty == Type::Bool;
    match operation {
        Opcode::Add if number => Some(ty.zero()),
        Opcode::Mul if number => Some(ty.of_i64(1)),
        Opcode::AddSat if ty.is_int() && !ty.is_signed() => Some(ty.zero()),
        Opcode::Min if number => Some(largest.unwrap_or_else(|| infinity(1.0))),
        Opcode::Max if ty.is_float() => Some(infinity(-1.0)),
        Opcode::Max if ty.is_signed() => Some(Constant::new(ty, 1 << (ty.bits() - 1))),
        Opcode::Max if number => Some(ty.zero()),
        Opcode::And if bits => Some(Constant::new(ty, ty.mask())),
        Opcode::Or | Opcode::Xor if bits => Some(ty.zero()),
        _ => None,
    }
}

struct Restart {
    operation: Opcode,
    identity: Constant,
    payload: Payload,
}

/// (Whether it starts again, k).
type Form = (Value, Value);

impl Restart {
    fn join(&self, code: &mut Code<'_>, a: Value, b: Value) -> Value {
        let identity = |code: &Code<'_>, value| code.constant_of(value) == Some(self.identity);
        match () {
            _ if identity(code, a) => b,
            _ if identity(code, b) => a,
            _ => code.push(Inst::new(self.operation, code.ty(a), &[a, b], self.payload)),
        }
    }
}

impl Domain for Restart {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        Ok((code.constant(true), value))
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Form {
        (code.constant(false), code.constant(self.identity))
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        Ok((code.select(condition, yes.0, no.0), code.select(condition, yes.1, no.1)))
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        let [first, second] = x else { return Err(Leave) };
        let reversed = match (self.operation, inst.opcode) {
            (Opcode::Add, Opcode::Sub) => Some(Opcode::Sub),
            (Opcode::Mul, Opcode::Div) if inst.ty.is_float() => Some(Opcode::Div),
            _ => None,
        };
        if let (Some(opcode), Operand::Form(form), Operand::Known(k)) = (reversed, first, second) {
            let (restarts, value) = (*form)?;
            let value = match code.constant_of(value) == Some(self.identity) && opcode == Opcode::Sub {
                true => code.unary(Opcode::Neg, *k),
                false => code.push(Inst::new(opcode, inst.ty, &[value, *k], inst.payload)),
            };
            return Ok((restarts, value));
        }
        if inst.opcode != self.operation {
            return Err(Leave);
        }
        match (first, second) {
            (Operand::Form(form), Operand::Known(k)) | (Operand::Known(k), Operand::Form(form)) => {
                let (restarts, value) = (*form)?;
                Ok((restarts, self.join(code, value, *k)))
            }
            // u & (u & k) is u & k, and likewise for all operations that are idempotent.
            (Operand::Form(a), Operand::Form(b)) if is_idempotent(self.operation) => {
                let ((r, a), (s, b)) = ((*a)?, (*b)?);
                if code.constant_of(r) != code.constant_of(s) || code.constant_of(r).is_none() {
                    return Err(Leave);
                }
                Ok((r, self.join(code, a, b)))
            }
            _ => Err(Leave),
        }
    }
}

fn is_idempotent(operation: Opcode) -> bool {
    matches!(operation, Opcode::Min | Opcode::Max | Opcode::And | Opcode::Or)
}

/// The group as u ⊕ k, maybe starting again.
pub(super) fn recognise(group: &mut Group<'_, '_>, operation: Opcode) -> Result<Effect, Leave> {
    let place = group.single()?;
    let (ty, initial) = (group.types[place], group.initial[place]);
    let Some(identity) = identity(operation, ty) else { return Err(Leave) };
    // Minima and maxima drop NaN, so it is an identity too; where the loop starts from it, infinity would take its place.
    let identity = if initial.is_nan() && is_idempotent(operation) { initial } else { identity };
    // Sums and products of integers are exact modulo 2^k whatever overflows on the way.
    let exact = ty.is_int() && matches!(operation, Opcode::Add | Opcode::Mul);
    let payload = if exact { Payload::Wraps } else { Payload::None };
    let domain = Restart { operation, identity, payload };
    let (restarts, k) = group.forms(&domain)?[0];
    let never = group.code.constant_of(restarts).is_some_and(|known| known.bits() == 0);
    let mut b = FunctionBuilder::new();
    let join = |b: &mut FunctionBuilder, x, y| b.push(Inst::new(operation, ty, &[x, y], payload));
    if never {
        let (x, y) = (b.param(ty), b.param(ty));
        let both = join(&mut b, x, y);
        let mut same = FunctionBuilder::new();
        let u = same.param(ty);
        let same = same.finish(&[u]);
        return Ok(Effect {
            family: Family::Accumulate { operation, restarts: false },
            types: vec![ty],
            identity: vec![identity],
            lift: vec![k],
            combine: b.finish(&[both]),
            seed: same.clone(),
            value: same,
            valid: None,
            tables: Vec::new(),
        });
    }
    let types = [Type::Bool, ty];
    let (earlier, later) = (b.params(&types), b.params(&types));
    let both = join(&mut b, earlier[1], later[1]);
    let results = [b.binary(Opcode::Or, earlier[0], later[0]), b.select(later[0], later[1], both)];
    Ok(Effect {
        family: Family::Accumulate { operation, restarts: true },
        types: types.to_vec(),
        identity: vec![Constant::from(false), identity],
        lift: vec![restarts, k],
        combine: b.finish(&results),
        seed: super::seeded(&[ty], |b, u| vec![b.lit(true), u[0]]),
        value: super::seeded(&types, |_, state| vec![state[1]]),
        valid: None,
        tables: Vec::new(),
    })
}
