//! Integers and `bool`: arithmetic, bits, shifts and counts.
//!
//! Cranelift's instructions wrap and mask as the IR wants. Added here are the total division,
//! saturation, and the high half of products narrower than a register.

use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use monoscan_ir::{Inst, Opcode, Type};

use super::{Lowering, clif_type, instruction};

impl Lowering<'_, '_> {
    pub(super) fn integer(&mut self, inst: &Inst, ty: Type, args: &[ir::Value]) -> Option<ir::Value> {
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        Some(match inst.opcode {
            Opcode::Not if ty == Type::Bool => self.ins().bxor_imm_u(a, 1),
            Opcode::Div | Opcode::Rem => self.divide(inst, ty, a, b),
            Opcode::AddSat => self.add_saturating(ty, a, b),
            Opcode::SubSat => self.sub_saturating(ty, a, b),
            Opcode::MulHigh => self.multiply_high(ty, a, b),
            Opcode::SwapBytes if ty.bits() == 8 => a,
            Opcode::SwapBytes => self.ins().bswap(a),
            Opcode::ReverseBits => self.ins().bitrev(a),
            opcode => instruction(self.b, opcode, ty, args)?,
        })
    }

    pub(super) fn shift_or_count(&mut self, opcode: Opcode, ty: Type, args: &[ir::Value]) -> Option<ir::Value> {
        let a = args[0];
        if !ty.is_int() {
            return None;
        }
        Some(match (opcode, args) {
            (Opcode::Shl, [_, amount]) => self.ins().ishl(a, *amount),
            (Opcode::Shr, [_, amount]) if ty.is_signed() => self.ins().sshr(a, *amount),
            (Opcode::Shr, [_, amount]) => self.ins().ushr(a, *amount),
            (Opcode::RotateLeft, [_, amount]) => self.ins().rotl(a, *amount),
            (Opcode::RotateRight, [_, amount]) => self.ins().rotr(a, *amount),
            _ => {
                let count = match opcode {
                    Opcode::CountOnes => self.ins().popcnt(a),
                    Opcode::LeadingZeros => self.ins().clz(a),
                    Opcode::TrailingZeros => self.ins().ctz(a),
                    _ => return None,
                };
                match ty.bits() {
                    8 | 16 => self.ins().uextend(types::I32, count),
                    64 => self.ins().ireduce(types::I32, count),
                    _ => count,
                }
            }
        })
    }

    /// `x / 0 = 0`, `x % 0 = x`, `MIN / −1 = MIN`, `MIN % −1 = 0`. Narrow types divide as `i32`, where MIN / −1 does not
    /// overflow; a divisor known to be neither 0 nor −1 needs no guard.
    fn divide(&mut self, inst: &Inst, ty: Type, a: ir::Value, b: ir::Value) -> ir::Value {
        let quotient = inst.opcode == Opcode::Div;
        let signed = ty.is_signed();
        let narrow = ty.bits() < 32;
        let wide = if narrow { types::I32 } else { clif_type(ty) };
        let known = self.function.as_constant(inst.operands()[1]).map(|divisor| divisor.as_int());
        let x = if narrow { self.extend(signed, wide, a) } else { a };
        match known {
            Some(0) if quotient => return self.int(clif_type(ty), 0),
            Some(0) => return a,
            Some(-1) if quotient => return self.ins().ineg(a),
            Some(-1) => return self.int(clif_type(ty), 0),
            _ => {}
        }
        let result = if let Some(divisor) = known {
            let divisor = self.int(wide, divisor as i64);
            self.divide_unguarded(quotient, signed, x, divisor)
        } else {
            let divisor = if narrow { self.extend(signed, wide, b) } else { b };
            let zero = self.ins().icmp_imm_s(IntCC::Equal, divisor, 0);
            let mut bad = zero;
            if signed && !narrow {
                let min = self.int(wide, i64::MIN >> (64 - ty.bits()));
                let is_min = self.ins().icmp(IntCC::Equal, x, min);
                let minus_one = self.ins().icmp_imm_s(IntCC::Equal, divisor, -1);
                let overflow = self.ins().band(is_min, minus_one);
                bad = self.ins().bor(zero, overflow);
            }
            // Dividing MIN by 1 instead of −1 gives just what is wanted: MIN, remainder 0.
            let one = self.int(wide, 1);
            let divisor = self.ins().select(bad, one, divisor);
            let result = self.divide_unguarded(quotient, signed, x, divisor);
            let by_zero = if quotient { self.int(wide, 0) } else { x };
            self.ins().select(zero, by_zero, result)
        };
        if narrow { self.ins().ireduce(clif_type(ty), result) } else { result }
    }

