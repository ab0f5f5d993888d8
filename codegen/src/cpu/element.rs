//! One element of one block: what its function reads, and where its results go.

use std::cell::RefCell;
use std::mem::offset_of;

use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::Source;

use super::abi::{Access, Spacing, TileArgs};
use super::columns::{Addresses, Apart, Component, apart, bases, components, record};
use super::kernel::TileKernel;
use super::lower::constant;
use super::memory;
use super::place::{Place, Position};
use super::short_inputs::{SHORT_REGISTERS, are_in_table};
use super::simd::Bases;

/// The element after: its record (the element's own at the end), and whether there is none.
#[derive(Clone, Copy)]
struct Next {
    place: Place,
    none: ir::Value,
}

/// The arguments of a `short` kernel, in the order of its signature.
pub(crate) type ShortArgs = [ir::Value; 2 + SHORT_REGISTERS];

/// The sources that are the same for all elements.
pub(crate) type Uniform = Vec<(Source, ir::Value)>;

/// One element while its sources are read.
pub(crate) struct Element {
    pub(crate) position: Position,
    /// It has a next one and one before.
    pub(crate) steady_state: bool,
    next: Option<Next>,
}

impl Element {
    pub(crate) fn new(position: Position, steady_state: bool) -> Element {
        Element { position, steady_state, next: None }
    }
}

/// The columns and everything else that elements read and write; the values here are fixed before the loop starts.
#[derive(Clone)]
pub(crate) struct Data<'a> {
    kernel: &'a TileKernel<'a>,
    inputs: Vec<Component>,
    outputs: Vec<Component>,
    input_bases: Vec<Option<ir::Value>>,
    output_bases: Vec<ir::Value>,
    /// For each input column and then each output column, with spaced access; else empty.
    spacings: Vec<Option<Apart>>,
    addresses: RefCell<Addresses>,
    uniform: Uniform,
    /// Where parameters are, for a function that takes elements.
    parameters: Option<ir::Value>,
    /// Where records go that are not kept; none where they may be written behind those that are.
    sink: Option<ir::Value>,
    /// How many records outputs have space for, if that is less than all or comes with the call.
    capacity: Option<ir::Value>,
    total: ir::Value,
    /// Records from one element to the next, if that is not 1.
    step: Option<ir::Value>,
}

impl<'a> Data<'a> {
    pub(crate) fn new(b: &mut FunctionBuilder<'_>, kernel: &'a TileKernel<'a>, args: ir::Value) -> Data<'a> {
        let flags = memory::data_flags();
        let mut word = |offset: usize| b.ins().load(types::I64, flags, args, offset as i32);
        let columns_in = word(std::mem::offset_of!(TileArgs, inputs));
        let columns_out = word(std::mem::offset_of!(TileArgs, outputs));
        let total = word(std::mem::offset_of!(TileArgs, total));
        let step = (kernel.access != Access::Line).then(|| word(std::mem::offset_of!(TileArgs, step)));
        let sink = kernel.rank.map(|_| word(std::mem::offset_of!(TileArgs, sink)));
        let capacity = kernel.rank.and(kernel.lanes).map(|_| word(std::mem::offset_of!(TileArgs, capacity)));
        let spacings = (kernel.access == Access::Spaced).then(|| word(std::mem::offset_of!(TileArgs, spacings)));
        let uniform = uniform(b, kernel, |b, offset| b.ins().load(types::I64, flags, args, offset as i32));
        let mut word = |offset: usize| b.ins().load(types::I64, flags, args, offset as i32);
        let parameters = needs_parameters(kernel).then(|| word(std::mem::offset_of!(TileArgs, parameters)));
        let (inputs, outputs) = (components(kernel.inputs), components(kernel.outputs));
        let read = |column: usize| {
            let is_read = kernel.body.mapping.reads.iter().any(|source| match *source {
                Source::Record(component) | Source::Next(component) | Source::Prev(component) => {
                    inputs.get(component as usize).is_some_and(|of| of.column == column)
                }
                _ => false,
            });
            // A function reads whole records.
            is_read || kernel.lanes.is_some() || kernel.native.is_some()
        };
        let input_bases = bases(b, columns_in, kernel.inputs.len(), read);
        let output_bases = bases(b, columns_out, kernel.outputs.len(), |_| true).into_iter().flatten().collect();
        let spacings = spacings.zip(step).map_or_else(Vec::new, |(spacings, step)| apart(b, kernel, spacings, step));
        Data {
            kernel,
            inputs,
            outputs,
            input_bases,
            output_bases,
            spacings,
            addresses: RefCell::default(),
            uniform,
            parameters,
            sink,
            capacity,
            total,
            step,
        }
    }

    /// Of a `short` kernel, whose output has space for a record of every element.
    pub(crate) fn in_registers(
        b: &mut FunctionBuilder<'_>,
        kernel: &'a TileKernel<'a>,
        [len, output, registers @ ..]: ShortArgs,
    ) -> Data<'a> {
        let columns = kernel.inputs.len();
        // Parameters are behind the input columns.
        let inputs = match are_in_table(columns) {
            true => bases(b, registers[0], columns + 1, |_| true),
            false => registers.map(Some).into(),
        };
        let base = inputs[columns].expect("there is one behind the columns");
        // Of what lies in memory it reads parameters alone.
        let uniform = uniform(b, kernel, |_, _| base);
        let parameters = needs_parameters(kernel).then_some(base);
        Data {
            kernel,
            inputs: components(kernel.inputs),
            outputs: components(kernel.outputs),
            input_bases: inputs,
            output_bases: kernel.outputs.iter().map(|_| output).collect(),
            spacings: Vec::new(),
            addresses: RefCell::default(),
            uniform,
            parameters,
            sink: None,
            capacity: None,
            total: len,
            step: None,
        }
    }

