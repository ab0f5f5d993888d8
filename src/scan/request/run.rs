//! The one way of a [`Request`] over host memory to the engine: the place [`Host`].

use std::mem::{ManuallyDrop, MaybeUninit};

use monoscan_ir::Mode;
use monoscan_runtime::space::reserve;
use monoscan_runtime::{Call, Column, Combination, DynScan, Error, Outcome};
use smallvec::SmallVec;

use super::Request;
use crate::lang::ScanType;
#[cfg(feature = "lexer")]
use crate::scan::Plain;
use crate::scan::columns::sealed::Part;
use crate::scan::columns::{self, Columns, Record};
use crate::scan::outputs::{ColumnsMut, Outputs};
use crate::scan::place::{Host, sealed};
use crate::scan::states::{States, states_of};
use crate::scan::totals::{self, Totals};

impl sealed::Place for Host {
    const ON_HOST: bool = true;

    type Part<'a> = Part<*mut u8>;
    type Maker = ();

    fn space<T: ScanType>((): &(), len: usize) -> Result<Vec<T>, Error> {
        let mut space = Vec::new();
        reserve(&mut space, len)?;
        Ok(space)
    }

    fn part<T: ScanType>(space: &mut Vec<T>, len: usize) -> Part<*mut u8> {
        let space = &mut space.spare_capacity_mut()[..len];
        Part::dense(space.as_mut_ptr().cast(), space.len())
    }

    #[cfg(feature = "lexer")]
    fn collect_through<T: ScanType, M: ScanType, U: ScanType>(
        (first, second): (Plain<'_, T, M>, Plain<'_, M, U>),
        input: &impl Columns<(T,), Place = Host>,
    ) -> Result<Vec<U>, Error> {
        let between: Vec<M> = <Host as sealed::Place>::collect(first, Mode::Inclusive, input)?;
        <Host as sealed::Place>::collect(second, Mode::Inclusive, &&between)
    }

    #[cfg(feature = "lexer")]
    fn fill_through<T: ScanType, M: ScanType, U: ScanType>(
        (first, second): (Plain<'_, T, M>, Plain<'_, M, U>),
        input: &impl Columns<(T,), Place = Host>,
        output: impl ColumnsMut<U, Place = Host>,
    ) -> Result<usize, Error> {
        let between: Vec<M> = <Host as sealed::Place>::collect(first, Mode::Inclusive, input)?;
        <Host as sealed::Place>::fill(second, Mode::Inclusive, &&between, output)
    }

    #[cfg(feature = "lexer")]
    fn of_slice(
        input: &impl Columns<(u8,), Place = Host>,
        walk: impl FnOnce(&[u8]) -> Result<Vec<u8>, Error>,
    ) -> Option<Result<Vec<u8>, Error>> {
        Some(walk(bytes(input)?))
    }

    #[cfg(feature = "lexer")]
    fn of_slice_into(
        input: &impl Columns<(u8,), Place = Host>,
        output: &mut impl ColumnsMut<u8, Place = Host>,
        walk: impl FnOnce(&[u8], &mut [u8]) -> Result<(), Error>,
    ) -> Option<Result<usize, Error>> {
        let input = bytes(input)?;
        let (base, len) = only::<u8>(output).filter(|&(_, len)| len == input.len())?;
        // SAFETY: a slice of so many bytes, borrowed mutably.
        let output = unsafe { std::slice::from_raw_parts_mut(base, len) };
        Some(walk(input, output).map(|()| len))
    }

    unsafe fn set_len<T: ScanType>(space: &mut Vec<T>, len: usize) {
        // SAFETY: the caller says so.
        unsafe { space.set_len(len) }
    }

