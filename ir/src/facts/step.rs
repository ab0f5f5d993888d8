//! The derived step: what one element does to a state, `simplify(combine(state, lift(x)))`.
//!
//! Nobody writes it. A general `combine` of two states costs more than taking in one element,
//! because what a lift gives is special: a constant here, a zero there. Simplifying the two
//! together finds that.

use crate::builder::FunctionBuilder;
use crate::program::{Mapping, Program, Source};
use crate::simplify::simplify;
use crate::types::Type;

/// The step of a stage, as a mapping that reads the stage's `Before` and whatever its lift reads. Its results are the
/// components of the state after, in order; its reads are only those that the simplified step needs.
///
/// # Panics
/// If there is no such stage.
pub fn step(program: &Program, stage: usize) -> Mapping {
    let declared = &program.stages[stage];
    let mut reads: Vec<Source> = before(stage, declared.state.len()).collect();
    reads.extend(&declared.lift.reads);
    reads.sort();
    reads.dedup();
    let mut b = FunctionBuilder::new();
    let params = b.params(&source_types(program, &reads));
    let read = |source: &Source| params[reads.binary_search(source).expect("every source is read")];
    let arguments: Vec<_> = declared.lift.reads.iter().map(read).collect();
    let x = b.inline(&declared.lift.function, &arguments);
    let both: Vec<_> = before(stage, declared.state.len()).map(|source| read(&source)).chain(x).collect();
    let after = b.inline(&declared.combine, &both);
    let function = simplify(&b.finish(&after), &program.tables);
    drop_unused(Mapping { reads, function }, 0)
}

/// The sources that are a stage's state before the element.
pub(super) fn before(stage: usize, components: usize) -> impl Iterator<Item = Source> {
    (0..components as u32).map(move |component| Source::Before { stage: stage as u32, component })
}

/// The types of sources that a verified program reads.
pub(crate) fn source_types(program: &Program, reads: &[Source]) -> Vec<Type> {
    reads.iter().map(|&source| program.source_type(source).expect("a verified program reads what exists")).collect()
}

/// The mapping without the parameters it does not use, except the first `keep`.
pub fn drop_unused(mapping: Mapping, keep: usize) -> Mapping {
    let used = crate::simplify::used_values(&mapping.function);
    let kept: Vec<bool> = (0..mapping.reads.len()).map(|param| param < keep || used[param]).collect();
    let reads = mapping.reads.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(source, _)| *source).collect();
    Mapping { reads, function: crate::simplify::restrict_params(&mapping.function, &kept) }
}
