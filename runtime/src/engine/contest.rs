//! Which implementation of short lines is faster: generated code, or a function of Rust.
//!
//! Which one is depends on the records: a branch that the processor foresees costs nothing, and one
//! that it does not some twenty cycles. No sample shows what a caller's records are like, so the
//! calls themselves are timed. The first ones go to either code, in an order without a period, and
//! from then on all go to the faster. Short lines and longer ones are told apart, since what a call
//! costs and what an element does are not in the same proportion. Both give the same bits.

use std::array;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Calls of each that are not counted: the first ones find neither code nor records in caches, nor branches foreseen. They have so many
/// records together, and are so many calls at least and at most.
const WARM: u32 = 1 << 15;
const WARM_CALLS: [u32; 2] = [4, 64];

/// Calls of each that are, of which the lower quartile counts: what else happens on a machine only adds to a time.
const COUNTED: usize = 9;

/// Calls of each after which one that takes more than twice as long has lost.
const CLEAR: usize = 4;

/// Fewer records than this take no time that a clock tells, and go to generated code.
const LEAST: usize = 16;

/// The time of the function, in hundredths of that of generated code, below which it is taken.
const MARGIN: u64 = 95;

/// Not decided yet.
const OPEN: u8 = 2;

/// Which of generated code and a function is taken, for lengths of each binary logarithm.
pub(super) struct Contest {
    /// 0 for generated code, 1 for the function, or [`OPEN`]. Relaxed: they guard no data.
    taken: [AtomicU8; usize::BITS as usize],
    /// The same of the longest length that is decided, for calls of many lines.
    so_far: AtomicU8,
    /// Calls of lengths that are open.
    trials: Mutex<Vec<Trial>>,
}

/// The calls so far of lengths of one logarithm.
struct Trial {
    kind: u32,
    calls: u32,
    /// Picoseconds a record of those that are counted.
    times: [Vec<u64>; 2],
}

impl Contest {
    /// One that calls decide.
    pub(super) fn open() -> Contest {
        let taken = |kind: usize| if kind < kind_of(LEAST) as usize { 0 } else { OPEN };
        let taken = array::from_fn(|kind| AtomicU8::new(taken(kind)));
        Contest { taken, so_far: AtomicU8::new(0), trials: Mutex::default() }
    }

    /// One that calls decide, if there is a function and the plan does not ask for it.
    pub(super) fn with(has_function: bool, is_asked: bool) -> Contest {
        if has_function && !is_asked { Contest::open() } else { Contest::decided(has_function) }
    }

    /// One that is decided.
    pub(super) fn decided(is_function: bool) -> Contest {
        let taken = || AtomicU8::new(u8::from(is_function));
        Contest { taken: array::from_fn(|_| taken()), so_far: taken(), trials: Mutex::default() }
    }

    /// Whether the function was taken, of long lines or, if that is open, of shorter ones.
    #[inline]
    pub(super) fn is_function(&self) -> bool {
        self.so_far.load(Relaxed) == 1
    }

    /// Runs one of them over so many records; `run` is told whether it is the function.
    #[inline(always)]
    pub(super) fn run<R>(&self, len: usize, run: impl Fn(bool) -> R) -> R {
        let kind = kind_of(len);
        match self.taken[kind as usize].load(Relaxed) {
            OPEN => self.timed(kind, len, run),
            taken => run(taken == 1),
        }
    }

    /// The same over columns that the output may overlap, which functions do not take.
    #[inline(always)]
    pub(super) fn run_beside<R>(&self, are_inputs: bool, len: usize, run: impl Fn(bool) -> R) -> R {
        if are_inputs { run(false) } else { self.run(len, run) }
    }

    #[cold]
    #[inline(never)]
    fn timed<R>(&self, kind: u32, len: usize, run: impl Fn(bool) -> R) -> R {
        let (call, place) = self.next(kind);
        let start = Instant::now();
        let result = run(place == 1);
        let time = start.elapsed();
        if call >= 2 * warm(kind) {
            self.took(kind, place, time.as_nanos() as u64 * 1000 / len as u64);
        }
        result
    }

    /// The number of a call, and the place of the code that takes it.
    fn next(&self, kind: u32) -> (u32, usize) {
        self.with_trial(kind, |trial| {
            trial.calls += 1;
            let call = trial.calls - 1;
            // Thue and Morse's sequence has no period that callers' records might have too, and takes both as often.
            (call, call.count_ones() as usize % 2)
        })
    }

