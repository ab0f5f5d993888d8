//! Numbers by which records are sorted.

use crate::lang::Num;

/// A number by which records are sorted: `u8` to `u64`, `i8` to `i64`, `f32` and `f64`.
pub trait SortKey: Num + sealed::Ordered {}

pub(in crate::algo) mod sealed {
    pub trait Ordered: Copy {
        /// Whether keys are equal only if all their bits are: −0 equals +0, and NaN not even itself.
        const EQUAL_BY_BITS: bool;

        /// A number that is less if and only if the key comes earlier.
        fn ordered(self) -> u64;

        /// The key of this number.
        fn of_ordered(number: u64) -> Self;
    }
}

macro_rules! keys {
    ($equal_by_bits:literal: $($key:ident $bits:ident: |$x:ident| $ordered:expr, |$y:ident| $key_of:expr;)*) => {$(
        impl SortKey for $key {}

        impl sealed::Ordered for $key {
            const EQUAL_BY_BITS: bool = $equal_by_bits;

            #[inline]
            fn ordered(self) -> u64 {
                let $x = self;
                let ordered: $bits = $ordered;
                ordered.into()
            }

            #[inline]
            fn of_ordered(number: u64) -> $key {
                let $y = number as $bits;
                $key_of
            }
        }
    )*};
}

// A sign counts the other way round.
keys! {
    true:
    u8 u8: |x| x, |y| y;
    u16 u16: |x| x, |y| y;
    u32 u32: |x| x, |y| y;
    u64 u64: |x| x, |y| y;
    i8 u8: |x| x as u8 ^ 1 << 7, |y| (y ^ 1 << 7) as i8;
    i16 u16: |x| x as u16 ^ 1 << 15, |y| (y ^ 1 << 15) as i16;
    i32 u32: |x| x as u32 ^ 1 << 31, |y| (y ^ 1 << 31) as i32;
    i64 u64: |x| x as u64 ^ 1 << 63, |y| (y ^ 1 << 63) as i64;
}

// So do the other bits of a negative float.
keys! {
    false:
    f32 u32: |x| x.to_bits() ^ ((x.to_bits() as i32 >> 31) as u32 | 1 << 31),
        |y| f32::from_bits(y ^ ((!y as i32 >> 31) as u32 | 1 << 31));
    f64 u64: |x| x.to_bits() ^ ((x.to_bits() as i64 >> 63) as u64 | 1 << 63),
        |y| f64::from_bits(y ^ ((!y as i64 >> 63) as u64 | 1 << 63));
}
