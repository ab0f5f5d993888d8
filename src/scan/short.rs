//! The short way of a plain scan: short lines go from the caller's slices straight to the kernel.
//!
//! So do their reductions, and scans from a carry or an initial state, which the kernel finds in
//! the caller's memory.
//!
//! All of this is compiled into the caller. What it does not do, because the line is long, the
//! columns are many or the kernel is not there yet, is left to a [`Request`](super::Request), by
//! functions that are kept apart so that none of theirs is.

use std::mem::MaybeUninit;

use monoscan_ir::Mode;
use monoscan_runtime::{DynScan, Error, Rows, Whole, with_flags};

use super::columns::{self, Columns, Record};
use super::outputs::{ColumnsMut, Outputs};
use super::place::Host;
use super::request::{only, parts};
use super::{Scan, States};
use crate::lang::ScanType;

impl<S: States, In: Record, Out: Outputs> Scan<S, In, Out> {
    /// A plain scan into columns that are there.
    #[inline]
    pub(super) fn fill(
        &self,
        mode: Mode,
        input: impl Columns<In, Place = Host>,
        mut output: impl ColumnsMut<Out, Place = Host>,
    ) -> Result<usize, Error> {
        if let Some(only) = only(&mut output)
            // SAFETY: a borrowed slice of `Out`.
            && let Some(written) = unsafe { self.scanned(mode, &input, only) }
        {
            return Ok(written);
        }
        self.fill_any(mode, &input, &mut output)
    }

    #[inline(never)]
    fn fill_any(
        &self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &mut impl ColumnsMut<Out, Place = Host>,
    ) -> Result<usize, Error> {
        // SAFETY: this memory is borrowed for as long as this runs.
        unsafe { self.request().run_any(mode, input, &parts(output)) }
    }

    /// Scans a short line into memory for `len` records of its one column. Gives how many were written, if it did.
    ///
    /// # Safety
    /// This memory is exclusively borrowed.
    #[inline]
    unsafe fn scanned(&self, mode: Mode, input: &impl Columns<In>, (output, len): (*mut u8, usize)) -> Option<usize> {
        let short = self.inner.short(mode)?;
        let inputs = columns::bases(input, len, self.inner.parameters_base())?;
        // SAFETY: the layouts are those of the slices' types, all of one length; the caller borrows the output.
        unsafe { short.scan(inputs, output, len) }
    }
}

impl<S: States, In: Record, Out: ScanType> Scan<S, In, Out> {
    /// A plain scan into memory that need not hold anything yet.
    #[inline]
    pub(super) fn write_new<'o>(
        &self,
        mode: Mode,
        input: impl Columns<In, Place = Host>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        // SAFETY: borrowed memory for so many `Out`.
        match unsafe { self.scanned(mode, &input, (output.as_mut_ptr().cast(), output.len())) } {
            // SAFETY: these records were written.
            Some(written) => Ok(unsafe { output[..written].assume_init_mut() }),
            None => self.write_new_any(mode, &input, output),
        }
    }

    #[inline(never)]
    fn write_new_any<'o>(
        &self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        self.request().write_new(mode, input, output)
    }
}

impl<S: States, In: Record, Out: Outputs> Scan<S, In, Out> {
    /// A plain reduction.
    #[inline]
    pub(super) fn total(&self, input: impl Columns<In>) -> Result<S, Error> {
        match total(&self.inner, None, &input) {
            Some(total) => Ok(total),
            None => self.total_any(&input),
        }
    }

    #[inline(never)]
    fn total_any(&self, input: &impl Columns<In>) -> Result<S, Error> {
        self.request().totals_of(input).map(|totals| totals[0])
    }
}

/// The total of a short line from this state, or from the identities; none if the line is not short.
#[inline]
pub(super) fn total<S: States, R: Record>(scan: &DynScan, init: Option<S>, input: &impl Columns<R>) -> Option<S> {
    let short = scan.short_whole(Whole::Reduce)?;
    let (inputs, len) = columns::equal(input, scan.parameters_base())?;
    let mut states = init.unwrap_or_else(S::identities);
    let to = ((&raw mut states).cast(), init.is_none());
    // SAFETY: the layouts are those of the slices' types, all of one length, and that of the states is theirs.
    unsafe { short.pass(inputs, std::ptr::null_mut(), len, to) }.map(|_| states)
}

