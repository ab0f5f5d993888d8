//! Keeping some records, and parting them into classes, in their order.
//!
//! # Select
//!
//! A record that is kept goes to the place that says how many were kept before it: the exclusive
//! sum of the flags, `enumerate` in Blelloch 1990, §1.3. Engines count so for every scan with a
//! filter, and write what is kept in the same pass; the program adds no state of its own.
//!
//! ```text
//! monoid   sums of the flags (the engine's)        flags  1 0 1 1 0 1
//! filter   the flag                                rank   0 1 1 2 3 3
//! cost     work n, depth 1 scan, 1 pass            x      a b c d e f  →  a c d f
//! bytes    of records of b bytes: b + 1 read, and b written of each that is kept
//! ```
//!
//! Places take 4 bytes more of each that is kept, and a predicate none for a flag. A new vector has
//! space for all records at first; with less space they are counted first, in one more pass.
//!
//! # Partition
//!
//! With k classes there are k such sums, and those of class c begin where class c − 1 ends: `split`
//! in Blelloch 1990, §1.3. Blocks of records are counted, the scan adds up the counts of all
//! blocks, class by class, and each block moves its records there.
//!
//! ```text
//! monoid   sums of counts, k a block
//! cost     work 2 n, depth 1 scan of these counts between two loops, 2 passes
//! bytes    2 of flags and b of records read, b written; classes, checked first, are 3, in 3 passes
//! ```

mod parts;

pub use parts::{partition, partition_into, partition3, partition3_into};

use super::{AlgoError, check_length, compiled, counted};
#[cfg(feature = "gpu")]
use crate::Device;
use crate::Error;
use crate::lang::V;
use crate::ops::Sum;
use crate::prelude::*;
use crate::scan::Unzipped;

#[scan_fn]
fn is_flagged<T: ScanType>(e: Element<(bool, T), Sum<u32>>) -> bool {
    e.record.0
}

#[scan_fn]
fn with_place<T: ScanType>(e: Element<(bool, T), Sum<u32>>) -> (T, u32) {
    (e.record.1, e.index as u32)
}

#[scan_fn]
fn is_set(e: Element<bool, Sum<u32>>) -> bool {
    e.record
}

#[scan_fn]
fn place(e: Element<bool, Sum<u32>>) -> u32 {
    e.index as u32
}

/// A scan of flags and records, as [`scan()`] makes it.
pub type ByFlags<T> = Scan<Sum<u32>, (bool, T), T>;

/// The scan of [`select`]: reads columns of flags and records, and writes the records that are flagged.
///
/// # Errors
/// As [`Scan::new`].
pub fn scan<T: ScanType>() -> Result<&'static ByFlags<T>, Error> {
    compiled(|| {
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|_flag: bool, _x: T| -> Sum<u32> { Sum(0) }))
            .filter(is_flagged {})
            .project_with_record(scan!(|_none: Sum<u32>, _flag: bool, x: T| -> T { x }))
            .build()
    })
}

/// The records whose flags are set, in order.
///
/// ```
/// use monoscan::algo::select::select;
/// assert_eq!(select(&[5, 6, 7, 8], &[true, false, false, true])?, [5, 8]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if there is not one flag for each record.
pub fn select<T: ScanType>(x: &[T], flags: &[bool]) -> Result<Vec<T>, AlgoError> {
    check_length("flags", x.len(), flags.len())?;
    Ok(scan::<T>()?.inclusive((flags, x))?)
}

/// [`select`] into a slice with space for all records that are kept; gives how many that were. With space for all records the
/// input is read once, and up to four records behind the last that is kept may be overwritten; else it is read twice.
///
/// # Errors
/// As [`select`]; [`Error::OutputTooShort`] if they do not fit.
pub fn select_into<T: ScanType>(x: &[T], flags: &[bool], kept: &mut [T]) -> Result<usize, AlgoError> {
    check_length("flags", x.len(), flags.len())?;
    Ok(scan::<T>()?.inclusive_into((flags, x), kept)?)
}

