//! Staging: where columns of the host wait for the device, and the streams that carry them there
//! and back.
//!
//! The device copies by itself only from and to page-locked memory, which takes long to allocate.
//! So there is some for pieces of columns, kept from call to call, which all cores copy into and
//! out of.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::column::{Column, ColumnMut};
use crate::cuda::{CudaError, Device, DeviceBuffer, Event, PinnedBuffer, Stream};

/// Pieces under way at once: one is copied in, one is uploaded, one is scanned and downloaded, one is copied out.
pub(super) const SLOTS: usize = 4;

/// Most bytes that a piece reads, and most that it writes: long enough to hide that copies are started one by one.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// Fewer are not allocated.
const LEAST_BYTES: usize = 64 << 10;

/// What one core copies at a time.
const GRAIN: usize = 256 << 10;

/// Where columns begin within a slot: any kernel takes them there.
pub(super) const ALIGNMENT: usize = 256;

/// Slots, and the streams that pieces go through.
pub(super) struct Staging {
    pub(super) up: Stream,
    pub(super) scan: Stream,
    pub(super) down: Stream,
    pub(super) slots: [Slot; SLOTS],
    bytes: usize,
}

/// Where a piece is, on the host and on the device.
pub(super) struct Slot {
    pub(super) read: Side,
    pub(super) written: Side,
    /// Marks when it is there, has been scanned, is back.
    pub(super) uploaded: Event,
    pub(super) scanned: Event,
    pub(super) downloaded: Event,
}

/// Memory for the columns that a piece reads, or writes.
pub(super) struct Side {
    pub(super) host: PinnedBuffer<u8>,
    pub(super) device: DeviceBuffer<u8>,
}

/// Staging that nobody uses, of all devices.
static FREE: Mutex<Vec<Staging>> = Mutex::new(Vec::new());

impl Staging {
    /// Staging with so many bytes on each side of a slot.
    pub(super) fn take(device: &Device, bytes: usize) -> Result<Staging, CudaError> {
        let bytes = bytes.max(LEAST_BYTES).next_power_of_two();
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |staging: &Staging| staging.up.device() == device && staging.bytes >= bytes;
        if let Some(at) = free.iter().position(fits) {
            return Ok(free.swap_remove(at));
        }
        drop(free);
        let side = || {
            let (host, device) = (PinnedBuffer::new(device, bytes)?, DeviceBuffer::uninitialized(device, bytes)?);
            Ok::<_, CudaError>(Side { host, device })
        };
        let event = || Event::without_times(device);
        let slot = || {
            let (read, written) = (side()?, side()?);
            Ok::<_, CudaError>(Slot { read, written, uploaded: event()?, scanned: event()?, downloaded: event()? })
        };
        let stream = || Stream::new(device);
        let slots = [slot()?, slot()?, slot()?, slot()?];
        Ok(Staging { up: stream()?, scan: stream()?, down: stream()?, slots, bytes })
    }

    /// Keeps it for the next call. Nothing may be under way in it.
    pub(super) fn give_back(self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self);
    }

    /// Waits until nothing is under way in it.
    pub(super) fn settle(&self) -> Result<(), CudaError> {
        [&self.up, &self.scan, &self.down].into_iter().try_for_each(Stream::synchronize)
    }
}

/// Where columns of records of these sizes begin, and what they take.
pub(super) fn places(sizes: &[usize], records: usize) -> (Vec<usize>, usize) {
    let mut end = 0;
    let place = |size: &usize| {
        let start = end;
        end += (size * records).next_multiple_of(ALIGNMENT);
        start
    };
    (sizes.iter().map(place).collect(), end)
}

/// How many records of these sizes a side of `bytes` takes.
pub(super) fn records_within(sizes: &[usize], bytes: usize) -> usize {
    let record: usize = sizes.iter().sum();
    (bytes - ALIGNMENT * sizes.len()) / record.max(1)
}

/// Copies bytes of a column from `offset` on.
pub(super) fn copy_in(to: &mut [u8], from: &Column<'_>, offset: usize) {
    to.par_chunks_mut(GRAIN).enumerate().for_each(|(place, to)| {
        let from = start_of(from).wrapping_add(offset + place * GRAIN);
        // SAFETY: the column borrows these bytes, says the caller by the range; both are plain bytes, copied as such,
        // and `to` is other memory.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
    });
}

/// Copies what an output column has, from `offset` on: it may have bytes that are not written.
pub(super) fn copy_kept(to: &mut [u8], from: &ColumnMut<'_>, offset: usize) {
    to.par_chunks_mut(GRAIN).enumerate().for_each(|(place, to)| {
        let from = start_of_mut(from).wrapping_add(offset + place * GRAIN);
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), to.as_mut_ptr(), to.len()) };
    });
}

/// Copies bytes to an output column, from `offset` on.
pub(super) fn copy_out(from: &[u8], to: &mut ColumnMut<'_>, offset: usize) {
    let to = &*to;
    from.par_chunks(GRAIN).enumerate().for_each(|(place, from)| {
        let to = start_of_mut(to).wrapping_add(offset + place * GRAIN);
        // SAFETY: the column borrows these bytes exclusively, of which each chunk is written once; nobody else has it.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    });
}

fn start_of(column: &Column<'_>) -> *const u8 {
    column.base
}

fn start_of_mut(column: &ColumnMut<'_>) -> *mut u8 {
    column.base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_columns_fit_their_side() {
        for sizes in [&[4usize][..], &[1, 12, 16], &[1], &[200, 3]] {
            let records = records_within(sizes, LEAST_BYTES);
            let (places, end) = places(sizes, records);
            assert!(end <= LEAST_BYTES && records * (sizes.iter().sum::<usize>() + 1) > LEAST_BYTES / 2);
            assert!(places.iter().all(|place| place.is_multiple_of(ALIGNMENT)));
            assert!(places.windows(2).zip(sizes).all(|(places, size)| places[0] + size * records <= places[1]));
        }
    }

    #[test]
    fn bytes_are_copied_by_many_cores_as_by_one() {
        let source: Vec<u8> = (0..3 * GRAIN + 77).map(|i| ((i * 31) >> 3) as u8).collect();
        let mut middle = vec![0; source.len() - 5];
        copy_in(&mut middle, &Column::new(&source), 5);
        assert!(middle == source[5..]);
        let mut result = vec![9; middle.len() + 3];
        copy_out(&middle, &mut ColumnMut::new(&mut result), 2);
        assert!(result[2..middle.len() + 2] == middle);
        assert_eq!((result[0], result[1], result[middle.len() + 2]), (9, 9, 9));
        let mut kept = vec![0; 10];
        copy_kept(&mut kept, &ColumnMut::new(&mut result), 4);
        assert_eq!(kept, middle[2..12]);
    }
}
