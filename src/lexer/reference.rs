//! Maximal munch as a textbook writes it: at each position, ask every rule for its longest match.
//! Shares no table and no automaton with the lexer; the tests' oracle.

use regex_automata::dfa::{Automaton, dense};
use regex_automata::{Anchored, Input, MatchKind};

use super::rules::{Role, Rule, Rules, syntax};
use super::{Kind, Token};

pub(super) struct Reference {
    /// In order of precedence, keywords first: the place of each rule, and what matches it.
    rules: Vec<(u16, dense::DFA<Vec<u32>>)>,
    /// For each rule, in order, the kind of what begins one of its tokens.
    incomplete: Vec<(u16, usize)>,
}

impl Reference {
    pub(super) fn new(rules: &Rules) -> Reference {
        let build = |rule: &Rule| {
            dense::Builder::new()
                .syntax(syntax())
                .configure(dense::Config::new().match_kind(MatchKind::All))
                .build(rule.pattern())
                .expect("the tests' rules are small")
        };
        let is_keyword = |rule: &Rule| rule.role() == Role::Keyword;
        let numbered = || (0..).zip(rules.iter()).filter(|(_, rule)| !rule.pattern().is_empty());
        let keywords = numbered().filter(|(_, rule)| is_keyword(rule));
        let others = numbered().filter(|(_, rule)| !is_keyword(rule));
        let rules_by_precedence: Vec<_> = keywords.chain(others).map(|(place, rule)| (place, build(rule))).collect();
        let of = |(kind, rule): (u16, &Rule)| match rule.role() {
            Role::Incomplete { of } => {
                let place = |&(place, _): &(u16, _)| usize::from(place) == of;
                Some((kind, rules_by_precedence.iter().position(place).expect("it has a regex")))
            }
            _ => None,
        };
        let incomplete = (0..).zip(rules.iter()).filter_map(of).collect();
        Reference { rules: rules_by_precedence, incomplete }
    }

    /// The longest match at `start`; of equally long ones, a keyword's, then the earliest rule's. What begins a token counts as a
    /// match of its kind that any other of the same length wins against.
    fn longest(&self, text: &[u8], start: usize) -> Option<Token> {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let matches = self.rules.iter().filter_map(|(place, rule)| {
            let end = rule.try_search_fwd(&input).expect("no byte makes these automata quit")?.offset();
            Some(Token { start, end, kind: Kind::Rule(*place) })
        });
        let begun = self.incomplete.iter().map(|&(kind, rule)| {
            let end = begun(&self.rules[rule].1, text, start);
            Token { start, end, kind: Kind::Rule(kind) }
        });
        // `max_by_key` takes the last of equals.
        let all: Vec<Token> = matches.chain(begun).filter(|token| token.end > start).collect();
        all.into_iter().rev().max_by_key(|token| token.end)
    }

    pub(super) fn tokens(&self, text: &[u8]) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let error = Token { start: at, end: at + 1, kind: Kind::Error };
            let token = self.longest(text, at).unwrap_or(error);
            at = token.end;
            match tokens.last_mut() {
                Some(run) if run.kind == Kind::Error && token.kind == Kind::Error => run.end = token.end,
                _ => tokens.push(token),
            }
        }
        tokens
    }
}

/// The end of the longest text from `start` on that more bytes may make a match.
fn begun(rule: &dense::DFA<Vec<u32>>, text: &[u8], start: usize) -> usize {
    let mut state = rule.start_state_forward(&Input::new(text).anchored(Anchored::Yes)).expect("it has a start");
    let goes_on = |state| (0..=255).any(|byte| !rule.is_dead_state(rule.next_state(state, byte)));
    let mut end = start;
    for (behind, &byte) in (start + 1..).zip(&text[start..]) {
        state = rule.next_state(state, byte);
        if rule.is_dead_state(state) || !goes_on(state) {
            break;
        }
        end = behind;
    }
    end
}
