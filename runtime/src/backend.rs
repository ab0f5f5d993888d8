//! [`Backend`]: what runs the calls of a scan that is not on the CPU. Above it, once for all:
//! judging, caching, checks.
//!
//! The CPU's engine is no backend: its short paths are compiled into the callers.

use monoscan_ir::Constant;

use crate::call::Call;
use crate::column::{Column, ColumnMut};
use crate::error::Error;

/// A call over host memory, once checked.
#[cfg_attr(
    not(all(feature = "cuda", feature = "ptx")),
    expect(dead_code, reason = "no backend reads it in this build")
)]
pub(crate) struct HostTask<'a, 'c> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) carry: Option<&'a [Constant]>,
    pub(crate) inputs: &'a [Column<'a>],
    /// None for a reduction.
    pub(crate) outputs: Option<&'a mut [ColumnMut<'c>]>,
    pub(crate) len: usize,
}

/// What a call gives besides its outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// How many records were written: all of its sequences, or those that the program keeps.
    pub written: usize,
    /// If they were asked for, the totals of all sequences, one after the other, the components of all stages each: one for a
    /// line, one for each row; for flagged segments the total of the last one. A stream is resumed from its total, so that
    /// of a program that reads the record before has that too, as
    /// [`first_carry`](monoscan_ir::Program::first_carry) does.
    pub totals: Vec<Constant>,
}

/// A program on a device.
pub(crate) trait Backend: Send + Sync {
    /// Runs a call over host memory that was checked.
    fn run(&self, task: HostTask<'_, '_>) -> Result<Outcome, Error>;

    /// What runs for an inclusive scan of a line.
    fn explain(&self) -> String;

    /// Gives a call over device memory to a stream; its columns are checked here.
    #[cfg(feature = "cuda")]
    fn submit(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
        stream: &crate::cuda::Stream,
    ) -> Result<crate::gpu::Pending, Error>;

    /// As [`submit`](Backend::submit), outputs over inputs.
    #[cfg(feature = "cuda")]
    fn submit_in_place(
        &self,
        call: &Call<'_>,
        columns: &mut [ColumnMut<'_>],
        stream: &crate::cuda::Stream,
    ) -> Result<crate::gpu::Pending, Error>;

    /// As [`submit`](Backend::submit), for totals alone.
    #[cfg(feature = "cuda")]
    fn submit_reduce(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        stream: &crate::cuda::Stream,
    ) -> Result<crate::gpu::Pending, Error>;

    /// The kernel of an inclusive scan of a line.
    #[cfg(feature = "cuda")]
    fn kernel(&self) -> Result<std::sync::Arc<crate::gpu::GpuKernel>, Error>;
}
