//! Reports: what a kernel left in its workspace's header, brought to the host without making the
//! stream wait.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::device::Device;
use super::error::CudaError;
use super::event::Event;
use super::pinned::PinnedBuffer;
use super::stream::Stream;
use super::workspace::{Header, Memory};

/// A header on its way to the host. It needs not be waited for.
pub struct Report {
    slot: Option<Slot>,
    memory: Arc<Memory>,
    device: Device,
}

/// Where a header arrives. Page-locked memory takes long to allocate, so slots are used again.
struct Slot {
    header: PinnedBuffer<Header>,
    arrived: Event,
}

/// The slots of a device that nobody waits for.
#[derive(Default)]
pub(crate) struct Slots {
    free: Mutex<Vec<Slot>>,
}

impl Slots {
    fn take(&self, device: &Device) -> Result<Slot, CudaError> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // Reports may be dropped before their headers arrive, and those slots are still written.
        if let Some(at) = free.iter().position(|slot| slot.arrived.is_done() == Ok(true)) {
            return Ok(free.swap_remove(at));
        }
        drop(free);
        Ok(Slot { header: PinnedBuffer::new(device, 1)?, arrived: Event::without_times(device)? })
    }

    fn give_back(&self, slot: Slot) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
    }
}

impl Report {
    pub(crate) fn start(stream: &Stream, memory: &Arc<Memory>) -> Result<Report, CudaError> {
        let device = *stream.device();
        let mut slot = device.slots().take(&device)?;
        // SAFETY: the slot is not used again before the event after the copy is done; the report keeps the workspace's
        // memory, and what is freed waits for the device.
        unsafe { memory.header().copy_to_async(stream, &mut slot.header) }?;
        slot.arrived.record(stream)?;
        Ok(Report { slot: Some(slot), memory: memory.clone(), device })
    }

    /// Whether it has arrived.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn is_done(&self) -> Result<bool, CudaError> {
        self.slot().arrived.is_done()
    }

    /// Waits for the header. If it has an error, the workspace is zeroed before it is leased again.
    ///
    /// # Errors
    /// Something failed on the device.
    pub fn wait(&self) -> Result<Header, CudaError> {
        let waited = self.slot().arrived.synchronize();
        self.read(waited)
    }

    /// The same, but no longer than this; `what` is named in the error.
    ///
    /// # Errors
    /// It has not arrived by then, or something failed on the device.
    pub fn wait_within(&self, most: Duration, what: &str) -> Result<Header, CudaError> {
        let waited = self.slot().arrived.synchronize_within(most, what);
        self.read(waited)
    }

    fn read(&self, waited: Result<(), CudaError>) -> Result<Header, CudaError> {
        let header = waited.map(|()| self.slot().header[0]);
        if !matches!(header, Ok(Header { error: 0, .. })) {
            self.memory.quarantine();
        }
        header
    }

    fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("a report has its slot until it is dropped")
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Report of device {}", self.device.ordinal())
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.device.slots().give_back(slot);
        }
    }
}
