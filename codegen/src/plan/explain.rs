//! A plan in words: for its users what will run, how fast, and what bounds it; with `{:#}` also
//! what was chosen, why, and what it costs.

use std::fmt;

use super::{Association, Plan, Reasons, busy_cycles};
use crate::cpu::Vector;

/// Hundredths of a cycle in which one thread moves a byte from or to memory, and how many threads have that much each.
const CYCLES_A_BYTE: usize = 25;
const MEMORY_THREADS: usize = 6;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary(f)?;
        if f.alternate() { self.details(f) } else { Ok(()) }
    }
}

impl Plan {
    /// The kernels that will run, the speed that is expected of them and its bound, and how results may differ.
    fn summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { direct, least_threads, association, reasons, .. } = self;
        let tiles = format!(
            "in tiles of {} elements, shared among threads; two to four threads only where timed calls are faster",
            self.tile()
        );
        let long = match *least_threads {
            usize::MAX => "in one pass on one thread".to_owned(),
            0 | 1 => tiles,
            least => format!("in one pass on fewer than {least} threads, else {tiles}"),
        };
        writeln!(f, "runs: up to {direct} elements in one loop; longer lines {long}")?;
        let threads = match *least_threads {
            usize::MAX => vec![1],
            least => vec![1, least.max(2)],
        };
        let expected: Vec<String> = threads.into_iter().map(|threads| self.speed(threads)).collect();
        writeln!(f, "expected: {} (long lines)", expected.join("; "))?;
        writeln!(
            f,
            "memory: {} bytes read and {} written an element, once",
            reasons.read_bytes(),
            reasons.write_bytes()
        )?;
        let results = match association {
            Association::Any => "exact, and the same in any association where the laws hold",
            Association::Fixed if self.regroups_blocks() => {
                "rounded in another order than the loop's, by kernels in vectors from the first elements on; the same for any number of threads"
            }
            Association::Fixed if *least_threads == usize::MAX => {
                "scans of a line are rounded in the loop's order, reductions may be in another; the same for any number of threads"
            }
            Association::Fixed => "rounded in another order than the loop's; the same for any number of threads",
        };
        write!(f, "results: {results}")
    }

    /// Whether a kernel in vectors replays blocks, so that no block is the loop to the bit.
    fn regroups_blocks(&self) -> bool {
        self.reasons.lanes.is_some() && (self.vector.scan || self.vector.scan_one)
    }

    /// The expected speed on so many threads, and what bounds it.
    fn speed(&self, threads: usize) -> String {
        let working = if self.is_sequential(threads) { 1 } else { threads };
        let (times, is_bound_by_memory) = self.reasons.expected(self.interleave, self.vector, working);
        let bound = if is_bound_by_memory { "memory" } else { "the operator's instructions" };
        let plural = if threads == 1 { "" } else { "s" };
        format!("{}.{}× the plain loop on {threads} thread{plural}, bound by {bound}", times / 100, times / 10 % 10)
    }

    /// The plan, the reasons for it, and its cost.
    fn details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        let Plan { interleave, block, strips, direct, vector, association, reasons, .. } = self;
        let (tile, bytes) = (self.tile(), reasons.bytes());
        if !reasons.chosen {
            writeln!(f, "plan: overridden in part by request")?;
        }
        writeln!(
            f,
            "interleave: {interleave} blocks side by side; a step takes {} cycles from carry to carry in the reduction, {} in the \
             replay, and keeps the core busy for {}",
            reasons.fold_latency,
            reasons.replay_latency,
            busy_cycles(reasons.fold_work.max(reasons.replay_work))
        )?;
        writeln!(
            f,
            "tile: {tile} elements, {strips} strips of {interleave} × {block}; a strip is {} KiB read and written, a tile {}",
            interleave * block * bytes / 1024,
            tile * bytes / 1024
        )?;
        writeln!(f, "{}", reasons.kernels(*interleave, *vector))?;
        if reasons.most_factors.is_some() {
            writeln!(f, "blocks are short, since products over long ones would run into denormal numbers")?;
        }
        writeln!(f, "direct: up to {direct} elements in one sequential pass")?;
        writeln!(
            f,
            "state: {} bytes; the reduction carries {} components, the replay {}",
            reasons.state_bytes, reasons.carried.0, reasons.carried.1
        )?;
        let order = match association {
            Association::Any => "exact in any association",
            Association::Fixed => "rounded, so the same tree of combinations for any number of threads",
        };
        writeln!(f, "order: left to right; {order}")?;
        writeln!(f, "{}", self.passes())?;
        if self.restarts {
            writeln!(
                f,
                "restarts: of a tile whose last elements forget what was before them, these alone are reduced"
            )?;
        }
        writeln!(
            f,
            "work: {} + {} operations an element (reduction + replay), at most {} a block",
            reasons.fold_work, reasons.replay_work, reasons.combine_work
        )?;
        writeln!(
            f,
            "depth: {} steps within a tile, then {} combines from tile to tile, n/{tile} times in a chain",
            2 * strips * block,
            interleave * strips
        )?;
        write!(
            f,
            "bytes: {} read and {} written an element, once from and to memory; the replay reads from cache",
            reasons.read_bytes(),
            reasons.write_bytes()
        )?;
        match self.streaming {
            usize::MAX => Ok(()),
            least => write!(
                f,
                "\nstores: past the caches on {} threads and more, from {least} elements on",
                self.streaming_threads.max(2)
            ),
        }
    }

    /// How much faster than the plain loop a long line is expected to be on so many threads, in hundredths, and whether memory is what
    /// bounds it.
    pub fn expected(&self, threads: usize) -> (usize, bool) {
        self.reasons.expected(self.interleave, self.vector, if self.is_sequential(threads) { 1 } else { threads })
    }

    /// How many passes are taken, and how fast they are expected to be.
    fn passes(&self) -> String {
        let work = self.reasons.passes(self.interleave, self.vector);
        let work = format!("two passes would cost {}.{}× the work", work / 100, work / 10 % 10);
        let expected = |threads: usize| {
            let (times, bound) = self.expected(threads);
            let bound = if bound { "; memory-bound" } else { "" };
            format!("expected {}.{}× the loop on {threads} threads{bound}", times / 100, times / 10 % 10)
        };
        match self.least_threads {
            usize::MAX => format!("passes: sequential: {work}"),
            1 if self.may_take_one_pass() => format!(
                "passes: two, on one thread too, or one with the same results where timed calls are faster; {}",
                expected(2)
            ),
            1 => format!("passes: two, on one thread too; {}", expected(2)),
            2 => format!("passes: sequential on one thread, two on more; {}", expected(2)),
            least => format!("passes: sequential on fewer than {least} threads: {work}; {}", expected(2 * least)),
        }
    }
}

