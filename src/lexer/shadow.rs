//! Rules that lose ties: which rule wins in their place, and a shortest text that shows it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use regex_automata::dfa::Automaton;
use regex_automata::util::primitives::StateID;

use super::LexerError;
use super::dfa::{self, RuleIndex, Searcher, TokenDfa, precedence};
use super::gather::Kind;
use super::lookahead::quote;
use super::rules::{Role, Rule, Rules};
use super::words::Split;

/// A rule that matches a text which another rule wins, or never wins as it matches no text at all. Keywords shadow nothing: that is
/// what they are for.
///
/// A kind of [incomplete tokens](super::LexerBuilder::incomplete) never wins if all that begins a token of its rule is a token of
/// others.
///
/// ```
/// use monoscan::lexer::{Lexer, Rules};
///
/// let rules = "TAG <[^>]*>\nOPEN <[^>]*\nBYTE [a&&b]\nincomplete E_ TAG";
/// let lexer = Lexer::new(Rules::parse(rules)?)?;
/// let told: Vec<String> = lexer.shadowed().iter().map(ToString::to_string).collect();
/// assert_eq!(told, ["rule BYTE never wins: it matches no text", "rule E_TAG never wins: \"<\" is OPEN"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// The rule.
    pub rule: String,
    /// The rule that wins: an earlier one, or a keyword if `never`; or none if the rule matches no text.
    pub by: Option<String>,
    /// A shortest text that it matches, or of an incomplete token, and that the other wins; empty if it matches none.
    pub text: Vec<u8>,
    /// Whether the rule never wins, for any text.
    pub never: bool,
}

impl fmt::Display for Shadowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shadowed { rule, by, text, never } = self;
        let text = quote(text);
        match by {
            None => write!(f, "rule {rule} never wins: it matches no text"),
            Some(by) if *never => write!(f, "rule {rule} never wins: {text} is {by}"),
            Some(by) => write!(f, "rule {rule} matches {text} too, which is {by}"),
        }
    }
}

/// Those among rules, some of which are words that are looked up beside the automaton of the others.
///
/// States of that automaton are visited breadth first, each together with the place in the tree of the words that the same bytes
/// lead to, if they begin a word. So each is met first by a shortest text.
pub(super) fn shadowed(rules: &Rules, split: &Split) -> Result<Vec<Shadowed>, LexerError> {
    let words = &split.words[..];
    let is_word = |rule: usize| words.iter().any(|&(_, word)| usize::from(word) == rule);
    let Some((searcher, included)) = dfa::searcher(rules, |rule| !is_word(rule))? else { return Ok(Vec::new()) };
    let tree = Tree::of(words);
    let samples = Samples::of(&searcher);
    let mut nodes = vec![Node { state: dfa::start(&searcher)?, word: Some(0), from: 0, byte: 0 }];
    let mut met: HashSet<(StateID, Option<usize>)> = HashSet::from([(nodes[0].state, nodes[0].word)]);
    let mut ties = Ties { found: BTreeMap::new(), wins: vec![false; rules.len()], winners: Vec::new() };
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
    let mut reported = ties.reported(rules, &nodes);
    reported.extend(never_incomplete(rules, split, &ties, (&searcher, &included), &nodes));
    Ok(reported)
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
    /// For each node the rule that wins.
    winners: Vec<Option<RuleIndex>>,
}

impl Ties {
    /// The rules that match at a node, that of highest precedence first.
    fn at(&mut self, node: usize, matching: &[RuleIndex]) {
        self.winners.push(matching.first().copied());
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
        let lost = told.map(|(&(loser, winner), &node)| Shadowed {
            rule: name(loser),
            by: Some(name(winner)),
            text: way(nodes, node),
            never: never(loser),
        });
        let loses = |rule| self.found.range((rule, 0)..=(rule, RuleIndex::MAX)).next().is_some();
        let matches_none =
            |&rule: &RuleIndex| dfa::rule(rules, rule.into()).has_pattern() && never(rule) && !loses(rule);
        let without = (0..rules.len() as RuleIndex).filter(matches_none);
        let without = without.map(|rule| Shadowed { rule: name(rule), by: None, text: Vec::new(), never: true });
        lost.chain(without).collect()
    }
}

/// Kinds of incomplete tokens that no text has, as all that begins a token of the rule is of others. A rule that takes what begins
/// its own tokens, such as `[a-z]+`, counts only if it was named to have such a kind; so does what begins tokens of several rules.
fn never_incomplete(
    rules: &Rules,
    split: &Split,
    ties: &Ties,
    (searcher, included): (&Searcher, &[usize]),
    nodes: &[Node],
) -> Vec<Shadowed> {
    // What each node is: a token of the rule that wins, or of a kind of incomplete ones. A word may be both.
    let mut states = vec![TokenDfa::START];
    for node in &nodes[1..] {
        states.push(split.dfa.next(states[node.from], usize::from(split.dfa.class_of[usize::from(node.byte)])));
    }
    let kind = |node: usize| ties.winners[node].or_else(|| split.dfa.accept(states[node]));
    let occurs: HashSet<RuleIndex> = (1..nodes.len()).filter_map(kind).collect();
    let kinds = (0..rules.len()).filter_map(|of| Some((of, rules.incomplete_of(of)? as RuleIndex)));
    let absent: Vec<(usize, RuleIndex)> = kinds.filter(|(_, kind)| !occurs.contains(kind)).collect();
    if absent.is_empty() {
        return Vec::new();
    }
    let before = Before::of(searcher, nodes);
    let name = |rule: usize| rules.name(Kind::Rule(rule as RuleIndex)).to_owned();
    let found = absent.into_iter().filter_map(|(of, never)| {
        let pattern = included.iter().position(|&rule| rule == of)?;
        let begins = before.all(|state| dfa::matching(searcher, state).any(|other| other == pattern));
        let begun = || (1..nodes.len()).filter(|&node| begins.contains(&nodes[node].state));
        let by_others = |node: usize| ties.winners[node].is_some_and(|winner| usize::from(winner) != of);
        let first = begun().next()?;
        // Where no rule wins, what begins tokens of several rules is a kind of an earlier one.
        let by = kind(first)?;
        (rules.names_each_incomplete() || begun().all(by_others)).then(|| Shadowed {
            rule: name(never.into()),
            by: Some(name(by.into())),
            text: way(nodes, first),
            never: true,
        })
    });
    found.collect()
}

/// The states before each state.
struct Before(HashMap<StateID, Vec<StateID>>);

impl Before {
    fn of(searcher: &Searcher, nodes: &[Node]) -> Before {
        let classes = searcher.byte_classes();
        let samples: Vec<u8> = classes.representatives(0..=255).filter_map(|unit| unit.as_u8()).collect();
        let states: HashSet<StateID> = nodes.iter().map(|node| node.state).collect();
        let mut before: HashMap<StateID, Vec<StateID>> = HashMap::new();
        for &state in &states {
            let behind: HashSet<StateID> = samples.iter().map(|&byte| searcher.next_state(state, byte)).collect();
            behind.into_iter().for_each(|to| before.entry(to).or_default().push(state));
        }
        Before(before)
    }

    /// The states from which at least a byte leads to one of these.
    fn all(&self, is_one: impl Fn(StateID) -> bool) -> HashSet<StateID> {
        let mut open: Vec<StateID> = self.0.keys().copied().filter(|&state| is_one(state)).collect();
        let mut all = HashSet::new();
        while let Some(state) = open.pop() {
            let new = self.0.get(&state).into_iter().flatten().filter(|&&state| all.insert(state));
            open.extend(new);
        }
        all
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
