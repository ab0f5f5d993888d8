//! Operations by others, which families have.

use super::code::Code;
use crate::function::{Inst, Value};
use crate::opcode::Opcode;
use crate::types::Constant;

impl Code<'_> {
    /// The value of an instruction by other operations, if families have those and not this one.
    pub(super) fn by_others(&mut self, inst: &Inst) -> Option<Value> {
        match inst.opcode {
            Opcode::Cast => self.masked(inst),
            Opcode::Sub if self.extremes => self.exchanged(inst),
            _ => None,
        }
    }

    /// `x as u8 as u32` is `x & 0xff`.
    fn masked(&mut self, inst: &Inst) -> Option<Value> {
        let narrow = self.inst(inst.operands()[0]).filter(|inst| inst.opcode == Opcode::Cast)?;
        let (x, through) = (narrow.operands()[0], narrow.ty);
        let ty = self.ty(x);
        let is_mask = ty.is_int() && through.is_int() && !through.is_signed() && inst.ty.is_int();
        if !is_mask || through.bits() >= ty.bits().min(inst.ty.bits()) {
            return None;
        }
        let mask = self.constant(Constant::new(ty, through.mask()));
        let masked = self.binary(Opcode::And, x, mask);
        Some(self.cast(inst.ty, masked))
    }

    /// `x - x.min(y)` is `x.max(y) - y`, since the two of x and y are the smaller and the larger of them.
    fn exchanged(&mut self, inst: &Inst) -> Option<Value> {
        let &[x, extreme] = inst.operands() else { return None };
        let found = self.inst(extreme).filter(|_| inst.ty.is_int() && self.depends(x) != 0)?;
        let other = match found.opcode {
            Opcode::Min => Opcode::Max,
            Opcode::Max => Opcode::Min,
            _ => return None,
        };
        let &[a, b] = found.operands() else { return None };
        let y = if a == x { b } else { Some(a).filter(|_| b == x)? };
        let other = self.binary(other, x, y);
        Some(self.push(Inst::new(Opcode::Sub, inst.ty, &[other, y], inst.payload)))
    }
}