impl Reasons {
    /// How much faster than the plain loop a long line is expected to be on so many threads, in hundredths, and whether memory is what
    /// bounds it.
    fn expected(&self, interleave: usize, vector: Vector, threads: usize) -> (usize, bool) {
        let [reduce, scan, scan_one] = self.speeds(interleave, vector);
        let memory = CYCLES_A_BYTE * self.bytes() / MEMORY_THREADS.min(threads);
        let computing = if threads == 1 { scan_one.min(reduce + scan) } else { (reduce + scan) / threads };
        let plain = self.speeds(1, Vector::NONE)[2].max(CYCLES_A_BYTE * self.bytes());
        (100 * plain / computing.max(memory).max(1), memory > computing)
    }

    /// Which kernels work in vectors, and what each is expected to take.
    fn kernels(&self, interleave: usize, vector: Vector) -> String {
        let [reduce, scan, scan_one] = self.speeds(interleave, vector);
        let kernel = |name: &str, is_vector: bool, speed: usize| {
            let how = if is_vector && self.lanes.is_some() { "in vectors" } else { "element by element" };
            format!("{name} {how}, {}.{:02} cycles", speed / 100, speed % 100)
        };
        let kernels = [
            kernel("reduction", vector.reduce, reduce),
            kernel("reduction of a line", vector.reduce_one, if vector.reduce_one { reduce } else { self.chain() }),
            kernel("replay", vector.scan, scan),
            kernel("replay of one block", vector.scan_one, scan_one),
        ];
        let form = match self.lanes {
            Some(cost) => {
                format!("a group of {} elements in {} + {} instructions", cost.records, cost.reduce, cost.scan)
            }
            None => "the program has no form in vectors".into(),
        };
        format!("kernels: {} an element; {form}", kernels.join("; "))
    }
}
