//! Folds of rows side by side: what their totals are made of.
//!
//! Rows that are only folded need no carry meanwhile, so long ones are cut in chunks, each folded
//! by any thread, whose aggregates are combined in order. Chunks depend on the shape of the rows
//! alone, so floats are rounded alike by any number of threads.

use std::ops::Range;
use std::sync::OnceLock;

use super::groups::{Groups, Pieces};
use super::helpers;
use super::line::Line;
use super::rows::{DOWN, Totals, parallel};
use super::slots::Slots;
use super::worker::Worker;
use crate::call::Rows;

/// Elements of a chunk, about: few enough for several threads, many for what the aggregates of a chunk cost. Of more rows than these,
/// threads share the rows.
const FOLDED: usize = 1 << 18;
const MANY: usize = 64;

impl Line<'_> {
    /// Folds elements of neighbouring rows, the first at record `place`, into their slots, at a level.
    pub(super) fn reduce_rows(
        &self,
        level: usize,
        elements: Range<usize>,
        (place, apart): (usize, usize),
        (pieces, rows): (&Pieces, usize),
        worker: &mut Worker<'_>,
    ) {
        let are_folded = self.kernels.code.folds_side_by_side();
        let in_lanes = pieces.last().filter(|_| are_folded).map_or(0, |(some, _)| some.end);
        if in_lanes > 0 {
            self.kernels.start_folds(elements.len(), 0..in_lanes, &mut worker.states);
            let down = self.down(pieces, rows);
            for first in elements.clone().step_by(down).take_while(|_| !self.is_interrupted()) {
                for piece in pieces {
                    self.in_lanes(first..elements.end.min(first + down), piece, false, place, worker);
                }
            }
        }
        for (strip, row) in self.interleaved(elements, in_lanes..rows) {
            let place = place.wrapping_add(row.wrapping_mul(apart));
            self.rows(Some(level), strip, (place, apart), worker);
        }
    }

    /// How many elements of each row are folded at a time, each by any thread, if rows side by side are long and only folded. That
    /// depends on their shape alone.
    pub(super) fn folded_at_once(&self, groups: &Groups) -> Option<usize> {
        let chunk = (FOLDED / groups.neighbours.clamp(1, MANY)).max(DOWN);
        let are_folded = groups.apart == 1 && !self.writes && self.totals && self.kernels.code.folds_side_by_side();
        (are_folded && self.len >= 2 * chunk).then_some(chunk)
    }

    /// Totals of long rows side by side, in chunks of so many elements.
    pub(super) fn fold_in_chunks(
        &self,
        rows: &Rows,
        groups: &Groups,
        chunk: usize,
        threads: usize,
        totals: Totals<'_>,
    ) {
        let &Groups { apart, neighbours, count, .. } = groups;
        let (planes, most, chunks) = (rows.count() / neighbours.max(1), groups.most(), self.len.div_ceil(chunk));
        let units = planes * count * chunks;
        let found: Vec<OnceLock<Slots<'_>>> = (0..units).map(|_| OnceLock::new()).collect();
        let work = || {
            let mut worker = self.worker(most);
            let found = &found;
            move |unit: usize| {
                if self.is_interrupted() {
                    return;
                }
                let (group, chunk_of) = (unit / chunks, unit % chunks);
                let (some, pieces) = groups.of(group % count);
                let place = rows.record_of(group / count * neighbours + some.start, self.step < 0);
                let elements = chunk_of * chunk..self.len.min((chunk_of + 1) * chunk);
                self.reduce_rows(0, elements, (place, apart), (pieces, some.len()), &mut worker);
                let mut aggregates = Slots::new(self.kernels.code.state_layout(), some.len());
                (0..some.len()).for_each(|row| aggregates.take(row, &worker.states, row));
                // Each unit is one thread's.
                let _ = found[unit].set(aggregates);
            }
        };
        let threads = 1 + helpers::of(self.plan.alone, rows.count() * self.len, units, || threads);
        let waited = parallel(units, threads, &work);
        helpers::ended(self.plan.alone, groups.group * chunk, waited);
        let mut worker = self.worker(2 * most);
        for (group, found) in found.chunks(chunks).enumerate() {
            let (some, _) = groups.of(group % count);
            let first = group / count * neighbours + some.start;
            (0..some.len()).for_each(|row| self.starts(first + row).1.put(&mut worker.states, most + row));
            // What an interrupted call left out is told by nobody.
            for aggregates in found.iter().filter_map(OnceLock::get) {
                (0..some.len()).for_each(|row| worker.states.take(row, aggregates, row));
                let all = worker.states.first(most + some.len());
                for row in 0..some.len() {
                    // SAFETY: all are slots of this program's states.
                    unsafe { self.kernels.code.combine(0, all.at(most + row), all.at(row), all.at(most + row)) };
                }
            }
            totals(first, &worker.states, most..most + some.len());
        }
    }
}
