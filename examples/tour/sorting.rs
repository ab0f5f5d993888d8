//! Sorting.

use std::cmp::Reverse;

use monoscan::algo::sort::{Order, argsort, quicksort, sort, sort_with_values};
use monoscan::algo::split::{split_by_bit, split_by_digit};

use crate::common::Failure;
use crate::{Table, drawn};

pub(crate) fn sorting(table: &Table) -> Result<(), Failure> {
    let x: Vec<u32> = drawn(table.records, 1, |bits| bits as u32);
    let floats: Vec<f64> = drawn(table.records, 2, |bits| bits as f64 - 1e19);

    fn done<T, E>(mut x: Vec<T>, sort: impl Fn(&mut [T]) -> Result<(), E>) -> Result<Vec<T>, E> {
        sort(&mut x)?;
        Ok(x)
    }
    let sorted = || {
        let mut x = x.clone();
        x.sort_unstable();
        x
    };
    table.line(
        ("sort::sort u32", ["7 n", "1", "4"]),
        || done(x.clone(), |x| sort(x, Order::Ascending)),
        ("sort_unstable", sorted),
    )?;
    table.line(
        ("sort::sort u32 descending", ["7 n", "1", "4"]),
        || done(x.clone(), |x| sort(x, Order::Descending)),
        ("sort_unstable_by_key", || {
            let mut x = x.clone();
            x.sort_unstable_by_key(|&x| Reverse(x));
            x
        }),
    )?;
    let parted = |digit: fn(u32) -> u32, digits: u32| {
        (0..digits).flat_map(|own| x.iter().copied().filter(move |&x| digit(x) == own)).collect::<Vec<u32>>()
    };
    table.line(
        ("split::split_by_bit", ["2 n", "1", "2"]),
        || split_by_bit(&x, 3).map(|(parts, _)| parts),
        ("two filters", || parted(|x| x >> 3 & 1, 2)),
    )?;
    table.line(
        ("split::split_by_digit", ["2 n", "1", "2"]),
        || split_by_digit(&x, 4..7).map(|(parts, _)| parts),
        ("eight filters", || parted(|x| x >> 4 & 7, 8)),
    )?;
    table.line(
        ("sort::sort f64", ["11 n", "1", "4"]),
        || done(floats.clone(), |x| sort(x, Order::Ascending)),
        ("sort_unstable_by", || {
            let mut x = floats.clone();
            x.sort_unstable_by(f64::total_cmp);
            x
        }),
    )?;
    let by_key = || {
        let mut places: Vec<u32> = (0..x.len() as u32).collect();
        places.sort_by_key(|&place| x[place as usize]);
        places
    };
    table.line(("sort::argsort u32", ["9 n", "1", "6"]), || argsort(&x, Order::Ascending), ("sort_by_key", by_key))?;
    table.line(
        ("sort::sort_with_values", ["9 n", "1", "6"]),
        || {
            let (mut keys, mut places) = (x.clone(), (0..x.len() as u32).collect::<Vec<_>>());
            sort_with_values(&mut keys, &mut places, Order::Ascending).map(|()| places)
        },
        ("sort_by_key", by_key),
    )?;
    table.line(
        ("sort::quicksort", ["5 n log n", "3 log n", "5 log n"]),
        || done(x.clone(), |x| quicksort(x).map(drop)),
        ("sort_unstable", sorted),
    )
}
