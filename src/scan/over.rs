//! [`Over`]: a scan of an iterator, chunk by chunk.

use std::fmt;
use std::iter::Fuse;

use monoscan_ir::{Program, Source};
use monoscan_runtime::{Combination, Error};

use super::columns::Record;
use super::outputs::Outputs;
use super::states::States;
use super::stream::ChunkStream;

/// Records of the first chunk, and of the largest: each has twice as many as the one before.
const FIRST: usize = 64;
const LARGEST: usize = 4096;

/// The results of a scan over the records of an iterator, one after the other: made by [`Scan::over`](crate::Scan::over) and
/// [`ChunkStream::over`]. Of several output columns each result is a tuple.
///
/// It is lazy: nothing is taken before the first result is asked for. Then records are taken in chunks, 64 at first and at last
/// 4096, and scanned as the chunks of a stream; so up to a chunk more is taken than results were given. The iterator may be
/// endless. After an error there is nothing more.
pub struct Over<I: Iterator, S, In: Record, Out: Outputs> {
    stream: ChunkStream<S, In, Out>,
    records: Fuse<I>,
    chunk: In::Chunk,
    /// Records that are taken next; none after an error.
    take: usize,
    /// Records of the chunk so far.
    taken: usize,
    results: Out::Rows,
}

impl<I, S, In, Out> Over<I, S, In, Out>
where
    I: Iterator<Item = In::Item>,
    S: States,
    In: Record,
    Out: Outputs,
{
    pub(super) fn new(stream: ChunkStream<S, In, Out>, records: I) -> Result<Self, Error> {
        if sees_chunks(stream.program()) {
            return Err(Combination::OverIterator.into());
        }
        let (chunk, results) = (In::Chunk::default(), Out::Rows::default());
        Ok(Over { stream, records: records.fuse(), chunk, take: FIRST, taken: 0, results })
    }

    /// The state after all records that were taken so far: after the last result, that after all records.
    ///
    /// ```
    /// use monoscan::{ops::Sum, prelude::*};
    ///
    /// let sums = Scan::<Sum<i32>>::plain()?;
    /// let mut over = sums.over([1, 2, 3])?;
    /// assert_eq!(over.next().transpose()?, Some(1));
    /// assert_eq!(over.state(), Sum(6)); // a chunk was taken for the first result: all of them
    /// # Ok::<(), monoscan::Error>(())
    /// ```
    pub fn state(&self) -> S {
        self.stream.state()
    }

    /// Scans chunks until one gives a result; none at the end.
    fn more(&mut self) -> Result<Option<Out::Item>, Error> {
        loop {
            if self.taken == 0 {
                In::clear(&mut self.chunk);
            }
            // If the iterator panics, what it gave so far stays in the chunk.
            while self.taken < self.take
                && let Some(record) = self.records.next()
            {
                In::push(&mut self.chunk, record);
                self.taken += 1;
            }
            if std::mem::take(&mut self.taken) == 0 {
                return Ok(None);
            }
            let larger = LARGEST.min(2 * std::mem::take(&mut self.take));
            self.results = Out::rows(self.stream.feed(In::chunk(&self.chunk))?);
            self.take = larger;
            if let Some(result) = self.results.next() {
                return Ok(Some(result));
            }
        }
    }
}

impl<I, S, In, Out> Iterator for Over<I, S, In, Out>
where
    I: Iterator<Item = In::Item>,
    S: States,
    In: Record,
    Out: Outputs,
{
    type Item = Result<Out::Item, Error>;

    #[inline]
    fn next(&mut self) -> Option<Result<Out::Item, Error>> {
        match self.results.next() {
            Some(result) => Some(Ok(result)),
            None => self.more().transpose(),
        }
    }
}

impl<I: Iterator, S, In: Record, Out: Outputs> fmt::Debug for Over<I, S, In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Over").field("take", &self.take).finish_non_exhaustive()
    }
}

/// Whether what a program gives depends on where chunks end.
fn sees_chunks(program: &Program) -> bool {
    let mut reads = program.mappings().flat_map(|mapping| &mapping.reads);
    reads.any(|source| matches!(source, Source::Next(_) | Source::Last | Source::Index))
}
