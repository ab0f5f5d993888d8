//! Ragged data and series: scans that start over, or that remember.
//!
//! Totals by flags and keys, and series, are the scans of [`groups`](crate::algo::groups) and
//! [`series`](crate::algo::series), whose pages have their sources. Totals by offsets, and products
//! of sparse matrices, share records evenly among blocks however segments differ in length:
//! Blelloch, Heroux and Zagha, *Segmented Operations for Sparse Matrix Computation on Vector
//! Multiprocessors* (CMU-CS-93-173). The first pass sums up each block, and the second adds what a
//! segment has in several blocks.
//!
//! ```text
//! monoid   that of the records, segmented; series as on a CPU
//! program  a record ↦ (does it begin a segment, its state); writes the total after the last
//! cost     work n, depth 1 scan, 1 pass; by offsets work n + segments, depth 2, 1 pass over the
//!          records and one over the states of blocks, and 1 over the offsets before, to check them
//! bytes    a state, and a flag or key, read of each record; a state, and its key, written of each
//!          segment; offsets take 4 a segment, read twice
//! ```

use monoscan_runtime::DeviceError;
use monoscan_runtime::gpu::totals::Totals;

use super::{expect_no_capture, expect_space};
use crate::algo::{AlgoError, check_length, compiled, compiled_for, counted, groups, series};
use crate::lang::layout_of;
use crate::ops::{Max, Min, Moments, Sum};
use crate::prelude::*;
use crate::scan::DeviceVec;
use crate::{Device, Error};

/// The total of each segment that begins at a flag; one begins at record 0 with or without. Reads both columns once, and writes a
/// total of each segment.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::totals_by_flags, ops::Max};
///
/// let gpu = Device::cuda(0)?;
/// let heads = DeviceVec::upload(&gpu, &[true, false, true])?;
/// let totals = totals_by_flags(&heads, &DeviceVec::upload(&gpu, &[3, 5, 4].map(Max))?)?;
/// assert_eq!(totals.to_vec()?, [Max(5), Max(4)]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there is not one flag for each record.
pub fn totals_by_flags<M: Monoid>(heads: &DeviceVec<bool>, x: &DeviceVec<M>) -> Result<DeviceVec<M>, AlgoError> {
    expect_no_capture([heads.memory(), x.memory()])?;
    check_length("heads", x.len(), heads.len())?;
    Ok(compiled_for(x.device(), |device| groups::scan_of_segments::<M>()?.on(device))?.inclusive((heads, x))?)
}

/// The key and the sum of each run of equal keys. Integers wrap.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one key for each number.
pub fn sums_by_key<K, T>(keys: &DeviceVec<K>, x: &DeviceVec<T>) -> Result<(DeviceVec<K>, DeviceVec<T>), AlgoError>
where
    K: ScanType + PartialEq,
    T: Num,
{
    expect_no_capture([keys.memory(), x.memory()])?;
    check_length("keys", x.len(), keys.len())?;
    Ok(compiled_for(x.device(), |device| groups::scan::<K, T>()?.on(device))?.inclusive((keys, x))?)
}

/// The same into vectors with space for all runs; gives how many there are. Space is used as by
/// [`select_into`](super::select_into).
///
/// # Errors
/// As [`sums_by_key`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn sums_by_key_into<K, T>(
    (keys, x): (&DeviceVec<K>, &DeviceVec<T>),
    firsts: &mut DeviceVec<K>,
    sums: &mut DeviceVec<T>,
) -> Result<usize, AlgoError>
where
    K: ScanType + PartialEq,
    T: Num,
{
    expect_no_capture([keys.memory(), x.memory(), firsts.memory(), sums.memory()])?;
    check_length("keys", x.len(), keys.len())?;
    let scan = compiled_for(x.device(), |device| groups::scan::<K, T>()?.on(device))?;
    expect_space(x.len(), [firsts.len(), sums.len()], || {
        scan.inclusive_into((keys, x), (&mut DeviceVec::beside(x, 0)?, &mut DeviceVec::beside(x, 0)?))
    })?;
    Ok(scan.inclusive_into((keys, x), (firsts, sums))?.wait()?)
}

/// The key and the total of each run of equal keys.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one key for each record.
pub fn totals_by_key<K, M>(keys: &DeviceVec<K>, x: &DeviceVec<M>) -> Result<(DeviceVec<K>, DeviceVec<M>), AlgoError>
where
    K: ScanType + PartialEq,
    M: Monoid,
{
    expect_no_capture([keys.memory(), x.memory()])?;
    check_length("keys", x.len(), keys.len())?;
    Ok(compiled_for(x.device(), |device| groups::scan_of_totals::<K, M>()?.on(device))?.inclusive((keys, x))?)
}

