//! [`DeviceMemory`]: bytes in the memory of a GPU, and the stream in which they were written last.
//!
//! For the typed front end. The type exists in every build; without the feature `cuda` there is no
//! value of it.

use std::fmt;
#[cfg(feature = "cuda")]
use std::sync::MutexGuard;

#[cfg(feature = "cuda")]
use monoscan_ir::Layout;

use crate::device::{Device, DeviceError};
use crate::error::Error;
#[cfg(feature = "cuda")]
use crate::{
    column::{Column, ColumnMut},
    cuda::{DeviceBuffer, DeviceSlice, DeviceSliceMut, Event, Stream, StreamLocks, Workspace},
    gpu::transfer,
    spacing::Spacing,
};

/// Bytes in the memory of a GPU. Scans and copies of them are ordered by streams: each waits for what the bytes were last
/// used for.
#[doc(hidden)]
pub struct DeviceMemory {
    #[cfg(feature = "cuda")]
    bytes: Bytes,
    #[cfg(feature = "cuda")]
    stream: Stream,
    #[cfg(not(feature = "cuda"))]
    never: std::convert::Infallible,
}

/// The key of the workspaces that are leased.
#[cfg(feature = "cuda")]
const PASSED_ON: u64 = u64::MAX;

/// Held from the call that writes leased memory to the one that reads it.
#[cfg(feature = "cuda")]
static IN_ORDER: StreamLocks = StreamLocks::new();

#[cfg(feature = "cuda")]
enum Bytes {
    Own(DeviceBuffer<u8>),
    Borrowed { address: u64, len: usize },
    Leased { workspace: Workspace, len: usize },
}

#[cfg(not(feature = "cuda"))]
impl DeviceMemory {
    /// # Errors
    /// There is no device in this build.
    ///
    /// # Safety
    /// None needed here.
    pub unsafe fn upload(_: &Device, _from: *const u8, _bytes: usize) -> Result<DeviceMemory, Error> {
        Err(DeviceError::NotOnGpu.into())
    }

    /// # Errors
    /// None: there is no such memory.
    ///
    /// # Safety
    /// None needed here.
    pub unsafe fn write(&mut self, _from: *const u8, _bytes: usize) -> Result<(), Error> {
        match self.never {}
    }

    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        match self.never {}
    }

    /// # Errors
    /// None: there is no such memory.
    ///
    /// # Safety
    /// None needed here.
    pub unsafe fn download(&self, _to: *mut u8, _bytes: usize) -> Result<(), Error> {
        match self.never {}
    }

    pub fn device(&self) -> Device {
        match self.never {}
    }
}

#[cfg(feature = "cuda")]
impl DeviceMemory {
    /// A copy of these bytes on a device, made in its legacy stream; it is there when this returns.
    ///
    /// # Errors
    /// The CPU has none. The device has too little memory, or the driver fails.
    ///
    /// # Safety
    /// So many bytes can be read; they need not be initialised.
    pub unsafe fn upload(device: &Device, from: *const u8, bytes: usize) -> Result<DeviceMemory, Error> {
        let cuda = device.as_cuda().ok_or(DeviceError::NotOnGpu)?;
        // SAFETY: the caller has them.
        unsafe { DeviceMemory::upload_in(&Stream::legacy(cuda)?, from, bytes) }
    }

    /// The same in a stream.
    ///
    /// # Errors
    /// The device has too little memory, the stream is being captured, or the driver fails.
    ///
    /// # Safety
    /// As that of [`upload`](DeviceMemory::upload).
    pub unsafe fn upload_in(stream: &Stream, from: *const u8, bytes: usize) -> Result<DeviceMemory, Error> {
        let mut memory = DeviceMemory::uninitialized(stream, bytes)?;
        // SAFETY: the caller has them.
        unsafe { memory.write(from, bytes) }?;
        Ok(memory)
    }

