//! [`Compiled`] as a backend: the form and the kernel that each call over device memory wants.

use std::sync::Arc;

use monoscan_codegen::gpu::{AccessPattern, natural};
use monoscan_ir::Layout;
use monoscan_ir::transform::Form;
use smallvec::SmallVec;

use super::compiled::Compiled;
use super::kernel::{GpuKernel, Span};
use super::pending::Pending;
use super::task::{Sides, Task};
use super::variant::Need;
use crate::backend::{Backend, HostTask, Outcome};
use crate::call::{Call, Shape};
use crate::checks;
use crate::column::{Column, ColumnMut};
use crate::cuda::Stream;
use crate::error::Error;

/// Rows shorter than this part of a tile are scanned by one thread each.
const SHORT_ROWS: usize = 4;

impl Backend for Compiled {
    fn run(&self, task: HostTask<'_, '_>) -> Result<Outcome, Error> {
        self.run_on_host(task)
    }

    fn explain(&self) -> String {
        match self.kernel() {
            Ok(kernel) => format!("plan for {}: {}\n", self.arch(), kernel.manifest().plan),
            Err(error) => format!("plan for {}: {error}\n", self.arch()),
        }
    }

    fn kernel(&self) -> Result<Arc<GpuKernel>, Error> {
        let variants = &self.shared.variants;
        let need = Need { form: Form::default(), any_states: false, reduces: false };
        variants.get(need).kernel(AccessPattern::Aligned, &variants.maker)
    }

    fn submit(
        &self,
        call: &Call<'_>,
        inputs: &[Column<'_>],
        outputs: &mut [ColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        self.start(self.sides().task(call, inputs, outputs)?, stream)
    }

    fn submit_in_place(
        &self,
        call: &Call<'_>,
        columns: &mut [ColumnMut<'_>],
        stream: &Stream,
    ) -> Result<Pending, Error> {
        checks::can_replace(self.program())?;
        let len = columns.first().map_or(0, ColumnMut::len);
        self.sides().check_outputs(columns, Some(len))?;
        let inputs: SmallVec<_> = columns.iter().map(|column| column.address()).collect();
        self.start(Task { call, outputs: inputs.clone(), inputs, len, capacity: (0, len), reduces: false }, stream)
    }

    fn submit_reduce(&self, call: &Call<'_>, inputs: &[Column<'_>], stream: &Stream) -> Result<Pending, Error> {
        let len = self.sides().check_inputs(inputs)?;
        let call = &Call { totals: true, ..call.clone() };
        let inputs = inputs.iter().map(|column| column.address()).collect();
        // Columns of a program that filters have no space, so nothing is written to where they are.
        let outputs = self.program().output.filter.as_ref().map_or(0, |_| self.program().output.columns.len());
        let outputs = SmallVec::from_elem(0, outputs);
        self.start(Task { call, inputs, outputs, len, capacity: (0, 0), reduces: true }, stream)
    }
}

impl Compiled {
    pub(super) fn sides(&self) -> Sides<'_> {
        let program = self.program();
        Sides {
            device: self.device(),
            inputs: &program.inputs,
            outputs: &program.output.columns,
            keeps: program.output.filter.is_some(),
        }
    }

    fn start(&self, mut task: Task<'_>, stream: &Stream) -> Result<Pending, Error> {
        let call = task.call;
        checks::parameters(|| self.program().parameters.iter().copied(), self.parameters.values())?;
        task.check(self.program(), self.device(), stream)?;
        let is_segmented = matches!(call.shape, Shape::FlagColumn(_));
        let form = Form {
            mode: call.mode,
            heads: is_segmented,
            init: is_segmented && call.init.is_some(),
            checked: self.checked,
            // Kernels for GPUs read no record before an element's own.
            previous: true,
        };
        let need = Need { form, any_states: false, reduces: task.reduces };
        let variants = &self.shared.variants;
        let variant = variants.holding(need, [call.init, call.carry]);
        // Held until the launch is in the stream.
        let _flags = task.add_flags(stream)?;
        let (span, pattern) = match call.shape {
            Shape::Rows(rows) => {
                let tile = variant.tile(&variants.maker);
                let are_short = tile.is_some_and(|tile| rows.len() < tile / SHORT_ROWS && rows.count() > 1);
                (
                    Span::of(rows),
                    if rows.step() > 1 || are_short { AccessPattern::Columnar } else { AccessPattern::Any },
                )
            }
            _ => (task.line(), AccessPattern::Any),
        };
        let is_line = pattern == AccessPattern::Any && span.rows == 1;
        let goes_on = !call.reversed && !task.reduces;
        let is_at = |alignment: fn(&Layout) -> usize| {
            task.is_aligned(&variant.program.inputs, &variant.program.output.columns, alignment)
        };
        let pattern = match is_line {
            true if variant.is_short(span.records, &variants.maker) => AccessPattern::Short,
            true if goes_on && is_at(|_| 16) => AccessPattern::Aligned,
            true if goes_on && is_at(natural) => AccessPattern::Shifted,
            _ => pattern,
        };
        let kernel = || variant.kernel(pattern, &variants.maker);
        // SAFETY: the columns were checked against the program, and the kernel is that of its variant for this form and
        // this access pattern.
        unsafe { task.launch((&variant.states, self.parameters.values()), span, kernel, stream, self.limit) }
    }
}
