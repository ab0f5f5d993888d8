//! Scans over host memory: carried to the device, scanned there, carried back.

use monoscan_ir::{Constant, Layout};

use super::ends;
use super::on_gpu::OnGpu;
use super::pending::Pending;
use super::task::Task;
use crate::backend::{HostTask, Outcome, Settings};
use crate::call::{Call, Shape};
use crate::checks;
use crate::column::{Column, ColumnMut};
use crate::cuda::{CudaError, DeviceBuffer, Stream};
use crate::engine::Heads;
use crate::error::Error;

impl OnGpu {
    /// In pieces, whose copies and scans overlap, or whole.
    pub(super) fn run_on_host(&self, task: HostTask<'_, '_>) -> Result<Outcome, Error> {
        task.run_in_pieces(self).unwrap_or_else(|task| self.run_whole(task))
    }

    /// The totals of segments between offsets.
    pub(super) fn totals_between(&self, offsets: &[usize], task: &HostTask<'_, '_>) -> Result<Vec<Constant>, Error> {
        let at_ends = self.source.at_ends(task.call)?;
        let settings = task.settings;
        let run = |call: &Call<'_>, inputs: &[Column<'_>], outputs: &mut [ColumnMut<'_>]| {
            let len = checks::columns(&at_ends.program, crate::Device::cpu(), inputs, outputs)?;
            let task = HostTask { call, settings, carry: None, inputs, outputs: Some(outputs), len };
            Ok(at_ends.run_on_host(task)?.written)
        };
        ends::totals(&at_ends.program, task.call, offsets, task.inputs, run)
    }

    /// Runs what cannot be cut: all of it is carried there, scanned, and carried back.
    fn run_whole(&self, task: HostTask<'_, '_>) -> Result<Outcome, Error> {
        let HostTask { call, settings, carry, inputs, outputs, len } = task;
        let program = &*self.program;
        let stream = Stream::new(&self.device)?;
        let buffers = self.upload(inputs, &stream)?;
        let flags = self.flags(call, len, &stream)?;
        let flags = flags.as_ref().map(Column::on_device::<u8>);
        let device_inputs = columns(&buffers, &program.inputs)?;
        let device_call = device_call(call, carry, flags.as_ref());
        let Some(outputs) = outputs else {
            return self.submit_reduce((&device_call, settings), &device_inputs, &stream)?.wait();
        };
        let mut results = Vec::new();
        for output in &mut *outputs {
            let mut buffer = DeviceBuffer::<u8>::uninitialized(&self.device, bytes(output.len, &output.layout))?;
            // What is not written, padding and records between rows, comes back as it was.
            if program.output.filter.is_none() {
                // SAFETY: the column borrows so many bytes; they stay borrowed until the stream was waited for.
                unsafe { buffer.as_slice_mut().copy_from_host(&stream, output.base) }?;
            }
            results.push(buffer);
        }
        let layouts = results.iter_mut().zip(&program.output.columns);
        let device_outputs: Result<Vec<_>, Error> =
            layouts.map(|(buffer, layout)| ColumnMut::on_device_bytes(buffer, layout)).collect();
        let outcome = self.submit_call((&device_call, settings), &device_inputs, &device_outputs?, &stream)?.wait()?;
        for (buffer, output) in results.iter().zip(outputs) {
            let records = if program.output.filter.is_some() { outcome.written } else { output.len };
            let written = buffer.slice(..bytes(records, &output.layout))?;
            // SAFETY: the column borrows room for so many records, and the stream is waited for below.
            unsafe { written.copy_to_host(&stream, output.base) }?;
        }
        stream.synchronize()?;
        Ok(outcome)
    }

    /// Gives a call over device memory to a stream.
    pub(super) fn submit_call(
        &self,
        call: (&Call<'_>, Settings<'_>),
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        Task::new((&self.program, self.device.into()), call, inputs, outputs)?.submit(self, stream)
    }

    /// The same for totals alone.
    pub(super) fn submit_reduce(
        &self,
        call: (&Call<'_>, Settings<'_>),
        inputs: &[Column<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        Task::reduction((&self.program, self.device.into()), call, inputs)?.submit(self, stream)
    }

    fn upload(&self, inputs: &[Column<'_>], stream: &Stream) -> Result<Vec<DeviceBuffer<u8>>, CudaError> {
        let upload = |input: &Column<'_>| {
            let mut buffer = DeviceBuffer::uninitialized(&self.device, bytes(input.len, &input.layout))?;
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
            Shape::HeadBits(bits) => Heads::Bits(bits),
            Shape::Offsets(offsets) => Heads::Offsets(offsets),
            _ => return Ok(None),
        };
        let flags: Vec<u8> = heads.flags(0..len, len).into_iter().map(u8::from).collect();
        DeviceBuffer::from_slice(stream, &flags).map(Some)
    }
}

fn bytes(len: usize, layout: &Layout) -> usize {
    len * layout.size as usize
}

fn columns<'a>(buffers: &'a [DeviceBuffer<u8>], layouts: &'a [Layout]) -> Result<Vec<Column<'a>>, Error> {
    buffers.iter().zip(layouts).map(|(buffer, layout)| Column::on_device_bytes(buffer, layout)).collect()
}

fn device_call<'a>(call: &Call<'a>, carry: Option<&'a [Constant]>, flags: Option<&'a Column<'a>>) -> Call<'a> {
    let shape = match (call.shape, flags) {
        (_, Some(flags)) => Shape::FlagColumn(flags),
        (shape, None) => shape,
    };
    Call { carry, shape, totals: false, ..call.clone() }
}
