//! Segments, as a scan is told them: flags at their heads, offsets, or keys.

use std::borrow::Cow;

use monoscan_runtime::{Argument, Bits, Column, Combination, DeviceMemory, Error, ExpectedOffset, Shape};

use super::device::DeviceVec;

/// Says where segments begin, for [`segmented`](crate::Scan::segmented).
///
/// - A slice of `bool`, one for each record: true at the first record of a segment. Record 0 is one with or without.
/// - A slice of `usize`, `u32` or `u64`, one more than there are segments: segment k has the records
///   `offsets[k]..offsets[k+1]`, which may be none. The first is 0, the last the number of records. `usize` is taken as
///   it is, the others are converted first.
/// - [`Bits`], one for each record, as flags.
/// - For columns on a device, a [`DeviceVec`] beside them: of `bool`, or of `u32` or `u64` for offsets, where nobody looks at
///   these before they are used: what is no offset of a record is ignored.
/// - [`by_key`], where keys say it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where segments begin",
    label = "expected flags or offsets",
    note = "flags, one for each record: `&[bool]`; offsets, one more than there are segments: `&[usize]`, `&[u32]` or `&[u64]`; also a `&Vec` or `&[_; N]` of these"
)]
pub trait Segments<'a>: sealed::Segments<'a> {}

impl<'a, S: sealed::Segments<'a>> Segments<'a> for S {}

/// Where segments begin.
#[derive(Clone, Debug)]
pub enum Boundaries<'a> {
    /// By flags.
    Heads(&'a [bool]),
    /// By bits.
    Bits(Bits<'a>),
    /// By flags on a device.
    FlagColumn(Column<'a>, &'a DeviceMemory),
    /// By keys on a device.
    KeyColumn(Column<'a>, &'a DeviceMemory),
    /// By offsets on a device.
    OffsetColumn(Column<'a>, &'a DeviceMemory),
    /// By offsets.
    Offsets(Cow<'a, [usize]>),
    /// By keys, as the offsets of what they cut.
    Keys(Vec<usize>),
}

impl<'a> Boundaries<'a> {
    pub(super) fn shape(&self) -> Shape<'_> {
        match self {
            Boundaries::Heads(flags) => Shape::Heads(flags),
            Boundaries::Bits(bits) => Shape::HeadBits(*bits),
            Boundaries::FlagColumn(flags, _) => Shape::FlagColumn(flags),
            Boundaries::KeyColumn(keys, _) => Shape::KeyColumn(keys),
            Boundaries::OffsetColumn(offsets, _) => Shape::OffsetColumn(offsets),
            Boundaries::Offsets(offsets) => Shape::Offsets(offsets),
            Boundaries::Keys(offsets) => Shape::Offsets(offsets),
        }
    }

    /// Offsets in the memory of the host.
    pub(super) fn offsets(&self) -> Option<&[usize]> {
        match self.shape() {
            Shape::Offsets(offsets) => Some(offsets),
            _ => None,
        }
    }

    /// Offsets; those of flags if there are no more segments than one for so many records.
    pub(super) fn as_offsets(&self, records: usize) -> Option<Cow<'_, [usize]>> {
        match *self {
            Boundaries::Heads(flags) => offsets_of(flags, records).map(Cow::Owned),
            _ => self.offsets().map(Cow::Borrowed),
        }
    }

    /// An error of a scan by these, in terms of what the caller gave: offsets of keys are wrong only where there are more or
    /// fewer keys than records.
    pub(super) fn in_callers_terms(&self, error: Error) -> Error {
        let Boundaries::Keys(offsets) = self else { return error };
        let got = offsets.last().copied().unwrap_or(0);
        let length = |records| Error::Length { argument: Argument::Keys, expected: records, got };
        match error {
            Error::TooFewOffsets { records }
            | Error::Offsets {
                expected: ExpectedOffset::Last { records } | ExpectedOffset::AtMost { records }, ..
            } => length(records),
            Error::Combination(Combination::ResumedOffsets { .. }) => Combination::ResumedKeys.into(),
            error => error,
        }
    }

    /// The memory of a device that they are in.
    #[cfg(feature = "cuda")]
    pub(super) fn memory(&self) -> Option<&'a DeviceMemory> {
        match self {
            Boundaries::FlagColumn(_, memory)
            | Boundaries::KeyColumn(_, memory)
            | Boundaries::OffsetColumn(_, memory) => Some(memory),
            Boundaries::Heads(_) | Boundaries::Bits(_) | Boundaries::Offsets(_) | Boundaries::Keys(_) => None,
        }
    }
}

