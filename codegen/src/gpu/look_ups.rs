//! What schedules look up, where a program's states are maps: its folds by names, and its replay by letters.

use monoscan_ir::facts::{LaneBody, Left, Names, SMALL_TABLE, Tabulated, by_lanes};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Function, Table};

use super::Schedule;

/// The folds and the replay of a program, where they go by look-ups.
pub(crate) struct LookUps {
    /// For each stage its names, if it has any.
    pub(crate) names: Vec<Option<Names>>,
    /// The replay by lanes, or by letters if there are such.
    pub(crate) replay: LaneBody,
    /// How many letters there are that a fold leaves to the replay.
    pub(crate) letters: Option<u32>,
    /// The tables of all of these: those of the program, and more behind them.
    pub(crate) tables: Vec<Table>,
    /// Those tables of which blocks keep a copy for each bank: small ones that every record is looked up in.
    pub(crate) bank_replicated: Vec<u32>,
}

/// Most notes that a thread takes before it does what they say.
pub(crate) const MOST_DEFERRED: usize = 16;

/// Banks of shared memory, and the bytes of a word of one.
pub(crate) const BANKS: usize = 32;
pub(crate) const WORD: usize = 4;

impl LookUps {
    /// Finds them for a lowered program. Letters are left where a tile stays in shared memory from its fold to its replay.
    pub(crate) fn of(program: &Lowered, schedule: Option<Schedule>) -> LookUps {
        let most_bytes = schedule.map_or(0, most_name_bytes);
        let mut replay = by_lanes(program);
        let mut names: Vec<Option<Names>> = vec![None; program.stages.len()];
        let stays = matches!(schedule, Some(Schedule::Ring { .. }));
        let tabulated = stays.then(|| Tabulated::of(program, &replay, most_bytes)).flatten();
        let letters = tabulated.as_ref().map(|tabulated| tabulated.letters);
        let mut tables = replay.tables.clone();
        if let Some(tabulated) = tabulated {
            names[tabulated.stage as usize] = Some(tabulated.names);
            (replay, tables) = (tabulated.body.clone(), tabulated.body.tables);
        } else if most_bytes > 0 {
            for (stage, names) in (0..).zip(&mut names) {
                *names = Names::of(program, stage, &tables, most_bytes);
                tables = names.as_ref().map_or(tables, |names| names.tables.clone());
            }
        }
        let steps = names.iter().flatten().map(|names| &names.step).chain([&replay.mapping.function]);
        let mut bank_replicated: Vec<u32> = steps.flat_map(Function::looked_up).collect();
        let is_small = |table: &Table| table.bytes.len() <= SMALL_TABLE && matches!(table.ty.size(), 1 | 2 | 4);
        bank_replicated.retain(|&table| letters.is_some() && is_small(&tables[table as usize]));
        LookUps { names, replay, letters, tables, bank_replicated }
    }

    /// Bytes of notes that a thread of a ring takes of what its folds leave behind.
    pub(crate) fn deferred_bytes(&self) -> usize {
        let is_deferred = |names: &Names| matches!(names.left, Some(Left::At(_)));
        if self.names.iter().flatten().any(is_deferred) { 2 * MOST_DEFERRED } else { 0 }
    }
}

/// Most bytes of the table by which maps are folded in names. A persistent block copies it once, others copy it for each
/// tile.
fn most_name_bytes(schedule: Schedule) -> usize {
    match schedule {
        Schedule::Ring { .. } => 80 << 10,
        Schedule::LookBack => 4 << 10,
        Schedule::Columnar => 0,
    }
}
