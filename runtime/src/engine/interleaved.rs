//! Rows of the CPU engine that are [`Lines`]: which they are, and how they run by the program of
//! all of them.

use monoscan_codegen::cpu::Access;
use monoscan_ir::transform::{Form, interleaved};
use monoscan_ir::{Constant, Mode};

use super::{Engine, Purpose, Short, ShortWhole, Task, Variants, Whole};
use crate::call::Rows;
use crate::error::Error;
use crate::interleaved::Lines;

/// From so many rows on, they are walked down side by side where they fill a vector.
const FEWEST_IN_LANES: usize = 3;

/// Short rows of no more records, all of them together, are a line, whether they fill vectors or not: there the engine's call costs as
/// much.
pub(super) const MOST_IN_ONE_CALL: usize = 1024;

impl Variants {
    /// The kernel that scans a few short [interleaved] rows from the identities in one call, made if this is the first
    /// for so many rows. None if they are not short, have no records, or are in several planes.
    ///
    /// # Errors
    /// [`Error::Miscompiled`] if the kernel is wrong.
    pub(crate) fn make_short_interleaved(&self, mode: Mode, rows: &Rows) -> Result<Option<&Short>, Error> {
        let together = self.interleaved(rows.step()).filter(|_| is_one_call(rows));
        together.map_or(Ok(None), |rows| rows.make_short(mode))
    }

    /// The same, if it was made.
    #[inline]
    pub(crate) fn short_interleaved(&self, mode: Mode, rows: &Rows) -> Option<&Short> {
        let made = self.interleaved.get(rows.step().checked_sub(2)?)?.get()?.as_ref();
        made?.short(mode).filter(|_| is_one_call(rows))
    }

    /// The kernel that reduces such rows from the identities in one call, made if this is the first for so many; none if they are
    /// derived from a loop.
    ///
    /// # Errors
    /// As [`make_short_interleaved`](Variants::make_short_interleaved).
    pub(crate) fn make_interleaved_totals(&self, rows: &Rows) -> Result<Option<&ShortWhole>, Error> {
        let Some(together) = self.interleaved(rows.step()).filter(|_| is_one_call(rows)) else { return Ok(None) };
        together.make_short_whole(Whole::Reduce, 0)?;
        Ok(self.interleaved_totals(rows))
    }

    /// The same, if it was made.
    pub(crate) fn interleaved_totals(&self, rows: &Rows) -> Option<&ShortWhole> {
        let made = self.interleaved.get(rows.step().checked_sub(2)?)?.get()?.as_ref();
        let short = made?.short_whole(Whole::Reduce).filter(|_| is_one_call(rows))?;
        (short.is_for(rows.len()) && !short.are_of_loop()).then_some(short)
    }

    /// Those of so many interleaved rows of the program, two or more, if they are one line.
    pub(super) fn interleaved(&self, rows: usize) -> Option<&Variants> {
        let of = self.interleaved.get(rows.checked_sub(2)?)?;
        let made = || Some(Box::new(self.of_program(interleaved(&self.program, rows)?)));
        of.get_or_init(made).as_deref()
    }
}

/// Whether rows are so few, of so few records, that one call of a kernel takes them.
#[inline]
fn is_one_call(rows: &Rows) -> bool {
    rows.plane_count() == 1 && (1..=MOST_IN_ONE_CALL).contains(&rows.elements())
}

impl<'e> Engine<'e> {
    /// The lines that the rows of a task are, and the program of all of them.
    pub(super) fn lines(&self, task: &Task<'_>, form: Form) -> Option<(Lines, &'e Variants)> {
        if task.spacings.is_some() {
            return None;
        }
        let lines = Lines::of(&self.variants.program, task.call, self.settings.checked)?;
        let together = lines.together();
        // What is short is one as [one call](Variants::make_short_interleaved) has it.
        let is_short = lines.len() * together <= MOST_IN_ONE_CALL;
        if together >= FEWEST_IN_LANES && !is_short {
            let code = &self.variants.get(form, false).kernels(Access::Strided).ok()?.code;
            let fill_vectors = code.many_side_by_side().is_some_and(|(lanes, _)| lanes <= together);
            if fill_vectors && (task.purpose == Purpose::Write || code.folds_side_by_side()) {
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
