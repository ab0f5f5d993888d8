//! [low, high] ↦ the hull of a·[low, high] and [least, most]: the largest and the smallest product
//! of neighbours, whose factors may have any sign.
//!
//! ```text
//! (a, least, most) ⊕ (a', least', most') = (a·a', hull of a'·[least, most] and [least', most'])
//! identity (1, nothing)        seed(low, high) = (·, low, high)
//! ```
//!
//! Where the first interval is empty, as in the identity alone, the hull is the second.
//!
//! Integers need no wider type. What is multiplied by a is 0, or a number whose product the loop
//! computes too; so a is exact wherever it matters, though it may leave the type where the state
//! is 0.

use super::matrix::present;
use super::{Domain, Effect, Family, Group, Operand, restart, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

struct Interval {
    ty: Type,
    /// Which of the two components is the upper end.
    high: usize,
}

/// The largest or the smallest of a multiple of each end and a known number, of those that are there.
#[derive(Clone, Copy, PartialEq)]
struct Form {
    /// [`Opcode::Min`] or [`Opcode::Max`]; none of a single multiple.
    extreme: Option<Opcode>,
    factors: [Option<Value>; 2],
    known: Option<Value>,
}

impl Interval {
    /// The extreme of two forms. Both have the same factor where both have one.
    fn join(&self, code: &mut Code<'_>, extreme: Opcode, f: Form, g: Form) -> Result<Form, Leave> {
        if [f, g].iter().any(|form| form.extreme.is_some_and(|own| own != extreme)) {
            return Err(Leave);
        }
        let mut factors = f.factors;
        for (factor, other) in factors.iter_mut().zip(g.factors) {
            if factor.is_some() && other.is_some() && *factor != other {
                return Err(Leave);
            }
            *factor = factor.or(other);
        }
        let known = match (f.known, g.known) {
            (Some(x), Some(y)) => Some(code.binary(extreme, x, y)),
            (x, y) => x.or(y),
        };
        Ok(Form { extreme: Some(extreme), factors, known })
    }

    /// Whether a condition says that this factor is not negative, or that it is not positive.
    fn sign(&self, code: &Code<'_>, condition: Value, factor: Value) -> Option<bool> {
        let test = code.inst(condition)?;
        let &[x, y] = test.operands() else { return None };
        let is_flipped = match () {
            _ if x == factor && code.is_number(y, 0) => false,
            _ if y == factor && code.is_number(x, 0) => true,
            _ => return None,
        };
        match test.opcode {
            Opcode::Ge | Opcode::Gt => Some(!is_flipped),
            Opcode::Le | Opcode::Lt => Some(is_flipped),
            _ => None,
        }
    }
}

impl Domain for Interval {
    type Form = Form;

    fn known(&self, _code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        Ok(Form { extreme: None, factors: [None; 2], known: Some(value) })
    }

    fn component(&self, code: &mut Code<'_>, place: usize) -> Form {
        let one = code.number(self.ty, 1);
        let mut factors = [None; 2];
        factors[place] = Some(one);
        Form { extreme: None, factors, known: None }
    }

    /// `a >= 0 ? a·high : a·low` is the larger of both.
    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        let factor = yes.factors.into_iter().flatten().next().ok_or(Leave)?;
        let is_positive = self.sign(code, condition, factor).ok_or(Leave)?;
        let (positive, negative) = if is_positive { (yes, no) } else { (no, yes) };
        let own = (0..2).find(|&end| positive.factors[end].is_some()).ok_or(Leave)?;
        let ends = |end: usize| std::array::from_fn(|place| (place == end).then_some(factor));
        if positive.factors != ends(own) || negative.factors != ends(1 - own) {
            return Err(Leave);
        }
        let extreme = if own == self.high { Opcode::Max } else { Opcode::Min };
        if [yes, no].iter().any(|form| form.extreme.is_some_and(|of| of != extreme)) {
            return Err(Leave);
        }
        let known = match (yes.known, no.known) {
            (None, None) => None,
            (Some(x), Some(y)) => Some(code.select(condition, x, y)),
            _ => return Err(Leave),
        };
        Ok(Form { extreme: Some(extreme), factors: [Some(factor); 2], known })
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        if inst.ty != self.ty || inst.payload == Payload::Wraps {
            return Err(Leave);
        }
        match (inst.opcode, x) {
            (Opcode::Mul, [Operand::Form(form), Operand::Known(k)] | [Operand::Known(k), Operand::Form(form)]) => {
                let Form { extreme: None, factors, known: None } = (*form)? else { return Err(Leave) };
                let mut multiple =
                    |factor| if code.is_number(factor, 1) { *k } else { code.binary(Opcode::Mul, factor, *k) };
                Ok(Form { extreme: None, factors: factors.map(|factor| factor.map(&mut multiple)), known: None })
            }
            (Opcode::Min | Opcode::Max, [first, second]) => {
                let mut form = |operand: &Operand<Form>| match operand {
                    Operand::Known(value) => self.known(code, *value),
                    Operand::Form(form) => *form,
                };
                let (f, g) = (form(first)?, form(second)?);
                self.join(code, inst.opcode, f, g)
            }
            _ => Err(Leave),
        }
    }
}

