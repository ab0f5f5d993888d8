//! Page-locked host memory, which a device reads and writes by itself.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr;

use bytemuck::Pod;
use cudarc::driver::sys;

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::memory::{bytes_of, is_out_of_memory};

/// Records in page-locked host memory, which the device copies from and to while the host does something else.
pub struct PinnedBuffer<T> {
    device: Device,
    base: *mut T,
    len: usize,
}

// SAFETY: the buffer owns its memory, like a `Vec` does.
unsafe impl<T: Send> Send for PinnedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for PinnedBuffer<T> {}

impl<T: Pod> PinnedBuffer<T> {
    /// So many records of zeros. Pages are locked one by one, so this is slow: make buffers once.
    ///
    /// # Errors
    /// There is too little memory, or the driver fails.
    pub fn new(device: &Device, len: usize) -> Result<PinnedBuffer<T>, CudaError> {
        let bytes = bytes_of::<T>(len);
        let mut buffer = PinnedBuffer { device: *device, base: ptr::NonNull::dangling().as_ptr(), len };
        if bytes == 0 {
            return Ok(buffer);
        }
        if bytes > isize::MAX as usize {
            return Err(CudaError::OutOfHostMemory { bytes });
        }
        let driver = device.bind_aside()?;
        let mut base = ptr::null_mut();
        // SAFETY: `base` is a place for the result.
        match unsafe { call!(driver, cuMemHostAlloc(&mut base, bytes, sys::CU_MEMHOSTALLOC_PORTABLE)) } {
            Err(error) if is_out_of_memory(&error) => return Err(CudaError::OutOfHostMemory { bytes }),
            other => other?,
        }
        buffer.base = base.cast();
        // SAFETY: so many bytes were allocated, from the start of a page.
        unsafe { ptr::write_bytes(base.cast::<u8>(), 0, bytes) };
        Ok(buffer)
    }

    /// A copy of these records.
    ///
    /// # Errors
    /// There is too little memory, or the driver fails.
    pub fn from_slice(device: &Device, records: &[T]) -> Result<PinnedBuffer<T>, CudaError> {
        let mut buffer = PinnedBuffer::new(device, records.len())?;
        buffer.copy_from_slice(records);
        Ok(buffer)
    }
}

impl<T> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory holds so many records, of a type whose zeros are a value, and is borrowed.
        unsafe { std::slice::from_raw_parts(self.base, self.len) }
    }
}

impl<T> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.len) }
    }
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer of {} records", self.len)
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if self.len * size_of::<T>() == 0 {
            return;
        }
        if let Ok(driver) = self.device.bind_aside() {
            // SAFETY: this was the only handle, and callers of asynchronous copies promised to keep it.
            _ = unsafe { call!(driver, cuMemFreeHost(self.base.cast())) };
        }
    }
}
