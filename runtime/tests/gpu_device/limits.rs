//! Limits of a device: wrong columns, time limits, lines beyond 2^32
//! records, other devices.

use std::time::Duration;

use monoscan_ir::Constant;
use monoscan_runtime::cuda::{CudaError, Device, DeviceBuffer, KernelFault, Stream};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, Init, Shape};

use crate::subject::device;
use scan_kit::programs::{RECURRENCE, parse};

/// Counts records; the output is the low byte of how many there are up to each.
const COUNT: &str = "
program count
  input { size 1, align 1, u8 @ 0 }
  stage (u64)
    identity (0)
    lift (%0 = record.0: u8) {
      %1 = const.u64 1
      return %1
    }
    combine (%0: u64, %1: u64) {
      %2 = add.u64 %0, %1
      return %2
    }
  output write
    column { size 1, align 1, u8 @ 0 }
    project (%0 = state.0: u64) {
      %1 = cast.u8 %0
      return %1
    }
";

#[test]
#[ignore = "needs a CUDA device"]
fn a_line_beyond_the_numbers_of_32_bits() {
    let (scan, stream) =
        (DynScan::builder(parse(COUNT)).device(device()).build().unwrap(), Stream::new(&device()).unwrap());
    let count = (1usize << 32) + 12_345;
    let from = DeviceBuffer::<u8>::zeroed(&stream, count).unwrap();
    let mut to = DeviceBuffer::<u8>::zeroed(&stream, count).unwrap();
    for reversed in [false, true] {
        let call = Call { totals: true, reversed, ..Call::default() };
        let (inputs, outputs) = ([Column::on_device::<u8>(&from)], &mut [ColumnMut::on_device::<u8>(&mut to)]);
        let outcome = scan.submit(&call, &inputs, outputs, &stream).unwrap().wait().unwrap();
        assert_eq!(outcome.totals, [Constant::from(count as u64)]);
        for start in [0, (1 << 31) - 500, (1 << 32) - 500, count - 1000] {
            let mut found = vec![0u8; 1000];
            to.slice(start..start + 1000).unwrap().copy_to(&stream, &mut found).unwrap();
            let number = |i: usize| (if reversed { count - i } else { i + 1 }) as u8;
            assert!(found.iter().enumerate().all(|(i, &found)| found == number(start + i)), "at {start}");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_scan_that_may_be_given_up_is_right_or_an_error_and_the_next_one_is_right() {
    let stream = Stream::new(&device()).unwrap();
    let hasty =
        DynScan::builder(parse(RECURRENCE)).device(device()).time_limit(Duration::from_nanos(1)).build().unwrap();
    let patient = DynScan::builder(parse(RECURRENCE)).device(device()).build().unwrap();
    let x: Vec<u32> = (0..1 << 24).collect();
    let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    let mut to = DeviceBuffer::<u32>::zeroed(&stream, x.len()).unwrap();
    let mut run = |scan: &DynScan| {
        let (inputs, outputs) = ([Column::on_device::<u32>(&from)], &mut [ColumnMut::on_device::<u32>(&mut to)]);
        let done = scan.submit(&Call::default(), &inputs, outputs, &stream).unwrap().wait();
        done.map(|_| to.to_vec(&stream).unwrap())
    };
    let is_right = |found: &[u32]| {
        let mut y = 0u32;
        x.iter().zip(found).all(|(&x, &found)| {
            y = y.wrapping_mul(3).wrapping_add(x);
            found == y
        })
    };
    // Blocks look at the clock after many reads alone, so that most launches end before one gives up. That one which does
    // gives up is what the emulator shows.
    match run(&hasty) {
        Ok(found) => assert!(is_right(&found), "a scan that was not given up is wrong"),
        Err(Error::Cuda(CudaError::KernelFailed(KernelFault::Stuck { .. }))) => {}
        Err(error) => panic!("{error}"),
    }
    assert!(is_right(&run(&patient).unwrap()), "the next scan is wrong");
}

#[test]
#[ignore = "needs a CUDA device"]
fn wrong_columns_are_refused() {
    let (scan, stream) =
        (DynScan::builder(parse(RECURRENCE)).device(device()).build().unwrap(), Stream::new(&device()).unwrap());
    let from = DeviceBuffer::from_slice(&stream, &[1u32, 2, 3]).unwrap();
    let (mut short, mut wide) =
        (DeviceBuffer::<u32>::zeroed(&stream, 2).unwrap(), DeviceBuffer::<u64>::zeroed(&stream, 3).unwrap());
    let inputs = [Column::on_device::<u32>(&from)];
    let call = |call: &Call<'_>, output: ColumnMut<'_>| {
        scan.submit(call, &inputs, &mut [output], &stream).map(drop).unwrap_err()
    };
    let plain = Call::default();
    assert!(matches!(call(&plain, ColumnMut::on_device::<u32>(&mut short)), Error::Length { expected: 3, got: 2, .. }));
    assert!(matches!(call(&plain, ColumnMut::on_device::<u64>(&mut wide)), Error::Layout { .. }));
    let mut right = DeviceBuffer::<u32>::zeroed(&stream, 3).unwrap();
    let init = [Constant::from(1u32)];
    let init = Call { init: Init::Same(&init), ..Call::default() };
    assert!(matches!(call(&init, ColumnMut::on_device::<u32>(&mut right)), Error::State { argument: "init", .. }));
    let flags = DeviceBuffer::<u8>::zeroed(&stream, 2).unwrap();
    let shape = Shape::FlagColumn(&Column::on_device::<u8>(&flags));
    let segmented = Call { shape, ..Call::default() };
    assert!(matches!(
        call(&segmented, ColumnMut::on_device::<u32>(&mut right)),
        Error::Length { expected: 3, got: 2, .. }
    ));
}

#[test]
#[ignore = "needs a CUDA device"]
fn every_device_scans_for_itself() {
    for ordinal in 0..Device::count().unwrap() {
        let device = Device::cuda(ordinal).unwrap();
        let (scan, stream) =
            (DynScan::builder(parse(COUNT)).device(device).build().unwrap(), Stream::new(&device).unwrap());
        let from = DeviceBuffer::<u8>::zeroed(&stream, 100_000).unwrap();
        let call = Call::default();
        let reduced = scan.submit_reduce(&call, &[Column::on_device::<u8>(&from)], &stream).unwrap().wait().unwrap();
        assert_eq!(reduced.totals, [Constant::from(100_000u64)]);
        let other = self::device();
        if other != device {
            let there = Stream::new(&other).unwrap();
            let refused = scan.submit_reduce(&call, &[Column::on_device::<u8>(&from)], &there);
            assert!(matches!(refused, Err(Error::Cuda(CudaError::Argument { .. }))));
        }
    }
}
