//! A GPU: its primary context, which all libraries of a process share, and what is known of it.

use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute};

use super::architecture::Architecture;
use super::capture::Graves;
use super::driver::{Driver, call};
use super::error::CudaError;
use super::stream::Stream;
use super::workspace::Pool;

/// A GPU, cheap to copy. Its primary context is retained at the first use and stays for the life of the process, and it
/// is never reset: other libraries share it.
#[derive(Clone, Copy)]
pub struct Device {
    shared: &'static Shared,
}

/// The part that all handles of a device share.
struct Shared {
    driver: &'static Driver,
    context: Context,
    facts: DeviceFacts,
    pool: Pool,
    graves: Graves,
    aside: OnceLock<Stream>,
}

/// The context's handle.
struct Context(sys::CUcontext);

// SAFETY: a context may be made current in any thread, and in several at once; the handle itself is only a name.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

thread_local! {
    /// The context that the latest guard of this thread made current or found so; null without a guard.
    static BOUND: Cell<sys::CUcontext> = const { Cell::new(ptr::null_mut()) };
}

/// The properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceFacts {
    /// Its number in this process, as `CUDA_VISIBLE_DEVICES` left it.
    pub ordinal: usize,
    /// The model's name.
    pub name: String,
    /// The code that it runs: its compute capability.
    pub architecture: Architecture,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// The most shared memory that a block can have if it asks for it, in bytes.
    pub shared_per_block: u32,
    /// The shared memory of a multiprocessor, in bytes.
    pub shared_per_multiprocessor: u32,
    /// The L2 cache, in bytes.
    pub l2_bytes: u32,
    /// The device's memory, in bytes.
    pub memory: usize,
    /// The CUDA version that the driver supports, as 1000 × major + 10 × minor.
    pub driver_version: u32,
}

impl Device {
    /// The device of this number. The first call for it initialises it, which takes a while; the others are free.
    ///
    /// # Errors
    /// There is no driver, it is too old, there is no such device, or the driver fails.
    pub fn cuda(ordinal: usize) -> Result<Device, CudaError> {
        static DEVICES: Mutex<Vec<(usize, Device)>> = Mutex::new(Vec::new());
        let driver = Driver::get()?;
        // A panic while the lock was held left the list whole: it only ever grows by one push.
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, device)) = devices.iter().find(|(known, _)| *known == ordinal) {
            return Ok(*device);
        }
        if ordinal >= driver.devices {
            return Err(CudaError::NoSuchDevice { ordinal, count: driver.devices });
        }
        let device = Device::of(driver, ordinal)?;
        devices.push((ordinal, device));
        Ok(device)
    }

    /// A device that this driver has.
    pub(super) fn of(driver: &'static Driver, ordinal: usize) -> Result<Device, CudaError> {
        Ok(Device { shared: Box::leak(Box::new(Shared::new(driver, ordinal)?)) })
    }

    /// How many devices there are.
    ///
    /// # Errors
    /// There is no driver, it is too old, or it fails.
    pub fn count() -> Result<usize, CudaError> {
        Ok(Driver::get()?.devices)
    }

    /// Its properties.
    pub fn facts(&self) -> &'static DeviceFacts {
        &self.shared.facts
    }

    /// Its number.
    pub fn ordinal(&self) -> usize {
        self.shared.facts.ordinal
    }

    /// How much memory is free and how much there is, in bytes.
    ///
    /// # Errors
    /// The driver fails.
    pub fn memory(&self) -> Result<(usize, usize), CudaError> {
        let (mut free, mut total) = (0, 0);
        let driver = self.bind()?;
        // SAFETY: both are places for the results.
        unsafe { call!(driver, cuMemGetInfo_v2(&mut free, &mut total)) }?;
        Ok((free, total))
    }

    /// Makes the device's context current in this thread, until the guard is dropped. Under another guard of the device this
    /// asks the driver nothing, so what makes several calls holds one.
    pub(crate) fn bind(&self) -> Result<Bound, CudaError> {
        let (driver, context, before) = (self.shared.driver, self.context(), BOUND.get());
        let mut bound = Bound { driver, before, pushed: false, mode: None, thread: PhantomData };
        if before == context {
            return Ok(bound);
        }
        let mut current = ptr::null_mut();
        // SAFETY: `current` is a place for the result.
        unsafe { call!(driver, cuCtxGetCurrent(&mut current)) }?;
        if current != context {
            // SAFETY: the primary context was retained and is never released.
            unsafe { call!(driver, cuCtxPushCurrent_v2(context)) }?;
            bound.pushed = true;
        }
        BOUND.set(context);
        Ok(bound)
    }

    /// The same for calls that have nothing to do with any stream, such as allocation. While this thread captures
    /// a stream, or any thread does in CUDA's default mode, such calls fail and spoil the capture; the guard lifts that.
    pub(crate) fn bind_aside(&self) -> Result<Bound, CudaError> {
        let mut bound = self.bind()?;
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: `mode` is a place for what is wanted and for what was.
        unsafe { call!(bound, cuThreadExchangeStreamCaptureMode(&mut mode)) }?;
        bound.mode = Some(mode);
        Ok(bound)
    }

    /// A stream of the runtime itself, for what must not wait for anyone's work nor become part of a capture.
    pub(crate) fn aside(&self) -> Result<&'static Stream, CudaError> {
        if let Some(stream) = self.shared.aside.get() {
            return Ok(stream);
        }
        let made = Stream::new(self)?;
        Ok(self.shared.aside.get_or_init(|| made))
    }

    pub(crate) fn context(&self) -> sys::CUcontext {
        self.shared.context.0
    }

    pub(crate) fn pool(&self) -> &'static Pool {
        &self.shared.pool
    }

    pub(crate) fn graves(&self) -> &'static Graves {
        &self.shared.graves
    }

    /// Drops what graphs kept that are gone. Not under a guard: these are values of the user, whose code may change the
    /// thread's context.
    pub(crate) fn clear_graves(&self) {
        if BOUND.get().is_null() {
            self.graves().clear();
        }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.ordinal() == other.ordinal()
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device {} ({}, {})", self.ordinal(), self.facts().name, self.facts().architecture)
    }
}

