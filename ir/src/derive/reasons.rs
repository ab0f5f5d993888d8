//! The operation of a step that says most about why no family has a group of it.

use super::Flat;
use super::code::{Code, Components};
use super::family::LARGEST_MODULUS;
use super::refusal::Why;
use super::written::Written;
use crate::function::{Inst, Value};
use crate::opcode::Opcode;
use crate::types::Type;

/// The step of a group that no family has.
pub(super) struct Step<'a, 't> {
    pub(super) code: &'a Code<'t>,
    pub(super) written: &'a Written<'a>,
    pub(super) flat: &'a Flat,
    pub(super) members: &'a [usize],
    pub(super) next: &'a [Value],
}

impl Step<'_, '_> {
    fn mask(&self) -> Components {
        self.members.iter().fold(0, |mask, &member| mask | 1 << member)
    }

    fn unknown(&self, value: Value) -> bool {
        self.code.depends(value) & self.mask() != 0
    }

    /// The instructions that take the state to the next one, as they were written.
    fn insts(&self) -> Vec<(Value, Inst)> {
        let mut used = vec![false; self.code.function().value_count()];
        let mut open: Vec<Value> = self.members.iter().map(|&member| self.next[member]).collect();
        while let Some(value) = open.pop() {
            if self.unknown(value) && !std::mem::replace(&mut used[value.index()], true) {
                open.extend(self.code.inst(value).iter().flat_map(|inst| inst.operands().to_vec()));
            }
        }
        let used = (0..used.len()).filter(|&place| used[place]).map(Value::new);
        used.filter_map(|value| Some((value, self.written.inst(self.code, value)?))).collect()
    }

    /// The operation that shows best why a family that has them all has not the group.
    pub(super) fn shows(&self, why: Why) -> Option<Value> {
        let insts = self.insts();
        let first = |test: &dyn Fn(&Inst) -> bool| insts.iter().find(|(_, inst)| test(inst)).map(|(value, _)| *value);
        let is_unknown = |inst: &Inst, place: usize| inst.operands().get(place).is_some_and(|&x| self.unknown(x));
        match why {
            Why::Growth => {
                let scales = |inst: &Inst| inst.ty.is_float() && matches!(inst.opcode, Opcode::Mul | Opcode::Div);
                // A state that meets itself in a sum is a multiple too.
                let is_sum = |inst: &Inst| matches!(inst.opcode, Opcode::Add | Opcode::Sub);
                let meets = |inst: &Inst| is_sum(inst) && is_unknown(inst, 0) && is_unknown(inst, 1);
                first(&scales).or_else(|| first(&meets))
            }
            Why::Word(_) => insts.last().map(|(value, _)| *value),
            Why::Varies => first(&|inst| inst.opcode == Opcode::Select && !is_unknown(inst, 0)),
            _ => None,
        }
    }

