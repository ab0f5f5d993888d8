//! Sums and moments of each run of equal keys, by a loop over each block of records.
//!
//! It is no scan here, as a scan looks at both neighbours of each record: cores that guess well
//! whether a key is new are faster at a loop. It joins the last group of a block with the first of
//! the next; a run that goes on is in the later block. The scan that does the same on other devices
//! is [`scan`](super::scan()).
//!
//! ```text
//! monoid   sums, or Moments: count, mean and the sum of squares about the mean
//! cost     work n, depth 1 loop, 1 pass; of several threads one then copies the groups of all blocks
//! bytes    of keys of k and numbers of b: k + b read of each record; k + b of each group written,
//!          read, and written once more
//! ```
//!
//! Means and variances are combined after Chan, Golub and LeVeque, *Algorithms for Computing the
//! Sample Variance* (The American Statistician, 1983).

use crate::algo::{AlgoError, check_length, check_space};
use crate::ops::Moments;
use crate::parallel;
use crate::prelude::*;

/// Records of a block.
const BLOCK: usize = 1 << 14;

/// The keys of groups, and their totals.
type Groups<K, M> = (Vec<K>, Vec<M>);

/// The key and the sum of each run of equal keys. Integers wrap; how floats are rounded does not depend on the number of threads.
///
/// ```
/// use monoscan::algo::groups::sums_by_key;
/// let (customers, sums) = sums_by_key(&[7, 7, 9, 12], &[0.5, 1.5, 4.0, 1.0])?;
/// assert_eq!((customers, sums), (vec![7, 9, 12], vec![2.0, 4.0, 1.0]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// Only neighbouring equal keys are a group. Keys are numbers, or other [scan types](ScanType). For texts,
/// `Scan::<Sum<_>>::plain()?.segmented(by_key(&keys)).totals(x)` gives the sums.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one key for each number.
pub fn sums_by_key<K, T>(keys: &[K], x: &[T]) -> Result<(Vec<K>, Vec<T>), AlgoError>
where
    K: ScanType + PartialEq,
    T: Num,
{
    Ok(joined(totals_of_blocks(keys, x, |x| x, T::wrapped_add)?))
}

/// [`sums_by_key`] into slices with space for all groups; gives how many there are. Blocks of 2¹⁴ records have their groups in memory of
/// their own first.
///
/// ```
/// use monoscan::algo::groups::sums_by_key_into;
/// let (mut customers, mut sums) = ([0; 4], [0.0; 4]);
/// let groups = sums_by_key_into((&[7, 7, 9, 12], &[0.5, 1.5, 4.0, 1.0]), &mut customers, &mut sums)?;
/// assert_eq!((&customers[..groups], &sums[..groups]), (&[7, 9, 12][..], &[2.0, 4.0, 1.0][..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`sums_by_key`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn sums_by_key_into<K, T>((keys, x): (&[K], &[T]), groups: &mut [K], sums: &mut [T]) -> Result<usize, AlgoError>
where
    K: ScanType + PartialEq,
    T: Num,
{
    joined_into(totals_of_blocks(keys, x, |x| x, T::wrapped_add)?, groups, sums)
}

/// The key and the total of each run of equal keys, of what records are, block by block: each by a loop. A run that goes on in the next
/// block is in that one, so what a float gains is rounded against the total of a block, and not that of all.
fn totals_of_blocks<K, T, M>(
    keys: &[K],
    x: &[T],
    of: impl Fn(T) -> M + Sync,
    add: impl Fn(M, M) -> M + Sync,
) -> Result<Vec<Groups<K, M>>, AlgoError>
where
    K: ScanType + PartialEq,
    T: ScanType,
    M: ScanType,
{
    check_length("keys", x.len(), keys.len())?;
    let blocks = keys.chunks(BLOCK).zip(x.chunks(BLOCK));
    if x.len() <= BLOCK || rayon::current_num_threads() == 1 {
        // Nothing is to be copied after that.
        let mut groups = (Vec::new(), Vec::new());
        blocks.for_each(|block| push_totals(block, &mut groups, &of, &add));
        return Ok(vec![groups]);
    }
    let mut blocks = parallel::map(blocks, |_, block| {
        let mut groups = (Vec::new(), Vec::new());
        push_totals(block, &mut groups, &of, &add);
        groups
    });
    for block in 1..blocks.len() {
        let [before, here] = &mut blocks[block - 1..=block] else { unreachable!("two blocks") };
        if before.0.last() == here.0.first() {
            before.0.pop();
            if let Some(total) = before.1.pop() {
                here.1[0] = add(total, here.1[0]);
            }
        }
    }
    Ok(blocks)
}

