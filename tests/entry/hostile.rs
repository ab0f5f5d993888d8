//! Requests that fit no columns: an error that says what is wrong, and nothing is written.

use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Combination, Error, InPlaceError, Request, Rows, RowsError};

type Sums = Scan<Sum<u32>, (u32,), u32>;

fn sums() -> Sums {
    let lift = scan!(|x: u32| -> Sum<u32> { Sum(x) });
    Scan::<Sum<u32>>::builder().lift(lift).project(scan!(|sum: Sum<u32>| -> u32 { sum.0 })).build().unwrap()
}

/// The error of every entry point, which is the same; outputs stay as they are.
fn refused<'a>(request: impl Fn() -> Request<'a, Sum<u32>, (u32,), u32>, x: &[u32]) -> Error {
    let mut y = vec![7; x.len()];
    let error = request().inclusive_into(x, &mut y).unwrap_err();
    let others = [
        request().exclusive_into(x, &mut y).unwrap_err(),
        request().inclusive(x).unwrap_err(),
        request().exclusive(x).unwrap_err(),
        request().totals(x).unwrap_err(),
        request().inclusive_in_place(&mut y).unwrap_err(),
    ];
    assert_eq!(y, vec![7; x.len()]);
    for other in others {
        assert_eq!(other.to_string(), error.to_string());
    }
    error
}

#[test]
fn flags_must_be_as_many_as_records() {
    let scan = sums();
    for flags in [&[true; 4][..], &[false; 6], &[]] {
        let error = refused(|| scan.segmented(flags), &[1; 5]);
        assert!(matches!(error, Error::Length { expected: 5, got, .. } if got == flags.len()), "{error}");
    }
}

#[test]
fn offsets_must_cut_the_records() {
    let scan = sums();
    let wrong: [(&[usize], usize); 6] =
        [(&[1, 5], 0), (&[0, 4], 1), (&[0, 6], 1), (&[0, 3, 2, 5], 2), (&[0, 9, 5], 1), (&[0, usize::MAX, 5], 1)];
    for (offsets, wrong) in wrong {
        let error = refused(|| scan.segmented(offsets), &[1; 5]);
        assert!(matches!(error, Error::Offsets { place, .. } if place == wrong), "{offsets:?}: {error}");
    }
    let error = refused(|| scan.segmented(&[0usize; 0]), &[1; 5]);
    assert!(matches!(error, Error::TooFewOffsets { records: 5 }), "{error}");
    let error = refused(|| scan.segmented(&[0u64, 1 << 63, 5]), &[1; 5]);
    assert!(matches!(error, Error::Offsets { place: 1, .. }), "{error}");
}

#[test]
fn rows_must_be_in_the_columns_and_apart() {
    assert!(matches!(Rows::new(3, 4, 3), Err(Error::Rows(_))));
    assert!(matches!(Rows::planes(2, 5, 3, 2), Err(Error::Rows(_))));
    assert!(matches!(Rows::axis(&[3, 4], 2), Err(Error::Rows(_))));
    assert!(matches!(Rows::axis(&[usize::MAX, 2, 2], 1), Err(Error::Rows(_))));
    let scan = sums();
    for rows in [Rows::new(2, 3, 3), Rows::new(2, 2, 4), Rows::axis(&[2, 3], 0), Rows::axis(&[2, 3, 1], 1)] {
        let rows = rows.unwrap();
        let mut y = [7; 5];
        let error = scan.rows(rows).inclusive_into(&[1; 5], &mut y).unwrap_err();
        let expected = RowsError::TooFew { rows: rows.count(), expected: 6, got: 5 };
        assert!(matches!(&error, Error::Rows(why) if *why == expected), "{error}");
        assert!(matches!(scan.rows(rows).totals(&[1; 5]), Err(Error::Rows(_))));
        assert!(matches!(scan.rows(rows).exclusive(&[1; 5]), Err(Error::Rows(why)) if why == expected));
        assert_eq!(y, [7; 5]);
    }
}

