//! Sorts beside those of the standard library.

use std::cmp::Ordering;

use monoscan::algo::AlgoError;
use monoscan::algo::sort::{Order, SortKey, argsort, argsort_into, quicksort, sort, sort_with_values};

use super::common::{for_lengths, generator, in_pools, is_long};

/// More than loops of one thread take, but for sorts.
const LONG: usize = 40_000;

/// Random keys, few different ones, one that differs from all others, which one part of a long column cannot hold in a cache, and
/// sorted and reversed ones of short columns.
fn inputs<K: Copy>(len: usize, of: impl Fn(u64) -> K) -> Vec<Vec<K>> {
    let mut random = generator(len);
    let drawn: Vec<K> = (0..len).map(|_| of(random.bits())).collect();
    let few: Vec<K> = (0..len).map(|_| of(random.below(3u64) << 40 | random.below(2u64))).collect();
    let ascending: Vec<K> = (0..len as u64).map(&of).collect();
    let descending = ascending.iter().rev().copied().collect();
    // They differ in two digits and in three.
    let [same, too] = [3, 3 << 32].map(|other| {
        let mut same = vec![of(1 << 20); len];
        if let Some(last) = same.last_mut() {
            *last = of(other);
        }
        same
    });
    // The greatest and the least numbers, which are counted.
    let [greatest, least] = [u64::MAX, 3].map(|greatest| (0..len).map(|_| of(greatest - random.below(4u64))).collect());
    let mut inputs = vec![drawn, few, same, too, greatest, least];
    if !is_long(len) {
        inputs.extend([ascending, descending]);
    }
    inputs
}

fn sorts_like_the_standard_library<K: SortKey>(
    of: impl Fn(u64) -> K + Sync,
    order: impl Fn(&K, &K) -> Ordering + Sync,
) {
    // NaN equals itself in this order.
    let same = |a: &[K], b: &[K]| a.iter().zip(b).all(|(a, b)| order(a, b).is_eq());
    for_lengths(LONG, |len| {
        for keys in inputs(len, &of) {
            for direction in [Order::Ascending, Order::Descending] {
                let in_order = |a: &K, b: &K| match direction {
                    Order::Ascending => order(a, b),
                    Order::Descending => order(b, a),
                };
                let mut places: Vec<u32> = (0..keys.len() as u32).collect();
                places.sort_by(|&a, &b| in_order(&keys[a as usize], &keys[b as usize]));
                let expected: Vec<K> = places.iter().map(|&place| keys[place as usize]).collect();

                assert_eq!(argsort(&keys, direction).unwrap(), places);
                let mut sorted_places = vec![7; places.len()];
                argsort_into(&keys, direction, &mut sorted_places).unwrap();
                assert_eq!(sorted_places, places);
                let mut sorted = keys.clone();
                sort(&mut sorted, direction).unwrap();
                assert!(same(&sorted, &expected), "{} keys, {direction:?}", keys.len());
                let (mut sorted, mut values) = (keys.clone(), (0..keys.len() as u32).collect::<Vec<_>>());
                sort_with_values(&mut sorted, &mut values, direction).unwrap();
                assert_eq!(values, places);
                assert!(same(&sorted, &expected), "{} keys, {direction:?}", keys.len());
            }
        }
    });
}

#[test]
fn unsigned_integers_sort() {
    sorts_like_the_standard_library(|bits| bits as u8, u8::cmp);
    sorts_like_the_standard_library(|bits| bits as u16, u16::cmp);
    sorts_like_the_standard_library(|bits| bits as u32, u32::cmp);
    sorts_like_the_standard_library(|bits| bits, u64::cmp);
}

#[test]
fn signed_integers_sort() {
    sorts_like_the_standard_library(|bits| bits as i8, i8::cmp);
    sorts_like_the_standard_library(|bits| bits as i16, i16::cmp);
    sorts_like_the_standard_library(|bits| bits as i32, i32::cmp);
    sorts_like_the_standard_library(|bits| bits as i64, i64::cmp);
}

/// Any bits at all: infinities, NaN of both signs, zeros of both signs.
#[test]
fn floats_sort_by_total_order() {
    sorts_like_the_standard_library(|bits| f32::from_bits(bits as u32), f32::total_cmp);
    sorts_like_the_standard_library(f64::from_bits, f64::total_cmp);
    let special = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.0, f64::MIN_POSITIVE];
    sorts_like_the_standard_library(|bits| special[bits as usize % special.len()], f64::total_cmp);
}