/// The group as both ends of an interval.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let (&[first, second], Some(ty), false) = (group.members, group.one_type(), group.wraps) else { return Err(Leave) };
    let number = |member: usize| group.initial[member];
    let at_most =
        |a: Constant, b: Constant| if ty.is_float() { a.as_f64() <= b.as_f64() } else { a.as_int() <= b.as_int() };
    let ordered = [(0, at_most(number(second), number(first))), (1, at_most(number(first), number(second)))];
    ordered.into_iter().filter(|order| order.1).find_map(|(high, _)| ends(group, ty, high).ok()).ok_or(Leave)
}

/// With this component as the upper end.
fn ends(group: &mut Group<'_, '_>, ty: Type, high: usize) -> Result<Effect, Leave> {
    let forms = group.forms(&Interval { ty, high })?;
    let (upper, lower) = (forms[high], forms[1 - high]);
    let [Some(factor), Some(_)] = upper.factors else { return Err(Leave) };
    let known = upper.known.ok_or(Leave)?;
    let of = |extreme| Form { extreme: Some(extreme), factors: [Some(factor); 2], known: Some(known) };
    if upper != of(Opcode::Max) || lower != of(Opcode::Min) {
        return Err(Leave);
    }
    let nothing = [Opcode::Min, Opcode::Max].map(|extreme| restart::identity(extreme, ty));
    let [Some(least), Some(most)] = nothing else { return Err(Leave) };
    let types = vec![ty; 3];
    Ok(Effect {
        family: Family::Interval,
        identity: vec![ty.of_i64(1), least, most],
        lift: vec![factor, known, known],
        combine: combine(ty),
        // States in the wrong order are none that the loop reaches.
        seed: seeded(&[ty; 2], |b, u| {
            vec![b.constant(ty.zero()), b.binary(Opcode::Min, u[0], u[1]), b.binary(Opcode::Max, u[0], u[1])]
        }),
        value: seeded(&types, |_, state| if high == 0 { vec![state[2], state[1]] } else { vec![state[1], state[2]] }),
        valid: ty.is_float().then(|| valid(ty, [least, most])),
        types,
        tables: Vec::new(),
    })
}

/// Factors and ends are numbers, or there is no interval yet: 0 · ∞ is none.
fn valid(ty: Type, nothing: [Constant; 2]) -> Function {
    seeded(&[ty; 3], |b, state| {
        let infinity = b.constant(present(ty));
        let finite: Vec<Value> = state
            .iter()
            .map(|&part| {
                let size = b.unary(Opcode::Abs, part);
                b.binary(Opcode::Lt, size, infinity)
            })
            .collect();
        let is_empty: Vec<Value> = nothing
            .into_iter()
            .zip(&state[1..])
            .map(|(none, &end)| {
                let none = b.constant(none);
                b.binary(Opcode::Eq, end, none)
            })
            .collect();
        let is_empty = b.binary(Opcode::And, is_empty[0], is_empty[1]);
        let is_ordered = b.binary(Opcode::Le, state[1], state[2]);
        let are_numbers = b.binary(Opcode::And, finite[1], finite[2]);
        let is_interval = b.binary(Opcode::And, is_ordered, are_numbers);
        let either = b.binary(Opcode::Or, is_empty, is_interval);
        vec![b.binary(Opcode::And, finite[0], either)]
    })
}

fn combine(ty: Type) -> Function {
    let mut b = FunctionBuilder::new();
    let (earlier, later) = (b.params(&[ty; 3]), b.params(&[ty; 3]));
    let [factor, least, most] = [0, 1, 2].map(|part| b.binary(Opcode::Mul, earlier[part], later[0]));
    let is_empty = b.binary(Opcode::Gt, earlier[1], earlier[2]);
    let mut results = vec![factor];
    for (part, extreme) in [(1, Opcode::Min), (2, Opcode::Max)] {
        let end = b.binary(extreme, least, most);
        let hull = b.binary(extreme, end, later[part]);
        results.push(b.select(is_empty, later[part], hull));
    }
    b.finish(&results)
}
