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
use crate::spacing::Spacing;

/// Pieces under way at once: one is copied in, one is uploaded, one is scanned and downloaded, one is copied out.
pub(super) const SLOTS: usize = 4;

/// Most bytes that a piece reads, and most that it writes: long enough to hide that copies are started one by one.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// Fewer are not allocated.
pub(super) const LEAST_BYTES: usize = 64 << 10;

/// The bytes that one core copies at a time.
pub(super) const GRAIN: usize = 256 << 10;

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

/// Memory that takes long to allocate, kept from call to call.
pub(super) struct Kept<T>(Mutex<Vec<T>>);

impl<T> Kept<T> {
    pub(super) const fn new() -> Kept<T> {
        Kept(Mutex::new(Vec::new()))
    }

    /// Some that nobody uses and that fits, or new.
    pub(super) fn take(
        &self,
        fits: impl FnMut(&T) -> bool,
        make: impl FnOnce() -> Result<T, CudaError>,
    ) -> Result<T, CudaError> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = free.iter().position(fits) {
            return Ok(free.swap_remove(at));
        }
        drop(free);
        make()
    }

    /// Keeps it for the next call. Nothing may be under way in it.
    pub(super) fn give_back(&self, kept: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
    }
}

/// Staging that nobody uses, of all devices.
static FREE: Kept<Staging> = Kept::new();

impl Staging {
    /// Staging with so many bytes on each side of a slot.
    pub(super) fn take(device: &Device, bytes: usize) -> Result<Staging, CudaError> {
        let bytes = bytes.max(LEAST_BYTES).next_power_of_two();
        let fits = |staging: &Staging| staging.up.device() == device && staging.bytes >= bytes;
        FREE.take(fits, || Staging::new(device, bytes))
    }

    fn new(device: &Device, bytes: usize) -> Result<Staging, CudaError> {
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
        FREE.give_back(self);
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

/// Gathers the records of a column from this one on, as many as fill `to`, one after the other.
pub(super) fn copy_in(to: &mut [u8], from: &Column<'_>, first: usize) {
    in_grains(to, (first, from.layout.size as usize), |to, first| {
        // SAFETY: the column borrows these records, says the caller by their number; both are plain bytes, copied as such, and `to`
        // is other memory.
        unsafe { gather(to, (start_of(from), from.spacing, from.layout.size as usize), first) };
    });
}

/// The same of what an output column has: it may have bytes that are not written.
pub(super) fn copy_kept(to: &mut [u8], from: &ColumnMut<'_>, first: usize) {
    in_grains(to, (first, from.layout.size as usize), |to, first| {
        // SAFETY: as above.
        unsafe { gather(to, (start_of_mut(from).cast_const(), from.spacing, from.layout.size as usize), first) };
    });
}

/// Scatters records to those of a column from this one on.
pub(super) fn copy_out(from: &[u8], to: &mut ColumnMut<'_>, first: usize) {
    let (to, size) = (&*to, (to.layout.size as usize).max(1));
    let grain = grain(size);
    from.par_chunks(grain).enumerate().for_each(|(place, from)| {
        let first = first + place * (grain / size);
        let base = start_of_mut(to);
        match to.spacing {
            Some(Spacing::Bytes(step)) => {
                for (from, record) in from.chunks_exact(size).zip(first..) {
                    let to = base.wrapping_offset(record as isize * step);
                    // SAFETY: the column borrows these records mutably, says the caller by their number, and no two threads
                    // have the same.
                    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, size) };
                }
            }
            // No output has bits.
            None | Some(Spacing::Bits { .. }) => {
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), base.wrapping_add(first * size), from.len()) };
            }
        }
    });
}

/// Bytes of records of this size that one core copies at a time.
fn grain(size: usize) -> usize {
    (GRAIN / size).max(1) * size
}

/// Cuts memory for records of a size, and numbers the first of each part.
fn in_grains(to: &mut [u8], (first, size): (usize, usize), copy: impl Fn(&mut [u8], usize) + Sync) {
    let size = size.max(1);
    let grain = grain(size);
    to.par_chunks_mut(grain).enumerate().for_each(|(place, to)| copy(to, first + place * (grain / size)));
}

/// Copies records, the first with this number, one after the other.
///
/// # Safety
/// So many records of the size lie there, spaced so, and may be read; `to` is other memory.
unsafe fn gather(to: &mut [u8], (base, spacing, size): (*const u8, Option<Spacing>, usize), first: usize) {
    match spacing {
        // SAFETY: the caller says so.
        None => unsafe {
            std::ptr::copy_nonoverlapping(base.wrapping_add(first * size), to.as_mut_ptr(), to.len());
        },
        Some(Spacing::Bytes(step)) => to.chunks_exact_mut(size).zip(first..).for_each(|(to, record)| {
            let from = base.wrapping_offset(record as isize * step);
            // SAFETY: the caller says so.
            unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), size) };
        }),
        Some(Spacing::Bits { first: bit }) => to.iter_mut().zip(bit + first..).for_each(|(to, bit)| {
            // SAFETY: the caller says so.
            *to = unsafe { *base.wrapping_add(bit / 8) } >> (bit % 8) & 1;
        }),
    }
}

/// Where a column begins. Closures that use this take the column, and not its pointer, which is not for other threads.
fn start_of(column: &Column<'_>) -> *const u8 {
    column.base
}

fn start_of_mut(column: &ColumnMut<'_>) -> *mut u8 {
    column.base
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spacing::Bits;
    use monoscan_ir::{Layout, Type};

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

    #[test]
    fn spaced_records_are_gathered_and_scattered() {
        let layout = Layout::packed(&[Type::U8; 3]);
        let records = GRAIN / 3 + 100;
        let bytes: Vec<u8> = (0..7 * records + 2).map(|i| ((i * 31) >> 3) as u8).collect();
        for (first, step) in [(2, 7isize), (7 * records - 7, -7), (5, 0), (0, 3)] {
            let column = Column::strided(&bytes, &layout, first, step, records).unwrap();
            let record = |i: usize| first.wrapping_add_signed(step * i as isize);
            let expected: Vec<u8> = (10..records).flat_map(|i| &bytes[record(i)..][..3]).copied().collect();
            let mut dense = vec![0; 3 * (records - 10)];
            copy_in(&mut dense, &column, 10);
            assert!(dense == expected, "{first} {step}");
            if step == 0 {
                continue;
            }
            let mut all = vec![0xa5; bytes.len()];
            copy_out(&dense, &mut ColumnMut::strided(&mut all, &layout, first, step, records).unwrap(), 10);
            let mut kept = vec![0; dense.len()];
            copy_kept(&mut kept, &ColumnMut::strided(&mut all, &layout, first, step, records).unwrap(), 10);
            assert!(kept == dense);
            for i in 10..records {
                all[record(i)..][..3].fill(0xa5);
            }
            assert!(all.iter().all(|&byte| byte == 0xa5), "{first} {step}: bytes between records were written");
        }
        let flags: Vec<bool> = (0..bytes.len() * 8).map(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1).collect();
        let bits = Column::bits(Bits::new(&bytes, 13, flags.len() - 13).unwrap());
        let mut dense = vec![0; flags.len() - 33];
        copy_in(&mut dense, &bits, 20);
        assert!(dense.iter().zip(&flags[33..]).all(|(&byte, &flag)| byte == u8::from(flag)));
    }
}
