//! u ↦ (a·u + b) / (c·u + d): quotients of the state, as in continued fractions, Kalman's gain and
//! probabilities that are normalized (Möbius transformations).
//!
//! ```text
//! f ⊕ g = n(G·F) for the matrices (a b; c d)      identity n(1 0; 0 1)      seed(u) = (0 u; 0 1)
//! ```
//!
//! A multiple of a matrix is the same function. n divides by the largest entry, so that each
//! function has one matrix but for its sign, and products of any length stay in range. Products and
//! n keep the sign, so laws hold of the entries themselves, over the reals.
//!
//! A quotient by 0 is infinite, as in the loop, and so is not lost: `1 / (1 / 0)` is 0.

use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;
use crate::types::Type;

struct Quotient {
    ty: Type,
}

/// a, b, c, d.
type Form = [Value; 4];

impl Quotient {
    fn times(&self, code: &mut Code<'_>, x: Value, y: Value) -> Value {
        match () {
            _ if code.is_number(x, 0) || code.is_number(y, 1) => x,
            _ if code.is_number(y, 0) || code.is_number(x, 1) => y,
            _ => code.binary(Opcode::Mul, x, y),
        }
    }

    fn plus(&self, code: &mut Code<'_>, opcode: Opcode, x: Value, y: Value) -> Value {
        match () {
            _ if code.is_number(y, 0) => x,
            _ if code.is_number(x, 0) && opcode == Opcode::Add => y,
            _ if code.is_number(x, 0) => code.unary(Opcode::Neg, y),
            _ if x == y && opcode == Opcode::Sub => code.number(self.ty, 0),
            _ => code.binary(opcode, x, y),
        }
    }

    /// Of two functions with one denominator, or of which one is known.
    fn sum(&self, code: &mut Code<'_>, opcode: Opcode, f: Form, g: Form) -> Result<Form, Leave> {
        let (f, g) = if f[2..] == g[2..] { (f, g) } else { self.one_denominator(code, f, g)? };
        Ok([self.plus(code, opcode, f[0], g[0]), self.plus(code, opcode, f[1], g[1]), f[2], f[3]])
    }

    /// Both over the denominator of the one that is not known.
    fn one_denominator(&self, code: &mut Code<'_>, f: Form, g: Form) -> Result<(Form, Form), Leave> {
        let is_known = |code: &Code<'_>, f: Form| code.is_number(f[0], 0) && code.is_number(f[2], 0);
        let over = |code: &mut Code<'_>, known: Form, other: Form| -> Form {
            let value = match code.is_number(known[3], 1) {
                true => known[1],
                false => code.binary(Opcode::Div, known[1], known[3]),
            };
            [self.times(code, value, other[2]), self.times(code, value, other[3]), other[2], other[3]]
        };
        match () {
            _ if is_known(code, g) => Ok((f, over(code, g, f))),
            _ if is_known(code, f) => Ok((over(code, f, g), g)),
            _ => Err(Leave),
        }
    }

    /// Where numerators and denominators stay of degree 1.
    fn product(&self, code: &mut Code<'_>, f: Form, g: Form) -> Result<Form, Leave> {
        let [top, bottom] = [0, 2].map(|row| self.row(code, [f[row], f[row + 1]], [g[row], g[row + 1]]));
        let ([a, b], [c, d]) = (top?, bottom?);
        Ok([a, b, c, d])
    }

    /// (a·u + b)·(c·u + d), where a or c is 0.
    fn row(&self, code: &mut Code<'_>, [a, b]: [Value; 2], [c, d]: [Value; 2]) -> Result<[Value; 2], Leave> {
        match () {
            _ if code.is_number(a, 0) => Ok([self.times(code, b, c), self.times(code, b, d)]),
            _ if code.is_number(c, 0) => Ok([self.times(code, a, d), self.times(code, b, d)]),
            _ => Err(Leave),
        }
    }
}

