//! Records parted into classes, in their order.

use crate::algo::split::SHARED;
use crate::algo::{AlgoError, check_length, counted, split};
use crate::parallel;
use crate::prelude::*;

/// The records whose flags are set, then the others, each in their order; and how many are set.
///
/// ```
/// use monoscan::algo::select::partition;
/// assert_eq!(partition(&[5, 6, 7, 8], &[false, true, false, true])?, (vec![6, 8, 5, 7], 2));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there is not one flag for each record; [`AlgoError::TooLong`].
pub fn partition<T: ScanType>(x: &[T], flags: &[bool]) -> Result<(Vec<T>, usize), AlgoError> {
    check_length("flags", x.len(), flags.len())?;
    let (parts, starts) = split::parted(x, 2, move |place, _| !flags[place] as usize)?;
    Ok((parts, starts[1]))
}

/// [`partition`] into a slice, all of one length; gives how many are set.
///
/// ```
/// use monoscan::algo::select::partition_into;
/// let mut parts = [0; 4];
/// assert_eq!(partition_into(&[5, 6, 7, 8], &[false, true, false, true], &mut parts)?, 2);
/// assert_eq!(parts, [6, 8, 5, 7]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; [`AlgoError::TooLong`].
pub fn partition_into<T: ScanType>(x: &[T], flags: &[bool], parts: &mut [T]) -> Result<usize, AlgoError> {
    check_length("flags", x.len(), flags.len())?;
    check_length("parts", x.len(), parts.len())?;
    let starts = split::split(x, parts, 2, move |place, _| !flags[place] as usize)?;
    Ok(starts[1])
}

/// The records of class 0, then those of 1, then those of 2, each in their order; and how many there are of each.
///
/// ```
/// use monoscan::algo::select::partition3;
/// let (parts, counts) = partition3(&[5, 6, 7, 8], &[2, 0, 1, 0])?;
/// assert_eq!((parts, counts), (vec![6, 8, 7, 5], [2, 1, 1]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`partition`]; [`AlgoError::Class`] if a class is above 2.
pub fn partition3<T: ScanType>(x: &[T], classes: &[u8]) -> Result<(Vec<T>, [usize; 3]), AlgoError> {
    check_classes(x, classes)?;
    let (parts, starts) = split::parted(x, 3, move |place, _| classes[place] as usize)?;
    Ok((parts, counts(&starts, x.len())))
}

/// [`partition3`] into a slice, all of one length; gives how many there are of each class.
///
/// ```
/// use monoscan::algo::select::partition3_into;
/// let mut parts = [0; 4];
/// assert_eq!(partition3_into(&[5, 6, 7, 8], &[2, 0, 1, 0], &mut parts)?, [2, 1, 1]);
/// assert_eq!(parts, [6, 8, 7, 5]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`partition3`]; also if `parts` is of another length.
pub fn partition3_into<T: ScanType>(x: &[T], classes: &[u8], parts: &mut [T]) -> Result<[usize; 3], AlgoError> {
    check_length("parts", x.len(), parts.len())?;
    check_classes(x, classes)?;
    let starts = split::split(x, parts, 3, move |place, _| classes[place] as usize)?;
    Ok(counts(&starts, x.len()))
}

/// Refuses records whose classes are not one of three each.
fn check_classes<T>(x: &[T], classes: &[u8]) -> Result<(), AlgoError> {
    check_length("classes", x.len(), classes.len())?;
    counted(x.len())?;
    let wrong = |number: usize, part: &[u8]| {
        // The greatest first: that loop is in vectors.
        let is_wrong = part.iter().fold(0, |greatest, &class| class.max(greatest)) > 2;
        is_wrong.then_some(number * SHARED + part.iter().position(|&class| class > 2)?)
    };
    match parallel::map(classes.chunks(SHARED), wrong).into_iter().flatten().next() {
        Some(record) => Err(AlgoError::Class { record, expected: 3, got: classes[record].into() }),
        None => Ok(()),
    }
}

/// How many records there are of each of three classes that begin here.
fn counts(starts: &[usize], len: usize) -> [usize; 3] {
    [starts[1], starts[2] - starts[1], len - starts[2]]
}
