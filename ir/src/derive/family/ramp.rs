//! u ↦ min(max(u + b, lo), hi) in 64 bits, where b may leave the type: by where the function rises.
//!
//! Over a stretch of elements the sum b may leave 64 bits though the loop never does, since it is
//! bounded on the way. But the function itself never leaves them: it is `low` up to `start`, rises
//! one by one, and is `high` from there on.
//!
//! ```text
//! f(u) = low + min(max(u, start) − start, high − low)        distances without sign
//! f ⊕ g = (f.start + (clamp(g.start, f.low, f.high) − f.low), g(f.low), g(f.high))
//! identity (MIN, MIN, MAX)        seed(u) = (0, u, u)
//! ```
//!
//! Every step is exact for all states. A constant function starts at 0, so that each function has
//! one form.

use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// An integer type of 64 bits.
struct Ramp {
    ty: Type,
    compose: Function,
}

/// [start, low, high], and whether there is a lower and an upper bound.
#[derive(Clone, Copy)]
struct Form {
    parts: [Value; 3],
    bounds: (bool, bool),
}

fn least(ty: Type) -> Constant {
    if ty.is_signed() { Constant::new(ty, 1 << (ty.bits() - 1)) } else { ty.zero() }
}

fn most(ty: Type) -> Constant {
    Constant::new(ty, if ty.is_signed() { ty.mask() >> 1 } else { ty.mask() })
}

impl Ramp {
    fn new(ty: Type) -> Ramp {
        Ramp { ty, compose: compose(ty) }
    }

    fn then(&self, code: &mut Code<'_>, form: Form, next: [Value; 3], bounds: (bool, bool)) -> Form {
        let parts = code.inline(&self.compose, &[form.parts, next].concat());
        let parts = parts.try_into().expect("a function has three parts");
        Form { parts, bounds: (form.bounds.0 || bounds.0, form.bounds.1 || bounds.1) }
    }

    /// u + k, or u − k if `down`.
    fn shift(&self, code: &mut Code<'_>, k: Value, down: bool) -> [Value; 3] {
        let [zero, least, most] = [self.ty.zero(), least(self.ty), most(self.ty)].map(|bound| code.constant(bound));
        let (up, fallen) = match self.ty.is_signed() {
            // What raises and what lowers: one of them is 0.
            true => (code.binary(Opcode::Max, k, zero), code.binary(Opcode::Min, k, zero)),
            false => (k, zero),
        };
        let mut exact = |opcode, a, b| code.push(Inst::new(opcode, self.ty, &[a, b], Payload::Wraps));
        match down {
            false => {
                [exact(Opcode::Sub, least, fallen), exact(Opcode::Add, least, up), exact(Opcode::Add, most, fallen)]
            }
            true => [exact(Opcode::Add, least, up), exact(Opcode::Sub, least, fallen), exact(Opcode::Sub, most, up)],
        }
    }
}

impl Domain for Ramp {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        let start = code.constant(self.ty.zero());
        Ok(Form { parts: [start, value, value], bounds: (true, true) })
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Form {
        let [least, most] = [least(self.ty), most(self.ty)].map(|bound| code.constant(bound));
        Form { parts: [least, least, most], bounds: (false, false) }
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        let mut choose = |part: usize| code.select(condition, yes.parts[part], no.parts[part]);
        let parts = [choose(0), choose(1), choose(2)];
        Ok(Form { parts, bounds: (yes.bounds.0 || no.bounds.0, yes.bounds.1 || no.bounds.1) })
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        if inst.ty != self.ty || inst.payload == Payload::Wraps {
            return Err(Leave);
        }
        let (form, k) = match x {
            [Operand::Form(form), Operand::Known(k)] => ((*form)?, *k),
            [Operand::Known(k), Operand::Form(form)] if inst.opcode.is_commutative() => ((*form)?, *k),
            _ => return Err(Leave),
        };
        let [least, most] = [least(self.ty), most(self.ty)].map(|bound| code.constant(bound));
        let (next, bounds) = match inst.opcode {
            Opcode::Add => match code.constant_of(k).filter(|k| !self.ty.is_signed() && k.as_int() >> 63 != 0) {
                // The simplifier writes `u − 1` so.
                Some(large) => {
                    let taken = code.constant(Constant::new(self.ty, large.bits().wrapping_neg()));
                    (self.shift(code, taken, true), (false, false))
                }
                None => (self.shift(code, k, false), (false, false)),
            },
            Opcode::Sub => (self.shift(code, k, true), (false, false)),
            Opcode::AddSat => (self.shift(code, k, false), (self.ty.is_signed(), true)),
            Opcode::SubSat => (self.shift(code, k, true), (true, self.ty.is_signed())),
            Opcode::Max => ([k, k, most], (true, false)),
            Opcode::Min => ([least, least, k], (false, true)),
            _ => return Err(Leave),
        };
        Ok(self.then(code, form, next, bounds))
    }
}

