//! Copies between memory of the host and of a device, through page-locked memory: all cores copy
//! pieces into or out of it, while the device copies the pieces before. By itself the driver copies
//! other memory with one core.

use std::mem::ManuallyDrop;

use rayon::prelude::*;

use super::staging::{GRAIN, Kept, LEAST_BYTES, MOST_BYTES, SLOTS};
use crate::cuda::{CudaError, DeviceRead, DeviceSlice, DeviceSliceMut, Event, PinnedBuffer, Stream};

/// Fewer bytes are left to the driver, as threads have to be woken for pieces.
const LEAST_COPIED: usize = 2 << 20;

/// Memory of the host that is read by all cores.
#[derive(Clone, Copy)]
struct Read(*const u8);

// SAFETY: who makes one borrows the memory.
unsafe impl Sync for Read {}

/// Memory of the host that is written by all cores, each its own part.
#[derive(Clone, Copy)]
struct Written(*mut u8);

// SAFETY: who makes one borrows the memory mutably, and no two threads have the same part.
unsafe impl Sync for Written {}

impl Read {
    fn at(&self, place: usize) -> *const u8 {
        self.0.wrapping_add(place)
    }
}

impl Written {
    fn at(&self, place: usize) -> *mut u8 {
        self.0.wrapping_add(place)
    }
}

/// Copies bytes of the host to memory of a device, and waits until they are there.
///
/// # Errors
/// The stream is being captured or of another device, or the driver fails.
///
/// # Safety
/// As many bytes can be read as `to` has. They need not be initialised.
pub(crate) unsafe fn upload(mut to: DeviceSliceMut<'_, u8>, stream: &Stream, from: *const u8) -> Result<(), CudaError> {
    stream.expect_no_capture("a stream to wait for")?;
    let bytes = to.len();
    let Some(mut copying) = Copying::worthwhile(stream, bytes)? else {
        // SAFETY: the caller has so many, and the stream is waited for.
        unsafe { to.copy_from_host(stream, from) }?;
        return stream.synchronize();
    };
    let from = Read(from);
    let piece = copying.bytes;
    let mut rest = to.reborrow();
    for start in (0..bytes).step_by(piece) {
        let Slot { host, done } = &mut copying.slots[start / piece % SLOTS];
        done.synchronize()?;
        let (mut part, behind) = rest.split_at(piece.min(bytes - start))?;
        rest = behind;
        let host = &mut host[..part.len()];
        host.par_chunks_mut(GRAIN).enumerate().for_each(|(grain, host)| {
            let from = from.at(start + grain * GRAIN);
            // SAFETY: the caller has so many bytes, which are plain; page-locked memory is other memory.
            unsafe { std::ptr::copy_nonoverlapping(from, host.as_mut_ptr(), host.len()) };
        });
        // SAFETY: the slot is left alone until the copy is done, and lives until the stream was waited for.
        unsafe { part.copy_from_async(stream, host) }?;
        done.record(stream)?;
    }
    stream.synchronize()
}

/// Copies memory of a device to the host, and waits until it is there.
///
/// # Errors
/// As those of [`upload`]; also what failed before on the device.
///
/// # Safety
/// As many bytes can be written as `from` has.
pub(crate) unsafe fn download(from: DeviceSlice<'_, u8>, stream: &Stream, to: *mut u8) -> Result<(), CudaError> {
    stream.expect_no_capture("a stream to wait for")?;
    let Some(copying) = Copying::worthwhile(stream, from.len())? else {
        // SAFETY: the caller has so many, and the stream is waited for.
        unsafe { from.copy_to_host(stream, to) }?;
        return stream.synchronize();
    };
    let to = Written(to);
    let mut start = 0;
    copying.download(from, |piece| {
        piece.par_chunks(GRAIN).enumerate().for_each(|(grain, piece)| {
            let to = to.at(start + grain * GRAIN);
            // SAFETY: the caller has so many bytes; page-locked memory is other memory.
            unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), to, piece.len()) };
        });
        start += piece.len();
    })
}

/// Gives memory of a device to `take`, piece by piece. Pieces but the last have the same length, a multiple of 64 KB, and lie as
/// any number may.
///
/// # Errors
/// As those of [`download`]; also if there is too little page-locked memory.
pub(crate) fn download_pieces(
    from: DeviceSlice<'_, u8>,
    stream: &Stream,
    take: impl FnMut(&[u8]),
) -> Result<(), CudaError> {
    stream.expect_no_capture("a stream to wait for")?;
    if from.is_empty() {
        return stream.synchronize();
    }
    Copying::of(stream, from.len())?.download(from, take)
}

/// A copy in pieces, under way in a stream. The stream is waited for before their memory is given to another copy.
struct Copying<'a> {
    slots: ManuallyDrop<Box<[Slot; SLOTS]>>,
    /// Of a piece.
    bytes: usize,
    stream: &'a Stream,
}

/// Where a piece is on the host, and when it was copied.
struct Slot {
    host: PinnedBuffer<u8>,
    done: Event,
}

/// Slots that no copy uses, of all devices.
static FREE: Kept<Box<[Slot; SLOTS]>> = Kept::new();

impl<'a> Copying<'a> {
    /// For a copy of so many bytes.
    fn of(stream: &'a Stream, bytes: usize) -> Result<Copying<'a>, CudaError> {
        let bytes = bytes.div_ceil(SLOTS).next_power_of_two().clamp(LEAST_BYTES, MOST_BYTES);
        let device = stream.device();
        let slot = || {
            Ok::<_, CudaError>(Slot { host: PinnedBuffer::new(device, bytes)?, done: Event::without_times(device)? })
        };
        let slots = FREE.take(
            |slots| slots[0].done.device() == device && slots[0].host.len() >= bytes,
            || Ok(Box::new([slot()?, slot()?, slot()?, slot()?])),
        )?;
        Ok(Copying { slots: ManuallyDrop::new(slots), bytes, stream })
    }

    /// The same, or none if the copy is short, or if there is no page-locked memory for it.
    fn worthwhile(stream: &'a Stream, bytes: usize) -> Result<Option<Copying<'a>>, CudaError> {
        match bytes {
            ..LEAST_COPIED => Ok(None),
            _ => match Copying::of(stream, bytes) {
                Err(CudaError::OutOfHostMemory { .. }) => Ok(None),
                copying => copying.map(Some),
            },
        }
    }

    fn download(mut self, from: DeviceSlice<'_, u8>, mut take: impl FnMut(&[u8])) -> Result<(), CudaError> {
        let (bytes, piece) = (from.len(), self.bytes);
        let part = |number: usize| number * piece..bytes.min((number + 1) * piece);
        let count = bytes.div_ceil(piece);
        for turn in 0..count + SLOTS {
            let Slot { host, done } = &mut self.slots[turn % SLOTS];
            if let Some(before) = turn.checked_sub(SLOTS).filter(|&before| before < count) {
                done.synchronize()?;
                take(&host[..part(before).len()]);
            }
            if turn < count {
                let host = &mut host[..part(turn).len()];
                // SAFETY: the slot is left alone until the copy is done, and lives until the stream was waited for.
                unsafe { from.slice(part(turn))?.copy_to_async(self.stream, host) }?;
                done.record(self.stream)?;
            }
        }
        Ok(())
    }
}

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        // After a failure or a panic copies may be under way. If they cannot be waited for, nobody uses their memory again.
        if self.stream.synchronize().is_ok() {
            // SAFETY: nothing uses the slots of `self` after this.
            FREE.give_back(unsafe { ManuallyDrop::take(&mut self.slots) });
        }
    }
}
