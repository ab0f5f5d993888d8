//! Compares traced functions with the native ones, on inputs that mix random bits with awkward
//! values.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use monoscan::lang::trace::{Traced, trace_combine, trace_fn, trace_valid};
use monoscan::lang::{Inputs, Monoid, ScanFn, ScanType, from_constants, layout_of, to_constants};
use monoscan_ir::{Constant, interp};
use scan_kit::Random;

/// How many inputs a comparison tries.
pub const CASES: usize = 2000;

/// The components of a random `X`.
pub fn value<X: ScanType>(random: &mut Random) -> Vec<Constant> {
    let any: Vec<Constant> = layout_of::<X>().types().map(|ty| random.constant(ty)).collect();
    // Not every number is a variant of an enum.
    to_constants(&from_constants::<X>(any))
}

/// Runs both, and compares where the native code has a result.
fn compare(traced: &Traced, input: &[Constant], native: impl FnOnce() -> Vec<Constant>, compared: &mut usize) {
    let (ir, overflowed) = interp::call_checked(&traced.function, input, &traced.tables);
    let native = if overflowed { quietly(native) } else { Some(native()) };
    let Some(native) = native else { return };
    *compared += 1;
    let same = ir.len() == native.len() && ir.iter().zip(&native).all(|(a, b)| a.same(*b));
    assert!(same, "of {input:?}\n    IR: {ir:?}\nnative: {native:?}\n{:#?}", traced.function);
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result, if there is no panic; a panic is not printed.
fn quietly<R>(f: impl FnOnce() -> R) -> Option<R> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.set(false);
    result.ok()
}

/// The operator, and `valid` if there is one.
pub fn monoid<M: Monoid>() {
    let traced = trace_combine::<M>().unwrap();
    let valid = trace_valid::<M>().unwrap();
    let (mut random, mut compared) = (Random(1), 0);
    for _ in 0..CASES {
        let (left, right) = (value::<M>(&mut random), value::<M>(&mut random));
        let native = |constants: &[Constant]| from_constants::<M>(constants.iter().copied());
        let both: Vec<Constant> = left.iter().chain(&right).copied().collect();
        compare(&traced, &both, || to_constants(&native(&left).combine(native(&right))), &mut compared);
        if let Some(valid) = &valid {
            compare(valid, &left, || to_constants(&native(&left).valid()), &mut compared);
        }
    }
    assert!(compared > CASES / 20, "only {compared} of {CASES} inputs have a native result");
}

/// A scan function.
pub fn function<F: ScanFn<Args>, Args: Inputs>(f: F) {
    function_on::<F, Args>(f, |_| {});
}

/// A scan function on inputs that `adjust` has changed, where random ones would rarely do.
pub fn function_on<F: ScanFn<Args>, Args: Inputs>(f: F, adjust: impl Fn(&mut [Constant])) {
    let traced = trace_fn::<F, Args>(&f).unwrap();
    let (mut random, mut compared) = (Random(1), 0);
    for _ in 0..CASES {
        let mut input = value::<Args>(&mut random);
        adjust(&mut input);
        let native = || to_constants(&f.call(from_constants(input.iter().copied())));
        compare(&traced, &input, native, &mut compared);
    }
    assert!(compared > CASES / 20, "only {compared} of {CASES} inputs have a native result");
}