    /// Of a `short` kernel with strided or spaced access: how many elements, where columns are, how far apart records are, and where
    /// parameters are.
    pub(crate) fn spaced(
        b: &mut FunctionBuilder<'_>,
        kernel: &'a TileKernel<'a>,
        [len, inputs, outputs, spacings, parameters]: [ir::Value; 5],
    ) -> Data<'a> {
        let uniform = uniform(b, kernel, |_, _| parameters);
        let (step, spacings) = match kernel.access {
            // Records are any distance apart, so each element has a place of its own.
            Access::Spaced => {
                let step = b.ins().iconst(types::I64, 1);
                (step, apart(b, kernel, spacings, step))
            }
            Access::Line | Access::Strided => {
                (b.ins().load(types::I64, memory::data_flags(), spacings, offset_of!(Spacing, step) as i32), Vec::new())
            }
        };
        Data {
            kernel,
            inputs: components(kernel.inputs),
            outputs: components(kernel.outputs),
            input_bases: bases(b, inputs, kernel.inputs.len(), |_| true),
            output_bases: bases(b, outputs, kernel.outputs.len(), |_| true).into_iter().flatten().collect(),
            spacings,
            addresses: RefCell::default(),
            uniform,
            parameters: None,
            sink: None,
            capacity: None,
            total: len,
            step: Some(step),
        }
    }

    /// Where columns start; of inputs those that are read.
    pub(crate) fn bases(&self) -> Bases<'_> {
        Bases { inputs: &self.input_bases, outputs: &self.output_bases, uniform: &self.uniform }
    }

    /// Where parameters are, if there are some and a function takes elements.
    pub(super) fn parameters(&self) -> Option<ir::Value> {
        self.parameters
    }

    /// The same columns of a run of so many elements.
    pub(crate) fn with_total(&self, total: ir::Value) -> Data<'a> {
        Data { total, ..self.clone() }
    }

    /// How many elements the run has.
    pub(crate) fn total(&self) -> ir::Value {
        self.total
    }

    /// Whether outputs have space for so many records more, after so many that were kept; none if they have in any case.
    pub(crate) fn has_space(&self, b: &mut FunctionBuilder<'_>, rank: ir::Value, more: ir::Value) -> Option<ir::Value> {
        let capacity = self.capacity?;
        let needed = b.ins().iadd(rank, more);
        Some(b.ins().icmp(IntCC::UnsignedLessThanOrEqual, needed, capacity))
    }

    /// How many components an element writes.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The place of the element after one at `place`.
    pub(crate) fn following(&self, b: &mut FunctionBuilder<'_>, place: Place) -> Place {
        match self.step {
            None => Place { further: place.further + 1, ..place },
            Some(step) => {
                let following = b.ins().iadd(place.base, step);
                self.addresses.borrow_mut().follow(b, &self.spacings, (place.base, following));
                Place::at(following)
            }
        }
    }

    /// The place of the element before one at `place`.
    fn before(&self, b: &mut FunctionBuilder<'_>, place: Place) -> ir::Value {
        let own = place.value(b);
        match self.step {
            None => b.ins().iadd_imm_s(own, -1),
            Some(step) => b.ins().isub(own, step),
        }
    }

    /// The value of a source for this element.
    pub(crate) fn read(&self, b: &mut FunctionBuilder<'_>, e: &mut Element, source: Source) -> ir::Value {
        match source {
            Source::Record(component) => self.load(b, component, e.position.place),
            Source::Next(component) if e.steady_state => {
                let following = self.following(b, e.position.place);
                self.load(b, component, following)
            }
            Source::Next(component) => {
                let next = self.next(b, e);
                // At the end the record itself is read again, to stay in bounds, and dropped.
                let value = self.load(b, component, next.place);
                let ty = self.inputs[component as usize].field.ty;
                let zero = constant(b, ty.zero());
                b.ins().select(next.none, zero, value)
            }
            Source::Prev(component) if e.steady_state => {
                let before = self.before(b, e.position.place);
                self.load(b, component, Place::at(before))
            }
            Source::Prev(component) => {
                // At the first element the record itself is read, to stay in bounds, and dropped.
                let Position { place, number } = e.position;
                let none = b.ins().icmp_imm_u(IntCC::Equal, number, 0);
                let own = place.value(b);
                let before = self.before(b, place);
                let from = Place::at(b.ins().select(none, own, before));
                let value = self.load(b, component, from);
                let zero = constant(b, self.inputs[component as usize].field.ty.zero());
                b.ins().select(none, zero, value)
            }
            Source::First => b.ins().icmp_imm_u(IntCC::Equal, e.position.number, 0),
            Source::Last => self.next(b, e).none,
            Source::Index => e.position.number,
            Source::Init { .. } | Source::Parameter(_) => {
                let uniform = self.uniform.iter().find(|(uniform, _)| *uniform == source);
                uniform.expect("what is the same for all elements was loaded").1
            }
            Source::Before { .. } | Source::After { .. } | Source::State(_) | Source::StateOf { .. } => {
                unreachable!("a body of a lowered program is given the states that it carries")
            }
        }
    }

    fn next(&self, b: &mut FunctionBuilder<'_>, element: &mut Element) -> Next {
        let Position { place, number } = element.position;
        *element.next.get_or_insert_with(|| {
            let following = b.ins().iadd_imm_u(number, 1);
            let none = b.ins().icmp(IntCC::Equal, following, self.total);
            let following = self.following(b, place).value(b);
            let place = place.value(b);
            let place = Place::at(b.ins().select(none, place, following));
            Next { place, none }
        })
    }

    /// How far apart the records of a column are, inputs first, if that comes with the call.
    fn apart(&self, column: usize) -> Option<Apart> {
        *self.spacings.get(column)?
    }

    /// The address of the record of a column at `place`, and what is to be added to it; columns are numbered inputs first.
    fn record(
        &self,
        b: &mut FunctionBuilder<'_>,
        (column, base, size): (usize, ir::Value, u32),
        place: Place,
    ) -> (ir::Value, i32) {
        match self.apart(column) {
            None => record(b, base, place, size),
            // Elements at any distance are not reached by how many records they are behind another.
            Some(apart) => (self.addresses.borrow_mut().of(b, (column, base, apart), place.base), 0),
        }
    }

    /// A component of the record at `place`.
    pub(crate) fn load(&self, b: &mut FunctionBuilder<'_>, component: u32, place: Place) -> ir::Value {
        let of = &self.inputs[component as usize];
        let base = self.input_bases[of.column].expect("a column that is read has a base");
        let ty = of.field.ty;
        if let Some(Apart { step, bits: Some([first, mask]), .. }) = self.apart(of.column) {
            let bit = b.ins().imul(place.base, step);
            let bit = b.ins().iadd(bit, first);
            let byte = b.ins().sshr_imm_u(bit, 3);
            let address = b.ins().iadd(base, byte);
            let byte = b.ins().load(types::I8, memory::data_flags(), address, 0);
            // Of the shift's amount the lowest three bits count.
            let shifted = b.ins().ushr(byte, bit);
            let masked = b.ins().band(shifted, mask);
            return b.ins().icmp_imm_u(IntCC::NotEqual, masked, 0);
        }
        let (address, offset) = self.record(b, (of.column, base, of.size), place);
        memory::load(b, memory::data_flags(), ty, ty.size(), address, offset + of.field.offset as i32)
    }

    /// Writes the output components of the record at `place`.
    pub(crate) fn write(&self, b: &mut FunctionBuilder<'_>, place: Place, values: &[ir::Value]) {
        for (of, &value) in self.outputs.iter().zip(values) {
            let base = self.output_bases[of.column];
            let column = self.kernel.inputs.len() + of.column;
            let (address, offset) = self.record(b, (column, base, of.size), place);
            memory::store(b, of.field.ty, value, address, offset + of.field.offset as i32);
        }
    }

    /// Writes the output components to the record at `rank`; unless `kept`, the next record that is kept replaces them there. Where
    /// there may be no space behind the last one that is kept, or it belongs to another thread, they go to the sink instead.
    pub(crate) fn emit(&self, b: &mut FunctionBuilder<'_>, (rank, kept): (ir::Value, ir::Value), values: &[ir::Value]) {
        let mut addresses = Vec::new();
        for column in 0..self.kernel.outputs.len() {
            let base = self.output_bases[column];
            let of = (self.kernel.inputs.len() + column, base, self.kernel.outputs[column].size);
            let (address, _) = self.record(b, of, Place::at(rank));
            addresses.push(self.sink.map_or(address, |sink| b.ins().select(kept, address, sink)));
        }
        for (of, &value) in self.outputs.iter().zip(values) {
            memory::store(b, of.field.ty, value, addresses[of.column], of.field.offset as i32);
        }
    }
}

