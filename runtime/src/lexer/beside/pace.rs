//! Whether a text is lexed by code or side by side, by trial: what is faster depends on its tokens,
//! on the machine and on what else that does.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// How long a text takes by code and side by side. Code takes its time for each token, pieces for each byte. Times are picoseconds, 0
/// before the first. Relaxed: these numbers guard no data.
#[derive(Debug, Default)]
pub(in crate::lexer) struct Pace {
    /// For each token.
    code: AtomicU32,
    /// For each byte.
    beside: AtomicU32,
    /// Bytes of a thousand tokens, of the text that was lexed last.
    bytes: AtomicU32,
    turns: AtomicU32,
    /// Times that were taken, of code and side by side.
    taken: [AtomicU32; 2],
    /// The turn since which one way was the faster.
    since: AtomicU32,
    /// That way: side by side.
    is_beside: AtomicBool,
}

/// Code is timed first. Then turns are side by side until one has no cells to make, so many at most.
const FIRST: u32 = 32;

/// Later turns are trials: the fourth, eighth, sixteenth since one way is the faster, and so on, and every so many.
const BETWEEN_TRIALS: u32 = 256;

/// A way that takes more than twice as long is tried only every so many turns.
const BETWEEN_RARE_TRIALS: u32 = 4096;

/// After so many times of each way, one of them is known not to be an accident.
const ENOUGH: u32 = 4;

/// The time side by side, in hundredths of that by code, up to which it is so lexed.
const MARGIN: u64 = 95;

impl Pace {
    /// Whether the next turn is side by side.
    pub(in crate::lexer) fn takes_beside(&self) -> bool {
        let turn = self.turns.fetch_add(1, Relaxed).wrapping_add(1);
        if turn <= FIRST && self.beside.load(Relaxed) == 0 {
            return turn > 1;
        }
        let [code, beside] = self.times();
        let is_known = self.taken.iter().all(|taken| taken.load(Relaxed) >= ENOUGH);
        let is_clear = is_known && (beside > 2 * code || code > 2 * beside);
        let between = if is_clear { BETWEEN_RARE_TRIALS } else { BETWEEN_TRIALS };
        let is_beside = self.is_faster_beside();
        if self.is_beside.swap(is_beside, Relaxed) != is_beside {
            self.since.store(turn, Relaxed);
        }
        let so_long = turn.wrapping_sub(self.since.load(Relaxed));
        let is_early = so_long >= 4 && so_long.is_power_of_two() && !is_clear;
        let is_trial = is_early || (so_long > 0 && so_long.is_multiple_of(between));
        is_beside != is_trial
    }

    /// The times of a thousand tokens like the last, by code and side by side, so far as is known.
    fn times(&self) -> [u64; 2] {
        let [code, beside, bytes] = [&self.code, &self.beside, &self.bytes].map(|of| u64::from(of.load(Relaxed)));
        [1000 * code, beside * bytes]
    }

    /// So far as is known.
    pub(in crate::lexer) fn is_faster_beside(&self) -> bool {
        let [code, beside] = self.times();
        beside > 0 && beside / MARGIN <= code / 100
    }

    /// Takes a faster time as it is, and moves slowly to slower ones, of which some are accidents. At first, those of turns that `made`
    /// cells do not count.
    pub(in crate::lexer) fn took(&self, is_beside: bool, made: bool, time: Duration, bytes: usize, tokens: usize) {
        let tokens = tokens.max(1);
        let number = |of: u128| of.clamp(1, u128::from(u32::MAX)) as u32;
        self.bytes.store(number((1000 * bytes / tokens) as u128), Relaxed);
        if is_beside && made && self.turns.load(Relaxed) <= FIRST {
            return;
        }
        self.taken[usize::from(is_beside)].fetch_add(1, Relaxed);
        let (way, each) = if is_beside { (&self.beside, bytes) } else { (&self.code, tokens) };
        let old = way.load(Relaxed);
        let new = number(1000 * time.as_nanos() / each.max(1) as u128);
        // Code may find the tokens of the text at hand harder to predict. Slower turns side by side had cells to make.
        let slowly = if is_beside { 8 } else { 2 };
        let is_first = old == 0;
        let slower = || old + (new.min(old.saturating_mul(2)) - old) / slowly;
        way.store(if is_first || new < old { new } else { slower() }, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many turns are side by side, if a byte takes so many picoseconds there, and a token by code.
    fn beside(pace: &Pace, turns: usize, [code, beside]: [usize; 2], bytes_of_token: usize) -> usize {
        let bytes = 10_000 * bytes_of_token;
        let turn = |_: &usize| {
            let is_beside = pace.takes_beside();
            let time = if is_beside { bytes * beside } else { 10_000 * code };
            let made = pace.turns.load(Relaxed) < 20;
            let time = if is_beside && made { 10 * time } else { time };
            pace.took(is_beside, made, Duration::from_nanos(time as u64 / 1000), bytes, 10_000);
            is_beside
        };
        (0..turns).filter(turn).count()
    }

    #[test]
    fn texts_of_short_tokens_are_lexed_side_by_side() {
        let pace = Pace::default();
        assert!(beside(&pace, 1000, [10_000, 1500], 4) > 980);
        // Trials aside, the next text is at once lexed as its tokens are long.
        assert!(beside(&pace, 200, [10_000, 1500], 12) < 10);
        assert!(beside(&pace, 200, [10_000, 1500], 4) > 190);
        // Tokens that are predicted.
        assert!(beside(&pace, 1000, [3000, 1500], 4) < 280);
        assert!(beside(&pace, 1000, [3000, 1500], 4) < 10);
        // Trials of what takes much longer are rare.
        assert!(beside(&pace, 4096, [1000, 1500], 4) < 10);
    }

    #[test]
    fn a_first_time_may_be_an_accident() {
        for accident in [[100_000, 1500], [10_000, 150_000]] {
            let pace = Pace::default();
            beside(&pace, 20, accident, 4);
            beside(&pace, 64, [1000, 1500], 4);
            assert!(beside(&pace, 1000, [1000, 1500], 4) < 10);
            let pace = Pace::default();
            beside(&pace, 20, accident, 4);
            beside(&pace, 64, [10_000, 1500], 4);
            assert!(beside(&pace, 1000, [10_000, 1500], 4) > 980);
        }
    }
}
