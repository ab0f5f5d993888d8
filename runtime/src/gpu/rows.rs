//! Rows that would be slow with a thread each.
//!
//! Few rows side by side are lines of wider records, or go in [chunks](super::row_chunks). Short
//! rows behind each other, whose threads would read memory in small pieces, are segments of one
//! line.

use monoscan_codegen::nvptx::FLAGS_OF_THREAD;
use monoscan_ir::{Source, Type};

use super::ahead::Helper;
use super::on_gpu::{OnGpu, SegmentColumns};
use super::pending::Pending;
use super::task::Task;
use crate::backend::Outcome;
use crate::call::{Call, Init, Rows, Shape};
use crate::checks::state_layout;
use crate::column::{Column, layout_of};
use crate::cuda::{Stream, StreamLocks, Workspace};
use crate::error::Error;
use crate::interleaved::Lines;

/// Lines of fewer records are rows short enough for a thread each; of planes, lines of fewer than this times more.
const LONG: usize = 256;
const OF_PLANES: usize = 16;
/// Most bytes of the states of all rows of a line: larger ones need more registers than threads have.
const MOST_BYTES: usize = 64;
/// Records from which on rows of so many and more are segments: a thread reads short rows nearly as they lie, and takes long over a
/// long one.
const SEGMENTS: [(usize, usize); 3] = [(256, 1 << 14), (32, 1 << 19), (4, 1 << 23)];

/// The key of the workspace of flags, and what is held from them to the launch.
const FLAGS: u64 = 1 << 33;
static IN_ORDER: StreamLocks = StreamLocks::new();

impl Task<'_> {
    /// Gives rows to a stream otherwise than by a thread each, or by tiles of long ones. None if there is no faster way.
    pub(super) fn submit_rows(&self, scan: &OnGpu, stream: &Stream) -> Result<Option<Pending>, Error> {
        let Shape::Rows(rows) = self.call.shape else { return Ok(None) };
        if !self.spaced.is_empty() || self.settings.checked {
            return Ok(None);
        }
        if rows.step() == 1 {
            // A graph has no memory for the flags of a reversed call.
            let are_segments = self.are_segments(scan, &rows) && !(self.call.reversed && stream.is_capturing()?);
            return if are_segments { self.submit_segments(scan, &rows, stream) } else { Ok(None) };
        }
        if let Some(lines) = self.lines(scan, &rows)
            && let Some(of_lines) = scan.source.interleaved(lines.together())?
        {
            return self.submit_lines(&of_lines, lines, stream).map(Some);
        }
        self.chunk(scan, &rows).map_or(Ok(None), |chunk| self.submit_chunks(scan, (&rows, chunk), stream))
    }

    fn lines(&self, scan: &OnGpu, rows: &Rows) -> Option<Lines> {
        let lines = Lines::of(&scan.program, self.call, false)?;
        let is_narrow = lines.together() * state_layout(&scan.program).size as usize <= MOST_BYTES;
        let are_long = rows.len() >= if rows.plane_count() == 1 { LONG } else { LONG * OF_PLANES };
        (is_narrow && are_long).then_some(lines)
    }

    fn submit_lines(&self, scan: &OnGpu, lines: Lines, stream: &Stream) -> Result<Pending, Error> {
        let pending = lines.call(self.call, |call| {
            let lengths = (scan.program.state_len(), if call.carry.is_some() { scan.program.carry_len() } else { 1 });
            let capacity = (self.capacity.0, lines.records(self.capacity.1));
            let task = Task { call, len: lines.records(self.len), capacity, lengths, ..self.again() };
            task.submit(scan, stream)
        })?;
        let outcome = Outcome { written: lines.together() * pending.outcome.written, ..pending.outcome };
        Ok(Pending { lines: Some(lines), outcome, ..pending })
    }

    /// Whether rows one after the other are segments of a line: they have one start and no totals, and no element asks where it is.
    fn are_segments(&self, scan: &OnGpu, rows: &Rows) -> bool {
        let has_one_start = !matches!(self.call.init, Init::Each(_)) && self.call.carry.is_none();
        let are_many = SEGMENTS.iter().any(|&(row, records)| rows.len() >= row && rows.elements() >= records);
        let mut reads = scan.program.mappings().flat_map(|mapping| &mapping.reads);
        let has_totals = self.call.totals || self.reduces;
        are_many
            && rows.is_gapless()
            && has_one_start
            && !has_totals
            && !reads.any(|source| *source == Source::Index)
            && scan.source.takes_by_threads(rows.len())
    }

    fn submit_segments(&self, scan: &OnGpu, rows: &Rows, stream: &Stream) -> Result<Option<Pending>, Error> {
        let _in_order = IN_ORDER.hold(stream);
        let len = rows.records();
        // Without memory for them, rows have a thread each.
        let Ok(flags) = Workspace::lease(stream, FLAGS, len.next_multiple_of(FLAGS_OF_THREAD)) else { return Ok(None) };
        let columns = SegmentColumns { len, flags: flags.states(), numbers: 0 };
        scan.source.helpers(Helper::Flags)?.mark_rows(rows.len(), &columns, stream)?;
        // SAFETY: so many flags are there, for as long as the stream works on them in this order.
        let column = unsafe { Column::on_device_raw(scan.device.into(), flags.states(), len, layout_of(Type::Bool)) };
        let call = Call { shape: Shape::FlagColumn(&column), ..self.call.clone() };
        let mut task = Task { call: &call, len, ..self.again() };
        task.inputs.push(flags.states());
        let pending = task.submit(scan, stream)?;
        Ok(Some(Pending { outcome: Outcome { written: rows.elements(), totals: Vec::new() }, ..pending }))
    }
}
