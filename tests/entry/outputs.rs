//! Results in several columns: each method beside the same scan with a column of tuples.

use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Error, Unzipped};
use scan_kit::Random;

use super::reference::{SIZES, plans};

/// The sum, the record, and whether the sum is even.
type Row = (u64, u8, bool);

#[scan_fn]
fn row(sum: Sum<u64>, x: u8) -> (u64, u8, bool) {
    (sum.0, x, sum.0 & 1 == 0)
}

#[scan_fn]
fn is_large(e: Element<u8, Sum<u64>>) -> bool {
    e.record > 2
}

fn builder() -> monoscan::ScanBuilder<Sum<u64>, (u8,), Row, impl monoscan::native::Functions> {
    Scan::<Sum<u64>>::builder().lift(scan!(|x: u8| -> Sum<u64> { Sum(x as u64) })).project_with_record(row {})
}

/// The results of the sequential loop.
fn rows(x: &[u8], keep: impl Fn(u8) -> bool) -> Vec<Row> {
    let mut sum = 0;
    let of = |&x: &u8| {
        sum += u64::from(x);
        keep(x).then(|| row(Sum(sum), x))
    };
    x.iter().filter_map(of).collect()
}

fn zip((sums, records, even): (Vec<u64>, Vec<u8>, Vec<bool>)) -> Vec<Row> {
    assert!(sums.len() == records.len() && records.len() == even.len());
    sums.into_iter().zip(records).zip(even).map(|((sum, record), even)| (sum, record, even)).collect()
}

fn records(r: &mut Random, n: usize) -> Vec<u8> {
    (0..n).map(|_| r.below(5) as u8).collect()
}

#[test]
fn new_columns_come_as_a_tuple_of_vectors() {
    let mut r = Random(21);
    for plan in plans() {
        let scan = builder().unzip().plan(plan).build().unwrap();
        for n in SIZES {
            let x = records(&mut r, n);
            let expected = rows(&x, |_| true);
            assert_eq!(zip(scan.inclusive(&x).unwrap()), expected);
            let (columns, total) = scan.inclusive_with_total(&x).unwrap();
            assert_eq!((zip(columns), total.0), (expected.clone(), x.iter().map(|&x| u64::from(x)).sum()));
            let (mut stream, (first, second)) = (scan.stream(), x.split_at(n / 3));
            let [first, second] = [first, second].map(|chunk| zip(stream.feed(chunk).unwrap()));
            assert_eq!([first, second].concat(), expected);
        }
    }
}

#[test]
fn what_is_kept_is_kept_in_all_columns() {
    let mut r = Random(22);
    for plan in plans() {
        let scan = builder().filter(is_large {}).unzip().plan(plan).build().unwrap();
        for n in SIZES {
            let x = records(&mut r, n);
            let expected = rows(&x, |x| x > 2);
            assert_eq!(zip(scan.inclusive(&x).unwrap()), expected);
            // The column with the least space decides.
            let kept = expected.len();
            let (mut sums, mut records, mut even) = (vec![0; n], vec![0; kept], vec![false; n]);
            assert_eq!(scan.inclusive_into(&x, (&mut sums, &mut records, &mut even)).unwrap(), kept);
            assert_eq!(records, expected.iter().map(|row| row.1).collect::<Vec<_>>());
            if kept > 0 {
                let error = scan.inclusive_into(&x, (&mut sums, &mut records[1..], &mut even)).unwrap_err();
                let short = |column, expected, got| (column, expected, got) == (1, kept, kept - 1);
                assert!(
                    matches!(error, Error::OutputTooShort { column, expected, got } if short(column, expected, got))
                );
            }
        }
    }
}

#[test]
fn several_columns_are_scanned_in_place() {
    let swap = scan!(|sum: Sum<u32>, a: u32, b: u8| -> (u32, u8) { (sum.0 + a, b + 1) });
    let lift = scan!(|a: u32, b: u8| -> Sum<u32> { Sum(a + b as u32) });
    let mut r = Random(23);
    for plan in plans() {
        let scan = Scan::<Sum<u32>>::builder().lift(lift).project_with_record(swap).unzip().plan(plan).build().unwrap();
        for n in SIZES {
            let (a, b) = (records(&mut r, n).into_iter().map(u32::from).collect::<Vec<_>>(), records(&mut r, n));
            let expected = scan.inclusive((&a, &b)).unwrap();
            let mut sum = 0;
            let by_loop = a.iter().zip(&b).map(|(&a, &b)| {
                sum += a + u32::from(b);
                (sum + a, b + 1)
            });
            assert_eq!(expected, by_loop.unzip());
            let (mut a, mut b) = (a, b);
            scan.inclusive_in_place((&mut a, &mut b)).unwrap();
            assert_eq!((a, b), expected);
        }
    }
}

#[test]
fn every_column_must_have_the_length_of_the_input() {
    let scan = builder().unzip().build().unwrap();
    let (mut sums, mut records, mut even) = ([7; 3], [7; 3], [true; 2]);
    let error = scan.inclusive_into(&[1, 2, 3], (&mut sums, &mut records, &mut even)).unwrap_err();
    assert!(
        matches!(&error, Error::Length { argument: monoscan::Argument::Output(2), expected: 3, got: 2 }),
        "{error}"
    );
    assert_eq!((sums, records, even), ([7; 3], [7; 3], [true; 2]));
}

#[scan_fn]
fn twelve(sum: Sum<u8>) -> (u8, u16, u32, u64, i8, i16, i32, i64, bool, u8, f32, f64) {
    let x = sum.0;
    (x, x as u16, x as u32, x as u64, x as i8, x as i16, x as i32, x as i64, x > 2, x + 1, x as f32, x as f64)
}

#[test]
fn twelve_columns_are_written() {
    type Twelve = Unzipped<(u8, u16, u32, u64, i8, i16, i32, i64, bool, u8, f32, f64)>;
    let scan: Scan<Sum<u8>, _, Twelve> = Scan::<Sum<u8>>::builder().project(twelve {}).unzip().build().unwrap();
    let (a, b, c, d, e, f, g, h, i, j, k, l) = scan.inclusive(&[1, 2, 3].map(Sum)).unwrap();
    assert_eq!((a, b, c, d), (vec![1, 3, 6], vec![1, 3, 6], vec![1, 3, 6], vec![1, 3, 6]));
    assert_eq!((e, f, g, h), (vec![1, 3, 6], vec![1, 3, 6], vec![1, 3, 6], vec![1, 3, 6]));
    assert_eq!((i, j, k, l), (vec![false, true, true], vec![2, 4, 7], vec![1.0, 3.0, 6.0], vec![1.0, 3.0, 6.0]));
}
