//! Many short sequences in a call: rows and segments, whose kernels a call finds from the second of
//! its kind on.

use monoscan::ops::{Affine, Sum};
use monoscan::prelude::*;
use monoscan::{Error, Rows, State, by_key};
use scan_kit::Random;

use super::short::{cascade, fold, sums};

/// A recurrence and a count, scanned together.
type Pair = (Affine<i64>, Sum<i32>);

/// The index of an element is that along the line, also where only a part of the state that no output reads has it.
#[test]
fn totals_of_segments_know_where_their_elements_are() {
    #[scan_monoid]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Both {
        sum: i64,
        places: u64,
    }
    #[scan_monoid]
    impl Monoid for Both {
        fn identity() -> Self {
            Both { sum: 0, places: 0 }
        }
        fn combine(self, next: Self) -> Self {
            Both { sum: self.sum + next.sum, places: self.places + next.places }
        }
    }
    let lift = scan!(|e: Element<i64>| -> Both { Both { sum: e.record, places: e.index } });
    let sum = scan!(|both: Both| -> i64 { both.sum });
    let scan = Scan::<Both>::builder().lift_at(lift).project(sum).build().unwrap();
    let x: Vec<i64> = (0..100).collect();
    let offsets = [0usize, 3, 3, 40, 100];
    let between = offsets.windows(2).map(|ends| Both {
        sum: (ends[0]..ends[1]).sum::<usize>() as i64,
        places: (ends[0]..ends[1]).sum::<usize>() as u64,
    });
    assert_eq!(scan.segmented(&offsets).totals(&x).unwrap(), between.collect::<Vec<_>>());
    let keys: Vec<bool> = (0..100).map(|i| i < 40).collect();
    let places: Vec<u64> = scan.segmented(by_key(&keys)).totals(&x).unwrap().iter().map(|both| both.places).collect();
    assert_eq!(places, [780, 4170]);
    // In rows they are counted anew.
    let places: Vec<u64> = scan.axis(&[2, 50], 1).totals(&x).unwrap().iter().map(|both| both.places).collect();
    assert_eq!(places, [1225; 2]);
}

/// Rows with gaps between them and without, whose elements are numbered and have a next one within their row.
#[test]
fn short_rows_are_scanned_alike_from_the_second_call_on() {
    #[scan_fn]
    fn weighed(e: Element<i64>) -> Sum<i64> {
        Sum(if e.last { e.record } else { e.record + 10 * e.next } + 100 * e.index as i64)
    }
    let value = scan!(|sum: Sum<i64>| -> i64 { sum.0 });
    let scan = Scan::<Sum<i64>>::builder().lift_at(weighed {}).project(value).build().unwrap();
    for (count, len, pitch) in
        [(0, 3, 3), (1, 4, 4), (5, 4, 4), (3, 1, 2), (4, 0, 0), (3, 0, 5), (7, 3, 5), (2, 40, 41)]
    {
        let rows = Rows::new(count, len, pitch).unwrap();
        let x: Vec<i64> = (0..rows.records() as i64 + 2).map(|i| i * i % 11).collect();
        let mut inclusive = vec![-1; x.len()];
        let mut exclusive = inclusive.clone();
        for row in 0..count {
            let mut sum = 0;
            for i in 0..len {
                let at = row * pitch + i;
                exclusive[at] = sum;
                sum += x[at] + if i + 1 < len { 10 * x[at + 1] } else { 0 } + 100 * i as i64;
                inclusive[at] = sum;
            }
        }
        for _ in 0..2 {
            let mut y = vec![-1; x.len()];
            assert_eq!(scan.rows(rows).inclusive_into(&x, &mut y).unwrap(), count * len);
            assert_eq!(y, inclusive);
            y.fill(-1);
            scan.rows(rows).exclusive_into(&x, &mut y).unwrap();
            assert_eq!(y, exclusive);
            let mut short = vec![-1; rows.records().saturating_sub(1)];
            assert!(count * len == 0 || scan.rows(rows).inclusive_into(&x[..short.len()], &mut short).is_err());
        }
    }
}

