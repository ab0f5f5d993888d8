//! Scans over host memory: carried to the device, scanned there, carried back.

use monoscan_ir::{Constant, Layout, Mode, Primitive};

use super::call::{DeviceCall, DeviceShape};
use super::column::{DeviceColumn, DeviceColumnMut};
use super::ends;
use super::pending::Outcome;
use super::pieces::HostTask;
use super::scan::GpuScan;
use crate::call::{Call, Shape};
use crate::checks;
use crate::column::{self, Column, ColumnMut};
use crate::cuda::{CudaError, DeviceBuffer, Stream};
use crate::engine::{FlagColumn, Heads};
use crate::error::Error;
use crate::scans::{check_covers, collect};

impl GpuScan {
    /// For each i the output of the states after element i, of a program that writes one column of scalars.
    ///
    /// # Errors
    /// If the program's output or a column is of another type or length, or if there is no memory; or the device fails.
    pub fn inclusive<T: Primitive>(&self, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        self.collect(&Call::default(), inputs)
    }

    /// For each i the output of the states before element i.
    ///
    /// # Errors
    /// As [`inclusive`](GpuScan::inclusive).
    pub fn exclusive<T: Primitive>(&self, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        self.collect(&Call { mode: Mode::Exclusive, ..Call::default() }, inputs)
    }

