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

use super::line::{AGGREGATE, Line, Strip, Worker};
use super::slots::Slots;

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
#[derive(Clone, Copy, Default)]
pub(super) struct Patience {
    /// How many tiles to go until then.
    skips: u32,
    /// How many it skips after the next end that finds nothing.
    next: u32,
}

impl Line<'_> {
    /// Whether a tile's last elements forget what was before them. Then the aggregate of the whole tile is theirs.
    pub(super) fn reduce_end(&self, tile: Range<usize>, worker: &mut Worker<'_>) -> bool {
        let Some(restarts) = &self.kernels.restarts else { return false };
        if let Some(fewer) = worker.patience.skips.checked_sub(1) {
            worker.patience.skips = fewer;
            return false;
        }
        let lengths = std::iter::successors(Some(FEWEST_AT_END), |elements| Some(MORE_AT_END * elements));
        let forgets = lengths.take_while(|&elements| elements <= tile.len() / PART_AT_END).any(|elements| {
            let end = Strip { start: tile.end - elements, block: elements, interleave: 1, slot: AGGREGATE };
            self.reduce(0, end, worker);
            restarts.are_in(&worker.states, AGGREGATE)
        });
        let next = worker.patience.next;
        worker.patience = match forgets {
            true => Patience::default(),
            false => Patience { skips: next, next: (2 * next + 1).min(MOST_SKIPPED) },
        };
        forgets
    }
}
