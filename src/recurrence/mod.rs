//! Recurrences: coefficients in, a solver out, compiled at run time.
//!
//! A linear recurrence with constant coefficients,
//!
//! ```text
//! y[i] = a0·x[i] + a1·x[i−1] + … + b1·y[i−1] + b2·y[i−2] + …        x and y are 0 before the start
//! ```
//!
//! is a running sum, a digital filter, an exponential average. It is written as its [`Signature`],
//! `a0, a1, … : b1, b2, …`, as in Maleki and Burtscher, *Automatic Hierarchical Parallelization of
//! Linear Recurrences* (ASPLOS 2018). What a run of samples does to the state of such a filter is
//! an affine map, affine maps compose associatively, and so all outputs are a scan:
//!
//! ```text
//! signature.rs    the text → coefficients
//! form.rs         → a state s ↦ A·s + B·x in which the powers of A grow least
//! program.rs      → the scan: here is the monoid, and how its step becomes one multiply-add a component
//! sequential.rs   the plain loop, to time it against
//! exact.rs        the same with 32 digits, to judge both by
//! ```
//!
//! A coefficient of 0 is no term, and a sum of no terms is +0. So an infinite sample spreads no
//! further than the signature says, and where all a are 0, y is +0 whatever the sign of x, and
//! whatever is fed back.
//!
//! # Accuracy
//!
//! The scan computes each block of samples from a state of zeros and adds A^n times the state that
//! entered it. That rounds differently from the plain loop, and where powers of A are large,
//! rounding errors of the state are magnified: by up to [`Growth::peak`], which
//! [`Recurrence::explain`] prints. Two things keep that small. The state is `f64` also where
//! samples are `f32`, unless [`Precision::Samples`] is asked for. And where powers of A would grow,
//! the state is kept as differences. So sums of sums and low-pass filters come out better than from
//! the loop in the samples' type; of a filter of high order in this direct form, coefficients
//! themselves are what limits accuracy. Run such a filter as a chain of second-order sections, one
//! [`Recurrence`] after the other.
//!
//! Where powers of A leave the range of the state's type within one block, ∞ · 0 would turn good
//! outputs into NaN; such a recurrence is refused as [`RecurrenceError::Unstable`]. One that grows
//! slowly enough to be composed runs, and overflows about where the plain loop does.

mod exact;
mod form;
mod program;
mod sequential;
mod signature;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use monoscan_ir::{Diagnostics, Program, Type, verify};
use monoscan_runtime::{Device, DynScan, Error};

use crate::scan::{Columns, ColumnsMut, Place, Plain};

pub use exact::filter_exactly;
pub use form::Growth;
pub use sequential::{Sample, filter_sequentially};
pub use signature::{MAX_ORDER, Signature, SignatureError};

/// Why there is no solver for a signature.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecurrenceError {
    /// A coefficient, or what the solver makes of it, is beyond the range of the state's type.
    #[error("{coefficient} is {value:e}, which {ty} cannot hold")]
    Range {
        /// Which one.
        coefficient: String,
        /// Its value.
        value: f64,
        /// The type of the state.
        ty: Type,
    },
    /// The recurrence grows so fast that blocks of samples cannot be composed.
    #[error(
        "the recurrence is unstable: within {samples} samples it magnifies a state beyond what {ty} can compose, and \
         blocks of {block} samples are; use the plain loop, or coefficients that grow less"
    )]
    Unstable {
        /// After how many samples the growth is too large.
        samples: u64,
        /// How many samples the engine composes at once.
        block: u64,
        /// The type of the state.
        ty: Type,
    },
    /// The program is invalid: a bug in monoscan.
    #[error(transparent)]
    Invalid(#[from] Diagnostics),
    /// The scan could not be built.
    #[error(transparent)]
    Scan(#[from] Error),
}

/// A compiled recurrence over samples of type `f32` or `f64`.
///
/// ```
/// use monoscan::recurrence::Recurrence;
///
/// let sums_of_sums = Recurrence::<f32>::new(&"1 : 2, -1".parse()?)?;
/// assert_eq!(sums_of_sums.filter(&[1.0, 1.0, 1.0, 1.0])?, [1.0, 3.0, 6.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A recurrence that grows by 100 000 with every sample cannot be cut in blocks, and is refused:
///
/// ```
/// use monoscan::recurrence::{Recurrence, RecurrenceError};
///
/// let refused = Recurrence::<f64>::new(&"1 : 100000, 1".parse()?);
/// assert!(matches!(refused, Err(RecurrenceError::Unstable { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recurrence<T: Sample> {
    signature: Signature,
    form: form::Form,
    growth: Growth,
    scan: DynScan,
    samples: PhantomData<T>,
}

