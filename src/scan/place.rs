//! [`Place`]: where columns lie, which decides what a scan of them gives.

use monoscan_ir::Mode;
use monoscan_runtime::Error;

use super::columns::{Columns, Record};
use super::device::{DeviceVec, Pending};
use super::outputs::{ColumnsMut, Outputs};
use super::states::States;
use super::{Request, Scan};
use crate::lang::ScanType;

/// Where columns lie: in the memory of this process ([`Host`]) or in that of a GPU ([`OnDevice`]).
///
/// Every method of a scan takes columns of both; their types say which it is, and so what comes of it.
///
/// | columns | a column of results | `_into` takes | and gives |
/// |---|---|---|---|
/// | slices | `Vec<T>` | slices, borrowed mutably | how many records were written |
/// | [`DeviceVec`]s | `DeviceVec<T>` | `&mut DeviceVec<T>` | a [`Pending`] |
///
/// A scan [on a GPU](Scan::on) carries slices there and back, piece by piece, while it scans. A scan on the CPU refuses
/// device memory.
pub trait Place: sealed::Place {
    /// New records.
    type Vec<T: ScanType>;
    /// The result of a scan into records that are there.
    type Written;
    /// The result of a scan in place.
    type Replaced;
}

/// The memory of this process.
#[derive(Debug)]
pub enum Host {}

/// The memory of a GPU.
#[derive(Debug)]
pub enum OnDevice {}

impl Place for Host {
    type Vec<T: ScanType> = Vec<T>;
    type Written = usize;
    type Replaced = ();
}

impl Place for OnDevice {
    type Vec<T: ScanType> = DeviceVec<T>;
    type Written = Pending;
    type Replaced = Pending;
}

/// Results of one scan as a column of the next.
#[cfg(feature = "lexer")]
pub(crate) fn borrowed<P: Place, T: ScanType>(records: &P::Vec<T>) -> impl Columns<(T,), Place = P> {
    P::borrowed(records)
}

/// The same as a column to be written.
#[cfg(feature = "lexer")]
pub(crate) fn borrowed_mut<P: Place, T: ScanType>(records: &mut P::Vec<T>) -> impl ColumnsMut<T, Place = P> {
    P::borrowed_mut(records)
}

/// A column as long as another one, for what one call in its stream writes and the next one reads; the memory stays with the
/// stream. None on the host.
#[cfg(feature = "lexer")]
pub(crate) fn passed_on<T: ScanType, R: Record, C: Columns<R>>(
    from: &C,
) -> Result<Option<<C::Place as Place>::Vec<T>>, Error> {
    <C::Place as sealed::Place>::passed_on(from)
}

/// Whether columns are in the memory of a device.
#[cfg(feature = "lexer")]
pub(crate) fn are_on_device<R>(columns: &impl Columns<R>) -> bool {
    let mut found = false;
    columns.memories(|_| found = true);
    found
}

/// Refuses columns of a stream that is being captured, for what cannot be part of a graph.
#[cfg(feature = "lexer")]
pub(crate) fn expect_no_capture<R>(columns: &impl Columns<R>, expected: &'static str) -> Result<(), Error> {
    let mut found = Ok(());
    columns.memories(|memory| found = memory.expect_no_capture(expected));
    found
}

pub(super) mod sealed {
    use super::*;

    /// Runs requests over columns in this place.
    pub trait Place: Sized {
        const ON_HOST: bool;

        /// A column to be written.
        type Part<'a>;

        /// The means by which new columns are made.
        type Maker;

        /// Space for so many records.
        fn space<T: ScanType>(maker: &Self::Maker, len: usize) -> Result<Self::Vec<T>, Error>
        where
            Self: super::Place;

        /// Space as a column of so many records.
        fn part<T: ScanType>(space: &mut Self::Vec<T>, len: usize) -> Self::Part<'_>
        where
            Self: super::Place;

        /// Records that were collected, as a column.
        fn borrowed<T: ScanType>(records: &Self::Vec<T>) -> impl Columns<(T,), Place = Self>
        where
            Self: super::Place;

        /// The same as a column to be written.
        #[cfg(feature = "lexer")]
        fn borrowed_mut<T: ScanType>(records: &mut Self::Vec<T>) -> impl ColumnsMut<T, Place = Self>
        where
            Self: super::Place;

        /// A column as long as another one in memory that stays with its stream, if there are streams.
        #[cfg(feature = "lexer")]
        fn passed_on<T: ScanType, R: Record>(
            from: &impl Columns<R, Place = Self>,
        ) -> Result<Option<Self::Vec<T>>, Error>
        where
            Self: super::Place;

        /// # Safety
        /// So many records were written, or are going to be, and there is space for them.
        unsafe fn set_len<T: ScanType>(space: &mut Self::Vec<T>, len: usize)
        where
            Self: super::Place;

        fn collect<S: States, In: Record, Out: Outputs>(
            request: Request<'_, S, In, Out>,
            mode: Mode,
            input: &impl Columns<In, Place = Self>,
        ) -> Result<Out::Vec<Self>, Error>
        where
            Self: super::Place;

        fn collect_with_totals<S: States, In: Record, Out: Outputs>(
            request: Request<'_, S, In, Out>,
            mode: Mode,
            input: &impl Columns<In, Place = Self>,
        ) -> Result<(Out::Vec<Self>, Vec<S>), Error>
        where
            Self: super::Place;

        fn fill<S: States, In: Record, Out: Outputs>(
            request: Request<'_, S, In, Out>,
            mode: Mode,
            input: &impl Columns<In, Place = Self>,
            output: impl ColumnsMut<Out, Place = Self>,
        ) -> Result<Self::Written, Error>
        where
            Self: super::Place;

        /// As `fill`, of a scan that asks for nothing more.
        fn fill_plain<S: States, In: Record, Out: Outputs>(
            scan: &Scan<S, In, Out>,
            mode: Mode,
            input: impl Columns<In, Place = Self>,
            output: impl ColumnsMut<Out, Place = Self>,
        ) -> Result<Self::Written, Error>
        where
            Self: super::Place,
        {
            Self::fill(scan.request(), mode, &input, output)
        }

        fn replace<S: States, Out: Outputs>(
            request: Request<'_, S, Out::Record, Out>,
            mode: Mode,
            records: impl ColumnsMut<Out, Place = Self>,
        ) -> Result<Self::Replaced, Error>
        where
            Self: super::Place;

        fn replace_plain<S: States, Out: Outputs>(
            scan: &Scan<S, Out::Record, Out>,
            mode: Mode,
            records: impl ColumnsMut<Out, Place = Self>,
        ) -> Result<Self::Replaced, Error>
        where
            Self: super::Place,
        {
            Self::replace(scan.request(), mode, records)
        }

        fn totals<S: States, In: Record, Out: Outputs>(
            request: Request<'_, S, In, Out>,
            input: &impl Columns<In, Place = Self>,
        ) -> Result<Vec<S>, Error>;
    }
}
