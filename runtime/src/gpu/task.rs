//! [`Task`]: a call over device memory on its way, from its checks to its launch.

use std::sync::{Mutex, MutexGuard, PoisonError};

use monoscan_ir::transform::{Form, SegmentStart};
use monoscan_ir::{Constant, Layout, Program};
use smallvec::SmallVec;

use super::kernel::{Launch, Span};
use super::on_gpu::{Found, OnGpu};
use super::pending::Pending;
use crate::backend::{Outcome, Settings};
use crate::call::{Call, Init, Shape};
use crate::checked::Elements;
use crate::checks;
use crate::column::{Column, ColumnMut, check_inputs};
use crate::cuda::{CudaError, DeviceSlice, DeviceSliceMut, Stream, Workspace};
use crate::device::Device;
use crate::error::Error;

/// The key of the workspaces that flags are made in.
const FLAGS: u64 = 2;

/// Held from making flags to the launch: another thread that uses the same stream must not get between them.
static FLAGS_IN_ORDER: Mutex<()> = Mutex::new(());

/// Flags that were made for a launch.
struct MadeFlags {
    _in_order: MutexGuard<'static, ()>,
    _workspace: Workspace,
}

/// A call over device memory, once checked.
pub(crate) struct Task<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) settings: Settings<'a>,
    /// Where the input columns are, and then that of flags.
    inputs: SmallVec<[u64; 8]>,
    outputs: SmallVec<[u64; 8]>,
    len: usize,
    /// The output column with the least capacity, and that.
    capacity: (usize, usize),
    /// Whether it gives totals and writes nothing.
    pub(super) reduces: bool,
    /// Whether the program reads the record before.
    reads_previous: bool,
}

impl<'a> Task<'a> {
    /// A call that writes to other columns than it reads.
    pub(crate) fn new(
        (program, device): (&Program, Device),
        (call, settings): (&'a Call<'a>, Settings<'a>),
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
    ) -> Result<Task<'a>, Error> {
        let len = checks::columns(program, device, inputs, outputs)?;
        let capacities = outputs.iter().map(|column| column.len).enumerate();
        let capacity = capacities.min_by_key(|&(_, capacity)| capacity).unwrap_or((0, len));
        let inputs = inputs.iter().map(|column| column.address()).collect();
        let outputs = outputs.iter().map(|column| column.address()).collect();
        Task { call, settings, inputs, outputs, len, capacity, reduces: false, reads_previous: false }
            .checked(program, device)
    }