#[test]
fn segments_of_short_lines_are_scanned_alike_from_the_second_call_on() {
    let scan = sums();
    for n in (0..20).chain([300]) {
        let x: Vec<i32> = (0..n).map(|i| 7 * i - 30).collect();
        let heads: Vec<bool> = (0..n).map(|i| i * i % 5 == 1).collect();
        let (mut inclusive, mut exclusive, mut sum) = (Vec::new(), Vec::new(), 0);
        for (&x, &head) in x.iter().zip(&heads) {
            sum = if head { 0 } else { sum };
            exclusive.push(sum);
            sum += x;
            inclusive.push(sum);
        }
        for _ in 0..2 {
            let mut y = vec![0; x.len()];
            assert_eq!(scan.segmented(&heads).inclusive_into(&x, &mut y).unwrap(), x.len());
            assert_eq!(y, inclusive);
            assert_eq!(scan.segmented(&heads).exclusive(&x).unwrap(), exclusive);
            // The segment of the first record has no flag, and there are empty ones, at the end too.
            let starts = (0..x.len()).filter(|&i| i == 0 || heads[i]);
            let offsets: Vec<usize> =
                starts.flat_map(|i| std::iter::repeat_n(i, 1 + i % 2)).chain([x.len(); 2]).collect();
            y.fill(0);
            assert_eq!(scan.segmented(&offsets).inclusive_into(&x, &mut y).unwrap(), x.len());
            assert_eq!(y, inclusive);
            assert_eq!(scan.segmented(&offsets).exclusive(&x).unwrap(), exclusive);
            let before = y.clone();
            for wrong in [&offsets[1..], &offsets[..offsets.len() - 2], &[0, 2, 1, x.len()], &[0, x.len() + 1]] {
                let is_right = wrong.is_sorted() && wrong.first() == Some(&0) && wrong.last() == Some(&x.len());
                let written = scan.segmented(wrong).inclusive_into(&x, &mut y);
                assert_eq!(written.is_ok(), is_right, "{wrong:?} of {n}");
            }
            assert_eq!(y, before);
            let more = [&heads[..], &[true]].concat();
            assert!(scan.segmented(&more).inclusive_into(&x, &mut y).is_err());
            assert!(scan.segmented(&heads).inclusive_into(&x, &mut vec![0; x.len() + 1]).is_err());
        }
    }
}

