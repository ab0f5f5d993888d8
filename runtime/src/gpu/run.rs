//! The calls of a [`GpuScan`] over device memory: checked, then launched.

use std::sync::{Mutex, PoisonError};

use scan_ir::transform::Form;
use scan_ir::{Constant, Layout, Type};
use smallvec::SmallVec;

use super::call::{DeviceCall, DeviceShape};
use super::column::{DeviceColumn, DeviceColumnMut};
use super::kernel::{Launch, Span};
use super::pending::{Outcome, Pending};
use super::scan::GpuScan;
use super::variant::{Need, Way};
use crate::checks;
use crate::column::{check, layout_of};
use crate::cuda::{CudaError, DeviceRead, DeviceSlice, DeviceSliceMut, Stream, Workspace};
use crate::error::Error;

/// The key of the workspaces that flags are made in.
const FLAGS: u64 = 2;

/// Held from making flags to the launch.
static FLAGS_IN_ORDER: Mutex<()> = Mutex::new(());

/// Rows shorter than this part of a tile are scanned by one thread each.
const SHORT_ROWS: usize = 4;

/// What a call reads and writes, once checked.
struct Task<'a> {
    call: &'a DeviceCall<'a>,
    inputs: SmallVec<[u64; 8]>,
    outputs: SmallVec<[u64; 8]>,
    len: usize,
    /// The output column with the least room, and its room.
    room: (usize, usize),
    reduces: bool,
}

