//! Arithmetic and conversions, lane by lane.

use cranelift_codegen::ir::{self, InstBuilder, condcodes::FloatCC, types};
use monoscan_ir::{Constant, Opcode, Type};

use super::lanes::{Lowering, splat_bits};
use super::shuffle::retype;

impl Lowering<'_, '_> {
    pub(super) fn integer(&mut self, opcode: Opcode, ty: Type, args: &[ir::Value]) -> Option<ir::Value> {
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        let signed = ty.is_signed();
        let raw = match opcode {
            Opcode::And => return Some(self.ins().band(a, b)),
            Opcode::Or => return Some(self.ins().bor(a, b)),
            Opcode::Xor => return Some(self.ins().bxor(a, b)),
            Opcode::Min if signed => return Some(self.ins().smin(a, b)),
            Opcode::Min => return Some(self.ins().umin(a, b)),
            Opcode::Max if signed => return Some(self.ins().smax(a, b)),
            Opcode::Max => return Some(self.ins().umax(a, b)),
            Opcode::Abs if !signed => return Some(a),
            Opcode::Not => self.ins().bnot(a),
            Opcode::Add => self.ins().iadd(a, b),
            Opcode::Sub => self.ins().isub(a, b),
            Opcode::Mul => self.ins().imul(a, b),
            Opcode::Neg => self.ins().ineg(a),
            Opcode::Abs => self.ins().iabs(a),
            Opcode::AddSat | Opcode::SubSat => return Some(self.saturating(opcode == Opcode::AddSat, ty, a, b)),
            _ => return None,
        };
        Some(self.normal(ty, raw))
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
        let high = if ty.is_signed() { ty.mask() >> 1 } else { ty.mask() };
        let low = if ty.is_signed() { high + 1 } else { 0 };
        let (low, high) = (self.splat(Constant::new(ty, low)), self.splat(Constant::new(ty, high)));
        let above = self.ins().smax(exact, low);
        self.ins().smin(above, high)
    }

    pub(super) fn float(&mut self, opcode: Opcode, args: &[ir::Value]) -> Option<ir::Value> {
        Some(match (opcode, args) {
            (Opcode::Add, &[a, b]) => self.ins().fadd(a, b),
            (Opcode::Sub, &[a, b]) => self.ins().fsub(a, b),
            (Opcode::Mul, &[a, b]) => self.ins().fmul(a, b),
            (Opcode::Div, &[a, b]) => self.ins().fdiv(a, b),
            (Opcode::Neg, &[a]) => self.ins().fneg(a),
            (Opcode::Abs, &[a]) => self.ins().fabs(a),
            (Opcode::Min | Opcode::Max, &[a, b]) => self.float_min_max(opcode == Opcode::Min, a, b),
            (Opcode::MulAdd, &[a, b, c]) => self.ins().fma(a, b, c),
            (Opcode::Sqrt, &[a]) => self.ins().sqrt(a),
            (Opcode::Floor, &[a]) => self.ins().floor(a),
            (Opcode::Ceil, &[a]) => self.ins().ceil(a),
            (Opcode::Trunc, &[a]) => self.ins().trunc(a),
            (Opcode::RoundEven, &[a]) => self.ins().nearest(a),
            (Opcode::CopySign, &[a, b]) => {
                let sign = 1u64 << (self.shape.bits() - 1);
                let ty = self.b.func.dfg.value_type(a);
                let sign = splat_bits(self.b, self.shape, sign);
                let sign = retype(self.b, ty, sign);
                self.ins().bitselect(sign, b, a)
            }
            _ => return None,
        })
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
                let high = if to.is_signed() { to.mask() >> 1 } else { to.mask() };
                let low = if to.is_signed() { high + 1 } else { 0 };
                let (low, high) = (self.splat(Constant::new(to, low)), self.splat(Constant::new(to, high)));
                let above = self.ins().smax(wide, low);
                self.ins().smin(above, high)
            }
            // Wide enough is extended as it should be, unless negative numbers become unsigned.
            _ if to.bits() > from.bits() && (to.is_signed() || !from.is_signed()) => a,
            _ => self.normal(to, a),
        })
    }
}
