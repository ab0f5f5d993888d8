//! u ↦ min(max(a·u + b, lower), upper): sums and recurrences that saturate.
//!
//! With clamp(v) = min(max(v, l'), h'), for a > 0
//!
//! ```text
//! (a, b, l, h) ⊕ (a', b', l', h') = (a·a', b·a' + b', clamp(l·a' + b'), clamp(h·a' + b'))
//! identity (1, 0, −∞, ∞)        seed(u) = (·, ·, u, u)
//! ```
//!
//! and with the bounds exchanged where a' < 0. Factors are at most 1 in size: products of larger
//! ones leave the type where the loop does not. A bound that no element has is left out, and so is
//! a where it is always 1. Where a sequence starts from a seed, both bounds are the state itself.
//!
//! Integers are composed in `i64`: sums of a block may leave the type where the loop never does. A
//! bound that is absent is [`ABSENT`](super::matrix::ABSENT). Those of 64 bits are in `ramp`.

use super::matrix::{absent, normal, normalised, present, wide};
use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::{Leave, Why};
use crate::derive::size::is_at_most_one;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

struct Clamp {
    ty: Type,
    wide: Type,
}

/// A bound, and whether every element has it.
type Bound = Option<(Value, bool)>;

#[derive(Clone, Copy)]
struct Form {
    a: Value,
    b: Value,
    lower: Bound,
    upper: Bound,
}

impl Clamp {
    /// Whether the factor may be larger than 1 in size, so that its products leave the type.
    fn grows(&self, code: &Code<'_>, form: Form) -> bool {
        !code.is_number(form.a, 1) && self.ty.is_float() && !is_at_most_one(code, form.a)
    }

    fn shifted(&self, code: &mut Code<'_>, form: Form, opcode: Opcode, k: Value) -> Form {
        let mut shift = |value: Value| match code.is_number(value, 0) && opcode == Opcode::Add {
            true => k,
            false => code.binary(opcode, value, k),
        };
        Form {
            a: form.a,
            b: shift(form.b),
            lower: form.lower.map(|(bound, certain)| (shift(bound), certain)),
            upper: form.upper.map(|(bound, certain)| (shift(bound), certain)),
        }
    }

    fn negated(&self, code: &mut Code<'_>, form: Form) -> Form {
        let mut negate = |value: Value| code.unary(Opcode::Neg, value);
        let Form { a, b, lower, upper } = form;
        let [lower, upper] = [upper, lower].map(|bound| bound.map(|(bound, certain)| (negate(bound), certain)));
        Form { a: negate(a), b: negate(b), lower, upper }
    }

    fn bounded(&self, code: &mut Code<'_>, form: Form, opcode: Opcode, k: Value) -> Form {
        let mut bound = |bound: Bound| bound.map(|(value, certain)| (code.binary(opcode, value, k), certain));
        let (mut lower, mut upper) = (bound(form.lower), bound(form.upper));
        match opcode {
            Opcode::Max => lower = lower.filter(|bound| bound.1).or(Some((k, true))),
            _ => upper = upper.filter(|bound| bound.1).or(Some((k, true))),
        }
        // max(max(v, l), k) where l may be absent: max(l, k) is there either way.
        if let (Opcode::Max, Some((value, false))) = (opcode, form.lower) {
            lower = Some((code.binary(Opcode::Max, value, k), true));
        }
        if let (Opcode::Min, Some((value, false))) = (opcode, form.upper) {
            upper = Some((code.binary(Opcode::Min, value, k), true));
        }
        Form { lower, upper, ..form }
    }

    /// The sum or difference of two forms of floats that no bound has touched.
    fn joined(&self, code: &mut Code<'_>, opcode: Opcode, [x, y]: [Form; 2]) -> Result<Form, Leave> {
        let are_lines = [x, y].iter().all(|form| form.lower.is_none() && form.upper.is_none());
        if !are_lines || !self.ty.is_float() {
            return Err(Leave);
        }
        let [a, b] = [(x.a, y.a), (x.b, y.b)].map(|(x, y)| code.binary(opcode, x, y));
        Ok(Form { a, b, ..x })
    }

