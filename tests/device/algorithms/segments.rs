//! Totals of segments that flags, keys or offsets tell.

use std::fmt::Debug;

use monoscan::algo::on_gpu;
use monoscan::ops::{Max, Min, Sum};
use monoscan::prelude::*;
use scan_kit::Random;

use super::super::Affine;
use super::kept::{into_any_space, is_too_short};
use super::{drawn, here, lengths, pair, same, shapes, there, with_random};

/// The first place of each run, and that behind the last.
fn bounds<K: PartialEq>(keys: &[K]) -> Vec<usize> {
    let mut bounds: Vec<usize> = (0..keys.len()).filter(|&i| i == 0 || keys[i] != keys[i - 1]).collect();
    bounds.push(keys.len());
    bounds
}

/// Totals by a loop of the user's own function.
fn totals<M: Monoid>(bounds: &[usize], x: &[M]) -> Vec<M> {
    let total = |ends: &[usize]| x[ends[0]..ends[1]].iter().fold(M::identity(), |total, &x| total.combine(x));
    bounds.windows(2).map(total).collect()
}

fn segments<M: Monoid + PartialEq + Debug>(random: &mut Random, len: usize, of: fn(u64) -> M) {
    let x = drawn(random, len, of);
    let dx = there(&x);
    for runs in shapes(random, len) {
        let bounds = bounds(&runs);
        let expected = totals(&bounds, &x);
        let mut heads = vec![false; len];
        // The first record begins a segment with or without a flag.
        bounds[..bounds.len() - 1].iter().skip(1).for_each(|&start| heads[start] = true);
        same(&here(on_gpu::totals_by_flags(&there(&heads), &dx).unwrap()), &expected);
        let keys: Vec<u64> = runs.iter().map(|&run| run as u64 * 0x1_0000_0001).collect();
        let (names, found) = pair(on_gpu::totals_by_key(&there(&keys), &dx).unwrap());
        same(&found, &expected);
        same(&names, &bounds[..bounds.len() - 1].iter().map(|&start| keys[start]).collect::<Vec<_>>());
        let dkeys = there(&keys);
        into_any_space((len, &expected), &x, |totals| {
            on_gpu::totals_by_key_into((&dkeys, &dx), &mut there(&keys), totals)
        });

        // Some segments more that are empty, at the ends too.
        let mut offsets = vec![0];
        for bound in bounds {
            let times = 1 + random.below(3usize);
            offsets.extend(std::iter::repeat_n(bound, times));
        }
        let expected = totals(&offsets, &x);
        let doffsets = there(&offsets.iter().map(|&offset| offset as u32).collect::<Vec<_>>());
        same(&here(on_gpu::totals_by_offsets(&doffsets, &dx).unwrap()), &expected);
        let mut found = there(&vec![of(random.bits()); expected.len()]);
        on_gpu::totals_by_offsets_into(&doffsets, &dx, &mut found).unwrap();
        same(&here(found), &expected);
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn segments_have_the_totals_of_any_monoid() {
    with_random(|random| {
        for len in lengths(random) {
            segments(random, len, |bits| Sum(bits as u32 >> 22));
            segments(random, len, |bits| Sum((bits >> 61) as f64));
            segments(random, len, |bits| Max(bits as i16));
            segments(random, len, Min);
            // The order counts.
            segments(random, len, |bits| Affine { a: bits as u32, b: (bits >> 32) as u32 });
        }
    });
}

fn sums<K, T>(random: &mut Random, key: fn(usize) -> K, number: fn(u64) -> T, add: fn(T, T) -> T)
where
    K: ScanType + PartialEq + Debug,
    T: Num + PartialEq + Debug,
{
    for len in lengths(random) {
        let x = drawn(random, len, number);
        let dx = there(&x);
        for runs in shapes(random, len) {
            let keys: Vec<K> = runs.into_iter().map(key).collect();
            let dkeys = there(&keys);
            let bounds = bounds(&keys);
            let of = |ends: &[usize]| x[ends[0]..ends[1]].iter().fold(T::ZERO, |sum, &x| add(sum, x));
            let expected: Vec<T> = bounds.windows(2).map(of).collect();
            let firsts: Vec<K> = bounds[..expected.len()].iter().map(|&start| keys[start]).collect();
            let (names, found) = pair(on_gpu::sums_by_key(&dkeys, &dx).unwrap());
            same(&names, &firsts);
            same(&found, &expected);

            let groups = expected.len();
            for (names_len, sums_len) in [(len, len), (groups, len), (len, groups), (groups, groups)] {
                let (mut names, mut sums) = (there(&keys[..names_len]), there(&x[..sums_len]));
                assert_eq!(on_gpu::sums_by_key_into((&dkeys, &dx), &mut names, &mut sums).unwrap(), groups);
                same(&here(names)[..groups], &firsts);
                same(&here(sums)[..groups], &expected);
            }
            for (names_len, sums_len) in [(groups.saturating_sub(1), len), (len, groups.saturating_sub(1))] {
                if groups > 0 {
                    let (mut names, mut sums) = (there(&vec![key(77); names_len]), there(&vec![T::ONE; sums_len]));
                    let error = on_gpu::sums_by_key_into((&dkeys, &dx), &mut names, &mut sums).unwrap_err();
                    assert!(is_too_short(&error, groups), "{error}");
                    same(&here(names), &vec![key(77); names_len]);
                    same(&here(sums), &vec![T::ONE; sums_len]);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn runs_of_keys_have_sums() {
    with_random(|random| {
        sums(random, |run| run as u32, |bits| bits as i32, i32::wrapping_add);
        sums(random, |run| run as u8, |bits| bits, u64::wrapping_add);
        // So small that all sums are exact.
        sums(random, |run| (run as u8, run as u32), |bits| (bits >> 61) as f64, |a, b| a + b);
        sums(random, |run| run as f32, |bits| (bits >> 63) as f32, |a, b| a + b);
    });
}

/// Numbers that are far from 0, so that sums of squares would cancel.
fn moments<T: Real>(random: &mut Random, far: f64, precision: f64, of: fn(f64) -> T, value: fn(T) -> f64) {
    for len in lengths(random) {
        let x: Vec<T> = drawn(random, len, |bits| of(far + (bits >> 54) as f64 / 1024.0));
        let dx = there(&x);
        for keys in shapes(random, len) {
            let keys: Vec<u32> = keys.into_iter().map(|run| run as u32).collect();
            let bounds = bounds(&keys);
            let (names, found) = pair(on_gpu::moments_by_key(&there(&keys), &dx).unwrap());
            same(&names, &bounds[..bounds.len() - 1].iter().map(|&start| keys[start]).collect::<Vec<_>>());
            for (moments, ends) in found.into_iter().zip(bounds.windows(2)) {
                let x: Vec<f64> = x[ends[0]..ends[1]].iter().copied().map(value).collect();
                let count = x.len() as f64;
                let mean = x.iter().sum::<f64>() / count;
                let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
                assert_eq!(value(moments.count), count);
                assert!((value(moments.mean) - mean).abs() <= precision * far, "{} and {mean}", value(moments.mean));
                let (found, slack) = (value(moments.variance()), precision * far);
                assert!((found - variance).abs() <= slack, "{found}, expected {variance} of {count}");
            }
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn runs_of_keys_have_moments() {
    with_random(|random| {
        moments::<f64>(random, 1e6, 1e-12, |x| x, |x| x);
        moments::<f32>(random, 100.0, 1e-4, |x| x as f32, f64::from);
    });
}