/// Of types whose flags go through vectors and of others, in segments that are long, short and empty; also after other calls of the
/// same scan, to the bit where sums are rounded.
#[test]
fn segments_between_offsets_are_scanned_alike_whatever_was_called_before() {
    fn sums<T>(of: impl Fn(usize) -> T, rounded: impl Fn(usize) -> T)
    where
        Sum<T>: Monoid + PartialEq + std::fmt::Debug,
    {
        for lengths in [&[1][..], &[0, 0, 1], &[9, 0, 14, 1, 0], &[20; 9], &[70; 4], &[2; 30], &[1, 300, 1]] {
            let ends = lengths.iter().scan(0, |end, len| {
                *end += len;
                Some(*end)
            });
            let offsets: Vec<usize> = [0].into_iter().chain(ends).collect();
            let len = offsets[lengths.len()];
            let x: Vec<Sum<T>> = (0..len).map(|i| Sum(of(i * i % 11))).collect();
            let (mut inclusive, mut exclusive) = (x.clone(), x.clone());
            for ends in offsets.windows(2) {
                let mut sum = Sum::identity();
                for i in ends[0]..ends[1] {
                    exclusive[i] = sum;
                    sum = sum.combine(x[i]);
                    inclusive[i] = sum;
                }
            }
            let used = Scan::<Sum<T>>::new().unwrap();
            let flags = [true, false].repeat(20);
            used.segmented(&flags).inclusive(&[Sum(of(1)); 40]).unwrap();
            used.segmented(&[0usize, 1, 2, 4]).inclusive(&[Sum(of(1)); 4]).unwrap();
            let rounded: Vec<Sum<T>> = (0..len).map(|i| Sum(rounded(i))).collect();
            let mut found = [(); 2].map(|()| rounded.clone());
            let scan = Scan::<Sum<T>>::new().unwrap();
            for (scan, found) in [&scan, &used].into_iter().zip(&mut found) {
                scan.segmented(&offsets).inclusive_into(&rounded, found).unwrap();
            }
            assert_eq!(found[0], found[1]);
            for _ in 0..2 {
                let mut y = vec![Sum(of(99)); len];
                assert_eq!(scan.segmented(&offsets).inclusive_into(&x, &mut y).unwrap(), len);
                assert_eq!(y, inclusive);
                scan.segmented(&offsets).exclusive_into(&x, &mut y).unwrap();
                assert_eq!(y, exclusive);
                for place in 1..lengths.len() {
                    let mut wrong = offsets.clone();
                    wrong[place] = wrong[place + 1] + 1;
                    assert!(scan.segmented(&wrong).inclusive_into(&x, &mut y).is_err());
                }
                assert_eq!(y, exclusive);
            }
        }
    }
    sums(|x| x as i32, |x| x as i32);
    sums(|x| x as i64, |x| x as i64);
    sums(|x| x as f32 / 4.0, |x| x as f32 / 10.0);
    sums(|x| x as f64 / 4.0, |x| x as f64 / 10.0);
}

/// Rows and segments that each start from a state of their own, or go on from a carry, and their totals: of two stages and two
/// columns, whose states have three components of two types.
#[test]
fn sequences_from_their_own_states_are_the_folds_in_every_call() {
    let scan = cascade();
    let mut random = Random(12);
    for lengths in [vec![], vec![0], vec![3], vec![0, 4, 0, 1], vec![5; 6], vec![7, 0, 0, 25, 2], vec![1; 40]] {
        let offsets: Vec<usize> = std::iter::once(0)
            .chain(lengths.iter().scan(0, |end, len| {
                *end += len;
                Some(*end)
            }))
            .collect();
        let len = offsets[offsets.len() - 1];
        let b: Vec<i64> = (0..len).map(|_| random.below(9) - 4).collect();
        let c: Vec<i32> = (0..len).map(|_| random.below(9) - 4).collect();
        let starts: Vec<_> = lengths
            .iter()
            .map(|_| (Affine { a: random.below(5) - 2, b: random.below(9) - 4 }, Sum(random.below(9) - 4)))
            .collect();
        let folds = |starts: &[Pair]| -> (Vec<Pair>, Vec<i64>) {
            let each = offsets
                .windows(2)
                .zip(starts)
                .map(|(ends, &start)| fold(start, &b[ends[0]..ends[1]], &c[ends[0]..ends[1]]));
            let (totals, results): (Vec<_>, Vec<_>) = each.unzip();
            (totals, results.concat())
        };
        let (totals, results) = folds(&starts);
        let identities = vec![scan.identity(); lengths.len()];
        let (plain_totals, plain) = folds(&identities);
        let rows = lengths.first().filter(|&&first| lengths.iter().all(|&len| len == first));
        let rows = rows.map(|&row| Rows::new(lengths.len(), row, row).unwrap());
        for _ in 0..3 {
            let mut y = vec![7; len];
            let segments = || scan.segmented(&offsets);
            segments().init_each(&starts).inclusive_into((&b, &c), &mut y).unwrap();
            assert_eq!(y, results);
            assert_eq!(segments().init_each(&starts).totals((&b, &c)).unwrap(), totals);
            assert_eq!(segments().inclusive_with_totals((&b, &c)).unwrap(), (plain.clone(), plain_totals.clone()));
            let few = segments().init_each(&identities[..identities.len().saturating_sub(1)]).totals((&b, &c));
            assert!(lengths.is_empty() || matches!(few, Err(Error::StateCount { .. })), "{few:?}");
            let Some(rows) = rows else { continue };
            let request = || scan.rows(rows);
            y.fill(7);
            request().init_each(&starts).inclusive_into((&b, &c), &mut y).unwrap();
            assert_eq!(y, results);
            assert_eq!(request().init_each(&starts).totals((&b, &c)).unwrap(), totals);
            assert_eq!(request().inclusive_with_totals((&b, &c)).unwrap(), (plain.clone(), plain_totals.clone()));
            let mut carries = starts.clone();
            assert_eq!(request().resuming_each(&mut carries).inclusive((&b, &c)).unwrap(), results);
            assert_eq!(carries, totals);
            let mut carries = starts.clone();
            let short = request().resuming_each(&mut carries).inclusive_into((&b, &c), &mut vec![7; len + 1]);
            assert!(short.is_err() && carries == starts);
        }
    }
}

