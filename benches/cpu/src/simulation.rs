//! The protocol of tiles on more cores than this machine has: a simulation with the kernels' costs
//! as they are measured here.
//!
//! Each core goes through the steps of `monoscan_protocol::worker`: it goes on with a tile whose
//! carry is known, scans the parked tile, takes a tile, or waits. What a step costs is the kernel's
//! time; memory that all cores share stretches it. Between "the carry is known" and "the prefix is
//! there" a tile takes one combine and one cache line of another core, and that is all that is done
//! one tile after the other.
//!
//! It leaves out strangers, rescues (on a quiet machine there are hardly any), and that a look-back
//! reads several lines at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::busy::operators::{NAMES, Pair, Visitor, visit};
use crate::busy::quantile;
use crate::machine;
use crate::options::Options;
use bench_shared::report::power;

/// One ⊕ of two tiles' states, called through a pointer, in nanoseconds: an assumption, and a high one.
const COMBINE: f64 = 10.0;

/// Rounds of each measurement.
const ROUNDS: usize = 9;

/// Prints what the protocol would reach on many cores, as part of what a copy would.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let line = line_of_another_core();
    println!("{}; a cache line of another core takes {line:.0} ns", machine::describe());
    println!(
        "{:<14} {:>5} {:>7} {:>6} {:>9} {:>8} {:>9} {:>9} {:>12}",
        "operator", "size", "tiles", "cores", "GB/s", "of copy", "1 thread", "one pass", "looked at"
    );
    for elements in options.sizes_or(&[22, 26]) {
        for name in NAMES.into_iter().filter(|name| options.wants_workload(name)) {
            visit(name, elements, &mut Prediction { elements, line, memory: options.memory });
        }
    }
    Ok(())
}

struct Prediction {
    elements: usize,
    line: f64,
    /// GB/s of all cores together.
    memory: f64,
}

impl Visitor for Prediction {
    fn visit<T: Copy + Default + PartialEq + Send + Sync>(&mut self, pair: Pair<T>) {
        let mut results = vec![T::default(); self.elements];
        let bytes = (pair.moved * self.elements) as f64;
        let (from, mut to) = (vec![1u8; bytes as usize / 2], vec![0u8; bytes as usize / 2]);
        let tiles = self.elements.div_ceil(pair.tile);
        let one_pass = 1e9 * median(|| (pair.alone)(&mut results)) / tiles as f64;
        let reduce = 1e9 * median(|| (pair.reduce)()) / tiles as f64;
        let copy = 1e9 * median(|| to.copy_from_slice(&from)) / tiles as f64;
        // A tile that was reduced is replayed from cache: no slower than one pass from memory.
        let costs = Costs { reduce, replay: one_pass, one_pass, combine: COMBINE, line: self.line, memory: 0.0 };
        let alone = simulate(costs, tiles, 1).time;
        for cores in [1, 2, 8, 32, 128] {
            // Bytes a nanosecond are GB/s.
            let memory = bytes / tiles as f64 / self.memory;
            let outcome = simulate(Costs { memory, ..costs }, tiles, cores);
            let copied = (copy / cores as f64).max(memory) * tiles as f64;
            println!(
                "{:<14} {:>5} {tiles:>7} {cores:>6} {:>9.1} {:>8.2} {:>9.2} {:>9.2} {:>12.1}",
                pair.name,
                power(self.elements as u64),
                bytes / outcome.time,
                copied / outcome.time,
                alone / outcome.time,
                outcome.one_pass,
                outcome.looked_at,
            );
        }
    }
}

/// Seconds.
fn median(mut run: impl FnMut()) -> f64 {
    run();
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    quantile(&(0..ROUNDS).map(time).collect::<Vec<_>>(), 0.5)
}