    /// A call whose outputs replace its inputs.
    pub(crate) fn in_place(
        (program, device): (&Program, Device),
        (call, settings): (&'a Call<'a>, Settings<'a>),
        columns: &[ColumnMut<'_>],
    ) -> Result<Task<'a>, Error> {
        let len = checks::in_place(program, device, columns)?;
        let outputs: SmallVec<[u64; 8]> = columns.iter().map(|column| column.address()).collect();
        let inputs = outputs.clone();
        Task { call, settings, inputs, outputs, len, capacity: (0, len), reduces: false, reads_previous: false }
            .checked(program, device)
    }

    /// A call for totals, which writes nothing.
    pub(crate) fn reduction(
        (program, device): (&Program, Device),
        (call, settings): (&'a Call<'a>, Settings<'a>),
        inputs: &[Column<'_>],
    ) -> Result<Task<'a>, Error> {
        let len = check_inputs(&program.inputs, inputs, device)?;
        let inputs = inputs.iter().map(|column| column.address()).collect();
        // Columns of a program that filters have no space, so nothing is written to where they are.
        let outputs = program.output.filter.as_ref().map_or(0, |_| program.output.columns.len());
        let outputs = SmallVec::from_elem(0, outputs);
        Task { call, settings, inputs, outputs, len, capacity: (0, 0), reduces: true, reads_previous: false }
            .checked(program, device)
    }

    /// Checks what a call says besides its columns, and adds that of flags to them.
    fn checked(mut self, program: &Program, device: Device) -> Result<Task<'a>, Error> {
        self.reads_previous = program.reads_previous();
        checks::call(program, device, self.call, self.call.carry, self.len)?;
        checks::parameters(program, self.settings.parameters.values())?;
        // Flags that are made get their address later, which is that of a workspace.
        match self.call.shape {
            Shape::FlagColumn(flags) => self.inputs.push(flags.address()),
            shape if shape.is_segmented() => self.inputs.push(0),
            _ => {}
        }
        Ok(self)
    }

    /// The form of the program that it needs.
    pub(super) fn form(&self) -> Form {
        let heads = self.call.shape.is_segmented();
        let start = match self.call.init {
            Init::Identity => SegmentStart::Identity,
            Init::Same(_) | Init::Each(_) if !heads => SegmentStart::Identity,
            Init::Same(_) => SegmentStart::Init,
            Init::Each(_) => SegmentStart::Each,
        };
        // Of a stream the record before the first one is another chunk's.
        let previous = self.reads_previous && self.call.carry.is_some();
        Form { mode: self.call.mode, heads, start, checked: self.settings.checked, previous }
    }

    /// Which records are scanned.
    pub(super) fn span(&self) -> Span {
        match self.call.shape {
            Shape::Rows(rows) => Span::of(rows),
            _ => Span { rows: 1, records: self.len, pitch: self.len, step: 1 },
        }
    }

    /// Whether there are no records.
    pub(super) fn is_empty(&self) -> bool {
        let Span { rows, records, .. } = self.span();
        rows.min(records) == 0
    }

    /// Whether all columns, those of a lowered program, begin at multiples of what is asked of them.
    pub(super) fn is_aligned(&self, program: &Program, to: impl Fn(&Layout) -> usize) -> bool {
        let inputs = self.inputs.iter().zip(&program.inputs);
        let mut columns = inputs.chain(self.outputs.iter().zip(&program.output.columns));
        columns.all(|(address, column)| address.is_multiple_of(to(column) as u64))
    }

    /// Whether all columns begin at multiples of so many bytes.
    pub(super) fn are_at(&self, alignment: u64) -> bool {
        self.inputs.iter().chain(&self.outputs).all(|address| address.is_multiple_of(alignment))
    }

    /// Gives it to a stream, unless there is nothing to do.
    pub(super) fn submit(mut self, scan: &OnGpu, stream: &Stream) -> Result<Pending, Error> {
        stream.expect_device("the stream's device", &scan.device)?;
        let (call, span) = (self.call, self.span());
        let wants_totals = call.totals || call.carry.is_some() || self.reduces;
        let found = scan.source.find(&self)?;
        // Held until the launch is in the stream.
        let _flags = self.make_flags(scan, stream)?;
        let launched = match found {
            None => None,
            Some(Found { kernel, states }) => {
                let start = states.lowered(call.carry.or(call.init.same()), 0);
                let init = states.lowered(call.init.same(), 0);
                let mut columns = self.inputs;
                columns.extend(self.outputs);
                let launch = Launch {
                    span,
                    reversed: call.reversed,
                    start: &start,
                    init: &init,
                    parameters: self.settings.parameters.values(),
                    columns: &columns,
                    capacity: self.capacity.1,
                    totals: wants_totals || states.keeps() || states.checked_stages().is_some(),
                };
                // SAFETY: the columns were checked against the program, and flags were added to them; the source says that the
                // kernel is the program's, for such a call of such columns, and the states are complete; whoever made the columns
                // promised that they may be used until the stream is done with them.
                let launched = unsafe { kernel.launch(stream, &launch, scan.limit) }?;
                launched.map(|launched| (launched, states))
            }
        };
        let totals = match launched {
            None if wants_totals => scan.start(call).repeat(span.rows),
            _ => Vec::new(),
        };
        let written = if self.reduces { 0 } else { span.rows * span.records };
        let filters = scan.program.output.filter.is_some();
        let capacity = (filters && !self.reduces).then_some(self.capacity);
        let elements = match call.shape {
            Shape::Rows(rows) => Elements::Rows { rows, reversed: call.reversed },
            _ => Elements::Line { len: self.len, reversed: call.reversed },
        };
        let components = scan.handed_on(call.carry.is_some());
        Ok(Pending { launched, components, outcome: Outcome { written, totals }, capacity, wants_totals, elements })
    }

    /// Makes the column of flags: of keys and offsets; and in a reversed scan that of the records at which segments end in memory.
    fn make_flags(&mut self, scan: &OnGpu, stream: &Stream) -> Result<Option<MadeFlags>, Error> {
        let is_there = matches!(self.call.shape, Shape::FlagColumn(_)) && !self.call.reversed;
        if !self.call.shape.is_segmented() || is_there {
            return Ok(None);
        }
        let _in_order = FLAGS_IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner);
        let workspace = Workspace::lease(stream, FLAGS, self.len)?;
        let address = workspace.states();
        // SAFETY: the workspace has so many bytes behind its header, which nothing but this scan's launches in the same
        // stream uses.
        let mut flags = unsafe { DeviceSliceMut::<u8>::from_raw(stream.device(), address, self.len) };
        match self.call.shape {
            _ if self.len == 0 => {}
            Shape::FlagColumn(given) => ends(given, flags, stream)?,
            _ => {
                flags.fill_zero(stream)?;
                scan.source.mark(self.call, self.len, address, stream)?;
            }
        }
        if let Some(place) = self.inputs.last_mut() {
            *place = address;
        }
        Ok(Some(MadeFlags { _in_order, _workspace: workspace }))
    }
}

impl OnGpu {
    /// How many components a total has: those of a carry where there is one, else those of the states of all stages.
    pub(super) fn handed_on(&self, has_carry: bool) -> usize {
        if has_carry { self.program.first_carry().len() } else { self.program.state_len() }
    }

    /// What a sequence starts from, as it is handed on.
    fn start(&self, call: &Call<'_>) -> Vec<Constant> {
        let mut start = self.program.first_carry();
        start.truncate(self.handed_on(call.carry.is_some()));
        start.iter_mut().zip(call.carry.or(call.init.same()).into_iter().flatten()).for_each(|(to, from)| *to = *from);
        start
    }
}

/// Flags where segments end in memory, and so begin in a reversed scan: each flag is that of the record behind.
fn ends(flags: &Column<'_>, to: DeviceSliceMut<'_, u8>, stream: &Stream) -> Result<(), CudaError> {
    let Some(last) = flags.len.checked_sub(1) else { return Ok(()) };
    // SAFETY: the flags lie where the column says.
    let from = unsafe { DeviceSlice::<u8>::from_raw(stream.device(), flags.address(), flags.len) };
    let (mut own, mut end) = to.split_at(last)?;
    own.copy_from_device(stream, &from.slice(1..)?)?;
    end.fill_zero(stream)
}
