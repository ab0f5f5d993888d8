//! The algorithms in the memory of a GPU: [`DeviceVec`]s in, and `DeviceVec`s out that stay there.
//!
//! They have the names and the meaning of those for slices, and are scans too: each is moved to the
//! device once, when a function first needs it there, and kept. Between the scans stand helper
//! kernels that move records: Blelloch's *permute*.
//!
//! | functions | what runs |
//! |---|---|
//! | [`select()`], [`select_with_places`], [`places`], [`Select`], [`unique`], [`unique_by_key`], [`encode`] | one scan with a filter, and one before it that counts, where space is short |
//! | [`sums_by_key`], [`totals_by_key`], [`totals_by_flags`], [`moments_by_key`] | one segmented scan with a filter |
//! | [`partition`] | two kernels, and a scan of counts between them |
//! | [`partition3`], [`sort()`], [`sort_with_values`], [`argsort`] | for each digit two kernels, and a scan of counts between them |
//! | [`histogram`] | of bytes a count and its totals; else a sort, and [`encode`] |
//! | [`totals_by_offsets`], [`Csr`] | one pass over the records, in blocks of equal length, and one over the states of blocks |
//! | [`forward_fill`], [`backward_fill`], [`sessions`], [`running_argmax`], [`line_of_sight`], [`lines_and_columns`] | one scan |
//! | [`add`], [`subtract`], [`add_rows`], [`subtract_rows`], [`Modular`] | one scan |
//! | [`compare`] | one reduction |
//! | [`horner`] | two reductions |
//! | `lexer::PatternSet::ends_on_device`, with the feature `lexer` | one scan with a filter |
//!
//! Of the others the CPU alone has
//!
//! | functions | why |
//! |---|---|
//! | `runs::decode` | each record looks up its run by a search, for which there is no kernel |
//! | `split::split_by_bit`, `split_by_digit` | kernels take flags, as [`partition`], or whole bytes, as a sort |
//! | `sort::quicksort` | splits of all segments at once, level by level, have no kernel; a radix sort reads fewer bytes |
//! | `numbers::compare_rows` | an `Ordering` is no type of records that a device writes |
//! | `numbers::add_by`, `subtract_by`, `compare_by`, `Network` | run a network gate by gate, to show it |
//! | `numbers::recur_modulo` | remainders of 128 bits, in loops; scans have those of 64, as [`Modular`] |
//! | `lists` | walks along links, each step of which waits for memory: no kernel walks, or jumps log n times |
//! | `brackets` | a stack for each block: words of brackets without partners are no state of a scan |
//! | `trees` | a tour is put in order by such walks, or by the partners of brackets |
//! | `text::check_utf8` | no scan: characters say where they begin |
//! | `text::csv`, `Fields`, `Decimals` | loops over blocks and fields; the one scan is of a state a block |
//!
//! All run in the streams that their vectors were last written in, which wait for each other where
//! several meet. [`Workspace::sort`], [`Workspace::argsort_into`],
//! [`Workspace::partition_on_device`] and [`Csr::times_into`] return at once; so do single scans
//! that write as many records as they read, once they have memory for them. The others wait for the
//! device: for the number of results, for the check of their input, or since they give back memory.
//! New vectors are taken from the driver, which takes time. A [`Workspace`] and a [`Csr`] keep what
//! they need beside their results.
//!
//! ```no_run
//! use monoscan::{Device, DeviceVec, algo::{on_gpu, sort::Order}};
//!
//! let mut keys = DeviceVec::upload(&Device::cuda(0)?, &[3.5f32, -1.0, 2.0])?;
//! let places = on_gpu::argsort(&keys, Order::Ascending)?;
//! on_gpu::sort(&mut keys, Order::Descending)?;
//! assert_eq!((keys.to_vec()?, places.to_vec()?), (vec![3.5, 2.0, -1.0], vec![1, 2, 0]));
//! # Ok::<(), monoscan::algo::AlgoError>(())
//! ```
//!
//! # Errors
//! Beside those of its namesake every function has [`Error::Cuda`], if the device has too little
//! memory or fails, and [`Error::Device`] for vectors of two devices. A stream that is being
//! captured is refused.

mod numbers;
mod ordered;
mod ragged;
mod selected;
mod text;

pub use numbers::{Modular, add, add_rows, compare, horner, subtract, subtract_rows};
pub use ordered::{argsort, histogram, partition, partition3, sort, sort_with_values};
pub use ragged::{
    Csr, backward_fill, forward_fill, line_of_sight, moments_by_key, running_argmax, sessions, sums_by_key,
    sums_by_key_into, totals_by_flags, totals_by_key, totals_by_key_into, totals_by_offsets, totals_by_offsets_into,
};
pub use selected::{
    Select, encode, encode_into, places, select, select_into, select_with_places, unique, unique_by_key,
    unique_by_key_into, unique_into,
};
pub use text::lines_and_columns;

use monoscan_ir::{Program, Verified};
use monoscan_runtime::DeviceMemory;

use super::{AlgoError, check_space, groups, runs, series};
use crate::Error;
use crate::ops::Max;
use crate::prelude::*;
use crate::scan::{DeviceVec, Pending};

