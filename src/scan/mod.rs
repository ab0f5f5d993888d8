//! [`Scan`]: the scan of a monoid that was written in Rust.
//!
//! ```
//! use monoscan::prelude::*;
//!
//! #[scan_monoid]
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Affine { a: f32, b: f32 }
//!
//! #[scan_monoid]
//! impl Monoid for Affine {
//!     fn identity() -> Self { Affine { a: 1.0, b: 0.0 } }
//!     fn combine(self, next: Self) -> Self { Affine { a: next.a * self.a, b: next.a * self.b + next.b } }
//! }
//!
//! // Records in, states out.
//! let maps = [Affine { a: 2.0, b: 1.0 }, Affine { a: 0.5, b: 3.0 }];
//! let composed: Vec<Affine> = Scan::<Affine>::new()?.inclusive(&maps)?;
//! assert_eq!(composed[1], Affine { a: 1.0, b: 3.5 });
//!
//! // Two columns in, one out: y[i] = a[i]·y[i-1] + b[i].
//! #[scan_fn]
//! fn step(a: f32, b: f32) -> Affine { Affine { a, b } }
//! #[scan_fn]
//! fn value(state: Affine) -> f32 { state.b }
//!
//! let solve = Scan::<Affine>::builder().lift(step {}).project(value {}).build()?;
//! let (a, b) = ([2.0, 0.5, 4.0], [1.0, 3.0, 0.0]);
//! assert_eq!(solve.inclusive((&a, &b))?, [1.0, 3.5, 14.0]);
//! assert_eq!(solve.exclusive((&a, &b))?, [0.0, 1.0, 3.5]);
//! # Ok::<(), monoscan::Error>(())
//! ```

mod builder;
mod columns;
mod translation;

use std::fmt;
use std::marker::PhantomData;

use scan_ir::laws::Judgement;
use scan_ir::{Layout, Mode};
use scan_runtime::{ColumnMut, DynScan, Error, Plan, Stage, collect};

pub use builder::ScanBuilder;
pub use columns::{Columns, Record};

use crate::lang::{Monoid, ScanType};

/// A compiled scan of the monoid `M` over records `In`, which gives records `Out`.
///
/// For `x[i] = lift(record i)`, with ⊕ for `combine`, e for the identity and n records,
///
/// ```text
/// inclusive:  y[i] = project(e ⊕ x[0] ⊕ … ⊕ x[i])
/// exclusive:  y[i] = project(e ⊕ x[0] ⊕ … ⊕ x[i-1])        y[0] = project(e)
/// ```
///
/// for 0 ≤ i < n, and nothing for n = 0. Integers and tables are exact. Floating-point results are the same on every
/// run and for any number of threads, but associated otherwise than the sequential loop associates them.
///
/// A `Scan` is cheap to clone, and may be shared between threads. Its code is compiled once for equal programs and freed
/// with the last of them. One call costs about two reads of the input from cache and one from memory, and one write.
pub struct Scan<M, In = (M,), Out = M> {
    inner: DynScan,
    types: PhantomData<fn(In, M) -> Out>,
}

impl<M: Monoid> Scan<M> {
    /// The scan of states themselves: records are states, results are states.
    ///
    /// Judges the laws of `M` (once for equal operators, under 2 ms), checks that the IR computes what the Rust code does,
    /// plans and compiles: a few milliseconds in all, or little if an equal scan is in use.
    ///
    /// # Errors
    /// [`Error::NotAMonoid`] with a counterexample if a law is refuted. [`Error::Trace`] if the operator is no finite
    /// straight-line program. [`Error::Unsupported`] if the state takes more than 256 bytes, or none.
    /// [`Error::Invalid`] if a record takes more than 4096 bytes.
    pub fn new() -> Result<Scan<M>, Error> {
        Scan::builder().build()
    }

    /// For a lift, a project, or options.
    pub fn builder() -> ScanBuilder<M, (M,), M> {
        ScanBuilder::new()
    }
}

impl<M: Monoid, In: Record, Out: ScanType> Scan<M, In, Out> {
    /// `y[i]` covers the records up to and including i.
    ///
    /// # Errors
    /// [`Error::Length`] if the columns differ in length; [`Error::OutOfMemory`].
    pub fn inclusive(&self, input: impl Columns<In>) -> Result<Vec<Out>, Error> {
        self.scan(Mode::Inclusive, &input)
    }

    /// `y[i]` covers the records before i.
    ///
    /// # Errors
    /// As [`inclusive`](Scan::inclusive).
    pub fn exclusive(&self, input: impl Columns<In>) -> Result<Vec<Out>, Error> {
        self.scan(Mode::Exclusive, &input)
    }

    /// [`inclusive`](Scan::inclusive) into a slice of the same length.
    ///
    /// # Errors
    /// [`Error::Length`] if a column or the output has another length than the first column; nothing is written then.
    pub fn inclusive_into(&self, input: impl Columns<In>, output: &mut [Out]) -> Result<(), Error> {
        self.scan_into(Mode::Inclusive, &input, output)
    }

    /// [`exclusive`](Scan::exclusive) into a slice of the same length.
    ///
    /// # Errors
    /// As [`inclusive_into`](Scan::inclusive_into).
    pub fn exclusive_into(&self, input: impl Columns<In>, output: &mut [Out]) -> Result<(), Error> {
        self.scan_into(Mode::Exclusive, &input, output)
    }

    fn scan(&self, mode: Mode, input: &impl Columns<In>) -> Result<Vec<Out>, Error> {
        let columns = columns::read(input, &self.inner.program().inputs);
        let len = columns.first().map_or(0, |column| column.len());
        // SAFETY: the layout is that of `Out`, and a scan that succeeds has written every record.
        unsafe { collect(len, self.output_layout(), |output| self.inner.scan_into(mode, &columns, &mut [output])) }
    }

    fn scan_into(&self, mode: Mode, input: &impl Columns<In>, output: &mut [Out]) -> Result<(), Error> {
        let columns = columns::read(input, &self.inner.program().inputs);
        // SAFETY: the memory is an exclusively borrowed slice of `Out`, whose layout this is.
        let output = unsafe { ColumnMut::from_raw(output.as_mut_ptr().cast(), output.len(), self.output_layout()) };
        self.inner.scan_into(mode, &columns, &mut [output])
    }

    fn output_layout(&self) -> &Layout {
        &self.inner.program().output.columns[0]
    }
}

impl<M, In, Out> Scan<M, In, Out> {
    /// The verdict on the laws, and the plan with its reasons, its work, depth and bytes moved.
    pub fn explain(&self) -> String {
        self.inner.explain()
    }

    /// The program as text at one stage of its compilation.
    pub fn emit(&self, stage: Stage) -> String {
        self.inner.emit(stage)
    }

    /// What is known about the operator's laws.
    pub fn judgement(&self) -> &Judgement {
        self.inner.judgement()
    }

    /// The schedule that was chosen.
    pub fn plan(&self) -> &Plan {
        self.inner.plan()
    }

    /// The same scan over columns that are checked at run time.
    pub fn as_dyn(&self) -> &DynScan {
        &self.inner
    }
}

impl<M, In, Out> Clone for Scan<M, In, Out> {
    fn clone(&self) -> Self {
        Scan { inner: self.inner.clone(), types: PhantomData }
    }
}

impl<M, In, Out> fmt::Debug for Scan<M, In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scan").field(&self.inner).finish()
    }
}
