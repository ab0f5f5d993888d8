//! Input that algorithms refuse of slices, they refuse on a device, and leave memory as it was.

use monoscan::Error;
use monoscan::algo::on_gpu::{self, Csr, Workspace};
use monoscan::algo::select::Select;
use monoscan::algo::sort::Order;
use monoscan::algo::{AlgoError, numbers};
use monoscan::cuda::{DeviceBuffer, Graph, Stream};
use monoscan::ops::Sum;
use monoscan::{DeviceVec, prelude::*};

use super::{gpu, here, there};

/// Whether an argument was refused that has one element and not three.
fn is_one_of_three<T>(given: Result<T, AlgoError>, name: &str) -> bool {
    matches!(given.err(), Some(AlgoError::Length { argument, expected: 3, got: 1 }) if argument == name)
}

#[test]
#[ignore = "needs a CUDA device"]
fn columns_of_other_lengths_are_refused() {
    let (x, flag, key) = (there(&[1u32, 2, 3]), there(&[true]), there(&[1u32]));
    let (mut parts, mut short, mut float) = (there(&[9u32; 3]), there(&[9u32]), there(&[0.5f64]));
    let mut space = Workspace::new();
    assert!(is_one_of_three(on_gpu::select(&x, &flag), "flags"));
    assert!(is_one_of_three(on_gpu::select_into(&x, &flag, &mut parts), "flags"));
    assert!(is_one_of_three(on_gpu::select_with_places(&x, &flag), "flags"));
    assert!(is_one_of_three(on_gpu::partition(&x, &flag), "flags"));
    assert!(is_one_of_three(on_gpu::partition3(&x, &there(&[1u8])), "classes"));
    assert!(is_one_of_three(space.partition3_into(&x, &there(&[1u8]), &mut parts), "classes"));
    assert!(is_one_of_three(space.partition3_into(&x, &there(&[1u8; 3]), &mut short), "parts"));
    assert!(is_one_of_three(space.argsort_into(&x, Order::Ascending, &mut short), "places"));
    assert!(is_one_of_three(space.partition_into(&x, &flag, &mut parts), "flags"));
    assert!(is_one_of_three(space.partition_into(&x, &there(&[true; 3]), &mut short), "parts"));
    assert!(is_one_of_three(on_gpu::unique_by_key(&x, &flag), "values"));
    assert!(is_one_of_three(on_gpu::unique_by_key_into((&x, &key), &mut parts, &mut short), "values"));
    assert!(is_one_of_three(on_gpu::sums_by_key(&key, &x), "keys"));
    assert!(is_one_of_three(on_gpu::sums_by_key_into((&key, &x), &mut short, &mut parts), "keys"));
    assert!(is_one_of_three(on_gpu::totals_by_key(&key, &there(&[Sum(1u32); 3])), "keys"));
    assert!(is_one_of_three(on_gpu::totals_by_flags(&flag, &there(&[Sum(1u32); 3])), "heads"));
    assert!(is_one_of_three(on_gpu::moments_by_key(&key, &there(&[1.0f64; 3])), "keys"));
    assert!(is_one_of_three(on_gpu::forward_fill(&x, &flag, 0), "is_there"));
    assert!(is_one_of_three(on_gpu::backward_fill(&x, &flag, 0), "is_there"));
    let (digits, digit) = (there(&[1u64; 3]), there(&[1u64]));
    assert!(is_one_of_three(on_gpu::add(&digits, &digit), "b"));
    assert!(is_one_of_three(on_gpu::subtract(&digits, &digit), "b"));
    assert!(is_one_of_three(on_gpu::compare(&digits, &digit), "b"));
    let (rows, row) = (there(&[[1u64; 4]; 3]), there(&[[1u64; 4]]));
    assert!(is_one_of_three(on_gpu::add_rows(&rows, &row), "b"));
    assert!(is_one_of_three(on_gpu::subtract_rows(&rows, &row), "b"));

    let mut two = there(&[9u32; 2]);
    let error = space.partition_on_device(&x, &there(&[true; 3]), &mut parts, &mut two).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "set", expected: 1, got: 2 }), "{error}");
    let mut keys = there(&[3u32, 1, 2]);
    assert!(is_one_of_three(on_gpu::sort_with_values(&mut keys, &mut short, Order::Ascending), "values"));
    assert!(is_one_of_three(space.sort_with_values(&mut keys, &mut float, Order::Ascending), "values"));
    assert_eq!([here(keys), here(parts), here(two), here(short)], [vec![3, 1, 2], vec![9; 3], vec![9; 2], vec![9]]);
}

