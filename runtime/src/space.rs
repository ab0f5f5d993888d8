//! New memory for many records: in large pages, where the system gives them on request.
//!
//! A process gets its pages when they are first written. Of those with 4 KB, so many are needed for
//! a long result that this takes several times as long as most scans.

use std::alloc::{Layout, alloc_zeroed};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use bytemuck::Zeroable;

use crate::error::Error;

/// Fewer bytes are not asked for: the allocator may have memory for them that was written before.
const LEAST_BYTES: usize = 4 << 20;

/// Space for so many more records. They should be the last: memory with large pages in a part of it is copied to grow.
///
/// # Errors
/// [`Error::OutOfMemory`]; the vector is as it was then.
pub fn reserve<T>(records: &mut Vec<T>, more: usize) -> Result<(), Error> {
    let before = records.capacity();
    let bytes = more.saturating_mul(size_of::<T>());
    records.try_reserve_exact(more).map_err(|_| Error::OutOfMemory { bytes })?;
    if records.capacity() > before {
        ask_for_large_pages(records.spare_capacity_mut());
    }
    Ok(())
}

/// So many records of one value.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>, Error> {
    let mut records = Vec::new();
    reserve(&mut records, len)?;
    records.resize(len, value);
    Ok(records)
}

/// So many records whose bytes are zero. Nothing is written: the threads that first write them get their pages.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn zeros<T: Zeroable>(len: usize) -> Result<Vec<T>, Error> {
    let no_memory = || Error::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) };
    let layout = Layout::array::<T>(len).map_err(|_| no_memory())?;
    if layout.size() == 0 {
        return Ok((0..len).map(|_| T::zeroed()).collect());
    }
    // SAFETY: the layout has a size.
    let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(no_memory)?.as_ptr();
    // SAFETY: the allocation has space for so many records, which nobody else sees.
    ask_for_large_pages(unsafe { std::slice::from_raw_parts_mut(start.cast::<MaybeUninit<T>>(), len) });
    // SAFETY: it was allocated for a vector of so many records, and zeros are one of these.
    Ok(unsafe { Vec::from_raw_parts(start.cast(), len, len) })
}

/// Asks for large pages for memory that nobody has written yet. Nothing depends on whether there are any.
pub fn ask_for_large_pages<T>(space: &mut [MaybeUninit<T>]) {
    if size_of_val(space) < LEAST_BYTES {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = space.as_mut_ptr().cast::<u8>();
        let within = start.align_offset(PAGE);
        let bytes = (size_of_val(space) - within) / PAGE * PAGE;
        // SAFETY: the pages lie within borrowed memory, and what they hold stays as it is.
        _ = unsafe { libc::madvise(start.wrapping_add(within).cast(), bytes, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stay_as_they_are_when_there_is_more_space() {
        for len in [0usize, 1, 5000, (1 << 20) + 3] {
            let mut records: Vec<u64> = (0..len as u64).collect();
            reserve(&mut records, 1 << 20).unwrap();
            assert!(records.capacity() >= len + (1 << 20));
            records.resize(len + (1 << 20), 7);
            assert!((0..len as u64).eq(records[..len].iter().copied()) && records[len..].iter().all(|&x| x == 7));
        }
        assert!(filled(3u8, (4 << 20) + 1).unwrap().iter().all(|&x| x == 3));
        for len in [0, 1, (4 << 20) + 1] {
            let mut all = zeros::<u16>(len).unwrap();
            assert!(all.len() == len && all.iter().all(|&x| x == 0));
            all.push(1);
            assert_eq!(all[len], 1);
        }
    }

    #[test]
    fn what_no_memory_holds_is_an_error() {
        let mut records = vec![1u64, 2];
        let error = reserve(&mut records, usize::MAX / 8).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        assert_eq!(records, [1, 2]);
        assert!(matches!(filled([0u64; 4], usize::MAX / 8), Err(Error::OutOfMemory { bytes: usize::MAX })));
        assert!(matches!(zeros::<u64>(usize::MAX / 8), Err(Error::OutOfMemory { .. })));
        assert!(matches!(zeros::<u64>(1 << 58), Err(Error::OutOfMemory { .. })));
    }
}
