//! Rules that lose ties, against all short texts.

use std::collections::BTreeMap;

use regex_automata::MatchKind;
use regex_automata::dfa::Automaton;
use regex_automata::util::syntax::parse_with;
use scan_kit::Random;

use super::super::dfa::{self, Searcher};
use super::super::rules::{Role, syntax};
use super::super::*;

/// Regexes over two letters that can be told apart by texts of at most [`LONGEST`] letters.
const REGEXES: [&str; 18] = [
    "a",
    "b",
    "aa",
    "ab",
    "ba",
    "aab",
    "a+",
    "b+",
    "[ab]",
    "a{2}",
    "a|b",
    "aa|ab",
    "(ab)+",
    "a*b",
    "ba?",
    "[ab]{2,3}",
    "[a&&b]",
    "b[a&&b]+",
];
const KEYWORDS: [&str; 5] = ["a", "b", "aa", "ab", "aab"];
const LONGEST: usize = 6;

/// A text that a rule matches and another wins, or none.
type Tie = (String, String, usize, bool);

/// By asking each rule about each text: the loser, the winner, the length of a shortest text, and whether the loser never wins.
fn by_all_texts(rules: &Rules) -> Vec<Tie> {
    let alone = |rule: &Rule| {
        let regex = parse_with(rule.pattern(), &syntax()).expect("it parses");
        dfa::determinise(&[regex], MatchKind::All, dfa::SETS_LIMIT).expect("it is small")
    };
    let mut all: Vec<(&Rule, Searcher)> =
        rules.iter().filter(|rule| rule.has_pattern()).map(|rule| (rule, alone(rule))).collect();
    // Keywords win; of others the earlier one.
    all.sort_by_key(|(rule, _)| rule.role() != Role::Keyword);
    let mut ties: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut wins = vec![false; all.len()];
    // For each text, in order of length, the rule that wins.
    let mut winners: Vec<(Vec<u8>, Option<usize>)> = Vec::new();
    for len in 1..=LONGEST {
        for bits in 0..1u32 << len {
            let text: Vec<u8> = (0..len).map(|place| if bits >> place & 1 == 0 { b'a' } else { b'b' }).collect();
            let matching: Vec<usize> = (0..all.len()).filter(|&rule| matches(&all[rule].1, &text)).collect();
            winners.push((text, matching.first().copied()));
            let Some((&winner, losers)) = matching.split_first() else { continue };
            wins[winner] = true;
            for &loser in losers {
                ties.entry((loser, winner)).or_insert(len);
            }
        }
    }
    let told = ties.into_iter().filter(|((loser, winner), _)| !wins[*loser] || all[*winner].0.role() != Role::Keyword);
    let name = |rule: usize| all[rule].0.name().to_owned();
    let mut told: Vec<Tie> =
        told.map(|((loser, winner), len)| (name(loser), name(winner), len, !wins[loser])).collect();
    let text_of = |rule: usize| winners.iter().any(|(text, _)| matches(&all[rule].1, text));
    told.extend((0..all.len()).filter(|&rule| !text_of(rule)).map(|rule| (name(rule), String::new(), 0, true)));
    told.extend(incomplete(rules, &all, &winners));
    told.sort();
    told
}

/// Kinds of incomplete tokens that no text has.
fn incomplete(rules: &Rules, all: &[(&Rule, Searcher)], winners: &[(Vec<u8>, Option<usize>)]) -> Vec<Tie> {
    let begins = |rule: usize, text: &[u8]| {
        let mut longer = winners.iter().filter(|(other, _)| other.len() > text.len() && other.starts_with(text));
        longer.any(|(other, _)| matches(&all[rule].1, other))
    };
    // The rule of a kind, by its place among all, and the kind.
    let kind_of = |rule: usize| {
        let is_kind = |kind: &&Rule| kind.name() == format!("OPEN_{}", all[rule].0.name());
        rules.iter().find(is_kind).map(|kind| kind.name().to_owned())
    };
    let kinds: Vec<(usize, String)> = (0..all.len()).filter_map(|rule| Some((rule, kind_of(rule)?))).collect();
    let earliest = |text: &[u8]| kinds.iter().find(|(rule, _)| begins(*rule, text));
    let mut told = Vec::new();
    for (rule, kind) in &kinds {
        let begun: Vec<_> = winners.iter().filter(|(text, _)| begins(*rule, text)).collect();
        let occurs =
            |(text, winner): &&(Vec<u8>, Option<usize>)| winner.is_none() && earliest(text).unwrap().0 == *rule;
        let by_others = |(_, winner): &&(Vec<u8>, Option<usize>)| winner.is_some_and(|winner| winner != *rule);
        let Some((shortest, _)) = begun.first() else { continue };
        let is_told = rules.names_each_incomplete() || begun.iter().all(by_others);
        if is_told && !begun.iter().any(occurs) {
            told.push((kind.clone(), String::new(), shortest.len(), true));
        }
    }
    told
}

fn matches(rule: &Searcher, text: &[u8]) -> bool {
    let start = dfa::start(rule).expect("it looks at nothing before");
    let state = text.iter().fold(start, |state, &byte| rule.next_state(state, byte));
    dfa::matching(rule, state).next().is_some()
}

#[test]
fn ties_are_those_of_all_texts() {
    let mut random = Random(41);
    for _ in 0..600 {
        let mut text = String::new();
        for rule in 0..2 + random.below(4) {
            text += &format!("R{rule} {}\n", REGEXES[random.below(REGEXES.len())]);
        }
        if random.chance(2) {
            text += &format!("keyword {}\n", KEYWORDS[random.below(KEYWORDS.len())]);
        }
        if random.chance(3) {
            text += ["incomplete OPEN_\n", "incomplete OPEN_ R0\n", "incomplete OPEN_ R0 R1\n"][random.below(3)];
        }
        let Ok(rules) = Rules::parse(&text) else { continue };
        let lexer = Lexer::new(rules).expect("any rules");
        let mut found: Vec<Tie> = Vec::new();
        for Shadowed { rule, by, text, never } in lexer.shadowed() {
            // Of several shortest texts it is any.
            let by = by.clone().filter(|_| !rule.starts_with("OPEN_")).unwrap_or_default();
            found.push((rule.clone(), by, text.len(), *never));
        }
        found.sort();
        assert_eq!(found, by_all_texts(lexer.rules()), "{text}");
    }
}
