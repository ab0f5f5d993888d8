//! u ↦ M·u ^ b, where M is a constant matrix of bits: shifts, `xor`, masks, tests of one bit, and
//! look-ups in tables that are linear. Cyclic codes and shift registers are that, however they are
//! written.
//!
//! ```text
//! (M, b) ⊕ (N, d) = (N·M, N·b ^ d)        identity (1, 0)        seed(u) = (0, u)
//! ```
//!
//! A column of M is a word: what bit j of u becomes. M is the same for every element, so after n
//! elements it is Mⁿ, which engines tabulate by length; an element changes b alone.

use std::cell::Cell;

use super::{Domain, Effect, Family, Group, Operand, seeded};
use crate::builder::FunctionBuilder;
use crate::derive::code::Code;
use crate::derive::refusal::{Leave, Why};
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

/// Most bits of a word: a state has a word for each, and takes at most 256 bytes.
const MOST_BITS: u32 = 32;
/// Instructions one inside the other that a known value's bits are sought in.
const DEPTH: usize = 5;

struct Linear {
    /// The component's.
    ty: Type,
    /// Whether the matrix was not the same for every element. What is found then is no effect.
    varies: Cell<bool>,
}

/// A word that is linear in the component's bits. A `bool` is one of one bit.
#[derive(Clone)]
struct Form {
    /// The summand of each bit of the component.
    columns: Vec<u64>,
    /// The constant that is added to that.
    known: Value,
    /// Bits that `known` may have.
    support: u64,
}

impl Form {
    /// Bits that may be set.
    fn possible(&self) -> u64 {
        self.columns.iter().fold(self.support, |all, column| all | column)
    }

    fn each(&self, change: impl Fn(u64) -> u64, known: Value) -> Form {
        Form { columns: self.columns.iter().map(|&c| change(c)).collect(), known, support: change(self.support) }
    }
}

fn mask(ty: Type) -> u64 {
    ty.mask() as u64
}

impl Linear {
    fn form(&self, code: &mut Code<'_>, operand: &Operand<Form>) -> Result<Form, Leave> {
        match operand {
            Operand::Known(value) => self.known(code, *value),
            Operand::Form(form) => form.clone(),
        }
    }

    fn sum(&self, code: &mut Code<'_>, a: &Form, b: &Form) -> Form {
        Form {
            columns: a.columns.iter().zip(&b.columns).map(|(a, b)| a ^ b).collect(),
            known: code.binary(Opcode::Xor, a.known, b.known),
            support: a.support | b.support,
        }
    }

    /// The summand that `yes` has besides `no`, if that is a constant.
    fn difference(&self, code: &Code<'_>, yes: &Form, no: &Form) -> Option<u64> {
        let number = |value: Value| code.constant_of(value).map(|constant| constant.bits() as u64);
        let beside = |value: Value, other: Value| {
            let inst = code.inst(value).filter(|inst| inst.opcode == Opcode::Xor)?;
            let &[a, b] = inst.operands() else { return None };
            if a == other { number(b) } else { number(a).filter(|_| b == other) }
        };
        match (yes.known, no.known) {
            _ if yes.columns != no.columns => None,
            (a, b) if a == b => Some(0),
            (a, b) => number(a).zip(number(b)).map(|(a, b)| a ^ b).or_else(|| beside(a, b)).or_else(|| beside(b, a)),
        }
    }

    /// A form where a linear condition holds, and elsewhere another that differs by a constant.
    fn chosen(&self, code: &mut Code<'_>, condition: &Form, yes: &Form, no: &Form) -> Result<Form, Leave> {
        let apart = self.difference(code, yes, no).ok_or(Leave)?;
        let columns = no.columns.iter().zip(&condition.columns);
        Ok(Form {
            columns: columns.map(|(&column, &bit)| if bit == 0 { column } else { column ^ apart }).collect(),
            known: code.select(condition.known, yes.known, no.known),
            support: yes.support | no.support,
        })
    }

    /// A word of one bit, times a constant word.
    fn spread(&self, form: &Form, word: u64, known: Value) -> Form {
        form.each(|bits| if bits == 0 { 0 } else { word }, known)
    }

