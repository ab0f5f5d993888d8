//! Columns in device memory: in place, at odd addresses, kept records and their capacity, resumed
//! streams, totals.

use monoscan_ir::{Constant, Layout, Type};
use monoscan_runtime::cuda::{DeviceBuffer, Stream};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, Shape};

use crate::subject::device;
use scan_kit::programs;

fn recurrence() -> DynScan {
    DynScan::builder(programs::parse(programs::RECURRENCE)).device(device()).build().unwrap()
}

/// y[i] = 3·y[i-1] + x[i], from a value on.
pub(crate) fn solved(x: &[u32], mut y: u32) -> Vec<u32> {
    let step = |&x: &u32| {
        y = y.wrapping_mul(3).wrapping_add(x);
        y
    };
    x.iter().map(step).collect()
}

pub(crate) fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect()
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_line_of_many_tiles() {
    let (scan, stream) = (recurrence(), Stream::new(&device()).unwrap());
    println!("{}", scan.explain());
    for count in [1, 1000, 1 << 20, (1 << 24) + 3] {
        let x = numbers(count);
        let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
        let mut to = DeviceBuffer::<u32>::zeroed(&stream, count).unwrap();
        let outputs = &mut [ColumnMut::on_device::<u32>(&mut to)];
        let pending = scan.submit(&Call::default(), &[Column::on_device::<u32>(&from)], outputs, &stream).unwrap();
        assert_eq!(pending.wait().unwrap().written, count);
        assert!(to.to_vec(&stream).unwrap() == solved(&x, 0), "{count} records");
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn in_place_and_at_odd_addresses() {
    let (scan, stream) = (recurrence(), Stream::new(&device()).unwrap());
    let layout = Layout::of(Type::U32);
    let x = numbers(300_000);
    for offset in [0, 1, 2, 3, 4, 8, 13] {
        let mut bytes = vec![0xee; offset];
        bytes.extend(x.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0xee; 5]);
        let mut buffer = DeviceBuffer::from_slice(&stream, &bytes).unwrap();
        let mut part = buffer.slice_mut(offset..offset + 4 * x.len()).unwrap();
        let columns = &mut [ColumnMut::on_device_bytes(&mut part, &layout).unwrap()];
        scan.submit_in_place(&Call::default(), columns, &stream).unwrap().wait().unwrap();
        let found = buffer.to_vec(&stream).unwrap();
        let expected: Vec<u8> = solved(&x, 0).iter().flat_map(|y| y.to_le_bytes()).collect();
        assert!(found[offset..offset + expected.len()] == expected, "offset {offset}");
        assert!(found[..offset].iter().chain(&found[offset + expected.len()..]).all(|&byte| byte == 0xee));
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn streams_are_resumed_and_reduced() {
    let (scan, stream) = (recurrence(), Stream::new(&device()).unwrap());
    let x = numbers(100_000);
    let expected = solved(&x, 0);
    let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    let mut to = DeviceBuffer::<u32>::zeroed(&stream, x.len()).unwrap();
    let mut carry = vec![Constant::from(1u32), Constant::from(0u32)];
    for (start, end) in [(0, 1), (1, 1), (1, 50_000), (50_000, 100_000)] {
        let (from, mut to) = (from.slice(start..end).unwrap(), to.slice_mut(start..end).unwrap());
        let call = Call { carry: Some(&carry), ..Call::default() };
        let (inputs, outputs) = ([Column::on_device::<u32>(&from)], &mut [ColumnMut::on_device::<u32>(&mut to)]);
        carry = scan.submit(&call, &inputs, outputs, &stream).unwrap().wait().unwrap().totals;
    }
    assert!(to.to_vec(&stream).unwrap() == expected);
    assert_eq!(carry[1], Constant::from(expected[x.len() - 1]));
    let reduced = scan.submit_reduce(&Call::default(), &[Column::on_device::<u32>(&from)], &stream).unwrap();
    assert_eq!(reduced.wait().unwrap().totals, carry);
}

#[test]
#[ignore = "needs a CUDA device"]
fn kept_records_and_their_room() {
    let stream = Stream::new(&device()).unwrap();
    let scan = DynScan::builder(programs::parse(&programs::odd_digits())).device(device()).build().unwrap();
    let x: Vec<u64> = (0..100_000).map(|i| i % 10).collect();
    let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    let inputs = [Column::on_device::<u64>(&from)];
    for capacity in [50_000, 60_000, 49_999, 0] {
        let mut to = DeviceBuffer::from_slice(&stream, &vec![7u64; capacity + 1]).unwrap();
        let mut part = to.slice_mut(..capacity).unwrap();
        let outputs = &mut [ColumnMut::on_device::<u64>(&mut part)];
        match scan.submit(&Call::default(), &inputs, outputs, &stream).unwrap().wait() {
            Ok(outcome) => assert_eq!((outcome.written, capacity >= 50_000), (50_000, true)),
            Err(Error::OutputTooShort { column: 0, expected: 50_000, got }) => {
                assert_eq!((got, capacity < 50_000), (capacity, true))
            }
            Err(other) => panic!("{other}"),
        }
        assert_eq!(to.to_vec(&stream).unwrap()[capacity], 7, "the record behind");
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn flags_on_the_device_in_both_directions() {
    let (scan, stream) = (recurrence(), Stream::new(&device()).unwrap());
    let x = numbers(70_001);
    let heads: Vec<u8> = (0..x.len()).map(|i| u8::from(i % 1000 == 3)).collect();
    let (from, flags) =
        (DeviceBuffer::from_slice(&stream, &x).unwrap(), DeviceBuffer::from_slice(&stream, &heads).unwrap());
    for reversed in [false, true] {
        let mut to = DeviceBuffer::<u32>::zeroed(&stream, x.len()).unwrap();
        let shape = Shape::FlagColumn(&Column::on_device::<u8>(&flags));
        let call = Call { shape, reversed, ..Call::default() };
        let (inputs, outputs) = ([Column::on_device::<u32>(&from)], &mut [ColumnMut::on_device::<u32>(&mut to)]);
        scan.submit(&call, &inputs, outputs, &stream).unwrap().wait().unwrap();
        let mut expected = Vec::new();
        let mut rest = &x[..];
        while !rest.is_empty() {
            let first = x.len() - rest.len();
            let more = (first + 1..x.len()).find(|&i| heads[i] == 1).unwrap_or(x.len()) - first;
            let mut segment = rest[..more].to_vec();
            if reversed {
                segment.reverse();
            }
            let mut segment = solved(&segment, 0);
            if reversed {
                segment.reverse();
            }
            expected.extend(segment);
            rest = &rest[more..];
        }
        assert!(to.to_vec(&stream).unwrap() == expected, "reversed: {reversed}");
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn long_lines_of_the_host_go_in_pieces() {
    let scan = recurrence();
    let x = numbers(9_000_001);
    let columns = [Column::new(&x)];
    assert!(scan.inclusive::<u32>(&columns).unwrap() == solved(&x, 0));
    let mut backward: Vec<u32> = x.iter().rev().copied().collect();
    backward = solved(&backward, 0);
    backward.reverse();
    let reversed = Call { reversed: true, ..Call::default() };
    assert!(scan.collect::<u32>(&reversed, &columns).unwrap() == backward);
    assert_eq!(scan.reduce(&reversed, &columns).unwrap()[1], Constant::from(backward[0]));

    let mut carry = [Constant::from(1u32), Constant::from(77u32)];
    let mut y = vec![0u32; x.len()];
    scan.resume(&Call::default(), &mut carry, &columns, &mut [ColumnMut::new(&mut y)]).unwrap();
    assert!(y == solved(&x, 77));
    assert_eq!(carry[1], Constant::from(y[x.len() - 1]));

    let heads: Vec<bool> = (0..x.len()).map(|i| i % 3_000_017 == 5).collect();
    let segmented = Call { shape: Shape::Heads(&heads), ..Call::default() };
    let mut expected = Vec::new();
    let mut last = 0;
    for (&x, &head) in x.iter().zip(&heads) {
        last = if head { x } else { last.wrapping_mul(3).wrapping_add(x) };
        expected.push(last);
    }
    assert!(scan.collect::<u32>(&segmented, &columns).unwrap() == expected);
}

#[test]
#[ignore = "needs a CUDA device"]
fn kept_records_of_long_lines_of_the_host() {
    let scan = DynScan::builder(programs::parse(&programs::odd_digits())).device(device()).build().unwrap();
    let on_cpu = DynScan::new(programs::parse(&programs::odd_digits())).unwrap();
    let x: Vec<u64> = (0..5_000_000).map(|i: u64| i.wrapping_mul(0x9e37_79b9) >> 5).collect();
    for reversed in [false, true] {
        let call = Call { reversed, ..Call::default() };
        let expected: Vec<u64> = on_cpu.collect(&call, &[Column::new(&x)]).unwrap();
        assert!(scan.collect::<u64>(&call, &[Column::new(&x)]).unwrap() == expected);
        // With just enough capacity, which is less than there are records.
        let mut capacity = vec![0u64; expected.len()];
        let written = scan.run(&call, &[Column::new(&x)], &mut [ColumnMut::new(&mut capacity)]).unwrap();
        assert!(written == expected.len() && capacity == expected);
    }
}
