//! The methods that run a [`Scan`] as it is: those of the plain [`Request`](crate::Request).

use std::mem::MaybeUninit;

use monoscan_runtime::Error;

use super::Scan;
use super::columns::{Columns, Record};
use super::outputs::{ColumnsMut, Outputs};
use super::over::Over;
use super::place::{Host, Place};
use super::states::States;
use super::stream::{ChunkStream, RowStream};
use crate::lang::ScanType;

impl<S: States, In: Record, Out: Outputs> Scan<S, In, Out> {
    /// `y[i] = project(e ⊕ x[0] ⊕ … ⊕ x[i])`, or of these what the scan keeps.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let dot = Scan::<Sum<i32>>::builder().lift(scan!(|a: i32, b: i32| -> Sum<i32> { Sum(a * b) })).build()?;
    /// assert_eq!(dot.inclusive((&[1, 2], &[3, 4]))?, [Sum(3), Sum(11)]);
    /// assert!(matches!(dot.inclusive((&[1, 2], &[3])), Err(Error::Length { expected: 2, got: 1, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if the columns differ in length; [`Error::OutOfMemory`].
    pub fn inclusive<C: Columns<In>>(&self, input: C) -> Result<Out::Vec<C::Place>, Error> {
        self.request().inclusive(input)
    }

    /// `y[i] = project(e ⊕ x[0] ⊕ … ⊕ x[i-1])`, or of these what the scan keeps.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// // As many results as records: the sum of all of them is not there.
    /// assert_eq!(sums.exclusive(&[5, 1, 2])?, [0, 5, 6]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Scan::inclusive).
    pub fn exclusive<C: Columns<In>>(&self, input: C) -> Result<Out::Vec<C::Place>, Error> {
        self.request().exclusive(input)
    }

    /// [`inclusive`](Scan::inclusive) into a slice of the same length; gives how many records were written, all of them.
    ///
    /// A scan that [keeps](crate::ScanBuilder::filter) gives how many it kept, which come first; there must be space for these. With space
    /// for all records it reads its input once, and may overwrite up to four records behind the last that is kept; with less, it
    /// reads its input one more time.
    ///
    /// ```
    /// use monoscan::{Error, ops::Sum, prelude::*};
    ///
    /// let gains = Scan::<Sum<i32>>::builder()
    ///     .lift(scan!(|x: i32| -> Sum<i32> { Sum(x.max(0)) }))
    ///     .filter(scan!(|e: Element<i32, Sum<i32>>| -> bool { e.record > 0 }))
    ///     .project(scan!(|sum: Sum<i32>| -> i32 { sum.0 }))
    ///     .build()?;
    /// let mut y = [0; 4]; // capacity for all; two are kept
    /// let kept = gains.inclusive_into(&[5, -3, 1, -9], &mut y)?;
    /// assert_eq!(y[..kept], [5, 6]);
    /// assert!(matches!(gains.inclusive_into(&[5, 1], &mut [0; 1]), Err(Error::OutputTooShort { expected: 2, .. })));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if a column or the output has another length than the first column; [`Error::OutputTooShort`] if what is
    /// kept does not fit. Nothing is written then.
    #[inline]
    pub fn inclusive_into<C: Columns<In>>(
        &self,
        input: C,
        output: impl ColumnsMut<Out, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        self.request().inclusive_into(input, output)
    }

    /// [`exclusive`](Scan::exclusive) into a slice of the same length; gives how many records were written. One that keeps may overwrite up to
    /// four records behind the last that is kept, as [`inclusive_into`](Scan::inclusive_into).
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut y = [0; 3];
    /// assert_eq!(sums.exclusive_into(&[5, 1, 2], &mut y)?, 3);
    /// assert_eq!(y, [0, 5, 6]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive_into`](Scan::inclusive_into).
    #[inline]
    pub fn exclusive_into<C: Columns<In>>(
        &self,
        input: C,
        output: impl ColumnsMut<Out, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, Error> {
        self.request().exclusive_into(input, output)
    }

    /// `e ⊕ x[0] ⊕ … ⊕ x[n-1]`, the state after the last record. Writes nothing, and reads the input once.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// assert_eq!(sums.reduce(&[5, 1, 2])?, Sum(8)); // a state, not what `project` makes of it
    /// assert_eq!(sums.reduce(&[])?, sums.identity());
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if the columns differ in length.
    #[inline]
    pub fn reduce(&self, input: impl Columns<In>) -> Result<S, Error> {
        self.request().reduce(input)
    }

    /// [`inclusive`](Scan::inclusive), and the state after the last record, which [`reduce`](Scan::reduce) gives: both out of one
    /// read of the input.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let (sums, total) = Scan::<Sum<u64>>::new()?.inclusive_with_total(&[Sum(1), Sum(2)])?;
    /// assert_eq!((sums, total), (vec![Sum(1), Sum(3)], Sum(3)));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Scan::inclusive).
    pub fn inclusive_with_total<C: Columns<In>>(&self, input: C) -> Result<(Out::Vec<C::Place>, S), Error> {
        let mut total = self.identity();
        let results = self.resume(&mut total, input)?;
        Ok((results, total))
    }

    /// A stream: it is fed chunk by chunk, and gives the results of the whole; see [`ChunkStream`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut stream = sums.stream();
    /// assert_eq!(stream.feed(&[5, 1])?, [5, 6]);
    /// assert_eq!(stream.feed(&[])?, []); // chunks may be empty
    /// assert_eq!(stream.feed(&[2])?, [8]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn stream(&self) -> ChunkStream<S, In, Out> {
        ChunkStream::new(self)
    }

