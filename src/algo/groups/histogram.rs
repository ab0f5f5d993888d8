//! How often each value occurs.
//!
//! Integers that are close together are counted by a loop, as in sorting by counting, Knuth 3,
//! §5.2. Each part of them has counters of its own, as many as the first 4096 integers span, and
//! some beside. Others are [sorted](super::super::sort), and their
//! [runs](super::super::runs) counted.
//!
//! ```text
//! monoid   sums of counters, value by value
//! cost     work n, depth 1 loop, and one on one thread over the counters of all parts, which are a
//!          quarter of the keys at most; 1 pass, up to 3 if an integer has no counter
//! bytes    of keys of b: b read a pass; 4 a counter and part, which stay in a cache
//! sorted   as a copy, a radix sort and run-length encoding
//! ```

use std::ops::RangeInclusive;

use super::super::sort::{Order, SortKey, sort};
use super::super::{AlgoError, LONG, check_space, counted, part_of, runs};
use crate::parallel;

/// The different values, in order, and how often each occurs. Each NaN counts as a value of its own.
///
/// ```
/// use monoscan::algo::groups::histogram;
/// assert_eq!(histogram(&[3, 1, 3, 3, 2])?, (vec![1, 2, 3], vec![1, 1, 3]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn histogram<K: SortKey>(x: &[K]) -> Result<(Vec<K>, Vec<u32>), AlgoError> {
    counted(x.len())?;
    match occurring(x) {
        Some((_, found)) => Ok(found.unzip()),
        None => runs::encode(&sorted(x)?),
    }
}

/// [`histogram`] into slices with space for all different values; gives how many there are. Counters, or a sorted copy, take memory
/// of their own.
///
/// ```
/// use monoscan::algo::groups::histogram_into;
/// let (mut values, mut counts) = ([0; 5], [0; 5]);
/// let different = histogram_into(&[3, 1, 3, 3, 2], &mut values, &mut counts)?;
/// assert_eq!((&values[..different], &counts[..different]), (&[1, 2, 3][..], &[1, 1, 3][..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`histogram`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn histogram_into<K: SortKey>(x: &[K], values: &mut [K], counts: &mut [u32]) -> Result<usize, AlgoError> {
    counted(x.len())?;
    let Some((different, found)) = occurring(x) else { return runs::encode_into(&sorted(x)?, values, counts) };
    check_space(different, [values.len(), counts.len()])?;
    values.iter_mut().zip(counts).zip(found).for_each(|((value, count), found)| (*value, *count) = found);
    Ok(different)
}

/// How many values occur, and these, in order, and how often, of integers that are close together.
fn occurring<K: SortKey>(x: &[K]) -> Option<(usize, impl Iterator<Item = (K, u32)>)> {
    let (least, counts) = dense_counts(x, x.len())?;
    let different = counts.iter().filter(|&&count| count > 0).count();
    let found = (0..).zip(counts).filter(|(_, count)| *count > 0);
    Some((different, found.map(move |(number, count)| (K::of_ordered(least + number), count))))
}

fn sorted<K: SortKey>(x: &[K]) -> Result<Vec<K>, AlgoError> {
    let mut sorted = x.to_vec();
    sort(&mut sorted, Order::Ascending)?;
    Ok(sorted)
}

/// So many counters stay in a cache.
const COUNTERS: u64 = 1 << 16;

/// How many keys have each number, from one on, if they are integers and at most so many numbers lie between the least and the
/// greatest. The first keys say where the others may be, and mostly one pass counts all. Where one is elsewhere, two more passes
/// follow: for the least and the greatest key, and to count.
pub(in crate::algo) fn dense_counts<K: SortKey>(x: &[K], most: usize) -> Option<(u64, Vec<u32>)> {
    if K::IS_FLOAT {
        return None;
    }
    let most_counters = COUNTERS.min(most as u64);
    let dense = |x: &[K]| span(x).filter(|numbers| numbers.end() - numbers.start() < most_counters);
    dense(&x[..x.len().min(FEW)])?;
    let likely = dense(&x[..x.len().min(LIKELY)])?;
    let (least, most) = (*likely.start(), *likely.end());
    let beside = (most - least + 1).min((most_counters - (most - least + 1)) / 2);
    let beside = if x.len() > LIKELY { beside } else { 0 };
    let likely = least.saturating_sub(beside)..=most.saturating_add(beside);
    if let Some(counts) = counts(x, &likely) {
        return Some((*likely.start(), counts));
    }
    let numbers = dense(x)?;
    Some((*numbers.start(), counts(x, &numbers)?))
}

/// So many keys show at once that most are not dense.
const FEW: usize = 64;

/// So many keys say where the others may be.
const LIKELY: usize = 1 << 12;

/// The numbers of the least and the greatest key.
fn span<K: SortKey>(x: &[K]) -> Option<RangeInclusive<u64>> {
    let first = *x.first()?;
    // Each by a loop of its own, which is one in vectors.
    let least = |x: &[K]| x.iter().fold(first, |least, &key| if key < least { key } else { least });
    let most = |x: &[K]| x.iter().fold(first, |most, &key| if key > most { key } else { most });
    let ends = |_, x: &[K]| (least(x), most(x));
    let of_both = |a: (K, K), b: (K, K)| (least(&[a.0, b.0]), most(&[a.1, b.1]));
    let (least, most) = parallel::map(x.chunks(part_of(x.len())), ends).into_iter().fold((first, first), of_both);
    Some(least.ordered()..=most.ordered())
}

/// How many keys have each of these numbers, if all have one of them.
fn counts<K: SortKey>(x: &[K], numbers: &RangeInclusive<u64>) -> Option<Vec<u32>> {
    let (least, counters) = (*numbers.start(), (numbers.end() - numbers.start()) as usize + 1);
    let count = move |_, x: &[K]| {
        let mut counts = vec![0; counters];
        let mut count = |key: &K| {
            *counts.get_mut(key.ordered().wrapping_sub(least) as usize)? += 1;
            Some(())
        };
        // By fours: half of the time goes to the loop around one.
        let (fours, rest) = x.as_chunks::<4>();
        fours.iter().try_for_each(|four| four.iter().try_for_each(&mut count))?;
        rest.iter().try_for_each(count)?;
        Some(counts)
    };
    let add = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    // Counters of all parts are added on one thread, so a part has four keys for each of its own.
    let part = x.len().div_ceil(2 * rayon::current_num_threads()).max(4 * LONG).max(4 * counters);
    parallel::map(x.chunks(part), count).into_iter().reduce(|a, b| Some(add(a?, b?)))?
}
