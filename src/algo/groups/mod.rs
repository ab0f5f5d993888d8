//! One total for each segment of ragged data, whose segments are told by flags, offsets or keys.
//!
//! A scan of [`Segmented`] states starts over where a segment begins; the state after the last
//! record of a segment is its total, and a filter keeps that: Blelloch 1990, §1.5. Keys are
//! compared in the same pass, so nobody makes flags of them.
//!
//! ```text
//! monoid   Segmented<M>: (start, value), where a start forgets what was before
//! filter   the next record begins a segment, or there is none
//! program  a record ↦ (does it begin a segment, its state); writes the total, and the key
//! cost     work n, depth 1 scan, 1 pass
//! bytes    a state, and a flag or key, read of each record; a state, and its key, written of each
//!          segment; offsets take 8 a segment instead of flags
//! ```
//!
//! Keys that come back later begin a group of their own: [sort](super::sort) first where that is
//! not meant. Keys may be equal and yet differ in their bits, as 0 and −0: a group has the last.
//!
//! [`sums_by_key`] and [`moments_by_key`] do the same by loops over blocks. A [`histogram`] counts
//! values that need not be neighbours.

mod by_loop;
mod histogram;

pub use by_loop::{moments_by_key, moments_by_key_into, sums_by_key, sums_by_key_into};
pub(super) use histogram::dense_counts;
pub use histogram::{histogram, histogram_into};

use super::{AlgoError, check_length, compiled};
#[cfg(feature = "gpu")]
use crate::ops::Moments;
use crate::ops::{Segmented, Sum};
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
    Ok(scan_of_segments::<M>()?.inclusive((heads, x))?)
}

/// [`totals_by_flags`] into a slice with space for all totals; gives how many there are. Space is used as by
/// [`select_into`](super::select::select_into).
///
/// ```
/// use monoscan::{algo::groups::totals_by_flags_into, ops::Max};
/// let mut totals = [Max(0); 3];
/// let segments = totals_by_flags_into(&[true, false, true], &[3, 5, 4].map(Max), &mut totals)?;
/// assert_eq!(totals[..segments], [Max(5), Max(4)]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`totals_by_flags`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn totals_by_flags_into<M: Monoid>(heads: &[bool], x: &[M], totals: &mut [M]) -> Result<usize, AlgoError> {
    check_length("heads", x.len(), heads.len())?;
    Ok(scan_of_segments::<M>()?.inclusive_into((heads, x), totals)?)
}

/// The scan of [`totals_by_flags`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub(super) fn scan_of_segments<M: Monoid>() -> Result<&'static Scan<Segmented<M>, (bool, M), M>, crate::Error> {
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

/// [`totals_by_offsets`] into a slice with a state for each pair of offsets.
///
/// ```
/// use monoscan::{algo::groups::totals_by_offsets_into, ops::Sum};
/// let mut totals = [Sum(7); 3];
/// totals_by_offsets_into(&[0, 2, 2, 3], &[3, 5, 4].map(Sum), &mut totals)?;
/// assert_eq!(totals, [Sum(8), Sum(0), Sum(4)]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`totals_by_offsets`]; [`AlgoError::Length`] if there is not one total for each pair.
pub fn totals_by_offsets_into<M: Monoid>(offsets: &[usize], x: &[M], totals: &mut [M]) -> Result<(), AlgoError> {
    monoscan_runtime::check_offsets(offsets, x.len())?;
    check_length("totals", offsets.len() - 1, totals.len())?;
    compiled(Scan::<M>::new)?.segmented(offsets).totals_into(x, totals)?;
    Ok(())
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

/// [`totals_by_key`] into slices with space for all groups; gives how many there are. Space is used as by
/// [`select_into`](super::select::select_into).
///
/// ```
/// use monoscan::{algo::groups::totals_by_key_into, ops::Max};
/// let (mut groups, mut totals) = ([0; 3], [Max(0); 3]);
/// let count = totals_by_key_into((&[7, 7, 9], &[3, 5, 4].map(Max)), &mut groups, &mut totals)?;
/// assert_eq!((&groups[..count], &totals[..count]), (&[7, 9][..], &[5, 4].map(Max)[..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`totals_by_key`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn totals_by_key_into<K, M>((keys, x): (&[K], &[M]), groups: &mut [K], totals: &mut [M]) -> Result<usize, AlgoError>
where
    K: ScanType + PartialEq,
    M: Monoid,
{
    check_length("keys", x.len(), keys.len())?;
    Ok(scan_of_totals::<K, M>()?.inclusive_into((keys, x), (groups, totals))?)
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
