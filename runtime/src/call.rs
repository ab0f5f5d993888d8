//! Calls: all that a scan is asked for besides its columns. Which outputs, in which direction, from
//! which state, over which shape.
//!
//! The parts are independent, and every combination that is not refused has one meaning. With ⊕ for
//! `combine`, `x[i]` for what the lift makes of record i, and n records:
//!
//! ```text
//! before[i] = start(i)        if i begins a sequence
//!             after[i-1]      else
//! after[i]  = before[i] ⊕ x[i]
//! y[i]      = project(after[i])    inclusive
//!             project(before[i])   exclusive
//! start(i)  = carry       if the call resumes a stream, and i = 0 is not flagged as a head
//!             carry[k]    if the call resumes a stream of rows, and i is in row k
//!             init        else
//!             init[k]     if each sequence has its own start, and i is in the k-th that begins
//! ```
//!
//! - The initial state is the identity unless [`Call::init`] gives another state, or one for each
//!   sequence. Those are in the order of memory: segment k's, row k's (plane by plane). A sequence
//!   that goes on from a carry does not begin in the call, and has none: so flagged segments of a
//!   stream take one for each flag, and rows of a stream none.
//! - Of a program that was derived from a loop, what stands for the loop's initial state
//!   ([`Program::start`](monoscan_ir::Program::start)) is in place of the identity there.
//! - A *sequence* is what is scanned on its own: the whole input ([`Shape::Line`]), a segment
//!   ([`Shape::Heads`], [`Shape::Offsets`]) or a row ([`Shape::Rows`]). Record 0 always begins one.
//! - A reversed call numbers the records of every sequence from its end: in a sequence of records s
//!   to e, `before[e]` is the start, and `after[i] = before[i] ⊕ x[i]` with `before[i] =
//!   after[i+1]`. Outputs stay beside their records, and what a program calls the next record is
//!   the one before it in memory. The operands of ⊕ are in the order of this numbering: `y[s] =
//!   x[e] ⊕ … ⊕ x[s]`.
//! - The index that a program may read counts from 0 in the order of the scan, through a line and
//!   its segments, and in each row anew. The last record of a sequence has no next one.
//! - What a program keeps is written in the order of the scan: from the last record to the first if
//!   it is reversed.
//! - The *total* of a sequence is its last `after`, or the start if the sequence is empty. The
//!   totals of rows are what the next chunk of a stream of rows goes on from, or starts from.
//! - Columns may be longer than the rows of an array need; records that are in no row are not
//!   written.
//! - Records of a column lie one after the other, or as its [`Spacing`](crate::Spacing) says, which
//!   comes with the call: record i is what lies there, and all else is as above.
//! - Refused are: rows of a program that filters, resuming offsets or keys, and resuming a reversed
//!   scan of flagged segments, where the next chunk alone would know whether it goes on with the
//!   segment.
//! - `start ⊕ x` is computed at the first record of every sequence, also where the start is the
//!   identity e. Floats show it: of `Max` the first output of a sequence that begins with NaN is
//!   −∞, and of a float `Sum` that of one that begins with −0 is +0.
//! - An engine that cuts a sequence into parts may compute `s ⊕ (e ⊕ x)` for `s ⊕ x`. So an initial
//!   state should be a state that `e ⊕ init` leaves as it is: NaN is none of `Max` and `Min`, nor
//!   −0 of a float `Sum`. Otherwise outputs are those of the initial state or those of `e ⊕ init`.

use std::slice::ChunksExact;
use std::sync::atomic::{AtomicBool, Ordering};

use monoscan_ir::{Constant, Mode};

use crate::column::Column;
use crate::error::Error;
use crate::refused::RowsError;
use crate::spacing::Bits;

