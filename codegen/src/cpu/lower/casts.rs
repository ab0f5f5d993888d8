//! Conversions: Rust's `as`, reinterpreted bits, and the 16-bit floats.
//!
//! The 16-bit formats are converted by integer operations without branches: all cases are computed
//! and selected, and the one that needs rounding below the normal range lets a float addition do
//! it.

use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData, condcodes::IntCC, types};
use monoscan_ir::{Opcode, Type};

use super::{Lowering, clif_type};

impl Lowering<'_, '_> {
    pub(super) fn cast(&mut self, from: Type, to: Type, a: ir::Value) -> Option<ir::Value> {
        if from.is_vector() || to.is_vector() || (to == Type::Bool && from != Type::Bool) {
            return None;
        }
        Some(match (from.is_float(), to.is_float()) {
            (true, true) => match from.bits().cmp(&to.bits()) {
                std::cmp::Ordering::Less => self.ins().fpromote(types::F64, a),
                std::cmp::Ordering::Equal => a,
                std::cmp::Ordering::Greater => self.ins().fdemote(types::F32, a),
            },
            (true, false) => self.float_to_int(to, a),
            (false, true) => self.int_to_float(from, clif_type(to), a),
            (false, false) => {
                let (narrow, wide) = (clif_type(from), clif_type(to));
                match narrow.bits().cmp(&wide.bits()) {
                    std::cmp::Ordering::Less if from == Type::Bool => self.bit(wide, a),
                    std::cmp::Ordering::Less => self.extend(from.is_signed(), wide, a),
                    std::cmp::Ordering::Equal => a,
                    std::cmp::Ordering::Greater => self.ins().ireduce(wide, a),
                }
            }
        })
    }

    /// One if the condition holds, else zero.
    fn bit(&mut self, ty: ir::Type, condition: ir::Value) -> ir::Value {
        match self.mask_of_byte(condition, ty, true) {
            Some(mask) => self.ins().ineg(mask),
            None => self.ins().uextend(ty, condition),
        }
    }

    fn float_to_int(&mut self, to: Type, a: ir::Value) -> ir::Value {
        let ty = clif_type(to);
        match (to.bits(), to.is_signed()) {
            (32 | 64, true) => self.ins().fcvt_to_sint_sat(ty, a),
            (32 | 64, false) => self.ins().fcvt_to_uint_sat(ty, a),
            (bits, signed) => {
                let wide = self.ins().fcvt_to_sint_sat(types::I32, a);
                let (low, high) =
                    if signed { (-1i64 << (bits - 1), (1i64 << (bits - 1)) - 1) } else { (0, (1i64 << bits) - 1) };
                let (low, high) = (self.int(types::I32, low), self.int(types::I32, high));
                let clamped = self.ins().smax(wide, low);
                let clamped = self.ins().smin(clamped, high);
                self.ins().ireduce(ty, clamped)
            }
        }
    }

    /// One rounding: what is narrower than the converting instruction is extended exactly first.
    fn int_to_float(&mut self, from: Type, to: ir::Type, a: ir::Value) -> ir::Value {
        match (from.bits(), from.is_signed()) {
            (32 | 64, true) => self.ins().fcvt_from_sint(to, a),
            (64, false) if to == types::F64 => self.u64_to_f64(a),
            (64, false) => self.ins().fcvt_from_uint(to, a),
            (32, false) => {
                let wide = self.ins().uextend(types::I64, a);
                self.ins().fcvt_from_sint(to, wide)
            }
            (_, signed) => {
                let wide = self.extend(signed, types::I32, a);
                self.ins().fcvt_from_sint(to, wide)
            }
        }
    }

    /// Without a branch, which numbers of 2^63 and more, among others, would mispredict: the halves become 2^84 + high · 2^32 and
    /// 2^52 + low by their bits alone, and the last addition is all that rounds.
    fn u64_to_f64(&mut self, a: ir::Value) -> ir::Value {
        let [above, below] = [84, 52].map(|power| f64::from_bits((1023 + power) << 52));
        let (high, low) = (self.ins().ushr_imm_u(a, 32), self.ins().band_imm_u(a, 0xffff_ffff));
        let [high, low] = [(high, above), (low, below)].map(|(half, exponent)| {
            let exponent = self.int(types::I64, exponent.to_bits() as i64);
            let bits = self.ins().bor(half, exponent);
            self.same_bits(types::F64, bits)
        });
        let both = self.ins().f64const(above + below);
        let high = self.ins().fsub(high, both);
        self.ins().fadd(high, low)
    }

    pub(super) fn bitcast(&mut self, from: Type, to: Type, a: ir::Value) -> Option<ir::Value> {
        if from.size() != to.size() || from == Type::Bool || to == Type::Bool {
            return None;
        }
        Some(match (from.is_vector(), to.is_vector()) {
            (true, true) => a,
            (false, false) => self.same_bits(clif_type(to), a),
            (true, false) => {
                let ty = clif_type(to);
                let lanes = if ty.is_float() { ty.as_int() } else { ty };
                let lanes = lanes.by(128 / lanes.bits())?;
                let a = self.same_bits(lanes, a);
                let bits = self.ins().extractlane(a, 0);
                self.same_bits(ty, bits)
            }
            (false, true) => {
                let bits = self.same_bits(clif_type(from).as_int(), a);
                let bits = if from.bits() < 32 { self.ins().uextend(types::I32, bits) } else { bits };
                let lanes = self.b.func.dfg.value_type(bits);
                let vector = self.ins().scalar_to_vector(lanes.by(128 / lanes.bits())?, bits);
                self.same_bits(types::I8X16, vector)
            }
        })
    }

