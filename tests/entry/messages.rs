//! Messages for the usual mistakes: they say the fault, the expectation, and the remedy.

use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Column, ColumnMut, Error, Rows, Scan};

type Sums = Scan<Sum<f32>, (f32, f32), f32>;

/// Sums of products, of two columns.
fn sums() -> Sums {
    Scan::<Sum<f32>>::builder()
        .lift(scan!(|x: f32, y: f32| -> Sum<f32> { Sum(x * y) }))
        .project(scan!(|sum: Sum<f32>| -> f32 { sum.0 }))
        .build()
        .unwrap()
}

const X: [f32; 6] = [1.0; 6];

#[track_caller]
fn says<T>(result: Result<T, Error>, expected: &str) {
    let error = result.err().expect("a mistake");
    assert_eq!(error.to_string(), expected);
    let cause = std::error::Error::source(&error).map(|cause| cause.to_string());
    assert!(cause.is_none_or(|cause| !expected.contains(&cause)), "the cause is printed twice");
}

#[test]
fn columns_of_other_lengths() {
    says(
        sums().inclusive((&X, &X[..5])),
        "input column 1 has 5 records, expected 6, as many as the first input column",
    );
    says(
        sums().inclusive_into((&X, &X), &mut [0.0; 7]),
        "output column 0 has 7 records, expected 6, as many as the first input column",
    );
}

#[test]
fn columns_of_other_types() {
    let sums = sums();
    let (bytes, mut y) = ([1u8; 6], [0.0f32; 6]);
    let mut run = |second: Column<'_>| {
        sums.as_dyn().run(&<_>::default(), &[Column::new(&X), second], &mut [ColumnMut::new(&mut y)])
    };
    says(run(Column::new(&bytes)), "input column 1: expected f32, got u8");

    let pairs =
        Scan::<Sum<f32>>::builder().lift(scan!(|p: (f32, f32)| -> Sum<f32> { Sum(p.0 * p.1) })).build().unwrap();
    let error = pairs.as_dyn().run(&<_>::default(), &[Column::new(&bytes)], &mut [ColumnMut::new(&mut y)]);
    says(error, "input column 0: expected records (f32, f32) of 8 bytes, got u8");
    let error = sums.as_dyn().run(&<_>::default(), &[Column::new(&X)], &mut [ColumnMut::new(&mut y)]);
    says(error, "expected 2 input column(s), got 1");
}

#[test]
fn flags_of_another_length() {
    let flags = [true; 5];
    let error = sums().segmented(&flags).inclusive((&X, &X));
    says(error, "the column of flags has 5 records, expected 6, as many as the first input column");
}

#[test]
fn offsets_that_cut_nothing() {
    let sums = sums();
    let cut = |offsets: &[usize]| sums.segmented(offsets).inclusive((&X, &X));
    let few = "too few offsets: expected one more than there are segments, from 0 to 6, the number of records";
    says(cut(&[]), few);
    says(cut(&[0]), few);
    says(cut(&[6]), few);
    says(cut(&[1, 6]), "offset 0 is 1, expected 0, the first record");
    says(cut(&[0, 4, 3, 6]), "offset 2 is 3, expected at least 4, the offset before it");
    says(cut(&[0, 3]), "offset 1 is 3, expected 6, the number of records");
    says(cut(&[0, 9, 7]), "offset 1 is 9, expected at most 6, the number of records");
    says(cut(&[0, 9, 6]), "offset 1 is 9, expected at most 6, the number of records");
}

#[test]
fn keys_of_another_length() {
    let sums = sums();
    let by = |keys: &[u8]| sums.segmented(monoscan::by_key(keys)).inclusive((&X, &X));
    let expected = "expected 6, as many as the first input column";
    says(by(&[7, 7, 8]), &format!("the column of keys has 3 records, {expected}"));
    says(by(&[7, 7, 8, 8, 8, 9, 9]), &format!("the column of keys has 7 records, {expected}"));
    says(by(&[]), &format!("the column of keys has 0 records, {expected}"));
}