/// All that a scan is asked for besides its columns; see the [module](self). The default is an inclusive scan of a line.
#[derive(Clone, Debug, Default)]
pub struct Call<'a> {
    /// Inclusive or exclusive.
    pub mode: Mode,
    /// From the last record to the first.
    pub reversed: bool,
    /// The states that sequences start from.
    pub init: Init<'a>,
    /// The state that a stream of chunks goes on from, the components of all stages in order, one such state for each row
    /// if it is a stream of rows; none for a call that resumes nothing.
    pub carry: Option<&'a [Constant]>,
    /// The sequences, each scanned on its own.
    pub shape: Shape<'a>,
    /// A flag that another thread may set to have the call given up: it is then [`Error::Interrupted`]. It is looked at before
    /// the call, and after each tile or row of it; on a GPU, between the pieces of host columns.
    pub interrupt: Option<&'a AtomicBool>,
    /// Whether a call over device memory gives the totals, as [`Outcome::totals`](crate::Outcome::totals). With floats a total
    /// may differ from the last output in its last places, since it is combined in another order. Host calls have
    /// [`reduce`](crate::DynScan::reduce) for it.
    pub totals: bool,
}

/// The states that sequences start from, each as the components of all stages in order.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Init<'a> {
    /// The identities; of a loop, its initial state.
    #[default]
    Identity,
    /// The same state for all.
    Same(&'a [Constant]),
    /// A state for each sequence that begins in the call, one after the other in the order of memory. Flags for heads are counted
    /// first, for which they are read once more; those in the memory of a device, and keys there, by the call itself, so that
    /// another number of states is an error where the call is waited for.
    Each(&'a [Constant]),
}

impl<'a> Call<'a> {
    /// The same from a carry.
    pub(crate) fn resuming(&self, carry: &'a [Constant]) -> Call<'a> {
        Call { carry: Some(carry), ..self.clone() }
    }

    /// Whether every sequence starts from the identity, and nobody may interrupt it.
    pub(crate) fn is_from_identity(&self) -> bool {
        self.init == Init::Identity && self.carry.is_none() && self.interrupt.is_none()
    }

    /// Refuses to go on if the call was interrupted.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        // Relaxed: what the flag tells is nothing but itself.
        let is_set = self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_set { Err(Error::Interrupted) } else { Ok(()) }
    }
}

impl<'a> Init<'a> {
    /// The state that all sequences start from, if one is given.
    pub fn same(self) -> Option<&'a [Constant]> {
        match self {
            Init::Same(state) => Some(state),
            Init::Identity | Init::Each(_) => None,
        }
    }

    /// The state that a line starts from which resumes nothing, if one is given.
    pub(crate) fn of_line(self) -> Option<&'a [Constant]> {
        match self {
            Init::Identity => None,
            Init::Same(state) | Init::Each(state) => Some(state),
        }
    }

    /// The states that are given, of so many components each.
    pub(crate) fn states(self, components: usize) -> ChunksExact<'a, Constant> {
        let all = match self {
            Init::Identity => &[],
            Init::Same(all) | Init::Each(all) => all,
        };
        all.chunks_exact(components)
    }
}

/// The same state for all sequences, or the identities.
impl<'a> From<Option<&'a [Constant]>> for Init<'a> {
    fn from(state: Option<&'a [Constant]>) -> Init<'a> {
        state.map_or(Init::Identity, Init::Same)
    }
}

