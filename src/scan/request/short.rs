//! Requests over host memory that are short calls: a kernel that was made before takes the caller's
//! memory as it is. Each way says whether it took the call; the engine takes what none does.

use std::mem::MaybeUninit;

use monoscan_ir::Mode;
use monoscan_runtime::{Shape, ShortCall, ShortStart, Whole};
use smallvec::SmallVec;

use super::{Boundaries, Carry, Request, Sequences, Start};
use crate::scan::columns::sealed::Part;
use crate::scan::columns::{Columns, Record};
use crate::scan::outputs::Outputs;
use crate::scan::short;
use crate::scan::states::States;
use crate::scan::totals::{self, Totals};

/// Records of a flagged segment, on average, from which on a call for each is faster than to look at the flags.
const LEAST_OF_LOOP: usize = 6;

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

    /// The same by other kernels: of lines that may end early, backwards or with strides, of rows side by side, and, of any columns, of
    /// sequences that start from given states or go backwards.
    ///
    /// # Safety
    /// As for [`written_short`](Request::written_short).
    #[inline]
    pub(super) unsafe fn written_otherwise(
        &mut self,
        mode: Mode,
        input: &impl Columns<In>,
        outputs: &[Part<*mut u8>],
    ) -> Option<usize> {
        let len = outputs.first()?.len;
        match (&self.sequences, outputs) {
            // SAFETY: the caller borrows this memory.
            (Ok(Sequences::Line), &[output]) if self.is_fresh() => unsafe {
                let is_early = self.is_plain() && output.spacing.is_none();
                let early = is_early.then(|| short::early(self.scan, mode, input, (output.base, len))).flatten();
                early.or_else(|| short::spaced(self.scan, (mode, self.reversed), input, output))
            },
            (Ok(Sequences::Rows(rows)), &[Part { base, spacing: None, .. }]) if self.is_plain() => {
                // SAFETY: as above.
                unsafe { short::interleaved(self.scan, mode, rows, input, (base, len)) }
            }
            (Ok(Sequences::Segments(_)), _) if S::IS_OF_LOOP && self.is_plain() => {
                // SAFETY: as above.
                unsafe { self.segments_of_loop(mode, input, outputs) }.then_some(len)
            }
            // The engine makes the kernels for these.
            _ if self.is_plain() => None,
            // SAFETY: as above.
            _ => unsafe { self.sequences_short(mode.into(), input, outputs, None::<&mut Vec<S>>) }
                .map(|_| self.written(len)),
        }
    }

    /// The same of segments of a loop: each is a call of the loop's own step. Where segments begin inside of a kernel, that costs every
    /// element. Says whether it did.
    ///
    /// # Safety
    /// As for [`written_short`](Request::written_short).
    unsafe fn segments_of_loop(&self, mode: Mode, input: &impl Columns<In>, outputs: &[Part<*mut u8>]) -> bool {
        let Ok(Sequences::Segments(boundaries)) = &self.sequences else { return false };
        if outputs.len() > 1 || !self.scan.takes_segments_as_lines(mode) {
            return false;
        }
        let Some(offsets) = boundaries.as_offsets(LEAST_OF_LOOP) else { return false };
        let call =
            ShortCall { work: mode.into(), shape: Shape::Offsets(&offsets), reversed: false, begin: ShortStart::Start };
        let mut states: Vec<S> = Vec::new();
        let space = |count| states.try_reserve(count).ok().map(|()| states.as_mut_ptr().cast());
        // SAFETY: the caller borrows the outputs; there is memory for so many states.
        unsafe { short::sequences(self.scan, call, input, outputs, space) }.is_some()
    }

    /// The same of short sequences, in new memory. Gives the states behind them.
    ///
    /// # Safety
    /// As for [`written_short`](Request::written_short).
    pub(super) unsafe fn written_with_totals(
        &mut self,
        mode: Mode,
        input: &impl Columns<In>,
        outputs: &[Part<*mut u8>],
    ) -> Option<Vec<S>> {
        let mut totals = Vec::new();
        // SAFETY: the caller borrows this memory.
        unsafe { self.sequences_short(mode.into(), input, outputs, Some(&mut totals)) }.map(|_| totals)
    }

    /// The totals of a call that is short, by code that was made before. Says whether it did.
    #[inline(always)]
    pub(super) fn totals_short(&self, input: &impl Columns<In>, to: &mut impl Totals<S>) -> bool {
        match &self.sequences {
            Ok(Sequences::Line) => {
                self.short_total(input).is_some_and(|total| totals::put(to, std::iter::once(total)).is_ok())
            }
            Ok(Sequences::Rows(rows)) if self.is_plain() => short::totals(self.scan, Shape::Rows(*rows), input, to),
            Ok(Sequences::Segments(boundaries)) if self.is_plain() => {
                let offsets = boundaries.offsets();
                offsets.is_some_and(|offsets| short::totals(self.scan, Shape::Offsets(offsets), input, to))
            }
            _ => false,
        }
    }

    /// The total of a short line.
    #[inline(always)]
    pub(super) fn short_total(&self, input: &impl Columns<In>) -> Option<S> {
        let is_plain = matches!(self.sequences, Ok(Sequences::Line))
            && !self.reversed
            && matches!(self.carry, Carry::None)
            && self.interrupt.is_none();
        let init = match self.init {
            Start::Identity => None,
            Start::Same(init) => Some(init),
            Start::Each(_) => return None,
        };
        is_plain.then(|| short::total(self.scan, init, input)).flatten()
    }

    /// The same of any short sequences, by code that is made if it is not there.
    pub(super) fn made_totals_short(&mut self, input: &impl Columns<In>, to: &mut impl Totals<S>) -> Option<()> {
        // SAFETY: nothing is written.
        unsafe { self.sequences_short(Whole::Reduce, input, &[], Some(to)) }.map(|_| ())
    }

    /// Scans or reduces short sequences from the states that they start from. Those behind them go to the carry, or to `totals`, if they are
    /// wanted. Gives the number of sequences, if it did.
    ///
    /// # Safety
    /// As for [`written_short`](Request::written_short).
    unsafe fn sequences_short(
        &mut self,
        work: Whole,
        input: &impl Columns<In>,
        outputs: &[Part<*mut u8>],
        mut totals: Option<&mut impl Totals<S>>,
    ) -> Option<usize> {
        let (sequences, init) = (self.sequences.as_ref().ok()?, &self.init);
        let begin = match (init, &self.carry) {
            (Start::Identity, Carry::None) => ShortStart::Start,
            (Start::Same(_), Carry::None) => ShortStart::Same,
            _ => ShortStart::Each,
        };
        let call = ShortCall { work, shape: sequences.shape().ok()?, reversed: self.reversed, begin };
        let carry = match &mut self.carry {
            _ if self.interrupt.is_some() => return None,
            Carry::None => None,
            Carry::States(states) if totals.is_none() && !matches!(init, Start::Each(_)) => match sequences {
                Sequences::Line | Sequences::Rows(_) => Some(states),
                _ => return None,
            },
            _ => return None,
        };
        let carry = carry.map(|states| (states.as_mut_ptr(), states.len()));
        let mut unwanted: SmallVec<[MaybeUninit<S>; 8]> = SmallVec::new();
        let space = |count: usize| {
            if let Some((states, len)) = carry {
                return (len == count).then_some(states.cast());
            }
            let to: *mut S = match &mut totals {
                Some(totals) => totals.space(count).ok()?,
                None => {
                    unwanted.try_reserve(count).ok()?;
                    unwanted.as_mut_ptr().cast()
                }
            };
            match init {
                Start::Identity => {}
                // SAFETY: there is memory for so many.
                Start::Same(state) => (0..count).for_each(|number| unsafe { to.add(number).write(*state) }),
                // SAFETY: as above.
                Start::Each(states) if states.len() == count => unsafe {
                    to.copy_from_nonoverlapping(states.as_ptr(), count);
                },
                Start::Each(_) => return None,
            }
            Some(to.cast())
        };
        // SAFETY: the caller borrows the outputs; there is memory for so many states.
        let count = unsafe { short::sequences(self.scan, call, input, outputs, space) }?;
        if let Some(totals) = totals {
            // SAFETY: so many were written.
            unsafe { totals.written(count) };
        }
        Some(count)
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
