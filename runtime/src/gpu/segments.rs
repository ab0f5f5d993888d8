//! Columns that a call needs besides those it has, made on the device in the stream of the call.
//!
//! - A column of flags, by a scan over the keys, or by a kernel that looks at the offsets. Either
//!   is one pass over them, and the flags are one byte written and read for each record.
//! - If segments have their own starts, a column of these: a scan over the flags numbers the
//!   records' segments, and a kernel looks up the state of each. For each record four bytes are
//!   written and read, and then a state.
//! - Copies of columns whose records are not one after the other.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use monoscan_codegen::nvptx::{
    FLAGS_OF_THREAD, HelperKernel, OffsetsArguments, RowFlagsArguments, SpacingArguments, StartsArguments,
};
use monoscan_ir::{
    FunctionBuilder, Layout, Mapping, Mode, Opcode, Output, Program, Source, Stage, Type, Value, Verified, verify,
};

use super::compiled::{Compiled, Shared};
use super::numbers::Numbering;
use super::on_gpu::{HelperKernels, OnGpu, SegmentColumns};
use super::pending::Pending;
use super::spaced::Respacing;
use super::task::Task;
use crate::backend::Settings;
use crate::call::{Call, Shape};
use crate::column::{Column, ColumnMut, layout_of};
use crate::cuda::Stream;
use crate::error::Error;
use crate::parameters::Parameters;

/// The layout of keys, and whether the flagged records are the last ones.
type KeyForm = (Layout, bool);

/// The makers of the columns, each once it was needed.
#[derive(Default)]
pub(super) struct Marks {
    by_key: Mutex<Vec<(KeyForm, Arc<Shared>)>>,
    numbers: [OnceLock<Arc<Shared>>; Numbering::COUNT],
}

impl HelperKernels for Compiled {
    fn mark(&self, call: &Call<'_>, to: &SegmentColumns, stream: &Stream) -> Result<Option<Pending>, Error> {
        match call.shape {
            Shape::KeyColumn(keys) => self.mark_keys(keys, to, call.reversed, stream).map(Some),
            Shape::OffsetColumn(offsets) => self.mark_offsets(offsets, to, call.reversed, stream).map(|()| None),
            _ => Ok(None),
        }
    }

    fn mark_rows(&self, records: usize, to: &SegmentColumns, stream: &Stream) -> Result<(), Error> {
        let threads = to.len.div_ceil(FLAGS_OF_THREAD);
        let arguments = RowFlagsArguments { threads: threads as u64, records: records as u64, flags: to.flags };
        // SAFETY: flags of so many threads have space there.
        unsafe { self.launch_helper(HelperKernel::RowFlags, threads, bytemuck::bytes_of(&arguments), stream) }
    }

    fn number(&self, numbering: Numbering, columns: &SegmentColumns, stream: &Stream) -> Result<Pending, Error> {
        let numbers = self.numbers(numbering)?;
        let SegmentColumns { len, flags, numbers: to } = *columns;
        let device = stream.device().into();
        let settings = Settings { parameters: &Parameters::default(), checked: false };
        let mode = if numbering == Numbering::Ends { Mode::Exclusive } else { Mode::Inclusive };
        let call = Call { mode, totals: numbering != Numbering::Marks, ..Call::default() };
        let program = (&**numbers.program, device);
        // SAFETY: flags and numbers of so many records have space there, which nothing but this stream uses.
        let (flags, to) = unsafe {
            let flags = Column::on_device_raw(device, flags, len, layout_of(Type::Bool));
            (flags, ColumnMut::on_device_raw(device, to, len, layout_of(Type::U32)))
        };
        let task = match numbering {
            Numbering::Marks => Task::in_place(program, (&call, settings), &[to]),
            _ => Task::new(program, (&call, settings), &[flags], &[to]),
        };
        task?.submit(&numbers, stream)
    }

    fn look_up_starts(
        &self,
        columns: &SegmentColumns,
        (states, count, bytes): (u64, usize, usize),
        starts: u64,
        stream: &Stream,
    ) -> Result<(), Error> {
        let (records, count, bytes) = (columns.len as u64, count as u64, bytes as u64);
        let arguments = StartsArguments { records, numbers: columns.numbers, states, count, bytes, starts };
        // SAFETY: the columns are where they say.
        unsafe { self.launch_helper(HelperKernel::Starts, columns.len, bytemuck::bytes_of(&arguments), stream) }
    }

    fn respace(&self, copy: &Respacing, stream: &Stream) -> Result<(), Error> {
        let Respacing { records, bytes, from, to } = *copy;
        let arguments = SpacingArguments {
            records: records as u64,
            bytes: bytes as u64,
            from: from.first,
            from_spacing: from.spacing as i64,
            to: to.first,
            to_spacing: to.spacing as i64,
        };
        // SAFETY: records are where the columns say, and as many have space in the copy.
        unsafe { self.launch_helper(HelperKernel::Spacing, records, bytemuck::bytes_of(&arguments), stream) }
    }
}

impl Compiled {
    fn numbers(&self, numbering: Numbering) -> Result<OnGpu, Error> {
        self.beside(&self.shared.marks.numbers[numbering as usize], || Ok(numbering.program()))
    }

