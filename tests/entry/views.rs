//! Columns that are no slices: strided views and bits, each beside the same records in slices; and
//! iterators.

use monoscan::ops::Sum;
use monoscan::prelude::*;
use monoscan::{Bits, Combination, Error, SpacingError, Strided, StridedMut};
use scan_kit::Random;
use scan_kit::zoo::Hash;

use super::reference::{Answer, SIZES, asks, plans};

/// These records as every so many of a longer vector, backwards for a step below 0.
pub(crate) struct Apart<T> {
    all: Vec<T>,
    start: usize,
    step: isize,
}

impl<T: Copy> Apart<T> {
    pub(crate) fn new(records: &[T], step: isize, filler: T) -> Apart<T> {
        let apart = step.unsigned_abs();
        let mut all = vec![filler; records.len() * apart + 1];
        let start = if step < 0 { records.len().saturating_sub(1) * apart } else { 0 };
        for (place, &record) in records.iter().enumerate() {
            all[start.wrapping_add_signed(step * place as isize)] = record;
        }
        Apart { all, start, step }
    }

    pub(crate) fn view(&self, len: usize) -> Strided<'_, T> {
        Strided::new(&self.all, self.start, self.step).unwrap().take(len)
    }

    pub(crate) fn view_mut(&mut self, len: usize) -> StridedMut<'_, T> {
        StridedMut::new(&mut self.all, self.start, self.step).unwrap().take(len)
    }

    /// The records; all others must be this.
    pub(crate) fn records(&self, len: usize, filler: T) -> Vec<T>
    where
        T: PartialEq + std::fmt::Debug,
    {
        let records: Vec<T> =
            (0..len).map(|i| self.all[self.start.wrapping_add_signed(self.step * i as isize)]).collect();
        assert_eq!(Apart::new(&records, self.step, filler).all, self.all, "what lies between is untouched");
        records
    }
}

#[test]
fn strided_views_are_columns_in_every_combination() {
    let lift = scan!(|hash: u8, power: u32| -> Hash { Hash { hash: hash as u64, power: power as u64 } });
    let value = scan!(|state: Hash, hash: u8, power: u32| -> (u8, u64) { (hash, state.hash ^ power as u64) });
    let mut r = Random(31);
    for plan in plans() {
        let builder = || Scan::<Hash>::builder().lift(lift).project_with_record(value).plan(plan.clone()).threads(2);
        let (scan, joined) = (builder().unzip().build().unwrap(), builder().build().unwrap());
        for n in SIZES {
            let a: Vec<u8> = (0..n).map(|_| r.bits() as u8).collect();
            let b: Vec<u32> = (0..n).map(|_| r.bits() as u32).collect();
            let x: Vec<Hash> = a.iter().zip(&b).map(|(&hash, &power)| lift.call((hash, power))).collect();
            for ask in asks(n, Hash { hash: 3, power: 5 }, &mut r) {
                let Answer { before, after, totals } = ask.answer(&x);
                let steps: [isize; 4] = std::array::from_fn(|_| *r.pick(&[1, 2, 3, -1, -2]));
                let (a_apart, b_apart) = (Apart::new(&a, steps[0], 1), Apart::new(&b, steps[1], 2));
                let inputs = (a_apart.view(n), b_apart.view(n));
                for (states, exclusive) in [(after, false), (before, true)] {
                    let of = |(place, state): (usize, Option<Hash>)| {
                        state.map_or((7, 9), |state| value.call((state, a[place], b[place])))
                    };
                    let expected: (Vec<u8>, Vec<u64>) = states.into_iter().enumerate().map(of).unzip();
                    let (mut y, mut z) = (Apart::new(&vec![7; n], steps[2], 7), Apart::new(&vec![9; n], steps[3], 9));
                    let (request, outputs) = (ask.request(&scan), (y.view_mut(n), z.view_mut(n)));
                    match exclusive {
                        true => request.exclusive_into(inputs, outputs),
                        false => request.inclusive_into(inputs, outputs),
                    }
                    .unwrap();
                    assert_eq!((y.records(n, 7), z.records(n, 9)), expected, "{ask:?} {steps:?}");
                    // One column of results: short lines go straight to the kernel.
                    let expected: Vec<(u8, u64)> = expected.0.into_iter().zip(expected.1).collect();
                    for step in [1, steps[2]] {
                        let mut y = Apart::new(&vec![(7, 9); n], step, (7, 9));
                        let (request, output) = (ask.request(&joined), y.view_mut(n));
                        match exclusive {
                            true => request.exclusive_into(inputs, output),
                            false => request.inclusive_into(inputs, output),
                        }
                        .unwrap();
                        assert_eq!(y.records(n, (7, 9)), expected, "{ask:?} {steps:?} {step}");
                        let (request, mut dense) = (ask.request(&joined), vec![(7, 9); n]);
                        match exclusive {
                            true => request.exclusive_into((&a, &b), &mut dense),
                            false => request.inclusive_into((&a, &b), &mut dense),
                        }
                        .unwrap();
                        assert_eq!(dense, expected, "{ask:?}");
                    }
                }
                assert_eq!(ask.request(&scan).totals(inputs).unwrap(), totals, "{ask:?} {steps:?}");
            }
        }
    }
}

