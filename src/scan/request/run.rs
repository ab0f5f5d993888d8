//! The one way of a [`Request`] over host memory to the engine.

use std::mem::MaybeUninit;

use monoscan_ir::Mode;
use monoscan_runtime::{Column, ColumnMut, Combination, Error};

use super::{Request, Sequences};
use crate::lang::{self, ScanType};
use crate::scan::columns::{self, Columns, Record};
use crate::scan::place::Host;
use crate::scan::short;
use crate::scan::states::States;

impl<S: States, In: Record, Out: ScanType> Request<'_, S, In, Out> {
    pub(in crate::scan) fn totals_on_host(self, input: &impl Columns<In, Place = Host>) -> Result<Vec<S>, Error> {
        let scan = self.scan;
        let program = scan.program();
        let columns = columns::read(input, &program.inputs);
        let totals = self.call(Mode::Inclusive, |call, carry| match carry {
            None => scan.reduce(call, &columns),
            Some(_) => Err(Combination::ResumedTotal.into()),
        })?;
        let components = program.stages.iter().map(|stage| stage.state.len()).sum();
        Ok(totals.chunks_exact(components).map(|total| lang::from_constants(total.iter().copied())).collect())
    }

    pub(in crate::scan) fn collect(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
    ) -> Result<Vec<Out>, Error> {
        let len = columns::read(input, &self.scan.program().inputs).first().map_or(0, Column::len);
        let mut result = Vec::new();
        let bytes = len.saturating_mul(size_of::<Out>());
        result.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { bytes })?;
        let written = self.write_new(mode, input, &mut result.spare_capacity_mut()[..len])?.len();
        // SAFETY: `write_new` gave a slice of the first records, which it initialised.
        unsafe { result.set_len(written) };
        Ok(result)
    }

    pub(in crate::scan) fn write_new<'o>(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        self.check_covers(output.len())?;
        let written = self.run(mode, input, (output.as_mut_ptr().cast(), output.len()))?;
        // SAFETY: a scan that succeeds has written every field of the first `written` records, since no record is in no run.
        Ok(unsafe { output[..written].assume_init_mut() })
    }

    pub(in crate::scan) fn fill(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &mut [Out],
    ) -> Result<usize, Error> {
        self.run(mode, input, (output.as_mut_ptr().cast(), output.len()))
    }

    /// Runs the call into the memory of an exclusively borrowed slice of `Out` or of room for it.
    fn run(
        mut self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        (base, len): (*mut u8, usize),
    ) -> Result<usize, Error> {
        let scan = self.scan;
        if let Ok(Sequences::Rows(rows)) = &self.sequences
            && !self.reversed
            && self.init.is_none()
            && self.carry.is_none()
            // SAFETY: the callers borrow this memory for as long as this runs.
            && unsafe { short::rows(scan, mode, rows, input, (base, len)) }
        {
            return Ok(rows.count() * rows.len());
        }
        if let Some(states) = self.start() {
            // SAFETY: the callers borrow this memory for as long as this runs.
            if let Some(written) = unsafe { short::pass(scan, mode, states, input, (base, len)) } {
                return Ok(written);
            }
        }
        let program = scan.program();
        let inputs = columns::read(input, &program.inputs);
        // SAFETY: the callers borrow this memory for as long as this runs, and the layout is that of `Out`.
        let outputs = &mut [unsafe { ColumnMut::from_raw(base, len, &program.output.columns[0]) }];
        self.call(mode, |call, carry| match carry {
            None => scan.run(call, &inputs, outputs),
            Some(carry) => scan.resume(call, carry, &inputs, outputs),
        })
    }
}

impl<S: States, T: ScanType> Request<'_, S, (T,), T> {
    pub(in crate::scan) fn replace(mut self, mode: Mode, records: &mut [T]) -> Result<(), Error> {
        let scan = self.scan;
        if self.start().is_some_and(|states| short::replace(scan, mode, states, records)) {
            return Ok(());
        }
        let layout = &scan.program().output.columns[0];
        // SAFETY: the memory is an exclusively borrowed slice of `T`, whose layout this is.
        let columns = &mut [unsafe { ColumnMut::from_raw(records.as_mut_ptr().cast(), records.len(), layout) }];
        self.call(mode, |call, carry| match carry {
            None => scan.run_in_place(call, columns),
            Some(carry) => scan.resume_in_place(call, carry, columns),
        })
    }
}
