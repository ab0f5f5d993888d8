//! Every engine, on every rule set, on texts made to hurt, against the reference.

use monoscan_runtime::lexer::{CpuLexer, LexAutomaton, TokenColumns};

use super::super::*;
use super::sets::{SETS, Set};
use super::{Reference, columns_of};
use scan_kit::Random;

/// Pieces of a set's text in disorder, cut, repeated, and noise.
pub(in crate::lexer) fn text(random: &mut Random, set: &Set, most: usize) -> Vec<u8> {
    let source = set.text.as_bytes();
    let mut text = Vec::new();
    while text.len() < most {
        let from = random.below(source.len());
        let length = [1, 2, 3, 5, 8, 20, 60][random.below(7)];
        let piece = &source[from..source.len().min(from + length)];
        match random.below(20) {
            0 => text.push(random.below(256) as u8),
            1 => text.extend([[0xff, 0x80, 0x00, b'\\'][random.below(4)]]),
            2 => text.extend(piece.repeat(1 + random.below(20))),
            3 => text.extend(b" ".repeat(random.below(40))),
            _ => text.extend(piece),
        }
        if random.below(40) == 0 {
            break;
        }
    }
    text.truncate(most);
    text
}

pub(in crate::lexer) fn compile(set: &Set) -> (Lexer, Reference) {
    let lexer = Lexer::new(Rules::parse(set.rules).expect("the rules parse")).expect("any rules can be lexed");
    let reference = Reference::new(lexer.rules());
    (lexer, reference)
}

/// The tokens in blocks of so many bytes, on so many threads.
pub(in crate::lexer) fn in_blocks(lexer: &CpuLexer, text: &[u8], threads: usize, block: usize) -> TokenColumns {
    let mut tokens = TokenColumns::default();
    lexer.lex_in_blocks(text, threads, block, &mut tokens).expect("texts are short");
    tokens
}

pub(in crate::lexer) fn by_stream(lexer: &Lexer, chunks: &[&[u8]]) -> Vec<Streamed> {
    let mut stream = lexer.stream().expect("it is on the CPU");
    let mut tokens = Vec::new();
    for chunk in chunks {
        tokens.extend(stream.push(chunk).expect("texts are short"));
    }
    tokens.extend(stream.finish().expect("texts are short"));
    tokens
}

/// The tokens by short pieces side by side; none if the automaton has words beside it.
pub(in crate::lexer) fn side_by_side(lexer: &CpuLexer, text: &[u8]) -> Option<TokenColumns> {
    let mut tokens = TokenColumns::default();
    lexer.lex_side_by_side(text, &mut tokens).expect("texts are short").then_some(tokens)
}

/// Sets that are too large for scans.
pub(in crate::lexer) const NO_SCAN: [&str; 3] = ["many states", "cl100k", "markdown"];

#[test]
fn all_engines_find_the_tokens_of_maximal_munch() {
    for set in SETS {
        let (lexer, reference) = compile(&set);
        assert_eq!(lexer.on_cpu().code().is_some(), set.name != "many states");
        let with_skips = lexer.with_skips();
        let some: Vec<Kind> = (0..lexer.rules().len() as u16).step_by(2).map(Kind::Rule).collect();
        let only = lexer.only(&some);
        let by_table = CpuLexer::by_table(with_skips.on_cpu().automaton().clone());
        let by_scan = !NO_SCAN.contains(&set.name);
        let mut random = Random(29);
        for round in 0..150 {
            let text = text(&mut random, &set, [20, 100, 300][round % 3]);
            let expected = reference.tokens(&text);
            let of =
                |keep: &dyn Fn(Kind) -> bool| columns_of(expected.iter().copied().filter(|token| keep(token.kind)));
            let name = format!("{}: {}", set.name, text.escape_ascii());
            let all = of(&|_| true);
            let kept = of(&|kind| !lexer.rules().get(kind).is_some_and(Rule::is_skip));
            assert_eq!(lexer.lex(&text).expect("it is short").columns, kept, "{name}");
            assert_eq!(only.lex(&text).expect("it is short").columns, of(&|kind| some.contains(&kind)), "only {name}");
            for (threads, block) in [(1, 64), (1, 7), (2, 64), (3, 100), (2, 33)] {
                let found = in_blocks(with_skips.on_cpu(), &text, threads, block);
                assert_eq!(found, all, "{threads} threads, blocks of {block}: {name}");
            }
            for engine in [with_skips.on_cpu(), &by_table] {
                assert!(side_by_side(engine, &text).is_none_or(|found| found == all), "side by side: {name}");
            }
            let found = side_by_side(only.on_cpu(), &text);
            assert!(found.is_none_or(|found| found == only.lex(&text).expect("it is short").columns), "{name}");
            assert_eq!(in_blocks(&by_table, &text, 1, 50), all, "table: {name}");
            assert_eq!(in_blocks(&by_table, &text, 2, 64), all, "table, threads: {name}");
            if by_scan {
                let mut list = TokenList::new();
                lexer.lex_by_scan(&text, &mut list.columns).expect("it is short");
                assert_eq!(list.columns, kept, "scan: {name}");
            }
        }
    }
}

