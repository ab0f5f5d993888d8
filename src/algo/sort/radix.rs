//! The radix sort of records by numbers that they have.
//!
//! An array that the caches hold is split by one byte after the other, the least first, on one
//! thread. A longer one, or one that threads share, is split by its greatest eight bits that
//! differ, by all threads, and each part is sorted on its own. A part that no cache holds, as where
//! keys are nearly the same, is split again.

use monoscan_runtime::caches::{each_line, to_write};

use crate::algo::AlgoError;
use crate::algo::split::{self, SHARED};
use crate::parallel;

/// Values of a byte.
const BYTES: usize = 256;

/// So few records are sorted by comparisons.
pub(super) const SHORT: usize = 128;

/// Bytes of records that the caches hold twice.
const IN_CACHES: usize = 1 << 22;

/// Records that are counted while the lines that they go to are on their way.
const BLOCK: usize = 1 << 10;

/// Sorts as many records as a `u32` counts, by the numbers that `key` gives.
pub(super) fn sort<T: Copy + Send + Sync>(x: &mut [T], key: impl Fn(&T) -> u64 + Sync + Copy) -> Result<(), AlgoError> {
    if x.len() <= SHORT {
        x.sort_by_key(key);
        return Ok(());
    }
    let alone = x.len() < SHARED || rayon::current_num_threads() == 1;
    if alone && size_of_val(x) <= IN_CACHES {
        let mut spare = x.to_vec();
        sort_in_cache(x, &mut spare, false, key);
        return Ok(());
    }
    let first = key(&x[0]);
    let differing = |_, part: &[T]| part.iter().fold(0, |bits, record| bits | (key(record) ^ first));
    let differing = parallel::map(x.chunks(1 << 16), differing).into_iter().fold(0, |a, b| a | b);
    let Some(digit) = Digit::greatest(u64::BITS - differing.leading_zeros()) else { return Ok(()) };
    let (mut parts, starts) = split::parted(x, BYTES, move |_, record| digit.of(key(record)))?;
    sort_parts(pieces(&mut parts, &starts), pieces(x, &starts), digit.shift, true, key)
}

/// Sorts parts whose keys differ in so many of their last bits, each into its spare memory or in place.
fn sort_parts<T: Copy + Send + Sync>(
    parts: Vec<&mut [T]>,
    spare: Vec<&mut [T]>,
    bits: u32,
    into_spare: bool,
    key: impl Fn(&T) -> u64 + Sync + Copy,
) -> Result<(), AlgoError> {
    let sorted = |_, (part, spare)| sort_part(part, spare, bits, into_spare, key);
    parallel::map(parts.into_iter().zip(spare), sorted).into_iter().collect()
}

fn sort_part<T: Copy + Send + Sync>(
    part: &mut [T],
    spare: &mut [T],
    bits: u32,
    into_spare: bool,
    key: impl Fn(&T) -> u64 + Sync + Copy,
) -> Result<(), AlgoError> {
    match Digit::greatest(bits) {
        Some(digit) if size_of_val(part) > IN_CACHES && part.len() > SHORT => {
            let starts = split::split(part, spare, BYTES, move |_, record| digit.of(key(record)))?;
            sort_parts(pieces(spare, &starts), pieces(part, &starts), digit.shift, !into_spare, key)?;
        }
        Some(_) => sort_in_cache(part, spare, into_spare, key),
        None if into_spare => spare.copy_from_slice(part),
        None => {}
    }
    Ok(())
}

/// Eight bits of a key, from this one on.
#[derive(Clone, Copy)]
struct Digit {
    shift: u32,
}

impl Digit {
    /// The first that may differ, of keys that differ in so many of their last bits, if any do.
    fn greatest(bits: u32) -> Option<Digit> {
        (bits != 0).then(|| Digit { shift: bits.saturating_sub(8) })
    }

    fn of(self, key: u64) -> usize {
        (key >> self.shift) as u8 as usize
    }
}

/// Sorts on one thread, by the least byte first, into spare memory of the same length or in place. All bytes are counted in one pass,
/// and those that are the same in all keys are skipped.
fn sort_in_cache<T: Copy>(x: &mut [T], spare: &mut [T], into_spare: bool, key: impl Fn(&T) -> u64) {
    if x.len() <= SHORT {
        x.sort_by_key(key);
        if into_spare {
            spare.copy_from_slice(x);
        }
        return;
    }
    let mut counts = [[0u32; BYTES]; size_of::<u64>()];
    for (records, spare) in x.chunks(BLOCK).zip(spare.chunks(BLOCK)) {
        // The first move writes to all lines, in no order.
        each_line(spare.as_ptr().cast(), size_of_val(spare), to_write);
        for record in records {
            for (counts, byte) in counts.iter_mut().zip(key(record).to_le_bytes()) {
                counts[byte as usize] += 1;
            }
        }
    }
    let first = key(&x[0]).to_le_bytes();
    let (mut from, mut to) = (x, spare);
    let mut is_in_spare = false;
    for (byte, counts) in counts.iter_mut().enumerate() {
        if counts[first[byte] as usize] as usize != from.len() {
            // Code that knows the byte takes a quarter less time.
            let split = match byte {
                0 => split_by::<0, _, _>,
                1 => split_by::<1, _, _>,
                2 => split_by::<2, _, _>,
                3 => split_by::<3, _, _>,
                4 => split_by::<4, _, _>,
                5 => split_by::<5, _, _>,
                6 => split_by::<6, _, _>,
                _ => split_by::<7, _, _>,
            };
            split(from, to, counts, &key);
            (from, to) = (to, from);
            is_in_spare = !is_in_spare;
        }
    }
    if is_in_spare != into_spare {
        to.copy_from_slice(from);
    }
}

/// A stable split by a byte of the key, of which each value has so many records.
fn split_by<const BYTE: usize, T: Copy, K: Fn(&T) -> u64>(
    from: &[T],
    to: &mut [T],
    counts: &mut [u32; BYTES],
    key: &K,
) {
    let mut sum = 0;
    for count in &mut *counts {
        (*count, sum) = (sum, sum + *count);
    }
    for record in from {
        let place = &mut counts[key(record).to_le_bytes()[BYTE] as usize];
        to[*place as usize] = *record;
        *place += 1;
    }
}

/// The parts that begin at these places.
pub(in crate::algo) fn pieces<'a, T>(mut x: &'a mut [T], starts: &[usize]) -> Vec<&'a mut [T]> {
    let ends = starts[1..].iter().copied().chain([x.len()]);
    let lengths = starts.iter().zip(ends).map(|(start, end)| end - start);
    lengths.map(|len| x.split_off_mut(..len).expect("starts are in order")).collect()
}
