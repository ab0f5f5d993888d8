//! Columns as bytes, and when two of them hold the same.

use monoscan_ir::{Constant, Layout};
use monoscan_runtime::{Column, ColumnMut};

/// Borrows whole records.
pub(crate) fn read<'a>(bytes: &'a [impl AsRef<[u8]>], layouts: &'a [Layout]) -> Vec<Column<'a>> {
    let column = |(bytes, layout): (&'a _, &'a Layout)| {
        Column::from_bytes(AsRef::<[u8]>::as_ref(bytes), layout).expect("whole records")
    };
    bytes.iter().zip(layouts).map(column).collect()
}

/// Borrows space for whole records.
pub(crate) fn write<'a>(bytes: &'a mut [impl AsMut<[u8]>], layouts: &'a [Layout]) -> Vec<ColumnMut<'a>> {
    let column = |(bytes, layout): (&'a mut _, &'a Layout)| {
        ColumnMut::from_bytes(AsMut::<[u8]>::as_mut(bytes), layout).expect("whole records")
    };
    bytes.iter_mut().zip(layouts).map(column).collect()
}

/// Panics where columns differ in more than which NaN a float is, naming the first record; padding counts.
pub(crate) fn must_be_same(layout: &Layout, found: &[u8], expected: &[u8], what: impl Fn() -> String) {
    assert_eq!(found.len(), expected.len(), "bytes of {}", what());
    let size = layout.size as usize;
    for (record, (found, expected)) in found.chunks(size).zip(expected.chunks(size)).enumerate() {
        let is_same = found == expected || without_nan(layout, found) == without_nan(layout, expected);
        assert!(is_same, "record {record}: {found:?} for {expected:?} in {}", what());
    }
}

/// The record with one NaN for all.
fn without_nan(layout: &Layout, record: &[u8]) -> Vec<u8> {
    let mut bytes = record.to_vec();
    for field in &layout.fields {
        let place = field.offset as usize..field.offset as usize + field.ty.size();
        if Constant::from_bytes(field.ty, &record[place.clone()]).is_nan() {
            bytes[place].fill(0xff);
        }
    }
    bytes
}
