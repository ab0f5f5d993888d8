//! Modules: PTX that the driver linked for a device, or an image of an earlier link, loaded.
//!
//! PTX goes through the driver's linker rather than straight into a module, since only that gives
//! the machine code (the cubin) back, which the next process can load in a fraction of the time.

use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUjit_option_enum as JitOption, CUresult};

use super::architecture::check_target;
use super::cubins::CubinCache;
use super::device::{Bound, Device};
use super::driver::call;
use super::error::CudaError;
use super::kernel::Kernel;
use super::memory::{is_out_of_memory, no_memory};
use super::refused::{ArgumentError, Target};

/// Space for each of the driver's logs, which it cuts there.
const LOG_BYTES: usize = 16 << 10;

/// Machine code for one architecture, as the driver linked it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cubin {
    /// The image, whole.
    pub image: Vec<u8>,
    /// The driver's log, such as registers and spills.
    pub log: String,
}

/// A module loaded on a device. Clones are the same module, which is unloaded with the last of them and of its kernels.
#[derive(Clone)]
pub struct Module {
    shared: Arc<Loaded>,
}

/// How long it took to make a module or a kernel, phase by phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompileTimes {
    /// To make the PTX; zero where that was there before. Where machine code is found in a cache, this is what it takes to know
    /// what to look for.
    pub ptx: Duration,
    /// From PTX to machine code, by the driver, or to find that in a cache.
    pub link: Duration,
    /// To load that on the device.
    pub load: Duration,
}

impl CompileTimes {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.ptx + self.link + self.load
    }
}

/// When the last lap ended.
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

struct Loaded {
    device: Device,
    raw: sys::CUmodule,
}

// SAFETY: the driver takes calls for one module from any thread; the handle itself is only a name.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Module {
    /// Links PTX for this device.
    ///
    /// # Errors
    /// The PTX is for other devices, the driver refuses it (the error has its log), or the driver fails.
    pub fn link(device: &Device, ptx: &str) -> Result<Cubin, CudaError> {
        check_target(ptx, device.facts().architecture)?;
        let text = CString::new(ptx).map_err(|error| ArgumentError::ZeroInPtx { place: error.nul_position() })?;
        let driver = device.bind_aside()?;
        let mut log = Log::new();
        let (mut options, mut values) = log.options();
        let mut link = Link { driver: &driver, state: ptr::null_mut() };
        let mut image = ptr::null_mut();
        let mut bytes = 0;
        // SAFETY: as many options as are said, with values of the kinds that they have, which live longer than the link, as
        // do the logs that they point to; the text ends with a zero, which counts; `image` and `bytes` are places for the
        // results.
        let linked = unsafe {
            let count = options.len() as u32;
            call!(driver, cuLinkCreate_v2(count, options.as_mut_ptr(), values.as_mut_ptr(), &mut link.state))?;
            let kind = sys::CUjitInputType_enum::CU_JIT_INPUT_PTX;
            let (data, size) = (text.as_ptr().cast_mut().cast(), text.as_bytes_with_nul().len());
            call!(
                driver,
                cuLinkAddData_v2(link.state, kind, data, size, c"ptx".as_ptr(), 0, ptr::null_mut(), ptr::null_mut())
            )
            .and_then(|()| call!(driver, cuLinkComplete(link.state, &mut image, &mut bytes)))
        };
        if let Err(error) = linked {
            return Err(log.explain(error, device, ptx.len()));
        }
        // SAFETY: the link succeeded, so the image has so many bytes, and lives until the link is destroyed.
        let image = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), bytes) }.to_vec();
        drop(link);
        Ok(Cubin { image, log: log.info() })
    }

    /// Links PTX for this device and loads it; with a cache, the link is looked for there first and kept there.
    ///
    /// # Errors
    /// The PTX is for other devices, the driver refuses it (the error has its log), or the driver fails. A cache that
    /// cannot be read or written is no error: it costs the time of a link.
    pub fn from_ptx(device: &Device, ptx: &str, cache: Option<&CubinCache>) -> Result<Module, CudaError> {
        Module::made(device, ptx.as_bytes(), cache, || Ok(ptx)).map(|(module, _)| module)
    }

    /// The same, with PTX that is asked for only if there is no link of it in the cache, under a key which says all that the PTX
    /// depends on. Also gives how long that took.
    pub(crate) fn made<P: AsRef<str>, E: From<CudaError>>(
        device: &Device,
        key: &[u8],
        cache: Option<&CubinCache>,
        ptx: impl FnOnce() -> Result<P, E>,
    ) -> Result<(Module, CompileTimes), E> {
        let facts = device.facts();
        let mut clock = Clock(Instant::now());
        let mut times = CompileTimes::default();
        let entry = cache.map(|cache| cache.entry(key, facts.architecture, facts.driver_version));
        let found = entry.as_ref().and_then(|entry| entry.read());
        times.link = clock.lap();
        if let Some(image) = found {
            // SAFETY: the cache holds what a link gave, in a directory that only this user can write, and its hash is right.
            let module = unsafe { Module::load(device, &image) };
            times.load = clock.lap();
            // What the driver refuses is made anew.
            if let Ok(module) = module {
                return Ok((module, times));
            }
        }
        let ptx = ptx()?;
        times.ptx = clock.lap();
        let cubin = Module::link(device, ptx.as_ref())?;
        times.link += clock.lap();
        // SAFETY: this is what the link gave.
        let module = unsafe { Module::load(device, &cubin.image) }?;
        times.load += clock.lap();
        if let Some(entry) = entry {
            // A disk that is full or gone costs the next process the time of a link, and this one nothing.
            _ = entry.write(&cubin.image);
        }
        Ok((module, times))
    }

    /// Loads the image of a link.
    ///
    /// # Errors
    /// The image is for other devices, the driver refuses it, or it fails.
    ///
    /// # Safety
    /// The image is a whole cubin: the driver reads as far as its headers say.
    pub unsafe fn load(device: &Device, image: &[u8]) -> Result<Module, CudaError> {
        let driver = device.bind_aside()?;
        let mut log = Log::new();
        let (mut options, mut values) = log.options();
        let mut raw = ptr::null_mut();
        let (data, count) = (image.as_ptr().cast(), options.len() as u32);
        // SAFETY: as many options as are said, with values of the kinds that they have, pointing to logs that live longer
        // than the call; the caller says that the image is whole; `raw` is a place for the result.
        let loaded = unsafe {
            call!(driver, cuModuleLoadDataEx(&mut raw, data, count, options.as_mut_ptr(), values.as_mut_ptr()))
        };
        loaded.map_err(|error| log.explain(error, device, image.len()))?;
        Ok(Module { shared: Arc::new(Loaded { device: *device, raw }) })
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// There is none, or the driver fails.
    pub fn kernel(&self, name: &str) -> Result<Kernel, CudaError> {
        Kernel::of(self, name)
    }

    /// The device on which it is loaded.
    pub fn device(&self) -> &Device {
        &self.shared.device
    }

    pub(crate) fn raw(&self) -> sys::CUmodule {
        self.shared.raw
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module on device {}", self.device().ordinal())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(driver) = self.device.bind_aside() {
            // SAFETY: this was the last handle, and each launch of a kernel kept one until it was done.
            _ = unsafe { call!(driver, cuModuleUnload(self.raw)) };
        }
    }
}

