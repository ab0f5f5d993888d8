//! The algorithms in the memory of a GPU: [`DeviceVec`]s in, and `DeviceVec`s out that stay there.
//!
//! They have the names and the meaning of those for slices, and are the same programs: a scan is
//! moved to the device once, when a function first needs it there, and kept. Between the scans
//! stand helper kernels that move records and scan nothing: Blelloch's *permute*.
//!
//! | functions | what runs |
//! |---|---|
//! | [`select()`], [`unique`], [`encode`], [`sums_by_key`], [`totals_by_key`] | one scan with a filter |
//! | [`partition`], [`partition3`], [`sort()`], [`sort_with_values`], [`argsort`], [`histogram`] | for each digit two kernels, and a scan of counts between them |
//! | [`totals_by_offsets`], [`Csr`] | one segmented scan, and a kernel that takes the last record of each segment |
//! | [`forward_fill`], [`backward_fill`], [`sessions`], [`running_argmax`], [`line_of_sight`] | one scan |
//!
//! What is not here (long integers, lists, trees, brackets, text, quicksort) runs on the CPU alone:
//! those are blocks and loops there, not scans.
//!
//! All run in the stream that the first vector was last written in. They wait for the device where
//! the number of results is not known before, and where input is checked; the others return at
//! once. New vectors are taken from the driver, which takes time: a [`Workspace`] and
//! a [`Csr`] keep theirs, and functions that end in `_into` take none.
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
//! Beside those of its namesake every function has [`Error::Cuda`](crate::Error::Cuda), if the
//! device has too little memory or fails, and [`Error::Device`](crate::Error::Device) for vectors
//! of two devices. A stream that is being captured is refused.

mod ordered;
mod ragged;
mod selected;

pub use ordered::{argsort, histogram, partition, partition3, sort, sort_with_values};
pub use ragged::{
    Csr, backward_fill, forward_fill, line_of_sight, running_argmax, sessions, sums_by_key, sums_by_key_into,
    totals_by_key, totals_by_offsets,
};
pub use selected::{encode, encode_into, select, select_into, unique};

use monoscan_runtime::DeviceMemory;

use super::AlgoError;
use crate::lang::ScanType;
use crate::scan::DeviceVec;

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
/// of keys and one of values, of sums by offsets one more of records, and counts.
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
        let fits = |memory: &DeviceMemory| memory.len() >= len * size_of::<T>() && memory.device() == beside.device();
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

/// Refuses a vector of a stream that is being captured: nothing here can be part of a graph.
fn expect_no_capture<T: ScanType>(x: &DeviceVec<T>) -> Result<(), AlgoError> {
    Ok(x.memory().expect_no_capture("one that is not being captured, for an algorithm")?)
}
