//! Rungs of the ladder on a device.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use monoscan_codegen::gpu::{Arch, Arguments, FAULT_STUCK, HEADER_BYTES};
use monoscan_ir::transform::{Form, Lowered, lower};
use monoscan_ir::{Constant, Layout, Program, Verified};
use monoscan_runtime::cuda::{
    ArgumentError, CudaError, Device, DeviceBuffer, DeviceRead, DeviceWrite, Kernel, KernelFault, Module, Stream,
    Workspace, keep_with_graph,
};

use crate::{ColumnsError, LadderError, LadderKernels, Rung, Unfit};

/// Launches after which a workspace is zeroed: rungs have one bit of a tag less than other kernels to count them.
const MOST_LAUNCHES: u64 = i32::MAX as u64 - 1;

/// A scan by the kernels of one rung. It scans lines from the first record to the last, inclusively, in columns at multiples of 16
/// bytes. Cheap to clone.
#[derive(Clone)]
pub struct LadderScan(Arc<Loaded>);

struct Loaded {
    /// Is freed first, which waits for the device's work: no launch outlives the code.
    _last_launch: DeviceBuffer<u8>,
    device: Device,
    limit: Duration,
    program: Lowered,
    kernels: LadderKernels,
    /// The code of each launch.
    code: Vec<Kernel>,
    key: u64,
}

/// A scan by a rung that was given to a stream.
pub struct LadderPending {
    stream: Stream,
    workspace: Option<Workspace>,
    limit: Duration,
}

impl LadderScan {
    /// The scan of a program by a rung, whose kernels are compiled for the device. A block that waits for another one for longer than
    /// `limit` gives up.
    ///
    /// # Errors
    /// [`LadderError::Unfit`] if the rung does not run this program, or not on this device. [`LadderError::Cuda`] if the driver refuses it.
    pub fn new(
        program: &Verified<Program>,
        rung: Rung,
        device: &Device,
        limit: Duration,
    ) -> Result<LadderScan, LadderError> {
        let architecture = device.facts().architecture;
        let arch = Arch::for_capability(architecture.major, architecture.minor);
        let arch = arch.ok_or(Unfit::Device { device: architecture })?;
        let program = lower(program, Form { previous: true, ..Form::default() });
        let kernels = crate::compile(&program, rung, arch)?;
        let module = Module::from_ptx(device, &kernels.text, None)?;
        let code = kernels.launches.iter().map(|launch| {
            let kernel = module.kernel(launch.entry)?;
            kernel.allow_shared(to_u32("the shared memory", launch.shared_bytes)?)?;
            Ok(kernel)
        });
        let code = code.collect::<Result<_, CudaError>>()?;
        let mut hasher = DefaultHasher::new();
        kernels.text.hash(&mut hasher);
        let _last_launch = DeviceBuffer::uninitialized(device, 1)?;
        let (device, key) = (*device, hasher.finish());
        Ok(LadderScan(Arc::new(Loaded { _last_launch, device, limit, program, kernels, code, key })))
    }

    /// Its kernels: how many there are, their tile, their PTX.
    pub fn kernels(&self) -> &LadderKernels {
        &self.0.kernels
    }

    /// Registers and spills of the kernel of each launch, by the driver.
    pub fn code(&self) -> &[Kernel] {
        &self.0.code
    }

