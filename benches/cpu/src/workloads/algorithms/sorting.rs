//! Sorts of numbers beside radix sorts of other crates.

use std::cmp::Ordering;

use monoscan::algo::sort::{Order, SortKey, argsort, sort};
use rdst::RadixSort;

use super::super::Session;
use super::{Same, enter_ours, one_thread};
use crate::race::Field;
use crate::report::{Role, Row};
use bench_shared::data::column;

pub(in super::super) fn sort_u16(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    sorts(session, field, &column(56, len, |numbers| numbers.bits() as u16), u16::cmp)
}

pub(in super::super) fn sort_u32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    sorts(session, field, &column(40, len, |numbers| numbers.bits() as u32), u32::cmp)
}

pub(in super::super) fn sort_u64(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    sorts(session, field, &column(41, len, |numbers| numbers.bits()), u64::cmp)
}

pub(in super::super) fn sort_i32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    sorts(session, field, &column(57, len, |numbers| numbers.bits() as i32), i32::cmp)
}

pub(in super::super) fn sort_f32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    sorts(session, field, &column(58, len, |numbers| numbers.between(-1e6, 1e6) as f32), f32::total_cmp)
}

/// A hundred keys, which differ in all of their bytes.
pub(in super::super) fn sort_few(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let keys = column(59, 100, |numbers| numbers.bits() as u32);
    sorts(session, field, &column(60, len, |numbers| keys[numbers.below(100) as usize]), u32::cmp)
}

fn sorts<K: SortKey + radsort::Key + rdst::RadixKey>(
    session: &Session,
    field: Field<'_>,
    x: &[K],
    order: fn(&K, &K) -> Ordering,
) -> Vec<Row> {
    let mut expected = x.to_vec();
    expected.sort_unstable_by(order);
    let (y, pool) = (&Same::of(expected, x.len()), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "sort_unstable", 1), y, || y.holding(x).sort_unstable_by(order));
    enter_ours(&mut field, y, pool, || sort(&mut y.holding(x), Order::Ascending));
    field.enter((Role::Rival, "radsort", 1), y, || radsort::sort(&mut y.holding(x)));
    field.enter((Role::Rival, "rdst", 1), y, || y.holding(x).radix_sort_builder().with_parallel(false).sort());
    field.enter((Role::Rival, "rdst", 2), y, || y.holding(x).radix_sort_unstable());
    field.race(session.effort)
}

/// The places of random keys in order.
pub(in super::super) fn argsort_u32(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let x = &column(61, len, |numbers| numbers.bits() as u32)[..];
    let places = &(0..len as u32).collect::<Vec<u32>>()[..];
    let key = |place: &u32| x[*place as usize];
    let mut expected = places.to_vec();
    expected.sort_by_key(key);
    let (y, pool) = (&Same::of(expected, len), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "sort_by_key", 1), y, || y.holding(places).sort_by_key(key));
    enter_ours(&mut field, y, pool, || argsort(x, Order::Ascending).map(|places| *y.write() = places));
    field.enter((Role::Rival, "radsort", 1), y, || radsort::sort_by_key(&mut y.holding(places), key));
    field.enter((Role::Rival, "radsort, keys in a cache", 1), y, || {
        radsort::sort_by_cached_key(&mut y.holding(places), key);
    });
    field.race(session.effort)
}
