//! The lexer against the reference.

mod columns;
pub(super) mod engines;
mod only;
mod oracle;
mod patterns;
mod pretokenise;
mod random;
mod refused;
mod rules;
pub(super) mod sets;
mod shadow;
mod typed;

use monoscan_ir::{Constant, interp};
use monoscan_runtime::lexer::TokenColumns;
use scan_kit::Random;

use super::reference::Reference;
use super::*;

/// Rule sets that one pass can lex: name, rules, and pieces from which tests make adversarial texts.
const EXACT: [(&str, &str, &[&str]); 10] = [
    (
        "json",
        JSON,
        &[
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\u00", "12ab", "\\\"", "\\n", "-", "0", "1", ".", "5e",
            "E+", "true", "fals", "nul", "t", " ", "\n", "\u{1}", "é", "x", "/", "\"k\"",
        ],
    ),
    (
        "C",
        r#"
            KEYWORD       if|int|else|while|return
            IDENTIFIER    [A-Za-z_][A-Za-z0-9_]*
            NUMBER        [.]?[0-9]([eEpP][-+]|[A-Za-z0-9_.])*
            STRING        "([^"\\\n]|\\.)*"
            OPEN_STRING   "([^"\\\n]|\\.)*\\?
            COMMENT       /\*([^*]|\*+[^*/])*\*+/
            OPEN_COMMENT  /\*([^*]|\*+[^*/])*\**
            LINE_COMMENT  //[^\n]*
            OPERATOR      [-+*/%&|^=<>!]=?|&&|\|\||<<=?|>>=?|->|\+\+|--|~|\?|[.]
            PUNCTUATION   [(){}\[\];:,]
            skip SPACE    [ \t\r\n]+
        "#,
        &[
            "if", "in", "int", "x1", "0x1f", "1.e+", "..", ".5", "\"", "\\", "/*", "*/", "*", "/", "//", "\n", " ",
            "<<", "=", ">", "-", "->", "(", "@", "$", "\\\n", "é",
        ],
    ),
    (
        "CSV",
        r#"
            COMMA       ,
            NEWLINE     \r?\n
            QUOTED      "([^"]|"")*"
            OPEN_QUOTED "([^"]|"")*
            FIELD       [^",\r\n]+
        "#,
        &[",", "\r", "\n", "\r\n", "\"", "\"\"", "a", "b c", "é"],
    ),
    (
        "ini",
        r"
            SECTION       \[[^\]\n]*\]
            OPEN_SECTION  \[[^\]\n]*
            skip COMMENT  [;#][^\n]*
            EQUALS        =
            WORD          [A-Za-z0-9_.]+
            skip SPACE    [ \t\n]+
        ",
        &["[", "]", "[a]", ";", "#", "=", "key", "1.5", " ", "\n", "!", "é"],
    ),
    (
        "s-expressions",
        r#"
            OPEN         \(
            CLOSE        \)
            QUOTE        '
            SPLICE       ,@
            UNQUOTE      ,
            INTEGER      [+-]?[0-9]+
            SYMBOL       [a-z*/+<>=-]+
            skip SPACE   \s+
            skip NOTE    ;.*
        "#,
        &["(", ")", "'", ",", ",@", "@", "+", "-", "1", "23", "def", "->", " ", "\n", ";", "#", "é"],
    ),
    (
        "keywords",
        "IF if\nIN in\nINT int\nIFF iff\nNAME [a-z]+\nskip SPACE [ ]",
        &["i", "f", "if", "in", "int", "iff", "t", "x", " ", "A"],
    ),
    ("prefixes", "A a\nAB ab\nB bb", &["a", "b", "c", "ab", "bb"]),
    ("one byte may pend", "ARROW ->\nFAT =>\nNAME [a-z]+", &["-", "=", ">", "->", "=>", "x", "é"]),
    (
        "binary",
        r"
            HIGH   \xff+
            ESCAPE \xfe[\x00-\xff]
            ZERO   \x00
            LOW    [\x01-\x08]{1,3}
        ",
        &["\u{0}", "\u{1}", "\u{2}", "\u{8}", "\u{9}", "a"],
    ),
    (
        "unicode",
        r"
            WORD     (?u)\w+
            PART     (?u:\w)*[\xc2-\xf4][\x80-\xbf]{0,2}
            SPACE    [ ]+
        ",
        &["a", "é", "日", "𝒳", " ", "ß9", "-"],
    ),
];

