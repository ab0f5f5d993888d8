//! Columns whose records do not lie one after the other: at any distance, or as bits.
//!
//! The distance comes with a call, and is no part of the program: a view of every third record, one
//! from the last to the first, one record for all elements, a bitmap of Arrow. Kernels of their own
//! take it ([`Access::Spaced`](monoscan_codegen::cpu::Access)), record by record and never in
//! vectors; calls whose columns are all contiguous are not slowed down. Columns in the memory of a
//! GPU are gathered there first, and scattered after the scan.

use monoscan_codegen::cpu;
use monoscan_ir::{Layout, Program};
use smallvec::SmallVec;

use crate::column::{Column, ColumnMut};

/// How the records of a column lie, if not one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// So many bytes from one record to the next: 0 for the same record, less than 0 for backwards.
    Bytes(isize),
    /// Records of `bool` as bits one after the other, the lowest of a byte first, from this one on.
    Bits {
        /// The bit that is record 0.
        first: usize,
    },
}

/// Bits, the lowest of a byte first: a validity bitmap of Arrow, or flags. An input column of `bool`, or the head flags of
/// segments. Results are not written as bits: threads would share bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) first: usize,
    pub(crate) len: usize,
}

impl<'a> Bits<'a> {
    /// `len` bits from number `first` on, where bit k is bit `k % 8` of byte `k / 8`.
    ///
    /// ```
    /// use monoscan_runtime::Bits;
    /// let bits = Bits::new(&[0b1010_0000, 0b1], 5, 4)?;
    /// assert_eq!((0..4).map(|i| bits.get(i)).collect::<Vec<_>>(), [true, false, true, true]);
    /// # Ok::<(), monoscan_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`SpacingError::FewBits`] if there are not so many.
    pub fn new(bytes: &'a [u8], first: usize, len: usize) -> Result<Bits<'a>, SpacingError> {
        let got = bytes.len().saturating_mul(8);
        match first.checked_add(len).is_some_and(|end| end <= got) {
            true => Ok(Bits { bytes, first, len }),
            false => Err(SpacingError::FewBits { first, len, got }),
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit i of these.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        let bit = self.first + i;
        self.bytes[bit / 8] >> (bit % 8) & 1 != 0
    }

    /// Where they start and how they lie.
    #[doc(hidden)]
    #[inline]
    pub fn raw(&self) -> (*const u8, usize, Spacing) {
        (self.bytes.as_ptr(), self.len, Spacing::Bits { first: self.first })
    }
}

/// Records that are not where a column says, or that share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpacingError {
    /// Some records lie outside of the memory.
    #[error(
        "{len} record(s) from {first} on, each {step} from the one before: expected them within the {got} that there are"
    )]
    Outside {
        /// Where record 0 is: in bytes or in records, as all of these.
        first: usize,
        /// From one record to the next.
        step: isize,
        /// How many records.
        len: usize,
        /// How much memory there is.
        got: usize,
    },
    /// Records that are written share memory.
    #[error(
        "{len} record(s) to be written, each {step} from the one before: expected at least {expected} either way, else they overlap"
    )]
    Overlap {
        /// From one record to the next.
        step: isize,
        /// How many records.
        len: usize,
        /// The size of a record.
        expected: usize,
    },
    /// A step of 0, without a number of records.
    #[error(
        "a step of 0 says nothing of how many records there are: to read one record again and again use `repeated`; records that are written are apart"
    )]
    Endless,
    /// A column in device memory that tells segments, whose records are not one after the other.
    #[error("the {argument} is spaced: expected records one after the other")]
    Segments {
        /// Flags, keys or offsets.
        argument: &'static str,
    },
    /// There are fewer bits.
    #[error("{len} bit(s) from number {first} on: expected them within the {got} that there are")]
    FewBits {
        /// The first bit.
        first: usize,
        /// How many.
        len: usize,
        /// How many there are.
        got: usize,
    },
}

/// Checks that `len` records of `size`, the first at `first`, each `step` from the one before, lie within `got`; all in one unit.
pub(crate) fn check_within(first: usize, step: isize, len: usize, size: usize, got: usize) -> Result<(), SpacingError> {
    let outside = SpacingError::Outside { first, step, len, got };
    let Some(further) = len.checked_sub(1) else { return if first <= got { Ok(()) } else { Err(outside) } };
    let last = isize::try_from(further).ok().and_then(|further| step.checked_mul(further));
    let last = last.and_then(|distance| first.checked_add_signed(distance));
    let fits = |start: usize| start.checked_add(size).is_some_and(|end| end <= got);
    if fits(first) && last.is_some_and(fits) { Ok(()) } else { Err(outside) }
}

