//! The automaton of a [`PatternSet`](super::PatternSet), and its table for walks.

use regex_syntax::hir::Hir;

use super::super::LexerError;
use super::super::anchored::Kinds;
use super::super::dfa::{State, TokenDfa};
use super::super::minimal::number_by_value;
use super::super::pieces::Walk;
use super::super::subsets::{AllMatches, Bounds, all_matches};
use super::super::transducer::Transducer;
use super::{MAX_PATTERN_CELLS, MAX_PATTERN_STATES, PatternSetError};

/// Bits of a place that say which patterns match; those above are the end.
pub(super) const SET_BITS: u32 = 16;

/// States count from 0, where a text begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Automaton {
    pub(super) class_of: [u8; 256],
    classes: usize,
    /// For each class the successor of each state.
    pub(super) maps: Vec<u16>,
    pub(super) states: usize,
    /// For each kind of what follows and each state, which of the sets matches; 0 for none.
    pub(super) set_of: Vec<u16>,
    pub(super) kinds: Kinds,
    /// The patterns of each set; the first is empty.
    pub(super) sets: Vec<Vec<usize>>,
}

/// A place where matches end, in one number.
pub(super) fn place(end: u64, set: u16) -> u64 {
    end << SET_BITS | u64::from(set)
}

impl Automaton {
    pub(super) fn new(regexes: &[Hir]) -> Result<Automaton, PatternSetError> {
        if regexes.is_empty() {
            return Err(PatternSetError::NoPattern);
        }
        let bounds = Bounds { states: MAX_PATTERN_STATES, cells: MAX_PATTERN_CELLS };
        let AllMatches { dfa, kinds, rows, sets, empty } =
            all_matches(regexes, bounds).map_err(|error| match error {
                LexerError::TooManyStates { .. } | LexerError::TooMuchMemory { .. } => PatternSetError::TooManyStates,
                other => PatternSetError::Automaton(other),
            })?;
        if let Some(pattern) = empty {
            return Err(PatternSetError::Empty { pattern });
        }
        let mut live: Vec<State> = dfa.states().filter(|&state| state != TokenDfa::DEAD).collect();
        // Any text may go on with a match, unless it was to begin at the start. The start stays the first.
        let dead = live.len();
        let next = |state, class| dfa.next(state, class).index().checked_sub(1).unwrap_or(dead);
        if live.iter().any(|&state| (0..dfa.classes).any(|class| next(state, class) == dead)) {
            live.push(TokenDfa::DEAD);
        }
        let row = |state| &rows[usize::from(dfa.accept(state).unwrap_or(0))];
        Ok(Automaton {
            maps: (0..dfa.classes).flat_map(|class| live.iter().map(move |&state| next(state, class) as u16)).collect(),
            set_of: (0..kinds.count).flat_map(|kind| live.iter().map(move |&state| row(state)[kind])).collect(),
            states: live.len(),
            class_of: dfa.class_of,
            classes: dfa.classes,
            kinds,
            sets,
        })
    }

    /// The state behind a byte.
    pub(super) fn next(&self, state: usize, byte: u8) -> usize {
        let class = usize::from(self.class_of[usize::from(byte)]);
        usize::from(self.maps[class * self.states + state])
    }

    /// Which of the sets matches in a state, if this byte follows, or the end of the text.
    pub(super) fn set(&self, state: usize, follows: Option<u8>) -> u16 {
        let kind = follows.map_or(self.kinds.of_end, |byte| self.kinds.of_byte[usize::from(byte)]);
        self.set_of[usize::from(kind) * self.states + state]
    }

    /// Which of the sets matches the empty string at the start of a text that begins so.
    pub(super) fn set_at_start(&self, first: Option<u8>) -> u16 {
        self.set(0, first)
    }

    /// Whether any set does, at the start of some text.
    #[cfg(feature = "gpu")]
    pub(super) fn has_sets_at_start(&self) -> bool {
        (0..self.kinds.count).any(|kind| self.set_of[kind * self.states] != 0)
    }

    /// Whether the byte behind a match matters, or that there is none.
    pub(super) fn looks_ahead(&self) -> bool {
        self.kinds.count > 1
    }

    /// Its table, for walks of many pieces of a text. The output for a byte is the set that matches before it.
    pub(super) fn walk(&self) -> Walk {
        let pair = |byte: usize| (self.class_of[byte], self.kinds.of_byte[byte]);
        let (symbol_of, symbols) = number_by_value((0..256).map(pair));
        let mut pairs = vec![(0, 0); symbols];
        (0..256).for_each(|byte| pairs[symbol_of[byte]] = pair(byte));
        let states = self.states;
        let column = |table: &[u16], place: u8| table[usize::from(place) * states..][..states].to_vec();
        let next = pairs.iter().flat_map(|&(class, _)| column(&self.maps, class)).collect();
        let output = pairs.iter().flat_map(|&(_, kind)| column(&self.set_of, kind)).collect();
        Walk::new(&Transducer { states, symbols, next, output }, symbol_of.into_iter(), false)
    }
}
