//! The short way of a [`Request`](super::Request): short lines, rows and segments go from the
//! caller's slices straight to the kernel.
//!
//! So do their reductions, and scans from a carry or an initial state, which the kernel finds in
//! the caller's memory.
//!
//! All of this is compiled into the caller. What it does not do, because the line is long, or the
//! kernel is not there yet, is left to functions of the request that are kept apart.

use std::mem::MaybeUninit;

use monoscan_ir::Mode;
use monoscan_runtime::{DynScan, Rows, Shape, ShortCall, ShortColumns, ShortInputs, Whole, with_flags};

use super::States;
use super::columns::sealed::Part;
use super::columns::{self, Columns, Record};
use super::totals::Totals;

/// Scans a short line into memory for `len` records of its output. Gives how many were written, if it did.
///
/// # Safety
/// This memory is exclusively borrowed.
#[inline]
pub(super) unsafe fn line<R: Record>(
    scan: &DynScan,
    mode: Mode,
    input: &impl Columns<R>,
    (output, len): (*mut u8, usize),
) -> Option<usize> {
    let short = scan.short(mode)?;
    let mut inputs = ShortInputs::new(scan.parameters_base());
    inputs_of(scan, input, len, &mut inputs)?;
    // SAFETY: the layouts are those of the slices' types, all of one length; the caller borrows the output.
    unsafe { short.scan(&inputs, output, len) }
}

/// The same of a longer line, if it may end early.
///
/// # Safety
/// As for [`line`].
pub(super) unsafe fn early<R: Record>(
    scan: &DynScan,
    mode: Mode,
    input: &impl Columns<R>,
    (output, len): (*mut u8, usize),
) -> Option<usize> {
    let short = scan.short_whole(mode.into())?;
    let mut inputs = ShortInputs::new(scan.parameters_base());
    inputs_of(scan, input, len, &mut inputs)?;
    // SAFETY: as for `line`.
    unsafe { short.line(&inputs, output, len) }
}

/// Scans a short line backwards, or of columns whose records lie at any distances, into memory for the records of its output. Gives
/// how many were written, if it did.
///
/// # Safety
/// This memory is exclusively borrowed.
pub(super) unsafe fn spaced<R: Record>(
    scan: &DynScan,
    (mode, reversed): (Mode, bool),
    input: &impl Columns<R>,
    Part { base, len, spacing }: Part<*mut u8>,
) -> Option<usize> {
    let mut inputs = columns::Spaced::new();
    let records = columns::spaced(input, &mut inputs).filter(|&records| records == len)?;
    let are_alike = inputs.iter().all(|(_, spacing)| spacing.is_none()) && spacing.is_none();
    let short = scan.short_spaced(mode, are_alike).filter(|_| reversed || !are_alike)?;
    // SAFETY: the layouts are those of the slices' types, all of one length; the caller borrows the output.
    unsafe { short.line((&inputs, &[(base, spacing)]), (records, reversed), scan.parameters_base()) }.then_some(len)
}

/// The total of a short line from this state, or from the identities; none if the line is not short.
#[inline]
pub(super) fn total<S: States, R: Record>(scan: &DynScan, init: Option<S>, input: &impl Columns<R>) -> Option<S> {
    let len = columns::len_of(input);
    let short = scan.short_whole(Whole::Reduce)?;
    let mut inputs = ShortInputs::new(scan.parameters_base());
    inputs_of(scan, input, len, &mut inputs)?;
    let mut states = MaybeUninit::<S>::uninit();
    let to = (states.as_mut_ptr().cast(), init.is_none());
    match init {
        // SAFETY: the layout of the states is that of their type.
        None if S::IS_OF_LOOP => unsafe { short.begin(to.0) },
        init => _ = states.write(init.unwrap_or_else(S::identities)),
    }
    // SAFETY: the layouts are those of the slices' types, all of one length, and that of the states is theirs, which were written.
    unsafe { short.pass(&inputs, std::ptr::null_mut(), len, to).map(|_| states.assume_init()) }
}

/// The totals of short rows or segments from the start. Says whether they are there: not where the engine is to take them.
#[inline(always)]
pub(super) fn totals<S: States, R: Record>(
    scan: &DynScan,
    shape: Shape<'_>,
    input: &impl Columns<R>,
    to: &mut impl Totals<S>,
) -> bool {
    let len = columns::len_of(input);
    let Some(short) = scan.short_whole(Whole::Reduce) else { return false };
    let mut inputs = ShortInputs::new(scan.parameters_base());
    let Some(()) = inputs_of(scan, input, len, &mut inputs) else { return false };
    let Some(totals) = short.totals_of(shape, len) else { return false };
    let Ok(space) = to.space(totals.count()) else { return false };
    let count = totals.count();
    // SAFETY: the layouts are those of the slices' types, all of one length, and that of the states is theirs; there is space for so many.
    unsafe {
        totals.run(&inputs, space.cast());
        to.written(count);
    }
    true
}