    /// Whether a word that has one bit at most is a number.
    fn compared(&self, code: &mut Code<'_>, inst: &Inst, form: &Form, k: Value) -> Result<Form, Leave> {
        let number = code.constant_of(k).ok_or(Leave)?.bits() as u64;
        let bit = form.possible();
        if !bit.is_power_of_two() || (number != 0 && number != bit) {
            return Err(Leave);
        }
        let known = code.compare(inst.opcode, form.known, k);
        Ok(Form { columns: form.columns.iter().map(|&c| u64::from(c != 0)).collect(), known, support: 1 })
    }

    fn looked_up(&self, code: &mut Code<'_>, inst: &Inst, table: u32, form: &Form) -> Result<Form, Leave> {
        let declared = code.tables().get(table as usize).ok_or(Leave)?;
        let indices = form.possible();
        let bits = 64 - indices.leading_zeros();
        if bits > 16 || declared.len() < 1 << bits || !is_linear(declared, bits) {
            return Err(Leave);
        }
        let element = |index: u64| declared.element(index as usize).map_or(0, |element| element.bits() as u64);
        let columns = form.columns.iter().map(|&index| element(index)).collect();
        let known = code.push(Inst::new(Opcode::Table, inst.ty, &[form.known], Payload::Table(table)));
        Ok(Form { columns, known, support: mask(inst.ty) })
    }
}

/// The bits that a known value may have, by so many instructions one inside the other and by its range.
fn bits_of(code: &Code<'_>, value: Value, depth: usize) -> u64 {
    if let Some(constant) = code.constant_of(value) {
        return constant.bits() as u64;
    }
    let whole = mask(code.ty(value));
    let in_range = match code.range(value) {
        (least, _) if least < 0 => whole,
        (_, 0) => 0,
        (_, most) => u64::MAX >> (most as u64).leading_zeros() & whole,
    };
    let Some(inst) = code.inst(value).filter(|_| depth > 0) else { return in_range };
    let bits = |of: Value| bits_of(code, of, depth - 1);
    let by = |of: Value| code.constant_of(of).map(|constant| constant.bits() as u32 % code.ty(value).bits());
    let signed = |of: Value| code.ty(of).is_signed();
    in_range
        & match (inst.opcode, inst.operands()) {
            (Opcode::Select, &[_, yes, no]) => bits(yes) | bits(no),
            (Opcode::And, &[a, b]) => bits(a) & bits(b),
            (Opcode::Or | Opcode::Xor, &[a, b]) => bits(a) | bits(b),
            (Opcode::Shl, &[a, k]) => by(k).map_or(whole, |by| bits(a) << by & whole),
            (Opcode::Shr, &[a, k]) if !signed(a) => by(k).map_or(whole, |by| bits(a) >> by),
            (Opcode::Cast, &[a]) if code.ty(a) == Type::Bool || code.ty(a).is_int() && !signed(a) => bits(a) & whole,
            _ => whole,
        }
}

/// Whether the element at i ^ j is that at i ^ that at j, for all indices of so many bits.
fn is_linear(table: &Table, bits: u32) -> bool {
    let element = |index: usize| table.element(index).map_or(0, |element| element.bits());
    element(0) == 0
        && (1..1usize << bits).all(|index| {
            let low = index & index.wrapping_neg();
            element(index) == element(low) ^ element(index ^ low)
        })
}

impl Domain for Linear {
    type Form = Form;

    fn known(&self, code: &mut Code<'_>, value: Value) -> Result<Form, Leave> {
        let ty = code.ty(value);
        if ty != Type::Bool && !ty.is_int() {
            return Err(Leave);
        }
        let support = bits_of(code, value, DEPTH);
        Ok(Form { columns: vec![0; self.ty.bits() as usize], known: value, support })
    }

    fn component(&self, code: &mut Code<'_>, _place: usize) -> Form {
        Form {
            columns: (0..self.ty.bits()).map(|bit| 1 << bit).collect(),
            known: code.constant(self.ty.zero()),
            support: 0,
        }
    }

