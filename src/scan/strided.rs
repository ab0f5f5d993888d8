//! Columns that are no slices: [`Strided`] views, and [`Bits`].

use std::marker::PhantomData;

use monoscan_runtime::{Bits, Error, Spacing, SpacingError};

use super::columns::sealed::{AsColumn, Part};
use super::outputs::sealed::AsColumnMut;
use super::place::Host;
use crate::lang::ScanType;

/// Every `step`-th record of a slice, as a column: forwards, backwards, or one record for all elements.
///
/// A view of a column of a matrix, of a channel of a sound, of an array of `ndarray` (feature `ndarray`, whose one-dimensional
/// views are columns themselves). Where the step is not 1, records are read one by one, and not in vectors; nothing is copied.
/// A scan on a GPU gathers them on their way there, and scatters results, record by record on all cores.
///
/// ```
/// use monoscan::{Strided, StridedMut, ops::Sum, prelude::*};
///
/// let sums = Scan::<Sum<i32>>::plain()?;
/// let stereo = [1, 10, 2, 20, 3, 30];
/// assert_eq!(sums.inclusive(Strided::new(&stereo, 1, 2)?)?, [10, 30, 60]);
/// assert_eq!(sums.inclusive(Strided::new(&stereo, 4, -2)?)?, [3, 5, 6]);
/// assert_eq!(sums.inclusive(Strided::repeated(&7, 3))?, [7, 14, 21]);
///
/// let mut out = [0; 6];
/// sums.inclusive_into(Strided::new(&stereo, 0, 2)?, StridedMut::new(&mut out, 1, 2)?)?;
/// assert_eq!(out, [0, 1, 0, 3, 0, 6]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, T> {
    base: *const T,
    len: usize,
    step: isize,
    borrowed: PhantomData<&'a [T]>,
}

/// Every `step`-th record of a slice, to be written; the others stay as they are. See [`Strided`].
#[derive(Debug)]
pub struct StridedMut<'a, T> {
    base: *mut T,
    len: usize,
    step: isize,
    borrowed: PhantomData<&'a mut [T]>,
}

// SAFETY: it is a shared borrow of a slice.
unsafe impl<T: Sync> Send for Strided<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Strided<'_, T> {}
// SAFETY: it is a unique borrow of a slice.
unsafe impl<T: Send> Send for StridedMut<'_, T> {}
// SAFETY: shared, it gives nothing but its length.
unsafe impl<T: Sync> Sync for StridedMut<'_, T> {}

/// How many records there are from `start` on, each `step` from the one before, in `got`.
pub(super) fn records(start: usize, step: isize, got: usize) -> Result<usize, Error> {
    let outside = SpacingError::Outside { first: start, step, len: 1, got };
    match step {
        0 => Err(SpacingError::Endless.into()),
        1.. if start <= got => Ok((got - start).div_ceil(step.unsigned_abs())),
        ..0 if start < got => Ok(start / step.unsigned_abs() + 1),
        _ => Err(outside.into()),
    }
}

impl<'a, T> Strided<'a, T> {
    /// Record `start` and each that is `step` records behind the one before it, as far as the slice goes; with a step below 0
    /// towards its start.
    ///
    /// # Errors
    /// [`SpacingError`]: `start` lies beyond the end, where no records are left, or with a step below 0 at it; or the step is 0.
    pub fn new(slice: &'a [T], start: usize, step: isize) -> Result<Strided<'a, T>, Error> {
        let len = records(start, step, slice.len())?;
        Ok(Strided { base: slice.as_ptr().wrapping_add(start), len, step, borrowed: PhantomData })
    }

    /// The same record `len` times.
    pub fn repeated(record: &'a T, len: usize) -> Strided<'a, T> {
        Strided { base: record, len, step: 0, borrowed: PhantomData }
    }

    /// At most the first `len` of these.
    pub fn take(self, len: usize) -> Strided<'a, T> {
        Strided { len: self.len.min(len), ..self }
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// # Safety
    /// For `'a`, `len` records lie there, `step` from one to the next, and nobody writes them.
    #[cfg(feature = "ndarray")]
    pub(super) unsafe fn from_raw(base: *const T, len: usize, step: isize) -> Strided<'a, T> {
        Strided { base, len, step, borrowed: PhantomData }
    }
}

impl<'a, T> StridedMut<'a, T> {
    /// As [`Strided::new`].
    ///
    /// # Errors
    /// As [`Strided::new`]; also for a step of 0, where records would overlap.
    pub fn new(slice: &'a mut [T], start: usize, step: isize) -> Result<StridedMut<'a, T>, Error> {
        let len = records(start, step, slice.len())?;
        Ok(StridedMut { base: slice.as_mut_ptr().wrapping_add(start), len, step, borrowed: PhantomData })
    }

    /// At most the first `len` of these.
    pub fn take(self, len: usize) -> StridedMut<'a, T> {
        StridedMut { len: self.len.min(len), ..self }
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// # Safety
    /// For `'a`, `len` records lie there, `step` from one to the next and apart from each other, and nobody else uses them.
    #[cfg(feature = "ndarray")]
    pub(super) unsafe fn from_raw(base: *mut T, len: usize, step: isize) -> StridedMut<'a, T> {
        StridedMut { base, len, step, borrowed: PhantomData }
    }
}

/// The distance of so many records in bytes; none for records one after the other.
pub(super) fn spacing<T>(step: isize) -> Option<Spacing> {
    (step != 1).then(|| Spacing::Bytes(step.wrapping_mul(size_of::<T>() as isize)))
}

impl<T: ScanType> AsColumn<T> for Strided<'_, T> {
    type At = Host;

    fn part(&self) -> Part<*const u8> {
        Part { base: self.base.cast(), len: self.len, spacing: spacing::<T>(self.step) }
    }
}

impl<T: ScanType> AsColumnMut<T> for StridedMut<'_, T> {
    type At = Host;

    fn part(&mut self) -> Part<*mut u8> {
        Part { base: self.base.cast(), len: self.len, spacing: spacing::<T>(self.step) }
    }
}

impl AsColumn<bool> for Bits<'_> {
    type At = Host;

    fn part(&self) -> Part<*const u8> {
        let (base, len, spacing) = self.raw();
        Part { base, len, spacing: Some(spacing) }
    }
}
