//! Keeping some records: the scans of [`select`](crate::algo::select) and [`runs`].

use super::expect_no_capture;
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

/// The same into a vector with space for those that are kept; gives how many that were.
///
/// # Errors
/// As [`select`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit.
pub fn select_into<T: ScanType>(
    x: &DeviceVec<T>,
    flags: &DeviceVec<bool>,
    kept: &mut DeviceVec<T>,
) -> Result<usize, AlgoError> {
    expect_no_capture([x.memory(), flags.memory(), kept.memory()])?;
    check_length("flags", x.len(), flags.len())?;
    let scan = compiled_for(x.device(), |device| crate::algo::select::scan::<T>()?.on(device))?;
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

    /// The same into a vector with space for those that are kept; gives how many that were.
    ///
    /// # Errors
    /// As [`select`](Select::select); [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit.
    pub fn select_into(&self, x: &DeviceVec<T>, kept: &mut DeviceVec<T>) -> Result<usize, AlgoError> {
        expect_no_capture([x.memory(), kept.memory()])?;
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

/// The same into vectors with space for all runs; gives how many there are.
///
/// # Errors
/// As [`encode`]; [`Error::OutputTooShort`](crate::Error::OutputTooShort) if they do not fit.
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
