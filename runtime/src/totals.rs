//! Totals of many sequences, and their results, straight into memory of the typed front end, which
//! would otherwise make states of components one by one.

use monoscan_codegen::cpu::{Access, SHORT_INPUTS};
use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Mode};
use smallvec::SmallVec;

use crate::call::{Call, Init, Rows, Shape};
use crate::checks;
use crate::column::{self, Column};
use crate::device::Device;
use crate::dynscan::DynScan;
use crate::engine::{Columns, Sequences, Whole, helpers};
use crate::error::Error;
use crate::interleaved::Lines;
use crate::spacing;
use crate::wrong::usable;

/// Bound of the longest segment below which it stands for that segment: nearly all passes take so many records.
const MOST_BY_BOUND: usize = 64;

impl DynScan {
    /// For the typed front end: the totals of contiguous rows or of the segments between offsets, from the states that they start
    /// from, straight into memory that `space` has for the states of so many. Gives their number, if it did.
    ///
    /// # Errors
    /// As [`reduce`](DynScan::reduce), and those of `space`.
    ///
    /// # Safety
    /// The memory is exclusively borrowed, and states lie there as [`states_in_memory`](crate::DynScanBuilder::states_in_memory)
    /// said.
    #[doc(hidden)]
    pub unsafe fn totals_into(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        space: impl FnOnce(usize) -> Result<*mut u8, Error>,
    ) -> Result<Option<usize>, Error> {
        let program = self.program();
        let is_plain =
            !call.reversed && call.init == Init::Identity && call.carry.is_none() && call.interrupt.is_none();
        if !is_plain || !self.is_plain(Mode::Inclusive) || !spacing::is_contiguous(inputs, None) {
            return Ok(None);
        }
        let Some(sequences) = Sequences::of(call.shape) else { return Ok(None) };
        let short = self.make_short_whole(Whole::Reduce, 0);
        let variant = self.variants().get(Form::default(), false);
        let Some(mut totals) = short.map(|short| short.totals(variant)).filter(|totals| totals.fits(sequences)) else {
            return Ok(None);
        };
        let len = column::check_inputs(&program.inputs, inputs, Device::cpu())?;
        checks::shape(program, Device::cpu(), call, len)?;
        totals.has_longer = sequences.longest() > totals.longest;
        let (count, size) = (sequences.count(), totals.size());
        let to = space(count)?;
        let at = self.settings().parameters.behind(inputs.iter().map(|column| column.base));
        // SAFETY: the columns were checked, and have these sequences; programs with such a kernel have no more columns. There is memory
        // for the states of so many.
        unsafe {
            totals.run(sequences, &self.columns(at, (std::ptr::null_mut(), 0)), to, || {
                self.threads.unwrap_or_else(helpers::threads)
            })
        };
        let longer = if totals.has_longer { 0..count } else { 0..0 };
        for (number, records) in sequences.longer_than(totals.longest, longer) {
            let parts: SmallVec<[Column<'_>; 4]> = inputs.iter().map(|column| column.part(records.clone())).collect();
            let total = self.reduce(&Call::default(), &parts)?;
            // SAFETY: as above.
            totals.put(&total, unsafe { std::slice::from_raw_parts_mut(to.add(number * size), size) });
        }
        Ok(Some(count))
    }

    /// For the typed front end: short rows, or the segments between offsets, scanned or reduced to the states behind them, one for each, in
    /// memory that `space` has for so many. They start from the states that lie there, or with `from_start` from those that sequences start
    /// from. Gives their number, if it did: not where they are long or wrong for such columns, or where `space` has none.
    ///
    /// # Safety
    /// As for [`totals_into`](DynScan::totals_into). These are the input columns of the program in order, of `len` records, behind them in
    /// every place where its [parameters](DynScan::parameters_base) are, borrowed as [`Column`] borrows; and space for all records at
    /// `output`, exclusively borrowed, unless nothing is written.
    #[doc(hidden)]
    pub unsafe fn short_sequences(
        &self,
        (work, shape): (Whole, Shape<'_>),
        (at, len): ([*const u8; SHORT_INPUTS], usize),
        output: *mut u8,
        (from_start, space): (bool, impl FnOnce(usize) -> Option<*mut u8>),
    ) -> Option<usize> {
        let reduces = from_start && work == Whole::Reduce;
        if let Shape::Rows(rows) = shape
            && rows.step() > 1
            && reduces
        {
            // SAFETY: the caller says so.
            return unsafe { self.short_totals_of_columns(&rows, (at, len), space) };
        }
        let sequences = Sequences::of(shape)?;
        let longest = match sequences {
            Sequences::Rows(rows) => {
                checks::shape(self.program(), Device::cpu(), &Call { shape, ..Call::default() }, len).ok()?;
                rows.len()
            }
            Sequences::Offsets(offsets) => match checks::bound_of_longest(offsets, len).ok()? {
                bound @ ..MOST_BY_BOUND => bound,
                _ => sequences.longest(),
            },
        };
        let short = self.make_short_whole(work, longest).filter(|short| from_start || short.takes_any())?;
        let passes = match reduces {
            true => short.totals(self.variants().get(Form::default(), false)),
            false => short.sequences(from_start),
        };
        if !passes.fits(sequences) || longest > passes.longest {
            return None;
        }
        let to = space(sequences.count())?;
        let size = self.program().output.columns.first().map_or(0, |column| column.size as usize);
        let columns = self.columns(at, (output, if output.is_null() { 0 } else { size }));
        // SAFETY: the caller has these columns, and they have these sequences; there are so many states, of which the kernel takes any.
        unsafe { passes.run(sequences, &columns, to, || self.threads.unwrap_or_else(helpers::threads)) };
        Some(sequences.count())
    }

    /// The totals of short rows side by side, by a kernel that was made before.
    ///
    /// # Safety
    /// As for [`short_sequences`](DynScan::short_sequences).
    unsafe fn short_totals_of_columns(
        &self,
        rows: &Rows,
        (at, len): ([*const u8; SHORT_INPUTS], usize),
        space: impl FnOnce(usize) -> Option<*mut u8>,
    ) -> Option<usize> {
        let short = self.variants().interleaved_totals(rows).filter(|_| rows.records() <= len)?;
        let variant = self.variants().get(Form::default(), false);
        let states = variant.kernels(Access::Line).ok()?.code.whole_states();
        // Of several stages, those of all rows of a stage come before those of the next.
        let are_in_order = self.program().stages.len() == 1 && short.are_array_of(states, rows.count());
        if !are_in_order || !self.is_plain(Mode::Inclusive) {
            return None;
        }
        let to = space(rows.count())?;
        // SAFETY: the caller has these columns; a record of the line is one of each row. There is memory for the states of all rows, which
        // lie there as those of the line.
        unsafe {
            short.begin(to);
            short.pass(at, std::ptr::null_mut(), rows.len(), (to, true))?;
        }
        Some(rows.count())
    }

    /// The input columns, which begin there, and that of results.
    #[inline]
    fn columns(&self, at: [*const u8; SHORT_INPUTS], output: (*mut u8, usize)) -> Columns {
        let inputs = &self.program().inputs;
        let sizes = std::array::from_fn(|at| inputs.get(at).map_or(0, |column| column.size as usize));
        Columns { at, sizes, output }
    }

    /// The totals of short rows side by side, of columns that were checked, from the identities: in one call of a kernel, if there is one.
    pub(crate) fn interleaved_totals(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        len: usize,
    ) -> Option<Vec<Constant>> {
        let is_plain = call.init == Init::Identity && call.carry.is_none() && call.interrupt.is_none();
        let Shape::Rows(rows) = call.shape else { return None };
        if !is_plain || call.reversed || !self.is_plain(Mode::Inclusive) || rows.records() > len {
            return None;
        }
        let lines = Lines::of(self.program(), call, false).filter(|_| spacing::is_contiguous(inputs, None))?;
        let short = usable(self.variants().make_interleaved_totals(&rows)).flatten()?;
        let bases = self.settings().parameters.behind(inputs.iter().map(|column| column.base));
        // SAFETY: the columns were checked; a record of the line is one of each row, and nothing is written.
        let (_, after) = unsafe { short.pass_from(None, bases, std::ptr::null_mut(), lines.len()) }?;
        let joined: SmallVec<[Constant; 16]> = after.components().collect();
        Some(lines.by_row(&joined))
    }
}
