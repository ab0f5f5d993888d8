//! Sequential loops of shapes that random expressions hardly ever have: quotients, intervals,
//! recurrences under bounds, counters.

use super::Random;
use super::loops::{Step, small, written};
use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{Constant, FunctionBuilder, Mapping, Opcode, Source, Type, Value};

/// A quotient of the state, or the largest and the smallest product of neighbours.
pub(super) fn shaped(name: String, rng: &mut Random) -> LoopProgram {
    let is_quotient = rng.chance(2);
    let ty =
        *rng.pick(if is_quotient { &[Type::F64, Type::F32] } else { &[Type::I32, Type::I64, Type::F64, Type::F32] });
    let mut step = Step { b: FunctionBuilder::new(), pool: Vec::new() };
    let states = 2 - usize::from(is_quotient);
    let all = step.b.params(&vec![ty; states + 2]);
    step.pool = all[states..].to_vec();
    let initial: Vec<Constant> = (0..states).map(|_| small(rng, ty)).collect();
    let results = if is_quotient { vec![step.quotient(rng, all[0])] } else { step.products(rng, [all[0], all[1]]) };
    let reads = vec![Source::Record(0), Source::Record(1)];
    written(name, (vec![ty; 2], Vec::new()), initial, Mapping { reads, function: step.b.finish(&results) })
}

/// A recurrence under bounds whose factor a record has, between -1 and 1; or a sum of integers that is at least a known number.
pub(super) fn bounded(name: String, rng: &mut Random) -> LoopProgram {
    use Opcode::{Add, Max, Min, Mul, Sub};
    let ty = *rng.pick(&[Type::F64, Type::F32, Type::I32, Type::I16, Type::I8]);
    let mut step = Step { b: FunctionBuilder::new(), pool: Vec::new() };
    let all = step.b.params(&[ty; 3]);
    step.pool = all[1..].to_vec();
    let number = |step: &mut Step, number: i64| step.b.constant(ty.of_i64(number));
    let mut next = all[0];
    if ty.is_float() {
        let (low, high) = (number(&mut step, -1), number(&mut step, 1));
        let factor = step.b.binary(Max, all[1], low);
        let factor = step.b.binary(Min, factor, high);
        next = step.b.binary(Mul, next, factor);
    }
    let addend = step.any(rng, ty);
    next = step.b.binary(*rng.pick(&[Add, Add, Sub]), next, addend);
    let bounds = if ty.is_float() { 1 + rng.below(2) } else { 1 };
    for place in 0..bounds {
        let limit = rng.below(4) as i64;
        let bound = number(&mut step, if ty.is_float() && place == 1 { -limit } else { limit });
        let opcode = if ty.is_float() && (place == 0) { Min } else { Max };
        next = step.b.binary(opcode, next, bound);
    }
    let initial = match small(rng, ty) {
        constant if ty.is_float() => constant,
        constant => ty.of_i64(constant.as_int().unsigned_abs() as i64),
    };
    let reads = vec![Source::Record(0), Source::Record(1)];
    written(name, (vec![ty; 2], Vec::new()), vec![initial], Mapping { reads, function: step.b.finish(&[next]) })
}

/// A counter: modulo m, by a mask or by `%`, of sums, multiples and shifts, some of which wrap; or one that falls by a test of itself.
pub(super) fn counter(name: String, rng: &mut Random) -> LoopProgram {
    let ty = *rng.pick(&[Type::U32, Type::U32, Type::U16, Type::U8, Type::U64, Type::I32, Type::I16]);
    let mut step = Step { b: FunctionBuilder::new(), pool: Vec::new() };
    let all = step.b.params(&[ty; 3]);
    step.pool = all[1..].to_vec();
    let falls = rng.chance(4);
    let modulus = *rng.pick(&[7, 100, 4, 8, 16, 64]) as i64;
    let next = if falls { step.falling(rng, all[0]) } else { step.around(rng, all[0], modulus) };
    let initial = ty.of_i64(if rng.chance(16) { modulus } else { rng.below(modulus as usize) as i64 });
    let reads = vec![Source::Record(0), Source::Record(1)];
    written(name, (vec![ty; 2], Vec::new()), vec![initial], Mapping { reads, function: step.b.finish(&[next]) })
}

