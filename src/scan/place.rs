//! [`Place`]: where columns lie, which decides what a scan of them gives.

use monoscan_ir::Mode;
use monoscan_runtime::Error;

use super::columns::{Columns, Record};
use super::device::{self, DeviceVec, Pending};
use super::states::States;
use super::{Request, Scan};
use crate::lang::ScanType;

/// Where columns lie: in the memory of this process ([`Host`]) or in that of a GPU ([`OnDevice`]).
///
/// Every method of a scan takes columns of both; their types say which it is, and so what comes of it.
///
/// | columns | results | `_into` takes | and gives |
/// |---|---|---|---|
/// | slices | `Vec<Out>` | `&mut [Out]` | how many records were written |
/// | [`DeviceVec`]s | `DeviceVec<Out>` | `&mut DeviceVec<Out>` | a [`Pending`] |
///
/// A scan [on a GPU](Scan::on) carries slices there and back, piece by piece, while it scans. A scan on the CPU refuses
/// device memory.
pub trait Place: sealed::Place {
    /// New records.
    type Vec<T: ScanType>;
    /// Records to be written.
    type Slice<T: ScanType>: ?Sized;
    /// What is left by a scan into such records.
    type Written;
    /// What is left by a scan in place.
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
    type Slice<T: ScanType> = [T];
    type Written = usize;
    type Replaced = ();
}

impl Place for OnDevice {
    type Vec<T: ScanType> = DeviceVec<T>;
    type Slice<T: ScanType> = DeviceVec<T>;
    type Written = Pending;
    type Replaced = Pending;
}

/// Records that a scan is written over: a slice, or a [`DeviceVec`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that a scan of `{T}` can be written over",
    note = "expected `&mut [T]`, `&mut Vec<T>`, `&mut [T; N]` or `&mut DeviceVec<T>`"
)]
pub trait InPlace<T: ScanType>: sealed::InPlace<T, Self::Place> {
    /// Where they lie.
    type Place: Place;
}

impl<T: ScanType> InPlace<T> for &mut [T] {
    type Place = Host;
}

impl<T: ScanType> InPlace<T> for &mut Vec<T> {
    type Place = Host;
}

impl<T: ScanType, const N: usize> InPlace<T> for &mut [T; N] {
    type Place = Host;
}

impl<T: ScanType> InPlace<T> for &mut DeviceVec<T> {
    type Place = OnDevice;
}

pub(super) mod sealed {
    use super::*;

    /// What runs a request over columns in this place.
    pub trait Place: Sized {
        const ON_HOST: bool;

        fn collect<S: States, In: Record, Out: ScanType>(
            request: Request<'_, S, In, Out>,
            mode: Mode,
            input: &impl Columns<In, Place = Self>,
        ) -> Result<Self::Vec<Out>, Error>
        where
            Self: super::Place;

        fn fill<S: States, In: Record, Out: ScanType>(
            request: Request<'_, S, In, Out>,
            mode: Mode,
            input: &impl Columns<In, Place = Self>,
            output: &mut Self::Slice<Out>,
        ) -> Result<Self::Written, Error>
        where
            Self: super::Place;

        /// As `fill`, of a scan that asks for nothing more.
        fn fill_plain<S: States, In: Record, Out: ScanType>(
            scan: &Scan<S, In, Out>,
            mode: Mode,
            input: impl Columns<In, Place = Self>,
            output: &mut Self::Slice<Out>,
        ) -> Result<Self::Written, Error>
        where
            Self: super::Place;

        fn replace<S: States, T: ScanType>(
            request: Request<'_, S, (T,), T>,
            mode: Mode,
            records: &mut Self::Slice<T>,
        ) -> Result<Self::Replaced, Error>
        where
            Self: super::Place;

        fn replace_plain<S: States, T: ScanType>(
            scan: &Scan<S, (T,), T>,
            mode: Mode,
            records: &mut Self::Slice<T>,
        ) -> Result<Self::Replaced, Error>
        where
            Self: super::Place;

        fn totals<S: States, In: Record, Out: ScanType>(
            request: Request<'_, S, In, Out>,
            input: &impl Columns<In, Place = Self>,
        ) -> Result<Vec<S>, Error>;
    }

