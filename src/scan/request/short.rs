//! Requests over host memory that are short calls: a kernel that was made before takes the caller's
//! memory as it is. Each way says whether it took the call; the engine takes what none does.

use monoscan_ir::Mode;
use monoscan_runtime::{Shape, Whole};

use super::{Boundaries, Carry, Request, Sequences, Start};
use crate::scan::columns::sealed::Part;
use crate::scan::columns::{Columns, Record};
use crate::scan::outputs::Outputs;
use crate::scan::short;
use crate::scan::states::States;
use crate::scan::totals::{self, Totals};

impl<S: States, In: Record, Out: Outputs> Request<'_, S, In, Out> {
    /// A call that is short, into memory for so many records of its one column, by a kernel that was made before. Gives how many
    /// records were written, if it did.
    ///
    /// # Safety
    /// This memory is exclusively borrowed.
    #[inline(always)]
    pub(super) unsafe fn written_short(
        &mut self,
        mode: Mode,
        input: &impl Columns<In>,
        output: (*mut u8, usize),
    ) -> Option<usize> {
        let (scan, is_plain) = (self.scan, self.is_plain());
        match &self.sequences {
            // SAFETY: the caller borrows this memory.
            Ok(Sequences::Line) if is_plain => unsafe { short::line(scan, mode, input, output) },
            Ok(Sequences::Line) => {
                let states = self.start()?;
                // SAFETY: as above.
                unsafe { short::pass(scan, mode, states, input, output) }
            }
            // SAFETY: as above.
            Ok(Sequences::Rows(rows)) if is_plain => unsafe { short::rows(scan, mode, rows, input, output) },
            Ok(Sequences::Segments(Boundaries::Heads(flags))) if is_plain => {
                // SAFETY: as above.
                unsafe { short::segments(scan, mode, flags, input, output) }
            }
            Ok(Sequences::Segments(boundaries)) if is_plain => {
                let offsets = boundaries.offsets()?;
                // SAFETY: as above.
                unsafe { short::segments_between(scan, mode, offsets, input, output) }
            }
            _ => None,
        }
    }

    /// The same of a line whose records lie at any distances or that goes backwards, of rows side by side, and of rows and segments that
    /// each start from a state of their own.
    ///
    /// # Safety
    /// As for [`written_short`](Request::written_short).
    #[inline]
    pub(super) unsafe fn written_apart(
        &mut self,
        mode: Mode,
        input: &impl Columns<In>,
        output: Part<*mut u8>,
    ) -> Option<usize> {
        let own = (output.base, output.len);
        if let Some(mut starts) = self.own_starts().filter(|_| output.spacing.is_none()) {
            let shape = self.sequences.as_ref().ok()?.shape().ok()?;
            // SAFETY: the caller borrows this memory.
            return unsafe { short::from_states(self.scan, (mode.into(), shape), input, Some(own), &mut starts) }
                .then(|| self.written(output.len));
        }
        if let (Carry::States(carry), Ok(Sequences::Rows(rows)), None) =
            (&mut self.carry, &self.sequences, output.spacing)
            && !self.reversed
            && self.interrupt.is_none()
        {
            let work = (mode.into(), Shape::Rows(*rows));
            // SAFETY: as above.
            let did = unsafe { short::from_states(self.scan, work, input, Some(own), carry) };
            return did.then(|| self.written(output.len));
        }
        match &self.sequences {
            // SAFETY: the caller borrows this memory.
            Ok(Sequences::Line) if self.is_fresh() => unsafe {
                short::spaced(self.scan, (mode, self.reversed), input, output)
            },
            Ok(Sequences::Rows(rows)) if self.is_plain() && output.spacing.is_none() => {
                // SAFETY: as above.
                unsafe { short::interleaved(self.scan, mode, rows, input, (output.base, output.len)) }
            }
            _ => None,
        }
    }

    /// The same of short sequences from the states that all start from, in new memory. Gives the states behind them.
    ///
    /// # Safety
    /// As for [`written_short`](Request::written_short).
    pub(super) unsafe fn written_with_totals(
        &self,
        mode: Mode,
        input: &impl Columns<In>,
        output: (*mut u8, usize),
    ) -> Option<Vec<S>> {
        let shape = self.sequences.as_ref().ok().filter(|_| self.is_plain())?.shape().ok()?;
        let mut totals = Vec::new();
        // SAFETY: the caller borrows this memory.
        unsafe { short::totals(self.scan, (mode.into(), shape), input, Some(output), &mut totals) }.map(|()| totals)
    }

    /// The totals of short sequences, if they are.
    pub(super) fn short_totals(&self, input: &impl Columns<In>, to: &mut impl Totals<S>) -> Option<()> {
        let asked = (Whole::Reduce, self.sequences.as_ref().ok()?.shape().ok()?);
        if self.is_plain() {
            // SAFETY: nothing is written.
            return unsafe { short::totals(self.scan, asked, input, None, to) };
        }
        let mut states = self.own_starts()?;
        to.space(states.len()).ok()?;
        // SAFETY: as above.
        let did = unsafe { short::from_states(self.scan, asked, input, None, &mut states) };
        did.then(|| totals::put(to, states.into_iter()).ok()).flatten()
    }

    /// The state that each sequence starts from, for calls forwards.
    fn own_starts(&self) -> Option<Vec<S>> {
        let is_plain = !self.reversed && self.interrupt.is_none() && matches!(self.carry, Carry::None);
        match self.init {
            Start::Each(all) if is_plain => Some(all.to_vec()),
            _ => None,
        }
    }

    /// How many records a call writes that writes all of its sequences, of columns of so many.
    fn written(&self, len: usize) -> usize {
        match &self.sequences {
            Ok(Sequences::Rows(rows)) => rows.count() * rows.len(),
            _ => len,
        }
    }
}

impl<S: States, Out: Outputs> Request<'_, S, Out::Record, Out> {
    /// A short call over so many records of its one column, by a kernel that was made before. Says whether it did.
    ///
    /// # Safety
    /// This memory is exclusively borrowed: records that are both read and written.
    #[inline(always)]
    pub(super) unsafe fn replaced_short(&mut self, mode: Mode, records: (*mut u8, usize)) -> bool {
        let scan = self.scan;
        if matches!(self.sequences, Ok(Sequences::Line)) && self.is_plain() {
            // SAFETY: the caller has the memory.
            return unsafe { short::replace_line(scan, mode, records) };
        }
        // SAFETY: as above.
        self.start().is_some_and(|states| unsafe { short::replace(scan, mode, states, records) })
    }
}
