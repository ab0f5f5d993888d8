//! u ↦ min(max(u + b, lo), hi) in the loop's own type, though b may leave it: by where the function
//! rises.
//!
//! Over a stretch of elements the sum b may leave the type where the loop never does, since it is
//! bounded on the way. But the function itself never leaves it: it is `low` up to `start`, rises
//! one by one, and is `high` from there on.
//!
//! ```text
//! f(u) = low + min(max(u, start) − start, high − low)        distances without sign
//! f ⊕ g = (f.start + (clamp(g.start, f.low, f.high) − f.low), g(f.low), g(f.high))
//! identity (MIN, MIN, MAX)        seed(u) = (0, u, u)
//! ```
//!
//! A constant function starts at 0, so that each function has one form. Valid are the forms that
//! reach `high` within the type, and those compose exactly, whatever the sums are. Every operation
//! of a step makes a valid form of one, as the tests prove of each type.

use super::ends::{operands, summand};
use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::Type;

/// An integer type of 32 or 64 bits.
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

/// The type of distances between numbers of this one.
fn distance(ty: Type) -> Type {
    match ty.size() {
        1 => Type::U8,
        2 => Type::U16,
        4 => Type::U32,
        _ => Type::U64,
    }
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

    /// The larger, or the smaller, of the function and k.
    fn bounded(&self, code: &mut Code<'_>, form: Form, opcode: Opcode, k: Value) -> Form {
        let [start, low, high] = form.parts;
        let rises_at = match opcode {
            Opcode::Max => {
                let reached = code.binary(Opcode::Max, low, k);
                let reached = code.binary(Opcode::Min, reached, high);
                let run = code.push(Inst::new(Opcode::Sub, self.ty, &[reached, low], Payload::Wraps));
                code.push(Inst::new(Opcode::Add, self.ty, &[start, run], Payload::Wraps))
            }
            _ => start,
        };
        let (low, high) = (code.binary(opcode, low, k), code.binary(opcode, high, k));
        let is_constant = code.compare(Opcode::Eq, low, high);
        let zero = code.constant(self.ty.zero());
        let start = code.select(is_constant, zero, rises_at);
        let (lower, upper) = form.bounds;
        Form { parts: [start, low, high], bounds: (lower || opcode == Opcode::Max, upper || opcode == Opcode::Min) }
    }

    /// u + k, or u − k if `down`.
    fn shift(&self, code: &mut Code<'_>, k: Value, down: bool) -> [Value; 3] {
        let [zero, least, most] =
            [self.ty.zero(), self.ty.least(), self.ty.greatest()].map(|bound| code.constant(bound));
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
        let [least, most] = [self.ty.least(), self.ty.greatest()].map(|bound| code.constant(bound));
        Form { parts: [least, least, most], bounds: (false, false) }
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        let mut choose = |part: usize| code.select(condition, yes.parts[part], no.parts[part]);
        let parts = [choose(0), choose(1), choose(2)];
        Ok(Form { parts, bounds: (yes.bounds.0 || no.bounds.0, yes.bounds.1 || no.bounds.1) })
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        let (form, k) = operands(inst, self.ty, x)?;
        let bounds = match inst.opcode {
            Opcode::Add | Opcode::Sub => (false, false),
            Opcode::AddSat => (self.ty.is_signed(), true),
            Opcode::SubSat => (true, self.ty.is_signed()),
            Opcode::Max | Opcode::Min => return Ok(self.bounded(code, form, inst.opcode, k)),
            _ => return Err(Leave),
        };
        let (k, down) = summand(code, inst, self.ty, k);
        let next = self.shift(code, k, down);
        Ok(self.then(code, form, next, bounds))
    }
}

/// The group as a bounded sum of 32 or 64 bits.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let ty = group.types[group.single()?];
    if !matches!(ty, Type::I32 | Type::U32 | Type::I64 | Type::U64) {
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
        identity: vec![ty.least(), ty.least(), ty.greatest()],
        lift: parts.to_vec(),
        combine: ramp.compose,
        seed: seeded(&[ty], |b, u| vec![b.constant(ty.zero()), u[0], u[0]]),
        value: seeded(&types, |_, state| vec![state[1]]),
        valid: Some(valid(ty)),
        types,
        tables: Vec::new(),
    })
}

