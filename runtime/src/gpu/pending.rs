//! Results of a launch, and how they come to the host without making the stream wait.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use monoscan_codegen::gpu::{FAULT, FAULT_BEFORE_TOTALS, FAULT_STUCK};
use monoscan_ir::Constant;
use smallvec::SmallVec;

use super::arguments::unpack;
use super::kernel::GpuKernel;
use super::landing::Landing;
use super::states::States;
use crate::backend::Outcome;
use crate::checked::Elements;
use crate::cuda::{CudaError, DeviceRead, DeviceSlice, Header, KernelFault, Stream, Workspace};
use crate::error::Error;
use crate::interleaved::Lines;

/// A launch that was given to a stream. It needs not be waited for; what it may have to report is then lost.
pub struct Launched {
    /// Keeps the code loaded.
    kernel: Arc<GpuKernel>,
    workspace: Workspace,
    totals: Option<Totals>,
    /// Of a launch that is not part of a graph.
    landing: Option<Landing>,
    /// The work that the stream was given after it for the same call, if any.
    then: Option<Landing>,
    limit: Duration,
}

/// The key of the workspaces of totals that are too long for a header.
const TOTALS: u64 = 1;

/// Where totals begin in a header, and how many bytes of them fit.
const IN_HEADER: usize = 16;
const MOST_IN_HEADER: usize = size_of::<Header>() - IN_HEADER;

// Kernels write a fault before totals: where a header has it.
const _: () = assert!(IN_HEADER - FAULT_BEFORE_TOTALS == FAULT);

/// Where a kernel writes the totals of a launch: in a header in page-locked memory, which the host reads without a copy; in that of
/// the workspace, if the launch becomes part of a graph; or in a workspace of their own, if they do not fit in a header.
pub(super) struct Totals {
    on_host: Option<Landing>,
    own: Option<Workspace>,
    bytes: usize,
}

impl Launched {
    /// Marks the place behind the launch in the stream. Where totals are wanted, someone is going to wait: then they,
    /// and the header, also start their way to the host, unless the kernel writes there.
    pub(super) fn new(
        kernel: Arc<GpuKernel>,
        stream: &Stream,
        workspace: Workspace,
        totals: Option<Totals>,
        limit: Duration,
    ) -> Result<Launched, CudaError> {
        let mut launched = Launched { kernel, workspace, totals, landing: None, then: None, limit };
        if let Some(on_host) = launched.totals.as_mut().and_then(|totals| totals.on_host.take()) {
            on_host.mark(stream)?;
            launched.landing = Some(on_host);
        } else if !launched.workspace.is_captured() {
            let pieces = launched.pieces();
            launched.landing = Some(Landing::start(stream, if launched.totals.is_some() { &pieces } else { &[] })?);
        }
        Ok(launched)
    }

    /// Waits for what the stream was given since, too.
    pub(super) fn then(&mut self, stream: &Stream) -> Result<(), CudaError> {
        if !self.is_captured() {
            self.then = Some(Landing::start(stream, &[])?);
        }
        Ok(())
    }

    /// Whether it became part of a graph, and is done whenever that is launched.
    pub fn is_captured(&self) -> bool {
        self.landing.is_none()
    }

    /// Whether it is done.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        self.then.as_ref().or(self.landing.as_ref()).map_or(Ok(true), Landing::is_done)
    }

    /// Waits until it is done, and gives the totals of its rows, one state of the lowered program behind the other;
    /// none if they were not wanted. For a captured launch: what the graph's launches have left so far.
    ///
    /// # Errors
    /// The kernel reports a fault, or something failed on the device.
    pub fn wait(&self) -> Result<Vec<Constant>, CudaError> {
        let _bound = self.kernel.device().bind()?;
        let result = self.arrive();
        if result.is_err() {
            self.workspace.quarantine();
        }
        result
    }

    fn arrive(&self) -> Result<Vec<Constant>, CudaError> {
        let landed = self.landing.as_ref().map(Landing::wait).transpose()?;
        self.then.as_ref().map(Landing::wait).transpose()?;
        expect_no_quarantine(&self.workspace)?;
        let Some(totals) = &self.totals else {
            // Faults stay in the header until it is zeroed.
            expect_no_fault(self.workspace.header()?, self.limit)?;
            return Ok(Vec::new());
        };
        let landed = match landed {
            Some(landed) => Cow::Borrowed(landed),
            None => Cow::Owned(self.read_aside()?),
        };
        let (header, own) = landed.split_at(size_of::<Header>());
        expect_no_fault(bytemuck::pod_read_unaligned(header), self.limit)?;
        let totals = if totals.own.is_some() { own } else { &header[IN_HEADER..][..totals.bytes] };
        Ok(unpack(&self.kernel.manifest().arguments, totals))
    }

    /// The header and totals of a launch that became part of a graph, as they are now.
    fn read_aside(&self) -> Result<Vec<u8>, CudaError> {
        let mut bytes = Vec::new();
        for piece in self.pieces() {
            let at = bytes.len();
            bytes.resize(at + piece.len(), 0);
            piece.copy_to(self.kernel.device().aside()?, &mut bytes[at..])?;
        }
        Ok(bytes)
    }

    /// The header, and the totals that are not in it.
    fn pieces(&self) -> [DeviceSlice<'_, u8>; 2] {
        let device = self.kernel.device();
        let own = self.totals.as_ref().and_then(|totals| Some((totals.own.as_ref()?.states(), totals.bytes)));
        let (totals, bytes) = own.unwrap_or_default();
        // SAFETY: every workspace begins with a header, and is borrowed; the device writes it, but a copy of 64 bytes
        // that it makes while a kernel runs has some value of each word, and all values are headers. The other workspace was
        // leased with so many bytes behind its header, and is borrowed; the kernel writes them, and reads of them follow in the
        // same stream, or when its graph is done.
        unsafe {
            let header = DeviceSlice::from_raw(device, self.workspace.address(), size_of::<Header>());
            [header, DeviceSlice::from_raw(device, totals, bytes)]
        }
    }
}

