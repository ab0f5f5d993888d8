//! The code that a derivation builds: one growing function over the loop's state and what it reads.
//!
//! Every value is simplified as it is built, and equal values are built once. So "is this the
//! component itself?" is a comparison of two numbers. For each value the code knows which
//! components of the state it depends on.

use crate::facts::{Range, value_ranges};
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::program::Table;
use crate::simplify::{Rewriter, drop_dead};
use crate::types::{Constant, Type};

use super::fuel::Fuel;
use super::within::narrowed;

/// A set of components of the state, by number.
pub(super) type Components = u128;

/// Most components that a loop's state has.
pub(super) const MAX_COMPONENTS: usize = 128;

/// How many of them the loop may have itself: rewriting adds others.
pub(super) const MOST_OWN: usize = MAX_COMPONENTS / 2;

/// Most nodes that [`Code::difference`] looks into: sums in programs of people are short.
const MAX_SUM: usize = 48;

/// The code over a loop's parameters: the state's components first.
pub(super) struct Code<'t> {
    pub(super) fuel: Fuel,
    /// Conditions that hold, or do not, where an operation is looked at: of the arms that it is in.
    pub(super) assumed: Vec<(Value, bool)>,
    /// The intervals of the parameters.
    pub(super) ranges: Vec<Range>,
    rewriter: Rewriter<'t>,
    tables: &'t [Table],
    depends: Vec<Components>,
    /// Whether sums are what they are over the integers, so that arms of a `select` may be compared
    /// by their difference.
    pub(super) sums: bool,
    /// Whether a `select` may become a minimum or maximum.
    pub(super) extremes: bool,
}