/// Records between rows stay as they are, and the step of a loop goes on from its own state.
#[test]
fn rows_with_gaps_and_of_loops_go_on_from_their_carries() {
    let step = scan!(|count: u32, flag: bool, x: u8| -> u32 { if flag { 0 } else { count + x as u32 } });
    let counts = Scan::from_loop(step, 7).unwrap();
    let rows = Rows::new(3, 2, 3).unwrap();
    let (flags, x) = ([false, true, false, false, false, true, false, false], [1u8, 2, 3, 4, 5, 6, 7, 8]);
    for _ in 0..3 {
        let (mut carries, mut y) = ([10, 20, 30].map(State), [99u32; 8]);
        counts.rows(rows).resuming_each(&mut carries).inclusive_into((&flags, &x), &mut y).unwrap();
        assert_eq!((y, carries), ([11, 0, 99, 24, 29, 99, 37, 45], [0, 29, 45].map(State)));
        y.fill(99);
        counts.rows(rows).init_each(&[1, 2, 3].map(State)).inclusive_into((&flags, &x), &mut y).unwrap();
        assert_eq!(y, [2, 0, 99, 6, 11, 99, 10, 18]);
    }
}

#[test]
fn totals_that_do_not_fit_a_slice_are_refused_and_leave_it_alone() {
    let sums = Scan::<Sum<i64>>::new().unwrap();
    for n in [1, 12, 5000] {
        let x: Vec<Sum<i64>> = (0..n).map(Sum).collect();
        let (n, keys) = (x.len(), x.iter().map(|x| x.0 / 4).collect::<Vec<i64>>());
        let offsets: Vec<usize> = (0..=n).step_by(4).chain([n]).collect();
        // Nothing is long, one sequence is, or everything is.
        let uneven = [0, 1, n];
        type Of<'a> = &'a dyn Fn() -> monoscan::Request<'a, Sum<i64>, (Sum<i64>,), Sum<i64>>;
        let requests: [(&str, Of<'_>); 8] = [
            ("line", &|| sums.request()),
            ("reversed line", &|| sums.reversed()),
            ("flags", &|| sums.segmented(&[true; 5000][..n])),
            ("rows", &|| sums.rows(Rows::new(n, 1, 1).unwrap())),
            ("columns", &|| sums.axis(&[1, n], 0)),
            ("offsets", &|| sums.segmented(&offsets[..])),
            ("uneven offsets", &|| sums.segmented(&uneven[..])),
            ("keys", &|| sums.segmented(by_key(&keys[..]))),
        ];
        for (name, request) in requests {
            let expected = request().totals(&x[..]).unwrap();
            for call in 0..3 {
                let mut given = vec![Sum(i64::MIN); expected.len() - 1];
                let error = request().totals_into(&x[..], &mut given).unwrap_err();
                let (got, expected) = (given.len(), expected.len());
                let says_so =
                    matches!(error, Error::TotalsTooShort { expected: all, got: of } if (all, of) == (expected, got));
                assert!(says_so, "{name} of {n}, call {call}: {error}");
                assert!(given.iter().all(|total| total.0 == i64::MIN), "{name} of {n}, call {call}");
            }
            let mut given = expected.clone();
            assert_eq!(request().totals_into(&x[..], &mut given).unwrap(), expected.len(), "{name} of {n}");
            assert_eq!(given, expected, "{name} of {n}");
        }
    }
}

#[test]
fn offsets_that_wrap_around_are_refused() {
    let sums = Scan::<Sum<i64>>::new().unwrap();
    let x = [1, 2, 3, 4].map(Sum);
    let half = 1usize << (usize::BITS - 1);
    // All but one length is below half of all numbers, and they add up to four, as far as a number goes.
    for offsets in [&[0, half - 1, 2 * (half - 1), 4][..], &[0, half, 4], &[0, 5, 4], &[0, usize::MAX, 4]] {
        for _ in 0..3 {
            let error = sums.segmented(offsets).totals(&x[..]).unwrap_err();
            assert!(matches!(error, Error::Offsets { place: 1, .. }), "{offsets:?}: {error}");
            assert!(sums.segmented(offsets).inclusive(&x[..]).is_err(), "{offsets:?}");
        }
        assert!(sums.segmented(&[0usize, 1, 4]).totals(&x[..]).is_ok());
    }
}

/// Rows without records need no memory for their states, unless totals are asked for.
#[test]
fn any_number_of_empty_rows_is_scanned_at_once() {
    let scan = sums();
    let (x, mut y) = ([0i32; 0], [0i32; 0]);
    for count in [0, 1, 17, 2000, 1 << 40, usize::MAX] {
        let rows = Rows::new(count, 0, 0).unwrap();
        for _ in 0..2 {
            assert_eq!(scan.rows(rows).inclusive_into(&x, &mut y).unwrap(), 0);
            assert_eq!(scan.rows(rows).reversed().inclusive_into(&x, &mut y).unwrap(), 0);
            assert_eq!(scan.rows(rows).init(Sum(3)).exclusive_into(&x, &mut y).unwrap(), 0);
            assert_eq!(scan.rows(rows).init(Sum(3)).reversed().inclusive(&x).unwrap(), []);
        }
    }
    let apart = Rows::new(3, 0, usize::MAX / 3).unwrap();
    assert_eq!(scan.rows(apart).totals(&x).unwrap(), [Sum(0); 3]);
    assert_eq!(scan.rows(apart).init(Sum(7)).totals(&x).unwrap(), [Sum(7); 3]);
    assert!(matches!(scan.rows(Rows::new(usize::MAX, 0, 0).unwrap()).totals(&x), Err(Error::OutOfMemory { .. })));
}

#[test]
fn rows_of_a_scan_that_filters_have_no_totals_however_short() {
    let large = scan!(|e: Element<i32, Sum<i32>>| -> bool { e.record > 1 });
    let value = scan!(|sum: Sum<i32>| -> i32 { sum.0 });
    let lift = scan!(|x: i32| -> Sum<i32> { Sum(x) });
    let scan = Scan::<Sum<i32>>::builder().lift(lift).filter(large).project(value).build().unwrap();
    for len in [6, 60_000] {
        let x = vec![1; len];
        for _ in 0..2 {
            let axis = || scan.axis(&[2, len / 2], 1);
            assert!(matches!(axis().totals(&x), Err(Error::Combination(_))));
            assert!(matches!(axis().init(Sum(1)).totals(&x), Err(Error::Combination(_))));
            assert!(matches!(axis().init_each(&[Sum(1), Sum(2)]).totals(&x), Err(Error::Combination(_))));
            assert!(matches!(axis().reversed().totals(&x), Err(Error::Combination(_))));
        }
    }
}
