//! Sorts of numbers beside radix sorts of other crates.

use std::cmp::Ordering;

use monoscan::algo::sort::{Order, SortKey, argsort, sort};
use rdst::RadixSort;

use super::super::Session;
use super::{Same, enter_ours, one_thread};
use crate::race::Field;
use crate::report::{Role, Row};
use bench_shared::data::column;

macro_rules! sorts {
    ($($name:ident $order:ident: $seed:literal, |$numbers:ident| $key:expr, $compare:expr;)*) => {$(
        pub(in super::super) fn $name(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
            sorts(session, field, &column($seed, len, |$numbers| $key), Order::$order, $compare)
        }
    )*};
}

sorts! {
    sort_u8 Ascending: 62, |numbers| numbers.bits() as u8, u8::cmp;
    sort_u16 Ascending: 56, |numbers| numbers.bits() as u16, u16::cmp;
    sort_u32 Ascending: 40, |numbers| numbers.bits() as u32, u32::cmp;
    sort_u64 Ascending: 41, |numbers| numbers.bits(), u64::cmp;
    sort_i8 Ascending: 63, |numbers| numbers.bits() as i8, i8::cmp;
    sort_i16 Ascending: 64, |numbers| numbers.bits() as i16, i16::cmp;
    sort_i32 Ascending: 57, |numbers| numbers.bits() as i32, i32::cmp;
    sort_i64 Ascending: 65, |numbers| numbers.bits() as i64, i64::cmp;
    sort_f32 Ascending: 58, |numbers| numbers.between(-1e6, 1e6) as f32, f32::total_cmp;
    sort_f64 Ascending: 66, |numbers| numbers.between(-1e6, 1e6), f64::total_cmp;
    sort_f64_descending Descending: 66, |numbers| numbers.between(-1e6, 1e6), f64::total_cmp;
}

/// A hundred keys, which differ in all of their bytes.
pub(in super::super) fn sort_few(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let keys = column(59, 100, |numbers| numbers.bits() as u32);
    sorts(session, field, &column(60, len, |numbers| keys[numbers.below(100) as usize]), Order::Ascending, u32::cmp)
}

/// The crates sort upwards: what they sorted is reversed where it is to fall.
fn sorts<K: SortKey + radsort::Key + rdst::RadixKey>(
    session: &Session,
    field: Field<'_>,
    x: &[K],
    order: Order,
    compare: fn(&K, &K) -> Ordering,
) -> Vec<Row> {
    let falls = order == Order::Descending;
    let by = move |a: &K, b: &K| if falls { compare(b, a) } else { compare(a, b) };
    let sorted_by = move |y: &mut [K], sort: &dyn Fn(&mut [K])| {
        sort(y);
        if falls {
            y.reverse();
        }
    };
    let mut expected = x.to_vec();
    expected.sort_unstable_by(by);
    let (y, pool) = (&Same::of(expected, x.len()), &one_thread());
    let mut field = field;
    field.enter((Role::Baseline, "sort_unstable", 1), y, || y.holding(x).sort_unstable_by(by));
    enter_ours(&mut field, y, pool, || sort(&mut y.holding(x), order));
    field.enter((Role::Rival, "radsort", 1), y, || sorted_by(&mut y.holding(x), &|y| radsort::sort(y)));
    field.enter((Role::Rival, "rdst", 1), y, || {
        sorted_by(&mut y.holding(x), &|y| y.radix_sort_builder().with_parallel(false).sort());
    });
    field.enter((Role::Rival, "rdst", 2), y, || sorted_by(&mut y.holding(x), &|y| y.radix_sort_unstable()));
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