    /// The operation nearest to the element that says most about why no family has the group.
    pub(super) fn worst(&self) -> (Why, Option<Value>) {
        let Step { code, flat, members, .. } = *self;
        let mask = self.mask();
        let unknown = |value: Value| self.unknown(value);
        let all = self.insts();
        let insts = || all.iter().copied();
        // Why an operation of operands that are known or not leaves every family.
        type Reason = fn(Opcode, &[bool]) -> Option<Why>;
        let kinds: [Reason; 5] = [
            |opcode, unknown| {
                use Opcode::*;
                let ordinary = matches!(
                    opcode,
                    Add | Sub
                        | Mul
                        | Div
                        | Neg
                        | Abs
                        | Min
                        | Max
                        | AddSat
                        | SubSat
                        | And
                        | Or
                        | Xor
                        | Not
                        | Select
                        | Rem
                ) || matches!(
                    opcode,
                    Shl | Shr | Cast | RotateLeft | RotateRight | Eq | Ne | Lt | Le | Gt | Ge | Table
                );
                (!ordinary && unknown.contains(&true)).then_some(Why::Operation(opcode))
            },
            |opcode, unknown| {
                let square = matches!(opcode, Opcode::Mul | Opcode::MulAdd) && unknown.starts_with(&[true, true]);
                square.then_some(Why::Square)
            },
            |opcode, unknown| (opcode == Opcode::Div && unknown.get(1) == Some(&true)).then_some(Why::Quotient),
            |opcode, unknown| (opcode == Opcode::Select && unknown[0]).then_some(Why::Branch),
            |opcode, unknown| (opcode == Opcode::Table && unknown[0]).then_some(Why::States),
        ];
        for kind in kinds {
            let hit = insts().find_map(|(value, inst)| {
                let operands: Vec<bool> = inst.operands().iter().map(|&operand| unknown(operand)).collect();
                kind(inst.opcode, &operands).map(|why| (why, Some(value)))
            });
            if let Some(hit) = hit {
                return hit;
            }
        }
        let last = |test: &dyn Fn(Opcode) -> bool| insts().filter(|(_, inst)| test(inst.opcode)).last();
        let is_word = |opcode| {
            matches!(
                opcode,
                Opcode::Xor | Opcode::RotateLeft | Opcode::RotateRight | Opcode::Shr | Opcode::And | Opcode::Or
            )
        };
        let words = insts().any(|(_, inst)| is_word(inst.opcode) && inst.ty.is_int());
        let numbers = insts().any(|(_, inst)| matches!(inst.opcode, Opcode::Add | Opcode::Mul) && inst.ty.is_int());
        let unlike_integers = flat.overflows.reason(mask);
        let is_alone = insts().all(|(_, inst)| !is_word(inst.opcode) || inst.opcode == Opcode::And);
        let remainder = last(&|opcode| opcode == Opcode::Rem || opcode == Opcode::And && numbers && is_alone);
        if let Some((value, inst)) = remainder
            && let Some(why) = of_remainder(code, &inst, members, flat)
        {
            return (why, Some(value));
        }
        if words && numbers {
            return (Why::Mixed, last(&|_| true).map(|(value, _)| value));
        }
        let bounds = |opcode| matches!(opcode, Opcode::Min | Opcode::Max | Opcode::AddSat | Opcode::SubSat);
        if let Some(((value, _), why)) = last(&bounds).zip(unlike_integers) {
            return (why, Some(value));
        }
        if let Some((value, _)) = last(&|opcode| {
            matches!(opcode, Opcode::Eq | Opcode::Ne | Opcode::Lt | Opcode::Le | Opcode::Gt | Opcode::Ge)
        }) {
            return (Why::Compared, Some(value));
        }
        if let Some((value, inst)) = last(&|opcode| matches!(opcode, Opcode::Min | Opcode::Max | Opcode::Abs)) {
            let beside = |inst: &Inst| match inst.opcode {
                Opcode::Mul | Opcode::Div => inst.ty.is_int(),
                opcode => is_word(opcode) || matches!(opcode, Opcode::Cast | Opcode::Not | Opcode::Shl),
            };
            if let Some((value, inst)) = insts().rfind(|(_, inst)| beside(inst)) {
                return (Why::Beside(inst.opcode), Some(value));
            }
            let too_wide = is_closed_but_for_width(insts().map(|(_, inst)| inst), members.len() == 1, unknown);
            return (if too_wide { Why::Type(inst.ty) } else { Why::Bends }, Some(value));
        }
        let is_shift = |opcode| matches!(opcode, Opcode::Shl | Opcode::Shr | Opcode::RotateLeft | Opcode::RotateRight);
        let varies = |inst: &Inst| inst.operands().get(1).is_some_and(|&by| code.constant_of(by).is_none());
        if let Some((value, _)) = insts().rfind(|(_, inst)| is_shift(inst.opcode) && varies(inst)) {
            return (Why::Shifted, Some(value));
        }
        // Sums and products are in families, and so are choices by the element; what is beside them is what is not.
        let is_in_a_family =
            |opcode| matches!(opcode, Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Neg | Opcode::Select);
        let odd = last(&|opcode| !is_in_a_family(opcode));
        match (members.len(), odd.or_else(|| insts().next_back())) {
            (1, Some((value, inst))) => (Why::Operation(inst.opcode), Some(value)),
            _ => (Why::Several, None),
        }
    }
}

/// Why a remainder has no family. None if the operation is none: a mask of other bits than the low ones.
fn of_remainder(code: &Code<'_>, inst: &Inst, members: &[usize], flat: &Flat) -> Option<Why> {
    let by = inst.operands().iter().find_map(|&operand| code.constant_of(operand)).map(|constant| constant.as_int());
    let modulus = match inst.opcode {
        Opcode::And => Some(by.filter(|by| *by > 0 && by & (by + 1) == 0)? + 1),
        _ => by,
    };
    if !inst.ty.is_int() || members.len() > 1 {
        return Some(Why::Operation(inst.opcode));
    }
    let Some(modulus) = modulus.filter(|modulus| (1..=LARGEST_MODULUS).contains(modulus)) else {
        return Some(Why::Modulus);
    };
    let is_power = modulus & (modulus - 1) == 0;
    Some(match flat.overflows.reason(1 << members[0]) {
        _ if !(0..modulus).contains(&flat.initial[members[0]].as_int()) => Why::Start { modulus: modulus as u64 },
        Some(why) if !is_power => why,
        _ if inst.ty.is_signed() && inst.opcode == Opcode::Rem => Why::Negative,
        _ => Why::Operation(inst.opcode),
    })
}

/// Whether these are sums under bounds that would have a family if they had fewer than 64 bits: one component of which each
/// operation takes one value, or maxima alone, or minima alone, of several.
fn is_closed_but_for_width(
    mut insts: impl Iterator<Item = Inst>,
    is_single: bool,
    unknown: impl Fn(Value) -> bool,
) -> bool {
    let mut bounds = [false; 2];
    insts.all(|inst| {
        let operands: Vec<bool> = inst.operands().iter().map(|&operand| unknown(operand)).collect();
        let is_of_one = operands != [true, true];
        let has_family = match inst.opcode {
            Opcode::Add => is_of_one,
            Opcode::Sub => is_of_one && (is_single || operands == [true, false]),
            Opcode::Min | Opcode::Max => {
                bounds[(inst.opcode == Opcode::Max) as usize] = true;
                if is_single { is_of_one } else { bounds != [true, true] }
            }
            _ => false,
        };
        has_family && matches!(inst.ty, Type::I64 | Type::U64)
    })
}
