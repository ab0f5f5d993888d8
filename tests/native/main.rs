//! One pass by the user's own functions: it is taken where they give the same bits, and gives them
//! also where they panic.

mod calls;
mod contests;
mod elements;
mod long;
mod typed;

use std::cell::Cell;
use std::fmt::Debug;
use std::hint::black_box;

use monoscan::ops::{Affine, Max, Semigroup, Sum};
use monoscan::prelude::*;
use monoscan::{Column, DynScan, PlanOptions, Representation, Rows};
use scan_kit::Random;

/// One pass, by the functions or by generated code.
fn plan(native: bool) -> PlanOptions {
    PlanOptions { vector: Some(false), direct: Some(usize::MAX), native: Some(native), ..PlanOptions::default() }
}

fn is_native(explained: &str) -> bool {
    explained.contains("your own functions, as rustc compiled them")
}

/// Three components; products overflow.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Corner {
    a: i32,
    b: i32,
    corner: i32,
}

#[scan_monoid]
impl Monoid for Corner {
    fn identity() -> Self {
        Corner { a: 0, b: 0, corner: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Corner { a: self.a + next.a, b: self.b + next.b, corner: self.corner + next.corner + self.a * next.b }
    }
}

fn corners(random: &mut Random, len: usize) -> Vec<Corner> {
    let mut number = || random.bits() as i32;
    (0..len).map(|_| Corner { a: number(), b: number(), corner: number() }).collect()
}

/// These tests are built with overflow checks, so the function panics at the second element, and generated code goes on.
#[test]
fn what_overflows_is_what_generated_code_gives() {
    let mut random = Random(1);
    let [own, generated] = [true, false].map(|native| Scan::<Corner>::builder().plan(plan(native)).build().unwrap());
    assert!(is_native(&own.explain()) && !is_native(&generated.explain()));
    for len in [0, 1, 2, 3, 17, 100] {
        let x = corners(&mut random, len);
        assert_eq!(own.inclusive(&x).unwrap(), generated.inclusive(&x).unwrap());
        assert_eq!(own.exclusive(&x).unwrap(), generated.exclusive(&x).unwrap());
        let (mut one, mut other) = (x.clone(), x.clone());
        own.inclusive_in_place(&mut one).unwrap();
        generated.inclusive_in_place(&mut other).unwrap();
        assert_eq!(one, other);
        let mut carries = [Corner { a: 3, b: i32::MAX, corner: 5 }; 2];
        let one = own.resuming(&mut carries[0]).inclusive(&x).unwrap();
        let other = generated.resuming(&mut carries[1]).inclusive(&x).unwrap();
        assert_eq!((one, carries[0]), (other, carries[1]));
    }
}

/// Lines in which nothing overflows are taken by the function from end to end: it is called once for each, and sees its caller's values.
#[test]
fn the_function_is_called() {
    let own = Scan::<Corner>::builder().plan(plan(true)).build().unwrap();
    let assembly = own.emit(Representation::Clif);
    assert!(assembly.contains("call_indirect"), "{assembly}");
    let generated = Scan::<Corner>::builder().plan(plan(false)).build().unwrap();
    assert!(!generated.emit(Representation::Clif).contains("call_indirect"));
}

thread_local! {
    /// How many panics there were in this thread.
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// How often a function panicked meanwhile: who panics was called.
fn panics(run: impl FnOnce()) -> usize {
    let before = PANICS.get();
    run();
    PANICS.get() - before
}

/// Rows, flagged segments and reductions in which numbers overflow: the function is called, and generated code goes on within a row
/// and from row to row.
#[test]
fn rows_segments_and_reductions_that_overflow_are_gone_on_with() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.set(PANICS.get() + 1);
        before(info);
    }));
    // Builds of the default profile do not check it, and what overflows wraps by either code.
    let is_checked = panics(|| _ = std::panic::catch_unwind(|| black_box(i32::MAX) + black_box(1))) > 0;
    assert!(is_checked || !cfg!(debug_assertions), "the tests' profile checks it");
    let mut random = Random(7);
    let [own, generated] = [true, false].map(|native| Scan::<Corner>::builder().plan(plan(native)).build().unwrap());
    let kernels = own.emit(Representation::Clif);
    let calls = |name: &str| kernels.split("\n; ").any(|one| one.starts_with(name) && one.contains("call_indirect"));
    assert!(calls("rows of 2\n") && calls("short_rows\n") && calls("short_reduce_whole\n") && calls("reduce_whole\n"));
    assert!(!calls("reduce\n") && !calls("combine\n"));
    let small = |random: &mut Random| Corner { a: random.below(9) - 4, b: random.below(9) - 4, corner: 1 };
    for (row, pitch) in [(1, 1), (2, 2), (2, 3), (5, 5), (17, 17), (17, 20), (30, 30)] {
        let mut x: Vec<Corner> = (0..60).map(|_| small(&mut random)).collect();
        let rows = Rows::new(60 / pitch, row, pitch).unwrap();
        let flags: Vec<bool> = (0..60).map(|place| place % pitch == 0).collect();
        // Nothing overflows, then something does in some rows: at their start, within, and at their end.
        for large in [None, Some(0), Some(31), Some(row.max(2) - 1), Some(59)] {
            if let Some(place) = large {
                (x[place].a, x[place].corner) = (i32::MAX, i32::MAX);
            }
            let into = |scan: &Scan<Corner>| {
                let mut written = vec![Corner::identity(); 60];
                scan.rows(rows).inclusive_into(&x, &mut written).unwrap();
                scan.rows(rows).exclusive_into(&x, &mut written).unwrap();
                scan.rows(rows).inclusive_into(&x, &mut written).unwrap();
                written
            };
            let offsets: Vec<usize> = (0..60).filter(|&place| flags[place]).chain([60]).collect();
            let in_place = |scan: &Scan<Corner>| {
                let mut written = [(); 3].map(|()| x.clone());
                scan.rows(rows).inclusive_in_place(&mut written[0]).unwrap();
                scan.segmented(&flags).inclusive_in_place(&mut written[1]).unwrap();
                scan.segmented(&offsets).inclusive_in_place(&mut written[2]).unwrap();
                written
            };
            let segments = |scan: &Scan<Corner>| {
                [scan.segmented(&flags).inclusive(&x).unwrap(), scan.segmented(&offsets).inclusive(&x).unwrap()]
            };
            let totals = |scan: &Scan<Corner>| {
                let between = scan.segmented(&offsets).totals(&x).unwrap();
                [scan.rows(rows).totals(&x).unwrap(), between]
            };
            assert_eq!(totals(&own), totals(&generated), "rows of {row}");
            let must_panic = is_checked && (row, large) == (30, Some(31));
            assert!(!must_panic || panics(|| drop(totals(&own))) > 0, "the function was not called");
            assert_eq!(panics(|| drop(totals(&generated))), 0);
            assert_eq!(into(&own), into(&generated), "rows of {row}");
            assert_eq!(in_place(&own), in_place(&generated), "rows of {row}");
            assert_eq!(segments(&own), segments(&generated));
            assert_eq!(own.reduce(&x).unwrap(), generated.reduce(&x).unwrap());
            let one = || panics(|| drop(segments(&own))) > 0 || panics(|| _ = own.reduce(&x).unwrap()) > 0;
            let must_panic = is_checked && large.is_some_and(|place| place != 59);
            assert!(!must_panic || one(), "the function was not called");
            assert_eq!(panics(|| drop((into(&generated), in_place(&generated), segments(&generated)))), 0);
        }
    }
    // Generated code takes a line where the function panicked. It calls the function once more.
    let mut x: Vec<Corner> = (0..60).map(|_| small(&mut random)).collect();
    (x[31].a, x[32].a, x[33].a) = (i32::MAX, i32::MAX, i32::MAX);
    let mut written = x.clone();
    for _ in 0..2 {
        let times = panics(|| _ = own.inclusive_into(&x, &mut written).unwrap());
        assert!(!is_checked || (1..=2).contains(&times), "{times} panics");
        assert_eq!(written, generated.inclusive(&x).unwrap());
    }
}