/// Pieces in any order, some cut in the middle, now and then any byte.
fn text(random: &mut Random, pieces: &[&str]) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.below(24) {
        let piece = pieces[random.below(pieces.len())].as_bytes();
        match random.below(12) {
            0 => text.push(random.below(256) as u8),
            1 => text.extend([[0xff, 0xfe, 0x80, 0x00][random.below(4)]]),
            2 => text.extend(&piece[..random.below(piece.len() + 1)]),
            _ => text.extend(piece),
        }
    }
    text
}

/// Tokens as a lexer gives them.
fn columns_of(tokens: impl IntoIterator<Item = Token>) -> TokenColumns {
    let mut columns = TokenColumns::default();
    for token in tokens {
        let kind = match token.kind {
            Kind::Rule(rule) => rule,
            Kind::Error => ERROR_KIND,
        };
        columns.push_found(kind, token.start, token.end);
    }
    columns
}

fn compile(rules: &str) -> Lexer {
    Lexer::new(Rules::parse(rules).expect("the rules parse")).expect("any rules")
}

fn ranks_of(tables: &LexerTables) -> &RankTables {
    tables.ranks().expect("one pass is exact")
}

/// The labels by composing the elements' maps in a random association, as a scan may.
fn labels_by_maps(tables: &RankTables, text: &[u8], random: &mut Random) -> Vec<u8> {
    let row = |i: usize| {
        let class = |i: usize| text.get(i).map(|&byte| usize::from(tables.class_of()[usize::from(byte)]));
        let pair = tables.pair(class(i).expect("i is in the text"), class(i + 1));
        pair * tables.width()..(pair + 1) * tables.width()
    };
    let compose = |first: &[u8], then: &[u8]| first.iter().map(|&rank| then[usize::from(rank)]).collect::<Vec<u8>>();
    fn fold(
        maps: &[&[u8]],
        identity: Vec<u8>,
        compose: &impl Fn(&[u8], &[u8]) -> Vec<u8>,
        random: &mut Random,
    ) -> Vec<u8> {
        match maps {
            [] => identity,
            [map] => map.to_vec(),
            _ => {
                let middle = 1 + random.below(maps.len() - 1);
                let left = fold(&maps[..middle], identity.clone(), compose, random);
                compose(&left, &fold(&maps[middle..], identity, compose, random))
            }
        }
    }
    let maps: Vec<&[u8]> = (0..text.len()).map(|i| &tables.advance()[row(i)]).collect();
    let identity: Vec<u8> = (0..tables.width() as u8).collect();
    let before = |i: usize, random: &mut Random| fold(&maps[..i], identity.clone(), &compose, random);
    (0..text.len()).map(|i| tables.label()[row(i)][usize::from(before(i, random)[0])] as u8).collect()
}

fn check(name: &str, lexer: &Lexer, all: &Lexer, reference: &Reference, text: &[u8], random: &mut Random) {
    let labels = lexer.tables().expect("any rules").label_sequentially(text);
    let tokens: Vec<Token> = lexer.with_skips().tokens(&labels).collect();
    assert_eq!(tokens, reference.tokens(text), "{name}: {}", text.escape_ascii());
    let list = all.lex(text).expect("texts are short");
    assert!(list.iter().eq(tokens.iter().copied()), "{name}, lexed: {}", text.escape_ascii());
    let mut list = TokenList::new();
    all.lex_by_scan(text, &mut list.columns).expect("texts are short");
    assert!(list.iter().eq(tokens), "{name}, listed: {}", text.escape_ascii());
    let by_maps = labels_by_maps(ranks_of(lexer.tables().expect("any rules")), text, random);
    assert_eq!(labels, by_maps, "{name}, composed: {}", text.escape_ascii());
}

