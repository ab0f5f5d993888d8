//! The methods of a [`Scan`] that begin a [`Request`]: what it is asked for besides the columns.

use std::sync::atomic::AtomicBool;

use monoscan_runtime::Rows;

use super::{Request, Scan, Segments, States};

/// Requests, besides the columns; calls of these can follow each other.
impl<S: States, In, Out> Scan<S, In, Out> {
    /// Every sequence starts from this state instead of the identity; see [`Request::init`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// assert_eq!(sums.init(Sum(100)).inclusive(&[1, 2])?, [101, 103]);
    /// assert_eq!(sums.init(Sum(100)).exclusive(&[1, 2])?, [100, 101]);
    /// assert_eq!(sums.init(Sum(100)).segmented(&[true, true]).inclusive(&[1, 2])?, [101, 102]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn init(&self, init: S) -> Request<'_, S, In, Out> {
        self.request().init(init)
    }

    /// Every sequence starts from a state of its own; see [`Request::init_each`].
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let (offsets, starts) = ([0usize, 1, 3], [Sum(10), Sum(20)]);
    /// assert_eq!(sums.segmented(&offsets).init_each(&starts).inclusive(&[1, 2, 3])?, [11, 22, 25]);
    /// let too_few = sums.segmented(&offsets).init_each(&starts[..1]).inclusive(&[1, 2, 3]);
    /// assert!(matches!(too_few, Err(Error::StateCount { expected: 2, got: 1, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn init_each<'a>(&'a self, init: &'a [S]) -> Request<'a, S, In, Out> {
        self.request().init_each(init)
    }

    /// From the last record to the first; see [`Request::reversed`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// assert_eq!(sums.reversed().inclusive(&[1, 2, 3])?, [6, 5, 3]);
    /// assert_eq!(sums.reversed().exclusive(&[1, 2, 3])?, [5, 3, 0]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn reversed(&self) -> Request<'_, S, In, Out> {
        self.request().reversed()
    }

    /// Each segment on its own, by head flags or offsets; see [`Request::segmented`].
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let x = [1, 2, 3, 4];
    /// assert_eq!(sums.segmented(&[true, false, true, false]).inclusive(&x)?, [1, 3, 3, 7]);
    /// assert_eq!(sums.segmented(&[0usize, 2, 2, 4]).totals(&x)?, [3, 0, 7].map(Sum)); // the second one is empty
    /// let short = sums.segmented(&[0usize, 2]).inclusive(&x); // the last offset is the number of records
    /// assert!(matches!(short, Err(Error::Offsets { place: 1, got: 2, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn segmented<'a>(&'a self, segments: impl Segments<'a>) -> Request<'a, S, In, Out> {
        self.request().segmented(segments)
    }

    /// Along an axis of a row-major array, each row on its own; see [`Request::axis`].
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let x = [1, 2, 3, 4, 5, 6]; // two rows of three
    /// assert_eq!(sums.axis(&[2, 3], 1).inclusive(&x)?, [1, 3, 6, 4, 9, 15]);
    /// assert_eq!(sums.axis(&[2, 3], 0).totals(&x)?, [5, 7, 9].map(Sum)); // one for each column
    /// assert!(matches!(sums.axis(&[2, 3], 2).inclusive(&x), Err(Error::Rows(_))));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn axis(&self, shape: &[usize], axis: usize) -> Request<'_, S, In, Out> {
        self.request().axis(shape, axis)
    }

    /// Each of these rows on its own; see [`Request::rows`].
    ///
    /// ```
    /// use monoscan::{Rows, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut y = [-1; 6];
    /// let rows = Rows::new(2, 2, 3)?; // two rows of two records, one every three
    /// sums.rows(rows).inclusive_into(&[1, 2, 3, 4, 5, 6], &mut y)?;
    /// assert_eq!(y, [1, 3, -1, 4, 9, -1]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn rows(&self, rows: Rows) -> Request<'_, S, In, Out> {
        self.request().rows(rows)
    }

    /// From the state that a stream was left in, which is moved on; see [`Request::resuming`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut carry = sums.identity();
    /// assert_eq!(sums.resuming(&mut carry).exclusive(&[1, 2])?, [0, 1]);
    /// assert_eq!(sums.resuming(&mut carry).exclusive(&[3])?, [3]);
    /// assert_eq!(carry, Sum(6));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn resuming<'a>(&'a self, carry: &'a mut S) -> Request<'a, S, In, Out> {
        self.request().resuming(carry)
    }

    /// From the states that a stream of rows was left in, one for each row; see [`Request::resuming_each`].
    pub fn resuming_each<'a>(&'a self, carry: &'a mut [S]) -> Request<'a, S, In, Out> {
        self.request().resuming_each(carry)
    }

    /// Given up when another thread sets this flag; see [`Request::interrupted_by`].
    pub fn interrupted_by<'a>(&'a self, flag: &'a AtomicBool) -> Request<'a, S, In, Out> {
        self.request().interrupted_by(flag)
    }

    /// Scans of device memory are given to this stream; see [`Request::in_stream`].
    #[cfg(feature = "cuda")]
    pub fn in_stream<'a>(&'a self, stream: &'a monoscan_runtime::cuda::Stream) -> Request<'a, S, In, Out> {
        self.request().in_stream(stream)
    }

    /// The scan as it is: what the parts that are known at run time only are added to.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let (backwards, start) = (true, Some(Sum(10))); // known when the program runs
    /// let mut request = sums.request();
    /// if backwards {
    ///     request = request.reversed();
    /// }
    /// if let Some(start) = start {
    ///     request = request.init(start);
    /// }
    /// assert_eq!(request.inclusive(&[1, 2])?, [13, 12]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    #[inline]
    pub fn request(&self) -> Request<'_, S, In, Out> {
        Request::new(&self.inner)
    }
}
