//! Scans over host memory piece by piece: while one piece is scanned, the next ones are on their
//! way there, and the last ones on their way back. What a piece's scan comes to is the carry of the
//! next.

use std::ops::Range;

use monoscan_ir::{Constant, Layout, Program, Source};

use super::host::Starts;
use super::on_gpu::OnGpu;
use super::pending::Pending;
use super::staging::{
    ALIGNMENT, MOST_BYTES, SLOTS, Slot, Staging, copy_in, copy_kept, copy_out, places, records_within,
};
use crate::backend::{HostTask, Outcome};
use crate::call::{Call, Shape};
use crate::column::{Column, ColumnMut};
use crate::cuda::CudaError;
use crate::engine::Heads;
use crate::error::Error;

/// A call that is cut into pieces.
struct Pieces<'s, 'a, 'c> {
    scan: &'s OnGpu,
    task: HostTask<'a, 'c>,
    heads: Option<Heads<'a>>,
    /// Bytes of the records of each column that is read; flags are the last.
    read: Vec<usize>,
    /// The same of those that are written.
    written: Vec<usize>,
    /// Whether outputs have bytes that are not written, which come back as they were.
    keeps_bytes: bool,
    pieces: Vec<Range<usize>>,
    /// The pieces that are under way, by slot.
    under_way: [Option<UnderWay>; SLOTS],
    carry: Option<Vec<Constant>>,
    starts: Starts<'a>,
    /// How many of them are those of pieces that were scanned.
    begun: usize,
    outcome: Outcome,
}

/// A piece that is scanned.
struct UnderWay {
    pending: Pending,
    /// Whether it was waited for.
    arrived: bool,
    /// The records that its results go to.
    results: Range<usize>,
}

impl HostTask<'_, '_> {
    /// Runs it, if it can be cut into pieces that fit, or is short enough to be one; else gives it back.
    pub(super) fn run_in_pieces(self, scan: &OnGpu) -> Result<Result<Outcome, Error>, Self> {
        match Pieces::cut(scan, self) {
            Ok(pieces) => Ok(pieces.run()),
            Err(task) => Err(task),
        }
    }

    /// Whether outputs have bytes that are not written, which come back as they were: padding, and records between rows.
    pub(super) fn keeps_bytes(&self, program: &Program) -> bool {
        let packed =
            |column: &Layout| column.fields.iter().map(|field| field.ty.size()).sum::<usize>() == column.size as usize;
        let leaves_out =
            matches!(self.call.shape, Shape::Rows(rows) if !rows.is_gapless() || rows.records() != self.len);
        leaves_out || !program.output.columns.iter().all(packed)
    }

    fn heads<'a>(call: &Call<'a>) -> Option<Heads<'a>> {
        match call.shape {
            Shape::Heads(flags) => Some(Heads::Flags(flags)),
            Shape::HeadBits(bits) => Some(Heads::Bits(bits)),
            Shape::Offsets(offsets) => Some(Heads::Offsets(offsets)),
            _ => None,
        }
    }
}

impl<'s, 'a, 'c> Pieces<'s, 'a, 'c> {
    fn cut(scan: &'s OnGpu, task: HostTask<'a, 'c>) -> Result<Self, HostTask<'a, 'c>> {
        let program = &*scan.program;
        // What goes by chunks needs the whole line. One that the device has no space for is scanned in pieces, by look-back.
        #[cfg(feature = "ptx")]
        if let Some(chunks) = &scan.chunks
            && task.len > 0
            && task.outputs.is_some()
            && task.call.carry.is_none()
            && chunks.takes(task.call)
            && chunks.has_space(task.len)
        {
            return Err(task);
        }
        let sizes = |columns: &[Layout]| columns.iter().map(|column| column.size as usize).collect::<Vec<_>>();
        let heads = HostTask::heads(task.call);
        let mut read = sizes(&program.inputs);
        read.extend(heads.map(|_| 1));
        let written = task.outputs.as_ref().map_or(Vec::new(), |_| sizes(&program.output.columns));
        let most = records_within(&read, MOST_BYTES).min(records_within(&written, MOST_BYTES));
        let is_line = match task.call.shape {
            Shape::Line => true,
            Shape::Heads(_) | Shape::HeadBits(_) | Shape::Offsets(_) => !task.call.reversed,
            _ => false,
        };
        let capacity = task.outputs.iter().flat_map(|outputs| outputs.iter()).map(ColumnMut::len).min();
        let has_space = capacity.is_none_or(|capacity| capacity >= task.len);
        if task.len > most && !(is_line && knows_nothing_around(program)) || most == 0 || !has_space {
            return Err(task);
        }
        let mut pieces: Vec<_> =
            (0..task.len.max(1)).step_by(most).map(|start| start..task.len.min(start + most)).collect();
        if task.call.reversed {
            pieces.reverse();
        }
        // Where pieces follow each other, the record before the first of all is none.
        let begins = || {
            let mut carry = program.first_carry();
            let first = task.call.init.states(program.state_len()).next();
            first.iter().for_each(|init| carry[..init.len()].copy_from_slice(init));
            carry
        };
        let hands_on = pieces.len() > 1 && program.reads_previous();
        let first = task.call.carry.map(<[Constant]>::to_vec).or_else(|| hands_on.then(begins));
        Ok(Pieces {
            scan,
            heads,
            read,
            written,
            keeps_bytes: task.keeps_bytes(program),
            pieces,
            under_way: [const { None }; SLOTS],
            carry: first,
            starts: Starts::of(task.call, program.state_len()),
            begun: 0,
            outcome: Outcome { written: 0, totals: Vec::new() },
            task,
        })
    }

