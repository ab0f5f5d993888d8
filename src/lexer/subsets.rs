//! The automaton of all matches of a set of patterns.
//!
//! First comes the automaton of matches that begin at one place. Its states behind a text, one for
//! each place where a match may have begun, say all that may follow; so sets of them are the states
//! of the automaton of all matches. For words the first is their tree, and a set is a node with the
//! nodes of its suffixes, as in the automaton of Aho and Corasick (CACM 1975).
//!
//! Where a match ends may depend on what follows, which is of a few kinds (see `anchored.rs`). So a
//! state accepts a *row*: for each kind, the set of patterns that match there.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use regex_syntax::hir::Hir;

use super::LexerError;
use super::anchored::{Anchored, Kinds, PatternSets};
use super::dfa::{RuleIndex, State, TokenDfa};

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

/// The automaton of all matches.
pub(super) struct AllMatches {
    /// It accepts a row by its place; a state that accepts none has the first row, where each set is empty.
    pub(super) dfa: TokenDfa,
    pub(super) kinds: Kinds,
    /// For each kind of what follows, a set by its place.
    pub(super) rows: Vec<Vec<RuleIndex>>,
    /// The patterns of each set; the first is empty.
    pub(super) sets: Vec<Vec<usize>>,
    /// A pattern that matches the empty string at every place of every text.
    pub(super) empty: Option<usize>,
}

/// The automaton of all matches of patterns.
///
/// # Errors
/// [`LexerError::TooManyStates`] if it is larger than the bounds, or takes too long to build.
pub(super) fn all_matches(patterns: &[Hir], bounds: Bounds) -> Result<AllMatches, LexerError> {
    let heads = Anchored::new(patterns, SETS_LIMIT)?;
    let classes = heads.classes;
    let mut subsets = Subsets { bounds, classes, numbers: HashMap::new(), sets: vec![Vec::new()], elements: 0 };
    let mut rows = Rows::new(&heads);
    subsets.number(alive([heads.at_start]))?;
    let mut next = vec![TokenDfa::DEAD; classes];
    let mut accept = vec![None];
    while let Some(set) = subsets.sets.get(accept.len()).cloned() {
        for class in 0..classes {
            // A match may begin behind each byte.
            let begun = set.iter().map(|&state| heads.next(state, class));
            next.push(subsets.number(alive(begun.chain([heads.behind[class]])))?);
        }
        accept.push(rows.place(&set)?);
    }
    let dfa = TokenDfa { class_of: heads.class_of, classes, next, accept }.minimised();
    let (rows, sets) = (rows.rows, rows.sets.into_vec());
    Ok(AllMatches { dfa, rows, sets, empty: heads.empty_everywhere(), kinds: heads.kinds })
}

fn alive(states: impl IntoIterator<Item = State>) -> Vec<State> {
    states.into_iter().filter(|&state| state != TokenDfa::DEAD).collect()
}

/// The rows that were found, each once.
struct Rows<'a> {
    heads: &'a Anchored,
    sets: PatternSets,
    numbers: HashMap<Vec<RuleIndex>, RuleIndex>,
    rows: Vec<Vec<RuleIndex>>,
}

impl Rows<'_> {
    fn new(heads: &Anchored) -> Rows<'_> {
        let none = vec![0; heads.kinds.count];
        let (numbers, rows) = (HashMap::from([(none.clone(), 0)]), vec![none]);
        Rows { heads, sets: PatternSets::new(), numbers, rows }
    }

    /// The place of the row of these states, unless each of its sets is empty.
    fn place(&mut self, states: &[State]) -> Result<Option<RuleIndex>, LexerError> {
        let heads = self.heads;
        let set = |kind| {
            // Many states may accept the same patterns, and each of them many.
            let ended: BTreeSet<RuleIndex> = states.iter().map(|&state| heads.ended(state, kind)).collect();
            self.sets.place(ended.into_iter().flat_map(|place| heads.sets.get(place).iter().copied()).collect())
        };
        let row = (0..heads.kinds.count).map(set).collect::<Result<Vec<RuleIndex>, _>>()?;
        // There are no more of them than states.
        let new = self.rows.len() as RuleIndex;
        let place = *self.numbers.entry(row).or_insert_with_key(|row| {
            self.rows.push(row.clone());
            new
        });
        Ok((place > 0).then_some(place))
    }
}

/// The sets of states that were found, each a state of the new automaton; the first is that of the dead state, which is none of
/// them. A set may be empty: a match may begin behind the next byte.
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
                Err(LexerError::TooManyStates { rule: None })
            }
            Entry::Vacant(new) => {
                self.sets.push(new.key().clone());
                self.elements = elements;
                Ok(*new.insert(State::new(number)))
            }
        }
    }
}
