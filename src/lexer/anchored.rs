//! The automaton of all matches that begin at one place of a text.
//!
//! Whether a match may begin there depends on the byte before (`^`, `\b`). So there is a first
//! state for each class of such bytes, and one for the start of the text. Whether a match ends
//! depends on what follows (`$`, `\b`): a byte, or the end of the text. What follows is of a few
//! *kinds*, of which no state tells two apart. There is one kind if no pattern looks ahead, and for
//! `\b` there are two. A state says for each kind which patterns have a match that ends there.
//!
//! regex-automata tells matches one byte late, when it has seen what follows. So the transition out
//! of a state says what ended before it, and states that differ only in what they tell late are
//! merged.

use std::collections::HashMap;

use regex_automata::dfa::Automaton as _;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored as Mode, MatchKind};
use regex_syntax::hir::Hir;

use super::LexerError;
use super::dfa::{self, RuleIndex, Searcher, State, TokenDfa};
use super::minimal::{equivalent, number_by_value};

/// States that may be listed, whose numbers have 16 bits.
const MOST_LISTED: usize = 1 << 16;

/// A total, minimal automaton over classes of bytes. State 0 is dead.
pub(super) struct Anchored {
    pub(super) class_of: [u8; 256],
    pub(super) classes: usize,
    /// The successor of state `q` by class `c`, at `q * classes + c`.
    next: Vec<State>,
    /// Where a match begins at the start of the text.
    pub(super) at_start: State,
    /// Where it begins behind a byte of each class.
    pub(super) behind: Vec<State>,
    pub(super) kinds: Kinds,
    /// For each state and kind of what follows, which set of patterns ends there.
    ended: Vec<RuleIndex>,
    pub(super) sets: PatternSets,
}

/// The kinds of what follows a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) count: usize,
    /// The kind of each byte.
    pub(super) of_byte: [u8; 256],
    /// That of the end of the text.
    pub(super) of_end: u8,
}

impl Anchored {
    /// Determinises patterns; the sets of NFA states may take so many bytes.
    pub(super) fn new(patterns: &[Hir], sets_limit: usize) -> Result<Anchored, LexerError> {
        let searcher = dfa::determinise(patterns, MatchKind::All, sets_limit)?;
        Ok(Listed::of(&searcher)?.minimised())
    }

    pub(super) fn next(&self, state: State, class: usize) -> State {
        self.next[state.index() * self.classes + class]
    }

    /// The set of patterns that end in a state, if this kind follows.
    pub(super) fn ended(&self, state: State, kind: usize) -> RuleIndex {
        self.ended[state.index() * self.kinds.count + kind]
    }

    /// A pattern that matches the empty string at every place of every text.
    pub(super) fn empty_everywhere(&self) -> Option<usize> {
        let firsts = || [self.at_start].into_iter().chain(self.behind.iter().copied());
        let mut contexts = firsts().flat_map(|state| (0..self.kinds.count).map(move |kind| (state, kind)));
        let patterns = |(state, kind)| self.sets.get(self.ended(state, kind));
        let all = contexts.next().map(patterns).unwrap_or_default().to_vec();
        let left = contexts.fold(all, |mut left, context| {
            left.retain(|pattern| patterns(context).contains(pattern));
            left
        });
        left.first().copied()
    }
}

/// States of a searcher, numbered in the order in which they are met; the dead one first.
struct Listed<'a> {
    searcher: &'a Searcher,
    class_of: [u8; 256],
    classes: usize,
    numbers: HashMap<StateID, State>,
    found: Vec<StateID>,
    /// For each, which set of patterns it tells, one byte late.
    late: Vec<RuleIndex>,
    sets: PatternSets,
    next: Vec<State>,
    /// For each, which set of patterns ends there, if the text does.
    at_end: Vec<RuleIndex>,
    at_start: State,
    behind: Vec<State>,
}

