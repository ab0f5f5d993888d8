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

mod scalars;

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
    note = "a generic parameter needs `T: Real` (floats), `T: Int` (integers) or `T: Num` (both), not `Add` or `Mul`",
    note = "numbers have at most 64 bits: use two `u64` for 128; for `Wrapping<u32>`, `u32` with `wrapping_add`"
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
    /// The least value: −∞, or `MIN` of an integer. The identity of `larger`.
    const LOWEST: Self;
    /// The greatest value: +∞, or `MAX` of an integer. The identity of `smaller`.
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

/// Types with bits: integers and `bool`.
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

/// Types with `%`.
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