    /// By a factor of known sign, or of any.
    fn scaled(&self, code: &mut Code<'_>, form: Form, k: Value) -> Form {
        let zero = code.constant(self.wide.zero());
        let is_negative = code.compare(Opcode::Lt, k, zero);
        let one = code.is_number(form.a, 1);
        let a = if one { k } else { code.binary(Opcode::Mul, form.a, k) };
        let b = if code.is_number(form.b, 0) { form.b } else { code.binary(Opcode::Mul, form.b, k) };
        let sign = code.constant_of(k).map(|k| k.as_f64() < 0.0);
        let mut product = |bound: Bound| {
            let (value, certain) = bound?;
            let product = code.binary(Opcode::Mul, value, k);
            if certain {
                return Some((product, certain));
            }
            // 0 · ∞ is no number, but 0 times whatever was not bounded is.
            let (size, infinity) = (code.unary(Opcode::Abs, value), code.constant(present(self.wide)));
            let is_absent = code.compare(Opcode::Eq, size, infinity);
            let is_zero = code.compare(Opcode::Eq, k, zero);
            let is_any = code.binary(Opcode::And, is_absent, is_zero);
            Some((code.select(is_any, zero, product), certain))
        };
        let (p, q) = (product(form.lower), product(form.upper));
        let (lower, upper) = match sign {
            Some(false) => (p, q),
            Some(true) => (q, p),
            None => (self.choose(code, is_negative, q, p, false), self.choose(code, is_negative, p, q, true)),
        };
        Form { a, b, lower, upper }
    }

    fn choose(&self, code: &mut Code<'_>, condition: Value, yes: Bound, no: Bound, upper: bool) -> Bound {
        if yes.is_none() && no.is_none() {
            return None;
        }
        let none = if upper { present(self.wide) } else { absent(self.wide) };
        let none = (code.constant(none), false);
        let (yes, no) = (yes.unwrap_or(none), no.unwrap_or(none));
        Some((code.select(condition, yes.0, no.0), yes.1 && no.1))
    }
}

impl Domain for Clamp {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        let value = code.cast(self.wide, value);
        let one = code.number(self.wide, 1);
        Ok(Form { a: one, b: code.constant(self.wide.zero()), lower: Some((value, true)), upper: Some((value, true)) })
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Form {
        Form { a: code.number(self.wide, 1), b: code.constant(self.wide.zero()), lower: None, upper: None }
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        Ok(Form {
            a: code.select(condition, yes.a, no.a),
            b: code.select(condition, yes.b, no.b),
            lower: self.choose(code, condition, yes.lower, no.lower, false),
            upper: self.choose(code, condition, yes.upper, no.upper, true),
        })
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        if inst.ty != self.ty || inst.payload == Payload::Wraps {
            return Err(Leave);
        }
        let is_float = self.ty.is_float();
        let known = |code: &mut Code<'_>, k: Value| match inst.opcode {
            Opcode::Add => code.addend(self.wide, k),
            _ => code.cast(self.wide, k),
        };
        let (form, k, reversed) = match x {
            [Operand::Form(x), Operand::Form(y)] if matches!(inst.opcode, Opcode::Add | Opcode::Sub) => {
                return self.joined(code, inst.opcode, [(*x)?, (*y)?]);
            }
            [form] => (form.form()?, None, false),
            [Operand::Form(form), Operand::Known(k)] => ((*form)?, Some(known(code, *k)), false),
            [Operand::Known(k), Operand::Form(form)] => ((*form)?, Some(known(code, *k)), true),
            _ => return Err(Leave),
        };
        Ok(match (inst.opcode, k, reversed) {
            (Opcode::Neg, None, _) => self.negated(code, form),
            (Opcode::Add, Some(k), _) => self.shifted(code, form, Opcode::Add, k),
            (Opcode::Sub, Some(k), false) => self.shifted(code, form, Opcode::Sub, k),
            (Opcode::Sub, Some(k), true) => {
                let negated = self.negated(code, form);
                self.shifted(code, negated, Opcode::Add, k)
            }
            (Opcode::Min | Opcode::Max, Some(k), _) => self.bounded(code, form, inst.opcode, k),
            (Opcode::AddSat | Opcode::SubSat, Some(k), false) | (Opcode::AddSat, Some(k), true)
                if self.wide != self.ty =>
            {
                let opcode = if inst.opcode == Opcode::AddSat { Opcode::Add } else { Opcode::Sub };
                let sum = self.shifted(code, form, opcode, k);
                let [least, most] = [self.ty.least(), self.ty.greatest()].map(|end| end.as_int() as i64);
                let unsigned_sum = !self.ty.is_signed() && inst.opcode == Opcode::AddSat;
                let (least, most) = (code.number(self.wide, least), code.number(self.wide, most));
                let sum = if unsigned_sum { sum } else { self.bounded(code, sum, Opcode::Max, least) };
                let unsigned_difference = !self.ty.is_signed() && inst.opcode == Opcode::SubSat;
                if unsigned_difference { sum } else { self.bounded(code, sum, Opcode::Min, most) }
            }
            (Opcode::Mul, Some(k), _) if is_float => self.scaled(code, form, k),
            (Opcode::Div, Some(k), false) if is_float => {
                let one = code.number(self.wide, 1);
                let k = code.binary(Opcode::Div, one, k);
                self.scaled(code, form, k)
            }
            _ => return Err(Leave),
        })
    }
}