/// Which records are scanned on their own.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Shape<'a> {
    /// All of them together.
    #[default]
    Line,
    /// Segments, by a flag for each record: it is the first of its segment. Record 0 is one with or without a flag.
    Heads(&'a [bool]),
    /// The same, with a bit for each record.
    HeadBits(Bits<'a>),
    /// Segments, by a column of one `u8` for each record where the columns of the call are, on a device: 1 where it is the first
    /// of its segment, 0 elsewhere.
    FlagColumn(&'a Column<'a>),
    /// Segments of equal keys, by a column of records of any layout, one for each record of the call, on a device: a segment
    /// begins wherever a key differs from the one before in any component.
    KeyColumn(&'a Column<'a>),
    /// As [`Offsets`](Shape::Offsets), by a column of `u32` or `u64` on a device, where nobody looks at them before they are
    /// used: what is no offset of a record is ignored.
    OffsetColumn(&'a Column<'a>),
    /// Segments, by where they start and where the last one ends: segment k has the records `offsets[k]..offsets[k+1]`,
    /// which may be none. The first offset is 0, the last the number of records.
    Offsets(&'a [usize]),
    /// The rows of an array.
    Rows(Rows),
}

impl Shape<'_> {
    /// How many sequences have a total: flagged segments have one, that of the last.
    pub(crate) fn totals(&self) -> usize {
        match self {
            Shape::Offsets(offsets) => offsets.len() - 1,
            Shape::Rows(rows) => rows.count(),
            _ => 1,
        }
    }

    /// Whether it is segments, however they are told.
    pub fn is_segmented(&self) -> bool {
        match self {
            Shape::Heads(_) | Shape::HeadBits(_) | Shape::FlagColumn(_) | Shape::KeyColumn(_) => true,
            Shape::Offsets(_) | Shape::OffsetColumn(_) => true,
            Shape::Line | Shape::Rows(_) => false,
        }
    }
}

/// Rows of an array of records, along any of its axes.
///
/// Element i of row (p, q) is record `p·pitch + i·step + q`, for `p < planes`, `q < step` and `i < len`: each plane has `step`
/// rows side by side. Records between the planes are neither read nor written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    planes: usize,
    pitch: usize,
    len: usize,
    step: usize,
}

impl Shape<'_> {
    /// How many sequences begin in a call, if a stream that it resumes goes on with the first, or with all rows; none where only a
    /// device knows, which has the flags or the keys.
    pub(crate) fn begun(&self, resumes: bool) -> Option<usize> {
        let begun = match self {
            // Without records keys tell no segment, and flags one.
            Shape::KeyColumn(keys) if keys.len == 0 => 0,
            Shape::FlagColumn(_) | Shape::KeyColumn(_) => return None,
            Shape::Line => usize::from(!resumes),
            Shape::Heads(flags) => begun(flags.iter().copied(), resumes),
            Shape::HeadBits(bits) => begun((0..bits.len()).map(|place| bits.get(place)), resumes),
            Shape::Offsets(offsets) => offsets.len() - 1,
            Shape::OffsetColumn(offsets) => offsets.len - 1,
            Shape::Rows(_) if resumes => 0,
            Shape::Rows(rows) => rows.count(),
        };
        Some(begun)
    }
}

/// How many segments begin, by their flags.
fn begun(mut flags: impl Iterator<Item = bool> + Clone, resumes: bool) -> usize {
    let heads = flags.clone().filter(|&head| head).count();
    heads + usize::from(flags.next() != Some(true) && !resumes)
}

impl Rows {
    /// `rows` rows of `len` records, each starting `stride` records after the one before.
    ///
    /// # Errors
    /// [`Error::Rows`] if rows would overlap (`stride < len`), or if the array has more than `usize::MAX` records or rows.
    pub fn new(rows: usize, len: usize, stride: usize) -> Result<Rows, Error> {
        Rows::planes(rows, stride, len, 1)
    }

    /// All rows along one axis of an array without gaps whose last axis is contiguous (row-major, "C order").
    ///
    /// ```
    /// use monoscan_runtime::call::Rows;
    /// // A matrix of 3 × 4: its rows, and its columns.
    /// assert_eq!(Rows::axis(&[3, 4], 1)?, Rows::new(3, 4, 4)?);
    /// assert_eq!(Rows::axis(&[3, 4], 0)?.count(), 4);
    /// # Ok::<(), monoscan_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Rows`] if there is no such axis, or if the array has more than `usize::MAX` records or rows.
    pub fn axis(shape: &[usize], axis: usize) -> Result<Rows, Error> {
        let Some(&len) = shape.get(axis) else {
            return Err(RowsError::Axis { axis, shape: shape.to_vec() }.into());
        };
        let product = |axes: &[usize]| axes.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
        let too_large = || Error::from(RowsError::ShapeTooLarge { shape: shape.to_vec() });
        let (Some(planes), Some(step)) = (product(&shape[..axis]), product(&shape[axis + 1..])) else {
            return Err(too_large());
        };
        let pitch = len.checked_mul(step).ok_or_else(too_large)?;
        Rows::planes(planes, pitch, len, step)
    }

