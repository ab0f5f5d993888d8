//! Monoids that wrap one plain value: scans read and write the value itself.

use super::{All, And, Any, LogSumExp, Max, Maximum, Min, Minimum, Or, Product, Sum, Xor};
use crate::prelude::*;

/// A monoid that is one value in memory, for [`Scan::plain`]: `Sum<f64>` is an `f64`.
///
/// ```
/// use monoscan::{ops::Plain, prelude::*};
///
/// #[scan_monoid]
/// #[derive(Clone, Copy)]
/// struct Gcd(u32);
/// # #[scan_monoid]
/// # impl Monoid for Gcd {
/// #     fn identity() -> Self { Gcd(0) }
/// #     fn combine(self, next: Self) -> Self { Gcd(self.0 | next.0) }
/// # }
///
/// impl Plain for Gcd { type Value = u32; }
/// ```
///
/// A `Value` of other components is [`Error::Invalid`](crate::Error::Invalid) when a scan is built.
pub trait Plain: Monoid {
    /// The value that it wraps.
    type Value: ScanType;
}

macro_rules! plain {
    ($($monoid:ident: $bound:ident;)*) => {$(
        impl<T: $bound> Plain for $monoid<T> {
            type Value = T;
        }
    )*};
}

plain! {
    Sum: Num;
    Product: Num;
    Min: Num;
    Max: Num;
    Minimum: Real;
    Maximum: Real;
    And: BitLike;
    Or: BitLike;
    Xor: BitLike;
    LogSumExp: Real;
}

impl Plain for All {
    type Value = bool;
}

impl Plain for Any {
    type Value = bool;
}
