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
//!
//! // From another state, backwards, in segments; along an axis of an array; in chunks of a stream: see `Request`.
//! let start = Affine { a: 1.0, b: 10.0 };
//! assert_eq!(solve.init(start).segmented(&[true, true, false]).inclusive((&a, &b))?, [21.0, 8.0, 32.0]);
//! # Ok::<(), monoscan::Error>(())
//! ```

mod at;
mod builder;
mod built;
mod columns;
mod device;
mod element;
mod inspect;
mod loops;
pub mod native;
#[cfg(feature = "ndarray")]
mod ndarray;
mod operator;
mod outputs;
mod over;
mod passes;
mod place;
mod program;
mod request;
mod requested;
mod results;
mod segments;
mod short;
mod states;
mod stream;
mod strided;
mod totals;
mod translation;
mod witness;

use std::marker::PhantomData;
use std::sync::OnceLock;

use monoscan_runtime::{Device, DynScan, Error};

pub use builder::ScanBuilder;
pub use columns::{Columns, Parameterised, Record};
pub use device::{DeviceStrided, DeviceStridedMut, DeviceVec, Pending};
pub use element::Element;
pub use loops::{LoopBuilder, State};
pub use operator::Operator;
pub use outputs::{ColumnsMut, Outputs, Unzipped};
pub use over::Over;
pub use place::{Host, OnDevice, Place};
#[cfg(feature = "lexer")]
pub(crate) use place::{of_slice, of_slice_into, through, through_into};
pub(crate) use request::Plain;
pub use request::{Request, WithTotals};
pub use segments::{ByKey, Keys, Segments, by_key};
pub use states::{Cascade, Stages, States};
pub use stream::{ChunkStream, RowStream};
pub use strided::{Strided, StridedMut};

use crate::lang::{self, Monoid, ScanType};

/// A compiled scan of the monoid `S` over records `In`, which gives records `Out`.
///
/// For `x[i] = lift(record i)`, with ⊕ for `combine`, e for the identity and n records,
///
/// ```text
/// inclusive:  y[i] = project(e ⊕ x[0] ⊕ … ⊕ x[i])
/// exclusive:  y[i] = project(e ⊕ x[0] ⊕ … ⊕ x[i-1])        y[0] = project(e)
/// reduce:     e ⊕ x[0] ⊕ … ⊕ x[n-1]
/// ```
///
/// for 0 ≤ i < n, and nothing for n = 0. Integers and tables are exact. Floating-point results are the same on
/// every run of one machine and for any number of threads. They are associated otherwise than by the sequential loop, and another
/// processor, whose caches and vectors differ, may associate them in its own way.
///
/// Each of these may start from another state, run backwards, or over many segments or rows at once: see [`Request`], which
/// has all the formulas.
///
/// A cascade of two or three stages, each a scan that sees the states of those before it, is a `Scan<(A, B), In, Out>` or
/// `Scan<(A, B, C), In, Out>`: see [`ScanBuilder::then`]. With [`filter`](ScanBuilder::filter), only some records are written.
///
/// A `Scan` is cheap to clone, and may be shared between threads. Its code is compiled once for equal programs and freed
/// with the last of them. One call costs about two reads of the input from cache and one from memory, and one write.
pub struct Scan<S, In = (S,), Out = S> {
    inner: DynScan,
    /// The same for columns whose bytes may be no values, once it was asked for.
    checked_columns: OnceLock<DynScan>,
    types: PhantomData<fn(In, S) -> Out>,
}

impl<S, In, Out> Scan<S, In, Out> {
    fn of(inner: DynScan) -> Self {
        Scan { inner, checked_columns: OnceLock::new(), types: PhantomData }
    }
}

