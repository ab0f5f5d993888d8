//! Associative operators on random types in every kind of call: in one pass, and in tiles that two
//! threads share; over several columns, with parameters, and given up.
//!
//! The oracle is the interpreter, element after element.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use monoscan::lang::to_constants;
use monoscan::{Error, PlanOptions, Rows, by_key, prelude::*};
use scan_kit::Random;

use super::plan;
use super::typed::{Folded, any};

/// How a call may go: in one pass, by the functions; in tiles of 32 elements, whose passes with a known carry are theirs; and in tiles by
/// generated code alone.
pub(super) fn plans() -> [PlanOptions; 3] {
    let tiles = |native| PlanOptions { direct: Some(0), block: Some(8), strips: Some(1), ..plan(native) };
    [
        plan(true),
        PlanOptions { interleave: Some(4), ..tiles(true) },
        PlanOptions { interleave: Some(4), ..tiles(false) },
    ]
}

/// Tests of an operator over columns of flags and numbers, with parameters: `lift` makes a state of them.
macro_rules! tests {
    ($t:ident) => {
        #[test]
        fn each_kind_of_call() {
            super::compare(|random| lifted(any_two(random), random.below(4) == 0, any!(random, $t)));
            let small = |random: &mut Random| (random.below(3) as $t, random.below(2) as $t);
            super::compare(|random| lifted(small(random), random.below(4) == 0, random.below(4) as $t));
        }

        #[test]
        fn columns_and_parameters() {
            let mut random = Random(3);
            let len = 300;
            let [flags, heads] = [5, 11].map(|often| (0..len).map(|_| random.below(often) == 0).collect::<Vec<bool>>());
            let x: Vec<$t> = (0..len).map(|_| any!(random, $t)).collect();
            let records = Scan::<Of>::builder().assume_associative().build().unwrap();
            for plan in super::plans() {
                let builder = Scan::<Of>::builder().lift_with((1 as $t, 2 as $t), lifted {});
                let scan = builder.assume_associative().plan(plan).threads(2).build().unwrap();
                for _ in 0..3 {
                    let weights = any_two(&mut random);
                    let scan = scan.with(weights).unwrap();
                    let states: Vec<Of> = flags.iter().zip(&x).map(|(&flag, &x)| lifted(weights, flag, x)).collect();
                    let line = Folded::new(&records, &states, |_| false);
                    line.check(&scan.inclusive((&flags, &x)).unwrap(), &scan.exclusive((&flags, &x)).unwrap());
                    assert!(line.is_total(&scan.reduce((&flags, &x)).unwrap()));
                    let segments = || scan.segmented(&heads);
                    let [one, other] = [segments().inclusive((&flags, &x)), segments().exclusive((&flags, &x))];
                    Folded::new(&records, &states, |place| heads[place]).check(&one.unwrap(), &other.unwrap());
                    let rows = || scan.axis(&[len / 2, 2], 1);
                    let [one, other] = [rows().inclusive((&flags, &x)), rows().exclusive((&flags, &x))];
                    Folded::new(&records, &states, |place| place % 2 == 0).check(&one.unwrap(), &other.unwrap());
                }
            }
        }

        fn any_two(random: &mut Random) -> ($t, $t) {
            (any!(random, $t), any!(random, $t))
        }
    };
}

/// Affine maps, whose products and sums overflow: functions panic there, as these tests are built.
macro_rules! affine {
    ($($name:ident: $t:ident;)*) => {$(
        mod $name {
            use super::*;

            #[scan_monoid]
            #[derive(Clone, Copy, Debug, PartialEq)]
            struct Of {
                a: $t,
                b: $t,
            }

            #[scan_monoid]
            impl Monoid for Of {
                fn identity() -> Self {
                    Of { a: 1 as $t, b: 0 as $t }
                }
                fn combine(self, next: Self) -> Self {
                    Of { a: self.a * next.a, b: self.b * next.a + next.b }
                }
            }

            #[scan_fn]
            fn lifted(weights: ($t, $t), flag: bool, x: $t) -> Of {
                Of { a: if flag { weights.0 } else { 1 as $t }, b: x ^ weights.1 }
            }

            tests! { $t }
        }
    )*};
}

/// The latest number that was flagged, any bits of it, and a count since then that overflows.
macro_rules! latest {
    ($($name:ident: $t:ident;)*) => {$(
        mod $name {
            use super::*;

            #[scan_monoid]
            #[derive(Clone, Copy, Debug, PartialEq)]
            struct Of {
                is_set: bool,
                x: $t,
                count: u16,
            }

            #[scan_monoid]
            impl Monoid for Of {
                fn identity() -> Self {
                    Of { is_set: false, x: 0 as $t, count: 0 }
                }
                fn combine(self, next: Self) -> Self {
                    let (x, count) = if next.is_set { (next.x, next.count) } else { (self.x, self.count + next.count) };
                    Of { is_set: self.is_set | next.is_set, x, count }
                }
            }

            #[scan_fn]
            fn lifted(weights: ($t, $t), flag: bool, x: $t) -> Of {
                let weighed = if x < weights.0 { x } else { weights.1 };
                Of { is_set: flag, x: if flag { weighed } else { 0 as $t }, count: 9999 }
            }

            tests! { $t }
        }
    )*};
}

