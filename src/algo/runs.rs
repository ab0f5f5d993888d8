//! Runs of equal records: encoding and decoding them, and what is left of each.
//!
//! # Encode, and unique
//!
//! A run begins at a record that differs from the one before. Records that begin runs are selected
//! as in [`select`](super::select): a filter, whose ranks are the scan, as in Blelloch 1990, §1.3.
//! With the place at which each begins, a run's length is a difference of two neighbours.
//!
//! ```text
//! monoid   sums of the flags (the engine's)      x        a a a b c c      starts   0 3 4
//! filter   the record before is another one      filter   1 0 0 1 1 0      lengths  3 1 2
//! program  x ↦ nothing; writes x, and its place
//! cost     work n, depth 1 scan, 1 pass over x; encoding then makes lengths of places by a loop
//! bytes    of records of b bytes: b read, and b written of each run; encoding: 12 more of each run:
//!          a place written, then read and replaced
//! ```
//!
//! Unique keys with values are the same, of pairs.
//!
//! # Decode
//!
//! It is the other way round: starts are the exclusive sum of the lengths, as processors are
//! allocated in Blelloch 1990, §1.6. Here the scan is one of the sums of 64 lengths each. Each part
//! of the output looks up its first run and fills in from there, which is a loop. A long run is
//! filled in by several threads.
//!
//! ```text
//! monoid   sums of lengths, one of 64 runs
//! program  a sum ↦ itself
//! cost     work n + runs, depth 1 scan of runs / 64 sums between two loops
//! passes   1 over the records, 2 over the lengths
//! bytes    b written of each record; 8 of lengths and b read of each run
//! ```
//!
//! Of floats, NaN differs from itself.

use std::mem::MaybeUninit;

use monoscan_runtime::space::reserve;

use super::{AlgoError, check_length, check_space, compiled, counted, part_of};
use crate::Error;
#[cfg(feature = "gpu")]
use crate::ops::Max;
use crate::ops::Sum;
use crate::parallel;
use crate::prelude::*;
use crate::scan::Unzipped;

#[scan_fn]
fn begins<T: ScanType + PartialEq>(e: Element<T, Sum<u32>>) -> bool {
    e.first || e.prev != e.record
}

#[scan_fn]
fn with_start<T: ScanType>(e: Element<T, Sum<u32>>) -> (T, u32) {
    (e.record, e.index as u32)
}

#[cfg(feature = "gpu")]
#[scan_fn]
fn last_end<T: ScanType + PartialEq>(e: Element<T>) -> Max<u64> {
    if e.last || e.next != e.record { Max(e.index + 1) } else { Max(0) }
}

#[cfg(feature = "gpu")]
#[scan_fn]
fn ends<T: ScanType + PartialEq>(e: Element<T, Max<u64>>) -> bool {
    e.last || e.next != e.record
}

#[cfg(feature = "gpu")]
#[scan_fn]
fn with_length<T: ScanType>(e: Element<T, Max<u64>>) -> (T, u32) {
    (e.record, (e.index + 1 - e.before.0) as u32)
}

#[scan_fn]
fn key_begins<K: ScanType + PartialEq, V: ScanType>(e: Element<(K, V), Sum<u32>>) -> bool {
    e.first || e.prev.0 != e.record.0
}

/// The scan of [`encode`]: reads a column of records, and writes the first of each run and its place.
///
/// # Errors
/// As [`Scan::new`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub fn scan<T: ScanType + PartialEq>() -> Result<&'static Scan<Sum<u32>, (T,), Unzipped<(T, u32)>>, Error> {
    compiled(|| {
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|_x: T| -> Sum<u32> { Sum(0) }))
            .filter(begins {})
            .project_at(with_start {})
            .unzip()
            .build()
    })
}

/// Another scan for what [`encode`] does: the *last* record of each run, and from where the run before it ended, how long it is. It
/// needs no second pass over the runs, which counts on a GPU; a core is slower at it.
#[cfg(feature = "gpu")]
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub(super) fn scan_of_lengths<T>() -> Result<&'static Scan<Max<u64>, (T,), Unzipped<(T, u32)>>, Error>
where
    T: ScanType + PartialEq,
{
    compiled(|| {
        let last_ends = Scan::<Max<u64>>::builder().lift_at(last_end {});
        last_ends.filter(ends {}).project_at(with_length {}).unzip().build()
    })
}

/// The value of each run of equal records, and how long it is.
///
/// ```
/// use monoscan::algo::runs::{decode, encode};
/// let (values, lengths) = encode(b"aaabcc")?;
/// assert_eq!((&values[..], &lengths[..]), (&b"abc"[..], &[3, 1, 2][..]));
/// assert_eq!(decode(&values, &lengths)?, b"aaabcc");
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn encode<T: ScanType + PartialEq>(x: &[T]) -> Result<(Vec<T>, Vec<u32>), AlgoError> {
    let len = counted(x.len())?;
    let (values, mut lengths) = scan::<T>()?.inclusive(x)?;
    lengths_of_starts(&mut lengths, len);
    Ok((values, lengths))
}

