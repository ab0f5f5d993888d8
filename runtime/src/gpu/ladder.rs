//! Rungs of the ladder on a device: schedules out of the history of the scan, for study and for benchmarks.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use monoscan_codegen::gpu::HEADER_BYTES;
use monoscan_codegen::nvptx::ladder::{self, LadderKernels, Rung};
use monoscan_ir::Constant;
use monoscan_ir::facts::Facts;
use monoscan_ir::transform::{Form, lower};

use super::arguments::pack;
use super::call::DeviceCall;
use super::column::{DeviceColumn, DeviceColumnMut};
use super::kernel::{Launch, to_u32};
use super::pending::{expect_no_fault, expect_no_quarantine};
use super::scan::GpuScan;
use crate::cuda::{CudaError, DeviceBuffer, Kernel, Module, Stream, Workspace, keep_with_graph};
use crate::error::Error;

/// Launches after which a workspace is zeroed: rungs have one bit of a tag less than other kernels to count them.
const MOST_LAUNCHES: u64 = i32::MAX as u64 - 1;

/// A scan by the kernels of one rung. It scans lines from the first record to the last, inclusively, in columns at multiples of 16
/// bytes. Cheap to clone.
#[derive(Clone)]
pub struct LadderScan {
    loaded: Arc<Loaded>,
    scan: GpuScan,
}

struct Loaded {
    /// Is freed first, which waits for the device's work: no launch outlives the code.
    _last_launch: DeviceBuffer<u8>,
    kernels: LadderKernels,
    /// The code of each launch.
    code: Vec<Kernel>,
    /// The state that a line starts from.
    start: Vec<Constant>,
    key: u64,
}

/// A scan by a rung that was given to a stream.
pub struct LadderPending {
    stream: Stream,
    workspace: Option<Workspace>,
    limit: Duration,
}

impl GpuScan {
    /// The same scan by a rung of the ladder, whose kernels are compiled for it.
    ///
    /// # Errors
    /// [`Error::Nvptx`] if the rung does not run this program, or not on this device. [`Error::Cuda`] if the driver refuses it.
    pub fn by_rung(&self, rung: Rung) -> Result<LadderScan, Error> {
        let device = self.device();
        let lowered = lower(self.program(), Form { previous: true, ..Form::default() });
        let kernels = ladder::compile(&lowered, &Facts::of(&lowered), rung, self.arch())?;
        let module = Module::from_ptx(device, &kernels.text, None)?;
        let code = kernels.launches.iter().map(|launch| {
            let kernel = module.kernel(launch.entry)?;
            kernel.allow_shared(to_u32("the shared memory", launch.shared_bytes)?)?;
            Ok(kernel)
        });
        let code = code.collect::<Result<_, CudaError>>()?;
        let start = lowered.stages.iter().flat_map(|stage| stage.identity.iter().copied()).collect();
        let mut hasher = DefaultHasher::new();
        kernels.text.hash(&mut hasher);
        let _last_launch = DeviceBuffer::uninitialized(device, 1)?;
        let loaded = Loaded { _last_launch, kernels, code, start, key: hasher.finish() };
        Ok(LadderScan { loaded: Arc::new(loaded), scan: self.clone() })
    }
}

impl LadderScan {
    /// Its kernels: how many there are, their tile, their PTX.
    pub fn kernels(&self) -> &LadderKernels {
        &self.loaded.kernels
    }

    /// What the driver made of the kernel of each launch: registers, spills.
    pub fn code(&self) -> &[Kernel] {
        &self.loaded.code
    }

    /// Gives the scan of a line to a stream, all its launches one after the other. If the stream is being captured, they become
    /// part of the graph.
    ///
    /// # Errors
    /// If a column does not fit the program, the device or the other columns, or does not begin at a multiple of 16 bytes.
    /// [`Error::Cuda`] if there are more tiles than a grid has blocks, too little memory for a workspace, or the driver fails.
    pub fn call(
        &self,
        inputs: &[DeviceColumn<'_>],
        outputs: &mut [DeviceColumnMut<'_>],
        stream: &Stream,
    ) -> Result<LadderPending, Error> {
        let Loaded { kernels, code, start, key, .. } = &*self.loaded;
        let call = DeviceCall::default();
        let sides = self.scan.sides();
        let task = sides.task(&call, inputs, outputs)?;
        task.check(self.scan.program(), self.scan.device(), stream)?;
        if !task.is_aligned(sides.inputs, sides.outputs, |_| 16) {
            return Err(CudaError::argument("a column's address", "a multiple of 16", "another one").into());
        }
        let (span, limit) = (task.line(), self.scan.limit);
        if span.records == 0 {
            return Ok(LadderPending { stream: stream.clone(), workspace: None, limit });
        }
        let workspace = Workspace::lease(stream, *key, kernels.workspace_bytes(span.records) - HEADER_BYTES)?;
        if workspace.leases() >= MOST_LAUNCHES {
            workspace.zero()?;
        }
        keep_with_graph(stream, self.loaded.clone())?;
        let columns: Vec<u64> = task.inputs.iter().chain(&task.outputs).copied().collect();
        let launch = Launch { span, reversed: false, start, init: start, columns: &columns, room: 0, totals: false };
        let arguments = pack(&kernels.arguments, &launch, workspace.address(), 0, limit);
        let multiprocessors = self.scan.device().facts().multiprocessors as usize;
        for (kernel, launch) in code.iter().zip(&kernels.launches) {
            let blocks = to_u32("the grid", kernels.blocks(launch, span.records, multiprocessors))?;
            let (threads, shared) =
                (to_u32("the block", launch.threads)?, to_u32("the shared memory", launch.shared_bytes)?);
            // SAFETY: the arguments are laid out as the kernels say, the workspace has the states of all tiles and is freed after the
            // device's work or with the graph, as is the code; whoever made the columns promised that they may be used until the
            // stream is done with them, and they were checked against the program.
            unsafe { kernel.launch(stream, blocks, threads, shared, &arguments) }?;
        }
        Ok(LadderPending { stream: stream.clone(), workspace: Some(workspace), limit })
    }
}

impl LadderPending {
    /// Waits until the stream has come past it. Of one that became part of a graph this tells how the graph's launches went: wait for
    /// those first.
    ///
    /// # Errors
    /// A kernel reports a fault, or something failed on the device.
    pub fn wait(&self) -> Result<(), Error> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        if !workspace.is_captured() {
            self.stream.synchronize()?;
        }
        // Faults stay in the header until it is zeroed.
        let result = expect_no_quarantine(workspace)
            .and_then(|()| workspace.header())
            .and_then(|header| expect_no_fault(header, self.limit));
        Ok(result.inspect_err(|_| workspace.quarantine())?)
    }
}

impl fmt::Debug for LadderScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LadderScan {} of {:?}", self.kernels().rung, self.scan)
    }
}
