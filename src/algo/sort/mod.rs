//! Sorting numbers, stably, digit by digit; and by segmented scans.
//!
//! # Radix sort
//!
//! A stable split by one digit after the other, the least first, leaves numbers in order: the radix
//! sort of Blelloch 1990, §1.3, whose split is a scan of counts. A digit is a byte. Bytes that are
//! the same in all keys are skipped. What the caches do not hold, or threads share, is first split
//! by its greatest eight bits that differ, and each part is sorted on its own, in a cache.
//!
//! Floats are ordered by their bits, as [`f64::total_cmp`] has it: −NaN, −∞, … −0, +0, … +∞, NaN.
//!
//! ```text
//! monoid   sums of counts, 256 a block
//! program  scan of a column of counts; writes the sum before each
//! cost     keys of d digits that differ: work (2 d + 2) n, depth 1 scan between two loops, and a loop
//!          over the parts; one thread sorts each part, in a cache, where scans of counts are loops
//! passes   4 that leave the caches: which bits differ, the split, which is 2, and the parts
//! bytes    of records of r: 4 r read and 2 r written
//! ```
//!
//! Keys other than unsigned integers that rise become such in place, and what they were at the end:
//! two passes more, and 4 r bytes. With values a record is a pair, which is made and taken apart:
//! the same. Integers that are close together are counted, and written by their counts: one pass
//! that reads and one that writes.

mod key;
mod quick;
mod radix;

pub use key::SortKey;
use key::sealed::Ordered as _;
pub(super) use quick::programs as quicksort_programs;
pub use quick::quicksort;
pub(super) use radix::pieces;

use super::groups::dense_counts;
use super::split::SHARED;
use super::{AlgoError, check_length, compiled, counted};
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
    counted(keys.len())?;
    if keys.len() <= radix::SHORT {
        let flipped = order.flipped();
        keys.sort_by_key(|key| key.ordered() ^ flipped);
        return Ok(());
    }
    // Equal keys are the same, so where there are few different ones they need no moves.
    if let Some((least, counts)) = dense_counts(keys, keys.len() / 16) {
        write_counted(keys, least, &counts, order);
        return Ok(());
    }
    // Unsigned integers are sorted, which keys become and cease to be in place.
    let numbers: &mut [K::Bits] = bytemuck::cast_slice_mut(keys);
    let flipped = order.flipped();
    let number = |bits| K::Bits::of_ordered(bytemuck::cast::<K::Bits, K>(bits).ordered() ^ flipped);
    let key = |number: K::Bits| bytemuck::cast::<K, K::Bits>(K::of_ordered(number.ordered() ^ flipped));
    let are_numbers = K::ZERO.ordered() == flipped;
    if !are_numbers {
        each(numbers, number);
    }
    let sorted = radix::sort(numbers, |number| number.ordered());
    if !are_numbers {
        each(numbers, key);
    }
    sorted
}

/// Replaces each number, on all threads.
fn each<T: Copy + Send>(numbers: &mut [T], of: impl Fn(T) -> T + Sync) {
    parallel::for_each(numbers.chunks_mut(SHARED), |_, part| part.iter_mut().for_each(|number| *number = of(*number)));
}

/// Writes the keys of all numbers from the least on, each as often as it was counted.
fn write_counted<K: SortKey>(mut keys: &mut [K], least: u64, counts: &[u32], order: Order) {
    for (number, &count) in (0..).zip(counts) {
        let equal = match order {
            Order::Ascending => keys.split_off_mut(..count as usize),
            Order::Descending => keys.split_off_mut(keys.len() - count as usize..),
        };
        equal.expect("all keys were counted").fill(K::of_ordered(least + number));
    }
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
    let mut records = parallel::map_numbers(keys.len(), SHARED, |place| (keys[place], values[place]));
    let flipped = order.flipped();
    radix::sort(&mut records, move |&(key, _)| key.ordered() ^ flipped)?;
    let parts = keys.chunks_mut(SHARED).zip(values.chunks_mut(SHARED)).zip(records.chunks(SHARED));
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
    Ok(parallel::map_numbers(records.len(), SHARED, |place| records[place].1))
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
    let parts = places.chunks_mut(SHARED).zip(records.chunks(SHARED));
    parallel::for_each(parts, |_, (places, records)| {
        places.iter_mut().zip(records).for_each(|(place, record)| *place = record.1);
    });
    Ok(())
}

/// The keys in order, each with its place.
fn numbered<K: SortKey>(keys: &[K], order: Order) -> Result<Vec<(K, u32)>, AlgoError> {
    counted(keys.len())?;
    let mut records = parallel::map_numbers(keys.len(), SHARED, |place| (keys[place], place as u32));
    let flipped = order.flipped();
    radix::sort(&mut records, move |&(key, _)| key.ordered() ^ flipped)?;
    Ok(records)
}
