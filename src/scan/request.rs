//! [`Request`]: a scan with what else it is asked for.
//!
//! | file | what it holds |
//! |---|---|
//! | `sequences.rs` | which records are scanned on their own, and from which states |
//! | `results.rs` | the methods that run a request |
//! | `short.rs` | the ways of short calls, straight to a kernel |
//! | `run.rs` | the one way of host memory to the engine |
//! | `call.rs` | a request as the [`Call`](monoscan_runtime::Call) of an engine |

use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;

use monoscan_ir::Constant;
#[cfg(feature = "cuda")]
use monoscan_runtime::DeviceMemory;
#[cfg(feature = "cuda")]
use monoscan_runtime::cuda::Stream;
use monoscan_runtime::{DynScan, Error, Rows};

use super::outputs::Outputs;
use super::segments::{Boundaries, Segments};
use super::states::States;
use crate::lang::ScanType;

mod call;
mod results;
mod run;
mod sequences;
mod short;

use sequences::{Carry, Sequences, Start};

/// A scan from another state, in the other direction, or of many sequences: made by [`Scan::init`](crate::Scan::init) and its
/// neighbours, run by the same methods as a [`Scan`](crate::Scan).
///
/// Parts are independent and every combination has one meaning. With ⊕ for `combine`, `x[i] = lift(record i)`, and records
/// numbered from 0 in the order of the scan:
///
/// ```text
/// before[i] = start(i)        if record i begins a sequence, as record 0 does
///             after[i-1]      else
/// after[i]  = before[i] ⊕ x[i]
/// start(i)  = carry           if the scan is resumed, i = 0, and record 0 is not flagged as a head
///             carry[k]        if it resumes a stream of rows, and i is in row k
///             init            else; the identity unless one is given
///             init[k]         if each sequence has its own start, and i is in the k-th that begins
///
/// inclusive:  y[i] = project(after[i])
/// exclusive:  y[i] = project(before[i])
/// total of a sequence = its last after[i], or its start if it has no records
/// ```
///
/// These hold to the bit if the result does not depend on the order of rounding. Else each call fixes its order, whatever the
/// number of threads, but different calls may have different ones: a total of floats may be rounded otherwise than the last
/// output, and outputs of rows otherwise beside totals than alone.
///
/// `start ⊕ x` is computed at the first record of every sequence, whatever the sequences are: of `Max<f32>` the first output of a line, a segment or a row that begins
/// with NaN is −∞, which is e ⊕ NaN. An initial state should be a state that `e ⊕ init` leaves as it is; from one that is not, such as NaN for
/// `Max`, outputs are those of the initial state or those of `e ⊕ init`, since parts of a sequence may be scanned from e and combined.
///
/// A *sequence* is what is scanned on its own: the whole line of records, a [segment](Request::segmented) or a [row](Request::axis).
/// A [reversed](Request::reversed) scan numbers the records of each sequence from its end, and leaves outputs beside their records.
///
/// ```
/// use monoscan::{ops::Sum, prelude::*};
///
/// let scan = Scan::<Sum<u32>>::builder()
///     .lift(scan!(|x: u32| -> Sum<u32> { Sum(x) }))
///     .project(scan!(|sum: Sum<u32>| -> u32 { sum.0 }))
///     .build()?;
/// let x = [1, 2, 3, 4, 5];
/// let heads = [true, false, true, false, false];
/// assert_eq!(scan.init(Sum(100)).segmented(&heads).inclusive(&x)?, [101, 103, 103, 107, 112]);
/// assert_eq!(scan.reversed().segmented(&heads).inclusive(&x)?, [3, 2, 12, 9, 5]);
/// assert_eq!(scan.init(Sum(100)).reversed().segmented(&heads).exclusive(&x)?, [102, 100, 109, 105, 100]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[must_use = "a request does nothing until a method such as `inclusive` runs it"]
pub struct Request<'a, S, In, Out> {
    scan: &'a DynScan,
    reversed: bool,
    init: Start<'a, S>,
    carry: Carry<'a, S>,
    interrupt: Option<&'a AtomicBool>,
    #[cfg(feature = "cuda")]
    stream: Option<&'a Stream>,
    sequences: Result<Sequences<'a>, Error>,
    types: PhantomData<fn(In, S) -> Out>,
}

