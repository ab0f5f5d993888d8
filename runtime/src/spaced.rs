//! Short lines whose columns are not one after the other from the first record on, or are many:
//! backwards, with strides, as bits, into several columns.

use monoscan_codegen::cpu;
use smallvec::SmallVec;

use crate::call::{Call, Init, Shape};
use crate::column::{Column, ColumnMut};
use crate::dynscan::DynScan;
use crate::engine::Bases;
use crate::spacing::{Spacings, is_contiguous};

impl DynScan {
    /// Scans a short line from the identities, of columns that were checked and have space for all records. Gives how many were
    /// written, if it did. The outputs may be the inputs.
    pub(crate) fn scanned_spaced(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &[ColumnMut<'_>],
        len: usize,
    ) -> Option<usize> {
        let is_line = matches!(call.shape, Shape::Line) && call.init == Init::Identity && call.interrupt.is_none();
        let has_space = outputs.iter().all(|output| output.len >= len);
        if !is_line || !has_space || len == 0 || !self.is_plain(call.mode) {
            return None;
        }
        let is_plain = !call.reversed && is_contiguous(inputs, Some(outputs));
        let short = self.variants().make_short_spaced(call.mode, len, is_plain).ok().flatten()?;
        let of = Spacings::of_any(self.program(), inputs, outputs);
        let mut spacings: SmallVec<[cpu::Spacing; 8]> = of.inputs.into_iter().chain(of.outputs).collect();
        let mut from: Bases<*const u8> = inputs.iter().map(|column| column.base).collect();
        let mut to: Bases<*mut u8> = outputs.iter().map(|column| column.base).collect();
        if call.reversed {
            let (inputs, outputs) = spacings.split_at_mut(from.len());
            let last = |spacing: &mut cpu::Spacing| {
                let distance = spacing.step.wrapping_mul(len as i64 - 1);
                spacing.step = -spacing.step;
                distance
            };
            let columns = from.iter_mut().zip(&self.program().inputs).zip(inputs);
            columns.for_each(|((base, layout), spacing)| match cpu::Spacing::is_by_bits(layout) {
                true => spacing.first = spacing.first.wrapping_add_signed(last(spacing)),
                false => *base = base.wrapping_offset(last(spacing) as isize),
            });
            to.iter_mut().zip(outputs).for_each(|(base, spacing)| *base = base.wrapping_offset(last(spacing) as isize));
        }
        // SAFETY: the columns were checked, and are borrowed for as long as this runs; each record is read before it is written.
        unsafe { short.scan((&from, &to), &spacings, self.settings().parameters.as_ptr(), len) };
        Some(len)
    }
}
