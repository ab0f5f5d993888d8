//! Runs kernels over byte columns, as the runtime would, for comparing them with the interpreter.

#![allow(dead_code, reason = "not every test file uses all of it")]

use std::sync::Arc;

use monoscan_codegen::cpu::{Access, Compiled, HostIsa, Kernel, ShortInputs, TileArgs, Vector};
use monoscan_ir::facts::LengthOnly;
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{Constant, Field, Mode, Program, Verified};
use scan_kit::Random;

/// This machine with all its extensions, and with none.
pub(crate) fn isas() -> [Arc<HostIsa>; 2] {
    [HostIsa::native().unwrap(), HostIsa::baseline().unwrap()]
}

/// State slots of a program.
pub(crate) struct Slots<'a> {
    compiled: &'a Compiled,
    memory: Vec<u128>,
}

impl Slots<'_> {
    pub(crate) fn new(compiled: &Compiled, count: usize) -> Slots<'_> {
        Slots { compiled, memory: vec![0; count * compiled.state_stride() / 16] }
    }

    pub(crate) fn at(&mut self, slot: usize) -> *mut u8 {
        let stride = self.compiled.state_stride();
        self.bytes()[slot * stride..].as_mut_ptr()
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = self.memory.len() * 16;
        // SAFETY: the vector's memory, as bytes.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), len) }
    }

    pub(crate) fn get(&mut self, slot: usize, component: usize) -> Constant {
        let (place, ty) = (self.place(slot, component), self.field(component).ty);
        Constant::from_bytes(ty, &self.bytes()[place..])
    }

    pub(crate) fn set(&mut self, slot: usize, component: usize, value: Constant) {
        let place = self.place(slot, component);
        let bytes = value.to_bytes();
        self.bytes()[place..place + bytes.len()].copy_from_slice(&bytes);
    }

    pub(crate) fn set_all(&mut self, slot: usize, state: &[Constant]) {
        for (component, &value) in state.iter().enumerate() {
            self.set(slot, component, value);
        }
    }

    fn place(&self, slot: usize, component: usize) -> usize {
        slot * self.compiled.state_stride() + self.field(component).offset as usize
    }

    /// A component of the first stage.
    fn field(&self, component: usize) -> Field {
        self.compiled.state_layout().field(0, component as u32).unwrap()
    }
}

/// Columns of one run.
pub(crate) struct Columns {
    inputs: Vec<*const u8>,
    outputs: Vec<*mut u8>,
    pub(crate) total: usize,
}

impl Columns {
    /// The columns must stay where they are.
    pub(crate) fn new(inputs: &[&[u8]], outputs: &mut [Vec<u8>], total: usize) -> Columns {
        Columns {
            inputs: inputs.iter().map(|column| column.as_ptr()).collect(),
            outputs: outputs.iter_mut().map(|column| column.as_mut_ptr()).collect(),
            total,
        }
    }

    pub(crate) fn args(&self, start: usize, len: usize, states: *mut u8) -> TileArgs<'_> {
        TileArgs::line(&self.inputs, &self.outputs, (start as u64, len as u64, self.total as u64), states)
    }
}

/// Zeroed output columns of a program.
pub(crate) fn empty_outputs(program: &Program, total: usize) -> Vec<Vec<u8>> {
    program.output.columns.iter().map(|layout| vec![0; layout.size as usize * total]).collect()
}

