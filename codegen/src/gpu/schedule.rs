//! Schedules: how tiles come to a block, where their carry comes from, and how results leave.
//!
//! This file answers each question about a schedule that needs no kernel: one `match` a question.
//! `nvptx/schedule` writes the kernels.

use std::fmt::{self, Display, Formatter};

#[cfg(feature = "ptx")]
use monoscan_ir::automaton::TableBudget;
use monoscan_ir::{Field, Layout};

use super::AccessPattern;

/// How tiles come, go and talk to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Schedule {
    /// One persistent block for each multiprocessor, a ring of buffers in shared memory that bulk copies fill and drain, and
    /// folds that run ahead of the replay. Tiles find their carry by looking ahead: a warp folds what was
    /// published since the block's own last tile.
    Ring {
        /// Buffers, at least `ahead` + 2, and for a cascade 2 · `ahead` + 2; at most [`MOST_BUFFERS`].
        buffers: usize,
        /// By how many tiles the last fold is ahead, at least 1. The first fold of a cascade is twice as far ahead.
        ahead: usize,
        /// Whether columns may begin anywhere that is [natural] for them, and not only at multiples of 16.
        shifted: bool,
    },
    /// A block for each tile. A block reduces its tile, publishes that, and finds its carry by looking back at what the
    /// tiles before it published. Runs every program, on columns at any address, line by line or row by row.
    LookBack,
    /// A thread for each row, from its first record to its last, or for each chunk of one: for rows side by side, and for short ones.
    Columnar,
}

/// The most buffers of a ring.
pub const MOST_BUFFERS: usize = 64;

impl Schedule {
    /// Its name, the first word of its line in a manifest.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Ring { shifted: false, .. } => "ring",
            Schedule::Ring { shifted: true, .. } => "shifted-ring",
            Schedule::LookBack => "look-back",
            Schedule::Columnar => "columnar",
        }
    }

    /// Its line in a manifest.
    #[cfg(feature = "kernels")]
    pub(super) fn words(self) -> String {
        match self {
            Schedule::Ring { buffers, ahead, .. } => format!("{} buffers {buffers} ahead {ahead}", self.name()),
            Schedule::LookBack | Schedule::Columnar => self.name().to_owned(),
        }
    }

    /// The schedule of such a line, none if a manifest cannot have it.
    #[cfg(feature = "kernels")]
    pub(super) fn from_words(words: &str) -> Option<Schedule> {
        let words: Vec<&str> = words.split_whitespace().collect();
        match words[..] {
            [ring @ ("ring" | "shifted-ring"), "buffers", buffers, "ahead", ahead] => {
                let (buffers, ahead) = (buffers.parse().ok()?, ahead.parse().ok()?);
                Some(Schedule::Ring { buffers, ahead, shifted: ring == "shifted-ring" })
                    .filter(|_| (1..MOST_BUFFERS).contains(&ahead) && (ahead + 2..=MOST_BUFFERS).contains(&buffers))
            }
            [name] => [Schedule::LookBack, Schedule::Columnar].into_iter().find(|schedule| schedule.name() == name),
            _ => None,
        }
    }

    /// The alignment of the address of a column.
    pub fn alignment(self, column: &Layout) -> usize {
        match self {
            Schedule::Ring { shifted: false, .. } => 16,
            Schedule::Ring { shifted: true, .. } => natural(column),
            Schedule::LookBack | Schedule::Columnar => 1,
        }
    }

    /// Whether it goes through the records of a call: of a line, or of rows (how many, and from one record of a row to the
    /// next). [`calls`](Schedule::calls) says so in words.
    pub fn takes(self, rows: Option<(usize, usize)>, reversed: bool) -> bool {
        match self {
            Schedule::Ring { .. } => !reversed && rows.is_none_or(|(count, step)| count * step <= 1),
            Schedule::LookBack => rows.is_none_or(|(_, step)| step == 1),
            Schedule::Columnar => rows.is_some(),
        }
    }

    /// The calls that it takes, in words.
    pub fn calls(self) -> &'static str {
        match self {
            Schedule::Ring { shifted: false, .. } => "lines, forwards, in columns at multiples of 16 bytes",
            Schedule::Ring { shifted: true, .. } => "lines, forwards, in columns at multiples of their fields' sizes",
            Schedule::LookBack => "lines and rows one after the other",
            Schedule::Columnar => "rows",
        }
    }

    /// Whether a plan of it that was asked for is taken for calls of this pattern.
    pub fn serves(self, pattern: AccessPattern) -> bool {
        match pattern {
            AccessPattern::Aligned => true,
            AccessPattern::Shifted => matches!(self, Schedule::LookBack | Schedule::Ring { shifted: true, .. }),
            AccessPattern::Any => self == Schedule::LookBack,
            AccessPattern::Short | AccessPattern::Columnar => false,
        }
    }

    /// Blocks to launch on a device of so many multiprocessors, for so many tiles or for rows of a thread each.
    pub(super) fn blocks(self, tiles: usize, blocks_of_rows: usize, multiprocessors: usize) -> usize {
        match self {
            Schedule::Ring { .. } => tiles.min(multiprocessors),
            Schedule::LookBack => tiles,
            Schedule::Columnar if tiles == 0 => 0,
            Schedule::Columnar => blocks_of_rows,
        }
    }

    /// Shared memory that it can spare for look-ups. A persistent block copies tables once, others copy them for each tile. In a ring a tile
    /// stays in shared memory from its fold to its replay.
    #[cfg(feature = "ptx")]
    pub(super) fn table_budget(self) -> TableBudget {
        match self {
            Schedule::Ring { .. } => TableBudget { step_bytes: 80 << 10, keeps_symbols: true },
            Schedule::LookBack => TableBudget { step_bytes: 4 << 10, keeps_symbols: false },
            Schedule::Columnar => NO_TABLES,
        }
    }
}

/// For schedules that make no tables of their own.
#[cfg(feature = "ptx")]
pub(super) const NO_TABLES: TableBudget = TableBudget { step_bytes: 0, keeps_symbols: false };

impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Ring { buffers, ahead, shifted } => {
                let columns = if *shifted { ", shifted columns" } else { "" };
                write!(f, "ring of {buffers} buffers, {ahead} ahead{columns}")
            }
            Schedule::LookBack | Schedule::Columnar => f.write_str(self.name()),
        }
    }
}

/// The alignment of a column whose fields are read and written whole.
pub fn natural(column: &Layout) -> usize {
    let access = |field: &Field| alignment(column.size as usize, field.offset as usize).min(field.ty.size());
    column.fields.iter().map(|field| 1 << access(field).ilog2()).max().unwrap_or(1)
}

/// The largest power of two, up to 16, that divides both.
pub(crate) fn alignment(record: usize, offset: usize) -> usize {
    1 << (record | offset | 16).trailing_zeros()
}
