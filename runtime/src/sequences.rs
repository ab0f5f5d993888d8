//! Short calls over one sequence or many, from states in memory to those behind them.
//!
//! Columns whose records lie one after the other are taken by the kernels for lines, in vectors
//! where these pay. Any others, and sequences that are scanned backwards, are taken by the kernels
//! for spaced columns, record by record. Long calls are left to the engine.

use monoscan_codegen::cpu::{Access, ShortInputs};
use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Mode};
use smallvec::SmallVec;

use crate::call::{Call, Init, Rows, Shape};
use crate::checks;
use crate::column::{Column, ColumnMut};
use crate::device::Device;
use crate::dynscan::DynScan;
use crate::engine::{Columns, Sequences, ShortSpaced, SpacedColumn, Whole, helpers};
use crate::error::Error;
use crate::short::{MOST_IN_ROWS, MOST_ROWS};
use crate::spacing;
use crate::wrong::usable;

/// Bound of the longest segment below which it stands for that segment: nearly all passes take so many records.
const MOST_BY_BOUND: usize = 64;

/// More records than these, one by one, take longer than a call of the engine.
const MOST_ONE_BY_ONE: usize = 1024;

/// Segments of a loop are scanned as a line each unless one has more than such a share of all records: that one is for many threads.
const SHARES: usize = 32;

/// A short call of the typed front end, but for its columns.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ShortCall<'a> {
    pub work: Whole,
    pub shape: Shape<'a>,
    pub reversed: bool,
    pub begin: ShortStart,
}

/// The states that the sequences of such a call start from.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ShortStart {
    /// The states that sequences of the program start from.
    Start,
    /// States in memory, the same for all.
    Same,
    /// States in memory, one for each.
    Each,
}

/// The columns of such a call, of `len` records each.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ShortColumns<'a> {
    pub inputs: &'a [SpacedColumn<*const u8>],
    /// None, of a reduction.
    pub outputs: &'a [SpacedColumn<*mut u8>],
    pub len: usize,
}

impl ShortColumns<'_> {
    /// Whether the records of all lie one after the other.
    fn are_dense(&self) -> bool {
        self.inputs.iter().all(|(_, spacing)| spacing.is_none())
            && self.outputs.iter().all(|(_, spacing)| spacing.is_none())
    }
}

impl DynScan {
    /// For the typed front end: a short line, short rows or the segments between offsets, scanned or reduced from states, one for each, to
    /// those behind them, in memory that `space` has for so many. Gives their number, if it did: not where they are long or wrong for such
    /// columns, or where `space` has none.
    ///
    /// # Safety
    /// These are the columns of the program in order, with space for all records, borrowed as [`Column`] and [`ColumnMut`] borrow. The
    /// memory for states is exclusively borrowed, and they lie there as [`states_in_memory`](crate::DynScanBuilder::states_in_memory) said.
    #[doc(hidden)]
    pub unsafe fn short_sequences(
        &self,
        call: ShortCall<'_>,
        columns: ShortColumns<'_>,
        mut space: impl FnMut(usize) -> Option<*mut u8>,
    ) -> Option<usize> {
        // Of a program that filters, where a result lies is the engine's work.
        if !columns.outputs.is_empty() && self.program().output.filter.is_some() {
            return None;
        }
        if columns.are_dense() && !call.reversed {
            // SAFETY: the caller says so.
            let done = unsafe {
                match call.shape {
                    Shape::Rows(rows) if rows.step() > 1 => self.totals_of_columns(&rows, call, columns, &mut space),
                    _ => self.dense_sequences(call, columns, &mut space),
                }
            };
            if done.is_some() {
                return done;
            }
        }
        let (short, count) = self.short_spaced_whole(call, (columns.are_dense(), columns.len))?;
        let to = space(count)?;
        // SAFETY: the caller says so.
        unsafe { self.each_spaced(short, call, columns, to) };
        Some(count)
    }