#[test]
#[ignore = "needs a CUDA device"]
fn wrong_classes_offsets_and_columns_are_refused() {
    let x = there(&[1u32, 2, 3]);
    let mut parts = there(&[9u32; 3]);
    let error = Workspace::new().partition3_into(&x, &there(&[0u8, 3, 1]), &mut parts).unwrap_err();
    assert!(matches!(error, AlgoError::Class { record: 1, expected: 3, got: 3 }), "{error}");
    assert_eq!(here(parts), [9; 3]);
    assert!(on_gpu::partition3(&x, &there(&[0u8, 3, 1])).is_err());
    let refused = |offsets: &[u32]| {
        let mut totals = there(&vec![Sum(77u8); offsets.len().saturating_sub(1)]);
        let error = on_gpu::totals_by_offsets_into(&there(offsets), &there(&[Sum(1u8); 3]), &mut totals).unwrap_err();
        assert!(here(totals).iter().all(|total| total.0 == 77));
        assert!(on_gpu::totals_by_offsets(&there(offsets), &there(&[Sum(1u8); 3])).is_err());
        error
    };
    for (offsets, wrong) in [(&[1u32, 3][..], 0), (&[0, 2, 1, 3], 2), (&[0, 2], 1), (&[0, 4], 1)] {
        let error = refused(offsets);
        assert!(matches!(error, AlgoError::Scan(Error::Offsets { place, .. }) if place == wrong), "{error}");
    }
    assert!(matches!(refused(&[]), AlgoError::Scan(Error::TooFewOffsets { records: 3 })));
    let mut totals = there(&[Sum(77u8); 2]);
    let error = on_gpu::totals_by_offsets_into(&there(&[0, 3]), &there(&[Sum(1u8); 3]), &mut totals).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "totals", expected: 1, got: 2 }), "{error}");

    let (offsets, columns, values) = (there(&[0u32, 3]), there(&[0u32, 5, 1]), there(&[1.0f32; 3]));
    let error = Csr::new(&offsets, &columns, &values, 5).unwrap_err();
    assert!(matches!(error, AlgoError::Index { argument: "columns", place: 1, expected: 5, got: 5 }), "{error}");
    assert!(is_one_of_three(Csr::new(&offsets, &there(&[0]), &values, 5), "columns"));
    let error = Csr::new(&there(&[0, 2]), &columns, &values, 6).unwrap_err();
    assert!(matches!(error, AlgoError::Scan(Error::Offsets { place: 1, .. })), "{error}");
    let matrix = Csr::new(&offsets, &columns, &values, 6).unwrap();
    assert!(matches!(matrix.times(&values).unwrap_err(), AlgoError::Length { argument: "x", expected: 6, got: 3 }));
    let mut y = there(&[7.0f32; 2]);
    let error = matrix.times_into(&there(&[1.0; 6]), &mut y).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "y", expected: 1, got: 2 }), "{error}");
    assert_eq!(here(y), [7.0; 2]);
}

