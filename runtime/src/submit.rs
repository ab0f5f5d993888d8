//! The calls of a [`DynScan`] over device memory: given to a stream, done when the stream gets
//! there.

use std::sync::Arc;

use monoscan_ir::{Constant, Program};

use crate::call::Call;
use crate::column::{Column, ColumnMut};
use crate::cuda::Stream;
use crate::device::{Device, DeviceError};
use crate::dynscan::DynScan;
use crate::error::Error;
use crate::gpu::{GpuKernel, Pending, Task};

impl DynScan {
    /// Gives a call to a stream. What it reads and writes is used when the stream gets there: the next use is
    /// in this stream too, or waits for it. If the stream is being captured, the call becomes part of the graph;
    /// keys, offsets, and flags of a reversed call are refused there.
    ///
    /// # Errors
    /// If a column, the initial state or the shape does not fit the program, the device or the other columns; then nothing was
    /// given to the stream. [`Error::Device`] if the scan is on the CPU, or a column elsewhere. [`Error::Nvptx`] and
    /// [`Error::Cuda`] if no kernel could be made, there is too little memory for a workspace, or the driver fails.
    pub fn submit(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        self.with_states(call, |call| {
            let task = Task::new(self.on_gpu()?, (call, self.settings()), inputs, outputs)?;
            self.backend().submit(task, stream)
        })
    }

    /// Gives a call to a stream whose outputs replace its inputs.
    ///
    /// # Errors
    /// As [`submit`](DynScan::submit); also if the program's output columns are not laid out as its input columns, if it
    /// reads a neighbouring record, or if it keeps records.
    pub fn submit_in_place(
        &self,
        call: &Call<'_>,
        columns: &mut [ColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        self.with_states(call, |call| {
            let task = Task::in_place(self.on_gpu()?, (call, self.settings()), columns)?;
            self.backend().submit(task, stream)
        })
    }

    /// Gives a call to a stream that gives its totals and writes nothing. Those of a [loop](DynScan::from_loop) are states of
    /// its program.
    ///
    /// # Errors
    /// As [`submit`](DynScan::submit).
    pub fn submit_reduce(&self, call: &Call<'_>, inputs: &[Column<'_>], stream: &Stream) -> Result<Pending, Error> {
        self.with_states(call, |call| {
            let task = Task::reduction(self.on_gpu()?, (call, self.settings()), inputs)?;
            self.backend().submit(task, stream)
        })
    }

    /// The totals of all sequences, as [`reduce`](DynScan::reduce) gives them, once the stream gets there, which is waited for. Here
    /// segments by keys or offsets in device memory have a total each: they are counted first, offsets are read by the host, and
    /// the input is read once.
    ///
    /// # Errors
    /// As [`submit`](DynScan::submit) and [`Pending::wait`]; [`Error::Offsets`] for offsets that do not cut the records into segments;
    /// [`Error::Aot`] of kernels made ahead of time, among which there is none for this.
    pub fn reduce_in_stream(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        stream: &Stream,
    ) -> Result<Vec<Constant>, Error> {
        self.on_gpu()?;
        let totals = self.with_states(call, |call| self.backend().totals((call, self.settings()), inputs, stream))?;
        Ok(self.as_states(totals, false))
    }

    /// The kernel of an inclusive scan of a line, compiled if no call needed it yet: its plan, and how long it took to
    /// make.
    ///
    /// # Errors
    /// No kernel could be made, or the driver refuses it; [`Error::Device`] on the CPU.
    pub fn kernel(&self) -> Result<Arc<GpuKernel>, Error> {
        self.backend().kernel()
    }

    /// The program, and its device.
    fn on_gpu(&self) -> Result<(&Program, Device), Error> {
        if self.device().is_cpu() { Err(DeviceError::NotOnGpu.into()) } else { Ok((self.program(), *self.device())) }
    }
}
