//! The numeric methods.

use half::{bf16, f16};
use monoscan::lang::trace::trace_fn;
use monoscan::prelude::*;
use monoscan_ir::{Constant, interp};

use scan_kit::Random;

use super::agree::{CASES, function, function_on};

#[scan_fn]
fn float_methods(a: f32, b: f32, c: f32) -> ([f32; 13], [bool; 5], u32) {
    (
        [
            a.abs(),
            a.mul_add(b, c),
            a.sqrt(),
            a.floor(),
            a.ceil(),
            a.trunc(),
            a.round(),
            a.round_ties_even(),
            a.fract(),
            a.recip(),
            a.signum(),
            a.copysign(b),
            a.clamp(-2.0, 3.0),
        ],
        [a.is_nan(), a.is_infinite(), a.is_finite(), a.is_sign_negative(), a.is_sign_positive()],
        a.to_bits(),
    )
}

#[scan_fn]
fn double_methods(a: f64, b: f64, c: f64) -> [f64; 10] {
    [
        a.abs(),
        f64::mul_add(a, b, c),
        a.sqrt(),
        a.floor(),
        a.round(),
        a.round_ties_even(),
        a.fract(),
        a.signum(),
        a.copysign(b),
        f64::from_bits(a.to_bits() ^ 1),
    ]
}

#[scan_fn]
fn minimum_and_maximum(a: f32, b: f32, c: i32, d: i32) -> (f32, f32, f32, i32, i32, i32) {
    (a.min(b), f32::max(a, b), 1.0_f32.max(a), c.min(d), i32::max(c, d), c.clamp(-5, 100))
}

#[scan_fn]
fn generic_minimum<T: Num>(a: T, b: T) -> (T, T) {
    (a.smaller(b), a.larger(T::ONE))
}

#[scan_fn]
fn generic_float<T: Real>(a: T, b: T) -> (T, T, T, f64) {
    (T::max(a, b.abs()), a.mul_add(b, T::from_f64(0.5)), T::min(a, b).sqrt(), a.to_f64())
}

#[scan_fn]
fn unsigned_methods(a: u32, b: u32, n: u32) -> ([u32; 21], (u32, bool), (u32, bool), bool) {
    (
        [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a.wrapping_neg(),
            a.saturating_add(b),
            a.saturating_sub(b),
            a.wrapping_shl(n),
            a.wrapping_shr(n),
            a.rotate_left(n),
            a.rotate_right(5),
            a.count_ones(),
            a.count_zeros(),
            a.leading_zeros(),
            a.leading_ones(),
            a.trailing_zeros(),
            a.trailing_ones(),
            a.swap_bytes(),
            a.reverse_bits(),
            a.abs_diff(b),
            (a & 15).pow(3),
            (b | 1).rem_euclid(7),
        ],
        a.overflowing_add(b),
        a.overflowing_sub(b),
        a.is_power_of_two(),
    )
}

#[scan_fn]
fn signed_methods(a: i16, b: i16, n: u32) -> ([i16; 12], [u16; 2], (i16, bool), (i16, bool), [bool; 2], u32) {
    (
        [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a.wrapping_neg(),
            a.wrapping_abs(),
            a.saturating_add(b),
            a.saturating_sub(b),
            a.rotate_left(n),
            a.signum(),
            a.swap_bytes(),
            (b & 7).pow(2),
            a.wrapping_shr(n),
        ],
        [a.unsigned_abs(), a.abs_diff(b)],
        a.overflowing_add(b),
        a.overflowing_sub(b),
        [a.is_negative(), a.is_positive()],
        a.leading_zeros(),
    )
}

#[scan_fn]
fn euclidean(a: i32, b: i32) -> (i32, i32) {
    (a.rem_euclid(b), a.div_euclid(b))
}

#[scan_fn]
fn halves(a: f16, b: bf16, x: f32) -> (f32, f32, f16, bf16) {
    (a.to_f32() + 1.0, b.to_f32(), f16::from_f32(x), half::bf16::from_f32(x))
}

#[scan_fn]
fn transcendental(x: f64) -> [f64; 5] {
    [x.exp(), x.ln(), x.exp2(), x.log2(), x.tanh()]
}

#[test]
fn float_methods_agree() {
    function(float_methods {});
    function(double_methods {});
}

#[test]
fn minimum_and_maximum_agree() {
    // Rust leaves the order of −0 and +0 open, so −0 is left out.
    function_on::<_, (f32, f32, i32, i32)>(minimum_and_maximum {}, no_negative_zero);
    function_on::<_, (f64, f64)>(generic_minimum {}, no_negative_zero);
    function::<_, (u8, u8)>(generic_minimum {});
    function_on::<_, (f32, f32)>(generic_float {}, no_negative_zero);
    function_on::<_, (f64, f64)>(generic_float {}, no_negative_zero);
}

fn no_negative_zero(input: &mut [Constant]) {
    for constant in input.iter_mut().filter(|constant| constant.ty().is_float() && constant.as_f64() == 0.0) {
        *constant = constant.ty().zero();
    }
}

#[test]
fn integer_methods_agree() {
    function(unsigned_methods {});
    function(signed_methods {});
    function(euclidean {});
}

#[test]
fn half_width_floats_convert_as_their_crate_does() {
    // Which NaN a conversion gives is not specified, and the crate's depends on the machine.
    function_on::<_, (f16, bf16, f32)>(halves {}, |input| {
        for constant in input {
            if constant.is_nan() {
                *constant = constant.ty().zero();
            }
        }
    });
}

#[test]
fn transcendental_functions_agree_within_a_few_ulp() {
    let traced = trace_fn::<_, (f64,)>(&transcendental {}).unwrap();
    let mut random = Random(1);
    for _ in 0..CASES {
        let x = (random.bits() % 1_000_000) as f64 / 50_000.0 - 10.0;
        let ir = interp::call(&traced.function, &[x.into()], &traced.tables);
        for (ir, native) in ir.iter().map(|c| c.as_f64()).zip(transcendental(x)) {
            // The standard library's own error comes on top of the two ulp.
            let close = (ir - native).abs() <= 4.0 * f64::EPSILON * native.abs();
            assert!(close || ir.is_nan() && native.is_nan() || ir == native, "of {x}: {ir} and {native}");
        }
    }
}
