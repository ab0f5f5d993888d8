//! Totals of many sequences, and their results, straight into memory of the typed front end, which
//! would otherwise make states of components one by one.

use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Mode};
use smallvec::SmallVec;

use crate::call::{Call, Shape};
use crate::checks;
use crate::column::{self, Column};
use crate::device::Device;
use crate::dynscan::DynScan;
use crate::engine::{Columns, Sequences, Whole, helpers};
use crate::error::Error;
use crate::interleaved::Lines;
use crate::spacing;
use crate::wrong::usable;

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
        let is_plain = !call.reversed && call.is_from_identity();
        if !is_plain || !self.is_plain(Mode::Inclusive) || !spacing::is_contiguous(inputs, None) {
            return Ok(None);
        }
        let Some(sequences) = Sequences::of(call.shape) else { return Ok(None) };
        let short = self.make_short_whole(Whole::Reduce, 0);
        let variant = self.variants().get(Form::default(), false);
        let Some(mut totals) = short.map(|short| short.totals(|| variant)).filter(|totals| totals.fits(sequences))
        else {
            return Ok(None);
        };
        let len = column::check_inputs(&program.inputs, inputs, Device::cpu())?;
        checks::shape(program, Device::cpu(), call, len)?;
        totals.has_longer = sequences.longest() > totals.longest;
        let (count, size) = (sequences.count(), totals.size());
        let to = space(count)?;
        let at = self.settings().parameters.behind(inputs.iter().map(|column| column.base));
        let columns = Columns { inputs: &at, output: std::ptr::null_mut() };
        // SAFETY: the columns were checked, and have these sequences; programs with such a kernel have no more columns. There is memory
        // for the states of so many.
        unsafe {
            totals.run(sequences, columns, to, || self.threads.unwrap_or_else(helpers::threads));
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

    /// The totals of short rows side by side, of columns that were checked, from the identities: in one call of a kernel, if there is one.
    pub(crate) fn interleaved_totals(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        len: usize,
    ) -> Option<Vec<Constant>> {
        let Shape::Rows(rows) = call.shape else { return None };
        if !call.is_from_identity() || call.reversed || !self.is_plain(Mode::Inclusive) || rows.records() > len {
            return None;
        }
        let lines = Lines::of(self.program(), call, false).filter(|_| spacing::is_contiguous(inputs, None))?;
        let short = usable(self.variants().make_interleaved_totals(&rows)).flatten()?;
        let bases = self.settings().parameters.behind(inputs.iter().map(|column| column.base));
        // SAFETY: the columns were checked; a record of the line is one of each row, and nothing is written.
        let (_, after) = unsafe { short.pass_from(None, &bases, std::ptr::null_mut(), lines.len()) }?;
        let joined: SmallVec<[Constant; 16]> = after.components().collect();
        Some(lines.by_row(&joined))
    }
}