    fn select(&self, code: &mut Code<'_>, condition: Value, yes: Form, no: Form) -> Result<Form, Leave> {
        let condition = self.known(code, condition)?;
        if yes.columns != no.columns {
            self.varies.set(true);
        }
        let known = code.select(condition.known, yes.known, no.known);
        Ok(Form { known, support: yes.support | no.support, ..no })
    }

    fn operation(&self, code: &mut Code<'_>, inst: &Inst, x: &[Operand<Form>]) -> Result<Form, Leave> {
        let ty = inst.ty;
        if ty != Type::Bool && !ty.is_int() {
            return Err(Leave);
        }
        let whole = mask(ty);
        let constant = |code: &Code<'_>, value: Value| code.constant_of(value).map(|constant| constant.bits() as u64);
        // The same operation on what is known.
        let same = |code: &mut Code<'_>, known: &[Value]| code.push(Inst::new(inst.opcode, ty, known, inst.payload));
        match (inst.opcode, x) {
            (Opcode::Xor, [a, b]) | (Opcode::Ne, [a, b]) if code.ty(inst.operands()[0]) == ty => {
                let (a, b) = (self.form(code, a)?, self.form(code, b)?);
                Ok(self.sum(code, &a, &b))
            }
            (Opcode::Or, [a, b]) => {
                let (a, b) = (self.form(code, a)?, self.form(code, b)?);
                if a.possible() & b.possible() != 0 { Err(Leave) } else { Ok(self.sum(code, &a, &b)) }
            }
            (Opcode::And, [Operand::Form(form), Operand::Known(k)] | [Operand::Known(k), Operand::Form(form)]) => {
                let (form, kept) = (form.clone()?, constant(code, *k).ok_or(Leave)?);
                let known = same(code, &[form.known, *k]);
                Ok(form.each(|bits| bits & kept, known))
            }
            (Opcode::Shl | Opcode::Shr | Opcode::RotateLeft | Opcode::RotateRight, [form, Operand::Known(k)]) => {
                let (form, by) = (form.form()?, constant(code, *k).ok_or(Leave)? as u32 % ty.bits());
                let known = same(code, &[form.known, *k]);
                let turn = |word: u64, left: u32| (word << left | word >> ((ty.bits() - left) % ty.bits())) & whole;
                match inst.opcode {
                    _ if by == 0 => Ok(form),
                    Opcode::Shl => Ok(form.each(|bits| bits << by & whole, known)),
                    // What has a sign keeps it.
                    Opcode::Shr if ty.is_signed() && form.possible() >> (ty.bits() - 1) & 1 == 1 => Err(Leave),
                    Opcode::Shr => Ok(form.each(|bits| bits >> by, known)),
                    Opcode::RotateLeft => Ok(form.each(|bits| turn(bits, by), known)),
                    _ => Ok(form.each(|bits| turn(bits, ty.bits() - by), known)),
                }
            }
            (Opcode::Not, [form]) => {
                let form = form.form()?;
                let known = same(code, &[form.known]);
                Ok(Form { known, support: whole, ..form })
            }
            (Opcode::Cast | Opcode::Bitcast, [form]) => {
                let from = code.ty(inst.operands()[0]);
                let form = form.form()?;
                if from.is_signed() && ty.size() > from.size() && form.possible() >> (from.bits() - 1) & 1 == 1 {
                    return Err(Leave);
                }
                let known = same(code, &[form.known]);
                Ok(form.each(|bits| bits & whole, known))
            }
            // All bits, where the lowest is set.
            (Opcode::Neg, [form]) if form.form()?.possible() == 1 => {
                let form = form.form()?;
                let known = same(code, &[form.known]);
                Ok(self.spread(&form, whole, known))
            }
            (Opcode::Mul, [Operand::Form(form), Operand::Known(k)] | [Operand::Known(k), Operand::Form(form)])
                if form.clone()?.possible() == 1 =>
            {
                let (form, word) = (form.clone()?, constant(code, *k).ok_or(Leave)?);
                let known = same(code, &[form.known, *k]);
                Ok(self.spread(&form, word, known))
            }
            (Opcode::Eq | Opcode::Ne, [Operand::Form(form), Operand::Known(k)])
            | (Opcode::Eq | Opcode::Ne, [Operand::Known(k), Operand::Form(form)]) => {
                self.compared(code, inst, &form.clone()?, *k)
            }
            (Opcode::Select, [Operand::Form(condition), yes, no]) => {
                let (condition, yes, no) = (condition.clone()?, self.form(code, yes)?, self.form(code, no)?);
                self.chosen(code, &condition, &yes, &no)
            }
            (Opcode::Table, [form]) => match inst.payload {
                Payload::Table(table) => self.looked_up(code, inst, table, &form.form()?),
                _ => Err(Leave),
            },
            _ => Err(Leave),
        }
    }
}

