//! Columns in device memory whose records are not one after the other. Kernels see a copy without
//! gaps: it is gathered in the stream before the launch, and results are scattered after it.
//!
//! A column that is read costs its bytes written and read once more; so does one that is written.
//! One that is not written whole (records are kept, rows have gaps, records have padding) is
//! gathered too, so that what the scan leaves alone comes back as it was.

use monoscan_ir::Layout;

use super::added::Added;
use super::ahead::Helper;
use super::on_gpu::OnGpu;
use super::task::Task;
use crate::cuda::Stream;
use crate::error::Error;
use crate::spacing::Spacing;

/// Records from an address on, the same number of bytes from each to the next: 0 or less too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spaced {
    pub(super) first: u64,
    pub(super) spacing: isize,
}

/// A copy of records from one spacing to another, by a helper kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Respacing {
    pub(super) records: usize,
    /// Bytes of a record.
    pub(super) bytes: usize,
    pub(super) from: Spaced,
    pub(super) to: Spaced,
}

/// A column of a task that its kernel sees a copy of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SpacedColumn {
    /// Its place among the inputs, among the outputs, or both in a scan in place.
    pub(super) input: Option<usize>,
    pub(super) output: Option<usize>,
    records: usize,
    /// Bytes of a record.
    bytes: usize,
    own: Spaced,
    /// Whether its records come to the copy before the launch.
    gathers: bool,
    /// Where the copy is, once there is space for it.
    copy: u64,
}

impl SpacedColumn {
    /// A column that is read; none if it has no gaps.
    pub(super) fn read(place: usize, column: (u64, usize, &Layout), spacing: Option<Spacing>) -> Option<SpacedColumn> {
        let found = SpacedColumn::of(column, spacing)?;
        Some(SpacedColumn { input: Some(place), gathers: true, ..found })
    }

    /// A column that is written, whole or not; none if it has no gaps.
    pub(super) fn written(
        place: usize,
        column: (u64, usize, &Layout),
        spacing: Option<Spacing>,
        is_whole: bool,
    ) -> Option<SpacedColumn> {
        let fields: usize = column.2.types().map(|ty| ty.size()).sum();
        let found = SpacedColumn::of(column, spacing)?;
        Some(SpacedColumn { output: Some(place), gathers: !is_whole || fields < found.bytes, ..found })
    }

    fn of((first, records, layout): (u64, usize, &Layout), spacing: Option<Spacing>) -> Option<SpacedColumn> {
        let bytes = layout.size as usize;
        let Some(Spacing::Bytes(spacing)) = spacing.filter(|&spacing| spacing != Spacing::Bytes(bytes as isize)) else {
            return None;
        };
        let own = Spaced { first, spacing };
        Some(SpacedColumn { input: None, output: None, records, bytes, own, gathers: false, copy: 0 })
    }

    fn copy(&self) -> Spaced {
        Spaced { first: self.copy, spacing: self.bytes as isize }
    }

    fn respacing(&self, from: Spaced, to: Spaced) -> Respacing {
        Respacing { records: self.records, bytes: self.bytes, from, to }
    }
}

