//! Plans: the schedule of a program on a target, chosen by one small pure function and printable
//! with its reasons.
//!
//! On a CPU an input of n elements is cut in tiles, a tile in strips, and a strip in W blocks. A
//! thread takes a tile, reduces its blocks, those of a strip in one interleaved loop, folds the
//! aggregates onto the carry that enters the tile, and replays the blocks from cache while it
//! writes. W independent chains hide the latency of ⊕, which is what bounds a scan; a tile fits the
//! second-level cache, so that memory is read once, and a strip the first.
//!
//! Two passes are more work than one, so they must be faster or have threads enough. Where elements
//! may be associated in any way, each call decides by its threads. Where results are rounded, how
//! elements are associated must not depend on the number of threads: so the plan decides once, for
//! two passes only where one thread loses nothing by them.

mod explain;
mod speed;
#[cfg(test)]
mod tests;

use monoscan_ir::facts::{Body, StageFacts, work};
use monoscan_ir::transform::Lowered;
use monoscan_ir::{Layout, Program};

use crate::cpu::Vector;
use crate::cpu::simd::{Cost, LaneForm};
use crate::target::CpuTarget;

/// Most blocks of a strip.
pub const MAX_INTERLEAVE: usize = 8;

/// Options that replace choices of the planner: for study, and for tests of boundaries.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct PlanOptions {
    /// Blocks of a strip: 1, 2, 4 or 8; another number is rounded down to one of these.
    pub interleave: Option<usize>,
    /// Elements of a block, at least 1.
    pub block: Option<usize>,
    /// Strips of a tile, at least 1.
    pub strips: Option<usize>,
    /// Inputs of at most this many elements are scanned sequentially.
    pub direct: Option<usize>,
    /// All kernels in vectors, where the program has such a form, or none.
    pub vector: Option<bool>,
    /// Results of at least this many elements are stored past the caches, where several threads store whole vectors of them.
    pub streaming: Option<usize>,
    /// Whether the operator as it was written in Rust takes the elements of one pass; by default if it is faster. Where that cannot
    /// be, generated code takes them, and `explain` does not speak of it. In a crate built with overflow checks, overflow in such a
    /// pass prints the panic's message, and generated code goes on with the same results.
    pub native: Option<bool>,
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
    /// Blocks of a strip, worked on side by side: 1, 2, 4 or 8.
    pub interleave: usize,
    /// Elements of a block.
    pub block: usize,
    /// Strips of a tile.
    pub strips: usize,
    /// Inputs of at most this many elements are scanned sequentially, without tiles.
    pub direct: usize,
    /// Inputs of at most this many elements are left to one thread: helpers would hardly have woken up before it is done.
    pub alone: usize,
    /// Which kernels work in vectors along the elements of a block.
    pub vector: Vector,
    /// On fewer threads a line is scanned in one sequential pass, however long it is: 1 where two passes over W blocks are faster than
    /// one also on one thread, `usize::MAX` where they are never taken.
    pub least_threads: usize,
    /// Whether the association matters.
    pub association: Association,
    /// Results of at least this many elements are stored past the caches, if so many threads write them in vectors.
    pub streaming: usize,
    /// The fewest threads that store results past the caches.
    pub streaming_threads: usize,
    /// Of a tile whose last elements [restart](monoscan_ir::facts::StageFacts::restart) these alone are reduced; then it is scanned in
    /// one pass.
    pub restarts: bool,
    reasons: Reasons,
}

/// The facts that the plan was made from. Latencies are cycles from carry to carry, work is operations an element.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Reasons {
    /// Bytes of a record of each column, read and written.
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// Values that an element of the reduction loads, and those that one of the replay loads and stores.
    moved: (usize, usize),
    state_bytes: usize,
    fold_latency: usize,
    replay_latency: usize,
    longest_path: usize,
    fold_work: usize,
    replay_work: usize,
    combine_work: usize,
    carried: (usize, usize),
    /// Whether records are kept or not.
    filters: bool,
    /// Whether every stage may restart, and all are reduced at once.
    restarts: bool,
    /// Most elements of a block, where the reduction multiplies floats in components that the replay does without.
    most_factors: Option<usize>,
    /// Whether segments begin at flags.
    is_segmented: bool,
    /// The cost of kernels in vectors, if the program has such a form.
    lanes: Option<Cost>,
    l1_bytes: usize,
    l2_bytes: usize,
    chosen: bool,
}