#[test]
fn rows_that_do_not_fit() {
    let sums = sums();
    says(
        Rows::new(3, 4, 2),
        "rows: 3 rows of 4 records, 1 of them side by side, begin every 2 records: expected at least 4, else they overlap",
    );
    says(Rows::axis(&[2, 3], 2), "rows: axis 2 of an array of shape [2, 3]: expected an axis below 2");
    says(Rows::axis(&[], 0), "rows: axis 0 of an array of shape []: expected an array with an axis");
    says(
        sums.axis(&[2, 3], 2).inclusive((&X, &X)),
        "rows: axis 2 of an array of shape [2, 3]: expected an axis below 2",
    );
    let seven = Rows::new(7, 1, 1).unwrap();
    says(sums.rows(seven).inclusive((&X, &X)), "rows: 7 rows take 7 records, and the columns have 6");
    says(
        sums.rows(seven).inclusive_into((&X, &X), &mut [0.0; 6]),
        "rows: 7 rows take 7 records, and the columns have 6",
    );
    says(sums.rows(seven).totals((&X, &X)), "rows: 7 rows take 7 records, and the columns have 6");
    says(
        sums.rows(Rows::new(2, 2, 3).unwrap()).inclusive((&X, &X)),
        "rows: 2 rows have 4 of 6 records, and a new vector needs a value for each: give an output, which keeps what is beside the \
         rows (`inclusive_into`, `exclusive_into`)",
    );
}

#[test]
fn parts_of_a_call_that_exclude_each_other() {
    let (sums, rows) = (sums(), Rows::new(2, 3, 3).unwrap());
    let flags = [true; 6];
    says(
        sums.rows(rows).segmented(&flags).inclusive((&X, &X)),
        "not supported: segments of 2 rows: give one or the other; contiguous rows are segments too",
    );
    says(sums.rows(rows).reduce((&X, &X)), "not supported: one total of 2 sequences: `totals` gives one for each");
    let mut carry = Sum(0.0);
    says(
        sums.rows(rows).resuming(&mut carry).inclusive((&X, &X)),
        "`carry` has 1 state(s), expected 2, one for each row, or one for a line",
    );
    says(
        sums.resuming_each(&mut [Sum(0.0); 3]).inclusive((&X, &X)),
        "`carry` has 3 state(s), expected 1, one for each row, or one for a line",
    );
    says(
        sums.segmented(monoscan::by_key(&X)).resuming(&mut carry).inclusive((&X, &X)),
        "not supported: resuming a scan of segments of equal keys: use flags instead, true where a key differs from the one before; for \
         record 0 that is the last key of the chunk before",
    );
}

#[test]
fn scans_that_cannot_be_in_place() {
    let kept = Scan::<Sum<f32>>::builder()
        .lift(scan!(|x: f32| -> Sum<f32> { Sum(x) }))
        .filter(scan!(|e: Element<f32, Sum<f32>>| -> bool { e.record > 1.0 }))
        .project(scan!(|sum: Sum<f32>| -> f32 { sum.0 }))
        .build()
        .unwrap();
    says(
        kept.inclusive_in_place(&mut [1.0, 2.0]),
        "not supported: keeping records in place: write them to another column",
    );
    let mut y = [1.0f32; 6];
    says(
        sums().as_dyn().run_in_place(&<_>::default(), &mut [ColumnMut::new(&mut y)]),
        "not supported: a scan in place writes what it reads: expected outputs [f32, f32], got [f32]",
    );
}

#[test]
fn builders_in_another_order() {
    let lift = scan!(|x: f32| -> Sum<f32> { Sum(x) });
    let built = Scan::<Sum<f32>>::builder()
        .filter(scan!(|e: Element<Sum<f32>, Sum<f32>>| -> bool { e.record.0 > 1.0 }))
        .lift(lift)
        .build();
    says(
        built.map(drop),
        "`lift` was given after a filter, or a function that reads the record, and changes what that reads: give `lift` first",
    );
}
