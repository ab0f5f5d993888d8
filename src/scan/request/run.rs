//! The one way of a [`Request`] over host memory to the engine.

use std::mem::MaybeUninit;

use monoscan_ir::Mode;
use monoscan_runtime::{Column, Combination, Error, Outcome};
use smallvec::SmallVec;

use super::{Boundaries, Carry, Request, Sequences, Start};
use crate::lang::ScanType;
use crate::scan::columns::sealed::Part;
use crate::scan::columns::{self, Columns, Record};
use crate::scan::outputs::{ColumnsMut, Outputs};
use crate::scan::place::Host;
use crate::scan::short;
use crate::scan::states::{States, states_of};

impl<S: States, In: Record, Out: Outputs> Request<'_, S, In, Out> {
    pub(in crate::scan) fn totals_on_host(self, input: &impl Columns<In, Place = Host>) -> Result<Vec<S>, Error> {
        let scan = self.scan;
        let program = scan.program();
        let columns = columns::read(input, &program.inputs);
        let each = self.components_of_totals();
        let totals = self.call(Mode::Inclusive, |call, carry| match carry {
            None => scan.reduce(call, &columns),
            Some(_) => Err(Combination::ResumedTotal.into()),
        })?;
        Ok(states_of(&totals, each).collect())
    }

    pub(in crate::scan) fn collect(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
    ) -> Result<Out::Vec<Host>, Error> {
        let len = columns::read(input, &self.scan.program().inputs).first().map_or(0, Column::len);
        self.check_covers(len)?;
        let mut columns = Out::space::<Host>(&(), len)?;
        let mut parts = Parts::new();
        Out::parts::<Host>(&mut columns, len, |part| parts.push(part));
        // SAFETY: these vectors have space for so many records.
        let written = unsafe { self.run(mode, input, &parts) }?;
        // SAFETY: a scan that succeeds has written every field of the first `written` records, since every record is in a sequence.
        unsafe { Out::set_len::<Host>(&mut columns, written) };
        Ok(columns)
    }

    pub(in crate::scan) fn collect_with_totals(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
    ) -> Result<(Out::Vec<Host>, Vec<S>), Error> {
        let scan = self.scan;
        let program = scan.program();
        let inputs = columns::read(input, &program.inputs);
        let len = inputs.first().map_or(0, Column::len);
        self.check_covers(len)?;
        let mut columns = Out::space::<Host>(&(), len)?;
        let mut parts = Parts::new();
        Out::parts::<Host>(&mut columns, len, |part| parts.push(part));
        // SAFETY: these vectors have space for so many records.
        let mut outputs = unsafe { columns::write(&parts, &program.output.columns) };
        let each = self.components_of_totals();
        let Outcome { written, totals } = self.call(mode, |call, carry| match carry {
            None => scan.run_with_totals(call, &inputs, &mut outputs),
            Some(carry) => {
                let written = scan.resume(call, carry, &inputs, &mut outputs)?;
                Ok(Outcome { written, totals: carry.to_vec() })
            }
        })?;
        // SAFETY: as in `collect`.
        unsafe { Out::set_len::<Host>(&mut columns, written) };
        Ok((columns, states_of(&totals, each).collect()))
    }

    /// Runs the call into these columns.
    ///
    /// # Safety
    /// They are exclusively borrowed memory for records of `Out`'s columns.
    pub(in crate::scan) unsafe fn run(
        mut self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &[Part<*mut u8>],
    ) -> Result<usize, Error> {
        if let [Part { base, len, spacing: None }] = *output
            // SAFETY: the caller borrows this memory.
            && let Some(written) = unsafe { self.written_short(mode, input, (base, len)) }
        {
            return Ok(written);
        }
        // SAFETY: as above.
        unsafe { self.run_any(mode, input, output) }
    }

    /// Runs the call into columns that are there.
    #[inline]
    pub(in crate::scan) fn fill(
        mut self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        mut output: impl ColumnsMut<Out, Place = Host>,
    ) -> Result<usize, Error> {
        if let Some(only) = only(&mut output)
            // SAFETY: a borrowed slice of `Out`.
            && let Some(written) = unsafe { self.written_short(mode, input, only) }
        {
            return Ok(written);
        }
        self.fill_any(mode, input, &mut output)
    }

    #[inline(never)]
    fn fill_any(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &mut impl ColumnsMut<Out, Place = Host>,
    ) -> Result<usize, Error> {
        // SAFETY: this memory is borrowed for as long as this runs.
        unsafe { self.run_any(mode, input, &parts(output)) }
    }

    /// A call that is short, into memory for so many records of its one column, by a kernel that was made before. Gives how many
    /// records were written, if it did.
    ///
    /// # Safety
    /// This memory is exclusively borrowed.
    #[inline]
    unsafe fn written_short(
        &mut self,
        mode: Mode,
        input: &impl Columns<In>,
        output: (*mut u8, usize),
    ) -> Option<usize> {
        let scan = self.scan;
        if let Some(states) = self.start() {
            // SAFETY: the caller borrows this memory.
            return unsafe { short::pass(scan, mode, states, input, output) };
        }
        let is_plain = !self.reversed
            && matches!((&self.init, &self.carry), (Start::Identity, Carry::None))
            && self.interrupt.is_none();
        match &self.sequences {
            // SAFETY: as above.
            Ok(Sequences::Rows(rows)) if is_plain => unsafe { short::rows(scan, mode, rows, input, output) },
            Ok(Sequences::Segments(Boundaries::Heads(flags))) if is_plain => {
                // SAFETY: as above.
                unsafe { short::segments(scan, mode, flags, input, output) }
            }
            Ok(Sequences::Segments(Boundaries::Offsets(offsets))) if is_plain => {
                // SAFETY: as above.
                unsafe { short::segments_between(scan, mode, offsets, input, output) }
            }
            _ => None,
        }
    }

    /// A call of any length.
    ///
    /// # Safety
    /// As for [`run`](Request::run).
    #[inline(never)]
    pub(in crate::scan) unsafe fn run_any(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &[Part<*mut u8>],
    ) -> Result<usize, Error> {
        let scan = self.scan;
        let program = scan.program();
        let inputs = columns::read(input, &program.inputs);
        // SAFETY: the caller borrows this memory.
        let mut outputs = unsafe { columns::write(output, &program.output.columns) };
        self.call(mode, |call, carry| match carry {
            None => scan.run(call, &inputs, &mut outputs),
            Some(carry) => scan.resume(call, carry, &inputs, &mut outputs),
        })
    }
}

