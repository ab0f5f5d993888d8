//! Parameters, keys, plain values, many columns: each beside a loop in plain Rust.

use monoscan::ops::{Affine, Max, Maximum, Minimum, Pair, Sum};
use monoscan::prelude::*;
use monoscan::{Error, Rows, by_key};
use scan_kit::Random;

use super::reference::{SIZES, plans};

#[scan_fn]
fn step(factor: i64, x: i64) -> Affine<i64> {
    Affine { a: factor, b: x }
}

#[scan_fn]
fn value((scale, shift): (i64, i64), map: Affine<i64>) -> i64 {
    map.b.wrapping_mul(scale).wrapping_add(shift)
}

/// The results of the recurrence y = factor·y + x, scaled and shifted, for each sequence of these places.
fn recurrence(x: &[i64], places: &[Vec<usize>], factor: i64, (scale, shift): (i64, i64), start: i64) -> Vec<i64> {
    let mut y = vec![0; x.len()];
    for sequence in places {
        let mut state = start;
        for &place in sequence {
            state = state.wrapping_mul(factor).wrapping_add(x[place]);
            y[place] = state.wrapping_mul(scale).wrapping_add(shift);
        }
    }
    y
}

#[test]
fn parameters_are_bound_when_a_scan_is_run() {
    let mut r = Random(11);
    for plan in plans() {
        let scan = Scan::<Affine<i64>>::builder().lift_with(3, step {}).project_with((1, 0), value {});
        let scan = scan.plan(plan).build().unwrap();
        for n in SIZES {
            let x: Vec<i64> = (0..n).map(|_| r.below(100u64) as i64 - 50).collect();
            let (factor, of) = (r.below(9u64) as i64 - 4, (r.below(9u64) as i64, r.below(9u64) as i64));
            let bound = scan.with((factor, of)).unwrap();
            let line: Vec<usize> = (0..n).collect();
            assert_eq!(bound.inclusive(&x).unwrap(), recurrence(&x, std::slice::from_ref(&line), factor, of, 0));
            let reversed: Vec<usize> = line.iter().rev().copied().collect();
            assert_eq!(bound.reversed().inclusive(&x).unwrap(), recurrence(&x, &[reversed], factor, of, 0));
            let heads: Vec<bool> = (0..n).map(|_| r.below(3u64) == 0).collect();
            let mut segments: Vec<Vec<usize>> = Vec::new();
            for (place, &head) in heads.iter().enumerate() {
                if head || place == 0 {
                    segments.push(Vec::new());
                }
                segments.last_mut().unwrap().push(place);
            }
            let start = Affine { a: 1, b: 7 };
            let request = bound.segmented(&heads).init(start);
            assert_eq!(request.inclusive(&x).unwrap(), recurrence(&x, &segments, factor, of, 7));
            let rows: Vec<Vec<usize>> = (0..n / 3).map(|row| (row * 3..row * 3 + 3).collect()).collect();
            let y = bound.rows(Rows::new(n / 3, 3, 3).unwrap()).inclusive(&x[..n / 3 * 3]).unwrap();
            assert_eq!(y, recurrence(&x[..n / 3 * 3], &rows, factor, of, 0));
            // The scan itself has the values that it was built with.
            assert_eq!(scan.inclusive(&x).unwrap(), recurrence(&x, &[line], 3, (1, 0), 0));
        }
    }
    let scan = Scan::<Affine<i64>>::builder().lift_with(3, step {}).build().unwrap();
    assert!(matches!(scan.with(3u8), Err(Error::Parameters { .. })));
}

/// Counts the records above a limit that are also above the last maximum by a margin, and keeps those.
#[test]
fn stages_and_filters_have_parameters_too() {
    #[scan_fn]
    fn jumps(margin: i32, e: Element<i32, Max<i32>>) -> Sum<i32> {
        Sum(if e.record > e.before.0.wrapping_add(margin) { 1 } else { 0 })
    }
    #[scan_fn]
    fn is_above(limit: i32, e: Element<i32, (Max<i32>, Sum<i32>)>) -> bool {
        e.record > limit
    }
    #[scan_fn]
    fn shown(factor: i32, count: Sum<i32>) -> i32 {
        factor * count.0
    }
    let mut r = Random(13);
    let scan = Scan::<Max<i32>>::builder().lift(scan!(|x: i32| -> Max<i32> { Max(x) }));
    let scan = scan.then_with(1, jumps {}).filter_with(0, is_above {}).project_with(1, shown {}).build().unwrap();
    for n in SIZES {
        let x: Vec<i32> = (0..n).map(|_| r.below(100u64) as i32 - 20).collect();
        let (margin, limit, factor) = (r.below(9u64) as i32, r.below(9u64) as i32, r.below(9u64) as i32);
        let (mut highest, mut count, mut expected) = (i32::MIN, 0, Vec::new());
        for &x in &x {
            count += i32::from(x > highest.wrapping_add(margin));
            highest = highest.max(x);
            if x > limit {
                expected.push(factor * count);
            }
        }
        assert_eq!(scan.with((margin, limit, factor)).unwrap().inclusive(&x).unwrap(), expected);
    }
}