    /// A stream of so many rows, fed chunk by chunk; see [`RowStream`].
    ///
    /// # Panics
    /// If there is no memory for a state of each row.
    ///
    /// ```
    /// use monoscan::{Rows, ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut channels = sums.stream_of_rows(2);
    /// channels.feed(Rows::new(2, 3, 3)?, &[1, 1, 1, 5, 5, 5])?; // channel by channel, three records of each
    /// assert_eq!(channels.feed(Rows::new(2, 1, 1)?, &[1, 5])?, [4, 20]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn stream_of_rows(&self, rows: usize) -> RowStream<S, In, Out> {
        RowStream::new(self, rows)
    }

    /// The inclusive scan of the next chunk of a stream, `y[i] = project(carry ⊕ x[0] ⊕ … ⊕ x[i])`: `carry` is the state after the chunks before, at first
    /// [`identity`](Scan::identity), and becomes the one after this chunk. The chunks' results, one after the other, are those
    /// of the whole stream, where the association does not matter and no function sees where its [`Element`](crate::Element) is. Its place is
    /// counted within a chunk, the last record of a chunk has no next one, and the first none before it. In a
    /// [`stream`](Scan::stream) it has the last one of the chunk before.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<u64>>::new()?;
    /// let mut carry = sums.identity();
    /// assert_eq!(sums.resume(&mut carry, &[Sum(1), Sum(2)])?, [Sum(1), Sum(3)]);
    /// assert_eq!(sums.resume(&mut carry, &[Sum(3)])?, [Sum(6)]);
    /// assert_eq!(carry, Sum(6));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive`](Scan::inclusive); the carry is untouched then.
    pub fn resume<C: Columns<In>>(&self, carry: &mut S, chunk: C) -> Result<Out::Vec<C::Place>, Error> {
        self.resuming(carry).inclusive(chunk)
    }

    /// The [inclusive](Scan::inclusive) results over the records of an iterator, as an iterator: a record is the argument of the
    /// lift, or the tuple of them. It is lazy, and takes records by chunks: see [`Over`].
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<u64>>::plain()?;
    /// let squares = (1..).map(|n: u64| n * n);
    /// let first = sums.over(squares)?.find(|sum| !matches!(sum, Ok(..=1000))).transpose()?;
    /// assert_eq!(first, Some(1015));
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Combination::OverIterator`](crate::Combination::OverIterator) if the scan reads the next record, asks which is the
    /// last, or counts places, which differ where chunks end. Items are errors of [`inclusive`](Scan::inclusive).
    pub fn over<I: IntoIterator<Item = In::Item>>(&self, records: I) -> Result<Over<I::IntoIter, S, In, Out>, Error> {
        self.stream().over(records)
    }
}

/// Into memory that need not hold anything yet: of a scan that writes one column.
impl<S: States, In: Record, Out: ScanType> Scan<S, In, Out> {
    /// [`inclusive`](Scan::inclusive) into memory that need not hold anything yet; gives the records that were written.
    ///
    /// ```
    /// use monoscan::{ops::Max, prelude::*};
    ///
    /// let mut space = Vec::with_capacity(4);
    /// let maxima = Scan::<Max<i32>>::new()?;
    /// let written = maxima.inclusive_into_uninit(&[Max(3), Max(5), Max(4)], &mut space.spare_capacity_mut()[..3])?;
    /// assert_eq!(written, [Max(3), Max(5), Max(5)]);
    /// # let _: Vec<Max<i32>> = space;
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive_into`](Scan::inclusive_into).
    #[inline]
    pub fn inclusive_into_uninit<'o>(
        &self,
        input: impl Columns<In, Place = Host>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        self.request().inclusive_into_uninit(input, output)
    }

    /// [`exclusive`](Scan::exclusive) into memory that need not hold anything yet; gives the records that were written.
    ///
    /// # Errors
    /// As [`inclusive_into`](Scan::inclusive_into).
    #[inline]
    pub fn exclusive_into_uninit<'o>(
        &self,
        input: impl Columns<In, Place = Host>,
        output: &'o mut [MaybeUninit<Out>],
    ) -> Result<&'o mut [Out], Error> {
        self.request().exclusive_into_uninit(input, output)
    }
}

/// Over the input, of a scan that writes what it reads.
impl<S: States, Out: Outputs> Scan<S, Out::Record, Out> {
    /// [`inclusive`](Scan::inclusive), written over the input: a slice or a [`DeviceVec`](crate::DeviceVec), or a tuple of these for several
    /// columns.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut x = [1, 2, 3];
    /// sums.inclusive_in_place(&mut x)?;
    /// assert_eq!(x, [1, 3, 6]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InPlace`] if the scan reads a neighbouring record or keeps records; nothing is written then.
    #[inline]
    pub fn inclusive_in_place<X: ColumnsMut<Out>>(&self, records: X) -> Result<<X::Place as Place>::Replaced, Error> {
        self.request().inclusive_in_place(records)
    }

    /// [`exclusive`](Scan::exclusive), written over the input.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut lengths = [2, 0, 3]; // become the starts of pieces of these lengths
    /// sums.exclusive_in_place(&mut lengths)?;
    /// assert_eq!(lengths, [0, 2, 2]);
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`inclusive_in_place`](Scan::inclusive_in_place).
    #[inline]
    pub fn exclusive_in_place<X: ColumnsMut<Out>>(&self, records: X) -> Result<<X::Place as Place>::Replaced, Error> {
        self.request().exclusive_in_place(records)
    }
}
