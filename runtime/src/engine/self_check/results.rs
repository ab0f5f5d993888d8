//! The results of kernels over a sample, walk by walk.

use monoscan_codegen::cpu::{self, Access, Kernel, ShortInputs};
use monoscan_codegen::plan::Plan;
use monoscan_ir::{Constant, Field, Layout, interp};

use super::Check;
use super::expected::Written;
use super::sample::Sample;
use super::walks::{streamed, writes};
use crate::engine::line::{Bases, Line};
use crate::engine::native;
use crate::engine::slots::{Slots, Start};
use crate::engine::walk::Cut;
use crate::engine::worker::{BLOCKS, Worker};
use crate::wrong::Walk;

/// Rows that are walked together: as many as a vector has lanes at most, and one that is left.
const ROWS: usize = 17;

impl Check<'_> {
    /// The results of a walk over a sample, in blocks of that many elements; none if there is no such kernel.
    pub(super) fn walk(&self, walk: Walk, block: usize, sample: &Sample) -> Option<Written> {
        if let Some(kernel) = streamed(walk) {
            self.kernels.code.streaming(kernel)?;
        }
        let layouts = &self.program.output.columns;
        let is_reversed = self.kernels.access != Access::Line;
        let columns = sample.columns.iter().zip(&self.program.inputs);
        let inputs: Vec<Vec<u8>> = columns.map(|(column, layout)| in_order(column, layout, is_reversed)).collect();
        // Aligned as streaming stores want them.
        let mut outputs: Vec<Vec<u128>> =
            layouts.iter().map(|layout| vec![0; (sample.len * layout.size as usize).div_ceil(16)]).collect();
        let from: Bases<*const u8> = inputs.iter().map(|column| column.as_ptr()).collect();
        let to: Bases<*mut u8> = outputs.iter_mut().map(|column| column.as_mut_ptr().cast()).collect();

        let writes = writes(walk);
        let (count, states) = match walk {
            Walk::Short => (self.short(Kernel::Short, &from, &to, sample, std::ptr::null_mut())?, None),
            Walk::ShortWhole { writes } => self.short_whole(writes, &from, &to, sample)?,
            _ => self.line(walk, block, (from, to), sample),
        };
        let written = outputs.iter().zip(layouts).map(|(column, layout)| {
            let bytes = &bytemuck::cast_slice::<u128, u8>(column)[..count * layout.size as usize];
            in_order(bytes, layout, is_reversed && self.program.output.filter.is_none())
        });
        Some(Written { outputs: writes.then(|| written.collect()), states })
    }

    /// Gives how many records were written, and the states after the line if they are whole.
    fn line(
        &self,
        walk: Walk,
        block: usize,
        (inputs, outputs): (Bases<*const u8>, Bases<*mut u8>),
        sample: &Sample,
    ) -> (usize, Option<Vec<Constant>>) {
        let len = sample.len;
        let layout = self.kernels.code.state_layout();
        let init = self.start();
        let mut plan = self.variant.plan.clone();
        plan.block = block;
        // So there are two tiles.
        (plan.strips, plan.direct) = (1, 0);
        let is_reversed = self.kernels.access != Access::Line;
        let spacings = self.spacings(1);
        let line = Line {
            spacings: &spacings,
            place: if is_reversed { len - 1 } else { 0 },
            step: if is_reversed { -1 } else { 1 },
            writes: writes(walk),
            streams: streamed(walk).is_some(),
            // With whole states blocks are replayed after they were folded, even if there is a kernel that does both.
            totals: matches!(walk, Walk::Totals | Walk::StreamedStrips | Walk::Whole { .. }) || !writes(walk),
            ..self.plain_line((&plan, &init), (inputs, outputs), sample)
        };
        let alone = |scan: &dyn Fn(&mut Worker<'_>)| {
            let mut worker = line.worker(BLOCKS + plan.interleave);
            scan(&mut worker);
            worker.states
        };
        let after = match walk {
            Walk::Rows => line.in_equal_rows(),
            Walk::OnePass | Walk::StreamedPass | Walk::Whole { .. } => alone(&|worker| line.in_one_pass(worker)),
            Walk::Together { .. } => alone(&|worker| line.in_strips(Cut::Blocks, worker)),
            _ => alone(&|worker| line.in_strips(Cut::Strips, worker)),
        };
        let states = line.totals.then(|| layout.fields().map(|field| after.read(0, field)).collect());
        (crate::engine::kept(self.kernels, self.program, &after).unwrap_or(len), states)
    }

    /// The line of a sample, forwards, whose results are written.
    fn plain_line<'a>(
        &'a self,
        (plan, init): (&'a Plan, &'a Slots<'_>),
        (inputs, outputs): (Bases<*const u8>, Bases<*mut u8>),
        sample: &Sample,
    ) -> Line<'a> {
        Line {
            kernels: self.kernels,
            plan,
            inputs,
            outputs,
            spacings: &[],
            len: sample.len,
            first: 0,
            place: 0,
            step: 1,
            segments: None,
            init: Start::only(init),
            carry: Start::only(init),
            each: None,
            interrupt: None,
            parameters: sample.parameters.as_ptr(),
            writes: true,
            is_long: false,
            capacity: sample.len,
            streams: false,
            totals: false,
        }
    }

    /// Of columns whose records are so many sizes of one apart, inputs first.
    fn spacings(&self, apart: isize) -> Vec<cpu::Spacing> {
        let of_input = |layout: &Layout| cpu::Spacing::of_input(apart * layout.size as isize, layout);
        let of_output = |layout: &Layout| cpu::Spacing::of_output(apart * layout.size as isize);
        let outputs = self.program.output.columns.iter().map(of_output);
        self.program.inputs.iter().map(of_input).chain(outputs).collect()
    }

    /// The states that a line starts from.
    fn start(&self) -> Slots<'_> {
        let layout = self.kernels.code.state_layout();
        Slots::one(layout, layout.fields().zip(self.init.iter().flatten().copied()))
    }

    /// The results of a kernel for some rows, one behind the other, each with the records of the sample.
    pub(super) fn rows(&self, kernel: Kernel, sample: &Sample) -> Vec<Written> {
        let layouts = &self.program.output.columns;
        let inputs: Vec<Vec<u8>> = sample.columns.iter().map(|column| column.repeat(ROWS)).collect();
        let bytes = |layout: &Layout| sample.len * layout.size as usize;
        let mut outputs: Vec<Vec<u8>> = layouts.iter().map(|layout| vec![0; bytes(layout) * ROWS]).collect();
        let init = self.start();
        let from = inputs.iter().map(|column| column.as_ptr()).collect();
        let to = outputs.iter_mut().map(|column| column.as_mut_ptr()).collect();
        let line = self.plain_line((&self.variant.plan, &init), (from, to), sample);
        match (kernel, &*line.outputs) {
            (Kernel::ShortRows(len), &[output]) => {
                let columns = short_inputs(&line.inputs, sample);
                let [a, b, c, d] = columns.registers();
                let scan = self.kernels.code.short_rows(len).expect("the kernel was made");
                // SAFETY: the columns have the program's layouts, and so many rows.
                unsafe { scan(ROWS, output, a, b, c, d, len, len) };
            }
            (Kernel::ShortBetween, &[output]) => {
                let columns = short_inputs(&line.inputs, sample);
                let [a, b, c, d] = columns.registers();
                let scan = self.kernels.code.short_between().expect("the kernel was made");
                let offsets: Vec<usize> = (0..=ROWS).map(|row| row * sample.len).collect();
                // SAFETY: the columns have the program's layouts, and so many segments.
                unsafe { scan(ROWS, output, a, b, c, d, offsets.as_ptr()) };
            }
            _ => line.in_dense_rows(ROWS),
        }
        let of_row = |row: usize| {
            let column =
                |(column, layout): (&Vec<u8>, &Layout)| column[row * bytes(layout)..][..bytes(layout)].to_vec();
            Written { outputs: Some(outputs.iter().zip(layouts).map(column).collect()), states: None }
        };
        (0..ROWS).map(of_row).collect()
    }

    /// The results of a kernel for neighbouring rows, each with the records of the sample: outputs, or the states behind them.
    pub(super) fn side_by_side(&self, (kernel, writes): (Kernel, bool), rows: usize, sample: &Sample) -> Vec<Written> {
        let layouts = &self.program.output.columns;
        let apart = |(column, layout): (&Vec<u8>, &Layout)| {
            column.chunks(layout.size as usize).flat_map(|record| record.repeat(rows)).collect::<Vec<u8>>()
        };
        let inputs: Vec<Vec<u8>> = sample.columns.iter().zip(&self.program.inputs).map(apart).collect();
        let mut outputs: Vec<Vec<u8>> =
            layouts.iter().map(|layout| vec![0; sample.len * rows * layout.size as usize]).collect();
        let layout = self.kernels.code.state_layout();
        let fields = || layout.fields().zip(self.init.iter().flatten().copied());
        let mut states = Slots::each(layout, (0..rows).map(|_| fields()));
        let start = self.start();
        if !writes {
            self.kernels.start_folds(sample.len, 0..rows, &mut states);
        }
        let (from, to): (Bases<*const u8>, Bases<*mut u8>) = (
            inputs.iter().map(|column| column.as_ptr()).collect(),
            outputs.iter_mut().map(|column| column.as_mut_ptr()).collect(),
        );
        let of_rows = (0, sample.len as u64, sample.len as u64);
        let (lanes, words) = self.kernels.code.many_side_by_side().unwrap_or((1, 0));
        let mut memory = vec![0u128; rows / lanes * words];
        let args = cpu::TileArgs {
            place: 0,
            step: rows as u64,
            blocks: (rows / lanes) as u64,
            sink: memory.as_mut_ptr().cast(),
            parameters: sample.parameters.as_ptr(),
            ..cpu::TileArgs::line(&from, &to, of_rows, states.from(0))
        };
        // SAFETY: the columns have the program's layouts and so many rows, each with a slot.
        unsafe { self.kernels.code.walk_side_by_side(kernel, &args) };
        let slots = states.first(rows);
        if !writes {
            for row in 0..rows {
                // SAFETY: all are slots of this program's states.
                unsafe { self.kernels.code.combine(0, Start::only(&start).as_ptr(), slots.at(row), slots.at(row)) };
            }
        }
        let after = |row| (!writes).then(|| layout.fields().map(|field| states.read(row, field)).collect());
        let of_row = |row: usize| {
            let column = |(column, layout): (&Vec<u8>, &Layout)| {
                column.chunks(layout.size as usize).skip(row).step_by(rows).flatten().copied().collect()
            };
            Written { outputs: writes.then(|| outputs.iter().zip(layouts).map(column).collect()), states: after(row) }
        };
        (0..rows).map(of_row).collect()
    }

    /// Runs a kernel of short lines, which takes and leaves states there if it has such. With strided or spaced access columns are read and
    /// written from their last records on. Gives how many records it wrote, if there is such a kernel.
    fn short(
        &self,
        kernel: Kernel,
        inputs: &Bases<*const u8>,
        outputs: &Bases<*mut u8>,
        sample: &Sample,
        states: *mut u8,
    ) -> Option<usize> {
        let (code, len) = (&self.kernels.code, sample.len);
        let (columns, output) = (short_inputs(inputs, sample), *outputs.first()?);
        let [a, b, c, d] = columns.registers();
        if self.kernels.access != Access::Line {
            let pass = code.short_spaced(kernel)?;
            let last = |layout: &Layout| len.saturating_sub(1) * layout.size as usize;
            let from = inputs.iter().zip(&self.program.inputs).map(|(base, layout)| base.wrapping_add(last(layout)));
            let to = outputs.iter().zip(&self.program.output.columns);
            let to = to.map(|(base, layout)| base.wrapping_add(last(layout)));
            let (from, to): (Bases<*const u8>, Bases<*mut u8>) = (from.collect(), to.collect());
            let spacings = match self.kernels.access {
                Access::Strided => vec![cpu::Spacing::of_output(-1)],
                _ => self.spacings(-1),
            };
            let parameters = sample.parameters.as_ptr();
            // SAFETY: the columns have the program's layouts and as many records, and the states lie as the kernel was told.
            unsafe { pass(states, len, from.as_ptr(), to.as_ptr(), spacings.as_ptr(), parameters) };
            return Some(len);
        }
        // SAFETY: as above.
        Some(unsafe {
            match kernel {
                Kernel::ShortWhole { writes } => code.short_whole(writes)?(len, output, a, b, c, d, states),
                _ => code.short()?(len, output, a, b, c, d),
            }
        })
    }

    /// The same with whole states, and the states after the line.
    fn short_whole(
        &self,
        writes: bool,
        inputs: &Bases<*const u8>,
        outputs: &Bases<*mut u8>,
        sample: &Sample,
    ) -> Option<(usize, Option<Vec<Constant>>)> {
        let layout = self.kernels.code.whole_states();
        let of_loop = self.program.sequential.as_ref().filter(|_| self.kernels.code.are_of_loop());
        let init = self.init.concat();
        let init = of_loop.map_or_else(|| init.clone(), |of| interp::call(&of.enter, &init, &self.program.tables));
        let mut memory = vec![0u128; (layout.size as usize).div_ceil(16)];
        native::put(layout, bytemuck::cast_slice_mut(&mut memory), &init);
        let states = memory.as_mut_ptr().cast();
        let count = self.short(Kernel::ShortWhole { writes }, inputs, outputs, sample, states)?;
        let states: &[u8] = bytemuck::cast_slice(&memory);
        let read = |field: &Field| Constant::from_bytes(field.ty, &states[field.offset as usize..][..field.ty.size()]);
        let after: Vec<Constant> = layout.fields.iter().map(read).collect();
        let after = of_loop.map_or_else(|| after.clone(), |of| interp::call(&of.leave, &after, &self.program.tables));
        Some((count, Some(after)))
    }
}

/// The columns of a short line, and parameters behind them.
fn short_inputs(inputs: &[*const u8], sample: &Sample) -> ShortInputs {
    ShortInputs::of(inputs.iter().copied(), sample.parameters.as_ptr())
}

fn in_order(column: &[u8], layout: &Layout, is_reversed: bool) -> Vec<u8> {
    match is_reversed {
        true => column.chunks(layout.size as usize).rev().flatten().copied().collect(),
        false => column.to_vec(),
    }
}