    fn mark_keys(
        &self,
        keys: &Column<'_>,
        to: &SegmentColumns,
        reversed: bool,
        stream: &Stream,
    ) -> Result<Pending, Error> {
        let marks = self.marks_of_keys(&keys.layout, reversed)?;
        // SAFETY: so many flags have space there, which nothing but this stream uses.
        let flags =
            unsafe { ColumnMut::on_device_raw(stream.device().into(), to.flags, to.len, layout_of(Type::Bool)) };
        let settings = Settings { parameters: &Parameters::default(), checked: false };
        let call = Call::default();
        marks.submit_call((&call, settings), std::slice::from_ref(keys), &[flags], stream)
    }

    fn marks_of_keys(&self, keys: &Layout, ends: bool) -> Result<OnGpu, Error> {
        let made = &self.shared.marks.by_key;
        let lock = || made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |key: &(Layout, bool)| key.0 == *keys && key.1 == ends;
        if let Some((_, marks)) = lock().iter().find(|(key, _)| is_same(key)) {
            return Ok(marks.on_gpu(self.limit));
        }
        let marks = self.shared.beside(key_changes(keys, ends)?)?;
        lock().push(((keys.clone(), ends), marks.clone()));
        Ok(marks.on_gpu(self.limit))
    }

    fn mark_offsets(
        &self,
        offsets: &Column<'_>,
        to: &SegmentColumns,
        reversed: bool,
        stream: &Stream,
    ) -> Result<(), Error> {
        let Some(segments) = offsets.len.checked_sub(1) else { return Ok(()) };
        let arguments = OffsetsArguments {
            segments: segments as u64,
            records: to.len as u64,
            offsets: offsets.address(),
            flags: to.flags,
            numbers: to.numbers,
            reversed: reversed.into(),
            wide: (offsets.layout.size == 8).into(),
        };
        // SAFETY: offsets, flags and numbers are where they say.
        unsafe { self.launch_helper(HelperKernel::Offsets, segments, bytemuck::bytes_of(&arguments), stream) }
    }
}

/// The program that flags records whose key is another than that of the record before, or, for `ends`, of the next one.
/// Keys are equal if all their components are: of floats NaN differs from itself.
fn key_changes(keys: &Layout, ends: bool) -> Result<Verified<Program>, Error> {
    let types: Vec<Type> = keys.types().collect();
    let components = 0..types.len() as u32;
    let beside: fn(u32) -> Source = if ends { Source::Next } else { Source::Prev };
    let own = components.clone().map(Source::Record);
    let reads = own.chain(components.map(beside)).chain([if ends { Source::Last } else { Source::First }]).collect();
    let mut b = FunctionBuilder::new();
    let (own, others, is_end) = (b.params(&types), b.params(&types), b.param(Type::Bool));
    let mut changes = is_end;
    for (&own, &other) in own.iter().zip(&others) {
        for (own, other) in scalars(&mut b, own, other) {
            let differs = b.binary(Opcode::Ne, own, other);
            changes = b.binary(Opcode::Or, changes, differs);
        }
    }
    let project = Mapping { reads, function: b.finish(&[changes]) };
    Ok(verify(Program {
        name: "keys".into(),
        tables: Vec::new(),
        inputs: vec![keys.clone()],
        parameters: Vec::new(),
        stages: vec![Stage::unread()],
        output: Output { filter: None, project, columns: vec![Layout::of(Type::Bool)] },
        sequential: None,
    })?)
}

/// Two values of a type as pairs of scalars.
fn scalars(b: &mut FunctionBuilder, own: Value, other: Value) -> Vec<(Value, Value)> {
    match b.type_of(own) {
        Type::Bytes(lanes) => (0..lanes.get() as u8).map(|lane| (b.lane(own, lane), b.lane(other, lane))).collect(),
        _ => vec![(own, other)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monoscan_ir::interp::{self, Request};
    use monoscan_ir::{Constant, Lanes};

    #[test]
    fn keys_change_where_any_component_does() {
        let two = Type::Bytes(Lanes::new(2).unwrap());
        let keys = Layout::packed(&[Type::U8, Type::F32, two]);
        let records =
            [(1u8, 1f32, [0, 0]), (1, 1.0, [0, 0]), (1, 1.0, [0, 1]), (2, 1.0, [0, 1]), (2, f32::NAN, [0, 1])];
        let again = [(2u8, f32::NAN, [0, 1]), (2, 0.0, [0, 1]), (2, -0.0, [0, 1])];
        let components = |&(key, float, lanes): &(u8, f32, [u8; 2])| {
            let lanes = Constant::vector(&lanes);
            keys.to_bytes(&[Constant::from(key), Constant::from(float), lanes])
        };
        let bytes: Vec<u8> = records.iter().chain(&again).flat_map(components).collect();
        let flags = |ends| {
            let program = key_changes(&keys, ends).unwrap();
            interp::run(&program, &[&bytes], &Request::default()).unwrap().outputs.remove(0)
        };
        assert_eq!(flags(false), [1, 0, 1, 1, 1, 1, 1, 0]);
        assert_eq!(flags(true), [0, 1, 1, 1, 1, 1, 0, 1]);
    }
}