    /// Of columns whose records lie one after the other, forwards.
    ///
    /// # Safety
    /// As for [`short_sequences`](DynScan::short_sequences).
    unsafe fn dense_sequences(
        &self,
        ShortCall { work, shape, begin, .. }: ShortCall<'_>,
        columns: ShortColumns<'_>,
        space: &mut impl FnMut(usize) -> Option<*mut u8>,
    ) -> Option<usize> {
        let from_start = begin == ShortStart::Start;
        if matches!(shape, Shape::Line) {
            let mut inputs = ShortInputs::new(self.parameters_base());
            self.put_inputs(columns, &mut inputs);
            // SAFETY: the caller has these columns.
            let short = self.make_short_whole(work, columns.len)?;
            let (to, output) = (space(1)?, columns.outputs.first().map_or(std::ptr::null_mut(), |&(base, _)| base));
            // SAFETY: the caller has these columns, and memory for a state; programs with such a kernel have no more columns.
            return unsafe {
                if from_start {
                    short.begin(to);
                }
                short.pass(&inputs, output, columns.len, (to, from_start)).map(|_| 1)
            };
        }
        let sequences = Sequences::of(shape)?;
        let longest = match sequences {
            Sequences::Rows(rows) => {
                // The other way says what is wrong.
                if self.program().output.filter.is_some() || rows.records() > columns.len {
                    return None;
                }
                // The engine has vectors for many records. Of none, rows may be more than memory has states.
                let is_for_engine = rows.is_empty() || begin == ShortStart::Same && rows.elements() > MOST_IN_ROWS;
                if work != Whole::Reduce && is_for_engine {
                    return None;
                }
                rows.len()
            }
            Sequences::Offsets(offsets) => match checks::bound_of_longest(offsets, columns.len).ok()? {
                bound @ ..MOST_BY_BOUND => bound,
                _ => sequences.longest(),
            },
        };
        // Whether long segments of a loop are lines does not depend on what was called before.
        let are_of_loop = self.is_of_loop() && matches!(sequences, Sequences::Offsets(_));
        // The kernel is made for a line of so many records, if that is short.
        let short = self.make_short_whole(work, if are_of_loop { 0 } else { longest });
        let short = short.filter(|short| from_start || short.takes_any())?;
        let mut passes = match from_start && work == Whole::Reduce {
            true => short.totals(|| self.variants().get(Form::default(), false)),
            false => short.sequences(from_start),
        };
        if are_of_loop && work != Whole::Reduce {
            passes.longest = passes.longest.max(columns.len / SHARES);
        }
        if !passes.fits(sequences) || longest > passes.longest {
            return None;
        }
        let to = space(sequences.count())?;
        let output = columns.outputs.first().map_or(std::ptr::null_mut(), |&(base, _)| base);
        let mut inputs = ShortInputs::new(self.parameters_base());
        self.put_inputs(columns, &mut inputs);
        let columns = Columns { inputs: &inputs, output };
        // SAFETY: the caller has these columns, and they have these sequences; there are so many states, of which the kernel takes any.
        unsafe { passes.run(sequences, columns, to, || self.threads.unwrap_or_else(helpers::threads)) };
        Some(sequences.count())
    }

    /// The totals of short rows side by side, by a kernel that was made before.
    ///
    /// # Safety
    /// As for [`short_sequences`](DynScan::short_sequences).
    unsafe fn totals_of_columns(
        &self,
        rows: &Rows,
        call: ShortCall<'_>,
        columns: ShortColumns<'_>,
        space: &mut impl FnMut(usize) -> Option<*mut u8>,
    ) -> Option<usize> {
        if call.work != Whole::Reduce || call.begin != ShortStart::Start || !self.is_plain(Mode::Inclusive) {
            return None;
        }
        rows.check_within(columns.len).ok()?;
        let short = usable(self.variants().make_interleaved_totals(rows)).flatten()?;
        let variant = self.variants().get(Form::default(), false);
        let states = variant.kernels(Access::Line).ok()?.code.whole_states();
        // Of several stages, those of all rows of a stage come before those of the next.
        let are_in_order = self.program().stages.len() == 1 && short.are_array_of(states, rows.count());
        if !are_in_order {
            return None;
        }
        let to = space(rows.count())?;
        // SAFETY: the caller has these columns; a record of the line is one of each row. There is memory for the states of all rows, which
        // lie there as those of the line.
        unsafe {
            short.begin(to);
            let mut inputs = ShortInputs::new(self.parameters_base());
            self.put_inputs(columns, &mut inputs);
            short.pass(&inputs, std::ptr::null_mut(), rows.len(), (to, true))?;
        }
        Some(rows.count())
    }

    /// The input columns as kernels of short lines take them, where they are to stay: a copy of what was just written waits for it.
    #[inline(always)]
    fn put_inputs(&self, columns: ShortColumns<'_>, to: &mut ShortInputs) {
        to.extend(columns.inputs.iter().map(|&(base, _)| base), self.parameters_base());
    }

