//! Many sequences of one call: the rows of an array, and segments that are only reduced.
//!
//! Short rows, and rows whose records lie apart, are worked on side by side: neighbours need
//! nothing from each other, so one pass does, and W independent chains hide ⊕'s latency. Contiguous
//! rows of a few elements are one loop of generated code. Rows interleave where a scan goes along
//! any axis but the last. Then threads share neighbouring columns ([groups](super::groups)).
//! Vectors take a column in each lane where the operator has such a form: all columns at once, or a
//! few in pieces of rows that stay in cache. The others go W at a time. Long contiguous rows are
//! lines; some columns are [lines](super::interleaved), too. Which way rows go depends on their
//! shape and on what they are asked for, so results do not depend on the number of threads.

use std::ops::Range;
use std::time::Duration;

use monoscan_codegen::cpu::{Access, Kernel};

use super::groups::{Groups, Pieces};
use super::helpers;
use super::line::Line;
use super::slots::Slots;
use super::worker::{BLOCKS, CARRY, Strip, Worker};
use crate::call::Rows;
use crate::parts::shared;

/// Where totals go: (the first sequence, states, the slots that hold its total and those of the sequences after it). Called by the
/// thread that has these sequences.
pub(crate) type Totals<'a> = &'a (dyn Fn(usize, &Slots<'_>, Range<usize>) + Sync);

/// How the rows of an array are walked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowWalk {
    /// All by one call of generated code, one after the other.
    InTurn,
    /// Neighbours together.
    SideBySide,
    /// Each as a line.
    RowByRow,
}

/// From so many rows on, those that interleave are walked down together: one after the other, each would read every cache line
/// of the array again.
const MANY_ROWS: usize = 3;

/// Most records that a thread walks down at a time: their cache lines stay in the nearest cache for the neighbours that share them.
pub(super) const DOWN: usize = 64;

/// Elements of these between two looks at whether the call is interrupted, about.
const AT_ONCE: usize = 1 << 20;

/// Rows that one thread takes together, not fewer elements than this.
pub(super) const LEAST_ELEMENTS: usize = 4096;

/// Contiguous rows of no more elements are worked on one after the other by one call: a core works on several of them at a time by
/// itself.
const FEW_ELEMENTS: usize = 16;

impl<'a> Line<'a> {
    /// This line as two rows of the same records, which must write the same. Needs kernels for lines.
    pub(super) fn in_equal_rows(&self) -> Slots<'a> {
        let mut worker = self.worker(1);
        self.carry.put(&mut worker.states, 0);
        self.rows_in_turn(2, (0, 0), &mut worker);
        worker.states
    }

    /// This line as the first of so many rows, one behind the other. Needs kernels for lines.
    pub(super) fn in_dense_rows(&self, rows: usize) {
        let mut worker = self.worker(1);
        self.carry.put(&mut worker.states, 0);
        self.rows_in_turn(rows, (0, self.len), &mut worker);
    }
}