/// The same into vectors with space for all runs; gives how many there are. Space is used as by
/// [`select_into`](super::select_into).
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::totals_by_key_into, ops::Max};
///
/// let gpu = Device::cuda(0)?;
/// let (keys, x) = (DeviceVec::upload(&gpu, &[7, 7, 9])?, DeviceVec::upload(&gpu, &[3, 5, 4].map(Max))?);
/// let (mut firsts, mut totals) = (keys.copied()?, x.copied()?);
/// let runs = totals_by_key_into((&keys, &x), &mut firsts, &mut totals)?;
/// assert_eq!((&firsts.to_vec()?[..runs], &totals.to_vec()?[..runs]), (&[7, 9][..], &[Max(5), Max(4)][..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`totals_by_key`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn totals_by_key_into<K, M>(
    (keys, x): (&DeviceVec<K>, &DeviceVec<M>),
    firsts: &mut DeviceVec<K>,
    totals: &mut DeviceVec<M>,
) -> Result<usize, AlgoError>
where
    K: ScanType + PartialEq,
    M: Monoid,
{
    expect_no_capture([keys.memory(), x.memory(), firsts.memory(), totals.memory()])?;
    check_length("keys", x.len(), keys.len())?;
    let scan = compiled_for(x.device(), |device| groups::scan_of_totals::<K, M>()?.on(device))?;
    expect_space(x.len(), [firsts.len(), totals.len()], || {
        scan.inclusive_into((keys, x), (&mut DeviceVec::beside(x, 0)?, &mut DeviceVec::beside(x, 0)?))
    })?;
    Ok(scan.inclusive_into((keys, x), (firsts, totals))?.wait()?)
}

/// The key, and count, mean and variance of each run of equal keys: [`Moments`], which do not cancel where means are large. Reads keys
/// and numbers once. How means are rounded depends on how the device parts the records.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one key for each number.
pub fn moments_by_key<K, T>(
    keys: &DeviceVec<K>,
    x: &DeviceVec<T>,
) -> Result<(DeviceVec<K>, DeviceVec<Moments<T>>), AlgoError>
where
    K: ScanType + PartialEq,
    T: Real,
{
    expect_no_capture([keys.memory(), x.memory()])?;
    check_length("keys", x.len(), keys.len())?;
    Ok(compiled_for(x.device(), |device| groups::scan_of_moments::<K, T>()?.on(device))?.inclusive((keys, x))?)
}

#[scan_fn]
fn wrong(len: u32, e: Element<u32>) -> Min<u32> {
    let begins_right = if e.first { e.record == 0 } else { e.prev <= e.record };
    let ends_right = !e.last || e.record == len;
    Min(if begins_right && ends_right { u32::MAX } else { e.index as u32 })
}

type WrongOffsets = Scan<Min<u32>, (u32,), Min<u32>>;

/// The scan of offsets for the first that is wrong, whose parameter is where the last one should be.
pub(super) fn wrong_offsets() -> Result<&'static WrongOffsets, Error> {
    compiled(|| Scan::<Min<u32>>::builder().lift_at_with(0, wrong {}).build())
}

/// Refuses more offsets than kernels count: their steps of 256 would pass 2³².
fn few(offsets: &DeviceVec<u32>) -> Result<(), AlgoError> {
    let (len, limit) = (offsets.len(), 1 << 31);
    if (len as u64) < limit { Ok(()) } else { Err(AlgoError::TooLong { len, limit }) }
}

/// Refuses offsets that do not rise from 0 to `len`. Waits for the device.
fn check_device_offsets(offsets: &DeviceVec<u32>, len: usize) -> Result<(), AlgoError> {
    let end = counted(len)?;
    few(offsets)?;
    let scan = compiled_for(offsets.device(), |device| wrong_offsets()?.on(device))?;
    if offsets.is_empty() || scan.with(end)?.reduce(offsets)?.0 != u32::MAX {
        let offsets: Vec<usize> = offsets.to_vec()?.into_iter().map(|offset| offset as usize).collect();
        monoscan_runtime::check_offsets(&offsets, len)?;
    }
    Ok(())
}

