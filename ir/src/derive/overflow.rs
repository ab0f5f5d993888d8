//! Where a step leaves the integers: what wraps around, and constants that stand for what is taken
//! away.
//!
//! Minima and maxima of sums, and sums modulo m, hold over the integers; modulo a power of two they
//! hold where numbers wrap too. The simplifier computes modulo 2^k: it drops the mark of what
//! wraps, and writes `x − 1` as `x + MAX`. So the user's step is looked at before it is simplified.
//! Bits that `<<` drops have no mark: families that take it as a product look at what is shifted.

use std::collections::BTreeSet;

use super::code::Components;
use super::refusal::Why;
use crate::function::{Function, Inst, Payload};
use crate::opcode::Opcode;
use crate::types::Type;

/// The part of a step that is not what it would be over the integers.
#[derive(Clone)]
pub(super) struct Overflows {
    /// Components whose next value comes from an instruction that wraps.
    pub(super) wrapped: Components,
    /// Whether sums may be compared by their difference.
    pub(super) sums: bool,
}

impl Overflows {
    /// Of a step whose first results are components.
    pub(super) fn of(step: &Function, components: usize) -> Overflows {
        let mut wraps = vec![false; step.params.len()];
        for inst in &step.insts {
            wraps.push(inst.payload == Payload::Wraps || inst.operands().iter().any(|x| wraps[x.index()]));
        }
        if has_large_constants(step) {
            return Overflows { wrapped: !0, sums: false };
        }
        let results = step.results.iter().take(components).enumerate();
        let wrapped = results.filter(|(_, result)| wraps[result.index()]).fold(0, |all, (place, _)| all | 1 << place);
        Overflows { wrapped, sums: !step.insts.iter().any(|inst| inst.payload == Payload::Wraps) }
    }

    /// Why the next value of some of these components is not what it would be over the integers, if it may not be.
    pub(super) fn reason(&self, components: Components) -> Option<Why> {
        match self.wrapped & components {
            0 => None,
            _ if self.wrapped == !0 => Some(Why::Constants),
            _ => Some(Why::Wraps),
        }
    }

    /// With further components, each of which is computed as another is: (new, other).
    pub(super) fn followed(&self, others: impl Iterator<Item = (usize, usize)>) -> Overflows {
        let wrapped = others.fold(self.wrapped, |all, (new, other)| all | (self.wrapped >> other & 1) << new);
        Overflows { wrapped, ..*self }
    }
}

/// Whether constants that are added, taken away or multiplied reach half of their type together, as
/// simplifying may put them together: their signs are lost then.
fn has_large_constants(step: &Function) -> bool {
    let together = |ty: Type| -> u128 {
        let of = |opcodes: &[Opcode]| -> Vec<u128> {
            let is_one =
                |inst: &&Inst| inst.ty == ty && inst.payload != Payload::Wraps && opcodes.contains(&inst.opcode);
            let operands = step.insts.iter().filter(is_one).flat_map(|inst| inst.operands());
            operands.filter_map(|&x| step.as_constant(x)).map(|constant| constant.as_int().unsigned_abs()).collect()
        };
        let sum = of(&[Opcode::Add, Opcode::Sub, Opcode::MulAdd]).into_iter().fold(0u128, u128::saturating_add);
        let factors = of(&[Opcode::Mul, Opcode::MulAdd]).into_iter().filter(|&factor| factor > 1);
        factors.fold(sum.max(1), u128::saturating_mul)
    };
    let types: BTreeSet<Type> = step.insts.iter().map(|inst| inst.ty).filter(|ty| ty.is_int()).collect();
    types.into_iter().any(|ty| together(ty) >> (ty.bits() - 1) != 0)
}
