//! Columns that are made on the device for a launch, in the stream before it, besides those of the
//! call. They are flags of segments, the start of each segment beside its records, the states of
//! rows, and copies of spaced columns.

use std::sync::{Arc, MutexGuard};

use monoscan_ir::Constant;
use monoscan_ir::transform::SegmentStart;
use smallvec::SmallVec;

use super::ahead::Helper;
use super::arguments::states_of_rows;
use super::numbers::Numbering;
use super::on_gpu::{Found, OnGpu, SegmentColumns};
use super::pending::{Begun, Pending};
use super::task::Task;
use crate::call::{Init, Shape};
use crate::checks;
use crate::column::Column;
use crate::cuda::{CudaError, DeviceSlice, DeviceSliceMut, Stream, StreamLocks, Workspace, keep_with_graph};
use crate::error::Error;

/// The keys of the workspaces that it is made in.
const FLAGS: u64 = 2;
const NUMBERS: u64 = 3;
const STATES: u64 = 4;
const STARTS: u64 = 5;
#[cfg(feature = "ptx")]
const CHUNKS: u64 = 6;
/// From here on: the copies of spaced columns.
const COPIES: u64 = 7;

/// Held from the first that is made to the last that is given to the stream for the call, its launch and what scatters results:
/// another thread that uses the same stream must not get between them.
static IN_ORDER: StreamLocks = StreamLocks::new();

/// The memory that was made for a launch: kept until that was given to the stream.
#[derive(Default)]
pub(super) struct Added {
    in_order: Option<MutexGuard<'static, ()>>,
    kept: SmallVec<[Workspace; 4]>,
    /// Where each row has its states; 0 if all have the same.
    pub(super) states_of_rows: u64,
    /// The counter of the segments for which states were given, where the device alone knows how many there are.
    pub(super) begun: Option<Begun>,
    /// The other scans that make something: their faults are the call's.
    pub(super) helpers: Vec<Pending>,
}

impl Added {
    /// So many bytes, which nothing but this scan's launches in the same stream uses.
    fn lease(&mut self, stream: &Stream, key: u64, bytes: usize) -> Result<u64, CudaError> {
        if self.in_order.is_none() {
            self.in_order = Some(IN_ORDER.hold(stream));
        }
        let workspace = Workspace::lease(stream, key, bytes)?;
        let address = workspace.states();
        self.kept.push(workspace);
        Ok(address)
    }

    /// Has all of it zeroed before it is used again.
    #[cfg(feature = "ptx")]
    pub(super) fn quarantine(&self) {
        self.kept.iter().for_each(Workspace::quarantine);
    }

    /// The same for chunks, which leave the list that it begins with as they find it: empty.
    #[cfg(feature = "ptx")]
    pub(super) fn lease_chunks(&mut self, stream: &Stream, bytes: usize) -> Result<u64, CudaError> {
        self.lease(stream, CHUNKS, bytes)
    }

    /// The same for a copy of a column, by the number of that column.
    pub(super) fn lease_copy(&mut self, stream: &Stream, number: usize, bytes: usize) -> Result<u64, CudaError> {
        self.lease(stream, COPIES + number as u64, bytes)
    }

    /// The same with these bytes in it.
    fn upload(&mut self, stream: &Stream, bytes: Vec<u8>) -> Result<u64, CudaError> {
        let address = self.lease(stream, STATES, bytes.len())?;
        let bytes = Arc::new(bytes);
        keep_with_graph(stream, bytes.clone() as _)?;
        // SAFETY: the workspace has so many bytes. The driver has read them when this returns, since they are not page-locked; or
        // the graph keeps them.
        unsafe {
            DeviceSliceMut::from_raw(stream.device(), address, bytes.len()).copy_from_async(stream, &bytes)?;
        }
        Ok(address)
    }
}

