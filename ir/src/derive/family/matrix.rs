//! Vectors that go through matrices: u ↦ A·u + b, over (+, ×), (max, +) or (min, +).
//!
//! ```text
//! (A, b) ⊕ (C, d) = (C·A, C·b + d)        identity (1, 0)        seed(u) = (0, u)
//! ```
//!
//! in the semiring's own 0, 1, + and ·. Entries that are 0 or 1 in every product are no components
//! of the state, and cost nothing. The semirings: see Sato and Iwasaki, *Automatic parallelization
//! via matrix multiplication*, PLDI 2011.
//!
//! Over (max, +) the 0 is −∞, an entry that is absent. Integers have none. They are composed in
//! `i64`, where [`ABSENT`] stands for it, and sums far below are put back there.

use super::{Domain, Effect, Group, Operand, seeded};
use crate::derive::code::Code;
use crate::derive::refusal::{Leave, Why};
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// Most components that depend on each other in an affine vector.
const MOST_AFFINE: usize = 8;
/// The same over (max, +), whose 0 has to be looked after.
const MOST_TROPICAL: usize = 6;

/// −∞ among integers, in `i64`: its negative is +∞. Sums of two of them do not wrap.
pub(crate) const ABSENT: i64 = i64::MIN / 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Semiring {
    Reals,
    MaxPlus,
    MinPlus,
}

pub(super) struct Matrix {
    pub(super) semiring: Semiring,
    /// The type that the loop computes in.
    pub(super) ty: Type,
    /// The type that the scan composes in.
    pub(super) wide: Type,
    pub(super) count: usize,
}

/// A row: a coefficient for each component, and the constant. None is the semiring's 0.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) factors: Vec<Option<Value>>,
    pub(super) constant: Option<Value>,
    /// Where the constant alone is taken, so that whatever was before is forgotten, NaN too.
    pub(super) reset: Value,
}

impl Matrix {
    pub(super) fn zero(&self) -> Constant {
        match self.semiring {
            Semiring::Reals => self.wide.zero(),
            Semiring::MaxPlus => absent(self.wide),
            Semiring::MinPlus => present(self.wide),
        }
    }

    pub(super) fn one(&self) -> Constant {
        self.wide.of_i64((self.semiring == Semiring::Reals) as i64)
    }

    pub(super) fn plus_opcode(&self) -> Opcode {
        match self.semiring {
            Semiring::Reals => Opcode::Add,
            Semiring::MaxPlus => Opcode::Max,
            Semiring::MinPlus => Opcode::Min,
        }
    }

    /// Integers are a ring modulo 2^k, whatever overflows on the way.
    fn payload(&self) -> Payload {
        let wraps = self.semiring == Semiring::Reals && self.wide.is_int();
        if wraps { Payload::Wraps } else { Payload::None }
    }

    pub(super) fn inst(&self, opcode: Opcode, x: &[Value]) -> Inst {
        let payload = if opcode.can_overflow() { self.payload() } else { Payload::None };
        Inst::new(opcode, self.wide, x, payload)
    }

    pub(super) fn times_inst(&self, a: Value, b: Value) -> Inst {
        self.inst(if self.semiring == Semiring::Reals { Opcode::Mul } else { Opcode::Add }, &[a, b])
    }

    pub(super) fn is_one(&self, code: &Code<'_>, value: Value) -> bool {
        code.constant_of(value) == Some(self.one())
    }

    fn times(&self, code: &mut Code<'_>, a: Value, b: Value) -> Value {
        match () {
            _ if self.is_one(code, a) => b,
            _ if self.is_one(code, b) => a,
            _ => code.push(self.times_inst(a, b)),
        }
    }

