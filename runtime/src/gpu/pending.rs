//! What a launch leaves, and how it comes to the host without making the stream wait.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scan_codegen::gpu::FAULT_STUCK;
use scan_ir::Constant;

use super::arguments::unpack;
use super::kernel::GpuKernel;
use super::states::States;
use crate::cuda::{CudaError, Device, DeviceSlice, Event, Header, PinnedBuffer, Report, Stream, Workspace};
use crate::error::Error;

/// A launch that was given to a stream. It needs not be waited for; what it may have to report is then lost.
#[derive(Debug)]
pub struct Launched {
    /// Keeps the code loaded.
    kernel: Arc<GpuKernel>,
    workspace: Workspace,
    totals: Totals,
    arrival: Option<Arrival>,
    limit: Duration,
}

/// Where totals are.
#[derive(Debug)]
pub(super) struct Totals {
    /// In device memory, if they were wanted.
    pub(super) workspace: Option<Workspace>,
    pub(super) bytes: usize,
}

/// What is on its way to the host, of a launch that is not part of a graph.
#[derive(Debug)]
struct Arrival {
    report: Report,
    totals: Option<Landing>,
}

impl Launched {
    /// Starts the way to the host, in the stream after the launch.
    pub(super) fn new(
        kernel: Arc<GpuKernel>,
        stream: &Stream,
        workspace: Workspace,
        totals: Totals,
        limit: Duration,
    ) -> Result<Launched, CudaError> {
        let arrival = if workspace.is_captured() {
            None
        } else {
            let totals = totals.in_device(stream.device()).map(|states| Landing::start(stream, states)).transpose()?;
            Some(Arrival { report: workspace.report()?, totals })
        };
        Ok(Launched { kernel, workspace, totals, arrival, limit })
    }

    /// Whether it became part of a graph, and is done whenever that is launched.
    pub fn is_captured(&self) -> bool {
        self.arrival.is_none()
    }

    /// Whether it is done.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        self.arrival.as_ref().map_or(Ok(true), |arrival| arrival.report.is_done())
    }

    /// Waits until it is done, and gives the totals of its rows, one state of the lowered program behind the other; none if they were
    /// not wanted. For a captured launch: what the graph's launches have left so far.
    ///
    /// # Errors
    /// The kernel reports a fault, or something failed on the device.
    pub fn wait(&self) -> Result<Vec<Constant>, CudaError> {
        let header = match &self.arrival {
            Some(arrival) => arrival.report.wait()?,
            None => self.workspace.header()?,
        };
        self.expect_no_fault(header)?;
        let arguments = &self.kernel.manifest().arguments;
        match (&self.arrival, self.totals.in_device(self.kernel.device())) {
            (_, None) => Ok(Vec::new()),
            (Some(Arrival { totals, .. }), Some(_)) => {
                let landed = totals.as_ref().map(Landing::bytes).unwrap_or_default();
                Ok(unpack(arguments, landed))
            }
            (None, Some(states)) => {
                let mut bytes = vec![0; self.totals.bytes];
                states.copy_to(self.kernel.device().aside()?, &mut bytes)?;
                Ok(unpack(arguments, &bytes))
            }
        }
    }

    fn expect_no_fault(&self, header: Header) -> Result<(), CudaError> {
        let what = match header.error {
            0 => return Ok(()),
            FAULT_STUCK => format!("a block waited longer than {:?} for another one", self.limit),
            other => format!("fault {other}, which this version does not know"),
        };
        Err(CudaError::KernelFailed { what })
    }
}

impl Totals {
    fn in_device(&self, device: &Device) -> Option<DeviceSlice<'_, u8>> {
        let workspace = self.workspace.as_ref()?;
        // SAFETY: the workspace was leased with so many bytes behind its header, and is borrowed; the kernel writes them, and reads of
        // them follow in the same stream, or when its graph is done.
        Some(unsafe { DeviceSlice::from_raw(device, workspace.states(), self.bytes) })
    }
}

/// Page-locked memory that totals arrive in. It takes long to allocate, so it is used again.
struct Landing {
    device: Device,
    bytes: usize,
    slot: Option<(PinnedBuffer<u8>, Event)>,
}