/// Flags that are looked at together: of segments of many records most of these have none.
const TOGETHER: usize = 32;

/// The offsets of the segments that begin at these flags, if there are no more than one for so many records.
fn offsets_of(flags: &[bool], records: usize) -> Option<Vec<usize>> {
    let most = flags.len() / records + 1;
    let mut offsets = vec![0];
    for (first, together) in (0..).step_by(TOGETHER).zip(flags.chunks(TOGETHER)) {
        if together.iter().fold(false, |any, &head| any | head) {
            // Without a branch for each.
            let (mut heads, mut count) = ([0; TOGETHER], 0);
            for (place, &head) in (first..).zip(together) {
                heads[count] = place;
                count += usize::from(head && place > 0);
            }
            offsets.extend_from_slice(&heads[..count]);
            if offsets.len() > most {
                return None;
            }
        }
    }
    offsets.push(flags.len());
    Some(offsets)
}

/// Segments of equal keys: one begins wherever a key differs from the one before, for
/// [`segmented`](crate::Scan::segmented).
///
/// The keys of a slice are compared once beforehand, and become offsets: one word for each segment. So
/// [`totals`](crate::Request::totals) gives one total for each. Those of a [`DeviceVec`], of any scan type, are compared on
/// the device by each call, in its stream, and become flags: a byte for each record. Keys that come back later begin a segment of their own: sort
/// first where that is not meant. Of floats NaN differs from itself.
/// A stream is not resumed by keys: flag heads.
///
/// ```
/// use monoscan::{by_key, ops::Sum, prelude::*};
///
/// let sums = Scan::<Sum<u32>>::new()?;
/// let (ids, amounts) = (["a", "a", "b", "c", "c"], [1, 2, 3, 4, 5].map(Sum));
/// assert_eq!(sums.segmented(by_key(&ids)).inclusive(&amounts)?, [1, 3, 3, 4, 9].map(Sum));
/// assert_eq!(sums.segmented(by_key(&ids)).totals(&amounts)?, [3, 3, 9].map(Sum));
/// # Ok::<(), monoscan::Error>(())
/// ```
pub fn by_key<'a>(keys: impl Keys<'a>) -> ByKey<'a> {
    ByKey { boundaries: keys.boundaries() }
}

/// A column of keys for [`by_key`], whose runs of equal keys are segments: a slice, or a [`DeviceVec`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no column of keys",
    label = "expected `&[K]`, `&Vec<K>`, `&[K; N]` or `&DeviceVec<K>`"
)]
pub trait Keys<'a>: sealed::Keys<'a> {}

impl<'a, K: sealed::Keys<'a>> Keys<'a> for K {}

/// Segments of equal keys, as [`by_key`] makes them.
#[derive(Clone, Debug)]
pub struct ByKey<'a> {
    boundaries: Boundaries<'a>,
}

/// Keys that are looked at together.
const CHUNK: usize = 64;

mod sealed {
    use super::CHUNK;
    use super::{Bits, Boundaries, Cow, DeviceVec};
    use crate::lang::ScanType;

