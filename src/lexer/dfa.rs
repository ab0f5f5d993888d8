//! Rules → the smallest DFA that says, after any bytes, which rule matches them and whether more
//! could follow.
//!
//! regex-automata determinises the rules; its automaton then loses two habits that serve searching
//! and not lexing. It reports a match one byte late, so here a state accepts what that state would
//! report at the end of the input. It keeps states apart that differ only in that delay, so the
//! result is minimised again.
//!
//! Where rules ask for kinds of incomplete tokens, every state that is on the way to a token
//! accepts such a kind, if it accepts no other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use regex_automata::Anchored;
use regex_automata::MatchKind;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::primitives::StateID;
use regex_automata::util::syntax;
use regex_syntax::hir::Hir;

use super::LexerError;
use super::blame;
use super::gather::Kind;
use super::minimal::{merge_classes, minimise};
use super::rules::{self, Role, Rule, Rules};

/// The most states that the smallest automaton of the rules may have. A lexer for C, keywords
/// included, has about 300.
pub const MAX_STATES: usize = 4096;

/// The most states before equivalent ones are merged. Matches are told one byte late by a state of their own, so 2048 keywords have
/// twice as many as they need.
const MOST_LISTED: usize = 4 * MAX_STATES;

/// How many bytes the NFA may take, and the DFA before it is minimised.
const MEMORY_LIMIT: usize = 32 << 20;

/// How many bytes the sets of NFA states may take that the DFA's states stand for. Each element of a set is a step of the
/// construction for each class of bytes, so this bounds its time, to some two seconds. The rule sets that come with
/// monoscan, and the patterns of pre-tokenisers, need less than half.
pub(super) const SETS_LIMIT: usize = 2 << 20;

/// The rules' DFA, as regex-automata makes it.
pub(super) type Searcher = dense::DFA<Vec<u32>>;

/// The findings of [`explore`].
type Explored = (TokenDfa, Vec<Option<RuleIndex>>);

/// A state of a [`TokenDfa`] or of what is made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct State(u16);

