//! `emit`: the place of a kept record is how many records were kept before it, which is one more
//! scan.

use crate::builder::FunctionBuilder;
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Stage};
use crate::types::{Constant, Type};

/// Appends the stage that counts what the program keeps, if it keeps: its only component is a `u64`.
pub(super) fn rank(program: &mut Program) {
    program.stages.extend(program.output.filter.as_ref().map(count));
}

/// Counts the elements for which a mapping gives true.
fn count(filter: &Mapping) -> Stage {
    let mut b = FunctionBuilder::new();
    let arguments = b.params(&filter.function.params);
    let kept = b.inline(&filter.function, &arguments);
    let one_or_none = b.cast(Type::U64, kept[0]);
    let lift = Mapping { reads: filter.reads.clone(), function: b.finish(&[one_or_none]) };

    let mut b = FunctionBuilder::new();
    let counts = b.params(&[Type::U64; 2]);
    let sum = b.binary(Opcode::Add, counts[0], counts[1]);
    let combine = b.finish(&[sum]);

    Stage { state: vec![Type::U64], identity: vec![Constant::from(0u64)], lift, combine, ..Stage::default() }
}
