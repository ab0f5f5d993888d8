//! Inclusive or exclusive: which of its two states an element's output sees.

use crate::interp::Mode;
use crate::program::{Program, Source};

/// Replaces every `State` by the last stage's `After` (inclusive) or `Before` (exclusive).
pub(super) fn resolve(program: &mut Program, mode: Mode) {
    let stage = (program.stages.len() - 1) as u32;
    let outputs = [Some(&mut program.output.project), program.output.filter.as_mut()];
    for source in outputs.into_iter().flatten().flat_map(|mapping| &mut mapping.reads) {
        if let Source::State(component) = *source {
            *source = match mode {
                Mode::Inclusive => Source::After { stage, component },
                Mode::Exclusive => Source::Before { stage, component },
            };
        }
    }
}
