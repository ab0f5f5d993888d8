//! Statistics that a plain sum would lose to cancellation or overflow.

use std::f64::consts::LN_2;

use crate::prelude::*;

/// Count, mean and squared deviations of a sample, merged by the formula of Chan, Golub and LeVeque (1983), which does
/// not cancel where the mean is large. Law verdict: tested.
///
/// ```
/// use monoscan::{ops::Moments, prelude::*};
/// let variances = Scan::<Moments<f64>>::builder()
///     .lift(scan!(|x: f64| -> Moments<f64> { Moments::of(x) }))
///     .project(scan!(|sample: Moments<f64>| -> f64 { Moments::variance(sample) }))
///     .build()?;
/// assert_eq!(variances.inclusive(&[1e9 + 1.0, 1e9 + 3.0, 1e9 + 2.0])?, [0.0, 1.0, 2.0 / 3.0]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments<T> {
    /// How many values, or how much they weigh.
    pub count: T,
    /// Their mean; 0 of none.
    pub mean: T,
    /// The sum of (x − mean)².
    pub squares: T,
}

impl<T: Real> Moments<T> {
    /// One value.
    #[scan_fn]
    pub fn of(x: T) -> Self {
        Moments { count: T::ONE, mean: x, squares: T::ZERO }
    }

    /// The mean of (x − mean)²; 0 of none. Scan code calls it as `Moments::variance(sample)`.
    #[scan_fn]
    pub fn variance(self) -> T {
        if self.count > T::ZERO { self.squares / self.count } else { T::ZERO }
    }
}

#[scan_monoid]
impl<T: Real> Monoid for Moments<T> {
    fn identity() -> Self {
        Moments { count: T::ZERO, mean: T::ZERO, squares: T::ZERO }
    }

    fn combine(self, next: Self) -> Self {
        let count = self.count + next.count;
        // How much of all that counts comes next; nothing, if nothing does.
        let share = if count > T::ZERO { next.count / count } else { T::ZERO };
        let shift = next.mean - self.mean;
        Moments {
            count,
            mean: self.mean + shift * share,
            squares: self.squares + next.squares + shift * shift * self.count * share,
        }
    }

    fn valid(self) -> bool {
        let none = self.count == T::ZERO && self.mean == T::ZERO && self.squares == T::ZERO;
        none || (self.count > T::ZERO && self.squares >= T::ZERO)
    }
}

/// ln(eˣ + eʸ): sums of numbers that are known by their logarithm, as probabilities are, without overflow. −∞ is the
/// logarithm of 0. Law verdict: tested.
///
/// ```
/// use monoscan::{ops::LogSumExp, prelude::*};
/// let logs = [f64::NEG_INFINITY, -1000.0, -1000.0].map(LogSumExp);
/// let sums = Scan::<LogSumExp<f64>>::new()?.inclusive(&logs)?;
/// assert_eq!(sums[0].0, f64::NEG_INFINITY);
/// assert!((sums[2].0 - (2f64.ln() - 1000.0)).abs() < 1e-12);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSumExp<T>(pub T);

#[scan_monoid]
impl<T: Real> Monoid for LogSumExp<T> {
    fn identity() -> Self {
        LogSumExp(T::NEG_INFINITY)
    }

    fn combine(self, next: Self) -> Self {
        let (high, low) = if self.0 > next.0 { (self.0, next.0) } else { (next.0, self.0) };
        // Two equal infinities have no difference.
        let more = if low == high { T::from_f64(LN_2) } else { (T::ONE + (low - high).exp()).ln() };
        LogSumExp(high + more)
    }
}