impl<O: ScanType> Scan<O> {
    /// The scan of an operator's own values: records and results are values. `O` is a monoid, which then is the state, or a
    /// [`Semigroup`](crate::ops::Semigroup), whose state says whether there was a value.
    ///
    /// Judges the laws of `M` (once for equal operators), checks that the IR computes what the Rust code does, plans and compiles:
    /// one or two milliseconds in all for states of a few components, or little if an equal scan is in use. The time goes with the
    /// instructions of `combine`: seven milliseconds for [`Matrix<f32, 8>`](crate::ops::Matrix), and thirty for 4 × 4 matrices of logarithms.
    /// Kernels that an inclusive scan of a short line does not need are compiled when a call first needs them.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::new()?;
    /// assert_eq!(sums.inclusive(&[Sum(2), Sum(3)])?, [Sum(2), Sum(5)]); // records and results are states
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotAMonoid`] with a counterexample if a law is refuted. [`Error::Trace`] if the operator is no finite
    /// straight-line program. [`Error::StateSize`] if the state takes more than 256 bytes, [`Error::EmptyState`] if none.
    /// [`Error::Invalid`] if a record takes more than 4096 bytes.
    pub fn new<M: Monoid>() -> Result<Scan<M, (O,), O>, Error>
    where
        O: Operator<M>,
    {
        Scan::<O>::builder().build()
    }

    /// For a lift, a project, more stages, or options.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let lengths = Scan::<Sum<u64>>::builder()
    ///     .lift(scan!(|start: u64, end: u64| -> Sum<u64> { Sum(end - start) })) // a column for each argument
    ///     .project(scan!(|sum: Sum<u64>| -> u64 { sum.0 }))
    ///     .build()?;
    /// assert_eq!(lengths.inclusive((&[0, 5], &[3, 9]))?, [3, 7]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn builder<M: Monoid>() -> ScanBuilder<M, (O,), O>
    where
        O: Operator<M>,
    {
        ScanBuilder::new()
    }
}

impl<M: Monoid> Scan<M> {
    /// The scan of plain values, for a monoid that [wraps](crate::ops::Plain) one: `f64` in and out for `Sum<f64>`. Nothing is
    /// copied or converted. Initial states, carries and totals are those of the monoid.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<f64>>::plain()?;
    /// assert_eq!(sums.inclusive(&[1.0, 2.0, 4.0])?, [1.0, 3.0, 7.0]);
    /// assert_eq!(sums.reduce(&[1.0, 2.0, 4.0])?, Sum(7.0));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Scan::new).
    #[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
    pub fn plain() -> Result<Scan<M, (M::Value,), M::Value>, Error>
    where
        M: crate::ops::Plain,
    {
        Scan::<M>::builder().plain().build()
    }
}

impl<S: States, In, Out> Scan<S, In, Out> {
    /// The same scan with these values of its parameters: those of [`lift_with`](ScanBuilder::lift_with),
    /// [`lift_at_with`](ScanBuilder::lift_at_with), [`then_with`](ScanBuilder::then_with), [`filter_with`](ScanBuilder::filter_with) and
    /// [`project_with`](ScanBuilder::project_with), or the tuple of those that were used. Nothing is compiled again.
    ///
    /// ```
    /// use monoscan::{Error, ops::Affine, prelude::*};
    ///
    /// // y moves towards x by a part of the distance.
    /// let lift = scan!(|rate: f64, x: f64| -> Affine<f64> { Affine { a: 1.0 - rate, b: rate * x } });
    /// let smooth = Scan::<Affine<f64>>::builder().lift_with(0.5, lift).build()?;
    /// assert_eq!(smooth.reduce(&[8.0, 8.0])?.b, 6.0);
    /// assert_eq!(smooth.with(0.25)?.reduce(&[8.0, 8.0])?.b, 3.5);
    /// assert!(matches!(smooth.with(1u8), Err(Error::Parameters { .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameters`] if these are not of the types of the scan's parameters.
    pub fn with<P: ScanType>(&self, parameters: P) -> Result<Scan<S, In, Out>, Error> {
        Ok(Scan::of(self.inner.with(&lang::to_constants(&parameters))?))
    }

