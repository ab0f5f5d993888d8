//! Which of two ways a line is scanned, by trial.
//!
//! Helpers make a line's tiles two passes, and they take their share of what memory moves. One
//! thread takes blocks side by side in two passes, or one after the other in one. Which is faster
//! depends on the machine and on what else it does, and no plan knows either. So such lines are
//! timed, by their lengths. Now and then one is scanned the other way, and the way that was faster
//! is taken until the next trial. Results are the same both ways. (`contest` chooses so between
//! implementations of short lines, and `race` between those of long ones.)

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Most threads that are tried. More are taken as planned: a trial without them may take many times as long.
const MOST_THREADS: usize = 4;

/// Calls 2, 4, 8 and so on are trials. Every call whose number is a multiple of this is one too.
const BETWEEN_TRIALS: u32 = 256;

/// After so many calls, if one way takes more than so many times as long as the other, only multiples of [`BETWEEN_TRIALS`] are trials.
/// A single time may be an accident, so there are two trials first.
const MUCH_SLOWER: u64 = 2;
const FIRST_CALLS: u32 = 4;

/// The first calls are timed, and then one of so many, with every trial: looking at the clock twice takes as long as a hundred elements.
const TIMED_FIRST: u32 = 32;
const BETWEEN_TIMES: u32 = 8;

/// The time as planned, in hundredths of that the other way, up to which it is taken: helpers take cores from others.
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
        self.choose(len, |is_planned| run(if is_planned { helpers } else { 0 }))
    }

    /// Scans so many elements as planned or the other way. `run` says whether its time counts.
    pub(crate) fn choose<R>(&self, len: usize, run: impl FnOnce(bool) -> (R, bool)) -> R {
        let ways = self.ways(len);
        let (is_planned, is_timed) = ways.next();
        let start = is_timed.then(Instant::now);
        let (result, counts) = run(is_planned);
        if let Some(start) = start.filter(|_| counts) {
            ways.took(is_planned, start.elapsed(), len);
        }
        result
    }

    /// Whether lines of so many elements are faster as planned, so far as is known.
    pub(crate) fn prefers_planned(&self, len: usize) -> bool {
        self.ways(len).is_planned_faster()
    }

    fn ways(&self, len: usize) -> &Ways {
        &self.0[(len.max(1).ilog2() as usize).min(LENGTHS - 1)]
    }
}

/// Both ways of lines of about a length. Times are picoseconds an element, 0 before the first. Relaxed: these numbers guard no data.
#[derive(Debug)]
struct Ways {
    planned: AtomicU32,
    other: AtomicU32,
    calls: AtomicU32,
}

impl Ways {
    const fn new() -> Ways {
        Ways { planned: AtomicU32::new(0), other: AtomicU32::new(0), calls: AtomicU32::new(0) }
    }

    /// Whether the next call is as planned, and whether it is timed.
    fn next(&self) -> (bool, bool) {
        let call = self.calls.fetch_add(1, Relaxed).wrapping_add(1);
        let is_early = call.is_power_of_two() && (call <= FIRST_CALLS || !self.is_decided());
        let is_trial = call > 1 && (is_early || call.is_multiple_of(BETWEEN_TRIALS));
        let is_timed = is_trial || call <= TIMED_FIRST || call.is_multiple_of(BETWEEN_TIMES);
        (self.is_planned_faster() != is_trial, is_timed)
    }

    /// So far as is known.
    fn is_planned_faster(&self) -> bool {
        let [planned, other] = self.times();
        other == 0 || 100 * planned <= MARGIN * other
    }

    /// Whether one way is much slower, so far as is known.
    fn is_decided(&self) -> bool {
        let [planned, other] = self.times();
        planned.min(other) > 0 && planned.max(other) > MUCH_SLOWER * planned.min(other)
    }

    fn times(&self) -> [u64; 2] {
        [&self.planned, &self.other].map(|time| u64::from(time.load(Relaxed)))
    }

    /// Takes a faster time as it is, and moves slowly to slower ones, of which some are accidents.
    fn took(&self, is_planned: bool, time: Duration, len: usize) {
        let way = if is_planned { &self.planned } else { &self.other };
        let new = (1000 * time.as_nanos() / len.max(1) as u128).clamp(1, u128::from(u32::MAX)) as u32;
        let old = way.load(Relaxed);
        let is_first = old == 0;
        way.store(if is_first || new < old { new } else { old + (new - old) / 8 }, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many calls are as planned, if a call takes so many microseconds the other way and so.
    fn planned(calls: usize, [other, planned]: [u64; 2], ways: &Ways) -> usize {
        let one = |_: &usize| {
            let (is_planned, is_timed) = ways.next();
            if is_timed {
                ways.took(is_planned, Duration::from_micros(if is_planned { planned } else { other }), 1000);
            }
            is_planned
        };
        (0..calls).filter(one).count()
    }

    #[test]
    fn the_faster_way_is_taken_but_for_trials() {
        let trials = 1024usize.ilog2() as usize + 1024 / BETWEEN_TRIALS as usize;
        for times in [[100, 60], [100, 94]] {
            let planned = planned(1024, times, &Ways::new());
            assert!(planned < 1024 && planned >= 1024 - trials, "{times:?}: {planned}");
        }
        for times in [[100, 97], [100, 300]] {
            let planned = planned(1024, times, &Ways::new());
            assert!(planned > 1 && planned <= 1 + trials, "{times:?}: {planned}");
        }
    }

    #[test]
    fn a_way_that_is_much_slower_is_tried_rarely() {
        // Call 1 is as planned whatever it takes, and calls 2 and 4 are trials.
        assert_eq!(planned(255, [100, 300], &Ways::new()), 2);
        assert_eq!(planned(255, [300, 100], &Ways::new()), 253);
        // A first time that is an accident is mended by the next trial.
        let ways = Ways::new();
        planned(1, [100, 9000], &ways);
        assert_eq!(planned(255, [100, 40], &ways), 252);
    }

    #[test]
    fn what_changes_is_noticed() {
        let ways = Ways::new();
        planned(1000, [100, 60], &ways);
        let busy = planned(1000, [100, 300], &ways);
        assert!(busy < 50, "{busy}");
        let quiet = planned(1000, [100, 60], &ways);
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
