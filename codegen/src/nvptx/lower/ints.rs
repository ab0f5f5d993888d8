//! Integers and `bool`: arithmetic, bits, shifts and counts.
//!
//! LLVM's instructions, with guards around division and masked shift amounts.

use monoscan_ir::{Inst, Opcode, Type};

use super::{Lowering, casts};
use crate::nvptx::emit::{Ty, Value};

impl<'k> Lowering<'_, 'k> {
    pub(super) fn integer(&self, inst: &Inst, ty: Type, args: &[Value<'k>]) -> Option<Value<'k>> {
        let signed = ty.is_signed();
        let by_sign = |if_signed, if_not| if signed { if_signed } else { if_not };
        Some(match (inst.opcode, args) {
            (Opcode::And, &[a, b]) => a & b,
            (Opcode::Or, &[a, b]) => a | b,
            (Opcode::Xor, &[a, b]) => a ^ b,
            (Opcode::Not, &[a]) => !a,
            _ if ty == Type::Bool => return None,
            (Opcode::Add, &[a, b]) => a + b,
            (Opcode::Sub, &[a, b]) => a - b,
            (Opcode::Mul, &[a, b]) => a * b,
            (Opcode::Neg, &[a]) => a.same(0) - a,
            (Opcode::Abs, &[a]) if signed => a.math("abs", &[self.k.bool(false)]),
            (Opcode::Abs, &[a]) => a,
            (Opcode::Min, &[a, b]) => a.math(by_sign("smin", "umin"), &[b]),
            (Opcode::Max, &[a, b]) => a.math(by_sign("smax", "umax"), &[b]),
            (Opcode::AddSat, &[a, b]) => a.math(by_sign("sadd.sat", "uadd.sat"), &[b]),
            (Opcode::SubSat, &[a, b]) => a.math(by_sign("ssub.sat", "usub.sat"), &[b]),
            (Opcode::Div | Opcode::Rem, &[a, b]) => self.divide(inst, ty, a, b),
            (Opcode::MulHigh, &[a, b]) => multiply_high(ty, a, b),
            (Opcode::SwapBytes, &[a]) if ty.bits() == 8 => a,
            (Opcode::SwapBytes, &[a]) => a.math("bswap", &[]),
            (Opcode::ReverseBits, &[a]) => a.math("bitreverse", &[]),
            _ => return None,
        })
    }

    /// `x / 0 = 0`, `x % 0 = x`, `MIN / −1 = MIN`, `MIN % −1 = 0`. Narrow types divide as `i32`, where MIN / −1 does
    /// not overflow; what ranges rule out needs no guard.
    fn divide(&self, inst: &Inst, ty: Type, a: Value<'k>, b: Value<'k>) -> Value<'k> {
        let quotient = inst.opcode == Opcode::Div;
        let signed = ty.is_signed();
        let narrow = ty.bits() < 32;
        let wide = if narrow { Ty::I32 } else { a.ty() };
        let by = self.range(inst, 1);
        let (x, mut divisor) = (casts::extend(signed, wide, a), casts::extend(signed, wide, b));
        let zero = (by.min <= 0 && by.max >= 0).then(|| divisor.is(divisor.same(0)));
        if signed && !narrow && by.min <= -1 && by.max >= -1 {
            // Dividing MIN by 1 instead of −1 gives just what is wanted: MIN, remainder 0.
            let overflow = x.is(x.same(i128::MIN >> (128 - ty.bits()))) & divisor.is(divisor.same(-1));
            divisor = overflow.select(divisor.same(1), divisor);
        }
        if let Some(zero) = zero {
            divisor = zero.select(divisor.same(1), divisor);
        }
        let operation = match (quotient, signed) {
            (true, true) => "sdiv",
            (true, false) => "udiv",
            (false, true) => "srem",
            (false, false) => "urem",
        };
        let result = x.binary(operation, divisor);
        let result = match zero {
            Some(zero) => zero.select(if quotient { x.same(0) } else { x }, result),
            None => result,
        };
        result.resize(a.ty())
    }
}

fn multiply_high<'k>(ty: Type, a: Value<'k>, b: Value<'k>) -> Value<'k> {
    let wide = Ty::Int(2 * ty.bits() as u16);
    let product = casts::extend(ty.is_signed(), wide, a) * casts::extend(ty.is_signed(), wide, b);
    (product >> ty.bits() as usize).resize(a.ty())
}

/// Shifts and rotations by an amount modulo the width.
pub(super) fn shift<'k>(opcode: Opcode, ty: Type, a: Value<'k>, amount: Value<'k>) -> Option<Value<'k>> {
    if !ty.is_int() {
        return None;
    }
    let bits = ty.bits() as usize;
    let amount = match amount.as_constant() {
        Some(amount) => a.same(amount & (bits as i128 - 1)),
        None => (amount & (bits - 1)).resize(a.ty()),
    };
    Some(match opcode {
        Opcode::Shl => a << amount,
        Opcode::Shr if ty.is_signed() => a.binary("ashr", amount),
        Opcode::Shr => a >> amount,
        Opcode::RotateLeft => a.math("fshl", &[a, amount]),
        Opcode::RotateRight => a.math("fshr", &[a, amount]),
        _ => return None,
    })
}

pub(super) fn count(opcode: Opcode, a: Value<'_>) -> Option<Value<'_>> {
    let zero_has_a_count = a.emit().bool(false);
    let count = match opcode {
        Opcode::CountOnes => a.math("ctpop", &[]),
        Opcode::LeadingZeros => a.math("ctlz", &[zero_has_a_count]),
        Opcode::TrailingZeros => a.math("cttz", &[zero_has_a_count]),
        _ => return None,
    };
    Some(count.resize(Ty::I32))
}
