//! The short way of a plain scan: short lines go from the caller's slices straight to the kernel.
//!
//! All of this is compiled into the caller. What it does not do, because the line is long, the columns are many or the kernel is
//! not there yet, is left to a [`Request`](super::Request), by functions that are kept apart so that none of theirs is.

use std::mem::MaybeUninit;

use scan_ir::Mode;
use scan_runtime::Error;

use super::columns::{self, Columns, Record};
use super::{Scan, States};
use crate::lang::ScanType;

impl<S: States, In: Record, Out: ScanType> Scan<S, In, Out> {
    /// A plain scan into a slice.
    #[inline]
    pub(super) fn fill(&self, mode: Mode, input: impl Columns<In>, output: &mut [Out]) -> Result<usize, Error> {
        // SAFETY: a borrowed slice of `Out`.
        match unsafe { self.is_done(mode, &input, (output.as_mut_ptr(), output.len())) } {
            true => Ok(output.len()),
            false => self.fill_any(mode, &input, output),
        }
    }

    /// A plain scan into memory that need not hold anything yet.
    #[inline]
    pub(super) fn init<'o>(
        &self,
        mode: Mode,
        input: impl Columns<In>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        // SAFETY: borrowed memory for so many `Out`.
        match unsafe { self.is_done(mode, &input, (output.as_mut_ptr().cast(), output.len())) } {
            // SAFETY: all records were written.
            true => Ok(unsafe { output.assume_init_mut() }),
            false => self.init_any(mode, &input, output),
        }
    }

    #[inline(never)]
    fn fill_any(&self, mode: Mode, input: &impl Columns<In>, output: &mut [Out]) -> Result<usize, Error> {
        self.request().fill(mode, input, output)
    }

    #[inline(never)]
    fn init_any<'o>(
        &self,
        mode: Mode,
        input: &impl Columns<In>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        self.request().init(mode, input, output)
    }

    /// Scans a short line into memory for `len` records. Says whether it did.
    ///
    /// # Safety
    /// This memory is exclusively borrowed.
    #[inline]
    unsafe fn is_done(&self, mode: Mode, input: &impl Columns<In>, (output, len): (*mut Out, usize)) -> bool {
        let Some(short) = self.inner.short(mode) else { return false };
        let Some(inputs) = columns::bases(input, len) else { return false };
        // SAFETY: the layouts are those of the slices' types, all of one length; the caller borrows the output.
        unsafe { short.scan(inputs, output.cast(), len) }
    }
}

impl<S: States, T: ScanType> Scan<S, (T,), T> {
    /// A plain scan over its input.
    #[inline]
    pub(super) fn replace(&self, mode: Mode, records: &mut [T]) -> Result<(), Error> {
        let (base, len) = (records.as_mut_ptr(), records.len());
        // SAFETY: a borrowed slice of the type that is both read and written.
        match self.inner.short(mode).is_some_and(|short| unsafe { short.replace(base.cast(), len) }) {
            true => Ok(()),
            false => self.replace_any(mode, records),
        }
    }

    #[inline(never)]
    fn replace_any(&self, mode: Mode, records: &mut [T]) -> Result<(), Error> {
        self.request().replace(mode, records)
    }
}
