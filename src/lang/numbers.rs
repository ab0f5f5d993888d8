//! The traits that generic operators are written against: `T: Real`, `T: Int`, `T: Num`.
//!
//! They are ordinary traits, so a generic operator is ordinary Rust; and their bounds are what the
//! lowered operators ask for. A plain `T: Mul<Output = T> + Copy` says too little for that, and
//! rustc says so.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use monoscan_ir::{Primitive, Value};

use super::ops::Castable;
use super::scan_type::ScanType;

/// A scalar: `bool`, an integer or a float. Scalars are compared, selected and cast.
#[diagnostic::on_unimplemented(
    message = "operators and numeric methods in scan code work on scalars, not on `{Self}`",
    label = "not known to be a scalar",
    note = "for a struct, array or tuple write the operation out, or call a `#[scan_fn]`",
    note = "a generic parameter needs `T: Real` (floats), `T: Int` (integers), `T: Num` (both) or `T: Scalar`"
)]
pub trait Scalar: Castable + ScanType<Traced = Value> + Primitive + PartialEq + PartialOrd + Debug + Default {}

/// An integer or a float.
#[diagnostic::on_unimplemented(
    message = "arithmetic in scan code works on integers and floats, not on `{Self}`",
    label = "not known to be a number",
    note = "for a struct, array or tuple write the operation out, or call a `#[scan_fn]`",
    note = "a generic parameter needs `T: Real` (floats), `T: Int` (integers) or `T: Num` (both), not `Add` or `Mul`"
)]
pub trait Num:
    Scalar
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// The least finite value.
    const MIN: Self;
    /// The greatest finite value.
    const MAX: Self;
    /// What no value is below: −∞, or `MIN` of an integer. The identity of `larger`.
    const LOWEST: Self;
    /// What no value is above: +∞, or `MAX` of an integer. The identity of `smaller`.
    const HIGHEST: Self;

    /// `min`, for code that is generic over integers and floats; of a float and a NaN the float.
    fn smaller(self, other: Self) -> Self;
    /// `max`, for code that is generic over integers and floats; of a float and a NaN the float.
    fn larger(self, other: Self) -> Self;

    /// `+` that wraps, for loops beside scans.
    #[doc(hidden)]
    fn wrapped_add(self, other: Self) -> Self;
    /// `-` that wraps, for loops beside scans.
    #[doc(hidden)]
    fn wrapped_sub(self, other: Self) -> Self;
    /// `*` that wraps, for loops beside scans.
    #[doc(hidden)]
    fn wrapped_mul(self, other: Self) -> Self;
}

/// What has bits to work on: integers and `bool`.
#[diagnostic::on_unimplemented(
    message = "`&`, `|`, `^` and `!` in scan code work on integers and `bool`, not on `{Self}`",
    label = "no bits to work on",
    note = "a generic parameter needs `T: Int` or `T: BitLike`"
)]
pub trait BitLike:
    Scalar
    + Eq
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
{
}

/// `f32` or `f64`, with the methods these types have.
#[diagnostic::on_unimplemented(
    message = "this needs a float, and `{Self}` is not known to be one",
    label = "not `f32` or `f64`",
    note = "a generic parameter needs `T: Real`"
)]
pub trait Real: Num + Neg<Output = Self> {
    /// The unsigned integer of the same size.
    type Bits: Int;
    /// +∞
    const INFINITY: Self;
    /// −∞
    const NEG_INFINITY: Self;
    /// A NaN.
    const NAN: Self;
    /// The nearest value to `x`.
    fn from_f64(x: f64) -> Self;
    /// The value, widened.
    fn to_f64(self) -> f64;
    /// As the type's own.
    fn min(self, other: Self) -> Self;
    /// As the type's own.
    fn max(self, other: Self) -> Self;
    /// As the type's own.
    fn abs(self) -> Self;
    /// As the type's own: `self * a + b` with one rounding.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// As the type's own.
    fn sqrt(self) -> Self;
    /// As the type's own.
    fn exp(self) -> Self;
    /// As the type's own.
    fn ln(self) -> Self;
    /// As the type's own.
    fn exp2(self) -> Self;
    /// As the type's own.
    fn log2(self) -> Self;
    /// As the type's own.
    fn exp_m1(self) -> Self;
    /// As the type's own.
    fn ln_1p(self) -> Self;
    /// As the type's own.
    fn sin(self) -> Self;
    /// As the type's own.
    fn cos(self) -> Self;
    /// As the type's own.
    fn tan(self) -> Self;
    /// As the type's own.
    fn tanh(self) -> Self;
    /// As the type's own.
    fn powf(self, exponent: Self) -> Self;
    /// As the type's own.
    fn powi(self, exponent: i32) -> Self;
    /// As the type's own.
    fn floor(self) -> Self;
    /// As the type's own.
    fn ceil(self) -> Self;
    /// As the type's own.
    fn trunc(self) -> Self;
    /// As the type's own.
    fn copysign(self, sign: Self) -> Self;
    /// As the type's own.
    fn is_nan(self) -> bool;
    /// As the type's own.
    fn is_finite(self) -> bool;
}

