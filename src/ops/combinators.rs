//! Monoids made of monoids, and of a semigroup.

use monoscan_ir::Opcode;

use crate::lang::{self, V, trace};
use crate::prelude::*;

/// Two monoids side by side. Law verdict: as of the parts.
///
/// ```
/// use monoscan::{ops::{Max, Min, Pair}, prelude::*};
/// let range = Scan::<Pair<Min<i32>, Max<i32>>>::new()?.inclusive(&[Pair(Min(2), Max(2)), Pair(Min(5), Max(5))])?;
/// assert_eq!(range[1], Pair(Min(2), Max(5)));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair<A, B>(pub A, pub B);

#[scan_monoid]
impl<A: Monoid, B: Monoid> Monoid for Pair<A, B> {
    fn identity() -> Self {
        Pair(A::identity(), B::identity())
    }

    fn combine(self, next: Self) -> Self {
        Pair(self.0.combine(next.0), self.1.combine(next.1))
    }

    fn valid(self) -> bool {
        self.0.valid() && self.1.valid()
    }

    fn follows(self, next: Self) -> bool {
        self.0.follows(next.0) && self.1.follows(next.1)
    }
}

/// Three monoids side by side. Law verdict: as of the parts.
///
/// ```
/// use monoscan::{ops::{Max, Min, Sum, Triple}, prelude::*};
/// let stats = Scan::<Triple<Sum<u32>, Min<u32>, Max<u32>>>::builder()
///     .lift(scan!(|x: u32| -> Triple<Sum<u32>, Min<u32>, Max<u32>> { Triple(Sum(x), Min(x), Max(x)) }))
///     .build()?;
/// assert_eq!(stats.inclusive(&[2, 5])?[1], Triple(Sum(7), Min(2), Max(5)));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Triple<A, B, C>(pub A, pub B, pub C);

#[scan_monoid]
impl<A: Monoid, B: Monoid, C: Monoid> Monoid for Triple<A, B, C> {
    fn identity() -> Self {
        Triple(A::identity(), B::identity(), C::identity())
    }

    fn combine(self, next: Self) -> Self {
        Triple(self.0.combine(next.0), self.1.combine(next.1), self.2.combine(next.2))
    }

    fn valid(self) -> bool {
        self.0.valid() && self.1.valid() && self.2.valid()
    }

    fn follows(self, next: Self) -> bool {
        self.0.follows(next.0) && self.1.follows(next.1) && self.2.follows(next.2)
    }
}

/// Any monoid, started over wherever `start` is set. Law verdict: as of the monoid.
///
/// ```
/// use monoscan::{ops::{Segmented, Sum}, prelude::*};
/// let sums = Scan::<Segmented<Sum<u32>>>::builder()
///     .lift(scan!(|start: bool, x: u32| -> Segmented<Sum<u32>> { Segmented { start, value: Sum(x) } }))
///     .project(scan!(|segment: Segmented<Sum<u32>>| -> u32 { segment.value.0 }))
///     .build()?;
/// assert_eq!(sums.inclusive((&[true, false, true, false], &[1, 2, 3, 4]))?, [1, 3, 3, 7]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segmented<M> {
    /// A segment starts here; of a range, somewhere in it.
    pub start: bool,
    /// The state since the last start.
    pub value: M,
}

#[scan_monoid]
impl<M: Monoid> Monoid for Segmented<M> {
    fn identity() -> Self {
        Segmented { start: false, value: M::identity() }
    }

    fn combine(self, next: Self) -> Self {
        // Before the first value of a segment comes the identity, as it does on a line of its own.
        let before = if next.start { M::identity() } else { self.value };
        Segmented { start: self.start || next.start, value: before.combine(next.value) }
    }

    fn valid(self) -> bool {
        self.value.valid()
    }

    fn follows(self, next: Self) -> bool {
        self.value.follows(next.value) || next.start
    }
}

/// A monoid with its operands exchanged: the later state comes first. Law verdict: as of the monoid.
///
/// ```
/// use monoscan::{ops::{Affine, Dual}, prelude::*};
/// let maps = [Dual(Affine { a: 2, b: 1 }), Dual(Affine { a: 3, b: 5 })];
/// // 3x + 5, and then 2x + 1
/// assert_eq!(Scan::<Dual<Affine<i64>>>::new()?.inclusive(&maps)?[1], Dual(Affine { a: 6, b: 11 }));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dual<M>(pub M);

#[scan_monoid]
impl<M: Monoid> Monoid for Dual<M> {
    fn identity() -> Self {
        Dual(M::identity())
    }

    fn combine(self, next: Self) -> Self {
        Dual(next.0.combine(self.0))
    }

    fn valid(self) -> bool {
        self.0.valid()
    }

    fn follows(self, next: Self) -> bool {
        next.0.follows(self.0)
    }
}

/// An associative operator that need not have an identity. [`Scan::new`](crate::Scan::new) and the builder take it as it is:
/// records and results are values of the operator, and the state is a [`WithIdentity`] of it, which says whether there was a
/// record. So a total of no records is one whose [`get`](WithIdentity::get) is none. An exclusive scan, of which the first
/// result would be no value, is refused unless it starts from a value, or the builder is told what to write of the state.
///
/// Put `#[scan_fn]` on `append`: it writes the second function.
///
/// ```
/// use monoscan::{ops::{Semigroup, WithIdentity}, prelude::*};
///
/// /// The first of all; there is no first of nothing.
/// #[derive(Clone, Copy, Debug, PartialEq, ScanType)]
/// struct First(u32);
///
/// impl Semigroup for First {
///     #[scan_fn]
///     fn append(self, _next: Self) -> Self { self }
/// }
///
/// let firsts = Scan::<First>::new()?;
/// assert_eq!(firsts.inclusive(&[7, 8, 9].map(First))?, [7, 7, 7].map(First));
/// assert_eq!(firsts.reduce(&[7, 8].map(First))?.get(), Some(First(7)));
/// assert_eq!(firsts.reduce(&[])?.get(), None);
/// assert!(firsts.exclusive(&[First(7)]).is_err());
/// assert_eq!(firsts.init(WithIdentity::of(First(1))).exclusive(&[First(7)])?, [First(1)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
pub trait Semigroup: ScanType {
    /// `self` and then `next`, which comes later in the array.
    fn append(self, next: Self) -> Self;