/// Chooses the schedule of a program.
pub fn plan(program: &Lowered, target: &CpuTarget, options: &PlanOptions) -> Plan {
    schedule(Reasons::of(program, target), association(program), options)
}

fn schedule(reasons: Reasons, association: Association, options: &PlanOptions) -> Plan {
    let interleave = options.interleave.map_or_else(|| reasons.interleave(), supported_interleave);
    let vector = match options.vector {
        Some(true) if reasons.is_alone() => Vector::ALONE,
        Some(true) => Vector::ALL,
        Some(false) => Vector::NONE,
        None => reasons.vector(interleave),
    };
    let shows = association == Association::Fixed && reasons.shows_in_rounding(interleave, options.vector.is_some());
    let vector = if shows { Vector::NONE } else { vector };
    // Flags of short lines are learned by a processor, and then the loop's branch is faster than masks in vectors. A function of Rust has
    // it, which may take the elements only in their order.
    let in_order =
        reasons.is_segmented && vector.scan_one && association == Association::Fixed && options.vector.is_none();
    let vector = if in_order { Vector { scan_one: false, ..vector } } else { vector };
    let block = options.block.map_or_else(|| reasons.block(interleave, vector), |block| block.clamp(1, 1 << 30));
    let one_pass = reasons.speeds(interleave, vector)[2].max(1);
    let strips =
        options.strips.map_or_else(|| reasons.strips(interleave * block, one_pass), |strips| strips.clamp(1, 1 << 16));
    let gain = reasons.gain(interleave, vector, association);
    // From which length on two passes make up for the calls of kernels and the fold; without a gain, several
    // threads must make up for waking them, and one tile has work for one only.
    let direct = match (100 * STRIP_CYCLES).checked_div(gain) {
        // A call in strips takes a microsecond more than one of a short line.
        Some(direct) => 2 * direct,
        None => (interleave * block * strips).max(100 * WAKING_CYCLES / one_pass),
    };
    let direct = if in_order { direct.max(MOST_LEARNED.min(100 * ALONE_CYCLES / one_pass)) } else { direct };
    let restarts = reasons.restarts && association == Association::Any && gain == 0;
    // Options that name blocks get blocks.
    let is_asked = options.block.is_some() || options.strips.is_some();
    let least_threads = match association {
        _ if gain > 0 => 1,
        Association::Any if is_asked || restarts => 2,
        Association::Any => reasons.threads_that_pay(interleave, vector),
        // One thread scans and folds in one pass there.
        Association::Fixed if vector.reduce && vector.scan => 1,
        Association::Fixed if is_asked => 1,
        Association::Fixed => usize::MAX,
    };
    Plan {
        interleave,
        block,
        strips,
        direct: options.direct.unwrap_or(direct),
        alone: options.direct.unwrap_or_else(|| direct.max(reasons.alone(interleave, vector))),
        vector,
        least_threads,
        association,
        streaming: options.streaming.unwrap_or_else(|| reasons.streaming(vector)),
        streaming_threads: if options.streaming.is_some() { 1 } else { reasons.streaming_threads(interleave, vector) },
        restarts,
        reasons: Reasons { chosen: *options == PlanOptions::default(), ..reasons },
    }
}

impl Plan {
    /// Elements of a tile.
    #[inline]
    pub fn tile(&self) -> usize {
        self.interleave * self.block * self.strips
    }

    /// Whether one thread may take one pass in place of two, with the same results: of an exact operator; or of blocks in order, if no
    /// kernel in vectors combines them in another order and all records are written.
    pub fn may_take_one_pass(&self) -> bool {
        let in_order = !self.vector.reduce && !self.vector.scan && !self.reasons.filters;
        self.least_threads <= 1 && (self.association == Association::Any || in_order)
    }

    /// How many hundredths of a cycle an element of one sequential pass is expected to take.
    pub fn one_pass(&self) -> usize {
        self.reasons.speeds(self.interleave, self.vector)[2]
    }

