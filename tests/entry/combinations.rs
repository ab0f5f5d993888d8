//! Every direction × initial state × kind of runs × entry point × boundary of a plan × number of
//! threads.

use std::fmt::Debug;

use monoscan::prelude::*;

use super::reference::{Answer, Ask, SIZES, asks, plans};
use scan_kit::Random;
use scan_kit::zoo::*;

/// All entry points of one request, held to the reference.
fn check_request<M: Monoid + PartialEq + Debug>(scan: &Scan<M>, ask: &Ask<M>, x: &[M], filler: M) {
    let Answer { before, after, totals } = ask.answer(x);
    let covers = after.iter().all(Option::is_some);
    for (exclusive, expected) in [(false, after), (true, before)] {
        let what = || format!("{scan:?}, {ask:?}, n = {}, exclusive: {exclusive}", x.len());
        let expected: Vec<M> = expected.into_iter().map(|state| state.unwrap_or(filler)).collect();

        let mut output = vec![filler; x.len()];
        let request = ask.request(scan);
        let written =
            if exclusive { request.exclusive_into(x, &mut output) } else { request.inclusive_into(x, &mut output) };
        assert!(written.is_ok(), "{}: {written:?}", what());
        assert_eq!(output, expected, "into, {}", what());

        let request = ask.request(scan);
        let result = if exclusive { request.exclusive(x) } else { request.inclusive(x) };
        let mut output = Vec::with_capacity(x.len());
        let uninit = &mut output.spare_capacity_mut()[..x.len()];
        let request = ask.request(scan);
        let uninit =
            if exclusive { request.exclusive_into_uninit(x, uninit) } else { request.inclusive_into_uninit(x, uninit) };
        if covers {
            assert_eq!(result.unwrap(), expected, "{}", what());
            assert_eq!(uninit.unwrap(), expected, "uninit, {}", what());
        } else {
            assert!(result.is_err() && uninit.is_err(), "{}", what());
        }

        let mut records = x.to_vec();
        let request = ask.request(scan);
        let replaced =
            if exclusive { request.exclusive_in_place(&mut records) } else { request.inclusive_in_place(&mut records) };
        assert!(replaced.is_ok(), "{}: {replaced:?}", what());
        let untouched = |place: usize| expected[place] == filler && records[place] == x[place];
        let same = (0..x.len()).all(|place| records[place] == expected[place] || untouched(place));
        assert!(same, "in place, {}: {records:?} for {expected:?}", what());
    }
    let what = || format!("{scan:?}, {ask:?}, n = {}", x.len());
    assert_eq!(ask.request(scan).totals(x).unwrap(), totals, "{}", what());
    let reduced = ask.request(scan).reduce(x);
    match totals[..] {
        [total] => assert_eq!(reduced.unwrap(), total, "{}", what()),
        _ => assert!(reduced.is_err(), "{}", what()),
    }
}

/// `filler` is a state that no scan of these records gives.
fn check<M: Monoid + PartialEq + Debug>(init: M, filler: M, make: impl Fn(&mut Random, usize) -> M) {
    let mut random = Random(size_of::<M>() as u64);
    for plan in plans() {
        for threads in [1, 2, 3] {
            let scan = Scan::<M>::builder().plan(plan.clone()).threads(threads).build().unwrap();
            for n in SIZES {
                let x: Vec<M> = (0..n).map(|i| make(&mut random, i)).collect();
                for ask in asks(n, init, &mut random) {
                    check_request(&scan, &ask, &x, filler);
                }
            }
        }
    }
}

#[test]
fn order_is_kept() {
    let state = |closing, opening| Bicyclic { closing, opening };
    check(state(2, 5), state(77_777, 0), |r, _| Bicyclic { closing: r.below(3) as u32, opening: r.below(3) as u32 });
}

#[test]
fn matrices_do_not_commute() {
    let matrix =
        |r: &mut Random| Matrix::<2> { m: [[r.bits() as u32, r.bits() as u32], [r.bits() as u32, r.bits() as u32]] };
    let mut r = Random(7);
    check(matrix(&mut r), matrix(&mut r), |r, _| matrix(r));
}

#[test]
fn hashes_see_every_record_once() {
    check(Hash { hash: 99, power: 7 }, Hash { hash: 1 << 60, power: 0 }, |r, _| Hash { hash: r.below(256), power: 31 });
}

#[test]
fn nested_segments_restart_where_they_should() {
    let state = |start, hash| Segmented { start, value: Hash { hash, power: 31 } };
    check(state(true, 12_345), state(false, 1 << 50), |r, _| state(r.below(5) == 0, r.below(256)));
}

#[test]
fn merges_are_of_neighbours_only() {
    // Reversed, neighbours meet the other way round, which is counted as broken every time: by the reference too.
    let interval = |start: u32, end: u32| Interval { empty: false, start, end, broken: 0 };
    check(interval(9, 0), interval(500, 500), |_, i| interval(i as u32, i as u32 + 1));
}

