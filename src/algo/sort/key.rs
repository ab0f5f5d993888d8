//! Numbers by which records are sorted.

use crate::lang::Num;

/// A number by which records are sorted: `u8` to `u64`, `i8` to `i64`, `f32` and `f64`.
pub trait SortKey: Num + sealed::Ordered {}

pub(in crate::algo) mod sealed {
    pub trait Ordered: Copy {
        /// The key of such a number, of types whose keys are equal only if all their bits are: −0 equals +0, and NaN not even itself.
        const OF_ORDERED: Option<fn(u64) -> Self>;

        /// A number that is less if and only if the key comes earlier.
        fn ordered(self) -> u64;
    }
}

macro_rules! keys {
    ($($key:ident $bits:ident: |$x:ident| $ordered:expr, $key_of:expr;)*) => {$(
        impl SortKey for $key {}

        impl sealed::Ordered for $key {
            const OF_ORDERED: Option<fn(u64) -> $key> = $key_of;

            #[inline]
            fn ordered(self) -> u64 {
                let $x = self;
                let ordered: $bits = $ordered;
                ordered.into()
            }
        }
    )*};
}

// A sign counts the other way round; so do the other bits of a negative float.
keys! {
    u8 u8: |x| x, Some(|y| y as u8);
    u16 u16: |x| x, Some(|y| y as u16);
    u32 u32: |x| x, Some(|y| y as u32);
    u64 u64: |x| x, Some(|y| y);
    i8 u8: |x| x as u8 ^ 1 << 7, Some(|y| (y as u8 ^ 1 << 7) as i8);
    i16 u16: |x| x as u16 ^ 1 << 15, Some(|y| (y as u16 ^ 1 << 15) as i16);
    i32 u32: |x| x as u32 ^ 1 << 31, Some(|y| (y as u32 ^ 1 << 31) as i32);
    i64 u64: |x| x as u64 ^ 1 << 63, Some(|y| (y ^ 1 << 63) as i64);
    f32 u32: |x| x.to_bits() ^ ((x.to_bits() as i32 >> 31) as u32 | 1 << 31), None;
    f64 u64: |x| x.to_bits() ^ ((x.to_bits() as i64 >> 63) as u64 | 1 << 63), None;
}
