//! The numeric methods that scan code may call, on handles: the same names and meanings as the
//! standard library's.
//!
//! Where the IR has an opcode, a method is that opcode. The others are written here in terms of
//! them, and are exact. Only the transcendental ones may differ from the standard library, by 2 ulp
//! at most, and `powi` by the order of its products. The macro's table of them is
//! `macros/src/methods.rs`.

mod ascii;
mod circular;
mod integers;

pub use ascii::*;
pub use circular::*;
pub use integers::*;

use monoscan_ir::{FunctionBuilder, Opcode, Value, math};

use super::numbers::{Half, Int, Num, Real};
use super::ops::{add, apply, cast, div, eq, ge, gt, lift, lt, mul, ne, neg, not, select, sub, value};
use super::scan_type::V;
use super::trace::{differs, emit, emit_rounding, method, wrapping};

macro_rules! opcodes {
    ($($name:ident($($argument:ident),*) $opcode:ident $bound:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        pub fn $name<T: $bound>($($argument: V<T>),*) -> V<T> {
            apply(Opcode::$opcode, &[$(value($argument)),*])
        }
    )*};
}

opcodes! {
    min(a, b) Min Num;
    max(a, b) Max Num;
    smaller(a, b) Min Num;
    larger(a, b) Max Num;
    abs(a) Abs Num;
    mul_add(a, b, c) MulAdd Real;
    sqrt(a) Sqrt Real;
    floor(a) Floor Real;
    ceil(a) Ceil Real;
    trunc(a) Trunc Real;
    round_ties_even(a) RoundEven Real;
    copysign(a, sign) CopySign Real;
    saturating_add(a, b) AddSat Int;
    saturating_sub(a, b) SubSat Int;
    swap_bytes(a) SwapBytes Int;
    reverse_bits(a) ReverseBits Int;
}

macro_rules! wrapping {
    ($($name:ident($($argument:ident),*) $opcode:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        pub fn $name<T: Int>($($argument: V<T>),*) -> V<T> {
            wrapping(|| apply(Opcode::$opcode, &[$(value($argument)),*]))
        }
    )*};
}

wrapping! {
    wrapping_abs(a) Abs;
    wrapping_add(a, b) Add;
    wrapping_sub(a, b) Sub;
    wrapping_mul(a, b) Mul;
    wrapping_neg(a) Neg;
}

macro_rules! shifts {
    ($($name:ident $opcode:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        pub fn $name<T: Int>(a: V<T>, bits: V<u32>) -> V<T> {
            wrapping(|| apply(Opcode::$opcode, &[value(a), value(bits)]))
        }
    )*};
}

shifts! { rotate_left RotateLeft; rotate_right RotateRight; wrapping_shl Shl; wrapping_shr Shr; }

macro_rules! counts {
    ($($name:ident $opcode:ident, $inverse:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        pub fn $name<T: Int>(a: V<T>) -> V<u32> {
            apply(Opcode::$opcode, &[value(a)])
        }

        #[doc = concat!("`", stringify!($inverse), "`")]
        pub fn $inverse<T: Int>(a: V<T>) -> V<u32> {
            method(stringify!($inverse), || $name(not(a)))
        }
    )*};
}

counts! {
    count_ones CountOnes, count_zeros;
    leading_zeros LeadingZeros, leading_ones;
    trailing_zeros TrailingZeros, trailing_ones;
}

macro_rules! transcendentals {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        pub fn $name<T: Real>(a: V<T>) -> V<T> {
            let expand: fn(&mut FunctionBuilder, Value) -> Value = math::$name;
            V::of(emit_rounding(stringify!($name), |f| expand(f, value(a))))
        }
    )*};
}

transcendentals!(exp ln exp2 log2 exp_m1 ln_1p tanh);

/// `clamp`: a NaN stays one. Bounds in the wrong order, where Rust panics, give the upper one.
pub fn clamp<T: Num>(a: V<T>, low: V<T>, high: V<T>) -> V<T> {
    method("clamp", || {
        if !are_in_order(low, high) {
            differs();
        }
        let raised = select(lt(a, low), low, a);
        select(gt(raised, high), high, raised)
    })
}

/// Whether both are constants, the second one not below the first.
fn are_in_order<T: Num>(low: V<T>, high: V<T>) -> bool {
    emit(|f| {
        let constant = |of| f.function().as_constant(value(of)).map(T::from_constant);
        constant(low).zip(constant(high)).is_some_and(|(low, high)| low <= high)
    })
}

