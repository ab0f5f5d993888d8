//! Reports of a kernel that computes something else than its program: a bug in monoscan.

use std::fmt;

use monoscan_ir::Constant;

use crate::error::Error;

/// How kernels scanned a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Walk {
    /// One sequential pass.
    OnePass,
    /// Blocks that are reduced, folded and replayed.
    Strips,
    /// Whole blocks, each in one pass.
    Blocks,
    /// Blocks, each in one pass that folds it, and that writes its results or not.
    Together {
        /// It writes.
        writes: bool,
    },
    /// Blocks that are folded in whole states.
    Totals,
    /// One sequential pass, whose results are stored past the caches.
    StreamedPass,
    /// Blocks that are folded and replayed, the same way.
    StreamedStrips,
    /// Whole blocks, each in one pass, the same way.
    StreamedBlocks,
    /// One sequential pass that carries whole states, and writes or only reduces.
    Whole {
        /// It writes.
        writes: bool,
    },
    /// Rows one after the other.
    Rows,
    /// Segments between offsets, one after the other.
    Segments,
    /// The kernel of short lines.
    Short,
    /// The kernels of short lines that take and leave whole states.
    ShortWhole {
        /// It writes.
        writes: bool,
    },
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Walk::OnePass => "in one pass",
            Walk::Strips => "in blocks, reduced and replayed",
            Walk::Blocks => "in blocks of one pass each",
            Walk::Together { writes: true } => "in blocks, folded and replayed together",
            Walk::Together { writes: false } => "in blocks, folded at all levels together",
            Walk::Totals => "in blocks, with whole states",
            Walk::StreamedPass => "in one pass, stored past the caches",
            Walk::StreamedStrips => "in blocks, reduced and replayed, stored past the caches",
            Walk::StreamedBlocks => "in blocks of one pass each, stored past the caches",
            Walk::Whole { writes: true } => "in one pass, with whole states",
            Walk::Whole { writes: false } => "in a reduction",
            Walk::Rows => "in rows",
            Walk::Segments => "in segments between offsets",
            Walk::Short => "as a short line",
            Walk::ShortWhole { writes: true } => "as a short line, with whole states",
            Walk::ShortWhole { writes: false } => "in a reduction of a short line",
        })
    }
}

/// Of a kernel that a call may do without. In builds with debug assertions a wrong one panics, so that tests see it; in others the
/// call does without.
#[inline(always)]
pub(crate) fn usable<T>(made: Result<T, Error>) -> Option<T> {
    match made {
        Ok(kernel) => Some(kernel),
        Err(error) => {
            debug_assert!(!matches!(error, Error::Miscompiled { .. }), "{error}");
            None
        }
    }
}

/// The result in which a kernel differs from the interpreter.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Difference {
    /// An output column has another number of records.
    Records {
        /// Which column.
        column: usize,
        /// How many the interpreter writes.
        expected: usize,
        /// How many the kernels wrote.
        got: usize,
    },
    /// Something else was written.
    Output {
        /// Which column.
        column: usize,
        /// Which record.
        record: usize,
        /// Which of its fields.
        field: usize,
        /// The interpreter's value.
        expected: Constant,
        /// The kernels' value.
        got: Constant,
    },
    /// A state after the line is another one.
    State {
        /// Which component of the states of all stages.
        component: usize,
        /// The interpreter's value.
        expected: Constant,
        /// The kernels' value.
        got: Constant,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Records { column, expected, got } => {
                write!(f, "output column {column}: {got} records for {expected}")
            }
            Difference::Output { column, record, field, expected, got } => {
                write!(f, "output column {column}, record {record}, field {field}: {got} for {expected}")
            }
            Difference::State { component, expected, got } => {
                write!(f, "component {component} of the states after the line: {got} for {expected}")
            }
        }
    }
}
