//! Places where matches end, against the overlapping search of regex-automata.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use regex_automata::dfa::{Automaton, OverlappingState, dense};
use regex_automata::{Input, MatchKind};

use super::super::*;
use scan_kit::Random;

const PIECES: [&str; 14] = ["a", "b", "ab", "abc", "c", "0", "12", "345", " ", "\n", "é", "ß", "-", "x"];

const SETS: [&[&str]; 7] = [
    &["a"],
    &["a+b", "[0-9]{3}", "b", "ab|ac"],
    &["abc", "bc", "c", "[^ ]+ [^ ]+"],
    &["(?u:[a-zß-é]+)-", "(?u:[ß-é])", "\\xc3"],
    &["x[ab]{3}", "(?s:.{4})"],
    &["a.*b", "[0-9]+a?"],
    // Some 500 states, which are walked.
    &["a.{7}b", "c", "(?s:b.{3})"],
];

/// The same by overlapping search.
fn reference(patterns: &[&str], text: &[u8]) -> Vec<(u64, Vec<usize>)> {
    let syntax = regex_automata::util::syntax::Config::new().unicode(false).utf8(false);
    let thompson = regex_automata::nfa::thompson::Config::new().utf8(false);
    let searcher = dense::Builder::new()
        .configure(dense::Config::new().match_kind(MatchKind::All))
        .syntax(syntax)
        .thompson(thompson)
        .build_many(patterns)
        .expect("the patterns parse");
    let (mut found, mut state): (BTreeMap<u64, Vec<usize>>, _) = (BTreeMap::new(), OverlappingState::start());
    let input = Input::new(text);
    loop {
        searcher.try_search_overlapping_fwd(&input, &mut state).expect("it has a start");
        let Some(matched) = state.get_match() else { break };
        found.entry(matched.offset() as u64).or_default().push(matched.pattern().as_usize());
    }
    found
        .into_iter()
        .map(|(end, mut set)| {
            set.sort_unstable();
            (end, set)
        })
        .collect()
}

fn places(ends: &MatchEnds<'_>) -> Vec<(u64, Vec<usize>)> {
    ends.iter().map(|found| (found.end, found.patterns.to_vec())).collect()
}

#[test]
fn places_are_those_of_an_overlapping_search() {
    for patterns in SETS {
        let set = PatternSet::new(patterns).expect("they are small");
        let mut random = Random(47);
        for round in 0..60 {
            let text: String = (0..[4, 20, 200][round % 3]).map(|_| PIECES[random.below(PIECES.len())]).collect();
            let mut text = text.into_bytes();
            if round % 5 == 0 {
                text.push(random.below(256) as u8);
            }
            let expected = reference(patterns, &text);
            assert_eq!(places(&set.ends_sequentially(&text)), expected, "{patterns:?}: {}", text.escape_ascii());
            let ends = set.ends(&text).expect("it is short");
            assert_eq!(places(&ends), expected, "{patterns:?}: {}", text.escape_ascii());
            assert_eq!(ends.len(), expected.len());
        }
    }
}

#[test]
fn long_texts_are_scanned_by_several_threads() {
    let mut random = Random(53);
    let text: String = (0..1_500_000).map(|_| PIECES[random.below(PIECES.len())]).collect();
    // Scanned, walked, and walked where a match stays open.
    for (patterns, states) in [(SETS[1], 0..33), (SETS[6], 33..3000), (&["\\n[^\\n]*x", "(?s:c.{6})b"], 33..1000)] {
        let set = PatternSet::new(patterns).expect("they are small");
        assert!(states.contains(&set.states()), "{}", set.states());
        assert_eq!(set.ends(text.as_bytes()).expect("there is memory"), set.ends_sequentially(text.as_bytes()));
        assert!(set.ends(b"").expect("it is short").is_empty());
    }
}

#[test]
fn patterns_that_never_match_are_found_nowhere() {
    for (patterns, expected) in [(&["[a&&b]"][..], &[][..]), (&["[a&&b]", "b"], &[(2, vec![1])])] {
        let set = PatternSet::new(patterns).expect("they are small");
        assert_eq!(places(&set.ends(b"aba").expect("it is short")), expected);
        assert_eq!(places(&set.ends_sequentially(b"aba")), expected);
    }
}