/// An integer of 8 to 64 bits, with the methods these types have.
#[diagnostic::on_unimplemented(
    message = "this needs an integer, and `{Self}` is not known to be one",
    label = "not `i8` to `i64` or `u8` to `u64`",
    note = "a generic parameter needs `T: Int`"
)]
pub trait Int:
    Num
    + BitLike
    + Ord
    + Hash
    + Rem<Output = Self>
    + RemAssign
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + ShlAssign<u32>
    + ShrAssign<u32>
{
    /// The unsigned integer of the same size.
    type Unsigned: Int;
    /// How many bits.
    const BITS: u32;
    /// As the type's own.
    fn wrapping_add(self, other: Self) -> Self;
    /// As the type's own.
    fn wrapping_sub(self, other: Self) -> Self;
    /// As the type's own.
    fn wrapping_mul(self, other: Self) -> Self;
    /// As the type's own.
    fn wrapping_neg(self) -> Self;
    /// As the type's own.
    fn saturating_add(self, other: Self) -> Self;
    /// As the type's own.
    fn saturating_sub(self, other: Self) -> Self;
    /// As the type's own.
    fn saturating_mul(self, other: Self) -> Self;
    /// As the type's own.
    fn rem_euclid(self, other: Self) -> Self;
    /// As the type's own.
    fn div_euclid(self, other: Self) -> Self;
    /// As the type's own.
    fn ilog2(self) -> u32;
    /// As the type's own.
    fn rotate_left(self, bits: u32) -> Self;
    /// As the type's own.
    fn rotate_right(self, bits: u32) -> Self;
    /// As the type's own.
    fn count_ones(self) -> u32;
    /// As the type's own.
    fn leading_zeros(self) -> u32;
    /// As the type's own.
    fn trailing_zeros(self) -> u32;
}

/// What `%` works on.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`%` in scan code works on integers, not on `{Self}`",
    label = "no exact remainder",
    note = "for floats write `x - y * (x / y).trunc()`, which rounds",
    note = "a generic parameter needs `T: Int`"
)]
pub trait Remainder: Num {}

impl<T: Int> Remainder for T {}

/// `f16` and `bf16` of the crate `half`: bits in memory, which `to_f32` and `from_f32` convert.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a half-width float",
    label = "not `f16` or `bf16` of the crate `half`"
)]
pub trait Half: ScanType<Traced = Value> {
    /// The opcodes from these bits to `f32`, and back.
    #[doc(hidden)]
    const OPCODES: (monoscan_ir::Opcode, monoscan_ir::Opcode);
}

impl Half for half::f16 {
    const OPCODES: (monoscan_ir::Opcode, monoscan_ir::Opcode) =
        (monoscan_ir::Opcode::FromF16, monoscan_ir::Opcode::ToF16);
}

impl Half for half::bf16 {
    const OPCODES: (monoscan_ir::Opcode, monoscan_ir::Opcode) =
        (monoscan_ir::Opcode::FromBf16, monoscan_ir::Opcode::ToBf16);
}

impl Castable for bool {}
impl Scalar for bool {}
impl BitLike for bool {}

