//! Streams, in which a device does its work in order.

use std::fmt;
use std::ptr;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys;

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::event::Event;
use super::refused::ArgumentError;

/// The handle that means another stream in every thread.
const PER_THREAD: usize = 2;

/// A stream of a device: what is given to it is done in this order. Clones are the same stream.
#[derive(Clone)]
pub struct Stream {
    shared: Arc<Handle>,
}

struct Handle {
    device: Device,
    raw: sys::CUstream,
    owned: bool,
    /// A number that no other stream of this process ever has, unlike `raw`, which is used again. Asked for when it is needed,
    /// since the driver does not tell it while a stream is captured.
    id: OnceLock<u64>,
}

// SAFETY: the driver takes calls for one stream from any thread, and orders them; the handle itself is only a name.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Stream {
    /// A new stream, which waits for none but itself: not for the legacy stream either.
    ///
    /// # Errors
    /// The driver fails.
    pub fn new(device: &Device) -> Result<Stream, CudaError> {
        let mut raw = ptr::null_mut();
        let driver = device.bind_aside()?;
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: `raw` is a place for the result.
        unsafe { call!(driver, cuStreamCreate(&mut raw, flags)) }?;
        let handle = Handle { device: *device, raw, owned: true, id: OnceLock::new() };
        handle.id()?;
        Ok(Stream { shared: Arc::new(handle) })
    }

    /// The legacy stream, which other libraries call the default stream or stream 0.
    ///
    /// # Errors
    /// The driver fails.
    pub fn legacy(device: &Device) -> Result<Stream, CudaError> {
        // SAFETY: the legacy stream exists as long as the context does.
        unsafe { Stream::from_raw(device, ptr::null_mut()) }
    }

    /// A stream that somebody else owns.
    ///
    /// # Errors
    /// The stream is not one of the device's primary context, or the driver fails.
    ///
    /// # Safety
    /// The stream exists until the last clone of this one, and whatever was made with it, is dropped. If it is
    /// `CU_STREAM_PER_THREAD`, all of these stay in this thread.
    pub unsafe fn from_raw(device: &Device, raw: sys::CUstream) -> Result<Stream, CudaError> {
        let handle = Handle { device: *device, raw, owned: false, id: OnceLock::new() };
        if !handle.is_implicit() {
            let driver = device.bind()?;
            let mut context = ptr::null_mut();
            // SAFETY: the caller says that the stream exists; `context` is a place for the result.
            unsafe { call!(driver, cuStreamGetCtx(raw, &mut context)) }?;
            if context != device.context() {
                return Err(ArgumentError::OtherContext { device: device.ordinal() }.into());
            }
        }
        Ok(Stream { shared: Arc::new(handle) })
    }

    /// The driver's handle, for calls of it and for other libraries.
    pub fn raw(&self) -> sys::CUstream {
        self.shared.raw
    }

    /// The stream's device.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    /// A number that no other stream of this process ever has.
    ///
    /// # Errors
    /// The driver fails; it does if the stream is being captured and was never asked before.
    pub(crate) fn id(&self) -> Result<u64, CudaError> {
        self.shared.id()
    }

    /// Waits until all is done that was given to it.
    ///
    /// # Errors
    /// Something failed that was given to it, or it is being captured.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.expect_no_capture("a stream to wait for")?;
        let driver = self.device().bind_aside()?;
        // SAFETY: the stream exists as long as the handle.
        unsafe { call!(driver, cuStreamSynchronize(self.raw())) }
    }

    /// Whether what it is given becomes part of a graph, and is done when that is launched.
    ///
    /// # Errors
    /// The driver fails; it does if the stream is the legacy one while another one that waits for it is captured, or if
    /// the capture has become invalid.
    pub fn is_capturing(&self) -> Result<bool, CudaError> {
        use sys::CUstreamCaptureStatus as Status;
        let mut status = Status::CU_STREAM_CAPTURE_STATUS_NONE;
        let driver = self.device().bind()?;
        // SAFETY: the stream exists as long as the handle; `status` is a place for the result.
        unsafe { call!(driver, cuStreamIsCapturing(self.raw(), &mut status)) }?;
        match status {
            Status::CU_STREAM_CAPTURE_STATUS_NONE => Ok(false),
            Status::CU_STREAM_CAPTURE_STATUS_ACTIVE => Ok(true),
            Status::CU_STREAM_CAPTURE_STATUS_INVALIDATED => Err(ArgumentError::CaptureInvalid.into()),
        }
    }

    /// Refuses a stream that is being captured, for what cannot be part of a graph.
    pub(crate) fn expect_no_capture(&self, expected: &'static str) -> Result<(), CudaError> {
        if self.is_capturing()? {
            return Err(ArgumentError::Capturing { expected }.into());
        }
        Ok(())
    }

    /// Refuses a stream of another device.
    pub(crate) fn expect_device(&self, argument: &'static str, device: &Device) -> Result<(), CudaError> {
        if self.device() != device {
            let (expected, got) = (self.device().ordinal(), device.ordinal());
            return Err(ArgumentError::OtherDevice { argument, expected, got }.into());
        }
        Ok(())
    }

    /// Work given to it from now on waits until the event has passed.
    ///
    /// # Errors
    /// The driver fails.
    pub fn wait_for(&self, event: &Event) -> Result<(), CudaError> {
        let driver = self.device().bind()?;
        // SAFETY: both exist as long as their handles, and the driver keeps what it needs of the event.
        unsafe { call!(driver, cuStreamWaitEvent(self.raw(), event.raw(), 0)) }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream {:?} of device {}", self.raw(), self.device().ordinal())
    }
}

impl Handle {
    /// Whether the handle is a number by which the driver knows one of its own streams.
    fn is_implicit(&self) -> bool {
        self.raw as usize <= PER_THREAD
    }

    fn id(&self) -> Result<u64, CudaError> {
        match self.id.get() {
            Some(id) if self.raw as usize != PER_THREAD => Ok(*id),
            _ => self.ask_id().inspect(|id| _ = self.id.set(*id)),
        }
    }

    fn ask_id(&self) -> Result<u64, CudaError> {
        let mut id = 0;
        let driver = self.device.bind()?;
        // SAFETY: the stream exists as long as the handle; `id` is a place for the result.
        unsafe { call!(driver, cuStreamGetId(self.raw, &mut id)) }?;
        Ok(id)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        self.id.get().iter().for_each(|id| self.device.pool().forget(**id));
        if let Ok(driver) = self.device.bind_aside() {
            // SAFETY: this was the last handle; the driver finishes what was given to the stream.
            _ = unsafe { call!(driver, cuStreamDestroy_v2(self.raw)) };
        }
    }
}
