//! [`Monoid`]: a state type, an associative `combine`, and its `identity`.

use super::scan_type::{ScanType, V};

/// An associative operator with its identity: what a scan is made of.
///
/// Put `#[scan_monoid]` on the struct and on this `impl`. `combine(self, next)` must be associative, and `identity()`
/// must change nothing on either side; both are judged before anything is compiled.
///
/// ```
/// use monoscan::prelude::*;
///
/// /// x ↦ a·x + b
/// #[scan_monoid]
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Affine<T> { a: T, b: T }
///
/// #[scan_monoid]
/// impl<T: Real> Monoid for Affine<T> {
///     fn identity() -> Self { Affine { a: T::ONE, b: T::ZERO } }
///     fn combine(self, next: Self) -> Self { Affine { a: next.a * self.a, b: next.a * self.b + next.b } }
/// }
/// assert_eq!(Affine { a: 2.0, b: 1.0 }.combine(Affine { a: 3.0, b: 4.0 }), Affine { a: 6.0, b: 7.0 });
/// ```
pub trait Monoid: MonoidIr {
    /// The state that changes nothing.
    fn identity() -> Self;

    /// `self` and then `next`, which comes later in the array.
    fn combine(self, next: Self) -> Self;

    /// Whether this state can occur. The laws are judged on such states only, and `combine` must not leave them.
    fn valid(self) -> bool {
        true
    }

    /// Whether `next` may come after `self`: sorted times, adjoining ranges. Laws are asked only of sequences in which each
    /// element follows the state before it, so `combine` may rely on it.
    ///
    /// `follows` must be true where one of the two is the identity, and hold however a sequence is grouped: if `y` follows
    /// `x`, and `z` follows `x.combine(y)`, then `z` follows `y`, and `y.combine(z)` follows `x`. That is judged with the laws.
    ///
    /// Records that do not follow each other give a result that depends on how the scan is divided, as an integer that
    /// overflows does. [`Scan::checked`](crate::Scan::checked) reports the first such record.
    ///
    /// ```
    /// use monoscan::{Error, prelude::*};
    ///
    /// /// The longest pause between events whose times are sorted.
    /// #[scan_monoid]
    /// #[derive(Clone, Copy, Debug, PartialEq)]
    /// struct Pause { any: bool, first: u64, last: u64, longest: u64 }
    ///
    /// #[scan_monoid]
    /// impl Monoid for Pause {
    ///     fn identity() -> Self { Pause { any: false, first: 0, last: 0, longest: 0 } }
    ///     fn combine(self, next: Self) -> Self {
    ///         let between = if self.any && next.any { next.first - self.last } else { 0 };
    ///         Pause {
    ///             any: self.any || next.any,
    ///             first: if self.any { self.first } else { next.first },
    ///             last: if next.any { next.last } else { self.last },
    ///             longest: self.longest.max(next.longest).max(between),
    ///         }
    ///     }
    ///     fn valid(self) -> bool {
    ///         if self.any { self.first <= self.last } else { self.first == 0 && self.last == 0 && self.longest == 0 }
    ///     }
    ///     fn follows(self, next: Self) -> bool { !self.any || !next.any || self.last <= next.first }
    /// }
    ///
    /// let pauses = Scan::<Pause>::builder()
    ///     .lift(scan!(|time: u64| -> Pause { Pause { any: true, first: time, last: time, longest: 0 } }))
    ///     .project(scan!(|pause: Pause| -> u64 { pause.longest }))
    ///     .build()?;
    /// assert_eq!(pauses.inclusive(&[10, 12, 40, 41])?, [0, 2, 28, 28]);
    /// assert!(matches!(pauses.checked().inclusive(&[10, 12, 11]), Err(Error::OutOfOrder { index: 2, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    fn follows(self, _next: Self) -> bool {
        true
    }
}

/// The operator as IR, written by `#[scan_monoid]` beside each [`Monoid`].
#[diagnostic::on_unimplemented(
    message = "the `combine` of `{Self}` has not been lowered",
    label = "no `#[scan_monoid]` here",
    note = "put `#[scan_monoid]` on the `impl Monoid for {Self}`"
)]
pub trait MonoidIr: ScanType {
    /// `combine` on handles.
    #[doc(hidden)]
    fn trace_combine(earlier: V<Self>, later: V<Self>) -> V<Self>;

    /// `valid` on a handle; none where the `impl` does not write it, and every state is valid.
    #[doc(hidden)]
    fn trace_valid(_state: V<Self>) -> Option<V<bool>> {
        None
    }

    /// `follows` on handles; none where the `impl` does not write it, and every state may follow every other.
    #[doc(hidden)]
    fn trace_follows(_earlier: V<Self>, _later: V<Self>) -> Option<V<bool>> {
        None
    }
}
