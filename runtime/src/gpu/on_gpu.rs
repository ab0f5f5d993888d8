//! [`OnGpu`]: a program on a GPU as a backend, whatever [`Source`] its kernels come from.

use std::sync::Arc;
use std::time::Duration;

use monoscan_codegen::gpu::{GpuPlan, Transducer};
use monoscan_ir::{Constant, Program, Verified};

use super::ahead::{Ahead, AotKernel, Helper};
#[cfg(feature = "ptx")]
use super::chunks::Chunks;
use super::kernel::{GpuKernel, TIME_LIMIT};
use super::numbers::Numbering;
use super::pending::Pending;
use super::spaced::Respacing;
use super::states::States;
use super::task::Task;
#[cfg(feature = "ptx")]
use super::variant::Maker;
use crate::backend::{Backend, HostTask, Settings};
use crate::call::{Call, Shape};
use crate::column::Column;
use crate::cuda::{CubinCache, Device, Stream};
use crate::error::Error;

/// A program on one GPU.
pub(crate) struct OnGpu {
    pub(super) program: Arc<Verified<Program>>,
    pub(super) device: Device,
    pub(super) source: Arc<dyn Source>,
    /// The kernels of whole lines, if the program is that of a transducer of many states.
    #[cfg(feature = "ptx")]
    pub(super) chunks: Option<Arc<Chunks>>,
    /// After which time a block stops waiting for another one.
    pub(super) limit: Duration,
    /// How many scans of [chunks](Task::submit_chunks) wait for its results, being scans of their aggregates.
    #[cfg(feature = "ptx")]
    pub(super) depth: usize,
}

