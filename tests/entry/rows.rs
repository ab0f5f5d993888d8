//! Rows of a few elements, which are unrolled, and without gaps go through vectors with a row in
//! each lane: any number of them is what the plain loop gives.

use monoscan::ops::{Carry, Sum};
use monoscan::prelude::*;
use monoscan::{PlanOptions, Rows};
use scan_kit::Random;

#[scan_fn]
fn sum_of(carry: Carry, a: u64, b: u64) -> u64 {
    let sum = a.wrapping_add(b);
    if carry.generate { sum.wrapping_add(1) } else { sum }
}

/// More than any of them have.
const RECORDS: usize = 400;

/// Rows of each of these lengths, as many as fill no vector, several, and a rest; with a gap or none. Before each its pitch.
fn shapes() -> impl Iterator<Item = (usize, Rows)> {
    let pitches = [1, 2, 3, 4, 5, 6, 8, 13, 16, 17].into_iter().flat_map(|len: usize| [(len, len), (len + 1, len)]);
    let shape = |(pitch, len)| (0..20).map(move |count| (pitch, Rows::new(count, len, pitch).unwrap()));
    pitches.flat_map(shape)
}

fn plans() -> [PlanOptions; 3] {
    [None, Some(true), Some(false)].map(|vector| PlanOptions { vector, ..PlanOptions::default() })
}

#[test]
fn long_integers_are_added_row_by_row() {
    let mut random = Random(3);
    let mut words =
        || -> Vec<u64> { (0..RECORDS).map(|_| if random.chance(3) { u64::MAX } else { random.bits() }).collect() };
    let (a, b) = (words(), words());
    for plan in plans() {
        let scan = Scan::<Carry>::builder()
            .lift(scan!(|a: u64, b: u64| -> Carry { Carry::of(a, b) }))
            .project_with_record(sum_of {})
            .plan(plan)
            .build()
            .unwrap();
        for (pitch, rows) in shapes() {
            let (mut found, mut expected) = (vec![7; RECORDS], vec![7; RECORDS]);
            scan.rows(rows).exclusive_into((&a, &b), &mut found).unwrap();
            for row in 0..rows.count() {
                let mut carry = false;
                for i in row * pitch..row * pitch + rows.len() {
                    let (sum, first) = a[i].overflowing_add(b[i]);
                    let (sum, second) = sum.overflowing_add(u64::from(carry));
                    (expected[i], carry) = (sum, first || second);
                }
            }
            assert_eq!(found, expected, "{rows:?}");
        }
    }
}

/// Sums of a type in each row, from 5 on and from the identity.
fn sums<T>(of: impl Fn(i64) -> T)
where
    Sum<T>: Monoid + PartialEq + std::fmt::Debug,
    T: Copy,
{
    let mut random = Random(4);
    let x: Vec<Sum<T>> = (0..RECORDS).map(|_| Sum(of(random.below(9) as i64 - 4))).collect();
    for plan in plans() {
        let scan = Scan::<Sum<T>>::builder().plan(plan).build().unwrap();
        for (pitch, rows) in shapes() {
            let mut found = [x.clone(), x.clone()];
            scan.rows(rows).init(Sum(of(5))).inclusive_into(&x, &mut found[0]).unwrap();
            scan.rows(rows).inclusive_into(&x, &mut found[1]).unwrap();
            let expected = [Sum(of(5)), Sum::identity()].map(|init| {
                let mut expected = x.clone();
                for row in 0..rows.count() {
                    let mut sum = init;
                    for i in row * pitch..row * pitch + rows.len() {
                        sum = sum.combine(x[i]);
                        expected[i] = sum;
                    }
                }
                expected
            });
            assert_eq!(found, expected, "{rows:?}");
        }
    }
}

#[test]
fn short_rows_of_every_width_are_summed_up() {
    sums(|x| (x + 4) as u8);
    sums(|x| x as i16);
    sums(|x| x as i32);
    sums(|x| x as f32 / 8.0);
    sums(|x| x);
    sums(|x| x as f64 / 8.0);
}

/// Sums of bytes in a wider type, of which the last byte is written: nothing behind a row's bytes is, in place or not.
fn narrow_sums<T>(lift: impl ScanFn<(u8,), Out = Sum<T>> + Copy, project: impl ScanFn<(Sum<T>,), Out = u8> + Copy)
where
    Sum<T>: Monoid,
{
    let mut random = Random(5);
    let x: Vec<u8> = (0..RECORDS).map(|_| random.bits() as u8).collect();
    for plan in plans() {
        let scan = Scan::<Sum<T>>::builder().lift(lift).project(project).plan(plan).build().unwrap();
        for (pitch, rows) in shapes() {
            let (mut found, mut in_place, mut expected, mut places) =
                (vec![7; RECORDS], x.clone(), vec![7; RECORDS], x.clone());
            scan.rows(rows).inclusive_into(&x, &mut found).unwrap();
            scan.rows(rows).inclusive_in_place(&mut in_place).unwrap();
            for row in 0..rows.count() {
                let mut sum = 0u8;
                for i in row * pitch..row * pitch + rows.len() {
                    sum = sum.wrapping_add(x[i]);
                    (expected[i], places[i]) = (sum, sum);
                }
            }
            assert_eq!((found, in_place), (expected, places), "{rows:?}");
        }
    }
}

#[test]
fn short_rows_of_columns_narrower_than_their_state_write_their_own_bytes() {
    narrow_sums(scan!(|x: u8| -> Sum<i16> { Sum(x as i16) }), scan!(|sum: Sum<i16>| -> u8 { sum.0 as u8 }));
    narrow_sums(scan!(|x: u8| -> Sum<i32> { Sum(x as i32) }), scan!(|sum: Sum<i32>| -> u8 { sum.0 as u8 }));
    narrow_sums(scan!(|x: u8| -> Sum<i64> { Sum(x as i64) }), scan!(|sum: Sum<i64>| -> u8 { sum.0 as u8 }));
}
