//! Maximal munch as a textbook writes it: at each position, ask every rule for its longest match.
//! Shares no table and no automaton with the lexer; the tests' oracle.

use regex_automata::dfa::{Automaton, dense};
use regex_automata::{Anchored, Input, MatchKind};

use super::rules::{Rule, Rules, syntax};
use super::{Kind, Token};

pub(super) struct Reference {
    rules: Vec<dense::DFA<Vec<u32>>>,
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
        Reference { rules: rules.iter().map(build).collect() }
    }

    /// The longest match at `start`; of equally long ones, the earliest rule's.
    fn longest(&self, text: &[u8], start: usize) -> Option<Token> {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let matches = (0..).zip(&self.rules).filter_map(|(index, rule)| {
            let end = rule.try_search_fwd(&input).expect("no byte makes these automata quit")?.offset();
            Some(Token { start, end, kind: Kind::Rule(index) })
        });
        // `max_by_key` takes the last of equals.
        matches.filter(|token| token.end > start).collect::<Vec<_>>().into_iter().rev().max_by_key(|token| token.end)
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
