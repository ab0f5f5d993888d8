//! Landings: places in a stream that can be waited for, with page-locked memory for what is brought
//! to the host until there.

use std::sync::{Mutex, PoisonError};

use crate::cuda::{CudaError, Device, DeviceRead, DeviceSlice, Event, PinnedBuffer, Stream};

/// Memory is allocated in sizes from this on.
const LEAST_BYTES: usize = 256;

/// A place in a stream, and what arrived when it is reached.
pub(super) struct Landing {
    bytes: usize,
    slot: Option<Slot>,
}

/// Page-locked memory and events take long to make, so they are used again.
struct Slot {
    device: Device,
    buffer: PinnedBuffer<u8>,
    arrived: Event,
}

/// The slots of all devices that nobody waits for.
static FREE: Mutex<Vec<Slot>> = Mutex::new(Vec::new());

impl Landing {
    /// Copies these pieces to the host in the stream, one behind the other, and marks the place behind.
    pub(super) fn start(stream: &Stream, pieces: &[DeviceSlice<'_, u8>]) -> Result<Landing, CudaError> {
        let bytes = pieces.iter().map(DeviceRead::len).sum();
        let mut slot = Slot::take(stream.device(), bytes)?;
        let mut to_fill = &mut slot.buffer[..];
        for piece in pieces {
            let (to, rest) = to_fill.split_at_mut(piece.len());
            // SAFETY: nobody else has the buffer before the event behind the copies is done; the memory on the device
            // is that of workspaces, which is freed after the device's work.
            unsafe { piece.copy_to_async(stream, to) }?;
            to_fill = rest;
        }
        slot.arrived.record(stream)?;
        Ok(Landing { bytes, slot: Some(slot) })
    }

    pub(super) fn is_done(&self) -> Result<bool, CudaError> {
        self.slot().arrived.is_done()
    }

    /// Waits for it, and gives what arrived.
    pub(super) fn wait(&self) -> Result<&[u8], CudaError> {
        let slot = self.slot();
        slot.arrived.synchronize()?;
        Ok(&slot.buffer[..self.bytes])
    }

    fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("a landing has its slot until it is dropped")
    }
}

impl Slot {
    fn take(device: &Device, bytes: usize) -> Result<Slot, CudaError> {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        // One that was dropped before it was reached is still written.
        let fits =
            |slot: &Slot| slot.device == *device && slot.buffer.len() >= bytes && slot.arrived.is_done() == Ok(true);
        if let Some(at) = free.iter().position(fits) {
            return Ok(free.swap_remove(at));
        }
        drop(free);
        let bytes = bytes.max(LEAST_BYTES).checked_next_power_of_two().unwrap_or(bytes);
        Ok(Slot { device: *device, buffer: PinnedBuffer::new(device, bytes)?, arrived: Event::without_times(device)? })
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).extend(self.slot.take());
    }
}
