//! How many helpers work is worth.
//!
//! Waking a thread takes tens of microseconds, so short scans have no helpers. And at its end a
//! scan waits for helpers that are in the middle of a kernel. On a busy machine such a helper may
//! have lost its core, for one time slice or several: more than most scans take. So once a scan had
//! to wait so, scans have no helpers for a while, but for those that take several times as long as
//! it waited: they lose less than they gain.
//!
//! Where several threads of a process scan at once, they share the cores: with as many callers as
//! cores, none has helpers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use monoscan_protocol::crew::HelperTask;

/// About how long one thread takes for `alone` elements, which are no work for two. A scan's plan
/// [says](monoscan_codegen::plan::Plan::alone) how many these are; a lexer has a number of bytes.
const ALONE: Duration = Duration::from_micros(100);

/// A call that takes so many times as long as helpers were late has helpers all the same.
const WORTH: u32 = 4;

/// For how long there are no helpers after one was late; twice as long each time in a row, up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How many helpers elements that fall in so many parts are worth. `alone` of them are worth none; `threads` says how many
/// threads may be used.
pub(crate) fn of(alone: usize, elements: usize, parts: usize, threads: impl FnOnce() -> usize) -> usize {
    if elements <= alone { 0 } else { of_time(time(alone, elements), parts, threads) }
}

/// The same of work that takes one thread about so long.
pub(crate) fn of_time(time: Duration, parts: usize, threads: impl FnOnce() -> usize) -> usize {
    if time <= ALONE || PAUSE.stops(|| time) {
        return 0;
    }
    // Each thread should have half as much at least as one does alone.
    let worth = (2 * time).div_duration_f64(ALONE) as usize;
    threads().min(parts).min(worth).saturating_sub(1)
}

/// Whether short work has no helpers just now.
pub(crate) fn are_paused() -> bool {
    PAUSE.stops(|| Duration::ZERO)
}

/// As many threads as rayon has in its present pool, but no more than this caller's share of the cores: more would take them
/// from each other.
pub(crate) fn threads() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| available_parallelism().map_or(1, usize::from));
    rayon::current_num_threads().min(share(cores, CALLERS.load(Relaxed)))
}

/// Of so many cores how many each of so many callers has.
fn share(cores: usize, callers: usize) -> usize {
    (cores / callers.max(1)).max(1)
}

/// How many threads of the process are in a call that may have helpers. Relaxed: it guards no data.
static CALLERS: AtomicUsize = AtomicUsize::new(0);

/// One of them, until it is dropped.
pub(crate) struct Caller(());

impl Caller {
    /// A caller with so many elements, if these are worth helpers.
    pub(crate) fn of(alone: usize, elements: usize) -> Option<Caller> {
        (elements > alone).then(Caller::new)
    }

    pub(crate) fn new() -> Caller {
        CALLERS.fetch_add(1, Relaxed);
        Caller(())
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        CALLERS.fetch_sub(1, Relaxed);
    }
}

/// Most tasks for helpers that wait for a thread. Where the pool is busy with something else for long, calls would pile up more.
const MOST_WAITING: usize = 256;

/// Offers work to the present pool of rayon, unless so much waits there that it would hardly ever start.
pub(crate) fn spawn(task: HelperTask) {
    // Relaxed: it guards no data, and a few more harm nobody.
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    if WAITING.load(Relaxed) >= MOST_WAITING {
        return;
    }
    WAITING.fetch_add(1, Relaxed);
    rayon::spawn(|| {
        WAITING.fetch_sub(1, Relaxed);
        task.run();
    });
}

/// Learns from the end of work, which waited so long for helpers that were busy with at most so many elements. These may take
/// their time.
pub(crate) fn ended(alone: usize, elements: usize, waited: Duration) {
    ended_within(time(alone, elements), waited);
}

/// The same of helpers that were busy with what takes one thread about so long.
pub(crate) fn ended_within(time: Duration, waited: Duration) {
    PAUSE.ended((waited > ALONE + 2 * time).then_some(waited));
}

/// About how long one thread takes.
fn time(alone: usize, elements: usize) -> Duration {
    ALONE.mul_f64(elements as f64 / alone.max(1) as f64)
}

/// Whether helpers are left alone just now, for the whole process. Numbers are nanoseconds.
struct Pause {
    /// Until when, since [`now`] was first asked.
    end: AtomicU64,
    /// How late the last helper was.
    late: AtomicU64,
    /// How long the next pause is.
    next: AtomicU64,
}

static PAUSE: Pause = Pause::new();

impl Pause {
    const fn new() -> Pause {
        let next = AtomicU64::new(SHORTEST_PAUSE.as_nanos() as u64);
        Pause { end: AtomicU64::new(0), late: AtomicU64::new(0), next }
    }

    // Relaxed: these numbers guard no data, and one that is lost costs a little time.
    fn stops(&self, time: impl FnOnce() -> Duration) -> bool {
        let end = self.end.load(Relaxed);
        end > 0 && time() < WORTH * Duration::from_nanos(self.late.load(Relaxed)) && now() < end
    }

    fn ended(&self, late: Option<Duration>) {
        let next = self.next.load(Relaxed);
        if let Some(late) = late {
            self.late.store(late.as_nanos() as u64, Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_share_the_cores() {
        assert_eq!([1, 2, 3, 32].map(|callers| share(32, callers)), [32, 16, 10, 1]);
        assert_eq!([1, 2, 32].map(|callers| share(2, callers)), [2, 1, 1]);
        // Other callers in this process only add to these.
        let _callers: Vec<Caller> =
            (0..available_parallelism().map_or(1, usize::from)).map(|_| Caller::new()).collect();
        assert_eq!(threads(), 1);
    }

    #[test]
    fn after_a_late_helper_short_work_has_none_for_a_while() {
        let pause = Pause::new();
        let late = Duration::from_secs(1000);
        assert!(!pause.stops(|| Duration::ZERO));
        // In microseconds, so that it is over when the next line asks.
        pause.next.store(1000, Relaxed);
        pause.ended(Some(late));
        while now() < pause.end.load(Relaxed) {}
        assert!(!pause.stops(|| late), "it is over");
        pause.next.store(u64::MAX / 4, Relaxed);
        pause.ended(Some(late));
        assert!(pause.stops(|| 3 * late) && !pause.stops(|| 5 * late));
    }

    #[test]
    fn pauses_grow_and_shrink_within_bounds() {
        let pause = Pause::new();
        let next = || Duration::from_nanos(pause.next.load(Relaxed));
        (0..20).for_each(|_| pause.ended(Some(ALONE)));
        assert_eq!(next(), LONGEST_PAUSE);
        (0..20).for_each(|_| pause.ended(None));
        assert!(next() <= SHORTEST_PAUSE && next() > SHORTEST_PAUSE / 2);
    }
}
