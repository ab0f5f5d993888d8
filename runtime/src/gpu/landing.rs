//! Landings: places in a stream that can be waited for, with page-locked memory for what comes to
//! the host until there: copied by the stream, or written by a kernel.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cuda::{CudaError, Device, DeviceRead, DeviceSlice, Event, PinnedBuffer, Stream};

/// Memory is allocated in sizes from this on.
const LEAST_BYTES: usize = 256;

/// A place in a stream, and what arrived when it is reached.
pub(super) struct Landing {
    bytes: usize,
    slot: Option<Slot>,
    /// Whether it is known to be reached.
    is_reached: AtomicBool,
}

/// Page-locked memory and events take long to make, so they are used again.
struct Slot {
    device: Device,
    arrived: Event,
    /// None if nothing is brought.
    buffer: Option<PinnedBuffer<u8>>,
}

/// The slots of all devices that nobody waits for.
struct Free {
    /// These may be used at once: an event that marks a place needs not be reached to mark another.
    ready: Vec<Slot>,
    /// These were dropped before they were known to be reached: their buffers may still be written.
    written: Vec<Slot>,
}

static FREE: Mutex<Free> = Mutex::new(Free { ready: Vec::new(), written: Vec::new() });

impl Landing {
    /// Copies these pieces to the host in the stream, one behind the other, and marks the place behind.
    pub(super) fn start(stream: &Stream, pieces: &[DeviceSlice<'_, u8>]) -> Result<Landing, CudaError> {
        let bytes = pieces.iter().map(DeviceRead::len).sum();
        let mut landing = Landing::new(stream.device(), bytes)?;
        let mut to_fill = landing.buffer();
        for piece in pieces {
            let (to, rest) = to_fill.split_at_mut(piece.len());
            // SAFETY: nobody else has the buffer before the event behind the copies is done; the memory on the device
            // is that of workspaces, which is freed after the device's work.
            unsafe { piece.copy_to_async(stream, to) }?;
            to_fill = rest;
        }
        landing.mark(stream)?;
        Ok(landing)
    }

    /// Space for so many bytes, zeros, which a kernel may write before the place that is to be [marked](Landing::mark).
    pub(super) fn zeroed(device: &Device, bytes: usize) -> Result<Landing, CudaError> {
        let mut landing = Landing::new(device, bytes)?;
        landing.buffer().fill(0);
        Ok(landing)
    }

    fn new(device: &Device, bytes: usize) -> Result<Landing, CudaError> {
        Ok(Landing { bytes, slot: Some(Slot::take(device, bytes)?), is_reached: AtomicBool::new(false) })
    }

    /// The place is behind what the stream was given so far.
    pub(super) fn mark(&self, stream: &Stream) -> Result<(), CudaError> {
        self.slot().arrived.record(stream)
    }

    /// Where kernels write to it.
    pub(super) fn address(&self) -> u64 {
        // Devices see page-locked memory at the host's addresses.
        self.slot().buffer.as_ref().map_or(0, |buffer| buffer.as_ptr().expose_provenance() as u64)
    }

    fn buffer(&mut self) -> &mut [u8] {
        let buffer = self.slot.as_mut().and_then(|slot| slot.buffer.as_deref_mut());
        buffer.map_or(&mut [], |buffer| &mut buffer[..self.bytes])
    }

    pub(super) fn is_done(&self) -> Result<bool, CudaError> {
        self.slot().arrived.is_done().inspect(|is_done| _ = self.is_reached.fetch_or(*is_done, Ordering::Relaxed))
    }

    /// Waits for it, and gives what arrived.
    pub(super) fn wait(&self) -> Result<&[u8], CudaError> {
        let slot = self.slot();
        slot.arrived.synchronize()?;
        self.is_reached.store(true, Ordering::Relaxed);
        Ok(slot.buffer.as_deref().map_or(&[], |buffer| &buffer[..self.bytes]))
    }

    fn slot(&self) -> &Slot {
        self.slot.as_ref().expect("a landing has its slot until it is dropped")
    }
}

impl Slot {
    fn take(device: &Device, bytes: usize) -> Result<Slot, CudaError> {
        let mut free = free();
        let fits = |slot: &Slot| {
            slot.device == *device
                && slot.buffer.as_ref().map_or(bytes == 0, |buffer| 0 < bytes && bytes <= buffer.len())
        };
        if let Some(at) = free.ready.iter().position(fits) {
            return Ok(free.ready.swap_remove(at));
        }
        let is_written = |slot: &Slot| slot.arrived.is_done() == Ok(true);
        if let Some(at) = free.written.iter().position(|slot| fits(slot) && is_written(slot)) {
            return Ok(free.written.swap_remove(at));
        }
        drop(free);
        let buffer = match bytes {
            0 => None,
            _ => Some(bytes.max(LEAST_BYTES).checked_next_power_of_two().unwrap_or(bytes)),
        };
        let buffer = buffer.map(|bytes| PinnedBuffer::new(device, bytes)).transpose()?;
        Ok(Slot { device: *device, arrived: Event::without_times(device)?, buffer })
    }
}

fn free() -> MutexGuard<'static, Free> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Landing {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        let mut free = free();
        let is_ready = slot.buffer.is_none() || *self.is_reached.get_mut();
        if is_ready { free.ready.push(slot) } else { free.written.push(slot) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::fake;

    #[test]
    fn buffers_that_may_still_be_written_are_not_used_again() {
        let device = fake::device();
        let stream = Stream::new(&device).unwrap();
        // SAFETY: the driver of this device copies nothing.
        let piece = unsafe { DeviceSlice::from_raw(&device, 256, 4096) };
        let start = || Landing::start(&stream, &[piece]).unwrap();
        let buffer = |landing: &Landing| landing.slot().buffer.as_ref().unwrap().as_ptr();
        fake::DONE.set(false);
        let first = start();
        let written = buffer(&first);
        drop(first);
        let second = start();
        assert_ne!(buffer(&second), written);
        // One that was waited for is free at once, and the other as soon as its event is done.
        second.wait().unwrap();
        let waited = buffer(&second);
        drop(second);
        let third = start();
        assert_eq!(buffer(&third), waited);
        fake::DONE.set(true);
        assert_eq!(buffer(&start()), written);
    }
}
