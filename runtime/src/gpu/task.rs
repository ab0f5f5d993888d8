//! [`Task`]: a call over device memory on its way, from its checks to its launch.

use monoscan_ir::transform::{Form, SegmentStart};
use monoscan_ir::{Constant, Layout, Program};
use smallvec::SmallVec;

use super::ahead::Helper;
use super::kernel::{Launch, Span};
use super::on_gpu::{Found, OnGpu};
use super::pending::Pending;
use super::spaced::SpacedColumn;
use crate::backend::{Outcome, Settings};
use crate::call::{Call, Shape};
use crate::checked::Elements;
use crate::checks;
use crate::column::{Column, ColumnMut, check_inputs};
use crate::cuda::Stream;
use crate::device::Device;
use crate::error::Error;
use crate::scans::check_covers;

/// A call over device memory, once checked.
pub(crate) struct Task<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) settings: Settings<'a>,
    /// Where the input columns are, and then those of segments: flags, and starts if each has its own.
    pub(super) inputs: SmallVec<[u64; 8]>,
    pub(super) outputs: SmallVec<[u64; 8]>,
    /// The spaced columns, of which the kernel sees copies.
    pub(super) spaced: Vec<SpacedColumn>,
    pub(super) len: usize,
    /// The output column with the least capacity, and that.
    pub(super) capacity: (usize, usize),
    /// Whether it gives totals and writes nothing.
    pub(super) reduces: bool,
    /// Whether the program reads the record before, if the call may go on from one.
    pub(super) reads_previous: bool,
    /// How many components a state of the program has, and the call's carry, if there is one.
    pub(super) lengths: (usize, usize),
}

impl<'a> Task<'a> {
    /// A call that writes to other columns than it reads.
    pub(crate) fn new(
        (program, device): (&Program, Device),
        call: (&'a Call<'a>, Settings<'a>),
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
    ) -> Result<Task<'a>, Error> {
        let len = checks::columns(program, device, inputs, outputs)?;
        let capacities = outputs.iter().map(|column| column.len).enumerate();
        let capacity = capacities.min_by_key(|&(_, capacity)| capacity).unwrap_or((0, len));
        let mut task = Task { capacity, ..Task::of(call, len) };
        inputs.iter().for_each(|column| task.read(column));
        let is_whole = program.output.filter.is_none() && check_covers(call.0, len).is_ok();
        outputs.iter().for_each(|column| task.write(column, is_whole));
        task.checked(program, device)
    }

    /// A call whose outputs replace its inputs.
    pub(crate) fn in_place(
        (program, device): (&Program, Device),
        call: (&'a Call<'a>, Settings<'a>),
        columns: &[ColumnMut<'_>],
    ) -> Result<Task<'a>, Error> {
        let len = checks::in_place(program, device, columns)?;
        let mut task = Task { capacity: (0, len), ..Task::of(call, len) };
        // What is read of a spaced column is gathered anyway.
        columns.iter().for_each(|column| task.write(column, false));
        task.inputs = task.outputs.clone();
        task.spaced.iter_mut().for_each(|column| column.input = column.output);
        task.checked(program, device)
    }

    /// A call for totals, which writes nothing.
    pub(crate) fn reduction(
        (program, device): (&Program, Device),
        call: (&'a Call<'a>, Settings<'a>),
        inputs: &[Column<'_>],
    ) -> Result<Task<'a>, Error> {
        let len = check_inputs(&program.inputs, inputs, device)?;
        // Columns of a program that filters have no space, so nothing is written to where they are.
        let outputs = program.output.filter.as_ref().map_or(0, |_| program.output.columns.len());
        let mut task = Task { outputs: SmallVec::from_elem(0, outputs), reduces: true, ..Task::of(call, len) };
        inputs.iter().for_each(|column| task.read(column));
        task.checked(program, device)
    }

    /// A call without columns yet.
    fn of((call, settings): (&'a Call<'a>, Settings<'a>), len: usize) -> Task<'a> {
        Task {
            call,
            settings,
            inputs: SmallVec::new(),
            outputs: SmallVec::new(),
            spaced: Vec::new(),
            len,
            capacity: (0, 0),
            reduces: false,
            reads_previous: false,
            lengths: (0, 0),
        }
    }

    /// Adds a column to those that are read. The copy of a spaced one gets its address later, which is that of a workspace.
    fn read(&mut self, column: &Column<'_>) {
        let at = (column.address(), column.len, &*column.layout);
        let spaced = SpacedColumn::read(self.inputs.len(), at, column.spacing);
        self.inputs.push(if spaced.is_some() { 0 } else { column.address() });
        self.spaced.extend(spaced);
    }

    /// The same for one that is written, whole or not.
    fn write(&mut self, column: &ColumnMut<'_>, is_whole: bool) {
        let at = (column.address(), column.len, &*column.layout);
        let spaced = SpacedColumn::written(self.outputs.len(), at, column.spacing, is_whole);
        self.outputs.push(if spaced.is_some() { 0 } else { column.address() });
        self.spaced.extend(spaced);
    }

    /// The same call once more.
    #[cfg(feature = "ptx")]
    pub(super) fn again(&self) -> Task<'a> {
        Task { inputs: self.inputs.clone(), outputs: self.outputs.clone(), spaced: self.spaced.clone(), ..*self }
    }

    /// Checks what a call says besides its columns, and adds that of flags to them.
    fn checked(mut self, program: &Program, device: Device) -> Result<Task<'a>, Error> {
        // What a call asks of the record before, and the length of a carry, are found by a walk over the program.
        let resumes = self.call.carry.is_some();
        self.reads_previous = (resumes || self.reduces) && program.reads_previous();
        self.lengths = (program.state_len(), if resumes { program.carry_len() } else { 1 });
        checks::call(program, device, self.call, self.len)?;
        checks::parameters(program, self.settings.parameters.values())?;
        // What is made gets its address later, which is that of a workspace.
        match self.call.shape {
            Shape::FlagColumn(flags) => self.inputs.push(flags.address()),
            shape if shape.is_segmented() => self.inputs.push(0),
            _ => {}
        }
        if self.form().start == SegmentStart::Each {
            self.inputs.push(0);
        }
        Ok(self)
    }

    /// The form of the program that it needs.
    pub(super) fn form(&self) -> Form {
        self.call.form(self.reduces, self.reads_previous, self.settings.checked)
    }

    /// All states that it is given, and goes on from, with what they are.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static str, &'a [Constant])> {
        self.call.given(self.lengths)
    }

    /// The initial state of a line, or of the first segment in the order of the scan, if one is given.
    fn init(&self) -> Option<&'a [Constant]> {
        let mut states = self.call.init.states(self.lengths.0);
        if self.call.reversed { states.next_back() } else { states.next() }
    }

