//! Views of a device's memory, and the copies between it and the host.
//!
//! Copies are made in a stream, after what it was given before. Those that borrow host memory wait
//! for the copy; those that do not wait are `unsafe`, since nothing else keeps the memory alive and
//! untouched until the device gets there.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::memory::{DeviceRead, DeviceWrite};
use super::refused::ArgumentError;
use super::stream::Stream;

/// Borrowed records in the memory of a device.
pub struct DeviceSlice<'a, T> {
    device: Device,
    address: u64,
    len: usize,
    records: PhantomData<&'a [T]>,
}

/// Borrowed records in the memory of a device, to be written.
pub struct DeviceSliceMut<'a, T> {
    device: Device,
    address: u64,
    len: usize,
    records: PhantomData<&'a mut [T]>,
}

impl<T> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceSlice<'_, T> {}

impl<'a, T: Pod> DeviceSlice<'a, T> {
    /// Records in memory that somebody else owns.
    ///
    /// # Safety
    /// As long as the view is used, and until what is given to streams with it is done, so many records of `T` lie there in
    /// the memory of this device (or in other memory that it can use), and nobody writes them.
    pub unsafe fn from_raw(device: &Device, address: u64, len: usize) -> DeviceSlice<'a, T> {
        DeviceSlice { device: *device, address, len, records: PhantomData }
    }

    /// Some of these records.
    ///
    /// # Errors
    /// There are fewer records.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'a, T>, CudaError> {
        let (address, len) = part::<T>(self.address, self.len, range)?;
        Ok(DeviceSlice { address, len, ..self })
    }

    /// Copies the records to the host, and waits until they are there.
    ///
    /// # Errors
    /// The lengths differ, the stream is being captured or of another device, or something failed on the device.
    pub fn copy_to(&self, stream: &Stream, records: &mut [T]) -> Result<(), CudaError> {
        stream.expect_no_capture("a stream to wait for")?;
        // SAFETY: the records stay borrowed until the stream has come past the copy.
        unsafe { self.copy_to_async(stream, records) }?;
        stream.synchronize()
    }

    /// Copies the records to the host in the stream, without waiting. The host memory should be a
    /// [`PinnedBuffer`](super::PinnedBuffer); with other memory, the driver waits.
    ///
    /// # Errors
    /// The lengths differ, the stream is of another device, or the driver fails.
    ///
    /// # Safety
    /// Until the copy is done, the host memory lives and nobody uses it, and the device memory lives. If the stream is being
    /// captured, that is so for every launch of the graph.
    pub unsafe fn copy_to_async(&self, stream: &Stream, records: &mut [T]) -> Result<(), CudaError> {
        expect_len(self.len, records.len())?;
        // SAFETY: there is space for so many records; the caller keeps them.
        unsafe { self.copy_to_host(stream, records.as_mut_ptr()) }
    }

    /// The same to memory that needs not be initialised.
    ///
    /// # Safety
    /// As above, for as many records as these.
    pub(crate) unsafe fn copy_to_host(&self, stream: &Stream, to: *mut T) -> Result<(), CudaError> {
        stream.expect_device("the memory", &self.device)?;
        let bytes = self.len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let driver = self.device.bind()?;
        // SAFETY: both have so many bytes, of a type that may have any bytes; the caller keeps them.
        unsafe { call!(driver, cuMemcpyDtoHAsync_v2(to.cast(), self.address, bytes, stream.raw())) }
    }
}

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    /// Records in memory that somebody else owns.
    ///
    /// # Safety
    /// As long as the view is used, and until what is given to streams with it is done, so many records of `T` lie there in
    /// the memory of this device (or in other memory that it can use), and nobody else uses them.
    pub unsafe fn from_raw(device: &Device, address: u64, len: usize) -> DeviceSliceMut<'a, T> {
        DeviceSliceMut { device: *device, address, len, records: PhantomData }
    }

    /// The same records, to be read only.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice { device: self.device, address: self.address, len: self.len, records: PhantomData }
    }

    /// The same records, borrowed from this view.
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut { device: self.device, address: self.address, len: self.len, records: PhantomData }
    }

    /// Some of these records.
    ///
    /// # Errors
    /// There are fewer records.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'a, T>, CudaError> {
        let (address, len) = part::<T>(self.address, self.len, range)?;
        Ok(DeviceSliceMut { address, len, ..self })
    }

    /// The records before this one, and the others.
    ///
    /// # Errors
    /// There are fewer records.
    pub fn split_at(self, at: usize) -> Result<(DeviceSliceMut<'a, T>, DeviceSliceMut<'a, T>), CudaError> {
        let (left, left_len) = part::<T>(self.address, self.len, ..at)?;
        let (right, right_len) = part::<T>(self.address, self.len, at..)?;
        let piece = |address, len| DeviceSliceMut { device: self.device, address, len, records: PhantomData };
        Ok((piece(left, left_len), piece(right, right_len)))
    }

    /// Copies records of the host here, and waits until that is done.
    ///
    /// # Errors
    /// The lengths differ, the stream is being captured or of another device, or something failed on the device.
    pub fn copy_from(&mut self, stream: &Stream, records: &[T]) -> Result<(), CudaError> {
        stream.expect_no_capture("a stream to wait for")?;
        // SAFETY: the records stay borrowed until the stream has come past the copy.
        unsafe { self.copy_from_async(stream, records) }?;
        stream.synchronize()
    }

    /// Copies records of the host here in the stream, without waiting. The host memory should be a
    /// [`PinnedBuffer`](super::PinnedBuffer); with other memory, the driver waits.
    ///
    /// # Errors
    /// The lengths differ, the stream is of another device, or the driver fails.
    ///
    /// # Safety
    /// Until the copy is done, the host memory lives and nobody writes it, and the device memory lives. If the stream is
    /// being captured, that is so for every launch of the graph.
    pub unsafe fn copy_from_async(&mut self, stream: &Stream, records: &[T]) -> Result<(), CudaError> {
        expect_len(self.len, records.len())?;
        // SAFETY: so many records are there; the caller keeps them.
        unsafe { self.copy_from_host(stream, records.as_ptr()) }
    }

    /// The same from memory that needs not be initialised in whole, such as records with padding.
    ///
    /// # Safety
    /// As above, for as many records as these.
    pub(crate) unsafe fn copy_from_host(&mut self, stream: &Stream, from: *const T) -> Result<(), CudaError> {
        stream.expect_device("the memory", &self.device)?;
        if self.bytes() == 0 {
            return Ok(());
        }
        let driver = self.device.bind()?;
        // SAFETY: both have so many bytes, of a type that may have any bytes; the caller keeps them.
        unsafe { call!(driver, cuMemcpyHtoDAsync_v2(self.address, from.cast(), self.bytes(), stream.raw())) }
    }

    /// Copies records of the same device here, in the stream. Memory is freed after it.
    ///
    /// # Errors
    /// The lengths differ, the stream or the records are of another device, or the driver fails.
    pub fn copy_from_device(&mut self, stream: &Stream, records: &impl DeviceRead<T>) -> Result<(), CudaError> {
        stream.expect_no_capture("one whose copies are made now")?;
        stream.expect_device("the memory", &self.device)?;
        stream.expect_device("the memory", records.device())?;
        expect_len(self.len, records.len())?;
        if self.bytes() == 0 {
            return Ok(());
        }
        let driver = self.device.bind()?;
        // SAFETY: both have so many bytes, and do not overlap, since one of them is borrowed mutably; memory is freed after
        // the device's work.
        unsafe { call!(driver, cuMemcpyDtoDAsync_v2(self.address, records.address(), self.bytes(), stream.raw())) }
    }

    /// Writes zeros, in the stream. Memory is freed after it.
    ///
    /// # Errors
    /// The stream is being captured or of another device, or the driver fails.
    pub fn fill_zero(&mut self, stream: &Stream) -> Result<(), CudaError> {
        stream.expect_no_capture("one that writes now")?;
        stream.expect_device("the memory", &self.device)?;
        if self.bytes() == 0 {
            return Ok(());
        }
        let driver = self.device.bind()?;
        // SAFETY: so many bytes are there; memory is freed after the device's work.
        unsafe { call!(driver, cuMemsetD8Async(self.address, 0, self.bytes(), stream.raw())) }
    }

    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

