//! Streams and the events in them.

use std::time::Duration;

use monoscan_runtime::cuda::{DeviceBuffer, Event, Stream};

use crate::kernels::{SIZES, add, device, numbers, spin, stream};

#[test]
#[ignore = "needs a CUDA device"]
fn kernels_run_in_owned_legacy_and_borrowed_streams() {
    let owner = stream();
    // SAFETY: `owner` outlives it.
    let borrowed = unsafe { Stream::from_raw(&device(), owner.raw()) }.unwrap();
    for stream in [owner.clone(), Stream::legacy(&device()).unwrap(), borrowed] {
        for size in SIZES {
            let records = numbers(size);
            let from = DeviceBuffer::from_slice(&stream, &records).unwrap();
            let to = DeviceBuffer::zeroed(&stream, size).unwrap();
            add(&stream, &from, &to, 3);
            let expected: Vec<u32> = records.iter().map(|number| number.wrapping_add(3)).collect();
            assert_eq!(to.to_vec(&stream).unwrap(), expected);
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_stream_waits_for_an_event_of_another() {
    let (first, second) = (stream(), stream());
    let size = 100_000;
    let from = DeviceBuffer::from_slice(&first, &numbers(size)).unwrap();
    let (middle, to) = (DeviceBuffer::zeroed(&first, size).unwrap(), DeviceBuffer::zeroed(&second, size).unwrap());
    let ready = Event::without_times(&device()).unwrap();
    spin(&first, Duration::from_millis(50));
    add(&first, &from, &middle, 1);
    ready.record(&first).unwrap();
    second.wait_for(&ready).unwrap();
    add(&second, &middle, &to, 1);
    let expected: Vec<u32> = numbers(size).iter().map(|number| number.wrapping_add(2)).collect();
    assert_eq!(to.to_vec(&second).unwrap(), expected);
}

#[test]
#[ignore = "needs a CUDA device"]
fn events_tell_times() {
    let stream = stream();
    let (start, end) = (Event::new(&device()).unwrap(), Event::new(&device()).unwrap());
    assert_eq!(end.is_done(), Ok(true), "an event that marks nothing is done");
    // The kernels are loaded before the time is taken.
    spin(&stream, Duration::ZERO);
    // Another test may free what the device could still use. The driver then waits for all its work, this kernel's too, and lets nobody
    // else call it meanwhile.
    let is_busy = || {
        start.record(&stream).unwrap();
        spin(&stream, Duration::from_millis(200));
        end.record(&stream).unwrap();
        end.is_done() == Ok(false)
    };
    assert!((0..10).any(|_| is_busy()), "the kernel is always done before anyone looks");
    end.synchronize().unwrap();
    let milliseconds = end.milliseconds_since(&start).unwrap();
    assert!((150.0..2_000.0).contains(&milliseconds), "{milliseconds} ms");
    stream.synchronize().unwrap();
}
