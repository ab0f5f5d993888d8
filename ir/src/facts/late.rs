//! The carried value last: what an element adds to the chain from element to element.
//!
//! `combine` is written for two states, so a body may read `max(max(fall, next.fall), across)`, and
//! every element waits twice for the maximum before. Where the operation is associative and
//! commutative to the bit, what does not come from the element before is put together first:
//! `max(fall, max(next.fall, across))`.

use super::body::Body;
use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst, Payload, Value};
use crate::opcode::Opcode;
use crate::program::Mapping;
use crate::simplify::drop_dead;
use crate::types::Type;

/// The body whose carried components each meet the element's own values last, where that is the same to the bit.
pub(super) fn carried_last(body: Body) -> Body {
    let count = body.state_len();
    let mut function = body.mapping.function;
    let mut used = uses(&function);
    for place in 0..count {
        if let Some(others) = others(&function, place, &used) {
            function = rebuilt(&function, place, &others);
            used = uses(&function);
        }
    }
    Body { mapping: Mapping { function, ..body.mapping }, ..body }
}

/// Whether operands of an operation may be grouped and exchanged at will. Which NaN comes out is open in the IR.
fn is_free(inst: &Inst) -> bool {
    match inst.opcode {
        Opcode::Min | Opcode::Max => !inst.ty.is_vector(),
        Opcode::Add | Opcode::Mul => inst.ty.is_int(),
        Opcode::And | Opcode::Or | Opcode::Xor => inst.ty.is_int() || inst.ty == Type::Bool,
        _ => false,
    }
}

/// The operands beside the carried one of the operation that gives its new value, if the carried one comes too early among them.
fn others(function: &Function, place: usize, used: &[usize]) -> Option<Vec<Value>> {
    let (carried, result) = (Value::new(place), function.results[place]);
    let root = function.inst(result).filter(|inst| is_free(inst))?;
    if root.operands().contains(&carried) {
        return None;
    }
    let mut leaves = Vec::new();
    let mut open = root.operands().to_vec();
    while let Some(value) = open.pop() {
        match function.inst(value) {
            Some(inst) if (inst.opcode, inst.ty) == (root.opcode, root.ty) && used[value.index()] == 1 => {
                open.extend(inst.operands());
            }
            _ => leaves.push(value),
        }
    }
    let before = leaves.len();
    leaves.retain(|&leaf| leaf != carried);
    leaves.sort();
    (leaves.len() + 1 == before).then_some(leaves)
}

/// How often each value is an operand or a result: of all at once, since a matrix of bits has thousands.
fn uses(function: &Function) -> Vec<usize> {
    let mut used = vec![0; function.value_count()];
    let operands = function.insts.iter().flat_map(|inst| inst.operands());
    operands.chain(&function.results).for_each(|value| used[value.index()] += 1);
    used
}

/// The function with the new value of this carried component as the operation of it and all the others.
fn rebuilt(function: &Function, place: usize, others: &[Value]) -> Function {
    let mut b = FunctionBuilder::new();
    let mut values = b.params(&function.params);
    for inst in &function.insts {
        let is_root = function.results[place].index() == values.len();
        let value = match (is_root, others) {
            (true, [first, rest @ ..]) => {
                let mut op = |a: Value, c: Value| b.push(Inst::new(inst.opcode, inst.ty, &[a, c], Payload::None));
                let own = rest.iter().fold(values[first.index()], |own, &other| op(own, values[other.index()]));
                op(values[place], own)
            }
            _ => b.push(inst.map_operands(|operand| values[operand.index()])),
        };
        values.push(value);
    }
    let results: Vec<Value> = function.results.iter().map(|result| values[result.index()]).collect();
    drop_dead(&b.finish(&results))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;
    use crate::program::Source;
    use crate::types::Constant;

    /// The body of one component, carried, and two of the record.
    fn body(ty: Type, write: impl FnOnce(&mut FunctionBuilder, &[Value]) -> Value) -> Body {
        let mut b = FunctionBuilder::new();
        let params = b.params(&[ty; 3]);
        let result = write(&mut b, &params);
        let reads = vec![Source::Before { stage: 0, component: 0 }, Source::Record(0), Source::Record(1)];
        Body { mapping: Mapping { reads, function: b.finish(&[result]) }, carried: vec![(0, 0)], ends: None }
    }

    #[test]
    fn the_carried_value_comes_last_and_results_stay() {
        for (opcode, ty) in [(Opcode::Max, Type::F64), (Opcode::Add, Type::I32), (Opcode::Xor, Type::U8)] {
            let early = body(ty, |b, p| {
                let first = b.binary(opcode, p[0], p[1]);
                b.binary(opcode, first, p[2])
            });
            let late = carried_last(early.clone());
            let function = &late.mapping.function;
            let last = function.inst(function.results[0]).unwrap();
            assert!(last.operands().contains(&Value::new(0)) && function.insts.len() == 2, "{function}");
            for numbers in [[3, -1, 2], [-5, -7, -6], [0, 9, 1]] {
                let states: Vec<Constant> = numbers.iter().map(|&number| ty.of_i64(number)).collect();
                let run = |body: &Body| interp::call(&body.mapping.function, &states, &[]);
                assert_eq!(run(&late), run(&early));
            }
        }
    }

    #[test]
    fn what_rounds_or_is_used_twice_stays_as_it_is() {
        let rounded = body(Type::F64, |b, p| {
            let first = b.binary(Opcode::Add, p[0], p[1]);
            b.binary(Opcode::Add, first, p[2])
        });
        assert_eq!(carried_last(rounded.clone()), rounded);
        let twice = body(Type::I32, |b, p| {
            let first = b.binary(Opcode::Max, p[0], p[1]);
            let difference = b.binary(Opcode::Sub, first, p[2]);
            b.binary(Opcode::Max, first, difference)
        });
        assert_eq!(carried_last(twice.clone()), twice);
    }
}