    /// The bits of `a` as another type of the same size.
    pub(super) fn same_bits(&mut self, to: ir::Type, a: ir::Value) -> ir::Value {
        if self.b.func.dfg.value_type(a) == to {
            return a;
        }
        self.ins().bitcast(to, MemFlagsData::new().with_endianness(Endianness::Little), a)
    }

    pub(super) fn convert(&mut self, opcode: Opcode, a: ir::Value) -> Option<ir::Value> {
        Some(match opcode {
            Opcode::FromF16 => self.widen_f16(a),
            Opcode::ToF16 => self.narrow_f16(a),
            Opcode::FromBf16 => {
                let wide = self.ins().uextend(types::I32, a);
                let bits = self.ins().ishl_imm_u(wide, 16);
                self.same_bits(types::F32, bits)
            }
            Opcode::ToBf16 => self.narrow_bf16(a),
            _ => return None,
        })
    }

    fn widen_f16(&mut self, half: ir::Value) -> ir::Value {
        let wide = self.ins().uextend(types::I32, half);
        let magnitude = self.ins().band_imm_u(wide, 0x7fff);
        let sign = self.ins().bxor(wide, magnitude);
        let sign = self.ins().ishl_imm_u(sign, 16);
        let shifted = self.ins().ishl_imm_u(magnitude, 13);
        let normal = self.ins().iadd_imm_u(shifted, 112 << 23);
        // Infinity and NaN keep an exponent of all ones.
        let special = self.ins().iadd_imm_u(shifted, 224 << 23);
        // Subnormal: with 2⁻¹⁴ added in front of the mantissa the number is normal; take it away again, exactly.
        let offset = self.ins().iadd_imm_u(shifted, 113 << 23);
        let offset = self.same_bits(types::F32, offset);
        let two_to_minus_14 = self.ins().f32const(f32::from_bits(113 << 23));
        let small = self.ins().fsub(offset, two_to_minus_14);
        let small = self.same_bits(types::I32, small);

        let is_small = self.ins().icmp_imm_u(IntCC::UnsignedLessThan, magnitude, 0x0400);
        let is_special = self.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, magnitude, 0x7c00);
        let bits = self.ins().select(is_small, small, normal);
        let bits = self.ins().select(is_special, special, bits);
        let bits = self.ins().bor(bits, sign);
        self.same_bits(types::F32, bits)
    }

    fn narrow_f16(&mut self, float: ir::Value) -> ir::Value {
        let bits = self.same_bits(types::I32, float);
        let magnitude = self.ins().band_imm_u(bits, 0x7fff_ffff);
        let sign = self.ins().bxor(bits, magnitude);
        let sign = self.ins().ushr_imm_u(sign, 16);
        // Normal: move the exponent's bias, round the 13 bits that go, ties to even.
        let odd = self.ins().ushr_imm_u(magnitude, 13);
        let odd = self.ins().band_imm_u(odd, 1);
        let normal = self.ins().iadd_imm_s(magnitude, (0xfff - (112 << 23)) as i64);
        let normal = self.ins().iadd(normal, odd);
        let normal = self.ins().ushr_imm_u(normal, 13);
        // Below 2⁻¹⁴: adding ½ aligns the mantissa to units of 2⁻²⁴, and the addition rounds.
        let half = 126 << 23;
        let number = self.same_bits(types::F32, magnitude);
        let aligner = self.ins().f32const(f32::from_bits(half));
        let small = self.ins().fadd(number, aligner);
        let small = self.same_bits(types::I32, small);
        let small = self.ins().iadd_imm_s(small, -(half as i64));

        let infinity = self.int(types::I32, 0x7c00);
        // A NaN stays quiet and keeps the upper bits of its payload, as the hardware's conversion does.
        let nan = self.ins().ushr_imm_u(magnitude, 13);
        let nan = self.ins().band_imm_u(nan, 0x3ff);
        let nan = self.ins().bor_imm_u(nan, 0x7e00);
        let is_small = self.ins().icmp_imm_u(IntCC::UnsignedLessThan, magnitude, 113 << 23);
        let is_large = self.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, magnitude, 143 << 23);
        let is_nan = self.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, magnitude, 0x7f80_0000);
        let result = self.ins().select(is_small, small, normal);
        let result = self.ins().select(is_large, infinity, result);
        let result = self.ins().select(is_nan, nan, result);
        let result = self.ins().bor(result, sign);
        self.ins().ireduce(types::I16, result)
    }

    fn narrow_bf16(&mut self, float: ir::Value) -> ir::Value {
        let bits = self.same_bits(types::I32, float);
        let high = self.ins().ushr_imm_u(bits, 16);
        let odd = self.ins().band_imm_u(high, 1);
        let rounded = self.ins().iadd_imm_u(bits, 0x7fff);
        let rounded = self.ins().iadd(rounded, odd);
        let rounded = self.ins().ushr_imm_u(rounded, 16);
        let quiet = self.ins().bor_imm_u(high, 0x40);
        let magnitude = self.ins().band_imm_u(bits, 0x7fff_ffff);
        let is_nan = self.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, magnitude, 0x7f80_0000);
        let result = self.ins().select(is_nan, quiet, rounded);
        self.ins().ireduce(types::I16, result)
    }
}
