//! Rules that lose ties: which rule wins in their place, and a shortest text that shows it.

use std::collections::BTreeMap;
use std::fmt;

use super::dfa::RuleIndex;
use super::gather::Kind;
use super::rules::{Role, Rule, Rules};

/// A rule that matches a text which another rule wins. Keywords shadow nothing: that is what they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// The rule.
    pub rule: String,
    /// The rule that wins: an earlier one, or a keyword if `never`.
    pub by: String,
    /// A shortest text that both match.
    pub text: Vec<u8>,
    /// Whether the rule never wins, for any text.
    pub never: bool,
}

impl fmt::Display for Shadowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shadowed { rule, by, text, never } = self;
        let text = text.escape_ascii();
        if *never {
            write!(f, "rule {rule} never wins: \"{text}\" is {by}")
        } else {
            write!(f, "rule {rule} matches \"{text}\" too, which is {by}")
        }
    }
}

/// Collects them while states are listed, breadth first.
pub(super) struct Shadows<'a> {
    rules: &'a Rules,
    /// For each state but the first, the one before it on a shortest way, and the byte.
    before: Vec<(usize, u8)>,
    /// For each rule and the rule that wins, the first state where it does.
    found: BTreeMap<(RuleIndex, RuleIndex), usize>,
    wins: Vec<bool>,
}

impl<'a> Shadows<'a> {
    pub(super) fn new(rules: &'a Rules) -> Shadows<'a> {
        Shadows { rules, before: Vec::new(), found: BTreeMap::new(), wins: vec![false; rules.len()] }
    }

    /// The rules that match in a state, that of highest precedence first.
    pub(super) fn state(&mut self, state: usize, matching: &[RuleIndex]) {
        let Some((&winner, losers)) = matching.split_first() else { return };
        self.wins[usize::from(winner)] = true;
        for &loser in losers {
            self.found.entry((loser, winner)).or_insert(state);
        }
    }

    /// The next new state is entered from this one by this byte.
    pub(super) fn reached(&mut self, from: usize, byte: u8) {
        self.before.push((from, byte));
    }

    pub(super) fn finish(self) -> Vec<Shadowed> {
        let role = |rule| self.rules.get(Kind::Rule(rule)).map(Rule::role);
        let name = |rule| self.rules.name(Kind::Rule(rule)).to_owned();
        let reported = |&(&(loser, winner), _): &(&(RuleIndex, RuleIndex), &usize)| {
            !self.wins[usize::from(loser)] || role(winner) != Some(Role::Keyword)
        };
        let shadowed = |(&(loser, winner), &state): (&(RuleIndex, RuleIndex), &usize)| Shadowed {
            rule: name(loser),
            by: name(winner),
            text: self.way(state),
            never: !self.wins[usize::from(loser)],
        };
        self.found.iter().filter(reported).map(shadowed).collect()
    }

    /// The bytes of a shortest way to a state.
    fn way(&self, mut state: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while state > 0 {
            let (from, byte) = self.before[state - 1];
            bytes.push(byte);
            state = from;
        }
        bytes.reverse();
        bytes
    }
}