/// [`encode`] into slices with space for all runs; gives how many there are. Space is used as by
/// [`select_into`](super::select::select_into).
///
/// ```
/// use monoscan::algo::runs::encode_into;
/// let (mut values, mut lengths) = ([0; 6], [0; 6]);
/// let runs = encode_into(b"aaabcc", &mut values, &mut lengths)?;
/// assert_eq!((&values[..runs], &lengths[..runs]), (&b"abc"[..], &[3, 1, 2][..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`encode`]; [`Error::OutputTooShort`] if they do not fit, and nothing is written.
pub fn encode_into<T: ScanType + PartialEq>(
    x: &[T],
    values: &mut [T],
    lengths: &mut [u32],
) -> Result<usize, AlgoError> {
    let len = counted(x.len())?;
    let runs = scan::<T>()?.inclusive_into(x, (values, &mut *lengths))?;
    lengths_of_starts(&mut lengths[..runs], len);
    Ok(runs)
}

/// Makes lengths of the places where runs begin, of so many records.
fn lengths_of_starts(starts: &mut [u32], len: u32) {
    let part = part_of(starts.len());
    let behind: Vec<u32> = starts.chunks(part).skip(1).map(|part| part[0]).chain([len]).collect();
    parallel::for_each(starts.chunks_mut(part).zip(behind), |_, (starts, behind)| {
        for run in 0..starts.len() {
            starts[run] = starts.get(run + 1).unwrap_or(&behind) - starts[run];
        }
    });
}

/// Lengths that are added up together, so that sums take less memory than records.
const GROUP: usize = 64;

/// Each value so many times: what [`encode`] was given. Only memory bounds it, so check lengths that come from elsewhere.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one length for each value; [`Error::OutOfMemory`].
pub fn decode<T: Copy + Send + Sync>(values: &[T], lengths: &[u32]) -> Result<Vec<T>, AlgoError> {
    let ends = ends_of_groups(values, lengths)?;
    let (mut records, len) = (Vec::new(), records_of(&ends));
    reserve(&mut records, len)?;
    fill((values, lengths, &ends), &mut records.spare_capacity_mut()[..len], MaybeUninit::new);
    // SAFETY: there is space for so many, and all of them were filled.
    unsafe { records.set_len(len) };
    Ok(records)
}

/// [`decode`] into a slice with space for all records; gives how many there are.
///
/// ```
/// use monoscan::algo::runs::decode_into;
/// let mut records = [0; 8];
/// let len = decode_into(b"abc", &[3, 1, 2], &mut records)?;
/// assert_eq!(&records[..len], b"aaabcc");
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`decode`]; [`Error::OutputTooShort`] if they do not fit, and nothing is written.
pub fn decode_into<T: Copy + Send + Sync>(
    values: &[T],
    lengths: &[u32],
    records: &mut [T],
) -> Result<usize, AlgoError> {
    let ends = ends_of_groups(values, lengths)?;
    let len = records_of(&ends);
    check_space(len, [records.len()])?;
    fill((values, lengths, &ends), &mut records[..len], |value| value);
    Ok(len)
}

/// How many records there are up to the end of each group of runs.
fn ends_of_groups<T>(values: &[T], lengths: &[u32]) -> Result<Vec<u64>, AlgoError> {
    check_length("lengths", values.len(), lengths.len())?;
    let of_group = parallel::map_numbers(lengths.len().div_ceil(GROUP), 1 << 10, |group| {
        let lengths = lengths[group * GROUP..].iter().take(GROUP);
        lengths.map(|&length| u64::from(length)).sum::<u64>()
    });
    Ok(compiled(Scan::<Sum<u64>>::plain)?.inclusive(&of_group)?)
}

/// How many records there are; more than memory has are as many as it could have.
fn records_of(ends: &[u64]) -> usize {
    ends.last().map_or(0, |&len| usize::try_from(len).unwrap_or(usize::MAX))
}

/// Fills all of this memory with the records of runs, as `slot` makes them.
fn fill<T: Copy + Sync, S: Clone + Send>(
    (values, lengths, ends): (&[T], &[u32], &[u64]),
    memory: &mut [S],
    slot: impl Fn(T) -> S + Sync,
) {
    if size_of::<S>() == 0 {
        return; // There is nothing to write, and memory has more of them than parts.
    }
    let part = 1 << 14;
    parallel::for_each(memory.chunks_mut(part), |number, mut part_left| {
        let at = (number * part) as u64;
        let group = ends.partition_point(|&end| end <= at);
        let mut run = group * GROUP;
        // Where the first run that reaches into this part begins, and how many of its records are before it.
        let mut before = at - group.checked_sub(1).map_or(0, |group| ends[group]);
        while u64::from(lengths[run]) <= before {
            before -= u64::from(lengths[run]);
            run += 1;
        }
        while !part_left.is_empty() {
            let left = (u64::from(lengths[run]) - before).min(part_left.len() as u64) as usize;
            let run_left = part_left.split_off_mut(..left).expect("it is as long at least");
            run_left.fill(slot(values[run]));
            (before, run) = (0, run + 1);
        }
    });
}

