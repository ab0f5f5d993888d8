//! Every monoid of the zoo through every entry point of [`Scan`], at sizes around every boundary of
//! its plan, on one and several threads, against the user's own Rust function folded sequentially.

mod refused;

use monoscan::prelude::*;
use monoscan::{Error, PlanOptions, Representation};
use scan_kit::Random;
use scan_kit::zoo::*;
use std::fmt::Debug;

/// Tiles of 3 strips of 4 blocks of 8 records: small, so that a few hundred records are many tiles.
const SMALL_TILES: PlanOptions = PlanOptions {
    interleave: Some(4),
    block: Some(8),
    strips: Some(3),
    direct: Some(10),
    vector: None,
    streaming: None,
    native: None,
};
const STRIP: usize = 32;
const TILE: usize = 96;

const SIZES: &[usize] = &[
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    10,
    11,
    12,
    17,
    STRIP - 1,
    STRIP,
    STRIP + 1,
    STRIP + 4,
    TILE - 1,
    TILE,
    TILE + 1,
    TILE + 5,
    2 * TILE,
    3 * TILE - 1,
    10 * TILE,
    1000,
    4099,
];

/// Plans that put boundaries at other places, and the one that the planner chooses.
fn plans() -> [PlanOptions; 4] {
    let odd =
        PlanOptions { interleave: Some(2), block: Some(7), strips: Some(2), direct: Some(0), ..PlanOptions::default() };
    let single =
        PlanOptions { interleave: Some(1), block: Some(5), strips: Some(1), direct: Some(1), ..PlanOptions::default() };
    [SMALL_TILES, odd, single, PlanOptions::default()]
}

fn fold<M: Monoid>(xs: &[M]) -> (Vec<M>, Vec<M>) {
    let mut state = M::identity();
    let mut before = Vec::new();
    let mut after = Vec::new();
    for &x in xs {
        before.push(state);
        state = state.combine(x);
        after.push(state);
    }
    (before, after)
}

/// All entry points, plans, sizes and thread counts; `same` compares a result with the sequential fold's.
fn check<M: Monoid + Debug>(seed: u64, make: impl Fn(&mut Random, usize) -> M, same: impl Fn(&M, &M) -> bool) {
    let mut random = Random(seed);
    let xs: Vec<M> = (0..*SIZES.last().unwrap()).map(|i| make(&mut random, i)).collect();
    for plan in plans() {
        for threads in [1, 2, 5] {
            let scan = Scan::<M>::builder().plan(plan.clone()).threads(threads).build().unwrap();
            for &n in SIZES {
                let xs = &xs[..n];
                let (before, after) = fold(xs);
                let matches = |got: &[M], expected: &[M]| {
                    assert_eq!(got.len(), n);
                    let wrong = (0..n).find(|&i| !same(&got[i], &expected[i]));
                    if let Some(i) = wrong {
                        panic!("{plan:?}, {threads} threads, n = {n}, element {i}: {:?} for {:?}", got[i], expected[i]);
                    }
                };
                matches(&scan.inclusive(xs).unwrap(), &after);
                matches(&scan.exclusive(xs).unwrap(), &before);
                let mut output = vec![M::identity(); n];
                scan.inclusive_into(xs, &mut output).unwrap();
                matches(&output, &after);
                scan.exclusive_into(xs, &mut output).unwrap();
                matches(&output, &before);
            }
        }
    }
}

fn exactly<M: PartialEq>(a: &M, b: &M) -> bool {
    a == b
}

#[test]
fn order_is_kept() {
    check(1, |r, _| Bicyclic { closing: r.below(3) as u32, opening: r.below(3) as u32 }, exactly);
}

#[test]
fn only_neighbours_are_combined_and_each_once() {
    let make = |_: &mut Random, i| Interval { empty: false, start: i as u32, end: i as u32 + 1, broken: 0 };
    check(2, make, exactly);
}

#[test]
fn matrices_do_not_commute() {
    check(
        3,
        |r, _| Matrix::<2> { m: [[r.bits() as u32, r.bits() as u32], [r.bits() as u32, r.bits() as u32]] },
        exactly,
    );
}

#[test]
fn hashes_of_strings_are_those_of_the_loop() {
    check(4, |r, _| Hash { hash: r.below(256), power: 1_000_003 }, exactly);
}

#[test]
fn ties_keep_the_leftmost() {
    check(5, |r, i| ArgMax { value: r.below(5) as i16, place: i as u32 }, exactly);
}

#[test]
fn nested_wrappers_restart_where_they_should() {
    let make = |r: &mut Random, _| Segmented {
        start: r.below(20) == 0,
        value: Segmented { start: r.below(5) == 0, value: Hash { hash: r.below(256), power: 31 } },
    };
    check(6, make, exactly);
}

#[test]
fn carries_ripple_through_whole_tiles() {
    check(7, |r, _| Carry { generate: r.below(40) == 0, propagate: r.below(8) != 0 }, exactly);
}

#[test]
fn states_of_128_bytes_are_carried() {
    check(8, |r, _| Wide { sums: std::array::from_fn(|_| r.bits()) }, exactly);
}

#[test]
fn floats_are_close_to_the_sequential_loop() {
    let make = |r: &mut Random, _| Affine { a: r.below(1000) as f64 / 1000.0, b: r.below(1000) as f64 / 500.0 - 1.0 };
    let close = |x: &Affine<f64>, y: &Affine<f64>| (x.a - y.a).abs() <= 1e-12 && (x.b - y.b).abs() <= 1e-12;
    check(9, make, close);
}

