//! One element: the sources that mappings read there, and where their results are written.

use super::{Mode, Request};
use crate::program::{Field, Layout, Source};
use crate::types::Constant;

/// The record before the first element.
pub(super) struct Previous {
    /// Which of its components are read.
    pub(super) components: Vec<u32>,
    /// Its values, if there is such a record.
    pub(super) values: Option<Vec<Constant>>,
}

/// The values that the mappings of a program can read at one element.
pub(super) struct Element<'i> {
    inputs: &'i [&'i [u8]],
    /// For each component of the record: its column, the size of that column's records, and the field.
    fields: Vec<(usize, usize, Field)>,
    count: usize,
    mode: Mode,
    index: usize,
    init: Vec<Vec<Constant>>,
    parameters: &'i [Constant],
    /// Before the first element.
    before_all: Previous,
    pub(super) before: Vec<Vec<Constant>>,
    /// The states after; of a stage that has not yet run for this element, the state before.
    pub(super) after: Vec<Vec<Constant>>,
    arguments: Vec<Constant>,
}

impl<'i> Element<'i> {
    pub(super) fn new(
        inputs: &'i [&'i [u8]],
        layouts: &[Layout],
        count: usize,
        request: &'i Request,
        (init, before_all): (Vec<Vec<Constant>>, Previous),
    ) -> Element<'i> {
        let columns = layouts.iter().enumerate();
        let fields = columns
            .flat_map(|(column, layout)| layout.fields.iter().map(move |&f| (column, layout.size as usize, f)))
            .collect();
        let (before, after) = (init.clone(), init.clone());
        Element {
            inputs,
            fields,
            count,
            mode: request.mode,
            index: 0,
            init,
            parameters: &request.parameters,
            before_all,
            before,
            after,
            arguments: Vec::new(),
        }
    }

    pub(super) fn enter(&mut self, index: usize) {
        self.index = index;
        for (before, after) in self.before.iter_mut().zip(&self.after) {
            before.copy_from_slice(after);
        }
    }

    pub(super) fn read(&mut self, reads: &[Source]) -> &[Constant] {
        let mut arguments = std::mem::take(&mut self.arguments);
        arguments.clear();
        arguments.extend(reads.iter().map(|&source| self.source(source)));
        self.arguments = arguments;
        &self.arguments
    }

    pub(super) fn source(&self, source: Source) -> Constant {
        match source {
            Source::Record(component) => self.record(self.index, component),
            Source::Next(component) => self.record(self.index + 1, component),
            Source::Prev(component) if self.index > 0 => self.record(self.index - 1, component),
            Source::Prev(component) => self.before_first(component),
            Source::First => Constant::from(self.index == 0 && self.before_all.values.is_none()),
            Source::Last => Constant::from(self.index + 1 == self.count),
            Source::Index => Constant::from(self.index as u64),
            Source::Before { stage, component } => self.before[stage as usize][component as usize],
            Source::After { stage, component } => self.after[stage as usize][component as usize],
            Source::Init { stage, component } => self.init[stage as usize][component as usize],
            Source::Parameter(parameter) => self.parameters[parameter as usize],
            Source::StateOf { stage, component } => {
                let states = if self.mode == Mode::Inclusive { &self.after } else { &self.before };
                states[stage as usize][component as usize]
            }
            Source::State(component) => {
                let states = if self.mode == Mode::Inclusive { &self.after } else { &self.before };
                states[states.len() - 1][component as usize]
            }
        }
    }

    /// A component of the record before the first element, zeros if there is none.
    fn before_first(&self, component: u32) -> Constant {
        let Previous { components, values } = &self.before_all;
        let place = components.iter().position(|&of| of == component).expect("every component that is read is listed");
        values.as_ref().map_or_else(|| self.fields[component as usize].2.ty.zero(), |values| values[place])
    }

    /// The record before the first element of the next part of a stream.
    pub(super) fn previous(&self) -> Option<Vec<Constant>> {
        let Previous { components, values } = &self.before_all;
        match self.count {
            0 => values.clone(),
            count => Some(components.iter().map(|&component| self.record(count - 1, component)).collect()),
        }
    }

    fn record(&self, index: usize, component: u32) -> Constant {
        let (column, size, field) = self.fields[component as usize];
        if index >= self.count {
            return field.ty.zero();
        }
        Constant::from_bytes(field.ty, &self.inputs[column][index * size + field.offset as usize..])
    }
}

/// Appends records to the output columns.
pub(super) struct Writer<'p> {
    layouts: &'p [Layout],
    pub(super) columns: Vec<Vec<u8>>,
    pub(super) count: usize,
}

impl<'p> Writer<'p> {
    pub(super) fn new(layouts: &'p [Layout]) -> Writer<'p> {
        Writer { layouts, columns: vec![Vec::new(); layouts.len()], count: 0 }
    }

    pub(super) fn write(&mut self, components: &[Constant]) {
        let mut components = components.iter();
        for (layout, column) in self.layouts.iter().zip(&mut self.columns) {
            let start = column.len();
            column.resize(start + layout.size as usize, 0);
            for (field, component) in layout.fields.iter().zip(&mut components) {
                let at = start + field.offset as usize;
                let bytes = component.bits().to_le_bytes();
                column[at..at + field.ty.size()].copy_from_slice(&bytes[..field.ty.size()]);
            }
        }
        self.count += 1;
    }
}