#[test]
fn keys_are_segments() {
    let mut r = Random(12);
    let sums = Scan::<Sum<i32>>::plain().unwrap();
    for n in SIZES {
        let keys: Vec<(u8, bool)> = (0..n).map(|_| (r.below(2u64) as u8, r.below(5u64) == 0)).collect();
        let x: Vec<i32> = (0..n).map(|_| r.below(100u64) as i32).collect();
        let heads: Vec<bool> = (0..n).map(|i| i > 0 && keys[i] != keys[i - 1]).collect();
        for reversed in [false, true] {
            let request = || if reversed { sums.reversed() } else { sums.request() };
            let by_flags = request().segmented(&heads).inclusive(&x).unwrap();
            assert_eq!(request().segmented(by_key(&keys)).inclusive(&x).unwrap(), by_flags);
        }
        let totals: Vec<Sum<i32>> = x.iter().zip(&heads).fold(Vec::new(), |mut totals: Vec<Sum<i32>>, (&x, &head)| {
            if head || totals.is_empty() {
                totals.push(Sum(0));
            }
            totals.last_mut().unwrap().0 += x;
            totals
        });
        assert_eq!(sums.segmented(by_key(&keys)).totals(&x).unwrap(), totals);
    }
}

/// `minimum` of IEEE 754-2019, from its text.
fn minimum(a: f64, b: f64) -> f64 {
    match (a.is_nan() || b.is_nan(), a == b) {
        (true, _) => f64::NAN,
        (false, true) => f64::from_bits(a.to_bits() | b.to_bits()),
        (false, false) => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

#[test]
fn minimum_and_maximum_pass_nan_on() {
    let mut r = Random(13);
    let (lowest, highest) = (Scan::<Minimum<f64>>::plain().unwrap(), Scan::<Maximum<f64>>::plain().unwrap());
    let bits = |y: &[f64]| y.iter().map(|y| if y.is_nan() { 1 } else { y.to_bits() }).collect::<Vec<_>>();
    for n in SIZES.into_iter().chain([1000]) {
        let some = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY];
        let x: Vec<f64> = (0..n).map(|_| if r.below(40u64) == 0 { f64::NAN } else { *r.pick(&some) }).collect();
        let mut state = f64::INFINITY;
        let expected: Vec<f64> = x
            .iter()
            .map(|&x| {
                state = minimum(state, x);
                state
            })
            .collect();
        assert_eq!(bits(&lowest.inclusive(&x).unwrap()), bits(&expected));
        let mut state = f64::NEG_INFINITY;
        let expected: Vec<f64> = x
            .iter()
            .map(|&x| {
                state = -minimum(-state, -x);
                state
            })
            .collect();
        assert_eq!(bits(&highest.inclusive(&x).unwrap()), bits(&expected));
    }
}

#[scan_fn]
#[allow(clippy::too_many_arguments, reason = "one per column")]
fn twelve(
    a: u8,
    b: u16,
    c: u32,
    d: u64,
    e: i8,
    f: i16,
    g: i32,
    h: i64,
    i: bool,
    j: u8,
    k: u32,
    l: u64,
) -> Pair<Sum<u64>, Sum<i64>> {
    let signed = e as i64 + f as i64 + g as i64 + h;
    Pair(Sum(a as u64 + b as u64 + c as u64 + d + j as u64 + k as u64 + l), Sum(if i { signed } else { 0 }))
}

#[test]
fn twelve_columns_are_read() {
    let mut r = Random(14);
    let scan = Scan::<Pair<Sum<u64>, Sum<i64>>>::builder().lift(twelve {}).build().unwrap();
    for n in SIZES {
        let mut column = || -> Vec<u8> { (0..n).map(|_| r.below(100u64) as u8).collect() };
        let (a, b, c, d) = (column(), column(), column(), column());
        let (e, f, g, h) = (column(), column(), column(), column());
        let (i, j, k, l) = (column(), column(), column(), column());
        let b: Vec<u16> = b.into_iter().map(u16::from).collect();
        let [c, k] = [c, k].map(|x| x.into_iter().map(u32::from).collect::<Vec<u32>>());
        let [d, l] = [d, l].map(|x| x.into_iter().map(u64::from).collect::<Vec<u64>>());
        let e: Vec<i8> = e.into_iter().map(|x| x as i8).collect();
        let f: Vec<i16> = f.into_iter().map(i16::from).collect();
        let g: Vec<i32> = g.into_iter().map(i32::from).collect();
        let h: Vec<i64> = h.into_iter().map(i64::from).collect();
        let i: Vec<bool> = i.into_iter().map(|x| x % 2 == 0).collect();
        let y = scan.inclusive((&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l)).unwrap();
        let mut state = Pair(Sum(0), Sum(0));
        for place in 0..n {
            let lifted = twelve(
                a[place], b[place], c[place], d[place], e[place], f[place], g[place], h[place], i[place], j[place],
                k[place], l[place],
            );
            state = state.combine(lifted);
            assert_eq!(y[place], state);
        }
    }
}

#[scan_fn]
fn grew(e: Element<u32>) -> Sum<u32> {
    Sum(if !e.first && e.record > e.prev { 1 } else { 0 })
}

#[test]
fn a_stream_carries_the_record_before_from_chunk_to_chunk() {
    let mut r = Random(15);
    let scan = Scan::<Sum<u32>>::builder().lift_at::<(u32,), _>(grew {}).build().unwrap();
    for _ in 0..20 {
        let x: Vec<u32> = (0..r.below(60u64)).map(|_| r.below(9u64) as u32).collect();
        let mut count = 0;
        let expected: Vec<Sum<u32>> = (0..x.len())
            .map(|i| {
                count += u32::from(i > 0 && x[i] > x[i - 1]);
                Sum(count)
            })
            .collect();
        assert_eq!(scan.inclusive(&x).unwrap(), expected);
        let (mut stream, mut rest, mut all) = (scan.stream(), &x[..], Vec::new());
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at((1 + r.below(7u64) as usize).min(rest.len()));
            all.extend(stream.feed(chunk).unwrap());
            rest = after;
        }
        assert_eq!(all, expected);
    }
}
