//! The CUDA driver's library, loaded when it is first needed.
//!
//! Declarations come from cudarc, but functions are looked up here, all at once. A library that is
//! missing or lacks a function is then an error instead of a panic. Results of a newer driver are
//! plain numbers instead of values that cudarc's enum does not have.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys;

use super::error::CudaError;

/// The oldest driver that has all that is used here: CUDA 12.0.
const OLDEST: u32 = 12_000;

macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The driver's functions, by their names in the library.
        #[allow(non_snake_case)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> u32,)*
        }

        impl Functions {
            /// All of them, or the name of one that the library lacks.
            fn load() -> Result<Functions, &'static str> {
                Ok(Functions {
                    $($name: {
                        // What differs from cudarc's declaration does not compile.
                        const _: unsafe fn($($argument),*) -> sys::CUresult = sys::$name;
                        // SAFETY: the library has this function with this signature; its result is an enum of C, which
                        // is a `u32`.
                        unsafe { symbol(stringify!($name))? }
                    },)*
                })
            }

            /// Functions that succeed and do nothing, each of which tells its name to `called`.
            #[cfg(test)]
            pub(crate) fn fake() -> Functions {
                Functions {
                    $($name: {
                        unsafe extern "C" fn fake($(_: $argument),*) -> u32 {
                            super::fake::called(stringify!($name));
                            0
                        }
                        fake
                    },)*
                }
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut sys::CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, sys::CUdevice);
    cuDeviceGetAttribute(*mut c_int, sys::CUdevice_attribute, sys::CUdevice);
    cuDeviceTotalMem_v2(*mut usize, sys::CUdevice);
    cuDevicePrimaryCtxRetain(*mut sys::CUcontext, sys::CUdevice);
    cuCtxGetCurrent(*mut sys::CUcontext);
    cuCtxPushCurrent_v2(sys::CUcontext);
    cuCtxPopCurrent_v2(*mut sys::CUcontext);
    cuThreadExchangeStreamCaptureMode(*mut sys::CUstreamCaptureMode);
    cuStreamCreate(*mut sys::CUstream, c_uint);
    cuStreamDestroy_v2(sys::CUstream);
    cuStreamGetCtx(sys::CUstream, *mut sys::CUcontext);
    cuStreamGetId(sys::CUstream, *mut u64);
    cuStreamSynchronize(sys::CUstream);
    cuStreamWaitEvent(sys::CUstream, sys::CUevent, c_uint);
    cuStreamIsCapturing(sys::CUstream, *mut sys::CUstreamCaptureStatus);
    cuStreamGetCaptureInfo_v2(
        sys::CUstream, *mut sys::CUstreamCaptureStatus, *mut sys::cuuint64_t, *mut sys::CUgraph,
        *mut *const sys::CUgraphNode, *mut usize
    );
    cuStreamBeginCapture_v2(sys::CUstream, sys::CUstreamCaptureMode);
    cuStreamEndCapture(sys::CUstream, *mut sys::CUgraph);
    cuGraphInstantiateWithFlags(*mut sys::CUgraphExec, sys::CUgraph, u64);
    cuGraphLaunch(sys::CUgraphExec, sys::CUstream);
    cuGraphDestroy(sys::CUgraph);
    cuGraphExecDestroy(sys::CUgraphExec);
    cuUserObjectCreate(*mut sys::CUuserObject, *mut c_void, sys::CUhostFn, c_uint, c_uint);
    cuUserObjectRelease(sys::CUuserObject, c_uint);
    cuGraphRetainUserObject(sys::CUgraph, sys::CUuserObject, c_uint, c_uint);
    cuEventCreate(*mut sys::CUevent, c_uint);
    cuEventDestroy_v2(sys::CUevent);
    cuEventRecord(sys::CUevent, sys::CUstream);
    cuEventQuery(sys::CUevent);
    cuEventSynchronize(sys::CUevent);
    cuEventElapsedTime(*mut f32, sys::CUevent, sys::CUevent);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut sys::CUdeviceptr, usize);
    cuMemFree_v2(sys::CUdeviceptr);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemcpyHtoDAsync_v2(sys::CUdeviceptr, *const c_void, usize, sys::CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, sys::CUdeviceptr, usize, sys::CUstream);
    cuMemcpyDtoDAsync_v2(sys::CUdeviceptr, sys::CUdeviceptr, usize, sys::CUstream);
    cuMemsetD8Async(sys::CUdeviceptr, u8, usize, sys::CUstream);
    cuLinkCreate_v2(c_uint, *mut sys::CUjit_option, *mut *mut c_void, *mut sys::CUlinkState);
    cuLinkAddData_v2(
        sys::CUlinkState, sys::CUjitInputType, *mut c_void, usize, *const c_char, c_uint, *mut sys::CUjit_option,
        *mut *mut c_void
    );
    cuLinkComplete(sys::CUlinkState, *mut *mut c_void, *mut usize);
    cuLinkDestroy(sys::CUlinkState);
    cuModuleLoadDataEx(*mut sys::CUmodule, *const c_void, c_uint, *mut sys::CUjit_option, *mut *mut c_void);
    cuModuleUnload(sys::CUmodule);
    cuModuleGetFunction(*mut sys::CUfunction, sys::CUmodule, *const c_char);
    cuFuncGetAttribute(*mut c_int, sys::CUfunction_attribute, sys::CUfunction);
    cuFuncSetAttribute(sys::CUfunction, sys::CUfunction_attribute, c_int);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, sys::CUfunction, c_int, usize);
    cuLaunchKernel(
        sys::CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, sys::CUstream, *mut *mut c_void,
        *mut *mut c_void
    );
}

