//! On a device: algorithms give what they give for slices, and refuse what they refuse there.

use monoscan::Error;
use monoscan::algo::on_gpu::{self, Csr, Workspace};
use monoscan::algo::sort::{Order, SortKey};
use monoscan::algo::{AlgoError, groups, runs, select, series, sort, sparse};
use monoscan::cuda::{Graph, Stream};
use monoscan::ops::Sum;
use monoscan::{DeviceVec, prelude::*};

use super::on_gpu::gpu;

const LENGTHS: [usize; 7] = [0, 1, 2, 1000, 6144, 70_001, 3_000_000];

/// Random bits (SplitMix64).
fn mix(i: usize) -> u64 {
    let z = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn drawn<T>(len: usize, of: impl Fn(u64) -> T) -> Vec<T> {
    (0..len).map(|i| of(mix(i))).collect()
}

fn there<T: ScanType>(records: &[T]) -> DeviceVec<T> {
    DeviceVec::upload(&gpu(), records).unwrap()
}

fn here<T: ScanType>(records: DeviceVec<T>) -> Vec<T> {
    records.to_vec().unwrap()
}

/// As text, in which NaN equals NaN.
fn shown<T: std::fmt::Debug>(records: &[T]) -> String {
    format!("{records:?}")
}

fn sorts<K: SortKey + std::fmt::Debug, V: ScanType + PartialEq + std::fmt::Debug>(
    key: impl Fn(u64) -> K,
    value: impl Fn(u64) -> V,
) {
    let mut space = Workspace::new();
    for len in LENGTHS {
        for order in [Order::Ascending, Order::Descending] {
            let (keys, values) = (drawn(len, &key), drawn(len, &value));
            let places = sort::argsort(&keys, order).unwrap();
            assert_eq!(here(on_gpu::argsort(&there(&keys), order).unwrap()), places, "{len} {order:?}");
            let (mut sorted, mut moved) = (keys.clone(), values.clone());
            sort::sort_with_values(&mut sorted, &mut moved, order).unwrap();
            let (mut dkeys, mut dvalues) = (there(&keys), there(&values));
            space.sort_with_values(&mut dkeys, &mut dvalues, order).unwrap();
            assert!((shown(&here(dkeys)), here(dvalues)) == (shown(&sorted), moved), "{len} {order:?}");
            let mut dkeys = there(&keys);
            space.sort(&mut dkeys, order).unwrap();
            assert!(shown(&here(dkeys)) == shown(&sorted), "{len} {order:?}");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn numbers_are_sorted_with_values_of_any_size() {
    sorts(|bits| bits as u8, |bits| bits as u32);
    sorts(|bits| bits as i16, |bits| bits);
    sorts(|bits| bits as u32 & 0xff00_00ff, |bits| (bits as u32, bits as u16));
    sorts(|bits| bits as i64, |bits| bits as u8);
    sorts(|bits| f32::from_bits(bits as u32), |bits| bits as i32);
    sorts(f64::from_bits, |bits| bits as f32 as f64);
}

#[test]
#[ignore = "needs a CUDA device"]
fn records_are_kept_parted_and_counted() {
    let mut space = Workspace::new();
    for len in LENGTHS {
        let x = drawn(len, |bits| bits as i32);
        let wide = drawn(len, |bits| (bits, bits as u16));
        let flags = drawn(len, |bits| bits >> 40 & 3 == 1);
        let classes = drawn(len, |bits| (bits >> 40) as u8 % 3);
        let (dx, dwide, dflags) = (there(&x), there(&wide), there(&flags));
        let kept = select::select(&x, &flags).unwrap();
        assert_eq!(here(on_gpu::select(&dx, &dflags).unwrap()), kept);
        let (records, places) = on_gpu::select_with_places(&dwide, &dflags).unwrap();
        assert_eq!((here(records), here(places)), select::select_with_places(&wide, &flags).unwrap());
        assert_eq!(here(on_gpu::places(&dflags).unwrap()), select::places(&flags).unwrap());
        let by = select::Select::by(scan!(|x: i32| -> bool { x & 5 == 4 })).unwrap();
        let by_there = by.on(gpu()).unwrap();
        let expected = by.select_with_places(&x).unwrap();
        let (records, places) = by_there.select_with_places(&dx).unwrap();
        assert_eq!((here(records), here(places)), expected);
        assert_eq!(here(by_there.select(&dx).unwrap()), expected.0);
        let mut out = there(&x);
        assert_eq!(by_there.select_into(&dx, &mut out).unwrap(), expected.0.len());
        assert_eq!(here(out)[..expected.0.len()], expected.0);
        let mut out = there(&x);
        assert_eq!(on_gpu::select_into(&dx, &dflags, &mut out).unwrap(), kept.len());
        let (parts, set) = on_gpu::partition(&dwide, &dflags).unwrap();
        assert_eq!((here(parts), set), select::partition(&wide, &flags).unwrap());
        let bytes = drawn(len, |bits| bits as u8);
        assert_eq!(
            here(on_gpu::partition(&there(&bytes), &dflags).unwrap().0),
            select::partition(&bytes, &flags).unwrap().0
        );
        let longs = drawn(len, |bits| bits);
        let (mut parted, mut counted) = (there(&longs), there(&[7u32]));
        space.partition_on_device(&there(&longs), &dflags, &mut parted, &mut counted).unwrap();
        assert_eq!(here(parted), select::partition(&longs, &flags).unwrap().0);
        assert_eq!(here(counted), [set as u32]);
        assert_eq!(space.partition_into(&dx, &dflags, &mut out).unwrap(), set);
        assert_eq!(here(out), select::partition(&x, &flags).unwrap().0);
        let (parts, counts) = on_gpu::partition3(&dx, &there(&classes)).unwrap();
        assert_eq!((here(parts), counts), select::partition3(&x, &classes).unwrap());

        let few = drawn(len, |bits| bits as u8 % 5);
        let (values, lengths) = on_gpu::encode(&there(&few)).unwrap();
        assert_eq!((here(values), here(lengths)), runs::encode(&few).unwrap());
        assert_eq!(here(on_gpu::unique(&there(&few)).unwrap()), runs::unique(&few).unwrap());
        let (keys, values) = on_gpu::unique_by_key(&there(&few), &dwide).unwrap();
        assert_eq!((here(keys), here(values)), runs::unique_by_key(&few, &wide).unwrap());
        // Equal records that differ: there the last one of a run.
        let zeros: Vec<f32> = few.iter().map(|&x| if x < 2 { [0.0, -0.0][x as usize] } else { 1.0 }).collect();
        let (values, lengths) = on_gpu::encode(&there(&zeros)).unwrap();
        let lasts: Vec<u32> = zeros.chunk_by(|a, b| a == b).map(|run| run[run.len() - 1].to_bits()).collect();
        assert_eq!(here(values).into_iter().map(f32::to_bits).collect::<Vec<_>>(), lasts);
        assert_eq!(here(lengths), runs::encode(&zeros).unwrap().1);
        let (values, counts) = on_gpu::histogram(&there(&few)).unwrap();
        assert_eq!((here(values), here(counts)), groups::histogram(&few).unwrap());
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn segments_have_their_totals_and_series_their_past() {
    for rows in [0usize, 1, 2, 1000, 70_001] {
        // Empty rows, short ones, and one that is longer than a block.
        let length = |row: usize| [0, 0, 1, 7, 40][mix(row) as usize % 5] + if row == rows / 2 { 100_000 } else { 0 };
        let mut offsets = vec![0usize];
        (0..rows).for_each(|row| offsets.push(offsets[row] + length(row)));
        let len = offsets[rows];
        let narrow: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
        let doffsets = there(&narrow);
        let x = drawn(len, |bits| Sum(bits as u32));
        let totals = groups::totals_by_offsets(&offsets, &x).unwrap();
        assert_eq!(here(on_gpu::totals_by_offsets(&doffsets, &there(&x)).unwrap()), totals);
        let mut out = there(&vec![Sum(7); rows]);
        on_gpu::totals_by_offsets_into(&doffsets, &there(&x), &mut out).unwrap();
        assert_eq!(here(out), totals);

        let width = 900;
        let columns = drawn(len, |bits| (bits % width as u64) as u32);
        let (values, by) = (drawn(len, |bits| (bits >> 61) as f64), drawn(width, |bits| (bits >> 60) as f64));
        let expected = sparse::Csr::new(&offsets, &columns, &values, width).unwrap().times(&by).unwrap();
        let (dcolumns, dvalues) = (there(&columns), there(&values));
        let matrix = Csr::new(&doffsets, &dcolumns, &dvalues, width).unwrap();
        for _ in 0..2 {
            assert_eq!(here(matrix.times(&there(&by)).unwrap()), expected);
        }

        let keys = drawn(len, |bits| bits >> 62);
        let numbers: Vec<u32> = x.iter().map(|x| x.0).collect();
        let (firsts, sums) = on_gpu::sums_by_key(&there(&keys), &there(&numbers)).unwrap();
        assert_eq!((here(firsts), here(sums)), groups::sums_by_key(&keys, &numbers).unwrap());
        let (firsts, sums) = on_gpu::totals_by_key(&there(&keys), &there(&x)).unwrap();
        assert_eq!((here(firsts), here(sums)), groups::totals_by_key(&keys, &x).unwrap());
        let floats: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
        let (firsts, moments) = on_gpu::moments_by_key(&there(&keys), &there(&floats)).unwrap();
        let (expected_firsts, expected) = groups::moments_by_key(&keys, &floats).unwrap();
        let moments = here(moments);
        assert_eq!((here(firsts), moments.len()), (expected_firsts, expected.len()));
        for (found, expected) in moments.iter().zip(expected) {
            assert_eq!(found.count, expected.count);
            assert!((found.mean - expected.mean).abs() <= 1e-9 * expected.mean.abs().max(1.0));
            assert!((found.variance() - expected.variance()).abs() <= 1e-9 * expected.variance().max(1.0));
        }

        let is_there: Vec<bool> = keys.iter().map(|&key| key == 0).collect();
        let (dnumbers, dthere) = (there(&numbers), there(&is_there));
        let filled = on_gpu::forward_fill(&dnumbers, &dthere, 9).unwrap();
        assert_eq!(here(filled), series::forward_fill(&numbers, &is_there, 9).unwrap());
        let filled = on_gpu::backward_fill(&dnumbers, &dthere, 9).unwrap();
        assert_eq!(here(filled), series::backward_fill(&numbers, &is_there, 9).unwrap());
        let argmax = on_gpu::running_argmax(&dnumbers).unwrap();
        assert_eq!(here(argmax), series::running_argmax(&numbers).unwrap());
        let mut at = 0;
        let times: Vec<u64> = keys
            .iter()
            .map(|key| {
                at += key * 10;
                at
            })
            .collect();
        assert_eq!(here(on_gpu::sessions(&there(&times), 15).unwrap()), series::sessions(&times, 15).unwrap());
        let altitudes: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
        let seen = on_gpu::line_of_sight(&there(&altitudes)).unwrap();
        assert_eq!(here(seen), series::line_of_sight(&altitudes).unwrap());
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn what_algorithms_refuse_of_slices_they_refuse_on_a_device() {
    let (x, flags) = (there(&[1u32, 2, 3]), there(&[true]));
    let length = |error: AlgoError| matches!(error, AlgoError::Length { expected: 3, got: 1, .. });
    assert!(length(on_gpu::select(&x, &flags).unwrap_err()));
    assert!(length(on_gpu::select_with_places(&x, &flags).unwrap_err()));
    assert!(length(on_gpu::unique_by_key(&x, &flags).unwrap_err()));
    assert!(length(on_gpu::moments_by_key(&flags, &there(&[1.0f64; 3])).unwrap_err()));
    assert!(length(on_gpu::partition(&x, &flags).unwrap_err()));
    let (mut parts, mut two) = (there(&[9u32; 3]), there(&[9u32; 2]));
    let error = Workspace::new().partition_on_device(&x, &there(&[true; 3]), &mut parts, &mut two).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "set", expected: 1, got: 2 }), "{error}");
    assert_eq!((here(parts), here(two)), (vec![9; 3], vec![9; 2]));
    let error = on_gpu::partition3(&x, &there(&[0u8, 3, 1])).unwrap_err();
    assert!(matches!(error, AlgoError::Class { record: 1, expected: 3, got: 3 }), "{error}");
    let refused = |offsets: &[u32]| on_gpu::totals_by_offsets(&there(offsets), &there(&[Sum(1u8); 3])).unwrap_err();
    for (offsets, wrong) in [(&[1u32, 3][..], 0), (&[0, 2, 1, 3], 2), (&[0, 2], 1)] {
        let error = refused(offsets);
        assert!(matches!(error, AlgoError::Scan(Error::Offsets { place, .. }) if place == wrong), "{error}");
    }
    assert!(matches!(refused(&[]), AlgoError::Scan(Error::TooFewOffsets { records: 3 })));
    let (offsets, columns, values) = (there(&[0u32, 3]), there(&[0u32, 5, 1]), there(&[1.0f32; 3]));
    let error = Csr::new(&offsets, &columns, &values, 5).unwrap_err();
    assert!(matches!(error, AlgoError::Index { place: 1, expected: 5, got: 5, .. }), "{error}");
    let matrix = Csr::new(&offsets, &columns, &values, 6).unwrap();
    assert!(matches!(matrix.times(&values).unwrap_err(), AlgoError::Length { argument: "x", expected: 6, got: 3 }));

    // Vectors that a stream writes which is being captured.
    let stream = Stream::new(gpu().as_cuda().unwrap()).unwrap();
    let sums = Scan::<Sum<u32>>::plain().unwrap().on(gpu()).unwrap();
    let mut y = sums.in_stream(&stream).inclusive(&x).unwrap();
    let mut three = there(&[3u32, 2, 1]);
    let even = Scan::<Sum<u32>>::builder().lift(scan!(|x: u32| -> Sum<u32> { Sum(x) }));
    let even = even.project(scan!(|sum: Sum<u32>| -> bool { sum.0 % 2 == 0 })).build().unwrap().on(gpu()).unwrap();
    let captured_flags = even.in_stream(&stream).inclusive(&x).unwrap();
    let three_floats = there(&[1.0f64; 3]);
    let large = select::Select::by(scan!(|x: u32| -> bool { x > 1 })).unwrap().on(gpu()).unwrap();
    let mut refused = None;
    let captured = Graph::capture(&stream, || {
        // `y` beside a vector of another stream, in each place.
        let sorted = on_gpu::sort(&mut y, Order::Ascending).is_err();
        let with_values = on_gpu::sort_with_values(&mut three, &mut y, Order::Ascending).is_err();
        let summed = on_gpu::sums_by_key(&y, &x).is_err();
        let product = Csr::new(&offsets, &y, &values, 7).is_err();
        let parted = on_gpu::partition(&x, &captured_flags).is_err();
        let kept = on_gpu::select(&x, &captured_flags).is_err()
            && on_gpu::select_with_places(&x, &captured_flags).is_err()
            && on_gpu::places(&captured_flags).is_err()
            && on_gpu::unique_by_key(&x, &y).is_err()
            && on_gpu::moments_by_key(&y, &three_floats).is_err()
            && large.select(&y).is_err()
            && large.select_into(&x, &mut y).is_err()
            && large.select_with_places(&y).is_err();
        refused = Some(sorted && with_values && summed && product && parted && kept);
        sums.in_stream(&stream).inclusive_in_place(&mut y).map(drop)
    });
    assert!(captured.is_ok() && refused == Some(true));
}
