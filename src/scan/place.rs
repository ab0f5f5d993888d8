//! [`Place`]: where columns lie, which decides what a scan of them gives.

use monoscan_ir::Mode;
use monoscan_runtime::Error;

#[cfg(feature = "lexer")]
use super::Plain;
use super::Request;
use super::columns::{Columns, Record};
use super::device::{DeviceVec, Pending};
use super::outputs::{ColumnsMut, Outputs};
use super::states::States;
use super::totals::Totals;
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
/// A scan [on a GPU](crate::Scan::on) carries slices there and back, piece by piece, while it scans. A scan on the CPU refuses
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

/// Two scans, the second one of what the first one gives, which is no column of anybody's: on a device its memory stays with the
/// stream. The result is waited for there, since a fault of either is told by waiting alone.
#[cfg(feature = "lexer")]
pub(crate) fn through<T: ScanType, M: ScanType, U: ScanType, C: Columns<(T,)>>(
    scans: (Plain<'_, T, M>, Plain<'_, M, U>),
    input: C,
) -> Result<<C::Place as Place>::Vec<U>, Error> {
    <C::Place as sealed::Place>::collect_through(scans, &input)
}

/// The same into a column that is there, which is not waited for.
#[cfg(feature = "lexer")]
pub(crate) fn through_into<T: ScanType, M: ScanType, U: ScanType, C: Columns<(T,)>>(
    scans: (Plain<'_, T, M>, Plain<'_, M, U>),
    input: C,
    output: impl ColumnsMut<U, Place = C::Place>,
) -> Result<<C::Place as Place>::Written, Error> {
    <C::Place as sealed::Place>::fill_through(scans, &input, output)
}

/// The result of `call` for a column of bytes, if it is a slice in the memory of this process.
#[cfg(feature = "lexer")]
pub(crate) fn of_slice<C: Columns<(u8,)>>(
    input: &C,
    call: impl FnOnce(&[u8]) -> Result<Vec<u8>, Error>,
) -> Option<Result<<C::Place as Place>::Vec<u8>, Error>> {
    <C::Place as sealed::Place>::of_slice(input, call)
}

/// The same into a column, if both are slices of one length.
#[cfg(feature = "lexer")]
pub(crate) fn of_slice_into<C: Columns<(u8,)>>(
    input: &C,
    output: &mut impl ColumnsMut<u8, Place = C::Place>,
    call: impl FnOnce(&[u8], &mut [u8]) -> Result<(), Error>,
) -> Option<Result<<C::Place as Place>::Written, Error>> {
    <C::Place as sealed::Place>::of_slice_into(input, output, call)
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

        /// Runs the second scan over what the first one gives.
        #[cfg(feature = "lexer")]
        fn collect_through<T: ScanType, M: ScanType, U: ScanType>(
            scans: (Plain<'_, T, M>, Plain<'_, M, U>),
            input: &impl Columns<(T,), Place = Self>,
        ) -> Result<Self::Vec<U>, Error>
        where
            Self: super::Place;

        /// The same into a column that is there.
        #[cfg(feature = "lexer")]
        fn fill_through<T: ScanType, M: ScanType, U: ScanType>(
            scans: (Plain<'_, T, M>, Plain<'_, M, U>),
            input: &impl Columns<(T,), Place = Self>,
            output: impl ColumnsMut<U, Place = Self>,
        ) -> Result<Self::Written, Error>
        where
            Self: super::Place;

        /// The result of `call` for a column of bytes, if it is a slice in the memory of this process.
        #[cfg(feature = "lexer")]
        fn of_slice(
            _input: &impl Columns<(u8,), Place = Self>,
            _call: impl FnOnce(&[u8]) -> Result<Vec<u8>, Error>,
        ) -> Option<Result<Self::Vec<u8>, Error>>
        where
            Self: super::Place,
        {
            None
        }

        /// The same into a column, if both are slices of one length.
        #[cfg(feature = "lexer")]
        fn of_slice_into(
            _input: &impl Columns<(u8,), Place = Self>,
            _output: &mut impl ColumnsMut<u8, Place = Self>,
            _call: impl FnOnce(&[u8], &mut [u8]) -> Result<(), Error>,
        ) -> Option<Result<Self::Written, Error>>
        where
            Self: super::Place,
        {
            None
        }

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

        fn replace<S: States, Out: Outputs>(
            request: Request<'_, S, Out::Record, Out>,
            mode: Mode,
            records: impl ColumnsMut<Out, Place = Self>,
        ) -> Result<Self::Replaced, Error>
        where
            Self: super::Place;

        fn totals<S: States, In: Record, Out: Outputs>(
            request: Request<'_, S, In, Out>,
            input: &impl Columns<In, Place = Self>,
            to: &mut impl Totals<S>,
        ) -> Result<(), Error>;
    }
}