/// Nanoseconds from one thread's store to another's load: half of what there and back takes. On one core it means nothing.
fn line_of_another_core() -> f64 {
    const TURNS: usize = 2_000;
    let turn = AtomicUsize::new(0);
    let take_turns = |own: usize| {
        let mut took = f64::INFINITY;
        let mut start = Instant::now();
        for place in (own..TURNS).step_by(2) {
            while turn.load(Ordering::Acquire) != place {
                std::hint::spin_loop();
            }
            turn.store(place + 1, Ordering::Release);
            // The fastest of a few turns together: a thread that lost its core meanwhile is no measure.
            if place % 100 == own {
                if place > own {
                    took = took.min(start.elapsed().as_nanos() as f64 / 100.0);
                }
                start = Instant::now();
            }
        }
        took
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| take_turns(1));
        take_turns(0).min(other.join().expect("it takes its turns"))
    })
}

/// The costs of a tile on one core, in nanoseconds.
#[derive(Clone, Copy)]
pub(crate) struct Costs {
    /// A reduction, with the fold of its aggregate.
    pub(crate) reduce: f64,
    /// A replay, with the fold of its carries.
    pub(crate) replay: f64,
    /// Both in one go.
    pub(crate) one_pass: f64,
    /// One ⊕.
    pub(crate) combine: f64,
    /// A cache line of another core.
    pub(crate) line: f64,
    /// Nanoseconds of memory for the bytes of a tile, all cores together; 0 in cache.
    pub(crate) memory: f64,
}

/// The result of a simulation.
pub(crate) struct Outcome {
    /// Nanoseconds for all tiles.
    pub(crate) time: f64,
    /// The part of the tiles that took one pass.
    pub(crate) one_pass: f64,
    /// Descriptors that were looked at for a tile.
    pub(crate) looked_at: f64,
}

/// Most tiles that a core reduces ahead.
const AHEAD: usize = 3;

/// When something became known of a tile.
#[derive(Clone, Copy)]
struct Known {
    aggregate: f64,
    prefix: f64,
}

struct Core {
    pending: VecDeque<usize>,
    /// The tile whose carry it found last.
    known: usize,
}

/// Scans so many tiles on so many cores.
pub(crate) fn simulate(costs: Costs, tiles: usize, cores: usize) -> Outcome {
    let mut known = vec![Known { aggregate: f64::INFINITY, prefix: f64::INFINITY }; tiles];
    let mut all: Vec<Core> = (0..cores).map(|_| Core { pending: VecDeque::new(), known: 0 }).collect();
    // Cores by when they are free; times are whole picoseconds, so that they can be ordered.
    let mut free: BinaryHeap<Reverse<(u64, usize)>> = (0..cores).map(|core| Reverse((0, core))).collect();
    let (mut next, mut written, mut one_pass, mut looked_at) = (0, 0, 0usize, 0usize);
    let (mut memory_free, mut end, mut parked) = (0f64, 0f64, None);
    while written < tiles {
        let Some(Reverse((time, core))) = free.pop() else { break };
        let now = time as f64 / 1e3;
        let state = &mut all[core];
        // A kernel that moves this part of a tile's bytes ends when memory has moved them.
        let mut kernel = |start: f64, cost: f64, part: f64| {
            memory_free = memory_free.max(start) + part * costs.memory;
            (start + cost).max(memory_free)
        };
        let oldest = state.pending.front().copied();
        let mut find = |tile| look_back(&known, state.known, tile, now);
        let waits = oldest.map(&mut find);
        let in_front = parked.and_then(|tile| Some((tile, find(tile).ok()?)));
        let has_space = next < tiles && state.pending.len() < if oldest.is_some() { AHEAD } else { 1 };
        let step = if let (Some(tile), Some(Ok(found))) = (oldest, waits) {
            state.pending.pop_front();
            Doing::Replay(tile, found)
        } else if let Some((tile, found)) = in_front {
            parked = None;
            Doing::Scan(tile, found)
        } else if has_space {
            let tile = next;
            next += 1;
            match find(tile) {
                Ok(found) if oldest.is_none() => Doing::Scan(tile, found),
                _ if parked.is_none() && next < tiles => {
                    parked = Some(tile);
                    next += 1;
                    Doing::Reduce(tile + 1)
                }
                _ => Doing::Reduce(tile),
            }
        } else if let Some(Err(until)) = waits {
            // It polls; another core's event comes first.
            Doing::Poll(until)
        } else if parked.is_some() {
            Doing::Poll(now)
        } else {
            continue;
        };
        let carried = |found: Found| now + found.lines as f64 * costs.line + found.combines as f64 * costs.combine;
        let after = match step {
            Doing::Replay(tile, found) => {
                known[tile].prefix = carried(found) + costs.combine;
                kernel(known[tile].prefix, costs.replay, 0.5)
            }
            Doing::Scan(tile, found) => {
                known[tile].prefix = kernel(carried(found), costs.one_pass, 1.0);
                one_pass += 1;
                known[tile].prefix
            }
            Doing::Reduce(tile) => {
                known[tile].aggregate = kernel(now, costs.reduce, 0.5);
                state.pending.push_back(tile);
                known[tile].aggregate
            }
            Doing::Poll(until) => until.clamp(now + 1.0, now + costs.line.max(1.0)),
        };
        if let Doing::Replay(tile, found) | Doing::Scan(tile, found) = step {
            looked_at += found.lines;
            state.known = tile + 1;
            written += 1;
        }
        end = end.max(after);
        free.push(Reverse(((after * 1e3) as u64, core)));
    }
    Outcome { time: end, one_pass: one_pass as f64 / tiles as f64, looked_at: looked_at as f64 / tiles as f64 }
}

