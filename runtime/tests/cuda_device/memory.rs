//! Memory: copies to, from and within a device, and too little of it.

use std::time::Duration;

use monoscan_runtime::cuda::{CudaError, DeviceBuffer, DeviceRead, PinnedBuffer, Workspace};

use crate::kernels::{SIZES, add, device, numbers, spin, stream};

#[test]
#[ignore = "needs a CUDA device"]
fn memory_round_trips_at_all_sizes() {
    let stream = stream();
    for size in SIZES {
        let records = numbers(size);
        let mut buffer = DeviceBuffer::from_slice(&stream, &records).unwrap();
        assert_eq!(buffer.to_vec(&stream).unwrap(), records);
        let copy = {
            let mut copy = DeviceBuffer::<u32>::zeroed(&stream, size).unwrap();
            assert_eq!(copy.to_vec(&stream).unwrap(), vec![0; size]);
            copy.as_slice_mut().copy_from_device(&stream, &buffer).unwrap();
            copy
        };
        buffer.as_slice_mut().fill_zero(&stream).unwrap();
        assert_eq!(copy.to_vec(&stream).unwrap(), records);
        assert_eq!(buffer.to_vec(&stream).unwrap(), vec![0; size]);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn sub_slices_are_their_part_and_no_more() {
    let stream = stream();
    let mut bytes: Vec<u8> = (0..251).collect();
    let mut buffer = DeviceBuffer::from_slice(&stream, &bytes).unwrap();
    buffer.slice_mut(3..10).unwrap().copy_from(&stream, &[200; 7]).unwrap();
    bytes[3..10].fill(200);
    assert_eq!(buffer.to_vec(&stream).unwrap(), bytes);
    let part = buffer.slice(5..=100).unwrap().slice(7..).unwrap();
    let mut got = vec![0; part.len()];
    part.copy_to(&stream, &mut got).unwrap();
    assert_eq!(got, bytes[12..=100]);
    let (left, right) = buffer.as_slice_mut().split_at(100).unwrap();
    let from = right.as_slice().slice(..50).unwrap();
    left.slice(..50).unwrap().copy_from_device(&stream, &from).unwrap();
    bytes.copy_within(100..150, 0);
    assert_eq!(buffer.to_vec(&stream).unwrap(), bytes);
    assert!(matches!(buffer.slice(..252), Err(CudaError::Argument { .. })));
    assert!(matches!(buffer.slice_mut(..).unwrap().copy_from(&stream, &[1]), Err(CudaError::Argument { .. })));
}

#[test]
#[ignore = "needs a CUDA device"]
fn pinned_memory_is_copied_without_waiting_and_in_order() {
    let stream = stream();
    let size = 1 << 20;
    let from = PinnedBuffer::from_slice(&device(), &numbers(size)).unwrap();
    let mut to = PinnedBuffer::<u32>::new(&device(), size).unwrap();
    assert!(to.iter().all(|&number| number == 0));
    let (mut one, two) =
        (DeviceBuffer::uninitialized(&device(), size).unwrap(), DeviceBuffer::uninitialized(&device(), size).unwrap());
    spin(&stream, Duration::from_millis(20));
    // SAFETY: all four live until the stream was waited for, and nobody uses them before.
    unsafe { one.as_slice_mut().copy_from_async(&stream, &from) }.unwrap();
    add(&stream, &one, &two, 5);
    // SAFETY: as above.
    unsafe { two.as_slice().copy_to_async(&stream, &mut to) }.unwrap();
    stream.synchronize().unwrap();
    assert!(to.iter().zip(from.iter()).all(|(to, from)| *to == from.wrapping_add(5)));
}

#[test]
#[ignore = "needs a CUDA device"]
fn too_little_memory_is_an_error() {
    let absurd = DeviceBuffer::<u8>::uninitialized(&device(), 1 << 50).unwrap_err();
    println!("{absurd}");
    assert!(matches!(absurd, CudaError::OutOfMemory { bytes, total, .. } if bytes == 1 << 50 && total > 0));
    // As much as the device has, part of which is taken.
    let all = DeviceBuffer::<u8>::uninitialized(&device(), device().facts().memory).unwrap_err();
    println!("{all}");
    assert!(matches!(all, CudaError::OutOfMemory { .. }));
    let beyond = DeviceBuffer::<u64>::uninitialized(&device(), usize::MAX).unwrap_err();
    assert!(matches!(beyond, CudaError::OutOfMemory { .. }));
    let workspace = Workspace::lease(&stream(), 1, usize::MAX).unwrap_err();
    assert!(matches!(workspace, CudaError::OutOfMemory { .. }));
    assert!(DeviceBuffer::<u8>::uninitialized(&device(), 1 << 20).is_ok());
}
