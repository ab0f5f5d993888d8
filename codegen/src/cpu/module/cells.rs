//! Where the kernels of a program are, once they were compiled: a cell for each.

use std::ops::Range;
use std::sync::OnceLock;

use super::Compiled;
use crate::cpu::code::Code;
use crate::cpu::recipe::{Kernel, Recipe};
use crate::cpu::rows::LONGEST_STRAIGHT_ROW;

/// A kernel, once it was compiled.
type Cell = OnceLock<Code>;

/// All kernels of a program.
#[derive(Default)]
pub(super) struct Cells {
    scan: Cell,
    scan_one: Cell,
    scan_blocks: Cell,
    together: [Cell; 2],
    /// For rows of so many elements, the first for any number.
    rows: [Cell; LONGEST_STRAIGHT_ROW + 1],
    short_rows: [Cell; LONGEST_STRAIGHT_ROW + 1],
    short_between: Cell,
    short: Cell,
    /// Of any number of vectors, and of so many rows, at [their place](Compiled::place_side_by_side): folds, and those that write.
    side_by_side: [[Cell; 20]; 2],
    /// Those that write and those that do not.
    whole: [Cell; 2],
    short_whole: [Cell; 2],
    levels: Vec<LevelCells>,
}

/// The kernels of a level.
#[derive(Default)]
struct LevelCells {
    /// The bytes of a slot that are the states of its stages.
    part: Range<usize>,
    reduce: Cell,
    reduce_one: Cell,
    carry_update: Cell,
    combine: Cell,
}

impl Cells {
    /// Without any kernel yet.
    pub(super) fn of(recipe: &Recipe) -> Cells {
        let part = |stages: &[u32]| {
            let parts = stages.iter().map(|&stage| &recipe.state.stages[stage as usize]);
            let start = parts.clone().map(|(start, _)| *start).min().unwrap_or(0);
            let end = parts.map(|(start, layout)| start + (layout.size as usize).next_multiple_of(16)).max();
            start..end.unwrap_or(start)
        };
        let levels = recipe.levels.iter();
        let levels = levels.map(|level| LevelCells { part: part(&level.stages), ..LevelCells::default() }).collect();
        Cells { levels, ..Cells::default() }
    }

    /// That of a kernel, if the program has so many levels and rows may be so long.
    #[inline(always)]
    pub(super) fn get(&self, kernel: Kernel) -> Option<&Cell> {
        Some(match kernel {
            Kernel::Scan => &self.scan,
            Kernel::ScanOne => &self.scan_one,
            Kernel::ScanBlocks => &self.scan_blocks,
            Kernel::Together { writes } => &self.together[usize::from(writes)],
            Kernel::Rows(len) => self.rows.get(len)?,
            Kernel::ShortRows(len) => self.short_rows.get(len)?,
            Kernel::ShortBetween => &self.short_between,
            Kernel::Short => &self.short,
            Kernel::SideBySide { rows, writes } => {
                self.side_by_side[usize::from(writes)].get(Compiled::place_side_by_side(rows))?
            }
            Kernel::Whole { writes } => &self.whole[usize::from(writes)],
            Kernel::ShortWhole { writes } => &self.short_whole[usize::from(writes)],
            Kernel::Reduce(level) => &self.levels.get(level)?.reduce,
            Kernel::ReduceOne(level) => &self.levels.get(level)?.reduce_one,
            Kernel::CarryUpdate(level) => &self.levels.get(level)?.carry_update,
            Kernel::Combine(level) => &self.levels.get(level)?.combine,
        })
    }

    /// The bytes of a slot that are the states of a level's stages.
    #[inline]
    pub(super) fn part(&self, level: usize) -> Range<usize> {
        self.levels[level].part.clone()
    }
}