/// A monoid's value as it lies in memory, and a lift of parameters, which a scan gets anew.
#[test]
fn plain_values_and_parameters_are_functions_too() {
    let by = |native| Scan::<Sum<u64>>::builder().plain().plan(plan(native)).build().unwrap();
    let [own, generated] = [true, false].map(by);
    assert!(is_native(&own.explain()) && !is_native(&generated.explain()));
    let x: Vec<u64> = (0..100).map(|number| number * number).collect();
    assert_eq!(own.inclusive(&x).unwrap(), generated.inclusive(&x).unwrap());
    assert_eq!(own.reduce(&x).unwrap(), generated.reduce(&x).unwrap());

    #[scan_fn]
    fn weighed(weights: (u64, u64), x: u64, y: u64) -> Sum<u64> {
        Sum(weights.0 * x + weights.1 * y)
    }
    let by = |native| {
        let of_weights = Scan::<Sum<u64>>::builder().lift_with((2, 5), weighed {}).project(value {});
        of_weights.plan(plan(native)).build().unwrap()
    };
    let [own, generated] = [true, false].map(by);
    assert!(is_native(&own.explain()) && !is_native(&generated.explain()));
    let y: Vec<u64> = x.iter().rev().copied().collect();
    let flags: Vec<bool> = (0..100).map(|place| place % 7 == 3).collect();
    let rows = Rows::new(20, 5, 5).unwrap();
    for weights in [(2, 5), (1, 0), (0, 9)] {
        let [own, generated] = [&own, &generated].map(|scan| scan.with(weights).unwrap());
        for _ in 0..2 {
            let line = own.inclusive((&x, &y)).unwrap();
            assert_eq!(line[99], x.iter().zip(&y).map(|(x, y)| weights.0 * x + weights.1 * y).sum::<u64>());
            assert_eq!(line, generated.inclusive((&x, &y)).unwrap());
            assert_eq!(own.reduce((&x, &y)).unwrap(), generated.reduce((&x, &y)).unwrap());
            let [one, other] = [&own, &generated].map(|scan| scan.rows(rows).exclusive((&x, &y)).unwrap());
            assert_eq!(one, other);
            let [one, other] = [&own, &generated].map(|scan| scan.segmented(&flags).inclusive((&x, &y)).unwrap());
            assert_eq!(one, other);
        }
    }
}