impl<'t> Code<'t> {
    /// Code over parameters of these types, of which the first `state` are the components.
    pub(super) fn new(params: &[Type], state: usize, tables: &'t [Table], sums: bool) -> Code<'t> {
        let mut rewriter = Rewriter::new(tables);
        rewriter.builder.params(params);
        let depends = (0..params.len()).map(|param| if param < state { 1 << param } else { 0 }).collect();
        Code {
            fuel: Fuel::default(),
            assumed: Vec::new(),
            ranges: params.iter().map(|&ty| Range::full(ty)).collect(),
            rewriter,
            tables,
            depends,
            sums,
            extremes: true,
        }
    }

    /// Code that leaves every `select` as it is written.
    pub(super) fn as_written(params: &[Type], state: usize, tables: &'t [Table]) -> Code<'t> {
        Code { extremes: false, ..Code::new(params, state, tables, false) }
    }

    pub(super) fn tables(&self) -> &'t [Table] {
        self.tables
    }

    pub(super) fn function(&self) -> &Function {
        self.rewriter.builder.function()
    }

    /// The components that a value depends on.
    pub(super) fn depends(&self, value: Value) -> Components {
        self.depends[value.index()]
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.rewriter.builder.type_of(value)
    }

    pub(super) fn inst(&self, value: Value) -> Option<Inst> {
        self.function().inst(value).copied()
    }

    pub(super) fn constant_of(&self, value: Value) -> Option<Constant> {
        self.function().as_constant(value)
    }

    /// Whether a value is this number, of whatever type.
    pub(super) fn is_number(&self, value: Value, number: i64) -> bool {
        self.constant_of(value).is_some_and(|constant| {
            let expected = constant.ty().of_i64(number);
            constant == expected || (constant.ty().is_float() && constant.as_f64() == number as f64)
        })
    }

    pub(super) fn constant(&mut self, constant: impl Into<Constant>) -> Value {
        let value = self.rewriter.builder.constant(constant.into());
        self.learn();
        value
    }

    /// A number of a type.
    pub(super) fn number(&mut self, ty: Type, number: i64) -> Value {
        self.constant(ty.of_i64(number))
    }

    /// Adds an instruction, in its simplest form.
    pub(super) fn push(&mut self, inst: Inst) -> Value {
        if inst.opcode == Opcode::Select {
            let &[condition, yes, no] = inst.operands() else { unreachable!("a select has three operands") };
            return self.select(condition, yes, no);
        }
        if let Some(value) = self.by_others(&inst) {
            return value;
        }
        self.push_as_it_is(inst)
    }

    /// Adds an instruction, in its simplest form, but by no other operations.
    pub(super) fn push_as_it_is(&mut self, inst: Inst) -> Value {
        let value = self.rewriter.push(inst);
        self.learn();
        value
    }

    /// Adds an instruction as it is written.
    pub(super) fn push_as_written(&mut self, inst: Inst) -> Value {
        let value = self.rewriter.builder.push(inst);
        self.learn();
        value
    }

    pub(super) fn unary(&mut self, opcode: Opcode, a: Value) -> Value {
        self.push(Inst::new(opcode, self.ty(a), &[a], Payload::None))
    }

    pub(super) fn binary(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        self.push(Inst::new(opcode, self.ty(a), &[a, b], Payload::None))
    }

    pub(super) fn compare(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        self.push(Inst::new(opcode, Type::Bool, &[a, b], Payload::None))
    }

    pub(super) fn cast(&mut self, ty: Type, a: Value) -> Value {
        match self.ty(a) == ty {
            true => a,
            false => self.push(Inst::new(Opcode::Cast, ty, &[a], Payload::None)),
        }
    }

    /// The summand, in a wider type. The simplifier writes `x − 1` as `x + MAX` where integers have no sign, so a constant in
    /// the upper half of such a type is what is taken away.
    pub(super) fn addend(&mut self, ty: Type, a: Value) -> Value {
        match self.constant_of(a).map(taken_away) {
            Some(number) if self.ty(a).is_int() && ty.is_int() => self.number(ty, number as i64),
            _ => self.cast(ty, a),
        }
    }

    /// Copies a function in, and gives its results. Overflow marks stay.
    pub(super) fn inline(&mut self, function: &Function, arguments: &[Value]) -> Vec<Value> {
        let mut values = arguments.to_vec();
        for inst in &function.insts {
            let value = self.push(inst.map_operands(|operand| values[operand.index()]));
            values.push(value);
        }
        function.results.iter().map(|result| values[result.index()]).collect()
    }

    /// The function from all parameters to these values.
    pub(super) fn extract(&self, results: &[Value]) -> Function {
        self.fuel.spend(self.function().value_count());
        let function = Function { results: results.to_vec(), ..self.function().clone() };
        drop_dead(&function)
    }

    /// The interval of a value, whatever the parameters are where it is looked at.
    pub(super) fn range(&self, value: Value) -> (i128, i128) {
        let narrowed = narrowed(self, &self.ranges, &self.assumed);
        let Range { min, max } = self.range_from(value, narrowed.as_ref().unwrap_or(&self.ranges));
        (min, max)
    }

    /// The interval of a value, where the parameters are within these.
    pub(super) fn range_from(&self, value: Value, params: &[Range]) -> Range {
        if value.index() < params.len() {
            return params[value.index()];
        }
        if self.fuel.is_spent() {
            return Range::full(self.ty(value));
        }
        let function = self.extract(&[value]);
        value_ranges(&function, params, self.tables)[function.results[0].index()]
    }

    fn learn(&mut self) {
        for place in self.depends.len()..self.function().value_count() {
            let inst = self.inst(Value::new(place)).expect("new values are instructions");
            let all = inst.operands().iter().fold(0, |all, operand| all | self.depends[operand.index()]);
            self.depends.push(all);
        }
    }

    /// a − b as a sum of multiples of what is no sum; none if there are many terms.
    pub(super) fn difference(&self, a: Value, b: Value) -> Option<Sum> {
        let mut sum = Sum::default();
        let mut open = vec![(a, 1.0), (b, -1.0)];
        let mut nodes = 0;
        while let Some((value, factor)) = open.pop() {
            nodes += 1;
            if nodes > MAX_SUM {
                return None;
            }
            let number = |value: Value| {
                let constant = self.constant_of(value)?;
                let number = if constant.ty().is_float() { constant.as_f64() } else { constant.as_int() as f64 };
                (number.is_finite() && number.abs() < 9e15).then_some(number)
            };
            if let Some(known) = number(value) {
                sum.constant += factor * known;
                continue;
            }
            let inst = self.inst(value).filter(|inst| inst.payload != Payload::Wraps);
            match inst.as_ref().map(|inst| (inst.opcode, inst.operands())) {
                // What is taken away is a sum by now: `x - 1` is `x + MAX`.
                Some((Opcode::Add, &[x, y])) if let Some(less) = self.constant_of(y).and_then(negative) => {
                    open.push((x, factor));
                    sum.constant += factor * less as f64;
                }
                Some((Opcode::Add, &[x, y])) => open.extend([(x, factor), (y, factor)]),
                Some((Opcode::Sub, &[x, y])) => open.extend([(x, factor), (y, -factor)]),
                Some((Opcode::Neg, &[x])) => open.push((x, -factor)),
                Some((Opcode::Mul, &[x, y])) if number(y).is_some() => {
                    open.push((x, factor * number(y).unwrap_or_default()));
                }
                _ => sum.add(value, factor),
            }
        }
        sum.terms.sort_by_key(|term| term.0);
        sum.terms.retain(|term| term.1 != 0.0);
        Some(sum)
    }

    pub(super) fn of_sum(&mut self, sum: &Sum, ty: Type) -> Option<Value> {
        let whole = |number: f64| ty.is_float() || number.fract() == 0.0;
        if !whole(sum.constant) || !sum.terms.iter().all(|term| whole(term.1)) {
            return None;
        }
        let number = |number: f64| match ty {
            Type::F32 => Constant::from(number as f32),
            Type::F64 => Constant::from(number),
            _ => ty.of_i64(number as i64),
        };
        let mut total = self.constant(number(sum.constant));
        for &(value, factor) in &sum.terms {
            let factor = self.constant(number(factor));
            let term = self.binary(Opcode::Mul, value, factor);
            total = match self.is_number(total, 0) {
                true => term,
                false => self.binary(Opcode::Add, total, term),
            };
        }
        Some(total)
    }
}

/// The number below 0 that a constant without sign stands for in a sum, if it is in the upper half of its type.
pub(super) fn negative(constant: Constant) -> Option<i128> {
    let ty = constant.ty();
    let is_high = ty.is_int() && !ty.is_signed() && constant.as_int() >> (ty.bits() - 1) == 1;
    let number = constant.as_int() - (1 << ty.bits());
    (is_high && number.unsigned_abs() < 1 << 53).then_some(number)
}

/// An integer, of which the upper half of a type without sign is below 0; but for `u64`, which no wider type composes.
pub(super) fn taken_away(constant: Constant) -> i128 {
    negative(constant).filter(|_| constant.ty() != Type::U64).unwrap_or(constant.as_int())
}

/// A sum of multiples of values, and a constant.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Sum {
    constant: f64,
    terms: Vec<(Value, f64)>,
}

impl Sum {
    fn add(&mut self, value: Value, factor: f64) {
        match self.terms.iter_mut().find(|term| term.0 == value) {
            Some(term) => term.1 += factor,
            None => self.terms.push((value, factor)),
        }
    }

    /// Whether it is one value, or one constant; of a type without sign, none below 0.
    pub(super) fn is_one_addend(&self, ty: Type) -> bool {
        let is_unit = |factor: f64| factor == 1.0 || (ty.is_signed() && factor == -1.0);
        match *self.terms {
            [] => ty.is_signed() || self.constant >= 0.0,
            [(_, factor)] => self.constant == 0.0 && is_unit(factor),
            _ => false,
        }
    }

    pub(super) fn negated(&self) -> Sum {
        let terms = self.terms.iter().map(|&(value, factor)| (value, -factor)).collect();
        Sum { constant: 0.0 - self.constant, terms }
    }
}