#[test]
fn floats_are_the_same_bits_for_any_number_of_threads() {
    let mut r = Random(10);
    let xs: Vec<Affine<f32>> = (0..5000)
        .map(|_| Affine { a: 0.5 + r.below(1000) as f32 / 1000.0, b: r.below(1000) as f32 / 500.0 - 1.0 })
        .collect();
    let run = |threads| {
        let scan = Scan::<Affine<f32>>::builder().plan(SMALL_TILES).threads(threads).build().unwrap();
        scan.inclusive(&xs).unwrap().iter().map(|x| (x.a.to_bits(), x.b.to_bits())).collect::<Vec<_>>()
    };
    let alone = run(1);
    for threads in [2, 3, 8] {
        for _ in 0..20 {
            assert_eq!(run(threads), alone);
        }
    }
}

#[scan_fn]
fn step(a: f32, b: f32) -> Affine<f32> {
    Affine { a, b }
}

#[scan_fn]
fn value(state: Affine<f32>) -> f32 {
    state.b
}

#[test]
fn columns_are_lifted_and_the_state_is_projected() {
    let solve = Scan::<Affine<f32>>::builder().lift(step {}).project(value {}).plan(SMALL_TILES).build().unwrap();
    for n in [0, 1, 63, 64, 1000] {
        let a: Vec<f32> = (0..n).map(|i| (i % 3) as f32 * 0.5).collect();
        let b: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
        let mut y = 0.0f32;
        let expected: Vec<f32> = a
            .iter()
            .zip(&b)
            .map(|(a, b)| {
                y = a * y + b;
                y
            })
            .collect();
        // Halves and small integers: exact in any association.
        assert_eq!(solve.inclusive((&a, &b)).unwrap(), expected);
        let shifted: Vec<f32> = [0.0].into_iter().chain(expected).take(n).collect();
        assert_eq!(solve.exclusive((&a[..], &b[..])).unwrap(), shifted);
    }
}

#[test]
fn an_output_may_read_the_record_and_a_lift_a_table() {
    #[scan_fn]
    fn weigh(weights: Table<u32>, byte: u8) -> Sum {
        Sum { total: weights.get(byte as u32) }
    }
    #[scan_fn]
    fn beside(state: Sum, byte: u8) -> (u32, u8) {
        (state.total, byte)
    }
    let weights: Vec<u32> = (0..100).map(|i| i * i).collect();
    let scan =
        Scan::<Sum>::builder().lift(weigh {}.with_table(&weights)).project_with_record(beside {}).build().unwrap();
    // 255 is past the end of the table, and reads its last element.
    assert_eq!(scan.inclusive(&[3u8, 255, 2]).unwrap(), [(9, 3), (9 + 9801, 255), (9 + 9801 + 4, 2)]);
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sum {
    total: u32,
}

#[scan_monoid]
impl Monoid for Sum {
    fn identity() -> Self {
        Sum { total: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Sum { total: self.total.wrapping_add(next.total) }
    }
}

#[test]
fn records_may_be_padded_and_slices_start_anywhere() {
    #[derive(ScanType, Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Padded {
        flag: bool,
        amount: u32,
        small: u8,
    }
    let lift = scan!(|x: Padded| -> Sum { Sum { total: if x.flag { x.amount } else { x.small as u32 } } });
    let scan = Scan::<Sum>::builder().lift(lift).plan(SMALL_TILES).build().unwrap();
    let xs: Vec<Padded> = (0..300).map(|i| Padded { flag: i % 3 == 0, amount: i * 1000, small: i as u8 }).collect();
    for start in 0..5 {
        let mut total = 0u32;
        let expected: Vec<Sum> = xs[start..]
            .iter()
            .map(|x| {
                total = total.wrapping_add(if x.flag { x.amount } else { x.small as u32 });
                Sum { total }
            })
            .collect();
        assert_eq!(scan.inclusive(&xs[start..]).unwrap(), expected);
    }
}

#[test]
fn a_scan_can_be_looked_at_at_every_stage() {
    let scan = Scan::<Hash>::new().unwrap();
    let words = ["proved", "polynomial", "runs:", "expected:", "bound by", "bytes", "results:"];
    for (explained, words) in
        [(scan.explain(), &words[..]), (scan.explain_verbose(), &["proved", "runs:", "work", "depth"])]
    {
        for word in words {
            assert!(explained.to_lowercase().contains(word), "no {word:?} in\n{explained}");
        }
    }
    assert!(!scan.explain().contains("depth:"), "details are for `explain_verbose`");
    assert!(scan.emit(Representation::Ir).contains("mul.u64"));
    assert!(scan.emit(Representation::Clif).contains("imul"));
    assert!(!scan.emit(Representation::Asm).is_empty());
}

#[test]
fn a_scan_runs_inside_a_pool_of_one_thread() {
    let scan = Scan::<Hash>::builder().plan(SMALL_TILES).threads(4).build().unwrap();
    let xs: Vec<Hash> = (0..5000).map(|i| Hash { hash: i % 251, power: 31 }).collect();
    let expected = fold(&xs).1;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| scan.inclusive(&xs)).unwrap(), expected);
}