/// Longer than its component: the engine has that alone, so no function may read it there.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
#[repr(C, align(64))]
struct Padded {
    rate: u64,
}

#[scan_fn]
fn by_padded(of: Padded, x: u64) -> Sum<u64> {
    Sum(of.rate * x)
}

#[test]
fn parameters_with_padding_are_left_to_generated_code() {
    let scan = Scan::<Sum<u64>>::builder().lift_with(Padded { rate: 3 }, by_padded {}).project(value {});
    let scan = scan.plan(plan(true)).build().unwrap();
    assert!(!is_native(&scan.explain()));
    assert_eq!(scan.inclusive(&[1, 2]).unwrap(), [3, 9]);
    assert_eq!(scan.with(Padded { rate: 5 }).unwrap().inclusive(&[1, 2]).unwrap(), [5, 15]);
}

#[scan_fn]
fn counted(flag: bool, weight: u16) -> Sum<u64> {
    Sum(if flag { weight as u64 } else { 0 })
}

#[scan_fn]
fn value(sum: Sum<u64>) -> u64 {
    sum.0
}

/// A byte that is neither 0 nor 1 is true, at any address: a function never sees it.
#[test]
fn truth_values_may_be_any_bytes() {
    let scan = Scan::<Sum<u64>>::builder().lift(counted {}).project(value {}).plan(plan(true)).build().unwrap();
    assert!(is_native(&scan.explain()));
    let scan: &DynScan = scan.as_dyn();
    assert!(!is_native(&scan.explain()));
    let layouts = &scan.program().inputs;
    let flags: Vec<u8> = (0..=255).collect();
    let weights: Vec<u8> = [0].into_iter().chain((0..512).map(|byte| byte as u8)).collect();
    let columns =
        [Column::from_bytes(&flags, &layouts[0]).unwrap(), Column::from_bytes(&weights[1..], &layouts[1]).unwrap()];
    let sums: Vec<u64> = scan.inclusive(&columns).unwrap();
    let weight = |at: usize| u64::from(u16::from_ne_bytes([weights[1 + 2 * at], weights[2 + 2 * at]]));
    let mut sum = 0;
    let expected = (0..256).map(|at| {
        sum += if at == 0 { 0 } else { weight(at) };
        sum
    });
    assert!(sums.into_iter().eq(expected));
    let flags = Column::from_bytes(&flags, &layouts[0]).unwrap();
    let choices: Vec<f32> =
        Scan::<Sum<f32>>::builder().lift(chosen {}).build().unwrap().as_dyn().exclusive(&[flags]).unwrap();
    assert_eq!(choices[1..], std::array::from_fn::<f32, 255, _>(|at| 3.0 + 2.0 * at as f32));
}