/// Scans or reduces short sequences of any columns, from states in memory that `space` has for so many to those behind them. Gives the
/// number of sequences, if it did: not where they are long or wrong, or have no space.
///
/// # Safety
/// The outputs are exclusively borrowed, and so is memory that `space` has, with states unless sequences start from the start.
pub(super) unsafe fn sequences<R: Record>(
    scan: &DynScan,
    call: ShortCall<'_>,
    input: &impl Columns<R>,
    outputs: &[Part<*mut u8>],
    space: impl FnMut(usize) -> Option<*mut u8>,
) -> Option<usize> {
    let (mut inputs, mut to) = (columns::Spaced::new(), columns::Spaced::new());
    let len = columns::spaced(input, &mut inputs).filter(|&len| outputs.iter().all(|part| part.len == len))?;
    outputs.iter().for_each(|part| to.push((part.base, part.spacing)));
    // SAFETY: the layouts are those of the slices' types, all of one length, and that of the states is theirs; the caller borrows the
    // outputs.
    unsafe { scan.short_sequences(call, ShortColumns { inputs: &inputs, outputs: &to, len }, space) }
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
    let mut inputs = ShortInputs::new(scan.parameters_base());
    inputs_of(scan, input, len, &mut inputs)?;
    // SAFETY: the layouts are those of the slices' types, all of one length, and that of the states is theirs; the caller borrows the
    // output.
    unsafe { short.pass(&inputs, output, len, ((&raw mut *states).cast(), false)) }
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
    let mut inputs = ShortInputs::new(scan.parameters_base());
    inputs_of(scan, input, len, &mut inputs)?;
    // SAFETY: the layouts are those of the slices' types, all of one length, which have these rows; the caller borrows the output.
    unsafe { short.scan(&inputs, (output, false), rows) }
}

/// The same of rows side by side.
///
/// # Safety
/// As for [`rows`].
pub(super) unsafe fn interleaved<R: Record>(
    scan: &DynScan,
    mode: Mode,
    rows: &Rows,
    input: &impl Columns<R>,
    (output, len): (*mut u8, usize),
) -> Option<usize> {
    let short = scan.short_interleaved(mode, rows).filter(|_| rows.records() <= len)?;
    let mut inputs = ShortInputs::new(scan.parameters_base());
    inputs_of(scan, input, len, &mut inputs)?;
    // SAFETY: the layouts are those of the slices' types, all of one length; a record of the line is one of each row.
    unsafe { short.scan(&inputs, output, rows.len()) }.map(|written| written * rows.step())
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
    let mut inputs = ShortInputs::new(scan.parameters_base());
    inputs_of(scan, input, len, &mut inputs)?;
    inputs.push(flags.as_ptr().cast(), scan.parameters_base());
    // SAFETY: as above; the flags are one more column, behind the program's.
    unsafe { short.scan(&inputs, output, len) }
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
        let mut bases = ShortInputs::new(scan.parameters_base());
        inputs_of(scan, input, len, &mut bases)?;
        // SAFETY: the layouts are those of the slices' types, all of one length; the caller borrows the output.
        return unsafe { between.scan(&bases, (output, false), len, offsets) }.then_some(len);
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

/// The same as [`line`] over the input.
///
/// # Safety
/// This memory is exclusively borrowed: records that are both read and written.
#[inline]
pub(super) unsafe fn replace_line(scan: &DynScan, mode: Mode, (base, len): (*mut u8, usize)) -> bool {
    // SAFETY: the caller has the memory.
    scan.short(mode).is_some_and(|short| unsafe { short.replace(base, len, scan.parameters_base()) })
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

/// Adds the slices as kernels of short lines take them, if all of them are on the host, of this length and without gaps. Addresses that
/// were just written are not moved: a copy in vectors waits until the processor has stored them, and so for all calls before.
#[inline(always)]
fn inputs_of<R: Record>(scan: &DynScan, input: &impl Columns<R>, len: usize, inputs: &mut ShortInputs) -> Option<()> {
    columns::bases(input, len, scan.parameters_base(), inputs).then_some(())
}
