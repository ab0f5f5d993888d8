//! Tests of what the runtime does with raw memory, without generated code, so that Miri can run
//! them: they read and write through the same pointers as kernels do.

use std::panic::{AssertUnwindSafe, catch_unwind};

use monoscan_ir::{Layout, Type};

use crate::column::{Column, ColumnMut};
use crate::error::Error;
use crate::scans::collect;

/// The work of a kernel of the running sum of `u32`.
///
/// # Safety
/// The columns hold records of one `u32`, equally many.
unsafe fn sums(from: &Column<'_>, to: &mut ColumnMut<'_>) {
    let mut sum = 0u32;
    for i in 0..from.len {
        // SAFETY: record i is within both columns, which the caller promises to hold `u32`s, at any address.
        unsafe {
            sum = sum.wrapping_add(from.base.cast::<u32>().add(i).read_unaligned());
            to.base.cast::<u32>().add(i).write_unaligned(sum);
        }
    }
}

#[test]
fn columns_reach_all_their_records_at_odd_addresses_and_those_beside_them() {
    let layout = Layout::of(Type::U32);
    let input: Vec<u8> = (0..21).collect();
    let mut output = [0xee; 23];
    // Two columns over one piece of memory.
    let (one, other) = (&input[1..17], &input[5..21]);
    let (left, right) = output.split_at_mut(3);
    let mut to = ColumnMut::from_bytes(&mut right[..16], &layout).unwrap();
    for from in [one, other].map(|bytes| Column::from_bytes(bytes, &layout).unwrap()) {
        // SAFETY: both hold four records.
        unsafe { sums(&from, &mut to) };
    }
    left.fill(7);
    assert_eq!(output[..3], [7; 3]);
    assert_eq!(output[3..7], [5, 6, 7, 8]);
    assert_eq!(output[19..], [0xee; 4]);
}

#[test]
fn a_column_of_scalars_is_the_slice() {
    let mut slice = [1u32, 2, 3];
    let mut to = ColumnMut::new(&mut slice);
    // SAFETY: both hold three records.
    unsafe { sums(&Column::new(&[4u32, 5, 6]), &mut to) };
    assert_eq!(slice, [4, 9, 15]);
}

#[test]
fn collected_records_are_those_that_were_written_and_none_if_that_fails() {
    let layout = Layout::of(Type::U32);
    let from = [1u32, 2, 3];
    let fill = |mut to: ColumnMut<'_>| {
        // SAFETY: both hold three records.
        unsafe { sums(&Column::new(&from), &mut to) };
        Ok(3)
    };
    // SAFETY: the layout is that of `u32`, and `fill` writes all three.
    assert_eq!(unsafe { collect::<u32>(3, &layout, fill) }.unwrap(), [1, 3, 6]);
    // SAFETY: as above; there are no records to write.
    assert!(unsafe { collect::<u32>(0, &layout, |_| Ok(0)) }.unwrap().is_empty());
    let short = |mut to: ColumnMut<'_>| {
        // SAFETY: the first two records are within the column.
        unsafe { sums(&Column::new(&from[..2]), &mut to) };
        Ok(2)
    };
    // SAFETY: as above; `short` writes the two that it says.
    assert_eq!(unsafe { collect::<u32>(3, &layout, short) }.unwrap(), [1, 3]);
    let refuse = |_: ColumnMut<'_>| Err(Error::TooFewOffsets { records: 3 });
    // SAFETY: `refuse` does not succeed.
    assert!(unsafe { collect::<u32>(3, &layout, refuse) }.is_err());
    // SAFETY: as above.
    let panics = AssertUnwindSafe(|| unsafe { collect::<u32>(3, &layout, |_| panic!("within a scan")) });
    assert!(catch_unwind(panics).is_err());
    // SAFETY: nothing is written where there is no memory.
    let error = unsafe { collect::<u32>(usize::MAX / 2, &layout, |_| Ok(0)) }.unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { .. }));
}
