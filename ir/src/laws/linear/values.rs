//! The values of a function in the present case: linear forms, truths, and others.
//!
//! Sums that wrap are asked whether they did where they are compared or bounded, not before. A
//! value that is not linear is a variable of its own, the same one wherever it has the same
//! operands.

use super::form::Form;
use super::{Cases, Ended, Known, Name, range};
use crate::eval::evaluate;
use crate::function::{Inst, Payload, Value};
use crate::opcode::{Opcode, Rule};
use crate::types::{Constant, Type};

/// Most values of which one hangs on the next.
const DEEPEST: usize = 200;

/// A constant in the upper half of a type without sign, where it is added, is what is taken away: the simplifier writes `x − 1` so.
fn addend(constant: i128, ty: Type) -> i128 {
    let is_high = !ty.is_signed() && constant >> (ty.bits() - 1) != 0;
    if is_high { constant - (1 << ty.bits()) } else { constant }
}

/// Whether the value of an instruction follows modulo 2^k from its operands modulo 2^k: sums that are meant to wrap, and the same
/// bits as another type.
fn is_residue(inst: &Inst, from: Type) -> bool {
    let sums = matches!(inst.opcode, Opcode::Add | Opcode::Sub | Opcode::Neg) && inst.payload == Payload::Wraps;
    let moves = matches!(inst.opcode, Opcode::Cast | Opcode::Bitcast);
    inst.ty.is_int() && from.is_int() && from.size() == inst.ty.size() && (sums || moves)
}

