//! Columns in device memory whose records are not one after the other, against plain loops: what
//! lies between the records stays as it was.

use monoscan_ir::{Layout, Type};
use monoscan_runtime::cuda::{DeviceBuffer, Stream};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Rows, Shape};
use scan_kit::programs;

use crate::on_device::{numbers, solved};
use crate::subject::device;

/// A column: where its records are among the bytes of a buffer.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    spacing: isize,
    len: usize,
}

impl Place {
    /// So many records of `size` bytes, and so many bytes in all.
    fn of(len: usize, size: usize, spacing: isize) -> (Place, usize) {
        let span = spacing.unsigned_abs() * len.saturating_sub(1) + size;
        let first = if spacing < 0 { span - size } else { 0 };
        (Place { first: first + 3, spacing, len }, span + 7)
    }

    fn bytes(self, record: usize, size: usize) -> std::ops::Range<usize> {
        let first = self.first.wrapping_add_signed(self.spacing * record as isize);
        first..first + size
    }
}

/// Records of four bytes in a buffer of their own.
fn laid_out(records: &[u32], spacing: isize) -> (Place, Vec<u8>) {
    let (place, bytes) = Place::of(records.len(), 4, spacing);
    let mut all = vec![0xa5; bytes];
    for (number, record) in records.iter().enumerate() {
        all[place.bytes(number, 4)].copy_from_slice(&record.to_le_bytes());
    }
    (place, all)
}

#[test]
#[ignore = "needs a CUDA device"]
fn lines_and_rows_at_any_spacing() {
    let stream = Stream::new(&device()).unwrap();
    let scan = DynScan::builder(programs::parse(programs::RECURRENCE)).device(device()).build().unwrap();
    let layout = Layout::of(Type::U32);
    for (len, from_spacing, to_spacing) in
        [(1, 4, 9), (1000, -4, 4), (70_001, 12, -8), (300_000, 0, 5), (300_000, -16, 16), (1 << 20, 4, -4)]
    {
        let records = if from_spacing == 0 { vec![77; len] } else { numbers(len) };
        let (from, bytes) = laid_out(&records, from_spacing);
        let read = DeviceBuffer::from_slice(&stream, &bytes).unwrap();
        let row = len.min(100);
        for pitch in [0, row, 2 * row] {
            let rows = (pitch > 0).then(|| Rows::new(len / pitch, row, pitch).unwrap());
            let (to, mut expected) = laid_out(&vec![7; len], to_spacing);
            let mut written = DeviceBuffer::from_slice(&stream, &expected).unwrap();
            let (lines, line) = rows.map_or((1, len), |rows| (rows.count(), row));
            for first in (0..lines).map(|row| row * pitch) {
                for (place, y) in solved(&records[first..first + line], 0).iter().enumerate() {
                    expected[to.bytes(first + place, 4)].copy_from_slice(&y.to_le_bytes());
                }
            }
            let call = Call { shape: rows.map_or(Shape::Line, Shape::Rows), ..Call::default() };
            let input = Column::on_device_strided(&read, &layout, from.first, from.spacing, from.len).unwrap();
            let output = ColumnMut::on_device_strided(&mut written, &layout, to.first, to.spacing, to.len).unwrap();
            scan.submit(&call, std::slice::from_ref(&input), &mut [output], &stream).unwrap().wait().unwrap();
            assert!(written.to_vec(&stream).unwrap() == expected, "{len} {from_spacing} {to_spacing} {rows:?}");
            let total = scan
                .submit_reduce(&Call::default(), std::slice::from_ref(&input), &stream)
                .unwrap()
                .wait()
                .unwrap()
                .totals;
            assert_eq!(total[1].bits() as u32, *solved(&records, 0).last().unwrap());
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn in_place_and_kept_records_at_any_spacing() {
    let stream = Stream::new(&device()).unwrap();
    let scan = DynScan::builder(programs::parse(programs::RECURRENCE)).device(device()).build().unwrap();
    let layout = Layout::of(Type::U32);
    let records = numbers(100_000);
    for spacing in [4, -4, 8, -12] {
        let (place, bytes) = laid_out(&records, spacing);
        let mut buffer = DeviceBuffer::from_slice(&stream, &bytes).unwrap();
        let column = ColumnMut::on_device_strided(&mut buffer, &layout, place.first, spacing, place.len).unwrap();
        scan.submit_in_place(&Call::default(), &mut [column], &stream).unwrap().wait().unwrap();
        assert!(buffer.to_vec(&stream).unwrap() == laid_out(&solved(&records, 0), spacing).1, "{spacing}");
    }

    let scan = DynScan::builder(programs::parse(&programs::odd_digits())).device(device()).build().unwrap();
    let x: Vec<u64> = (0..100_000).map(|i| i % 10).collect();
    let from = DeviceBuffer::from_slice(&stream, &x).unwrap();
    let mut dense = DeviceBuffer::<u64>::zeroed(&stream, 50_000).unwrap();
    let outputs = &mut [ColumnMut::on_device::<u64>(&mut dense)];
    scan.submit(&Call::default(), &[Column::on_device::<u64>(&from)], outputs, &stream).unwrap().wait().unwrap();
    let kept = dense.to_vec(&stream).unwrap();
    let (to, bytes) = Place::of(60_000, 8, -24);
    let mut expected = vec![0xa5; bytes];
    let mut written = DeviceBuffer::from_slice(&stream, &expected).unwrap();
    let layout = Layout::of(Type::U64);
    let output = ColumnMut::on_device_strided(&mut written, &layout, to.first, to.spacing, to.len).unwrap();
    let inputs = [Column::on_device::<u64>(&from)];
    let outcome = scan.submit(&Call::default(), &inputs, &mut [output], &stream).unwrap().wait().unwrap();
    assert_eq!(outcome.written, kept.len());
    for (place, y) in kept.iter().enumerate() {
        expected[to.bytes(place, 8)].copy_from_slice(&y.to_le_bytes());
    }
    // The record behind those that are kept is nobody's.
    let mut found = written.to_vec(&stream).unwrap();
    let free = to.bytes(kept.len(), 8);
    found[free.clone()].copy_from_slice(&expected[free]);
    assert!(found == expected);
}
