//! The tables that a schedule looks up for a program's automata, and where blocks keep them.

use std::ops::Deref;
use std::sync::Arc;

use monoscan_ir::automaton::{self, Composition, MapFold, SMALL_TABLE};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Function, Table};

use super::schedule::{NO_TABLES, Schedule};

/// The folds and the replay of a program, where they go by look-ups, and what a block keeps for them.
pub(crate) struct LookUps {
    found: Arc<automaton::LookUps>,
    /// Those tables of which blocks keep a copy for each bank: small ones that every record is looked up in.
    pub(crate) bank_replicated: Vec<u32>,
}

/// Most compositions that a thread defers before it does them.
pub(crate) const MOST_DEFERRED: usize = 16;

/// Banks of shared memory, and the bytes of a word of one.
pub(crate) const BANKS: usize = 32;
pub(crate) const WORD: usize = 4;

impl LookUps {
    /// Those of a lowered program, for a schedule of ours or for any other.
    pub(crate) fn of(program: &Lowered, schedule: Option<Schedule>) -> LookUps {
        let found = program.look_ups(schedule.map_or(NO_TABLES, Schedule::table_budget));
        let steps = found.folds.iter().flatten().map(MapFold::of_element).chain([&found.replay.mapping.function]);
        let mut bank_replicated: Vec<u32> = steps.flat_map(Function::looked_up).collect();
        let is_small = |table: &Table| table.bytes.len() <= SMALL_TABLE && matches!(table.ty.size(), 1 | 2 | 4);
        bank_replicated.retain(|&table| found.symbols.is_some() && is_small(&found.tables[table as usize]));
        LookUps { found, bank_replicated }
    }

    /// Bytes of a queue in which a thread of a ring defers compositions.
    pub(crate) fn deferred_bytes(&self) -> usize {
        let is_queued = |fold: &MapFold| matches!(fold.composition, Composition::Coalesced { .. });
        if self.folds.iter().flatten().any(is_queued) { 2 * MOST_DEFERRED } else { 0 }
    }
}

impl Deref for LookUps {
    type Target = automaton::LookUps;
    fn deref(&self) -> &automaton::LookUps {
        &self.found
    }
}
