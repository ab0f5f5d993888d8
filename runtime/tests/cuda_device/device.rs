//! Devices: what they are, and threads and libraries that use one at once.

use std::ptr;

use cudarc::driver::sys;
use monoscan_runtime::cuda::{CudaError, Device, DeviceBuffer, Module, Stream, Workspace};

use crate::kernels::{add, bump, device, numbers, stream};

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let error = Device::cuda(usize::MAX).unwrap_err();
    match Device::count() {
        Ok(count) => assert_eq!(error, CudaError::NoSuchDevice { ordinal: usize::MAX, count }),
        Err(why) => {
            assert_eq!(error, why);
            assert!(matches!(
                why,
                CudaError::NoDriver { .. } | CudaError::DriverTooOld { .. } | CudaError::Driver { .. }
            ));
        }
    }
    assert_eq!(monoscan_runtime::Error::from(error.clone()).to_string(), error.to_string());
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_device_tells_what_it_is() {
    let facts = device().facts();
    println!("{facts:?}");
    assert!(facts.architecture.major >= 5 && facts.multiprocessors > 0 && !facts.name.is_empty());
    assert!(facts.shared_per_block >= 48 << 10 && facts.shared_per_multiprocessor >= facts.shared_per_block);
    assert!(facts.l2_bytes > 0 && facts.driver_version >= 12_000);
    let (free, total) = device().memory().unwrap();
    assert!(0 < free && free <= total && total <= facts.memory);
    assert_eq!(device(), Device::cuda(0).unwrap());
    assert!(ptr::eq(device().facts(), Device::cuda(0).unwrap().facts()));
    let count = Device::count().unwrap();
    assert_eq!(Device::cuda(count).unwrap_err(), CudaError::NoSuchDevice { ordinal: count, count });
}

#[test]
#[ignore = "needs a CUDA device"]
fn eight_threads_use_a_device_at_once() {
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            scope.spawn(move || {
                let stream = stream();
                for round in 0..50 {
                    let size = 1000 * round as usize + thread as usize;
                    let from = DeviceBuffer::from_slice(&stream, &numbers(size)).unwrap();
                    let to = DeviceBuffer::zeroed(&stream, size).unwrap();
                    let workspace = Workspace::lease(&stream, 1, 100).unwrap();
                    add(&stream, &from, &to, thread);
                    bump(&stream, &workspace, 0);
                    stream.synchronize().unwrap();
                    assert_eq!(workspace.header().unwrap().epoch, round + 1);
                    let expected: Vec<u32> = numbers(size).iter().map(|number| number.wrapping_add(thread)).collect();
                    assert_eq!(to.to_vec(&stream).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_current_context_of_another_library_stays_current() {
    let stream = stream();
    let mut foreign = ptr::null_mut();
    let mut handle = 0;
    let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let current = || {
        let mut current = ptr::null_mut();
        // SAFETY: `current` is a place for the result.
        assert_eq!(unsafe { sys::cuCtxGetCurrent(&mut current) }, sys::CUresult::CUDA_SUCCESS);
        current
    };
    // SAFETY: all are places for results; other tests' captures do not matter to this thread.
    unsafe {
        sys::cuThreadExchangeStreamCaptureMode(&mut mode).result().unwrap();
        sys::cuDeviceGet(&mut handle, 0).result().unwrap();
        sys::cuCtxCreate_v2(&mut foreign, 0, handle).result().unwrap();
    }
    assert_eq!(current(), foreign);
    assert_eq!(DeviceBuffer::from_slice(&stream, &[1u8, 2]).unwrap().to_vec(&stream).unwrap(), [1, 2]);
    assert!(matches!(Module::link(&device(), "nonsense"), Err(CudaError::Refused { .. })));
    assert_eq!(current(), foreign);
    let mut raw = ptr::null_mut();
    // SAFETY: `raw` is a place for the result; the stream is destroyed with its context, after its last use.
    let borrowed = unsafe {
        sys::cuStreamCreate(&mut raw, 0).result().unwrap();
        Stream::from_raw(&device(), raw)
    };
    assert!(matches!(borrowed, Err(CudaError::Argument { .. })), "a stream of another context");
    // SAFETY: it was made above.
    unsafe { sys::cuCtxDestroy_v2(foreign).result().unwrap() };
}