/// Whether a function is `high` somewhere in the type, and starts at 0 if it is constant.
fn valid(ty: Type) -> Function {
    seeded(&[ty; 3], |b, state| {
        let &[start, low, high] = state else { unreachable!("a function has three parts") };
        b.wrapping(|b| {
            let is_ordered = b.binary(Opcode::Le, low, high);
            let (top, zero) = (b.constant(ty.greatest()), b.constant(ty.zero()));
            let [height, room] = [(low, high), (start, top)].map(|(from, to)| {
                let far = b.binary(Opcode::Sub, to, from);
                b.bitcast(distance(ty), far)
            });
            let fits = b.binary(Opcode::Le, height, room);
            let (varies, is_zero) = (b.binary(Opcode::Lt, low, high), b.binary(Opcode::Eq, start, zero));
            let is_normal = b.binary(Opcode::Or, varies, is_zero);
            let holds = b.binary(Opcode::And, is_ordered, fits);
            vec![b.binary(Opcode::And, holds, is_normal)]
        })
    })
}

/// (earlier, later) → composed.
fn compose(ty: Type) -> Function {
    let mut build = FunctionBuilder::new();
    let (earlier, later) = (build.params(&[ty; 3]), build.params(&[ty; 3]));
    let results = build.wrapping(|b| {
        let far = |b: &mut FunctionBuilder, from: Value, to: Value| {
            let far = b.binary(Opcode::Sub, to, from);
            b.bitcast(distance(ty), far)
        };
        let height = far(b, later[1], later[2]);
        let applied = |b: &mut FunctionBuilder, u: Value| {
            let u = b.binary(Opcode::Max, u, later[0]);
            let run = far(b, later[0], u);
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
    use crate::laws::{Overflow, Proof, Verdict, judge, linear};
    use crate::program::{Mapping, Source, Stage};
    use crate::random::SplitMix64;
    use crate::types::Constant;

    const NARROW: [Type; 2] = [Type::I8, Type::U8];
    const ALL: [Type; 8] = [Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::U32, Type::I64, Type::U64];

    fn call(function: &Function, ty: Type, x: &[i128]) -> Vec<i128> {
        let x: Vec<Constant> = x.iter().map(|&x| Constant::new(ty, x as u128)).collect();
        interp::call(function, &x, &[]).iter().map(|c| c.as_int()).collect()
    }

    fn ends(ty: Type) -> (i128, i128) {
        (ty.least().as_int(), ty.greatest().as_int())
    }

    /// The function of these parts at u.
    fn at([start, low, high]: [i128; 3], u: i128) -> i128 {
        low + (u.max(start) - start).min(high - low)
    }

    /// Forms of functions, by any two ends and any start, or near the ends of the type.
    fn form(ty: Type, numbers: &mut SplitMix64) -> [i128; 3] {
        let (min, max) = ends(ty);
        let mut number = || {
            let any = min + (numbers.next() as i128).rem_euclid(max - min + 1);
            let near = (numbers.next() % 4) as i128;
            [any, min + near, max - near, near][numbers.next() as usize % 4]
        };
        let (a, b, start) = (number(), number(), number());
        let (low, high) = (a.min(b), a.max(b));
        let room = max - (high - low) - min + 1;
        if low == high { [0, low, high] } else { [min + (start - min).rem_euclid(room), low, high] }
    }

    /// Functions of eight bits are those of others but for their width.
    #[test]
    fn functions_compose_wherever_the_sum_leaves_the_type() {
        let mut numbers = SplitMix64(3);
        for ty in NARROW {
            let (compose, valid) = (compose(ty), valid(ty));
            let (min, max) = ends(ty);
            for _ in 0..3000 {
                let (f, g) = (form(ty, &mut numbers), form(ty, &mut numbers));
                assert_eq!(call(&valid, ty, &f), [1], "{f:?}");
                let both: [i128; 3] = call(&compose, ty, &[f, g].concat()).try_into().unwrap();
                assert_eq!(call(&valid, ty, &both), [1], "{f:?} {g:?}");
                for u in min..=max {
                    assert_eq!(at(both, u), at(g, at(f, u)), "{f:?} {g:?} {u}");
                }
            }
        }
    }

    /// Two valid forms of one function are one, and a form that leaves the type is none.
    #[test]
    fn a_function_has_one_valid_form() {
        let valid = valid(Type::I8);
        assert_eq!(call(&valid, Type::I8, &[5, 7, 7]), [0]);
        assert_eq!(call(&valid, Type::I8, &[0, 8, 7]), [0]);
        assert_eq!(call(&valid, Type::I8, &[100, 0, 28]), [0]);
        assert_eq!(call(&valid, Type::I8, &[100, 0, 27]), [1]);
        assert_eq!(call(&valid, Type::I8, &[-128, -128, 127]), [1]);
    }

    /// Whether an operation makes a valid form of one, and takes every u as the opcode takes what the form was of u.
    fn is_exact(ty: Type, opcode: Opcode, made: fn(&Ramp, &mut Code<'_>, Form, Value) -> Form) -> bool {
        let ramp = Ramp::new(ty);
        let mut code = Code::new(&[ty; 4], 0, &[], false);
        let form = Form { parts: [0, 1, 2].map(Value::new), bounds: (true, true) };
        let after = made(&ramp, &mut code, form, Value::new(3));
        let after = code.extract(&after.parts).wrapping();
        let mut b = FunctionBuilder::new();
        let params = b.params(&[ty; 5]);
        let (form, k, u) = (&params[..3], params[3], params[4]);
        let premise = b.inline(&valid(ty), form)[0];
        let parts = b.inline(&after, &params[..4]);
        let is_valid = b.inline(&valid(ty), &parts)[0];
        let mut taken = |form: &[Value]| b.inline(&ramp.compose, &[&[u; 3][..], form].concat())[1];
        let (before, after) = (taken(form), taken(&parts));
        let expected = b.binary(opcode, before, k);
        let is_same = b.binary(Opcode::Eq, expected, after);
        linear::prove(&b.finish(&[premise, is_valid, is_same]), 1, &[], 20_000).is_some()
    }

    #[test]
    fn operations_are_exact_and_make_valid_forms() {
        for ty in ALL {
            assert!(is_exact(ty, Opcode::Max, |ramp, code, form, k| ramp.bounded(code, form, Opcode::Max, k)), "{ty}");
            assert!(is_exact(ty, Opcode::Min, |ramp, code, form, k| ramp.bounded(code, form, Opcode::Min, k)), "{ty}");
            for (opcode, down) in [(Opcode::AddSat, false), (Opcode::SubSat, true)] {
                let shifted: fn(&Ramp, &mut Code<'_>, Form, Value) -> Form = match down {
                    false => |ramp, code, form, k| {
                        let next = ramp.shift(code, k, false);
                        ramp.then(code, form, next, (false, false))
                    },
                    true => |ramp, code, form, k| {
                        let next = ramp.shift(code, k, true);
                        ramp.then(code, form, next, (false, false))
                    },
                };
                assert!(is_exact(ty, opcode, shifted), "{ty} {opcode:?}");
            }
        }
    }

    fn stage(ty: Type) -> Stage {
        let mut lift = FunctionBuilder::new();
        let record = lift.params(&[ty; 3]);
        let reads = (0..3).map(Source::Record).collect();
        Stage {
            state: vec![ty; 3],
            identity: vec![ty.least(), ty.least(), ty.greatest()],
            lift: Mapping { reads, function: lift.finish(&record) },
            combine: compose(ty),
            valid: Some(valid(ty)),
            ..Stage::default()
        }
    }

    #[test]
    fn laws_are_proved_whatever_overflows() {
        for ty in ALL {
            let judgement = judge(&stage(ty), &[], Overflow::NeverOccurs);
            assert!(judgement.verdict().is_proved(), "{ty}: {judgement}");
            let composes = Verdict::Proved { how: Proof::Functions { cases: 0 } };
            assert_eq!(std::mem::discriminant(&judgement.associativity), std::mem::discriminant(&composes));
            assert!(judgement.conditions.is_empty(), "{ty}: {judgement}");
        }
    }

    /// Of operators with one other instruction, those that a proof accepts are associative on every state that is tried.
    #[test]
    fn what_is_proved_of_a_mutant_is_true() {
        use Opcode::{Add, Eq, Max, Min, Ne, Sub};
        let mut numbers = SplitMix64(11);
        let (mut proved, mut refuted) = (0, 0);
        for ty in NARROW {
            let whole = stage(ty);
            for place in 0..whole.combine.insts.len() {
                let inst = whole.combine.insts[place];
                let other = match inst.opcode {
                    Add => Sub,
                    Sub => Add,
                    Min => Max,
                    Max => Min,
                    Eq => Ne,
                    _ => continue,
                };
                let mut mutant = whole.clone();
                mutant.combine.insts[place] = Inst::new(other, inst.ty, inst.operands(), inst.payload);
                let judgement = judge(&mutant, &[], Overflow::NeverOccurs);
                let combine = |a: &[i128], b: &[i128]| call(&mutant.combine, ty, &[a, b].concat());
                let wrong = (0..4000).find_map(|_| {
                    let [x, y, z] = [0; 3].map(|_| form(ty, &mut numbers));
                    let (left, right) = (combine(&combine(&x, &y), &z), combine(&x, &combine(&y, &z)));
                    (left != right).then_some([x, y, z])
                });
                let is_proved = judgement.associativity.is_proved();
                assert!(wrong.is_none() || !is_proved, "{place}: {wrong:?}\n{judgement}");
                proved += usize::from(is_proved);
                refuted += usize::from(wrong.is_some());
            }
        }
        assert!(refuted > 10, "{proved} proved, {refuted} refuted");
    }
}