/// Whether a matrix of bits may be composed for words of this type.
fn is_word(ty: Type) -> bool {
    ty.is_int() && !ty.is_signed() && ty.bits() <= MOST_BITS
}

/// The group as a word of this type under a matrix of bits, and whether the matrix is another one for some elements.
fn word(group: &mut Group<'_, '_>, ty: Type) -> Result<(Form, bool), Leave> {
    let linear = Linear { ty, varies: Cell::new(false) };
    let form = group.forms(&linear)?.remove(0);
    Ok((form, linear.varies.get()))
}

/// The type of the word, or that its matrix varies, if one of them alone keeps the group from being a word under a matrix.
pub(super) fn all_but(group: &mut Group<'_, '_>) -> Option<Why> {
    let ty = group.types[group.single().ok()?];
    let (_, varies) = word(group, ty).ok().filter(|_| ty.is_int())?;
    match is_word(ty) {
        false => Some(Why::Word(ty)),
        true => varies.then_some(Why::Varies),
    }
}

/// The group as one word under a constant matrix of bits.
pub(super) fn recognise(group: &mut Group<'_, '_>) -> Result<Effect, Leave> {
    let ty = group.types[group.single()?];
    if !is_word(ty) {
        return Err(Leave);
    }
    let (Form { columns, known, .. }, varies) = word(group, ty)?;
    if varies {
        return Err(Leave);
    }
    let code = &mut *group.code;
    let mut lift: Vec<Value> =
        columns.iter().map(|&column| code.constant(Constant::new(ty, u128::from(column)))).collect();
    lift.push(known);
    let types = vec![ty; lift.len()];
    let count = columns.len();
    Ok(Effect {
        family: Family::Linear,
        identity: (0..count).map(|bit| Constant::new(ty, 1 << bit)).chain([ty.zero()]).collect(),
        lift,
        combine: combine(ty),
        seed: seeded(&[ty], |b, u| {
            let zero = b.constant(ty.zero());
            [vec![zero; count], vec![u[0]]].concat()
        }),
        value: seeded(&types, |_, state| vec![state[count]]),
        valid: None,
        types,
        tables: Vec::new(),
    })
}

fn combine(ty: Type) -> Function {
    let mut b = FunctionBuilder::new();
    let types = vec![ty; ty.bits() as usize + 1];
    let (earlier, later) = (b.params(&types), b.params(&types));
    let added = *later.last().expect("b is a component");
    let mut results: Vec<Value> = earlier.iter().map(|&word| applied(&mut b, ty, &later, word)).collect();
    let last = results.pop().expect("b is a component");
    results.push(b.binary(Opcode::Xor, last, added));
    b.finish(&results)
}

/// The matrix times a word: the sum of the columns whose bit is set.
fn applied(b: &mut FunctionBuilder, ty: Type, columns: &[Value], word: Value) -> Value {
    let signed = match ty {
        Type::U8 => Type::I8,
        Type::U16 => Type::I16,
        _ => Type::I32,
    };
    let (word, top) = (b.bitcast(signed, word), b.lit(ty.bits() - 1));
    let terms = (0..ty.bits()).map(|bit| {
        // All ones where the bit is set.
        let left = b.lit(ty.bits() - 1 - bit);
        let ones = b.wrapping(|b| {
            let high = b.binary(Opcode::Shl, word, left);
            b.binary(Opcode::Shr, high, top)
        });
        let ones = b.bitcast(ty, ones);
        b.binary(Opcode::And, ones, columns[bit as usize])
    });
    let terms: Vec<Value> = terms.collect();
    terms.into_iter().reduce(|a, c| b.binary(Opcode::Xor, a, c)).expect("a word has bits")
}
