//! Short lines whose columns are not one after the other from the first record on, or are many:
//! backwards, with strides, as bits, into several columns. Short rows whose records lie apart, or
//! that are scanned backwards, are a few such lines.

use monoscan_ir::Layout;

use crate::call::{Call, Init, Rows, Shape};
use crate::column::{Column, ColumnMut};
use crate::dynscan::DynScan;
use crate::spacing::is_contiguous;
use crate::wrong::usable;

/// Rows of more records, all of them together, are walked by the engine, whose call costs as much as some hundred records.
const MOST_IN_ROWS: usize = 256;
/// So does a call of the kernel for each of more rows.
const MOST_ROWS: usize = 16;

impl DynScan {
    /// Scans a short line, or a few short rows, from the identities, of columns that were checked. Gives how many records were written, if it
    /// did. The outputs may be the inputs.
    pub(crate) fn scanned_spaced(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
        len: usize,
    ) -> Option<usize> {
        let is_plain = call.init == Init::Identity && call.carry.is_none() && call.interrupt.is_none();
        if !is_plain || len == 0 || !self.is_plain(call.mode) {
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
        let parameters = self.settings().parameters.as_ptr();
        let (read, written) = (&self.program().inputs, &self.program().output.columns);
        for row in 0..rows.count() {
            let first = rows.record_of(row, false);
            let at = |layout: &Layout| first * layout.size as usize;
            let inputs = inputs.iter().zip(read);
            let inputs = inputs.map(|(column, layout)| (column.base.wrapping_add(at(layout)), column.spacing));
            let outputs = outputs.iter().zip(written);
            let outputs = outputs.map(|(column, layout)| (column.base.wrapping_add(at(layout)), column.spacing));
            // SAFETY: the columns were checked, have all records of the rows, and are borrowed for as long as this runs. Each record
            // is read before it is written.
            unsafe { short.line(inputs, outputs, (rows.len(), step), parameters) };
        }
        Some(rows.elements())
    }
}