    pub trait InPlace<T: ScanType, P: super::Place> {
        fn records(&mut self) -> &mut P::Slice<T>;
    }
}

impl sealed::Place for Host {
    const ON_HOST: bool = true;

    fn collect<S: States, In: Record, Out: ScanType>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
    ) -> Result<Vec<Out>, Error> {
        request.collect(mode, input)
    }

    fn fill<S: States, In: Record, Out: ScanType>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = Host>,
        output: &mut [Out],
    ) -> Result<usize, Error> {
        request.fill(mode, input, output)
    }

    #[inline]
    fn fill_plain<S: States, In: Record, Out: ScanType>(
        scan: &Scan<S, In, Out>,
        mode: Mode,
        input: impl Columns<In, Place = Host>,
        output: &mut [Out],
    ) -> Result<usize, Error> {
        scan.fill(mode, input, output)
    }

    fn replace<S: States, T: ScanType>(
        request: Request<'_, S, (T,), T>,
        mode: Mode,
        records: &mut [T],
    ) -> Result<(), Error> {
        request.replace(mode, records)
    }

    #[inline]
    fn replace_plain<S: States, T: ScanType>(
        scan: &Scan<S, (T,), T>,
        mode: Mode,
        records: &mut [T],
    ) -> Result<(), Error> {
        scan.replace(mode, records)
    }

    fn totals<S: States, In: Record, Out: ScanType>(
        request: Request<'_, S, In, Out>,
        input: &impl Columns<In, Place = Host>,
    ) -> Result<Vec<S>, Error> {
        request.totals_on_host(input)
    }
}

impl sealed::Place for OnDevice {
    const ON_HOST: bool = false;

    fn collect<S: States, In: Record, Out: ScanType>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = OnDevice>,
    ) -> Result<DeviceVec<Out>, Error> {
        device::collect(request, mode, input)
    }

    fn fill<S: States, In: Record, Out: ScanType>(
        request: Request<'_, S, In, Out>,
        mode: Mode,
        input: &impl Columns<In, Place = OnDevice>,
        output: &mut DeviceVec<Out>,
    ) -> Result<Pending, Error> {
        device::fill(request, mode, input, output)
    }

    fn fill_plain<S: States, In: Record, Out: ScanType>(
        scan: &Scan<S, In, Out>,
        mode: Mode,
        input: impl Columns<In, Place = OnDevice>,
        output: &mut DeviceVec<Out>,
    ) -> Result<Pending, Error> {
        device::fill(scan.request(), mode, &input, output)
    }

    fn replace<S: States, T: ScanType>(
        request: Request<'_, S, (T,), T>,
        mode: Mode,
        records: &mut DeviceVec<T>,
    ) -> Result<Pending, Error> {
        device::replace(request, mode, records)
    }

    fn replace_plain<S: States, T: ScanType>(
        scan: &Scan<S, (T,), T>,
        mode: Mode,
        records: &mut DeviceVec<T>,
    ) -> Result<Pending, Error> {
        device::replace(scan.request(), mode, records)
    }

    fn totals<S: States, In: Record, Out: ScanType>(
        request: Request<'_, S, In, Out>,
        input: &impl Columns<In, Place = OnDevice>,
    ) -> Result<Vec<S>, Error> {
        device::totals(request, input)
    }
}

impl<T: ScanType> sealed::InPlace<T, Host> for &mut [T] {
    #[inline]
    fn records(&mut self) -> &mut [T] {
        self
    }
}

impl<T: ScanType> sealed::InPlace<T, Host> for &mut Vec<T> {
    #[inline]
    fn records(&mut self) -> &mut [T] {
        self
    }
}

impl<T: ScanType, const N: usize> sealed::InPlace<T, Host> for &mut [T; N] {
    #[inline]
    fn records(&mut self) -> &mut [T] {
        *self
    }
}

impl<T: ScanType> sealed::InPlace<T, OnDevice> for &mut DeviceVec<T> {
    fn records(&mut self) -> &mut DeviceVec<T> {
        self
    }
}
