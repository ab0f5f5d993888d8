//! u ↦ (u & a) ^ b, bit by bit: whatever `and`, `or`, `xor` and `not` with known masks do.
//!
//! ```text
//! (a, b) ⊕ (c, d) = (a & c, (b & c) ^ d)        identity (ones, 0)        seed(u) = (0, u)
//! ```

use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Inst, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

struct Bits {
    ty: Type,
}

/// (a, b)
type Form = (Value, Value);

impl Domain for Bits {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        Ok((code.constant(self.ty.zero()), value))
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Form {
        (code.constant(Constant::new(self.ty, u128::MAX)), code.constant(self.ty.zero()))
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        Ok((code.select(condition, yes.0, no.0), code.select(condition, yes.1, no.1)))
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        if inst.ty != self.ty || inst.operands().iter().any(|&operand| code.ty(operand) != self.ty) {
            return Err(Leave);
        }
        let (form, k) = match x {
            [form] => (form.form()?, None),
            [Operand::Form(form), Operand::Known(k)] | [Operand::Known(k), Operand::Form(form)] => ((*form)?, Some(*k)),
            // (u & a) ^ b of two forms: their sum modulo 2 is one too, and so are products with equal parts of u.
            [Operand::Form(first), Operand::Form(second)] => {
                let ((a, b), (c, d)) = ((*first)?, (*second)?);
                return match inst.opcode {
                    Opcode::Xor => Ok((code.binary(Opcode::Xor, a, c), code.binary(Opcode::Xor, b, d))),
                    Opcode::And => Ok(product(code, (a, b), (c, d))),
                    Opcode::Or => {
                        let both = product(code, (a, b), (c, d));
                        let either = (code.binary(Opcode::Xor, a, c), code.binary(Opcode::Xor, b, d));
                        Ok((code.binary(Opcode::Xor, either.0, both.0), code.binary(Opcode::Xor, either.1, both.1)))
                    }
                    _ => Err(Leave),
                };
            }
            _ => return Err(Leave),
        };
        let (a, b) = form;
        match (inst.opcode, k) {
            (Opcode::Not, None) => Ok((a, code.unary(Opcode::Not, b))),
            (Opcode::Xor | Opcode::Ne, Some(k)) => Ok((a, code.binary(Opcode::Xor, b, k))),
            (Opcode::Eq, Some(k)) if self.ty == Type::Bool => {
                let k = code.unary(Opcode::Not, k);
                Ok((a, code.binary(Opcode::Xor, b, k)))
            }
            (Opcode::And, Some(k)) => Ok((code.binary(Opcode::And, a, k), code.binary(Opcode::And, b, k))),
            (Opcode::Or, Some(k)) => {
                let rest = code.unary(Opcode::Not, k);
                let kept = code.binary(Opcode::And, b, rest);
                Ok((code.binary(Opcode::And, a, rest), code.binary(Opcode::Xor, kept, k)))
            }
            _ => Err(Leave),
        }
    }
}

/// ((u & a) ^ b) & ((u & c) ^ d) = u & ((a & c) ^ (a & d) ^ (b & c)) ^ (b & d).
fn product(code: &mut Code<'_>, (a, b): Form, (c, d): Form) -> Form {
    let [ac, ad, bc] = [(a, c), (a, d), (b, c)].map(|(x, y)| code.binary(Opcode::And, x, y));
    let sum = code.binary(Opcode::Xor, ac, ad);
    (code.binary(Opcode::Xor, sum, bc), code.binary(Opcode::And, b, d))
}

/// The group as one word of bits.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let ty = group.types[group.single()?];
    if ty != Type::Bool && !ty.is_int() {
        return Err(Leave);
    }
    let (a, b) = group.forms(&Bits { ty })?[0];
    let mut build = FunctionBuilder::new();
    let (earlier, later) = (build.params(&[ty, ty]), build.params(&[ty, ty]));
    let kept = build.binary(Opcode::And, earlier[1], later[0]);
    let results = [build.binary(Opcode::And, earlier[0], later[0]), build.binary(Opcode::Xor, kept, later[1])];
    Ok(Effect {
        family: Family::Bits,
        types: vec![ty, ty],
        identity: vec![Constant::new(ty, u128::MAX), ty.zero()],
        lift: vec![a, b],
        combine: build.finish(&results),
        seed: seeded(&[ty], |b, u| vec![b.constant(ty.zero()), u[0]]),
        value: seeded(&[ty, ty], |_, state| vec![state[1]]),
        valid: None,
        tables: Vec::new(),
    })
}
