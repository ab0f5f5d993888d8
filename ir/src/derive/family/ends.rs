//! Bounded sums of 32 bits, element by element in 32 bits.
//!
//! u ↦ min(max(u + b, lower), upper) over a stretch of elements: the bounds are what the smallest
//! and the largest number of the type become, so the loop's own step takes them past an element. It
//! does so in the loop's type. Where a sum leaves that type, it saturates: the lower end at the
//! least number, the upper one at the largest. (The lower end leaves it upwards, and the upper one
//! downwards, where the loop itself does so.) Each such step is the loop's wherever the loop does
//! not overflow, and takes the whole type to itself.
//!
//! The sum b may leave the type where the loop does not. With one bound it is kept in 64 bits. With
//! both it is kept modulo 2³²: a function that is not constant rises from `lower` at lower − b,
//! which is a number of the type, and is what a stage of [ramps](super::ramp) has.

use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// The fold of a group, where it is a bounded sum: what it carries is a sum, and one end or both.
#[derive(Clone)]
pub(in crate::derive) struct Ends {
    pub(in crate::derive) initial: Vec<Constant>,
    /// The number that an element adds to the sum.
    pub(in crate::derive) added: Value,
    /// The group's component after an element, where it was an end before.
    pub(in crate::derive) ends: Vec<Value>,
    /// From what is carried to the group's part of the stage's state.
    pub(in crate::derive) leave: Function,
}

/// The step at one end.
struct End {
    ty: Type,
    is_upper: bool,
    component: usize,
}

/// The sum that it adds, in a type.
struct Added {
    ty: Type,
    sum: Type,
}

/// `state + k`, or `state − k` if `down`. A constant in the upper half of a type without signs is what is taken away.
pub(super) fn summand(code: &mut Code<'_>, inst: &Inst, ty: Type, k: Value) -> (Value, bool) {
    let large = code.constant_of(k).filter(|k| !ty.is_signed() && k.as_int() >> (ty.bits() - 1) != 0);
    match (inst.opcode, large) {
        (Opcode::Add, Some(k)) => (code.constant(Constant::new(ty, k.bits().wrapping_neg() & ty.mask())), true),
        (opcode, _) => (k, matches!(opcode, Opcode::Sub | Opcode::SubSat)),
    }
}

/// The state's form and the known operand.
pub(super) fn operands<F: Copy>(inst: &Inst, ty: Type, x: &[Operand<F>]) -> Result<(F, Value), Leave> {
    if inst.ty != ty || inst.payload == Payload::Wraps {
        return Err(Leave);
    }
    match x {
        [Operand::Form(form), Operand::Known(k)] => Ok(((*form)?, *k)),
        [Operand::Known(k), Operand::Form(form)] if inst.opcode.is_commutative() => Ok(((*form)?, *k)),
        _ => Err(Leave),
    }
}

impl Domain for End {
    type Form = Value;

    fn known(&self, _code: &mut Code<'_>, value: Value) -> Result<Value, Leave> {
        Ok(value)
    }

    fn component(&self, _code: &mut Code<'_>, _place: usize) -> Value {
        Value::new(self.component)
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Value, no: Value) -> Result<Value, Leave> {
        Ok(code.select(condition, yes, no))
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Value>]) -> Result<Value, Leave> {
        let (form, k) = operands(inst, self.ty, x)?;
        match inst.opcode {
            Opcode::Add | Opcode::Sub => {}
            Opcode::Min | Opcode::Max | Opcode::AddSat | Opcode::SubSat => {
                return Ok(code.binary(inst.opcode, form, k));
            }
            _ => return Err(Leave),
        }
        let (k, down) = summand(code, inst, self.ty, k);
        // The part of k that leads out of the type at this end.
        let zero = code.constant(self.ty.zero());
        let outwards = match (self.ty.is_signed(), self.is_upper == down) {
            (true, true) => code.binary(Opcode::Min, k, zero),
            (true, false) => code.binary(Opcode::Max, k, zero),
            (false, true) => zero,
            (false, false) => k,
        };
        let (limit, inwards) = match self.is_upper {
            true => (code.constant(self.ty.greatest()), Opcode::Min),
            false => (code.constant(self.ty.least()), Opcode::Max),
        };
        let mut exact = |opcode, a, b| code.push(Inst::new(opcode, self.ty, &[a, b], Payload::Wraps));
        let limit = exact(if down { Opcode::Add } else { Opcode::Sub }, limit, outwards);
        let within = code.binary(inwards, form, limit);
        let opcode = if down { Opcode::Sub } else { Opcode::Add };
        Ok(code.push(Inst::new(opcode, self.ty, &[within, k], Payload::Wraps)))
    }
}