    /// Copies these bytes to the first of the memory, after what was given to their stream; they are there when this returns.
    ///
    /// # Errors
    /// The memory has fewer, the stream is being captured, or the driver fails.
    ///
    /// # Safety
    /// So many bytes can be read; they need not be initialised.
    pub unsafe fn write(&mut self, from: *const u8, bytes: usize) -> Result<(), Error> {
        let stream = self.stream.clone();
        // SAFETY: the caller has them.
        Ok(unsafe { transfer::upload(self.as_slice_mut().slice(..bytes)?, &stream, from) }?)
    }

    /// Memory that is going to be written in this stream.
    ///
    /// # Errors
    /// The device has too little memory, or the driver fails.
    pub fn uninitialized(stream: &Stream, bytes: usize) -> Result<DeviceMemory, Error> {
        let bytes = Bytes::Own(DeviceBuffer::uninitialized(stream.device(), bytes)?);
        Ok(DeviceMemory { bytes, stream: stream.clone() })
    }

    /// Memory that stays with this stream, for what calls in it write and read, one after the other: the next such memory of the
    /// stream is the same one, so it waits until the lock that comes with this one is dropped.
    ///
    /// # Errors
    /// The stream is being captured: no graph owns the memory. The device has too little of it, or the driver fails.
    pub fn leased(stream: &Stream, bytes: usize) -> Result<(DeviceMemory, MutexGuard<'static, ()>), Error> {
        stream.expect_no_capture("one that is not, as memory between two scans stays with the stream")?;
        let in_order = IN_ORDER.hold(stream);
        let bytes = Bytes::Leased { workspace: Workspace::lease(stream, PASSED_ON, bytes)?, len: bytes };
        Ok((DeviceMemory { bytes, stream: stream.clone() }, in_order))
    }

    /// Memory of somebody else, last used in this stream.
    ///
    /// # Safety
    /// As long as this value lives, and until what is given to streams with it is done, these bytes are in the memory of the
    /// stream's device, and nobody else uses them.
    pub unsafe fn borrowed(stream: &Stream, address: u64, bytes: usize) -> DeviceMemory {
        DeviceMemory { bytes: Bytes::Borrowed { address, len: bytes }, stream: stream.clone() }
    }

    /// Copies the first bytes to the host, after what was given to their stream; they are there when this returns.
    ///
    /// # Errors
    /// The stream is being captured, or the driver fails; also what failed before on the device.
    ///
    /// # Safety
    /// So many bytes can be written there, and are there.
    pub unsafe fn download(&self, to: *mut u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller has them.
        Ok(unsafe { transfer::download(self.as_slice().slice(..bytes)?, &self.stream, to) }?)
    }

    /// Gives the first bytes to `take`, piece by piece in order, after what was given to their stream. Pieces but the last have the
    /// same length, a multiple of 64 KB, and lie as any number may.
    ///
    /// # Errors
    /// Those of [`download`](DeviceMemory::download).
    pub(crate) fn download_pieces(&self, bytes: usize, take: impl FnMut(&[u8])) -> Result<(), Error> {
        Ok(transfer::download_pieces(self.as_slice().slice(..bytes)?, &self.stream, take)?)
    }

