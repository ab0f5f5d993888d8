//! Memory of a device, owned, and the traits by which scans take it from any owner.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use bytemuck::Pod;
use cudarc::driver::sys;

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::slice::{DeviceSlice, DeviceSliceMut};
use super::stream::Stream;

/// Records in the memory of a device that may be read there.
///
/// # Safety
/// As long as the value is borrowed, `len` records of `T` lie at `address` in the memory of `device`.
pub unsafe trait DeviceRead<T> {
    /// Where the first record lies; 0 if there is none.
    fn address(&self) -> u64;

    /// How many records there are.
    fn len(&self) -> usize;

    /// Whose memory it is.
    fn device(&self) -> &Device;

    /// Whether there are no records.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Records in the memory of a device that may be read and written there.
///
/// # Safety
/// As long as the value is borrowed mutably, nobody else uses these records.
pub unsafe trait DeviceWrite<T>: DeviceRead<T> {}

/// A piece of a device's memory, aligned to 256 bytes: `cuMemAlloc`, so kernels and copies see it at full speed.
pub(crate) struct Block {
    device: Device,
    address: sys::CUdeviceptr,
    bytes: usize,
}

impl Block {
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Block, CudaError> {
        device.clear_graves();
        let mut block = Block { device: *device, address: 0, bytes };
        if bytes == 0 {
            return Ok(block);
        }
        // What the device does not have is not asked for, since the driver has other words for sizes that are absurd.
        if bytes > device.facts().memory {
            return Err(no_memory(device, bytes));
        }
        let driver = device.bind_aside()?;
        // SAFETY: `address` is a place for the result.
        match unsafe { call!(driver, cuMemAlloc_v2(&mut block.address, bytes)) } {
            Ok(()) => Ok(block),
            Err(error) if is_out_of_memory(&error) => Err(no_memory(device, bytes)),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.address == 0 {
            return;
        }
        if let Ok(driver) = self.device.bind_aside() {
            // SAFETY: this was the only handle, and the driver waits for the device's work before it frees what
            // `cuMemAlloc` gave.
            _ = unsafe { call!(driver, cuMemFree_v2(self.address)) };
        }
    }
}

/// Whether it was memory that the driver lacked.
pub(crate) fn is_out_of_memory(error: &CudaError) -> bool {
    matches!(error, CudaError::Driver { code, .. } if *code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY as u32)
}

/// The error for memory that the device does not have.
pub(crate) fn no_memory(device: &Device, bytes: usize) -> CudaError {
    device.memory().map_or_else(|error| error, |(free, total)| CudaError::OutOfMemory { bytes, free, total })
}

/// The bytes of so many records; if that is no number, more than any memory has.
pub(crate) fn bytes_of<T>(len: usize) -> usize {
    len.saturating_mul(size_of::<T>())
}

/// Records in the memory of a device. When it is dropped, the device finishes its work first.
pub struct DeviceBuffer<T> {
    block: Block,
    len: usize,
    records: PhantomData<T>,
}

impl<T: Pod> DeviceBuffer<T> {
    /// Memory for so many records, with whatever is in it.
    ///
    /// # Errors
    /// The device has too little memory, or the driver fails.
    pub fn uninitialized(device: &Device, len: usize) -> Result<DeviceBuffer<T>, CudaError> {
        Ok(DeviceBuffer { block: Block::new(device, bytes_of::<T>(len))?, len, records: PhantomData })
    }

    /// So many records of zeros, which are written in the stream.
    ///
    /// # Errors
    /// The device has too little memory, or the driver fails.
    pub fn zeroed(stream: &Stream, len: usize) -> Result<DeviceBuffer<T>, CudaError> {
        let mut buffer = DeviceBuffer::uninitialized(stream.device(), len)?;
        buffer.as_slice_mut().fill_zero(stream)?;
        Ok(buffer)
    }

    /// A copy of these records. The copy is made in the stream, and it is there when this returns.
    ///
    /// # Errors
    /// The device has too little memory, the stream is being captured, or the driver fails.
    pub fn from_slice(stream: &Stream, records: &[T]) -> Result<DeviceBuffer<T>, CudaError> {
        let mut buffer = DeviceBuffer::uninitialized(stream.device(), records.len())?;
        buffer.as_slice_mut().copy_from(stream, records)?;
        Ok(buffer)
    }

    /// All records.
    pub fn as_slice(&self) -> DeviceSlice<'_, T> {
        // SAFETY: the block has space for them, and is borrowed.
        unsafe { DeviceSlice::from_raw(self.block.device(), self.block.address(), self.len) }
    }

    /// All records, to be written.
    pub fn as_slice_mut(&mut self) -> DeviceSliceMut<'_, T> {
        // SAFETY: the block has space for them, and is borrowed mutably.
        unsafe { DeviceSliceMut::from_raw(self.block.device(), self.block.address(), self.len) }
    }

    /// Some of the records.
    ///
    /// # Errors
    /// There are fewer records.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>, CudaError> {
        self.as_slice().slice(range)
    }

    /// Some of the records, to be written.
    ///
    /// # Errors
    /// There are fewer records.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_, T>, CudaError> {
        self.as_slice_mut().slice(range)
    }

    /// All records, copied in the stream; they are here when this returns.
    ///
    /// # Errors
    /// The stream is being captured or of another device, or the driver fails.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>, CudaError> {
        let mut records = vec![T::zeroed(); self.len];
        self.as_slice().copy_to(stream, &mut records)?;
        Ok(records)
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the first record lies; 0 if there is none.
    pub fn address(&self) -> u64 {
        self.block.address()
    }

    /// Whose memory it is.
    pub fn device(&self) -> &Device {
        self.block.device()
    }
}

// SAFETY: the block has space for the records, and lives as long as the buffer.
unsafe impl<T: Pod> DeviceRead<T> for DeviceBuffer<T> {
    fn address(&self) -> u64 {
        self.block.address()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn device(&self) -> &Device {
        self.block.device()
    }
}

// SAFETY: the buffer owns the block, and gives views of it that borrow the buffer.
unsafe impl<T: Pod> DeviceWrite<T> for DeviceBuffer<T> {}

impl<T> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DeviceBuffer of {} records at {:#x} of device {}",
            self.len,
            self.block.address(),
            self.block.device().ordinal()
        )
    }
}