affine! { affine_u8: u8; affine_i16: i16; affine_u32: u32; affine_i64: i64; }
latest! { latest_f32: f32; latest_f64: f64; latest_i8: i8; }

const LENGTHS: [usize; 4] = [0, 1, 63, 300];

fn compare<M: Monoid + Debug + PartialEq>(make: impl Fn(&mut Random) -> M) {
    let mut random = Random(11);
    for plan in plans() {
        let builder = Scan::<M>::builder().assume_associative().plan(plan).threads(2);
        let scan = builder.build().unwrap();
        for len in LENGTHS {
            let x: Vec<M> = (0..len).map(|_| make(&mut random)).collect();
            line(&scan, &x);
            segments(&scan, &x, &mut random);
            (0..3).for_each(|axis| along(&scan, &x, axis));
        }
    }
}

/// A line into new memory, in place, resumed, reduced and given up.
fn line<M: Monoid + Debug + PartialEq>(scan: &Scan<M>, x: &[M]) {
    let line = Folded::new(scan, x, |_| false);
    line.check(&scan.inclusive(x).unwrap(), &scan.exclusive(x).unwrap());
    assert!(line.is_total(&scan.reduce(x).unwrap()));
    let mut replaced = [x.to_vec(), x.to_vec()];
    scan.inclusive_in_place(&mut replaced[0]).unwrap();
    scan.exclusive_in_place(&mut replaced[1]).unwrap();
    line.check(&replaced[0], &replaced[1]);

    let Some((&first, rest)) = x.split_first() else { return };
    let resumed = Folded::from(scan, to_constants(&first), rest, |_| false);
    let [not_set, set] = [false, true].map(AtomicBool::new);
    let mut carry = first;
    let given_up = scan.resuming(&mut carry).interrupted_by(&set).inclusive(rest);
    assert!(matches!(given_up, Err(Error::Interrupted)) && carry == first, "the carry is as it was");
    let inclusive = scan.resuming(&mut carry).interrupted_by(&not_set).inclusive(rest).unwrap();
    assert!(resumed.is_total(&carry));
    resumed.check(&inclusive, &scan.init(first).exclusive(rest).unwrap());
}

/// Segments by flags, by offsets and by keys.
fn segments<M: Monoid + Debug + PartialEq>(scan: &Scan<M>, x: &[M], random: &mut Random) {
    let often = [2, 9, 90][random.below(3) as usize];
    let heads: Vec<bool> = x.iter().map(|_| random.below(often) == 0).collect();
    let keys: Vec<usize> = heads
        .iter()
        .scan(0, |key, &head| {
            *key += usize::from(head);
            Some(*key)
        })
        .collect();
    let mut offsets: Vec<usize> = (0..x.len()).filter(|&place| place == 0 || heads[place]).collect();
    offsets.push(x.len());
    let folded = Folded::new(scan, x, |place| heads[place]);
    let by_keys = || scan.segmented(by_key(&keys));
    let requests = || [scan.segmented(&heads), scan.segmented(&offsets), by_keys()];
    for (one, other) in requests().into_iter().zip(requests()) {
        folded.check(&one.inclusive(x).unwrap(), &other.exclusive(x).unwrap());
    }
    let are_totals = |totals: Vec<M>, parts: &mut dyn Iterator<Item = &[M]>| {
        for total in totals {
            assert!(Folded::new(scan, parts.next().unwrap(), |_| false).is_total(&total));
        }
        assert!(parts.next().is_none());
    };
    let between = |offsets: &[usize]| offsets.windows(2).map(|ends| &x[ends[0]..ends[1]]).collect::<Vec<_>>();
    are_totals(by_keys().totals(x).unwrap(), &mut between(&offsets).into_iter().filter(|part| !part.is_empty()));
    // Empty ones too, and one that is long.
    let some = offsets.iter().copied().filter(|offset| offset % 5 != 0 || [0, x.len()].contains(offset));
    let offsets: Vec<usize> = some.flat_map(|offset| std::iter::repeat_n(offset, 1 + offset % 3)).collect();
    are_totals(scan.segmented(&offsets).totals(x).unwrap(), &mut between(&offsets).into_iter());
    for (len, pitch) in [(1, 1), (3, 4), (8, 8), (40, 50)] {
        let rows = Rows::new(x.len() / pitch, len, pitch).unwrap();
        are_totals(scan.rows(rows).totals(x).unwrap(), &mut x.chunks_exact(pitch).map(|row| &row[..len]));
    }
}

/// Rows along an axis of an array of 3 × n × 2 records.
fn along<M: Monoid + Debug + PartialEq>(scan: &Scan<M>, x: &[M], axis: usize) {
    let shape = [3, x.len() / 6, 2];
    let x = &x[..shape.iter().product()];
    let apart: usize = shape[axis + 1..].iter().product();
    let len = shape[axis];
    // Where the records of each row are, row after row.
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by_key(|&place| (place / (apart * len).max(1), place % apart, place));
    let in_order = |records: Vec<M>| order.iter().map(|&place| records[place]).collect::<Vec<M>>();
    let folded = Folded::new(scan, &in_order(x.to_vec()), |place| place % len == 0);
    let rows = || scan.axis(&shape, axis);
    folded.check(&in_order(rows().inclusive(x).unwrap()), &in_order(rows().exclusive(x).unwrap()));
}