    /// The `u32` at a place among such, after what was given to their stream.
    ///
    /// # Errors
    /// There is none, the stream is being captured, or the driver fails.
    pub fn word(&self, place: usize) -> Result<u32, Error> {
        let mut word = [0; 4];
        self.as_slice().slice(4 * place..4 * place + 4)?.copy_to(&self.stream, &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    /// Copies the first bytes of other memory here, in the stream of that.
    ///
    /// # Errors
    /// One of them has fewer, or the driver fails.
    pub fn copy_from(&mut self, from: &DeviceMemory, bytes: usize) -> Result<(), Error> {
        let stream = from.stream().clone();
        self.before(&stream)?;
        self.as_slice_mut().slice(..bytes)?.copy_from_device(&stream, &from.as_slice().slice(..bytes)?)?;
        self.written_in(&stream);
        Ok(())
    }

    /// Refuses memory of a stream that is being captured, for what cannot be part of a graph.
    ///
    /// # Errors
    /// [`Error::Cuda`] if it is, or if the driver fails.
    pub fn expect_no_capture(&self, expected: &'static str) -> Result<(), Error> {
        Ok(self.stream.expect_no_capture(expected)?)
    }

    /// Whose memory it is.
    pub fn device(&self) -> Device {
        self.stream.device().into()
    }

    /// The stream in which it was last written.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// From now on it is this stream in which it was last written.
    pub fn written_in(&mut self, stream: &Stream) {
        self.stream = stream.clone();
    }

    /// Where it is.
    pub fn address(&self) -> u64 {
        match &self.bytes {
            Bytes::Own(buffer) => buffer.address(),
            Bytes::Borrowed { address, .. } => *address,
            Bytes::Leased { workspace, .. } => workspace.states(),
        }
    }

    /// A column of it: the bytes before record 0, how many records, and how they lie if not one after the other.
    ///
    /// # Safety
    /// Such records of this layout lie within it.
    pub unsafe fn column<'a>(
        &'a self,
        (before, len, spacing): (usize, usize, Option<Spacing>),
        layout: &'a Layout,
    ) -> Column<'a> {
        let address = self.address() + before as u64;
        // SAFETY: the memory is borrowed.
        unsafe { Column::on_device_raw(self.device(), address, len, layout) }.spaced(spacing)
    }

    /// A column of it that has its layout itself.
    ///
    /// # Safety
    /// As for [`column`](DeviceMemory::column).
    pub unsafe fn column_of(&self, len: usize, layout: Layout) -> Column<'_> {
        // SAFETY: the memory is borrowed.
        unsafe { Column::on_device_raw_of(self.device(), self.address(), len, layout) }
    }

    /// A column of it to be written, as [`column`](DeviceMemory::column) has it.
    ///
    /// # Safety
    /// Such records of this layout lie within it, apart from each other.
    pub unsafe fn column_mut<'a>(
        &'a mut self,
        (before, len, spacing): (usize, usize, Option<Spacing>),
        layout: &'a Layout,
    ) -> ColumnMut<'a> {
        let address = self.address() + before as u64;
        // SAFETY: the memory is borrowed mutably.
        unsafe { ColumnMut::on_device_raw(self.device(), address, len, layout) }.spaced(spacing)
    }

    /// Work given to `stream` from now on waits for the last write of the memory. A stream that is being captured
    /// waits for nothing outside of its graph, whose launch the caller orders.
    ///
    /// # Errors
    /// The driver fails.
    pub fn before(&self, stream: &Stream) -> Result<(), Error> {
        join(&self.stream, stream, stream)
    }

    /// Work given to the memory's stream from now on waits for all that was given to `stream`.
    ///
    /// # Errors
    /// The driver fails.
    pub fn after(&self, stream: &Stream) -> Result<(), Error> {
        join(stream, &self.stream, stream)
    }

    /// How many bytes.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Own(buffer) => buffer.len(),
            Bytes::Borrowed { len, .. } | Bytes::Leased { len, .. } => *len,
        }
    }

    fn as_slice(&self) -> DeviceSlice<'_, u8> {
        // SAFETY: so many bytes are there, and borrowed.
        unsafe { DeviceSlice::from_raw(self.stream.device(), self.address(), self.len()) }
    }

    fn as_slice_mut(&mut self) -> DeviceSliceMut<'_, u8> {
        // SAFETY: so many bytes are there, and borrowed mutably.
        unsafe { DeviceSliceMut::from_raw(self.stream.device(), self.address(), self.len()) }
    }
}

/// Work that one stream is given from now on waits for what was given to the other, unless this one of them is being captured.
#[cfg(feature = "cuda")]
fn join(first: &Stream, then: &Stream, given: &Stream) -> Result<(), Error> {
    if first.raw() == then.raw() || given.is_capturing()? {
        return Ok(());
    }
    let event = Event::new(first.device())?;
    event.record(first)?;
    Ok(then.wait_for(&event)?)
}

impl fmt::Debug for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceMemory on {}", self.device())
    }
}
