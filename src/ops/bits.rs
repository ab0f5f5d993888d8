//! Bits and flags.

use crate::prelude::*;

/// The bits that are set in x and in y. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::And, prelude::*};
/// let common = Scan::<And<u8>>::new()?.inclusive(&[And(0b111), And(0b110), And(0b011)])?;
/// assert_eq!(common, [And(0b111), And(0b110), And(0b010)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct And<T>(pub T);

#[scan_monoid]
impl<T: BitLike> Monoid for And<T> {
    fn identity() -> Self {
        And(!T::default())
    }

    fn combine(self, next: Self) -> Self {
        And(self.0 & next.0)
    }
}

/// The bits that are set in x or in y. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Or, prelude::*};
/// let seen = Scan::<Or<u64>>::new()?.inclusive(&[Or(1), Or(4), Or(1)])?;
/// assert_eq!(seen, [Or(1), Or(5), Or(5)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Or<T>(pub T);

#[scan_monoid]
impl<T: BitLike> Monoid for Or<T> {
    fn identity() -> Self {
        Or(T::default())
    }

    fn combine(self, next: Self) -> Self {
        Or(self.0 | next.0)
    }
}

/// The bits in which x and y differ: a running parity of every bit. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Xor, prelude::*};
/// // Whether a quote is open: the parity of the quotes so far.
/// let quotes = r#"a"b c"d"#.bytes().map(|byte| Xor(byte == b'"')).collect::<Vec<_>>();
/// let open = Scan::<Xor<bool>>::new()?.inclusive(&quotes)?;
/// assert_eq!(open.iter().filter(|open| open.0).count(), 4);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Xor<T>(pub T);

#[scan_monoid]
impl<T: BitLike> Monoid for Xor<T> {
    fn identity() -> Self {
        Xor(T::default())
    }

    fn combine(self, next: Self) -> Self {
        Xor(self.0 ^ next.0)
    }
}

/// Whether all are true; true of nothing. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::All, prelude::*};
/// assert_eq!(Scan::<All>::new()?.inclusive(&[All(true), All(false), All(true)])?, [All(true), All(false), All(false)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct All(pub bool);

#[scan_monoid]
impl Monoid for All {
    fn identity() -> Self {
        All(true)
    }

    fn combine(self, next: Self) -> Self {
        All(self.0 && next.0)
    }
}

/// Whether any is true; false of nothing. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Any, prelude::*};
/// assert_eq!(Scan::<Any>::new()?.exclusive(&[Any(false), Any(true), Any(false)])?, [Any(false), Any(false), Any(true)]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Any(pub bool);

#[scan_monoid]
impl Monoid for Any {
    fn identity() -> Self {
        Any(false)
    }

    fn combine(self, next: Self) -> Self {
        Any(self.0 || next.0)
    }
}

/// The effect of digits of an addition on the carry that enters them: c ↦ generate ∨ (propagate ∧ c). Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Carry, prelude::*};
/// // Two numbers of three 64-bit digits, the least first.
/// let (a, b) = ([u64::MAX, u64::MAX, 1], [1, 0, 2]);
/// let carries = Scan::<Carry>::builder()
///     .lift(scan!(|a: u64, b: u64| -> Carry { Carry::of(a, b) }))
///     .project(scan!(|before: Carry| -> u64 { before.generate as u64 }))
///     .build()?
///     .exclusive((&a, &b))?;
/// let sum: Vec<u64> = (0..3).map(|i| a[i].wrapping_add(b[i]).wrapping_add(carries[i])).collect();
/// assert_eq!(sum, [0, 0, 4]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carry {
    /// A carry leaves, whatever enters.
    pub generate: bool,
    /// A carry leaves if one enters.
    pub propagate: bool,
}

impl Carry {
    /// The effect of adding these two digits.
    #[scan_fn(associated)]
    pub fn of(a: u64, b: u64) -> Carry {
        let (sum, generate) = a.overflowing_add(b);
        Carry { generate, propagate: sum == u64::MAX }
    }
}

#[scan_monoid]
impl Monoid for Carry {
    fn identity() -> Self {
        Carry { generate: false, propagate: true }
    }

    fn combine(self, next: Self) -> Self {
        Carry {
            generate: next.generate || (next.propagate && self.generate),
            propagate: self.propagate && next.propagate,
        }
    }
}
