//! Scans of device memory in a build without the feature `cuda`, in which there is no such memory.

use std::convert::Infallible;

use monoscan_ir::Mode;
use monoscan_runtime::{Column, DeviceMemory, Error};

use super::DeviceVec;
use crate::lang::ScanType;
#[cfg(feature = "lexer")]
use crate::scan::Plain;
use crate::scan::columns::sealed::Part;
use crate::scan::columns::{Columns, Record};
use crate::scan::outputs::{ColumnsMut, Outputs};
use crate::scan::place::{OnDevice, sealed};
use crate::scan::totals::Totals;
use crate::scan::{Request, States};

/// A scan of device memory that was given to a stream. There is none without the feature `cuda`.
#[derive(Debug)]
pub struct Pending(Infallible);

impl Pending {
    /// Waits until it is done, and gives how many records were written.
    ///
    /// # Errors
    /// None: there is no such scan.
    pub fn wait(&self) -> Result<usize, Error> {
        match self.0 {}
    }

    /// Whether waiting would take no time.
    ///
    /// # Errors
    /// None: there is no such scan.
    pub fn is_done(&self) -> Result<bool, Error> {
        match self.0 {}
    }
}

impl sealed::Place for OnDevice {
    const ON_HOST: bool = false;

    type Part<'a> = (&'a mut DeviceMemory, Part<usize>);
    type Maker = Infallible;

    fn space<T: ScanType>(maker: &Infallible, _: usize) -> Result<DeviceVec<T>, Error> {
        match *maker {}
    }

    fn part<T: ScanType>(space: &mut DeviceVec<T>, _: usize) -> (&mut DeviceMemory, Part<usize>) {
        nowhere::<(T,), _>(&&*space)
    }

    #[cfg(feature = "lexer")]
    fn collect_through<T: ScanType, M: ScanType, U: ScanType>(
        _: (Plain<'_, T, M>, Plain<'_, M, U>),
        input: &impl Columns<(T,), Place = OnDevice>,
    ) -> Result<DeviceVec<U>, Error> {
        nowhere(input)
    }

    #[cfg(feature = "lexer")]
    fn fill_through<T: ScanType, M: ScanType, U: ScanType>(
        _: (Plain<'_, T, M>, Plain<'_, M, U>),
        input: &impl Columns<(T,), Place = OnDevice>,
        _: impl ColumnsMut<U, Place = OnDevice>,
    ) -> Result<Pending, Error> {
        nowhere(input)
    }

    unsafe fn set_len<T: ScanType>(space: &mut DeviceVec<T>, _: usize) {
        nowhere::<(T,), _>(&&*space)
    }

    fn collect<S: States, In: Record, Out: Outputs>(
        _: Request<'_, S, In, Out>,
        _: Mode,
        input: &impl Columns<In, Place = OnDevice>,
    ) -> Result<Out::Vec<OnDevice>, Error> {
        nowhere(input)
    }

    fn collect_with_totals<S: States, In: Record, Out: Outputs>(
        _: Request<'_, S, In, Out>,
        _: Mode,
        input: &impl Columns<In, Place = OnDevice>,
    ) -> Result<(Out::Vec<OnDevice>, Vec<S>), Error> {
        nowhere(input)
    }

    fn fill<S: States, In: Record, Out: Outputs>(
        _: Request<'_, S, In, Out>,
        _: Mode,
        input: &impl Columns<In, Place = OnDevice>,
        _: impl ColumnsMut<Out, Place = OnDevice>,
    ) -> Result<Pending, Error> {
        nowhere(input)
    }

    fn replace<S: States, Out: Outputs>(
        _: Request<'_, S, Out::Record, Out>,
        _: Mode,
        mut records: impl ColumnsMut<Out, Place = OnDevice>,
    ) -> Result<Pending, Error> {
        records.parts(|(memory, _)| _ = memory.device());
        unreachable!("{NO_VALUE}")
    }

    fn totals<S: States, In: Record, Out: Outputs>(
        _: Request<'_, S, In, Out>,
        input: &impl Columns<In, Place = OnDevice>,
        _: &mut impl Totals<S>,
    ) -> Result<(), Error> {
        nowhere(input)
    }
}

const NO_VALUE: &str = "no value of `DeviceVec` is made without the feature `cuda`";

fn nowhere<In: Record, T>(input: &impl Columns<In>) -> T {
    input.memories(|memory| _ = memory.device());
    unreachable!("{NO_VALUE}")
}

impl<T: ScanType> DeviceVec<T> {
    pub(in crate::scan) fn column(&self) -> (Column<'_>, &DeviceMemory) {
        nowhere::<(T,), _>(&self)
    }
}