    /// Gives the scan of a line to a stream, all its launches one after the other; columns are the bytes of their records. If the stream
    /// is being captured, the launches become part of the graph.
    ///
    /// # Errors
    /// [`LadderError::Cuda`] if a column does not fit the program, the device or the other columns, or does not begin at a multiple of
    /// 16 bytes; if there are more tiles than a grid has blocks, too little memory for a workspace, or the driver fails.
    pub fn call(
        &self,
        inputs: &[&dyn DeviceRead<u8>],
        outputs: &mut [&mut dyn DeviceWrite<u8>],
        stream: &Stream,
    ) -> Result<LadderPending, LadderError> {
        let Loaded { device, limit, program, kernels, code, key, .. } = &*self.0;
        let inputs = inputs.iter().map(|column| (column.address(), column.len(), *column.device()));
        let outputs = outputs.iter().map(|column| (column.address(), column.len(), *column.device()));
        let columns: Vec<(u64, usize, Device)> = inputs.chain(outputs).collect();
        let layouts: Vec<&Layout> = program.inputs.iter().chain(&program.output.columns).collect();
        if columns.len() != layouts.len() {
            let (expected, got) = (layouts.len(), columns.len());
            return Err(ColumnsError::Count { expected, got }.into());
        }
        let records = |bytes: usize, layout: &Layout| bytes / (layout.size as usize).max(1);
        let count = columns.first().zip(layouts.first()).map_or(0, |(column, layout)| records(column.1, layout));
        for (column, (&(address, bytes, of), layout)) in columns.iter().zip(&layouts).enumerate() {
            if of != *device {
                return Err(ColumnsError::Elsewhere { column }.into());
            }
            if bytes != count * layout.size as usize {
                let size = layout.size;
                return Err(ColumnsError::Length { column, bytes, records: count, size }.into());
            }
            if address % 16 != 0 {
                return Err(ColumnsError::Unaligned { column, address }.into());
            }
        }
        if count == 0 {
            return Ok(LadderPending { stream: stream.clone(), workspace: None, limit: *limit });
        }
        let workspace = Workspace::lease(stream, *key, kernels.workspace_bytes(count) - HEADER_BYTES)?;
        if workspace.leases() >= MOST_LAUNCHES {
            workspace.zero()?;
        }
        keep_with_graph(stream, self.0.clone())?;
        let addresses: Vec<u64> = columns.iter().map(|&(address, ..)| address).collect();
        let arguments = pack(&kernels.arguments, program, (count, workspace.address(), *limit), &addresses);
        let multiprocessors = device.facts().multiprocessors as usize;
        for (kernel, launch) in code.iter().zip(&kernels.launches) {
            let blocks = to_u32("the grid", kernels.blocks(launch, count, multiprocessors))?;
            let (threads, shared) =
                (to_u32("the block", launch.threads)?, to_u32("the shared memory", launch.shared_bytes)?);
            // SAFETY: the arguments are laid out as the kernels say, the workspace has the states of all tiles and is freed after the
            // device's work or with the graph, as is the code; columns are borrowed from buffers that wait for the device's work when
            // they are dropped, and were checked against the program.
            unsafe { kernel.launch(stream, blocks, threads, shared, &arguments) }?;
        }
        Ok(LadderPending { stream: stream.clone(), workspace: Some(workspace), limit: *limit })
    }
}

/// The arguments of a launch over so many records of one line, from the identities.
fn pack(
    layout: &Arguments,
    program: &Program,
    (records, workspace, limit): (usize, u64, Duration),
    columns: &[u64],
) -> Vec<u8> {
    let mut block = vec![0; layout.bytes()];
    let mut put = |offset: usize, word: u64| block[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
    put(Arguments::RECORDS, records as u64);
    put(Arguments::WORKSPACE, workspace);
    put(Arguments::TIMEOUT, u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    put(Arguments::ROWS, 1);
    put(Arguments::PITCH, records as u64);
    put(Arguments::STEP, 1);
    columns.iter().enumerate().for_each(|(place, &address)| put(layout.column(place), address));
    let identity: Vec<Constant> = program.stages.iter().flat_map(|stage| stage.identity.iter().copied()).collect();
    for first in [layout.start(), layout.init()] {
        for (field, component) in layout.states.fields.iter().zip(&identity) {
            let at = first + field.offset as usize;
            block[at..at + field.ty.size()].copy_from_slice(&component.to_bytes());
        }
    }
    block
}

fn to_u32(argument: &'static str, got: usize) -> Result<u32, ArgumentError> {
    u32::try_from(got).map_err(|_| ArgumentError::TooLarge { argument, got })
}

impl LadderPending {
    /// Waits until the stream has come past it. Of one that became part of a graph this tells how the graph's launches went: wait for
    /// those first.
    ///
    /// # Errors
    /// A kernel reports a fault, or something failed on the device.
    pub fn wait(&self) -> Result<(), LadderError> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        if !workspace.is_captured() {
            self.stream.synchronize()?;
        }
        let found = match workspace.was_quarantined() {
            true => Err(KernelFault::GivenUp.into()),
            false => workspace.header(),
        };
        // Faults stay in the header until it is zeroed.
        let result = found.and_then(|header| match header.error {
            0 => Ok(()),
            FAULT_STUCK => Err(CudaError::from(KernelFault::Stuck { limit: self.limit })),
            code => Err(KernelFault::Unknown { code }.into()),
        });
        Ok(result.inspect_err(|_| workspace.quarantine())?)
    }
}

impl fmt::Debug for LadderScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LadderScan {} of {}", self.kernels().rung, self.0.program.name)
    }
}