/// A plain scan of any program, for front ends that build programs themselves. Its state is the program's own: a plain scan
/// reads neither an initial state nor a carry, so that of the type is never looked at.
pub(crate) type Plain<'a, In, Out> = Request<'a, crate::ops::Sum<u8>, (In,), Out>;

/// New columns of results, and the total of each sequence.
pub type WithTotals<Out, P, S> = (<Out as Outputs>::Vec<P>, Vec<S>);

impl<'a, In: ScanType, Out> Plain<'a, In, Out> {
    /// Of a program that reads one column of `In` and writes those of `Out`.
    pub(crate) fn of(scan: &'a DynScan) -> Self {
        Request::new(scan)
    }
}

impl<'a, S: States, In, Out> Request<'a, S, In, Out> {
    #[inline]
    pub(super) fn new(scan: &'a DynScan) -> Self {
        Request {
            scan,
            reversed: false,
            init: Start::Identity,
            carry: Carry::None,
            interrupt: None,
            #[cfg(feature = "cuda")]
            stream: None,
            sequences: Ok(Sequences::Line),
            types: PhantomData,
        }
    }

    /// Every sequence starts from this state instead of the identity. It should be a state that scans of this monoid reach. Any other, as
    /// one that `valid` refuses or that `e ⊕ init` changes, gives unspecified results, and is memory-safe.
    ///
    /// ```
    /// use monoscan::{ops::Max, prelude::*};
    ///
    /// let highs = Scan::<Max<i32>>::plain()?;
    /// // Each row starts from it, not the first one only.
    /// assert_eq!(highs.init(Max(5)).axis(&[2, 2], 1).inclusive(&[1, 9, 2, 3])?, [5, 9, 5, 5]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn init(mut self, init: S) -> Self {
        self.init = Start::Same(init);
        self
    }

    /// Every sequence starts from a state of its own: the k-th in the order of memory, a row or a segment, from `init[k]`. There
    /// is one for each sequence that begins in this call: for each row (plane by plane), each segment between offsets (empty ones
    /// too), each flagged head and record 0. What goes on from a carry does not begin here. Flags are counted first, for which
    /// they are read once more. On a GPU a state is put beside each record of segments first: so many bytes are written and read
    /// once more.
    ///
    /// The totals of a call are the starts of the next one, as in mini-batches of a recurrent network:
    ///
    /// ```
    /// use monoscan::{Rows, ops::Affine, prelude::*};
    ///
    /// // h[t] = a·h[t-1] + x[t], of a batch of two.
    /// let lift = scan!(|a: f64, x: f64| -> Affine<f64> { Affine { a, b: x } });
    /// let layer = Scan::<Affine<f64>>::builder().lift(lift).project(scan!(|h: Affine<f64>| -> f64 { h.b })).build()?;
    /// let rows = Rows::new(2, 3, 3)?;
    /// let a = [0.5; 6];
    /// let h0 = [10.0, -8.0].map(|b| Affine { a: 1.0, b });
    /// let (y, h1) = layer.rows(rows).init_each(&h0).inclusive_with_totals((&a, &[1.0, 1.0, 1.0, 0.0, 0.0, 2.0]))?;
    /// assert_eq!(y, [6.0, 4.0, 3.0, -4.0, -2.0, 1.0]);
    /// let y = layer.rows(rows).init_each(&h1).inclusive((&a, &[0.0; 6]))?;
    /// assert_eq!(y, [1.5, 0.75, 0.375, 0.5, 0.25, 0.125]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// Another number of states is [`Error::StateCount`], found before anything is written; where flags or keys are in device memory,
    /// found when the scan is waited for, as one into new memory is.
    pub fn init_each(mut self, init: &'a [S]) -> Self {
        self.init = Start::Each(init);
        self
    }

    /// Every sequence is scanned from its last record to its first: `y[i] = project(x[n-1] ⊕ … ⊕ x[i])`, in this order of the operands.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// // How much is left from here to the end of the segment.
    /// let heads = [true, false, true, false];
    /// assert_eq!(sums.reversed().segmented(&heads).inclusive(&[1, 2, 3, 4])?, [3, 2, 7, 4]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn reversed(mut self) -> Self {
        self.reversed = true;
        self
    }

    /// Each segment is a sequence. Segments are given by flags, a `bool` or a bit for each record that is true where one begins; by
    /// offsets, one more than there are segments; or by keys ([`by_key`](crate::by_key)). Only neighbouring equal keys are a segment: sort
    /// first if equal ones may be apart.
    ///
    /// Flags, bits and offsets of `usize` cost nothing beforehand. Offsets of `u32` and `u64` are converted, and keys compared.
    ///
    /// ```
    /// use monoscan::{Bits, by_key, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let x = [1, 2, 3, 4];
    /// let bits = Bits::new(&[0b0100], 0, 4)?; // a validity bitmap: record 2 is flagged, and record 0 begins in any case
    /// assert_eq!(sums.segmented(bits).inclusive(&x)?, [1, 3, 3, 7]);
    /// assert_eq!(sums.segmented(by_key(b"aabb")).totals(&x)?, [3, 7].map(Sum));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn segmented(mut self, segments: impl Segments<'a>) -> Self {
        if let Ok(sequences) = &mut self.sequences {
            *sequences = match sequences {
                Sequences::Rows(rows) | Sequences::Segmented(rows) => Sequences::Segmented(*rows),
                Sequences::Line | Sequences::Segments(_) => Sequences::Segments(segments.boundaries()),
            };
        }
        self
    }

    /// Each row along one axis of an array is a sequence: of a row-major array of this shape, without gaps. `axis(&[r, c], 1)` scans
    /// the r rows of a matrix, `axis(&[r, c], 0)` its c columns. As [`rows`](Request::rows) of [`Rows::axis`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let cube = [1, 2, 3, 4, 5, 6, 7, 8]; // 2 × 2 × 2: the last axis has neighbours in memory
    /// assert_eq!(sums.axis(&[2, 2, 2], 1).inclusive(&cube)?, [1, 2, 4, 6, 5, 6, 12, 14]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn axis(mut self, shape: &[usize], axis: usize) -> Self {
        match Rows::axis(shape, axis) {
            Ok(rows) => self.rows(rows),
            Err(error) => {
                self.sequences = Err(error);
                self
            }
        }
    }

    /// Each of these rows is a sequence: rows with gaps between them, or planes; [`axis`](Request::axis) is the usual case.
    ///
    /// ```
    /// use monoscan::{Error, Rows, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// // New columns would have records that nothing is written to.
    /// let rows = Rows::new(2, 2, 3)?;
    /// assert!(matches!(sums.rows(rows).inclusive(&[1, 2, 3, 4, 5, 6]), Err(Error::Rows(_))));
    /// assert_eq!(sums.rows(rows).totals(&[1, 2, 3, 4, 5, 6])?, [3, 9].map(Sum));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn rows(mut self, rows: Rows) -> Self {
        if let Ok(sequences) = &mut self.sequences {
            *sequences = match sequences {
                Sequences::Segments(_) | Sequences::Segmented(_) => Sequences::Segmented(rows),
                Sequences::Line | Sequences::Rows(_) => Sequences::Rows(rows),
            };
        }
        self
    }

    /// Record 0 goes on from this state, which becomes the one after the last record: for streams that come in chunks. The state alone
    /// goes on: an [`Element`](crate::Element) has no record of another chunk beside it. In a [`stream`](crate::Scan::stream) it has.
    /// After an error the carry is as it was. [`init`](Request::init) is then for segments that begin within the chunk: an
    /// operator without an identity needs it too, where an exclusive scan of a chunk has such.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut carry = Sum(10);
    /// let heads = [false, true, false]; // the first record goes on with a segment of the chunk before
    /// assert_eq!(sums.segmented(&heads).resuming(&mut carry).inclusive(&[1, 2, 3])?, [11, 2, 5]);
    /// assert_eq!(carry, Sum(5));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn resuming(self, carry: &'a mut S) -> Self {
        self.resuming_each(std::slice::from_mut(carry))
    }

    /// As [`resuming`](Request::resuming), of rows: row k goes on from `carry[k]`, which becomes the state after its last record.
    /// Chunks of a stream of rows may have rows of another length each.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<u32>>::new()?;
    /// let mut carry = [sums.identity(); 2];
    /// let [ab, c] = [[1, 2, 10, 20].map(Sum), [3, 30, 0, 0].map(Sum)];
    /// assert_eq!(sums.axis(&[2, 2], 1).resuming_each(&mut carry).inclusive(&ab)?, [1, 3, 10, 30].map(Sum));
    /// assert_eq!(sums.axis(&[2, 1], 1).resuming_each(&mut carry).inclusive(&c[..2])?, [6, 60].map(Sum));
    /// assert_eq!(carry, [6, 60].map(Sum));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn resuming_each(mut self, carry: &'a mut [S]) -> Self {
        self.carry = Carry::States(carry);
        self
    }

    /// The scan is given up when another thread sets this flag, a cancellation token: all threads stop after the tile or row
    /// that they are at, and the call is [`Error::Interrupted`]. Outputs may be partly written then; a carry or a stream is as it
    /// was. On a GPU the flag is looked at between the pieces of slices, and by scans of device memory once, before they begin.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let (sums, cancelled) = (Scan::<Sum<u64>>::new()?, AtomicBool::new(false));
    /// let x = [1, 2, 3].map(Sum);
    /// assert_eq!(sums.interrupted_by(&cancelled).inclusive(&x)?, [1, 3, 6].map(Sum));
    /// cancelled.store(true, Ordering::Relaxed); // by another thread, while it scans
    /// assert!(matches!(sums.interrupted_by(&cancelled).inclusive(&x), Err(Error::Interrupted)));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn interrupted_by(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Scans of device memory are given to this stream, and become part of its graph if it is being captured; without it, to
    /// the stream that the first column was last written in. Keys, offsets, and flags of a reversed scan are refused in a stream
    /// that is being captured.
    #[cfg(feature = "cuda")]
    pub fn in_stream(mut self, stream: &'a Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// As [`resuming`](Request::resuming), from what the engine carries, the record before included.
    pub(super) fn resuming_whole(mut self, carry: &'a mut [Constant]) -> Self {
        self.carry = Carry::Whole(carry);
        self
    }
}

impl<'a, S, In, Out> Request<'a, S, In, Out> {
    #[cfg(feature = "cuda")]
    pub(super) fn scan(&self) -> &'a DynScan {
        self.scan
    }

    #[cfg(feature = "cuda")]
    pub(super) fn in_stream_or_none(&self) -> Option<Stream> {
        self.stream.cloned()
    }

    /// The memory of a device in which segments are told.
    #[cfg(feature = "cuda")]
    pub(super) fn segment_memory(&self) -> Option<&'a DeviceMemory> {
        match &self.sequences {
            Ok(Sequences::Segments(boundaries)) => boundaries.memory(),
            _ => None,
        }
    }

    /// How many components each total of an engine has, which begin with the state's: those of a carry where there is one.
    pub(super) fn components_of_totals(&self) -> usize {
        match self.carry {
            Carry::None => self.scan.state_len(),
            Carry::States(_) | Carry::Whole(_) => self.scan.first_carry().len(),
        }
    }

    /// Refuses rows that leave some of `len` records as they are, where all are to be initialised.
    pub(super) fn check_covers(&self, len: usize) -> Result<(), Error> {
        self.sequences.as_ref().map_or(Ok(()), |sequences| sequences.check_covers(len))
    }
}