impl Task<'_> {
    /// Makes the copies of spaced columns, and puts them where the kernel reads and writes.
    pub(super) fn gather(&mut self, scan: &OnGpu, added: &mut Added, stream: &Stream) -> Result<(), Error> {
        for (number, column) in self.spaced.iter_mut().enumerate() {
            column.copy = added.lease_copy(stream, number, column.records.saturating_mul(column.bytes))?;
            column.input.into_iter().for_each(|place| self.inputs[place] = column.copy);
            column.output.into_iter().for_each(|place| self.outputs[place] = column.copy);
            if column.gathers {
                scan.source.helpers(Helper::Copies)?.respace(&column.respacing(column.own, column.copy()), stream)?;
            }
        }
        Ok(())
    }

    /// Puts results in spaced columns where they belong. Gives whether there are such.
    pub(super) fn scatter(&self, scan: &OnGpu, stream: &Stream) -> Result<bool, Error> {
        let mut any = false;
        for column in self.spaced.iter().filter(|column| column.output.is_some()) {
            scan.source.helpers(Helper::Copies)?.respace(&column.respacing(column.copy(), column.own), stream)?;
            any = true;
        }
        Ok(any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Settings;
    use crate::call::{Call, Rows, Shape};
    use crate::column::{Column, ColumnMut};
    use crate::parameters::Parameters;
    use monoscan_ir::{Program, text};

    /// Keeps odd numbers, or writes beside each record: a column of `u32` in, one of records of so many bytes out.
    fn program(keeps: bool, bytes: usize) -> Program {
        let filter = "filter (%0 = record.0: u32) {\n  %1 = const.u32 1\n  %2 = eq.bool %0, %1\n  return %2\n}";
        let (output, filter) = if keeps { ("emit", filter) } else { ("write", "") };
        let source = format!(
            "program sums
               input {{ size 4, align 4, u32 @ 0 }}
               stage (u32)
                 identity (0)
                 lift (%0 = record.0: u32) {{ return %0 }}
                 combine (%0: u32, %1: u32) {{
                   %2 = add.u32 %0, %1, wraps
                   return %2
                 }}
               output {output}
                 column {{ size {bytes}, align 4, u32 @ 0 }}
                 {filter}
                 project (%0 = state.0: u32) {{ return %0 }}"
        );
        text::parse(&source).unwrap()
    }

    /// The treatment of the columns of a call: of each with gaps whether it is read, written and gathered, and the addresses of all.
    fn planned(
        program: &Program,
        call: &Call<'_>,
        spacings: [Option<Spacing>; 2],
    ) -> (Vec<(bool, bool, bool)>, Vec<u64>) {
        let (device, settings) =
            (crate::Device::cpu(), Settings { parameters: &Parameters::default(), checked: false });
        let [input, output] = [&program.inputs[0], &program.output.columns[0]];
        // SAFETY: nobody reads or writes there.
        let (input, output) = unsafe {
            (Column::on_device_raw(device, 256, 24, input), ColumnMut::on_device_raw(device, 512, 24, output))
        };
        let (input, output) = (input.spaced(spacings[0]), output.spaced(spacings[1]));
        let task = Task::new((program, device), (call, settings), &[input], &[output]).unwrap();
        let column = |column: &SpacedColumn| (column.input.is_some(), column.output.is_some(), column.gathers);
        (task.spaced.iter().map(column).collect(), task.inputs.iter().chain(&task.outputs).copied().collect())
    }

    #[test]
    fn what_a_call_may_leave_alone_is_gathered() {
        let (line, gap) = (Call::default(), |bytes| Some(Spacing::Bytes(bytes)));
        let plain = program(false, 4);
        assert_eq!(planned(&plain, &line, [None, None]), (vec![], vec![256, 512]));
        assert_eq!(planned(&plain, &line, [gap(4), gap(4)]), (vec![], vec![256, 512]));
        let (read, written, changed) = ((true, false, true), (false, true, false), (false, true, true));
        assert_eq!(planned(&plain, &line, [gap(0), None]), (vec![read], vec![0, 512]));
        assert_eq!(planned(&plain, &line, [gap(-4), gap(12)]), (vec![read, written], vec![0, 0]));
        // Kept records are fewer than there is space for, padding is not written, and neither is what lies between rows.
        assert_eq!(planned(&program(true, 4), &line, [None, gap(8)]).0, [changed]);
        assert_eq!(planned(&program(false, 8), &line, [None, gap(12)]).0, [changed]);
        let rows = |rows| Call { shape: Shape::Rows(rows), ..Call::default() };
        assert_eq!(planned(&plain, &rows(Rows::new(4, 5, 6).unwrap()), [None, gap(8)]).0, [changed]);
        assert_eq!(planned(&plain, &rows(Rows::new(4, 6, 6).unwrap()), [None, gap(8)]).0, [written]);
    }

    #[test]
    fn a_column_in_place_has_one_copy() {
        let (program, call, device) = (program(false, 4), Call::default(), crate::Device::cpu());
        let settings = Settings { parameters: &Parameters::default(), checked: false };
        // SAFETY: nobody reads or writes there.
        let column = unsafe { ColumnMut::on_device_raw(device, 512, 24, &program.inputs[0]) };
        let column = column.spaced(Some(Spacing::Bytes(-8)));
        let task = Task::in_place((&program, device), (&call, settings), &[column]).unwrap();
        let [SpacedColumn { input: Some(0), output: Some(0), gathers: true, .. }] = task.spaced[..] else {
            panic!("{:?}", task.spaced)
        };
    }
}
