//! Sorting numbers, stably, digit by digit; and by segmented scans.
//!
//! # Radix sort
//!
//! A stable split by one digit after the other, the least first, leaves numbers in order: the radix
//! sort of Blelloch 1990, §1.3, whose split is a scan of counts. A digit is a byte. Bytes that are
//! the same in all keys are skipped. What does not fit a cache is first split by its greatest byte,
//! and each part is sorted on its own, in cache; it is the same sort, read from the other end.
//!
//! Floats are ordered by their bits, as [`f64::total_cmp`] has it: −NaN, −∞, … −0, +0, … +∞, NaN.
//!
//! So the digits of a long array are not taken in the order of LSD: the greatest comes first, and
//! those of each part follow from the least on. A part that does not fit a cache either, as where
//! keys are nearly the same, is split again by its next digit.
//!
//! ```text
//! monoid   sums of counts, 256 a block
//! cost     keys of d digits that differ: work (d + 3) n, depth 1 scan between two loops, and a loop
//!          over the parts; one thread sorts each part, in a cache, where scans of counts are loops
//! passes   4 that leave the caches: which bytes differ, the split, which is 2, and the parts; one
//!          more, on one thread, where d is odd and the spare array has the result
//! bytes    of records of r: 4 r read and up to 3 r written; r of each more where d is odd
//! ```
//!
//! With values a record is a pair, which is made and taken apart: two passes more, and 4 r bytes.

mod key;
mod quick;

pub use key::SortKey;
pub use quick::quicksort;

use super::{AlgoError, LONG, check_length, compiled, counted, mapped, split};
use crate::parallel;

/// Which comes first. Equal keys stay in their order in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// The least.
    #[default]
    Ascending,
    /// The greatest.
    Descending,
}

impl Order {
    /// The bits of a key's number that are flipped, so that lesser numbers come earlier.
    pub(super) fn flipped(self) -> u64 {
        match self {
            Order::Ascending => 0,
            Order::Descending => u64::MAX,
        }
    }
}

/// Values of a digit.
const DIGITS: usize = 256;

/// So few records are sorted by comparisons.
const SHORT: usize = 128;

/// Bytes of records that a core's caches hold twice.
const IN_CACHE: usize = 1 << 18;

/// Sorts numbers.
///
/// ```
/// use monoscan::algo::sort::{Order, sort};
/// let mut x = [2.5, -1.0, f64::NAN, -0.0, 0.0];
/// sort(&mut x, Order::Descending)?;
/// assert_eq!(format!("{x:?}"), "[NaN, 2.5, 0.0, -0.0, -1.0]");
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn sort<K: SortKey>(keys: &mut [K], order: Order) -> Result<(), AlgoError> {
    let flipped = order.flipped();
    sort_records(keys, move |&key| key.ordered() ^ flipped)
}

/// Sorts numbers, and values along with them.
///
/// ```
/// use monoscan::algo::sort::{Order, sort_with_values};
/// let (mut years, mut names) = ([1999u16, 1980, 1999], ["c", "a", "b"]);
/// sort_with_values(&mut years, &mut names, Order::Ascending)?;
/// assert_eq!((years, names), ([1980, 1999, 1999], ["a", "c", "b"]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there is not one value for each key; [`AlgoError::TooLong`].
pub fn sort_with_values<K: SortKey, V: Copy + Send + Sync>(
    keys: &mut [K],
    values: &mut [V],
    order: Order,
) -> Result<(), AlgoError> {
    check_length("values", keys.len(), values.len())?;
    counted(keys.len())?;
    let mut records = mapped(keys.len(), |place| (keys[place], values[place]));
    let flipped = order.flipped();
    sort_records(&mut records, move |&(key, _)| key.ordered() ^ flipped)?;
    let parts = keys.chunks_mut(LONG).zip(values.chunks_mut(LONG)).zip(records.chunks(LONG));
    parallel::for_each(parts, |_, ((keys, values), records)| {
        keys.iter_mut().zip(values).zip(records).for_each(|((key, value), record)| (*key, *value) = *record);
    });
    Ok(())
}

/// The places of the keys in order: `keys[argsort[0]]` comes first.
///
/// ```
/// use monoscan::algo::sort::{Order, argsort};
/// assert_eq!(argsort(&[30i8, -10, 20], Order::Ascending)?, [1, 2, 0]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn argsort<K: SortKey>(keys: &[K], order: Order) -> Result<Vec<u32>, AlgoError> {
    let records = numbered(keys, order)?;
    Ok(mapped(records.len(), |place| records[place].1))
}

/// [`argsort`] into a slice, all of one length. Pairs of keys and places take memory of their own, as much again for spare.
///
/// ```
/// use monoscan::algo::sort::{Order, argsort_into};
/// let mut places = [0; 3];
/// argsort_into(&[30i8, -10, 20], Order::Ascending, &mut places)?;
/// assert_eq!(places, [1, 2, 0]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; [`AlgoError::TooLong`].
pub fn argsort_into<K: SortKey>(keys: &[K], order: Order, places: &mut [u32]) -> Result<(), AlgoError> {
    check_length("places", keys.len(), places.len())?;
    let records = numbered(keys, order)?;
    let parts = places.chunks_mut(LONG).zip(records.chunks(LONG));
    parallel::for_each(parts, |_, (places, records)| {
        places.iter_mut().zip(records).for_each(|(place, record)| *place = record.1);
    });
    Ok(())
}