/// The group as a bounded sum of 64 bits.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let ty = group.types[group.single()?];
    if !matches!(ty, Type::I64 | Type::U64) {
        return Err(Leave);
    }
    let ramp = Ramp::new(ty);
    let Form { parts, bounds: (lower, upper) } = group.forms(&ramp)?[0];
    if !lower && !upper {
        // Sums are a family of their own.
        return Err(Leave);
    }
    let types = vec![ty; 3];
    Ok(Effect {
        family: Family::Clamp { scaled: false, lower, upper },
        identity: vec![least(ty), least(ty), most(ty)],
        lift: parts.to_vec(),
        combine: ramp.compose,
        seed: seeded(&[ty], |b, u| vec![b.constant(ty.zero()), u[0], u[0]]),
        value: seeded(&types, |_, state| vec![state[1]]),
        valid: None,
        types,
        tables: Vec::new(),
    })
}

/// (earlier, later) → composed.
fn compose(ty: Type) -> Function {
    let mut build = FunctionBuilder::new();
    let (earlier, later) = (build.params(&[ty; 3]), build.params(&[ty; 3]));
    let results = build.wrapping(|b| {
        let distance = |b: &mut FunctionBuilder, from: Value, to: Value| {
            let distance = b.binary(Opcode::Sub, to, from);
            b.bitcast(Type::U64, distance)
        };
        let height = distance(b, later[1], later[2]);
        let applied = |b: &mut FunctionBuilder, u: Value| {
            let u = b.binary(Opcode::Max, u, later[0]);
            let run = distance(b, later[0], u);
            let rise = b.binary(Opcode::Min, run, height);
            let rise = b.bitcast(ty, rise);
            b.binary(Opcode::Add, later[1], rise)
        };
        let (low, high) = (applied(b, earlier[1]), applied(b, earlier[2]));
        let reached = b.binary(Opcode::Max, later[0], earlier[1]);
        let reached = b.binary(Opcode::Min, reached, earlier[2]);
        let run = b.binary(Opcode::Sub, reached, earlier[1]);
        let start = b.binary(Opcode::Add, earlier[0], run);
        let (is_constant, zero) = (b.binary(Opcode::Eq, low, high), b.constant(ty.zero()));
        vec![b.select(is_constant, zero, start), low, high]
    });
    build.finish(&results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;

    /// Functions of 8 bits are the same but for their width: all of them are tried.
    #[test]
    fn functions_compose_wherever_the_sum_leaves_the_type() {
        let call = |function: &Function, x: &[i64]| -> Vec<i64> {
            let x: Vec<Constant> = x.iter().map(|&x| Constant::from(x)).collect();
            interp::call(function, &x, &[]).iter().map(|c| c.as_int() as i64).collect()
        };
        let combine = compose(Type::I64);
        let (min, max) = (i64::MIN, i64::MAX);
        // u + k, in [low, high] from there on: start, low, high.
        let steps = [
            ([min, min + 1, max], "raise by 1"),
            ([min, 0, max], "raise by 2^63"),
            ([0, min, -1], "lower by 2^63"),
            ([min, min, 5], "at most 5"),
            ([-7, -7, max], "at least -7"),
            ([min + 9, min, max - 9], "lower by 9"),
            ([0, 3, 3], "3"),
        ];
        let of = |[start, low, high]: [i64; 3], u: i64| {
            let rise = (i128::from(u.max(start)) - i128::from(start)).min(i128::from(high) - i128::from(low));
            (i128::from(low) + rise) as i64
        };
        let states = [min, min + 1, -8, -7, -1, 0, 1, 4, 5, 6, max - 1, max];
        for (f, _) in steps {
            for (g, _) in steps {
                let both: [i64; 3] = call(&combine, &[f, g].concat()).try_into().unwrap();
                for u in states {
                    assert_eq!(of(both, u), of(g, of(f, u)), "{f:?} {g:?} {u}");
                }
                for (h, _) in steps {
                    let first = call(&combine, &[&both[..], &h].concat());
                    let second = call(&combine, &[&f[..], &call(&combine, &[g, h].concat())].concat());
                    assert_eq!(first, second, "{f:?} {g:?} {h:?}");
                }
            }
        }
    }
}
