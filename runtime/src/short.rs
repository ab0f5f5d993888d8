//! Short calls of a [`DynScan`]: which kernels do a whole call, and when.
//!
//! The typed front end asks for those that an earlier call made, and calls them with its slices.
//! Checked calls make them, and call them with their columns. Lines may lie at any distances or be
//! scanned backwards; rows whose records lie apart, or that are scanned backwards, are a few such
//! lines.

use monoscan_codegen::cpu::ShortInputs;
use monoscan_ir::Mode;
use smallvec::SmallVec;

use crate::call::{Call, Rows, Shape};
use crate::column::{Column, ColumnMut};
use crate::dynscan::DynScan;
use crate::engine::{MOST_FLAGS, Short, ShortBetween, ShortRows, ShortSpaced, ShortWhole, Whole, with_flags};
use crate::spacing::is_contiguous;
use crate::wrong::usable;

/// Rows of more records, all of them together, are walked by the engine, whose call costs as much as some hundred records.
pub(crate) const MOST_IN_ROWS: usize = 256;
/// So does a call of the kernel for each of more rows.
pub(crate) const MOST_ROWS: usize = 16;

impl DynScan {
    /// For the typed front end: where short kernels find the values of parameters.
    #[doc(hidden)]
    #[inline]
    pub fn parameters_base(&self) -> *const u8 {
        self.settings().parameters.as_ptr()
    }

    /// For the typed front end: what scans short lines, if the program has such a kernel and one was scanned before.
    #[doc(hidden)]
    #[inline]
    pub fn short(&self, mode: Mode) -> Option<&Short> {
        self.variants().short(mode).filter(|_| self.is_plain(mode))
    }

    /// For the typed front end: what scans the flagged segments of short lines, if the program has such a kernel and it was needed
    /// before. The flags are one more input column, the last.
    #[doc(hidden)]
    #[inline]
    pub fn short_segments(&self, mode: Mode) -> Option<&Short> {
        // Segments of a loop start from its initial state, which is no identity.
        self.variants().short_segments(mode).filter(|_| self.is_plain(mode) && !self.is_of_loop())
    }

    /// For the typed front end: what scans the segments between offsets of short lines, if the program has such a kernel and it was needed
    /// before.
    #[doc(hidden)]
    #[inline]
    pub fn short_between(&self, mode: Mode) -> Option<&ShortBetween> {
        self.variants().short_between(mode).filter(|_| self.is_plain(mode) && !self.is_of_loop())
    }

    /// For the typed front end: what scans short rows, if the program has such a kernel and it was needed before.
    #[doc(hidden)]
    #[inline]
    pub fn short_rows(&self, mode: Mode) -> Option<&ShortRows> {
        self.variants().short_rows(mode).filter(|_| self.is_plain(mode))
    }

    /// For the typed front end: what scans short lines backwards, or of columns that lie at any distances, if the program has such a kernel
    /// and it was needed before. Columns that are alike lie one after the other.
    #[doc(hidden)]
    #[inline]
    pub fn short_spaced(&self, mode: Mode, are_alike: bool) -> Option<&ShortSpaced> {
        self.variants().short_spaced(mode, are_alike).filter(|_| self.is_plain(mode))
    }

    /// For the typed front end: what scans short rows side by side as one line, if the program has such a kernel and it was needed before:
    /// a record of that line is one of each row.
    #[doc(hidden)]
    #[inline]
    pub fn short_interleaved(&self, mode: Mode, rows: &Rows) -> Option<&Short> {
        self.variants().short_interleaved(mode, rows).filter(|_| self.is_plain(mode))
    }

    /// For the typed front end: what scans short lines from given states or reduces them, if the program has such a
    /// kernel and it was needed before.
    #[doc(hidden)]
    #[inline]
    pub fn short_whole(&self, work: Whole) -> Option<&ShortWhole> {
        self.variants().short_whole(work).filter(|short| self.is_plain(work.mode()) && self.has_states_of(short))
    }

    /// The same, made if this is the first call and a line of so many records is short. A wrong kernel is not used.
    pub(crate) fn make_short_whole(&self, work: Whole, len: usize) -> Option<&ShortWhole> {
        if !self.is_plain(work.mode()) {
            return None;
        }
        usable(self.variants().make_short_whole(work, len)).flatten().filter(|short| self.has_states_of(short))
    }

    /// For the typed front end: whether segments are lines that such a kernel takes, one by one.
    #[doc(hidden)]
    pub fn takes_segments_as_lines(&self, mode: Mode) -> bool {
        self.make_short_whole(mode.into(), 0).is_some_and(ShortWhole::is_anywhere)
    }

    /// Whether states of callers are those of the kernel.
    #[inline]
    fn has_states_of(&self, short: &ShortWhole) -> bool {
        short.are_of_loop() == self.loop_states().is_some()
    }

