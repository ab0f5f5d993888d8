//! Numbers: sums, products, extremes and where they stand.

use crate::prelude::*;

/// x + y. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Sum, prelude::*};
/// let sums = Scan::<Sum<u32>>::new()?.exclusive(&[Sum(3), Sum(1), Sum(4)])?;
/// assert_eq!(sums, [Sum(0), Sum(3), Sum(4)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sum<T>(pub T);

#[scan_monoid]
impl<T: Num> Monoid for Sum<T> {
    fn identity() -> Self {
        Sum(T::ZERO)
    }

    fn combine(self, next: Self) -> Self {
        Sum(self.0 + next.0)
    }
}

/// x · y. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Product, prelude::*};
/// let factorials = Scan::<Product<u64>>::new()?.inclusive(&[Product(1), Product(2), Product(3), Product(4)])?;
/// assert_eq!(factorials[3], Product(24));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product<T>(pub T);

#[scan_monoid]
impl<T: Num> Monoid for Product<T> {
    fn identity() -> Self {
        Product(T::ONE)
    }

    fn combine(self, next: Self) -> Self {
        Product(self.0 * next.0)
    }
}

/// The smaller of x and y; NaN is skipped. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Min, prelude::*};
/// let lows = Scan::<Min<f32>>::new()?.inclusive(&[Min(3.0), Min(f32::NAN), Min(1.0)])?;
/// assert_eq!(lows, [Min(3.0), Min(3.0), Min(1.0)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Min<T>(pub T);

#[scan_monoid]
impl<T: Num> Monoid for Min<T> {
    fn identity() -> Self {
        Min(T::HIGHEST)
    }

    fn combine(self, next: Self) -> Self {
        Min(self.0.smaller(next.0))
    }
}

/// The larger of x and y; NaN is skipped. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Max, prelude::*};
/// let highs = Scan::<Max<i8>>::new()?.inclusive(&[Max(-3), Max(-5), Max(2)])?;
/// assert_eq!(highs, [Max(-3), Max(-3), Max(2)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Max<T>(pub T);

#[scan_monoid]
impl<T: Num> Monoid for Max<T> {
    fn identity() -> Self {
        Max(T::LOWEST)
    }

    fn combine(self, next: Self) -> Self {
        Max(self.0.larger(next.0))
    }
}

/// The smaller of x and y, NaN if one is, as `minimum` of IEEE 754-2019, but that either of two zeros may come out. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Minimum, prelude::*};
/// let lows = Scan::<Minimum<f32>>::plain()?.inclusive(&[3.0, f32::NAN, 1.0])?;
/// assert!(lows[0] == 3.0 && lows[1].is_nan() && lows[2].is_nan());
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Minimum<T>(pub T);

#[scan_monoid]
impl<T: Real> Monoid for Minimum<T> {
    fn identity() -> Self {
        Minimum(T::HIGHEST)
    }

    fn combine(self, next: Self) -> Self {
        // A sum with NaN is NaN.
        let known = !self.0.is_nan() && !next.0.is_nan();
        Minimum(if known { self.0.smaller(next.0) } else { self.0 + next.0 })
    }
}

/// The larger of x and y, NaN if one is, as `maximum` of IEEE 754-2019, but that either of two zeros may come out. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Maximum, prelude::*};
/// let highs = Scan::<Maximum<f64>>::plain()?.inclusive(&[-3.0, 2.0, f64::NAN, 5.0])?;
/// assert!(highs[1] == 2.0 && highs[2].is_nan() && highs[3].is_nan());
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Maximum<T>(pub T);

#[scan_monoid]
impl<T: Real> Monoid for Maximum<T> {
    fn identity() -> Self {
        Maximum(T::LOWEST)
    }

    fn combine(self, next: Self) -> Self {
        let known = !self.0.is_nan() && !next.0.is_nan();
        Maximum(if known { self.0.larger(next.0) } else { self.0 + next.0 })
    }
}

/// The least value and its index; of equal values the lowest index, which is the leftmost where indexes count elements.
/// NaN is skipped. Nothing has the index `u32::MAX`. Law verdict: tested.
///
/// ```
/// use monoscan::{ops::ArgMin, prelude::*};
/// let argmin = Scan::<ArgMin<f32>>::builder()
///     .lift(scan!(|value: f32, index: u32| -> ArgMin<f32> { ArgMin { value, index } }))
///     .project(scan!(|least: ArgMin<f32>| -> u32 { least.index }))
///     .build()?;
/// assert_eq!(argmin.inclusive((&[5.0, 3.0, 4.0, 3.0], &[0, 1, 2, 3]))?, [0, 1, 1, 1]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArgMin<T> {
    /// The least value.
    pub value: T,
    /// Where it stands.
    pub index: u32,
}

#[scan_monoid]
impl<T: Num> Monoid for ArgMin<T> {
    fn identity() -> Self {
        ArgMin { value: T::HIGHEST, index: u32::MAX }
    }

    fn combine(self, next: Self) -> Self {
        let value = self.value.smaller(next.value);
        let index = if self.value == next.value {
            self.index.min(next.index)
        } else if self.value == value {
            self.index
        } else {
            next.index
        };
        ArgMin { value, index }
    }
}

/// The greatest value and its index; of equal values the lowest index, which is the leftmost where indexes count
/// elements. NaN is skipped. Nothing has the index `u32::MAX`. Law verdict: tested.
///
/// ```
/// use monoscan::{ops::ArgMax, prelude::*};
/// let records = [(2, 0), (7, 1), (7, 2)].map(|(value, index)| ArgMax { value, index });
/// let highest = Scan::<ArgMax<i16>>::new()?.inclusive(&records)?;
/// assert_eq!(highest[2], ArgMax { value: 7, index: 1 });
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArgMax<T> {
    /// The greatest value.
    pub value: T,
    /// Where it stands.
    pub index: u32,
}

#[scan_monoid]
impl<T: Num> Monoid for ArgMax<T> {
    fn identity() -> Self {
        ArgMax { value: T::LOWEST, index: u32::MAX }
    }

    fn combine(self, next: Self) -> Self {
        let value = self.value.larger(next.value);
        let index = if self.value == next.value {
            self.index.min(next.index)
        } else if self.value == value {
            self.index
        } else {
            next.index
        };
        ArgMax { value, index }
    }
}