    /// Notes what a call took, and decides if there were enough.
    fn took(&self, kind: u32, place: usize, time: u64) {
        let winner = self.with_trial(kind, |Trial { times, .. }| {
            times[place].push(time);
            if times.iter().any(|of| of.len() < CLEAR) {
                return None;
            }
            let [generated, function] = [0, 1].map(|place| {
                let own = &mut times[place];
                own.sort_unstable();
                own[own.len() / 4]
            });
            let is_clear = generated > 2 * function || function > 2 * generated;
            let is_decided = is_clear || times.iter().all(|of| of.len() >= COUNTED);
            is_decided.then(|| u8::from(function * 100 < generated * MARGIN))
        });
        if let Some(winner) = winner {
            self.taken[kind as usize].store(winner, Relaxed);
            let mut kinds = self.taken.iter().rev().map(|taken| taken.load(Relaxed));
            self.so_far.store(kinds.find(|&taken| taken != OPEN).unwrap_or(0), Relaxed);
        }
    }

    fn with_trial<R>(&self, kind: u32, of: impl FnOnce(&mut Trial) -> R) -> R {
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        let place = trials.iter().position(|trial| trial.kind == kind).unwrap_or_else(|| {
            trials.push(Trial { kind, calls: 0, times: Default::default() });
            trials.len() - 1
        });
        of(&mut trials[place])
    }
}

/// How many calls of either code are not counted, of lengths of a logarithm.
fn warm(kind: u32) -> u32 {
    (WARM >> kind.min(31)).clamp(WARM_CALLS[0], WARM_CALLS[1])
}

/// The binary logarithm of a length, 0 of none.
#[inline(always)]
fn kind_of(len: usize) -> u32 {
    (len | 1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls over so many records until one is taken, at most so many; what each call takes is said, not measured.
    fn decide(times: [u64; 2], most: usize) -> Option<bool> {
        let contest = Contest::open();
        for call in 0..most {
            contest.took(kind_of(LEAST), call % 2, times[call % 2] + call as u64 % 5);
        }
        (contest.taken[kind_of(LEAST) as usize].load(Relaxed) != OPEN).then(|| contest.is_function())
    }

    #[test]
    fn the_function_is_taken_where_it_is_faster_by_more_than_the_margin() {
        for (times, expected) in [([1000, 900], true), ([1000, 970], false), ([1000, 1100], false)] {
            assert_eq!(decide(times, 2 * COUNTED), Some(expected), "{times:?}");
            assert_eq!(decide(times, 2 * COUNTED - 1), None, "{times:?}");
        }
    }

    #[test]
    fn one_that_takes_more_than_twice_as_long_has_lost_after_few_calls() {
        assert_eq!(decide([1000, 400], 2 * CLEAR), Some(true));
        assert_eq!(decide([400, 1000], 2 * CLEAR), Some(false));
        assert_eq!(decide([400, 1000], 2 * CLEAR - 1), None);
    }

    #[test]
    fn calls_go_to_both_until_one_is_taken_and_those_of_few_records_to_generated_code() {
        let contest = Contest::open();
        let calls = |len: usize| (0..2 * warm(kind_of(len))).map(move |_| len);
        let taken: Vec<_> = calls(LEAST).map(|len| contest.run(len, |is_function| is_function)).collect();
        assert_eq!(taken.iter().filter(|&&is_function| is_function).count(), warm(kind_of(LEAST)) as usize);
        assert!((0..100).map(|_| LEAST - 1).all(|len| contest.run(len, |is_function| !is_function)));
        // The function sleeps, the other does not.
        for _ in 0..1000 {
            contest.run(LEAST, |is_function| {
                if is_function {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
            });
            if contest.taken[kind_of(LEAST) as usize].load(Relaxed) != OPEN {
                break;
            }
        }
        assert_eq!(contest.taken[kind_of(LEAST) as usize].load(Relaxed), 0);
        assert!(!contest.is_function());
        // Longer lines are still open.
        let taken: Vec<_> = calls(2 * LEAST).map(|len| contest.run(len, |is_function| is_function)).collect();
        assert!(taken.contains(&true));
    }

    #[test]
    fn one_that_was_decided_is_taken_by_all_calls() {
        for is_function in [false, true] {
            assert_eq!(Contest::decided(is_function).run(LEAST, |is_function| is_function), is_function);
        }
    }
}