/// The parts that a stage of this family composes.
#[derive(Clone, Copy)]
struct Shape {
    ty: Type,
    scaled: bool,
    /// Whether a is above 0 for every element.
    positive: bool,
    lower: Bound,
    upper: Bound,
}

/// The group as a sum or recurrence under bounds, whatever its factor is.
fn bounded(group: &mut Group<'_, '_>) -> Result<(Clamp, Form), Leave> {
    let ty = group.types[group.single()?];
    let Some(wide) = wide(ty).filter(|_| ty != Type::I64) else { return Err(Leave) };
    let form = group.forms(&Clamp { ty, wide })?[0];
    // Sums and affine maps are families of their own.
    if form.lower.is_none() && form.upper.is_none() { Err(Leave) } else { Ok((Clamp { ty, wide }, form)) }
}

/// A factor that may grow, if that alone keeps the group from being a clamp.
pub(super) fn all_but(group: &mut Group<'_, '_>) -> Option<Why> {
    let (clamp, form) = bounded(group).ok()?;
    clamp.grows(group.code, form).then_some(Why::Growth)
}

/// The group as a clamped sum or recurrence.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let (clamp, mut form) = bounded(group)?;
    let Clamp { ty, wide } = clamp;
    let code = &mut *group.code;
    if !ty.is_float() {
        let mut of_sum = |bound: Bound, is_upper: bool| {
            bound.map(|(value, certain)| (if certain { value } else { normalised(code, value, is_upper) }, certain))
        };
        form = Form { lower: of_sum(form.lower, false), upper: of_sum(form.upper, true), ..form };
    }
    let scaled = !code.is_number(form.a, 1);
    if clamp.grows(code, form) {
        return Err(Leave);
    }
    let positive = code.constant_of(form.a).is_some_and(|a| a.as_f64() > 0.0);
    let none = |code: &mut Code<'_>, upper: bool| {
        Some((code.constant(if upper { present(wide) } else { absent(wide) }), false))
    };
    // Where signs may change, one bound becomes the other.
    let (lower, upper) = match scaled && !positive {
        true => (form.lower.or_else(|| none(code, false)), form.upper.or_else(|| none(code, true))),
        false => (form.lower, form.upper),
    };
    let shape = Shape { ty: wide, scaled, positive, lower, upper };
    let bounds = [lower, upper].into_iter().flatten().map(|(bound, _)| bound);
    let lift = [form.a].into_iter().filter(|_| scaled).chain([form.b]).chain(bounds).collect();
    let one = Some(wide.of_i64(1)).filter(|_| scaled);
    let bounds = [lower.map(|_| absent(wide)), upper.map(|_| present(wide))];
    let identity: Vec<Constant> = one.into_iter().chain([wide.zero()]).chain(bounds.into_iter().flatten()).collect();
    let first = usize::from(scaled) + 1;
    let types = vec![wide; identity.len()];
    let count = types.len();
    Ok(Effect {
        family: Family::Clamp { scaled, lower: lower.is_some(), upper: upper.is_some() },
        seed: seeded(&[ty], |b, u| {
            let u = b.cast(wide, u[0]);
            let any = b.constant(wide.zero());
            [vec![any; first], vec![u; count - first]].concat()
        }),
        value: seeded(&types, |b, state| vec![b.cast(ty, state[first])]),
        combine: shape.combine(),
        identity,
        lift,
        // What is added is a number; only bounds are infinite, and they are in order.
        valid: ty.is_float().then(|| {
            seeded(&types, |b, state| {
                let infinity = b.constant(present(wide));
                let mut holds = Vec::new();
                for &value in &state[..first] {
                    let size = b.unary(Opcode::Abs, value);
                    holds.push(b.binary(Opcode::Lt, size, infinity));
                }
                if scaled && positive {
                    let zero = b.constant(wide.zero());
                    holds.push(b.binary(Opcode::Gt, state[0], zero));
                }
                if let [lower, upper] = state[first..] {
                    holds.push(b.binary(Opcode::Le, lower, upper));
                    if scaled && !positive {
                        // Of a constant function both bounds are its value.
                        let zero = b.constant(wide.zero());
                        let (varies, same) = (b.binary(Opcode::Ne, state[0], zero), b.binary(Opcode::Eq, lower, upper));
                        holds.push(b.binary(Opcode::Or, varies, same));
                    }
                }
                vec![holds.into_iter().reduce(|a, c| b.binary(Opcode::And, a, c)).expect("something is added")]
            })
        }),
        types,
        tables: Vec::new(),
    })
}