#[test]
fn a_text_may_be_cut_anywhere() {
    for set in SETS {
        let (lexer, reference) = compile(&set);
        let lexer = lexer.with_skips();
        let mut random = Random(31);
        for _ in 0..12 {
            let text = text(&mut random, &set, 40);
            let expected: Vec<Streamed> = reference
                .tokens(&text)
                .into_iter()
                .map(|token| Streamed { start: token.start as u64, end: token.end as u64, kind: token.kind })
                .collect();
            let name = format!("{}: {}", set.name, text.escape_ascii());
            for cut in 0..=text.len() {
                let (a, b) = text.split_at(cut);
                assert_eq!(by_stream(&lexer, &[a, b]), expected, "cut at {cut}: {name}");
            }
            for size in [1, 3] {
                let chunks: Vec<&[u8]> = text.chunks(size).collect();
                assert_eq!(by_stream(&lexer, &chunks), expected, "chunks of {size}: {name}");
            }
        }
    }
}

/// Tokens are given when they are decided, however the text before was cut.
#[test]
fn a_stream_keeps_no_token_back() {
    for set in SETS {
        let (lexer, _) = compile(&set);
        let mut random = Random(37);
        for _ in 0..6 {
            let text = text(&mut random, &set, 60);
            let mut by_bytes = lexer.stream().expect("it is on the CPU");
            let mut count = 0;
            for end in 1..=text.len() {
                count += by_bytes.push(&text[end - 1..end]).expect("it is short").len();
                let mut at_once = lexer.stream().expect("it is on the CPU");
                let decided = at_once.push(&text[..end]).expect("it is short").len();
                assert_eq!(count, decided, "{}: {}", set.name, text[..end].escape_ascii());
            }
        }
    }
    let mut stream = Lexer::new(Rules::json()).expect("any rules").stream().expect("it is on the CPU");
    assert!(stream.push(&[&b"\""[..], &[b'a'; 1000]].concat()).expect("it is short").is_empty());
    assert_eq!(stream.push(b"\"").expect("it is short").len(), 1);
    assert_eq!(stream.push(b",").expect("it is short").len(), 1);
}

#[test]
fn the_text_may_end_anywhere() {
    for set in SETS {
        let (lexer, reference) = compile(&set);
        let lexer = lexer.with_skips();
        let text = set.text.as_bytes();
        for end in 0..=text.len() {
            let found = lexer.lex(&text[..end]).expect("it is short").columns;
            assert_eq!(found, columns_of(reference.tokens(&text[..end])), "{} up to {end}", set.name);
        }
    }
}

#[test]
fn hostile_texts_take_linear_time_and_are_exact() {
    let rules = "SLASH /\nCOMMENT /[*]([^*]|[*]+[^*/])*[*]+/\nSTAR [*]\nWORD [a-z]+";
    let lexer = Lexer::new(Rules::parse(rules).expect("they parse")).expect("any rules");
    // By reading on to the end for each comment that may begin, half a million times half a million bytes.
    let text = b"/*a".repeat(200_000);
    for engine in [lexer.on_cpu(), &CpuLexer::by_table(lexer.on_cpu().automaton().clone())] {
        for (threads, block) in [(1, 1 << 30), (1, 4096), (2, 4096)] {
            let tokens = in_blocks(engine, &text, threads, block);
            assert_eq!(tokens.len(), 600_000);
            assert!(tokens.ends().iter().copied().eq(1..=600_000));
        }
    }
    let mut stream = lexer.stream().expect("it is on the CPU");
    let mut count = 0;
    for chunk in text.chunks(1000) {
        count += stream.push(chunk).expect("it is short").len();
    }
    assert_eq!(count + stream.finish().expect("it is short").len(), 600_000);
    // Errors of one byte, each found by reading to the end.
    let lexer = Lexer::new(Rules::parse("AB a+b").expect("it parses")).expect("any rules");
    let text = b"a".repeat(300_000);
    for threads in [1, 2] {
        let tokens = in_blocks(lexer.on_cpu(), &text, threads, 10_000);
        assert_eq!((tokens.starts(), tokens.ends()), (&[0][..], &[300_000][..]));
    }
}

#[test]
fn a_few_rules_are_lexed_exactly() {
    for (rules, texts) in [
        // A byte leads back to where tokens begin.
        (r"LINE [^\n]*\n", ["ab\nc\n\nd", "\n", "x"]),
        ("A a*b\nB a*c", ["aab", "bcaac", "aaa"]),
        ("C (ab)*c", ["ababc", "abab", "cabc"]),
        // Texts with zeros beside words.
        (
            r"NAME [a-z]+|\x00\x01
           IF if",
            ["\0\x01if a", "\0\x01", "if\0\x01"],
        ),
        // Words, and kinds for what begins them.
        ("IF if\nWORD [a-z]{2,}\nincomplete E_", ["i", "if", "ix i"]),
        ("WORD if|of\nIF if\nincomplete E_ IF", ["i", "o", "ifof"]),
        ("keyword ab\nR ab\nincomplete E_ R", ["a", "ab", "aba"]),
    ] {
        let rules = Rules::parse(rules).expect("they parse");
        let reference = Reference::new(&rules);
        let lexer = Lexer::new(rules.clone()).expect("any rules").with_skips();
        for text in texts.map(str::as_bytes) {
            let expected = columns_of(reference.tokens(text));
            for engine in [lexer.on_cpu(), &CpuLexer::by_table(lexer.on_cpu().automaton().clone())] {
                assert_eq!(in_blocks(engine, text, 1, 1 << 20), expected, "{rules:?}: {}", text.escape_ascii());
            }
        }
    }
}