impl<'a> Listed<'a> {
    fn of(searcher: &'a Searcher) -> Result<Listed<'a>, LexerError> {
        let byte_classes = searcher.byte_classes();
        let class_of: [u8; 256] = std::array::from_fn(|byte| byte_classes.get(byte as u8));
        // The last class of the searcher is its end of input.
        let classes = byte_classes.alphabet_len() - 1;
        let samples = dfa::sample_bytes(&class_of, classes);
        let mut listed = Listed {
            searcher,
            class_of,
            classes,
            numbers: HashMap::new(),
            found: vec![StateID::ZERO],
            late: vec![0],
            sets: PatternSets::new(),
            next: vec![TokenDfa::DEAD; classes],
            at_end: vec![0],
            at_start: TokenDfa::DEAD,
            behind: Vec::new(),
        };
        listed.at_start = listed.first(None)?;
        listed.behind = samples.iter().map(|&byte| listed.first(Some(byte))).collect::<Result<_, _>>()?;
        while let Some(&from) = listed.found.get(listed.at_end.len()) {
            for &byte in &samples {
                let to = listed.number(searcher.next_state(from, byte))?;
                listed.next.push(to);
            }
            let end = listed.set(searcher.next_eoi_state(from))?;
            listed.at_end.push(end);
        }
        Ok(listed)
    }

    /// Where a match begins behind a byte, or at the start of the text.
    fn first(&mut self, behind: Option<u8>) -> Result<State, LexerError> {
        let config = start::Config::new().anchored(Mode::Yes).look_behind(behind);
        let state = self.searcher.start_state(&config).map_err(LexerError::automaton)?;
        self.number(state)
    }

    fn number(&mut self, state: StateID) -> Result<State, LexerError> {
        if self.searcher.is_dead_state(state) {
            return Ok(TokenDfa::DEAD);
        }
        if let Some(&known) = self.numbers.get(&state) {
            return Ok(known);
        }
        if self.found.len() == MOST_LISTED {
            return Err(LexerError::TooManyStates { rule: None });
        }
        let new = State::new(self.found.len());
        let late = self.set(state)?;
        self.numbers.insert(state, new);
        self.found.push(state);
        self.late.push(late);
        Ok(new)
    }

    /// The set of patterns that a state tells.
    fn set(&mut self, state: StateID) -> Result<RuleIndex, LexerError> {
        let count = if self.searcher.is_match_state(state) { self.searcher.match_len(state) } else { 0 };
        self.sets.place((0..count).map(|i| self.searcher.match_pattern(state, i).as_usize()).collect())
    }

    fn minimised(self) -> Anchored {
        let classes = self.classes;
        // What ended in each state, for each class of bytes that follows and for the end of the text.
        let row = |state: usize| -> Vec<RuleIndex> {
            let late = self.next[state * classes..][..classes].iter().map(|to| self.late[to.index()]);
            late.chain([self.at_end[state]]).collect()
        };
        let rows: Vec<Vec<RuleIndex>> = (0..self.found.len()).map(row).collect();
        let (row_of, count) = number_by_value(rows.iter());
        let next = |class: usize, state: usize| self.next[state * classes + class].index();
        // The dead state is met first, so that its block is 0 again.
        let (block, blocks) = equivalent(classes, next, (row_of, count));
        let mut members = vec![0; blocks];
        (0..block.len()).rev().for_each(|state| members[block[state]] = state);

        let follows = |symbol: usize| members.iter().map(|&state| rows[state][symbol]).collect::<Vec<_>>();
        let (kind_of, kinds) = number_by_value((0..=classes).map(follows));
        let mut symbols = vec![0; kinds];
        (0..=classes).for_each(|symbol| symbols[kind_of[symbol]] = symbol);

        let column = |class: usize| {
            let next: Vec<usize> = members.iter().map(|&state| block[next(class, state)]).collect();
            (next, kind_of[class], block[self.behind[class].index()])
        };
        let columns: Vec<_> = (0..classes).map(column).collect();
        let (merged, classes) = number_by_value(columns.iter());
        let mut samples = vec![0; classes];
        merged.iter().enumerate().for_each(|(old, &new)| samples[new] = old);
        let class_of = self.class_of.map(|class| merged[usize::from(class)] as u8);
        let state = State::new;
        Anchored {
            class_of,
            classes,
            next: (0..blocks)
                .flat_map(|block| samples.iter().map(move |&old| (block, old)))
                .map(|(block, old)| state(columns[old].0[block]))
                .collect(),
            at_start: state(block[self.at_start.index()]),
            behind: samples.iter().map(|&old| state(columns[old].2)).collect(),
            ended: members
                .iter()
                .flat_map(|&state| symbols.iter().map(move |&symbol| (state, symbol)))
                .map(|(state, symbol)| rows[state][symbol])
                .collect(),
            kinds: Kinds {
                count: kinds,
                of_byte: self.class_of.map(|class| kind_of[usize::from(class)] as u8),
                of_end: kind_of[self.classes] as u8,
            },
            sets: self.sets,
        }
    }
}

/// Sets of patterns that match together, each once; the first is empty.
pub(super) struct PatternSets {
    numbers: HashMap<Vec<usize>, RuleIndex>,
    sets: Vec<Vec<usize>>,
}

impl PatternSets {
    pub(super) fn new() -> PatternSets {
        PatternSets { numbers: HashMap::from([(Vec::new(), 0)]), sets: vec![Vec::new()] }
    }

    /// The place of a set.
    pub(super) fn place(&mut self, mut patterns: Vec<usize>) -> Result<RuleIndex, LexerError> {
        patterns.sort_unstable();
        patterns.dedup();
        if let Some(&known) = self.numbers.get(&patterns) {
            return Ok(known);
        }
        let place = RuleIndex::try_from(self.sets.len()).map_err(|_| LexerError::TooManyStates { rule: None })?;
        self.sets.push(patterns.clone());
        self.numbers.insert(patterns, place);
        Ok(place)
    }

    pub(super) fn get(&self, place: RuleIndex) -> &[usize] {
        &self.sets[usize::from(place)]
    }

    pub(super) fn into_vec(self) -> Vec<Vec<usize>> {
        self.sets
    }
}
