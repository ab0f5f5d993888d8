//! Arithmetic and conversions, lane by lane.

use cranelift_codegen::ir::{self, InstBuilder, condcodes::FloatCC, types};
use monoscan_ir::{Inst, Opcode, Type};

use super::lanes::{Lowering, splat_bits};
use super::shuffle::retype;
use crate::cpu::lower::{instruction, plain_operand};

impl Lowering<'_, '_> {
    pub(super) fn integer(&mut self, opcode: Opcode, ty: Type, args: &[ir::Value]) -> Option<ir::Value> {
        if let (Opcode::AddSat | Opcode::SubSat, &[a, b]) = (opcode, args) {
            return Some(self.saturating(opcode == Opcode::AddSat, ty, a, b));
        }
        let raw = instruction(self.b, opcode, ty, args)?;
        Some(match opcode {
            // They are extended as their operands are.
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Min | Opcode::Max => raw,
            Opcode::Abs if !ty.is_signed() => raw,
            _ => self.normal(ty, raw),
        })
    }

    fn saturating(&mut self, add: bool, ty: Type, a: ir::Value, b: ir::Value) -> ir::Value {
        if ty.bits() == self.shape.bits() {
            return match (add, ty.is_signed()) {
                (true, true) => self.ins().sadd_sat(a, b),
                (true, false) => self.ins().uadd_sat(a, b),
                (false, true) => self.ins().ssub_sat(a, b),
                (false, false) => self.ins().usub_sat(a, b),
            };
        }
        // Wider lanes hold the exact result as a signed number.
        let exact = if add { self.ins().iadd(a, b) } else { self.ins().isub(a, b) };
        let (low, high) = (self.splat(ty.least()), self.splat(ty.greatest()));
        let above = self.ins().smax(exact, low);
        self.ins().smin(above, high)
    }

    pub(super) fn float(&mut self, inst: &Inst, ty: Type, args: &[ir::Value]) -> Option<ir::Value> {
        let opcode = inst.opcode;
        Some(match (opcode, args) {
            (Opcode::Min | Opcode::Max, &[a, b]) => match plain_operand(inst, self.function) {
                Some(0) => self.pick(opcode == Opcode::Min, b, a),
                Some(_) => self.pick(opcode == Opcode::Min, a, b),
                None => self.float_min_max(opcode == Opcode::Min, a, b),
            },
            (Opcode::CopySign, &[a, b]) => {
                let sign = 1u64 << (self.shape.bits() - 1);
                let ty = self.b.func.dfg.value_type(a);
                let sign = splat_bits(self.b, self.shape, sign);
                let sign = retype(self.b, ty, sign);
                self.ins().bitselect(sign, b, a)
            }
            _ => instruction(self.b, opcode, ty, args)?,
        })
    }

    /// `a < b ? a : b` or `a > b ? a : b`: the smaller or the larger, if b may come out where they are equal or a is NaN.
    fn pick(&mut self, min: bool, a: ir::Value, b: ir::Value) -> ir::Value {
        let condition = if min { FloatCC::LessThan } else { FloatCC::GreaterThan };
        let ty = self.b.func.dfg.value_type(a);
        let takes_first = self.ins().fcmp(condition, a, b);
        let takes_first = retype(self.b, ty, takes_first);
        self.ins().bitselect(takes_first, a, b)
    }

    /// The smaller or the larger; the other if one is NaN; −0 < +0.
    fn float_min_max(&mut self, min: bool, a: ir::Value, b: ir::Value) -> ir::Value {
        let ty = self.b.func.dfg.value_type(a);
        // `b < a ? b : a`: a if they are equal, or if one is NaN.
        let (low, high) = if min { (b, a) } else { (a, b) };
        let less = self.ins().fcmp(FloatCC::LessThan, low, high);
        let less = retype(self.b, ty, less);
        let picked = self.ins().bitselect(less, b, a);
        // Among equals only zeros differ: their signs are joined.
        let differ = self.ins().fcmp(FloatCC::NotEqual, a, b);
        let int = self.b.func.dfg.value_type(differ);
        let (bits, other) = (retype(self.b, int, picked), retype(self.b, int, b));
        let joined = if min {
            let other = self.ins().band_not(other, differ);
            self.ins().bor(bits, other)
        } else {
            let other = self.ins().bor(other, differ);
            self.ins().band(bits, other)
        };
        let joined = retype(self.b, ty, joined);
        let is_nan = self.ins().fcmp(FloatCC::Unordered, a, a);
        self.select(is_nan, b, joined)
    }

    pub(super) fn cast(&mut self, from: Type, to: Type, a: ir::Value) -> Option<ir::Value> {
        Some(match (from, to) {
            _ if from == to => a,
            (Type::Bool, _) => {
                let one = self.splat(to.of_i64(1));
                let (ty, int) = (self.b.func.dfg.value_type(one), self.shape.int());
                let one = retype(self.b, int, one);
                let value = self.ins().band(a, one);
                retype(self.b, ty, value)
            }
            (Type::U32, Type::F32) => self.ins().fcvt_from_uint(types::F32X4, a),
            (_, Type::F32) => self.ins().fcvt_from_sint(types::F32X4, a),
            (Type::F32, Type::U32) => self.ins().fcvt_to_uint_sat(types::I32X4, a),
            (Type::F32, _) => {
                let wide = self.ins().fcvt_to_sint_sat(types::I32X4, a);
                if to.bits() == 32 {
                    return Some(wide);
                }
                let (low, high) = (self.splat(to.least()), self.splat(to.greatest()));
                let above = self.ins().smax(wide, low);
                self.ins().smin(above, high)
            }
            // Wide enough is extended as it should be, unless negative numbers become unsigned.
            _ if to.bits() > from.bits() && (to.is_signed() || !from.is_signed()) => a,
            _ => self.normal(to, a),
        })
    }
}
