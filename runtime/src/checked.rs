//! Checked scans: which record the first event is at, out of what the check stage of a lowered
//! program found.

use monoscan_ir::transform::{Event, Finding};

use crate::call::Rows;
use crate::error::Error;
use crate::refused::FunctionOf;

/// How elements lie in the columns, for the record of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Elements<'a> {
    /// All records in one direction, whatever their segments.
    Line { len: usize, reversed: bool },
    /// Segments of their own, whose elements keep their numbers.
    Offsets { offsets: &'a [usize], reversed: bool },
    /// Rows of their own.
    Rows { rows: Rows, reversed: bool },
}

impl Elements<'_> {
    /// The record of an element of a sequence; of the last one, if there are not so many elements.
    fn record(&self, sequence: usize, element: u64) -> usize {
        let element = usize::try_from(element).unwrap_or(usize::MAX);
        let numbered = |len: usize, first: usize, last: usize, reversed: bool| {
            let element = if element >= len { if reversed { len - 1 - first } else { last } } else { element };
            if reversed { len - 1 - element } else { element }
        };
        match *self {
            Elements::Line { len, reversed } => numbered(len.max(1), 0, len.max(1) - 1, reversed),
            Elements::Offsets { offsets, reversed } => {
                let len = offsets.last().map_or(1, |&len| len.max(1));
                let (first, end) = (offsets[sequence], offsets[sequence + 1]);
                numbered(len, first, end.max(1) - 1, reversed)
            }
            Elements::Rows { rows, reversed } => {
                let apart = element.min(rows.len().max(1) - 1) * rows.step();
                let first = rows.record_of(sequence, reversed);
                if reversed { first - apart } else { first + apart }
            }
        }
    }

    /// The error that says what was found in a sequence.
    pub(crate) fn error(&self, stages: usize, sequence: usize, finding: Finding) -> Error {
        let index = self.record(sequence, finding.element);
        let of_several = |stage: u32| (stages > 1).then_some(stage);
        let function = match finding.event {
            Event::Regrouped => return Error::Regrouped { index },
            Event::OutOfOrder(stage) => return Error::OutOfOrder { index, stage: of_several(stage) },
            Event::Lift(stage) => FunctionOf::Lift { stage: of_several(stage) },
            Event::Combine(stage) => FunctionOf::Combine { stage: of_several(stage) },
            Event::Step => FunctionOf::Step,
            Event::Filter => FunctionOf::Filter,
            Event::Project => FunctionOf::Project,
        };
        Error::Overflowed { index, function }
    }
}

/// The first of some findings, each with its sequence, in the order of the scan: that of the sequences, or the other way.
pub(crate) fn first(findings: impl IntoIterator<Item = (usize, Finding)>, backwards: bool) -> Option<(usize, Finding)> {
    let order = |sequence: usize| if backwards { usize::MAX - sequence } else { sequence };
    findings.into_iter().min_by_key(|(sequence, finding)| (order(*sequence), finding.element))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(elements: Elements<'_>, sequence: usize, element: u64) -> usize {
        elements.record(sequence, element)
    }

    #[test]
    fn elements_are_numbered_in_the_order_of_the_scan() {
        let line = |reversed| Elements::Line { len: 10, reversed };
        assert_eq!([record(line(false), 0, 3), record(line(true), 0, 3)], [3, 6]);
        assert_eq!([record(line(false), 0, u64::MAX), record(line(true), 0, u64::MAX)], [9, 0]);
        let offsets = |reversed| Elements::Offsets { offsets: &[0, 4, 10], reversed };
        assert_eq!([record(offsets(false), 1, 5), record(offsets(true), 1, 5)], [5, 4]);
        assert_eq!([record(offsets(false), 0, u64::MAX), record(offsets(true), 1, u64::MAX)], [3, 4]);
        let rows = |reversed| Elements::Rows { rows: Rows::axis(&[3, 4], 0).unwrap(), reversed };
        assert_eq!([record(rows(false), 1, 2), record(rows(true), 1, 2)], [9, 1]);
        assert_eq!([record(rows(false), 1, u64::MAX), record(rows(true), 1, u64::MAX)], [9, 1]);
    }
}