/// The total of the records `offsets[k]..offsets[k + 1]` for each k; the identity of none. Reads the offsets before.
///
/// # Errors
/// [`Error::Offsets`](crate::Error::Offsets) and [`TooFewOffsets`](crate::Error::TooFewOffsets) if they do not rise from 0 to the number of records; [`AlgoError::TooLong`].
pub fn totals_by_offsets<M: Monoid>(offsets: &DeviceVec<u32>, x: &DeviceVec<M>) -> Result<DeviceVec<M>, AlgoError> {
    few(offsets)?;
    let mut totals = DeviceVec::beside(x, offsets.len().saturating_sub(1))?;
    totals_by_offsets_into(offsets, x, &mut totals)?;
    Ok(totals)
}

/// The same into a vector with space for each.
///
/// # Errors
/// As [`totals_by_offsets`]; also if `totals` has another length.
pub fn totals_by_offsets_into<M: Monoid>(
    offsets: &DeviceVec<u32>,
    x: &DeviceVec<M>,
    totals: &mut DeviceVec<M>,
) -> Result<(), AlgoError> {
    expect_no_capture([offsets.memory(), x.memory(), totals.memory()])?;
    check_device_offsets(offsets, x.len())?;
    check_length("totals", offsets.len() - 1, totals.len())?;
    let of = compiled_for(x.device(), |device| {
        Totals::new(cuda(&device)?, Scan::<M>::new()?.as_dyn().program(), None, &layout_of::<M>())
    })?;
    // SAFETY: these offsets were checked.
    let submitted =
        unsafe { of.submit((&[x.memory()], None), (offsets.memory(), offsets.len()), x.len(), totals.memory_mut()) };
    Ok(submitted?)
}

/// The device as one of CUDA's.
fn cuda(device: &Device) -> Result<&monoscan_runtime::cuda::Device, Error> {
    device.as_cuda().ok_or_else(|| DeviceError::NoCompiler { device: *device }.into())
}

/// A sparse matrix in the memory of a device, row by row. What [`sparse::Csr`](crate::algo::sparse::Csr) is for slices.
///
/// A product looks up the element of x for each value and sums the products up, in one pass, whose blocks take as many values
/// each. For values of b bytes, b + 4 bytes are read for each, and a sector of the second-level cache.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::Csr};
///
/// // 1 0 2
/// // 0 0 0
/// // 0 3 0
/// let gpu = Device::cuda(0)?;
/// let (offsets, columns) = (DeviceVec::upload(&gpu, &[0, 2, 2, 3])?, DeviceVec::upload(&gpu, &[0, 2, 1])?);
/// let values = DeviceVec::upload(&gpu, &[1.0, 2.0, 3.0])?;
/// let matrix = Csr::new(&offsets, &columns, &values, 3)?;
/// let x = DeviceVec::upload(&gpu, &[10.0, 20.0, 30.0])?;
/// assert_eq!(matrix.times(&x)?.to_vec()?, [70.0, 0.0, 60.0]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Debug)]
pub struct Csr<'a, T> {
    offsets: &'a DeviceVec<u32>,
    columns: &'a DeviceVec<u32>,
    values: &'a DeviceVec<T>,
    width: usize,
}

impl<'a, T: Num> Csr<'a, T> {
    /// The matrix with these parts and so many columns. Reads offsets and columns once, and waits for that.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one column for each value; [`Error::Offsets`](crate::Error::Offsets) and [`TooFewOffsets`](crate::Error::TooFewOffsets) if offsets do not rise from 0 to
    /// the number of values; [`AlgoError::Index`] if a column is not below `width`; [`AlgoError::TooLong`].
    pub fn new(
        offsets: &'a DeviceVec<u32>,
        columns: &'a DeviceVec<u32>,
        values: &'a DeviceVec<T>,
        width: usize,
    ) -> Result<Csr<'a, T>, AlgoError> {
        expect_no_capture([offsets.memory(), columns.memory(), values.memory()])?;
        check_length("columns", values.len(), columns.len())?;
        check_device_offsets(offsets, values.len())?;
        let greatest = compiled_for(values.device(), |device| Scan::<Max<u32>>::plain()?.on(device))?;
        if !columns.is_empty() && greatest.reduce(columns)?.0 as usize >= width {
            let columns = columns.to_vec()?;
            let place = columns.iter().position(|&column| column as usize >= width).unwrap_or_default();
            let got = columns[place] as usize;
            return Err(AlgoError::Index { argument: "columns", place, expected: width, got });
        }
        Ok(Csr { offsets, columns, values, width })
    }

    /// How many rows.
    pub fn height(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The product with a vector. Integers wrap.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if `x` is not as long as the matrix is wide.
    pub fn times(&self, x: &DeviceVec<T>) -> Result<DeviceVec<T>, AlgoError> {
        check_length("x", self.width, x.len())?;
        let mut y = DeviceVec::beside(x, self.height())?;
        self.times_into(x, &mut y)?;
        Ok(y)
    }

    /// The product with a vector, into one with an element for each row. Does not wait for the device.
    ///
    /// # Errors
    /// As [`times`](Csr::times); also if `y` is not as long as the matrix is high.
    pub fn times_into(&self, x: &DeviceVec<T>, y: &mut DeviceVec<T>) -> Result<(), AlgoError> {
        check_length("x", self.width, x.len())?;
        check_length("y", self.height(), y.len())?;
        let products = compiled_for(x.device(), |device| {
            let products = Scan::<Sum<T>>::builder()
                .lift(scan!(|value: T, x: T| -> Sum<T> { Sum(value * x) }))
                .project(scan!(|sum: Sum<T>| -> T { sum.0 }))
                .build()?;
            Totals::new(cuda(&device)?, products.as_dyn().program(), Some(1), &layout_of::<T>())
        })?;
        let columns = (&[self.values.memory(), x.memory()][..], Some(self.columns.memory()));
        // SAFETY: offsets and columns were checked when the matrix was made, and have been borrowed since.
        let submitted = unsafe {
            products.submit(columns, (self.offsets.memory(), self.offsets.len()), self.values.len(), y.memory_mut())
        };
        Ok(submitted?)
    }
}

