//! A few interleaved rows, as one line of wider records: [`interleaved`] says how.

use std::ops::Range;

use monoscan_codegen::cpu::Access;
use monoscan_ir::Constant;
use monoscan_ir::transform::{Form, interleaved};

use super::{Engine, Purpose, Task, Variants};
use crate::call::{Call, Init, Rows, Shape};
use crate::error::Error;

/// Most rows that are one line.
pub(super) const MOST: usize = 16;

/// From so many rows on, they are walked down side by side where they fill a vector.
const FEWEST_IN_LANES: usize = 3;

/// Short rows of no more records, all of them together, are a line, whether they fill vectors or not: there the engine's call costs as
/// much.
pub(super) const MOST_IN_ONE_CALL: usize = 1024;

/// The forms of the program of so many rows, which are of these.
pub(super) fn of(variants: &Variants, rows: usize) -> Option<Variants> {
    let program = interleaved(&variants.program, rows)?;
    Some(variants.of_program(program))
}

/// The rows of a task, as lines of a program of their own.
pub(super) struct Lines<'a> {
    variants: &'a Variants,
    rows: Rows,
    /// Where the components of each stage are in the states of one row.
    stages: Vec<Range<usize>>,
}

impl<'e> Engine<'e> {
    /// The lines that the rows of a task are, if they are few and interleave.
    pub(super) fn lines(&self, task: &Task<'_>, form: Form) -> Option<Lines<'e>> {
        let Shape::Rows(rows) = task.call.shape else { return None };
        let (together, planes) = (rows.step(), rows.plane_count());
        let are_few = (2..=MOST).contains(&together) && (planes == 1 || rows.pitch() % together == 0);
        let resumes_previous = task.call.carry.is_some() && self.variants.reads_previous;
        if !are_few || rows.is_empty() || task.spacings.is_some() || self.settings.checked || resumes_previous {
            return None;
        }
        // What is short is one as [one call](Variants::make_short_interleaved) has it.
        let is_short = rows.len() * together <= MOST_IN_ONE_CALL;
        if together >= FEWEST_IN_LANES && task.purpose == Purpose::Write && !is_short {
            let kernels = self.variants.get(form, false).kernels(Access::Strided).ok()?;
            if kernels.code.many_side_by_side().is_some_and(|(lanes, _)| lanes <= together) {
                return None;
            }
        }
        let mut first = 0;
        let stages = self.variants.program.stages.iter().map(|stage| {
            let own = first..first + stage.state.len();
            first = own.end;
            own
        });
        Some(Lines { variants: self.variants.interleaved(together)?, rows, stages: stages.collect() })
    }

    /// Runs a task whose rows are these lines.
    pub(super) fn run_lines(
        &self,
        lines: &Lines<'_>,
        task: Task<'_>,
        totals: Option<&mut [Constant]>,
    ) -> Result<usize, Error> {
        let Task { call, .. } = task;
        let together = lines.rows.step();
        let init = match call.init {
            Init::Identity => Vec::new(),
            Init::Same(state) => lines.joined(&state.repeat(together)),
            Init::Each(states) => lines.joined(states),
        };
        let init = match call.init {
            Init::Identity => Init::Identity,
            Init::Same(_) => Init::Same(&init),
            Init::Each(_) => Init::Each(&init),
        };
        let carry = call.carry.map(|carry| lines.joined(carry));
        let shape = match lines.rows.plane_count() {
            1 => Shape::Line,
            planes => Shape::Rows(Rows::new(planes, lines.rows.len(), lines.rows.pitch() / together)?),
        };
        let call = Call { init, carry: carry.as_deref(), shape, ..call.clone() };
        let len = if lines.rows.plane_count() == 1 { lines.rows.len() } else { task.len / together };
        let task = Task { call: &call, len, capacity: task.capacity / together, ..task };
        let engine = Engine { variants: lines.variants, threads: self.threads, settings: self.settings };
        let Some(totals) = totals else { return Ok(together * engine.run(task, None)?) };
        let mut joined = totals.to_vec();
        let written = engine.run(task, Some(&mut joined))?;
        lines.part(&joined, totals);
        Ok(together * written)
    }
}

impl Lines<'_> {
    fn components(&self) -> usize {
        self.stages.last().map_or(0, |stage| stage.end)
    }

    /// The states of rows, as those of lines.
    fn joined(&self, states: &[Constant]) -> Vec<Constant> {
        let mut joined = Vec::with_capacity(states.len());
        for plane in states.chunks_exact(self.components() * self.rows.step()) {
            for stage in &self.stages {
                joined.extend(plane.chunks_exact(self.components()).flat_map(|row| &row[stage.clone()]));
            }
        }
        joined
    }

    /// And back.
    fn part(&self, joined: &[Constant], states: &mut [Constant]) {
        let (components, together) = (self.components(), self.rows.step());
        let of_plane = joined.chunks_exact(components * together);
        for (plane, rows) in of_plane.zip(states.chunks_exact_mut(components * together)) {
            for stage in &self.stages {
                let of_rows = plane[together * stage.start..together * stage.end].chunks_exact(stage.len());
                for (state, row) in of_rows.zip(rows.chunks_exact_mut(components)) {
                    row[stage.clone()].copy_from_slice(state);
                }
            }
        }
    }
}