#[test]
fn a_pattern_may_end_in_a_comment() {
    let set = PatternSet::new(["(?x) a b # two letters", "(?i)B|x"]).expect("they are small");
    assert_eq!(places(&set.ends(b"aba b B#").expect("it is short")), [(2, vec![0, 1]), (5, vec![1]), (7, vec![1])]);
}

#[test]
fn patterns_that_cannot_be_scanned_are_refused() {
    let error = |patterns: &[&str]| PatternSet::new(patterns).expect_err("it is refused");
    assert!(matches!(error(&[]), PatternSetError::NoPattern));
    assert!(matches!(error(&["a", "[b"]), PatternSetError::Regex { pattern: 1, .. }));
    assert!(matches!(error(&["a)|(b"]), PatternSetError::Regex { pattern: 0, .. }));
    let hint = "\npatterns are about bytes: write `(?u:…)` around what is about Unicode";
    assert!(error(&["a", r"\p{L}+"]).to_string().ends_with(hint));
    assert!(matches!(error(&["a", "b*"]), PatternSetError::Empty { pattern: 1 }));
    assert!(matches!(error(&["a", "[a&&b]*"]), PatternSetError::Empty { pattern: 1 }));
    assert!(matches!(error(&["a", r"b*|^"]), PatternSetError::Empty { pattern: 1 }));
    assert!(matches!(error(&["a", r"\b|\B"]), PatternSetError::Empty { pattern: 1 }));
    for boundary in [r"(?u:\b)a", r"(?u)a\B", r"(?u:a\b{end})"] {
        assert!(matches!(error(&["a", boundary]), PatternSetError::UnicodeBoundary { pattern: 1 }), "{boundary}");
    }
    for wrong in ["xa{1,3}+b", "xa+?b", "(?U)a+"] {
        assert!(matches!(error(&["a", wrong]), PatternSetError::Repetition { pattern: 1 }), "{wrong}");
    }
    assert!(PatternSet::new(["a{2}{3}b", "(?:b+)+"]).is_ok());
    assert!(matches!(error(&["a.{30}b"]), PatternSetError::TooManyStates));
}

/// Words over a few letters, so that many begin and end alike.
fn words(random: &mut Random, count: usize) -> Vec<String> {
    let word = |random: &mut Random| (0..3 + random.below(7)).map(|_| char::from(b"abcde"[random.below(5)])).collect();
    let words: BTreeSet<String> = (0..count).map(|_| word(random)).collect();
    words.into_iter().collect()
}

/// Against looking up what ends at each place, for each length of a word.
#[test]
fn thousands_of_words_are_found_as_a_plain_search_finds_them() {
    let mut random = Random(71);
    let words = words(&mut random, 3000);
    let set = PatternSet::new(&words).expect("it has some thousand states");
    assert!((4000..60_000).contains(&set.states()), "{}", set.states());
    let numbers: HashMap<&[u8], usize> = words.iter().map(|word| word.as_bytes()).zip(0..).collect();
    for len in [0, 1, 100, 40_000, 1_300_000] {
        // Letters at random, and whole words.
        let mut text = Vec::new();
        while text.len() < len {
            match random.below(3) {
                0 => text.extend_from_slice(words[random.below(words.len())].as_bytes()),
                _ => text.push(b"abcde x"[random.below(7)]),
            }
        }
        let ends = set.ends(&text).expect("it is short");
        assert_eq!(ends, set.ends_sequentially(&text));
        let mut found = ends.iter();
        for end in 1..=text.len().min(100_000) {
            let word = |len: usize| numbers.get(text.get(end.checked_sub(len)?..end)?).copied();
            let mut expected: Vec<usize> = (3..10).filter_map(word).collect();
            expected.sort_unstable();
            if !expected.is_empty() {
                let place = found.next().map(|place| (place.end, place.patterns.to_vec()));
                assert_eq!(place, Some((end as u64, expected)));
            }
        }
        assert!(len > 100_000 || found.next().is_none());
    }
}

/// As many patterns as fit: each of a byte of its own.
#[test]
fn many_short_patterns_need_a_state_each() {
    let set = PatternSet::new((0..255).map(|byte| format!("\\x{byte:02x}"))).unwrap();
    assert_eq!(set.states(), 256);
    let found = set.ends(&[3, 255, 254]).unwrap();
    let found: Vec<(u64, &[usize])> = found.iter().map(|found| (found.end, found.patterns)).collect();
    assert_eq!(found, [(1, &[3][..]), (3, &[254])]);
}
