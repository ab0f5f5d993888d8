//! A call over device memory on its way: columns checked, flags added, launched. It is the same
//! whether the kernel was compiled for the call or came from a file.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use monoscan_ir::{Constant, Layout};
use smallvec::SmallVec;

use super::kernel::{GpuKernel, Launch, Span};
use super::pending::Pending;
use super::states::States;
use crate::backend::Outcome;
use crate::call::{Call, Shape};
use crate::checked::Elements;
use crate::checks::{self, Signature};
use crate::column::{Column, ColumnMut, check, is_on};
use crate::cuda::{CudaError, Device, DeviceRead, DeviceSlice, DeviceSliceMut, Stream, Workspace};
use crate::error::Error;

/// The key of the workspaces that flags are made in.
const FLAGS: u64 = 2;

/// Held from making flags to the launch: another thread that uses the same stream must not get between them.
static FLAGS_IN_ORDER: Mutex<()> = Mutex::new(());

/// Flags that were made for a launch.
pub(super) struct MadeFlags {
    _in_order: MutexGuard<'static, ()>,
    workspace: Workspace,
}

/// The columns that a program reads and writes, and where they have to be.
pub(super) struct Sides<'a> {
    pub(super) device: &'a Device,
    pub(super) inputs: &'a [Layout],
    pub(super) outputs: &'a [Layout],
    pub(super) keeps: bool,
}

/// What a call reads and writes, once checked.
pub(super) struct Task<'a> {
    pub(super) call: &'a Call<'a>,
    /// Where the input columns are, and then that of flags.
    pub(super) inputs: SmallVec<[u64; 8]>,
    pub(super) outputs: SmallVec<[u64; 8]>,
    pub(super) len: usize,
    /// The output column with the least capacity, and that.
    pub(super) capacity: (usize, usize),
    pub(super) reduces: bool,
}

