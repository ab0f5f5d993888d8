//! [`ChunkStream`]: a scan that is fed chunk by chunk, and [`RowStream`], of many rows at once.

use monoscan_ir::{Constant, Program};
use monoscan_runtime::{Error, Rows};

use super::columns::{Columns, Record};
use super::outputs::{ColumnsMut, Outputs};
use super::over::Over;
use super::place::Place;
use super::states::states_of;
use super::{Scan, States};
use crate::lang;

/// A stream of chunks, made by [`Scan::stream`]: the results of its chunks, one after the other, are those of an inclusive scan
/// of all records, where the association does not matter. After an error it is as it was.
///
/// The record before a chunk's first is the last of the chunk before; places ([`Element::index`](crate::Element)) are counted
/// within a chunk, and the last record of a chunk has no next one. Chunks may be slices or device columns, in turn.
///
/// ```
/// use monoscan::{ops::Sum, prelude::*};
///
/// let mut sums = Scan::<Sum<u64>>::new()?.stream();
/// assert_eq!(sums.feed(&[Sum(1), Sum(2)])?, [Sum(1), Sum(3)]);
/// let mut out = [Sum(0)];
/// assert_eq!(sums.feed_into(&[Sum(3)], &mut out)?, 1);
/// assert_eq!((out, sums.state()), ([Sum(6)], Sum(6)));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[derive(Debug)]
pub struct ChunkStream<S, In, Out> {
    scan: Scan<S, In, Out>,
    /// The carry of the next chunk, as the engine carries it.
    carry: Vec<Constant>,
}

impl<S: States, In: Record, Out: Outputs> ChunkStream<S, In, Out> {
    pub(super) fn new(scan: &Scan<S, In, Out>) -> Self {
        ChunkStream { scan: scan.clone(), carry: scan.inner.first_carry() }
    }

    /// The results of the next chunk; of a scan that filters, those that are kept.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// // How many visits so far: clicks more than 30 seconds apart. The record before is seen across chunks.
    /// #[scan_fn]
    /// fn begins(e: Element<u64>) -> Sum<u32> { Sum((e.first || e.record - e.prev > 30) as u32) }
    ///
    /// let mut visits = Scan::<Sum<u32>>::builder().lift_at(begins {}).build()?.stream();
    /// assert_eq!(visits.feed(&[5, 20])?, [1, 1].map(Sum));
    /// assert_eq!(visits.feed(&[40, 90])?, [1, 2].map(Sum));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::inclusive`].
    pub fn feed<C: Columns<In>>(&mut self, chunk: C) -> Result<Out::Vec<C::Place>, Error> {
        self.scan.request().resuming_whole(&mut self.carry).inclusive(chunk)
    }

    /// [`feed`](ChunkStream::feed) into records that are there.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut stream = sums.stream();
    /// let mut y = [0; 2];
    /// stream.feed_into(&[1, 2], &mut y)?;
    /// assert!(matches!(stream.feed_into(&[3], &mut y), Err(Error::Length { .. })));
    /// assert_eq!((y, stream.state()), ([1, 3], Sum(3))); // as before the error
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::inclusive_into`], the records behind the last that is kept included.
    pub fn feed_into<C: Columns<In>>(
        &mut self,
        chunk: C,
        output: impl ColumnsMut<Out, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        self.scan.request().resuming_whole(&mut self.carry).inclusive_into(chunk, output)
    }

    pub(super) fn program(&self) -> &Program {
        self.scan.inner.program()
    }

    /// The state after all records so far; before any, the identities.
    pub fn state(&self) -> S {
        lang::from_constants(self.carry.iter().copied())
    }
}

/// A stream of chunks of rows, made by [`Scan::stream_of_rows`]: what was fed to row k, chunk after chunk, is scanned as one
/// row. Each chunk has as many rows, of any length. After an error it is as it was.
///
/// The record before a chunk's first is, row by row, the last of the chunk before; places are counted within a chunk.
///
/// ```
/// use monoscan::{Rows, ops::Sum, prelude::*};
///
/// let mut sums = Scan::<Sum<u32>>::new()?.stream_of_rows(2);
/// assert_eq!(sums.feed(Rows::new(2, 2, 2)?, &[1, 2, 10, 20].map(Sum))?, [1, 3, 10, 30].map(Sum));
/// assert_eq!(sums.feed(Rows::new(2, 1, 1)?, &[3, 30].map(Sum))?, [6, 60].map(Sum));
/// assert_eq!(sums.states(), [6, 60].map(Sum));
/// # Ok::<(), monoscan::Error>(())
/// ```
#[derive(Debug)]
pub struct RowStream<S, In, Out> {
    scan: Scan<S, In, Out>,
    /// The carries of the next chunk's rows, one after the other, as the engine carries them.
    carry: Vec<Constant>,
}

impl<S: States, In: Record, Out: Outputs> RowStream<S, In, Out> {
    pub(super) fn new(scan: &Scan<S, In, Out>, rows: usize) -> Self {
        RowStream { scan: scan.clone(), carry: scan.inner.first_carry().repeat(rows) }
    }

    /// The results of the next chunk.
    ///
    /// ```
    /// use monoscan::{Error, Rows, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut rows = sums.stream_of_rows(2);
    /// assert_eq!(rows.feed(Rows::axis(&[2, 2], 0)?, &[1, 10, 2, 20])?, [1, 10, 3, 30]); // down the columns
    /// let three = rows.feed(Rows::axis(&[1, 3], 0)?, &[1, 2, 3]);
    /// assert!(matches!(three, Err(Error::StateCount { expected: 3, got: 2, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Request::inclusive`](crate::Request::inclusive); [`Error::StateCount`] if the chunk has another number of rows.
    pub fn feed<C: Columns<In>>(&mut self, rows: Rows, chunk: C) -> Result<Out::Vec<C::Place>, Error> {
        self.scan.rows(rows).resuming_whole(&mut self.carry).inclusive(chunk)
    }

    /// [`feed`](RowStream::feed) into records that are there; records that are in no row keep their values.
    ///
    /// # Errors
    /// As [`feed`](RowStream::feed).
    pub fn feed_into<C: Columns<In>>(
        &mut self,
        rows: Rows,
        chunk: C,
        output: impl ColumnsMut<Out, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        self.scan.rows(rows).resuming_whole(&mut self.carry).inclusive_into(chunk, output)
    }

    /// For each row the state after all its records so far; before any, the identities.
    pub fn states(&self) -> Vec<S> {
        states_of(&self.carry, self.scan.inner.first_carry().len()).collect()
    }
}

impl<S: States, In: Record, Out: Outputs> ChunkStream<S, In, Out> {
    /// The results of going on with the records of an iterator; see [`Scan::over`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut stream = sums.stream();
    /// stream.feed(&[100])?;
    /// let rest: Vec<i32> = stream.over(1..=3)?.collect::<Result<_, _>>()?;
    /// assert_eq!(rest, [101, 103, 106]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::over`].
    pub fn over<I: IntoIterator<Item = In::Item>>(self, records: I) -> Result<Over<I::IntoIter, S, In, Out>, Error> {
        Over::new(self, records.into_iter())
    }
}