#[test]
fn one_record_serves_all_elements() {
    let sums =
        Scan::<Sum<u32>>::builder().lift(scan!(|x: u32, y: u8| -> Sum<u32> { Sum(x * y as u32) })).build().unwrap();
    let x: Vec<u32> = (0..5000).collect();
    let expected: Vec<u8> = vec![3; 5000];
    assert_eq!(sums.inclusive((&x, Strided::repeated(&3, 5000))).unwrap(), sums.inclusive((&x, &expected)).unwrap());
    let error = sums.inclusive((&x, Strided::repeated(&3, 4999))).unwrap_err();
    assert!(matches!(error, Error::Length { expected: 5000, got: 4999, .. }), "{error}");
}

#[test]
fn views_over_their_input() {
    let sums = Scan::<Sum<u32>>::plain().unwrap();
    let mut x = [1, 10, 2, 20, 3, 30];
    sums.inclusive_in_place(StridedMut::new(&mut x, 5, -2).unwrap()).unwrap();
    assert_eq!(x, [1, 60, 2, 50, 3, 30]);
}

#[test]
fn views_outside_of_their_slice_are_refused() {
    let outside = |error: Error| matches!(error, Error::Spacing(SpacingError::Outside { .. }));
    assert!(outside(Strided::new(&[1, 2], 3, 1).unwrap_err()) && outside(Strided::new(&[1, 2], 2, -1).unwrap_err()));
    assert!(Strided::new(&[1, 2], 2, 1).unwrap().is_empty());
    assert!(matches!(Strided::new(&[1, 2], 0, 0), Err(Error::Spacing(SpacingError::Endless))));
    assert!(matches!(StridedMut::new(&mut [1, 2], 0, 0), Err(Error::Spacing(SpacingError::Endless))));
    assert_eq!(Strided::new(&[1, 2, 3], 2, isize::MIN).unwrap().len(), 1);
    assert!(matches!(Bits::new(&[0; 2], 9, 8), Err(SpacingError::FewBits { first: 9, len: 8, got: 16 })));
}

#[test]
fn bits_are_columns_and_head_flags() {
    let valid = scan!(|x: i64, valid: bool| -> Sum<i64> { Sum(if valid { x } else { 0 }) });
    let mut r = Random(32);
    for plan in plans() {
        let scan = Scan::<Sum<i64>>::builder().lift(valid).plan(plan).threads(2).build().unwrap();
        for n in SIZES {
            let x: Vec<i64> = (0..n).map(|_| r.below(100u64) as i64).collect();
            let first = r.below(20) as usize;
            let bytes: Vec<u8> = (0..(first + 2 * n).div_ceil(8)).map(|_| r.bits() as u8).collect();
            let (is_valid, heads) = (Bits::new(&bytes, first, n).unwrap(), Bits::new(&bytes, first + n, n).unwrap());
            let [valid_flags, head_flags] =
                [is_valid, heads].map(|bits| (0..n).map(|i| bits.get(i)).collect::<Vec<_>>());
            assert_eq!(scan.inclusive((&x, is_valid)).unwrap(), scan.inclusive((&x, &valid_flags)).unwrap());
            for reversed in [false, true] {
                let request = || if reversed { scan.reversed() } else { scan.request() };
                let expected = request().segmented(&head_flags).exclusive((&x, &valid_flags)).unwrap();
                assert_eq!(request().segmented(heads).exclusive((&x, is_valid)).unwrap(), expected);
                assert_eq!(request().segmented(heads).exclusive((&x, &valid_flags)).unwrap(), expected);
            }
        }
    }
    let scan = Scan::<Sum<i64>>::plain().unwrap();
    let error = scan.segmented(Bits::new(&[0], 0, 4).unwrap()).inclusive(&[1; 5]).unwrap_err();
    assert!(matches!(error, Error::Length { expected: 5, got: 4, .. }), "{error}");
}

