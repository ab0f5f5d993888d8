//! Builds a [`Function`], instruction by instruction.
//!
//! Equal instructions are built once (hash-consing), and an instruction whose operands are
//! constants is folded at once. The builder never fails: an operation that is typed wrongly is
//! recorded as it came, with the type its operator would have, and the verifier reports it.

use rustc_hash::FxHashMap;

use crate::eval::evaluate;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::{Opcode, Rule};
use crate::types::{Constant, Primitive, Type};

/// A function under construction.
///
/// ```
/// use monoscan_ir::{FunctionBuilder, Opcode, Type};
/// let mut b = FunctionBuilder::new();
/// let (x, y) = (b.param(Type::I32), b.param(Type::I32));
/// let sum = b.binary(Opcode::Add, x, y);
/// assert_eq!(sum, b.binary(Opcode::Add, x, y)); // built once
/// let function = b.finish(&[sum]);
/// assert_eq!(function.insts.len(), 1);
/// ```
#[derive(Default, Debug, Clone)]
pub struct FunctionBuilder {
    function: Function,
    known: FxHashMap<Inst, Value>,
    wraps: bool,
}

impl FunctionBuilder {
    /// An empty function.
    pub fn new() -> FunctionBuilder {
        FunctionBuilder::default()
    }

    /// An empty function that will have about so many instructions.
    pub(crate) fn with_capacity(insts: usize) -> FunctionBuilder {
        let mut builder = FunctionBuilder::new();
        builder.function.insts.reserve(insts);
        builder.known.reserve(insts);
        builder
    }

    /// Adds a parameter.
    ///
    /// # Panics
    /// If there are instructions already: parameters come first.
    pub fn param(&mut self, ty: Type) -> Value {
        assert!(self.function.insts.is_empty(), "parameters come before instructions");
        self.function.params.push(ty);
        Value::new(self.function.params.len() - 1)
    }

    /// Adds one parameter for each type.
    pub fn params(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.param(ty)).collect()
    }

    /// The function so far.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// The type of a value; of one that this builder did not define, `u8`.
    pub fn type_of(&self, value: Value) -> Type {
        self.function.type_of(value).unwrap_or(Type::U8)
    }

    /// The constant a value is, if it is one.
    pub fn as_constant(&self, value: Value) -> Option<Constant> {
        self.function.as_constant(value)
    }

    /// Adds an instruction, or finds the value that is the same: an equal instruction, or the constant it folds to.
    pub fn push(&mut self, inst: Inst) -> Value {
        let inst = self.fold(if self.wraps { inst.wrapping() } else { inst });
        if let Some(&value) = self.known.get(&inst) {
            return value;
        }
        let value = Value::new(self.function.value_count());
        self.function.insts.push(inst);
        self.known.insert(inst, value);
        value
    }

    fn fold(&self, inst: Inst) -> Inst {
        if matches!(inst.opcode, Opcode::Const | Opcode::Table) {
            return inst;
        }
        let mut operands = [Type::Bool.zero(); 3];
        for (slot, &value) in operands.iter_mut().zip(inst.operands()) {
            let Some(constant) = self.as_constant(value) else { return inst };
            *slot = constant;
        }
        evaluate(&inst, &operands[..inst.operands().len()], &[]).map_or(inst, Inst::constant)
    }

    /// Runs `body`, whose integer arithmetic overflows on purpose: see [`Payload::Wraps`].
    pub fn wrapping<R>(&mut self, body: impl FnOnce(&mut FunctionBuilder) -> R) -> R {
        let outer = self.set_wrapping(true);
        let result = body(self);
        self.set_wrapping(outer);
        result
    }

    /// Whether integer overflow is meant in what is added from now on; gives what was so before.
    pub fn set_wrapping(&mut self, wraps: bool) -> bool {
        std::mem::replace(&mut self.wraps, wraps)
    }

    /// A constant.
    pub fn constant(&mut self, value: impl Into<Constant>) -> Value {
        self.push(Inst::constant(value.into()))
    }

    /// An operation whose result type follows from its operands: all but casts, tables and lanes.
    pub fn op(&mut self, opcode: Opcode, operands: &[Value]) -> Value {
        let first = operands.first().map_or(Type::U8, |&value| self.type_of(value));
        let ty = match opcode.rule() {
            Rule::Compare(_) => Type::Bool,
            Rule::Count => Type::U32,
            Rule::Select | Rule::Permute => operands.get(1).map_or(first, |&value| self.type_of(value)),
            Rule::Convert(_, to) => to,
            Rule::Lane => Type::U8,
            _ => first,
        };
        self.push(Inst::new(opcode, ty, operands, Payload::None))
    }

    /// A one-operand operation.
    pub fn unary(&mut self, opcode: Opcode, a: Value) -> Value {
        self.op(opcode, &[a])
    }

    /// A two-operand operation.
    pub fn binary(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        self.op(opcode, &[a, b])
    }

    /// `condition ? yes : no`.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        if yes == no {
            return yes;
        }
        match self.as_constant(condition) {
            Some(known) => [no, yes][(known.bits() != 0) as usize],
            None => self.op(Opcode::Select, &[condition, yes, no]),
        }
    }

    /// Rust's `as`.
    pub fn cast(&mut self, ty: Type, a: Value) -> Value {
        if self.type_of(a) == ty {
            return a;
        }
        self.push(Inst::new(Opcode::Cast, ty, &[a], Payload::None))
    }

    /// The same bits as another type of that size.
    pub fn bitcast(&mut self, ty: Type, a: Value) -> Value {
        if self.type_of(a) == ty {
            return a;
        }
        self.push(Inst::new(Opcode::Bitcast, ty, &[a], Payload::None))
    }

    /// Element `index` (of type `u32`) of table number `table`, whose elements have type `ty`.
    pub fn table(&mut self, table: u32, ty: Type, index: Value) -> Value {
        self.push(Inst::new(Opcode::Table, ty, &[index], Payload::Table(table)))
    }

    /// A vector of type `ty` with the byte in every lane.
    pub fn splat(&mut self, ty: Type, byte: Value) -> Value {
        self.push(Inst::new(Opcode::Splat, ty, &[byte], Payload::None))
    }

    /// One lane of a vector.
    pub fn lane(&mut self, vector: Value, lane: u8) -> Value {
        self.push(Inst::new(Opcode::Lane, Type::U8, &[vector], Payload::Lane(lane)))
    }

    /// The vector with one lane replaced.
    pub fn with_lane(&mut self, vector: Value, lane: u8, byte: Value) -> Value {
        let ty = self.type_of(vector);
        self.push(Inst::new(Opcode::WithLane, ty, &[vector, byte], Payload::Lane(lane)))
    }

    /// Copies a whole function in, its parameters bound to `arguments`; returns its results.
    ///
    /// # Panics
    /// If the number of arguments is not the number of parameters.
    pub fn inline(&mut self, callee: &Function, arguments: &[Value]) -> Vec<Value> {
        assert_eq!(callee.params.len(), arguments.len(), "one argument for each parameter");
        let mut values = arguments.to_vec();
        for inst in &callee.insts {
            let value = self.push(inst.map_operands(|operand| values[operand.index()]));
            values.push(value);
        }
        callee.results.iter().map(|result| values[result.index()]).collect()
    }

    /// The finished function.
    pub fn finish(mut self, results: &[Value]) -> Function {
        self.function.results = results.to_vec();
        self.function
    }

    /// A constant of a Rust scalar type, for conciseness.
    pub fn lit<T: Primitive>(&mut self, value: T) -> Value {
        self.constant(value)
    }
}
