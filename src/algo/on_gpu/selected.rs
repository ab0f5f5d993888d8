//! Keeping some records: the scans of [`select`](crate::algo::select) and [`runs`].
//!
//! Each is one scan with a filter. A block counts what it keeps, learns from the blocks before
//! where that goes, and writes it: one pass, after Merrill and Garland, *Single-pass Parallel
//! Prefix Scan with Decoupled Look-back* (NVIDIA, 2016). The rank of a record is the exclusive sum
//! of the flags, Blelloch 1990, §1.3. Run lengths differ from those of a CPU: the last record of a
//! run knows where the run before ended, the maximum of such ends, so nothing is made of places
//! afterwards.
//!
//! ```text
//! monoid   sums of the flags (the engine's); run lengths: Max<u64>, the last end of a run
//! program  x ↦ nothing, or the end of a run; writes x, its place, or how far the last end is
//! cost     work n, depth 1 scan, 1 pass; with less space than for all records one more, that counts
//! bytes    of records of b bytes: b read, and b written of each that is kept; a flag 1 read; a place
//!          or a length 4 written
//! ```

use super::{expect_no_capture, expect_space};
use crate::algo::{AlgoError, check_length, compiled_for, counted, runs};
use crate::ops::Sum;
use crate::prelude::*;
use crate::scan::{DeviceVec, Unzipped};

/// The records whose flags are set, in order.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one flag for each record.
pub fn select<T: ScanType>(x: &DeviceVec<T>, flags: &DeviceVec<bool>) -> Result<DeviceVec<T>, AlgoError> {
    expect_no_capture([x.memory(), flags.memory()])?;
    check_length("flags", x.len(), flags.len())?;
    let scan = compiled_for(x.device(), |device| crate::algo::select::scan::<T>()?.on(device))?;
    Ok(scan.inclusive((flags, x))?)
}

/// The same into a vector with space for those that are kept; gives how many that were. With space for all records the input is
/// read once, else it is read twice: they are counted first.
///
/// # Errors
/// As [`select`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn select_into<T: ScanType>(
    x: &DeviceVec<T>,
    flags: &DeviceVec<bool>,
    kept: &mut DeviceVec<T>,
) -> Result<usize, AlgoError> {
    expect_no_capture([x.memory(), flags.memory(), kept.memory()])?;
    check_length("flags", x.len(), flags.len())?;
    let scan = compiled_for(x.device(), |device| crate::algo::select::scan::<T>()?.on(device))?;
    expect_space(x.len(), [kept.len()], || scan.inclusive_into((flags, x), &mut DeviceVec::beside(x, 0)?))?;
    Ok(scan.inclusive_into((flags, x), kept)?.wait()?)
}

/// The records whose flags are set, and their places. Reads both columns once, and writes two of what is kept.
///
/// # Errors
/// As [`select`]; [`AlgoError::TooLong`].
pub fn select_with_places<T: ScanType>(
    x: &DeviceVec<T>,
    flags: &DeviceVec<bool>,
) -> Result<(DeviceVec<T>, DeviceVec<u32>), AlgoError> {
    expect_no_capture([x.memory(), flags.memory()])?;
    check_length("flags", x.len(), flags.len())?;
    counted(x.len())?;
    let scan = compiled_for(x.device(), |device| crate::algo::select::scan_with_places::<T>()?.on(device))?;
    Ok(scan.inclusive((flags, x))?)
}

/// The places of the flags that are set.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn places(flags: &DeviceVec<bool>) -> Result<DeviceVec<u32>, AlgoError> {
    expect_no_capture([flags.memory()])?;
    counted(flags.len())?;
    let scan = compiled_for(flags.device(), |device| crate::algo::select::scan_of_places()?.on(device))?;
    Ok(scan.inclusive(flags)?)
}

/// [`select()`] by a predicate, whose kernels are compiled once: what [`select::Select::on`] gives.
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::select::Select, prelude::*};
///
/// let gpu = Device::cuda(0)?;
/// let large = Select::by(scan!(|x: u32| -> bool { x > 10 }))?.on(gpu)?;
/// let (kept, places) = large.select_with_places(&DeviceVec::upload(&gpu, &[5, 20, 7, 30])?)?;
/// assert_eq!((kept.to_vec()?, places.to_vec()?), (vec![20, 30], vec![1, 3]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// [`select::Select::on`]: crate::algo::select::Select::on
#[derive(Clone, Debug)]
pub struct Select<T> {
    pub(in crate::algo) records: Scan<Sum<u32>, (T,), T>,
    pub(in crate::algo) with_places: Scan<Sum<u32>, (T,), Unzipped<(T, u32)>>,
}

impl<T: ScanType> Select<T> {
    /// The records that are kept, in order. Reads each once.
    ///
    /// # Errors
    /// Those of all functions here; [`Error::Device`](crate::Error::Device) if `x` is on another device.
    pub fn select(&self, x: &DeviceVec<T>) -> Result<DeviceVec<T>, AlgoError> {
        expect_no_capture([x.memory()])?;
        Ok(self.records.inclusive(x)?)
    }

    /// The same into a vector with space for those that are kept; gives how many that were. Space is used as by
    /// [`on_gpu::select_into`](select_into).
    ///
    /// # Errors
    /// As [`select`](Select::select); [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is
    /// written.
    pub fn select_into(&self, x: &DeviceVec<T>, kept: &mut DeviceVec<T>) -> Result<usize, AlgoError> {
        expect_no_capture([x.memory(), kept.memory()])?;
        expect_space(x.len(), [kept.len()], || self.records.inclusive_into(x, &mut DeviceVec::beside(x, 0)?))?;
        Ok(self.records.inclusive_into(x, kept)?.wait()?)
    }

