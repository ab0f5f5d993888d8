//! The meaning of rules: keywords, incomplete tokens, ties, and how far ahead they look.

use super::super::*;
use super::{Reference, columns_of};

fn lexer(rules: &str) -> Lexer {
    Lexer::new(Rules::parse(rules).expect("the rules parse")).expect("any rules can be lexed")
}

/// The tokens' names and texts.
fn named(lexer: &Lexer, text: &str) -> Vec<(String, String)> {
    let tokens = lexer.lex(text.as_bytes()).expect("it is short");
    assert_eq!(
        lexer.with_skips().lex(text.as_bytes()).expect("it is short").columns,
        columns_of(Reference::new(lexer.rules()).tokens(text.as_bytes()))
    );
    let name =
        |(kind, text): (Kind, &[u8])| (lexer.rules().name(kind).to_owned(), String::from_utf8_lossy(text).into_owned());
    tokens.texts(text.as_bytes()).map(name).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn keywords_win_wherever_they_stand_and_only_as_whole_tokens() {
    let lexer = lexer("NAME [a-z]+\nkeyword if CURRENT_TIMESTAMP\nUPPER [A-Z_]+\nskip SPACE [ ]+\nkeyword =>");
    let found = named(&lexer, "if iff CURRENT_TIMESTAMP CURRENT_TIMESTAMPS => i");
    let expected = [
        ("if", "if"),
        ("NAME", "iff"),
        ("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"),
        ("UPPER", "CURRENT_TIMESTAMPS"),
        ("=>", "=>"),
        ("NAME", "i"),
    ];
    assert_eq!(found, pairs(&expected));
}

/// As many keywords as there may be rules, alone and beside names that they are too long to be looked up among.
#[test]
fn rules_may_be_as_many_words_as_there_may_be_rules() {
    let keywords = |letters: &str, count| (0..count).map(|i| format!("keyword {letters}{i:04}\n")).collect::<String>();
    let count = MAX_RULES;
    let tokens = (0..count).map(|i| format!("R{i} k{i:04}\n")).collect::<String>();
    let beside = keywords("sixteen_bytes", count - 1) + "NAME [a-z_]+[0-9]+";
    for (rules, letters) in [(keywords("k", count), "k"), (tokens, "k"), (beside, "sixteen_bytes")] {
        let lexer = lexer(&rules);
        let text: String = (0..count - 1).map(|i| format!("{letters}{i:04} ")).collect();
        let kinds: Vec<Kind> = lexer
            .only(&(0..count as u16).map(Kind::Rule).collect::<Vec<_>>())
            .lex(text.as_bytes())
            .expect("it is short")
            .iter()
            .map(|token| token.kind)
            .collect();
        assert!(kinds.into_iter().eq((0..count as u16 - 1).map(Kind::Rule)), "{letters}");
    }
}

#[test]
fn words_with_zeros_behind_them_are_not_the_words() {
    let lexer = lexer("NAME [a-z\\x00]+\nkeyword if abcdefgh\nskip SPACE [ ]+");
    let text = "if if\0 if\0\0\0\0\0\0 abcdefgh abcdefgh\0 \0if if";
    let kinds: Vec<String> = named(&lexer, text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(kinds, ["if", "NAME", "NAME", "abcdefgh", "NAME", "NAME", "if"]);
}

#[test]
fn incomplete_tokens_are_of_a_kind_of_their_own() {
    let all = lexer("STRING \"[^\"]*\"\nARROW -->\nskip SPACE [ ]+\nincomplete OPEN_");
    let expected = [("STRING", "\"a\""), ("OPEN_ARROW", "--"), ("ERROR", "x"), ("OPEN_STRING", "\"b c")];
    assert_eq!(named(&all, "\"a\" -- x\"b c"), pairs(&expected));
    assert!(all.tables().is_ok(), "one pass is exact");
    let errors = lexer("STRING \"[^\"]*\"\nincomplete ERROR");
    assert_eq!(named(&errors, "\"a"), pairs(&[("ERRORSTRING", "\"a")]));
    let some = lexer("INT [0-9]+\nFLOAT [0-9]+[.][0-9]+\nDOTS [.][.]\nNOTE /[*][^/]*/\nincomplete OPEN_ NOTE");
    let expected = [("INT", "1"), ("DOTS", ".."), ("FLOAT", "2.5"), ("OPEN_NOTE", "/*x")];
    assert_eq!(named(&some, "1..2.5/*x"), pairs(&expected));
}

#[test]
fn rules_that_lose_ties_are_found_with_a_shortest_text() {
    let messages = |rules: &str| lexer(rules).shadowed().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        messages("NAME [a-z]+\nIF if\nHEX [0-9a-f]+"),
        ["rule IF never wins: \"if\" is NAME", "rule HEX matches \"a\" too, which is NAME",]
    );
    assert_eq!(messages("IF if\nNAME [a-z]+"), ["rule NAME matches \"if\" too, which is IF"]);
    assert!(messages("NAME [a-z]+\nkeyword if").is_empty(), "keywords are for that");
    assert_eq!(messages("keyword a\nA a"), ["rule A never wins: \"a\" is a"]);
    let error = Lexer::builder().token("A", "a").token("B", "[ab]").strict_ties().build().unwrap_err();
    assert_eq!(error.to_string(), "rules shadow others or never win:\n  rule B matches \"a\" too, which is A");
    assert!(Lexer::builder().token("A", "a").token("B", "b").strict_ties().build().is_ok());
    let error = |rules: &str| Lexer::new(Rules::parse(rules).expect("they parse")).map(drop).map_err(|e| e.to_string());
    let shadowed =
        "rules shadow others or never win:\n  rule B matches \"a\" too, which is A\n  rule C never wins: \"b\" is B";
    assert_eq!(error("strict_ties\nA a\nB [ab]\nC b"), Err(shadowed.to_owned()));
    let never = "rules shadow others or never win:\n  rule B never wins: it matches no text";
    for none in ["[a&&b]", "a[b&&c]", "[a&&b]+c", "(?u:[a&&b])"] {
        assert_eq!(error(&format!("A a\nB {none}\nstrict_ties")), Err(never.to_owned()));
        assert!(lexer(&format!("B {none}")).lex(b"ab").is_ok());
    }
    for right in ["A a\nB [ab]", "A a\nB b\nstrict_ties", "strict_ties\nNAME [a-z]+\nkeyword if"] {
        assert_eq!(error(right), Ok(()), "{right}");
    }
}

#[test]
fn a_number_may_repeat_a_repetition() {
    let lexer = lexer("A a{2}{3}\nB b+{2}\nC (?:c?)*d");
    assert_eq!(named(&lexer, "aaaaaabbbccd"), pairs(&[("A", "aaaaaa"), ("B", "bbb"), ("C", "ccd")]));
}

#[test]
fn kinds_of_incomplete_tokens_that_never_occur_are_found() {
    let error = |rules: &str| Lexer::new(Rules::parse(rules).expect("they parse")).map(drop).map_err(|e| e.to_string());
    let never = |told: &str| Err(format!("rules shadow others or never win:\n  rule {told}"));
    let strings = "S \"[^\"]*\"\nOPEN \"[^\"]*\nstrict_ties\n";
    for incomplete in ["incomplete E_", "incomplete E_ S"] {
        let told = error(&format!("{strings}{incomplete}"));
        assert_eq!(told, never(r#"E_S never wins: "\"" is OPEN"#), "{incomplete}");
    }
    // Each text of letters is a token of the rule itself. That is no mistake where all rules have kinds.
    assert_eq!(error("A a+\nstrict_ties\nincomplete E_"), Ok(()));
    assert_eq!(error("A a+\nstrict_ties\nincomplete E_ A"), never(r#"E_A never wins: "a" is A"#));
    // What begins tokens of both is of the kind of the first.
    assert_eq!(error("A ab\nB ac\nstrict_ties\nincomplete E_"), Ok(()));
    assert_eq!(error("A ab\nB ac\nstrict_ties\nincomplete E_ A B"), never(r#"E_B never wins: "a" is E_A"#));
    // A word that is looked up.
    assert_eq!(error("N [ac]\nkeyword a\nB ab\nstrict_ties\nincomplete E_ B"), never(r#"E_B never wins: "a" is a"#));
}

#[test]
fn look_ahead_is_as_far_as_it_must_be() {
    use Distance::{Bytes, Unbounded};
    for (rules, tokens, errors) in [
        ("A a", Bytes(0), Bytes(0)),
        ("A a+", Bytes(1), Bytes(0)),
        ("INT [0-9]+\nFLOAT [0-9]+[.][0-9]+", Bytes(2), Bytes(0)),
        ("NUMBER [0-9]+(e[+-][0-9]+)?", Bytes(3), Bytes(0)),
        ("DIVIDE /\nNOTE /[*][^/]*/", Unbounded, Bytes(0)),
        ("STRING \"[^\"]*\"", Bytes(0), Unbounded),
        ("ABC abc", Bytes(0), Bytes(2)),
    ] {
        let lexer = lexer(rules);
        assert_eq!((lexer.look_ahead().tokens(), lexer.look_ahead().errors()), (tokens, errors), "{rules}");
    }
    let lexer = lexer("INT [0-9]+\nRANGE [0-9]+[.][.][0-9]+");
    let text =
        "look-ahead behind tokens: 3 bytes, behind errors: 0 bytes\n  after INT, rule RANGE may go on, as in \"0..0\"";
    assert_eq!(lexer.look_ahead().to_string(), text);
}

#[test]
fn any_rules_have_tokens_and_labels_but_labels_are_bytes() {
    let lexer = lexer("INT [0-9]+\nFLOAT [0-9]+[.][0-9]+");
    assert_eq!(lexer.lex(b"1.5.").expect("any rules").len(), 2);
    assert_eq!(lexer.labels(b"1.5.").expect("any rules"), [0, PENDING, ENDS | 1, ENDS | ERROR]);
    assert_eq!(lexer.labels(b"1.").expect("any rules"), [ENDS, ENDS | ERROR]);
    assert!(lexer.explain().contains("tokens: direct code"), "{}", lexer.explain());
    assert!(lexer.explain().contains("oracle, from the end of the text: "), "{}", lexer.explain());
    let kinds: String = (0..121).map(|i| format!("K{i} k{i:03}\n")).collect();
    let lexer = Lexer::new(Rules::parse(&kinds).expect("they parse")).expect("any rules");
    assert_eq!(lexer.lex(b"k120").expect("it is short").kinds(), [120]);
    assert!(matches!(lexer.tables(), Err(LexerError::TooManyKinds { kinds: 121 })));
    assert!(lexer.explain().contains("no labels: the rules have 121 kinds of tokens"), "{}", lexer.explain());
}

#[test]
fn shipped_rules_are_small_and_lex_what_they_are_for() {
    let csv = lexer(CSV);
    let found = named(&csv, "a,\"b \"\"c\"\"\",\r\n\"d");
    let expected = [
        ("FIELD", "a"),
        ("COMMA", ","),
        ("QUOTED", "\"b \"\"c\"\"\""),
        ("COMMA", ","),
        ("NEWLINE", "\r\n"),
        ("OPEN_QUOTED", "\"d"),
    ];
    assert_eq!(found, pairs(&expected));
    let c: Vec<String> =
        named(&lexer(C), "#if x\nwhile (a->b) 1.5e3 /* n */ \"s\" 0x1p3 'c' /*").into_iter().map(|x| x.0).collect();
    let expected = [
        "DIRECTIVE",
        "IDENTIFIER",
        "while",
        "PUNCTUATION",
        "IDENTIFIER",
        "OPERATOR",
        "IDENTIFIER",
        "PUNCTUATION",
        "FLOAT",
        "STRING",
        "HEX_FLOAT",
        "CHARACTER",
        "ERROR_BLOCK_COMMENT",
    ];
    assert_eq!(c, expected);
    let rust: Vec<String> =
        named(&lexer(RUST), "fn 'a 'b' 1..2 r#\"x\"# 1.5f32 r#fn => /* n */").into_iter().map(|x| x.0).collect();
    let expected = [
        "fn",
        "LIFETIME",
        "CHARACTER",
        "INTEGER",
        "OPERATOR",
        "INTEGER",
        "RAW_STRING",
        "FLOAT",
        "IDENTIFIER",
        "OPERATOR",
    ];
    assert_eq!(rust, expected);
}

#[test]
fn lines_and_columns_count_from_one() {
    let lines = Lines::new(b"ab\n\ncd");
    let places: Vec<_> = (0..7).map(|offset| lines.place(offset)).collect();
    assert_eq!(places, [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3)]);
}
