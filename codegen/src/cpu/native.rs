//! A pass whose elements a function of Rust takes, which rustc compiled: the operator as its author
//! wrote it.
//!
//! A kernel that takes one element after the other calls it with the columns and the state before
//! them, in memory as the function has it, and takes over the state behind them. The function says
//! how many elements it took. What it left, where it would panic, the kernel's own loop takes. So
//! such a kernel is called like every other, and may be any of those that take elements in order:
//! what is wrapped around the elements stays generated code. Rows are a function's as a whole,
//! since a call for each would cost more than a few elements do.

use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, Value, types};
use cranelift_codegen::ir::{BlockArg, condcodes::IntCC};
use cranelift_frontend::FunctionBuilder;
use monoscan_ir::facts::Body;
use monoscan_ir::{Constant, Field, Layout, Source, Type};

use super::abi::{ShortFn, ShortRowsFn, ShortWholeFn, TileFn};
use super::error::CodegenError;
use super::kernel::Loop;
use super::lower::{Env, constant};
use super::memory;
use super::place::Place;
use super::recipe::Kernel;
use super::rounds::{Progress, Round};
use super::short_inputs::{SHORT_REGISTERS, are_in_table};

/// A function that takes elements in order, from the state in its last argument, which becomes the state behind those it took. Behind
/// it lies the state that segments start from, if the program has a column of their flags.
/// It gives how many it took. Its arguments are those of a kernel of short lines.
pub type NativeFn = ShortWholeFn;

/// The same for rows, each from the state that is given, and again behind it: how many rows, columns and states as of [`NativeFn`];
/// records from one row to the next, and of a row.
pub type NativeRowsFn =
    unsafe extern "C" fn(usize, *mut u8, *const u8, *const u8, *const u8, *const u8, *mut u8, usize, usize) -> usize;

/// Many sequences, each from the identity, of columns as of [`NativeFn`]: how many sequences; where their totals go, one after the other,
/// or their results, as a column; and where they begin, one more than there are. Without these they are rows: records from one to
/// the next, and of a row. It gives how many sequences it took.
pub type NativeSequencesFn = unsafe extern "C" fn(
    usize,
    *mut u8,
    *const u8,
    *const u8,
    *const u8,
    *const u8,
    *const usize,
    usize,
    usize,
) -> usize;

/// Such functions, and what they are given: how the state lies in memory, the components of the program's one stage, or of the loop
/// that the program was derived from.
#[derive(Clone, Debug)]
pub struct Native {
    /// The one that writes a line.
    pub pass: NativeFn,
    /// The one that writes nothing.
    pub reduce: Option<NativeFn>,
    /// The one that writes rows.
    pub rows: Option<NativeRowsFn>,
    /// The one that writes a short line from the identity, into memory that is no column's; it gives how many elements it took.
    pub short: Option<ShortFn>,
    /// The one that writes many sequences from the identity, into memory that is no column's.
    pub sequences: Option<NativeSequencesFn>,
    /// The one that reduces many sequences from the identity.
    pub totals: Option<NativeSequencesFn>,
    /// Whether the functions that take lines see the records beside each, and where it is. Then the number of the first element in its line
    /// lies behind two states, and behind it how many the line has, 8 bytes each; and there is no function for rows.
    pub sees: bool,
    /// The components of the state.
    pub state: Layout,
    /// The state that segments start from, if there is a column of their flags.
    pub start: Option<Vec<Constant>>,
    /// The parameters, which are those of the program.
    pub parameters: Vec<Type>,
    /// Whether elements in any order give the same bits, so that it may replace kernels in vectors.
    pub replaces_vectors: bool,
}

/// Code that may take the elements of a kind of kernels.
#[derive(Clone, Copy, Debug)]
pub enum Rival {
    /// A line from the identities.
    Line(ShortFn),
    /// A line, with results or without, from the state in a slot.
    Tile(TileFn),
    /// A line without results, from a state to that behind it.
    Reduction(ShortWholeFn),
    /// Rows of so many elements from the identities.
    Rows(usize, ShortRowsFn),
    /// A line, with results or without.
    Native(NativeFn),
    /// Rows.
    NativeRows(usize, NativeRowsFn),
}

impl Rival {
    /// The kernel whose code this is.
    ///
    /// # Safety
    /// It is.
    pub(super) unsafe fn generated(kernel: Kernel, code: *const u8) -> Option<Rival> {
        // SAFETY: a kernel is compiled with the signature that `abi` declares.
        Some(unsafe {
            match kernel {
                Kernel::Short => Rival::Line(std::mem::transmute::<*const u8, ShortFn>(code)),
                Kernel::Scan | Kernel::ScanOne | Kernel::Whole { .. } => {
                    Rival::Tile(std::mem::transmute::<*const u8, TileFn>(code))
                }
                Kernel::ShortWhole { writes: false } => {
                    Rival::Reduction(std::mem::transmute::<*const u8, ShortWholeFn>(code))
                }
                Kernel::ShortRows(len) => Rival::Rows(len, std::mem::transmute::<*const u8, ShortRowsFn>(code)),
                _ => return None,
            }
        })
    }