#[test]
fn tokens_are_those_of_maximal_munch() {
    for (name, rules, pieces) in EXACT {
        let lexer = compile(rules);
        let all = lexer.with_skips();
        let reference = Reference::new(lexer.rules());
        let mut random = Random(7);
        for _ in 0..400 {
            let text = text(&mut random, pieces);
            check(name, &lexer, &all, &reference, &text, &mut random);
        }
    }
}

#[test]
fn the_input_may_end_inside_any_token() {
    for (name, rules, pieces) in EXACT {
        let lexer = compile(rules);
        let all = lexer.with_skips();
        let reference = Reference::new(lexer.rules());
        let mut random = Random(11);
        for _ in 0..8 {
            let text = text(&mut random, pieces);
            for end in 0..=text.len() {
                check(name, &lexer, &all, &reference, &text[..end], &mut random);
            }
        }
    }
}

#[test]
fn all_short_texts_of_a_small_alphabet_are_exact() {
    for (name, rules, alphabet) in [
        ("json", JSON, &b"\"\\u1e.-t {"[..]),
        ("C", EXACT[1].1, b"/*\"\\\n.e+a"),
        ("CSV", EXACT[2].1, b"\",\r\na"),
        ("prefixes", EXACT[6].1, b"abc"),
        ("binary", EXACT[8].1, b"\xff\xfe\x00\x01"),
    ] {
        let lexer = compile(rules);
        let all = lexer.with_skips();
        let reference = Reference::new(lexer.rules());
        let mut random = Random(3);
        for length in 0..=4u32 {
            for mut number in 0..alphabet.len().pow(length) {
                let mut text = Vec::new();
                for _ in 0..length {
                    text.push(alphabet[number % alphabet.len()]);
                    number /= alphabet.len();
                }
                check(name, &lexer, &all, &reference, &text, &mut random);
            }
        }
    }
}

#[test]
fn json_fits_maps_of_eight_bytes() {
    let lexer = Lexer::new(Rules::json()).expect("the JSON rules are exact");
    let ranks = ranks_of(lexer.tables().expect("any rules"));
    assert_eq!(
        (lexer.tables().expect("any rules").states(), ranks.classes(), ranks.ranks(), ranks.width()),
        (36, 30, 8, 8)
    );
}

#[test]
fn every_proper_prefix_of_a_json_token_is_a_token() {
    let lexer = Lexer::new(Rules::json()).expect("the JSON rules are exact");
    for token in ["\"a\\u12aF\\n\\\\é\"", "-120.75e-31", "0E5", "true", "false", "null", "{"] {
        for end in 1..=token.len() {
            let labels = lexer.tables().expect("any rules").label_sequentially(&token.as_bytes()[..end]);
            let tokens: Vec<Token> = lexer.with_skips().tokens(&labels).collect();
            assert!(matches!(tokens[..], [Token { kind: Kind::Rule(_), .. }]), "{token} cut at {end}: {tokens:?}");
        }
    }
}

#[test]
fn skips_are_left_out_on_request_and_counted_always() {
    let lexer = compile("WORD [a-z]+\nskip SPACE [ ]+");
    let text = b"  ab ?? c !";
    let labels = lexer.tables().expect("any rules").label_sequentially(text);
    let spans = |lexer: &Lexer| lexer.tokens(&labels).map(|t| (t.start, t.end, t.kind)).collect::<Vec<_>>();
    let (word, space) = (Kind::Rule(0), Kind::Rule(1));
    assert_eq!(spans(&lexer), [(2, 4, word), (5, 7, Kind::Error), (8, 9, word), (10, 11, Kind::Error)]);
    assert_eq!(spans(&lexer.with_skips()).len(), 8);
    let counts = lexer.count(&labels);
    assert_eq!(counts.iter().collect::<Vec<_>>(), [(word, 2), (space, 4), (Kind::Error, 2)]);
}

#[test]
fn a_run_of_errors_is_one_token_however_long() {
    let lexer = compile("A a");
    for before in 0..20 {
        for errors in 1..40 {
            let text = ["a".repeat(before), "?".repeat(errors), "a".to_owned()].concat();
            let labels = lexer.tables().expect("any rules").label_sequentially(text.as_bytes());
            let tokens: Vec<Token> = lexer.with_skips().tokens(&labels).collect();
            assert_eq!(tokens.len(), before + 2);
            assert_eq!(tokens[before], Token { start: before, end: before + errors, kind: Kind::Error });
        }
    }
}

