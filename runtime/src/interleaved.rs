//! A few interleaved rows, as one line of wider records: how the call for rows becomes that for
//! lines of the [`interleaved`](monoscan_ir::transform::interleaved) program, and how their states
//! come back. The CPU engine and GPUs do it alike.

use std::ops::Range;

use monoscan_ir::{Constant, MAX_STAGES, Program};
use smallvec::SmallVec;

use crate::call::{Call, Init, Rows, Shape};
use crate::error::Error;

/// Most rows that are one line.
pub(crate) const MOST: usize = 16;

/// The rows of a call, as lines: one for each plane.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    rows: Rows,
    /// Where the components of each stage are in the states of one row.
    stages: SmallVec<[Range<usize>; MAX_STAGES]>,
}

impl Lines {
    /// The lines that the rows of a call are, if it has few that interleave. A checked scan finds overflows in rows, and a carry that
    /// has the record before is that of a row, so these have none.
    pub(crate) fn of(program: &Program, call: &Call<'_>, checked: bool) -> Option<Lines> {
        let Shape::Rows(rows) = call.shape else { return None };
        let (together, planes) = (rows.step(), rows.plane_count());
        let are_few = (2..=MOST).contains(&together) && (planes == 1 || rows.pitch().is_multiple_of(together));
        if !are_few || rows.is_empty() || planes == 0 || checked || call.carry.is_some() && program.reads_previous() {
            return None;
        }
        let mut first = 0;
        let stages = program.stages.iter().map(|stage| {
            let own = first..first + stage.state.len();
            first = own.end;
            own
        });
        Some(Lines { rows, stages: stages.collect() })
    }

    /// How many rows a line has.
    pub(crate) fn together(&self) -> usize {
        self.rows.step()
    }

    /// How many records a line has.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// How many records columns have that have so many of the rows' program.
    pub(crate) fn records(&self, of_rows: usize) -> usize {
        if self.rows.plane_count() == 1 { self.rows.len() } else { of_rows / self.together() }
    }

    /// Runs the call for lines that is this one for rows.
    pub(crate) fn call<R>(&self, call: &Call<'_>, run: impl FnOnce(&Call<'_>) -> Result<R, Error>) -> Result<R, Error> {
        let states = match call.init {
            Init::Identity => Vec::new(),
            Init::Same(state) => self.joined(&state.repeat(self.together())),
            Init::Each(states) => self.joined(states),
        };
        let init = match call.init {
            Init::Identity => Init::Identity,
            Init::Same(_) => Init::Same(&states),
            Init::Each(_) => Init::Each(&states),
        };
        let carry = call.carry.map(|carry| self.joined(carry));
        let shape = match self.rows.plane_count() {
            1 => Shape::Line,
            planes => Shape::Rows(Rows::new(planes, self.rows.len(), self.rows.pitch() / self.together())?),
        };
        run(&Call { init, carry: carry.as_deref(), shape, ..call.clone() })
    }

    fn components(&self) -> usize {
        self.stages.last().map_or(0, |stage| stage.end)
    }

    /// The states of rows, as those of lines: stage by stage, and in each row by row.
    fn joined(&self, states: &[Constant]) -> Vec<Constant> {
        let mut joined = Vec::with_capacity(states.len());
        for plane in states.chunks_exact(self.components() * self.together()) {
            for stage in &self.stages {
                joined.extend(plane.chunks_exact(self.components()).flat_map(|row| &row[stage.clone()]));
            }
        }
        joined
    }

    /// The states of lines, as those of rows, one after the other.
    pub(crate) fn by_row(&self, joined: &[Constant]) -> Vec<Constant> {
        let (components, together) = (self.components(), self.together());
        let mut states = joined.to_vec();
        let of_plane = joined.chunks_exact(components * together);
        for (plane, rows) in of_plane.zip(states.chunks_exact_mut(components * together)) {
            for stage in &self.stages {
                let of_rows = plane[together * stage.start..together * stage.end].chunks_exact(stage.len());
                for (state, row) in of_rows.zip(rows.chunks_exact_mut(components)) {
                    row[stage.clone()].copy_from_slice(state);
                }
            }
        }
        states
    }
}
