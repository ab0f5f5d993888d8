//! Short lines, whose scans go from the slices straight to the kernel once a line was scanned.

use std::mem::MaybeUninit;

use monoscan::ops::Sum;
use monoscan::prelude::*;

type Sums = Scan<Sum<i32>, (i32,), i32>;

fn sums() -> Sums {
    Scan::<Sum<i32>>::builder()
        .lift(scan!(|x: i32| -> Sum<i32> { Sum(x) }))
        .project(scan!(|sum: Sum<i32>| -> i32 { sum.0 }))
        .build()
        .unwrap()
}

/// Twice, since the first call of each kind finds no kernel.
#[test]
fn every_plain_entry_point_gives_the_same_from_the_second_call_on() {
    let scan = sums();
    for n in (0..40).chain([150, 1024]) {
        let x: Vec<i32> = (0..n).map(|i| 7 * i - 30).collect();
        let inclusive: Vec<i32> = (0..x.len()).map(|i| x[..=i].iter().sum()).collect();
        let exclusive: Vec<i32> = (0..x.len()).map(|i| x[..i].iter().sum()).collect();
        for _ in 0..2 {
            let mut y = vec![0; x.len()];
            assert_eq!(scan.inclusive_into(&x, &mut y).unwrap(), x.len());
            assert_eq!(y, inclusive);
            assert_eq!(scan.exclusive_into(&x, &mut y).unwrap(), x.len());
            assert_eq!(y, exclusive);
            let mut room = vec![MaybeUninit::uninit(); x.len()];
            assert_eq!(scan.inclusive_into_uninit(&x, &mut room).unwrap(), inclusive);
            assert_eq!(scan.exclusive_into_uninit(&x, &mut room).unwrap(), exclusive);
            y.copy_from_slice(&x);
            scan.inclusive_in_place(&mut y).unwrap();
            assert_eq!(y, inclusive);
            y.copy_from_slice(&x);
            scan.exclusive_in_place(&mut y).unwrap();
            assert_eq!(y, exclusive);
        }
    }
}

#[test]
fn wrong_lengths_are_refused_whether_or_not_a_line_was_scanned() {
    let scan = sums();
    for _ in 0..2 {
        let mut y = [9; 3];
        assert!(scan.inclusive_into(&[1, 2], &mut y).is_err());
        assert!(scan.exclusive_into(&[1, 2, 3, 4], &mut y).is_err());
        assert_eq!(y, [9; 3]);
        scan.inclusive_into(&[1, 2, 3], &mut y).unwrap();
        scan.exclusive_into(&[1, 2, 3], &mut y).unwrap();
    }
}

/// A record that was overwritten is no next record.
#[test]
fn what_reads_the_next_record_is_refused_in_place_whether_or_not_a_line_was_scanned() {
    #[scan_fn]
    fn next(e: Element<i32>) -> Sum<i32> {
        Sum(e.next)
    }
    let value = scan!(|sum: Sum<i32>| -> i32 { sum.0 });
    let scan = Scan::<Sum<i32>>::builder().lift_at(next {}).project(value).build().unwrap();
    for _ in 0..2 {
        let mut y = [1, 2, 3];
        assert!(scan.inclusive_in_place(&mut y).is_err());
        assert_eq!(y, [1, 2, 3]);
        scan.inclusive_into(&[1, 2, 3], &mut y).unwrap();
        assert_eq!(y, [2, 5, 5]);
    }
}

/// More columns than the kernel for short lines has arguments for.
#[test]
fn lines_of_many_columns_are_scanned_too() {
    let lift = scan!(|a: i32, b: i32, c: i32, d: i32, e: i32| -> Sum<i32> { Sum(a + b * c + d * e) });
    let value = scan!(|sum: Sum<i32>| -> i32 { sum.0 });
    let scan = Scan::<Sum<i32>>::builder().lift(lift).project(value).build().unwrap();
    let (x, mut y) = ([1, 2, 3], [0; 3]);
    for _ in 0..2 {
        scan.inclusive_into((&x, &x, &x, &x, &x), &mut y).unwrap();
        assert_eq!(y, [3, 13, 34]);
    }
}
