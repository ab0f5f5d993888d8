//! Choices between two values without a branch.

use cranelift_codegen::ir::{self, InstBuilder, types};
use monoscan_ir::{Constant, Inst, Type};

use super::{Lowering, clif_type};
use crate::cpu::memory;

impl Lowering<'_, '_> {
    pub(super) fn select(&mut self, inst: &Inst, args: &[ir::Value], ty: Type) -> Option<ir::Value> {
        let (condition, yes, no) = (args[0], args[1], args[2]);
        if ty.is_vector() {
            let mask = self.ins().ineg(condition);
            let mask = self.ins().splat(types::I8X16, mask);
            return Some(self.ins().bitselect(mask, yes, no));
        }
        if ty.is_float() && self.env.x86 {
            return self.float_select(inst, ty, args);
        }
        let &[_, yes_value, no_value] = inst.operands() else { return None };
        let [constant_yes, constant_no] = [yes_value, no_value].map(|value| self.function.as_constant(value));
        if let (Some(yes), Some(no)) = (constant_yes, constant_no)
            && let Some(number) = self.number_of_bool(condition, ty, [yes, no])
        {
            return Some(number);
        }
        for (constant, other, is_kept) in [(constant_no, yes, true), (constant_yes, no, false)] {
            if constant.is_some_and(|constant| constant.bits() == 0)
                && let Some(mask) = self.mask_of_byte(condition, clif_type(ty), is_kept)
            {
                return Some(self.ins().band(other, mask));
            }
        }
        Some(self.ins().select(condition, yes, no))
    }

    /// One of two integers, if they are some power of two apart: made of the truth value as a number, which takes neither a constant in a
    /// register nor a test. Of a comparison the flags choose as fast, so of that only 1 and 0 are made so.
    fn number_of_bool(&mut self, condition: ir::Value, ty: Type, [yes, no]: [Constant; 2]) -> Option<ir::Value> {
        let (clif, [yes, no]) = (clif_type(ty), [yes, no].map(|constant| constant.bits() as i64));
        let unused = 64 - clif.bits();
        let apart = yes.wrapping_sub(no) << unused >> unused;
        let is_compared =
            self.b.func.dfg.value_def(condition).inst().is_some_and(|inst| {
                matches!(self.b.func.dfg.insts[inst].opcode(), ir::Opcode::Icmp | ir::Opcode::Fcmp)
            });
        if !ty.is_int() || !apart.unsigned_abs().is_power_of_two() || is_compared && (yes, no) != (1, 0) {
            return None;
        }
        let number = if clif == types::I8 { condition } else { self.ins().uextend(clif, condition) };
        let number = match apart.unsigned_abs().trailing_zeros() {
            0 => number,
            power => self.ins().ishl_imm_u(number, i64::from(power)),
        };
        Some(match (no, apart > 0) {
            (0, true) => number,
            (0, false) => self.ins().ineg(number),
            (no, is_added) => {
                let no = self.int(clif, no);
                if is_added { self.ins().iadd(no, number) } else { self.ins().isub(no, number) }
            }
        })
    }

    /// All ones if the condition `holds`, or does not, else zero, where it is a truth value from memory. The negative of its byte has the
    /// sign that does it, or what is one less has: two instructions, where `setcc` and `cmov` take three each.
    pub(super) fn mask_of_byte(&mut self, condition: ir::Value, ty: ir::Type, holds: bool) -> Option<ir::Value> {
        let word = memory::word_of_bool(self.b, condition).filter(|_| self.env.x86 && ty.bits() >= 32)?;
        let signed = if holds { self.ins().ineg(word) } else { self.ins().iadd_imm_s(word, -1) };
        let mask = self.ins().sshr_imm_u(signed, 63);
        Some(if ty == types::I64 { mask } else { self.ins().ireduce(ty, mask) })
    }
}
