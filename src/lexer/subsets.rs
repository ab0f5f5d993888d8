//! The automaton of all matches of a set of patterns.
//!
//! First comes the automaton of matches that begin with the text. Its states behind a text, one for
//! each place where a match may have begun, say all that may follow; so sets of them are the states
//! of the automaton of all matches. For words the first is their tree, and a set is a node with the
//! nodes of its suffixes, as in the automaton of Aho and Corasick (CACM 1975).

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use regex_automata::MatchKind;
use regex_syntax::hir::Hir;

use super::LexerError;
use super::dfa::{self, RuleIndex, State, TokenDfa};

/// The most that an automaton may have.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// States before equivalent ones are merged, the dead one not counted.
    pub(super) states: usize,
    /// Entries of its table: states, the dead one too, times classes of bytes.
    pub(super) cells: usize,
}

/// How many bytes sets of states may take, of either automaton. Each element is a step for each class of bytes, so this bounds the
/// time: for words it is that of some ten thousand.
const SETS_LIMIT: usize = 8 << 20;

/// States that may be listed, whose numbers have 16 bits.
const MOST_LISTED: usize = 1 << 16;

/// The automaton, which accepts a set of patterns by its place among these sets; the first set is empty, and is not accepted.
///
/// # Errors
/// [`LexerError::TooManyStates`] if it is larger than the bounds, or takes too long to build.
pub(super) fn all_matches(patterns: &[Hir], bounds: Bounds) -> Result<(TokenDfa, Vec<Vec<usize>>), LexerError> {
    let searcher = dfa::determinise(patterns, MatchKind::All, SETS_LIMIT)?;
    let mut heads = PatternSets::new();
    let accept = |state| heads.accept(dfa::matching(&searcher, state).collect());
    let at_start = dfa::list(&searcher, dfa::start(&searcher)?, |_, _, to| to, accept, MOST_LISTED)?.minimised();

    let classes = at_start.classes;
    let mut subsets = Subsets { bounds, classes, numbers: HashMap::new(), sets: vec![Vec::new()], elements: 0 };
    let mut matches = PatternSets::new();
    subsets.number(vec![TokenDfa::START])?;
    let mut next = vec![TokenDfa::DEAD; classes];
    let mut accept = vec![None];
    while let Some(set) = subsets.sets.get(accept.len()).cloned() {
        for class in 0..classes {
            // A match may begin behind each byte.
            let behind = set.iter().map(|&state| at_start.next(state, class)).filter(|&to| to != TokenDfa::DEAD);
            next.push(subsets.number(behind.chain([TokenDfa::START]).collect())?);
        }
        // Many states may accept the same patterns, and each of them many.
        let ended: BTreeSet<RuleIndex> = set.iter().filter_map(|&state| at_start.accept(state)).collect();
        let patterns = ended.into_iter().flat_map(|place| heads.sets[usize::from(place)].iter().copied());
        accept.push(matches.accept(patterns.collect()));
    }
    Ok((TokenDfa { class_of: at_start.class_of, classes, next, accept }.minimised(), matches.sets))
}

/// The sets of states that were found, each a state of the new automaton; the first is that of the dead state, which is none of them.
struct Subsets {
    bounds: Bounds,
    classes: usize,
    numbers: HashMap<Vec<State>, State>,
    sets: Vec<Vec<State>>,
    elements: usize,
}

impl Subsets {
    /// The state that is all of these.
    fn number(&mut self, mut set: Vec<State>) -> Result<State, LexerError> {
        set.sort_unstable();
        set.dedup();
        let (number, elements) = (self.sets.len(), self.elements + set.len());
        let Bounds { states, cells } = self.bounds;
        match self.numbers.entry(set) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(_)
                if number > states
                    || (number + 1) * self.classes > cells
                    || elements > SETS_LIMIT / size_of::<State>() =>
            {
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

/// Sets of patterns that match together, each once; the first is empty.
struct PatternSets {
    numbers: HashMap<Vec<usize>, RuleIndex>,
    sets: Vec<Vec<usize>>,
}

impl PatternSets {
    fn new() -> PatternSets {
        PatternSets { numbers: HashMap::from([(Vec::new(), 0)]), sets: vec![Vec::new()] }
    }

    /// The place of a set, unless it is empty.
    fn accept(&mut self, mut patterns: Vec<usize>) -> Option<RuleIndex> {
        patterns.sort_unstable();
        patterns.dedup();
        let sets = &mut self.sets;
        let place = *self.numbers.entry(patterns).or_insert_with_key(|patterns| {
            sets.push(patterns.clone());
            (sets.len() - 1) as RuleIndex
        });
        (place > 0).then_some(place)
    }
}
