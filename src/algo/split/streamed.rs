//! Moving records to buckets a cache line at a time, past the caches.
//!
//! A plain store makes its core read the line first. Buckets of equal size that are a power of two
//! apart also compete for the same places of a cache, so a line is read again for each record. Here
//! a bucket collects its records in a line of its own, in the first-level cache, and a full line is
//! stored at once, unread (Wassenberg and Sanders 2011, "Engineering a Multi-core Radix Sort", §3).
//!
//! x86-64 has such stores. Elsewhere, and where records do not fill lines, stores are plain.

use std::mem::MaybeUninit;

use monoscan_runtime::caches::{self, CACHE_LINE as LINE};

use super::Slots;

/// Fewer bytes may still be in a cache when they are read next.
const LEAST_BYTES: usize = 16 << 20;

/// Fewer buckets do not compete for places; lines of more do not fit the caches of a core.
const BUCKETS: std::ops::RangeInclusive<usize> = 64..=2048;

/// The records of a bucket's current cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([MaybeUninit<u8>; LINE]);

/// Whether a split into so many buckets should go past the caches.
pub(super) fn is_worth_it<T>(slots: &Slots<'_, T>, buckets: usize) -> bool {
    let size = size_of::<T>();
    cfg!(target_arch = "x86_64")
        && BUCKETS.contains(&buckets)
        && slots.len * size >= LEAST_BYTES
        && (1..=LINE / 4).contains(&size)
        && LINE.is_multiple_of(size)
        && slots.base.addr().is_multiple_of(size)
}

/// [`move_all`](super::move_all) past the caches.
///
/// # Safety
/// As there, and the split [is worth it](is_worth_it).
pub(super) unsafe fn move_all<T: Copy>(
    (start, from): (usize, &[T]),
    firsts: &[u32],
    &slots: &Slots<'_, T>,
    bucket: impl Fn(usize, &T) -> usize,
) {
    let fill_lines = slots.base.addr().is_multiple_of(size_of::<T>());
    debug_assert!(slots.len == 0 || fill_lines, "records that do not fill lines");
    let in_line = LINE / size_of::<T>();
    let before = slots.base.addr() % LINE / size_of::<T>();
    let mut places = firsts.to_vec();
    let mut lines = vec![Line([MaybeUninit::uninit(); LINE]); places.len()];
    for (place, record) in (start..).zip(from) {
        let bucket = bucket(place, record);
        let slot = places[bucket];
        places[bucket] = slot + 1;
        let line = lines[bucket].0.as_mut_ptr().cast::<T>();
        let at = (before + slot as usize) % in_line;
        // SAFETY: a line has so many records, and is aligned as they are.
        unsafe { line.add(at).write(*record) };
        if at == in_line - 1 {
            let end = slot as usize + 1;
            if end - firsts[bucket] as usize >= in_line {
                // SAFETY: all records of the line are there, and their places are this block's.
                unsafe { slots.put_line(end - in_line, line) };
            } else {
                // SAFETY: the records from the block's first on are there.
                unsafe { put_each(&slots, firsts[bucket] as usize..end, line, before) };
            }
        }
    }
    for ((line, &first), &end) in lines.iter().zip(firsts).zip(&places) {
        let (first, end) = (first as usize, end as usize);
        let begin = end - ((before + end) % in_line).min(end - first);
        // SAFETY: these records were put in the line, and in no place yet.
        unsafe { put_each(&slots, begin..end, line.0.as_ptr().cast(), before) };
    }
    caches::settle();
}

/// Puts the records of a line that have these places.
///
/// # Safety
/// As for [`Slots::put`]; the line has these records.
unsafe fn put_each<T: Copy>(slots: &Slots<'_, T>, places: std::ops::Range<usize>, line: *const T, before: usize) {
    for place in places {
        // SAFETY: the caller says so.
        unsafe { slots.put(place, *line.add((before + place) % (LINE / size_of::<T>()))) };
    }
}

impl<T: Copy> Slots<'_, T> {
    /// Stores a cache line of records from this place on.
    ///
    /// # Safety
    /// No other thread writes to these places; the place is the first of a cache line.
    unsafe fn put_line(self, place: usize, line: *const T) {
        let in_line = LINE / size_of::<T>();
        assert!(place <= self.len && in_line <= self.len - place, "places beyond all records");
        // SAFETY: the places are in the slice.
        let to = unsafe { self.base.add(place) };
        #[cfg(target_arch = "x86_64")]
        // SAFETY: both lines are 64 bytes at a multiple of 64.
        unsafe {
            std::arch::asm!(
                "movaps {a}, [{from}]", "movaps {b}, [{from} + 16]", "movaps {c}, [{from} + 32]", "movaps {d}, [{from} + 48]",
                "movntps [{to}], {a}", "movntps [{to} + 16], {b}", "movntps [{to} + 32], {c}", "movntps [{to} + 48], {d}",
                from = in(reg) line, to = in(reg) to,
                a = out(xmm_reg) _, b = out(xmm_reg) _, c = out(xmm_reg) _, d = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: as above.
        unsafe {
            to.copy_from_nonoverlapping(line, in_line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Copy + PartialEq + std::fmt::Debug>(record: impl Fn(usize) -> T) {
        for (len, buckets, begin) in
            [(0, 1, 0), (1, 3, 1), (100, 1, 3), (500, 2, 1), (1000, 7, 0), (5000, 64, 5), (5000, 300, 1)]
        {
            let x: Vec<T> = (0..len).map(&record).collect();
            // Numbers that are not in turn, and most of them small.
            let bucket = |place: usize, _: &T| (place * place + place / 7) % (1 + place % buckets);
            let mut places = vec![0; buckets];
            (0..len).for_each(|place| places[bucket(place, &x[place])] += 1);
            let mut sum = 0;
            places.iter_mut().for_each(|place| (*place, sum) = (sum, sum + *place));

            let mut expected = vec![record(len); begin + len];
            let mut got = expected.clone();
            for (to, streams) in [(&mut expected, false), (&mut got, true)] {
                let mut places = places.clone();
                let slots = Slots::over(&mut to[begin..]);
                let (first, second) = x.split_at(len / 3);
                for block in [(0, first), (first.len(), second)] {
                    // SAFETY: one thread moves both blocks, and has counted the records of each bucket.
                    unsafe {
                        if streams {
                            move_all(block, &places, &slots, bucket);
                        } else {
                            super::super::move_all(block, &places, &slots, bucket);
                        }
                    }
                    (block.0..).zip(block.1).for_each(|(place, record)| places[bucket(place, record)] += 1);
                }
            }
            assert_eq!(got, expected, "{len} records, {buckets} buckets");
        }
    }

    #[test]
    fn records_go_to_the_places_of_plain_stores() {
        check(|place| place as u8);
        check(|place| place as u16);
        check(|place| place as u32);
        check(|place| (place as u32, place as u8));
        check(|place| (place as u64, place as u32));
    }

    #[test]
    fn records_that_do_not_fill_lines_are_not_streamed() {
        fn streams<T: Copy>(record: T) -> bool {
            let mut x = vec![record; LEAST_BYTES];
            is_worth_it(&Slots::over(&mut x), 256)
        }
        assert_eq!(streams(1u8), cfg!(target_arch = "x86_64"));
        assert!(!streams([1u8; 3]));
        let mut short = [1u8; 100];
        assert!(!is_worth_it(&Slots::over(&mut short), 256));
        let mut x = vec![1u8; LEAST_BYTES];
        assert!(!is_worth_it(&Slots::over(&mut x), 3));
    }
}