/// The keys in order, each with its place.
fn numbered<K: SortKey>(keys: &[K], order: Order) -> Result<Vec<(K, u32)>, AlgoError> {
    counted(keys.len())?;
    let mut records = mapped(keys.len(), |place| (keys[place], place as u32));
    let flipped = order.flipped();
    sort_records(&mut records, move |&(key, _)| key.ordered() ^ flipped)?;
    Ok(records)
}

/// Sorts records by numbers that they have.
fn sort_records<T: Copy + Send + Sync>(x: &mut [T], key: impl Fn(&T) -> u64 + Sync + Copy) -> Result<(), AlgoError> {
    counted(x.len())?;
    let Some(first) = x.first().map(key).filter(|_| x.len() > SHORT) else {
        x.sort_by_key(key);
        return Ok(());
    };
    // A run may be all there is.
    let differing = |_, part: &[T]| part.iter().fold(0, |bits, record| bits | (key(record) ^ first));
    let differing = parallel::map(x.chunks(1 << 16), differing).into_iter().fold(0, |a, b| a | b);
    let digits: Vec<u32> = (0..u64::BITS).step_by(8).filter(|&shift| (differing >> shift) as u8 != 0).collect();
    let mut spare;
    match &digits[..] {
        [less @ .., greatest] if size_of_val(x) > IN_CACHE => {
            let starts;
            (spare, starts) = split::parted(x, DIGITS, move |_, record| digit(key(record), *greatest))?;
            all_by_digits(pieces(&mut spare, &starts), pieces(x, &starts), less, key)?;
        }
        digits => {
            spare = x.to_vec();
            by_digits(x, &mut spare, digits, key)?;
        }
    }
    if digits.len() % 2 == 1 {
        x.copy_from_slice(&spare);
    }
    Ok(())
}

/// The digit of a key that begins at this bit.
fn digit(key: u64, shift: u32) -> usize {
    (key >> shift) as u8 as usize
}

/// Sorts `from` by these digits, the least first, into `to` if they are odd in number, else in place.
fn by_digits<T: Copy + Send + Sync>(
    from: &mut [T],
    to: &mut [T],
    digits: &[u32],
    key: impl Fn(&T) -> u64 + Sync + Copy,
) -> Result<(), AlgoError> {
    match digits {
        [] => {}
        _ if from.len() <= SHORT => {
            from.sort_by_key(key);
            if digits.len() % 2 == 1 {
                to.copy_from_slice(from);
            }
        }
        [less @ .., greatest] if size_of_val(from) > IN_CACHE => {
            let starts = split::split(from, to, DIGITS, move |_, record| digit(key(record), *greatest))?;
            all_by_digits(pieces(to, &starts), pieces(from, &starts), less, key)?;
        }
        _ => in_cache(from, to, digits, key),
    }
    Ok(())
}

/// The same of parts, each beside its spare memory.
fn all_by_digits<T: Copy + Send + Sync>(
    parts: Vec<&mut [T]>,
    spare: Vec<&mut [T]>,
    digits: &[u32],
    key: impl Fn(&T) -> u64 + Sync + Copy,
) -> Result<(), AlgoError> {
    let sorted = |_, (part, spare)| by_digits(part, spare, digits, key);
    parallel::map(parts.into_iter().zip(spare), sorted).into_iter().collect()
}

/// The same on one thread, which counts all digits in one pass.
fn in_cache<T: Copy>(from: &mut [T], to: &mut [T], digits: &[u32], key: impl Fn(&T) -> u64) {
    let mut counts = [[0u32; DIGITS]; 8];
    for record in &*from {
        let key = key(record);
        for (counts, &shift) in counts.iter_mut().zip(digits) {
            counts[digit(key, shift)] += 1;
        }
    }
    let (mut from, mut to) = (from, to);
    for (counts, &shift) in counts.iter_mut().zip(digits) {
        let mut sum = 0;
        for count in &mut *counts {
            (*count, sum) = (sum, sum + *count);
        }
        for record in &*from {
            let place = &mut counts[digit(key(record), shift)];
            to[*place as usize] = *record;
            *place += 1;
        }
        (from, to) = (to, from);
    }
}

/// The parts that begin at these places.
pub(super) fn pieces<'a, T>(mut x: &'a mut [T], starts: &[usize]) -> Vec<&'a mut [T]> {
    let ends = starts[1..].iter().copied().chain([x.len()]);
    let lengths = starts.iter().zip(ends).map(|(start, end)| end - start);
    lengths.map(|len| x.split_off_mut(..len).expect("starts are in order")).collect()
}