impl<S: States, In: Record, Out: ScanType> Request<'_, S, In, Out> {
    pub(in crate::scan) fn write_new<'o>(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        self.check_covers(output.len())?;
        // SAFETY: a borrowed slice.
        let written = unsafe { self.run(mode, input, &[Part::dense(output.as_mut_ptr().cast(), output.len())]) }?;
        // SAFETY: a scan that succeeds has written every field of the first `written` records, since every record is in a sequence.
        Ok(unsafe { output[..written].assume_init_mut() })
    }
}

impl<S: States, Out: Outputs> Request<'_, S, Out::Record, Out> {
    pub(in crate::scan) fn replace(
        mut self,
        mode: Mode,
        records: &mut impl ColumnsMut<Out, Place = Host>,
    ) -> Result<(), Error> {
        let scan = self.scan;
        let parts = parts(records);
        if let [Part { base, len, spacing: None }] = *parts
            && let Some(states) = self.start()
            // SAFETY: this memory is borrowed for as long as this runs.
            && unsafe { short::replace(scan, mode, states, (base, len)) }
        {
            return Ok(());
        }
        // SAFETY: as above.
        let mut columns = unsafe { columns::write(&parts, &scan.program().output.columns) };
        self.call(mode, |call, carry| match carry {
            None => scan.run_in_place(call, &mut columns),
            Some(carry) => scan.resume_in_place(call, carry, &mut columns),
        })
    }
}

/// The columns to be written, without an allocation.
pub(in crate::scan) type Parts = SmallVec<[Part<*mut u8>; 4]>;

/// All columns.
pub(in crate::scan) fn parts<Out: Outputs>(output: &mut impl ColumnsMut<Out, Place = Host>) -> Parts {
    let mut parts = Parts::new();
    output.parts(|part| parts.push(part));
    parts
}

/// The one column, where there is one and its records lie one after the other.
#[inline]
pub(in crate::scan) fn only<Out: Outputs>(output: &mut impl ColumnsMut<Out, Place = Host>) -> Option<(*mut u8, usize)> {
    let mut only = None;
    if Out::COUNT == 1 {
        output.parts(|Part { base, len, spacing }| only = spacing.is_none().then_some((base, len)));
    }
    only
}