    /// Which records are scanned.
    pub(super) fn span(&self) -> Span {
        match self.call.shape {
            Shape::Rows(rows) => Span::of(rows),
            _ => Span { rows: 1, records: self.len, pitch: self.len, step: 1, chunk: self.len },
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
        scan.device.clear_graves();
        // Under this guard the driver is asked for the thread's context once.
        let _bound = scan.device.bind()?;
        #[cfg(feature = "ptx")]
        if let Some(chunks) = scan.chunks.as_ref().filter(|chunks| chunks.does(&self)) {
            return chunks.submit(&self, scan.total_components(false), stream);
        }
        #[cfg(feature = "ptx")]
        if let Some(pending) = self.submit_rows(scan, stream)? {
            return Ok(pending);
        }
        let (call, span) = (self.call, self.span());
        let wants_totals = call.totals || call.carry.is_some() || self.reduces;
        let (mut begun, mut helpers) = (None, Vec::new());
        let launched = match scan.source.find(&self)? {
            None => None,
            Some(found) => {
                // Nothing but the driver can fail once the scan was launched.
                if !self.spaced.is_empty() {
                    scan.source.helpers(Helper::Copies)?;
                }
                // Held until the launch is in the stream.
                let mut added = self.add(scan, &found, stream)?;
                (begun, helpers) = (added.begun.take(), std::mem::take(&mut added.helpers));
                let Found { kernel, states } = found;
                let start = states.lowered(call.carry.or(self.init()));
                let init = states.lowered(self.init());
                let columns: SmallVec<[u64; 8]> = self.inputs.iter().chain(&self.outputs).copied().collect();
                let launch = Launch {
                    span,
                    reversed: call.reversed,
                    start: &start,
                    init: &init,
                    states_of_rows: added.states_of_rows,
                    parameters: self.settings.parameters.values(),
                    columns: &columns,
                    capacity: self.capacity.1,
                    totals: wants_totals || states.keeps() || states.checked_stages().is_some(),
                    totals_to: None,
                };
                // SAFETY: the columns were checked against the program, and flags were added to them; the source says that the
                // kernel is the program's, for such a call of such columns, and the states are complete; the caller that made the columns
                // promised that they may be used until the stream is done with them.
                let mut launched = unsafe { kernel.launch(stream, &launch, scan.limit) }?;
                if let Some(launched) = &mut launched
                    && self.scatter(scan, stream)?
                {
                    launched.then(stream)?;
                }
                launched.map(|launched| (launched, states))
            }
        };
        let totals = match launched {
            None if wants_totals => self.starts(scan),
            _ => Vec::new(),
        };
        let written = if self.reduces { 0 } else { span.rows * span.records };
        let filters = scan.program.output.filter.is_some();
        let capacity = (filters && !self.reduces).then_some(self.capacity);
        let elements = match call.shape {
            Shape::Rows(rows) => Elements::Rows { rows, reversed: call.reversed },
            _ => Elements::Line { len: self.len, reversed: call.reversed },
        };
        let components = scan.total_components(call.carry.is_some());
        let outcome = Outcome { written, totals };
        let (totals_of, lines) = (SmallVec::new(), None);
        Ok(Pending {
            launched,
            components,
            outcome,
            capacity,
            wants_totals,
            elements,
            begun,
            helpers,
            totals_of,
            lines,
        })
    }

    /// The states that sequences start from: the totals of those without records.
    fn starts(&self, scan: &OnGpu) -> Vec<Constant> {
        let identities = scan.program.first_carry();
        let components = scan.total_components(self.call.carry.is_some());
        let start = |row: usize| {
            let given = match self.call.shape {
                Shape::Rows(_) => self.start_of_row(row),
                _ => self.call.carry.or(self.init()),
            };
            let mut start = identities.clone();
            start.iter_mut().zip(given.into_iter().flatten()).for_each(|(to, from)| *to = *from);
            start.truncate(components);
            start
        };
        (0..self.span().rows).flat_map(start).collect()
    }
}

impl OnGpu {
    /// How many components a total has: those of a carry where there is one, else those of the states of all stages.
    pub(super) fn total_components(&self, has_carry: bool) -> usize {
        if has_carry { self.program.carry_len() } else { self.program.state_len() }
    }
}