    fn run(mut self) -> Result<Outcome, Error> {
        let longest = self.pieces.iter().map(Range::len).max().unwrap_or(0);
        let bytes = places(&self.read, longest).1.max(places(&self.written, longest).1);
        let mut staging = Staging::take(&self.scan.device, bytes)?;
        let done = self.run_through(&mut staging);
        // A failure may leave something under way that is still written.
        staging.settle()?;
        staging.give_back();
        done?;
        if self.task.call.carry.is_none() && self.pieces.len() > 1 {
            self.outcome.totals.truncate(self.scan.program.state_len());
        }
        Ok(self.outcome)
    }

    fn run_through(&mut self, staging: &mut Staging) -> Result<(), Error> {
        let count = self.pieces.len();
        for turn in 0..count + SLOTS {
            self.task.call.go_on()?;
            if let Some(piece) = turn.checked_sub(SLOTS).filter(|&piece| piece < count) {
                self.bring_back(piece, &mut staging.slots[piece % SLOTS])?;
            }
            if turn < count {
                self.send(turn, staging)?;
            }
            if let Some(piece) = turn.checked_sub(1).filter(|&piece| piece < count) {
                self.scan(piece, staging)?;
            }
            if let Some(piece) = turn.checked_sub(2).filter(|&piece| piece < count) {
                // The next piece's scan has waited for it, unless it was the last.
                self.arrive(piece, staging)?;
            }
        }
        Ok(())
    }

    /// Copies a piece into its slot and starts its way to the device.
    fn send(&mut self, piece: usize, staging: &mut Staging) -> Result<(), Error> {
        let (range, slot) = (self.pieces[piece].clone(), &mut staging.slots[piece % SLOTS]);
        let (starts, end) = places(&self.read, range.len());
        for ((input, &start), size) in self.task.inputs.iter().zip(&starts).zip(&self.read) {
            copy_in(&mut slot.read.host[start..start + size * range.len()], input, range.start);
        }
        if let Some(heads) = self.heads.filter(|_| !range.is_empty()) {
            let flags = heads.flags(range.clone(), self.task.len);
            let start = starts[self.task.inputs.len()];
            let to = &mut slot.read.host[start..start + range.len()];
            to.iter_mut().zip(flags).for_each(|(to, flag)| *to = flag.into());
        }
        // SAFETY: the host's side of the slot is left alone until the piece is back, and lives as long as the staging,
        // which settles.
        unsafe { slot.read.device.slice_mut(..end)?.copy_from_async(&staging.up, &slot.read.host[..end]) }?;
        if let Some(outputs) = self.task.outputs.as_ref().filter(|_| self.keeps_bytes) {
            let (starts, end) = places(&self.written, range.len());
            for ((output, &start), size) in outputs.iter().zip(&starts).zip(&self.written) {
                copy_kept(&mut slot.written.host[start..start + size * range.len()], output, range.start);
            }
            // SAFETY: as above.
            unsafe { slot.written.device.slice_mut(..end)?.copy_from_async(&staging.up, &slot.written.host[..end]) }?;
        }
        slot.uploaded.record(&staging.up)?;
        Ok(())
    }