    /// `planes` planes, starting `pitch` records apart, each of `len` × `step` records, along whose first axis rows go.
    ///
    /// # Errors
    /// [`Error::Rows`] if planes would overlap (`pitch < len·step`), or if there are more than `usize::MAX` records or rows.
    pub fn planes(planes: usize, pitch: usize, len: usize, step: usize) -> Result<Rows, Error> {
        let rows = Rows { planes, pitch, len, step };
        let too_large = || Error::from(RowsError::TooLarge { planes, len, step, pitch });
        let expected = len.checked_mul(step).ok_or_else(too_large)?;
        if planes > 1 && pitch < expected {
            let rows = planes.checked_mul(step).ok_or_else(too_large)?;
            return Err(RowsError::Overlap { rows, len, step, pitch, expected }.into());
        }
        planes.checked_mul(pitch.max(expected).max(step)).map(|_| rows).ok_or_else(too_large)
    }

    /// How many rows.
    #[inline]
    pub fn count(&self) -> usize {
        self.planes * self.step
    }

    /// How many records a row has.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// How many records all rows have together.
    #[inline]
    pub(crate) fn elements(&self) -> usize {
        self.planes * self.step * self.len
    }

    /// Whether rows have no records.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    #[doc(hidden)]
    pub fn step(&self) -> usize {
        self.step
    }

    #[inline]
    pub(crate) fn pitch(&self) -> usize {
        self.pitch
    }

    pub(crate) fn plane_count(&self) -> usize {
        self.planes
    }

    /// Whether every record that a column must have is in a row.
    pub fn is_gapless(&self) -> bool {
        self.planes <= 1 || self.pitch == self.len * self.step
    }

    /// The record that is the first of a row, or the last; rows are numbered plane by plane. Any number if rows are empty.
    pub(crate) fn record_of(&self, row: usize, is_last: bool) -> usize {
        let first = row / self.step * self.pitch + row % self.step;
        if is_last { first.wrapping_add(self.len.wrapping_sub(1).wrapping_mul(self.step)) } else { first }
    }

    /// Checks that columns have as many records as the rows need.
    pub(crate) fn check_within(&self, records: usize) -> Result<(), RowsError> {
        let expected = self.records();
        if expected <= records {
            return Ok(());
        }
        Err(RowsError::TooFew { rows: self.count(), expected, got: records })
    }

    /// Checks that columns of so many records have none beside rows: a new vector needs a value for each.
    ///
    /// # Errors
    /// [`Error::Rows`]: the rows need more records, or fewer.
    pub fn check_covers(&self, records: usize) -> Result<(), Error> {
        self.check_within(records)?;
        // They do not overlap.
        if self.elements() == records {
            return Ok(());
        }
        let rows = self.count();
        Err(RowsError::Uncovered { rows, inside: rows * self.len, records }.into())
    }

    /// How many records a column must have at least: none, of rows that have none.
    #[inline]
    pub fn records(&self) -> usize {
        match self.elements() {
            0 => 0,
            _ => (self.planes - 1) * self.pitch + self.len * self.step,
        }
    }
}

#[test]
fn no_keys_are_no_segments_and_no_flags_are_one() {
    let layout = crate::column::layout_of(monoscan_ir::Type::U8);
    // SAFETY: nobody reads there.
    let column = |len| unsafe { Column::on_device_raw(crate::Device::cpu(), 256, len, layout) };
    assert_eq!(Shape::KeyColumn(&column(0)).begun(false), Some(0));
    assert_eq!(Shape::KeyColumn(&column(1)).begun(false), None);
    assert_eq!(Shape::FlagColumn(&column(0)).begun(false), None);
    assert_eq!(Shape::Heads(&[]).begun(false), Some(1));
}