/// Refuses a workspace whose header may no longer tell how a launch went.
pub(super) fn expect_no_quarantine(workspace: &Workspace) -> Result<(), CudaError> {
    if workspace.was_quarantined() {
        return Err(KernelFault::GivenUp.into());
    }
    Ok(())
}

pub(super) fn expect_no_fault(header: Header, limit: Duration) -> Result<(), CudaError> {
    match header.error {
        0 => Ok(()),
        FAULT_STUCK => Err(KernelFault::Stuck { limit }.into()),
        code => Err(KernelFault::Unknown { code }.into()),
    }
}

impl Totals {
    /// Those of a launch in this workspace, so many bytes.
    pub(super) fn of(workspace: &Workspace, bytes: usize) -> Result<Totals, CudaError> {
        let (mut on_host, mut own) = (None, None);
        if bytes > MOST_IN_HEADER {
            own = Some(workspace.lease_beside(TOTALS, bytes)?);
        } else if !workspace.is_captured() {
            on_host = Some(Landing::zeroed(workspace.device(), size_of::<Header>())?);
        }
        Ok(Totals { on_host, own, bytes })
    }

    /// Where the kernel writes them.
    pub(super) fn address(&self, workspace: &Workspace) -> u64 {
        let header = self.on_host.as_ref().map_or(workspace.address(), Landing::address);
        self.own.as_ref().map_or(header + IN_HEADER as u64, Workspace::states)
    }
}

impl fmt::Debug for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launched {:?}, captured: {}", self.kernel, self.is_captured())
    }
}

/// A call that was given to a stream. Outputs are there when the stream has come past it; what else it gives has to be
/// waited for. It may be dropped: then nobody learns whether the kernel failed.
#[derive(Debug)]
pub struct Pending {
    /// With where the program's states are among those of the kernel. None if there was nothing to do, or if others know all that it gives.
    pub(super) launched: Option<(Launched, Arc<States>)>,
    /// The outcome as far as it is known without waiting.
    pub(super) outcome: Outcome,
    /// Of a program that filters: which output column has the least capacity, and how much.
    pub(super) capacity: Option<(usize, usize)>,
    pub(super) wants_totals: bool,
    /// How many components each total has.
    pub(super) components: usize,
    /// How elements lie in the columns.
    pub(super) elements: Elements<'static>,
    /// Whether there were as many states as segments, if that is not known yet.
    pub(super) begun: Option<Begun>,
    /// The scans before it that made columns which it reads.
    pub(super) helpers: Vec<Pending>,
    /// The scans that know its totals, if others do: one for each level.
    pub(super) totals_of: SmallVec<[Arc<Pending>; 1]>,
    /// The rows whose states its totals are, if it scanned them as lines.
    pub(super) lines: Option<Lines>,
}

/// The count of the segments that a call begins, for each of which there is a state.
#[derive(Debug)]
pub(super) struct Begun {
    /// The scan whose total it is, but for those that begin without being counted.
    pub(super) counted: Box<Pending>,
    pub(super) begins: usize,
    /// How many states were given.
    pub(super) given: usize,
}