    /// [`run`](GpuScan::run) into a new vector, for a program that writes one column of scalars: all records, or those
    /// that the program keeps.
    ///
    /// # Errors
    /// As [`run`](GpuScan::run); also if there is no memory, or for rows with gaps, which would leave records
    /// unwritten.
    pub fn collect<T: Primitive>(&self, call: &Call<'_>, inputs: &[Column<'_>]) -> Result<Vec<T>, Error> {
        let len = inputs.first().map_or(0, Column::len);
        check_covers(call, len)?;
        // SAFETY: the layout is that of `T`, whose every value the program writes is valid, and every record is
        // covered.
        unsafe { collect(len, &Layout::of(T::TYPE), |output| self.run(call, inputs, &mut [output])) }
    }

    /// Runs a call, and gives how many records were written: all of its runs, or those that the program keeps.
    ///
    /// # Errors
    /// If a column, the initial state or the shape does not fit the program or the other columns, or if the outputs have no
    /// room; then nothing was written. [`Error::Cuda`] and [`Error::Nvptx`] if the device or the compiler fails.
    pub fn run(&self, call: &Call<'_>, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]) -> Result<usize, Error> {
        self.write(call, None, inputs, outputs).map(|outcome| outcome.written)
    }

    /// As [`run`](GpuScan::run), from the state `carry`, which becomes the state after the last record.
    ///
    /// # Errors
    /// As [`run`](GpuScan::run), and for calls that cannot be resumed: rows, offsets, and reversed scans of flagged
    /// segments.
    pub fn resume(
        &self,
        call: &Call<'_>,
        carry: &mut [Constant],
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
    ) -> Result<usize, Error> {
        let outcome = self.write(call, Some(carry), inputs, outputs)?;
        carry.copy_from_slice(&outcome.totals);
        Ok(outcome.written)
    }

    /// Runs a call whose outputs replace its inputs.
    ///
    /// # Errors
    /// As [`run`](GpuScan::run); also if the program's output columns are not laid out as its input columns, if it
    /// reads a neighbouring record, or if it keeps records.
    pub fn run_in_place(&self, call: &Call<'_>, columns: &mut [ColumnMut<'_>]) -> Result<(), Error> {
        self.replace(call, None, columns).map(drop)
    }

    /// As [`run_in_place`](GpuScan::run_in_place), from a carry as in [`resume`](GpuScan::resume).
    ///
    /// # Errors
    /// As both.
    pub fn resume_in_place(
        &self,
        call: &Call<'_>,
        carry: &mut [Constant],
        columns: &mut [ColumnMut<'_>],
    ) -> Result<(), Error> {
        let outcome = self.replace(call, Some(carry), columns)?;
        carry.copy_from_slice(&outcome.totals);
        Ok(())
    }

    /// The totals of all runs, as [`DynScan::reduce`](crate::DynScan::reduce) gives them.
    ///
    /// # Errors
    /// As [`run`](GpuScan::run).
    pub fn reduce(&self, call: &Call<'_>, inputs: &[Column<'_>]) -> Result<Vec<Constant>, Error> {
        let program = self.program();
        let len = column::check_inputs(&program.inputs, inputs)?;
        checks::call(program, call, None, len)?;
        if let Shape::Offsets(offsets) = call.shape {
            let at_ends = self.at_ends()?;
            let run = |call: &Call<'_>, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]| {
                at_ends.run(call, inputs, outputs)
            };
            return ends::totals(at_ends.program(), call, offsets, inputs, run);
        }
        let totals = self.go(HostTask { call, carry: None, inputs, outputs: None, len })?.totals;
        let all = program.first_carry().len();
        Ok(totals.chunks_exact(all).flat_map(|total| &total[..program.state_len()]).copied().collect())
    }

    fn write(
        &self,
        call: &Call<'_>,
        carry: Option<&[Constant]>,
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
    ) -> Result<Outcome, Error> {
        let program = self.program();
        let len = checks::columns(program, inputs, outputs)?;
        checks::call(program, call, carry, len)?;
        self.go(HostTask { call, carry, inputs, outputs: Some(outputs), len })
    }

    fn replace(
        &self,
        call: &Call<'_>,
        carry: Option<&[Constant]>,
        columns: &mut [ColumnMut<'_>],
    ) -> Result<Outcome, Error> {
        let program = self.program();
        let len = checks::in_place(program, columns)?;
        checks::call(program, call, carry, len)?;
        let inputs = columns.iter().zip(&program.inputs);
        // SAFETY: the same memory is borrowed for writing. What is read of a piece, or of the whole, is copied before
        // anything is written there, and nobody makes references to it.
        let inputs = inputs.map(|(column, layout)| unsafe { Column::from_raw(column.base, column.len, layout) });
        let inputs: Vec<Column<'_>> = inputs.collect();
        self.go(HostTask { call, carry, inputs: &inputs, outputs: Some(columns), len })
    }

    fn go(&self, task: HostTask<'_, '_>) -> Result<Outcome, Error> {
        task.run_in_pieces(self).unwrap_or_else(|task| self.run_whole(task))
    }

    /// Runs what cannot be cut: all of it is carried there, scanned, and carried back.
    fn run_whole(&self, task: HostTask<'_, '_>) -> Result<Outcome, Error> {
        let HostTask { call, carry, inputs, outputs, len } = task;
        let program = self.program();
        let stream = Stream::new(self.device())?;
        let buffers = self.upload(inputs, &stream)?;
        let flags = self.flags(call, len, &stream)?;
        let device_inputs = columns(&buffers, &program.inputs)?;
        let device_call = device_call(call, carry, flags.as_ref());
        let Some(outputs) = outputs else {
            return self.reduce_call(&device_call, &device_inputs, &stream)?.wait();
        };
        let mut results = Vec::new();
        for output in &mut *outputs {
            let mut buffer = DeviceBuffer::<u8>::uninitialized(self.device(), bytes(output.len, &output.layout))?;
            // What is not written, padding and records between rows, comes back as it was.
            if program.output.keep.is_none() {
                // SAFETY: the column borrows so many bytes; they stay borrowed until the stream was waited for.
                unsafe { buffer.as_slice_mut().copy_from_host(&stream, output.base) }?;
            }
            results.push(buffer);
        }
        let layouts = results.iter_mut().zip(&program.output.columns);
        let device_outputs: Result<Vec<_>, Error> =
            layouts.map(|(buffer, layout)| DeviceColumnMut::from_bytes(buffer, layout)).collect();
        let outcome = self.call(&device_call, &device_inputs, &mut device_outputs?, &stream)?.wait()?;
        for (buffer, output) in results.iter().zip(outputs) {
            let records = if program.output.keep.is_some() { outcome.written } else { output.len };
            let written = buffer.slice(..bytes(records, &output.layout))?;
            // SAFETY: the column borrows room for so many records, and the stream is waited for below.
            unsafe { written.copy_to_host(&stream, output.base) }?;
        }
        stream.synchronize()?;
        Ok(outcome)
    }

    fn upload(&self, inputs: &[Column<'_>], stream: &Stream) -> Result<Vec<DeviceBuffer<u8>>, CudaError> {
        let upload = |input: &Column<'_>| {
            let mut buffer = DeviceBuffer::uninitialized(self.device(), bytes(input.len, &input.layout))?;
            // SAFETY: the column borrows so many bytes; whoever calls this waits for the stream.
            unsafe { buffer.as_slice_mut().copy_from_host(stream, input.base) }?;
            Ok(buffer)
        };
        inputs.iter().map(upload).collect()
    }

    /// Flags in the order of memory: where a segment begins, whatever the direction.
    fn flags(&self, call: &Call<'_>, len: usize, stream: &Stream) -> Result<Option<DeviceBuffer<u8>>, CudaError> {
        let heads = match call.shape {
            Shape::Heads(flags) => Heads::Flags(flags),
            Shape::Offsets(offsets) => Heads::Offsets(offsets),
            Shape::Line | Shape::Rows(_) => return Ok(None),
        };
        let mut flags = Vec::new();
        if len > 0 {
            FlagColumn { heads, reversed: false, len }.make(0..len, &mut flags);
        }
        let flags: Vec<u8> = flags.into_iter().map(u8::from).collect();
        DeviceBuffer::from_slice(stream, &flags).map(Some)
    }
}

fn bytes(len: usize, layout: &Layout) -> usize {
    len * layout.size as usize
}

fn columns<'a>(buffers: &'a [DeviceBuffer<u8>], layouts: &'a [Layout]) -> Result<Vec<DeviceColumn<'a>>, Error> {
    buffers.iter().zip(layouts).map(|(buffer, layout)| DeviceColumn::from_bytes(buffer, layout)).collect()
}

fn device_call<'a>(
    call: &Call<'a>,
    carry: Option<&'a [Constant]>,
    flags: Option<&'a DeviceBuffer<u8>>,
) -> DeviceCall<'a> {
    let shape = match (call.shape, flags) {
        (_, Some(flags)) => DeviceShape::Heads(DeviceColumn::new::<u8>(flags)),
        (Shape::Rows(rows), None) => DeviceShape::Rows(rows),
        (_, None) => DeviceShape::Line,
    };
    DeviceCall { mode: call.mode, reversed: call.reversed, init: call.init, carry, shape, totals: false }
}