/// In which type a recurrence computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Precision {
    /// `f64`, whatever the samples are: `f32` samples are widened as they are read and rounded once as they are written.
    #[default]
    Double,
    /// The type of the samples: half the state for `f32`, and the rounding errors of `f32` magnified.
    Samples,
}

/// The scan program of a recurrence, for front ends that run programs themselves. It reads a column of `T` and writes one. Where
/// coefficients are so large that products overflow, its laws do not hold on all states: [`Recurrence`] assumes them.
///
/// ```
/// use monoscan::recurrence::{Precision, program};
/// use monoscan::{Call, Column, ColumnMut, DynScan, ir::verify};
///
/// let program = program::<f32>(&"1 : 0.5".parse()?, Precision::Samples)?;
/// let (x, mut y) = ([1.0f32, 0.0], [0.0f32; 2]);
/// let scan = DynScan::new(verify(program)?)?;
/// scan.run(&Call::default(), &[Column::new(&x)], &mut [ColumnMut::new(&mut y)])?;
/// assert_eq!(y, [1.0, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RecurrenceError::Range`].
pub fn program<T: Sample>(signature: &Signature, precision: Precision) -> Result<Program, RecurrenceError> {
    Ok(program::program(&form::Form::new(signature, T::TYPE, precision)?))
}

impl<T: Sample> Recurrence<T> {
    /// Compiles a solver that computes in `f64`, in a few milliseconds.
    ///
    /// ```
    /// use monoscan::recurrence::{Recurrence, Signature};
    ///
    /// let decay = Recurrence::<f64>::new(&"1 : 0.5".parse()?)?; // y[i] = x[i] + 0.5·y[i-1]
    /// assert_eq!(decay.filter(&[1.0, 0.0, 0.0])?, [1.0, 0.5, 0.25]);
    /// assert!("1, 0.5".parse::<Signature>().is_err()); // no colon, so no feedback
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RecurrenceError::Range`] and [`RecurrenceError::Unstable`]; what [`DynScan::new`] returns.
    pub fn new(signature: &Signature) -> Result<Recurrence<T>, RecurrenceError> {
        Recurrence::with_precision(signature, Precision::Double)
    }

    /// Compiles a solver that computes in a chosen type.
    ///
    /// ```
    /// use monoscan::recurrence::{Precision, Recurrence};
    ///
    /// let sums = "1 : 1".parse()?;
    /// let x = [16_777_216.0f32, 1.0, 1.0]; // 2^24, to which `f32` cannot add 1
    /// assert_eq!(Recurrence::with_precision(&sums, Precision::Double)?.filter(&x)?[2], 16_777_218.0);
    /// assert_eq!(Recurrence::with_precision(&sums, Precision::Samples)?.filter(&x)?[2], 16_777_216.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Recurrence::new).
    pub fn with_precision(signature: &Signature, precision: Precision) -> Result<Recurrence<T>, RecurrenceError> {
        let form = form::Form::new(signature, T::TYPE, precision)?;
        let program = verify(program::program(&form))?;
        // The laws hold over the reals, however large coefficients are; but products of large ones overflow on the states
        // that a refutation tries.
        let scan = match DynScan::new(program.clone()) {
            Err(Error::NotAMonoid { .. }) => DynScan::builder(program).assume_associative().build()?,
            judged => judged?,
        };
        Recurrence::over(scan, signature.clone(), form)
    }