impl Begun {
    fn check(&self) -> Result<(), Error> {
        let totals = self.counted.wait()?.totals;
        let expected = self.begins + totals.first().map_or(0, |count| count.bits() as usize);
        let (argument, got) = ("init_each", self.given);
        if expected == got { Ok(()) } else { Err(Error::StateCount { argument, expected, got }) }
    }
}

impl Pending {
    /// Whether waiting would take no time.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn is_done(&self) -> Result<bool, Error> {
        for totals in &self.totals_of {
            if !totals.is_done()? {
                return Ok(false);
            }
        }
        Ok(self.launched.as_ref().map_or(Ok(true), |(launched, _)| launched.is_done())?)
    }

    /// Whether only waiting tells if the call was right: it is checked, or its initial states are counted on the device. Of a call
    /// that became part of a graph nothing is known yet.
    #[doc(hidden)]
    pub fn may_be_refused(&self) -> bool {
        let launched = self.launched.as_ref().filter(|(launched, _)| !launched.is_captured());
        launched.is_some_and(|(_, states)| self.begun.is_some() || states.checked_stages().is_some())
    }

    /// The same call once another one before it, whose results it reads, was right.
    #[doc(hidden)]
    #[must_use]
    pub fn after(mut self, before: Pending) -> Pending {
        self.helpers.push(before);
        self
    }

    /// The states of rows that were scanned as lines, or these states.
    fn of_rows(&self, states: Vec<Constant>) -> Vec<Constant> {
        match &self.lines {
            Some(lines) => lines.by_row(&states),
            None => states,
        }
    }

    /// Waits until the call is done. Of a call that became part of a graph this tells what the graph's launches have
    /// left so far: wait for those first.
    ///
    /// # Errors
    /// [`Error::StateCount`] if there are not as many initial states as the flags or keys of segments ask for; then outputs hold
    /// anything. [`Error::Overflowed`], [`Error::OutOfOrder`] and [`Error::Regrouped`] from a checked scan. [`Error::OutputTooShort`] if more records were kept than the outputs have capacity for: then the first ones were written.
    /// [`Error::Cuda`] if the kernel reports a fault, or something failed on the device; then the outputs hold
    /// anything.
    pub fn wait(&self) -> Result<Outcome, Error> {
        let Some((launched, states)) = &self.launched else {
            return match self.totals_of.is_empty() {
                true => Ok(self.outcome.clone()),
                false => Ok(Outcome { totals: self.totals_of_levels()?, ..self.outcome }),
            };
        };
        // All are waited for, since each tells of its own workspace.
        let helped = self.helpers.iter().map(|helper| helper.wait().map(drop)).fold(Ok(()), Result::and);
        let lowered = launched.wait();
        helped?;
        let lowered = lowered?;
        self.begun.as_ref().map_or(Ok(()), Begun::check)?;
        if let Some(stages) = states.checked_stages()
            && let Some((sequence, finding)) = states.finding(&lowered, self.wants_totals)
        {
            return Err(self.elements.error(stages, sequence, finding));
        }
        let mut written = self.outcome.written;
        if let Some((column, got)) = self.capacity {
            written = states.kept(&lowered).unwrap_or(0);
            if written > got {
                return Err(Error::OutputTooShort { column, expected: written, got });
            }
        }
        let totals = match self.wants_totals {
            true if self.totals_of.is_empty() => self.of_rows(states.own(lowered, self.components)),
            _ => self.totals_of_levels()?,
        };
        Ok(Outcome { written, totals })
    }

    /// The totals that other scans know, each those of a level, put together row by row. All are waited for.
    fn totals_of_levels(&self) -> Result<Vec<Constant>, Error> {
        let levels = self.totals_of.iter().map(|level| Ok(level.wait()?.totals));
        let mut levels: Vec<Vec<Constant>> = levels.collect::<Result<_, Error>>()?;
        let rows = match self.elements {
            Elements::Rows { rows, .. } if levels.len() > 1 => rows.count(),
            _ => return Ok(levels.pop().unwrap_or_default()),
        };
        let mut joined = Vec::with_capacity(levels.iter().map(Vec::len).sum());
        for row in 0..rows {
            for totals in &levels {
                let each = totals.len() / rows;
                joined.extend_from_slice(&totals[row * each..][..each]);
            }
        }
        Ok(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_errors_that_say_what_happened() {
        let header = |error| Header { error, ..Header::default() };
        assert_eq!(expect_no_fault(header(0), Duration::ZERO), Ok(()));
        let stuck = expect_no_fault(header(FAULT_STUCK), Duration::from_secs(10)).unwrap_err();
        assert_eq!(stuck.to_string(), "the kernel failed: a block waited longer than 10s for another one");
        assert!(expect_no_fault(header(77), Duration::ZERO).unwrap_err().to_string().contains("fault 77"));
    }
}
