//! The algorithms in the memory of a GPU: [`DeviceVec`]s in, and `DeviceVec`s out that stay there.
//!
//! They have the names and the meaning of those for slices, and are scans too: each is moved to the
//! device once, when a function first needs it there, and kept. Between the scans stand helper
//! kernels that move records: Blelloch's *permute*.
//!
//! | functions | what runs |
//! |---|---|
//! | [`select()`], [`select_with_places`], [`places`], [`Select`], [`unique`], [`unique_by_key`], [`encode`] | one scan with a filter |
//! | [`sums_by_key`], [`totals_by_key`], [`moments_by_key`] | one segmented scan with a filter |
//! | [`partition`] | two kernels, and a scan of counts between them |
//! | [`partition3`], [`sort()`], [`sort_with_values`], [`argsort`], [`histogram`] | for each digit two kernels, and a scan of counts between them |
//! | [`totals_by_offsets`], [`Csr`] | one pass over the records, in blocks of equal length, and one over the states of blocks |
//! | [`forward_fill`], [`backward_fill`], [`sessions`], [`running_argmax`], [`line_of_sight`] | one scan |
//!
//! Long integers, recurrences, lists, trees, brackets, text, run-length decoding and quicksort run
//! on the CPU alone: those are blocks and loops there.
//!
//! All run in the streams that their vectors were last written in, which wait for each other where
//! several meet. [`Workspace::sort`], [`Workspace::partition_on_device`] and [`Csr::times_into`]
//! return at once. The others wait for the device: for the number of results, for the check of
//! their input, or since they give back memory. New vectors are taken from the driver, which takes
//! time. A [`Workspace`] and a [`Csr`] keep what they need beside their results.
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

mod ordered;
mod ragged;
mod selected;

pub use ordered::{argsort, histogram, partition, partition3, sort, sort_with_values};
pub use ragged::{
    Csr, backward_fill, forward_fill, line_of_sight, moments_by_key, running_argmax, sessions, sums_by_key,
    sums_by_key_into, totals_by_key, totals_by_offsets, totals_by_offsets_into,
};
pub use selected::{
    Select, encode, encode_into, places, select, select_into, select_with_places, unique, unique_by_key,
};

use monoscan_ir::{Program, Verified};
use monoscan_runtime::DeviceMemory;

use super::{AlgoError, groups, runs, series};
use crate::Error;
use crate::ops::Max;
use crate::prelude::*;
use crate::scan::DeviceVec;

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
        series::fill::<u32>()?.as_dyn(),
        series::pauses_counted::<u32>()?.as_dyn(),
        series::steepest::<f32>()?.as_dyn(),
        series::greatest::<i32>()?.as_dyn(),
        ragged::wrong_offsets()?.as_dyn(),
    ];
    Ok(named.map(|scan| scan.program().clone()).into_iter().chain(by_predicate).collect())
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
/// of keys and one of values, and counts.
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
pub struct Workspace([Option<DeviceMemory>; 3]);

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
