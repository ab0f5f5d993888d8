//! Copies between memory of the host and of a device, through staging: all cores copy pieces into
//! or out of page-locked memory, while the device copies the pieces before. By itself the driver
//! copies other memory with one core.

use rayon::prelude::*;

use super::staging::{GRAIN, LEAST_BYTES, MOST_BYTES, SLOTS, Staging};
use crate::cuda::{CudaError, DeviceRead, DeviceSlice, DeviceSliceMut, Stream};

/// Fewer bytes are left to the driver, as threads have to be woken for pieces.
const LEAST_COPIED: usize = 2 << 20;

/// Memory of the host that is read by all cores.
#[derive(Clone, Copy)]
struct From(*const u8);

// SAFETY: who makes one borrows the memory.
unsafe impl Sync for From {}

/// Memory of the host that is written by all cores, each its own part.
#[derive(Clone, Copy)]
struct To(*mut u8);

// SAFETY: who makes one borrows the memory mutably, and no two threads have the same part.
unsafe impl Sync for To {}

impl From {
    fn at(&self, place: usize) -> *const u8 {
        self.0.wrapping_add(place)
    }
}

impl To {
    fn at(&self, place: usize) -> *mut u8 {
        self.0.wrapping_add(place)
    }
}

/// Copies bytes of the host to memory of a device, and waits until they are there.
///
/// # Errors
/// The stream is being captured or of another device, there is too little page-locked memory, or the driver fails.
///
/// # Safety
/// As many bytes can be read as `to` has. They need not be initialised.
pub(crate) unsafe fn upload(mut to: DeviceSliceMut<'_, u8>, stream: &Stream, from: *const u8) -> Result<(), CudaError> {
    stream.expect_no_capture("a stream to wait for")?;
    let bytes = to.len();
    if bytes < LEAST_COPIED {
        // SAFETY: the caller has so many, and the stream is waited for.
        unsafe { to.copy_from_host(stream, from) }?;
        return stream.synchronize();
    }
    let from = From(from);
    through_staging(stream, bytes, |staging, piece| {
        let mut rest = to.reborrow();
        for start in (0..bytes).step_by(piece) {
            let slot = &mut staging.slots[start / piece % SLOTS];
            slot.uploaded.synchronize()?;
            let (mut part, behind) = rest.split_at(piece.min(bytes - start))?;
            rest = behind;
            let host = &mut slot.read.host[..part.len()];
            host.par_chunks_mut(GRAIN).enumerate().for_each(|(grain, host)| {
                let from = from.at(start + grain * GRAIN);
                // SAFETY: the caller has so many bytes, which are plain; page-locked memory is other memory.
                unsafe { std::ptr::copy_nonoverlapping(from, host.as_mut_ptr(), host.len()) };
            });
            // SAFETY: the slot is left alone until the copy is done, and lives as long as the staging, which is waited for.
            unsafe { part.copy_from_async(stream, host) }?;
            slot.uploaded.record(stream)?;
        }
        Ok(())
    })
}

/// Copies memory of a device to the host, and waits until it is there.
///
/// # Errors
/// As those of [`upload`]; also what failed before on the device.
///
/// # Safety
/// As many bytes can be written as `from` has.
pub(crate) unsafe fn download(from: DeviceSlice<'_, u8>, stream: &Stream, to: *mut u8) -> Result<(), CudaError> {
    let bytes = from.len();
    if bytes < LEAST_COPIED {
        stream.expect_no_capture("a stream to wait for")?;
        // SAFETY: the caller has so many, and the stream is waited for.
        unsafe { from.copy_to_host(stream, to) }?;
        return stream.synchronize();
    }
    let to = To(to);
    let mut start = 0;
    download_pieces(from, stream, |piece| {
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
/// As those of [`download`].
pub(crate) fn download_pieces(
    from: DeviceSlice<'_, u8>,
    stream: &Stream,
    mut take: impl FnMut(&[u8]),
) -> Result<(), CudaError> {
    stream.expect_no_capture("a stream to wait for")?;
    let bytes = from.len();
    through_staging(stream, bytes, |staging, piece| {
        let part = |start: usize| start..bytes.min(start + piece);
        let count = bytes.div_ceil(piece);
        for turn in 0..count + SLOTS {
            let slot = &mut staging.slots[turn % SLOTS];
            if let Some(before) = turn.checked_sub(SLOTS).filter(|&before| before < count) {
                slot.downloaded.synchronize()?;
                take(&slot.written.host[..part(before * piece).len()]);
            }
            let start = turn * piece;
            if start < bytes {
                let host = &mut slot.written.host[..part(start).len()];
                // SAFETY: the slot is left alone until the copy is done, and lives as long as the staging, which is waited for.
                unsafe { from.slice(part(start))?.copy_to_async(stream, host) }?;
                slot.downloaded.record(stream)?;
            }
        }
        Ok(())
    })
}

/// Runs `copy` with staging for so many bytes and the length of a piece, and waits until nothing uses the staging.
fn through_staging(
    stream: &Stream,
    bytes: usize,
    copy: impl FnOnce(&mut Staging, usize) -> Result<(), CudaError>,
) -> Result<(), CudaError> {
    let piece = bytes.div_ceil(SLOTS).next_power_of_two().clamp(LEAST_BYTES, MOST_BYTES);
    let mut staging = Staging::take(stream.device(), piece)?;
    let done = copy(&mut staging, piece);
    // A failure may leave copies under way. If they cannot be waited for, the memory is not given to anybody else.
    stream.synchronize()?;
    staging.give_back();
    done
}
