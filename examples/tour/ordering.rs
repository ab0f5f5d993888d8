//! Selecting, runs and sorting.

use monoscan::algo::sort::{Order, argsort, quicksort, sort, sort_with_values};
use monoscan::algo::{runs, select};

use crate::common::Failure;
use crate::{Table, drawn};

pub(crate) fn ordering(table: &Table) -> Result<(), Failure> {
    let x: Vec<u32> = drawn(table.records, 1, |bits| bits as u32);
    let floats: Vec<f64> = drawn(table.records, 2, |bits| bits as f64 - 1e19);
    let flags: Vec<bool> = drawn(table.records, 3, |bits| bits & 1 == 1);
    let mut value = 0;
    let repeated = |bits: u64| {
        value = if bits.is_multiple_of(4) { bits as u32 >> 24 } else { value };
        value
    };
    let few: Vec<u32> = drawn(table.records, 4, |bits| bits).into_iter().map(repeated).collect();

    let flagged = || x.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(x, _)| *x).collect::<Vec<_>>();
    table.line(("select", ["n", "1", "1"]), || select::select(&x, &flags), ("filter", flagged))?;
    table.line(
        ("partition", ["n", "1", "2"]),
        || select::partition(&x, &flags),
        ("two filters", || {
            let kept = flagged();
            let others = x.iter().zip(&flags).filter(|(_, flag)| !**flag).map(|(x, _)| *x);
            let len = kept.len();
            (kept.into_iter().chain(others).collect(), len)
        }),
    )?;
    let (values, lengths) = runs::encode(&few)?;
    table.line(
        ("run-length encode", ["n", "1", "1"]),
        || runs::encode(&few),
        ("chunk_by", || few.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).unzip()),
    )?;
    table.line(
        ("run-length decode", ["n", "1", "2"]),
        || runs::decode(&values, &lengths),
        ("extend", || {
            let runs = values.iter().zip(&lengths);
            runs.flat_map(|(value, length)| std::iter::repeat_n(*value, *length as usize)).collect()
        }),
    )?;
    table.line(
        ("unique", ["n", "1", "1"]),
        || runs::unique(&few),
        ("dedup", || {
            let mut few = few.clone();
            few.dedup();
            few
        }),
    )?;

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
        ("radix sort u32", ["4 n", "1", "6"]),
        || done(x.clone(), |x| sort(x, Order::Ascending)),
        ("sort_unstable", sorted),
    )?;
    table.line(
        ("radix sort f64", ["8 n", "1", "10"]),
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
    table.line(("argsort u32", ["4 n", "1", "8"]), || argsort(&x, Order::Ascending), ("sort_by_key", by_key))?;
    table.line(
        ("sort with values", ["4 n", "1", "8"]),
        || {
            let (mut keys, mut places) = (x.clone(), (0..x.len() as u32).collect::<Vec<_>>());
            sort_with_values(&mut keys, &mut places, Order::Ascending).map(|()| places)
        },
        ("sort_by_key", by_key),
    )?;
    table.line(
        ("quicksort by scans", ["n log n", "log n", "6 log n"]),
        || done(x.clone(), |x| quicksort(x).map(drop)),
        ("sort_unstable", sorted),
    )
}