/// Whether a function takes elements, and is given parameters.
fn needs_parameters(kernel: &TileKernel<'_>) -> bool {
    kernel.native.is_some() && !kernel.parameters.fields.is_empty()
}

/// Loads what the kernel reads that is the same for all elements; `base` gives the word of [`TileArgs`] at an offset.
fn uniform(
    b: &mut FunctionBuilder<'_>,
    kernel: &TileKernel<'_>,
    base: impl Fn(&mut FunctionBuilder<'_>, usize) -> ir::Value,
) -> Uniform {
    let of_lanes = kernel.lanes.into_iter().flat_map(|(form, _)| form.reads());
    let mut sources: Vec<Source> = kernel.body.mapping.reads.iter().chain(of_lanes).copied().collect();
    sources.sort();
    sources.dedup();
    let mut bases: [Option<ir::Value>; 2] = [None; 2];
    let mut load = |source: Source| {
        let (place, offset, field) = match source {
            Source::Init { stage, component } => {
                (0, std::mem::offset_of!(TileArgs, init), kernel.state.field(stage, component)?)
            }
            Source::Parameter(parameter) => {
                let field = *kernel.parameters.fields.get(parameter as usize)?;
                (1, std::mem::offset_of!(TileArgs, parameters), field)
            }
            _ => return None,
        };
        let base = *bases[place].get_or_insert_with(|| base(b, offset));
        let flags = memory::data_flags();
        Some((source, memory::load(b, flags, field.ty, field.ty.size(), base, field.offset as i32)))
    };
    sources.into_iter().filter_map(&mut load).collect()
}
