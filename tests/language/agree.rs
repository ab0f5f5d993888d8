//! Compares traced functions with the native ones, on inputs that mix random bits with awkward values.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use monoscan::lang::trace::{Traced, trace_combine, trace_fn, trace_valid};
use monoscan::lang::{Inputs, Monoid, ScanFn, ScanType, from_constants, layout_of, to_constants};
use monoscan_ir::{Constant, Type, interp};

/// How many inputs a comparison tries.
pub const CASES: usize = 2000;

/// A small generator (xorshift), so that every run tries the same inputs.
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A constant of this type: often 0, ±1, an extreme, a NaN, a subnormal; else small, else any bits.
    pub fn constant(&mut self, ty: Type) -> Constant {
        match self.bits() % 4 {
            0 if ty.is_float() => {
                let tiny = if ty == Type::F32 { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) };
                let list = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, tiny, 0.5, 1.5];
                let value = list[self.bits() as usize % list.len()];
                if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) }
            }
            0 => {
                let list = [0, 1, -1, 2, i64::MIN, i64::MAX, ty.mask() as i64, (ty.mask() >> 1) as i64];
                ty.of_i64(list[self.bits() as usize % list.len()])
            }
            1 if ty.is_float() => {
                let value = (self.bits() % 257) as f64 / 8.0 - 16.0;
                if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) }
            }
            1 | 2 => ty.of_i64((self.bits() % 17) as i64 - if ty.is_signed() || ty.is_float() { 8 } else { 0 }),
            _ => Constant::new(ty, u128::from(self.bits())),
        }
    }

    /// The components of an `X`.
    pub fn value<X: ScanType>(&mut self) -> Vec<Constant> {
        let any: Vec<Constant> = layout_of::<X>().types().map(|ty| self.constant(ty)).collect();
        // Not every number is a variant of an enum.
        to_constants(&from_constants::<X>(any))
    }
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
    let (mut random, mut compared) = (Random::new(), 0);
    for _ in 0..CASES {
        let (left, right) = (random.value::<M>(), random.value::<M>());
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
    let (mut random, mut compared) = (Random::new(), 0);
    for _ in 0..CASES {
        let mut input = random.value::<Args>();
        adjust(&mut input);
        let native = || to_constants(&f.call(from_constants(input.iter().copied())));
        compare(&traced, &input, native, &mut compared);
    }
    assert!(compared > CASES / 20, "only {compared} of {CASES} inputs have a native result");
}