    /// Whether `next` may come after `self`, as [`Monoid::follows`] says of states: laws are asked only of sequences in which
    /// each value is preceded so, and [`Scan::checked`](crate::Scan::checked) reports the first record that is not. An `impl`
    /// that writes it puts `#[scan_fn]` on it too; without, it is not translated, and the scan is refused
    /// ([`Error::Mistranslated`](crate::Error::Mistranslated)).
    ///
    /// ```
    /// use monoscan::{Error, ops::Semigroup, prelude::*};
    ///
    /// /// A range of days, joined with the next one.
    /// #[derive(Clone, Copy, Debug, PartialEq, ScanType)]
    /// struct Days { first: u32, end: u32 }
    ///
    /// impl Semigroup for Days {
    ///     #[scan_fn]
    ///     fn append(self, next: Self) -> Self { Days { first: self.first, end: next.end } }
    ///     #[scan_fn]
    ///     fn precedes(self, next: Self) -> bool { self.end == next.first }
    /// }
    ///
    /// let joined = Scan::<Days>::new()?.checked();
    /// let days = |first, end| Days { first, end };
    /// assert_eq!(joined.inclusive(&[days(1, 3), days(3, 4)])?, [days(1, 3), days(1, 4)]);
    /// assert!(matches!(joined.inclusive(&[days(1, 3), days(4, 5)]), Err(Error::OutOfOrder { index: 1, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    fn precedes(self, _next: Self) -> bool {
        true
    }

    #[doc(hidden)]
    fn __scan_append(earlier: V<Self>, later: V<Self>) -> V<Self>;

    #[doc(hidden)]
    fn __scan_marked_append<M>(self, _: M);

    #[doc(hidden)]
    fn __scan_method_append(self, earlier: V<Self>, later: V<Self>) -> V<Self>;

    #[doc(hidden)]
    fn __scan_precedes(_earlier: V<Self>, _later: V<Self>) -> V<bool> {
        lang::ops::lift(true)
    }

    #[doc(hidden)]
    fn __scan_marked_precedes<M>(self, _: M) {}

    #[doc(hidden)]
    fn __scan_method_precedes(self, earlier: V<Self>, later: V<Self>) -> V<bool> {
        Self::__scan_precedes(earlier, later)
    }
}

/// A semigroup and a state for nothing, which is its identity. Law verdict: associativity as of the semigroup; the rest
/// is tested.
///
/// ```
/// use monoscan::{ops::{Semigroup, WithIdentity}, prelude::*};
///
/// /// The first of all; there is no first of nothing.
/// #[derive(Clone, Copy, Debug, PartialEq, ScanType)]
/// struct First(u32);
///
/// impl Semigroup for First {
///     #[scan_fn]
///     fn append(self, _next: Self) -> Self { self }
/// }
///
/// let firsts = Scan::<WithIdentity<First>>::new()?.exclusive(&[7, 8, 9].map(|x| WithIdentity::of(First(x))))?;
/// assert_eq!(firsts.iter().map(|first| first.get()).collect::<Vec<_>>(), [None, Some(First(7)), Some(First(7))]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WithIdentity<S> {
    /// Whether there is a value.
    pub present: bool,
    /// The value; all zeros if there is none.
    pub value: S,
}

impl<S: ScanType> WithIdentity<S> {
    /// A value. Scan code calls it too.
    #[scan_fn]
    pub fn of(value: S) -> Self {
        WithIdentity { present: true, value }
    }

    /// The value, if there is one.
    pub fn get(self) -> Option<S> {
        self.present.then_some(self.value)
    }
}

#[scan_monoid]
impl<S: Semigroup> Monoid for WithIdentity<S> {
    fn identity() -> Self {
        WithIdentity { present: false, value: lang::from_constants([]) }
    }

    fn combine(self, next: Self) -> Self {
        let value = if self.present && next.present {
            Semigroup::append(self.value, next.value)
        } else if self.present {
            self.value
        } else {
            next.value
        };
        WithIdentity { present: self.present || next.present, value }
    }

    fn valid(self) -> bool {
        self.present || Zeros::only(self.value)
    }

    fn follows(self, next: Self) -> bool {
        !self.present || !next.present || Semigroup::precedes(self.value, next.value)
    }
}

/// Whether a value of any scan type has zeros only: a loop over components, which scan code cannot say, so both bodies
/// are written here.
struct Zeros;

impl Zeros {
    fn only<S: ScanType>(value: S) -> bool {
        lang::to_constants(&value).iter().all(|component| component.as_f64() == 0.0)
    }

    fn __scan_only<S: ScanType>(value: V<S>) -> V<bool> {
        let yes = trace::emit(|f| f.lit(true));
        V::of(value.values().into_iter().fold(yes, |zeros, component| {
            trace::emit(|f| {
                let zero = f.constant(f.type_of(component).zero());
                let is_zero = f.binary(Opcode::Eq, component, zero);
                f.binary(Opcode::And, zeros, is_zero)
            })
        }))
    }
}
