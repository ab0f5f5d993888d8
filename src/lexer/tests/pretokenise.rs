//! Pieces against a search that tries alternatives in order, with the look-ahead done by hand; in
//! whole, in blocks, in streams. `fancy-regex` is the reference in the benchmark's package.

use monoscan_runtime::lexer::{CpuLexer, TokenColumns};
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::{Anchored, Input};

use super::super::*;
use super::engines;
use scan_kit::Random;

const PATTERNS: [(&str, &str); 4] =
    [("gpt2", GPT2), ("cl100k", CL100K), ("cl100k-tiktoken", CL100K_TIKTOKEN), ("o200k", O200K)];

const PIECES: [&str; 40] = [
    " ", "  ", "\n", "\r\n", "\t", "\u{a0}", "\u{2003}", "\u{3000}", "\u{85}", "a", "Ab", "XML", "straße", "É", "日本",
    "ひ", "ǅ", "ʰ", "\u{301}", "\u{300}", "1", "23", "٣", "½", "Ⅷ", "'s", "'S", "'ll", "'", "'x", "!", "!?", "—", "…",
    "€", "😀", "/", "_", "\u{200d}", "x",
];

fn text(random: &mut Random, pieces: usize) -> String {
    (0..pieces).map(|_| PIECES[random.below(PIECES.len())]).collect()
}

/// The pieces by the definition: at each place the first alternative that matches.
struct Reference {
    alternatives: Vec<(dense::DFA<Vec<u32>>, bool)>,
}

impl Reference {
    fn new(pattern: &str) -> Reference {
        // In these patterns possessive repetitions are as greedy ones.
        let pattern =
            ["++", "?+", "*+", "3}+"].iter().fold(pattern.to_owned(), |p, of| p.replace(of, &of[..of.len() - 1]));
        let space = r"\s+(?!\S)";
        let (before, behind) = pattern.split_once(space).expect("it is in all patterns");
        let anchored = dense::Config::new().start_kind(StartKind::Anchored);
        let regex = |text: &str| dense::Builder::new().configure(anchored.clone()).build(text).expect("it parses");
        let alternatives = vec![
            (regex(before.trim_end_matches('|')), false),
            (regex(r"\s+"), true),
            (regex(behind.trim_start_matches('|')), false),
        ];
        Reference { alternatives }
    }

    fn pieces(&self, text: &str) -> Vec<String> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let rest = &text[at..];
            let length = self.alternatives.iter().find_map(|(regex, gives_back)| {
                let found = regex.try_search_fwd(&Input::new(rest).anchored(Anchored::Yes)).expect("it has a start")?;
                let end = found.offset();
                match rest[..end].char_indices().next_back() {
                    Some((last, _)) if *gives_back && end < rest.len() => (last > 0).then_some(last),
                    _ => Some(end),
                }
            });
            let length = length.expect("the patterns match everything");
            pieces.push(rest[..length].to_owned());
            at += length;
        }
        pieces
    }
}

fn columns(engine: &CpuLexer, text: &[u8], threads: usize, block: usize) -> TokenColumns {
    let mut columns = TokenColumns::default();
    engine.lex_in_blocks(text, threads, block, &mut columns).expect("it is short");
    columns
}

#[test]
fn pieces_are_those_of_a_search_that_tries_alternatives_in_order() {
    for (name, pattern) in PATTERNS {
        let (split, reference) = (Pretokeniser::new(pattern).expect("it compiles"), Reference::new(pattern));
        let by_table = CpuLexer::by_table(split.on_cpu().automaton().clone());
        let mut random = Random(41);
        for round in 0..1500 {
            let text = text(&mut random, [3, 10, 60][round % 3]);
            let expected = reference.pieces(&text);
            let found: Vec<&str> = split.split(&text).expect("it is short").collect();
            assert_eq!(found, expected, "{name}: {text:?}");
            let whole = columns(split.on_cpu(), text.as_bytes(), 1, 1 << 20);
            for engine in [split.on_cpu(), &by_table] {
                assert_eq!(engines::side_by_side(engine, text.as_bytes()).as_ref(), Some(&whole), "{name}: {text:?}");
                for (threads, block) in [(1, 7), (2, 16), (3, 40)] {
                    assert_eq!(columns(engine, text.as_bytes(), threads, block), whole, "{name}, {threads}: {text:?}");
                }
            }
        }
    }
}

