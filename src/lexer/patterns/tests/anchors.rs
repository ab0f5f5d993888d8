//! Anchors and word boundaries, against the definition.

use super::definition;
use super::*;

/// A pattern over a few letters, with anchors and boundaries anywhere.
fn pattern(random: &mut Random, depth: usize) -> String {
    let looks =
        ["^", "$", r"\A", r"\z", "(?m:^)", "(?m:$)", "(?mR:^)", "(?mR:$)", r"\b", r"\B", r"\b{start}", r"\b{end-half}"];
    let atoms = ["a", "b", "ab", "_", " ", r"\n", r"\r", ".", "(?s:.)", "[^a]", "[a ]", "é", "(?u:[a-é])"];
    match random.below(if depth == 0 { 3 } else { 8 }) {
        0 => (*random.pick(&looks)).to_owned(),
        1 | 2 => (*random.pick(&atoms)).to_owned(),
        3..=5 => (0..2 + random.below(2)).map(|_| pattern(random, depth - 1)).collect(),
        6 => format!("(?:{}|{})", pattern(random, depth - 1), pattern(random, depth - 1)),
        _ => format!("(?:{}){}", pattern(random, depth - 1), random.pick(&["*", "+", "?", "{2}", "{1,3}"])),
    }
}

fn text(random: &mut Random, len: usize) -> Vec<u8> {
    let pieces: [&[u8]; 9] = [b"a", b"b", b"ab", b"_", b" ", b"\n", b"\r", "é".as_bytes(), b"\xc3"];
    (0..len).flat_map(|_| random.pick(&pieces).to_vec()).collect()
}

fn hirs(patterns: &[String]) -> Vec<Hir> {
    patterns.iter().map(|pattern| parse_with(pattern, &syntax()).expect("it parses")).collect()
}

fn places(ends: &MatchEnds<'_>) -> Vec<(u64, Vec<usize>)> {
    ends.iter().map(|found| (found.end, found.patterns.to_vec())).collect()
}

/// Whether a pattern matches the empty string between any two bytes, and at the ends of any text.
fn is_empty_everywhere(pattern: &Hir) -> bool {
    let around: [&[u8]; 6] = [b"", b"a", b" ", b"\n", b"\r", b"\xc3"];
    let at = |before: &[u8], behind: &[u8]| {
        let text = [before, behind].concat();
        definition::from(pattern, &text, before.len()).contains(&before.len())
    };
    around.iter().all(|before| around.iter().all(|behind| at(before, behind)))
}

#[test]
fn places_are_those_of_the_definition() {
    let mut random = Random(0x5eed);
    let (mut sets, mut refused, mut at_start, mut at_end, mut ahead, mut walks) = (0, 0, 0, 0, 0, 0);
    for _ in 0..1500 {
        let patterns: Vec<String> = (0..1 + random.below(3)).map(|_| pattern(&mut random, 3)).collect();
        let set = match PatternSet::new(&patterns) {
            Ok(set) => set,
            Err(PatternSetError::Empty { pattern }) => {
                assert!(is_empty_everywhere(&hirs(&patterns)[pattern]), "{patterns:?}: {pattern}");
                refused += 1;
                continue;
            }
            Err(error) => panic!("{patterns:?}: {error}"),
        };
        let hirs = hirs(&patterns);
        assert!(!hirs.iter().any(is_empty_everywhere), "{patterns:?}");
        sets += 1;
        ahead += usize::from(set.automaton.looks_ahead());
        walks += usize::from(matches!(set.engine, Engine::Walk(_)));
        for len in [0, 1, 2, 3, 12, 40] {
            let text = text(&mut random, len);
            let expected = definition::ends(&hirs, &text);
            let message = || format!("{patterns:?}: {}", text.escape_ascii());
            assert_eq!(places(&set.ends_sequentially(&text)), expected, "{}", message());
            assert_eq!(places(&set.ends(&text).expect("it is short")), expected, "{}", message());
            at_start += usize::from(expected.first().is_some_and(|(end, _)| *end == 0));
            at_end += usize::from(expected.last().is_some_and(|(end, _)| *end == text.len() as u64));
        }
    }
    let counts = [sets, refused, at_start, at_end, ahead, walks];
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

/// By the scans too, which are made by the compiler for each set.
#[test]
fn walks_and_scans_find_what_steps_find() {
    let mut random = Random(0xa11);
    let mut ahead = 0;
    for round in 0..60 {
        let patterns: Vec<String> = (0..1 + round % 3).map(|_| pattern(&mut random, 3)).collect();
        let Ok(set) = PatternSet::new(&patterns) else { continue };
        if set.states() > MAX_SCANNED_STATES {
            continue;
        }
        ahead += usize::from(set.automaton.looks_ahead());
        for len in [0, 1, 2, 17, 900, 4000] {
            let text = text(&mut random, len);
            let expected = by_steps(&set.automaton, &text);
            for found in by_all_ways(&set.automaton, &text) {
                assert!(found == expected, "{patterns:?}: {}", text.escape_ascii());
            }
        }
    }
    assert!(ahead > 10, "{ahead}");
}

/// Longer than the parts that are walked one by one, with and without a last line's end.
#[test]
fn long_texts_are_searched_in_parts() {
    let mut random = Random(19);
    for patterns in [&[r"(?m:^)a|b(?m:$)", r"\bab\b", r"\z"][..], &["(?m:^$)", r"\B", "a.{6}$"]] {
        let set = PatternSet::new(patterns).expect("it is small");
        for len in [PART - 1, PART, PART + 1, 2 * PART + 12_345] {
            for last in [b'\n', b'b'] {
                let mut text = text(&mut random, len);
                text.truncate(len);
                *text.last_mut().expect("it is long") = last;
                assert!(set.ends(&text).expect("there is memory") == set.ends_sequentially(&text), "{len} bytes");
            }
        }
    }
}

#[test]
fn anchors_are_those_of_the_whole_text() {
    let ends = |patterns: &[&str], text: &[u8]| places(&PatternSet::new(patterns).unwrap().ends(text).unwrap());
    assert_eq!(ends(&["^ab", "(?m)^ab", r"\Aab"], b"abab\nab"), [(2, vec![0, 1, 2]), (7, vec![1])]);
    assert_eq!(ends(&["a$", "(?m)a$", r"a\z"], b"a\na"), [(1, vec![1]), (3, vec![0, 1, 2])]);
    // `$` is the end of the text, not that of a last line.
    assert_eq!(ends(&["a$", "(?m)a$"], b"a\n"), [(1, vec![1])]);
    assert_eq!(ends(&[r"\bfoo\b", r"foo\B"], b"foo food foo"), [(3, vec![0]), (7, vec![1]), (12, vec![0])]);
    assert_eq!(ends(&["(?m)^$"], b""), [(0, vec![0])]);
    assert_eq!(ends(&["(?m)^$"], b"\na\n\n"), [(0, vec![0]), (3, vec![0]), (4, vec![0])]);
    assert_eq!(ends(&["^", "$"], b"ab"), [(0, vec![0]), (2, vec![1])]);
    // Nothing begins with this text, and it may begin later.
    assert_eq!(ends(&[r"\Ba"], b"aaa"), [(2, vec![0]), (3, vec![0])]);
    assert_eq!(ends(&[r"\Aab"], b"xab"), []);
}