/// Checks that `len` records of `size`, each `step` from the one before, share no memory.
pub(crate) fn check_apart(step: isize, len: usize, size: usize) -> Result<(), SpacingError> {
    match len <= 1 || step.unsigned_abs() >= size {
        true => Ok(()),
        false => Err(SpacingError::Overlap { step, len, expected: size }),
    }
}

/// The spacings of all columns, as kernels are told them, if some records are not one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Spacings {
    pub(crate) inputs: SmallVec<[cpu::Spacing; 8]>,
    pub(crate) outputs: SmallVec<[cpu::Spacing; 4]>,
}

impl Spacings {
    /// Of the columns of a call, which may write none; none if all are contiguous.
    #[inline]
    pub(crate) fn of(program: &Program, inputs: &[Column<'_>], outputs: Option<&[ColumnMut<'_>]>) -> Option<Spacings> {
        let is_contiguous = is_contiguous(inputs, outputs);
        (!is_contiguous).then(|| Spacings::of_any(program, inputs, outputs.unwrap_or_default()))
    }

    /// Of any columns.
    pub(crate) fn of_any(program: &Program, inputs: &[Column<'_>], outputs: &[ColumnMut<'_>]) -> Spacings {
        let input = |(column, layout): (&Column<'_>, &Layout)| match column.spacing {
            None => cpu::Spacing::of_input(layout.size as isize, layout),
            Some(Spacing::Bytes(bytes)) => cpu::Spacing::of_input(bytes, layout),
            Some(Spacing::Bits { first }) => cpu::Spacing::of_bits(first),
        };
        let output = |(place, layout): (usize, &Layout)| match outputs.get(place).and_then(|column| column.spacing) {
            Some(Spacing::Bytes(bytes)) => cpu::Spacing::of_output(bytes),
            _ => cpu::Spacing::of_output(layout.size as isize),
        };
        let inputs = inputs.iter().zip(&program.inputs).map(input).collect();
        Spacings { inputs, outputs: program.output.columns.iter().enumerate().map(output).collect() }
    }

    /// As kernels take them: the inputs, then more inputs of these layouts without gaps, and the outputs.
    #[cold]
    pub(crate) fn in_order(&self, more: &[Layout]) -> SmallVec<[cpu::Spacing; 2]> {
        let more = more.iter().map(|layout| cpu::Spacing::of_input(layout.size as isize, layout));
        self.inputs.iter().copied().chain(more).chain(self.outputs.iter().copied()).collect()
    }
}

/// Whether the records of all columns lie one after the other.
pub(crate) fn is_contiguous(inputs: &[Column<'_>], outputs: Option<&[ColumnMut<'_>]>) -> bool {
    let mut written = outputs.unwrap_or_default().iter();
    inputs.iter().all(|column| column.spacing.is_none()) && written.all(|column| column.spacing.is_none())
}

impl Column<'_> {
    /// The same records, spaced so.
    pub(crate) fn spaced(mut self, spacing: Option<Spacing>) -> Self {
        self.spacing = spacing;
        self
    }
}

impl ColumnMut<'_> {
    /// The same records, spaced so.
    #[cfg(feature = "cuda")]
    pub(crate) fn spaced(mut self, spacing: Option<Spacing>) -> Self {
        self.spacing = spacing;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_must_lie_within_the_memory() {
        assert_eq!(check_within(0, 4, 3, 4, 12), Ok(()));
        assert_eq!(check_within(8, -4, 3, 4, 12), Ok(()));
        assert_eq!(check_within(8, 0, 1000, 4, 12), Ok(()));
        assert_eq!(check_within(12, 4, 0, 4, 12), Ok(()));
        let wrong = [(0, 4, 4, 4), (1, 4, 3, 4), (4, -4, 3, 4), (9, 0, 1, 4), (13, 1, 0, 4), (0, isize::MAX, 3, 4)];
        for (first, step, len, size) in wrong {
            assert!(check_within(first, step, len, size, 12).is_err(), "{first} {step} {len}");
        }
        assert!(check_within(usize::MAX, 1, 2, 4, 12).is_err() && check_within(0, 1, usize::MAX, 1, 12).is_err());
    }

    #[test]
    fn records_that_are_written_are_apart() {
        assert!(check_apart(4, 9, 4).is_ok() && check_apart(-4, 9, 4).is_ok() && check_apart(0, 1, 4).is_ok());
        assert!(check_apart(3, 2, 4).is_err() && check_apart(-3, 2, 4).is_err() && check_apart(0, 2, 4).is_err());
    }
}