#[test]
fn a_text_in_chunks_has_the_same_pieces() {
    for (name, pattern) in PATTERNS {
        let split = Pretokeniser::new(pattern).expect("it compiles");
        let mut random = Random(43);
        for _ in 0..20 {
            let text = text(&mut random, 12);
            let whole = columns(split.on_cpu(), text.as_bytes(), 1, 1 << 20);
            for cut in 0..=text.len() {
                let (first, second) = text.as_bytes().split_at(cut);
                let mut stream = split.stream();
                let mut ends: Vec<u32> = Vec::new();
                for tokens in [stream.push(first), stream.push(second), stream.finish()] {
                    ends.extend(tokens.expect("it is short").iter().map(|token| token.end as u32));
                }
                assert_eq!(ends, whole.ends(), "{name} cut at {cut}: {text:?}");
            }
        }
    }
}

/// Long texts are lexed by code and by pieces side by side, in turns.
#[test]
fn long_texts_have_the_same_pieces_in_every_turn() {
    for (name, pattern) in PATTERNS {
        let split = Pretokeniser::new(pattern).expect("it compiles");
        let by_code = split.on_cpu().by_code_alone();
        let mut random = Random(47);
        // Stretches of one kind, too: long runs of spaces, and bytes that are no text.
        let mut whole = Vec::new();
        while whole.len() < 700_000 {
            match random.below(60) {
                0 => whole.extend(PIECES[random.below(PIECES.len())].repeat(random.below(3000)).bytes()),
                1 => whole.extend((0..random.below(20)).map(|_| random.below(256) as u8)),
                _ => whole.extend(text(&mut random, 60).bytes()),
            }
        }
        let expected = columns(&by_code, &whole, 1, 1 << 20);
        for _ in 0..3 {
            assert!(columns(split.on_cpu(), &whole, 1, 1 << 20) == expected, "{name}");
            assert!(columns(split.on_cpu(), &whole, 2, 128 << 10) == expected, "{name}, in blocks");
        }
        let mut stream = split.stream();
        let mut ends: Vec<u32> = Vec::new();
        for chunk in whole.chunks(100_000) {
            ends.extend(stream.push(chunk).expect("it is short").iter().map(|token| token.end as u32));
        }
        ends.extend(stream.finish().expect("it is short").iter().map(|token| token.end as u32));
        assert!(ends == expected.ends(), "{name}, in a stream");
        assert!(engines::side_by_side(split.on_cpu(), &whole) == Some(expected), "{name}, side by side");
        assert!(split.on_cpu().is_faster_beside().is_some() && by_code.is_faster_beside().is_none());
    }
}

#[test]
fn alternatives_are_tried_in_order_though_they_begin_alike() {
    let split = Pretokeniser::new("(?:a?ab|a?bc)|[ac]").expect("it compiles");
    assert_eq!(split.split("abcaab").expect("it is short").collect::<Vec<_>>(), ["ab", "c", "aab"]);
}

