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
}
