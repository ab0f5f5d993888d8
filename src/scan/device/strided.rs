//! Columns in the memory of a GPU whose records are not one after the other.

use monoscan_runtime::{DeviceMemory, Error, SpacingError};

use super::DeviceVec;
use crate::lang::ScanType;
use crate::scan::columns::sealed::{AsColumn, Part};
use crate::scan::outputs::sealed::AsColumnMut;
use crate::scan::place::OnDevice;
use crate::scan::strided::{records, spacing};

/// Every `step`-th record of a [`DeviceVec`], as a column: forwards, backwards, or one record for all elements. What
/// [`Strided`](crate::Strided) is for slices.
///
/// A scan gathers the records on the device first, in its stream: each is written and read once more, `len` records of memory that
/// the device keeps for the next such scan of the stream, also where one record is repeated. Kernels made ahead of time refuse
/// such columns.
///
/// ```no_run
/// use monoscan::{Device, ops::Sum, prelude::*};
///
/// let sums = Scan::<Sum<i32>>::plain()?.on(Device::cuda(0)?)?;
/// let stereo = sums.upload(&[1, 10, 2, 20, 3, 30])?;
/// assert_eq!(sums.inclusive(stereo.strided(1, 2)?)?.to_vec()?, [10, 30, 60]);
/// assert_eq!(sums.inclusive(stereo.strided(4, -2)?)?.to_vec()?, [3, 5, 6]);
/// assert_eq!(sums.inclusive(stereo.repeated(1, 3)?)?.to_vec()?, [10, 20, 30]);
///
/// let mut out = sums.upload(&[0; 6])?;
/// sums.inclusive_into(stereo.strided(0, 2)?, out.strided_mut(1, 2)?)?.wait()?;
/// assert_eq!(out.to_vec()?, [0, 1, 0, 3, 0, 6]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DeviceStrided<'a, T> {
    of: &'a DeviceVec<T>,
    start: usize,
    len: usize,
    step: isize,
}

/// Every `step`-th record of a [`DeviceVec`], to be written; the others stay as they are. See [`DeviceStrided`].
///
/// Results are scattered after the scan: each is written and read once more. If the scan may leave some of them alone (it keeps
/// records, rows have gaps, records have padding), they are gathered first, which costs as much again.
#[derive(Debug)]
pub struct DeviceStridedMut<'a, T> {
    of: &'a mut DeviceVec<T>,
    start: usize,
    len: usize,
    step: isize,
}

impl<T: ScanType> DeviceVec<T> {
    /// Record `start` and each that is `step` records behind the one before it, as far as this goes; with a step below 0 towards
    /// its start.
    ///
    /// ```no_run
    /// use monoscan::{Device, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?.on(Device::cuda(0)?)?;
    /// let x = sums.upload(&[1, 10, 2, 20])?;
    /// assert_eq!(sums.inclusive(x.strided(3, -2)?)?.to_vec()?, [20, 30]); // from the end
    /// assert!(x.strided(5, 1).is_err());
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`SpacingError`]: `start` lies beyond the end, where no records are left, or with a step below 0 at it; or the step is 0.
    pub fn strided(&self, start: usize, step: isize) -> Result<DeviceStrided<'_, T>, Error> {
        Ok(DeviceStrided { of: self, start, len: records(start, step, self.len)?, step })
    }

    /// The same record `len` times.
    ///
    /// # Errors
    /// [`SpacingError::Outside`] if there is no such record.
    pub fn repeated(&self, place: usize, len: usize) -> Result<DeviceStrided<'_, T>, Error> {
        if place >= self.len {
            return Err(SpacingError::Outside { first: place, step: 0, len, got: self.len }.into());
        }
        Ok(DeviceStrided { of: self, start: place, len, step: 0 })
    }

    /// As [`strided`](DeviceVec::strided), to be written.
    ///
    /// # Errors
    /// As there; also for a step of 0, where records would overlap.
    pub fn strided_mut(&mut self, start: usize, step: isize) -> Result<DeviceStridedMut<'_, T>, Error> {
        let len = records(start, step, self.len)?;
        Ok(DeviceStridedMut { of: self, start, len, step })
    }
}

impl<T> DeviceStrided<'_, T> {
    /// At most the first `len` of these.
    pub fn take(self, len: usize) -> Self {
        DeviceStrided { len: self.len.min(len), ..self }
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> DeviceStridedMut<'_, T> {
    /// At most the first `len` of these.
    pub fn take(self, len: usize) -> Self {
        DeviceStridedMut { len: self.len.min(len), ..self }
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: ScanType> AsColumn<T> for DeviceStrided<'_, T> {
    type At = OnDevice;

    fn part(&self) -> Part<*const u8> {
        let base = std::ptr::without_provenance(self.start * size_of::<T>());
        Part { base, len: self.len, spacing: spacing::<T>(self.step) }
    }

    fn memory(&self) -> Option<&DeviceMemory> {
        Some(&self.of.memory)
    }
}

impl<T: ScanType> AsColumnMut<T> for DeviceStridedMut<'_, T> {
    type At = OnDevice;

    fn part(&mut self) -> (&mut DeviceMemory, Part<usize>) {
        let part = Part { base: self.start * size_of::<T>(), len: self.len, spacing: spacing::<T>(self.step) };
        (&mut self.of.memory, part)
    }
}
