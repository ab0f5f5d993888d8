//! Kernels of scans, loaded: PTX and its manifest, wherever they come from, and launches of them.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use monoscan_codegen::gpu::{Arch, HEADER_BYTES, Manifest, ptx_instructions};
use monoscan_ir::Constant;

use super::arguments::pack;
use super::pending::{Launched, Totals};
use crate::call::Rows;
use crate::cuda::{
    Architecture, ArgumentError, CompileTimes, CubinCache, CudaError, Device, DeviceBuffer, Header, Kernel, Module,
    Stream, Target, Workspace, keep_with_graph,
};

/// The name of kernels in their modules.
const NAME: &str = "scan";

/// After which time a block stops waiting for another one, unless something else is asked for.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Launches after which a workspace is zeroed, so that no tag of 32 bits comes twice.
const MOST_LAUNCHES: u64 = u32::MAX as u64 - 1;

/// Held while something is given to a stream that must stay together there.
static IN_ORDER: Mutex<()> = Mutex::new(());

// The header that the runtime reads is the one that kernels write.
const _: () = assert!(size_of::<Header>() == HEADER_BYTES);

/// A kernel of a scan, loaded on a device. It knows its manifest and nothing of the program that it was made from.
pub struct GpuKernel {
    /// Is freed first, which waits for the device's work: no launch outlives the code.
    _last_launch: DeviceBuffer<u8>,
    kernel: Kernel,
    manifest: Manifest,
    key: u64,
    times: CompileTimes,
    ptx_instructions: Option<usize>,
}

/// Which records are scanned: element i of row (p, q) is record `p·pitch + i·step + q`, for `q < step`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// How many rows.
    pub rows: usize,
    /// Records of a row.
    pub records: usize,
    /// Records from a plane to the next, a plane being `step` rows side by side.
    pub pitch: usize,
    /// Records from a record of a row to the next. Only a columnar kernel takes another number than 1.
    pub step: usize,
    /// Records of a row that a thread of a columnar kernel takes: all of them, or fewer, each part from a start of its own.
    pub chunk: usize,
}

impl Span {
    /// These rows.
    pub fn of(rows: Rows) -> Span {
        Span { rows: rows.count(), records: rows.len(), pitch: rows.pitch(), step: rows.step(), chunk: rows.len() }
    }

    /// The rows, or their chunks if they are cut: each has a start, and a total.
    pub(super) fn threads(&self) -> usize {
        if self.chunk < self.records { self.rows * self.records.div_ceil(self.chunk) } else { self.rows }
    }
}

/// The arguments of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Which records.
    pub span: Span,
    /// From the last to the first.
    pub reversed: bool,
    /// The state that the first record of every row starts from, all components of the lowered program.
    pub start: &'a [Constant],
    /// The initial state that the program may read, likewise.
    pub init: &'a [Constant],
    /// The address in the device's memory where each row has a start and an initial state of its own, as
    /// [`Arguments::STATES_OF_ROWS`](monoscan_codegen::gpu::Arguments::STATES_OF_ROWS) says; 0 if those above are for all rows. A
    /// ring does not look there.
    pub states_of_rows: u64,
    /// The values of the program's parameters.
    pub parameters: &'a [Constant],
    /// Where the input columns begin, then the output columns.
    pub columns: &'a [u64],
    /// Records that the output columns of a program that filters can take.
    pub capacity: usize,
    /// Whether the totals of all rows are wanted.
    pub totals: bool,
    /// Where the kernel writes them in the device's memory instead, if somebody there wants them.
    pub totals_to: Option<u64>,
}

impl GpuKernel {
    /// Loads a kernel.
    ///
    /// # Errors
    /// The PTX is for other devices, the driver refuses it, the device has too little shared memory, or the driver
    /// fails.
    ///
    /// # Safety
    /// The PTX is a kernel that this manifest describes.
    pub unsafe fn from_ptx(
        device: &Device,
        ptx: &str,
        manifest: Manifest,
        cache: Option<&CubinCache>,
    ) -> Result<GpuKernel, CudaError> {
        // SAFETY: the caller says so, and the key is the PTX itself.
        unsafe { GpuKernel::made(device, ptx.as_bytes(), manifest, cache, || Ok(ptx)) }
    }

    /// The same with PTX that is asked for only if its machine code is not in the cache, under a key which says all that the PTX
    /// depends on.
    ///
    /// # Safety
    /// As above, and that is the key.
    pub(super) unsafe fn made<P: AsRef<str>, E: From<CudaError>>(
        device: &Device,
        key: &[u8],
        manifest: Manifest,
        cache: Option<&CubinCache>,
        ptx: impl FnOnce() -> Result<P, E>,
    ) -> Result<GpuKernel, E> {
        let mut instructions = None;
        let counted = || ptx().inspect(|ptx| instructions = Some(ptx_instructions(ptx.as_ref())));
        let (module, times) = Module::made(device, key, cache, counted)?;
        let kernel = module.kernel(NAME)?;
        kernel.allow_shared(to_u32("the shared memory", manifest.shared_bytes)?)?;
        let mut hasher = DefaultHasher::new();
        (key, &manifest).hash(&mut hasher);
        let _last_launch = DeviceBuffer::uninitialized(device, 1)?;
        let key = hasher.finish();
        Ok(GpuKernel { _last_launch, kernel, manifest, key, times, ptx_instructions: instructions })
    }

