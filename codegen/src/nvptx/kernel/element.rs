//! Elements, as code sees them: what it reads of one, and what it is.

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
    /// The code of a mapping, in which records are one of so many symbols if that is said.
    pub(crate) fn new(mapping: &Mapping, facts: &[StageFacts], tables: &[Table], symbols: Option<u32>) -> ElementCode {
        let reads = mapping.reads.iter().zip(&mapping.function.params);
        let ranges = reads.map(|(source, &ty)| match *source {
            Source::Before { stage, component } => facts[stage as usize].ranges[component as usize],
            Source::Record(_) if symbols.is_some() => Range { min: 0, max: symbols.map_or(0, i128::from) - 1 },
            _ => Range::full(ty),
        });
        let ranges: Vec<Range> = ranges.collect();
        ElementCode { reads: mapping.reads.clone(), code: Code::new(&mapping.function, &ranges, tables) }
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