#[test]
fn deep_patterns_compile_at_once() {
    let deep = |of: &str, repeated: &str| format!("{}{of}{}", "(?:".repeat(100), repeated.repeat(100));
    for (pattern, is_taken) in [
        (format!("{}x", deep("a", ")*")), true),
        (format!("{}x|a", deep("a++", ")?")), true),
        (format!("{}ax|a", deep("a++", ")?")), false),
    ] {
        let split = Pretokeniser::new(&pattern);
        let refusal = |error: &PatternError| matches!(error, PatternError::Possessive { alternative: 1 });
        assert_eq!(split.as_ref().err().map(refusal), (!is_taken).then_some(true), "{pattern}: {split:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_errors_and_nothing_is_lost() {
    let split = Pretokeniser::cl100k();
    let mut list = TokenList::new();
    split.lex_into(b"ab \xff\xfe cd\xe2\x80", &mut list).expect("it is short");
    let pieces: Vec<_> = list.iter().map(|piece| (piece.start, piece.end, piece.kind == Kind::Error)).collect();
    assert_eq!(pieces, [(0, 2, false), (2, 3, false), (3, 5, true), (5, 8, false), (8, 10, true)]);
}

#[test]
fn large_automata_become_small_code() {
    for ((name, pattern), states) in PATTERNS.into_iter().zip([1092, 1511, 1511, 1949]) {
        let split = Pretokeniser::new(pattern).expect("it compiles");
        assert_eq!(split.on_cpu().automaton().states(), states, "{name}");
        let code = split.on_cpu().code().unwrap_or_else(|| panic!("{name} is compiled"));
        assert!(code.code_bytes() < 100 << 10, "{name}: {code:?}");
    }
}

#[test]
fn long_blanks_take_linear_time() {
    for (name, pattern) in PATTERNS {
        let split = Pretokeniser::new(pattern).expect("it compiles");
        let text = [" ".repeat(1 << 20), "x".to_owned(), "\n ".repeat(1 << 19), "é".to_owned()].concat();
        let ends = columns(split.on_cpu(), text.as_bytes(), 1, 1 << 30).ends().to_vec();
        assert_eq!(ends, columns(split.on_cpu(), text.as_bytes(), 2, 1 << 16).ends(), "{name}");
        assert!(ends.len() <= 6, "{name}: {}", ends.len());
    }
}

/// Kinds and ends where what follows matters though no byte leads on, where only the end of the text makes a piece, and where both
/// make a different one.
#[test]
fn the_end_of_the_text_makes_other_pieces() {
    let split = Pretokeniser::new(r"ab$|a$|a|b|cd$|c|\s+(?!\S)|\s").expect("it compiles");
    let by_table = CpuLexer::by_table(split.on_cpu().automaton().clone());
    let cases = [
        ("aab", &[(2, 1), (0, 3)][..]),
        ("abab", &[(2, 1), (3, 2), (0, 4)]),
        ("aa", &[(2, 1), (1, 2)]),
        ("cdcd", &[(5, 1), (ERROR_KIND, 2), (4, 4)]),
        ("cdc", &[(5, 1), (ERROR_KIND, 2), (5, 3)]),
        (" b  b ", &[(7, 1), (3, 2), (6, 3), (7, 4), (3, 5), (6, 6)]),
        ("ab\u{2003}\u{2003}", &[(2, 1), (3, 2), (6, 8)]),
        ("\u{2003}\u{2003}b", &[(6, 3), (7, 6), (3, 7)]),
    ];
    for (text, expected) in cases {
        let pairs = |columns: &TokenColumns| -> Vec<(u16, u32)> {
            columns.kinds().iter().copied().zip(columns.ends().iter().copied()).collect()
        };
        for engine in [split.on_cpu(), &by_table] {
            for (threads, block) in [(1, 1 << 20), (1, 1), (2, 2), (2, 3)] {
                assert_eq!(pairs(&columns(engine, text.as_bytes(), threads, block)), expected, "{text:?}, {block}");
            }
            let mut stream = engine.stream();
            let mut found = Vec::new();
            for byte in text.as_bytes().chunks(1) {
                found.extend(stream.push(byte).expect("it is short"));
            }
            found.extend(stream.finish().expect("it is short"));
            let found: Vec<(u16, u32)> = found.iter().map(|token| (token.kind, token.end as u32)).collect();
            assert_eq!(found, expected, "{text:?} in a stream");
        }
    }
}

#[test]
fn an_alternative_that_is_found_to_match_nothing_is_refused() {
    for (pattern, number) in [("[a&&b]*|x", 1), ("x|[a&&b]*", 2), ("x|([a&&b]|y)*|z", 2)] {
        let error = Pretokeniser::new(pattern).expect_err("it matches the empty string");
        assert!(matches!(error, PatternError::Empty { alternative } if alternative == number), "{pattern}: {error}");
    }
    let never = Pretokeniser::new("[a&&b]").expect("it matches no string");
    assert_eq!(never.split("ab").expect("it is short").count(), 0);
}

#[test]
fn the_last_of_the_most_alternatives_has_its_kind() {
    let split = Pretokeniser::new(&["a|".repeat(MAX_ALTERNATIVES - 1), "b".to_owned()].concat()).expect("it is small");
    let mut list = TokenList::new();
    split.lex_into(b"ab", &mut list).expect("it is short");
    assert_eq!(list.kinds(), [0, MAX_ALTERNATIVES as u16 - 1]);
}

#[test]
fn a_lone_blank_at_the_end_is_of_the_alternative_that_looks_ahead() {
    let mut list = TokenList::new();
    Pretokeniser::gpt2().lex_into(b"  a  ", &mut list).expect("it is short");
    assert_eq!((list.kinds(), list.ends()), (&[10, 7, 10][..], &[1, 3, 5][..]));
    Pretokeniser::gpt2().lex_into(b"a ", &mut list).expect("it is short");
    assert_eq!((list.kinds(), list.ends()), (&[7, 10][..], &[1, 2][..]));
}