impl Domain for Added {
    type Form = Value;

    /// Of a constant function no sum matters where both bounds are its value. One bound alone would need a sum without end.
    fn known(&self, code: &mut Code<'_>, _value: Value) -> Result<Value, Leave> {
        if self.sum == self.ty { Ok(code.constant(self.sum.zero())) } else { Err(Leave) }
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Value {
        code.constant(self.sum.zero())
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Value, no: Value) -> Result<Value, Leave> {
        Ok(code.select(condition, yes, no))
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Value>]) -> Result<Value, Leave> {
        let (form, k) = operands(inst, self.ty, x)?;
        match inst.opcode {
            Opcode::Min | Opcode::Max => return Ok(form),
            Opcode::Add | Opcode::Sub | Opcode::AddSat | Opcode::SubSat => {}
            _ => return Err(Leave),
        }
        let (k, down) = summand(code, inst, self.ty, k);
        let k = code.cast(self.sum, k);
        let opcode = if down { Opcode::Sub } else { Opcode::Add };
        Ok(code.push(Inst::new(opcode, self.sum, &[form, k], Payload::Wraps)))
    }
}

/// The fold of a group that has this effect, if there is one.
pub(in crate::derive) fn of_group(group: &mut Group<'_, '_>, effect: &Effect) -> Option<Ends> {
    let (has_lower, has_upper) = match effect.family {
        Family::Clamp { scaled: false, lower, upper } => (lower, upper),
        Family::Tropical { components: 1, maxima } => (maxima, !maxima),
        _ => return None,
    };
    let component = group.single().ok()?;
    let ty = group.types[component];
    let count = 1 + usize::from(has_lower) + usize::from(has_upper);
    let both = has_lower && has_upper;
    let sum = if both { ty } else { Type::I64 };
    if !matches!(ty, Type::I32 | Type::U32) || effect.types != vec![sum; count] {
        return None;
    }
    let added = group.forms(&Added { ty, sum }).ok()?[0];
    let bounds = [has_lower.then_some(false), has_upper.then_some(true)].into_iter().flatten();
    let bounds: Vec<bool> = bounds.collect();
    let ends = bounds.iter().map(|&is_upper| group.forms(&End { ty, is_upper, component }).map(|forms| forms[0]));
    let ends: Vec<Value> = ends.collect::<Result<_, _>>().ok()?;
    let limits = bounds.iter().map(|&is_upper| if is_upper { ty.greatest() } else { ty.least() });
    let initial: Vec<Constant> = [sum.zero()].into_iter().chain(limits).collect();
    let types: Vec<Type> = initial.iter().map(|constant| constant.ty()).collect();
    let leave = seeded(&types, |b, carried| match *carried {
        [sum, low, high] => {
            let start = b.wrapping(|b| b.binary(Opcode::Sub, low, sum));
            let (is_constant, zero) = (b.binary(Opcode::Eq, low, high), b.constant(ty.zero()));
            vec![b.select(is_constant, zero, start), low, high]
        }
        _ => vec![carried[0], b.cast(Type::I64, carried[1])],
    });
    Some(Ends { initial, added, ends, leave })
}
