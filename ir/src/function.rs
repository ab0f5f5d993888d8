//! Straight-line functions: parameters, a list of instructions in SSA form, results.
//!
//! There are no blocks, loops or calls. An instruction uses only values defined before it, so every
//! analysis and every backend is one walk over the list.

use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// A value of a function: first its parameters, then one for each instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Value(u32);

impl Value {
    /// The value with this number.
    pub const fn new(index: usize) -> Value {
        Value(index as u32)
    }

    /// Its number: below the number of parameters a parameter, else an instruction.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Data of an instruction besides its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Payload {
    /// Nothing.
    None,
    /// The value of a [`Opcode::Const`].
    Constant(Constant),
    /// The table of a [`Opcode::Table`], by its place in the program.
    Table(u32),
    /// The lane of a [`Opcode::Lane`] or [`Opcode::WithLane`].
    Lane(u8),
    /// Of integer arithmetic that [can overflow](Opcode::can_overflow): overflow is meant, as in `wrapping_add`. Without
    /// it the source panics there in a build with overflow checks. The result is the same.
    Wraps,
}

/// One operation. `ty` is the type of the value it defines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    /// The operation.
    pub opcode: Opcode,
    /// The type of the result.
    pub ty: Type,
    operands: [Value; 3],
    arity: u8,
    /// Its data besides the operands.
    pub payload: Payload,
}

impl Inst {
    /// An instruction with its operands.
    ///
    /// # Panics
    /// If there are more than three operands; no opcode has more.
    pub fn new(opcode: Opcode, ty: Type, operands: &[Value], payload: Payload) -> Inst {
        let mut all = [Value(0); 3];
        all[..operands.len()].copy_from_slice(operands);
        Inst { opcode, ty, operands: all, arity: operands.len() as u8, payload }
    }

    /// The constant `value`.
    pub fn constant(value: Constant) -> Inst {
        Inst::new(Opcode::Const, value.ty(), &[], Payload::Constant(value))
    }

    /// The operands, in order.
    pub fn operands(&self) -> &[Value] {
        &self.operands[..self.arity as usize]
    }

    /// The same instruction with each operand replaced.
    pub fn map_operands(mut self, mut f: impl FnMut(Value) -> Value) -> Inst {
        for operand in &mut self.operands[..self.arity as usize] {
            *operand = f(*operand);
        }
        self
    }

    /// The same instruction with its table, if it has one, renumbered.
    pub fn map_table(mut self, f: impl FnOnce(u32) -> u32) -> Inst {
        if let Payload::Table(table) = &mut self.payload {
            *table = f(*table);
        }
        self
    }

    /// The same instruction with integer overflow meant, if it can overflow.
    pub fn wrapping(mut self) -> Inst {
        if self.payload == Payload::None && self.ty.is_int() && self.opcode.can_overflow() {
            self.payload = Payload::Wraps;
        }
        self
    }

    /// Whether there are operands for which the source panics, in a build with overflow checks: integer arithmetic that
    /// is not meant to wrap, and division, which panics in every build.
    pub fn may_panic(&self) -> bool {
        let panics = self.opcode.can_overflow() || matches!(self.opcode, Opcode::Div | Opcode::Rem);
        self.ty.is_int() && self.payload == Payload::None && panics
    }

    /// The constant this instruction is, if it is one.
    pub fn as_constant(&self) -> Option<Constant> {
        match self.payload {
            Payload::Constant(value) => Some(value),
            _ => None,
        }
    }
}

/// A straight-line function.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Function {
    /// The types of the parameters.
    pub params: Vec<Type>,
    /// The instructions, each defining the value `params.len() + its place`.
    pub insts: Vec<Inst>,
    /// The results, in order.
    pub results: Vec<Value>,
}

impl Function {
    /// The type of a value, if the function defines it.
    pub fn type_of(&self, value: Value) -> Option<Type> {
        let index = value.index();
        match self.params.get(index) {
            Some(ty) => Some(*ty),
            None => self.insts.get(index - self.params.len()).map(|inst| inst.ty),
        }
    }

    /// The instruction that defines a value; none for parameters.
    pub fn inst(&self, value: Value) -> Option<&Inst> {
        value.index().checked_sub(self.params.len()).and_then(|place| self.insts.get(place))
    }

    /// The constant a value is, if it is one.
    pub fn as_constant(&self, value: Value) -> Option<Constant> {
        self.inst(value).and_then(Inst::as_constant)
    }

    /// The instructions with the values they define.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = (Value, &Inst)> {
        self.insts.iter().enumerate().map(|(place, inst)| (Value::new(self.params.len() + place), inst))
    }

    /// The table of each look-up, in the order of the instructions.
    pub fn looked_up(&self) -> impl Iterator<Item = u32> {
        self.insts.iter().filter_map(|inst| match inst.payload {
            Payload::Table(table) => Some(table),
            _ => None,
        })
    }

    /// The same function with its tables renumbered: for putting functions together that had tables of their own.
    pub fn map_tables(mut self, f: impl Fn(u32) -> u32) -> Function {
        for inst in &mut self.insts {
            *inst = inst.map_table(&f);
        }
        self
    }

    /// The same function with integer overflow meant everywhere.
    pub fn wrapping(mut self) -> Function {
        self.insts.iter_mut().for_each(|inst| *inst = inst.wrapping());
        self
    }

    /// The same function without the marks of what is meant to wrap, which say nothing to an engine.
    pub(crate) fn unmarked(mut self) -> Function {
        for inst in self.insts.iter_mut().filter(|inst| inst.payload == Payload::Wraps) {
            inst.payload = Payload::None;
        }
        self
    }

    /// Whether a result hangs on an instruction on which Rust [may panic](Inst::may_panic).
    pub fn may_panic(&self) -> bool {
        let used = crate::simplify::used_values(self);
        self.values().any(|(value, inst)| used[value.index()] && inst.may_panic())
    }

    /// How many values the function defines, parameters included.
    pub fn value_count(&self) -> usize {
        self.params.len() + self.insts.len()
    }

    /// The types of the results; a result that is not defined is left out.
    pub fn result_types(&self) -> Vec<Type> {
        self.results.iter().filter_map(|&value| self.type_of(value)).collect()
    }
}
