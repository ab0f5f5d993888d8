//! What schedules look up for a program's automata: which tables, and where blocks keep them.

use std::ops::Deref;
use std::sync::Arc;

use monoscan_ir::automaton::{self, Composition, MapFold, SMALL_TABLE, TableBudget};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Function, Table};

use super::Schedule;

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
        let found = program.look_ups(schedule.map_or(NO_TABLES, budget));
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

/// For schedules that make no tables of their own.
const NO_TABLES: TableBudget = TableBudget { step_bytes: 0, keeps_symbols: false };

/// What a schedule can spare. A persistent block copies tables once, others copy them for each tile. In a ring a tile stays
/// in shared memory from its fold to its replay.
fn budget(schedule: Schedule) -> TableBudget {
    match schedule {
        Schedule::Ring { .. } => TableBudget { step_bytes: 80 << 10, keeps_symbols: true },
        Schedule::LookBack => TableBudget { step_bytes: 4 << 10, keeps_symbols: false },
        Schedule::Columnar => NO_TABLES,
    }
}