/// The slots of all devices that nobody waits for.
static FREE: Mutex<Vec<(usize, PinnedBuffer<u8>, Event)>> = Mutex::new(Vec::new());

impl Landing {
    fn start(stream: &Stream, states: DeviceSlice<'_, u8>) -> Result<Landing, CudaError> {
        let device = *stream.device();
        let bytes = crate::cuda::DeviceRead::len(&states);
        let (mut buffer, arrived) = Landing::take(&device, bytes)?;
        // SAFETY: nobody else has the buffer before the event behind the copy is done; the memory on the device is that of a
        // workspace, which is freed after the device's work.
        unsafe { states.copy_to_async(stream, &mut buffer[..bytes]) }?;
        arrived.record(stream)?;
        Ok(Landing { device, bytes, slot: Some((buffer, arrived)) })
    }

    fn take(device: &Device, bytes: usize) -> Result<(PinnedBuffer<u8>, Event), CudaError> {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        // One that was dropped before its copy was done is still written.
        let fits = |(ordinal, buffer, arrived): &(usize, PinnedBuffer<u8>, Event)| {
            *ordinal == device.ordinal() && buffer.len() >= bytes && arrived.is_done() == Ok(true)
        };
        if let Some(at) = free.iter().position(fits) {
            let (_, buffer, arrived) = free.swap_remove(at);
            return Ok((buffer, arrived));
        }
        drop(free);
        let room = bytes.max(256).checked_next_power_of_two().unwrap_or(bytes);
        Ok((PinnedBuffer::new(device, room)?, Event::without_times(device)?))
    }

    /// What arrived, once whoever waits has seen an event behind the copy.
    fn bytes(&self) -> &[u8] {
        self.slot.as_ref().map_or(&[], |(buffer, _)| &buffer[..self.bytes])
    }
}

impl fmt::Debug for Landing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Landing of {} bytes", self.bytes)
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        if let Some((buffer, arrived)) = self.slot.take() {
            FREE.lock().unwrap_or_else(PoisonError::into_inner).push((self.device.ordinal(), buffer, arrived));
        }
    }
}

/// What a call gives besides its outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// How many records were written: all of its runs, or those that the program keeps.
    pub written: usize,
    /// If they were asked for, the totals of all runs, one after the other, the components of all stages each: one run for a line, one for
    /// each row; for flagged segments the total of the last one. A stream is resumed from its total.
    pub totals: Vec<Constant>,
}

/// A call that was given to a stream. Outputs are there when the stream has come past it; what else it gives has to be waited for.
/// It may be dropped: then nobody learns whether the kernel failed.
#[derive(Debug)]
pub struct Pending {
    pub(super) launched: Option<Launched>,
    pub(super) states: States,
    /// What is known without waiting. Totals are kept in the lowered program's components.
    pub(super) outcome: Outcome,
    /// Of a program that keeps: which output column has the least room, and how much.
    pub(super) room: Option<(usize, usize)>,
    pub(super) wants_totals: bool,
}

impl Pending {
    /// Whether waiting would take no time.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn is_done(&self) -> Result<bool, Error> {
        Ok(self.launched.as_ref().map_or(Ok(true), Launched::is_done)?)
    }

    /// Waits until the call is done. Of a call that became part of a graph this tells what the graph's launches have left so far: wait
    /// for those first.
    ///
    /// # Errors
    /// [`Error::Room`] if more records were kept than the outputs have room for: then the first ones were written. [`Error::Cuda`] if the kernel
    /// reports a fault, or something failed on the device; then the outputs hold anything.
    pub fn wait(&self) -> Result<Outcome, Error> {
        let lowered = match &self.launched {
            Some(launched) => launched.wait()?,
            None => self.outcome.totals.clone(),
        };
        let mut written = self.outcome.written;
        if let Some((column, got)) = self.room {
            written = self.states.kept(&lowered).unwrap_or(0);
            if written > got {
                return Err(Error::Room { column, expected: written, got });
            }
        }
        let totals = if self.wants_totals { self.states.own(&lowered) } else { Vec::new() };
        Ok(Outcome { written, totals })
    }
}
