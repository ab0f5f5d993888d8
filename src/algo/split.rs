//! Moving records to buckets, stably: what partitions and radix sorts are made of.
//!
//! Each block of records counts its buckets. The exclusive sum of all counts, bucket by bucket and
//! block by block within a bucket, is where each block puts its first record of each bucket. That
//! is `split` in Blelloch 1990, §1.3, with blocks for processors. One block needs no second thread.
//!
//! ```text
//! monoid   sums of counts                          x           5 7 3 1 4 2
//! cost     work 2 n, depth 1 scan of 2^b counts    by bit 0    4 2 5 7 3 1
//!          a block between two loops, 2 passes     by bit 1    4 5 1 2 7 3
//! bytes    of records of r: 2 r read, r written    by bit 2    1 2 3 4 5 7
//! ```
//!
//! A split keeps the order within a bucket, so splits by one bit after the other, the least first,
//! sort; and so do splits by digits of b bits, in fewer passes. [`sort`](super::sort) does that.

mod streamed;

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use monoscan_runtime::space::reserve;

use super::sort::SortKey;
use super::{AlgoError, compiled, counted};
use crate::ops::Sum;
use crate::parallel;
use crate::prelude::*;

/// The keys whose bit is 0, then those whose bit is 1, each in their order; and how many have 0. Bits are as in
/// [`split_by_digit`].
///
/// ```
/// use monoscan::algo::split::split_by_bit;
/// let mut x = vec![5u32, 7, 3, 1, 4, 2];
/// assert_eq!(split_by_bit(&x, 0)?, (vec![4, 2, 5, 7, 3, 1], 2));
/// for bit in 0..3 {
///     (x, _) = split_by_bit(&x, bit)?;
/// }
/// assert_eq!(x, [1, 2, 3, 4, 5, 7]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Bits`] if keys have no such bit; [`AlgoError::TooLong`].
pub fn split_by_bit<K: SortKey>(x: &[K], bit: u32) -> Result<(Vec<K>, usize), AlgoError> {
    let (parts, offsets) = split_by_digit(x, bit..bit.saturating_add(1))?;
    Ok((parts, offsets[1]))
}

/// Bits of a digit.
const WIDEST: usize = 16;

/// The keys by the digit that these bits are, 0 being the least significant, and in their order within each digit. Digit d has the
/// places `offsets[d]..offsets[d + 1]`; for b bits there are 2^b + 1 offsets.
///
/// Bits are those by which [keys are sorted](super::sort): of an unsigned integer its own, of a signed one with the sign bit
/// flipped, of a float so that they rise as [`f64::total_cmp`] has it. So splits by all digits sort.
///
/// ```
/// use monoscan::algo::split::split_by_digit;
/// let (x, offsets) = split_by_digit(&[0x21u8, 0x13, 0x20, 0x01], 4..6)?;
/// assert_eq!((x, offsets), (vec![0x01, 0x13, 0x21, 0x20], vec![0, 1, 2, 4, 4]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Bits`] if there are none, more than 16, or some that keys do not have; [`AlgoError::TooLong`].
pub fn split_by_digit<K: SortKey>(x: &[K], bits: Range<u32>) -> Result<(Vec<K>, Vec<usize>), AlgoError> {
    let width = 8 * size_of::<K>() as u32;
    if bits.is_empty() || bits.end > width || bits.len() > WIDEST {
        return Err(AlgoError::Bits { got: bits, width });
    }
    let digits = 1 << bits.len();
    let digit = move |_, key: &K| (key.ordered() >> bits.start) as usize & (digits - 1);
    let (parts, mut offsets) = parted(x, digits, digit)?;
    offsets.push(x.len());
    Ok((parts, offsets))
}

/// So many records are shared by threads: to wake one twice takes as long as half of them.
pub(super) const SHARED: usize = 1 << 17;

/// Blocks for each thread: a thread that the system takes away leaves some to others.
const BLOCKS: usize = 4;

/// The records by bucket, in their order within each, and where each bucket begins. `bucket` of a record and its place is below
/// `buckets`, and the same whenever it is asked.
pub(super) fn parted<T: Copy + Send + Sync>(
    x: &[T],
    buckets: usize,
    bucket: impl Fn(usize, &T) -> usize + Sync + Copy,
) -> Result<(Vec<T>, Vec<usize>), AlgoError> {
    counted(x.len())?;
    let mut parts = Vec::new();
    reserve(&mut parts, x.len())?;
    let starts = split_to(x, Slots::of(&mut parts.spare_capacity_mut()[..x.len()]), buckets, bucket)?;
    // SAFETY: each record was written to a place of its own among as many places.
    unsafe { parts.set_len(x.len()) };
    Ok((parts, starts))
}

/// The same into a slice of the same length.
pub(super) fn split<T: Copy + Send + Sync>(
    from: &[T],
    to: &mut [T],
    buckets: usize,
    bucket: impl Fn(usize, &T) -> usize + Sync + Copy,
) -> Result<Vec<usize>, AlgoError> {
    split_to(from, Slots::over(to), buckets, bucket)
}