    /// The same of a loop element by element, bound by its chain at least.
    pub fn chain(&self) -> usize {
        self.reasons.chain()
    }

    /// Whether so many threads take one sequential pass, however long the line.
    #[inline]
    pub fn is_sequential(&self, threads: usize) -> bool {
        threads.max(1) < self.least_threads
    }
}

impl Reasons {
    fn of(program: &Lowered, target: &CpuTarget) -> Reasons {
        let sizes = |columns: &[Layout]| columns.iter().map(|column| column.size as usize).collect();
        let own = program.own_body(program.replay(), true);
        let replay = own.as_ref().unwrap_or_else(|| program.replay());
        let folds: Vec<&Body> = program.levels().iter().map(|level| &level.body).collect();
        let most = |of: fn(&StageFacts) -> u32| program.facts().iter().map(of).max().unwrap_or(0) as usize;
        let multiplies = folds.iter().filter(|fold| fold.carried.len() > program.replay().carried.len());
        Reasons {
            reads: sizes(&program.inputs),
            writes: sizes(&program.output.columns),
            moved: speed::moved(program, &folds, replay),
            state_bytes: program.stages.iter().flat_map(|stage| &stage.state).map(|ty| ty.size()).sum(),
            fold_latency: most(|stage| stage.fold_latency),
            replay_latency: most(|stage| stage.replay_latency),
            longest_path: most(|stage| stage.longest_path),
            fold_work: folds.iter().map(|fold| speed::operations(&fold.mapping.function)).sum(),
            replay_work: speed::operations(&replay.mapping.function),
            combine_work: program.stages.iter().map(|stage| work(&stage.combine) as usize).sum(),
            carried: (folds.iter().map(|fold| fold.carried.len()).max().unwrap_or(0), replay.state_len()),
            filters: program.output.filter.is_some(),
            restarts: folds.len() == 1 && program.facts().iter().all(|stage| stage.restart.is_some()),
            is_segmented: program.form().heads,
            lanes: LaneForm::of(program).map(|form| form.cost()),
            most_factors: multiplies.filter_map(|fold| speed::most_factors(&fold.mapping.function)).min(),
            l1_bytes: target.l1_bytes,
            l2_bytes: target.l2_bytes,
            chosen: true,
        }
    }

    /// Bytes an element takes in a cache.
    fn bytes(&self) -> usize {
        (self.read_bytes() + self.write_bytes()).max(1)
    }

    fn read_bytes(&self) -> usize {
        self.reads.iter().sum()
    }

    fn write_bytes(&self) -> usize {
        self.writes.iter().sum()
    }

    /// Enough chains to cover the longest path of a step by the work of the others, as long as their states fit in registers.
    fn interleave(&self) -> usize {
        let busy = busy_cycles(self.fold_work.max(self.replay_work));
        let wanted = self.fold_latency.max(self.replay_latency).max(self.longest_path).div_ceil(busy);
        let registers = REGISTERS / self.carried.0.max(self.carried.1).max(1);
        supported_interleave(wanted.min(registers))
    }

    /// As many elements as make a strip fit half the first-level cache, in an odd multiple of a power of two. Where the
    /// reduction multiplies factors that the replay does without, few: products of factors below one would end among
    /// the denormal numbers, which cost a hundred cycles each. In vectors they are whole groups, so that one pass does all.
    fn block(&self, interleave: usize, vector: Vector) -> usize {
        let most = self.most_factors.unwrap_or(1 << 16);
        let group = self.lanes.filter(|_| vector.reduce && vector.scan).map_or(1, |cost| cost.records);
        let unit = group.max(1 << self.block_zeros(interleave));
        let units = (self.l1_bytes / 2 / self.bytes() / interleave).clamp(64, most) / unit;
        unit * (units.max(1) - 1 + units.max(1) % 2)
    }

    /// As many strips as fit an eighth of the second-level cache, of which one pass, at so many hundredths of a cycle an element,
    /// does not take too long: enough work between two tickets to pay for passing a carry, and tiles enough for all threads on
    /// inputs of a megabyte.
    fn strips(&self, strip: usize, one_pass: usize) -> usize {
        let most = (self.l2_bytes / 8 / self.bytes()).min(100 * TILE_CYCLES / one_pass);
        (most / strip).clamp(1, 1 << 10)
    }

