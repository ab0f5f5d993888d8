//! Events, which mark places in streams: to wait for them and to tell times.

use std::fmt;
use std::ptr;

use cudarc::driver::sys;

use super::device::Device;
use super::driver::call;
use super::error::CudaError;
use super::stream::Stream;

/// A place in a stream.
pub struct Event {
    device: Device,
    raw: sys::CUevent,
}

// SAFETY: the driver takes calls for one event from any thread; the handle itself is only a name.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// An event that marks nothing yet, and can tell times.
    ///
    /// # Errors
    /// The driver fails.
    pub fn new(device: &Device) -> Result<Event, CudaError> {
        Event::with_flags(device, sys::CUevent_flags_enum::CU_EVENT_DEFAULT as u32)
    }

    /// An event that marks nothing yet; without times it costs less.
    ///
    /// # Errors
    /// The driver fails.
    pub fn without_times(device: &Device) -> Result<Event, CudaError> {
        Event::with_flags(device, sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as u32)
    }

    fn with_flags(device: &Device, flags: u32) -> Result<Event, CudaError> {
        let mut raw = ptr::null_mut();
        let driver = device.bind_aside()?;
        // SAFETY: `raw` is a place for the result.
        unsafe { call!(driver, cuEventCreate(&mut raw, flags)) }?;
        Ok(Event { device: *device, raw })
    }

    /// Whose event it is.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> sys::CUevent {
        self.raw
    }

    /// Marks what the stream was given so far.
    ///
    /// # Errors
    /// The stream is of another device, or the driver fails.
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        stream.expect_device("the event", &self.device)?;
        let driver = self.device.bind()?;
        // SAFETY: both exist as long as their handles.
        unsafe { call!(driver, cuEventRecord(self.raw, stream.raw())) }
    }

    /// Whether what it marks is done; an event that marks nothing is.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        let driver = self.device.bind_aside()?;
        // SAFETY: the event exists as long as the handle.
        let code = unsafe { (driver.functions.cuEventQuery)(self.raw) };
        // Not to be done is no error, whose description would be asked for.
        let is_done = code != sys::CUresult::CUDA_ERROR_NOT_READY as u32;
        if is_done { driver.check("cuEventQuery", code).map(|()| true) } else { Ok(false) }
    }

    /// Waits until what it marks is done.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let driver = self.device.bind_aside()?;
        // SAFETY: the event exists as long as the handle.
        unsafe { call!(driver, cuEventSynchronize(self.raw)) }
    }

    /// The time from that event to this one, in milliseconds. Both have to be done.
    ///
    /// # Errors
    /// One of them is not done, marks nothing or has no times.
    pub fn milliseconds_since(&self, earlier: &Event) -> Result<f32, CudaError> {
        let mut milliseconds = 0.0;
        let driver = self.device.bind()?;
        // SAFETY: both exist as long as their handles; `milliseconds` is a place for the result.
        unsafe { call!(driver, cuEventElapsedTime(&mut milliseconds, earlier.raw, self.raw)) }?;
        Ok(milliseconds)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event of device {}", self.device.ordinal())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(driver) = self.device.bind_aside() {
            // SAFETY: this was the only handle; the driver waits for the event itself if it is not done.
            _ = unsafe { call!(driver, cuEventDestroy_v2(self.raw)) };
        }
    }
}