/// Calls a function of the driver, `call!(driver, cuFunction(arguments))`, and turns what it returns into a `Result`.
macro_rules! call {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $driver.check(stringify!($name), ($driver.functions.$name)($($argument),*))
    };
}
pub(crate) use call;

/// The loaded and initialised driver.
pub(crate) struct Driver {
    pub(crate) functions: Functions,
    /// The CUDA version that it supports, as 1000 × major + 10 × minor.
    pub(crate) version: u32,
    /// How many devices there are.
    pub(crate) devices: usize,
}

impl Driver {
    /// The driver, which is looked for once in the life of a process.
    pub(crate) fn get() -> Result<&'static Driver, CudaError> {
        static DRIVER: OnceLock<Result<Driver, CudaError>> = OnceLock::new();
        DRIVER.get_or_init(Driver::load).as_ref().map_err(CudaError::clone)
    }

    fn load() -> Result<Driver, CudaError> {
        // SAFETY: loading the driver's library runs its initialisers, which is what every user of CUDA does.
        if !unsafe { sys::is_culib_present() } {
            let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
            return Err(CudaError::NoDriver { name: format!("{prefix}cuda{suffix}") });
        }
        let found = library_version()?;
        let missing = |missing| CudaError::DriverTooOld { found, expected: OLDEST, missing };
        let functions = Functions::load().map_err(|name| missing((found >= OLDEST).then_some(name)))?;
        if found < OLDEST {
            return Err(missing(None));
        }
        let mut driver = Driver { functions, version: found, devices: 0 };
        // SAFETY: the flags have to be 0.
        match unsafe { call!(driver, cuInit(0)) } {
            Err(CudaError::Driver { code, .. }) if code == sys::CUresult::CUDA_ERROR_NO_DEVICE as u32 => {
                return Ok(driver);
            }
            other => other?,
        }
        let mut count = 0;
        // SAFETY: `count` is a place for the result.
        unsafe { call!(driver, cuDeviceGetCount(&mut count)) }?;
        driver.devices = usize::try_from(count).unwrap_or(0);
        Ok(driver)
    }

    /// The result of a call, as a `Result`.
    pub(crate) fn check(&self, call: &'static str, code: u32) -> Result<(), CudaError> {
        check(call, code)
    }
}

fn check(call: &'static str, code: u32) -> Result<(), CudaError> {
    if code == sys::CUresult::CUDA_SUCCESS as u32 {
        return Ok(());
    }
    Err(CudaError::Driver {
        call,
        code,
        name: describe("cuGetErrorName", code).unwrap_or_else(|| "an unknown error".into()),
        text: describe("cuGetErrorString", code).unwrap_or_else(|| "the driver does not describe it".into()),
    })
}

/// A function of the library, if it has it.
///
/// # Safety
/// `F` is a function pointer of the signature that the library's function has.
unsafe fn symbol<F: Copy>(name: &'static str) -> Result<F, &'static str> {
    // SAFETY: the library is there, or nobody would ask for its functions; the caller knows the signature.
    unsafe { sys::culib().get::<F>(name.as_bytes()) }.map(|function| *function).map_err(|_| name)
}

/// The CUDA version that the library supports. The stub that toolkits have in its place to link with fails here.
fn library_version() -> Result<u32, CudaError> {
    const NAME: &str = "cuDriverGetVersion";
    let mut version = 0;
    // SAFETY: this is its signature since CUDA 2.2; it needs no initialisation, and `version` is a place for the result.
    let code = unsafe {
        let function = symbol::<unsafe extern "C" fn(*mut c_int) -> u32>(NAME);
        let function =
            function.map_err(|_| CudaError::DriverTooOld { found: 0, expected: OLDEST, missing: Some(NAME) })?;
        function(&mut version)
    };
    check(NAME, code)?;
    Ok(u32::try_from(version).unwrap_or(0))
}

/// The driver's name of an error (`cuGetErrorName`) or message (`cuGetErrorString`). The code is a number here, since
/// a newer driver has more errors than cudarc's enum.
fn describe(function: &'static str, code: u32) -> Option<String> {
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: both functions have this signature, and `text` is a place for the result.
    let got =
        unsafe { symbol::<unsafe extern "C" fn(u32, *mut *const c_char) -> u32>(function).ok()?(code, &mut text) };
    // SAFETY: where it succeeds, the text is a string of the library that lasts as long as that.
    (got == 0 && !text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