impl Line<'_> {
    /// Whether rows should be worked on side by side, by strided kernels, rather than each as a line.
    pub(crate) fn prefers_side_by_side(plan: &monoscan_codegen::plan::Plan, rows: &Rows) -> bool {
        let interleaves = rows.step() > 1;
        rows.len() <= plan.direct.max(64) || (interleaves && rows.count() >= MANY_ROWS)
    }

    /// Whether rows that are written should be worked on one after the other by one call: those that are short, or gain nothing from others
    /// at their side.
    pub(crate) fn prefers_in_turn(plan: &monoscan_codegen::plan::Plan, rows: &Rows) -> bool {
        rows.step() == 1 && !rows.is_empty() && rows.len() <= Line::longest_in_turn(plan)
    }

    /// The longest of these, where they are contiguous.
    pub(crate) fn longest_in_turn(plan: &monoscan_codegen::plan::Plan) -> usize {
        let alone = plan.interleave == 1 || plan.vector.scan_one;
        if alone { plan.direct.max(FEW_ELEMENTS) } else { FEW_ELEMENTS }
    }

    /// Rows, of which this line is a template, one after the other. Needs kernels for lines.
    pub(crate) fn in_turn(&self, rows: &Rows, threads: usize) {
        let together = LEAST_ELEMENTS.div_ceil(self.len);
        let work = || {
            let mut worker = self.worker(1);
            self.carry.put(&mut worker.states, 0);
            move |unit: usize| {
                if self.is_interrupted() {
                    return;
                }
                let some = unit * together..rows.count().min((unit + 1) * together);
                self.rows_in_turn(some.len(), (rows.record_of(some.start, false), rows.pitch()), &mut worker);
            }
        };
        let units = rows.count().div_ceil(together);
        let threads = 1 + helpers::of(self.plan.alone, rows.count() * self.len, units, || threads);
        let waited = parallel(units, threads, &work);
        helpers::ended(self.plan.alone, together * self.len, waited);
    }

    /// Rows, of which this line is a template, side by side. Needs strided kernels, and those of the groups.
    pub(super) fn side_by_side(&self, rows: &Rows, groups: &Groups, threads: usize, totals: Totals<'_>) {
        if let Some(chunk) = self.folded_at_once(groups) {
            return self.fold_in_chunks(rows, groups, chunk, threads, totals);
        }
        let &Groups { apart, neighbours, group, count, .. } = groups;
        let (planes, most) = (rows.count() / neighbours.max(1), groups.most());
        let work = || {
            let mut worker = self.worker(2 * most);
            move |unit: usize| {
                if self.is_interrupted() {
                    return;
                }
                let (plane, number) = (unit / count, unit % count);
                let (some, pieces) = groups.of(number);
                let row = plane * neighbours + some.start;
                let place = rows.record_of(row, self.step < 0);
                self.group((place, apart), row..row + some.len(), (most, pieces), &mut worker);
                if self.totals {
                    totals(row, &worker.states, most..most + some.len());
                }
            }
        };
        let threads = 1 + helpers::of(self.plan.alone, rows.count() * self.len, planes * count, || threads);
        let waited = parallel(planes * count, threads, &work);
        helpers::ended(self.plan.alone, group * self.len, waited);
    }

    /// Neighbouring rows, the first at record `place`, `apart` records from one to the next. Their totals are left in the
    /// slots from `totals` on.
    fn group(
        &self,
        (place, apart): (usize, usize),
        numbers: Range<usize>,
        (totals, pieces): (usize, &Pieces),
        worker: &mut Worker<'_>,
    ) {
        let (first, rows) = (numbers.start, numbers.len());
        let start = |from: usize, worker: &mut Worker<'_>| {
            (0..rows).for_each(|row| self.starts(first + row).1.put(&mut worker.states, from + row));
        };
        if self.totals && self.len == 0 {
            // The start itself, and not what it and the identity make.
            start(totals, worker);
        } else if self.totals {
            for level in 0..self.kernels.code.levels() {
                // Each level starts from the true states of those before, which are those at the start of the row.
                start(0, worker);
                self.reduce_rows(level, 0..self.len, (place, apart), (pieces, rows), worker);
                self.add_carry(level, first, 0..rows, totals, &mut worker.states);
            }
        }
        if self.writes {
            start(0, worker);
            let down = self.down(pieces, rows);
            for first in (0..self.len).step_by(down) {
                if self.is_interrupted() {
                    return;
                }
                let elements = first..self.len.min(first + down);
                for piece in pieces {
                    self.in_lanes(elements.clone(), piece, true, place, worker);
                }
                let in_lanes = pieces.last().map_or(0, |(some, _)| some.end);
                for (strip, row) in self.interleaved(elements, in_lanes..rows) {
                    let place = place.wrapping_add(row.wrapping_mul(apart));
                    self.rows(None, strip, (place, apart), worker);
                }
            }
        }
    }

    /// How many records such rows are walked down at a time.
    pub(super) fn down(&self, pieces: &Pieces, rows: usize) -> usize {
        // The rest of many is few.
        let are_at_once = pieces.first().is_some_and(|(some, kernel)| some.len() == rows || *kernel == 0);
        if are_at_once { (AT_ONCE / rows).max(DOWN) } else { (self.plan.tile() / rows).clamp(1, DOWN) }
    }

    /// Takes a piece of neighbouring rows past elements, to write or to fold; the first of all is at record `place`.
    pub(super) fn in_lanes(
        &self,
        elements: Range<usize>,
        &(ref rows, of_kernel): &(Range<usize>, usize),
        writes: bool,
        place: usize,
        worker: &mut Worker<'_>,
    ) {
        let kernel = Kernel::SideBySide { rows: of_kernel, writes };
        let strip = Strip { start: elements.start, block: elements.len(), interleave: 1, slot: rows.start };
        let many = self.kernels.code.many_side_by_side().filter(|_| of_kernel == 0);
        let (vectors, words) = many.map_or((1, 0), |(lanes, words)| (rows.len() / lanes, words));
        let mut memory = vec![0u128; vectors * words];
        self.side_by_side_in_lanes(kernel, strip, place.wrapping_add(rows.start), worker, (vectors, &mut memory));
    }

    /// Rows in strips of W, then one by one: each strip with the number of its first row.
    pub(super) fn interleaved(
        &self,
        elements: Range<usize>,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (Strip, usize)> + use<> {
        let interleave = self.plan.interleave;
        let whole = rows.end - rows.len() % interleave;
        let strip = move |row: usize, interleave: usize| {
            (Strip { start: elements.start, block: elements.len(), interleave, slot: row }, row)
        };
        let side_by_side = (rows.start..whole).step_by(interleave).map({
            let strip = strip.clone();
            move |row| strip(row, interleave)
        });
        side_by_side.chain((whole..rows.end).map(move |row| strip(row, 1)))
    }

    /// Each row as a line of its own. Gives `totals` the states after it.
    pub(crate) fn row_by_row(&self, rows: &Rows, threads: usize, totals: Totals<'_>) {
        let reversed = self.step < 0;
        let enter = |row: usize, line: &mut Self| self.enter_row(row, rows.record_of(row, reversed), line);
        self.lines(rows.count(), threads, &|_| self.len, &enter, totals);
    }

    /// The segments between these offsets, each as a line of its own, in which elements keep their numbers.
    pub(crate) fn segment_by_segment(&self, offsets: &[usize], threads: usize, totals: Totals<'_>) {
        let len = |segment: usize| offsets[segment + 1] - offsets[segment];
        let enter = |segment: usize, line: &mut Self| {
            let (start, end) = (offsets[segment], offsets[segment + 1]);
            line.len = end - start;
            (line.first, line.place) =
                if self.step < 0 { (self.len - end, end.wrapping_sub(1)) } else { (start, start) };
            (line.init, line.carry) = self.starts(segment);
        };
        self.lines(offsets.len() - 1, threads, &len, &enter, totals);
    }

    /// Lines of which each is independent, many at once. If they are few, each long one runs on all threads. `enter` makes a copy of
    /// this line, their template, one of them.
    fn lines(
        &self,
        count: usize,
        threads: usize,
        len: &(dyn Fn(usize) -> usize + Sync),
        enter: &(dyn Fn(usize, &mut Self) + Sync),
        totals: Totals<'_>,
    ) {
        let is_long = |row: usize| threads > 1 && count / 4 < threads && len(row) > 2 * self.plan.tile();
        let (all, longest) = (0..count).map(len).fold((0, 0), |(all, longest), len| (all + len, len.max(longest)));
        let together = LEAST_ELEMENTS.div_ceil(longest.max(1)).clamp(1, 256);
        let work = || {
            let mut states = Slots::new(self.kernels.code.state_layout(), together);
            let (mut line, mut worker) = (self.clone(), self.worker(BLOCKS + self.plan.interleave));
            move |unit: usize| {
                if self.is_interrupted() {
                    return;
                }
                let rows = unit * together..count.min((unit + 1) * together);
                for row in rows.clone() {
                    enter(row, &mut line);
                    if is_long(row) {
                        states.take(row - rows.start, &line.run(|| threads), CARRY);
                    } else {
                        line.enter(&mut worker);
                        line.alone(&mut worker);
                        states.take(row - rows.start, &worker.states, CARRY);
                    }
                }
                totals(rows.start, &states, 0..rows.len());
            }
        };
        let units = count.div_ceil(together);
        let threads = 1 + helpers::of(self.plan.alone, all, units, || threads);
        let waited = parallel(units, threads, &work);
        helpers::ended(self.plan.alone, together * longest, waited);
    }

    /// Makes a copy of this line the same from another record on: kernels for lines count from there, strided ones from record 0.
    fn enter_row(&self, row: usize, place: usize, line: &mut Self) {
        (line.init, line.carry) = self.starts(row);
        if self.kernels.access == Access::Line {
            let inputs = line.inputs.iter_mut().zip(self.inputs.iter().zip(&self.kernels.sizes.inputs));
            inputs.for_each(|(to, (base, &size))| *to = base.wrapping_add(place.wrapping_mul(size)));
            let outputs = line.outputs.iter_mut().zip(self.outputs.iter().zip(&self.kernels.sizes.outputs));
            outputs.for_each(|(to, (base, &size))| *to = base.wrapping_add(place.wrapping_mul(size)));
            line.place = 0;
        } else {
            line.place = place;
        }
    }
}

/// Does units of work that need nothing from each other on at most so many threads; `work` makes what a thread needs. Says how
/// long it waited for the last.
pub(super) fn parallel<F: FnMut(usize) + Send>(
    units: usize,
    threads: usize,
    work: &(dyn Fn() -> F + Sync),
) -> Duration {
    shared(units, threads.min(units).saturating_sub(1), &|_| work())
}
