//! Takes keywords, and other rules that match one word only, out of the automaton.
//!
//! A word whose tokens another rule matches too needs no states of its own: where that rule's token
//! ends, its text is looked up among the words. C has 61 states so, and 286 with its keywords.

use std::collections::HashMap;

use monoscan_runtime::lexer::{LexAutomaton, MAX_WORD};
use regex_automata::util::syntax::parse_with;
use regex_syntax::hir::HirKind;

use super::LexerError;
use super::dfa::{RuleIndex, TokenDfa, precedence};
use super::rules::{Role, Rule, Rules, syntax};

/// The automaton of the rules without words, and the words.
pub(super) struct Split {
    pub(super) dfa: TokenDfa,
    /// Each with its rule.
    pub(super) words: Vec<(Vec<u8>, RuleIndex)>,
}

impl Split {
    pub(super) fn new(rules: &Rules) -> Result<Split, LexerError> {
        let candidates = candidates(rules);
        let mut dfa = TokenDfa::of(rules, |rule| !candidates.values().any(|&other| other == rule))?;
        let count = candidates.len();
        let mut words: Vec<(Vec<u8>, usize)> = candidates
            .into_iter()
            .filter(|(word, rule)| {
                let state = dfa.run(word);
                let other = dfa.accept(state).map(usize::from);
                let wins = other.is_some_and(|other| precedence(rules, *rule) < precedence(rules, other));
                // A lookup cannot tell zeros from what is behind a word.
                wins && dfa.next(state, usize::from(dfa.class_of[0])) == TokenDfa::DEAD
            })
            .collect();
        words.sort_unstable_by_key(|&(_, rule)| rule);
        if words.len() < count {
            let taken = |rule| words.iter().any(|&(_, word)| word == rule);
            dfa = TokenDfa::of(rules, |rule| !taken(rule))?;
        }
        // Code enters the start with the first byte of a token alone.
        dfa.enter_start_never();
        let words = words.into_iter().map(|(word, rule)| (word, rule as RuleIndex)).collect();
        Ok(Split { dfa, words })
    }

    /// The automaton as it is compiled.
    pub(super) fn automaton(&self, kept: Vec<bool>, keeps_errors: bool) -> LexAutomaton {
        let dfa = &self.dfa;
        let steps = dfa.states().flat_map(|q| (0..dfa.classes).map(move |class| dfa.next(q, class).index() as u16));
        let accept: Vec<Option<RuleIndex>> = dfa.states().map(|q| dfa.accept(q)).collect();
        LexAutomaton {
            class_of: dfa.class_of,
            classes: dfa.classes,
            next: steps.collect(),
            back: vec![0; accept.len()],
            at_end: accept.clone(),
            accept,
            kept,
            keeps_errors,
            words: self.words.clone(),
        }
    }
}

/// Rules that match one short word: for each word the rule that wins. What begins such a word must be of no kind, for that
/// takes states.
fn candidates(rules: &Rules) -> HashMap<Vec<u8>, usize> {
    let mut words = HashMap::new();
    let of = |keywords| (0..).zip(rules.iter()).filter(move |(_, rule)| (rule.role() == Role::Keyword) == keywords);
    let rules = of(true).chain(of(false)).filter(|&(index, _)| rules.incomplete_of(index).is_none());
    for (index, rule) in rules {
        if let Some(word) = word_of(rule).filter(|word| word.len() < MAX_WORD && !word.contains(&0)) {
            words.entry(word).or_insert(index);
        }
    }
    words
}

/// The one word that a rule matches, if it does.
fn word_of(rule: &Rule) -> Option<Vec<u8>> {
    match parse_with(rule.pattern(), &syntax()).ok()?.into_kind() {
        HirKind::Literal(literal) => Some(literal.0.to_vec()),
        _ => None,
    }
}