/// The programs of the scans that run here, each for some type of records: for tests of kernels.
///
/// # Errors
/// As [`Scan::new`](crate::Scan::new).
#[doc(hidden)]
pub fn programs() -> Result<Vec<Verified<Program>>, Error> {
    let by_predicate = super::select::Select::by(scan!(|x: u32| -> bool { x % 3 == 1 }))?.programs();
    let named = [
        super::select::scan::<i32>()?.as_dyn(),
        super::select::scan::<(u8, u32)>()?.as_dyn(),
        super::select::scan_with_places::<i64>()?.as_dyn(),
        super::select::scan_of_places()?.as_dyn(),
        runs::scan_of_lengths::<u32>()?.as_dyn(),
        runs::scan_of_lengths::<u8>()?.as_dyn(),
        runs::scan_of_firsts::<u16>()?.as_dyn(),
        runs::scan_of_first_pairs::<u32, u16>()?.as_dyn(),
        groups::scan::<u32, i32>()?.as_dyn(),
        groups::scan_of_totals::<u16, Max<i64>>()?.as_dyn(),
        groups::scan_of_moments::<u32, f64>()?.as_dyn(),
        groups::scan_of_segments::<Max<i32>>()?.as_dyn(),
        series::fill::<u32>()?.as_dyn(),
        series::pauses_counted::<u32>()?.as_dyn(),
        series::steepest::<f32>()?.as_dyn(),
        series::greatest::<i32>()?.as_dyn(),
        ragged::wrong_offsets()?.as_dyn(),
        super::text::scan()?.as_dyn(),
        numbers::scan_of_sums()?.as_dyn(),
        numbers::scan_of_differences()?.as_dyn(),
        numbers::scan_of_order()?.as_dyn(),
        numbers::scan_of_row_sums::<4>()?.as_dyn(),
        numbers::scan_of_row_differences::<4>()?.as_dyn(),
        numbers::scan_for_first::<f32>()?.as_dyn(),
        numbers::scan_of_horner::<u32>()?.as_dyn(),
    ];
    let modular = super::numbers::Modular::<2, 1_000_000_007>::new([1, 3])?.program();
    Ok(named.map(|scan| scan.program().clone()).into_iter().chain(by_predicate).chain([modular]).collect())
}

/// Refuses columns of these lengths as space for what a scan keeps of so many records. With less space than for all of them they
/// are counted by that scan into columns without space, which `count` gives.
fn expect_space<const COLUMNS: usize>(
    records: usize,
    lengths: [usize; COLUMNS],
    count: impl FnOnce() -> Result<Pending, Error>,
) -> Result<(), Error> {
    if lengths.iter().all(|&len| len >= records) {
        return Ok(());
    }
    match count()?.wait() {
        Err(Error::OutputTooShort { expected, .. }) => check_space(expected, lengths),
        counted => counted.map(drop),
    }
}

/// The records at these places of the first vector, each of which is below its length.
fn look_up<T: ScanType>(from: &DeviceVec<T>, places: &DeviceVec<u32>) -> Result<DeviceVec<T>, AlgoError> {
    let mut to = DeviceVec::beside(places, places.len())?;
    look_up_into(from, places, &mut to)?;
    Ok(to)
}

/// The same into a vector of as many.
fn look_up_into<T: ScanType>(
    from: &DeviceVec<T>,
    places: &DeviceVec<u32>,
    to: &mut DeviceVec<T>,
) -> Result<(), AlgoError> {
    if !places.is_empty() {
        let records = (from.memory(), from.len(), size_of::<T>());
        monoscan_runtime::gpu::moves::look_up(records, (places.memory(), places.len()), to.memory_mut())?;
    }
    Ok(())
}

/// Memory that algorithms need beside their input and output, taken from the driver once for many calls: of sorts one more vector
/// of keys and one of values, of [`argsort_into`](Workspace::argsort_into) two of keys, and counts.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::{on_gpu::Workspace, sort::Order}};
///
/// let mut workspace = Workspace::new();
/// for keys in [[3u32, 1, 2], [9, 7, 8]] {
///     let mut keys = DeviceVec::upload(&Device::cuda(0)?, &keys)?;
///     workspace.sort(&mut keys, Order::Ascending)?;
/// }
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Debug, Default)]
pub struct Workspace([Option<DeviceMemory>; 4]);

impl Workspace {
    /// One without memory yet.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// A vector of this length beside another, out of this memory if it is large enough.
    fn take<T: ScanType, U: ScanType>(
        &mut self,
        place: usize,
        beside: &DeviceVec<U>,
        len: usize,
    ) -> Result<DeviceVec<T>, AlgoError> {
        // What a captured stream used last stays out of the caller's graph.
        let fits = |memory: &DeviceMemory| {
            let is_here = memory.len() >= len * size_of::<T>() && memory.device() == beside.device();
            is_here && memory.expect_no_capture("one that is not being captured").is_ok()
        };
        // What is too small is freed before more is asked for.
        match self.0[place].take().filter(fits) {
            Some(memory) => Ok(DeviceVec::of_memory(memory, len)),
            None => Ok(DeviceVec::beside(beside, len)?),
        }
    }

    fn keep<T: ScanType>(&mut self, place: usize, vector: DeviceVec<T>) {
        self.0[place] = Some(vector.into_memory());
    }
}

/// Refuses vectors of a stream that is being captured: nothing here can be part of a graph.
fn expect_no_capture<const N: usize>(vectors: [&DeviceMemory; N]) -> Result<(), AlgoError> {
    let expected = "one that is not being captured, for an algorithm";
    // Most are of one stream, which is asked once.
    let stream = |memory: &DeviceMemory| (memory.device().ordinal(), memory.stream().raw());
    let first = |place: usize| !vectors[..place].iter().any(|before| stream(before) == stream(vectors[place]));
    Ok((0..N).filter(|&place| first(place)).try_for_each(|place| vectors[place].expect_no_capture(expected))?)
}
