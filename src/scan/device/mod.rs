//! [`DeviceVec`]: records in the memory of a GPU, and what scans of them leave.

#[cfg(not(feature = "cuda"))]
mod nowhere;
#[cfg(feature = "cuda")]
mod run;
mod strided;

use std::fmt;
use std::marker::PhantomData;

use monoscan_runtime::{Argument, Device, DeviceMemory, Error, space};

#[cfg(not(feature = "cuda"))]
pub use nowhere::Pending;
#[cfg(feature = "cuda")]
pub use run::Pending;
pub use strided::{DeviceStrided, DeviceStridedMut};

use crate::lang::ScanType;

/// Records in the memory of a GPU: what [`Scan::upload`](crate::Scan::upload) gives, and scans of such columns.
///
/// Scans of it are asynchronous. They run one after the other in the stream that its records were last written in, or in the
/// one that [`in_stream`](crate::Scan::in_stream) names; streams wait for each other where columns of several meet. So
/// [`to_vec`](DeviceVec::to_vec), which waits, always gives the result. Dropping it waits for the device.
///
/// The type exists in every build; without the feature `cuda` there is no value of it.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, ops::Sum, prelude::*};
///
/// let sums = Scan::<Sum<i32>>::new()?.on(Device::cuda(0)?)?;
/// let x = sums.upload(&[Sum(3), Sum(1), Sum(4)])?;
/// let y: DeviceVec<Sum<i32>> = sums.inclusive(&x)?;
/// assert_eq!(y.to_vec()?, [Sum(3), Sum(4), Sum(8)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
pub struct DeviceVec<T> {
    pub(super) memory: DeviceMemory,
    pub(super) len: usize,
    records: PhantomData<T>,
}

impl<T: ScanType> DeviceVec<T> {
    /// A copy of these records on a device.
    ///
    /// ```
    /// use monoscan::{Device, DeviceVec, Error};
    ///
    /// let on_cpu = DeviceVec::upload(&Device::cpu(), &[1, 2, 3]);
    /// assert!(matches!(on_cpu, Err(Error::Device(_)))); // slices are its columns
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] for the CPU; [`Error::Cuda`] if the device has too little memory or fails.
    pub fn upload(device: &Device, records: &[T]) -> Result<DeviceVec<T>, Error> {
        // SAFETY: a slice has so many bytes.
        let memory = unsafe { DeviceMemory::upload(device, records.as_ptr().cast(), size_of_val(records)) }?;
        Ok(DeviceVec { memory, len: records.len(), records: PhantomData })
    }

    /// A copy of other records in place of these: in the same memory, which takes no time to allocate, if it has space for them, and
    /// else in new memory, as [`upload`](DeviceVec::upload) makes it, before the old is freed. They are there when this returns.
    ///
    /// ```no_run
    /// use monoscan::{Device, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?.on(Device::cuda(0)?)?;
    /// let mut x = sums.upload(&[3, 1, 4])?;
    /// let mut y = sums.inclusive(&x)?;
    /// x.write(&[1, 5, 9])?;
    /// sums.inclusive_into(&x, &mut y)?;
    /// let mut sums = [0; 3];
    /// y.read(&mut sums)?;
    /// assert_eq!(sums, [1, 6, 15]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Cuda`] if the device has too little memory or fails, or if the stream is being captured. The old records are lost then,
    /// unless there was too little memory.
    pub fn write(&mut self, records: &[T]) -> Result<(), Error> {
        if self.memory.len() < size_of_val(records) {
            *self = DeviceVec::upload(&self.device(), records)?;
            return Ok(());
        }
        // SAFETY: a slice has so many bytes.
        unsafe { self.memory.write(records.as_ptr().cast(), size_of_val(records)) }?;
        self.len = records.len();
        Ok(())
    }

    /// The records, copied to as many of the host. Waits for the scan that writes them. Memory that was used before takes less time
    /// than [`to_vec`](DeviceVec::to_vec), whose memory is new.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer, and nothing is written then; [`Error::Cuda`] if something failed on the device,
    /// or the stream is being captured.
    pub fn read(&self, records: &mut [T]) -> Result<(), Error> {
        if records.len() != self.len {
            let argument = Argument::Output(0);
            return Err(Error::Length { argument, expected: self.len, got: records.len() });
        }
        // SAFETY: there is space for them. Records on a device come from the host or from a scan, so each is a `T`.
        unsafe { self.memory.download(records.as_mut_ptr().cast(), size_of_val(records)) }
    }

    /// The records, copied to the host. Waits for the scan that writes them.
    ///
    /// ```no_run
    /// use monoscan::{Device, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?.on(Device::cuda(0)?)?;
    /// let mut x = sums.upload(&[3, 1, 4])?;
    /// sums.inclusive_in_place(&mut x)?; // not waited for
    /// assert_eq!(x.to_vec()?, [3, 4, 8]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Cuda`] if something failed on the device, or the stream is being captured.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let mut records = Vec::<T>::new();
        space::reserve(&mut records, self.len)?;
        // SAFETY: there is space for them. Records on a device come from the host or from a scan, so each is a `T`.
        unsafe {
            self.memory.download(records.as_mut_ptr().cast(), self.len * size_of::<T>())?;
            records.set_len(self.len);
        }
        Ok(records)
    }

    /// A copy on the same device. Does not wait for it.
    ///
    /// ```no_run
    /// use monoscan::{Device, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?.on(Device::cuda(0)?)?;
    /// let x = sums.upload(&[3, 1, 4])?;
    /// let mut y = x.copied()?; // scanned in place; `x` stays as it is
    /// sums.inclusive_in_place(&mut y)?;
    /// assert_eq!(x.to_vec()?, [3, 1, 4]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Cuda`] if the device has too little memory or fails.
    #[cfg(feature = "cuda")]
    pub fn copied(&self) -> Result<DeviceVec<T>, Error> {
        let mut copy = DeviceVec::space(self.memory.stream(), self.len)?;
        copy.memory.copy_from(&self.memory, self.len * size_of::<T>())?;
        Ok(copy)
    }

    /// How many records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where they are.
    pub fn device(&self) -> Device {
        self.memory.device()
    }
}

