//! Rules that lose ties: which rule wins in their place, and a shortest text that shows it.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use regex_automata::dfa::Automaton;
use regex_automata::util::primitives::StateID;

use super::LexerError;
use super::dfa::{self, RuleIndex, Searcher, precedence};
use super::gather::Kind;
use super::lookahead::quote;
use super::rules::{Role, Rule, Rules};

/// A rule that matches a text which another rule wins. Keywords shadow nothing: that is what they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// The rule.
    pub rule: String,
    /// The rule that wins: an earlier one, or a keyword if `never`.
    pub by: String,
    /// A shortest text that it matches and the other wins.
    pub text: Vec<u8>,
    /// Whether the rule never wins, for any text.
    pub never: bool,
}

impl fmt::Display for Shadowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shadowed { rule, by, text, never } = self;
        let text = quote(text);
        if *never {
            write!(f, "rule {rule} never wins: {text} is {by}")
        } else {
            write!(f, "rule {rule} matches {text} too, which is {by}")
        }
    }
}

/// Those among rules, some of which are words that are looked up beside the automaton of the others.
///
/// States of that automaton are visited breadth first, each together with the place in the tree of the words that the same bytes
/// lead to, if they begin a word. So each is met first by a shortest text.
pub(super) fn shadowed(rules: &Rules, words: &[(Vec<u8>, RuleIndex)]) -> Result<Vec<Shadowed>, LexerError> {
    let is_word = |rule: usize| words.iter().any(|&(_, word)| usize::from(word) == rule);
    let Some((searcher, included)) = dfa::searcher(rules, |rule| !is_word(rule))? else { return Ok(Vec::new()) };
    let tree = Tree::of(words);
    let samples = Samples::of(&searcher);
    let mut nodes = vec![Node { state: dfa::start(&searcher)?, word: Some(0), from: 0, byte: 0 }];
    let mut met: HashSet<(StateID, Option<usize>)> = HashSet::from([(nodes[0].state, nodes[0].word)]);
    let mut ties = Ties { found: BTreeMap::new(), wins: vec![false; rules.len()] };
    let mut at = 0;
    while at < nodes.len() {
        let Node { state, word, .. } = nodes[at];
        let mut matching: Vec<RuleIndex> =
            dfa::matching(&searcher, state).map(|pattern| included[pattern] as RuleIndex).collect();
        matching.extend(word.and_then(|word| tree.rules[word]));
        matching.sort_by_key(|&rule| precedence(rules, usize::from(rule)));
        ties.at(at, &matching);
        let children = word.map_or(&[][..], |word| &tree.children[word]);
        let others = samples.beside(children).map(|byte| (byte, None));
        for (byte, word) in children.iter().map(|&(byte, child)| (byte, Some(child))).chain(others) {
            let to = searcher.next_state(state, byte);
            if !searcher.is_dead_state(to) && met.insert((to, word)) {
                nodes.push(Node { state: to, word, from: at, byte });
            }
        }
        at += 1;
    }
    Ok(ties.reported(rules, &nodes))
}

/// A state of the automaton, and the place in the tree of words that the same bytes lead to.
struct Node {
    state: StateID,
    word: Option<usize>,
    /// The node before it on a shortest way, and the byte from there.
    from: usize,
    byte: u8,
}

/// Words as a tree; place 0 is the root.
struct Tree {
    children: Vec<Vec<(u8, usize)>>,
    /// The rule of the word that ends at a place.
    rules: Vec<Option<RuleIndex>>,
}

impl Tree {
    fn of(words: &[(Vec<u8>, RuleIndex)]) -> Tree {
        let mut tree = Tree { children: vec![Vec::new()], rules: vec![None] };
        for (word, rule) in words {
            let mut at = 0;
            for &byte in word {
                let known = tree.children[at].iter().find(|(other, _)| *other == byte).map(|&(_, child)| child);
                at = known.unwrap_or_else(|| {
                    let new = tree.children.len();
                    tree.children[at].push((byte, new));
                    tree.children.push(Vec::new());
                    tree.rules.push(None);
                    new
                });
            }
            tree.rules[at] = Some(*rule);
        }
        tree
    }
}

/// The bytes of each class of an automaton, those that read well first.
struct Samples(Vec<Vec<u8>>);

impl Samples {
    fn of(searcher: &Searcher) -> Samples {
        let classes = searcher.byte_classes();
        let mut bytes = vec![Vec::new(); classes.alphabet_len() - 1];
        for byte in dfa::bytes_by_charm() {
            bytes[usize::from(classes.get(byte))].push(byte);
        }
        Samples(bytes)
    }

    /// One byte of each class that has others than these.
    fn beside<'a>(&'a self, but: &'a [(u8, usize)]) -> impl Iterator<Item = u8> + 'a {
        let is_other = |byte: &&u8| but.iter().all(|(other, _)| other != *byte);
        self.0.iter().filter_map(move |class| class.iter().find(is_other).copied())
    }
}

/// The ties of rules.
struct Ties {
    /// For each rule and the rule that wins, the first node where it does.
    found: BTreeMap<(RuleIndex, RuleIndex), usize>,
    wins: Vec<bool>,
}

impl Ties {
    /// The rules that match at a node, that of highest precedence first.
    fn at(&mut self, node: usize, matching: &[RuleIndex]) {
        let Some((&winner, losers)) = matching.split_first() else { return };
        self.wins[usize::from(winner)] = true;
        for &loser in losers {
            self.found.entry((loser, winner)).or_insert(node);
        }
    }

    fn reported(&self, rules: &Rules, nodes: &[Node]) -> Vec<Shadowed> {
        let role = |rule| rules.get(Kind::Rule(rule)).map(Rule::role);
        let name = |rule| rules.name(Kind::Rule(rule)).to_owned();
        let never = |rule: RuleIndex| !self.wins[usize::from(rule)];
        let told =
            self.found.iter().filter(|&(&(loser, winner), _)| never(loser) || role(winner) != Some(Role::Keyword));
        told.map(|(&(loser, winner), &node)| Shadowed {
            rule: name(loser),
            by: name(winner),
            text: way(nodes, node),
            never: never(loser),
        })
        .collect()
    }
}

/// The bytes of a shortest way to a node.
fn way(nodes: &[Node], mut at: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while at > 0 {
        bytes.push(nodes[at].byte);
        at = nodes[at].from;
    }
    bytes.reverse();
    bytes
}
