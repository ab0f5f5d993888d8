//! An oracle: for each place of a text, the states from which a token is still reached.
//!
//! It reads the text from right to left. Its states are sets of states of the automaton, which are
//! made when a text first leads to them. Where an attempt to lengthen a token reads at most so many
//! bytes in vain, what is farther away than that does not matter. So a window of the text can be
//! read by itself, from so many bytes behind its end.

use monoscan_codegen::cpu::lexer::LexAutomaton;
use rustc_hash::FxHashMap;

/// Places of the shortest window.
const WINDOW: usize = 4096;

/// Steps that may be taken to make states, beyond as many as attempts would take that fail.
const CREDIT: usize = 1 << 24;

/// A state that was not made yet.
const UNKNOWN: u32 = u32::MAX;

/// Says whether a token is reached.
pub(super) struct Oracle<'a> {
    automaton: &'a LexAutomaton,
    /// The most bytes that are read in vain.
    bound: usize,
    /// The states that accept.
    accepts: Box<[u64]>,
    /// The sets, one behind the other, each as a bit for each state of the automaton.
    sets: Vec<u64>,
    numbers: FxHashMap<Box<[u64]>, u32>,
    /// For each set and class of bytes, the set one byte further left.
    next: Vec<u32>,
    /// The place that the window begins at.
    from: usize,
    /// The set of each place of the window.
    window: Vec<u32>,
    /// How many more steps may be taken to make sets.
    credit: usize,
}

impl<'a> Oracle<'a> {
    pub(super) fn new(automaton: &'a LexAutomaton, bound: usize) -> Oracle<'a> {
        let accepts = bits(automaton, |state| automaton.accept(state).is_some());
        let (sets, numbers, next, window) = Default::default();
        Oracle { automaton, bound, accepts, sets, numbers, next, from: 0, window, credit: CREDIT }
    }

    /// Whether it takes fewer steps than attempts that fail would. There are automata and texts that lead to another set at each
    /// place.
    pub(super) fn gains(&self) -> bool {
        self.credit > 0
    }

    /// Whether a token may end behind a place, if a state holds there. The end of a text that is not complete is a token's end for
    /// all that is known.
    pub(super) fn reaches(&mut self, text: &[u8], complete: bool, at: usize, state: u16) -> bool {
        if at >= text.len() {
            return true;
        }
        if !(self.from..self.from + self.window.len()).contains(&at) {
            self.read(text, complete, at);
        }
        let first = self.window[at - self.from] as usize * self.words();
        has(&self.sets[first..], state)
    }

    fn words(&self) -> usize {
        self.accepts.len()
    }

    /// Reads the window that begins at a place.
    fn read(&mut self, text: &[u8], complete: bool, from: usize) {
        let until = text.len().min(from + WINDOW.max(2 * self.bound));
        let begin = text.len().min(until + self.bound);
        // There is always space for a set for each place.
        if self.numbers.len() > 2 * WINDOW.max(2 * self.bound) {
            (self.sets, self.numbers, self.next) = Default::default();
        }
        let automaton = self.automaton;
        let mut set = match begin == text.len() {
            // What is there is too far away to matter.
            false => self.number(bits(automaton, |_| false)),
            true if complete => self.number(bits(automaton, |state| automaton.at_end(state).is_some())),
            true => self.number(bits(automaton, |state| state != LexAutomaton::DEAD)),
        };
        self.from = from;
        self.window.resize(until - from, 0);
        self.credit = self.credit.saturating_add((until - from) * self.bound).min(CREDIT);
        for at in (from..begin).rev() {
            set = self.left(set, text[at]);
            if at < until {
                self.window[at - from] = set;
            }
        }
    }

    /// The set in front of a byte, if that is the set behind it.
    fn left(&mut self, set: u32, byte: u8) -> u32 {
        #[cfg(test)]
        super::steps::count(1);
        let automaton = self.automaton;
        let class = usize::from(automaton.class_of[usize::from(byte)]);
        let cell = set as usize * automaton.classes + class;
        if self.next[cell] == UNKNOWN {
            let first = set as usize * self.words();
            let good: Vec<u64> =
                self.sets[first..].iter().zip(&self.accepts).map(|(set, accepts)| set | accepts).collect();
            self.next[cell] = self.number(bits(automaton, |state| has(&good, automaton.step(state, byte))));
            self.credit = self.credit.saturating_sub(usize::from(automaton.states()));
            #[cfg(test)]
            super::steps::count(usize::from(automaton.states()));
        }
        self.next[cell]
    }

    fn number(&mut self, set: Box<[u64]>) -> u32 {
        let new = self.numbers.len() as u32;
        *self.numbers.entry(set).or_insert_with_key(|set| {
            self.sets.extend_from_slice(set);
            self.next.resize(self.next.len() + self.automaton.classes, UNKNOWN);
            new
        })
    }
}

/// The set of the states that are so.
fn bits(automaton: &LexAutomaton, is_in: impl Fn(u16) -> bool) -> Box<[u64]> {
    let mut set = vec![0; usize::from(automaton.states()).div_ceil(64)];
    for state in (0..automaton.states()).filter(|&state| is_in(state)) {
        set[usize::from(state / 64)] |= 1 << (state % 64);
    }
    set.into()
}

fn has(set: &[u64], state: u16) -> bool {
    set[usize::from(state / 64)] >> (state % 64) & 1 != 0
}