#[cfg(feature = "gpu")]
impl<T: ScanType> DeviceVec<T> {
    /// A copy of these records in a stream of its own, which no other call waits for.
    pub(crate) fn upload_aside(device: &Device, records: &[T]) -> Result<DeviceVec<T>, Error> {
        let cuda = device.as_cuda().ok_or(monoscan_runtime::DeviceError::NotOnGpu)?;
        let stream = monoscan_runtime::cuda::Stream::new(cuda)?;
        // SAFETY: a slice has so many bytes.
        let memory = unsafe { DeviceMemory::upload_in(&stream, records.as_ptr().cast(), size_of_val(records)) }?;
        Ok(DeviceVec { memory, len: records.len(), records: PhantomData })
    }

    /// The first record, if there is one, copied to the host. Waits for the scan that writes it.
    pub(crate) fn first(&self) -> Result<Option<T>, Error> {
        if self.len == 0 {
            return Ok(None);
        }
        let mut record = std::mem::MaybeUninit::<T>::uninit();
        // SAFETY: there is space for it. Records on a device come from the host or from a scan, so it is a `T`.
        unsafe {
            self.memory.download(record.as_mut_ptr().cast(), size_of::<T>())?;
            Ok(Some(record.assume_init()))
        }
    }

    /// Where so many records are going to be written, in the stream of another vector.
    pub(crate) fn beside<U>(other: &DeviceVec<U>, len: usize) -> Result<DeviceVec<T>, Error> {
        DeviceVec::space(other.memory.stream(), len)
    }

    /// Records of memory that has so many.
    pub(crate) fn of_memory(memory: DeviceMemory, len: usize) -> DeviceVec<T> {
        assert!(memory.len() >= len * size_of::<T>(), "so many records");
        DeviceVec { memory, len, records: PhantomData }
    }

    /// How many records its memory has space for.
    pub(crate) fn capacity(&self) -> usize {
        self.memory.len() / size_of::<T>().max(1)
    }

    /// So many of the records that its memory has space for.
    pub(crate) fn set_len(&mut self, len: usize) {
        assert!(self.memory.len() >= len * size_of::<T>(), "so many records");
        self.len = len;
    }

    pub(crate) fn into_memory(self) -> DeviceMemory {
        self.memory
    }

    pub(crate) fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    pub(crate) fn memory_mut(&mut self) -> &mut DeviceMemory {
        &mut self.memory
    }
}

#[cfg(feature = "cuda")]
impl<T: ScanType> DeviceVec<T> {
    /// Records of somebody else's memory, last used in this stream; it is not freed with this value.
    ///
    /// ```no_run
    /// use monoscan::cuda::{Device, DeviceBuffer, DeviceRead, Stream};
    /// use monoscan::{DeviceVec, ops::Sum, prelude::*};
    ///
    /// let device = Device::cuda(0)?;
    /// let sums = Scan::<Sum<i32>>::plain()?.on(device)?;
    /// let stream = Stream::new(&device)?;
    /// let theirs = DeviceBuffer::from_slice(&stream, &[3i32, 1, 4])?; // of another library, say
    /// // SAFETY: three numbers are there for as long as `x` lives, and nobody else uses them.
    /// let x: DeviceVec<i32> = unsafe { DeviceVec::from_raw(&stream, theirs.address(), 3) };
    /// assert_eq!(sums.inclusive(&x)?.to_vec()?, [3, 4, 8]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Safety
    /// As long as this value lives, and until what is given to streams with it is done, so many records of `T` are at this
    /// address in the memory of the stream's device, and nobody else uses them.
    pub unsafe fn from_raw(stream: &monoscan_runtime::cuda::Stream, address: u64, len: usize) -> DeviceVec<T> {
        // SAFETY: the caller says so.
        let memory = unsafe { DeviceMemory::borrowed(stream, address, len * size_of::<T>()) };
        DeviceVec { memory, len, records: PhantomData }
    }

    /// Where the first record is.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// The stream in which they were last written.
    pub fn stream(&self) -> &monoscan_runtime::cuda::Stream {
        self.memory.stream()
    }
}

impl<T> fmt::Debug for DeviceVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceVec of {} records on {}", self.len, self.memory.device())
    }
}
