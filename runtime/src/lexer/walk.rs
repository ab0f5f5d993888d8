//! The automaton by its table, a byte at a time, in linear time on any text.
//!
//! Maximal munch reads on for a longer token and may have to go back, so a text such as `/*` a
//! thousand times would be read a thousand times. Reps (*Maximal-Munch Tokenization in Linear
//! Time*, TOPLAS 1998) remembers for each state and place that reading on from there leads to no
//! token. Here that is remembered at every so many places only: an attempt reads at most so many
//! bytes before it meets what was found out before.
//!
//! That is no help where automata count, as for `a{1,1000}b`: each attempt comes to a place in
//! another state. Their look-ahead is bounded, and so an oracle can be asked (`oracle`).

use monoscan_codegen::cpu::lexer::{ERROR, LexAutomaton};
use rustc_hash::FxHashMap;

use super::oracle::Oracle;
use super::part::{CREDIT, Lexed, Part};
use super::{Ahead, KindNumber, PlaceNumber, TokenColumnsOf};

/// Walks one text from left to right.
pub(super) struct Walker<'a> {
    automaton: &'a LexAutomaton,
    words: FxHashMap<&'a [u8], u16>,
    /// Bit `q` of the row of place `k · every`: from state `q` there, no token is reached.
    failed: FxHashMap<usize, Box<[u64]>>,
    every: usize,
    /// Where the look-ahead is bounded.
    oracle: Option<Oracle<'a>>,
    /// How many bytes are left that are lexed with the oracle.
    owed: usize,
    /// How many more bytes may be read in vain until it is asked, if the walker alone lexes.
    credit: isize,
}

/// How an attempt ended.
enum Attempt {
    /// A token of this kind ends there.
    Token { kind: u16, end: usize },
    /// No token begins here.
    None,
    /// That depends on what comes behind the text.
    Undecided,
}

impl<'a> Walker<'a> {
    pub(super) fn new(automaton: &'a LexAutomaton, ahead: Ahead) -> Walker<'a> {
        let words = automaton.words.iter().map(|(word, kind)| (&word[..], *kind)).collect();
        let every = 64 * usize::from(automaton.states()).div_ceil(64);
        let oracle = match ahead {
            Ahead::Bounded(bound) => Some(Oracle::new(automaton, bound)),
            Ahead::Short | Ahead::Unbounded => None,
        };
        let (failed, credit) = (FxHashMap::default(), CREDIT as isize);
        Walker { automaton, words, failed, every, oracle, owed: 0, credit }
    }

    /// Whether it reads fewer bytes in vain than code does.
    pub(super) fn gains(&self) -> bool {
        self.oracle.as_ref().is_none_or(Oracle::gains)
    }

    /// So many bytes were read in vain.
    pub(super) fn make_up_for(&mut self, bytes: usize) {
        self.owed = self.owed.max(bytes);
    }

    /// As [`Lexing::part`](super::part::Lexing::part).
    pub(super) fn part<K: KindNumber, P: PlaceNumber>(
        &mut self,
        text: &[u8],
        complete: bool,
        at: Part,
        until: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Lexed {
        let Part { mut from, mut error } = at;
        while from < until {
            let begin = from;
            match self.attempt(text, complete, from) {
                Attempt::Undecided => return Lexed { behind: Part { from, error }, is_undecided: true },
                Attempt::None => {
                    error = error.or(Some(from));
                    from += 1;
                }
                Attempt::Token { kind, end } => {
                    if let Some(start) = error.take() {
                        self.put(ERROR, start, from, tokens);
                    }
                    let kind = self.words.get(&text[from..end]).copied().unwrap_or(kind);
                    self.put(kind, from, end, tokens);
                    from = end;
                }
            }
            self.owed = self.owed.saturating_sub(from - begin);
            self.credit = (self.credit + (from - begin) as isize).min(CREDIT as isize);
        }
        Lexed { behind: Part { from, error }, is_undecided: false }
    }

    fn put<K: KindNumber, P: PlaceNumber>(
        &self,
        kind: u16,
        start: usize,
        end: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) {
        if self.automaton.keeps(kind) {
            tokens.push_found(kind, start, end);
        }
    }

    /// The longest token that begins at a place.
    fn attempt(&mut self, text: &[u8], complete: bool, from: usize) -> Attempt {
        let mut state = LexAutomaton::START;
        let mut last = None;
        let mut at = from;
        let ended = loop {
            if self.has_failed(text, complete, at, state) {
                break true;
            }
            let Some(&byte) = text.get(at) else {
                let at_end = self.automaton.at_end(state).filter(|_| complete);
                last = at_end.map(|kind| (kind, at)).or(last);
                break complete;
            };
            #[cfg(test)]
            super::steps::count(1);
            state = self.automaton.step(state, byte);
            if state == LexAutomaton::DEAD {
                break true;
            }
            at += 1;
            if let Some(kind) = self.automaton.accept(state) {
                last = Some((kind, at - usize::from(self.automaton.back(state))));
            }
        };
        if !ended && self.automaton.is_open(state) {
            return Attempt::Undecided;
        }
        let good = last.map_or(from, |(_, end)| end);
        match self.oracle {
            None => self.fail(text, from, good, at),
            Some(_) if self.owed == 0 => self.account(at - good),
            Some(_) => {}
        }
        last.map_or(Attempt::None, |(kind, end)| Attempt::Token { kind, end })
    }

    /// Whether it is known that no token is reached from a state at a place.
    fn has_failed(&mut self, text: &[u8], complete: bool, at: usize, state: u16) -> bool {
        if let Some(oracle) = self.oracle.as_mut() {
            return self.owed > 0 && oracle.gains() && !oracle.reaches(text, complete, at, state);
        }
        at.is_multiple_of(self.every)
            && self.failed.get(&at).is_some_and(|row| row[usize::from(state / 64)] >> (state % 64) & 1 != 0)
    }

    /// So many bytes were read in vain without the oracle. When these are more than those read for good, it is asked for as many.
    fn account(&mut self, bytes: usize) {
        self.credit -= bytes as isize;
        if self.credit < 0 {
            (self.owed, self.credit) = (CREDIT, CREDIT as isize);
        }
    }

    /// Remembers the states behind `good`, the end of the token that begins at `from`, in which the attempt was in vain up to `end`.
    fn fail(&mut self, text: &[u8], from: usize, good: usize, end: usize) {
        let first = (good + 1).next_multiple_of(self.every);
        // An attempt that met what was known ends there.
        if first >= end {
            return;
        }
        let mut state = LexAutomaton::START;
        for (at, &byte) in (from..).zip(&text[from..end]) {
            if at >= first && at.is_multiple_of(self.every) {
                let words = usize::from(self.automaton.states()).div_ceil(64);
                let row = self.failed.entry(at).or_insert_with(|| vec![0; words].into());
                row[usize::from(state / 64)] |= 1 << (state % 64);
            }
            state = self.automaton.step(state, byte);
        }
    }
}