fn split_to<T: Copy + Send + Sync>(
    from: &[T],
    slots: Slots<'_, T>,
    buckets: usize,
    bucket: impl Fn(usize, &T) -> usize + Sync + Copy,
) -> Result<Vec<usize>, AlgoError> {
    counted(from.len())?;
    let threads = rayon::current_num_threads();
    // No more counters than records.
    let most = (from.len() / buckets.max(1)).max(1);
    let blocks = if from.len() < SHARED || threads == 1 { 1 } else { most.min(threads * BLOCKS) };
    let block = from.len().div_ceil(blocks).max(1);
    let blocks = from.len().div_ceil(block).max(1);

    let mut counts = vec![0u32; blocks * buckets];
    parallel::for_each(from.chunks(block).zip(counts.chunks_mut(buckets)), |number, (from, counts)| {
        count((number * block, from), counts, bucket);
    });

    let (places, starts) = first_places(&counts, buckets)?;
    let is_streamed = streamed::is_worth_it(&slots, buckets);

    // SAFETY: blocks have ranges of slots of their own in each bucket, as long as their counts, and each record takes the next
    // one of its range.
    parallel::for_each(from.chunks(block).zip(places.chunks(buckets)), |number, (from, places)| unsafe {
        let from = (number * block, from);
        if is_streamed {
            streamed::move_all(from, places, &slots, bucket);
        } else {
            move_all(from, places, &slots, bucket);
        }
    });
    Ok(starts)
}

/// Counts the records of each bucket in a block that begins at place `start`. Counters of blocks lie side by side, so a thread has its
/// own until the end.
fn count<T>((start, from): (usize, &[T]), counts: &mut [u32], bucket: impl Fn(usize, &T) -> usize) {
    match counts.len() {
        2 => counts.copy_from_slice(&count_few::<2, T>((start, from), bucket)),
        3 => counts.copy_from_slice(&count_few::<3, T>((start, from), bucket)),
        buckets => {
            let mut own = vec![0; buckets];
            (start..).zip(from).for_each(|(place, record)| own[bucket(place, record)] += 1);
            counts.copy_from_slice(&own);
        }
    }
}

/// The same of so few buckets that their counters stay in registers: in memory each waits for the one before.
fn count_few<const BUCKETS: usize, T>(
    (start, from): (usize, &[T]),
    bucket: impl Fn(usize, &T) -> usize,
) -> [u32; BUCKETS] {
    let mut counts = [0; BUCKETS];
    for (place, record) in (start..).zip(from) {
        let bucket = bucket(place, record);
        debug_assert!(bucket < BUCKETS, "no such bucket");
        (0..).zip(&mut counts).for_each(|(number, count)| *count += u32::from(bucket == number));
    }
    counts
}

/// Moves the records of a block, each to the next place of its bucket. What they are moved by are copies, which no write can
/// change, so that they stay in registers.
///
/// # Safety
/// The slots are borrowed, and nobody else writes to these places and as many after each as the block has records of its bucket.
unsafe fn move_all<T: Copy>(
    (start, from): (usize, &[T]),
    places: &[u32],
    &slots: &Slots<'_, T>,
    bucket: impl Fn(usize, &T) -> usize,
) {
    if let &[mut first, mut second] = places {
        // As for counters, registers in place of memory.
        for (place, record) in (start..).zip(from) {
            let is_second = bucket(place, record) != 0;
            // SAFETY: the caller says so.
            unsafe { slots.put(if is_second { second } else { first } as usize, *record) };
            first += u32::from(!is_second);
            second += u32::from(is_second);
        }
        return;
    }
    let mut places = places.to_vec();
    for (place, record) in (start..).zip(from) {
        let slot = &mut places[bucket(place, record)];
        // SAFETY: the caller says so.
        unsafe { slots.put(*slot as usize, *record) };
        *slot += 1;
    }
}

/// Where each block puts its first record of each bucket, and where buckets begin.
fn first_places(counts: &[u32], buckets: usize) -> Result<(Vec<u32>, Vec<usize>), AlgoError> {
    let blocks = counts.len() / buckets;
    let sums = compiled(Scan::<Sum<u32>>::plain)?;
    let mut by_bucket: Vec<u32> =
        (0..buckets).flat_map(|bucket| counts[bucket..].iter().step_by(buckets).copied()).collect();
    sums.exclusive_in_place(&mut by_bucket)?;
    let starts = by_bucket.iter().step_by(blocks).map(|&start| start as usize).collect();
    let places = (0..blocks).flat_map(|block| by_bucket[block..].iter().step_by(blocks).copied()).collect();
    Ok((places, starts))
}

/// A slice that threads write, each to places of its own.
#[derive(Clone, Copy)]
struct Slots<'a, T> {
    base: *mut T,
    len: usize,
    types: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: threads write to places of their own, as `put` asks, and nobody reads.
unsafe impl<T: Send> Sync for Slots<'_, T> {}

impl<'a, T: Copy> Slots<'a, T> {
    /// Those of values that are there; only values are put in their places.
    fn over(slice: &'a mut [T]) -> Slots<'a, T> {
        Slots { base: slice.as_mut_ptr(), len: slice.len(), types: PhantomData }
    }

    fn of(slice: &'a mut [MaybeUninit<T>]) -> Slots<'a, T> {
        Slots { base: slice.as_mut_ptr().cast(), len: slice.len(), types: PhantomData }
    }

    /// # Safety
    /// No other thread writes to this place.
    unsafe fn put(self, place: usize, value: T) {
        assert!(place < self.len, "a place beyond all records");
        // SAFETY: the place is in the slice, which is borrowed; the caller says the rest.
        unsafe { self.base.add(place).write(value) }
    }
}