#[test]
fn the_list_of_a_long_text_has_the_tokens_that_its_labels_spell() {
    let lexer = Lexer::new(Rules::json()).expect("the JSON rules are exact");
    let text = br#"{"name": [1, -2.5e3, true], ?? "more\u00e9": null} "unterminated "#.repeat(9000);
    // Runs of errors that are longer than what one thread makes tokens of, and end where it does.
    let errors = |before: usize, len| [&b"[]".repeat(before / 2)[..], &b"?".repeat(len), b"1,2"].concat();
    for text in [text, errors(2, 40_000), errors(16_380, 4), errors(16_382, 3), errors(0, 16_384), errors(16_384, 1)] {
        let labels = lexer.tables().expect("any rules").label_sequentially(&text);
        for lexer in [&lexer.with_skips(), &lexer, &lexer.only(&[Kind::Rule(0), Kind::Error]), &lexer.only(&[])] {
            let mut list = TokenList::new();
            lexer.lex_by_scan(&text, &mut list.columns).expect("there is memory for half a megabyte");
            assert!(list.iter().eq(lexer.tokens(&labels)));
            assert_eq!(lexer.lex(&text).expect("there is memory for half a megabyte"), list);
        }
    }
}

#[test]
fn labels_that_no_lexer_wrote_still_give_tokens_within_bounds() {
    let lexer = compile("A a\nskip B b");
    let mut random = Random(5);
    for _ in 0..500 {
        let labels: Vec<u8> = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
        let mut at = 0;
        for token in lexer.with_skips().tokens(&labels) {
            assert!(token.start == at && token.start < token.end && token.end <= labels.len());
            assert!(!lexer.rules().name(token.kind).is_empty());
            at = token.end;
        }
    }
}

/// Rules whose maps take one vector, or several.
const WIDE: [(&str, usize); 4] =
    [("A [a-c]{1,3}", 8), ("A [a-c]{1,12}", 16), ("A [a-c]{1,20}", 32), ("A [a-c]{1,120}\nB ,", 128)];

#[test]
fn the_scan_labels_as_the_plain_loop_does() {
    let exact = EXACT.iter().map(|&(_, rules, pieces)| (rules, pieces));
    let wide = WIDE.iter().map(|&(rules, _)| (rules, &["a", "aaaaaaaaaaaaaaaa", "bcb", ",", "?"][..]));
    for (rules, pieces) in exact.chain(wide) {
        let lexer = compile(rules);
        let program = lexer.tables().expect("any rules").program();
        let mut random = Random(13);
        for _ in 0..20 {
            let text = text(&mut random, pieces);
            let run = interp::run(&program, &[&text], &interp::Request::default()).expect("one column of bytes");
            assert_eq!(run.outputs, [lexer.tables().expect("any rules").label_sequentially(&text)], "{rules}");
        }
    }
}

#[test]
fn maps_are_a_monoid() {
    for (rules, width) in WIDE {
        let tables = compile(rules);
        let tables = tables.tables().expect("any rules");
        assert_eq!(ranks_of(tables).width(), width);
        let program = tables.program();
        let stage = &program.stages[0];
        let mut random = Random(17);
        let mut map = || -> Vec<Constant> {
            let ranks: Vec<u8> = (0..width).map(|_| random.below(width) as u8).collect();
            ranks.chunks(width.min(16)).map(Constant::vector).collect()
        };
        let then = |f: &[Constant], g: &[Constant]| interp::call(&stage.combine, &[f, g].concat(), &[]);
        for _ in 0..50 {
            let (f, g, h) = (map(), map(), map());
            assert_eq!(then(&then(&f, &g), &h), then(&f, &then(&g, &h)));
            assert_eq!(then(&f, &stage.identity), f);
            assert_eq!(then(&stage.identity, &f), f);
            let valid = stage.valid.as_ref().expect("maps lead to ranks only");
            assert_eq!(interp::call(valid, &then(&f, &g), &[]), [Constant::from(true)]);
        }
    }
}
