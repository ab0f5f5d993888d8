//! Restarts: of a tile whose last elements forget what was before them, only these are reduced.
//!
//! The aggregate of such a tile is that of its last elements, to the bit. So threads know the carry
//! behind the tile at once, and are left with one pass over each. The end is looked at in pieces of
//! 64, 256, … elements, up to an eighth of the tile. Where that finds nothing, the tile is reduced,
//! for a sixth more work in all. So a thread that finds nothing looks less often.

use std::ops::Range;

use monoscan_codegen::cpu::Compiled;
use monoscan_ir::Field;
use monoscan_ir::facts::Restart;
use monoscan_ir::transform::Lowered;
use smallvec::SmallVec;

use super::line::Line;
use super::slots::Slots;
use super::worker::{AGGREGATE, Strip, Worker};

/// The fewest elements at the end of a tile that are looked at, by how many times more they are next, and the least part
/// of a tile that is looked at no more.
const FEWEST_AT_END: usize = 64;
const MORE_AT_END: usize = 4;
const PART_AT_END: usize = 8;
/// The most tiles in a row whose ends are not looked at.
const MOST_SKIPPED: u32 = 31;

/// For each stage, what in its state tells that it forgets those before it.
pub(crate) struct Restarts(SmallVec<[Forgets; 2]>);

enum Forgets {
    /// This flag is set.
    Flag(Field),
    /// These vectors hold one byte, in all lanes.
    Constant(SmallVec<[Field; 1]>),
}

impl Restarts {
    /// Those of a program, if all its stages have one.
    pub(super) fn of(program: &Lowered, code: &Compiled) -> Option<Restarts> {
        let layout = code.state_layout();
        let stages = (0..).zip(&program.stages).zip(program.facts());
        let forgets = stages.map(|((number, stage), facts)| match facts.restart? {
            Restart::Flag(component) => layout.field(number, component).map(Forgets::Flag),
            Restart::ConstantMap => {
                let components = 0..stage.state.len() as u32;
                components
                    .map(|component| layout.field(number, component))
                    .collect::<Option<_>>()
                    .map(Forgets::Constant)
            }
        });
        forgets.collect::<Option<_>>().map(Restarts)
    }

    /// Whether the states in a slot forget all before them.
    fn are_in(&self, states: &Slots<'_>, slot: usize) -> bool {
        self.0.iter().all(|forgets| match forgets {
            Forgets::Flag(field) => states.read(slot, *field).bits() != 0,
            Forgets::Constant(fields) => {
                let mut bytes = fields.iter().flat_map(|field| states.read(slot, *field).to_bytes());
                let first = bytes.next();
                bytes.all(|byte| Some(byte) == first)
            }
        })
    }
}

/// When a thread looks at the end of a tile again.
#[derive(Default)]
pub(super) struct Patience {
    /// How many tiles to go until then.
    skips: u32,
    /// How many it skips after the next end that finds nothing.
    next: u32,
}

impl Patience {
    /// Looks at the end of this tile if it is time to, and goes by whether that found a restart.
    fn look(&mut self, finds: impl FnOnce() -> bool) -> bool {
        if let Some(fewer) = self.skips.checked_sub(1) {
            self.skips = fewer;
            return false;
        }
        let found = finds();
        *self = match found {
            true => Patience::default(),
            false => Patience { skips: self.next, next: (2 * self.next + 1).min(MOST_SKIPPED) },
        };
        found
    }
}

impl Line<'_> {
    /// Whether a tile's last elements forget what was before them. Then the aggregate of the whole tile is theirs.
    pub(super) fn reduce_end(&self, tile: Range<usize>, worker: &mut Worker<'_>) -> bool {
        let Some(restarts) = &self.kernels.restarts else { return false };
        let mut patience = std::mem::take(&mut worker.patience);
        let forgets = patience.look(|| self.forgets_at_end(restarts, tile, worker));
        worker.patience = patience;
        forgets
    }

    /// Reduces pieces at the end of a tile until one forgets what was before it.
    fn forgets_at_end(&self, restarts: &Restarts, tile: Range<usize>, worker: &mut Worker<'_>) -> bool {
        let lengths = std::iter::successors(Some(FEWEST_AT_END), |elements| Some(MORE_AT_END * elements));
        lengths.take_while(|&elements| elements <= tile.len() / PART_AT_END).any(|elements| {
            let end = Strip { start: tile.end - elements, block: elements, interleave: 1, slot: AGGREGATE };
            self.reduce(0, end, worker);
            restarts.are_in(&worker.states, AGGREGATE)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tiles whose ends are looked at, of those that have a restart where `has` says so.
    fn looked_at(tiles: u32, has: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut patience = Patience::default();
        let mut looked = Vec::new();
        for tile in 0..tiles {
            patience.look(|| {
                looked.push(tile);
                has(tile)
            });
        }
        looked
    }

    #[test]
    fn where_ends_find_nothing_fewer_and_fewer_are_looked_at() {
        assert_eq!(looked_at(128, |_| false), [0, 1, 3, 7, 15, 31, 63, 95, 127]);
    }

    #[test]
    fn where_ends_find_restarts_all_are_looked_at() {
        assert_eq!(looked_at(100, |_| true).len(), 100);
    }

    #[test]
    fn restarts_that_begin_late_are_found_within_a_bounded_number_of_tiles() {
        for start in 0..1000 {
            let looked = looked_at(start + 200, |tile| tile >= start);
            let first = looked.iter().position(|&tile| tile >= start).expect("one is found");
            assert!(looked[first] <= start + MOST_SKIPPED);
            assert!(looked[first..].iter().copied().eq(looked[first]..start + 200), "all from there on");
        }
    }

    #[test]
    fn one_end_that_finds_nothing_among_restarts_costs_no_tile() {
        assert_eq!(looked_at(100, |tile| tile % 2 == 0).len(), 100);
    }
}
