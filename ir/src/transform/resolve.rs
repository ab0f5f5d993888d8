//! Inclusive or exclusive: which of its two states an element's output sees.

use crate::interp::Mode;
use crate::program::{Program, Source};

/// A component of the state that outputs see.
fn at(mode: Mode, stage: u32, component: u32) -> Source {
    match mode {
        Mode::Inclusive => Source::After { stage, component },
        Mode::Exclusive => Source::Before { stage, component },
    }
}

/// Replaces every `State` by the last stage's `After` (inclusive) or `Before` (exclusive), and every `StateOf` by its stage's.
pub(super) fn resolve(program: &mut Program, mode: Mode) {
    let last = (program.stages.len() - 1) as u32;
    let outputs = [Some(&mut program.output.project), program.output.filter.as_mut()];
    for source in outputs.into_iter().flatten().flat_map(|mapping| &mut mapping.reads) {
        let (stage, component) = match *source {
            Source::State(component) => (last, component),
            Source::StateOf { stage, component } => (stage, component),
            _ => continue,
        };
        *source = at(mode, stage, component);
    }
    let projects = program.sequential.iter_mut().flat_map(|of| {
        let written = of.checked.iter_mut().map(|written| &mut written.project);
        std::iter::once(&mut of.project).chain(written)
    });
    for source in projects.flat_map(|project| &mut project.reads) {
        if let Source::State(component) = *source {
            *source = at(mode, 0, component);
        }
    }
}
