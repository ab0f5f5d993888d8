//! Scans over host memory: carried to the device, scanned there, carried back.

use monoscan_ir::{Constant, Layout};

use super::ends;
use super::on_gpu::OnGpu;
use super::pending::Pending;
use super::staging::{copy_in, copy_kept, copy_out};
use super::task::Task;
use super::transfer;
use crate::backend::{HostTask, Outcome, Settings};
use crate::call::{Call, Init, Shape};
use crate::checks;
use crate::column::{Column, ColumnMut};
use crate::cuda::{CudaError, DeviceBuffer, DeviceRead, Stream};
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
            let task = HostTask { call, settings, inputs, outputs: Some(outputs), len };
            Ok(at_ends.run_on_host(task)?.written)
        };
        ends::totals(&at_ends.program, task.call, offsets, task.inputs, run)
    }

    /// Runs what cannot be cut: all of it is carried there, scanned, and carried back.
    fn run_whole(&self, task: HostTask<'_, '_>) -> Result<Outcome, Error> {
        let program = &*self.program;
        let keeps_bytes = task.keeps_bytes(program) && program.output.filter.is_none();
        let HostTask { call, settings, inputs, outputs, len } = task;
        let stream = Stream::new(&self.device)?;
        let buffers = self.upload(call, inputs, &stream)?;
        let flags = self.flags(call, len, &stream)?;
        let flags = flags.as_ref().map(Column::on_device::<u8>);
        let device_inputs = columns(&buffers, &program.inputs)?;
        let starts = Starts::of(call, program.state_len());
        let init = starts.all();
        let shape = flags.as_ref().map_or(call.shape, Shape::FlagColumn);
        let device_call = Call { init, shape, totals: false, ..call.clone() };
        let Some(outputs) = outputs else {
            return self.submit_reduce((&device_call, settings), &device_inputs, &stream)?.wait();
        };
        let mut results = Vec::new();
        for output in &mut *outputs {
            let mut buffer = DeviceBuffer::<u8>::uninitialized(&self.device, bytes(output.len, &output.layout))?;
            if keeps_bytes && output.spacing.is_some() {
                let mut kept = vec![0; bytes(output.len, &output.layout)];
                copy_kept(&mut kept, output, 0);
                buffer.as_slice_mut().copy_from(&stream, &kept)?;
            } else if keeps_bytes {
                // SAFETY: the column borrows so many bytes.
                unsafe { transfer::upload(buffer.as_slice_mut(), &stream, output.base) }?;
            }
            results.push(buffer);
        }
        let layouts = results.iter_mut().zip(&program.output.columns);
        let device_outputs: Result<Vec<_>, Error> =
            layouts.map(|(buffer, layout)| ColumnMut::on_device_bytes(buffer, layout)).collect();
        let outcome = self.submit_call((&device_call, settings), &device_inputs, &device_outputs?, &stream)?.wait()?;
        call.go_on()?;
        for (buffer, output) in results.iter().zip(outputs) {
            let records = if program.output.filter.is_some() { outcome.written } else { output.len };
            let written = buffer.slice(..bytes(records, &output.layout))?;
            if output.spacing.is_some() {
                let mut dense = vec![0; written.len()];
                written.copy_to(&stream, &mut dense)?;
                copy_out(&dense, output, 0);
                continue;
            }
            // SAFETY: the column borrows space for so many records.
            unsafe { transfer::download(written, &stream, output.base) }?;
        }
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

    fn upload(&self, call: &Call<'_>, inputs: &[Column<'_>], stream: &Stream) -> Result<Vec<DeviceBuffer<u8>>, Error> {
        let upload = |input: &Column<'_>| {
            let mut buffer = DeviceBuffer::uninitialized(&self.device, bytes(input.len, &input.layout))?;
            if input.spacing.is_some() {
                let mut dense = vec![0; buffer.len()];
                copy_in(&mut dense, input, 0);
                buffer.as_slice_mut().copy_from(stream, &dense)?;
                return Ok(buffer);
            }
            for start in (0..buffer.len()).step_by(UPLOADED) {
                call.go_on()?;
                let part = start..buffer.len().min(start + UPLOADED);
                // SAFETY: the column borrows so many bytes.
                unsafe { transfer::upload(buffer.slice_mut(part)?, stream, input.base.add(start)) }?;
            }
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

/// The states that sequences of a call over host memory start from, in the way that a call over device memory with a flag for each
/// record takes them: none for segments without records, which have no flag.
pub(super) struct Starts<'a> {
    init: Init<'a>,
    /// Those of segments that have records, where each has its own.
    full: Option<Vec<Constant>>,
    own: usize,
    /// Whether record 0 goes on from a carry, if it has no flag.
    resumes: bool,
}

impl<'a> Starts<'a> {
    /// Of a call whose states have so many components.
    pub(super) fn of(call: &Call<'a>, own: usize) -> Starts<'a> {
        let full = match (call.init, call.shape) {
            (Init::Each(_), Shape::Offsets(offsets)) => {
                let segments = offsets.windows(2).zip(call.init.states(own));
                let full = segments.filter(|(ends, _)| ends[0] < ends[1]).flat_map(|(_, state)| state).copied();
                Some(full.collect())
            }
            _ => None,
        };
        // A line is one sequence, whose parts have one initial state.
        let init = match (call.shape, call.init.states(own).next()) {
            (Shape::Line, first) => first.into(),
            _ => call.init,
        };
        Starts { init, full, own, resumes: call.carry.is_some() }
    }

    /// All of them.
    pub(super) fn all(&self) -> Init<'_> {
        match self.full.as_deref() {
            Some([]) => Init::Identity,
            Some(full) => Init::Each(full),
            None => self.init,
        }
    }

    /// Those of the segments that begin in a piece, by the flags of its records in order, once as many have begun before it; and how
    /// many have begun after it. `has_carry` if the piece goes on from a carry, which may be the start of the first segment.
    pub(super) fn of_piece(&self, begun: usize, has_carry: bool, flags: &[u8]) -> (Init<'_>, usize) {
        let Init::Each(all) = self.all() else { return (self.all(), 0) };
        let Some(&first) = flags.first() else { return (self.all().states(self.own).next().into(), begun) };
        let begins = usize::from(begun == 0 && !self.resumes && first == 0);
        let from = begun + if has_carry { begins } else { 0 };
        let end = begun + begins + flags.iter().filter(|&&flag| flag != 0).count();
        (Init::Each(&all[from * self.own..end * self.own]), end)
    }
}

/// Bytes that are uploaded between two looks at whether the call was interrupted.
const UPLOADED: usize = 64 << 20;

fn bytes(len: usize, layout: &Layout) -> usize {
    len * layout.size as usize
}

fn columns<'a>(buffers: &'a [DeviceBuffer<u8>], layouts: &'a [Layout]) -> Result<Vec<Column<'a>>, Error> {
    buffers.iter().zip(layouts).map(|(buffer, layout)| Column::on_device_bytes(buffer, layout)).collect()
}
