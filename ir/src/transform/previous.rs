//! The record before: the state before an element of one more scan, that of the last record so far.
//!
//! ```text
//! lift       (record, false)
//! combine    later.none ? earlier : later
//! identity   (zeros, true)
//! ```
//!
//! So it is right in segments, rows and reversed scans, and from one chunk of a stream to the next,
//! whose carry has it.

use crate::builder::FunctionBuilder;
use crate::facts::source_types;
use crate::opcode::Opcode;
use crate::program::{Mapping, Program, Source, Stage};
use crate::types::{Constant, Type};

/// Appends the stage if any mapping reads the record before; mappings read that stage instead. So does the stage that
/// checks the program, if there is one.
pub(super) fn staged(program: &mut Program, check: Option<&mut Stage>) {
    if !program.reads_previous() {
        return;
    }
    let components = program.previous();
    let stage = program.stages.len() as u32;
    let last = last_record(program, &components);
    let change = |source: &mut Source| match *source {
        Source::Prev(of) => {
            let component = components.binary_search(&of).expect("every component that is read is listed") as u32;
            *source = Source::Before { stage, component };
        }
        Source::First => *source = Source::Before { stage, component: components.len() as u32 },
        _ => {}
    };
    let mappings = program.mappings_mut().chain(check.map(|stage| &mut stage.lift));
    mappings.flat_map(|mapping| &mut mapping.reads).for_each(change);
    program.stages.push(last);
}

/// The scan whose state is the last record, of which it has these components, and whether there is none.
fn last_record(program: &Program, components: &[u32]) -> Stage {
    let reads: Vec<Source> = components.iter().map(|&component| Source::Record(component)).collect();
    let types = source_types(program, &reads);
    let mut lift = FunctionBuilder::new();
    let mut lifted = lift.params(&types);
    lifted.push(lift.lit(false));
    let lift = Mapping { reads, function: lift.finish(&lifted) };

    let state = [types.as_slice(), &[Type::Bool]].concat();
    let mut b = FunctionBuilder::new();
    let [earlier, later] = [b.params(&state), b.params(&state)];
    let none = later[types.len()];
    let values = earlier.iter().zip(&later).take(types.len());
    let mut results: Vec<_> = values.map(|(&earlier, &later)| b.select(none, earlier, later)).collect();
    results.push(b.binary(Opcode::And, earlier[types.len()], none));
    let identity = types.iter().map(|ty| ty.zero()).chain([Constant::from(true)]).collect();
    Stage { state, identity, lift, combine: b.finish(&results), ..Stage::default() }
}
