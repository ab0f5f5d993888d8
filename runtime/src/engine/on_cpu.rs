//! [`OnCpu`]: the engine as the backend of scans on the CPU.
//!
//! Short lines are done before they come here, where they have a kernel of their own.

use std::sync::Arc;

use monoscan_codegen::cpu::{Access, Kernel};
use monoscan_ir::transform::Form;
use monoscan_ir::{Constant, Mode};

use super::{Bases, Engine, Purpose, Short, Task, Variants};
use crate::backend::{Backend, HostTask};
use crate::column::ColumnMut;
use crate::error::Error;
use crate::spacing::Spacings;
use crate::wrong::usable;

/// Said of programs with absorbing states.
const EARLY: &str = "nothing is read behind a state that no element changes, and all results there are the same";

/// Said of a pass by a [function](super::Natives).
const NATIVE: &str = "your own functions, as rustc compiled them, unless overflow is checked";

/// A program on the CPU.
pub(crate) struct OnCpu {
    pub(crate) variants: Arc<Variants>,
    /// At most so many threads, if that was asked for.
    pub(crate) threads: Option<usize>,
}

impl Backend for OnCpu {
    /// Compiles the kernel of an inclusive scan of short lines. The first long line makes that of long ones: functions and generated code
    /// are raced over its records.
    fn prepare(&self) -> Result<(), Error> {
        if self.variants.make_short(Mode::Inclusive)?.is_none() {
            let variant = self.variants.get(Form::default(), false);
            variant.make(variant.kernels(Access::Line)?, &[Kernel::ScanOne].into(), 1)?;
        }
        Ok(())
    }

    fn run(&self, task: HostTask<'_, '_>, totals: Option<&mut [Constant]>) -> Result<usize, Error> {
        let HostTask { call, settings, inputs, outputs, len } = task;
        let spacings = Spacings::of(&self.variants.program, inputs, outputs.as_deref());
        let engine = Engine { variants: &self.variants, threads: self.threads, settings };
        let spacings = spacings.as_ref();
        let run = |outputs: &[ColumnMut<'_>], capacity: usize, purpose: Purpose, totals: Option<&mut [Constant]>| {
            let (inputs, outputs) = (bases(inputs, |column| column.base), bases(outputs, |column| column.base));
            engine.run(Task { call, inputs, outputs, spacings, len, capacity, purpose }, totals)
        };
        let Some(outputs) = outputs else { return run(&[], 0, Purpose::Reduce, totals).map(|_| 0) };
        let capacities = outputs.iter().map(|column| column.len).enumerate();
        let (column, capacity) = capacities.min_by_key(|&(_, capacity)| capacity).unwrap_or((0, len));
        if capacity < len {
            let expected = run(&[], capacity, Purpose::Count, None)?;
            if expected > capacity {
                return Err(Error::OutputTooShort { column, expected, got: capacity });
            }
        }
        run(outputs, capacity, Purpose::Write, totals)
    }

    fn explain(&self, is_verbose: bool) -> String {
        let variant = self.variants.get(Form::default(), false);
        let plan = if is_verbose { format!("{:#}", variant.plan) } else { variant.plan.to_string() };
        let is_native = variant.is_native().is_ok_and(|is_native| is_native);
        let plan = match variant.ends_early(false) {
            Some(_) => format!("{plan}\nends early: {EARLY}"),
            None => plan,
        };
        if is_native {
            return format!("{plan}\none pass: {NATIVE}");
        }
        let short = usable(self.variants.make_short(Mode::Inclusive)).flatten();
        if short.is_some_and(Short::is_native) { format!("{plan}\nshort lines: {NATIVE}") } else { plan }
    }

    fn block(&self) -> usize {
        let plan = &self.variants.get(Form::default(), false).plan;
        plan.tile() / plan.interleave
    }
}

/// Where columns start.
fn bases<C, T>(columns: &[C], base: impl Fn(&C) -> T) -> Bases<T> {
    let mut bases = Bases::new();
    columns.iter().for_each(|column| bases.push(base(column)));
    bases
}
