//! The scalars as numbers: each method is that of the standard library.

use super::{BitLike, Half, Int, Num, Real, Scalar};
use crate::lang::ops::Castable;

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
        #[inline]
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

            #[inline]
            fn smaller(self, other: $type) -> $type {
                Ord::min(self, other)
            }

            #[inline]
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

            #[inline]
            fn smaller(self, other: $type) -> $type {
                <$type>::min(self, other)
            }

            #[inline]
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

            #[inline]
            fn from_f64(x: f64) -> $type {
                x as $type
            }

            #[inline]
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