impl Task<'_> {
    /// Makes what the call needs besides its columns, and puts the columns of segments where the kernel reads them.
    pub(super) fn add(&mut self, scan: &OnGpu, found: &Found, stream: &Stream) -> Result<Added, Error> {
        let mut added = Added::default();
        self.gather(scan, &mut added, stream)?;
        if self.has_states_of_rows() {
            let states = &found.states;
            let row = |row: usize| [self.start_of_row(row), self.init_of_row(row)];
            let rows = (0..self.span().rows).map(row).map(|row| row.map(|state| states.lowered(state)));
            let bytes = states_of_rows(&found.kernel.manifest().arguments, rows);
            added.states_of_rows = added.upload(stream, bytes)?;
        }
        if !self.call.shape.is_segmented() {
            return Ok(added);
        }
        let has_starts = self.form().start == SegmentStart::Each;
        let own = self.inputs.len() - 1 - usize::from(has_starts);
        let mut columns = SegmentColumns { len: self.len, flags: self.inputs[own], numbers: 0 };
        let by_offsets = matches!(self.call.shape, Shape::OffsetColumn(_));
        if has_starts {
            let bytes = self.len.saturating_mul(size_of::<u32>());
            columns.numbers = added.lease(stream, NUMBERS, bytes)?;
            if by_offsets {
                zero(columns.numbers, bytes, stream)?;
            }
        }
        if !matches!(self.call.shape, Shape::FlagColumn(_)) || self.call.reversed {
            columns.flags = added.lease(stream, FLAGS, self.len)?;
            self.inputs[own] = columns.flags;
            match self.call.shape {
                Shape::FlagColumn(given) => ends(given, columns.flags, stream)?,
                _ => {
                    zero(columns.flags, self.len, stream)?;
                    added.helpers.extend(scan.source.helpers(Helper::Flags)?.mark(self.call, &columns, stream)?);
                }
            }
        }
        if has_starts {
            self.inputs[own + 1] = self.make_starts(scan, &mut added, &columns, stream)?;
        }
        Ok(added)
    }

    /// Makes the column of starts. Gives where it is.
    fn make_starts(
        &self,
        scan: &OnGpu,
        added: &mut Added,
        columns: &SegmentColumns,
        stream: &Stream,
    ) -> Result<u64, Error> {
        let numbering = match self.call.shape {
            Shape::OffsetColumn(_) => Numbering::Marks,
            _ if self.call.carry.is_some() => Numbering::Flags,
            _ if self.call.reversed => Numbering::Ends,
            _ => Numbering::Heads,
        };
        let program = &*scan.program;
        let identities = program.identities();
        // Records that are numbered 0 there go on from a carry, and have no start.
        let none = matches!(numbering, Numbering::Marks | Numbering::Flags).then_some(&identities[..]);
        let layout = checks::state_layout(program);
        let states = none.into_iter().chain(self.call.init.states(identities.len()));
        let bytes = layout.records_to_bytes(states);
        let size = layout.size as usize;
        let count = bytes.len() / size;
        let helpers = scan.source.helpers(Helper::Starts)?;
        let counted = helpers.number(numbering, columns, stream)?;
        let given = self.call.init.states(identities.len()).len();
        // Offsets were counted on the host.
        let begins = usize::from(numbering != Numbering::Flags);
        match numbering {
            Numbering::Marks => added.helpers.push(counted),
            _ => added.begun = Some(Begun { counted: Box::new(counted), begins, given }),
        }
        let states = added.upload(stream, bytes)?;
        let starts = added.lease(stream, STARTS, self.len.saturating_mul(size))?;
        helpers.look_up_starts(columns, (states, count, size), starts, stream)?;
        Ok(starts)
    }

    /// Whether each of several rows starts from a state of its own.
    fn has_states_of_rows(&self) -> bool {
        let is_of_each = matches!(self.call.init, Init::Each(_)) || self.call.carry.is_some();
        is_of_each && matches!(self.call.shape, Shape::Rows(rows) if rows.count() > 1)
    }

    /// The state that a row starts from, if one is given.
    pub(super) fn start_of_row(&self, row: usize) -> Option<&[Constant]> {
        let carry = self.call.carry.map(|carry| carry.chunks_exact(self.lengths.1).nth(row));
        carry.unwrap_or_else(|| self.init_of_row(row))
    }

    fn init_of_row(&self, row: usize) -> Option<&[Constant]> {
        match self.call.init {
            Init::Each(_) => self.call.init.states(self.lengths.0).nth(row),
            init => init.same(),
        }
    }
}

/// Flags where segments end in memory, and so begin in a reversed scan: each flag is that of the record behind.
fn ends(flags: &Column<'_>, to: u64, stream: &Stream) -> Result<(), CudaError> {
    let Some(last) = flags.len.checked_sub(1) else { return Ok(()) };
    let device = stream.device();
    // SAFETY: the flags lie where the column says, and as many have space there in a workspace.
    let (from, to) = unsafe {
        let from = DeviceSlice::<u8>::from_raw(device, flags.address(), flags.len);
        (from, DeviceSliceMut::<u8>::from_raw(device, to, flags.len))
    };
    let (mut own, mut end) = to.split_at(last)?;
    own.copy_from_device(stream, &from.slice(1..)?)?;
    end.fill_zero(stream)
}

/// Zeroes so many bytes of a workspace.
fn zero(address: u64, bytes: usize, stream: &Stream) -> Result<(), CudaError> {
    // SAFETY: the workspace has so many bytes behind its header.
    unsafe { DeviceSliceMut::<u8>::from_raw(stream.device(), address, bytes) }.fill_zero(stream)
}
