//! The kernels of short calls, each made when the first call needs it.

use std::sync::OnceLock;

use monoscan_codegen::cpu::Access;
use monoscan_ir::Mode;
use monoscan_ir::transform::Form;

use super::absorbing::WHOLE;
use super::between::ShortBetween;
use super::short::Short;
use super::short_rows::ShortRows;
use super::short_whole::{ShortWhole, Whole};
use super::spaced::ShortSpaced;
use super::variant::Variants;
use crate::cache::{get_or_make, make_first};
use crate::call::Rows;
use crate::error::Error;

/// Longer lines of many columns are scanned in vectors, where the plan says so.
const MOST_WITHOUT_VECTORS: usize = 256;

/// Those of one program: for each [`Mode`], or for each [`Whole`].
#[derive(Default)]
pub(crate) struct ShortKernels {
    lines: [OnceLock<Option<Short>>; 2],
    /// Of lines of flagged segments.
    segments: [OnceLock<Option<Short>>; 2],
    rows: [OnceLock<Option<ShortRows>>; 2],
    between: [OnceLock<ShortBetween>; 2],
    whole: [OnceLock<Option<ShortWhole>>; 3],
    /// Of strided access, and of spaced.
    spaced: [[OnceLock<Option<ShortSpaced>>; 2]; 2],
    spaced_whole: [[OnceLock<Option<ShortSpaced>>; 3]; 2],
}

/// How kernels reach the records of columns, which lie one after the other in all of them or anyhow.
fn access_of(are_alike: bool) -> Access {
    if are_alike { Access::Strided } else { Access::Spaced }
}

impl Variants {
    /// The kernel that scans short lines from the identities, if it was made and the program has such a kernel.
    #[inline]
    pub(crate) fn short(&self, mode: Mode) -> Option<&Short> {
        self.short.lines[mode as usize].get()?.as_ref()
    }

    /// The same, made if this is the first call for it.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    #[inline]
    pub(crate) fn make_short(&self, mode: Mode) -> Result<Option<&Short>, Error> {
        let form = Form { mode, ..Form::default() };
        Ok(get_or_make(&self.short.lines[mode as usize], || Short::of(self.get(form, false)))?.as_ref())
    }

    /// The kernel that scans the flagged segments of short lines from the identities, if it was made and the program has such a kernel.
    #[inline]
    pub(crate) fn short_segments(&self, mode: Mode) -> Option<&Short> {
        self.short.segments[mode as usize].get()?.as_ref()
    }

    /// The same, made if this is the first call for a line that is short.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    pub(crate) fn make_short_segments(&self, mode: Mode, len: usize) -> Result<Option<&Short>, Error> {
        let variant = self.get(Form { mode, heads: true, ..Form::default() }, false);
        if len > variant.plan.direct {
            return Ok(None);
        }
        Ok(get_or_make(&self.short.segments[mode as usize], || Short::of(variant))?.as_ref())
    }

    /// The kernel that scans short rows from the identities, if it was made and the program has such a kernel.
    #[inline]
    pub(crate) fn short_rows(&self, mode: Mode) -> Option<&ShortRows> {
        self.short.rows[mode as usize].get()?.as_ref()
    }

    /// The same, made if this is the first call for rows of as many elements that are scanned this way.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    pub(crate) fn make_short_rows(&self, mode: Mode, rows: &Rows) -> Result<Option<&ShortRows>, Error> {
        let variant = self.get(Form { mode, ..Form::default() }, false);
        let Some(short) = get_or_make(&self.short.rows[mode as usize], || ShortRows::of(variant))? else {
            return Ok(None);
        };
        if short.takes(rows) {
            short.make(variant, rows.len())?;
        }
        Ok(Some(short))
    }

    /// The way of segments between offsets of short lines from the identities, if there was a call for them.
    #[inline]
    pub(crate) fn short_between(&self, mode: Mode) -> Option<&ShortBetween> {
        self.short.between[mode as usize].get()
    }

    /// The same, with its kernel if as many records between so many offsets need it.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    pub(crate) fn make_short_between(
        &self,
        mode: Mode,
        (len, offsets): (usize, usize),
    ) -> Result<&ShortBetween, Error> {
        let of_mode = |heads| self.get(Form { mode, heads, ..Form::default() }, false);
        let between =
            self.short.between[mode as usize].get_or_init(|| ShortBetween::of(of_mode(false), &of_mode(true).plan));
        if between.takes(len, offsets) {
            between.make(of_mode(false))?;
        }
        Ok(between)
    }

    /// The kernel that scans short lines from the identities, of columns that lie alike or of any. None if the line is not short, or
    /// if it goes forward, has some hundred records, and kernels for lines work in vectors.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    pub(crate) fn make_short_spaced(
        &self,
        mode: Mode,
        len: usize,
        (are_alike, are_forward): (bool, bool),
    ) -> Result<Option<&ShortSpaced>, Error> {
        let variant = self.get(Form { mode, ..Form::default() }, false);
        // From some hundred records on, vectors make up for what a call of the engine costs.
        let is_for_vectors = are_alike && are_forward && variant.plan.vector.scan_one && len > MOST_WITHOUT_VECTORS;
        // Lines that may end early have kernels that see it.
        let ends_early = are_alike && are_forward && len > WHOLE && variant.ends_early(true).is_some();
        if len > variant.plan.direct || is_for_vectors || ends_early {
            return Ok(None);
        }
        let made = &self.short.spaced[usize::from(!are_alike)][mode as usize];
        Ok(get_or_make(made, || ShortSpaced::of(variant, access_of(are_alike), None))?.as_ref())
    }

    /// The same, if it was made.
    #[inline]
    pub(crate) fn short_spaced(&self, mode: Mode, are_alike: bool) -> Option<&ShortSpaced> {
        self.short.spaced[usize::from(!are_alike)][mode as usize].get()?.as_ref()
    }

    /// The kernel that scans or reduces short lines of such columns from given states.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    pub(crate) fn make_short_spaced_whole(&self, work: Whole, are_alike: bool) -> Result<Option<&ShortSpaced>, Error> {
        let made = &self.short.spaced_whole[usize::from(!are_alike)][work as usize];
        let variant = || self.get(Form { mode: work.mode(), ..Form::default() }, false);
        Ok(get_or_make(made, || ShortSpaced::of(variant(), access_of(are_alike), Some(work)))?.as_ref())
    }

    /// The kernel that scans short lines from given states, or reduces them, if it was made and the program has such a kernel.
    #[inline]
    pub(crate) fn short_whole(&self, work: Whole) -> Option<&ShortWhole> {
        self.short.whole[work as usize].get()?.as_ref()
    }

    /// The same, made if this is the first call and a line of so many records is short.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    #[inline]
    pub(crate) fn make_short_whole(&self, work: Whole, len: usize) -> Result<Option<&ShortWhole>, Error> {
        let whole = &self.short.whole[work as usize];
        if let Some(made) = whole.get() {
            return Ok(made.as_ref());
        }
        let variant = self.get(Form { mode: work.mode(), ..Form::default() }, false);
        if len > variant.plan.direct {
            return Ok(None);
        }
        Ok(make_first(whole, || ShortWhole::of(variant, work))?.as_ref())
    }
}