impl Cases<'_> {
    pub(super) fn truth(&mut self, value: Value, depth: usize) -> Result<bool, Ended> {
        match self.value(value, depth)? {
            Known::Truth(truth) => Ok(truth),
            _ => Err(Ended::GaveUp),
        }
    }

    fn number(&mut self, value: Value, depth: usize) -> Result<Form, Ended> {
        match self.value(value, depth)? {
            Known::Number(form) => Ok(form),
            _ => Err(Ended::GaveUp),
        }
    }

    fn value(&mut self, value: Value, depth: usize) -> Result<Known, Ended> {
        if let Some(known) = &self.known[value.index()] {
            return Ok(known.clone());
        }
        if depth > DEEPEST {
            return Err(Ended::GaveUp);
        }
        let known = match self.function.inst(value) {
            Some(inst) => self.instruction(*inst, depth + 1)?,
            None => self.named(Name::Parameter(value.index()), self.function.params[value.index()])?,
        };
        self.known[value.index()] = Some(known.clone());
        Ok(known)
    }

    /// An argument: the same wherever it has this name.
    fn named(&mut self, name: Name, ty: Type) -> Result<Known, Ended> {
        let next = self.ranges.len() as u32;
        let variable = *self.names.entry(name).or_insert(next);
        if variable == next {
            self.ranges.push(if ty.is_int() { range(ty) } else { (0, 1) });
        }
        Ok(match ty {
            Type::Bool => {
                let is_false = self.decide(&Form::variable(variable))?;
                Known::Truth(!is_false)
            }
            _ if ty.is_int() => Known::Number(Form::variable(variable)),
            _ => Known::Other(variable),
        })
    }

    fn instruction(&mut self, inst: Inst, depth: usize) -> Result<Known, Ended> {
        let x = inst.operands();
        let from = x.first().and_then(|&x| self.function.type_of(x)).unwrap_or(inst.ty);
        if let Some(constant) = inst.as_constant() {
            return self.constant(constant);
        }
        match inst.opcode {
            Opcode::Select => {
                let chosen = if self.truth(x[0], depth)? { x[1] } else { x[2] };
                self.value(chosen, depth)
            }
            Opcode::And | Opcode::Or if inst.ty == Type::Bool => {
                let first = self.truth(x[0], depth)?;
                let is_decided = first == (inst.opcode == Opcode::Or);
                Ok(Known::Truth(if is_decided { first } else { self.truth(x[1], depth)? }))
            }
            Opcode::Xor if inst.ty == Type::Bool => {
                Ok(Known::Truth(self.truth(x[0], depth)? != self.truth(x[1], depth)?))
            }
            Opcode::Not if inst.ty == Type::Bool => Ok(Known::Truth(!self.truth(x[0], depth)?)),
            Opcode::Eq | Opcode::Ne if from == Type::Bool => {
                let is_same = self.truth(x[0], depth)? == self.truth(x[1], depth)?;
                Ok(Known::Truth(is_same == (inst.opcode == Opcode::Eq)))
            }
            opcode if matches!(opcode.rule(), Rule::Compare(_)) && from.is_int() => {
                let (a, b) = (self.number(x[0], depth)?, self.number(x[1], depth)?);
                self.compare(opcode, &a, &b).map(Known::Truth)
            }
            Opcode::Cast if from == Type::Bool && inst.ty.is_int() => {
                Ok(Known::Number(Form::constant(i128::from(self.truth(x[0], depth)?))))
            }
            Opcode::Cast | Opcode::Bitcast if is_residue(&inst, from) => {
                let form = self.residue(x[0], depth)?;
                self.wrapped(form, inst.ty).map(Known::Number)
            }
            Opcode::Cast if inst.ty.is_int() && from.is_int() => {
                let form = self.number(x[0], depth)?;
                let form = match self.is_within(&form, inst.ty)? {
                    true => return Ok(Known::Number(form)),
                    false => Known::Number(form),
                };
                self.named(Name::Operation(inst.opcode, inst.ty, Payload::None, vec![form]), inst.ty)
            }
            _ if inst.ty.is_int() && from.is_int() => match self.arithmetic(inst, depth)? {
                Some(form) => Ok(Known::Number(form)),
                None => self.other(inst, depth),
            },
            _ => self.other(inst, depth),
        }
    }

    fn constant(&mut self, constant: Constant) -> Result<Known, Ended> {
        Ok(match constant.ty() {
            Type::Bool => Known::Truth(constant.bits() != 0),
            ty if ty.is_int() => Known::Number(Form::constant(constant.as_int())),
            ty => return self.named(Name::Operation(Opcode::Const, ty, Payload::Constant(constant), Vec::new()), ty),
        })
    }

    fn compare(&mut self, opcode: Opcode, a: &Form, b: &Form) -> Result<bool, Ended> {
        let difference = a.plus(b, -1).ok_or(Ended::GaveUp)?;
        let opposite = difference.times(-1).ok_or(Ended::GaveUp)?;
        Ok(match opcode {
            Opcode::Le => self.decide(&difference)?,
            Opcode::Ge => self.decide(&opposite)?,
            Opcode::Gt => !self.decide(&difference)?,
            Opcode::Lt => !self.decide(&opposite)?,
            _ => (self.decide(&difference)? && self.decide(&opposite)?) == (opcode == Opcode::Eq),
        })
    }

    /// An integer modulo 2^k, for its k bits: as far as that can be said without asking which sums wrap.
    fn residue(&mut self, value: Value, depth: usize) -> Result<Form, Ended> {
        if let Some(residue) = &self.residues[value.index()] {
            return Ok(residue.clone());
        }
        if depth > DEEPEST {
            return Err(Ended::GaveUp);
        }
        let inst = self.function.inst(value).copied();
        let from = |inst: &Inst| inst.operands().first().and_then(|&x| self.function.type_of(x)).unwrap_or(inst.ty);
        let residue = match inst.filter(|inst| is_residue(inst, from(inst))) {
            None => self.number(value, depth)?,
            Some(inst) => {
                let x = inst.operands().iter().map(|&x| self.residue(x, depth + 1));
                let x: Vec<Form> = x.collect::<Result<_, _>>()?;
                let form = match (inst.opcode, &x[..]) {
                    (Opcode::Add, [a, b]) => a.plus(b, 1),
                    (Opcode::Sub, [a, b]) => a.plus(b, -1),
                    (Opcode::Neg, [a]) => a.times(-1),
                    (_, [a]) => Some(a.clone()),
                    _ => None,
                };
                form.ok_or(Ended::GaveUp)?
            }
        };
        self.residues[value.index()] = Some(residue.clone());
        Ok(residue)
    }

    /// The result of an operation on integers as a linear form, if it is one.
    fn arithmetic(&mut self, inst: Inst, depth: usize) -> Result<Option<Form>, Ended> {
        let ty = inst.ty;
        let is_wrapped = is_residue(&inst, ty);
        let mut x = Vec::new();
        for &operand in inst.operands() {
            if self.function.type_of(operand).is_none_or(|ty| !ty.is_int()) {
                return Ok(None);
            }
            x.push(if is_wrapped { self.residue(operand, depth)? } else { self.number(operand, depth)? });
        }
        let form = match (inst.opcode, &x[..]) {
            (Opcode::Min | Opcode::Max, [a, b]) => {
                let difference = a.plus(b, -1).ok_or(Ended::GaveUp)?;
                // The same question, in whatever order they come.
                let (a, b) = if difference.terms.first().is_some_and(|term| term.1 < 0) { (b, a) } else { (a, b) };
                let is_first = self.compare(Opcode::Le, a, b)? == (inst.opcode == Opcode::Min);
                return Ok(Some(if is_first { a.clone() } else { b.clone() }));
            }
            (Opcode::Add, [a, b]) => {
                let number = |form: &Form| match form.as_constant() {
                    Some(constant) => Form::constant(addend(constant, ty)),
                    None => form.clone(),
                };
                number(a).plus(&number(b), 1)
            }
            (Opcode::Sub, [a, b]) => a.plus(b, -1),
            (Opcode::Neg, [a]) => a.times(-1),
            (Opcode::Mul, [a, b]) => match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => a.times(factor),
                (Some(factor), _) => b.times(factor),
                _ => return Ok(None),
            },
            (Opcode::AddSat | Opcode::SubSat, [a, b]) => {
                let sum = a.plus(b, if inst.opcode == Opcode::AddSat { 1 } else { -1 }).ok_or(Ended::GaveUp)?;
                return self.clamped(sum, ty).map(Some);
            }
            _ => return Ok(None),
        };
        let form = form.ok_or(Ended::GaveUp)?;
        if inst.payload == Payload::Wraps {
            return self.wrapped(form, ty).map(Some);
        }
        let (least, most) = range(ty);
        self.assume(&form.moved(-most).ok_or(Ended::GaveUp)?)?;
        self.assume(&form.times(-1).and_then(|form| form.moved(least)).ok_or(Ended::GaveUp)?)?;
        Ok(Some(form))
    }

    /// Whether a form is at most the largest number of a type, and at least its least.
    fn is_at_most(&mut self, form: &Form, most: i128) -> Result<bool, Ended> {
        let over = form.moved(-most).ok_or(Ended::GaveUp)?;
        self.decide(&over)
    }

    fn is_at_least(&mut self, form: &Form, least: i128) -> Result<bool, Ended> {
        let under = form.times(-1).and_then(|form| form.moved(least)).ok_or(Ended::GaveUp)?;
        self.decide(&under)
    }

    fn is_within(&mut self, form: &Form, ty: Type) -> Result<bool, Ended> {
        let (least, most) = range(ty);
        Ok(self.is_at_most(form, most)? && self.is_at_least(form, least)?)
    }

    fn clamped(&mut self, form: Form, ty: Type) -> Result<Form, Ended> {
        let (least, most) = range(ty);
        Ok(match () {
            () if !self.is_at_most(&form, most)? => Form::constant(most),
            () if !self.is_at_least(&form, least)? => Form::constant(least),
            () => form,
        })
    }

    /// The number of a type that a form is modulo 2^k.
    fn wrapped(&mut self, mut form: Form, ty: Type) -> Result<Form, Ended> {
        let (least, most) = range(ty);
        // A few sums leave their type a few times.
        for _ in 0..8 {
            let by = match () {
                () if !self.is_at_most(&form, most)? => -(1 << ty.bits()),
                () if !self.is_at_least(&form, least)? => 1 << ty.bits(),
                () => return Ok(form),
            };
            form = form.moved(by).ok_or(Ended::GaveUp)?;
        }
        Err(Ended::GaveUp)
    }

    /// A value that is not linear, by its operands.
    fn other(&mut self, inst: Inst, depth: usize) -> Result<Known, Ended> {
        let operands = inst.operands().iter().map(|&operand| self.value(operand, depth));
        let operands: Vec<Known> = operands.collect::<Result<_, _>>()?;
        let of = |(known, &operand): (&Known, &Value)| match known {
            Known::Truth(truth) => Some(Constant::from(*truth)),
            Known::Number(form) => {
                let ty = self.function.type_of(operand)?;
                form.as_constant().map(|number| Constant::new(ty, number as u128))
            }
            Known::Other(_) => None,
        };
        let constants: Option<Vec<Constant>> = operands.iter().zip(inst.operands()).map(of).collect();
        if let Some(result) = constants.and_then(|constants| evaluate(&inst, &constants, self.tables)) {
            return self.constant(result);
        }
        // Whether it is meant to wrap is nothing to its value.
        let payload = if inst.payload == Payload::Wraps { Payload::None } else { inst.payload };
        self.named(Name::Operation(inst.opcode, inst.ty, payload, operands), inst.ty)
    }
}