#[scan_fn]
fn grew(e: Element<(u32, u8)>) -> Sum<u32> {
    Sum(if !e.first && e.record.0 > e.prev.0 { e.record.1 as u32 } else { 0 })
}

#[scan_fn]
fn is_odd(e: Element<(u32, u8), Sum<u32>>) -> bool {
    e.record.0 % 2 == 1
}

#[test]
fn an_iterator_is_scanned_as_a_slice_is() {
    let builder = || Scan::<Sum<u32>>::builder().lift_at::<(u32, u8), _>(grew {});
    let (all, odd) = (builder().build().unwrap(), builder().filter(is_odd {}).build().unwrap());
    let mut r = Random(33);
    for n in [0, 1, 63, 64, 65, 200, 10_000] {
        let records: Vec<(u32, u8)> = (0..n).map(|_| (r.below(9) as u32, r.below(9) as u8)).collect();
        let (x, y): (Vec<u32>, Vec<u8>) = records.iter().copied().unzip();
        for scan in [&all, &odd] {
            let mut over = scan.over(records.iter().copied()).unwrap();
            let results: Vec<Sum<u32>> = over.by_ref().map(Result::unwrap).collect();
            assert_eq!(results, scan.inclusive((&x, &y)).unwrap());
            assert_eq!(over.state(), scan.reduce((&x, &y)).unwrap());
            assert!(over.next().is_none());
        }
    }
}

#[test]
fn results_of_several_columns_come_one_by_one() {
    let written = scan!(|sum: Sum<u32>, record: u32, flag: u8| -> (u32, u8, u32) { (sum.0, flag, record) });
    let builder = Scan::<Sum<u32>>::builder().lift_at::<(u32, u8), _>(grew {}).filter(is_odd {});
    let scan = builder.project_with_record(written).unzip().build().unwrap();
    let mut r = Random(35);
    for n in [0, 1, 65, 5000] {
        let records: Vec<(u32, u8)> = (0..n).map(|_| (r.below(9) as u32, r.below(9) as u8)).collect();
        let (x, y): (Vec<u32>, Vec<u8>) = records.iter().copied().unzip();
        let results: Result<Vec<(u32, u8, u32)>, Error> = scan.over(records).unwrap().collect();
        let (sums, flags, odd) = scan.inclusive((&x, &y)).unwrap();
        let expected = sums.into_iter().zip(flags).zip(odd).map(|((sum, flag), odd)| (sum, flag, odd));
        assert_eq!(results.unwrap(), expected.collect::<Vec<_>>());
    }
}

#[test]
fn an_iterator_is_taken_lazily() {
    let sums = Scan::<Sum<u32>>::plain().unwrap();
    let taken = std::cell::Cell::new(0);
    let endless = (1..).inspect(|_| taken.set(taken.get() + 1));
    let mut over = sums.over(endless).unwrap();
    assert_eq!(taken.get(), 0);
    assert_eq!(over.next().unwrap().unwrap(), 1);
    assert_eq!(taken.get(), 64);
    let mut stream = sums.stream();
    assert_eq!(stream.feed(&[5, 6]).unwrap(), [5, 11]);
    assert_eq!(stream.over([1, 2]).unwrap().map(Result::unwrap).collect::<Vec<_>>(), [12, 14]);
}

#[test]
fn after_an_error_an_iterator_gives_nothing_more() {
    let sums = Scan::<Sum<i32>>::plain().unwrap().checked();
    let taken = std::cell::Cell::new(0);
    let endless = std::iter::repeat(i32::MAX / 100).inspect(|_| taken.set(taken.get() + 1));
    let mut over = sums.over(endless).unwrap();
    assert_eq!(over.by_ref().take(64).map(Result::unwrap).count(), 64);
    assert!(matches!(over.next(), Some(Err(Error::Overflowed { .. }))));
    let before = taken.get();
    assert!(over.next().is_none() && over.next().is_none());
    assert_eq!(taken.get(), before);
}

#[scan_fn]
fn ends(e: Element<u8>) -> Sum<u32> {
    Sum(if e.last || e.next != e.record { 1 } else { 0 })
}

#[test]
fn what_depends_on_where_chunks_end_is_refused_over_iterators() {
    let scan = Scan::<Sum<u32>>::builder().lift_at::<(u8,), _>(ends {}).build().unwrap();
    assert!(matches!(scan.over([1, 2]), Err(Error::Combination(Combination::OverIterator))));
}
