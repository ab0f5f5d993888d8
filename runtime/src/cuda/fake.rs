//! A driver for tests that counts its calls: kernels do nothing, and nothing is copied.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute};

use super::device::Device;
use super::driver::{Driver, Functions};

thread_local! {
    /// Whether events are done in this thread.
    pub(crate) static DONE: Cell<bool> = const { Cell::new(true) };
    static CALLS: RefCell<BTreeMap<&'static str, usize>> = const { RefCell::new(BTreeMap::new()) };
}

/// A call of this function, in this thread.
pub(crate) fn called(function: &'static str) {
    CALLS.with_borrow_mut(|calls| *calls.entry(function).or_default() += 1);
}

/// How often this thread called each function while it did this.
pub(crate) fn calls(work: impl FnOnce()) -> Vec<(&'static str, usize)> {
    CALLS.take();
    work();
    CALLS.take().into_iter().collect()
}

/// An H200, as far as plans ask, and a device of its own in each call: what devices keep is not shared among tests.
pub(crate) fn device() -> Device {
    static DEVICES: AtomicUsize = AtomicUsize::new(0);
    let ordinal = DEVICES.fetch_add(1, Ordering::Relaxed);
    let functions = Functions {
        cuDeviceGetAttribute: attribute,
        cuDeviceTotalMem_v2: memory,
        cuDevicePrimaryCtxRetain: context,
        cuEventQuery: is_done,
        cuFuncGetAttribute: threads,
        cuLinkComplete: image,
        cuMemHostAlloc: host_memory,
        ..Functions::fake()
    };
    Device::of(Box::leak(Box::new(Driver { functions, version: 13_000, devices: ordinal + 1 })), ordinal).unwrap()
}

unsafe extern "C" fn attribute(to: *mut c_int, which: sys::CUdevice_attribute, _: sys::CUdevice) -> u32 {
    let value = match which {
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
        Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => 132,
        Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => 232_448,
        _ => 0,
    };
    // SAFETY: the caller has a place for the result.
    unsafe { to.write(value) };
    0
}

unsafe extern "C" fn memory(to: *mut usize, _: sys::CUdevice) -> u32 {
    // SAFETY: the caller has a place for the result.
    unsafe { to.write(1 << 37) };
    0
}

unsafe extern "C" fn context(to: *mut sys::CUcontext, _: sys::CUdevice) -> u32 {
    // SAFETY: the caller has a place for the result.
    unsafe { to.write(std::ptr::without_provenance_mut(64)) };
    0
}

unsafe extern "C" fn is_done(_: sys::CUevent) -> u32 {
    called("cuEventQuery");
    let state = if DONE.get() { sys::CUresult::CUDA_SUCCESS } else { sys::CUresult::CUDA_ERROR_NOT_READY };
    state as u32
}

unsafe extern "C" fn threads(to: *mut c_int, _: sys::CUfunction_attribute, _: sys::CUfunction) -> u32 {
    // SAFETY: the caller has a place for the result.
    unsafe { to.write(1024) };
    0
}

unsafe extern "C" fn image(_: sys::CUlinkState, to: *mut *mut c_void, bytes: *mut usize) -> u32 {
    // SAFETY: the caller has places for the results.
    unsafe {
        to.write(std::ptr::dangling_mut());
        bytes.write(0);
    }
    0
}

unsafe extern "C" fn host_memory(to: *mut *mut c_void, bytes: usize, _: c_uint) -> u32 {
    called("cuMemHostAlloc");
    // SAFETY: the caller has a place for the result.
    unsafe { to.write(vec![0u8; bytes].leak().as_mut_ptr().cast()) };
    0
}
