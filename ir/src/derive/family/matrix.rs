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

use super::pattern::{Entry, closure};
use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::Leave;
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
enum Semiring {
    Reals,
    MaxPlus,
    MinPlus,
}

struct Matrix {
    semiring: Semiring,
    /// The type that the loop computes in.
    ty: Type,
    /// The type that the scan composes in.
    wide: Type,
    count: usize,
}

/// A row: a coefficient for each component, and the constant. None is the semiring's 0.
#[derive(Clone)]
struct Row {
    factors: Vec<Option<Value>>,
    constant: Option<Value>,
}

impl Matrix {
    fn zero(&self) -> Constant {
        match self.semiring {
            Semiring::Reals => self.wide.zero(),
            Semiring::MaxPlus => absent(self.wide),
            Semiring::MinPlus => present(self.wide),
        }
    }

    fn one(&self) -> Constant {
        self.wide.of_i64((self.semiring == Semiring::Reals) as i64)
    }

    fn plus_opcode(&self) -> Opcode {
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

    fn inst(&self, opcode: Opcode, x: &[Value]) -> Inst {
        let payload = if opcode.can_overflow() { self.payload() } else { Payload::None };
        Inst::new(opcode, self.wide, x, payload)
    }

    fn times_inst(&self, a: Value, b: Value) -> Inst {
        self.inst(if self.semiring == Semiring::Reals { Opcode::Mul } else { Opcode::Add }, &[a, b])
    }

    fn is_one(&self, code: &Code<'_>, value: Value) -> bool {
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

    fn zip(&self, a: Row, b: Row, mut both: impl FnMut(Option<Value>, Option<Value>) -> Option<Value>) -> Row {
        let factors = a.factors.iter().zip(&b.factors).map(|(&a, &b)| both(a, b)).collect();
        Row { factors, constant: both(a.constant, b.constant) }
    }

    fn map(&self, row: Row, mut each: impl FnMut(Value) -> Value) -> Row {
        Row { factors: row.factors.into_iter().map(|f| f.map(&mut each)).collect(), constant: row.constant.map(each) }
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
                Ok(self.zip(a, b, |a, b| self.plus(code, a, b)))
            }
            (Opcode::Sub, [a, b]) => {
                let (a, b) = (self.row(code, a)?, self.row(code, b)?);
                let mut minus = |a: Option<Value>, b: Option<Value>| match (a, b) {
                    (Some(a), Some(b)) => Some(code.push(self.inst(Opcode::Sub, &[a, b]))),
                    (None, Some(b)) => Some(code.push(self.inst(Opcode::Neg, &[b]))),
                    (a, None) => a,
                };
                Ok(self.zip(a, b, &mut minus))
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
                Ok(self.zip(product, c, |a, b| self.plus(code, a, b)))
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
                Ok(self.zip(a, b, |a, b| self.plus(code, a, b)))
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
                Ok(self.zip(a, b, |a, b| self.plus(code, a, b)))
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
        Ok(Row { factors: vec![None; self.count], constant: (!is_zero).then_some(value) })
    }

    fn component(&self, code: &mut Code<'_>, place: usize) -> Row {
        let one = code.constant(self.one());
        Row { factors: (0..self.count).map(|of| (of == place).then_some(one)).collect(), constant: None }
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Row, no: Row) -> Result<Row, Leave> {
        let zero = self.zero();
        Ok(self.zip(yes, no, |yes, no| match (yes, no) {
            (None, None) => None,
            (yes, no) => {
                let zero = code.constant(zero);
                Some(code.select(condition, yes.unwrap_or(zero), no.unwrap_or(zero)))
            }
        }))
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

impl Matrix {
    fn effect(&self, code: &mut Code<'_>, rows: &[Row]) -> Effect {
        let count = self.count;
        let entry = |value: Option<Value>| match value {
            None => Entry::Zero,
            Some(value) if code.constant_of(value) == Some(self.zero()) => Entry::Zero,
            Some(value) if self.is_one(code, value) => Entry::One,
            Some(_) => Entry::Any,
        };
        let mut pattern: Vec<Vec<Entry>> = rows
            .iter()
            .map(|row| row.factors.iter().map(|&factor| entry(factor)).chain([Entry::Any]).collect())
            .collect();
        pattern.push((0..=count).map(|j| if j == count { Entry::One } else { Entry::Zero }).collect());
        let pattern = closure(pattern);
        // The factors, row by row, then the constants.
        let factors: Vec<(usize, usize)> = (0..count)
            .flat_map(|i| (0..count).map(move |j| (i, j)))
            .filter(|&(i, j)| pattern[i][j] == Entry::Any)
            .collect();
        let mut places = factors.clone();
        places.extend((0..count).map(|i| (i, count)));
        let constant = rows.iter().flat_map(|row| row.factors.iter().flatten()).all(|&f| code.constant_of(f).is_some());
        let lift = places.iter().map(|&(i, j)| {
            let value = if j == count { rows[i].constant } else { rows[i].factors[j] };
            value.unwrap_or_else(|| code.constant(self.zero()))
        });
        let lift: Vec<Value> = lift.collect();
        let identity = places.iter().map(|&(i, j)| if i == j { self.one() } else { self.zero() }).collect();
        let types = vec![self.wide; places.len()];
        let own = vec![self.ty; count];
        let first = factors.len();
        Effect {
            family: match self.semiring {
                Semiring::Reals => Family::Affine { components: count, constant },
                _ => Family::Tropical { components: count, maxima: self.semiring == Semiring::MaxPlus },
            },
            identity,
            lift,
            combine: self.combine(&pattern, &places),
            seed: seeded(&own, |b, u| {
                let zero = b.constant(self.zero());
                let constants: Vec<Value> = u.iter().map(|&u| b.cast(self.wide, u)).collect();
                [vec![zero; first], constants].concat()
            }),
            value: seeded(&types, |b, state| state[first..].iter().map(|&value| b.cast(self.ty, value)).collect()),
            valid: self.valid(&types),
            types,
            tables: Vec::new(),
        }
    }

    /// Entries are numbers, or absent.
    fn valid(&self, types: &[Type]) -> Option<Function> {
        let (opcode, other) = match self.semiring {
            Semiring::Reals => return None,
            Semiring::MaxPlus => (Opcode::Lt, present(self.wide)),
            Semiring::MinPlus => (Opcode::Gt, absent(self.wide)),
        };
        Some(seeded(types, |b, state| {
            let other = b.constant(other);
            let all: Vec<Value> = state.iter().map(|&entry| b.binary(opcode, entry, other)).collect();
            vec![all.into_iter().reduce(|a, c| b.binary(Opcode::And, a, c)).expect("there is an entry")]
        }))
    }

    /// The product of matrices whose entries are of this pattern.
    fn combine(&self, pattern: &[Vec<Entry>], places: &[(usize, usize)]) -> Function {
        let count = self.count;
        let mut b = FunctionBuilder::new();
        let types = vec![self.wide; places.len()];
        let (earlier, later) = (b.params(&types), b.params(&types));
        let place = |i: usize, j: usize| places.iter().position(|&place| place == (i, j));
        let mut results = Vec::new();
        for &(i, j) in places {
            let mut sum: Option<Value> = None;
            for k in 0..count {
                // Later[i][k] · earlier[k][j]
                let (second, first) = (pattern[i][k], pattern[k][j]);
                let term = match (second, first) {
                    (Entry::Zero, _) | (_, Entry::Zero) => continue,
                    (Entry::One, Entry::One) => b.constant(self.one()),
                    (Entry::One, Entry::Any) => earlier[place(k, j).expect("it is a component")],
                    (Entry::Any, Entry::One) => later[place(i, k).expect("it is a component")],
                    (Entry::Any, Entry::Any) => {
                        let (x, y) = (place(i, k).expect("a component"), place(k, j).expect("a component"));
                        b.push(self.times_inst(later[x], earlier[y]))
                    }
                };
                sum = Some(sum.map_or(term, |sum| b.push(self.inst(self.plus_opcode(), &[sum, term]))));
            }
            if j == count {
                let own = later[place(i, j).expect("constants are components")];
                sum = Some(sum.map_or(own, |sum| b.push(self.inst(self.plus_opcode(), &[sum, own]))));
            }
            let sum = sum.expect("an entry that is never absent has terms");
            results.push(self.whole(&mut b, sum));
        }
        b.finish(&results)
    }

    /// Sums of what is absent, among integers, are absent again.
    fn whole(&self, b: &mut FunctionBuilder, sum: Value) -> Value {
        if self.semiring == Semiring::Reals || self.wide.is_float() {
            return sum;
        }
        let (limit, opcode) = match self.semiring {
            Semiring::MaxPlus => (ABSENT / 2, Opcode::Lt),
            _ => (-(ABSENT / 2), Opcode::Gt),
        };
        let (limit, zero) = (b.lit(limit), b.constant(self.zero()));
        let is_absent = b.binary(opcode, sum, limit);
        b.select(is_absent, zero, sum)
    }
}