#[scan_fn]
fn chosen(flag: bool) -> Sum<f32> {
    Sum(if flag { 2.0 } else { 3.0 })
}

/// The largest, and whether an odd number was flagged.
#[derive(Clone, Copy, Debug, PartialEq, ScanType)]
struct Largest(u16, bool);

impl Semigroup for Largest {
    #[scan_fn]
    fn append(self, next: Self) -> Self {
        Largest(next.0.max(self.0), next.1 ^ self.1)
    }
}

#[test]
fn operators_without_an_identity_have_functions_too() {
    let scan = Scan::<Largest>::builder().plan(plan(true)).build().unwrap();
    assert!(is_native(&scan.explain()));
    let x = [Largest(7, true), Largest(8, true), Largest(9, false)];
    assert_eq!(scan.inclusive(&x).unwrap(), [Largest(7, true), Largest(8, false), Largest(9, false)]);
}

/// Where Rust's bits may be others, or a value is captured, generated code runs.
#[test]
fn functions_that_differ_from_the_ir_are_not_used() {
    let by = |scan: Scan<Sum<u64>, (u64,), u64>| scan.explain();
    let lift = scan!(|x: u64| -> Sum<u64> { Sum(x) });
    let divided = scan!(|x: u64| -> Sum<u64> { Sum(100 / x) });
    let divided_by_seven = scan!(|x: u64| -> Sum<u64> { Sum(x / 7) });
    let factor = std::hint::black_box(3u64);
    let captured = scan!(|x: u64| -> Sum<u64> { Sum(x * factor) });
    const SQUARES: Table<u64> = Table::new(&[0, 1, 4, 9]);
    let looked_up = scan!(|x: u64| -> Sum<u64> { Sum(SQUARES.get(x as u32)) });
    macro_rules! explained {
        ($lift:expr) => {
            by(Scan::<Sum<u64>>::builder().lift($lift).project(value {}).plan(plan(true)).build().unwrap())
        };
    }
    assert!(is_native(&explained!(lift)) && is_native(&explained!(divided_by_seven)));
    assert!(!is_native(&explained!(divided)) && !is_native(&explained!(captured)));
    assert!(!is_native(&explained!(looked_up)));
    // Where the sign of a zero, which is open, decides nothing.
    let parts = || Scan::<Max<f64>>::builder().plan(plan(true));
    assert!(is_native(&parts().build().unwrap().explain()));
    let inverse = scan!(|max: Max<f64>| -> f64 { 1.0 / max.0 });
    assert!(!is_native(&parts().project(inverse).build().unwrap().explain()));
    let exp = Scan::<Sum<f64>>::builder().lift(scan!(|x: f64| -> Sum<f64> { Sum(x.exp()) })).plan(plan(true));
    assert!(!is_native(&exp.build().unwrap().explain()));
    let sqrt = Scan::<Sum<f64>>::builder().lift(scan!(|x: f64| -> Sum<f64> { Sum(x.sqrt()) })).plan(plan(true));
    assert!(is_native(&sqrt.build().unwrap().explain()));
}