    /// Starts the scan of a piece, once its carry is known.
    fn scan(&mut self, piece: usize, staging: &mut Staging) -> Result<(), Error> {
        if let Some(before) = piece.checked_sub(1) {
            self.arrive(before, staging)?;
        }
        let program = &*self.scan.program;
        let (range, slot) = (self.pieces[piece].clone(), &mut staging.slots[piece % SLOTS]);
        staging.scan.wait_for(&slot.uploaded)?;
        let Slot { read, written, scanned, .. } = slot;
        let (starts, _) = places(&self.read, range.len());
        let parts: Result<Vec<_>, CudaError> = starts
            .iter()
            .zip(&self.read)
            .map(|(&start, size)| read.device.slice(start..start + size * range.len()))
            .collect();
        let parts = parts?;
        let columns: Result<Vec<_>, Error> =
            parts.iter().zip(&program.inputs).map(|(part, layout)| Column::on_device_bytes(part, layout)).collect();
        let columns = columns?;
        let column = self.heads.map(|_| Column::on_device::<u8>(&parts[self.task.inputs.len()]));
        let shape = match (self.task.call.shape, &column) {
            (Shape::Rows(rows), _) => Shape::Rows(rows),
            (_, Some(flags)) => Shape::FlagColumn(flags),
            (_, None) => Shape::Line,
        };
        let Call { mode, reversed, .. } = *self.task.call;
        let carry = self.carry.as_deref();
        let init = match self.heads {
            None => self.starts.all(),
            Some(_) => {
                let flags = &read.host[starts[self.task.inputs.len()]..][..range.len()];
                let (init, begun) = self.starts.of_piece(self.begun, carry.is_some(), flags);
                self.begun = begun;
                init
            }
        };
        // Whatever follows goes on from the totals.
        let totals = self.task.outputs.is_none() || self.task.call.carry.is_some() || self.pieces.len() > 1;
        let call = Call { interrupt: None, mode, reversed, init, carry, shape, totals };
        let pending = match &self.task.outputs {
            None => self.scan.submit_reduce((&call, self.task.settings), &columns, &staging.scan)?,
            Some(_) => {
                let (_, end) = places(&self.written, range.len());
                let mut rest = written.device.slice_mut(..end)?;
                let mut parts = Vec::new();
                for size in &self.written {
                    let (part, behind) = rest.split_at((size * range.len()).next_multiple_of(ALIGNMENT))?;
                    parts.push(part.slice(..size * range.len())?);
                    rest = behind;
                }
                let outputs = parts.iter_mut().zip(&program.output.columns);
                let outputs: Result<Vec<_>, Error> =
                    outputs.map(|(part, layout)| ColumnMut::on_device_bytes(part, layout)).collect();
                self.scan.submit_call((&call, self.task.settings), &columns, &outputs?, &staging.scan)?
            }
        };
        scanned.record(&staging.scan)?;
        staging.down.wait_for(scanned)?;
        let keeps = program.output.filter.is_some();
        self.under_way[piece % SLOTS] = Some(UnderWay { pending, arrived: false, results: 0..0 });
        if !keeps {
            self.fetch(piece, range, staging)?;
        }
        Ok(())
    }

    /// Starts the way of a piece's results back to the host, where they will go to these records.
    fn fetch(&mut self, piece: usize, results: Range<usize>, staging: &mut Staging) -> Result<(), Error> {
        let slot = &mut staging.slots[piece % SLOTS];
        let (starts, _) = places(&self.written, self.pieces[piece].len());
        for (&start, size) in starts.iter().zip(&self.written) {
            let bytes = start..start + size * results.len();
            // SAFETY: the host's side of the slot is left alone until the piece is back, and lives as long as the
            // staging, which settles.
            unsafe {
                slot.written.device.slice(bytes.clone())?.copy_to_async(&staging.down, &mut slot.written.host[bytes])
            }?;
        }
        slot.downloaded.record(&staging.down)?;
        if let Some(under_way) = &mut self.under_way[piece % SLOTS] {
            under_way.results = results;
        }
        Ok(())
    }

    /// Waits for the scan of a piece, if nobody has: it gives the next one's carry, and where kept records go.
    fn arrive(&mut self, piece: usize, staging: &mut Staging) -> Result<(), Error> {
        let Some(under_way) = &mut self.under_way[piece % SLOTS] else { return Ok(()) };
        if std::mem::replace(&mut under_way.arrived, true) {
            return Ok(());
        }
        let start = self.pieces[piece].start;
        let Outcome { written, totals } = under_way.pending.wait().map_err(|error| error.later(start))?;
        let kept = self.outcome.written..self.outcome.written + written;
        self.outcome = Outcome { written: kept.end, totals: totals.clone() };
        if self.pieces.len() > 1 {
            self.carry = Some(totals);
        }
        if self.scan.program.output.filter.is_some() && self.task.outputs.is_some() {
            self.fetch(piece, kept, staging)?;
        }
        Ok(())
    }

    /// Copies the results of a piece to where they belong.
    fn bring_back(&mut self, piece: usize, slot: &mut Slot) -> Result<(), Error> {
        let under_way = self.under_way[piece % SLOTS].take();
        let (Some(UnderWay { results, .. }), Some(outputs)) = (under_way, &mut self.task.outputs) else {
            return Ok(());
        };
        slot.downloaded.synchronize()?;
        let (starts, _) = places(&self.written, self.pieces[piece].len());
        for ((output, &start), size) in outputs.iter_mut().zip(&starts).zip(&self.written) {
            copy_out(&slot.written.host[start..start + size * results.len()], output, results.start);
        }
        Ok(())
    }
}

/// Whether no element's code reads more than its own record and states: then a line can be cut anywhere.
fn knows_nothing_around(program: &Program) -> bool {
    let mut reads = program.mappings().flat_map(|mapping| &mapping.reads);
    // The record before the first goes from piece to piece with the carry.
    !reads.any(|source| matches!(source, Source::Next(_) | Source::Last | Source::Index))
}
