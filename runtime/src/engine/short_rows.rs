//! Short rows: one call of one kernel does all of them.
//!
//! Rows of a few elements have kernels of their own, in which a row is straight code. Such a kernel
//! is made once there were rows of its length.

use std::sync::OnceLock;

use monoscan_codegen::cpu::{Access, Kernel, LONGEST_STRAIGHT_ROW, NativeSequencesFn, ShortInputs, ShortRowsFn};

use super::contest::Contest;
use super::line::Line;
#[cfg(doc)]
use super::short::Short;
use super::variant::Variant;
use crate::call::Rows;
use crate::error::Error;

/// Kernels that scan short rows of a program from the states that lines start from, all of them in one call.
#[doc(hidden)]
pub struct ShortRows {
    /// Code of the variants that this is a part of: for rows of so many elements, the first for longer ones, once there were such.
    scans: [OnceLock<OfRows>; LONGEST_STRAIGHT_ROW + 1],
    /// Most elements of a row, and of all rows.
    longest: usize,
    most: usize,
}

/// The codes that scan rows of a number of elements.
struct OfRows {
    generated: ShortRowsFn,
    function: Option<NativeSequencesFn>,
    contest: Contest,
}

impl ShortRows {
    /// Of a form that is neither segmented nor from an initial state, without kernels yet; none if its columns are many or if it
    /// keeps some records only.
    pub(super) fn of(variant: &Variant) -> Result<Option<ShortRows>, Error> {
        let Ok(kernels) = variant.kernels(Access::Line) else { return Ok(None) };
        let has_kernels = kernels.code.has_short() && variant.program.output.filter.is_none();
        let (longest, most) = (Line::longest_in_turn(&variant.plan), variant.plan.direct);
        Ok(has_kernels.then(|| ShortRows { scans: Default::default(), longest, most }))
    }

    /// Makes the kernel of rows of so many elements, of the variant that this is a part of, if there is one.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if it is wrong.
    pub(super) fn make(&self, variant: &Variant, len: usize) -> Result<(), Error> {
        let of_length = self.of_length(len);
        if of_length.get().is_some() {
            return Ok(());
        }
        let kernel = Kernel::ShortRows(len);
        let (Ok(of_lines), Ok([generated, by_function])) = (variant.kernels(Access::Line), variant.rivals()) else {
            return Ok(());
        };
        let function = by_function.code.native_sequences(kernel);
        let kernels = if function.is_some() { generated } else { of_lines };
        variant.settle(kernels, kernel, None)?;
        if let Some(generated) = kernels.code.short_rows(len) {
            variant.check(kernels, &[kernel].into())?;
            let contest = Contest::with(function.is_some(), variant.is_native_asked());
            of_length.get_or_init(|| OfRows { generated, function, contest });
        }
        Ok(())
    }

    #[inline]
    fn of_length(&self, len: usize) -> &OnceLock<OfRows> {
        self.scans.get(len).unwrap_or(&self.scans[0])
    }

    /// Whether rows are scanned this way: all of them together are short enough, and they go in turn.
    #[inline]
    pub(super) fn takes(&self, rows: &Rows) -> bool {
        rows.step() == 1 && (1..=self.longest).contains(&rows.len()) && rows.elements() <= self.most
    }

    /// Scans these rows, which lie within the columns, if all of them together are short enough and there is a kernel. The output may be
    /// an input, if that is said. Gives how many records it wrote, if it did.
    ///
    /// # Safety
    /// As for [`Short::scan`].
    #[inline]
    pub unsafe fn scan(&self, inputs: &ShortInputs, (output, is_input): (*mut u8, bool), rows: &Rows) -> Option<usize> {
        if rows.elements() == 0 {
            return Some(0);
        }
        if !self.takes(rows) {
            return None;
        }
        let OfRows { generated, function, contest } = self.of_length(rows.len()).get()?;
        let [a, b, c, d] = inputs.registers();
        let (count, pitch, len) = (rows.count(), rows.pitch(), rows.len());
        contest.run_beside(is_input, rows.elements(), |is_function| {
            // SAFETY: the columns are what the caller says, and have these rows. The code is there: this is borrowed from the variant
            // that owns it. What a function wrote is no input, so that it can be written again.
            unsafe {
                if is_function
                    && let Some(function) = function
                    && function(count, output, a, b, c, d, std::ptr::null(), pitch, len) == count
                {
                    return;
                }
                generated(count, output, a, b, c, d, pitch, len);
            }
        });
        Some(rows.elements())
    }
}