    /// From how many elements on results are stored past the caches: where they are written in vectors, and no cache would hold them.
    fn streaming(&self, vector: Vector) -> usize {
        let in_vectors = self.lanes.is_some() && (vector.scan || vector.scan_one);
        let widest = self.writes.iter().max().filter(|_| in_vectors);
        widest.map_or(usize::MAX, |bytes| STREAMING_BYTES / bytes.max(&1))
    }

    /// The fewest threads that store results past the caches: many, where a cache line of them takes long to fill.
    fn streaming_threads(&self, interleave: usize, vector: Vector) -> usize {
        let [_, scan, scan_one] = self.speeds(interleave, vector);
        let line = self.writes.iter().max().map_or(0, |bytes| scan.max(scan_one) * CACHE_LINE / bytes.max(&1));
        if line <= 100 * LINE_CYCLES { 2 } else { MANY_THREADS }
    }

    /// How many zero bits the length of a block ends in: so many that blocks start at whole cache lines of 64 bytes, but
    /// so few that in no column two blocks of a strip start at the same place of a page of 4096 bytes, where their loads
    /// and stores would hinder each other.
    fn block_zeros(&self, interleave: usize) -> u32 {
        let zeros = || self.reads.iter().chain(&self.writes).map(|size| size.trailing_zeros());
        let (least, most) = (zeros().min().unwrap_or(0), zeros().max().unwrap_or(0));
        // Blocks of a strip are less than the interleave factor apart, so this is the distance with the most zero bits.
        let farthest = (interleave / 2).max(1).ilog2();
        6u32.saturating_sub(least).min(11u32.saturating_sub(most + farthest))
    }
}

/// Vector registers of x86-64 and, nearly, of its general ones.
const REGISTERS: usize = 16;

/// About what a strip costs beside its elements, and what setting out for strips does.
const STRIP_CYCLES: usize = 4096;

/// The most flags of a line, about, that a processor learns.
const MOST_LEARNED: usize = 1 << 14;

/// About how long one thread should have to work before another is woken to help: twice what waking it takes.
const WAKING_CYCLES: usize = 100_000;

/// About how long one thread takes for what is left to it alone: a hundred microseconds.
const ALONE_CYCLES: usize = 300_000;

/// About how long a thread should at most be busy with a tile. At its end a line has no tile left for one of the threads, and where it
/// waits for a carry, it waits for another to be done with one.
const TILE_CYCLES: usize = 50_000;

/// Bytes that are in a cache together.
const CACHE_LINE: usize = 64;

/// How long a cache line of results may take to fill by streaming stores, on few threads: lines that take longer were slower so on one
/// Xeon, and hardly faster on another. Segmented sums of `i32` (26 cycles a line) on one of two threads took 1.2 ns an element instead
/// of 0.8, maxima 1.7 instead of 1.0.
const LINE_CYCLES: usize = 16;

/// So many threads wait for memory, and gained by streaming stores in any case.
const MANY_THREADS: usize = 8;

/// Bytes of results that no cache holds until somebody reads them.
const STREAMING_BYTES: usize = 32 << 20;

/// How long a core is busy with so many of these operations; it starts about three a cycle.
fn busy_cycles(work: usize) -> usize {
    (work / 3).max(1)
}

fn supported_interleave(wanted: usize) -> usize {
    match wanted {
        0 | 1 => 1,
        2 | 3 => 2,
        4..8 => 4,
        _ => MAX_INTERLEAVE,
    }
}

/// Floating-point arithmetic anywhere in the operator makes the association matter. Comparing and moving floats does
/// not round.
fn association(program: &Program) -> Association {
    use monoscan_ir::Opcode::{Abs, Const, CopySign, Max, Min, Neg, Select, Table};
    let rounds = |stage: &monoscan_ir::Stage| {
        stage.combine.insts.iter().any(|inst| {
            let exact = matches!(inst.opcode, Const | Select | Min | Max | Neg | Abs | CopySign | Table);
            inst.ty.is_float() && !exact
        })
    };
    if program.stages.iter().any(rounds) { Association::Fixed } else { Association::Any }
}