    /// The records that are kept, and their places.
    ///
    /// # Errors
    /// As [`select`](Select::select); [`AlgoError::TooLong`].
    pub fn select_with_places(&self, x: &DeviceVec<T>) -> Result<(DeviceVec<T>, DeviceVec<u32>), AlgoError> {
        expect_no_capture([x.memory()])?;
        counted(x.len())?;
        Ok(self.with_places.inclusive(x)?)
    }
}

/// The value of each run of equal records, and how long it is. The value is the last record of the run, where for slices it is the
/// first: equal records may differ, as 0 and −0 do.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn encode<T>(x: &DeviceVec<T>) -> Result<(DeviceVec<T>, DeviceVec<u32>), AlgoError>
where
    T: ScanType + PartialEq,
{
    expect_no_capture([x.memory()])?;
    counted(x.len())?;
    Ok(compiled_for(x.device(), |device| runs::scan_of_lengths::<T>()?.on(device))?.inclusive(x)?)
}

/// The same into vectors with space for all runs; gives how many there are. Space is used as by [`select_into`].
///
/// # Errors
/// As [`encode`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn encode_into<T>(
    x: &DeviceVec<T>,
    values: &mut DeviceVec<T>,
    lengths: &mut DeviceVec<u32>,
) -> Result<usize, AlgoError>
where
    T: ScanType + PartialEq,
{
    expect_no_capture([x.memory(), values.memory(), lengths.memory()])?;
    counted(x.len())?;
    let scan = compiled_for(x.device(), |device| runs::scan_of_lengths::<T>()?.on(device))?;
    expect_space(x.len(), [values.len(), lengths.len()], || {
        scan.inclusive_into(x, (&mut DeviceVec::beside(x, 0)?, &mut DeviceVec::beside(x, 0)?))
    })?;
    Ok(scan.inclusive_into(x, (values, lengths))?.wait()?)
}

/// The first of each run of equal records.
///
/// # Errors
/// Those of all functions here.
pub fn unique<T: ScanType + PartialEq>(x: &DeviceVec<T>) -> Result<DeviceVec<T>, AlgoError> {
    expect_no_capture([x.memory()])?;
    Ok(compiled_for(x.device(), |device| runs::scan_of_firsts::<T>()?.on(device))?.inclusive(x)?)
}

/// The same into a vector with space for all; gives how many there are. Space is used as by [`select_into`].
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::unique_into};
///
/// let x = DeviceVec::upload(&Device::cuda(0)?, &[1, 1, 2, 1, 1])?;
/// let mut firsts = x.copied()?;
/// let runs = unique_into(&x, &mut firsts)?;
/// assert_eq!(firsts.to_vec()?[..runs], [1, 2, 1]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn unique_into<T: ScanType + PartialEq>(x: &DeviceVec<T>, firsts: &mut DeviceVec<T>) -> Result<usize, AlgoError> {
    expect_no_capture([x.memory(), firsts.memory()])?;
    let scan = compiled_for(x.device(), |device| runs::scan_of_firsts::<T>()?.on(device))?;
    expect_space(x.len(), [firsts.len()], || scan.inclusive_into(x, &mut DeviceVec::beside(x, 0)?))?;
    Ok(scan.inclusive_into(x, firsts)?.wait()?)
}

/// The first key and the first value of each run of equal keys. Reads both columns once, and writes two of what is kept.
///
/// # Errors
/// [`AlgoError::Length`] if there is not one value for each key.
pub fn unique_by_key<K, V>(
    keys: &DeviceVec<K>,
    values: &DeviceVec<V>,
) -> Result<(DeviceVec<K>, DeviceVec<V>), AlgoError>
where
    K: ScanType + PartialEq,
    V: ScanType,
{
    expect_no_capture([keys.memory(), values.memory()])?;
    check_length("values", keys.len(), values.len())?;
    let scan = compiled_for(keys.device(), |device| runs::scan_of_first_pairs::<K, V>()?.on(device))?;
    Ok(scan.inclusive((keys, values))?)
}

/// The same into vectors with space for all runs; gives how many there are. Space is used as by [`select_into`].
///
/// ```no_run
/// use monoscan::{Device, DeviceVec, algo::on_gpu::unique_by_key_into};
///
/// let gpu = Device::cuda(0)?;
/// let (keys, values) = (DeviceVec::upload(&gpu, &[1, 1, 2, 1])?, DeviceVec::upload(&gpu, &[5, 6, 7, 8])?);
/// let (mut first_keys, mut first_values) = (keys.copied()?, values.copied()?);
/// let runs = unique_by_key_into((&keys, &values), &mut first_keys, &mut first_values)?;
/// assert_eq!((&first_keys.to_vec()?[..runs], &first_values.to_vec()?[..runs]), (&[1, 2, 1][..], &[5, 7, 8][..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`unique_by_key`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit, and nothing is written.
pub fn unique_by_key_into<K, V>(
    (keys, values): (&DeviceVec<K>, &DeviceVec<V>),
    first_keys: &mut DeviceVec<K>,
    first_values: &mut DeviceVec<V>,
) -> Result<usize, AlgoError>
where
    K: ScanType + PartialEq,
    V: ScanType,
{
    expect_no_capture([keys.memory(), values.memory(), first_keys.memory(), first_values.memory()])?;
    check_length("values", keys.len(), values.len())?;
    let scan = compiled_for(keys.device(), |device| runs::scan_of_first_pairs::<K, V>()?.on(device))?;
    expect_space(keys.len(), [first_keys.len(), first_values.len()], || {
        scan.inclusive_into((keys, values), (&mut DeviceVec::beside(keys, 0)?, &mut DeviceVec::beside(keys, 0)?))
    })?;
    Ok(scan.inclusive_into((keys, values), (first_keys, first_values))?.wait()?)
}
