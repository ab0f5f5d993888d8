//! Short lines whose columns are not one after the other from the first record on, or are many:
//! backwards, with strides, as bits, into several columns. Short rows whose records lie apart, or
//! that are scanned backwards, are a few such lines.

use monoscan_codegen::cpu;
use smallvec::SmallVec;

use crate::call::{Call, Init, Rows, Shape};
use crate::column::{Column, ColumnMut};
use crate::dynscan::DynScan;
use crate::engine::Bases;
use crate::spacing::{Spacings, is_contiguous};
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
        let mut from: Bases<*const u8> = inputs.iter().map(|column| column.base).collect();
        let mut to: Bases<*mut u8> = outputs.iter().map(|column| column.base).collect();
        let parameters = self.settings().parameters.as_ptr();
        if !are_alike {
            let spacings = self.spaced(call, (inputs, outputs), (&mut from, &mut to), rows.len() - 1);
            // SAFETY: the columns were checked, and are borrowed for as long as this runs; each record is read before it is written.
            unsafe { short.scan((&from, &to), &spacings, parameters, rows.len()) };
            return Some(rows.len());
        }
        let (read, written) = (&self.program().inputs, &self.program().output.columns);
        let spacings = [cpu::Spacing { step: step as i64, first: 0, mask: 0 }];
        for row in 0..rows.count() {
            let first = rows.record_of(row, call.reversed);
            let at = |base: *mut u8, size: u32| base.wrapping_add(first * size as usize);
            let inputs = inputs.iter().zip(read);
            from.iter_mut().zip(inputs).for_each(|(to, (of, layout))| *to = at(of.base.cast_mut(), layout.size));
            let outputs = outputs.iter().zip(written);
            to.iter_mut().zip(outputs).for_each(|(to, (of, layout))| *to = at(of.base, layout.size));
            // SAFETY: as above; the columns have all records of the rows.
            unsafe { short.scan((&from, &to), &spacings, parameters, rows.len()) };
        }
        Some(rows.elements())
    }

    /// How far apart the records of each column are in the direction of the call; columns begin at the first record in it, and `last`
    /// is the number of the last one.
    fn spaced(
        &self,
        call: &Call<'_>,
        (inputs, outputs): (&[Column<'_>], &[ColumnMut<'_>]),
        (from, to): (&mut Bases<*const u8>, &mut Bases<*mut u8>),
        last: usize,
    ) -> SmallVec<[cpu::Spacing; 8]> {
        let of = Spacings::of_any(self.program(), inputs, outputs);
        let mut spacings: SmallVec<[cpu::Spacing; 8]> = of.inputs.into_iter().chain(of.outputs).collect();
        if !call.reversed {
            return spacings;
        }
        let (inputs, outputs) = spacings.split_at_mut(from.len());
        // Turns the direction. Gives how far the last record is.
        let turn = |spacing: &mut cpu::Spacing| {
            let distance = spacing.step.wrapping_mul(last as i64);
            spacing.step = -spacing.step;
            distance
        };
        let columns = from.iter_mut().zip(&self.program().inputs).zip(inputs);
        columns.for_each(|((base, layout), spacing)| match cpu::Spacing::is_by_bits(layout) {
            true => spacing.first = spacing.first.wrapping_add_signed(turn(spacing)),
            false => *base = base.wrapping_offset(turn(spacing) as isize),
        });
        to.iter_mut().zip(outputs).for_each(|(base, spacing)| *base = base.wrapping_offset(turn(spacing) as isize));
        spacings
    }
}
