//! Whether a few helpers pay, by trial.
//!
//! Helpers make a line's tiles two passes, and they take their share of what memory moves. Whether
//! two threads are then faster than one depends on the machine and on what else it does, and no
//! plan knows either. So lines with a few helpers are timed, by their lengths. Now and then one is
//! scanned the other way, and the way that was faster is taken until the next trial. Results are
//! the same both ways.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Most threads that are tried. More are taken as planned: a trial without them may take many times as long.
const MOST_THREADS: usize = 4;

/// After the first calls, of which the second, fourth, eighth and so on are trials, every so many calls are.
const BETWEEN_TRIALS: u32 = 256;

/// The time with helpers, in hundredths of that without, up to which they are used: they take cores from others.
const MARGIN: u64 = 95;

/// Lengths are told apart by their binary logarithms; lines of more than 2^40 elements count as such.
const LENGTHS: usize = 41;

/// How long lines of one kind took, by their lengths.
#[derive(Debug)]
pub(crate) struct Trials([Ways; LENGTHS]);

impl Trials {
    pub(crate) const fn new() -> Trials {
        Trials([const { Ways::new() }; LENGTHS])
    }

    /// Scans so many elements with so many helpers, or without any. `run` says whether its time counts.
    pub(crate) fn run<R>(&self, len: usize, helpers: usize, run: impl FnOnce(usize) -> (R, bool)) -> R {
        if helpers == 0 || helpers >= MOST_THREADS {
            return run(helpers).0;
        }
        let ways = &self.0[(len.max(1).ilog2() as usize).min(LENGTHS - 1)];
        let is_helped = ways.takes_helpers();
        let start = Instant::now();
        let (result, counts) = run(if is_helped { helpers } else { 0 });
        if counts {
            ways.took(is_helped, start.elapsed(), len);
        }
        result
    }
}

/// Both ways of lines of about a length. Times are picoseconds an element, 0 before the first. Relaxed: these numbers guard no data.
#[derive(Debug)]
struct Ways {
    helped: AtomicU32,
    alone: AtomicU32,
    calls: AtomicU32,
}

impl Ways {
    const fn new() -> Ways {
        Ways { helped: AtomicU32::new(0), alone: AtomicU32::new(0), calls: AtomicU32::new(0) }
    }

    /// Whether the next call has helpers.
    fn takes_helpers(&self) -> bool {
        let call = self.calls.fetch_add(1, Relaxed).wrapping_add(1);
        let is_trial = call > 1 && (call.is_power_of_two() || call.is_multiple_of(BETWEEN_TRIALS));
        self.are_faster_with_helpers() != is_trial
    }

    /// So far as is known.
    fn are_faster_with_helpers(&self) -> bool {
        let [helped, alone] = [&self.helped, &self.alone].map(|time| u64::from(time.load(Relaxed)));
        alone == 0 || 100 * helped <= MARGIN * alone
    }

    /// Takes a faster time as it is, and moves slowly to slower ones, of which some are accidents.
    fn took(&self, is_helped: bool, time: Duration, len: usize) {
        let way = if is_helped { &self.helped } else { &self.alone };
        let new = (1000 * time.as_nanos() / len.max(1) as u128).clamp(1, u128::from(u32::MAX)) as u32;
        let old = way.load(Relaxed);
        let is_first = old == 0;
        way.store(if is_first || new < old { new } else { old + (new - old) / 8 }, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many calls have helpers, if a call takes so many microseconds without and with them.
    fn helped(calls: usize, [alone, helped]: [u64; 2], ways: &Ways) -> usize {
        let one = |_: &usize| {
            let is_helped = ways.takes_helpers();
            ways.took(is_helped, Duration::from_micros(if is_helped { helped } else { alone }), 1000);
            is_helped
        };
        (0..calls).filter(one).count()
    }

    #[test]
    fn the_faster_way_is_taken_but_for_trials() {
        let trials = 1024usize.ilog2() as usize + 1024 / BETWEEN_TRIALS as usize;
        for times in [[100, 60], [100, 94]] {
            let helped = helped(1024, times, &Ways::new());
            assert!(helped < 1024 && helped >= 1024 - trials, "{times:?}: {helped}");
        }
        for times in [[100, 97], [100, 300]] {
            let helped = helped(1024, times, &Ways::new());
            assert!(helped > 1 && helped <= 1 + trials, "{times:?}: {helped}");
        }
    }

    #[test]
    fn what_changes_is_noticed() {
        let ways = Ways::new();
        helped(1000, [100, 60], &ways);
        let busy = helped(1000, [100, 300], &ways);
        assert!(busy < 50, "{busy}");
        let quiet = helped(1000, [100, 60], &ways);
        assert!(quiet > 700, "{quiet}");
    }

    #[test]
    fn lines_without_helpers_and_with_many_are_not_tried() {
        let trials = Trials::new();
        for helpers in [0, MOST_THREADS, 100] {
            let used = (0..100).map(|_| trials.run(1 << 20, helpers, |helpers| (helpers, true)));
            assert!(used.into_iter().all(|used| used == helpers), "{helpers}");
        }
        let used: Vec<usize> = (0..2).map(|_| trials.run(1 << 20, 1, |helpers| (helpers, true))).collect();
        assert_eq!(used, [1, 0]);
        // What was tried for one length says nothing of another.
        assert_eq!(trials.run(1 << 21, 1, |helpers| (helpers, true)), 1);
    }

    #[test]
    fn times_that_do_not_count_are_forgotten() {
        let trials = Trials::new();
        let used: Vec<usize> = (0..3).map(|_| trials.run(1 << 20, 1, |helpers| (helpers, false))).collect();
        assert_eq!(used, [1, 0, 1]);
    }
}
