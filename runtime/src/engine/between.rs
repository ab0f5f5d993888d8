//! Segments between the offsets of a short line: scanned one after the other, as the loops do that
//! one would write, or by flags that are made first. The plan and the shape of the segments alone
//! decide which, so that results do not depend on earlier calls.

use std::sync::OnceLock;

use monoscan_codegen::cpu::{Access, Kernel, NativeSequencesFn, ShortBetweenFn, ShortInputs};
use monoscan_codegen::plan::Plan;

use super::contest::Contest;
use super::variant::Variant;
use crate::error::Error;

/// A kernel that scans the segments between offsets of a short line, and whether it is the way for them.
#[doc(hidden)]
pub struct ShortBetween {
    /// Code of the variants that this is a part of, and a function of the user's crate that does the same, once there were such segments.
    scan: OnceLock<(ShortBetweenFn, Option<NativeSequencesFn>, Contest)>,
    /// Most elements of a line; 0 if there is no such kernel.
    longest: usize,
    /// Hundredths of a cycle that an element takes more by flags: in segments of up to [`OVERLAPPED`] records on average, and in longer ones.
    saved: [usize; 2],
}

/// Hundredths of a cycle that an element of short segments takes, less than the making of its flag, and that a segment takes, about: fitted
/// to sums of `i32`, `i64`, `f32` and `f64` in segments of 2 to 16 (`cpu-bench --small --workload segments`).
const ELEMENT: usize = 70;
const SEGMENT: usize = 350;

/// The longest segments of which a core works on several at a time. The chain of elements bounds longer ones.
const OVERLAPPED: usize = 64;

impl ShortBetween {
    /// Of a form that is not from an initial state, beside the plan of its segmented one; without the kernel yet.
    pub(super) fn of(variant: &Variant, segmented: &Plan) -> ShortBetween {
        let has_kernel = variant.kernels(Access::Line).is_ok_and(|kernels| kernels.code.has_short_between());
        let longest = if has_kernel { segmented.direct } else { 0 };
        let saved = [ELEMENT, variant.plan.chain()].map(|in_turn| segmented.one_pass().saturating_sub(in_turn));
        ShortBetween { scan: OnceLock::new(), longest, saved }
    }

    /// Makes the kernel, of the variant that this is a part of.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if it is wrong.
    pub(super) fn make(&self, variant: &Variant) -> Result<(), Error> {
        if self.scan.get().is_none()
            && let Ok(kernels) = variant.kernels(Access::Line)
            && let Some(scan) = kernels.code.short_between()
        {
            variant.check(kernels, &[Kernel::ShortBetween].into())?;
            let function = kernels.code.native_sequences(Kernel::ShortBetween);
            let contest = Contest::with(function.is_some(), variant.is_native_asked());
            self.scan.get_or_init(|| (scan, function, contest));
        }
        Ok(())
    }

    /// Whether segments between so many offsets of a line of `len` records are scanned one after the other.
    #[inline]
    pub fn takes(&self, len: usize, offsets: usize) -> bool {
        let segments = offsets.saturating_sub(1);
        let saved = self.saved[usize::from(len > OVERLAPPED * segments)];
        segments > 0 && len <= self.longest && len * saved > SEGMENT * segments
    }

    /// Scans the segments between these offsets of a line of `len` records, if they are [taken](ShortBetween::takes) and the kernel was
    /// made. The output may be an input, if that is said. Says whether it did.
    ///
    /// # Safety
    /// As for [`Short::scan`](super::short::Short::scan).
    #[inline]
    pub unsafe fn scan(
        &self,
        inputs: &ShortInputs,
        (output, is_input): (*mut u8, bool),
        len: usize,
        offsets: &[usize],
    ) -> bool {
        let (Some((generated, function, contest)), [0, .., last]) = (self.scan.get(), offsets) else { return false };
        if *last != len || !offsets.is_sorted() {
            return false;
        }
        let [a, b, c, d] = inputs.registers();
        let (segments, offsets) = (offsets.len() - 1, offsets.as_ptr());
        contest.run_beside(is_input, len, |is_function| {
            // SAFETY: the columns are what the caller says, and have these segments. The code is there: this is borrowed from the variant
            // that owns it. What a function wrote is no input, so that it can be written again.
            unsafe {
                if is_function
                    && let Some(function) = function
                    && function(segments, output, a, b, c, d, offsets, 0, 0) == segments
                {
                    return;
                }
                generated(segments, output, a, b, c, d, offsets);
            }
        });
        true
    }
}

/// Most records of a line whose offsets become flags here.
pub(crate) const MOST_FLAGS: usize = 4096;

/// Calls `scan` with a flag for each of so many records, which says whether one of the segments between these offsets begins there.
/// None if they are no segments of so many records, or if these are more than are short.
#[doc(hidden)]
#[inline]
pub fn with_flags<R>(offsets: &[usize], len: usize, scan: impl FnOnce(&[bool]) -> Option<R>) -> Option<R> {
    if offsets.first() != Some(&0) || offsets.last() != Some(&len) {
        return None;
    }
    // Zeros are written too, so few of them for few records.
    match len {
        ..=256 => with_flags_in(&mut [false; 256], offsets, len, scan),
        257..=MOST_FLAGS => with_flags_in(&mut [false; MOST_FLAGS], offsets, len, scan),
        _ => None,
    }
}

#[inline]
fn with_flags_in<R>(
    flags: &mut [bool],
    offsets: &[usize],
    len: usize,
    scan: impl FnOnce(&[bool]) -> Option<R>,
) -> Option<R> {
    let flags = &mut flags[..len];
    let mut last = 0;
    for &offset in offsets {
        if offset < last {
            return None;
        }
        // The segments at the end may be empty.
        if let Some(flag) = flags.get_mut(offset) {
            *flag = true;
        }
        last = offset;
    }
    scan(flags)
}
