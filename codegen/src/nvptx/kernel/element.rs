//! Elements, as code sees them: what it reads of one, and what it is.

use monoscan_ir::automaton::{Carried, LaneBody};
use monoscan_ir::facts::{Range, StageFacts};
use monoscan_ir::{Mapping, Source, Table};

use crate::nvptx::emit::Value;
use crate::nvptx::lower::Code;

/// The sources that an element's code reads besides states and initial states.
pub trait Element<'k> {
    /// A component of the record, numbered through all columns.
    fn record(&self, component: usize) -> Value<'k>;
    /// The same of the next record; zeros at the last.
    fn next(&self, component: usize) -> Value<'k>;
    /// The same of the record before; zeros at the first.
    fn prev(&self, component: usize) -> Value<'k>;
    /// Whether it is the first.
    fn is_first(&self) -> Value<'k> {
        let index = self.index();
        index.is(index.emit().i64(0))
    }
    /// Whether it is the last.
    fn is_last(&self) -> Value<'k>;
    /// Its place in the scan, as 64 bits.
    fn index(&self) -> Value<'k>;
}

/// The sources of an element's code, and the code.
pub(crate) struct ElementCode {
    pub reads: Vec<Source>,
    pub code: Code,
}

impl ElementCode {
    /// The code of a mapping.
    pub(crate) fn new(mapping: &Mapping, facts: &[StageFacts], tables: &[Table]) -> ElementCode {
        ElementCode::within(mapping, facts, tables, |_| None)
    }

    /// That of a body by lanes, in which records are one of so many symbols if that is said.
    pub(crate) fn of_lanes(
        LaneBody { mapping, carried, row, .. }: &LaneBody,
        facts: &[StageFacts],
        tables: &[Table],
        symbols: Option<u32>,
    ) -> ElementCode {
        let is_lane = |source: &Source| {
            let is_own =
                |carried: &Carried| *source == Source::Before { stage: carried.stage, component: carried.component };
            carried.iter().any(|carried| carried.lane.is_some() && is_own(carried))
        };
        ElementCode::within(mapping, facts, tables, |source| match (source, symbols, row) {
            (Source::Record(_), Some(symbols), _) => Some(Range { min: 0, max: i128::from(symbols) - 1 }),
            (source, _, Some(row)) if is_lane(source) => {
                known_range(source, facts).map(|lanes| Range { min: 0, max: lanes.max * i128::from(*row) })
            }
            _ => None,
        })
    }

    /// The code of a mapping whose sources are in these ranges, or else in those that are known of any program.
    fn within(
        mapping: &Mapping,
        facts: &[StageFacts],
        tables: &[Table],
        range: impl Fn(&Source) -> Option<Range>,
    ) -> ElementCode {
        let reads = mapping.reads.iter().zip(&mapping.function.params);
        let ranges = reads.map(|(source, &ty)| {
            range(source).or_else(|| known_range(source, facts)).unwrap_or_else(|| Range::full(ty))
        });
        let ranges: Vec<Range> = ranges.collect();
        ElementCode { reads: mapping.reads.clone(), code: Code::new(&mapping.function, &ranges, tables) }
    }
}

/// The values that a state before an element may have.
fn known_range(source: &Source, facts: &[StageFacts]) -> Option<Range> {
    match *source {
        Source::Before { stage, component } => Some(facts[stage as usize].ranges[component as usize]),
        _ => None,
    }
}

/// The value of a source at an element, if that is no state.
pub(crate) fn read<'k>(element: &dyn Element<'k>, source: Source) -> Option<Value<'k>> {
    match source {
        Source::Record(component) => Some(element.record(component as usize)),
        Source::Next(component) => Some(element.next(component as usize)),
        Source::Prev(component) => Some(element.prev(component as usize)),
        Source::First => Some(element.is_first()),
        Source::Last => Some(element.is_last()),
        Source::Index => Some(element.index()),
        _ => None,
    }
}
