//! The automaton of all matches of a set of patterns, by the subset construction.
//!
//! regex-automata makes the NFA, which may begin a match at any byte. Its own DFA reports matches
//! one byte late, so its states are pairs of what matched and what may follow: the square of what
//! is needed for many short patterns. Here a set of NFA states accepts what it holds.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use regex_automata::nfa::thompson::{NFA, State as NfaState};
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;

use super::LexerError;
use super::dfa::{MAX_STATES, RuleIndex, SETS_LIMIT, State, TokenDfa, nfa, sample_bytes};

/// The automaton, which accepts a set of patterns by its place among these sets; the first set is empty, and is not accepted.
///
/// # Errors
/// [`LexerError::TooManyStates`] if it has more than [`MAX_STATES`] states before equivalent ones are merged, or takes too long to build.
pub(super) fn all_matches(patterns: &[Hir]) -> Result<(TokenDfa, Vec<Vec<usize>>), LexerError> {
    let nfa = nfa(patterns)?;
    let of_bytes = nfa.byte_classes();
    let class_of: [u8; 256] = std::array::from_fn(|byte| of_bytes.get(byte as u8));
    // The last class is the end of input.
    let classes = of_bytes.alphabet_len() - 1;
    let samples = sample_bytes(&class_of, classes);

    let mut subsets = Subsets { nfa: &nfa, numbers: HashMap::new(), sets: vec![Vec::new()], elements: 0 };
    subsets.number([nfa.start_unanchored()])?;
    let mut next = vec![TokenDfa::DEAD; classes];
    let mut accept = vec![None];
    let mut matches: Vec<Vec<usize>> = vec![Vec::new()];
    let mut listed = 1;
    while listed < subsets.sets.len() {
        let set = subsets.sets[listed].clone();
        for &byte in &samples {
            next.push(subsets.number(set.iter().filter_map(|&state| step(nfa.state(state), byte)))?);
        }
        let patterns = set.iter().filter_map(|&state| match nfa.state(state) {
            NfaState::Match { pattern_id } => Some(pattern_id.as_usize()),
            _ => None,
        });
        let mut patterns: Vec<usize> = patterns.collect();
        patterns.sort_unstable();
        let place = matches.iter().position(|known| *known == patterns).unwrap_or_else(|| {
            matches.push(patterns);
            matches.len() - 1
        });
        accept.push((place > 0).then_some(place as RuleIndex));
        listed += 1;
    }
    Ok((TokenDfa { class_of, classes, next, accept }.minimised(), matches))
}

/// The sets of NFA states that were found, each a state of the DFA; the first is that of the dead state.
struct Subsets<'a> {
    nfa: &'a NFA,
    numbers: HashMap<Vec<StateID>, State>,
    sets: Vec<Vec<StateID>>,
    elements: usize,
}

impl Subsets<'_> {
    /// The state that is all of these and what they lead to without a byte.
    fn number(&mut self, from: impl IntoIterator<Item = StateID>) -> Result<State, LexerError> {
        let (mut open, mut seen): (Vec<StateID>, Vec<StateID>) = (from.into_iter().collect(), Vec::new());
        let mut is_seen = vec![false; self.nfa.states().len()];
        while let Some(state) = open.pop() {
            if std::mem::replace(&mut is_seen[state.as_usize()], true) {
                continue;
            }
            match self.nfa.state(state) {
                NfaState::Union { alternates } => open.extend(&**alternates),
                NfaState::BinaryUnion { alt1, alt2 } => open.extend([alt1, alt2]),
                NfaState::Capture { next, .. } => open.push(*next),
                NfaState::Fail | NfaState::Look { .. } => {}
                _ => seen.push(state),
            }
        }
        if seen.is_empty() {
            return Ok(TokenDfa::DEAD);
        }
        seen.sort_unstable();
        let (number, elements) = (self.sets.len(), self.elements + seen.len());
        match self.numbers.entry(seen) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(_) if number > MAX_STATES || elements > SETS_LIMIT / size_of::<StateID>() => {
                Err(LexerError::TooManyStates)
            }
            Entry::Vacant(new) => {
                self.sets.push(new.key().clone());
                self.elements = elements;
                Ok(*new.insert(State::new(number)))
            }
        }
    }
}

/// Where a byte leads an NFA state.
fn step(state: &NfaState, byte: u8) -> Option<StateID> {
    match state {
        NfaState::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        NfaState::Sparse(sparse) => sparse.matches_byte(byte),
        NfaState::Dense(dense) => dense.matches_byte(byte),
        _ => None,
    }
}
