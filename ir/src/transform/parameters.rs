//! Parameters: values that are bound when a call is made, as the initial state of one more stage.
//!
//! Kernels read initial states once, from the arguments of a call. So an engine needs nothing else
//! for parameters. No mapping reads this stage's states, so nothing of it goes from element to
//! element.

use crate::builder::FunctionBuilder;
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Source, Stage};
use crate::types::{Constant, Type};

/// Appends the stage if the program has parameters, and says which it is. Mappings read its initial state instead.
pub(super) fn staged(program: &mut Program) -> Option<u32> {
    let types = std::mem::take(&mut program.parameters);
    if types.is_empty() {
        return None;
    }
    let stage = program.stages.len() as u32;
    let lifts = program.stages.iter_mut().map(|stage| &mut stage.lift);
    let mappings = lifts.chain(&mut program.output.filter).chain([&mut program.output.project]);
    for source in mappings.flat_map(|mapping| &mut mapping.reads) {
        if let Source::Parameter(component) = *source {
            *source = Source::Init { stage, component };
        }
    }
    program.stages.push(unread(types));
    Some(stage)
}

/// A stage whose states nobody reads. The range of a component is that of its type, since a
/// parameter may be any value: it is the maximum of the ends of an integer type, or of `bool`.
/// Floats have no range, and theirs is a zero throughout.
fn unread(types: Vec<Type>) -> Stage {
    let smallest = |ty: Type| if ty.is_signed() { Constant::new(ty, 1 << (ty.bits() - 1)) } else { ty.zero() };
    let largest = |ty: Type| match ty.is_float() {
        true => ty.zero(),
        false => Constant::new(ty, ty.mask() >> u32::from(ty.is_signed())),
    };
    let mut lift = FunctionBuilder::new();
    let lifted: Vec<_> = types.iter().map(|&ty| lift.constant(largest(ty))).collect();
    let lift = Mapping { reads: Vec::new(), function: lift.finish(&lifted) };
    let mut b = FunctionBuilder::new();
    let [earlier, later] = [b.params(&types), b.params(&types)];
    let maximum = |((ty, earlier), later)| match ty {
        Type::Bool => b.binary(Opcode::Or, earlier, later),
        ty if Type::is_float(ty) => later,
        _ => b.binary(Opcode::Max, earlier, later),
    };
    let results: Vec<_> = types.iter().copied().zip(earlier).zip(later).map(maximum).collect();
    let identity = types.iter().map(|&ty| if ty.is_float() { ty.zero() } else { smallest(ty) }).collect();
    Stage { identity, lift, combine: b.finish(&results), valid: None, state: types }
}