impl Sides<'_> {
    /// The task of a call that writes to other columns than it reads.
    pub(super) fn task<'a>(
        &self,
        call: &'a Call<'a>,
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
    ) -> Result<Task<'a>, Error> {
        let len = self.check_inputs(inputs)?;
        self.check_outputs(outputs, (!self.keeps).then_some(len))?;
        let capacities = outputs.iter().map(|column| column.len).enumerate();
        let capacity = capacities.min_by_key(|&(_, capacity)| capacity).unwrap_or((0, len));
        let inputs = inputs.iter().map(|column| column.address()).collect();
        let outputs = outputs.iter().map(|column| column.address()).collect();
        Ok(Task { call, inputs, outputs, len, capacity, reduces: false })
    }

    /// Checks the input columns, and gives their length.
    pub(super) fn check_inputs(&self, inputs: &[Column<'_>]) -> Result<usize, Error> {
        let len = inputs.first().map_or(0, Column::len);
        let columns = inputs.iter().map(|column| (column.len, &*column.layout));
        check("input", self.inputs, columns, Some(len))?;
        inputs.iter().try_for_each(|column| is_on("input", &column.device, self.device.into()))?;
        Ok(len)
    }

    /// Checks the output columns, and that they have this length, if one is given.
    pub(super) fn check_outputs(&self, outputs: &[ColumnMut<'_>], len: Option<usize>) -> Result<(), Error> {
        let columns = outputs.iter().map(|column| (column.len, &*column.layout));
        check("output", self.outputs, columns, len)?;
        outputs.iter().try_for_each(|column| is_on("output", &column.device, self.device.into()))
    }
}

impl Task<'_> {
    /// Checks what a call says besides its columns.
    pub(super) fn check(&self, program: &impl Signature, device: &Device, stream: &Stream) -> Result<(), Error> {
        checks::call(program, device.into(), self.call, self.call.carry, self.len)?;
        Ok(stream.expect_device("the stream's device", device)?)
    }

    /// Adds the column of flags to the inputs, if segments are flagged. Flags that had to be made are to be held until
    /// the launch is in the stream.
    pub(super) fn add_flags(&mut self, stream: &Stream) -> Result<Option<MadeFlags>, CudaError> {
        let Shape::FlagColumn(flags) = &self.call.shape else { return Ok(None) };
        let make = || {
            let _in_order = FLAGS_IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner);
            Ok::<_, CudaError>(MadeFlags { workspace: ends(flags, stream)?, _in_order })
        };
        let made = self.call.reversed.then(make).transpose()?;
        self.inputs.push(made.as_ref().map_or(flags.address(), |made| made.workspace.states()));
        Ok(made)
    }

    /// Whether all columns, those of a lowered program, begin at multiples of what is asked of them.
    pub(super) fn is_aligned(&self, inputs: &[Layout], outputs: &[Layout], to: impl Fn(&Layout) -> usize) -> bool {
        let mut columns = self.inputs.iter().zip(inputs).chain(self.outputs.iter().zip(outputs));
        columns.all(|(address, column)| address.is_multiple_of(to(column) as u64))
    }

    /// All records as one line.
    pub(super) fn line(&self) -> Span {
        Span { rows: 1, records: self.len, pitch: self.len, step: 1 }
    }

    /// Launches a kernel, unless there is nothing to do; it is asked for only if there is.
    ///
    /// # Safety
    /// The columns were checked against the program of these states, flags were added to them, and the kernel is one of
    /// this program, lowered for the form of the call, that goes through such a span of such columns in such a
    /// direction.
    pub(super) unsafe fn launch(
        self,
        (states, parameters): (&Arc<States>, &[Constant]),
        span: Span,
        kernel: impl FnOnce() -> Result<Arc<GpuKernel>, Error>,
        stream: &Stream,
        limit: Duration,
    ) -> Result<Pending, Error> {
        let Task { call, .. } = self;
        let start = states.lowered(call.carry.or(call.init), 0);
        let init = states.lowered(call.init, 0);
        let mut columns = self.inputs;
        columns.extend(self.outputs);
        let wants_totals = call.totals || call.carry.is_some();
        let launch = Launch {
            span,
            reversed: call.reversed,
            start: &start,
            init: &init,
            parameters,
            columns: &columns,
            capacity: self.capacity.1,
            totals: wants_totals || states.keeps() || states.checked_stages().is_some(),
        };
        let launched = match span.rows.min(span.records) {
            0 => None,
            // SAFETY: the caller vouches for the kernel and the columns, and the states are complete; whoever made the
            // columns promised that they may be used until the stream is done with them.
            _ => unsafe { kernel()?.launch(stream, &launch, limit) }?,
        };
        let totals: Vec<Constant> = match launched {
            None if launch.totals => start.repeat(span.rows),
            _ => Vec::new(),
        };
        let written = if self.reduces { 0 } else { span.rows * span.records };
        let capacity = (states.keeps() && !self.reduces).then_some(self.capacity);
        let elements = match call.shape {
            Shape::Rows(rows) => Elements::Rows { rows, reversed: call.reversed },
            _ => Elements::Line { len: self.len, reversed: call.reversed },
        };
        let outcome = Outcome { written, totals };
        Ok(Pending { launched, states: states.clone(), outcome, capacity, wants_totals, elements })
    }
}

/// Flags where segments end in memory, and so begin in a reversed scan: each flag is that of the record behind.
fn ends(flags: &Column<'_>, stream: &Stream) -> Result<Workspace, CudaError> {
    let len = flags.len;
    let made = Workspace::lease(stream, FLAGS, len)?;
    if len == 0 {
        return Ok(made);
    }
    // SAFETY: the workspace has so many bytes behind its header, which nothing but this scan's launches in the same
    // stream uses; the flags lie where the column says.
    let (mut to, from) = unsafe {
        let device = stream.device();
        let to = DeviceSliceMut::<u8>::from_raw(device, made.states(), len);
        (to, DeviceSlice::<u8>::from_raw(device, flags.address(), len))
    };
    debug_assert_eq!(DeviceRead::len(&from), len);
    to.reborrow().slice(..len - 1)?.copy_from_device(stream, &from.slice(1..)?)?;
    to.slice(len - 1..)?.fill_zero(stream)?;
    Ok(made)
}