/// Vectors over 4 GiB that nobody writes: their lengths are looked at, and nothing of them is read.
#[test]
#[ignore = "needs a CUDA device"]
fn more_records_than_places_count_are_refused() {
    const LEN: usize = 1 << 32;
    let device = gpu();
    let stream = Stream::new(device.as_cuda().unwrap()).unwrap();
    let zeros = DeviceBuffer::<u8>::zeroed(&stream, LEN).unwrap();
    stream.synchronize().unwrap();
    // SAFETY: so many bytes of zeros are there, each of which is a `u8` and a `bool`, and they outlive these vectors. All are refused.
    let (x, mut out, flags) = unsafe {
        let at = zeros.address();
        (
            DeviceVec::<u8>::from_raw(&stream, at, LEN),
            DeviceVec::<u8>::from_raw(&stream, at, LEN),
            DeviceVec::<bool>::from_raw(&stream, at, LEN),
        )
    };
    fn is_long<T>(given: Result<T, AlgoError>) -> bool {
        matches!(given.err(), Some(AlgoError::TooLong { len: LEN, limit: 0x1_0000_0000 }))
    }
    let mut space = Workspace::new();
    assert!(is_long(on_gpu::select_with_places(&x, &flags)));
    assert!(is_long(on_gpu::places(&flags)));
    assert!(is_long(on_gpu::partition3(&x, &x)));
    assert!(is_long(space.partition_into(&x, &flags, &mut out)));
    assert!(is_long(space.partition_on_device(&x, &flags, &mut out, &mut there(&[0u32]))));
    let by = Select::by(scan!(|x: u8| -> bool { x > 3 })).unwrap().on(device).unwrap();
    assert!(is_long(by.select_with_places(&x)));
    assert!(is_long(on_gpu::encode(&x)));
    assert!(is_long(on_gpu::encode_into(&x, &mut out, &mut there(&[0u32]))));
    assert!(is_long(on_gpu::argsort(&x, Order::Ascending)));
    assert!(is_long(space.sort(&mut out, Order::Ascending)));
    assert!(is_long(on_gpu::running_argmax(&x)));
    assert!(is_long(on_gpu::sessions(&x, 1)));
    assert!(is_long(on_gpu::lines_and_columns(&x)));
    let mut total = there(&[Sum(0u8)]);
    // SAFETY: as before; a sum is its number.
    let sums = unsafe { DeviceVec::<Sum<u8>>::from_raw(&stream, zeros.address(), LEN) };
    assert!(is_long(on_gpu::totals_by_offsets_into(&there(&[0, 0]), &sums, &mut total)));
}

/// Vectors that a stream writes which is being captured.
#[test]
#[ignore = "needs a CUDA device"]
fn captured_streams_are_refused() {
    let x = there(&[1u32, 2, 3]);
    let (offsets, values) = (there(&[0u32, 3]), there(&[1.0f32; 3]));
    let stream = Stream::new(gpu().as_cuda().unwrap()).unwrap();
    let sums = Scan::<Sum<u32>>::plain().unwrap().on(gpu()).unwrap();
    let mut y = sums.in_stream(&stream).inclusive(&x).unwrap();
    let mut three = there(&[3u32, 2, 1]);
    let even = Scan::<Sum<u32>>::builder().lift(scan!(|x: u32| -> Sum<u32> { Sum(x) }));
    let even = even.project(scan!(|sum: Sum<u32>| -> bool { sum.0 % 2 == 0 })).build().unwrap().on(gpu()).unwrap();
    let captured_flags = even.in_stream(&stream).inclusive(&x).unwrap();
    let three_floats = there(&[1.0f64; 3]);
    let states = there(&[Sum(1u32); 3]);
    let large = Select::by(scan!(|x: u32| -> bool { x > 1 })).unwrap().on(gpu()).unwrap();
    let fibonacci = numbers::Modular::<2, 1000>::new([1, 1]).unwrap().on(gpu()).unwrap();
    let mut refused = Vec::new();
    let captured = Graph::capture(&stream, || {
        // `y` beside a vector of another stream, in each place.
        refused = vec![
            on_gpu::sort(&mut y, Order::Ascending).is_err(),
            on_gpu::sort_with_values(&mut three, &mut y, Order::Ascending).is_err(),
            on_gpu::sums_by_key(&y, &x).is_err(),
            Csr::new(&offsets, &y, &values, 7).is_err(),
            on_gpu::partition(&x, &captured_flags).is_err(),
            on_gpu::select(&x, &captured_flags).is_err(),
            on_gpu::select_with_places(&x, &captured_flags).is_err(),
            on_gpu::places(&captured_flags).is_err(),
            on_gpu::unique_by_key(&x, &y).is_err(),
            on_gpu::unique_into(&x, &mut y).is_err(),
            on_gpu::moments_by_key(&y, &three_floats).is_err(),
            on_gpu::totals_by_flags(&captured_flags, &states).is_err(),
            on_gpu::horner(&y, 2).is_err(),
            fibonacci.run(&y).is_err(),
            large.select(&y).is_err(),
            large.select_into(&x, &mut y).is_err(),
            large.select_with_places(&y).is_err(),
        ];
        sums.in_stream(&stream).inclusive_in_place(&mut y).map(drop)
    });
    assert!(captured.is_ok() && !refused.is_empty());
    assert_eq!(refused.iter().position(|is_refused| !is_refused), None);
}