/// The first of each run of equal records.
///
/// ```
/// use monoscan::algo::runs::unique;
/// assert_eq!(unique(&[1, 1, 2, 1, 1])?, [1, 2, 1]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn unique<T: ScanType + PartialEq>(x: &[T]) -> Result<Vec<T>, AlgoError> {
    Ok(scan_of_firsts::<T>()?.inclusive(x)?)
}

/// [`unique`] into a slice with space for the first of each run; gives how many there are. Space is used as by
/// [`select_into`](super::select::select_into).
///
/// ```
/// use monoscan::algo::runs::unique_into;
/// let mut firsts = [0; 5];
/// let runs = unique_into(&[1, 1, 2, 1, 1], &mut firsts)?;
/// assert_eq!(firsts[..runs], [1, 2, 1]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`Error::OutputTooShort`] if they do not fit, and nothing is written.
pub fn unique_into<T: ScanType + PartialEq>(x: &[T], firsts: &mut [T]) -> Result<usize, AlgoError> {
    Ok(scan_of_firsts::<T>()?.inclusive_into(x, firsts)?)
}

/// The scan of [`unique`].
pub(super) fn scan_of_firsts<T: ScanType + PartialEq>() -> Result<&'static Scan<Sum<u32>, (T,), T>, Error> {
    compiled(|| {
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|_x: T| -> Sum<u32> { Sum(0) }))
            .filter(begins {})
            .project_with_record(scan!(|_none: Sum<u32>, x: T| -> T { x }))
            .build()
    })
}

/// The first key and the first value of each run of equal keys.
///
/// ```
/// use monoscan::algo::runs::unique_by_key;
/// assert_eq!(unique_by_key(&[1, 1, 2, 1], &[5, 6, 7, 8])?, (vec![1, 2, 1], vec![5, 7, 8]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there is not one value for each key.
pub fn unique_by_key<K, V>(keys: &[K], values: &[V]) -> Result<(Vec<K>, Vec<V>), AlgoError>
where
    K: ScanType + PartialEq,
    V: ScanType,
{
    check_length("values", keys.len(), values.len())?;
    Ok(scan_of_first_pairs::<K, V>()?.inclusive((keys, values))?)
}

/// [`unique_by_key`] into slices with space for the first pair of each run; gives how many there are. Space is used as by
/// [`select_into`](super::select::select_into).
///
/// ```
/// use monoscan::algo::runs::unique_by_key_into;
/// let (mut keys, mut values) = ([0; 4], [0; 4]);
/// let runs = unique_by_key_into((&[1, 1, 2, 1], &[5, 6, 7, 8]), &mut keys, &mut values)?;
/// assert_eq!((&keys[..runs], &values[..runs]), (&[1, 2, 1][..], &[5, 7, 8][..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`unique_by_key`]; [`Error::OutputTooShort`] if they do not fit, and nothing is written.
pub fn unique_by_key_into<K, V>(
    (keys, values): (&[K], &[V]),
    first_keys: &mut [K],
    first_values: &mut [V],
) -> Result<usize, AlgoError>
where
    K: ScanType + PartialEq,
    V: ScanType,
{
    check_length("values", keys.len(), values.len())?;
    Ok(scan_of_first_pairs::<K, V>()?.inclusive_into((keys, values), (first_keys, first_values))?)
}

/// The scan of [`unique_by_key`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub(super) fn scan_of_first_pairs<K, V>() -> Result<&'static Scan<Sum<u32>, (K, V), Unzipped<(K, V)>>, Error>
where
    K: ScanType + PartialEq,
    V: ScanType,
{
    compiled(|| {
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|_key: K, _value: V| -> Sum<u32> { Sum(0) }))
            .filter(key_begins {})
            .project_with_record(scan!(|_none: Sum<u32>, key: K, value: V| -> (K, V) { (key, value) }))
            .unzip()
            .build()
    })
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::*;

    #[test]
    fn both_scans_find_the_same_runs() {
        let mut random = scan_kit::Random(8);
        for len in [0, 1, 2, 100, 5000] {
            let x: Vec<u16> = (0..len).map(|_| random.below(3) as u16).collect();
            let found = scan_of_lengths::<u16>().expect("it is a scan").inclusive(&x).expect("it is short");
            assert_eq!(found, encode(&x).expect("it is short"), "{x:?}");
        }
    }
}
