//! A shorter chain from element to element: what an element knows is computed beside the chain.
//!
//! `(t + fill).min(100) - take` waits for the sum, for the minimum, and for the difference. But a
//! minimum with 100 is a choice, and an operation on it can be done to both arms. The result is
//! `t + (fill - take)` where the sum is below 100, and else `100 - take`. So the difference is
//! taken beside the comparison. Integers are a ring modulo 2^k, and a choice between two values
//! commutes with such an operation on both, so results are the same to the bit. Bodies are of
//! lowered programs, which have no marks of what is meant to wrap.

use super::body::Body;
use super::path::{carried_latency, work};
use crate::builder::FunctionBuilder;
use crate::function::{Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::program::Mapping;
use crate::simplify::drop_dead;
use crate::types::Type;

/// Bodies of more instructions stay as they are: there the chain is not what takes time.
const MOST: usize = 48;
/// Instructions that a core executes in a cycle beside the loads and stores of an element.
const WIDTH: u32 = 3;

/// The body with the shortest chain that moving operations through choices leads to, one by one.
pub(super) fn shortened(body: Body) -> Body {
    let mut best = body;
    while best.mapping.function.insts.len() <= MOST {
        let cost = cost(&best);
        let places = 0..best.mapping.function.insts.len();
        let others = places.filter_map(|place| through(&best, place)).map(|other| (self::cost(&other), other));
        match others.filter(|other| other.0 < cost).min_by_key(|other| other.0) {
            Some((_, shorter)) => best = shorter,
            None => break,
        }
    }
    best
}

/// Cycles of an element: of the chain, or of all that is executed; and then the instructions.
fn cost(body: &Body) -> (u32, u32) {
    let work = work(&body.mapping.function);
    (carried_latency(body, 0).max(work / WIDTH), work)
}

/// The body with the operation at this place taken through the choice that it works on; none if it works on none.
fn through(body: &Body, place: usize) -> Option<Body> {
    let function = &body.mapping.function;
    let inst = function.insts[place];
    let is_moved = matches!(inst.opcode, Opcode::Add | Opcode::Sub | Opcode::Min | Opcode::Max) && inst.ty.is_int();
    if !is_moved {
        return None;
    }
    let mut code = Code::new(&function.params, body.state_len());
    let mut values: Vec<Value> = (0..function.params.len()).map(Value::new).collect();
    for (at, inst) in function.insts.iter().enumerate() {
        let inst = inst.map_operands(|operand| values[operand.index()]);
        values.push(if at == place { code.distributed(&inst)? } else { code.push(inst) });
    }
    let results: Vec<Value> = function.results.iter().map(|result| values[result.index()]).collect();
    let function = code.builder.finish(&results);
    let function = drop_dead(&function);
    Some(Body { mapping: Mapping { function, reads: body.mapping.reads.clone() }, ..body.clone() })
}

/// A function under construction, and which of its values come from the element before.
struct Code {
    builder: FunctionBuilder,
    carried: Vec<bool>,
}

impl Code {
    fn new(params: &[Type], carried: usize) -> Code {
        let mut builder = FunctionBuilder::new();
        builder.params(params);
        Code { builder, carried: (0..params.len()).map(|param| param < carried).collect() }
    }

    fn is_carried(&self, value: Value) -> bool {
        self.carried[value.index()]
    }

    fn inst(&self, value: Value) -> Option<Inst> {
        self.builder.function().inst(value).copied()
    }

    /// Adds an instruction; of a sum, the carried value meets the others last.
    fn push(&mut self, inst: Inst) -> Value {
        if let Some(sum) = self.regrouped(&inst) {
            return sum;
        }
        let value = self.builder.push(inst);
        if value.index() == self.carried.len() {
            self.carried.push(inst.operands().iter().any(|&operand| self.is_carried(operand)));
        }
        value
    }

    fn op(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        let ty = self.builder.type_of(a);
        self.push(Inst::new(opcode, ty, &[a, b], Payload::None))
    }

    /// `(u ± a) ± b` as `u ± (a ± b)`, where u alone is carried.
    fn regrouped(&mut self, inst: &Inst) -> Option<Value> {
        let &[x, b] = inst.operands() else { return None };
        let is_sum = |opcode| matches!(opcode, Opcode::Add | Opcode::Sub);
        let (x, b) = if inst.opcode == Opcode::Add && self.is_carried(b) { (b, x) } else { (x, b) };
        if !is_sum(inst.opcode) || !inst.ty.is_int() || !self.is_carried(x) || self.is_carried(b) {
            return None;
        }
        let inner = self.inst(x).filter(|inner| is_sum(inner.opcode))?;
        let &[u, a] = inner.operands() else { return None };
        let (u, a) = if inner.opcode == Opcode::Add && self.is_carried(a) { (a, u) } else { (u, a) };
        if !self.is_carried(u) || self.is_carried(a) {
            return None;
        }
        let both = if inner.opcode == inst.opcode { Opcode::Add } else { Opcode::Sub };
        let own = self.op(both, a, b);
        Some(self.op(inner.opcode, u, own))
    }

    /// An operation with a known value, of a choice that has a known arm, as the choice between the operation of either arm.
    fn distributed(&mut self, inst: &Inst) -> Option<Value> {
        let &[x, y] = inst.operands() else { return None };
        let (chosen, known, is_first) = if self.is_carried(x) { (x, y, true) } else { (y, x, false) };
        if !self.is_carried(chosen) || self.is_carried(known) {
            return None;
        }
        let (condition, yes, no) = self.choice(chosen)?;
        let mut of = |arm: Value| {
            let (a, b) = if is_first { (arm, known) } else { (known, arm) };
            self.op(inst.opcode, a, b)
        };
        let (yes, no) = (of(yes), of(no));
        Some(self.push(Inst::new(Opcode::Select, inst.ty, &[condition, yes, no], Payload::None)))
    }

    /// A select, minimum or maximum with a known arm, as (condition, yes, no).
    fn choice(&mut self, value: Value) -> Option<(Value, Value, Value)> {
        let inst = self.inst(value)?;
        let (condition, yes, no) = match (inst.opcode, inst.operands()) {
            (Opcode::Select, &[condition, yes, no]) => (Ok(condition), yes, no),
            (Opcode::Min, &[a, b]) => (Err(Opcode::Lt), a, b),
            (Opcode::Max, &[a, b]) => (Err(Opcode::Gt), a, b),
            _ => return None,
        };
        if self.is_carried(yes) && self.is_carried(no) {
            return None;
        }
        let condition =
            condition.unwrap_or_else(|opcode| self.push(Inst::new(opcode, Type::Bool, &[yes, no], Payload::None)));
        Some((condition, yes, no))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;
    use crate::program::Source;
    use crate::types::Constant;

    /// The body of a loop of one component over three values of a record.
    fn body(write: impl FnOnce(&mut FunctionBuilder, &[Value]) -> Value) -> Body {
        let mut b = FunctionBuilder::new();
        let params = b.params(&[Type::I32; 4]);
        let result = write(&mut b, &params);
        let reads = [Source::State(0), Source::Record(0), Source::Record(1), Source::Record(2)].to_vec();
        let carried = vec![(0, 0)];
        Body { mapping: Mapping { reads, function: b.finish(&[result]) }, carried, ends: None }
    }

    /// Small numbers, and the ends of the type.
    const NUMBERS: [i32; 7] = [i32::MIN, -101, -1, 0, 7, 100, i32::MAX];

    fn assert_same(a: &Body, b: &Body) {
        for i in 0..NUMBERS.len().pow(4) {
            let digit = |place: u32| Constant::from(NUMBERS[i / NUMBERS.len().pow(place) % NUMBERS.len()]);
            let arguments: Vec<Constant> = (0..4).map(digit).collect();
            let run = |body: &Body| interp::call(&body.mapping.function, &arguments, &[]);
            assert_eq!(run(a), run(b), "{arguments:?}");
        }
    }

    #[test]
    fn a_bucket_of_tokens_waits_for_two_thirds() {
        let bucket = body(|b, p| {
            let (most, none) = (b.lit(100i32), b.lit(0i32));
            let filled = b.binary(Opcode::Add, p[0], p[1]);
            let filled = b.binary(Opcode::Min, filled, most);
            let left = b.binary(Opcode::Sub, filled, p[2]);
            b.binary(Opcode::Max, left, none)
        });
        let shorter = shortened(bucket.clone());
        assert_eq!((carried_latency(&bucket, 0), carried_latency(&shorter, 0)), (6, 4), "{}", shorter.mapping.function);
        assert_same(&bucket, &shorter);
    }

    #[test]
    fn sums_and_branches_of_what_an_element_knows_leave_the_chain() {
        let reset = body(|b, p| {
            let limit = b.lit(9i32);
            let sum = b.binary(Opcode::Sub, p[0], p[1]);
            let is_over = b.binary(Opcode::Gt, sum, limit);
            let kept = b.select(is_over, p[2], sum);
            let low = b.binary(Opcode::Max, p[3], kept);
            b.binary(Opcode::Sub, low, p[1])
        });
        let shorter = shortened(reset.clone());
        assert!(carried_latency(&shorter, 0) < carried_latency(&reset, 0), "{}", shorter.mapping.function);
        assert_same(&reset, &shorter);
    }

    #[test]
    fn what_is_carried_in_both_arms_stays_as_it_is() {
        let either = body(|b, p| {
            let sum = b.binary(Opcode::Add, p[0], p[1]);
            let most = b.binary(Opcode::Max, p[0], sum);
            b.binary(Opcode::Add, most, p[2])
        });
        assert_eq!(shortened(either.clone()), either);
    }
}
