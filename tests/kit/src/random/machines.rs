//! Sequential loops of a few states whose values are anywhere in their types, as those of enums and
//! hashes are.

use super::Random;
use super::loops::{small, written};
use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{Constant, FunctionBuilder, Inst, Mapping, Opcode, Payload, Source, Table, Type};

/// A machine of one or two components. From each of its states a test of the record leads to one of two; in some machines the first
/// component may also be looked up in a table.
pub(super) fn machine(name: String, rng: &mut Random) -> LoopProgram {
    let record = *rng.pick(&[Type::U8, Type::I32]);
    let types: Vec<Type> = (0..1 + rng.below(2))
        .map(|_| *rng.pick(&[Type::U32, Type::I64, Type::U64, Type::U8, Type::I16, Type::Bool]))
        .collect();
    let values: Vec<Vec<Constant>> =
        types.iter().map(|&ty| (0..2 + rng.below(4)).map(|_| rng.constant(ty)).collect()).collect();
    let state = |rng: &mut Random| -> Vec<Constant> { values.iter().map(|values| *rng.pick(values)).collect() };
    let states: Vec<Vec<Constant>> = (0..2 + rng.below(8)).map(|_| state(rng)).collect();
    let table = rng.chance(3).then(|| Table::new(types[0], (0..4).map(|_| *rng.pick(&values[0]))));
    let mut b = FunctionBuilder::new();
    let (own, x) = (b.params(&types), b.param(record));
    // What no test takes stays as it is.
    let mut next = own.clone();
    for from in &states {
        let are_equal = own.iter().zip(from).map(|(&own, &value)| {
            let value = b.constant(value);
            b.binary(Opcode::Eq, own, value)
        });
        let are_equal: Vec<_> = are_equal.collect();
        let is_from = are_equal.into_iter().reduce(|all, one| b.binary(Opcode::And, all, one)).expect("a component");
        let limit = b.constant(small(rng, record));
        let is_below = b.binary(*rng.pick(&[Opcode::Lt, Opcode::Eq]), x, limit);
        let (yes, no) = (rng.pick(&states).clone(), rng.pick(&states).clone());
        for (place, next) in next.iter_mut().enumerate() {
            let (yes, no) = (b.constant(yes[place]), b.constant(no[place]));
            let to = b.select(is_below, yes, no);
            *next = b.select(is_from, to, *next);
        }
    }
    if let Some(table) = &table {
        let index = b.cast(Type::U32, x);
        let looked_up = b.push(Inst::new(Opcode::Table, table.ty, &[index], Payload::Table(0)));
        let limit = b.constant(small(rng, record));
        let is_it = b.binary(Opcode::Gt, x, limit);
        next[0] = b.select(is_it, looked_up, next[0]);
    }
    let step = Mapping { reads: vec![Source::Record(0)], function: b.finish(&next) };
    let of = written(name, (vec![record], Vec::new()), rng.pick(&states).clone(), step);
    LoopProgram { tables: table.into_iter().collect(), ..of }
}
