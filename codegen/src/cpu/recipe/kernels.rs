//! The kernels that a program has, and those among them that are the same code.

use monoscan_ir::Source;

use super::{Kernel, Recipe};
use crate::cpu::abi::Access;
use crate::cpu::rows::LONGEST_STRAIGHT_ROW;
use crate::cpu::short_inputs::MOST_SHORT_INPUTS;
use crate::cpu::simd;

impl Recipe {
    /// All kernels.
    pub(super) fn kernels(&self) -> Vec<Kernel> {
        let mut all: Vec<Kernel> = [Kernel::ScanOne].into_iter().chain(self.block_kernels()).collect();
        all.extend([false, true].map(|writes| Kernel::Whole { writes }));
        if self.access == Access::Line && self.rank.is_none() {
            all.extend((0..=LONGEST_STRAIGHT_ROW).map(Kernel::Rows));
        }
        if self.has_short() {
            all.push(Kernel::Short);
            all.extend((0..=LONGEST_STRAIGHT_ROW).map(Kernel::ShortRows).filter(|_| self.rank.is_none()));
            all.extend(self.has_short_between().then_some(Kernel::ShortBetween));
            all.extend([false, true].map(|writes| Kernel::ShortWhole { writes }));
        }
        if self.has_short_spaced() {
            all.extend([Kernel::Short, Kernel::ShortWhole { writes: false }, Kernel::ShortWhole { writes: true }]);
        }
        for writes in [true, false] {
            let rows = self.side_by_side().iter().copied().chain([0]).filter(|_| self.has_side_by_side(writes));
            all.extend(rows.map(|rows| Kernel::SideBySide { rows, writes }));
        }
        all
    }

    /// The kernels that reduce, fold and replay blocks.
    pub(crate) fn block_kernels(&self) -> impl Iterator<Item = Kernel> {
        let of_level = |level| {
            [Kernel::Reduce(level), Kernel::ReduceOne(level), Kernel::CarryUpdate(level), Kernel::Combine(level)]
        };
        let blocks = self.whole_blocks().map(|_| Kernel::ScanBlocks);
        let together = [false, true].map(|writes| Kernel::Together { writes });
        let together = together.into_iter().filter(|_| self.has_together());
        [Kernel::Scan].into_iter().chain((0..self.levels.len()).flat_map(of_level)).chain(blocks).chain(together)
    }

    /// The kernel that has the code of this one.
    #[inline(always)]
    pub(crate) fn same_code(&self, kernel: Kernel) -> Kernel {
        match kernel {
            Kernel::ScanOne if self.interleave == 1 && self.vector.scan == self.vector.scan_one => Kernel::Scan,
            Kernel::ReduceOne(level) if self.interleave == 1 => Kernel::Reduce(level),
            Kernel::Rows(len) if len > self.longest_row => Kernel::Rows(0),
            Kernel::ShortRows(len) if len > self.longest_row => Kernel::ShortRows(0),
            _ => kernel,
        }
    }

    /// Whether there is a kernel for short lines: a line's columns are all that it needs.
    pub(crate) fn has_short(&self) -> bool {
        let is_small = self.inputs.len() <= MOST_SHORT_INPUTS && self.outputs.len() == 1;
        self.access == Access::Line && is_small && !self.reads_init
    }

    /// Whether a pass over some records, with or without outputs, gives the same wherever they are in a line: nothing reads an index,
    /// and no result lies behind those that were kept before.
    pub(crate) fn is_anywhere(&self, writes: bool) -> bool {
        let program = &self.program;
        let body = if writes { program.whole_body(true) } else { program.total_body() };
        let keeps = writes && program.output.filter.is_some();
        !(keeps || body.mapping.reads.contains(&Source::Index))
    }

    /// Whether there are kernels for rows side by side, which write or fold.
    pub(crate) fn has_side_by_side(&self, writes: bool) -> bool {
        self.neighbours.as_ref().is_some_and(|(form, _)| writes || simd::folds(form))
    }

    /// The numbers of rows that have a kernel side by side, the most first.
    pub(crate) fn side_by_side(&self) -> &[usize] {
        self.neighbours.as_ref().map_or(&[], |(_, rows)| rows)
    }

    /// Whether there are kernels for short lines of any columns.
    pub(crate) fn has_short_spaced(&self) -> bool {
        self.access != Access::Line && self.rank.is_none() && !self.reads_init
    }

    /// Whether there is a kernel for the segments between offsets: elements are the same wherever they are in a line.
    pub(crate) fn has_short_between(&self) -> bool {
        let own = self.own.as_ref().map_or(self.program.replay(), |own| &own.replay);
        let is_anywhere = |source: &Source| {
            !matches!(source, Source::Next(_) | Source::Prev(_) | Source::First | Source::Last | Source::Index)
        };
        self.has_short() && self.rank.is_none() && own.mapping.reads.iter().all(is_anywhere)
    }
}