/// All in one block, by `scan_one`; and by `short`, if there is that, which must agree bit by bit.
pub(crate) fn run_directly(compiled: &Compiled, program: &Program, inputs: &[&[u8]], total: usize) -> Vec<Vec<u8>> {
    let mut outputs = empty_outputs(program, total);
    let columns = Columns::new(inputs, &mut outputs, total);
    let mut slots = Slots::new(compiled, 1);
    slots.set_all(0, &program.stages[0].identity);
    let args = columns.args(0, total, slots.at(0));
    // SAFETY: columns have `total` records each, and the identity lies in the ranges.
    unsafe { compiled.scan_one(&args) };
    if let Some(short) = compiled.short() {
        let mut again = empty_outputs(program, total);
        let columns = ShortInputs::of(inputs.iter().map(|column| column.as_ptr()), std::ptr::null());
        let [a, b, c, d] = columns.registers();
        // SAFETY: as above; there is one output column.
        unsafe { short(total, again[0].as_mut_ptr(), a, b, c, d) };
        assert_eq!(again, outputs, "{} n={total} by `short`", program.name);
    }
    let again = run_streaming(compiled, program, inputs, total);
    assert!(again.is_none_or(|again| again == outputs), "{} n={total} by streaming stores", program.name);
    outputs
}

/// The records that a program keeps, in one block, by `scan_one` with space for so many records; and by `short`, if there is that and space for
/// all, which must agree. No byte beyond that space is written.
pub(crate) fn run_kept(
    compiled: &Compiled,
    program: &Program,
    inputs: &[&[u8]],
    (total, capacity): (usize, usize),
) -> Vec<Vec<u8>> {
    let rank = compiled.state_layout().field(compiled.state_layout().stages.len() as u32 - 1, 0).unwrap();
    let mut outputs = empty_outputs(program, capacity + 16);
    outputs.iter_mut().for_each(|column| column.fill(0xaa));
    let columns = Columns::new(inputs, &mut outputs, total);
    let mut slots = Slots::new(compiled, 1);
    slots.set_all(0, &program.stages[0].identity);
    let mut sink = [0u128; 8];
    let args = columns.args(0, total, slots.at(0));
    let args = TileArgs { sink: sink.as_mut_ptr().cast(), capacity: capacity as u64, ..args };
    // SAFETY: inputs have `total` records each, outputs space for `capacity` and for what is kept, and the identity lies in the ranges.
    unsafe { compiled.scan_one(&args) };
    // SAFETY: the slot has the rank there.
    let kept = unsafe { slots.at(0).add(rank.offset as usize).cast::<u64>().read_unaligned() } as usize;
    for (column, layout) in outputs.iter_mut().zip(&program.output.columns) {
        let size = layout.size as usize;
        assert!(
            column[capacity * size..].iter().all(|&byte| byte == 0xaa),
            "{} n={total}: beyond {capacity}",
            program.name
        );
        column.truncate(kept * size);
    }
    if let Some(short) = compiled.short().filter(|_| capacity >= total) {
        let mut again = empty_outputs(program, total);
        let columns = ShortInputs::of(inputs.iter().map(|column| column.as_ptr()), std::ptr::null());
        let [a, b, c, d] = columns.registers();
        // SAFETY: as above; there is one output column.
        let count = unsafe { short(total, again[0].as_mut_ptr(), a, b, c, d) };
        assert_eq!(count, kept, "{} n={total} by `short`", program.name);
        again[0].truncate(outputs[0].len());
        assert_eq!(again, outputs, "{} n={total} by `short`", program.name);
    }
    outputs
}

/// All in one block, by the streaming form of `scan_one`, if there is one and columns are aligned.
pub(crate) fn run_streaming(
    compiled: &Compiled,
    program: &Program,
    inputs: &[&[u8]],
    total: usize,
) -> Option<Vec<Vec<u8>>> {
    let scan = compiled.streaming(Kernel::ScanOne)?;
    let mut outputs = empty_outputs(program, total);
    if !outputs.iter().all(|column| column.as_ptr().addr().is_multiple_of(16)) {
        return None;
    }
    let columns = Columns::new(inputs, &mut outputs, total);
    let mut slots = Slots::new(compiled, 1);
    slots.set_all(0, &program.stages[0].identity);
    // SAFETY: columns have `total` records each, the identity lies in the ranges, and outputs are aligned. No other thread looks.
    unsafe { scan(&columns.args(0, total, slots.at(0))) };
    Some(outputs)
}