#[test]
fn rows_and_segments_exclude_each_other() {
    let scan = sums();
    let rows = Rows::new(1, 5, 5).unwrap();
    let heads = [true; 5];
    for error in
        [refused(|| scan.rows(rows).segmented(&heads), &[1; 5]), refused(|| scan.segmented(&heads).rows(rows), &[1; 5])]
    {
        assert!(matches!(error, Error::Combination(Combination::SegmentsOfRows { rows: 1 })), "{error}");
        assert!(error.to_string().contains("one or the other"), "{error}");
    }
}

#[test]
fn a_new_vector_has_no_space_for_records_beside_rows() {
    let scan = sums();
    let rows = Rows::new(2, 2, 3).unwrap();
    let error = scan.rows(rows).inclusive(&[1; 5]).unwrap_err();
    let uncovered = RowsError::Uncovered { rows: 2, inside: 4, records: 5 };
    assert!(matches!(&error, Error::Rows(why) if *why == uncovered), "{error}");
    assert!(error.to_string().contains("inclusive_into"), "{error}");
    let mut y = [7; 5];
    scan.rows(rows).inclusive_into(&[1; 5], &mut y).unwrap();
    assert_eq!(y, [1, 2, 7, 1, 2]);
}

#[test]
fn outputs_must_be_as_long_as_inputs() {
    let scan = sums();
    for capacity in [0, 4, 6] {
        let mut y = vec![7; capacity];
        let error = scan.reversed().inclusive_into(&[1; 5], &mut y).unwrap_err();
        assert!(matches!(error, Error::Length { expected: 5, got, .. } if got == capacity), "{error}");
        let mut uninit = vec![std::mem::MaybeUninit::new(7); capacity];
        assert!(scan.exclusive_into_uninit(&[1; 5], &mut uninit).is_err());
        assert_eq!(y, vec![7; capacity]);
    }
}

#[test]
fn what_is_overwritten_cannot_be_read_later() {
    let next = scan!(|e: Element<u32>| -> Sum<u32> { Sum(e.next) });
    let scan =
        Scan::<Sum<u32>>::builder().lift_at(next).project(scan!(|sum: Sum<u32>| -> u32 { sum.0 })).build().unwrap();
    let mut x = [1, 2, 3];
    let error = scan.inclusive_in_place(&mut x).unwrap_err();
    assert!(matches!(error, Error::InPlace(InPlaceError::ReadsNeighbour)), "{error}");
    assert_eq!(x, [1, 2, 3]);
    assert_eq!(scan.inclusive(&x).unwrap(), [2, 5, 5]);
}

#[test]
fn kept_records_go_to_another_slice() {
    let scan = Scan::<Sum<u32>>::builder()
        .lift(scan!(|x: u32| -> Sum<u32> { Sum(x) }))
        .filter(scan!(|e: Element<u32, Sum<u32>>| -> bool { e.record > 1 }))
        .project(scan!(|sum: Sum<u32>| -> u32 { sum.0 }))
        .build()
        .unwrap();
    let mut x = [1, 2, 3];
    assert!(scan.inclusive_in_place(&mut x).is_err());
    assert_eq!(x, [1, 2, 3]);
    let mut output = [7; 5];
    assert_eq!(scan.inclusive_into(&x, &mut output).unwrap(), 2);
    assert_eq!(output[..2], [3, 6]);
    let mut output = [const { std::mem::MaybeUninit::uninit() }; 4];
    assert_eq!(scan.exclusive_into_uninit(&x, &mut output).unwrap(), [1, 3]);
}

#[test]
fn an_input_may_be_empty() {
    let scan = sums();
    assert_eq!(scan.inclusive(&[]).unwrap(), []);
    assert_eq!(scan.reduce(&[]).unwrap(), Sum(0));
    assert_eq!(scan.init(Sum(5)).reversed().reduce(&[]).unwrap(), Sum(5));
    assert_eq!(scan.init(Sum(5)).segmented(&[0usize, 0, 0]).totals(&[]).unwrap(), [Sum(5), Sum(5)]);
    assert_eq!(scan.segmented(&[0usize]).totals(&[]).unwrap(), []);
    assert_eq!(scan.init(Sum(5)).rows(Rows::new(3, 0, 0).unwrap()).totals(&[]).unwrap(), [Sum(5); 3]);
    assert_eq!(scan.rows(Rows::new(0, 7, 7).unwrap()).totals(&[]).unwrap(), []);
}