    /// The kernel for sequences of columns of so many records that lie one after the other or anyhow, and how many sequences these are.
    fn short_spaced_whole(
        &self,
        call: ShortCall<'_>,
        (are_dense, len): (bool, usize),
    ) -> Option<(&ShortSpaced, usize)> {
        if !self.is_plain(call.work.mode()) {
            return None;
        }
        let (count, longest, elements) = match call.shape {
            Shape::Offsets(_) if len > MOST_ONE_BY_ONE => return None,
            Shape::Line => (1, len, len),
            Shape::Rows(rows) => {
                rows.check_within(len).ok()?;
                (rows.count(), rows.len(), rows.elements())
            }
            Shape::Offsets(offsets) => {
                checks::check_offsets(offsets, len).ok()?;
                (offsets.len() - 1, offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0), len)
            }
            _ => return None,
        };
        // The engine may have vectors for them.
        let are_many = count > MOST_ROWS || elements > MOST_IN_ROWS;
        let are_for_engine = are_dense && !call.reversed && are_many && call.begin != ShortStart::Each;
        if are_for_engine || elements.max(count) > MOST_ONE_BY_ONE {
            return None;
        }
        let short = usable(self.variants().make_short_spaced_whole(call.work, are_dense)).flatten()?;
        let is_for = longest <= short.longest()
            && (call.begin == ShortStart::Start || short.takes_any())
            && short.are_of_loop() == self.loop_states().is_some()
            && (short.is_anywhere() || !matches!(call.shape, Shape::Offsets(_)));
        is_for.then_some((short, count))
    }

    /// # Safety
    /// As for [`short_sequences`](DynScan::short_sequences), of a call that the kernel is for, with memory for the states.
    unsafe fn each_spaced(&self, short: &ShortSpaced, call: ShortCall<'_>, columns: ShortColumns<'_>, states: *mut u8) {
        let sides = (columns.inputs, columns.outputs);
        let (parameters, states) =
            (self.settings().parameters.as_ptr(), Some((states, call.begin == ShortStart::Start)));
        let towards = |step: usize| if call.reversed { -(step as isize) } else { step as isize };
        // SAFETY: the caller says so. There is a loop for each kind.
        unsafe {
            match call.shape {
                Shape::Line => {
                    short.sequences(sides, (std::iter::once((0, columns.len)), towards(1)), parameters, states);
                }
                Shape::Rows(rows) => {
                    let each = (0..rows.count()).map(|row| (rows.record_of(row, false), rows.len()));
                    short.sequences(sides, (each, towards(rows.step())), parameters, states);
                }
                Shape::Offsets(offsets) => {
                    let each = offsets.windows(2).map(|ends| (ends[0], ends[1] - ends[0]));
                    short.sequences(sides, (each, towards(1)), parameters, states);
                }
                _ => {}
            }
        }
    }

    /// The same of columns that were checked, from the states of a call. Gives how many records were written, and the states behind the
    /// sequences.
    ///
    /// # Errors
    /// Those of the call, if there is a kernel for it.
    pub(crate) fn passed_spaced(
        &self,
        call: &Call<'_>,
        work: Whole,
        (inputs, outputs, len): (&[Column<'_>], Option<&mut [ColumnMut<'_>]>, usize),
    ) -> Result<Option<(usize, Vec<Constant>)>, Error> {
        if !self.passes(call, outputs.as_deref(), len) {
            return Ok(None);
        }
        let are_dense = spacing::is_contiguous(inputs, outputs.as_deref());
        let (given, begin) = match (call.carry, call.init) {
            (Some(carry), _) => (Some(carry), ShortStart::Each),
            (None, Init::Identity) => (None, ShortStart::Start),
            (None, Init::Same(state)) => (Some(state), ShortStart::Same),
            (None, Init::Each(states)) => (Some(states), ShortStart::Each),
        };
        let short_call = ShortCall { work, shape: call.shape, reversed: call.reversed, begin };
        // Segments between offsets are not resumed.
        if call.interrupt.is_some() || call.carry.is_some() && matches!(call.shape, Shape::Offsets(_)) {
            return Ok(None);
        }
        let Some((short, count)) = self.short_spaced_whole(short_call, (are_dense, len)) else { return Ok(None) };
        match self.loop_states() {
            Some(states) if !states.is_of_line(call) => return Ok(None),
            Some(states) => states.check(call, short.takes_any())?,
            None => checks::call(self.program(), Device::cpu(), call, len)?,
        }
        let is_each = begin == ShortStart::Each;
        if is_each && given.is_some_and(|given| !short.are_of_each(given, count)) {
            return Ok(None);
        }
        let outputs = outputs.map(|outputs| &*outputs).unwrap_or_default();
        let inputs: SmallVec<[SpacedColumn<*const u8>; 4]> =
            inputs.iter().map(|column| (column.base, column.spacing)).collect();
        let outputs: SmallVec<[SpacedColumn<*mut u8>; 2]> =
            outputs.iter().map(|column| (column.base, column.spacing)).collect();
        let after = short.run_from(given, is_each, count, |states| {
            let columns = ShortColumns { inputs: &inputs, outputs: &outputs, len };
            // SAFETY: the columns were checked and have these sequences, and there is memory for the states of all.
            unsafe { self.each_spaced(short, ShortCall { begin: ShortStart::Each, ..short_call }, columns, states) };
        });
        let written = if let Shape::Rows(rows) = call.shape { rows.elements() } else { len };
        Ok(after.map(|after| (written, after)))
    }
}