impl Shape {
    fn combine(&self) -> Function {
        let mut build = FunctionBuilder::new();
        let b = &mut build;
        let count = 1 + usize::from(self.scaled) + [self.lower, self.upper].iter().flatten().count();
        let types = vec![self.ty; count];
        let (earlier, later) = (b.params(&types), b.params(&types));
        let first = usize::from(self.scaled) + 1;
        let (a, shift) = (later[0], later[first - 1]);
        let zero = b.constant(self.ty.zero());
        let through = |b: &mut FunctionBuilder, value: Value| match (self.scaled, self.positive) {
            (false, _) => b.binary(Opcode::Add, value, shift),
            (true, positive) => {
                let product = b.binary(Opcode::Mul, value, a);
                let sum = b.binary(Opcode::Add, product, shift);
                if positive {
                    return sum;
                }
                // 0 · ∞ is no number, but 0 times whatever was not bounded is.
                let (size, infinity) = (b.unary(Opcode::Abs, value), b.constant(present(self.ty)));
                let (is_zero, is_infinite) = (b.binary(Opcode::Eq, a, zero), b.binary(Opcode::Eq, size, infinity));
                let is_any = b.binary(Opcode::And, is_zero, is_infinite);
                b.select(is_any, shift, sum)
            }
        };
        let upper_place = first + usize::from(self.lower.is_some());
        let clamped = |b: &mut FunctionBuilder, mut value: Value| {
            if self.lower.is_some() {
                value = b.binary(Opcode::Max, value, later[first]);
            }
            if self.upper.is_some() {
                value = b.binary(Opcode::Min, value, later[upper_place]);
            }
            value
        };
        let mut bounds: Vec<Value> = earlier[first..].iter().map(|&bound| through(b, bound)).collect();
        if self.scaled && !self.positive {
            let is_negative = b.binary(Opcode::Lt, a, zero);
            bounds = vec![b.select(is_negative, bounds[1], bounds[0]), b.select(is_negative, bounds[0], bounds[1])];
        }
        let certain = [self.lower, self.upper].into_iter().flatten().map(|bound| bound.1);
        let is_upper = [self.lower.map(|_| false), self.upper.map(|_| true)];
        let kinds: Vec<(bool, bool)> = certain.zip(is_upper.into_iter().flatten()).collect();
        let bounds: Vec<Value> = bounds.into_iter().map(|bound| clamped(b, bound)).collect();
        let bounds = bounds.into_iter().zip(kinds).map(|(bound, (certain, is_upper))| {
            if certain || self.ty.is_float() {
                return bound;
            }
            b.inline(&normal(is_upper), &[bound])[0]
        });
        let bounds: Vec<Value> = bounds.collect();
        let mut results = Vec::new();
        if self.scaled {
            results.push(b.binary(Opcode::Mul, earlier[0], a));
            let product = b.binary(Opcode::Mul, earlier[1], a);
            results.push(b.binary(Opcode::Add, product, shift));
        } else {
            results.push(b.binary(Opcode::Add, earlier[0], shift));
        }
        results.extend(bounds);
        build.finish(&results)
    }
}
