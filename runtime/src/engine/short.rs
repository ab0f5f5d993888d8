//! Short lines: where a call would cost more than its elements do.
//!
//! A scan of a few elements takes a few nanoseconds, so between a caller that knows its columns and the kernel there is one look whether the
//! kernel is there and one whether the line is short. The kernel has the identities in its code and takes the columns in
//! registers; how it combines is what the engine would have done.

use scan_codegen::cpu::{Access, SHORT_INPUTS, ShortFn};

use super::variant::Variant;
use crate::checks;

/// What scans the short lines of a program that writes every record, from the identities.
#[doc(hidden)]
pub struct Short {
    /// Code of the variants that this is a part of.
    scan: ShortFn,
    /// Most elements of a line that one sequential pass is the way for.
    longest: usize,
    /// Whether the output may be the input.
    replaces: bool,
}

impl Short {
    /// Of a form that is neither segmented nor seeded; none if its columns are many or if it has no kernels.
    pub(super) fn of(variant: &Variant) -> Option<Short> {
        let kernels = variant.kernels(Access::Line).ok()?;
        let replaces = checks::can_replace(&variant.program).is_ok();
        Some(Short { scan: kernels.code.short()?, longest: variant.plan.direct, replaces })
    }

    /// Scans a line of `len` records if it is short enough. Says whether it did.
    ///
    /// # Safety
    /// These are the input columns of the program in order, and anything behind them, and its output column, borrowed as
    /// [`Column`](crate::Column) and [`ColumnMut`](crate::ColumnMut) borrow.
    #[inline]
    pub unsafe fn scan(&self, inputs: [*const u8; SHORT_INPUTS], output: *mut u8, len: usize) -> bool {
        let is_short = len <= self.longest;
        if is_short {
            let [a, b, c, d] = inputs;
            // SAFETY: the columns are what the caller says. The code is there: whoever lends this has the variant that owns it.
            unsafe { (self.scan)(len, output, a, b, c, d) }
        }
        is_short
    }

    /// As [`scan`](Short::scan), over the input.
    ///
    /// # Safety
    /// This is the one column that the program reads, laid out as the one that it writes, exclusively borrowed.
    #[inline]
    pub unsafe fn replace(&self, records: *mut u8, len: usize) -> bool {
        let mut inputs = [std::ptr::null(); SHORT_INPUTS];
        inputs[0] = records.cast_const();
        // SAFETY: an output column may be the input column of a program that reads no next record.
        self.replaces && unsafe { self.scan(inputs, records, len) }
    }
}