/// The records whose flags are set, and their places.
///
/// ```
/// use monoscan::algo::select::select_with_places;
/// let (kept, places) = select_with_places(&[5, 6, 7, 8], &[true, false, false, true])?;
/// assert_eq!((kept, places), (vec![5, 8], vec![0, 3]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`select`]; [`AlgoError::TooLong`].
pub fn select_with_places<T: ScanType>(x: &[T], flags: &[bool]) -> Result<(Vec<T>, Vec<u32>), AlgoError> {
    check_length("flags", x.len(), flags.len())?;
    counted(x.len())?;
    Ok(scan_with_places::<T>()?.inclusive((flags, x))?)
}

/// [`select_with_places`] into slices with space for all records that are kept; gives how many that were. Space is used as by
/// [`select_into`].
///
/// ```
/// use monoscan::algo::select::select_with_places_into;
/// let (mut kept, mut places) = ([0; 4], [0; 4]);
/// let flags = [true, false, false, true];
/// let count = select_with_places_into((&[5, 6, 7, 8], &flags), &mut kept, &mut places)?;
/// assert_eq!((&kept[..count], &places[..count]), (&[5, 8][..], &[0, 3][..]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`select_with_places`]; [`Error::OutputTooShort`] if they do not fit, and nothing is written.
pub fn select_with_places_into<T: ScanType>(
    (x, flags): (&[T], &[bool]),
    kept: &mut [T],
    places: &mut [u32],
) -> Result<usize, AlgoError> {
    check_length("flags", x.len(), flags.len())?;
    counted(x.len())?;
    Ok(scan_with_places::<T>()?.inclusive_into((flags, x), (kept, places))?)
}

/// The scan of [`select_with_places`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub(super) fn scan_with_places<T: ScanType>() -> Result<&'static Scan<Sum<u32>, (bool, T), Unzipped<(T, u32)>>, Error> {
    compiled(|| {
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|_flag: bool, _x: T| -> Sum<u32> { Sum(0) }))
            .filter(is_flagged {})
            .project_at(with_place {})
            .unzip()
            .build()
    })
}

/// The places of the flags that are set.
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn places(flags: &[bool]) -> Result<Vec<u32>, AlgoError> {
    counted(flags.len())?;
    Ok(scan_of_places()?.inclusive(flags)?)
}

/// [`places`] into a slice with space for all of them; gives how many there are. Space is used as by [`select_into`].
///
/// ```
/// use monoscan::algo::select::places_into;
/// let mut places = [0; 4];
/// let count = places_into(&[true, false, false, true], &mut places)?;
/// assert_eq!(places[..count], [0, 3]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`places`]; [`Error::OutputTooShort`] if they do not fit, and nothing is written.
pub fn places_into(flags: &[bool], places: &mut [u32]) -> Result<usize, AlgoError> {
    counted(flags.len())?;
    Ok(scan_of_places()?.inclusive_into(flags, places)?)
}

/// The scan of [`places`].
pub(super) fn scan_of_places() -> Result<&'static Scan<Sum<u32>, (bool,), u32>, Error> {
    compiled(|| {
        Scan::<Sum<u32>>::builder()
            .lift(scan!(|_flag: bool| -> Sum<u32> { Sum(0) }))
            .filter(is_set {})
            .project_at(place {})
            .build()
    })
}

/// [`select`] by a predicate, which is compiled into the scan: build it once.
///
/// ```
/// use monoscan::{algo::select::Select, prelude::*};
///
/// let limit = 10;
/// let large = Select::by(scan!(|x: u32| -> bool { x > limit }))?;
/// assert_eq!(large.select(&[5, 20, 7, 30])?, [20, 30]);
/// assert_eq!(large.select_with_places(&[5, 20, 7, 30])?, (vec![20, 30], vec![1, 3]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Select<T> {
    records: Scan<Sum<u32>, (T,), T>,
    with_places: Scan<Sum<u32>, (T,), Unzipped<(T, u32)>>,
}

impl<T: ScanType> Select<T> {
    /// Keeps the records for which the predicate is true.
    ///
    /// # Errors
    /// As [`Scan::new`].
    pub fn by<P: ScanFn<(T,), Out = bool> + Clone>(predicate: P) -> Result<Select<T>, Error> {
        let counts = || {
            Scan::<Sum<u32>>::builder().lift(scan!(|_x: T| -> Sum<u32> { Sum(0) })).filter(OfRecord(predicate.clone()))
        };
        let records = counts().project_with_record(scan!(|_none: Sum<u32>, x: T| -> T { x })).build()?;
        let with_places = counts()
            .project_at(scan!(|e: Element<T, Sum<u32>>| -> (T, u32) { (e.record, e.index as u32) }))
            .unzip()
            .build()?;
        Ok(Select { records, with_places })
    }

