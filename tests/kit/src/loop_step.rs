//! Arguments of a loop's step at a record, for references that run it record by record.

use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{Constant, Source};

/// The arguments of a loop's step at a record of a sequence, after this state.
///
/// Before the first record, the record before is all zeros.
pub fn step_arguments(
    of: &LoopProgram,
    state: &[Constant],
    parameters: &[Constant],
    records: &[Vec<Constant>],
    place: usize,
) -> Vec<Constant> {
    let record = &records[place];
    let read = |source: &Source| match *source {
        Source::Record(component) => record[component as usize],
        Source::Parameter(parameter) => parameters[parameter as usize],
        Source::Prev(component) if place > 0 => records[place - 1][component as usize],
        Source::Prev(component) => record[component as usize].ty().zero(),
        _ => Constant::from(place == 0),
    };
    state.iter().copied().chain(of.step.reads.iter().map(read)).collect()
}