    pub trait Keys<'a> {
        fn boundaries(self) -> Boundaries<'a>;
    }

    impl<'a, K: PartialEq> Keys<'a> for &'a [K] {
        fn boundaries(self) -> Boundaries<'a> {
            // Those of a short column are not moved as they grow.
            let mut offsets = Vec::with_capacity(self.len().min(CHUNK) + 1);
            offsets.push(0);
            for first in (1..self.len()).step_by(CHUNK) {
                let end = self.len().min(first + CHUNK);
                let (before, keys) = (&self[first - 1..end - 1], &self[first..end]);
                let mut differ = [0; CHUNK];
                let pairs = differ.iter_mut().zip(before.iter().zip(keys));
                pairs.for_each(|(differs, (before, key))| *differs = u8::from(before != key));
                // Eight keys at a time: most are equal.
                let (words, _) = differ.as_chunks::<8>();
                for (place, word) in (first..).step_by(8).zip(words) {
                    let mut word = u64::from_le_bytes(*word);
                    while word != 0 {
                        offsets.push(place + word.trailing_zeros() as usize / 8);
                        word &= word - 1;
                    }
                }
            }
            offsets.extend((!self.is_empty()).then_some(self.len()));
            Boundaries::Keys(offsets)
        }
    }

    impl<'a, K: PartialEq> Keys<'a> for &'a Vec<K> {
        fn boundaries(self) -> Boundaries<'a> {
            self.as_slice().boundaries()
        }
    }

    impl<'a, K: PartialEq, const N: usize> Keys<'a> for &'a [K; N] {
        fn boundaries(self) -> Boundaries<'a> {
            self.as_slice().boundaries()
        }
    }

    impl<'a, K: ScanType> Keys<'a> for &'a DeviceVec<K> {
        fn boundaries(self) -> Boundaries<'a> {
            let (keys, memory) = self.column();
            Boundaries::KeyColumn(keys, memory)
        }
    }

    pub trait Segments<'a> {
        fn boundaries(self) -> Boundaries<'a>;
    }

    /// A flag or an offset.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is neither a flag nor an offset",
        label = "expected `bool` flags, or offsets of `usize`, `u32` or `u64`"
    )]
    pub trait Mark: Sized {
        fn boundaries(marks: &[Self]) -> Boundaries<'_>;
    }

    impl Mark for bool {
        fn boundaries(marks: &[bool]) -> Boundaries<'_> {
            Boundaries::Heads(marks)
        }
    }

    impl Mark for usize {
        fn boundaries(marks: &[usize]) -> Boundaries<'_> {
            Boundaries::Offsets(Cow::Borrowed(marks))
        }
    }

    impl Mark for u32 {
        fn boundaries(marks: &[u32]) -> Boundaries<'_> {
            Boundaries::Offsets(marks.iter().map(|&mark| usize::try_from(mark).unwrap_or(usize::MAX)).collect())
        }
    }

    impl Mark for u64 {
        fn boundaries(marks: &[u64]) -> Boundaries<'_> {
            Boundaries::Offsets(marks.iter().map(|&mark| usize::try_from(mark).unwrap_or(usize::MAX)).collect())
        }
    }

    impl<'a> Segments<'a> for super::ByKey<'a> {
        fn boundaries(self) -> Boundaries<'a> {
            self.boundaries
        }
    }

    impl<'a, T: Mark> Segments<'a> for &'a [T] {
        fn boundaries(self) -> Boundaries<'a> {
            T::boundaries(self)
        }
    }

    impl<'a, T: Mark> Segments<'a> for &'a Vec<T> {
        fn boundaries(self) -> Boundaries<'a> {
            T::boundaries(self)
        }
    }

    impl<'a, T: Mark, const N: usize> Segments<'a> for &'a [T; N] {
        fn boundaries(self) -> Boundaries<'a> {
            T::boundaries(self)
        }
    }

    impl<'a> Segments<'a> for Bits<'a> {
        fn boundaries(self) -> Boundaries<'a> {
            Boundaries::Bits(self)
        }
    }

    impl<'a> Segments<'a> for &'a DeviceVec<bool> {
        fn boundaries(self) -> Boundaries<'a> {
            let (flags, memory) = self.column();
            Boundaries::FlagColumn(flags, memory)
        }
    }

    impl<'a> Segments<'a> for &'a DeviceVec<u32> {
        fn boundaries(self) -> Boundaries<'a> {
            let (offsets, memory) = self.column();
            Boundaries::OffsetColumn(offsets, memory)
        }
    }

    impl<'a> Segments<'a> for &'a DeviceVec<u64> {
        fn boundaries(self) -> Boundaries<'a> {
            let (offsets, memory) = self.column();
            Boundaries::OffsetColumn(offsets, memory)
        }
    }
}
