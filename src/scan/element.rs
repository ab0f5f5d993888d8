//! [`Element`]: what a function of a program may see besides the record it is called for.

use monoscan_ir::Source;

use crate::prelude::*;

/// One element as a later stage, an output or a [`lift_at`](crate::ScanBuilder::lift_at) sees it, for records `R` and states `S`.
///
/// `R` is the type of the lift's argument, or the tuple of them if there are several. `S` is the state of the stages
/// before: nothing for the first, `A` for the second, `(A, B)` for the third; and the states of all stages for outputs.
/// Parts that a function does not use are not read.
///
/// `prev` costs a load of the record before. It is right in every shape of a call: the first record of a line, a segment
/// or a row has none. A function of `next` cannot be used in place, nor one of `prev`.
///
/// ```
/// use monoscan::{ops::Sum, prelude::*};
///
/// // Sessions: a pause of more than 30 begins one. Each click gets the number of its session.
/// #[scan_fn]
/// fn begins(e: Element<u64>) -> Sum<u32> { Sum(if e.first || e.record - e.prev > 30 { 1 } else { 0 }) }
///
/// let sessions = Scan::<Sum<u32>>::builder().lift_at(begins {}).project(scan!(|s: Sum<u32>| -> u32 { s.0 })).build()?;
/// assert_eq!(sessions.inclusive(&[5, 20, 70, 80, 200])?, [1, 1, 2, 2, 3]);
/// # Ok::<(), monoscan::Error>(())
/// ```
///
/// ```
/// use monoscan::{ops::Sum, prelude::*};
///
/// // The last record of each run of equal ones.
/// #[scan_fn]
/// fn ends(e: Element<u8>) -> Sum<u32> { Sum(if e.last || e.next != e.record { 1 } else { 0 }) }
///
/// let scan = Scan::<Sum<u32>>::builder().lift_at(ends {}).project(scan!(|ended: Sum<u32>| -> u32 { ended.0 })).build()?;
/// assert_eq!(scan.exclusive(b"aabccc")?, [0, 0, 1, 2, 2, 2]); // which run a record belongs to
/// assert_eq!(scan.reduce(b"aabccc")?, Sum(3));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
pub struct Element<R, S = ()> {
    /// The states before the element.
    pub before: S,
    /// The states after it.
    pub after: S,
    /// Its record.
    pub record: R,
    /// The record before it in its sequence, in the order of the scan; zeros if there is none.
    pub prev: R,
    /// The next record of its sequence, in the order of the scan; zeros if there is none, as at the end of a stream's chunk.
    pub next: R,
    /// Whether there is no record before it.
    pub first: bool,
    /// Whether there is no next record; in a stream, none of the chunk.
    pub last: bool,
    /// Its place, from 0, in the order of the scan: along a line with all its segments, and along each row or each chunk of a stream
    /// anew.
    pub index: u64,
}

/// The kinds of arguments of a program's function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    /// The columns of the record.
    Record,
    /// The state of the last stage, before or after the element as the scan is exclusive or inclusive.
    State,
    /// Both of these.
    StateAndRecord,
    /// An [`Element`].
    Element,
}

impl View {
    /// The source of each component of the arguments, where the record has `record` components, and the stages that are seen
    /// have `stages[0]`, `stages[1]`, … components.
    pub(super) fn sources(self, record: usize, stages: &[usize]) -> Vec<Source> {
        let record = 0..record as u32;
        let records = record.clone().map(Source::Record);
        let state = (0..stages.last().map_or(0, |&components| components as u32)).map(Source::State);
        let states = || {
            let numbered = stages.iter().zip(0u32..);
            numbered.flat_map(|(&components, stage)| (0..components as u32).map(move |component| (stage, component)))
        };
        match self {
            View::Record => records.collect(),
            View::State => state.collect(),
            View::StateAndRecord => state.chain(records).collect(),
            View::Element => states()
                .map(|(stage, component)| Source::Before { stage, component })
                .chain(states().map(|(stage, component)| Source::After { stage, component }))
                .chain(records)
                .chain(record.clone().map(Source::Prev))
                .chain(record.map(Source::Next))
                .chain([Source::First, Source::Last, Source::Index])
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang;

    /// The sources follow the fields of the struct, whose order is that of the components.
    #[test]
    fn every_component_has_its_source() {
        let names = lang::component_names::<Element<(u8, u16), (u32, [u64; 2])>>();
        let sources = View::Element.sources(2, &[1, 2]);
        let shown: Vec<String> =
            names.iter().zip(&sources).map(|(name, source)| format!("{name} {source:?}")).collect();
        assert_eq!(names.len(), sources.len());
        let expected = [
            "before.0 Before { stage: 0, component: 0 }",
            "before.1[0] Before { stage: 1, component: 0 }",
            "before.1[1] Before { stage: 1, component: 1 }",
            "after.0 After { stage: 0, component: 0 }",
            "after.1[0] After { stage: 1, component: 0 }",
            "after.1[1] After { stage: 1, component: 1 }",
            "record.0 Record(0)",
            "record.1 Record(1)",
            "prev.0 Prev(0)",
            "prev.1 Prev(1)",
            "next.0 Next(0)",
            "next.1 Next(1)",
            "first First",
            "last Last",
            "index Index",
        ];
        assert_eq!(shown, expected);
    }
}