    fn divide_unguarded(&mut self, quotient: bool, signed: bool, a: ir::Value, b: ir::Value) -> ir::Value {
        match (quotient, signed) {
            (true, true) => self.ins().sdiv(a, b),
            (true, false) => self.ins().udiv(a, b),
            (false, true) => self.ins().srem(a, b),
            (false, false) => self.ins().urem(a, b),
        }
    }

    fn add_saturating(&mut self, ty: Type, a: ir::Value, b: ir::Value) -> ir::Value {
        let sum = self.ins().iadd(a, b);
        if !ty.is_signed() {
            let wrapped = self.ins().icmp(IntCC::UnsignedLessThan, sum, a);
            let max = self.int(clif_type(ty), -1);
            return self.ins().select(wrapped, max, sum);
        }
        // It overflowed if the operands agree in sign and the sum does not.
        let (from_a, from_b) = (self.ins().bxor(a, sum), self.ins().bxor(b, sum));
        let overflow = self.ins().band(from_a, from_b);
        self.saturate_by_sign(ty, overflow, a, sum)
    }

    fn sub_saturating(&mut self, ty: Type, a: ir::Value, b: ir::Value) -> ir::Value {
        let difference = self.ins().isub(a, b);
        if !ty.is_signed() {
            let wrapped = self.ins().icmp(IntCC::UnsignedLessThan, a, b);
            let zero = self.int(clif_type(ty), 0);
            return self.ins().select(wrapped, zero, difference);
        }
        let (apart, from_a) = (self.ins().bxor(a, b), self.ins().bxor(a, difference));
        let overflow = self.ins().band(apart, from_a);
        self.saturate_by_sign(ty, overflow, a, difference)
    }

    /// MAX or MIN by the sign of `a` where `overflow` is negative, else `result`.
    fn saturate_by_sign(&mut self, ty: Type, overflow: ir::Value, a: ir::Value, result: ir::Value) -> ir::Value {
        let width = ty.bits();
        let sign = self.ins().sshr_imm_u(a, (width - 1) as i64);
        let max = self.int(clif_type(ty), i64::MAX >> (64 - width));
        let limit = self.ins().bxor(sign, max);
        let overflowed = self.ins().icmp_imm_s(IntCC::SignedLessThan, overflow, 0);
        self.ins().select(overflowed, limit, result)
    }

    fn multiply_high(&mut self, ty: Type, a: ir::Value, b: ir::Value) -> ir::Value {
        let signed = ty.is_signed();
        if ty.bits() == 64 {
            return if signed { self.ins().smulhi(a, b) } else { self.ins().umulhi(a, b) };
        }
        let wide = if ty.bits() == 32 { types::I64 } else { types::I32 };
        let (a, b) = (self.extend(signed, wide, a), self.extend(signed, wide, b));
        let product = self.ins().imul(a, b);
        let high = self.ins().ushr_imm_u(product, ty.bits() as i64);
        self.ins().ireduce(clif_type(ty), high)
    }

    pub(super) fn extend(&mut self, signed: bool, to: ir::Type, a: ir::Value) -> ir::Value {
        if signed { self.ins().sextend(to, a) } else { self.ins().uextend(to, a) }
    }
}
