//! Random straight-line functions.

use super::Random;
use monoscan_ir::{Class, Constant, FunctionBuilder, Inst, Opcode, Payload, Rule, Table, Type, Value};

/// Most operations that a function is grown by; constants and checks for NaN come on top.
const MOST_OPERATIONS: usize = 12;

/// A function that grows by random operations on what it has.
pub(super) struct Grower<'a> {
    pub(super) builder: FunctionBuilder,
    rng: &'a mut Random,
    tables: &'a [Table],
    vectors: bool,
}

impl<'a> Grower<'a> {
    pub(super) fn new(rng: &'a mut Random, params: &[Type], tables: &'a [Table], vectors: bool) -> Grower<'a> {
        let mut builder = FunctionBuilder::new();
        builder.params(params);
        Grower { builder, rng, tables, vectors }
    }

    /// Adds random operations, then finds or makes a value for each of the types.
    pub(super) fn grow(&mut self, results: &[Type]) -> Vec<Value> {
        for _ in 0..self.rng.below(MOST_OPERATIONS + 1) {
            let opcode = *self.rng.pick(Opcode::ALL);
            self.operation(opcode);
        }
        results.iter().map(|&ty| self.result(ty)).collect()
    }

    /// A value of this type that depends on what there is, if a cast can make one.
    fn result(&mut self, ty: Type) -> Value {
        let known = (0..self.builder.function().value_count()).any(|place| self.type_of(place) == ty);
        if !known && Class::SCALAR.contains(ty) && ty != Type::Bool {
            let from = self.known_type(Class::SCALAR);
            let operand = self.operand(from);
            return self.builder.cast(ty, operand);
        }
        self.operand(ty)
    }

    /// The value or a constant, as another value decides.
    pub(super) fn hinged(&mut self, value: Value, hinge: Value) -> Value {
        let hinge = if self.builder.type_of(hinge).is_vector() { self.builder.lane(hinge, 0) } else { hinge };
        let threshold = self.rng.operand(self.builder.type_of(hinge));
        let other = self.rng.operand(self.builder.type_of(value));
        let (threshold, other) = (self.builder.constant(threshold), self.builder.constant(other));
        let below = self.builder.binary(Opcode::Lt, hinge, threshold);
        self.builder.select(below, value, other)
    }

    fn operation(&mut self, opcode: Opcode) {
        let inst = match opcode.rule() {
            Rule::Constant => {
                let ty = self.rng.ty(self.vectors);
                Inst::constant(self.rng.operand(ty))
            }
            Rule::Unary(class) => self.uniform(opcode, class, 1),
            Rule::Binary(class) => self.uniform(opcode, class, 2),
            Rule::Ternary(class) => self.uniform(opcode, class, 3),
            Rule::Compare(class) => self.judgement(opcode, Type::Bool, class, 2),
            Rule::Count => self.judgement(opcode, Type::U32, Class::INT, 1),
            Rule::Shift => {
                let ty = self.known_type(Class::INT);
                self.inst(opcode, ty, &[ty, Type::U32])
            }
            Rule::Select => {
                let ty = self.known_type(Class::ANY);
                if Class::INT.contains(ty) && self.rng.chance(3) {
                    self.of_constants(ty)
                } else {
                    self.inst(opcode, ty, &[Type::Bool, ty, ty])
                }
            }
            Rule::Cast => {
                let from = self.known_type(Class::SCALAR);
                let to = self.rng.ty(false);
                self.inst(opcode, to, &[if to == Type::Bool { to } else { from }])
            }
            Rule::Bitcast => {
                let from = self.known_type(Class::ANY);
                let same = |ty: &Type| *ty != Type::Bool && ty.size() == from.size();
                let mut targets: Vec<Type> = Type::SCALARS.into_iter().filter(same).collect();
                targets.extend(Type::bytes(from.size()).filter(|_| self.vectors));
                if from == Type::Bool || targets.is_empty() {
                    return;
                }
                let to = *self.rng.pick(&targets);
                self.inst(opcode, to, &[from])
            }
            Rule::Convert(from, to) => self.inst(opcode, to, &[from]),
            Rule::Table if self.tables.is_empty() => return,
            Rule::Table => {
                let table = self.rng.below(self.tables.len());
                self.carrying(opcode, self.tables[table].ty, &[Type::U32], Payload::Table(table as u32))
            }
            Rule::Splat | Rule::Lane | Rule::WithLane | Rule::Permute if !self.vectors => return,
            Rule::Splat => {
                let ty = self.known_type(Class::BYTES);
                self.inst(opcode, ty, &[Type::U8])
            }
            Rule::Lane => {
                let ty = self.known_type(Class::BYTES);
                let lane = Payload::Lane(self.rng.below(ty.size()) as u8);
                self.carrying(opcode, Type::U8, &[ty], lane)
            }
            Rule::WithLane => {
                let ty = self.known_type(Class::BYTES);
                let lane = Payload::Lane(self.rng.below(ty.size()) as u8);
                self.carrying(opcode, ty, &[ty, Type::U8], lane)
            }
            Rule::Permute => {
                let (from, to) = (self.known_type(Class::BYTES), self.known_type(Class::BYTES));
                self.inst(opcode, to, &[from, to])
            }
        };
        self.builder.push(inst);
    }

    /// One of two integers, some power of two apart or any, as a truth value says.
    fn of_constants(&mut self, ty: Type) -> Inst {
        let condition = self.operand(Type::Bool);
        let one = self.rng.operand(ty);
        let power = 1u128 << self.rng.below(ty.bits() as usize);
        let other = if self.rng.chance(4) { self.rng.operand(ty) } else { Constant::new(ty, one.bits() + power) };
        let [yes, no] = if self.rng.chance(2) { [one, other] } else { [other, one] };
        let [yes, no] = [yes, no].map(|constant| self.builder.constant(constant));
        Inst::new(Opcode::Select, ty, &[condition, yes, no], Payload::None)
    }

    /// All operands and the result of one type.
    fn uniform(&mut self, opcode: Opcode, class: Class, operands: usize) -> Inst {
        let ty = self.known_type(class);
        self.inst(opcode, ty, &[ty; 3][..operands])
    }

    /// All operands of one type, the result of another.
    fn judgement(&mut self, opcode: Opcode, result: Type, class: Class, operands: usize) -> Inst {
        let ty = self.known_type(class);
        self.inst(opcode, result, &[ty; 3][..operands])
    }

    fn inst(&mut self, opcode: Opcode, ty: Type, operands: &[Type]) -> Inst {
        self.carrying(opcode, ty, operands, Payload::None)
    }

    fn carrying(&mut self, opcode: Opcode, ty: Type, operands: &[Type], payload: Payload) -> Inst {
        let mut values: Vec<Value> = operands.iter().map(|&ty| self.operand(ty)).collect();
        // Only these tell one NaN from another.
        match opcode {
            Opcode::Bitcast | Opcode::ToF16 | Opcode::ToBf16 => values[0] = self.number(values[0]),
            Opcode::CopySign => values[1] = self.number(values[1]),
            _ => {}
        }
        Inst::new(opcode, ty, &values, payload)
    }

    /// The float, or 0 where it is NaN; other values as they are.
    fn number(&mut self, value: Value) -> Value {
        let ty = self.builder.type_of(value);
        if !ty.is_float() {
            return value;
        }
        let zero = self.builder.constant(ty.zero());
        let is_number = self.builder.binary(Opcode::Eq, value, value);
        self.builder.select(is_number, value, zero)
    }

    /// A type out of the class: mostly one that some value has.
    fn known_type(&mut self, class: Class) -> Type {
        let count = self.builder.function().value_count();
        for _ in 0..8 {
            let ty = match count > 0 && !self.rng.chance(6) {
                true => {
                    let place = self.rng.below(count);
                    self.type_of(place)
                }
                false => self.rng.ty(self.vectors),
            };
            if class.contains(ty) {
                return ty;
            }
        }
        match class {
            Class::BOOL => Type::Bool,
            Class::FLOAT => *self.rng.pick(&[Type::F32, Type::F64]),
            Class::BYTES => Type::Bytes(self.rng.lanes()),
            _ => self.rng.int_ty(),
        }
    }

    /// A value of this type: mostly one of the latest, so that little is left unused; at times a new constant.
    fn operand(&mut self, ty: Type) -> Value {
        if !self.rng.chance(8) {
            let count = self.builder.function().value_count();
            let known: Vec<usize> = (0..count).rev().filter(|&place| self.type_of(place) == ty).collect();
            for &place in &known {
                if self.rng.chance(3) {
                    return Value::new(place);
                }
            }
            if let Some(&latest) = known.first() {
                return Value::new(latest);
            }
        }
        let constant = self.rng.operand(ty);
        self.builder.constant(constant)
    }

    fn type_of(&self, place: usize) -> Type {
        self.builder.type_of(Value::new(place))
    }
}