    fn collect<S: States, In: Record, Out: Outputs>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
    ) -> Result<Out::Vec<Host>, Error> {
        request
            .into_new(input, |request, parts| {
                // SAFETY: these vectors have space for so many records.
                Ok((unsafe { request.run(mode, input, parts) }?, ()))
            })
            .map(|(columns, ())| columns)
    }

    fn collect_with_totals<S: States, In: Record, Out: Outputs>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
    ) -> Result<(Out::Vec<Host>, Vec<S>), Error> {
        let scan = request.scan;
        let program = scan.program();
        request.into_new(input, |mut request, parts| {
            // SAFETY: these vectors have space for so many records.
            if let Some(totals) = unsafe { request.written_with_totals(mode, input, parts) } {
                return Ok((parts.first().map_or(0, |part| part.len), totals));
            }
            let inputs = columns::read(input, &program.inputs);
            // SAFETY: these vectors have space for so many records.
            let mut outputs = unsafe { columns::write(parts, &program.output.columns) };
            let each = request.components_of_totals();
            let Outcome { written, totals } = request.call(mode, |call, carry| match carry {
                None => scan.run_with_totals(call, &inputs, &mut outputs),
                Some(carry) => {
                    let written = scan.resume(call, carry, &inputs, &mut outputs)?;
                    Ok(Outcome { written, totals: carry.to_vec() })
                }
            })?;
            Ok((written, states_of(&totals, each).collect()))
        })
    }

    // Within its caller, which knows the request: so hardly anything is left to ask before a short call.
    #[inline(always)]
    fn fill<S: States, In: Record, Out: Outputs>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        mut output: impl ColumnsMut<Out, Place = Host>,
    ) -> Result<usize, Error> {
        let mut request = ManuallyDrop::new(request);
        if let Some(only) = only(&mut output)
            // SAFETY: a borrowed slice of `Out`.
            && let Some(written) = unsafe { request.written_short(mode, input, only) }
        {
            // SAFETY: it is left here.
            unsafe { Request::end(&mut request) };
            return Ok(written);
        }
        ManuallyDrop::into_inner(request).fill_any(mode, input, &mut output)
    }

    #[inline(always)]
    fn replace<S: States, Out: Outputs>(
        request: Request<'_, S, Out::Record, Out>,
        mode: Mode,
        mut records: impl ColumnsMut<Out, Place = Host>,
    ) -> Result<(), Error> {
        let mut request = ManuallyDrop::new(request);
        if let Some(only) = only(&mut records)
            // SAFETY: a borrowed slice of the type that is both read and written.
            && unsafe { request.replaced_short(mode, only) }
        {
            // SAFETY: it is left here.
            unsafe { Request::end(&mut request) };
            return Ok(());
        }
        ManuallyDrop::into_inner(request).replace_any(mode, &mut records)
    }

    fn totals<S: States, In: Record, Out: Outputs>(
        mut request: Request<'_, S, In, Out>,
        input: &impl Columns<In, Place = Host>,
        to: &mut impl Totals<S>,
    ) -> Result<(), Error> {
        let scan = request.scan;
        let columns = columns::read(input, &scan.program().inputs);
        let each = request.components_of_totals();
        request.call(Mode::Inclusive, |call, carry| match carry {
            None => totals_into(scan, call, &columns, (each, to)),
            Some(_) => Err(Combination::ResumedTotal.into()),
        })
    }
}