    /// Scans a short line from the identities, of columns that were checked and have space for all records. Gives how many were
    /// written, if it did. The outputs may be the inputs.
    pub(crate) fn scanned(
        &self,
        call: &Call<'_>,
        inputs: impl Iterator<Item = *const u8>,
        (outputs, are_inputs): (&[ColumnMut<'_>], bool),
        len: usize,
    ) -> Option<usize> {
        let is_plain = !call.reversed && call.is_from_identity() && self.is_plain(call.mode);
        let output = outputs.first().filter(|output| output.len >= len && is_plain && output.spacing.is_none())?.base;
        // A wrong kernel is not used; those that are, are checked for themselves.
        match call.shape {
            Shape::Line => {
                let parameters = self.parameters_base();
                let mut bases = ShortInputs::new(parameters);
                bases.extend(inputs, parameters);
                let short = usable(self.variants().make_short(call.mode)).flatten()?;
                // SAFETY: programs with such a kernel have no more of them; `scan` overlaps none.
                unsafe {
                    if are_inputs { short.scan_over(&bases, output, len) } else { short.scan(&bases, output, len) }
                }
            }
            Shape::Heads(_) | Shape::Offsets(_) if !self.is_of_loop() => {
                if let Shape::Offsets(offsets) = call.shape {
                    let between = usable(self.variants().make_short_between(call.mode, (len, offsets.len())))?;
                    if between.takes(len, offsets.len()) {
                        let bases = self.settings().parameters.behind(inputs);
                        // SAFETY: the columns were checked, and programs with such a kernel have no more of them.
                        return unsafe { between.scan(&bases, (output, are_inputs), len, offsets) }.then_some(len);
                    }
                    if len > MOST_FLAGS {
                        return None;
                    }
                }
                let short = usable(self.variants().make_short_segments(call.mode, len)).flatten()?;
                let scan = |flags: &[bool]| {
                    let bases = self.settings().parameters.behind(inputs.chain([flags.as_ptr().cast()]));
                    // SAFETY: as above; the flags are one more column, behind the program's.
                    unsafe {
                        if are_inputs { short.scan_over(&bases, output, len) } else { short.scan(&bases, output, len) }
                    }
                };
                match call.shape {
                    Shape::Heads(flags) if flags.len() == len => scan(flags),
                    Shape::Offsets(offsets) => with_flags(offsets, len, scan),
                    _ => None,
                }
            }
            Shape::Rows(rows) if rows.records() <= len && rows.step() > 1 => {
                let bases = self.settings().parameters.behind(inputs);
                let short = usable(self.variants().make_short_interleaved(call.mode, &rows)).flatten()?;
                let len = rows.len();
                // SAFETY: as above. A record of each row lies in one of this line.
                let written = unsafe {
                    if are_inputs { short.scan_over(&bases, output, len) } else { short.scan(&bases, output, len) }
                };
                written.map(|written| written * rows.step())
            }
            Shape::Rows(rows) if rows.records() <= len => {
                let bases = self.settings().parameters.behind(inputs);
                let short = usable(self.variants().make_short_rows(call.mode, &rows)).flatten()?;
                // SAFETY: as above.
                unsafe { short.scan(&bases, (output, are_inputs), &rows) }
            }
            _ => None,
        }
    }

    /// Scans a short line, or a few short rows, from the identities, of columns that were checked. Gives how many records were written, if it
    /// did. The outputs may be the inputs.
    pub(crate) fn scanned_spaced(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
        len: usize,
    ) -> Option<usize> {
        if !call.is_from_identity() || len == 0 || !self.is_plain(call.mode) {
            return None;
        }
        let are_alike = is_contiguous(inputs, Some(outputs));
        // A line is one row.
        let rows = match call.shape {
            Shape::Line => Rows::new(1, len, len).ok()?,
            Shape::Rows(rows) if are_alike && rows.records() <= len && rows.count() <= MOST_ROWS => {
                Some(rows).filter(|rows| (1..=MOST_IN_ROWS).contains(&rows.elements()))?
            }
            _ => return None,
        };
        let step = if call.reversed { -(rows.step() as isize) } else { rows.step() as isize };
        let short =
            usable(self.variants().make_short_spaced(call.mode, rows.len(), (are_alike, step == 1))).flatten()?;
        let inputs: SmallVec<[_; 4]> = inputs.iter().map(|column| (column.base, column.spacing)).collect();
        let outputs: SmallVec<[_; 2]> = outputs.iter().map(|column| (column.base, column.spacing)).collect();
        let each = (0..rows.count()).map(|row| (rows.record_of(row, false), rows.len()));
        let parameters = self.settings().parameters.as_ptr();
        // SAFETY: the columns were checked, have all records of the rows, and are borrowed for as long as this runs.
        unsafe { short.sequences((&inputs, &outputs), (each, step), parameters, None) };
        Some(rows.elements())
    }
}