    fn plus(&self, code: &mut Code<'_>, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(code.push(self.inst(self.plus_opcode(), &[a, b]))),
            (one, other) => one.or(other),
        }
    }

    fn zip(
        &self,
        code: &mut Code<'_>,
        a: Row,
        b: Row,
        mut both: impl FnMut(&mut Code<'_>, Option<Value>, Option<Value>) -> Option<Value>,
    ) -> Row {
        let factors = a.factors.iter().zip(&b.factors).map(|(&a, &b)| both(code, a, b)).collect();
        let constant = both(code, a.constant, b.constant);
        Row { factors, constant, reset: code.binary(Opcode::And, a.reset, b.reset) }
    }

    fn map(&self, row: Row, mut each: impl FnMut(Value) -> Value) -> Row {
        let factors = row.factors.into_iter().map(|f| f.map(&mut each)).collect();
        Row { factors, constant: row.constant.map(each), reset: row.reset }
    }

    /// A known value in the type that the scan composes in.
    fn wide(&self, code: &mut Code<'_>, value: Value) -> Value {
        code.cast(self.wide, value)
    }

    fn row(&self, code: &mut Code<'_>, operand: &Operand<Row>) -> Result<Row, Leave> {
        match operand {
            Operand::Known(value) => self.known(code, *value),
            Operand::Form(row) => row.clone(),
        }
    }

    fn scaled(&self, code: &mut Code<'_>, row: Row, by: Value) -> Row {
        self.map(row, |value| self.times(code, value, by))
    }

    fn negated(&self, code: &mut Code<'_>, row: Row) -> Row {
        let minus = code.number(self.wide, -1);
        self.map(row, |value| match self.is_one(code, value) {
            true => minus,
            false => code.push(self.inst(Opcode::Neg, &[value])),
        })
    }

    fn ring(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Row>]) -> Result<Row, Leave> {
        match (inst.opcode, x) {
            (Opcode::Add, [a, b]) => {
                let (a, b) = (self.row(code, a)?, self.row(code, b)?);
                Ok(self.zip(code, a, b, |code, a, b| self.plus(code, a, b)))
            }
            (Opcode::Sub, [a, b]) => {
                let (a, b) = (self.row(code, a)?, self.row(code, b)?);
                Ok(self.zip(code, a, b, |code, a, b| match (a, b) {
                    (Some(a), Some(b)) => Some(code.push(self.inst(Opcode::Sub, &[a, b]))),
                    (None, Some(b)) => Some(code.push(self.inst(Opcode::Neg, &[b]))),
                    (a, None) => a,
                }))
            }
            (Opcode::Neg, [a]) => {
                let row = a.form()?;
                Ok(self.negated(code, row))
            }
            (Opcode::Mul, [Operand::Form(row), Operand::Known(k)] | [Operand::Known(k), Operand::Form(row)]) => {
                let k = self.wide(code, *k);
                Ok(self.scaled(code, row.clone()?, k))
            }
            (Opcode::Mul, [Operand::Form(_), Operand::Form(_)]) => Err(Leave),
            (Opcode::MulAdd, [a, b, c]) => {
                let (row, k) = match (a, b) {
                    (Operand::Form(row), Operand::Known(k)) | (Operand::Known(k), Operand::Form(row)) => {
                        (row.clone()?, *k)
                    }
                    (Operand::Known(a), Operand::Known(b)) => {
                        let product = code.push(self.inst(Opcode::Mul, &[*a, *b]));
                        (self.known(code, product)?, code.constant(self.one()))
                    }
                    _ => return Err(Leave),
                };
                let (product, c) = (self.scaled(code, row, k), self.row(code, c)?);
                Ok(self.zip(code, product, c, |code, a, b| self.plus(code, a, b)))
            }
            (Opcode::Div, [Operand::Form(row), Operand::Known(k)]) if inst.ty.is_float() => {
                let one = code.constant(self.one());
                let k = code.binary(Opcode::Div, one, *k);
                Ok(self.scaled(code, row.clone()?, k))
            }
            (Opcode::Shl, [Operand::Form(row), Operand::Known(k)]) => {
                let one = code.constant(self.one());
                let factor = code.push(Inst::new(Opcode::Shl, self.wide, &[one, *k], self.payload()));
                Ok(self.scaled(code, row.clone()?, factor))
            }
            // Bits that are apart: a shifted form, and a value below what was shifted out.
            (Opcode::Or | Opcode::Xor, [a, b]) => {
                let shift = |operand: Value| {
                    let inst = code.inst(operand).filter(|inst| inst.opcode == Opcode::Shl)?;
                    code.constant_of(inst.operands()[1]).map(|amount| amount.as_int() as u32)
                };
                let &[left, right] = inst.operands() else { return Err(Leave) };
                let is_below = |code: &Code<'_>, value: Value, bits: u32| {
                    let (min, max) = code.range(value);
                    min >= 0 && max < 1 << bits
                };
                let apart = |shifted: Value, other: &Operand<Row>| {
                    shift(shifted).zip(other.known()).is_some_and(|(bits, k)| is_below(code, k, bits))
                };
                if !apart(left, b) && !apart(right, a) {
                    return Err(Leave);
                }
                let (a, b) = (self.row(code, a)?, self.row(code, b)?);
                Ok(self.zip(code, a, b, |code, a, b| self.plus(code, a, b)))
            }
            _ => Err(Leave),
        }
    }

    fn tropical(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Row>]) -> Result<Row, Leave> {
        if inst.payload == Payload::Wraps {
            return Err(Leave);
        }
        match (inst.opcode, x) {
            (opcode, [a, b]) if opcode == self.plus_opcode() => {
                let (a, b) = (self.row(code, a)?, self.row(code, b)?);
                Ok(self.zip(code, a, b, |code, a, b| self.plus(code, a, b)))
            }
            (Opcode::Add, [Operand::Form(row), Operand::Known(k)] | [Operand::Known(k), Operand::Form(row)]) => {
                let k = code.addend(self.wide, *k);
                Ok(self.scaled(code, row.clone()?, k))
            }
            (Opcode::Sub, [Operand::Form(row), Operand::Known(k)]) => {
                let k = self.wide(code, *k);
                let k = code.unary(Opcode::Neg, k);
                Ok(self.scaled(code, row.clone()?, k))
            }
            _ => Err(Leave),
        }
    }
}

