//! [`Backend`]: what runs the calls of a scan, on the CPU or on a GPU. Above it, once for all:
//! judging, caching, options and the checks of calls.
//!
//! | backend | what runs |
//! |---|---|
//! | `engine::OnCpu` | kernels compiled for this machine, on all cores |
//! | `gpu::OnGpu` over `gpu::Compiled` | kernels compiled for a GPU when a call first needs them |
//! | `gpu::OnGpu` over `gpu::Ahead` | kernels for a GPU that were made ahead of time |
//!
//! The kernels of short lines on the CPU are called past it: they are compiled into the callers.

use monoscan_ir::Constant;

use crate::call::Call;
use crate::column::{Column, ColumnMut};
use crate::error::Error;
use crate::parameters::Parameters;
#[cfg(feature = "cuda")]
use crate::{cuda::Stream, device::DeviceError, gpu};

/// Settings of a scan, added to each of its calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings<'a> {
    /// The values of the program's parameters.
    pub(crate) parameters: &'a Parameters,
    /// Whether the first overflow is an error.
    pub(crate) checked: bool,
}

/// A call over host memory, once checked.
pub(crate) struct HostTask<'a, 'c> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) settings: Settings<'a>,
    pub(crate) inputs: &'a [Column<'a>],
    /// None for a reduction.
    pub(crate) outputs: Option<&'a mut [ColumnMut<'c>]>,
    pub(crate) len: usize,
}

/// The results of a call besides its outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// How many records were written: all of its sequences, or those that the program keeps.
    pub written: usize,
    /// If they were asked for, the totals of all sequences, one after the other, the components of all stages each: one for a
    /// line, one for each row; for segments the total of the last one. A stream is resumed from its total: if a call has a
    /// carry, the total of a program that reads the record before has that too, as
    /// [`first_carry`](monoscan_ir::Program::first_carry) does.
    pub totals: Vec<Constant>,
}

/// A program on a device.
pub(crate) trait Backend: Send + Sync {
    /// Compiles or loads what every scan needs, so that what cannot be is refused before the first call.
    fn prepare(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Runs a call over host memory. Gives how many records were written. `totals`, if it is some, has a place for the
    /// components of each sequence's total: those of all stages, or, of a call from a carry, those that streams carry.
    fn run(&self, task: HostTask<'_, '_>, totals: Option<&mut [Constant]>) -> Result<usize, Error>;

    /// The kernels that run for an inclusive scan of a line; with how they were chosen, if that is asked for.
    fn explain(&self, is_verbose: bool) -> String;

    /// How many records are folded on their own at most before they are combined with those before them.
    fn block(&self) -> usize;

    /// Gives a call over device memory to a stream.
    #[cfg(feature = "cuda")]
    fn submit(&self, _task: gpu::Task<'_>, _stream: &Stream) -> Result<gpu::Pending, Error> {
        Err(DeviceError::NotOnGpu.into())
    }

    /// The totals of all sequences of a call over device memory, which are waited for.
    #[cfg(feature = "cuda")]
    fn totals(&self, _: (&Call<'_>, Settings<'_>), _: &[Column<'_>], _: &Stream) -> Result<Vec<Constant>, Error> {
        Err(DeviceError::NotOnGpu.into())
    }

    /// The kernel of an inclusive scan of a line on a GPU.
    #[cfg(feature = "cuda")]
    fn kernel(&self) -> Result<std::sync::Arc<gpu::GpuKernel>, Error> {
        Err(DeviceError::NotOnGpu.into())
    }
}
