//! Short lines whose columns are not one after the other from the first record on, or are many:
//! backwards, with strides, as bits, into several columns.

use monoscan_codegen::cpu;
use smallvec::SmallVec;

use crate::call::{Call, Init, Shape};
use crate::column::{Column, ColumnMut};
use crate::dynscan::DynScan;
use crate::engine::Bases;
use crate::spacing::{Spacings, is_contiguous};
use crate::wrong::usable;

impl DynScan {
    /// Scans a short line from the identities, of columns that were checked. Gives how many records were written, if it did. The outputs
    /// may be the inputs.
    pub(crate) fn scanned_spaced(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
        len: usize,
    ) -> Option<usize> {
        let is_line = matches!(call.shape, Shape::Line) && call.init == Init::Identity;
        let is_line = is_line && call.carry.is_none() && call.interrupt.is_none();
        if !is_line || len == 0 || !self.is_plain(call.mode) {
            return None;
        }
        let are_alike = is_contiguous(inputs, Some(outputs));
        let short = usable(self.variants().make_short_spaced(call.mode, len, (are_alike, !call.reversed))).flatten()?;
        let mut from: Bases<*const u8> = inputs.iter().map(|column| column.base).collect();
        let mut to: Bases<*mut u8> = outputs.iter().map(|column| column.base).collect();
        let mut spacings: SmallVec<[cpu::Spacing; 8]> = SmallVec::new();
        let last = len - 1;
        if are_alike {
            let (read, written) = (&self.program().inputs, &self.program().output.columns);
            if call.reversed {
                from.iter_mut().zip(read).for_each(|(base, of)| *base = base.wrapping_add(last * of.size as usize));
                to.iter_mut().zip(written).for_each(|(base, of)| *base = base.wrapping_add(last * of.size as usize));
            }
            spacings.push(cpu::Spacing { step: if call.reversed { -1 } else { 1 }, first: 0, mask: 0 });
        } else {
            let of = Spacings::of_any(self.program(), inputs, outputs);
            spacings.extend(of.inputs.into_iter().chain(of.outputs));
        }
        if call.reversed && !are_alike {
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
        }
        // SAFETY: the columns were checked, and are borrowed for as long as this runs; each record is read before it is written.
        unsafe { short.scan((&from, &to), &spacings, self.settings().parameters.as_ptr(), len) };
        Some(len)
    }
}
