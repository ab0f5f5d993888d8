//! Programs of one stage whose lift and outputs do little: what is tried is the operator, in every
//! kind of kernel.

use super::Random;
use super::associative::Family;
use super::neighbours::convert;
use monoscan_ir::{FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Type, Value};

/// A program of one or two columns read and one or two written. Half of them have parameters, in place of constants.
pub(super) fn program(name: String, rng: &mut Random) -> Program {
    let family = Family::random(rng, false);
    let state = family.types();
    let columns = 1 + rng.below(2);
    let inputs: Vec<Layout> = (0..columns).map(|_| layout(rng, &scalars)).collect();
    let record: Vec<Type> = inputs.iter().flat_map(Layout::types).collect();
    let parameters: Vec<Type> = (0..rng.below(4) / 2).map(|_| *rng.pick(&record)).collect();
    let lift = lift(rng, &family, &record, &parameters);
    let (project, columns) = outputs(rng, &state);
    let stage = Stage {
        identity: family.identity(),
        combine: family.combine_function(),
        valid: family.valid_function(),
        state,
        lift,
        ..Stage::default()
    };
    let output = Output { filter: None, project, columns };
    Program { name, tables: Vec::new(), inputs, parameters, stages: vec![stage], output, sequential: None }
}

/// One or two of such types, packed.
fn layout(rng: &mut Random, ty: &dyn Fn(&mut Random) -> Type) -> Layout {
    Layout::packed(&(0..1 + rng.below(2)).map(|_| ty(rng)).collect::<Vec<_>>())
}

/// Any scalar type; mostly narrow ones, of which more fit a vector.
fn scalars(rng: &mut Random) -> Type {
    match rng.below(2) {
        0 => *rng.pick(&[Type::Bool, Type::U8, Type::U16, Type::U32, Type::I32, Type::F32]),
        _ => rng.ty(false),
    }
}

/// Each component is a field, converted, or whether a field is above a constant or a parameter.
fn lift(rng: &mut Random, family: &Family, record: &[Type], parameters: &[Type]) -> Mapping {
    let mut b = FunctionBuilder::new();
    let (fields, bound) = (b.params(record), b.params(parameters));
    let mut components = Vec::new();
    for ty in family.types() {
        let field = *rng.pick(&fields);
        let of = b.type_of(field);
        let value = match of != Type::Bool && (ty == Type::Bool || rng.chance(4)) {
            true => {
                let constant = rng.operand(of);
                let parameter = bound.iter().copied().find(|&parameter| b.type_of(parameter) == of);
                let threshold = parameter.unwrap_or_else(|| b.constant(constant));
                b.binary(*rng.pick(&[Opcode::Gt, Opcode::Lt, Opcode::Ne]), field, threshold)
            }
            false => field,
        };
        components.push(convert(&mut b, ty, value));
    }
    let results = family.normalise(&mut b, &components);
    let records = (0..record.len() as u32).map(Source::Record);
    let reads = records.chain((0..parameters.len() as u32).map(Source::Parameter)).collect();
    Mapping { reads, function: b.finish(&results) }
}

/// Some components of the state, each as it is or as another type.
fn outputs(rng: &mut Random, state: &[Type]) -> (Mapping, Vec<Layout>) {
    let mut left: Vec<u32> = (0..state.len() as u32).collect();
    let count = 1 + rng.below(state.len().min(4));
    let written: Vec<u32> = (0..count).map(|_| left.swap_remove(rng.below(left.len()))).collect();
    let mut b = FunctionBuilder::new();
    let params: Vec<Type> = written.iter().map(|&component| state[component as usize]).collect();
    let mut values: Vec<Value> = b.params(&params);
    for value in &mut values {
        let to = if rng.chance(2) { b.type_of(*value) } else { scalars(rng) };
        *value = convert(&mut b, to, *value);
    }
    let types: Vec<Type> = values.iter().map(|&value| b.type_of(value)).collect();
    let (first, second) = types.split_at(if rng.chance(3) { rng.below(types.len()) } else { 0 });
    let columns = [first, second].into_iter().filter(|types| !types.is_empty()).map(Layout::packed).collect();
    let reads = written.into_iter().map(Source::State).collect();
    (Mapping { reads, function: b.finish(&values) }, columns)
}