    /// The same scan, every call of which finds the first record at which an integer overflows in the sequential loop, or that
    /// is out of order.
    ///
    /// A call that succeeds has given what the loop gives, rounding of floats apart; also of operators whose laws hold only
    /// [where nothing overflows](crate::Judgement::overflow_matters_to), for whose states this is compared. Else it is
    ///
    /// - [`Error::Overflowed`] with the record at which arithmetic of Rust would panic first in a build with overflow checks: an
    ///   overflow counts if a result hangs on it, so not if it is in an arm that is not taken, or meant, as in `wrapping_add`;
    ///   an index past the end, and `clamp` with bounds in the wrong order, are not found;
    /// - [`Error::OutOfOrder`] with the first record that does not [follow](Monoid::follows) the state before it;
    /// - [`Error::CheckedLoop`] from a scan of a [loop](Scan::from_loop) that keeps records, or another one that cannot be
    ///   checked;
    /// - [`Error::Regrouped`] if the loop does not overflow, but elements combined in another order do, and a state before this
    ///   record came out different.
    ///
    /// Of a scan of a loop it is the loop's own step, as it was written, that is checked; its integers that hang on no rounding are
    /// compared.
    ///
    /// After an error outputs hold anything, and a carry is as it was. Records are numbered as in the columns of the call,
    /// whatever its segments, rows and direction; the first is meant in the order of the scan, and row by row. A call reads
    /// its input one time more than otherwise, and not in vectors: a sum of `i32` takes nine times the instructions. Scans in
    /// which nothing can overflow, or be out of order, are not slowed down.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::new()?.checked();
    /// let records = [Sum(i32::MAX), Sum(-1), Sum(1), Sum(1), Sum(-1)];
    /// assert_eq!(sums.inclusive(&records[..3])?[2], Sum(i32::MAX));
    /// assert!(matches!(sums.inclusive(&records), Err(Error::Overflowed { index: 3, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn checked(&self) -> Scan<S, In, Out> {
        Scan::of(self.inner.checked())
    }

    /// The same scan on another device: judged once, with the same options. Its methods take slices, which are carried there
    /// and back piece by piece while it scans, and [`DeviceVec`]s, which stay there.
    ///
    /// ```
    /// use monoscan::{Device, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::new()?;
    /// let sums = match Device::cuda(0) {
    ///     Ok(gpu) => sums.on(gpu)?,
    ///     Err(why) => {
    ///         println!("on the CPU, since {why}");
    ///         sums
    ///     }
    /// };
    /// assert_eq!(sums.inclusive(&[Sum(3), Sum(1)])?, [Sum(3), Sum(4)]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] in a build that makes no kernels for the device; [`Error::Cuda`] if its driver is too old for them.
    pub fn on(&self, device: impl Into<Device>) -> Result<Scan<S, In, Out>, Error> {
        Ok(Scan::of(self.inner.on(device)?))
    }

    /// The same scan on a GPU, by kernels that were made ahead of time; see [`DynScan::on_kernels`].
    ///
    /// # Errors
    /// As there; [`Error::Aot`] if they were made of another program than this scan's.
    ///
    /// # Safety
    /// As there: PTX and manifest of each kernel are what monoscan made of one program.
    #[cfg(feature = "cuda")]
    pub unsafe fn on_kernels(
        &self,
        device: impl Into<Device>,
        kernels: &[monoscan_runtime::gpu::AotKernel],
    ) -> Result<Scan<S, In, Out>, Error> {
        // SAFETY: the caller says so.
        Ok(Scan::of(unsafe { self.inner.on_kernels(device, kernels) }?))
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        self.inner.device()
    }

    /// A copy of these records in the memory of the scan's device; see [`DeviceVec`].
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// // On the CPU columns are slices, and there is nowhere to copy them to.
    /// assert!(matches!(sums.upload(&[1, 2]), Err(Error::Device(_))));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] if the scan is on the CPU; [`Error::Cuda`] if the device has too little memory or fails.
    pub fn upload<T: ScanType>(&self, records: &[T]) -> Result<DeviceVec<T>, Error> {
        DeviceVec::upload(self.inner.device(), records)
    }

    /// The start of every sequence without an initial state, and a stream's first carry: the identities of all stages, or
    /// the initial state of a [loop](Scan::from_loop).
    ///
    /// ```
    /// use monoscan::{State, ops::Max, prelude::*};
    ///
    /// assert_eq!(Scan::<Max<i32>>::new()?.identity(), Max(i32::MIN));
    /// let balances = Scan::from_loop(scan!(|y: i32, x: i32| -> i32 { y + x }), 100)?;
    /// assert_eq!(balances.identity(), State(100));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn identity(&self) -> S {
        match self.inner.derivation() {
            Some(derivation) => lang::from_constants(derivation.initial.iter().copied()),
            None => S::identities(),
        }
    }
}
