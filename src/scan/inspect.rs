//! Questions to a [`Scan`]: its laws, plan and code.

use std::fmt;

use monoscan_ir::laws::Judgement;
use monoscan_runtime::{DynScan, Plan, Representation};

use super::Scan;

impl<S, In, Out> Scan<S, In, Out> {
    /// The verdict on the laws with the conditions under which they hold; what will run, how fast it is expected to be on long
    /// lines and what bounds it, the bytes moved, and whether results are rounded.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// println!("{}", sums.explain());
    /// assert!(sums.explain().lines().count() < sums.explain_verbose().lines().count());
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn explain(&self) -> String {
        self.inner.explain()
    }

    /// The same, and how it was chosen: the interleave factor, tiles, kernels and their cycles, work and depth.
    pub fn explain_verbose(&self) -> String {
        self.inner.explain_verbose()
    }

    /// The program as text, in one of the representations it is compiled through.
    ///
    /// ```
    /// use monoscan::{Representation, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// // The text form can be read again, by `ir::text::parse`.
    /// assert!(sums.emit(Representation::Ir).contains("combine"));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn emit(&self, representation: Representation) -> String {
        self.inner.emit(representation)
    }

    /// The verdicts on the operator's laws, and under which conditions they hold; of a cascade, the first stage's.
    ///
    /// ```
    /// use monoscan::prelude::*;
    ///
    /// /// Where a path of steps ends, and the highest that it went.
    /// #[scan_monoid]
    /// #[derive(Clone, Copy)]
    /// struct Path { end: i32, peak: i32 }
    ///
    /// #[scan_monoid]
    /// impl Monoid for Path {
    ///     fn identity() -> Self { Path { end: 0, peak: 0 } }
    ///     fn combine(self, next: Self) -> Self {
    ///         Path { end: self.end + next.end, peak: self.peak.max(self.end + next.peak) }
    ///     }
    ///     fn valid(self) -> bool { self.peak >= 0 && self.peak >= self.end }
    /// }
    ///
    /// // `max` and `+` are a monoid as long as no sum overflows: where one does, Rust would panic, or compare what wrapped.
    /// let scan = Scan::<Path>::new()?;
    /// assert_eq!(scan.judgement().overflow_matters_to(), [0, 1]);
    /// assert!(scan.explain().contains("laws of `end`, `peak` hold if no integer overflows"));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn judgement(&self) -> &Judgement {
        self.inner.judgement()
    }

    /// The verdicts on the laws of each stage's operator.
    pub fn judgements(&self) -> impl Iterator<Item = &Judgement> {
        self.inner.judgements()
    }

    /// The schedule that was chosen.
    pub fn plan(&self) -> &Plan {
        self.inner.plan()
    }

    /// The same scan over columns that are checked at run time, by generated code alone.
    pub fn as_dyn(&self) -> &DynScan {
        if self.inner.has_natives() { self.checked_columns.get_or_init(|| self.inner.generated()) } else { &self.inner }
    }

    /// The same, which may call the functions that the scan was made of.
    ///
    /// # Safety
    /// Columns hold values of this scan's types: no `bool` that is neither 0 nor 1.
    #[doc(hidden)]
    pub unsafe fn as_dyn_of_values(&self) -> &DynScan {
        &self.inner
    }
}

impl<S, In, Out> Clone for Scan<S, In, Out> {
    fn clone(&self) -> Self {
        Scan::of(self.inner.clone())
    }
}

impl<S, In, Out> fmt::Debug for Scan<S, In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scan").field(&self.inner).finish()
    }
}
