//! Intervals of a step's parameters where conditions hold: `c - b'0'` is below 10 where `c` is a
//! digit.

use super::code::Code;
use crate::facts::Range;
use crate::function::Value;
use crate::opcode::Opcode;

/// Conditions one inside the other, or operations on what is compared, that are looked into.
const DEPTH: usize = 8;

/// The intervals of the parameters, of these, where each of these conditions holds, or does not; none if that is nowhere.
pub(super) fn narrowed(code: &Code<'_>, params: &[Range], conditions: &[(Value, bool)]) -> Option<Vec<Range>> {
    let mut within = Within { code, params: params.to_vec() };
    conditions.iter().for_each(|&(condition, holds)| within.assume(condition, holds, DEPTH));
    within.params.iter().all(|range| range.min <= range.max).then_some(within.params)
}

/// The numbers within an interval for which a comparison with a constant holds; none if they are in two pieces.
pub(super) fn numbers(opcode: Opcode, k: i128, Range { min, max }: Range) -> Option<Range> {
    Some(match opcode {
        Opcode::Eq => Range { min: min.max(k), max: max.min(k) },
        Opcode::Ne if k == min => Range { min: min + 1, max },
        Opcode::Ne if k == max => Range { min, max: max - 1 },
        Opcode::Lt => Range { min, max: max.min(k - 1) },
        Opcode::Le => Range { min, max: max.min(k) },
        Opcode::Gt => Range { min: min.max(k + 1), max },
        Opcode::Ge => Range { min: min.max(k), max },
        _ => return None,
    })
}

/// The comparison that holds where this one does not; of numbers that are no NaN.
pub(super) fn inverse(opcode: Opcode) -> Option<Opcode> {
    Some(match opcode {
        Opcode::Eq => Opcode::Ne,
        Opcode::Ne => Opcode::Eq,
        Opcode::Lt => Opcode::Ge,
        Opcode::Ge => Opcode::Lt,
        Opcode::Gt => Opcode::Le,
        Opcode::Le => Opcode::Gt,
        _ => return None,
    })
}

struct Within<'a, 't> {
    code: &'a Code<'t>,
    params: Vec<Range>,
}

impl Within<'_, '_> {
    fn assume(&mut self, condition: Value, holds: bool, depth: usize) {
        let Some(inst) = self.code.inst(condition).filter(|_| depth > 0) else { return };
        match (inst.opcode, inst.operands(), holds) {
            (Opcode::And, &[a, b], true) | (Opcode::Or, &[a, b], false) => {
                self.assume(a, holds, depth - 1);
                self.assume(b, holds, depth - 1);
            }
            (Opcode::Not, &[a], _) => self.assume(a, !holds, depth - 1),
            (opcode, &[x, k], _) => {
                let ty = self.code.ty(x);
                let Some(k) = self.code.constant_of(k).filter(|_| ty.is_int()) else { return };
                let Some(opcode) = (if holds { Some(opcode) } else { inverse(opcode) }) else { return };
                let whole = self.params.get(x.index()).copied().unwrap_or(Range::full(ty));
                if let Some(range) = numbers(opcode, k.as_int(), whole) {
                    self.narrow(x, range, depth);
                }
            }
            _ => {}
        }
    }

    /// The parameter of a value that is within an interval is within one too.
    fn narrow(&mut self, value: Value, range: Range, depth: usize) {
        if let Some(own) = self.params.get_mut(value.index()) {
            *own = Range { min: own.min.max(range.min), max: own.max.min(range.max) };
            return;
        }
        let Some(inst) = self.code.inst(value).filter(|_| depth > 0) else { return };
        let from = Range::full(self.code.ty(inst.operands().first().copied().unwrap_or(value)));
        match (inst.opcode, inst.operands()) {
            (Opcode::Add, &[x, k]) => {
                let Some(k) = self.code.constant_of(k) else { return };
                let width = from.max - from.min + 1;
                // Modulo the width of the type it may be in two pieces.
                let [low, high] = [range.min, range.max].map(|end| end - k.as_int() - from.min);
                if low.div_euclid(width) == high.div_euclid(width) {
                    let [min, max] = [low, high].map(|end| end.rem_euclid(width) + from.min);
                    self.narrow(x, Range { min, max }, depth - 1);
                }
            }
            (Opcode::Cast, &[x]) if self.code.ty(x).is_int() && Range::full(inst.ty).contains(from) => {
                self.narrow(x, range, depth - 1);
            }
            _ => {}
        }
    }
}