/// The totals of all sequences, of which engines give so many components each.
fn totals_into<S: States>(
    scan: &DynScan,
    call: &Call<'_>,
    columns: &[Column<'_>],
    (each, to): (usize, &mut impl Totals<S>),
) -> Result<(), Error> {
    // SAFETY: there is space for so many states, exclusively borrowed.
    if let Some(count) = unsafe { scan.totals_into(call, columns, |count| to.space(count).map(<*mut S>::cast))? } {
        // SAFETY: all of them were written.
        unsafe { to.written(count) };
        return Ok(());
    }
    totals::put(to, states_of(&scan.reduce(call, columns)?, each))
}

/// A column of bytes, if they lie one after the other.
#[cfg(feature = "lexer")]
fn bytes(column: &impl Columns<(u8,), Place = Host>) -> Option<&[u8]> {
    let mut dense = None;
    column.parts(|part| dense = Some(part).filter(|part| part.spacing.is_none()));
    // SAFETY: a slice of so many bytes, borrowed as long as the column is.
    dense.map(|Part { base, len, .. }| unsafe { std::slice::from_raw_parts(base, len) })
}

impl<S: States, In: Record, Out: Outputs> Request<'_, S, In, Out> {
    /// New columns as long as the input, of the records that `write` writes there, which gives their number.
    fn into_new<R>(
        self,
        input: &impl Columns<In, Place = Host>,
        write: impl FnOnce(Self, &Parts) -> Result<(usize, R), Error>,
    ) -> Result<(Out::Vec<Host>, R), Error> {
        let len = columns::read(input, &self.scan.program().inputs).first().map_or(0, Column::len);
        self.check_covers(len)?;
        let mut columns = Out::space::<Host>(&(), len)?;
        let mut parts = Parts::new();
        Out::parts::<Host>(&mut columns, len, |part| parts.push(part));
        let (written, more) = write(self, &parts)?;
        // SAFETY: a scan that succeeds has written every field of the first `written` records, since every record is in a sequence.
        unsafe { Out::set_len::<Host>(&mut columns, written) };
        Ok((columns, more))
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

    #[inline(never)]
    fn fill_any(
        mut self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &mut impl ColumnsMut<Out, Place = Host>,
    ) -> Result<usize, Error> {
        // SAFETY: this memory is borrowed for as long as this runs.
        unsafe { self.run_any(mode, input, &parts(output)) }
    }

    /// A call of any length.
    ///
    /// # Safety
    /// As for [`run`](Request::run).
    #[inline(never)]
    unsafe fn run_any(
        &mut self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &[Part<*mut u8>],
    ) -> Result<usize, Error> {
        // SAFETY: the caller borrows this memory.
        if let Some(written) = unsafe { self.written_otherwise(mode, input, output) } {
            return Ok(written);
        }
        let scan = self.scan;
        let program = scan.program();
        let inputs = columns::read(input, &program.inputs);
        // SAFETY: as above.
        let mut outputs = unsafe { columns::write(output, &program.output.columns) };
        self.call(mode, |call, carry| match carry {
            None => scan.run(call, &inputs, &mut outputs),
            Some(carry) => scan.resume(call, carry, &inputs, &mut outputs),
        })
    }
}

impl<S: States, In: Record, Out: ScanType> Request<'_, S, In, Out> {
    /// As [`run_any`](Request::run_any). Not inlined, so that a short call keeps no request in memory.
    ///
    /// # Safety
    /// As for [`run`](Request::run).
    #[inline(never)]
    unsafe fn run_new(
        mut self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: Part<*mut u8>,
    ) -> Result<usize, Error> {
        // SAFETY: the caller's promise.
        unsafe { self.run_any(mode, input, &[output]) }
    }

    #[inline(always)]
    pub(super) fn write_new<'o>(
        self,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        self.check_covers(output.len())?;
        let (base, len) = (output.as_mut_ptr().cast(), output.len());
        let mut request = ManuallyDrop::new(self);
        // SAFETY: a borrowed slice.
        let written = match unsafe { request.written_short(mode, input, (base, len)) } {
            Some(written) => {
                // SAFETY: it is left here.
                unsafe { Request::end(&mut request) };
                written
            }
            // SAFETY: as above.
            None => unsafe { ManuallyDrop::into_inner(request).run_new(mode, input, Part::dense(base, len)) }?,
        };
        // SAFETY: a scan that succeeds has written every field of the first `written` records, since every record is in a sequence.
        Ok(unsafe { output[..written].assume_init_mut() })
    }
}

impl<S: States, Out: Outputs> Request<'_, S, Out::Record, Out> {
    #[inline(never)]
    fn replace_any(mut self, mode: Mode, records: &mut impl ColumnsMut<Out, Place = Host>) -> Result<(), Error> {
        let scan = self.scan;
        // SAFETY: this memory is borrowed for as long as this runs.
        let mut columns = unsafe { columns::write(&parts(records), &scan.program().output.columns) };
        self.call(mode, |call, carry| match carry {
            None => scan.run_in_place(call, &mut columns),
            Some(carry) => scan.resume_in_place(call, carry, &mut columns),
        })
    }
}

/// The columns to be written, without an allocation.
type Parts = SmallVec<[Part<*mut u8>; 4]>;

/// All columns.
fn parts<Out: Outputs>(output: &mut impl ColumnsMut<Out, Place = Host>) -> Parts {
    let mut parts = Parts::new();
    output.parts(|part| parts.push(part));
    parts
}

/// The one column, where there is one and its records lie one after the other.
#[inline]
fn only<Out: Outputs>(output: &mut impl ColumnsMut<Out, Place = Host>) -> Option<(*mut u8, usize)> {
    let mut only = None;
    if Out::COUNT == 1 {
        output.parts(|Part { base, len, spacing }| only = spacing.is_none().then_some((base, len)));
    }
    only
}