/// One tile of W blocks: reduced, folded, replayed; what is left over by `scan_one`.
pub(crate) fn run_tile(compiled: &Compiled, program: &Program, inputs: &[&[u8]], total: usize) -> Vec<Vec<u8>> {
    let interleave = compiled.interleave() as usize;
    let block = total / interleave;
    let mut outputs = empty_outputs(program, total);
    let columns = Columns::new(inputs, &mut outputs, total);
    let mut slots = Slots::new(compiled, 2 * interleave + 1);
    let args = columns.args(0, block, slots.at(0));
    // SAFETY: columns have `total` records each; slots hold states of the program, all made by it.
    unsafe { compiled.reduce(0, &args) };
    let known = LengthOnly::of(&program.stages[0], &program.tables).after(block as u64);
    for own in 0..interleave {
        for (component, value) in known.iter().enumerate() {
            if let Some(value) = value {
                slots.set(own, component, *value);
            }
        }
    }
    slots.set_all(interleave, &program.stages[0].identity);
    for own in 0..interleave {
        let (left, right, out) = (slots.at(interleave + own), slots.at(own), slots.at(interleave + own + 1));
        // SAFETY: as above.
        unsafe { compiled.carry_update(0, left, right, out) };
    }
    let args = columns.args(0, block, slots.at(interleave));
    // SAFETY: as above.
    unsafe { compiled.scan(&args) };
    let args = columns.args(interleave * block, total - interleave * block, slots.at(2 * interleave - 1));
    // SAFETY: as above.
    unsafe { compiled.scan_one(&args) };
    outputs
}

/// Compiles for a machine.
pub(crate) fn compile(program: &Verified<Program>, mode: Mode, interleave: u32, isa: &Arc<HostIsa>) -> Compiled {
    let program = lower(program, Form { mode, ..Form::default() });
    Compiled::for_isa(&program, Access::Line, interleave, isa).unwrap()
}

/// Compiles for this machine, in vectors where possible.
pub(crate) fn compile_lanes(program: &Verified<Program>, mode: Mode, interleave: u32) -> Compiled {
    let program = lower(program, Form { mode, ..Form::default() });
    Compiled::in_vectors(&program, Access::Line, interleave, Vector::ALL, &isas()[0]).unwrap()
}

/// Checks outputs component by component: the same bits, any NaN for a NaN.
pub(crate) fn assert_same(program: &Program, found: &[Vec<u8>], expected: &[Vec<u8>], what: &str) {
    for (column, layout) in program.output.columns.iter().enumerate() {
        let size = layout.size as usize;
        let records = found[column].chunks_exact(size).zip(expected[column].chunks_exact(size));
        for (i, (found, expected)) in records.enumerate() {
            for field in &layout.fields {
                let at = field.offset as usize;
                let (found, expected) =
                    (Constant::from_bytes(field.ty, &found[at..]), Constant::from_bytes(field.ty, &expected[at..]));
                assert!(
                    found.same(expected) && (field.ty != monoscan_ir::Type::Bool || found_is_bit(found)),
                    "{what}: column {column}, record {i}, offset {at}: {found:?} instead of {expected:?}"
                );
            }
        }
    }
}

fn found_is_bit(value: Constant) -> bool {
    value.bits() <= 1
}

/// Bytes without a pattern that matters; floats stay moderate, since they are made of small integers.
pub(crate) fn input(program: &Program, total: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    let column = |layout: &monoscan_ir::Layout| {
        let mut bytes: Vec<u8> = (0..layout.size as usize * total).map(|_| random.bits() as u8).collect();
        for record in bytes.chunks_exact_mut(layout.size as usize) {
            for field in &layout.fields {
                if field.ty.is_float() {
                    let value = field.ty.of_i64(random.below(5) - 2).to_bytes();
                    record[field.offset as usize..][..value.len()].copy_from_slice(&value);
                } else if field.ty == monoscan_ir::Type::Bool {
                    // Any byte but zero is true.
                    record[field.offset as usize] = if random.chance(4) { random.bits() as u8 } else { 0 };
                }
            }
        }
        bytes
    };
    program.inputs.iter().map(column).collect()
}
