//! The sequences of a request, and the states that they start from or go on from.

use monoscan_ir::Constant;
use monoscan_runtime::{Combination, Error, Rows, Shape};

use crate::lang::Constants;
use crate::scan::segments::Boundaries;
use crate::scan::states::States;

/// The states that sequences start from.
pub(super) enum Start<'a, S> {
    Identity,
    Same(S),
    Each(&'a [S]),
}

impl<S: States> Start<'_, S> {
    /// The components of what is given.
    pub(super) fn states(&self) -> Constants {
        let mut components = Constants::new();
        let states = match self {
            Start::Identity => &[],
            Start::Same(state) => std::slice::from_ref(state),
            Start::Each(all) => all,
        };
        states.iter().for_each(|state| S::store(state, &mut components));
        components
    }
}

/// The carries of a stream: one, or one for each row.
pub(super) enum Carry<'a, S> {
    None,
    States(&'a mut [S]),
    /// As the engine carries it, with what is read of the record before.
    Whole(&'a mut [Constant]),
}

/// Which records are scanned on their own.
#[derive(Debug)]
pub(super) enum Sequences<'a> {
    Line,
    Segments(Boundaries<'a>),
    Rows(Rows),
    /// Both kinds were asked for.
    Segmented(Rows),
}

impl Sequences<'_> {
    pub(super) fn shape(&self) -> Result<Shape<'_>, Error> {
        match self {
            Sequences::Line => Ok(Shape::Line),
            Sequences::Segments(boundaries) => Ok(boundaries.shape()),
            Sequences::Rows(rows) => Ok(Shape::Rows(*rows)),
            Sequences::Segmented(rows) => Err(Combination::SegmentsOfRows { rows: rows.count() }.into()),
        }
    }

    /// An error of a scan of these, in terms of what the caller gave.
    pub(super) fn in_callers_terms(&self, error: Error) -> Error {
        match self {
            Sequences::Segments(boundaries) => boundaries.in_callers_terms(error),
            _ => error,
        }
    }

    /// Refuses rows that leave some of `len` records as they are, where all are to be initialised.
    pub(super) fn check_covers(&self, len: usize) -> Result<(), Error> {
        match self {
            Sequences::Rows(rows) => rows.check_covers(len),
            _ => Ok(()),
        }
    }
}
