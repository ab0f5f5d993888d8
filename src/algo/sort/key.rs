//! Numbers by which records are sorted.

use crate::lang::Num;

/// A number by which records are sorted: `u8` to `u64`, `i8` to `i64`, `f32` and `f64`.
pub trait SortKey: Num + sealed::Ordered {}

pub(super) mod sealed {
    pub trait Ordered: Copy {
        /// A number that is less if and only if the key comes earlier.
        fn ordered(self) -> u64;
    }
}

macro_rules! keys {
    ($($key:ident $bits:ident: |$x:ident| $ordered:expr;)*) => {$(
        impl SortKey for $key {}

        impl sealed::Ordered for $key {
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
    u8 u8: |x| x;
    u16 u16: |x| x;
    u32 u32: |x| x;
    u64 u64: |x| x;
    i8 u8: |x| x as u8 ^ 1 << 7;
    i16 u16: |x| x as u16 ^ 1 << 15;
    i32 u32: |x| x as u32 ^ 1 << 31;
    i64 u64: |x| x as u64 ^ 1 << 63;
    f32 u32: |x| x.to_bits() ^ ((x.to_bits() as i32 >> 31) as u32 | 1 << 31);
    f64 u64: |x| x.to_bits() ^ ((x.to_bits() as i64 >> 63) as u64 | 1 << 63);
}
