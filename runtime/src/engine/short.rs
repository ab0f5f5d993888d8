//! Short lines: where a call would cost more than its elements do.
//!
//! A scan of a few elements takes a few nanoseconds, so between a caller that knows its columns and
//! the kernel there is one look whether the kernel is there and one whether the line is short. The
//! kernel has in its code where lines start and takes the columns in registers; how it combines is
//! what the engine would have done. Reductions and resumed scans have such kernels too
//! (`short_whole`), and so do short rows (`short_rows`).

use monoscan_codegen::cpu::{Kernel, ShortFn, ShortInputs};

use super::absorbing::WHOLE;
use super::contest::Contest;
use super::variant::{Kernels, Variant};
use crate::checks;
#[cfg(doc)]
use crate::dynscan::DynScan;
use crate::error::Error;

/// A kernel that scans short lines of a program from the states that they [start](monoscan_ir::Program::start) from, the identities but
/// for loops.
#[doc(hidden)]
pub struct Short {
    /// Code of the variants that this is a part of, and a function of the user's crate or code that calls one.
    generated: ShortFn,
    function: ShortFn,
    contest: Contest,
    /// Most elements of a line that one sequential pass is the way for.
    longest: usize,
    /// Whether the output may be the input.
    replaces: bool,
}

impl Short {
    /// Of a form that is not from an initial state; none if its columns are many or if it has no kernels.
    pub(super) fn of(variant: &Variant) -> Result<Option<Short>, Error> {
        let Some((generated, function)) = Short::codes(variant)? else { return Ok(None) };
        let contest = Contest::with(function.is_some(), variant.is_native_asked());
        let replaces = checks::can_replace(&variant.program).is_ok();
        // Longer lines may end early, which kernels with states in memory see.
        let longest = match variant.ends_early(true) {
            Some(_) => variant.plan.direct.min(WHOLE),
            None => variant.plan.direct,
        };
        let function = function.unwrap_or(generated);
        Ok(Some(Short { generated, function, contest, longest, replaces }))
    }

    /// Generated code, and what a function does the same by, if there is one.
    fn codes(variant: &Variant) -> Result<Option<(ShortFn, Option<ShortFn>)>, Error> {
        let checked = |kernels: &Kernels| -> Result<Option<ShortFn>, Error> {
            let Some(code) = kernels.code.short() else { return Ok(None) };
            variant.check(kernels, &[Kernel::Short].into()).map(|()| Some(code))
        };
        let Ok([generated, by_function]) = variant.rivals() else { return Ok(None) };
        let function = match by_function.code.native_short() {
            Some(short) => Some(short),
            None if by_function.code.is_native(Kernel::Short) => checked(by_function)?,
            None => None,
        };
        Ok(checked(generated)?.map(|generated| (generated, function)))
    }

    /// Scans a line of `len` records if it is short enough. Gives how many records it wrote, if it did. Where the user's function
    /// panics, generated code scans the line.
    ///
    /// # Safety
    /// These are the input columns of the program in order, behind them where its [parameters](DynScan::parameters_base) are, and its
    /// output column, with space for all records, borrowed as [`Column`](crate::Column) and [`ColumnMut`](crate::ColumnMut) borrow.
    #[inline]
    pub unsafe fn scan(&self, inputs: &ShortInputs, output: *mut u8, len: usize) -> Option<usize> {
        if len > self.longest {
            return None;
        }
        let [a, b, c, d] = inputs.registers();
        Some(self.contest.run(len, |is_function| {
            if is_function {
                // SAFETY: the columns are what the caller says. The code is there: this is borrowed from the variant that owns it.
                let written = unsafe { (self.function)(len, output, a, b, c, d) };
                if written == len {
                    return len;
                }
            }
            // SAFETY: as above, and the output overlaps no input, so those are as they were.
            unsafe { (self.generated)(len, output, a, b, c, d) }
        }))
    }

    /// As [`scan`](Short::scan), by generated code: the output may be an input column, of a program that can replace its input.
    ///
    /// # Safety
    /// As for [`scan`](Short::scan), but for that.
    #[inline]
    pub(crate) unsafe fn scan_over(&self, inputs: &ShortInputs, output: *mut u8, len: usize) -> Option<usize> {
        let [a, b, c, d] = inputs.registers();
        // SAFETY: as in `scan`. Generated code reads a record before it writes there.
        (len <= self.longest).then(|| unsafe { (self.generated)(len, output, a, b, c, d) })
    }

    /// Whether a line of so many records is short enough.
    #[inline]
    pub fn is_for(&self, len: usize) -> bool {
        len <= self.longest
    }

    /// Whether a function scans them.
    pub(crate) fn is_native(&self) -> bool {
        self.contest.is_function()
    }

    /// As [`scan`](Short::scan), over the input.
    ///
    /// # Safety
    /// This is the one column that the program reads, laid out as the one that it writes, exclusively borrowed; and where its parameters are.
    #[inline]
    pub unsafe fn replace(&self, records: *mut u8, len: usize, parameters: *const u8) -> bool {
        let inputs = ShortInputs::of([records.cast_const()], parameters);
        // SAFETY: an output column may be the input column of a program that reads no neighbouring record.
        self.replaces && unsafe { self.scan_over(&inputs, records, len) }.is_some()
    }
}
