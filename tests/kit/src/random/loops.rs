//! Sequential loops, drawn from the grammar of steps: sums, products, minima, comparisons,
//! branches, bits and conversions of components, fields and constants. Nothing is known of which
//! are scans. A third of them grows from instruction to instruction, with conversions from type to
//! type; the others are expressions, each mostly of the component whose next value it is.

use super::Random;
use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{Constant, FunctionBuilder, Layout, Mapping, Opcode, Output, Source, Type, Value};

/// The types of states and records.
const TYPES: [Type; 9] =
    [Type::I32, Type::I32, Type::F64, Type::U32, Type::U8, Type::Bool, Type::I64, Type::F32, Type::U64];

/// A loop of one to three components and one or two columns, which writes its state. The second column may be a parameter.
pub(super) fn program(name: String, rng: &mut Random, is_parameterised: bool) -> LoopProgram {
    let main = *rng.pick(&TYPES);
    let ty = |rng: &mut Random| if rng.chance(3) { *rng.pick(&TYPES) } else { main };
    let state: Vec<Type> = (0..1 + rng.below(3)).map(|_| ty(rng)).collect();
    let mut record: Vec<Type> = (0..1 + rng.below(2)).map(|_| ty(rng)).collect();
    let mut reads: Vec<Source> = (0..record.len() as u32).map(Source::Record).collect();
    let mut types = record.clone();
    if rng.chance(6) {
        reads.push(Source::Prev(0));
        types.push(record[0]);
    }
    if rng.chance(10) {
        reads.push(Source::First);
        types.push(Type::Bool);
    }
    // What a record has may be a parameter instead.
    let parameter = is_parameterised.then(|| reads.iter_mut().find(|read| **read == Source::Record(1))).flatten();
    let parameters = match parameter {
        Some(read) => {
            *read = Source::Parameter(0);
            vec![record.remove(1)]
        }
        None => Vec::new(),
    };
    let mut step = Step { b: FunctionBuilder::new(), pool: Vec::new() };
    step.pool = step.b.params(&[&state[..], &types].concat());
    let results: Vec<Value> = if rng.chance(3) {
        (0..1 + rng.below(10)).for_each(|_| step.grow(rng));
        (0..state.len()).map(|component| step.result(rng, state[component])).collect()
    } else {
        let all = step.pool.clone();
        let next = (0..state.len()).map(|component| {
            // The component itself is what its next value reads most often.
            step.pool = [&all[..], &[Value::new(component); 2]].concat();
            let depth = 1 + rng.below(4);
            step.value(rng, state[component], depth)
        });
        next.collect()
    };
    let initial = state.iter().map(|&ty| small(rng, ty)).collect();
    written(name, (record, parameters), initial, Mapping { reads, function: step.b.finish(&results) })
}

/// A loop that writes its state, with these columns and parameters.
pub(super) fn written(
    name: String,
    (record, parameters): (Vec<Type>, Vec<Type>),
    initial: Vec<Constant>,
    step: Mapping,
) -> LoopProgram {
    let state: Vec<Type> = initial.iter().map(|constant| constant.ty()).collect();
    let names = (0..state.len()).map(|component| format!("s{component}")).collect();
    let columns: Vec<Layout> = state.iter().map(|&ty| Layout::of(ty)).collect();
    let mut b = FunctionBuilder::new();
    let all = b.params(&state);
    let project = Mapping { reads: (0..state.len() as u32).map(Source::State).collect(), function: b.finish(&all) };
    LoopProgram {
        name,
        tables: Vec::new(),
        inputs: record.into_iter().map(Layout::of).collect(),
        parameters,
        names,
        record_names: Vec::new(),
        initial,
        step,
        places: Vec::new(),
        output: Output { filter: None, project, columns },
    }
}

/// A small number; of floats a quarter of one, so that short sums are exact.
pub(super) fn small(rng: &mut Random, ty: Type) -> Constant {
    let number = rng.below(8) as i64 - 2;
    match ty {
        Type::Bool => Constant::from(rng.chance(2)),
        Type::F32 => Constant::from(number as f32 / 4.0),
        Type::F64 => Constant::from(number as f64 / 4.0),
        _ if ty.is_signed() => ty.of_i64(number),
        _ => ty.of_i64(number.abs()),
    }
}

/// A step under construction.
pub(super) struct Step {
    pub(super) b: FunctionBuilder,
    /// The operands that operations may take: parameters and results so far.
    pub(super) pool: Vec<Value>,
}

impl Step {
    /// A value of this type, or a constant.
    pub(super) fn any(&mut self, rng: &mut Random, ty: Type) -> Value {
        let fitting: Vec<Value> = self.pool.iter().copied().filter(|&value| self.b.type_of(value) == ty).collect();
        if fitting.is_empty() || rng.chance(5) {
            let constant = small(rng, ty);
            return self.b.constant(constant);
        }
        *rng.pick(&fitting)
    }

    /// The next value of a component: the newest of its type more often than another.
    fn result(&mut self, rng: &mut Random, ty: Type) -> Value {
        let newest = self.pool.iter().rev().copied().find(|&value| self.b.type_of(value) == ty);
        match newest {
            Some(newest) if !rng.chance(4) => newest,
            _ => self.any(rng, ty),
        }
    }