#[test]
fn states_of_128_bytes_are_carried() {
    let wide = |r: &mut Random| Wide { sums: std::array::from_fn(|_| r.bits()) };
    let mut r = Random(3);
    check(wide(&mut r), wide(&mut r), |r, _| wide(r));
}

/// Records of two columns, an output of another type than the state.
#[test]
fn columns_are_lifted_and_outputs_projected_in_every_combination() {
    let lift = scan!(|hash: u8, power: u32| -> Hash { Hash { hash: hash as u64, power: power as u64 } });
    let value = scan!(|state: Hash, hash: u8, power: u32| -> (u8, u64) { (hash, state.hash ^ power as u64) });
    let of_first = |y: &[(u8, u64)]| y.iter().map(|y| y.0).collect::<Vec<u8>>();
    let of_second = |y: &[(u8, u64)]| y.iter().map(|y| y.1).collect::<Vec<u64>>();
    let mut r = Random(5);
    for plan in plans() {
        let builder = || Scan::<Hash>::builder().lift(lift).project_with_record(value).plan(plan.clone()).threads(2);
        let scan = builder().build().unwrap();
        // Each member of the results in a column of its own.
        let unzipped = builder().unzip().build().unwrap();
        for n in SIZES {
            let a: Vec<u8> = (0..n).map(|_| r.bits() as u8).collect();
            let b: Vec<u32> = (0..n).map(|_| r.bits() as u32).collect();
            let x: Vec<Hash> = a.iter().zip(&b).map(|(&hash, &power)| lift.call((hash, power))).collect();
            for ask in asks(n, Hash { hash: 3, power: 5 }, &mut r) {
                let Answer { before, after, totals } = ask.answer(&x);
                let expected = |states: Vec<Option<Hash>>| -> Vec<(u8, u64)> {
                    let of = |(place, state): (usize, Option<Hash>)| {
                        state.map_or((0, 0), |state| value.call((state, a[place], b[place])))
                    };
                    states.into_iter().enumerate().map(of).collect()
                };
                let mut y = vec![(0, 0); n];
                ask.request(&scan).inclusive_into((&a, &b), &mut y).unwrap();
                assert_eq!(y, expected(after), "{ask:?}");
                let (mut hashes, mut mixed) = (vec![0; n], vec![0; n]);
                let written = ask.request(&unzipped).inclusive_into((&a, &b), (&mut hashes, &mut mixed[..]));
                written.unwrap();
                assert_eq!((&hashes, &mixed), (&of_first(&y), &of_second(&y)), "{ask:?}");
                let mut y = vec![(0, 0); n];
                ask.request(&scan).exclusive_into((&a, &b), &mut y).unwrap();
                assert_eq!(y, expected(before), "{ask:?}");
                ask.request(&unzipped).exclusive_into((&a, &b), (&mut hashes, &mut mixed)).unwrap();
                assert_eq!((hashes, mixed), (of_first(&y), of_second(&y)), "{ask:?}");
                assert_eq!(ask.request(&scan).totals((&a, &b)).unwrap(), totals, "{ask:?}");
                assert_eq!(ask.request(&unzipped).totals((&a, &b)).unwrap(), totals, "{ask:?}");
            }
        }
    }
}

#[test]
fn offsets_may_be_u32_or_u64() {
    let scan = Scan::<Hash>::new().unwrap();
    let x: Vec<Hash> = (0..6).map(|hash| Hash { hash, power: 31 }).collect();
    let expected = scan.segmented(&[0usize, 2, 2, 6]).inclusive(&x).unwrap();
    assert_eq!(scan.segmented(&[0u32, 2, 2, 6]).inclusive(&x).unwrap(), expected);
    assert_eq!(scan.segmented(&vec![0u64, 2, 2, 6]).inclusive(&x).unwrap(), expected);
    assert_eq!(scan.segmented(&[true, false, true, false, false, false][..]).inclusive(&x).unwrap(), expected);
}

#[test]
fn floats_are_the_same_bits_for_any_number_of_threads() {
    let mut r = Random(10);
    let number = |r: &mut Random| 0.5 + r.below(1000) as f32 / 1000.0;
    let x: Vec<Affine<f32>> = (0..997).map(|_| Affine { a: number(&mut r), b: number(&mut r) - 1.0 }).collect();
    let bits = |y: &[Affine<f32>]| y.iter().map(|y| (y.a.to_bits(), y.b.to_bits())).collect::<Vec<_>>();
    for plan in plans() {
        for ask in asks(x.len(), Affine { a: 0.75, b: 1.5 }, &mut r) {
            let run = |threads| {
                let scan = Scan::<Affine<f32>>::builder().plan(plan.clone()).threads(threads).build().unwrap();
                let mut y = x.clone();
                ask.request(&scan).inclusive_into(&x, &mut y).unwrap();
                (bits(&y), bits(&ask.request(&scan).totals(&x).unwrap()))
            };
            let alone = run(1);
            assert!(run(2) == alone && run(5) == alone, "{plan:?} {ask:?}");
        }
    }
}