/// Each value that is there, and for one that is not the last one before it that is; `before` where there is none.
///
/// # Errors
/// [`AlgoError::Length`] if `is_there` does not say of each value whether it is there.
pub fn forward_fill<T: ScanType>(
    x: &DeviceVec<T>,
    is_there: &DeviceVec<bool>,
    before: T,
) -> Result<DeviceVec<T>, AlgoError> {
    expect_no_capture([x.memory(), is_there.memory()])?;
    check_length("is_there", x.len(), is_there.len())?;
    let scan = compiled_for(x.device(), |device| series::fill::<T>()?.on(device))?;
    Ok(scan.init(series::latest(before)).inclusive((x, is_there))?)
}

/// Each value that is there, and for one that is not the next one after it that is; `after` where there is none.
///
/// # Errors
/// As [`forward_fill`].
pub fn backward_fill<T: ScanType>(
    x: &DeviceVec<T>,
    is_there: &DeviceVec<bool>,
    after: T,
) -> Result<DeviceVec<T>, AlgoError> {
    expect_no_capture([x.memory(), is_there.memory()])?;
    check_length("is_there", x.len(), is_there.len())?;
    let scan = compiled_for(x.device(), |device| series::fill::<T>()?.on(device))?;
    Ok(scan.init(series::latest(after)).reversed().inclusive((x, is_there))?)
}

/// The number of the session, from 0, that each event is in: one begins after a pause that is longer than `gap`.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn sessions<T: Num>(times: &DeviceVec<T>, gap: T) -> Result<DeviceVec<u32>, AlgoError> {
    expect_no_capture([times.memory()])?;
    counted(times.len())?;
    let scan = compiled_for(times.device(), |device| series::pauses_counted::<T>()?.on(device))?;
    Ok(scan.with(gap)?.inclusive(times)?)
}

/// Which points can be seen from point 0, where points are equally far apart and have these altitudes. Waits for the first one.
///
/// # Errors
/// Those of all functions here.
pub fn line_of_sight<T: Real>(altitudes: &DeviceVec<T>) -> Result<DeviceVec<bool>, AlgoError> {
    expect_no_capture([altitudes.memory()])?;
    if altitudes.is_empty() {
        return Ok(DeviceVec::beside(altitudes, 0)?);
    }
    let mut eye = T::ZERO;
    // SAFETY: there is a first record, and space for it.
    unsafe { altitudes.memory().download((&raw mut eye).cast(), size_of::<T>()) }?;
    let scan = compiled_for(altitudes.device(), |device| series::steepest::<T>()?.on(device))?;
    Ok(scan.with(eye)?.inclusive(altitudes)?)
}

/// Where the greatest value so far stands; of equal ones the first. NaN is skipped, and before all values is `u32::MAX`.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn running_argmax<T: Num>(x: &DeviceVec<T>) -> Result<DeviceVec<u32>, AlgoError> {
    expect_no_capture([x.memory()])?;
    counted(x.len())?;
    Ok(compiled_for(x.device(), |device| series::greatest::<T>()?.on(device))?.inclusive(x)?)
}
