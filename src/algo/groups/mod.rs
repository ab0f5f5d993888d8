//! One total for each segment of ragged data, whose segments are told by flags, offsets or keys.
//!
//! A scan of [`Segmented`] states starts over where a segment begins; the state after the last
//! record of a segment is its total, and a filter keeps that: Blelloch 1990, §1.5. Keys are
//! compared in the same pass, so nobody makes flags of them.
//!
//! ```text
//! monoid   Segmented<M>: (start, value), where a start forgets what was before
//! filter   the next record begins a segment, or there is none
//! cost     work n, depth 1 scan, 1 pass
//! bytes    a state, and a flag or key, read of each record; a state, and its key, written of each
//!          segment; offsets take 8 a segment instead of flags
//! ```
//!
//! Keys that come back later begin a group of their own: [sort](super::sort) first where that is
//! not meant. Keys may be equal and yet differ in their bits, as 0 and −0: a group has the last.
//!
//! # Sums by key
//!
//! The scan looks at both neighbours of each record. Cores that guess well whether a key is new are
//! faster at a loop: [`sums_by_key`] runs one over each block of records, and joins the last group
//! of a block with the first of the next. [`scan()`] is for other devices.
//!
//! ```text
//! cost     work n, depth 1 loop, 1 pass; and one thread copies the groups of all blocks
//! bytes    of keys of k and numbers of b: k + b read of each record; k + b of each group written,
//!          read, and written once more
//! ```
//!
//! Means and variances are totals of [`Moments`], by the same loop: Chan, Golub and LeVeque,
//! *Algorithms for Computing the Sample Variance* (The American Statistician, 1983).
//!
//! A [`histogram`] counts values that need not be neighbours.

mod histogram;

pub use histogram::histogram;

use super::{AlgoError, check_length, check_space, compiled};
use crate::ops::{Moments, Segmented, Sum};
use crate::parallel;
use crate::prelude::*;
use crate::scan::Unzipped;

#[scan_fn]
fn state<K: ScanType + PartialEq, M: Monoid>(e: Element<(K, M)>) -> Segmented<M> {
    Segmented { start: e.first || e.prev.0 != e.record.0, value: e.record.1 }
}

#[scan_fn]
fn number<K: ScanType + PartialEq, T: Num>(e: Element<(K, T)>) -> Segmented<Sum<T>> {
    Segmented { start: e.first || e.prev.0 != e.record.0, value: Sum(e.record.1) }
}

#[cfg(feature = "gpu")]
#[scan_fn]
fn sample<K: ScanType + PartialEq, T: Real>(e: Element<(K, T)>) -> Segmented<Moments<T>> {
    Segmented { start: e.first || e.prev.0 != e.record.0, value: Moments::of(e.record.1) }
}

#[scan_fn]
fn ends<K: ScanType + PartialEq, X: ScanType, M: Monoid>(e: Element<(K, X), Segmented<M>>) -> bool {
    e.last || e.next.0 != e.record.0
}

#[scan_fn]
fn total<K: ScanType, X: ScanType, M: Monoid>(e: Element<(K, X), Segmented<M>>) -> (K, M) {
    (e.record.0, e.after.value)
}

#[scan_fn]
fn flagged<M: Monoid>(e: Element<(bool, M)>) -> Segmented<M> {
    Segmented { start: e.record.0, value: e.record.1 }
}

#[scan_fn]
fn next_is_flagged<M: Monoid>(e: Element<(bool, M), Segmented<M>>) -> bool {
    e.last || e.next.0
}

/// The total of each segment that begins at a flag; one begins at record 0 with or without.
///
/// ```
/// use monoscan::{algo::groups::totals_by_flags, ops::Max};
/// let totals = totals_by_flags(&[true, false, true], &[3, 5, 4].map(Max))?;
/// assert_eq!(totals, [Max(5), Max(4)]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there is not one flag for each record.
pub fn totals_by_flags<M: Monoid>(heads: &[bool], x: &[M]) -> Result<Vec<M>, AlgoError> {
    check_length("heads", x.len(), heads.len())?;
    Ok(scan_by_flags::<M>()?.inclusive((heads, x))?)
}

/// The scan of [`totals_by_flags`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub(super) fn scan_by_flags<M: Monoid>() -> Result<&'static Scan<Segmented<M>, (bool, M), M>, crate::Error> {
    compiled(|| {
        Scan::<Segmented<M>>::builder()
            .lift_at(flagged {})
            .filter(next_is_flagged {})
            .project(scan!(|state: Segmented<M>| -> M { state.value }))
            .build()
    })
}