/// A link under way, which is destroyed in the end, and with it the memory of the image.
struct Link<'a> {
    driver: &'a Bound,
    state: sys::CUlinkState,
}

impl Drop for Link<'_> {
    fn drop(&mut self) {
        if !self.state.is_null() {
            // SAFETY: the link was created, and nobody uses it any more.
            _ = unsafe { call!(self.driver, cuLinkDestroy(self.state)) };
        }
    }
}

/// The driver's log of linking and loading.
struct Log {
    info: Vec<u8>,
    errors: Vec<u8>,
}

impl Log {
    fn new() -> Log {
        Log { info: vec![0; LOG_BYTES], errors: vec![0; LOG_BYTES] }
    }

    /// The options that make the driver write these logs: their names, and values, some of which are numbers in place of
    /// pointers. The last byte of each log is kept from the driver, so that the text ends.
    fn options(&mut self) -> ([JitOption; 4], [*mut c_void; 4]) {
        let size = ptr::without_provenance_mut(LOG_BYTES - 1);
        (
            [
                JitOption::CU_JIT_INFO_LOG_BUFFER,
                JitOption::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                JitOption::CU_JIT_ERROR_LOG_BUFFER,
                JitOption::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            ],
            [self.info.as_mut_ptr().cast(), size, self.errors.as_mut_ptr().cast(), size],
        )
    }

    fn info(&self) -> String {
        text(&self.info)
    }

    /// The error that says most about why a module was not linked or loaded.
    fn explain(&self, error: CudaError, device: &Device, bytes: usize) -> CudaError {
        const NO_BINARY: u32 = CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU as u32;
        const REFUSALS: [u32; 6] = [
            NO_BINARY,
            CUresult::CUDA_ERROR_INVALID_IMAGE as u32,
            CUresult::CUDA_ERROR_INVALID_PTX as u32,
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION as u32,
            CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND as u32,
            CUresult::CUDA_ERROR_INVALID_SOURCE as u32,
        ];
        let log = text(&self.errors);
        match error {
            CudaError::Driver { code: NO_BINARY, .. } if log.is_empty() => {
                CudaError::WrongArchitecture { needs: Target::Other, device: device.facts().architecture }
            }
            CudaError::Driver { code, name, text, .. } if REFUSALS.contains(&code) => {
                CudaError::Refused { name, log: if log.is_empty() { text } else { log } }
            }
            // The linker also calls what it refuses an unknown error, or an invalid value.
            CudaError::Driver { name, .. } if !log.is_empty() => CudaError::Refused { name, log },
            error if is_out_of_memory(&error) => no_memory(device, bytes),
            error => error,
        }
    }
}

/// The text in a buffer that was filled with zeros.
fn text(buffer: &[u8]) -> String {
    CStr::from_bytes_until_nul(buffer).map(|text| text.to_string_lossy().trim_end().to_owned()).unwrap_or_default()
}
