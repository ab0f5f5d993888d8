//! Parameters: values that are bound when a call is made, as the initial state of one more stage,
//! which nothing moves.
//!
//! Kernels read initial states once, from the arguments of a call. So an engine needs nothing else
//! for parameters. No mapping reads this stage's states, so nothing of it goes from element to
//! element.

use crate::builder::FunctionBuilder;
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
    let mappings = lifts.chain(&mut program.output.keep).chain([&mut program.output.project]);
    for source in mappings.flat_map(|mapping| &mut mapping.reads) {
        if let Source::Parameter(component) = *source {
            *source = Source::Init { stage, component };
        }
    }
    program.stages.push(unmoved(types));
    Some(stage)
}

/// A stage whose states are constants. Its identity and what it lifts are the ends of each type, so that the range of a
/// component is that of its type: a parameter may be any value.
fn unmoved(types: Vec<Type>) -> Stage {
    let largest: Vec<Constant> =
        types.iter().map(|&ty| Constant::new(ty, ty.mask() >> u32::from(ty.is_signed()))).collect();
    let smallest = |ty: &Type| if ty.is_signed() { Constant::new(*ty, 1 << (ty.bits() - 1)) } else { ty.zero() };
    let mut lift = FunctionBuilder::new();
    let lifted: Vec<_> = largest.iter().map(|&value| lift.constant(value)).collect();
    let lift = Mapping { reads: Vec::new(), function: lift.finish(&lifted) };
    let mut b = FunctionBuilder::new();
    b.params(&types);
    let later = b.params(&types);
    Stage { identity: types.iter().map(smallest).collect(), lift, combine: b.finish(&later), valid: None, state: types }
}