impl Domain for Matrix {
    type Form = Row;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Row, Leave> {
        let value = self.wide(code, value);
        let is_zero = self.semiring == Semiring::Reals && code.is_number(value, 0);
        let reset = code.constant(true);
        Ok(Row { factors: vec![None; self.count], constant: (!is_zero).then_some(value), reset })
    }

    fn component(&self, code: &mut Code<'_>, place: usize) -> Row {
        let one = code.constant(self.one());
        let factors = (0..self.count).map(|of| (of == place).then_some(one)).collect();
        Row { factors, constant: None, reset: code.constant(false) }
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Row, no: Row) -> Result<Row, Leave> {
        let zero = self.zero();
        let reset = code.select(condition, yes.reset, no.reset);
        let row = self.zip(code, yes, no, |code, yes, no| match (yes, no) {
            (None, None) => None,
            (yes, no) => {
                let zero = code.constant(zero);
                Some(code.select(condition, yes.unwrap_or(zero), no.unwrap_or(zero)))
            }
        });
        Ok(Row { reset, ..row })
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Row>]) -> Result<Row, Leave> {
        if inst.ty != self.ty {
            return Err(Leave);
        }
        match self.semiring {
            Semiring::Reals => self.ring(code, inst, x),
            _ => self.tropical(code, inst, x),
        }
    }
}

/// −∞ in this type.
pub(super) fn absent(ty: Type) -> Constant {
    match ty {
        Type::F32 => Constant::from(f32::NEG_INFINITY),
        Type::F64 => Constant::from(f64::NEG_INFINITY),
        _ => ty.of_i64(ABSENT),
    }
}

/// +∞ in this type.
pub(super) fn present(ty: Type) -> Constant {
    match ty {
        Type::F32 => Constant::from(f32::INFINITY),
        Type::F64 => Constant::from(f64::INFINITY),
        _ => ty.of_i64(-ABSENT),
    }
}

