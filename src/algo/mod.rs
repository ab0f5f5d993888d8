//! The algorithms that scans are for, after Blelloch, *Prefix Sums and Their Applications* (1990).
//!
//! Each file is one family and reads like its page in a textbook: the idea, the monoid, the
//! program, its cost and its source. Functions take slices and give vectors; sorts work in place.
//! Those that end in `_into` write to slices of the caller, and take less memory in a hot loop.
//! A scan stands where an element needs all before it. Loops in which none needs another run on all
//! threads. A loop that runs on one thread is called so in its page, which says why.
//!
//! | module | what it has |
//! |---|---|
//! | [`select`] | keep some records: by flags, by a predicate, their positions; stable partitions |
//! | [`runs`] | run-length encoding and its inverse, `unique`, `unique_by_key` |
//! | [`split`] | stable splits by a bit or a digit, the step of a radix sort |
//! | [`sort`] | radix sorts of numbers, with values, `argsort`; quicksort by segmented scans |
//! | [`groups`] | totals by flags, offsets or keys: sums, means, variances; histograms |
//! | [`series`] | gaps filled, sessions, line of sight, running arg-max |
//! | [`sparse`] | sparse matrices times vectors |
//! | [`numbers`] | sums, differences and order of long integers, Horner's rule, recurrences modulo m |
//! | [`lists`] | ranks in linked lists |
//! | [`brackets`] | partners of brackets, and what encloses a place |
//! | [`trees`] | depths, sizes, orders, totals of subtrees and paths, by Euler tours |
//! | [`text`] | lines and columns, UTF-8, fields of CSV, columns of decimals, matches of patterns |
//!
//! Costs are given for n records as *work* (operations in all), *depth* (scans or loops that wait
//! for each other), *passes* over memory, and *bytes* of memory read and written for each record.
//! Counters and blocks that stay in a cache are not counted, nor is a new vector that is filled.
//!
//! A scan is compiled when a function first needs it, for each type of records, in a few
//! milliseconds, and kept. A record of hundreds of numbers takes some tenths of a second. With the
//! feature `gpu`, the module `on_gpu` has those families that run in the memory of a device, by
//! [`DeviceVec`](crate::DeviceVec)s.
//!
//! Where places or counts are given, they are `u32`, so a call takes fewer than 2³² records, of
//! brackets and trees fewer than 2³¹; more are [`AlgoError::TooLong`]. Bad input is found before
//! anything is written. What holds after a scan that failed is said at [`AlgoError::Scan`].
//!
//! Records of a scan have 1 to 4096 bytes. Those that it compares with their neighbours have at
//! most 256, as in [`runs`], and values that fill gaps at most 255. Others are an
//! [`AlgoError::Scan`]. Partitions, sorts, `decode`, sums and moments by key are loops, and take
//! any.

pub mod brackets;
mod error;
pub mod groups;
pub mod lists;
pub mod numbers;
#[cfg(feature = "gpu")]
pub mod on_gpu;
pub mod runs;
pub mod select;
pub mod series;
pub mod sort;
pub mod sparse;
pub mod split;
pub mod text;
pub mod trees;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

pub use error::AlgoError;
use monoscan_ir::{Program, Verified};

use crate::{Device, Error, parallel};

/// The programs of scans that only the CPU runs and no public function gives: for tests of them under all plans.
///
/// # Errors
/// As [`Scan::new`](crate::Scan::new).
#[doc(hidden)]
pub fn programs() -> Result<Vec<Verified<Program>>, Error> {
    let horner = numbers::scan_of_horner::<i64>()?.as_dyn().program().clone();
    Ok([horner].into_iter().chain(sort::quicksort_programs()?).collect())
}

/// The scan that `make` builds, once: its type is the key, so it captures nothing.
fn compiled<S, F>(make: F) -> Result<&'static S, Error>
where
    S: Send + Sync + 'static,
    F: Fn() -> Result<S, Error> + 'static,
{
    compiled_for(Device::cpu(), move |_| make())
}

/// The same, once for each device.
fn compiled_for<S, F>(device: Device, make: F) -> Result<&'static S, Error>
where
    S: Send + Sync + 'static,
    F: Fn(Device) -> Result<S, Error> + 'static,
{
    const { assert!(size_of::<F>() == 0, "two values of one type would build two scans under one key") };
    let kept = kept((TypeId::of::<F>(), device.ordinal()), &|| Ok(Box::new(make(device)?)))?;
    Ok(kept.downcast_ref().expect("one type of closure builds one type of scan"))
}

/// The scan that was made under this key, or is made now.
fn kept(
    key: (TypeId, Option<usize>),
    make: &dyn Fn() -> Result<Box<dyn Any + Send + Sync>, Error>,
) -> Result<&'static (dyn Any + Send + Sync), Error> {
    type Kept = HashMap<(TypeId, Option<usize>), &'static (dyn Any + Send + Sync)>;
    static KEPT: LazyLock<RwLock<Kept>> = LazyLock::new(RwLock::default);

    let known = KEPT.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    match known {
        Some(kept) => Ok(kept),
        None => {
            let made = make()?;
            Ok(*KEPT.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert_with(|| Box::leak(made)))
        }
    }
}

/// Records that a thread takes at once, where threads share them.
const LONG: usize = 1 << 15;

/// The same of so many: all of few, which are left to the calling thread, since a thread that is woken comes too late to help.
fn part_of(len: usize) -> usize {
    if len < 4 * LONG { len.max(1) } else { LONG }
}

/// The results of `of` for each number below `len`, on all threads if they are many.
fn mapped<T: Send>(len: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    parallel::map_numbers(len, part_of(len), of)
}

/// As many records as a `u32` counts, or an error.
fn counted(len: usize) -> Result<u32, AlgoError> {
    u32::try_from(len).map_err(|_| AlgoError::TooLong { len, limit: 1 << 32 })
}

/// As many places as a walk takes two steps each of, or an error.
fn counted_twice(len: usize) -> Result<u32, AlgoError> {
    const LIMIT: usize = 1 << 31;
    if len < LIMIT { counted(len) } else { Err(AlgoError::TooLong { len, limit: LIMIT as u64 }) }
}

/// Refuses a column of another length than `expected`.
fn check_length(argument: &'static str, expected: usize, got: usize) -> Result<(), AlgoError> {
    if got == expected { Ok(()) } else { Err(AlgoError::Length { argument, expected, got }) }
}

/// Refuses columns of these lengths as space for so many records.
fn check_space<const COLUMNS: usize>(expected: usize, lengths: [usize; COLUMNS]) -> Result<(), Error> {
    let shortest = lengths.into_iter().enumerate().min_by_key(|&(_, len)| len);
    match shortest.filter(|&(_, len)| len < expected) {
        Some((column, got)) => Err(Error::OutputTooShort { column, expected, got }),
        None => Ok(()),
    }
}