/// Address and length of some records among these.
fn part<T>(address: u64, len: usize, range: impl RangeBounds<usize>) -> Result<(u64, usize), CudaError> {
    let start = match range.start_bound() {
        Bound::Included(&at) => Some(at),
        Bound::Excluded(&at) => at.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&at) => at.checked_add(1),
        Bound::Excluded(&at) => Some(at),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => {
            Ok((address + (start * size_of::<T>()) as u64, end - start))
        }
        (start, end) => Err(ArgumentError::Range { start, end, len }.into()),
    }
}

fn expect_len(device: usize, other: usize) -> Result<(), CudaError> {
    if device != other {
        return Err(ArgumentError::Records { device, other }.into());
    }
    Ok(())
}

// SAFETY: the caller that made the view promised it.
unsafe impl<T> DeviceRead<T> for DeviceSlice<'_, T> {
    fn address(&self) -> u64 {
        self.address
    }

    fn len(&self) -> usize {
        self.len
    }

    fn device(&self) -> &Device {
        &self.device
    }
}

// SAFETY: the caller that made the view promised it.
unsafe impl<T> DeviceRead<T> for DeviceSliceMut<'_, T> {
    fn address(&self) -> u64 {
        self.address
    }

    fn len(&self) -> usize {
        self.len
    }

    fn device(&self) -> &Device {
        &self.device
    }
}

// SAFETY: as above; the view is not cloned, and others are borrowed from it.
unsafe impl<T> DeviceWrite<T> for DeviceSliceMut<'_, T> {}

impl<T> fmt::Debug for DeviceSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSlice of {} records at {:#x} of device {}", self.len, self.address, self.device.ordinal())
    }
}

impl<T> fmt::Debug for DeviceSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSliceMut of {} records at {:#x} of device {}", self.len, self.address, self.device.ordinal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_records_are_within_them() {
        assert_eq!(part::<u32>(256, 10, ..), Ok((256, 10)));
        assert_eq!(part::<u32>(256, 10, 3..), Ok((268, 7)));
        assert_eq!(part::<u32>(256, 10, 3..=4), Ok((268, 2)));
        assert_eq!(part::<u32>(256, 10, 10..10), Ok((296, 0)));
        assert!(part::<u32>(256, 10, ..11).is_err());
        assert!(part::<u32>(256, 10, ..=usize::MAX).is_err());
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = part::<u32>(256, 10, 4..3).unwrap_err();
        assert_eq!(reversed.to_string(), "the range is 4..3, expected one within 0..10");
    }
}