impl State {
    pub(super) fn new(index: usize) -> State {
        State(u16::try_from(index).expect("no automaton has so many"))
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The place of a rule among the rules.
pub(super) type RuleIndex = u16;

/// A total, minimal DFA over byte classes. All states are reachable from the start, except maybe the dead one.
pub(super) struct TokenDfa {
    /// The class of every byte. Two bytes share a class where no state tells them apart.
    pub(super) class_of: [u8; 256],
    /// How many classes there are.
    pub(super) classes: usize,
    /// The successor of state `q` by class `c`, at `q * classes + c`.
    pub(super) next: Vec<State>,
    /// The rule that wins where the bytes read so far are a token.
    pub(super) accept: Vec<Option<RuleIndex>>,
}

impl TokenDfa {
    /// The state from which no rule matches any more.
    pub(super) const DEAD: State = State(0);
    /// The state before the first byte.
    pub(super) const START: State = State(1);

    /// Determinises and minimises the rules.
    pub(super) fn new(rules: &Rules) -> Result<TokenDfa, LexerError> {
        TokenDfa::of(rules, |_| true)
    }

    /// The same of some of the rules, by their places.
    pub(super) fn of(rules: &Rules, include: impl Fn(usize) -> bool) -> Result<TokenDfa, LexerError> {
        TokenDfa::of_patterns(rules, &include).map_err(|error| blame::of(error, rules, include))
    }

    /// The same; an error names no rule.
    pub(super) fn of_patterns(rules: &Rules, include: impl Fn(usize) -> bool) -> Result<TokenDfa, LexerError> {
        let Some((searcher, included)) = searcher(rules, include)? else { return Ok(TokenDfa::without_tokens()) };
        let (mut delayed, named) = explore(&searcher, rules, &included)?;
        if rules.names_incomplete() {
            delayed.accept_incomplete(rules, &named);
        }
        delayed.minimised().bounded()
    }

    /// The smallest automaton that does the same.
    pub(super) fn minimised(self) -> TokenDfa {
        merge_classes(minimise(self))
    }

    /// The same, if it has at most [`MAX_STATES`] states.
    pub(super) fn bounded(self) -> Result<TokenDfa, LexerError> {
        if self.accept.len() <= MAX_STATES { Ok(self) } else { Err(LexerError::TooManyStates { rule: None }) }
    }

    /// The automaton of no rule.
    fn without_tokens() -> TokenDfa {
        TokenDfa { class_of: [0; 256], classes: 1, next: vec![TokenDfa::DEAD; 2], accept: vec![None; 2] }
    }

    /// The state behind some bytes of a token.
    pub(super) fn run(&self, bytes: &[u8]) -> State {
        bytes.iter().fold(TokenDfa::START, |q, &byte| self.next(q, usize::from(self.class_of[usize::from(byte)])))
    }

    /// Lets every state but the start accept the kind of what begins a token, if it accepts nothing and there is such a kind.
    ///
    /// `earliest` has for each state the earliest rule with a kind for incomplete tokens, of those that match there.
    fn accept_incomplete(&mut self, rules: &Rules, earliest: &[Option<RuleIndex>]) {
        self.enter_start_never();
        let mut into = vec![Vec::new(); self.accept.len()];
        for from in self.states() {
            (0..self.classes).for_each(|class| into[self.next(from, class).index()].push(from.index()));
        }
        let mut seeds: Vec<(RuleIndex, usize)> =
            earliest.iter().enumerate().filter_map(|(state, rule)| Some(((*rule)?, state))).collect();
        seeds.sort_unstable();
        // Of those that match there or further on: the earliest rule takes all states that lead to it.
        let mut earliest = vec![None; self.accept.len()];
        for (rule, state) in seeds {
            let mut open = vec![state];
            while let Some(state) = open.pop() {
                if earliest[state].is_none() {
                    earliest[state] = Some(rule);
                    open.extend(&into[state]);
                }
            }
        }
        for state in self.states().filter(|&q| q != TokenDfa::START) {
            let incomplete = earliest[state.index()].and_then(|rule| rules.incomplete_of(usize::from(rule)));
            let accept = &mut self.accept[state.index()];
            *accept = accept.or(incomplete.map(|kind| kind as RuleIndex));
        }
    }

    /// Splits the start where it is entered, so that nothing was read in it. The result is not minimal then.
    pub(super) fn enter_start_never(&mut self) {
        if !self.next.contains(&TokenDfa::START) {
            return;
        }
        let again = State::new(self.accept.len());
        self.accept.push(self.accept(TokenDfa::START));
        let row = TokenDfa::START.index() * self.classes;
        self.next.extend_from_within(row..row + self.classes);
        self.next.iter_mut().filter(|to| **to == TokenDfa::START).for_each(|to| *to = again);
    }

    pub(super) fn states(&self) -> impl Iterator<Item = State> + use<> {
        (0..self.accept.len()).map(State::new)
    }

    pub(super) fn next(&self, state: State, class: usize) -> State {
        self.next[state.index() * self.classes + class]
    }

    pub(super) fn accept(&self, state: State) -> Option<RuleIndex> {
        self.accept[state.index()]
    }
}

pub(super) fn rule(rules: &Rules, index: usize) -> &Rule {
    rules.iter().nth(index).expect("the place of a rule")
}

/// The precedence of rules that match the same text: the least wins.
pub(super) fn precedence(rules: &Rules, index: usize) -> (bool, usize) {
    (rule(rules, index).role() != Role::Keyword, index)
}

/// Some of the rules determinised, by their places; and the place of the rule of each pattern. None if they are none.
pub(super) fn searcher(
    rules: &Rules,
    include: impl Fn(usize) -> bool,
) -> Result<Option<(Searcher, Vec<usize>)>, LexerError> {
    let included: Vec<usize> = (0..rules.len()).filter(|&i| include(i) && rule(rules, i).has_pattern()).collect();
    if included.is_empty() {
        return Ok(None);
    }
    let patterns: Vec<&str> = included.iter().map(|&i| rule(rules, i).pattern()).collect();
    let parsed = syntax::parse_many_with(&patterns, &rules::syntax()).map_err(LexerError::automaton)?;
    Ok(Some((determinise(&parsed, MatchKind::All, SETS_LIMIT)?, included)))
}

/// Determinises patterns, anchored: of all matches, or of those that a backtracking search would find, of which the last is the one.
/// The sets of NFA states may take so many bytes.
pub(super) fn determinise(patterns: &[Hir], kind: MatchKind, sets_limit: usize) -> Result<Searcher, LexerError> {
    let nfa = nfa(patterns)?;
    // Our own minimisation follows, so regex-automata's slower one would be work done twice.
    dense::Builder::new()
        .configure(
            dense::Config::new()
                .match_kind(kind)
                .start_kind(StartKind::Anchored)
                .accelerate(false)
                .dfa_size_limit(Some(MEMORY_LIMIT))
                .determinize_size_limit(Some(sets_limit)),
        )
        .build_from_nfa(&nfa)
        .map_err(|error| match error.is_size_limit_exceeded() {
            true => LexerError::TooMuchMemory { rule: None },
            false => LexerError::automaton(error),
        })
}

/// The NFA of patterns, of bytes.
fn nfa(patterns: &[Hir]) -> Result<NFA, LexerError> {
    thompson::Compiler::new()
        .configure(
            thompson::Config::new()
                .utf8(false)
                .which_captures(thompson::WhichCaptures::None)
                .nfa_size_limit(Some(MEMORY_LIMIT)),
        )
        .build_many_from_hir(patterns)
        .map_err(|error| match error.size_limit() {
            Some(_) => LexerError::TooMuchMemory { rule: None },
            None => LexerError::automaton(error),
        })
}

/// Lists the states of `searcher` with dense numbers and undelayed matches: the dead state first, then the start.
/// Also says, for each state, which is the earliest rule that matches there and has a kind for incomplete tokens.
fn explore(searcher: &Searcher, rules: &Rules, included: &[usize]) -> Result<Explored, LexerError> {
    let mut named = vec![None];
    let accept = |state: StateID| {
        let matching = || matching(searcher, state).map(|pattern| included[pattern] as RuleIndex);
        named.push(matching().filter(|&rule| rules.incomplete_of(usize::from(rule)).is_some()).min());
        matching().min_by_key(|&rule| precedence(rules, usize::from(rule)))
    };
    let dfa = list(searcher, start(searcher)?, |_, _, to| to, accept)?;
    match dfa.accept(TokenDfa::START) {
        // Rare: the parser's own bound did not see it, as in `([a&&b])*`.
        Some(rule) => Err(LexerError::EmptyMatch { rule: rules.name(Kind::Rule(rule)).to_owned() }),
        None => Ok((dfa, named)),
    }
}

/// The state before the first byte.
pub(super) fn start(searcher: &Searcher) -> Result<StateID, LexerError> {
    searcher.universal_start_state(Anchored::Yes).ok_or(LexerError::LookBehind)
}

/// Lists what is reached from `start`, breadth first, as a DFA: states of `searcher`, and whatever else `with` adds to the state
/// that a byte leads to.
///
/// `accept` is asked for each in turn. More than [`MOST_LISTED`], the dead one among them, are an error.
pub(super) fn list<N: Node>(
    searcher: &Searcher,
    start: N,
    with: impl Fn(N, u8, StateID) -> N,
    mut accept: impl FnMut(N) -> Option<RuleIndex>,
) -> Result<TokenDfa, LexerError> {
    let searcher_classes = searcher.byte_classes();
    let class_of: [u8; 256] = std::array::from_fn(|byte| searcher_classes.get(byte as u8));
    // The last class of the searcher is its end of input.
    let classes = searcher_classes.alphabet_len() - 1;
    let samples = sample_bytes(&class_of, classes);
    let mut dfa = TokenDfa { class_of, classes, next: vec![TokenDfa::DEAD; classes], accept: vec![None] };
    let mut found = vec![start];
    let mut number: HashMap<N, State> = HashMap::from([(start, TokenDfa::START)]);
    let mut at = 0;
    while at < found.len() {
        let from = found[at];
        dfa.accept.push(accept(from));
        for &byte in &samples {
            let to = searcher.next_state(from.state(), byte);
            if searcher.is_dead_state(to) {
                dfa.next.push(TokenDfa::DEAD);
                continue;
            }
            let to = with(from, byte, to);
            let known = number.len();
            let state = match number.entry(to) {
                Entry::Occupied(state) => *state.get(),
                Entry::Vacant(_) if known + 1 == MOST_LISTED => return Err(LexerError::TooManyStates { rule: None }),
                Entry::Vacant(place) => {
                    found.push(to);
                    *place.insert(State::new(known + 1))
                }
            };
            dfa.next.push(state);
        }
        at += 1;
    }
    Ok(dfa)
}

/// A node that [`list`] lists.
pub(super) trait Node: Copy + Eq + Hash {
    /// The state of the searcher.
    fn state(self) -> StateID;
}

impl Node for StateID {
    fn state(self) -> StateID {
        self
    }
}

/// The pattern that matches the bytes which led to `state` and is the first of a backtracking search, if more bytes follow, whichever
/// they are; for patterns that look at no byte behind them.
pub(super) fn matching_inside(searcher: &Searcher, state: StateID) -> Option<usize> {
    // A match is told one byte late.
    let late = searcher.next_state(state, 0);
    searcher.is_match_state(late).then(|| searcher.match_pattern(late, 0).as_usize())
}

/// The patterns that match exactly the bytes which led to `state`, if the text ends there.
pub(super) fn matching(searcher: &Searcher, state: StateID) -> impl Iterator<Item = usize> + '_ {
    let end = searcher.next_eoi_state(state);
    let count = if searcher.is_match_state(end) { searcher.match_len(end) } else { 0 };
    (0..count).map(move |i| searcher.match_pattern(end, i).as_usize())
}

/// All bytes, those that read well in a message first; some come again.
pub(super) fn bytes_by_charm() -> impl DoubleEndedIterator<Item = u8> {
    let others = (0..=255u8).filter(|byte| !byte.is_ascii_graphic());
    (b'a'..=b'z').chain(b'0'..=b'9').chain(b'!'..=b'~').chain(others)
}

/// One byte of every class.
pub(super) fn sample_bytes(class_of: &[u8; 256], classes: usize) -> Vec<u8> {
    let mut samples = vec![0; classes];
    // The last one of a class stays.
    for byte in bytes_by_charm().rev() {
        samples[usize::from(class_of[usize::from(byte)])] = byte;
    }
    samples
}