/// An integer that stands for nothing again where something was added to what does: below the half of [`ABSENT`], or `is_upper` above
/// that of its opposite.
pub(super) fn normal(is_upper: bool) -> Function {
    let (limit, none, opcode) =
        if is_upper { (-(ABSENT / 2), -ABSENT, Opcode::Gt) } else { (ABSENT / 2, ABSENT, Opcode::Lt) };
    seeded(&[Type::I64], |b, value| {
        let (limit, none) = (b.lit(limit), b.lit(none));
        let is_absent = b.binary(opcode, value[0], limit);
        vec![b.select(is_absent, none, value[0])]
    })
}

/// The same of a value of a lift, which needs it where it may be such a sum.
pub(super) fn normalised(code: &mut Code<'_>, value: Value, is_upper: bool) -> Value {
    let none = if is_upper { present(Type::I64) } else { absent(Type::I64) };
    if may_be_shifted(code, value, none) { code.inline(&normal(is_upper), &[value])[0] } else { value }
}

/// Whether a value may be a sum of what is absent, for which this number stands.
fn may_be_shifted(code: &Code<'_>, value: Value, absent: Constant) -> bool {
    let count = value.index() + 1;
    let (mut may_be_absent, mut may_be_shifted) = (vec![false; count], vec![false; count]);
    for place in 0..count {
        let Some(inst) = code.inst(Value::new(place)) else { continue };
        let any = |known: &[bool]| inst.operands().iter().any(|operand| known[operand.index()]);
        let passes = matches!(inst.opcode, Opcode::Select | Opcode::Min | Opcode::Max);
        let adds = matches!(inst.opcode, Opcode::Add | Opcode::Sub);
        let is_absent = code.constant_of(Value::new(place)) == Some(absent);
        may_be_shifted[place] = adds && any(&may_be_absent) || (passes || adds) && any(&may_be_shifted);
        may_be_absent[place] = is_absent || (passes || adds) && any(&may_be_absent);
    }
    may_be_shifted[value.index()]
}

/// The type in which minima and maxima of sums are composed: `i64` for integers, so that 32 bits do not overflow.
pub(super) fn wide(ty: Type) -> Option<Type> {
    match ty {
        Type::F32 | Type::F64 => Some(ty),
        Type::U64 | Type::Bool | Type::Bytes(_) => None,
        _ => Some(Type::I64),
    }
}

/// The group as A·u + b.
pub(super) fn affine(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    recognise(group, Semiring::Reals)
}

/// The group over (max, +).
pub(super) fn max_plus(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    recognise(group, Semiring::MaxPlus)
}

/// The group over (min, +).
pub(super) fn min_plus(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    recognise(group, Semiring::MinPlus)
}

/// Too many components, if that alone keeps the group from being an affine vector.
pub(super) fn all_but(group: &mut Group<'_, '_>) -> Option<Why> {
    let (ty, count) = (group.one_type()?, group.members.len());
    if count <= MOST_AFFINE || !(ty.is_int() || ty.is_float()) {
        return None;
    }
    group.forms(&Matrix { semiring: Semiring::Reals, ty, wide: ty, count }).ok()?;
    Some(Why::Vector { components: count, most: MOST_AFFINE })
}

fn recognise(group: &mut Group<'_, '_>, semiring: Semiring) -> Result<Effect, Leave> {
    let most = if semiring == Semiring::Reals { MOST_AFFINE } else { MOST_TROPICAL };
    let Some(ty) = group.one_type().filter(|ty| ty.is_int() || ty.is_float()) else {
        return Err(Leave);
    };
    if group.members.len() > most {
        return Err(Leave);
    }
    let wide = match semiring {
        Semiring::Reals => Some(ty),
        // Numbers of 64 bits could be taken for the infinity.
        _ => wide(ty).filter(|_| ty != Type::I64),
    };
    let Some(wide) = wide else { return Err(Leave) };
    let matrix = Matrix { semiring, ty, wide, count: group.members.len() };
    let rows = group.forms(&matrix)?;
    Ok(matrix.effect(group.code, &rows))
}
