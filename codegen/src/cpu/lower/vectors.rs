//! Byte vectors in `i8x16`; lanes from N on are unspecified, as the module above says.

use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use monoscan_ir::{Inst, Opcode, Payload, Type};

use super::{Lowering, vector_constant};

/// All ones in the first `lanes` lanes.
fn lane_mask(lanes: usize) -> u128 {
    u128::MAX >> (128 - 8 * lanes)
}

impl Lowering<'_, '_> {
    /// Splat, lanes and permutation.
    pub(super) fn vector(&mut self, inst: &Inst, args: &[ir::Value], types: &[Type]) -> Option<ir::Value> {
        Some(match (inst.opcode, inst.payload, args) {
            (Opcode::Splat, _, &[byte]) => self.ins().splat(types::I8X16, byte),
            (Opcode::Lane, Payload::Lane(lane), &[a]) if lane < 16 => self.ins().extractlane(a, lane),
            (Opcode::WithLane, Payload::Lane(lane), &[a, byte]) if lane < 16 => self.ins().insertlane(a, byte, lane),
            (Opcode::Permute, _, &[a, b]) => {
                let highest = self.ranges[inst.operands()[1].index()].max;
                self.permute(types[0].size(), highest, a, b)
            }
            _ => return None,
        })
    }

    /// `a[b[i]]`, 0 where that is no lane of `a`; no index exceeds `highest`. `pshufb` looks at the low four bits of an
    /// index and its sign, `swizzle` gives 0 from 16 on.
    fn permute(&mut self, lanes: usize, highest: i128, a: ir::Value, b: ir::Value) -> ir::Value {
        let a = if highest < lanes as i128 { a } else { self.clear_above(lanes, a) };
        if self.env.pshufb && highest < 16 { self.ins().x86_pshufb(a, b) } else { self.ins().swizzle(a, b) }
    }

    pub(super) fn vector_equal(
        &mut self,
        opcode: Opcode,
        lanes: usize,
        a: ir::Value,
        b: ir::Value,
    ) -> Option<ir::Value> {
        let equal = self.ins().icmp(IntCC::Equal, a, b);
        let equal = if lanes == 16 {
            equal
        } else {
            let above = vector_constant(self.b, !lane_mask(lanes));
            self.ins().bor(equal, above)
        };
        let all = self.ins().vall_true(equal);
        match opcode {
            Opcode::Eq => Some(all),
            Opcode::Ne => Some(self.ins().bxor_imm_u(all, 1)),
            _ => None,
        }
    }

    fn clear_above(&mut self, lanes: usize, a: ir::Value) -> ir::Value {
        if lanes == 16 {
            return a;
        }
        let mask = vector_constant(self.b, lane_mask(lanes));
        self.ins().band(a, mask)
    }
}