impl Shared {
    fn new(driver: &'static Driver, ordinal: usize) -> Result<Shared, CudaError> {
        let (mut handle, mut context) = (0, ptr::null_mut());
        // SAFETY: the driver has more devices than this number, which a `c_int` counted, so it is no larger than one;
        // `handle` and `context` are places for the results.
        unsafe {
            call!(driver, cuDeviceGet(&mut handle, ordinal as c_int))?;
            call!(driver, cuDevicePrimaryCtxRetain(&mut context, handle))?;
        }
        Ok(Shared {
            driver,
            context: Context(context),
            facts: DeviceFacts::ask(driver, ordinal, handle)?,
            pool: Pool::default(),
            graves: Graves::default(),
            aside: OnceLock::new(),
        })
    }
}

impl DeviceFacts {
    fn ask(driver: &'static Driver, ordinal: usize, handle: sys::CUdevice) -> Result<DeviceFacts, CudaError> {
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: `value` is a place for the result.
            unsafe { call!(driver, cuDeviceGetAttribute(&mut value, attribute, handle)) }?;
            Ok::<_, CudaError>(u32::try_from(value).unwrap_or(0))
        };
        let mut name = [0; 256];
        let mut memory = 0;
        // SAFETY: `name` has space for as many characters as is said, the last of which is a zero; `memory` is a place for
        // the result.
        unsafe {
            call!(driver, cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int, handle))?;
            call!(driver, cuDeviceTotalMem_v2(&mut memory, handle))?;
        }
        Ok(DeviceFacts {
            ordinal,
            // SAFETY: the driver ended the name with a zero.
            name: unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned(),
            architecture: Architecture::new(
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_per_multiprocessor: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            l2_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
            memory,
            driver_version: driver.version,
        })
    }
}

/// A thread that may call the driver for a device. It gives the thread back the context that was current before. Guards of a
/// thread are dropped in the reverse order, and nobody else's code runs under one.
pub(crate) struct Bound {
    driver: &'static Driver,
    /// The value of [`BOUND`] before.
    before: sys::CUcontext,
    pushed: bool,
    mode: Option<sys::CUstreamCaptureMode>,
    /// A guard of one thread.
    thread: PhantomData<*const ()>,
}

impl Deref for Bound {
    type Target = Driver;

    fn deref(&self) -> &Driver {
        self.driver
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // What fails here cannot be told to anyone, and a driver that is gone needs nothing restored.
        if let Some(mut mode) = self.mode {
            // SAFETY: `mode` is what this call gave back before.
            _ = unsafe { call!(self, cuThreadExchangeStreamCaptureMode(&mut mode)) };
        }
        BOUND.set(self.before);
        if self.pushed {
            let mut popped = ptr::null_mut();
            // SAFETY: this thread pushed a context, and others that were pushed since have been popped.
            _ = unsafe { call!(self, cuCtxPopCurrent_v2(&mut popped)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::cuda::fake;

    #[test]
    fn values_of_the_user_are_not_dropped_under_a_guard() {
        let (device, value) = (fake::device(), Arc::new(()));
        device.graves().push(value.clone());
        let guard = device.bind().unwrap();
        device.clear_graves();
        assert_eq!(Arc::strong_count(&value), 2);
        drop(guard);
        device.clear_graves();
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
