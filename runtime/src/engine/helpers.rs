//! How many helpers work is worth.
//!
//! Waking a thread takes tens of microseconds, and at its end a scan waits for helpers that are in the middle of a kernel. On a
//! busy machine such a helper may have lost its core, for a whole time slice: more than most scans take. So short scans have no
//! helpers; and once a scan had to wait so, scans that are not much longer than a time slice have none for a while.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use scan_codegen::plan::Plan;

/// About how long a thread takes for what the plan leaves [alone](Plan::alone).
const ALONE: Duration = Duration::from_micros(100);

/// Scans of more than so many times that, 3 ms, lose less by waiting for a time slice than they gain by helpers.
const SHORT: usize = 30;

/// For how long there are no helpers after one was off its core; twice as long each time in a row, up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How many helpers elements that fall in so many parts are worth; `threads` says how many threads may be used.
pub(super) fn of(plan: &Plan, elements: usize, parts: usize, threads: impl FnOnce() -> usize) -> usize {
    if elements <= plan.alone || is_short(plan, elements) && PAUSE.is_on() {
        return 0;
    }
    // Each thread should have half as much at least as one does alone.
    let worth = 2 * elements / plan.alone.max(1);
    threads().min(parts).min(worth).saturating_sub(1)
}

fn is_short(plan: &Plan, elements: usize) -> bool {
    elements / SHORT < plan.alone
}

/// As many threads as rayon has in its present pool, if there are cores for them: more would take them from each other.
pub(super) fn threads() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| available_parallelism().map_or(1, usize::from));
    rayon::current_num_threads().min(cores)
}

/// Learns from the end of a scan, which waited so long for its last helpers. A tile may take its time.
pub(super) fn ended(plan: &Plan, waited: Duration) {
    let tile = ALONE.mul_f64(plan.tile() as f64 / plan.alone.max(1) as f64);
    PAUSE.ended(waited > ALONE + 2 * tile);
}

/// Whether helpers are to be left alone just now, for the whole process.
struct Pause {
    /// Until when, in nanoseconds since [`now`] was first asked.
    end: AtomicU64,
    /// How long the next one is, in nanoseconds.
    next: AtomicU64,
}

static PAUSE: Pause = Pause { end: AtomicU64::new(0), next: AtomicU64::new(SHORTEST_PAUSE.as_nanos() as u64) };

impl Pause {
    // Relaxed: these numbers guard no data, and one that is lost costs a little time.
    fn is_on(&self) -> bool {
        let end = self.end.load(Relaxed);
        end > 0 && now() < end
    }

    fn ended(&self, was_late: bool) {
        let next = self.next.load(Relaxed);
        if was_late {
            self.end.store(now() + next, Relaxed);
            self.next.store((2 * next).min(LONGEST_PAUSE.as_nanos() as u64), Relaxed);
        } else if next > SHORTEST_PAUSE.as_nanos() as u64 {
            self.next.store(next / 2, Relaxed);
        }
    }
}

fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}