/// The action of a core in a step.
#[derive(Clone, Copy)]
enum Doing {
    /// The second pass over a tile.
    Replay(usize, Found),
    /// The one pass over a tile.
    Scan(usize, Found),
    /// The first pass over a tile.
    Reduce(usize),
    /// Nothing, until something becomes known then.
    Poll(f64),
}

/// How many descriptors were looked at and how many aggregates folded to find the carry into a tile.
#[derive(Clone, Copy)]
struct Found {
    lines: usize,
    combines: usize,
}

/// The time that finding the carry into a tile took, or when to look again.
fn look_back(known: &[Known], from: usize, tile: usize, now: f64) -> Result<Found, f64> {
    let found = |lines: usize, combines: usize| Ok(Found { lines, combines });
    let mut until = None;
    for earlier in (from.min(tile)..tile).rev() {
        let Known { aggregate, prefix } = known[earlier];
        if prefix <= now {
            return until.map_or(found(tile - earlier, tile - earlier - 1), Err);
        }
        if aggregate > now {
            until = Some(aggregate.min(prefix));
        }
    }
    until.map_or(found(tile - from.min(tile), tile - from.min(tile)), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs =
        Costs { reduce: 1000.0, replay: 1500.0, one_pass: 2000.0, combine: 5.0, line: 80.0, memory: 0.0 };

    #[test]
    fn one_core_takes_one_pass_for_every_tile() {
        let outcome = simulate(COSTS, 100, 1);
        assert_eq!((outcome.one_pass, outcome.time), (1.0, 100.0 * 2000.0));
    }

    #[test]
    fn of_two_cores_one_takes_one_pass_after_the_other() {
        let outcome = simulate(COSTS, 1000, 2);
        // The other takes 2500 ns a tile.
        let ideal = 1000.0 / (1.0 / 2000.0 + 1.0 / 2500.0);
        assert!(outcome.time < 1.08 * ideal && outcome.one_pass > 0.5, "{} {}", outcome.time / ideal, outcome.one_pass);
    }

    #[test]
    fn more_cores_are_faster_until_memory_or_the_chain_is_full() {
        let times = [1, 2, 4, 8, 16].map(|cores| simulate(COSTS, 4000, cores).time);
        assert!(times.windows(2).all(|pair| pair[1] < 0.8 * pair[0]), "{times:?}");
        let bound = simulate(Costs { memory: 1000.0, ..COSTS }, 4000, 64).time;
        assert!((1.0..1.1).contains(&(bound / 4e6)), "{bound}");
    }

    #[test]
    fn a_slow_chain_is_what_bounds_many_cores() {
        let slow = simulate(Costs { combine: 500.0, ..COSTS }, 2000, 64).time;
        assert!(slow >= 2000.0 * 500.0 && slow > 2.0 * simulate(COSTS, 2000, 64).time, "{slow}");
    }
}