/// Where the kernels of a program come from.
pub(super) trait Source: Send + Sync {
    /// The kernel of a task; none if there is nothing to do. It is one of the program, lowered for the task's form,
    /// that goes through its records in its direction, in columns where its are.
    ///
    /// # Errors
    /// There is none, or it cannot be made.
    fn find(&self, task: &Task<'_>) -> Result<Option<Found>, Error>;

    /// The kernel of an inclusive scan of a line.
    ///
    /// # Errors
    /// As [`find`](Source::find).
    fn first(&self) -> Result<Arc<GpuKernel>, Error>;

    /// Most records that a block of threads of that kernel folds on its own.
    fn block(&self) -> usize;

    /// The schedule, in words.
    fn explain(&self) -> String;

    /// The scan whose outputs are the states at the ends of segments, for a reduction by this call.
    ///
    /// # Errors
    /// There are no kernels for it.
    fn at_ends(&self, call: &Call<'_>) -> Result<OnGpu, Error>;

    /// The scan of so many [interleaved](monoscan_ir::transform::interleaved) rows as one line, if there is one.
    ///
    /// # Errors
    /// It cannot be made.
    #[cfg(feature = "ptx")]
    fn interleaved(&self, _rows: usize) -> Result<Option<OnGpu>, Error> {
        Ok(None)
    }

    /// The scan of the [states](super::row_chunks::of_states) of a level, if there is one.
    ///
    /// # Errors
    /// It cannot be made.
    #[cfg(feature = "ptx")]
    fn of_states(&self, _level: usize) -> Result<Option<OnGpu>, Error> {
        Ok(None)
    }

    /// Whether rows of so many records, one after the other, are scanned by a thread each.
    #[cfg(feature = "ptx")]
    fn takes_by_threads(&self, _records: usize) -> bool {
        false
    }

    /// The kernels that make columns beside those of a call, ready to make this.
    ///
    /// # Errors
    /// There are none for it.
    fn helpers(&self, makes: Helper) -> Result<&dyn HelperKernels, Error>;
}

/// Kernels that make columns on the device, in a stream. Each call fails if the driver does, or cannot compile its kernel.
pub(super) trait HelperKernels {
    /// Flags the heads of a call's segments, which are told by keys or offsets, where there is a byte for each record. Flags are
    /// zeros before; so are numbers, which offsets leave marks in, as [`Numbering::Marks`] says. If a scan does it, that has to be
    /// waited for too: it alone knows of its faults.
    fn mark(&self, call: &Call<'_>, to: &SegmentColumns, stream: &Stream) -> Result<Option<Pending>, Error>;

    /// Flags the first of each so many records. Flags have space there for as many, rounded up to 16.
    #[cfg(feature = "ptx")]
    fn mark_rows(&self, records: usize, to: &SegmentColumns, stream: &Stream) -> Result<(), Error>;

    /// Numbers the records' segments by their flags or marks. What a scan of flags gives has their number for its total.
    fn number(&self, numbering: Numbering, columns: &SegmentColumns, stream: &Stream) -> Result<Pending, Error>;

    /// Writes for each record a state to `starts`, by its number, out of states: where they are, how many, and the bytes of each.
    fn look_up_starts(
        &self,
        columns: &SegmentColumns,
        states: (u64, usize, usize),
        starts: u64,
        stream: &Stream,
    ) -> Result<(), Error>;

    /// Copies records from one spacing to another.
    fn respace(&self, copy: &Respacing, stream: &Stream) -> Result<(), Error>;
}

/// The columns that segments add to those of a call, by address: for each record a flag of a byte, and the number of its segment as `u32`,
/// or 0 if that is not asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentColumns {
    pub(super) len: usize,
    pub(super) flags: u64,
    pub(super) numbers: u64,
}

/// A kernel, and where the program's states are among those of its lowered form.
pub(super) struct Found {
    pub(super) kernel: Arc<GpuKernel>,
    pub(super) states: Arc<States>,
}

/// The options of a scan on a GPU, besides those of every scan.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The only plan for lines, if one was asked for.
    #[cfg_attr(not(feature = "ptx"), expect(dead_code, reason = "nothing is planned in this build"))]
    pub(crate) plan: Option<GpuPlan>,
    pub(crate) cache: Option<CubinCache>,
    /// The transducer that the program is, if it is told.
    pub(crate) transducer: Option<Arc<Transducer>>,
    pub(crate) limit: Duration,
    /// The kernels that run, if they were made ahead of time.
    pub(crate) ahead: Option<Arc<[AotKernel]>>,
}

impl Default for Options {
    fn default() -> Options {
        Options { plan: None, cache: None, transducer: None, limit: TIME_LIMIT, ahead: None }
    }
}

/// The backend for a program that was judged.
///
/// # Errors
/// No kernels can be made for the device, or its driver is too old for them; those made ahead of time are others'.
pub(crate) fn backend(
    program: Arc<Verified<Program>>,
    device: &Device,
    options: &Options,
) -> Result<Arc<dyn Backend>, Error> {
    let source: Arc<dyn Source> = match &options.ahead {
        // SAFETY: the caller that gave the kernels vouched for them.
        Some(kernels) => Arc::new(unsafe { Ahead::load(&program, device, kernels, options.cache.as_ref()) }?),
        #[cfg(feature = "ptx")]
        None => Arc::new(super::Compiled::new(program.clone(), device, options)?),
        #[cfg(not(feature = "ptx"))]
        None => return Err(crate::device::DeviceError::NoCompiler { device: device.into() }.into()),
    };
    #[cfg(feature = "ptx")]
    let chunks = match (&options.transducer, &options.ahead) {
        (Some(transducer), None) => {
            let columns = (&program.inputs[0], &program.output.columns[0]);
            let maker = Maker { cache: options.cache.clone(), ..Maker::new(device)? };
            Chunks::new(transducer, columns, maker, options.limit)?.map(Arc::new)
        }
        _ => None,
    };
    Ok(Arc::new(OnGpu {
        program,
        device: *device,
        source,
        #[cfg(feature = "ptx")]
        chunks,
        limit: options.limit,
        #[cfg(feature = "ptx")]
        depth: 0,
    }))
}

impl Backend for OnGpu {
    fn run(&self, task: HostTask<'_, '_>, totals: Option<&mut [Constant]>) -> Result<usize, Error> {
        if let (Shape::Offsets(offsets), None) = (task.call.shape, &task.outputs) {
            let found = self.totals_between(offsets, &task)?;
            totals.into_iter().for_each(|totals| totals.copy_from_slice(&found));
            return Ok(0);
        }
        let own = self.total_components(task.call.carry.is_some());
        let outcome = self.run_on_host(task)?;
        let found = outcome.totals.chunks_exact(own);
        totals.into_iter().flat_map(|totals| totals.chunks_exact_mut(own)).zip(found).for_each(|(to, found)| {
            to.copy_from_slice(found);
        });
        Ok(outcome.written)
    }

    fn explain(&self, _is_verbose: bool) -> String {
        #[cfg(feature = "ptx")]
        if let Some(chunks) = &self.chunks {
            return format!("{}otherwise, {}", chunks.explain(), self.source.explain());
        }
        self.source.explain()
    }

    fn block(&self) -> usize {
        self.source.block()
    }

    fn submit(&self, task: Task<'_>, stream: &Stream) -> Result<Pending, Error> {
        task.submit(self, stream)
    }

    fn totals(
        &self,
        call: (&Call<'_>, Settings<'_>),
        inputs: &[Column<'_>],
        stream: &Stream,
    ) -> Result<Vec<Constant>, Error> {
        self.totals_on_device(call, inputs, stream)
    }

    fn kernel(&self) -> Result<Arc<GpuKernel>, Error> {
        self.source.first()
    }
}