/// Kernels in vectors stay, whatever was asked for.
#[test]
fn vectors_are_left() {
    let asked = PlanOptions { native: Some(true), vector: Some(true), ..PlanOptions::default() };
    let scan = Scan::<Sum<i32>>::builder().plan(asked).build().unwrap();
    assert!(!is_native(&scan.explain()));
    let kernels = scan.emit(Representation::Clif);
    for name in ["rows of 4", "rows of 8", "short_rows of 4", "short_rows of 8", "short"] {
        let kernel =
            kernels.trim_start_matches("; ").split("\n; ").find(|one| one.lines().next() == Some(name)).expect(name);
        assert!(kernel.contains("i32x4") && !kernel.contains("call_indirect"), "{kernel}");
    }
}

#[scan_fn]
fn stepped(s: i32, x: i32) -> i32 {
    s * 3 + x
}

/// As these tests are built, a step that overflows panics; the loop goes on in generated code.
#[test]
fn a_step_that_panics_is_gone_on_with() {
    let mut random = Random(2);
    let [own, generated] = [true, false].map(|native| Scan::loop_builder(stepped {}, 5).plan(plan(native)).build());
    let (own, generated) = (own.unwrap(), generated.unwrap());
    assert!(is_native(&own.explain()) && !is_native(&generated.explain()));
    let x: Vec<i32> = (0..200).map(|_| random.below(11) - 5).collect();
    assert_eq!(own.inclusive(&x).unwrap(), generated.inclusive(&x).unwrap());
    assert_eq!(own.exclusive(&x).unwrap(), generated.exclusive(&x).unwrap());
}

#[scan_fn]
fn clamped(s: i32, x: i32, low: i32, high: i32) -> i32 {
    (s + x).clamp(low, high)
}

#[scan_fn]
fn clamped_by_constants(s: i32, x: i32) -> i32 {
    (s + x).clamp(-7, 9)
}

/// `clamp` panics where its bounds are in the wrong order, and logarithms of 0 do, in every build.
#[test]
fn functions_that_panic_in_every_build_are_not_used() {
    let data = Scan::loop_builder(clamped {}, 5).plan(plan(true)).build().unwrap();
    let constants = Scan::loop_builder(clamped_by_constants {}, 5).plan(plan(true)).build().unwrap();
    assert!(!is_native(&data.explain()) && is_native(&constants.explain()));
    assert_eq!(data.inclusive((&[1], &[9], &[8])).unwrap(), [8]);
    let logarithm = scan!(|x: u64| -> Sum<u64> { Sum(x.ilog2() as u64) });
    let scan = Scan::<Sum<u64>>::builder().lift(logarithm).project(value {}).plan(plan(true)).build().unwrap();
    assert!(!is_native(&scan.explain()));
    let sign = scan!(|x: f64| -> Sum<f64> { Sum(x.signum()) });
    assert!(!is_native(&Scan::<Sum<f64>>::builder().lift(sign).plan(plan(true)).build().unwrap().explain()));
}

/// The function reads whole records, also columns that the operator does not.
#[test]
fn columns_that_are_not_read_are_there() {
    let of_two = scan!(|_unread: u32, x: u64| -> Sum<u64> { Sum(x) });
    let of_none = scan!(|_unread: u32| -> Sum<u64> { Sum(3) });
    let tiles = |native| PlanOptions { direct: Some(0), block: Some(8), strips: Some(1), ..plan(native) };
    let (x, y): (Vec<u32>, Vec<u64>) = (0..300).map(|number| (number, u64::from(number))).unzip();
    for plan in [tiles(true), tiles(false), plan(true)] {
        let two = Scan::<Sum<u64>>::builder().lift(of_two).project(value {}).plan(plan.clone()).build().unwrap();
        let none = Scan::<Sum<u64>>::builder().lift(of_none).project(value {}).plan(plan).build().unwrap();
        assert!((0..300).map(|n: u64| n * (n + 1) / 2).eq(two.inclusive((&x, &y)).unwrap()));
        assert!((1..=300).map(|n| 3 * n).eq(none.inclusive(&x).unwrap()));
    }
}
