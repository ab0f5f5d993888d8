//! Keeping some records: the scans of [`select`](crate::algo::select) and [`runs`].

use super::expect_no_capture;
use crate::algo::{AlgoError, check_length, compiled_for, counted, runs};
use crate::prelude::*;
use crate::scan::DeviceVec;

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