/// The total of the records `offsets[k]..offsets[k + 1]` for each k; the identity of none.
///
/// ```
/// use monoscan::{algo::groups::totals_by_offsets, ops::Sum};
/// let totals = totals_by_offsets(&[0, 2, 2, 3], &[3, 5, 4].map(Sum))?;
/// assert_eq!(totals, [Sum(8), Sum(0), Sum(4)]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`Error::Offsets`](crate::Error::Offsets) and [`TooFewOffsets`](crate::Error::TooFewOffsets) if they do not rise from 0 to the number of records.
pub fn totals_by_offsets<M: Monoid>(offsets: &[usize], x: &[M]) -> Result<Vec<M>, AlgoError> {
    monoscan_runtime::check_offsets(offsets, x.len())?;
    Ok(compiled(Scan::<M>::new)?.segmented(offsets).totals(x)?)
}

/// The key and the total of each run of equal keys. Floats are rounded as by a loop over the records.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one key for each record.
pub fn totals_by_key<K, M>(keys: &[K], x: &[M]) -> Result<(Vec<K>, Vec<M>), AlgoError>
where
    K: ScanType + PartialEq,
    M: Monoid,
{
    check_length("keys", x.len(), keys.len())?;
    Ok(scan_of_totals::<K, M>()?.inclusive((keys, x))?)
}

/// The scan of [`totals_by_key`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub(super) fn scan_of_totals<K, M>() -> Result<&'static Scan<Segmented<M>, (K, M), Unzipped<(K, M)>>, crate::Error>
where
    K: ScanType + PartialEq,
    M: Monoid,
{
    compiled(|| {
        let states = Scan::<Segmented<M>>::builder().lift_at(state {});
        states.filter(ends {}).project_at(total {}).unzip().build()
    })
}

/// A scan that gives what [`sums_by_key`] does: reads columns of keys and numbers, and writes one of keys and one of sums. On a CPU it
/// adds floats one after the other, as a loop does: a sum that is 2²⁴ times what is added to it, of `f32`, stays as it is.
///
/// # Errors
/// As [`Scan::new`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub fn scan<K, T>() -> Result<&'static Scan<Segmented<Sum<T>>, (K, T), Unzipped<(K, T)>>, crate::Error>
where
    K: ScanType + PartialEq,
    T: Num,
{
    compiled(|| {
        Scan::<Segmented<Sum<T>>>::builder()
            .lift_at(number {})
            .filter(ends {})
            .project_at(scan!(|e: Element<(K, T), Segmented<Sum<T>>>| -> (K, T) { (e.record.0, e.after.value.0) }))
            .unzip()
            .build()
    })
}

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
    let blocks = totals_of_blocks(keys, x, |x| x, T::wrapped_add)?;
    let len = blocks.iter().map(|(keys, _)| keys.len()).sum();
    check_space(len, [groups.len(), sums.len()])?;
    let mut start = 0;
    for (block_groups, block_sums) in blocks {
        let places = start..start + block_groups.len();
        groups[places.clone()].copy_from_slice(&block_groups);
        sums[places.clone()].copy_from_slice(&block_sums);
        start = places.end;
    }
    Ok(len)
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
    let mut blocks = parallel::map(blocks, |_, (keys, x)| totals_of_block(keys, x, &of, &add));
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

/// The same of one block, by a loop.
fn totals_of_block<K, T, M>(keys: &[K], x: &[T], of: impl Fn(T) -> M, add: impl Fn(M, M) -> M) -> Groups<K, M>
where
    K: ScanType + PartialEq,
    T: ScanType,
    M: ScanType,
{
    let (mut all_keys, mut totals) = (Vec::new(), Vec::new());
    let mut records = keys.iter().copied().zip(x.iter().copied());
    let Some((mut key, first)) = records.next() else { return (all_keys, totals) };
    let mut total = of(first);
    for (next, x) in records {
        if next == key {
            total = add(total, of(x));
        } else {
            all_keys.push(key);
            totals.push(total);
            total = of(x);
        }
        key = next;
    }
    all_keys.push(key);
    totals.push(total);
    (all_keys, totals)
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
/// # Errors
/// [`AlgoError::Length`] if there is not one key for each number.
pub fn moments_by_key<K, T>(keys: &[K], x: &[T]) -> Result<(Vec<K>, Vec<Moments<T>>), AlgoError>
where
    K: ScanType + PartialEq,
    T: Real,
{
    Ok(joined(totals_of_blocks(keys, x, Moments::of, Moments::combine)?))
}

/// The columns of the scan of [`moments_by_key`] on a GPU.
#[cfg(feature = "gpu")]
pub(super) type MomentsByKey<K, T> = Scan<Segmented<Moments<T>>, (K, T), Unzipped<(K, Moments<T>)>>;

/// The scan of [`moments_by_key`] on a GPU.
#[cfg(feature = "gpu")]
pub(super) fn scan_of_moments<K, T>() -> Result<&'static MomentsByKey<K, T>, crate::Error>
where
    K: ScanType + PartialEq,
    T: Real,
{
    compiled(|| {
        let samples = Scan::<Segmented<Moments<T>>>::builder().lift_at(sample {});
        samples.filter(ends {}).project_at(total {}).unzip().build()
    })
}