impl Domain for Quotient {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        let [zero, one] = [0, 1].map(|number| code.number(self.ty, number));
        Ok([zero, value, zero, one])
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Form {
        let [zero, one] = [0, 1].map(|number| code.number(self.ty, number));
        [one, zero, zero, one]
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        Ok(std::array::from_fn(|entry| code.select(condition, yes[entry], no[entry])))
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        if inst.ty != self.ty {
            return Err(Leave);
        }
        let mut forms = Vec::new();
        for operand in x {
            forms.push(match operand {
                Operand::Known(value) if code.ty(*value) == self.ty => self.known(code, *value)?,
                Operand::Known(_) => return Err(Leave),
                Operand::Form(form) => (*form)?,
            });
        }
        match (inst.opcode, &forms[..]) {
            (Opcode::Add | Opcode::Sub, &[f, g]) => self.sum(code, inst.opcode, f, g),
            (Opcode::Neg, &[[a, b, c, d]]) => Ok([code.unary(Opcode::Neg, a), code.unary(Opcode::Neg, b), c, d]),
            (Opcode::Mul, &[f, g]) => self.product(code, f, g),
            (Opcode::MulAdd, &[f, g, h]) => {
                let product = self.product(code, f, g)?;
                self.sum(code, Opcode::Add, product, h)
            }
            (Opcode::Div, &[f, [a, b, c, d]]) if f[2..] == [c, d] => Ok([f[0], f[1], a, b]),
            (Opcode::Div, &[f, [a, b, c, d]]) => self.product(code, f, [c, d, a, b]),
            _ => Err(Leave),
        }
    }
}

/// The group as a quotient of sums of its component.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let ty = group.types[group.single()?];
    if !ty.is_float() {
        return Err(Leave);
    }
    let form = group.forms(&Quotient { ty })?[0];
    let types = vec![ty; 4];
    let normal = seeded(&types, |b, entries| normal(b, ty, entries));
    let (zero, one) = (ty.zero(), ty.of_i64(1));
    Ok(Effect {
        family: Family::Quotient,
        identity: vec![one, zero, zero, one],
        lift: group.code.inline(&normal, &form),
        combine: combine(ty),
        // As it is, so that the state is read from it to the bit.
        seed: seeded(&[ty], |b, u| vec![b.constant(zero), u[0], b.constant(zero), b.constant(one)]),
        value: seeded(&types, |b, state| vec![b.binary(Opcode::Div, state[1], state[3])]),
        valid: None,
        types,
        tables: Vec::new(),
    })
}

fn combine(ty: Type) -> Function {
    let mut b = FunctionBuilder::new();
    let (f, g) = (b.params(&[ty; 4]), b.params(&[ty; 4]));
    let product = [(0, 0), (0, 1), (2, 0), (2, 1)].map(|(row, column)| {
        let left = b.binary(Opcode::Mul, g[row], f[column]);
        let right = b.binary(Opcode::Mul, g[row + 1], f[column + 2]);
        b.binary(Opcode::Add, left, right)
    });
    let results = normal(&mut b, ty, &product);
    b.finish(&results)
}

/// The entries divided by the largest of them; zeros stay. A product with the inverse of the largest would do where that is no
/// subnormal number.
fn normal(b: &mut FunctionBuilder, ty: Type, entries: &[Value]) -> Vec<Value> {
    let (zero, one) = (b.constant(ty.zero()), b.constant(ty.of_i64(1)));
    let sizes: Vec<Value> = entries.iter().map(|&entry| b.unary(Opcode::Abs, entry)).collect();
    let largest = sizes.into_iter().fold(zero, |x, y| b.binary(Opcode::Max, x, y));
    let are_zeros = b.binary(Opcode::Eq, largest, zero);
    let largest = b.select(are_zeros, one, largest);
    entries.iter().map(|&entry| b.binary(Opcode::Div, entry, largest)).collect()
}