#[test]
fn columns_have_space_for_an_error_and_a_token_for_each_byte() {
    let lexer = Lexer::new(Rules::parse("skip S a\nLONG a+b\nC c").expect("they parse")).expect("any rules");
    let block = 512 << 10;
    // What the first block reads in vain is made up for in the second, but for a few bytes.
    let text = [b"a".repeat(block - 1), b"!".to_vec(), b"c".repeat(block)].concat();
    assert_eq!(in_blocks(lexer.on_cpu(), &text, 1, block).len(), 1 + block);
}

#[test]
fn long_texts_on_threads_are_as_on_one() {
    for set in SETS {
        let (lexer, _) = compile(&set);
        let mut random = Random(37);
        let mut long = Vec::new();
        while long.len() < 300_000 {
            long.extend(text(&mut random, &set, 300));
            long.extend(set.text.as_bytes().repeat(3));
        }
        let by_table = CpuLexer::by_table(lexer.on_cpu().automaton().clone());
        let expected = in_blocks(&by_table, &long, 1, 1 << 20);
        for (threads, block) in [(1, 10_000), (2, 10_000), (4, 3_000), (2, 100_000)] {
            assert!(in_blocks(lexer.on_cpu(), &long, threads, block) == expected, "{} {threads} {block}", set.name);
        }
    }
}

#[test]
fn where_a_token_begins_is_guessed_right_in_most_blocks() {
    for set in SETS.into_iter().filter(|set| ["json", "csv", "c", "rust"].contains(&set.name)) {
        let (lexer, _) = compile(&set);
        let text = set.text.as_bytes().repeat(300_000 / set.text.len());
        let blocks = text.len().div_ceil(1009);
        let again = lexer.on_cpu().lex_in_blocks(&text, 2, 1009, &mut TokenColumns::default()).expect("it is short");
        assert!(again * 10 <= blocks, "{}: {again} of {blocks}", set.name);
    }
}

#[test]
fn the_list_is_used_again() {
    let lexer = Lexer::new(Rules::json()).expect("any rules");
    let mut list = TokenList::new();
    for text in [&b"[1, 2, 3]"[..], b"", b"?", b"{}"] {
        lexer.lex_into(text, &mut list).expect("it is short");
        assert_eq!(list, lexer.lex(text).expect("it is short"));
    }
}

/// Code and table refuse what would give a token no byte, or lead out of a table.
#[test]
fn automata_that_are_not_sound_are_refused() {
    // START -a-> 2, 2 -other-> 3; 2 and 3 accept.
    let sound = || {
        let mut class_of = [0; 256];
        class_of[usize::from(b'a')] = 1;
        LexAutomaton {
            class_of,
            classes: 2,
            next: vec![0, 0, 0, 2, 3, 0, 0, 0],
            accept: vec![None, None, Some(0), Some(0)],
            back: vec![0, 0, 0, 0],
            at_end: vec![None, None, Some(0), Some(0)],
            kept: vec![true],
            keeps_errors: true,
            words: Vec::new(),
        }
    };
    let is_refused = |automaton: LexAutomaton| {
        let refused = |new: fn(LexAutomaton) -> CpuLexer| {
            let automaton = automaton.clone();
            std::panic::catch_unwind(move || new(automaton)).is_err()
        };
        let (code, table) = (refused(CpuLexer::new), refused(CpuLexer::by_table));
        assert_eq!(code, table);
        table
    };
    assert!(!is_refused(sound()));
    let faults: [fn(&mut LexAutomaton); 10] = [
        |automaton| automaton.back[2] = 1,
        |automaton| automaton.at_end[3] = None,
        |automaton| (automaton.next[6], automaton.back[3]) = (3, 2),
        |automaton| automaton.back.truncate(3),
        |automaton| automaton.at_end.truncate(3),
        |automaton| automaton.next.truncate(7),
        |automaton| automaton.next[7] = 4,
        |automaton| automaton.next[7] = LexAutomaton::START,
        |automaton| automaton.accept[1] = Some(0),
        |automaton| automaton.class_of[0] = 2,
    ];
    for (place, fault) in faults.into_iter().enumerate() {
        let mut automaton = sound();
        fault(&mut automaton);
        assert!(is_refused(automaton), "fault {place}");
    }
    let mut longer = sound();
    longer.back[3] = 1;
    assert!(!is_refused(longer), "a token of a byte is left");
}