    fn grow(&mut self, rng: &mut Random) {
        let like = *rng.pick(&self.pool);
        let ty = self.b.type_of(like);
        let other = self.any(rng, ty);
        let (a, c) = if rng.chance(2) { (like, other) } else { (other, like) };
        let value = match rng.below(6) {
            0 => {
                let condition = self.condition(rng);
                self.b.select(condition, a, c)
            }
            1 => {
                let wanted = *rng.pick(&TYPES);
                let is_cast =
                    wanted != ty && wanted != Type::Bool && ty != Type::Bool && wanted.is_float() == ty.is_float();
                if is_cast { self.b.cast(wanted, like) } else { self.condition(rng) }
            }
            _ => self.operation(rng, ty, a, c),
        };
        self.pool.push(value);
    }

    fn operation(&mut self, rng: &mut Random, ty: Type, a: Value, c: Value) -> Value {
        use Opcode::*;
        let wraps = rng.chance(8);
        match ty {
            Type::Bool => self.b.binary(*rng.pick(&[And, Or, Xor]), a, c),
            Type::F32 | Type::F64 => match rng.below(6) {
                0 => {
                    let factor = *rng.pick(&[0.5, 2.0, -1.0, 0.25]);
                    let factor = if ty == Type::F32 { Constant::from(factor as f32) } else { Constant::from(factor) };
                    let factor = self.b.constant(factor);
                    self.b.binary(Mul, a, factor)
                }
                1 if rng.chance(3) => self.b.binary(*rng.pick(&[Mul, Mul, Div]), a, c),
                1 => self.b.unary(*rng.pick(&[Neg, Abs]), a),
                _ => self.b.binary(*rng.pick(&[Add, Sub, Min, Max]), a, c),
            },
            _ => match rng.below(10) {
                0 => {
                    let divisor = small(rng, ty);
                    let divisor = if divisor.as_int() < 1 { ty.of_i64(7) } else { divisor };
                    let divisor = self.b.constant(divisor);
                    self.b.binary(Rem, a, divisor)
                }
                1 => {
                    let amount = self.b.lit(1 + rng.below(3) as u32);
                    self.b.binary(*rng.pick(&[Shl, Shr]), a, amount)
                }
                2 => self.b.binary(*rng.pick(&[And, Or, Xor]), a, c),
                3 => self.b.binary(*rng.pick(&[AddSat, SubSat]), a, c),
                4 if rng.chance(2) => {
                    let opcode = *rng.pick(&[Add, Sub, Mul]);
                    if wraps { self.b.wrapping(|b| b.binary(opcode, a, c)) } else { self.b.binary(opcode, a, c) }
                }
                _ => {
                    let opcode = *rng.pick(&[Add, Sub, Min, Max]);
                    let can_wrap = matches!(opcode, Add | Sub);
                    if wraps && can_wrap {
                        self.b.wrapping(|b| b.binary(opcode, a, c))
                    } else {
                        self.b.binary(opcode, a, c)
                    }
                }
            },
        }
    }

    /// An expression of this type.
    pub(super) fn value(&mut self, rng: &mut Random, ty: Type, depth: usize) -> Value {
        use Opcode::*;
        if depth == 0 || rng.chance(5) {
            return self.any(rng, ty);
        }
        if ty == Type::Bool {
            return self.truth(rng, depth);
        }
        let kind = rng.below(12);
        let (a, c) = (self.value(rng, ty, depth - 1), self.value(rng, ty, depth - 1));
        let number = |step: &mut Step, number: i64| step.b.constant(ty.of_i64(number));
        let opcode = match kind {
            0..3 => *rng.pick(&[Add, Sub]),
            3 => Mul,
            4 | 5 if ty.is_int() && !ty.is_signed() => *rng.pick(&[And, Or, Xor]),
            4..7 => *rng.pick(&[Min, Max]),
            7 if ty.is_int() => {
                let modulus = number(self, *rng.pick(&[2, 3, 100, 100]));
                return self.b.binary(Rem, a, modulus);
            }
            7 => Div,
            8 => {
                let (low, high) = (number(self, 0), number(self, 4));
                let above = self.b.binary(Max, a, low);
                return self.b.binary(Min, above, high);
            }
            _ => {
                let condition = self.truth(rng, depth - 1);
                return self.b.select(condition, a, c);
            }
        };
        self.b.binary(opcode, a, c)
    }

    fn truth(&mut self, rng: &mut Random, depth: usize) -> Value {
        use Opcode::*;
        if depth == 0 {
            return self.any(rng, Type::Bool);
        }
        match rng.below(7) {
            0 => self.any(rng, Type::Bool),
            1 => {
                let a = self.truth(rng, depth - 1);
                self.b.unary(Not, a)
            }
            2 | 3 => {
                let (a, c) = (self.truth(rng, depth - 1), self.truth(rng, depth - 1));
                self.b.binary(*rng.pick(&[And, Or, Xor]), a, c)
            }
            _ => {
                let like = *rng.pick(&self.pool);
                let ty = self.b.type_of(like);
                let (a, c) = (self.value(rng, ty, depth - 1), self.value(rng, ty, depth - 1));
                let orders: &[Opcode] = if ty == Type::Bool { &[Eq, Ne] } else { &[Eq, Lt, Le, Gt, Ge, Ne] };
                self.b.binary(*rng.pick(orders), a, c)
            }
        }
    }

    /// A flag that is there, or a comparison.
    fn condition(&mut self, rng: &mut Random) -> Value {
        use Opcode::*;
        if rng.chance(4) {
            return self.any(rng, Type::Bool);
        }
        let a = *rng.pick(&self.pool);
        let ty = self.b.type_of(a);
        let c = self.any(rng, ty);
        let opcode = if ty == Type::Bool { *rng.pick(&[Eq, Ne]) } else { *rng.pick(&[Eq, Ne, Lt, Le, Gt, Ge]) };
        self.b.binary(opcode, a, c)
    }
}