    /// The function that does what this kernel does.
    pub(super) fn of(native: &Native, kernel: Kernel) -> Option<Rival> {
        match kernel {
            Kernel::Short | Kernel::Scan | Kernel::ScanOne | Kernel::Whole { writes: true } => {
                Some(Rival::Native(native.pass))
            }
            Kernel::Whole { writes: false } | Kernel::ShortWhole { writes: false } => native.reduce.map(Rival::Native),
            Kernel::ShortRows(len) => native.rows.map(|rows| Rival::NativeRows(len, rows)),
            _ => None,
        }
    }
}

impl Native {
    /// Whether a body carries components of the state from element to element, and looks at nothing else but records and parameters, and
    /// what functions see. Components that it does without make no difference to the function's results either.
    pub(crate) fn fits(&self, body: &Body) -> bool {
        let fields = self.fields(body);
        let types = fields.iter().map(|field| Some(field.as_ref()?.ty));
        types.eq(body.mapping.function.params[..fields.len()].iter().map(|&ty| Some(ty)))
            && body.mapping.reads[fields.len()..].iter().all(|source| match source {
                Source::Record(_) | Source::Parameter(_) => true,
                Source::Prev(_) | Source::Next(_) | Source::First | Source::Last | Source::Index => self.sees,
                _ => false,
            })
    }

    /// Where each value that a body carries lies in the state; none of another state's.
    fn fields(&self, body: &Body) -> Vec<Option<Field>> {
        let component = |place: usize| match (&body.ends, body.mapping.reads[place], body.carried.get(place)) {
            (Some(_), Source::State(component), _) | (None, _, Some(&(0, component))) => Some(component),
            _ => None,
        };
        (0..body.state_len()).map(|place| self.state.fields.get(component(place)? as usize).copied()).collect()
    }
}

/// Components, each with where it lies in a function's state.
type Placed = Vec<(Field, Value)>;