/// Scans a short line from these states into memory for `len` records of its output, and moves the states on. Gives how many were
/// written, if it did.
///
/// # Safety
/// This memory is exclusively borrowed.
#[inline]
pub(super) unsafe fn pass<S: States, R: Record>(
    scan: &DynScan,
    mode: Mode,
    states: &mut S,
    input: &impl Columns<R>,
    (output, len): (*mut u8, usize),
) -> Option<usize> {
    let short = scan.short_whole(mode.into())?;
    let inputs = columns::bases(input, len, scan.parameters_base())?;
    // SAFETY: the layouts are those of the slices' types, all of one length, and that of the states is theirs; the caller borrows the
    // output.
    unsafe { short.pass(inputs, output, len, ((&raw mut *states).cast(), false)) }
}

/// Scans short rows into memory for `len` records. Gives how many were written, if it did.
///
/// # Safety
/// This memory is exclusively borrowed.
#[inline(always)]
pub(super) unsafe fn rows<R: Record>(
    scan: &DynScan,
    mode: Mode,
    rows: &Rows,
    input: &impl Columns<R>,
    (output, len): (*mut u8, usize),
) -> Option<usize> {
    let short = scan.short_rows(mode).filter(|_| rows.records() <= len)?;
    let inputs = columns::bases(input, len, scan.parameters_base())?;
    // SAFETY: the layouts are those of the slices' types, all of one length, which have these rows; the caller borrows the output.
    unsafe { short.scan(inputs, output, rows) }
}

/// Scans the segments of a short line, which begin at these flags, into memory for `len` records. Gives how many were written, if
/// it did.
///
/// # Safety
/// This memory is exclusively borrowed.
#[inline]
pub(super) unsafe fn segments<R: Record>(
    scan: &DynScan,
    mode: Mode,
    flags: &[bool],
    input: &impl Columns<R>,
    (output, len): (*mut u8, usize),
) -> Option<usize> {
    let short = scan.short_segments(mode).filter(|_| flags.len() == len)?;
    let inputs = columns::bases_with(input, Some(flags.as_ptr().cast()), len, scan.parameters_base())?;
    // SAFETY: as above; the flags are one more column, behind the program's.
    unsafe { short.scan(inputs, output, len) }
}

/// The same of the segments between offsets.
///
/// # Safety
/// This memory is exclusively borrowed.
#[inline]
pub(super) unsafe fn segments_between<R: Record>(
    scan: &DynScan,
    mode: Mode,
    offsets: &[usize],
    input: &impl Columns<R>,
    (output, len): (*mut u8, usize),
) -> Option<usize> {
    let between = scan.short_between(mode)?;
    if between.takes(len, offsets.len()) {
        let bases = columns::bases(input, len, scan.parameters_base())?;
        // SAFETY: the layouts are those of the slices' types, all of one length; the caller borrows the output.
        return unsafe { between.scan(bases, output, len, offsets) }.then_some(len);
    }
    // SAFETY: as above.
    unsafe { segments_by_flags(scan, mode, offsets, input, (output, len)) }
}

/// The same, by flags that are made first.
///
/// # Safety
/// This memory is exclusively borrowed.
#[inline(never)]
unsafe fn segments_by_flags<R: Record>(
    scan: &DynScan,
    mode: Mode,
    offsets: &[usize],
    input: &impl Columns<R>,
    output: (*mut u8, usize),
) -> Option<usize> {
    scan.short_segments(mode).filter(|short| short.is_for(output.1))?;
    // SAFETY: the caller borrows this memory.
    with_flags(offsets, output.1, |flags| unsafe { segments(scan, mode, flags, input, output) })
}

/// The same as [`pass`] over the input.
///
/// # Safety
/// This memory is exclusively borrowed: records that are both read and written.
#[inline]
pub(super) unsafe fn replace<S: States>(
    scan: &DynScan,
    mode: Mode,
    states: &mut S,
    (base, len): (*mut u8, usize),
) -> bool {
    let states = (&raw mut *states).cast();
    // SAFETY: the caller has the memory; the states lie as the scan was told.
    scan.short_whole(mode.into())
        .is_some_and(|short| unsafe { short.replace(base, len, (states, false), scan.parameters_base()) })
}

impl<S: States, Out: Outputs> Scan<S, Out::Record, Out> {
    /// A plain scan over its input.
    #[inline]
    pub(super) fn replace(&self, mode: Mode, mut records: impl ColumnsMut<Out, Place = Host>) -> Result<(), Error> {
        if let Some((base, len)) = only(&mut records)
            // SAFETY: a borrowed slice of the type that is both read and written.
            && self.inner.short(mode).is_some_and(|short| unsafe { short.replace(base, len, self.inner.parameters_base()) })
        {
            return Ok(());
        }
        self.replace_any(mode, &mut records)
    }

    #[inline(never)]
    fn replace_any(&self, mode: Mode, records: &mut impl ColumnsMut<Out, Place = Host>) -> Result<(), Error> {
        self.request().replace_any(mode, records)
    }
}