    /// The same on a GPU, for vectors that are there. Compiles its kernels: make it once.
    ///
    /// # Errors
    /// As [`Scan::on`].
    #[cfg(feature = "gpu")]
    pub fn on(&self, device: impl Into<Device>) -> Result<super::on_gpu::Select<T>, Error> {
        let device = device.into();
        Ok(super::on_gpu::Select { records: self.records.on(device)?, with_places: self.with_places.on(device)? })
    }

    /// The scans of [`select`](Select::select) and of [`select_with_places`](Select::select_with_places) as programs.
    #[cfg(feature = "gpu")]
    pub(super) fn programs(&self) -> [monoscan_ir::Verified<monoscan_ir::Program>; 2] {
        [self.records.as_dyn().program().clone(), self.with_places.as_dyn().program().clone()]
    }

    /// The scan: reads a column of records and writes those that are kept.
    pub fn scan(&self) -> &Scan<Sum<u32>, (T,), T> {
        &self.records
    }

    /// The records that are kept, in order.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn select(&self, x: &[T]) -> Result<Vec<T>, AlgoError> {
        Ok(self.records.inclusive(x)?)
    }

    /// [`select`](Select::select) into a slice with space for all records that are kept; gives how many that were. Space is used
    /// as by [`select_into`].
    ///
    /// ```
    /// use monoscan::{algo::select::Select, prelude::*};
    ///
    /// let mut kept = [0; 4];
    /// let large = Select::by(scan!(|x: u32| -> bool { x > 10 }))?;
    /// let count = large.select_into(&[5, 20, 7, 30], &mut kept)?;
    /// assert_eq!(kept[..count], [20, 30]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutputTooShort`] if they do not fit, and nothing is written.
    pub fn select_into(&self, x: &[T], kept: &mut [T]) -> Result<usize, AlgoError> {
        Ok(self.records.inclusive_into(x, kept)?)
    }

    /// The records that are kept, and their places.
    ///
    /// # Errors
    /// [`AlgoError::TooLong`]; [`Error::OutOfMemory`].
    pub fn select_with_places(&self, x: &[T]) -> Result<(Vec<T>, Vec<u32>), AlgoError> {
        counted(x.len())?;
        Ok(self.with_places.inclusive(x)?)
    }

    /// [`select_with_places`](Select::select_with_places) into slices with space for all records that are kept; gives how many
    /// that were. Space is used as by [`select_into`].
    ///
    /// ```
    /// use monoscan::{algo::select::Select, prelude::*};
    ///
    /// let (mut kept, mut places) = ([0; 4], [0; 4]);
    /// let large = Select::by(scan!(|x: u32| -> bool { x > 10 }))?;
    /// let count = large.select_with_places_into(&[5, 20, 7, 30], &mut kept, &mut places)?;
    /// assert_eq!((&kept[..count], &places[..count]), (&[20, 30][..], &[1, 3][..]));
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgoError::TooLong`]; [`Error::OutputTooShort`] if they do not fit, and nothing is written.
    pub fn select_with_places_into(&self, x: &[T], kept: &mut [T], places: &mut [u32]) -> Result<usize, AlgoError> {
        counted(x.len())?;
        Ok(self.with_places.inclusive_into(x, (kept, places))?)
    }
}

/// A predicate of records as one of elements.
#[derive(Clone)]
struct OfRecord<P>(P);

impl<T: ScanType, P: ScanFn<(T,), Out = bool>> ScanFn<(Element<T, Sum<u32>>,)> for OfRecord<P> {
    type Out = bool;

    fn call(&self, (element,): (Element<T, Sum<u32>>,)) -> bool {
        self.0.call((element.record,))
    }

    fn trace(&self, (element,): (V<Element<T, Sum<u32>>>,)) -> V<bool> {
        self.0.trace((element.record,))
    }
}