/// `round`: to the nearest integer, ties away from zero.
pub fn round<T: Real>(a: V<T>) -> V<T> {
    method("round", || {
        let whole = trunc(a);
        let half = lift(T::from_f64(0.5));
        let away = add(whole, copysign(lift(T::ONE), a));
        // The difference is exact, and of an infinity NaN, which compares false.
        select(ge(abs(sub(a, whole)), half), away, whole)
    })
}

/// `fract`
pub fn fract<T: Real>(a: V<T>) -> V<T> {
    method("fract", || sub(a, trunc(a)))
}

/// `recip`
pub fn recip<T: Real>(a: V<T>) -> V<T> {
    div(lift(T::ONE), a)
}

/// `signum` of a float or a signed integer.
pub fn signum<T: Num>(a: V<T>) -> V<T> {
    method("signum", || {
        if T::TYPE.is_float() {
            let one = apply(Opcode::CopySign, &[value(lift(T::ONE)), value(a)]);
            return select(ne(a, a), a, one);
        }
        let zero = lift(T::ZERO);
        select(gt(a, zero), lift(T::ONE), select(lt(a, zero), neg(lift(T::ONE)), zero))
    })
}

/// `pow` with a constant exponent, by squaring; wraps.
pub fn pow<T: Int>(a: V<T>, exponent: u32) -> V<T> {
    method("pow", || {
        let (mut result, mut square, mut rest) = (lift(T::ONE), a, exponent);
        while rest != 0 {
            if rest & 1 == 1 {
                result = mul(result, square);
            }
            rest >>= 1;
            if rest != 0 {
                square = mul(square, square);
            }
        }
        result
    })
}

/// `is_nan`
pub fn is_nan<T: Real>(a: V<T>) -> V<bool> {
    ne(a, a)
}

/// `is_infinite`
pub fn is_infinite<T: Real>(a: V<T>) -> V<bool> {
    eq(abs(a), lift(T::INFINITY))
}

/// `is_finite`
pub fn is_finite<T: Real>(a: V<T>) -> V<bool> {
    lt(abs(a), lift(T::INFINITY))
}

/// `is_sign_negative`
pub fn is_sign_negative<T: Real>(a: V<T>) -> V<bool> {
    method("is_sign_negative", || ne(sign_bit(a), lift(T::Bits::ZERO)))
}

/// `is_sign_positive`
pub fn is_sign_positive<T: Real>(a: V<T>) -> V<bool> {
    method("is_sign_positive", || eq(sign_bit(a), lift(T::Bits::ZERO)))
}

fn sign_bit<T: Real>(a: V<T>) -> V<T::Bits> {
    let top = T::Bits::BITS - 1;
    apply(Opcode::Shr, &[value(to_bits(a)), value(lift(top))])
}

/// `is_negative` of a signed integer.
pub fn is_negative<T: Int>(a: V<T>) -> V<bool> {
    lt(a, lift(T::ZERO))
}

/// `is_positive` of a signed integer.
pub fn is_positive<T: Int>(a: V<T>) -> V<bool> {
    gt(a, lift(T::ZERO))
}

/// `to_bits`
pub fn to_bits<T: Real>(a: V<T>) -> V<T::Bits> {
    method("to_bits", || V::of(emit(|f| f.bitcast(<T::Bits as monoscan_ir::Primitive>::TYPE, value(a)))))
}

/// `from_bits`
pub fn from_bits<T: Real>(bits: V<T::Bits>) -> V<T> {
    method("from_bits", || V::of(emit(|f| f.bitcast(T::TYPE, value(bits)))))
}

/// `Real::from_f64`
pub fn from_f64<T: Real>(a: V<f64>) -> V<T> {
    cast(a)
}

/// `Real::to_f64`
pub fn to_f64<T: Real>(a: V<T>) -> V<f64> {
    cast(a)
}

/// `to_f32` of a half-width float.
pub fn to_f32<T: Half>(a: V<T>) -> V<f32> {
    method("to_f32", || apply(T::OPCODES.0, &[value(a)]))
}

/// `from_f32` of a half-width float.
pub fn from_f32<T: Half>(a: V<f32>) -> V<T> {
    method("from_f32", || apply(T::OPCODES.1, &[value(a)]))
}
