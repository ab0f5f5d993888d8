//! Sorts of numbers of all types. A result is right if neighbours are in order, each with the
//! place that it came from, and equal ones in the order of their places: such places are all of
//! them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Debug;

use monoscan::algo::on_gpu::{self, Workspace};
use monoscan::algo::sort::{Order, SortKey};
use monoscan::prelude::*;
use scan_kit::Random;

use super::{drawn, here, lengths, pair, same, there, with_random};

/// The order of keys; NaN equals itself in it.
type Compare<K> = fn(&K, &K) -> Ordering;

/// Drawn keys, few different ones, all alike but for the last, and some that are in order.
fn inputs<K: SortKey>(random: &mut Random, len: usize, of: fn(u64) -> K) -> Vec<Vec<K>> {
    let drawn_keys = drawn(random, len, of);
    let few = drawn(random, len, |bits| of(((bits % 3) << 40) | ((bits >> 20) & 1)));
    let mut same = vec![of(1 << 20); len];
    same.iter_mut().rev().take(1).for_each(|last| *last = of(3));
    let rising: Vec<K> = (0..len as u64).map(of).collect();
    let falling = rising.iter().rev().copied().collect();
    vec![drawn_keys, few, same, rising, falling]
}

/// Whether these places put the keys in order, stably.
#[track_caller]
fn check_places<K: SortKey + Debug>(keys: &[K], places: &[u32], order: Order, compare: Compare<K>) {
    assert_eq!(places.len(), keys.len());
    assert!(places.iter().all(|&place| (place as usize) < keys.len()));
    for two in places.windows(2) {
        let [a, b] = [two[0], two[1]].map(|place| &keys[place as usize]);
        let by_key = if order == Order::Ascending { compare(a, b) } else { compare(b, a) };
        assert!(by_key.then(two[0].cmp(&two[1])).is_lt(), "{a:?} of {} before {b:?} of {}", two[0], two[1]);
    }
}

fn sorts<K: SortKey + Debug, V: ScanType + PartialEq + Debug>(
    random: &mut Random,
    (of, compare): (fn(u64) -> K, Compare<K>),
    value: fn(u64) -> V,
) {
    let mut space = Workspace::new();
    for len in lengths(random) {
        let values = drawn(random, len, value);
        for keys in inputs(random, len, of) {
            for order in [Order::Ascending, Order::Descending] {
                let (dkeys, dvalues) = (there(&keys), there(&values));
                let places = here(on_gpu::argsort(&dkeys, order).unwrap());
                check_places(&keys, &places, order, compare);
                let mut again = there(&vec![7u32; len]);
                space.argsort_into(&dkeys, order, &mut again).unwrap();
                same(&here(again), &places);
                let is_sorted = |sorted: &[K]| {
                    let equal = |(a, &place): (&K, &u32)| compare(a, &keys[place as usize]).is_eq();
                    assert!(sorted.len() == len && sorted.iter().zip(&places).all(equal), "{len} {order:?}");
                };
                let moved: Vec<V> = places.iter().map(|&place| values[place as usize]).collect();
                let (mut sorted, mut sorted_too) = (dkeys.copied().unwrap(), dkeys.copied().unwrap());
                on_gpu::sort(&mut sorted, order).unwrap();
                space.sort(&mut sorted_too, order).unwrap();
                is_sorted(&here(sorted));
                is_sorted(&here(sorted_too));
                let (mut sorted, mut along) = (dkeys.copied().unwrap(), dvalues.copied().unwrap());
                on_gpu::sort_with_values(&mut sorted, &mut along, order).unwrap();
                is_sorted(&here(sorted));
                same(&here(along), &moved);
                let (mut sorted, mut along) = (dkeys, dvalues);
                space.sort_with_values(&mut sorted, &mut along, order).unwrap();
                is_sorted(&here(sorted));
                same(&here(along), &moved);
            }
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn unsigned_numbers_are_sorted() {
    with_random(|random| {
        sorts(random, (|bits| bits as u8, Ord::cmp), |bits| bits as u32);
        sorts(random, (|bits| bits as u16, Ord::cmp), |bits| bits);
        sorts(random, (|bits| bits as u32, Ord::cmp), |bits| (bits as u32, bits as u16));
        sorts(random, (|bits| bits, Ord::cmp), |bits| bits as i32);
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn signed_numbers_are_sorted() {
    with_random(|random| {
        sorts(random, (|bits| bits as i8, Ord::cmp), |bits| bits as f64);
        sorts(random, (|bits| bits as i16, Ord::cmp), |bits| bits as u8);
        sorts(random, (|bits| bits as i32, Ord::cmp), |bits| bits);
        sorts(random, (|bits| bits as i64, Ord::cmp), |bits| bits as u32);
    });
}

/// Any bits: NaN of both signs, infinities and zeros among them.
#[test]
#[ignore = "needs a CUDA device"]
fn floats_are_sorted_by_their_total_order() {
    with_random(|random| {
        sorts(random, (|bits| f32::from_bits(bits as u32), f32::total_cmp), |bits| bits as i32);
        sorts(random, (f64::from_bits, f64::total_cmp), |bits| bits as i64);
    });
}

/// So many that a block of a kernel takes several tiles.
#[test]
#[ignore = "needs a CUDA device"]
fn many_numbers_are_sorted() {
    with_random(|random| {
        let keys = drawn(random, 40_000_000, |bits| bits as u32);
        let dkeys = there(&keys);
        check_places(&keys, &here(on_gpu::argsort(&dkeys, Order::Descending).unwrap()), Order::Descending, Ord::cmp);
        let mut sorted = dkeys;
        let mut places = there(&(0..keys.len() as u32).collect::<Vec<_>>());
        on_gpu::sort_with_values(&mut sorted, &mut places, Order::Ascending).unwrap();
        let (sorted, places) = (here(sorted), here(places));
        check_places(&keys, &places, Order::Ascending, Ord::cmp);
        assert!(sorted.iter().zip(&places).all(|(key, &place)| *key == keys[place as usize]));
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn values_are_counted() {
    fn counts<K: SortKey + Ord + Debug>(x: &[K]) {
        let mut expected = BTreeMap::new();
        x.iter().for_each(|&x| *expected.entry(x).or_insert(0u32) += 1);
        let (values, counts) = pair(on_gpu::histogram(&there(x)).unwrap());
        same(&values, &expected.keys().copied().collect::<Vec<_>>());
        same(&counts, &expected.values().copied().collect::<Vec<_>>());
    }
    with_random(|random| {
        for len in lengths(random) {
            counts(&drawn(random, len, |bits| bits as u8));
            counts(&drawn(random, len, |bits| bits as i8));
            counts(&drawn(random, len, |bits| bits as i16));
            counts(&drawn(random, len, |bits| (bits % 5) as i64 - 2));
            counts(&vec![random.bits(); len]);
        }
    });
}