/// The groups of all blocks, in order.
fn joined<K: Clone, M: Clone>(blocks: Vec<Groups<K, M>>) -> Groups<K, M> {
    let mut blocks = blocks.into_iter();
    let (mut keys, mut totals) = blocks.next().unwrap_or_default();
    for (more_keys, more) in blocks {
        keys.extend_from_slice(&more_keys);
        totals.extend_from_slice(&more);
    }
    (keys, totals)
}

/// The same into slices with space for all of them; gives how many there are.
fn joined_into<K: Copy, M: Copy>(
    blocks: Vec<Groups<K, M>>,
    groups: &mut [K],
    totals: &mut [M],
) -> Result<usize, AlgoError> {
    let len = blocks.iter().map(|(keys, _)| keys.len()).sum();
    check_space(len, [groups.len(), totals.len()])?;
    let mut start = 0;
    for (block_groups, block_totals) in blocks {
        let places = start..start + block_groups.len();
        groups[places.clone()].copy_from_slice(&block_groups);
        totals[places.clone()].copy_from_slice(&block_totals);
        start = places.end;
    }
    Ok(len)
}

/// Adds the groups of one block to those before it, by a loop.
fn push_totals<K, T, M>(
    (keys, x): (&[K], &[T]),
    (all_keys, totals): &mut Groups<K, M>,
    of: impl Fn(T) -> M,
    add: impl Fn(M, M) -> M,
) where
    K: ScanType + PartialEq,
    T: ScanType,
    M: ScanType,
{
    let mut records = keys.iter().copied().zip(x.iter().copied());
    let Some((mut key, first)) = records.next() else { return };
    // The total of the first group as far as it is in blocks before.
    let mut before = if all_keys.last() == Some(&key) { all_keys.pop().and(totals.pop()) } else { None };
    let mut total = of(first);
    let mut push = |key, total| {
        all_keys.push(key);
        totals.push(before.take().map_or(total, |before| add(before, total)));
    };
    for (next, x) in records {
        if next == key {
            total = add(total, of(x));
        } else {
            push(key, total);
            total = of(x);
        }
        key = next;
    }
    push(key, total);
}

/// The key, the mean and the variance of each run of equal keys, by [`Moments`], which do not cancel where means are large. How floats are
/// rounded does not depend on the number of threads.
///
/// ```
/// use monoscan::algo::groups::moments_by_key;
/// let (keys, moments) = moments_by_key(&[7, 7, 9], &[1e9, 1e9 + 2.0, 4.0])?;
/// assert_eq!(keys, [7, 9]);
/// assert_eq!((moments[0].mean, moments[0].variance(), moments[1].count), (1e9 + 1.0, 1.0, 1.0));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// A mean is no integer, so a column of integers is converted first, which is exact up to 2⁵³:
///
/// ```
/// use monoscan::algo::groups::moments_by_key;
/// let cents = [250, 350, 400].map(f64::from);
/// assert_eq!(moments_by_key(&[7, 7, 9], &cents)?.1[0].mean, 300.0);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there is not one key for each number.
pub fn moments_by_key<K, T>(keys: &[K], x: &[T]) -> Result<(Vec<K>, Vec<Moments<T>>), AlgoError>
where
    K: ScanType + PartialEq,
    T: Real,
{
    Ok(joined(totals_of_blocks(keys, x, Moments::of, Moments::combine)?))
}

/// [`moments_by_key`] into slices with space for all groups; gives how many there are. Memory as for [`sums_by_key_into`].
///
/// ```
/// use monoscan::{algo::groups::moments_by_key_into, ops::Moments};
/// let (mut keys, mut moments) = ([0; 3], [Moments::of(0.0); 3]);
/// let groups = moments_by_key_into((&[7, 7, 9], &[1.0, 3.0, 4.0]), &mut keys, &mut moments)?;
/// assert_eq!((&keys[..groups], moments[0].mean, moments[1].mean), (&[7, 9][..], 2.0, 4.0));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`moments_by_key`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn moments_by_key_into<K, T>(
    (keys, x): (&[K], &[T]),
    groups: &mut [K],
    moments: &mut [Moments<T>],
) -> Result<usize, AlgoError>
where
    K: ScanType + PartialEq,
    T: Real,
{
    joined_into(totals_of_blocks(keys, x, Moments::of, Moments::combine)?, groups, moments)
}