    /// With the time that was taken before it was asked for.
    #[cfg(feature = "ptx")]
    pub(super) fn with_ptx_time(mut self, time: Duration) -> GpuKernel {
        self.times.ptx += time;
        self
    }

    /// How it is launched.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// How long it took to make it.
    pub fn times(&self) -> CompileTimes {
        self.times
    }

    /// How many instructions its PTX has. None where its machine code was in a cache, which takes no PTX.
    pub fn ptx_instructions(&self) -> Option<usize> {
        self.ptx_instructions
    }

    /// The device on which it is loaded.
    pub fn device(&self) -> &Device {
        self.kernel.device()
    }

    /// Its code as the driver made it: registers, spills.
    pub fn code(&self) -> &Kernel {
        &self.kernel
    }

    /// Launches it in a stream; none if there is nothing to do, where totals are the start. A wait of a block for
    /// another one is given up after `limit`.
    ///
    /// # Errors
    /// There are more tiles than a grid has blocks, the device has too little memory for a workspace, or the driver
    /// fails.
    ///
    /// # Safety
    /// The columns have the layouts of the manifest, at addresses that its schedule takes, with the records of the
    /// span, and may be used until the launch is done; if the stream is being captured, until every launch of the graph
    /// is. States are the lowered program's.
    pub unsafe fn launch(
        self: &Arc<GpuKernel>,
        stream: &Stream,
        launch: &Launch<'_>,
        limit: Duration,
    ) -> Result<Option<Launched>, CudaError> {
        let Manifest { arguments, threads, shared_bytes, .. } = &self.manifest;
        let (rows, records) = (launch.span.threads(), launch.span.records);
        let multiprocessors = self.device().facts().multiprocessors as usize;
        let blocks = match rows {
            0 => 0,
            _ => self.manifest.blocks(rows, records, multiprocessors),
        };
        if blocks == 0 {
            return Ok(None);
        }
        let states = self.manifest.workspace_bytes(rows, records) - HEADER_BYTES;
        let workspace = Workspace::lease(stream, self.key, states)?;
        let is_full = workspace.leases() >= MOST_LAUNCHES;
        // Another thread that uses the same stream must not get between a launch and the copy of its totals.
        let _in_order = (launch.totals || is_full).then(|| IN_ORDER.lock().unwrap_or_else(PoisonError::into_inner));
        if is_full {
            workspace.zero()?;
        }
        let bytes = rows.saturating_mul(arguments.states.size as usize);
        let totals = if launch.totals { Some(Totals::of(&workspace, bytes)?) } else { None };
        if workspace.is_captured() {
            keep_with_graph(stream, self.clone())?;
        }
        let to = totals.as_ref().map(|totals| totals.address(&workspace)).or(launch.totals_to).unwrap_or(0);
        let block = pack(arguments, launch, workspace.address(), to, limit);
        let (blocks, threads) = (to_u32("the grid", blocks)?, to_u32("the block", *threads)?);
        let shared = to_u32("the shared memory", *shared_bytes)?;
        // SAFETY: the arguments are laid out as the kernel's manifest says, the workspace has the states of all tiles,
        // totals space for all rows, and both are freed after the device's work or with the graph, as is the kernel; the
        // caller vouches for the columns.
        unsafe { self.kernel.launch(stream, blocks, threads, shared, &block) }?;
        Launched::new(self.clone(), stream, workspace, totals, limit).map(Some)
    }
}

/// Refuses a device or a driver that does not take PTX for this architecture.
pub(super) fn expect_arch(device: &Device, arch: Arch) -> Result<(), CudaError> {
    let (major, minor) = arch.capability();
    let (needs, device) = (Target::Later(Architecture::new(major, minor)), device.facts().architecture);
    if needs.includes(device) { Ok(()) } else { Err(CudaError::WrongArchitecture { needs, device }) }
}

/// Refuses a driver that does not take PTX for this architecture.
pub(super) fn expect_driver(device: &Device, arch: Arch) -> Result<(), CudaError> {
    let (major, minor) = arch.driver();
    let expected = 1000 * major + 10 * minor;
    let found = device.facts().driver_version;
    if found < expected {
        return Err(CudaError::DriverTooOld { found, expected, missing: None });
    }
    Ok(())
}

pub(super) fn to_u32(argument: &'static str, got: usize) -> Result<u32, CudaError> {
    u32::try_from(got).map_err(|_| ArgumentError::TooLarge { argument, got }.into())
}

impl fmt::Debug for GpuKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuKernel ({}) on device {}", self.manifest.plan, self.device().ordinal())
    }
}
