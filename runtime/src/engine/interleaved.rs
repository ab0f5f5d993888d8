//! Rows of the CPU engine that are [`Lines`]: which they are, and how they run by the program of
//! all of them.

use monoscan_codegen::cpu::Access;
use monoscan_ir::Constant;
use monoscan_ir::transform::Form;

use super::{Engine, Purpose, Task, Variants};
use crate::call::Shape;
use crate::error::Error;
use crate::interleaved::Lines;

/// From so many rows on, they are walked down side by side where they fill a vector.
const FEWEST_IN_LANES: usize = 3;

/// Short rows of no more records, all of them together, are a line, whether they fill vectors or not: there the engine's call costs as
/// much.
pub(super) const MOST_IN_ONE_CALL: usize = 1024;

impl<'e> Engine<'e> {
    /// The lines that the rows of a task are, and the program of all of them.
    pub(super) fn lines(&self, task: &Task<'_>, form: Form) -> Option<(Lines, &'e Variants)> {
        let lines = match task.call.shape {
            Shape::Rows(_) if task.spacings.is_none() => {
                Lines::of(&self.variants.program, task.call, self.settings.checked)?
            }
            _ => return None,
        };
        let together = lines.together();
        // What is short is one as [one call](Variants::make_short_interleaved) has it.
        let is_short = lines.len() * together <= MOST_IN_ONE_CALL;
        if together >= FEWEST_IN_LANES && task.purpose == Purpose::Write && !is_short {
            let kernels = self.variants.get(form, false).kernels(Access::Strided).ok()?;
            if kernels.code.many_side_by_side().is_some_and(|(lanes, _)| lanes <= together) {
                return None;
            }
        }
        Some((lines, self.variants.interleaved(together)?))
    }

    /// Runs a task whose rows are lines.
    pub(super) fn run_lines(
        &self,
        (lines, variants): (&Lines, &Variants),
        task: Task<'_>,
        totals: Option<&mut [Constant]>,
    ) -> Result<usize, Error> {
        let (len, capacity) = (lines.records(task.len), lines.records(task.capacity));
        let engine = Engine { variants, threads: self.threads, settings: self.settings };
        lines.call(task.call, |call| {
            let task = Task { call, len, capacity, ..task };
            let Some(totals) = totals else { return Ok(lines.together() * engine.run(task, None)?) };
            let mut joined = totals.to_vec();
            let written = engine.run(task, Some(&mut joined))?;
            totals.copy_from_slice(&lines.by_row(&joined));
            Ok(lines.together() * written)
        })
    }
}
