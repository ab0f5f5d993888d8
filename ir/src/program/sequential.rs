//! [`Sequential`]: the loop that a program was derived from.

use super::Mapping;
#[cfg(doc)]
use super::{Output, Source};
use crate::function::Function;
use crate::types::{Constant, Type};

/// The sequential loop that a program was [derived](crate::derive) from: what one pass and replays run in place of the stages. So
/// a block is the loop to the bit, and only carries between blocks are composed.
///
/// A program that [keeps](Output::filter) records has none: what is counted by the stages is written by the stages, or a record
/// more than was counted would be.
///
/// [`derive()`](crate::derive::derive) sees to it that the loop and the stages are the same. Of a program that is made otherwise
/// its maker does: types are verified, and kernels are compared with the stages on samples, which may miss what differs rarely.
///
/// In its mappings [`Source::Before`] and [`Source::After`] of stage 0 are components of the loop's state, before and after the
/// element; so is [`Source::State`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sequential {
    /// The state before the first element, which says the types of the components.
    pub initial: Vec<Constant>,
    /// From the states of all stages, as sequences reach them, to that of the loop.
    pub enter: Function,
    /// And back: from a state of the loop to those of all stages.
    pub leave: Function,
    /// The state after an element: reads the state before, and what the lift of a first stage may.
    pub step: Mapping,
    /// The output, as the program's [project](Output::project).
    pub project: Mapping,
    /// The same as it was written: of this [checked](crate::transform::Form::checked) scans find what overflows. None if it reads of
    /// the record before what the program does not.
    pub checked: Option<Written>,
    /// How stages may be folded in the loop's own numbers, at most once each.
    pub folds: Vec<OwnFold>,
}

/// The mappings of a loop as they were written: nothing in them is simplified.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Written {
    /// The state after an element.
    pub step: Mapping,
    /// The output.
    pub project: Mapping,
}

impl Written {
    pub(crate) fn mappings(&self) -> [&Mapping; 2] {
        [&self.step, &self.project]
    }

    fn mappings_mut(&mut self) -> [&mut Mapping; 2] {
        [&mut self.step, &mut self.project]
    }
}

/// A fold of a stage's elements in other numbers than its states: sums and bounds of 32 bits, say, where two states are composed in
/// 64. What it leaves does to every state of the loop what the fold of the states does.
///
/// In its step [`Source::State`] is what is carried; it reads no other state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OwnFold {
    /// The stage that is folded.
    pub stage: u32,
    /// The values before the first element.
    pub initial: Vec<Constant>,
    /// Those after an element.
    pub step: Mapping,
    /// From those after the last one to a state of the stage.
    pub leave: Function,
}

impl Sequential {
    /// The types of the loop's state.
    pub fn types(&self) -> Vec<Type> {
        self.initial.iter().map(|constant| constant.ty()).collect()
    }

    pub(super) fn mappings_mut(&mut self) -> impl Iterator<Item = &mut Mapping> {
        let written = self.checked.iter_mut().flat_map(Written::mappings_mut);
        [&mut self.step, &mut self.project]
            .into_iter()
            .chain(written)
            .chain(self.folds.iter_mut().map(|fold| &mut fold.step))
    }

    pub(super) fn functions_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        let Sequential { enter, leave, step, project, checked, folds, .. } = self;
        let of_folds = folds.iter_mut().flat_map(|fold| [&mut fold.step.function, &mut fold.leave]);
        let written = checked.iter_mut().flat_map(Written::mappings_mut).map(|mapping| &mut mapping.function);
        [enter, leave, &mut step.function, &mut project.function].into_iter().chain(written).chain(of_folds)
    }
}
