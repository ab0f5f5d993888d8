//! Maximal munch as a textbook writes it: at each place, ask every rule for its longest match.
//! Shares no table and no automaton with the lexer. And texts made for rules, which hurt.

use std::collections::HashSet;

use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

use crate::Random;

/// The purpose of a rule, as far as the longest match depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Wins against later rules.
    Token,
    /// Wins against all that are no keywords.
    Keyword,
    /// The beginning of a token of the rule at this place; it has no regex.
    Incomplete(usize),
}

/// A piece of a text: the place of its rule, none for an error, a start and an end.
pub type Piece = (Option<u16>, usize, usize);

/// Rules, one automaton each.
pub struct Reference {
    /// In order of precedence, keywords first: the place of each rule, and what matches it.
    rules: Vec<(u16, dense::DFA<Vec<u32>>)>,
    /// For each rule, in order, the kind of what begins one of its tokens, and the states in which one may go on.
    incomplete: Vec<(u16, usize, HashSet<StateID>)>,
}

impl Reference {
    /// Rules in their order, each as a regex on bytes.
    ///
    /// # Panics
    /// If a regex is wrong.
    pub fn new(rules: &[(&str, Role)]) -> Reference {
        let build = |regex: &str| {
            dense::Builder::new()
                .syntax(syntax::Config::new().unicode(false).utf8(false))
                .configure(dense::Config::new().match_kind(MatchKind::All))
                .build(regex)
                .expect("the tests' rules are small")
        };
        let of = |role: Role| (0..).zip(rules).filter(move |(_, rule)| rule.1 == role);
        let by_precedence: Vec<_> =
            of(Role::Keyword).chain(of(Role::Token)).map(|(place, rule)| (place, build(rule.0))).collect();
        let position = |of: usize| by_precedence.iter().position(|&(place, _)| usize::from(place) == of);
        let incomplete = (0..).zip(rules).filter_map(|(kind, rule)| match rule.1 {
            Role::Incomplete(of) => {
                let rule = position(of).expect("it has a regex");
                Some((kind, rule, going_on(&by_precedence[rule].1)))
            }
            _ => None,
        });
        let incomplete = incomplete.collect();
        Reference { rules: by_precedence, incomplete }
    }

    /// The longest match at `start`; of equally long ones, a keyword's, then the earliest rule's. What begins a token counts as a
    /// match of its kind that any other of the same length wins against.
    fn longest(&self, text: &[u8], start: usize) -> Option<(u16, usize)> {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let matches = self.rules.iter().filter_map(|(place, rule)| {
            let end = rule.try_search_fwd(&input).expect("no byte makes these automata quit")?.offset();
            Some((*place, end))
        });
        let begun = self.incomplete.iter().map(|(kind, rule, goes_on)| {
            let rule = &self.rules[*rule].1;
            let mut state = start_of(rule);
            // The longest text that more bytes may make a match.
            let steps = text[start..].iter().map_while(|&byte| {
                state = rule.next_state(state, byte);
                goes_on.contains(&state).then_some(())
            });
            (*kind, start + steps.count())
        });
        // `max_by_key` takes the last of equals.
        let all: Vec<(u16, usize)> = matches.chain(begun).filter(|&(_, end)| end > start).collect();
        all.into_iter().rev().max_by_key(|&(_, end)| end)
    }

    /// All pieces; each maximal run of bytes that begin no token is one.
    pub fn pieces(&self, text: &[u8]) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let longest = self.longest(text, at);
            let (kind, end) = longest.map_or((None, at + 1), |(kind, end)| (Some(kind), end));
            match pieces.last_mut() {
                Some((None, _, run)) if kind.is_none() => *run = end,
                _ => pieces.push((kind, at, end)),
            }
            at = end;
        }
        pieces
    }

    /// A text that some rule matches, of about at most so many bytes.
    pub fn token(&self, random: &mut Random, most: usize) -> Vec<u8> {
        let rule = &self.rules[random.below(self.rules.len())].1;
        let mut state = start_of(rule);
        let mut text = Vec::new();
        loop {
            let is_match = rule.is_match_state(rule.next_eoi_state(state));
            if is_match && (text.len() >= most || random.chance(6)) || text.len() >= 4 * most {
                return text;
            }
            let next: Vec<u8> = (0..=255).filter(|&byte| !rule.is_dead_state(rule.next_state(state, byte))).collect();
            if next.is_empty() {
                return text;
            }
            let readable: Vec<u8> = next.iter().copied().filter(|byte| (b' '..=b'~').contains(byte)).collect();
            let any = readable.is_empty() || random.chance(10);
            let byte = *random.pick(if any { &next } else { &readable });
            state = rule.next_state(state, byte);
            text.push(byte);
        }
    }

    /// Tokens in any order, some cut off, doubled, or with a byte changed; at most so many bytes.
    pub fn text(&self, random: &mut Random, tokens: &[Vec<u8>], most: usize) -> Vec<u8> {
        let mut text = Vec::new();
        while text.len() < most {
            let token = random.pick(tokens);
            match random.below(24) {
                0 => text.push(random.below(256) as u8),
                1 => text.extend(&token[..random.below(token.len() + 1)]),
                2 => text.extend(&token[random.below(token.len() + 1)..]),
                3 => text.extend(token.repeat(1 + random.below(9))),
                4 => {
                    text.extend(token);
                    if let Some(last) = text.last_mut() {
                        *last = random.below(256) as u8;
                    }
                }
                5 => text.extend(b" ".repeat(random.below(40))),
                _ => text.extend(token),
            }
        }
        text.truncate(most);
        text
    }
}

/// The states, but dead ends, in which a match may go on.
fn going_on(rule: &dense::DFA<Vec<u32>>) -> HashSet<StateID> {
    let next = |state| (0..=255).map(move |byte| rule.next_state(state, byte)).filter(|&to| !rule.is_dead_state(to));
    let (mut met, mut waiting) = (HashSet::new(), vec![start_of(rule)]);
    while let Some(state) = waiting.pop() {
        waiting.extend(next(state).filter(|&to| met.insert(to)));
    }
    met.into_iter().filter(|&state| next(state).next().is_some()).collect()
}

fn start_of(rule: &dense::DFA<Vec<u32>>) -> StateID {
    rule.start_state_forward(&Input::new(b"").anchored(Anchored::Yes)).expect("it has a start")
}
