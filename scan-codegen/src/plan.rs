//! Plans: the schedule of a program on a target, chosen by one small pure function and printable with its reasons.
//!
//! On a CPU an input of n elements is cut in tiles of W blocks. A thread takes a tile, reduces its W blocks in one
//! interleaved loop, folds the W aggregates onto the carry that enters the tile, and replays the W blocks from cache
//! while it writes. W independent chains hide the latency of ⊕, which is what bounds a scan; the tile is as large as
//! the cache allows, so that memory is read once and tiles talk rarely.
//!
//! A plan never depends on the number of cores or threads, so neither does the tree by which elements are combined.

use std::fmt;

use scan_ir::facts::{Facts, work};
use scan_ir::{Layout, Mode, Program, Verified, facts};

use crate::target::CpuTarget;

/// Most blocks a tile is cut in.
pub const MAX_WAYS: usize = 8;

/// What a plan is asked for besides what the planner chooses: for study, and for tests of boundaries.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct PlanOptions {
    /// Blocks of a tile: 1, 2, 4 or 8; another number is rounded down to one of these.
    pub ways: Option<usize>,
    /// Elements of a block, at least 1.
    pub block: Option<usize>,
    /// Inputs of at most this many elements are scanned sequentially.
    pub direct: Option<usize>,
}

/// Whether the result depends on how elements are associated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Association {
    /// It does not: there is no floating-point arithmetic in the operator. One thread may scan sequentially.
    Any,
    /// It does, in the last places: the tree must be the same for any number of threads.
    Fixed,
}

/// The schedule of a program on a CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Blocks of a tile, worked on side by side: 1, 2, 4 or 8.
    pub ways: usize,
    /// Elements of a block.
    pub block: usize,
    /// Inputs of at most this many elements are scanned sequentially, without tiles.
    pub direct: usize,
    /// Whether the association matters.
    pub association: Association,
    reasons: Reasons,
}

/// What the plan was made from.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Reasons {
    read_bytes: usize,
    write_bytes: usize,
    state_bytes: usize,
    fold_latency: usize,
    replay_latency: usize,
    fold_work: usize,
    replay_work: usize,
    combine_work: usize,
    carried: (usize, usize),
    cache_bytes: usize,
    chosen: bool,
}

/// Chooses the schedule of a program, which must have one stage and write.
pub fn plan(program: &Verified<Program>, facts: &Facts, target: &CpuTarget, options: &PlanOptions) -> Plan {
    let reasons = Reasons::of(program, facts, target);
    let ways = options.ways.map_or_else(|| reasons.ways(), supported_ways);
    let block = options.block.map_or_else(|| reasons.block(ways), |block| block.clamp(1, 1 << 30));
    Plan {
        ways,
        block,
        direct: options.direct.unwrap_or(ways * block / 2),
        association: association(program),
        reasons: Reasons { chosen: *options == PlanOptions::default(), ..reasons },
    }
}

impl Plan {
    /// Elements of a tile.
    pub fn tile(&self) -> usize {
        self.ways * self.block
    }
}

impl Reasons {
    fn of(program: &Verified<Program>, facts: &Facts, target: &CpuTarget) -> Reasons {
        let bytes = |columns: &[Layout]| columns.iter().map(|column| column.size as usize).sum();
        let (fold, replay) = (facts::fold_body(program, facts), facts::replay_body(program, facts, Mode::Inclusive));
        let stage = &facts.stages[0];
        Reasons {
            read_bytes: bytes(&program.inputs),
            write_bytes: bytes(&program.output.columns),
            state_bytes: program.stages[0].state.iter().map(|ty| ty.size()).sum(),
            fold_latency: stage.fold_latency as usize,
            replay_latency: stage.replay_latency as usize,
            fold_work: work(&fold.mapping.function) as usize,
            replay_work: work(&replay.mapping.function) as usize,
            combine_work: work(&program.stages[0].combine) as usize,
            carried: (fold.carried.len(), replay.carried.len()),
            cache_bytes: target.l2_bytes / 2,
            chosen: true,
        }
    }

    /// Enough chains to cover the latency of a step by the work of the others, as long as their states fit in registers.
    fn ways(&self) -> usize {
        // A core starts about three of these operations a cycle.
        let busy = (self.fold_work.max(self.replay_work) / 3).max(1);
        let wanted = self.fold_latency.max(self.replay_latency).div_ceil(busy);
        let registers = 16 / self.carried.0.max(self.carried.1).max(1);
        supported_ways(wanted.min(registers))
    }

    /// As many elements as half the second-level cache holds of a tile, in an odd number of cache lines for each column
    /// with records of a power of two: blocks at a distance of 4096 bytes would hinder each other's loads and stores.
    fn block(&self, ways: usize) -> usize {
        let tile = self.cache_bytes / (self.read_bytes + self.write_bytes).max(1);
        let lines = (tile / ways / 64).clamp(16, 1 << 14);
        64 * (lines - 1 + lines % 2)
    }
}

fn supported_ways(wanted: usize) -> usize {
    match wanted {
        0 | 1 => 1,
        2 | 3 => 2,
        4..8 => 4,
        _ => MAX_WAYS,
    }
}

/// Floating-point arithmetic anywhere in the operator makes the association matter. Comparing and moving floats does
/// not round.
fn association(program: &Program) -> Association {
    use scan_ir::Opcode::{Abs, Const, CopySign, Max, Min, Neg, Select, Table};
    let rounds = |stage: &scan_ir::Stage| {
        stage.combine.insts.iter().any(|inst| {
            let exact = matches!(inst.opcode, Const | Select | Min | Max | Neg | Abs | CopySign | Table);
            inst.ty.is_float() && !exact
        })
    };
    if program.stages.iter().any(rounds) { Association::Fixed } else { Association::Any }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { ways, block, direct, association, reasons } = self;
        let tile = self.tile();
        let bytes = reasons.read_bytes + reasons.write_bytes;
        if !reasons.chosen {
            writeln!(f, "plan: overridden in part by request")?;
        }
        writeln!(
            f,
            "ways: {ways} blocks side by side; a step takes {} cycles from carry to carry in the reduction, {} in the replay",
            reasons.fold_latency, reasons.replay_latency
        )?;
        writeln!(
            f,
            "tile: {tile} elements, {ways} × {block}; {} KiB read and written, of {} KiB of cache set aside",
            tile * bytes >> 10,
            reasons.cache_bytes >> 10
        )?;
        writeln!(f, "direct: up to {direct} elements in one sequential pass")?;
        writeln!(
            f,
            "state: {} bytes; the reduction carries {} components, the replay {}",
            reasons.state_bytes, reasons.carried.0, reasons.carried.1
        )?;
        let order = match association {
            Association::Any => "exact in any association, so one thread alone scans sequentially",
            Association::Fixed => "rounded, so the same tree of combinations for any number of threads",
        };
        writeln!(f, "order: left to right; {order}")?;
        writeln!(
            f,
            "work: {} + {} operations an element (reduction + replay), {} × {} a tile",
            reasons.fold_work, reasons.replay_work, ways, reasons.combine_work
        )?;
        writeln!(
            f,
            "depth: 2 × {block} steps in each tile, then {ways} combines from tile to tile: n/{tile} × {ways} in a chain"
        )?;
        write!(
            f,
            "bytes: {} read and {} written an element, once from and to memory; the replay reads from cache",
            reasons.read_bytes, reasons.write_bytes
        )
    }
}