    /// The recurrence that this scan computes, if its device can compose blocks of samples.
    fn over(scan: DynScan, signature: Signature, form: form::Form) -> Result<Recurrence<T>, RecurrenceError> {
        let block = scan.block() as u64;
        let growth = form.growth(block);
        if let Some(samples) = growth.exceeded_after {
            return Err(RecurrenceError::Unstable { samples, block, ty: form.state });
        }
        Ok(Recurrence { signature, form, growth, scan, samples: PhantomData })
    }

    /// y for x: a vector for a slice, and a [`DeviceVec`](crate::DeviceVec) for one.
    ///
    /// ```
    /// use monoscan::{Strided, recurrence::Recurrence};
    ///
    /// let means = Recurrence::<f32>::new(&"0.5, 0.5 :".parse()?)?; // of two samples; before the first is 0
    /// assert_eq!(means.filter(&[2.0, 4.0, 8.0])?, [1.0, 3.0, 6.0]);
    /// let stereo = [2.0, -1.0, 4.0, -1.0];
    /// assert_eq!(means.filter(Strided::new(&stereo, 0, 2)?)?, [1.0, 3.0]); // one channel
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn filter<C: Columns<(T,)>>(&self, x: C) -> Result<<C::Place as Place>::Vec<T>, Error> {
        Plain::<T, T>::of(&self.scan).inclusive(x)
    }

    /// y for x, into a slice of the same length.
    ///
    /// ```
    /// use monoscan::{Error, recurrence::Recurrence};
    ///
    /// let sums = Recurrence::<f64>::new(&"1 : 1".parse()?)?;
    /// let mut y = [0.0; 2];
    /// assert_eq!(sums.filter_into(&[1.0, 2.0], &mut y)?, 2);
    /// assert!(matches!(sums.filter_into(&[1.0], &mut y), Err(Error::Length { expected: 1, got: 2, .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if it has another; then nothing was written.
    pub fn filter_into<C: Columns<(T,)>>(
        &self,
        x: C,
        y: impl ColumnsMut<T, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        Plain::of(&self.scan).inclusive_into(x, y)
    }

    /// The same recurrence on another device; see [`Scan::on`](crate::Scan::on). Its [growth](Recurrence::growth) is judged
    /// again, by how many samples that device composes at once.
    ///
    /// ```no_run
    /// use monoscan::{Device, recurrence::Recurrence};
    ///
    /// let decay = Recurrence::<f32>::new(&"1 : 0.5".parse()?)?.on(Device::cuda(0)?)?;
    /// assert_eq!(decay.filter(&[1.0, 0.0, 0.0])?, [1.0, 0.5, 0.25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As there; [`RecurrenceError::Unstable`] if it grows too fast for the device.
    pub fn on(&self, device: impl Into<Device>) -> Result<Recurrence<T>, RecurrenceError> {
        Recurrence::over(self.scan.on(device)?, self.signature.clone(), self.form.clone())
    }

    /// The coefficients.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// How much rounding errors are magnified within a block.
    ///
    /// ```
    /// use monoscan::recurrence::Recurrence;
    ///
    /// let growth = |signature: &str| Ok::<_, Box<dyn std::error::Error>>(Recurrence::<f64>::new(&signature.parse()?)?.growth().peak);
    /// assert_eq!(growth("1 : 0.5")?, 0.5); // errors fade
    /// assert!(growth("1 : 2, -1")? > 100.0); // sums of sums carry them on, times the samples of a block
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn growth(&self) -> Growth {
        self.growth
    }

    /// The scan program.
    pub fn program(&self) -> &Program {
        self.scan.program()
    }

    /// The compiled scan.
    pub fn scan(&self) -> &DynScan {
        &self.scan
    }

    /// The compiled scan, for people: its laws and plan, and the growth of the recurrence.
    ///
    /// ```
    /// use monoscan::recurrence::Recurrence;
    ///
    /// println!("{}", Recurrence::<f32>::new(&"0.04 : 1.6, -0.64".parse()?)?.explain());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self) -> String {
        let Growth { samples, peak, .. } = self.growth;
        let Recurrence { signature, form, scan, .. } = self;
        format!(
            "recurrence ({signature}) of {} samples in {}\n{}\ngrowth: within {samples} samples a state and its rounding errors are \
             magnified up to about {peak:.1e} times",
            form.sample,
            form.state,
            scan.explain()
        )
    }
}