impl Step {
    /// A quotient of two sums, of which one or both have a multiple of the state.
    fn quotient(&mut self, rng: &mut Random, s: Value) -> Value {
        use Opcode::{Add, Div, Mul, Sub};
        let ty = self.b.type_of(s);
        let mut sum = |rng: &mut Random| {
            let (k, other) = (self.any(rng, ty), self.any(rng, ty));
            let multiple = if rng.chance(2) { s } else { self.b.binary(Mul, s, k) };
            self.b.binary(*rng.pick(&[Add, Sub]), multiple, other)
        };
        let (top, bottom) = (sum(rng), sum(rng));
        let (known, last) = (self.any(rng, ty), self.any(rng, ty));
        let top = *rng.pick(&[top, known, s]);
        let quotient = self.b.binary(Div, top, bottom);
        if rng.chance(2) { self.b.binary(*rng.pick(&[Add, Sub]), quotient, last) } else { quotient }
    }

    /// Both ends of an interval that is multiplied and widened, in any order, by a test of the sign or by both products.
    fn products(&mut self, rng: &mut Random, ends: [Value; 2]) -> Vec<Value> {
        use Opcode::{Ge, Lt, Max, Min, Mul};
        let ty = self.b.type_of(ends[0]);
        let (factor, point) = (self.value(rng, ty, 1), self.any(rng, ty));
        let multiples = ends.map(|end| self.b.binary(Mul, end, factor));
        let (zero, of_first) = (self.b.constant(ty.zero()), if rng.chance(2) { Max } else { Min });
        let next = [of_first, if of_first == Max { Min } else { Max }].into_iter().enumerate().map(|(end, extreme)| {
            let product = match rng.below(3) {
                0 => self.b.binary(extreme, multiples[0], multiples[1]),
                1 => {
                    let is_positive = self.b.binary(Ge, factor, zero);
                    self.b.select(is_positive, multiples[end], multiples[1 - end])
                }
                _ => {
                    let is_negative = self.b.binary(Lt, factor, zero);
                    self.b.select(is_negative, multiples[1 - end], multiples[end])
                }
            };
            self.b.binary(extreme, product, point)
        });
        next.collect()
    }

    /// Sums and multiples of the state, and their remainder.
    fn around(&mut self, rng: &mut Random, s: Value, modulus: i64) -> Value {
        use Opcode::{Add, And, Lt, Mul, Rem, Shl, Sub};
        let ty = self.b.type_of(s);
        let wraps = rng.chance(4);
        let op = |b: &mut FunctionBuilder, opcode, x, y| match wraps {
            true => b.wrapping(|b| b.binary(opcode, x, y)),
            false => b.binary(opcode, x, y),
        };
        let [m, mask, small] = [modulus, modulus - 1, 15].map(|number| self.b.constant(ty.of_i64(number)));
        let record = *rng.pick(&self.pool);
        let x = *rng.pick(&[record, self.b.binary(And, record, small), self.b.binary(Rem, record, m)]);
        let factor = self.b.constant(ty.of_i64(2 + rng.below(4) as i64));
        let amount = self.b.lit(1 + rng.below(4) as u32);
        let scaled = match rng.below(6) {
            0 | 1 => op(&mut self.b, Mul, s, factor),
            2 => self.b.binary(Shl, s, amount),
            _ => s,
        };
        let sum = match rng.below(5) {
            0 => {
                let above = op(&mut self.b, Add, scaled, m);
                op(&mut self.b, Sub, above, x)
            }
            1 => op(&mut self.b, Sub, scaled, x),
            _ => op(&mut self.b, Add, scaled, x),
        };
        let is_mask = modulus & (modulus - 1) == 0 && rng.chance(2);
        let next = if is_mask { self.b.binary(And, sum, mask) } else { self.b.binary(Rem, sum, m) };
        if rng.chance(4) {
            let (starts, start) = (self.b.binary(Lt, record, small), self.any(rng, ty));
            return self.b.select(starts, start, next);
        }
        next
    }

    /// A state that goes down where a test of it says so, and maybe up to what a record has.
    fn falling(&mut self, rng: &mut Random, s: Value) -> Value {
        use Opcode::{Ge, Gt, Le, Lt, Max, Sub};
        let ty = self.b.type_of(s);
        let [k, by, other] = [3, 4, 3].map(|bound| self.b.constant(ty.of_i64(rng.below(bound) as i64)));
        let opcode = *rng.pick(&[Gt, Ge, Lt, Le]);
        let (test, less) = (self.b.binary(opcode, s, k), self.b.binary(Sub, s, by));
        let stays = *rng.pick(&[other, other, k, s]);
        let falls = matches!(opcode, Gt | Ge);
        let next = if falls { self.b.select(test, less, stays) } else { self.b.select(test, stays, less) };
        let record = *rng.pick(&self.pool);
        if rng.chance(2) { self.b.binary(Max, next, record) } else { next }
    }
}