fn quicksorts<K: SortKey>(of: impl Fn(u64) -> K + Sync, order: impl Fn(&K, &K) -> Ordering + Sync) {
    for_lengths(LONG, |len| {
        for mut keys in inputs(len, &of) {
            let mut expected = keys.clone();
            expected.sort_by(&order);
            let levels = quicksort(&mut keys).unwrap();
            assert!(keys.iter().zip(&expected).all(|(a, b)| order(a, b).is_eq()), "{} keys", keys.len());
            // Twice the logarithm is what random pivots take; this is far beyond.
            assert!(levels <= 8 * (keys.len() + 2).ilog2() as usize, "{levels} levels for {} keys", keys.len());
        }
    });
}

#[test]
fn quicksort_sorts_in_few_levels_whatever_the_input() {
    quicksorts(|bits| bits as u8, u8::cmp);
    quicksorts(|bits| bits as u16, u16::cmp);
    quicksorts(|bits| bits as u32, u32::cmp);
    quicksorts(|bits| bits, u64::cmp);
    quicksorts(|bits| bits as i8, i8::cmp);
    quicksorts(|bits| bits as i16, i16::cmp);
    quicksorts(|bits| bits as i32, i32::cmp);
    quicksorts(|bits| bits as i64, i64::cmp);
    quicksorts(|bits| f32::from_bits(bits as u32), f32::total_cmp);
    quicksorts(f64::from_bits, f64::total_cmp);
}

#[test]
fn values_that_disagree_with_keys_are_refused_and_nothing_is_moved() {
    let (mut keys, mut values) = ([3, 1, 2], [0u8, 1]);
    let error = sort_with_values(&mut keys, &mut values, Order::Ascending).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "values", expected: 3, got: 2 }));
    assert_eq!((keys, values), ([3, 1, 2], [0, 1]));
    let mut places = [7; 2];
    let error = argsort_into(&keys, Order::Ascending, &mut places).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "places", expected: 3, got: 2 }));
    assert_eq!(places, [7; 2]);
}

/// Keys beyond what is sorted in a cache, most of them in one part of a split by the greatest digit, which is split again. They must be
/// in order, equal ones in order of their places, and each place must be there once.
#[test]
fn what_no_cache_holds_is_split_first() {
    for len in [140_000, 700_000, 2_200_000] {
        let mut random = generator(len);
        let keys: Vec<u64> = (0..len)
            .map(|_| match random.below(8u64) {
                0 => random.bits(),
                1 => 5 << 40,
                _ => 7 << 48 | random.below(1u64 << 44) & !0xff00,
            })
            .collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (places, sorted) = pool.install(|| {
                let mut sorted = keys.clone();
                sort(&mut sorted, Order::Ascending).unwrap();
                (argsort(&keys, Order::Descending).unwrap(), sorted)
            });
            let mut occurs = vec![false; len];
            places.iter().for_each(|&place| occurs[place as usize] = true);
            assert!(occurs.iter().all(|&occurs| occurs));
            let key = |place: u32| (std::cmp::Reverse(keys[place as usize]), place);
            assert!(places.windows(2).all(|pair| key(pair[0]) < key(pair[1])), "{len} keys, {threads} threads");
            let reversed = places.iter().rev().map(|&place| keys[place as usize]);
            assert!(sorted.iter().copied().eq(reversed), "{len} keys, {threads} threads");
        }
    }
}

/// Signed keys and floats, upwards and downwards, which become other numbers while they are sorted; of 2^22 full lines are stored.
#[test]
fn long_keys_of_any_kind_are_sorted_as_the_standard_library_sorts_them() {
    fn check<K: SortKey>(len: usize, of: impl Fn(u64) -> K, order: fn(&K, &K) -> Ordering) {
        let mut random = generator(len);
        let keys: Vec<K> = (0..len).map(|_| of(random.bits())).collect();
        let mut expected = keys.clone();
        expected.sort_unstable_by(order);
        for direction in [Order::Ascending, Order::Descending] {
            let mut sorted = keys.clone();
            sort(&mut sorted, direction).unwrap();
            assert!(sorted.iter().zip(&expected).all(|(a, b)| order(a, b).is_eq()), "{len} keys, {direction:?}");
            expected.reverse();
        }
    }
    in_pools(|| {
        check(140_000, |bits| f32::from_bits(bits as u32), f32::total_cmp);
        check(140_000, |bits| bits as i32, i32::cmp);
        check(140_000, f64::from_bits, f64::total_cmp);
        check(1_100_000, |bits| bits as i16, i16::cmp);
    });
    check(4_300_000, |bits| bits as i32, i32::cmp);
}