macro_rules! forward {
    ($type:ident: $($name:ident($($argument:ident: $of:ty),*) -> $result:ty;)*) => {$(
        fn $name(self, $($argument: $of),*) -> $result {
            <$type>::$name(self, $($argument),*)
        }
    )*};
}

macro_rules! integers {
    ($($type:ident $unsigned:ident;)*) => {$(
        impl Castable for $type {}
        impl Scalar for $type {}
        impl BitLike for $type {}

        impl Num for $type {
            const ZERO: $type = 0;
            const ONE: $type = 1;
            const MIN: $type = $type::MIN;
            const MAX: $type = $type::MAX;
            const LOWEST: $type = $type::MIN;
            const HIGHEST: $type = $type::MAX;

            fn smaller(self, other: $type) -> $type {
                Ord::min(self, other)
            }

            fn larger(self, other: $type) -> $type {
                Ord::max(self, other)
            }

            #[inline]
            fn wrapped_add(self, other: $type) -> $type {
                <$type>::wrapping_add(self, other)
            }

            #[inline]
            fn wrapped_sub(self, other: $type) -> $type {
                <$type>::wrapping_sub(self, other)
            }

            #[inline]
            fn wrapped_mul(self, other: $type) -> $type {
                <$type>::wrapping_mul(self, other)
            }
        }

        impl Int for $type {
            type Unsigned = $unsigned;
            const BITS: u32 = $type::BITS;
            forward! { $type:
                wrapping_add(other: $type) -> $type;
                wrapping_sub(other: $type) -> $type;
                wrapping_mul(other: $type) -> $type;
                wrapping_neg() -> $type;
                saturating_add(other: $type) -> $type;
                saturating_sub(other: $type) -> $type;
                saturating_mul(other: $type) -> $type;
                rem_euclid(other: $type) -> $type;
                div_euclid(other: $type) -> $type;
                ilog2() -> u32;
                rotate_left(bits: u32) -> $type;
                rotate_right(bits: u32) -> $type;
                count_ones() -> u32;
                leading_zeros() -> u32;
                trailing_zeros() -> u32;
            }
        }
    )*};
}

integers! { i8 u8; i16 u16; i32 u32; i64 u64; u8 u8; u16 u16; u32 u32; u64 u64; }

macro_rules! floats {
    ($($type:ident $bits:ident;)*) => {$(
        impl Castable for $type {}
        impl Scalar for $type {}

        impl Num for $type {
            const ZERO: $type = 0.0;
            const ONE: $type = 1.0;
            const MIN: $type = $type::MIN;
            const MAX: $type = $type::MAX;
            const LOWEST: $type = $type::NEG_INFINITY;
            const HIGHEST: $type = $type::INFINITY;

            fn smaller(self, other: $type) -> $type {
                <$type>::min(self, other)
            }

            fn larger(self, other: $type) -> $type {
                <$type>::max(self, other)
            }

            #[inline]
            fn wrapped_add(self, other: $type) -> $type {
                self + other
            }

            #[inline]
            fn wrapped_sub(self, other: $type) -> $type {
                self - other
            }

            #[inline]
            fn wrapped_mul(self, other: $type) -> $type {
                self * other
            }
        }

        impl Real for $type {
            type Bits = $bits;
            const INFINITY: $type = $type::INFINITY;
            const NEG_INFINITY: $type = $type::NEG_INFINITY;
            const NAN: $type = $type::NAN;

            fn from_f64(x: f64) -> $type {
                x as $type
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            forward! { $type:
                min(other: $type) -> $type;
                max(other: $type) -> $type;
                abs() -> $type;
                mul_add(a: $type, b: $type) -> $type;
                sqrt() -> $type;
                exp() -> $type;
                ln() -> $type;
                exp2() -> $type;
                log2() -> $type;
                exp_m1() -> $type;
                ln_1p() -> $type;
                sin() -> $type;
                cos() -> $type;
                tan() -> $type;
                tanh() -> $type;
                powf(exponent: $type) -> $type;
                powi(exponent: i32) -> $type;
                floor() -> $type;
                ceil() -> $type;
                trunc() -> $type;
                copysign(sign: $type) -> $type;
                is_nan() -> bool;
                is_finite() -> bool;
            }
        }
    )*};
}

floats! { f32 u32; f64 u64; }
