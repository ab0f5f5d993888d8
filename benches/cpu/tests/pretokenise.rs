//! Pieces of texts, as the patterns of language models and random ones cut them, against
//! `fancy-regex`.

use fancy_regex::Regex;
use monoscan::lexer::{
    CL100K, CL100K_TIKTOKEN, GPT2, Kind, O200K, PatternError, Pretokeniser, TokenColumns, TokenList,
};
use scan_kit::{Random, scripts};

/// Whitespace of all lengths, and what it is mixed with.
const BLANKS: [&str; 16] = [
    " ", " ", "  ", "\n", "\r\n", "\r", "\t", "\u{b}", "\u{85}", "\u{a0}", "\u{2003}", "\u{2028}", "\u{3000}", "a",
    "é1", "!",
];

fn drawn(random: &mut Random, from: &[&'static str]) -> &'static str {
    from[random.below(from.len())]
}

#[test]
fn pieces_are_those_that_fancy_regex_finds() {
    for pattern in [GPT2, CL100K, CL100K_TIKTOKEN, O200K] {
        let (split, regex) = (Pretokeniser::new(pattern).unwrap(), Regex::new(pattern).unwrap());
        let mut random = Random(59);
        for seed in 1..120 {
            let blanks: String = (0..random.below(9)).map(|_| drawn(&mut random, &BLANKS)).collect();
            let text = if seed % 3 == 0 { blanks } else { scripts::text(seed, 400) + &blanks };
            let expected: Vec<&str> = regex.find_iter(&text).map(|found| found.unwrap().as_str()).collect();
            assert_eq!(split.split(&text).unwrap().collect::<Vec<_>>(), expected, "{pattern}: {text:?}");
        }
    }
}

/// tiktoken has a newer text of GPT-2's pattern too. Its pieces are those of the older one.
#[test]
fn the_newer_text_of_gpt2_cuts_as_the_older_one() {
    let newer = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
    let (newer, regex) = (Pretokeniser::new(newer).unwrap(), Regex::new(newer).unwrap());
    let mut random = Random(61);
    for seed in 1..120 {
        let blanks: String = (0..random.below(9)).map(|_| drawn(&mut random, &BLANKS)).collect();
        let text = scripts::text(seed, 400) + &blanks;
        let found: Vec<&str> = newer.split(&text).unwrap().collect();
        assert_eq!(found, Pretokeniser::gpt2().split(&text).unwrap().collect::<Vec<_>>(), "{text:?}");
        assert!(regex.find_iter(&text).map(|found| found.unwrap().as_str()).eq(found), "{text:?}");
    }
}

/// A regex of some parts, each repeated or not. What may be empty is not repeated: engines differ in what that means.
fn alternative(random: &mut Random) -> String {
    const PARTS: [&str; 14] = [
        "a",
        "b",
        "[ab]",
        "[^a]",
        r"\s",
        "é",
        "ab",
        "(?:ab|a)",
        "(?:a++b)",
        "(?:a|bb?)",
        r"(?:b|é$)",
        r"\S",
        "(?i:A)",
        " ",
    ];
    const TIMES: [&str; 10] = ["", "", "", "?", "*", "+", "{1,2}", "{2}", "+", "*"];
    const MANNERS: [&str; 5] = ["", "+", "+", "+", "?"];
    if random.below(8) == 0 {
        return r"\s+(?!\S)".to_owned();
    }
    let mut regex = String::new();
    for _ in 0..1 + random.below(3) {
        let times = drawn(random, &TIMES);
        let manner = if times.is_empty() { "" } else { drawn(random, &MANNERS) };
        regex += &[drawn(random, &PARTS), times, manner].concat();
        if random.below(6) == 0 {
            regex = format!(
                "(?:{}{regex}){}",
                drawn(random, &["a", "b", " "]),
                drawn(random, &["", "+", "++", "?+", "{2}"])
            );
        }
    }
    regex + if random.below(4) == 0 { "$" } else { "" }
}

/// Pieces and their kinds by random patterns, in one text, in streams and in blocks, of which those are taken whose possessive repetitions are as greedy ones.
#[test]
fn random_patterns_cut_as_fancy_regex_does() {
    let rounds: usize = std::env::var("MONOSCAN_PATTERNS").map_or(400, |rounds| rounds.parse().unwrap());
    let mut random = Random(67);
    let (mut taken, mut possessive, mut not_greedy) = (0, 0, 0);
    for _ in 0..rounds {
        let alternatives: Vec<String> = (0..1 + random.below(4)).map(|_| alternative(&mut random)).collect();
        let pattern = alternatives.join("|");
        let split = match Pretokeniser::new(&pattern) {
            Ok(split) => split,
            Err(PatternError::Possessive { .. }) => {
                not_greedy += 1;
                continue;
            }
            Err(PatternError::Empty { .. } | PatternError::LookAround { .. }) => continue,
            Err(other) => panic!("{pattern}: {other}"),
        };
        taken += 1;
        possessive += usize::from(["++", "*+", "?+", "}+"].iter().any(|of| pattern.contains(of)));
        // Each alternative in a group, which says that it matched.
        let groups: Vec<String> = alternatives.iter().map(|regex| format!("({regex})")).collect();
        let regex = Regex::new(&groups.join("|")).unwrap();
        let (mut list, mut joined) = (TokenList::new(), String::new());
        for _ in 0..20 {
            let letters = ["a", "b", "a", "b", "A", "é", " ", "\n", "\u{3000}"];
            let text: String = (0..random.below(9)).map(|_| drawn(&mut random, &letters)).collect();
            let expected: Vec<(usize, usize, usize)> = regex
                .captures_iter(&text)
                .map(|found| {
                    let found = found.unwrap();
                    let kind = (0..groups.len()).find(|&kind| found.get(kind + 1).is_some()).unwrap();
                    let whole = found.get(0).unwrap();
                    (whole.start(), whole.end(), kind)
                })
                .collect();
            split.lex_into(text.as_bytes(), &mut list).unwrap();
            let pieces = list.iter().filter_map(|piece| match piece.kind {
                Kind::Rule(kind) => Some((piece.start, piece.end, usize::from(kind))),
                Kind::Error => None,
            });
            assert_eq!(pieces.collect::<Vec<_>>(), expected, "{pattern}: {text:?}");
            let mut stream = split.stream();
            let mut streamed = Vec::new();
            text.as_bytes().chunks(1).for_each(|byte| streamed.extend(stream.push(byte).unwrap()));
            streamed.extend(stream.finish().unwrap());
            let streamed = streamed.iter().map(|piece| (piece.start as usize, piece.end as usize, piece.kind));
            let whole = list.iter().map(|piece| (piece.start, piece.end, piece.kind));
            assert!(streamed.eq(whole), "{pattern}, in a stream: {text:?}");
            let mut blocks = TokenColumns::default();
            split.on_cpu().lex_in_blocks(text.as_bytes(), 2, 3, &mut blocks).unwrap();
            assert_eq!((blocks.kinds(), blocks.ends()), (list.kinds(), list.ends()), "{pattern}, in blocks: {text:?}");
            joined.push_str(&text);
        }
        let (mut whole, mut beside) = (TokenColumns::default(), TokenColumns::default());
        split.on_cpu().lex_in_blocks(joined.as_bytes(), 1, 1 << 20, &mut whole).unwrap();
        assert!(split.on_cpu().lex_side_by_side(joined.as_bytes(), &mut beside).unwrap());
        assert_eq!(beside, whole, "{pattern}, side by side: {joined:?}");
    }
    println!("{taken} patterns, {possessive} with possessive repetitions; {not_greedy} refused for others");
    assert!(taken > rounds / 4 && possessive > rounds / 8 && not_greedy > rounds / 20, "the patterns are too poor");
}
