//! Numbers by which records are sorted.

use bytemuck::Pod;

use crate::lang::Num;

/// A number by which records are sorted: `u8` to `u64`, `i8` to `i64`, `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key that a radix sort takes",
    label = "expected `u8` to `u64`, `i8` to `i64`, `f32` or `f64`",
    note = "records are sorted by such a key with `sort_with_values`; texts and other types by `slice::sort`"
)]
pub trait SortKey: Num + sealed::Ordered {}

pub(in crate::algo) mod sealed {
    use super::*;

    pub trait Ordered: Pod {
        /// The unsigned integer of as many bits.
        type Bits: SortKey<Bits = Self::Bits>;

        /// Whether the key is a float, of which some are equal though their bits are not: −0 equals +0, and NaN not even itself.
        const IS_FLOAT: bool;

        /// A number that is less if and only if the key comes earlier.
        fn ordered(self) -> u64;

        /// The key of such a number.
        fn of_ordered(number: u64) -> Self;
    }
}

macro_rules! keys {
    ($($key:ident $bits:ident $is_float:literal: |$x:ident| $ordered:expr, |$y:ident| $key_of:expr;)*) => {$(
        impl SortKey for $key {}

        impl sealed::Ordered for $key {
            type Bits = $bits;
            const IS_FLOAT: bool = $is_float;

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

// A sign counts the other way round; so do the other bits of a negative float.
keys! {
    u8 u8 false: |x| x, |y| y;
    u16 u16 false: |x| x, |y| y;
    u32 u32 false: |x| x, |y| y;
    u64 u64 false: |x| x, |y| y;
    i8 u8 false: |x| x as u8 ^ 1 << 7, |y| (y ^ 1 << 7) as i8;
    i16 u16 false: |x| x as u16 ^ 1 << 15, |y| (y ^ 1 << 15) as i16;
    i32 u32 false: |x| x as u32 ^ 1 << 31, |y| (y ^ 1 << 31) as i32;
    i64 u64 false: |x| x as u64 ^ 1 << 63, |y| (y ^ 1 << 63) as i64;
    f32 u32 true: |x| x.to_bits() ^ ((x.to_bits() as i32 >> 31) as u32 | 1 << 31),
        |y| f32::from_bits(y ^ ((!y as i32 >> 31) as u32 | 1 << 31));
    f64 u64 true: |x| x.to_bits() ^ ((x.to_bits() as i64 >> 63) as u64 | 1 << 63),
        |y| f64::from_bits(y ^ ((!y as i64 >> 63) as u64 | 1 << 63));
}