impl Loop<'_> {
    /// Elements by the function. Gives how many are left.
    pub(super) fn by_native(
        &self,
        b: &mut FunctionBuilder<'_>,
        native: &Native,
        left: Value,
        progress: Progress,
    ) -> (Value, Progress) {
        let (left, place, state) = self.line_by_native(b, native, left, &progress);
        let states = self.loaded(b, native, state);
        (left, Progress { places: vec![Place::at(place)], states, ..progress })
    }

    /// The same, and those that are left by the body. Where nobody asks for the states behind them, they stay where the function left
    /// them.
    pub(super) fn all_by_native(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        native: &Native,
        left: Value,
        progress: Progress,
    ) -> Result<(), CodegenError> {
        let (left, place, state) = self.line_by_native(b, native, left, &progress);
        let (others, exit) = (b.create_block(), b.create_block());
        b.ins().brif(left, others, &[], exit, &[]);
        b.switch_to_block(others);
        let states = self.loaded(b, native, state);
        self.all_rounds(b, env, Round::Any, left, Progress { places: vec![Place::at(place)], states, ..progress })?;
        b.ins().jump(exit, &[]);
        b.switch_to_block(exit);
        Ok(())
    }

    /// Gives how many elements the function left, the record of the first of them, and where the state is.
    fn line_by_native(
        &self,
        b: &mut FunctionBuilder<'_>,
        native: &Native,
        left: Value,
        progress: &Progress,
    ) -> (Value, Value, Value) {
        let place = progress.places[0].base;
        let function = if self.kernel.outputs.is_empty() { native.reduce } else { Some(native.pass) };
        let function = function.expect("a kernel that writes nothing has a function that does not");
        let all = |start: &Vec<Constant>| {
            let values = start.iter().map(|&value| constant(b, value));
            native.state.fields.iter().copied().zip(values).collect()
        };
        let start = native.start.as_ref().map(all);
        let function = (function as *const u8, &[][..]);
        let (taken, state) = self.called(b, native, function, (left, place), (&progress.states, start));
        (b.ins().isub(left, taken), b.ins().iadd(place, taken), state)
    }

    /// Rows by the function, from these states, up to a row that it left: that is taken to its end. Gives how many are left, and the
    /// first record.
    pub(super) fn rows_by_native(
        &self,
        b: &mut FunctionBuilder<'_>,
        env: &Env<'_>,
        native: &Native,
        ((rows, place), pitch): ((Value, Value), Value),
        before: &[Value],
    ) -> Result<(Value, Value), CodegenError> {
        let Some(function) = native.rows else { return Ok((rows, place)) };
        let (len, more) = (self.len, [pitch, self.len]);
        let start = Some(self.fields(native).zip(before.iter().copied()).collect());
        let (taken, state) = self.called(b, native, (function as *const u8, &more), (rows, place), (before, start));
        let (left, others) = (b.create_block(), b.create_block());
        let behind = [(); 2].map(|()| b.append_block_param(others, types::I64));
        let all = b.ins().imul(rows, len);
        let is_done = b.ins().icmp(IntCC::Equal, taken, all);
        let none = b.ins().iconst(types::I64, 0);
        b.ins().brif(is_done, others, &[none, place].map(BlockArg::Value), left, &[]);

        b.switch_to_block(left);
        let states = self.loaded(b, native, state);
        let (done, within) = (b.ins().udiv(taken, len), b.ins().urem(taken, len));
        let before = b.ins().imul(done, pitch);
        let row = b.ins().iadd(place, before);
        let first = b.ins().iadd(row, within);
        let progress = Progress { places: vec![Place::at(first)], round: None, states, ahead: Vec::new() };
        let within = b.ins().isub(len, within);
        self.all_rounds(b, env, Round::Any, within, progress)?;
        let done = b.ins().iadd_imm_u(done, 1);
        let (rows, place) = (b.ins().isub(rows, done), b.ins().iadd(row, pitch));
        b.ins().jump(others, &[rows, place].map(BlockArg::Value));
        b.switch_to_block(others);
        Ok(behind.into())
    }

    /// Calls a function for so many elements or rows from this record on, with `more` arguments behind those that all have: from
    /// these states, and what sequences start from. Gives how many elements it took, and where the state behind them is.
    fn called(
        &self,
        b: &mut FunctionBuilder<'_>,
        native: &Native,
        (function, more): (*const u8, &[Value]),
        (count, place): (Value, Value),
        (before, start): (&[Value], Option<Placed>),
    ) -> (Value, Value) {
        let size = native.state.size;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 2 * size.max(1) + 16, 4);
        let slot = b.create_sized_stack_slot(slot);
        let state = b.ins().stack_addr(types::I64, slot, 0);
        let before: Placed = self.fields(native).zip(before.iter().copied()).collect();
        for (values, offset) in [Some(before), start].into_iter().flatten().zip([0, size]) {
            // A component that the body does without may have any value, but it has to be one.
            for field in native.state.fields.iter().filter(|&field| values.iter().all(|(carried, _)| carried != field))
            {
                let zero = constant(b, field.ty.zero());
                memory::store(b, field.ty, zero, state, (offset + field.offset) as i32);
            }
            for (field, value) in values {
                memory::store(b, field.ty, value, state, (offset + field.offset) as i32);
            }
        }
        if native.sees {
            for (value, offset) in [(place, 0), (self.data.total(), 8)] {
                b.ins().store(memory::data_flags(), value, state, (2 * size + offset) as i32);
            }
        }
        let mut record = |base: Value, column: &Layout| {
            let bytes = b.ins().imul_imm_s(place, i64::from(column.size));
            b.ins().iadd(base, bytes)
        };
        let bases = self.data.bases();
        let outputs = bases.outputs.iter().zip(self.kernel.outputs);
        let output = outputs.map(|(&base, column)| record(base, column)).next().unwrap_or(place);
        let inputs = self.kernel.inputs.iter().zip(bases.inputs);
        let inputs = inputs
            .map(|(column, base)| record(base.expect("a kernel with a function has all columns"), column))
            .chain([self.data.parameters().unwrap_or(place)]);
        let mut inputs: Vec<Value> = inputs.collect();
        if are_in_table(self.kernel.inputs.len()) {
            inputs = vec![in_table(b, &inputs)];
        }
        // What is behind them is not looked at.
        inputs.resize(SHORT_REGISTERS, place);
        let arguments: Vec<Value> =
            [count, output].into_iter().chain(inputs).chain([state]).chain(more.iter().copied()).collect();

        let mut signature = Signature::new(b.func.signature.call_conv);
        signature.params = vec![AbiParam::new(types::I64); arguments.len()];
        signature.returns = vec![AbiParam::new(types::I64)];
        let signature = b.import_signature(signature);
        let address = b.ins().iconst(types::I64, function.expose_provenance() as i64);
        let call = b.ins().call_indirect(signature, address, &arguments);
        (b.inst_results(call)[0], state)
    }

    /// Where each carried value lies in a function's state.
    fn fields(&self, native: &Native) -> impl Iterator<Item = Field> {
        native.fields(self.kernel.body).into_iter().map(|field| field.expect("the function fits the body"))
    }

    /// The carried values of the state that lies there.
    fn loaded(&self, b: &mut FunctionBuilder<'_>, native: &Native, state: Value) -> Vec<Value> {
        let flags = memory::data_flags();
        let load = |field: Field| memory::load(b, flags, field.ty, field.ty.size(), state, field.offset as i32);
        self.fields(native).map(load).collect()
    }
}

/// Where a table of these addresses is.
fn in_table(b: &mut FunctionBuilder<'_>, addresses: &[Value]) -> Value {
    let word = types::I64.bytes();
    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, word * addresses.len() as u32, 3);
    let slot = b.create_sized_stack_slot(slot);
    for (place, &address) in addresses.iter().enumerate() {
        b.ins().stack_store(types::I64, address, slot, (place as u32 * word) as i32);
    }
    b.ins().stack_addr(types::I64, slot, 0)
}