impl GpuScan {
    /// Gives a call to a stream. What it reads and writes is used when the stream gets there: whoever uses it next does
    /// so in this stream, or waits for it. If the stream is being captured, the call becomes part of the graph.
    ///
    /// # Errors
    /// If a column, the seed or the shape does not fit the program, the device or the other columns; then nothing was
    /// given to the stream. [`Error::Nvptx`] and [`Error::Cuda`] if no kernel could be made, there is too little memory
    /// for a workspace, or the driver fails.
    pub fn call(
        &self,
        call: &DeviceCall<'_>,
        inputs: &[DeviceColumn<'_>],
        outputs: &mut [DeviceColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        let program = self.program();
        let len = self.check_inputs(inputs)?;
        let expected = program.output.keep.is_none().then_some(len);
        self.check_outputs(outputs, expected)?;
        let rooms = outputs.iter().map(|column| column.len).enumerate();
        let room = rooms.min_by_key(|&(_, room)| room).unwrap_or((0, len));
        let inputs = inputs.iter().map(|column| column.address).collect();
        let outputs = outputs.iter().map(|column| column.address).collect();
        self.start(Task { call, inputs, outputs, len, room, reduces: false }, stream)
    }

    /// Gives a call to a stream whose outputs replace its inputs.
    ///
    /// # Errors
    /// As [`call`](GpuScan::call); also if the program's output columns are not laid out as its input columns, if it
    /// reads the next record, or if it keeps records.
    pub fn call_in_place(
        &self,
        call: &DeviceCall<'_>,
        columns: &mut [DeviceColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        checks::can_replace(self.program())?;
        let len = columns.first().map_or(0, DeviceColumnMut::len);
        self.check_outputs(columns, Some(len))?;
        let inputs: SmallVec<_> = columns.iter().map(|column| column.address).collect();
        self.start(Task { call, outputs: inputs.clone(), inputs, len, room: (0, len), reduces: false }, stream)
    }

    /// Gives a call to a stream that gives its totals and writes nothing.
    ///
    /// # Errors
    /// As [`call`](GpuScan::call).
    pub fn reduce_call(
        &self,
        call: &DeviceCall<'_>,
        inputs: &[DeviceColumn<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        let len = self.check_inputs(inputs)?;
        let call = &DeviceCall { totals: true, ..call.clone() };
        let inputs = inputs.iter().map(|column| column.address).collect();
        // Columns of a program that keeps have no room, so nothing is written to where they are.
        let outputs = self.program().output.keep.as_ref().map_or(0, |_| self.program().output.columns.len());
        let outputs = SmallVec::from_elem(0, outputs);
        self.start(Task { call, inputs, outputs, len, room: (0, 0), reduces: true }, stream)
    }

    fn check_inputs(&self, inputs: &[DeviceColumn<'_>]) -> Result<usize, Error> {
        let len = inputs.first().map_or(0, DeviceColumn::len);
        let columns = inputs.iter().map(|column| (column.len, &*column.layout));
        check("input", &self.program().inputs, columns, Some(len))?;
        inputs.iter().try_for_each(|column| self.check_device("an input column", &column.device))?;
        Ok(len)
    }

    fn check_outputs(&self, outputs: &[DeviceColumnMut<'_>], len: Option<usize>) -> Result<(), Error> {
        let columns = outputs.iter().map(|column| (column.len, &*column.layout));
        check("output", &self.program().output.columns, columns, len)?;
        outputs.iter().try_for_each(|column| self.check_device("an output column", &column.device))
    }

    fn check_device(&self, what: &'static str, device: &crate::cuda::Device) -> Result<(), Error> {
        if device == self.device() {
            return Ok(());
        }
        let expected = format!("in the memory of device {}, as the scan", self.device().ordinal());
        Err(CudaError::argument(what, expected, format!("in that of device {}", device.ordinal())).into())
    }

    fn check_flags(&self, flags: &DeviceColumn<'_>, len: usize) -> Result<(), Error> {
        self.check_device("the column of flags", &flags.device)?;
        let expected = layout_of(Type::U8);
        if flags.layout.size != 1 {
            let (expected, got) = (Box::new(expected.clone()), Box::new(Layout::clone(&flags.layout)));
            return Err(Error::Layout { argument: "the column of flags".into(), expected, got });
        }
        if flags.len != len {
            return Err(Error::Length { argument: "the column of flags".into(), expected: len, got: flags.len });
        }
        Ok(())
    }

    fn start(&self, task: Task<'_>, stream: &Stream) -> Result<Pending, Error> {
        let Task { call, len, .. } = task;
        let program = self.program();
        checks::call(program, &call.without_flags(), call.carry, len)?;
        stream.expect_device("the stream's device", self.device())?;
        let is_segmented = matches!(call.shape, DeviceShape::Heads(_));
        let form = Form { mode: call.mode, heads: is_segmented, seeded: is_segmented && call.seed.is_some() };
        let need = Need { form, any_states: false, reduces: task.reduces };
        let variants = &self.shared.variants;
        let variant = variants.holding(need, [call.seed, call.carry]);

        let mut columns = task.inputs;
        // Another thread that uses the same stream must not get between flags that are made and the launch that reads
        // them.
        let _in_order =
            (is_segmented && call.reversed).then(|| FLAGS_IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner));
        let flags = match &call.shape {
            DeviceShape::Heads(flags) => {
                self.check_flags(flags, len)?;
                checks::resumed_heads(call.carry.is_some(), call.reversed)?;
                let made = call.reversed.then(|| ends(flags, stream)).transpose()?;
                columns.push(made.as_ref().map_or(flags.address, Workspace::states));
                made
            }
            _ => None,
        };
        columns.extend(task.outputs);

        let (span, way) = match call.shape {
            DeviceShape::Rows(rows) => {
                let span = Span { rows: rows.count(), records: rows.len(), pitch: rows.pitch(), step: rows.step() };
                let tile = variant.tile(&variants.maker);
                let are_short = tile.is_some_and(|tile| rows.len() < tile / SHORT_ROWS && rows.count() > 1);
                (span, if rows.step() > 1 || are_short { Way::Columnar } else { Way::Any })
            }
            _ => (Span { rows: 1, records: len, pitch: len, step: 1 }, Way::Any),
        };
        let is_aligned = columns.iter().all(|address| address.is_multiple_of(16));
        let is_plain = way == Way::Any && span.rows == 1 && is_aligned && !call.reversed && !task.reduces;
        let way = if is_plain { Way::Plain } else { way };
        let start = variant.states.lowered(call.carry.or(call.seed), 0);
        let seed = variant.states.lowered(call.seed, 0);
        let keeps = program.output.keep.is_some();
        let wants_totals = call.totals || call.carry.is_some();
        let launch = Launch {
            span,
            reversed: call.reversed,
            start: &start,
            seed: &seed,
            columns: &columns,
            room: task.room.1,
            totals: wants_totals || keeps,
        };
        let launched = match span.rows.min(span.records) {
            0 => None,
            _ => {
                let kernel = variant.kernel(way, &variants.maker)?;
                // SAFETY: the columns were checked against the program, the kernel is one for this way, and the states
                // are complete; whoever made the columns promised that they may be used until the stream is done with
                // them.
                unsafe { kernel.launch(stream, &launch, self.limit) }?
            }
        };
        drop(flags);
        let totals: Vec<Constant> = match launched {
            None if launch.totals => start.repeat(span.rows),
            _ => Vec::new(),
        };
        let written = if task.reduces { 0 } else { span.rows * span.records };
        let room = (keeps && !task.reduces).then_some(task.room);
        let states = variant.states.clone();
        Ok(Pending { launched, states, outcome: Outcome { written, totals }, room, wants_totals })
    }
}

/// Flags where segments end in memory, and so begin in a reversed scan: each flag is that of the record behind.
fn ends(flags: &DeviceColumn<'_>, stream: &Stream) -> Result<Workspace, CudaError> {
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
        (to, DeviceSlice::<u8>::from_raw(device, flags.address, len))
    };
    debug_assert_eq!(DeviceRead::len(&from), len);
    to.reborrow().slice(..len - 1)?.copy_from_device(stream, &from.slice(1..)?)?;
    to.slice(len - 1..)?.fill_zero(stream)?;
    Ok(made)
}
