//! Kinds as variants of an enum, against the same rules as a text.

use super::super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
enum Small {
    #[keyword("if", "else")]
    Branch,
    #[incomplete(Comment)]
    OpenComment,
    #[token("[a-z]+")]
    Name,
    #[token(r#""[^"]*""#)]
    Text,
    #[incomplete(Text)]
    OpenText,
    #[skip("[ \n]+")]
    Space,
    #[skip(r"/\*([^*]|\*+[^*/])*\*+/")]
    Comment,
    #[error]
    Error,
    #[keyword("return")]
    Return,
}

const TEXT: &[u8] = b"if x else \"a b\"?? return /* c */ returns /* open \" /";

fn by_text() -> Lexer {
    let rules = "keyword if else\nName [a-z]+\nText \"[^\"]*\"\nskip Space [ \\n]+\nskip Comment /\\*([^*]|\\*+[^*/])*\\*+/\n\
                 keyword return\nincomplete Open Text Comment";
    Lexer::new(Rules::parse(rules).expect("they parse")).expect("any rules")
}

fn variant(name: &str) -> Small {
    match name {
        "if" | "else" => Small::Branch,
        "return" => Small::Return,
        "Name" => Small::Name,
        "Text" => Small::Text,
        "OpenText" => Small::OpenText,
        "OpenComment" => Small::OpenComment,
        "Space" => Small::Space,
        "Comment" => Small::Comment,
        "ERROR" => Small::Error,
        other => panic!("{other}"),
    }
}

#[test]
fn variants_are_the_kinds_that_the_same_rules_give_as_a_text() {
    let (typed, text) = (Small::lexer().expect("any rules"), by_text());
    assert_eq!(size_of_val(typed.lex(TEXT).expect("it is short").kinds()), 8, "a kind is a byte");
    for end in 0..=TEXT.len() {
        for (typed, text) in [(&typed.with_skips(), &text.with_skips()), (&typed, &text)] {
            let list = text.lex(&TEXT[..end]).expect("it is short");
            let expected: Vec<_> = list.iter().map(|t| (t.start, t.end, variant(text.rules().name(t.kind)))).collect();
            let found = typed.lex(&TEXT[..end]).expect("it is short");
            assert_eq!(found.iter().map(|t| (t.start, t.end, t.kind)).collect::<Vec<_>>(), expected, "up to {end}");
        }
    }
}

#[test]
fn kinds_that_are_asked_for_come_alone_and_streams_give_the_same() {
    let lexer = Small::lexer().expect("any rules");
    let some = [Small::Branch, Small::Space, Small::Error];
    let mut list = lexer.with_skips().lex(TEXT).expect("it is short");
    let expected: Vec<Token<Small>> = list.iter().filter(|token| some.contains(&token.kind)).collect();
    let only = lexer.only(&some);
    only.lex_into(TEXT, &mut list).expect("it is short");
    assert_eq!(list.iter().collect::<Vec<_>>(), expected);
    assert_eq!(list.texts(TEXT).filter(|(kind, _)| *kind == Small::Error).count(), 1);
    let mut stream = only.stream().expect("it is on the CPU");
    let mut streamed: Vec<Streamed<Small>> = Vec::new();
    for chunk in TEXT.chunks(3) {
        streamed.extend(stream.push(chunk).expect("it is short"));
    }
    streamed.extend(stream.finish().expect("it is short"));
    let places = streamed.iter().map(|t| Token { start: t.start as usize, end: t.end as usize, kind: t.kind });
    assert!(places.eq(expected));
    assert_eq!(lexer.kind(Kind::Rule(0)), Small::Branch);
    assert_eq!(lexer.lexer().rules().name(Kind::Rule(1)), "else");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
enum SameNames {
    #[keyword("Name", "ERROR", "Open")]
    Word,
    #[token("[A-Za-z]+")]
    Name,
    #[token("<[a-z]*>")]
    Text,
    #[incomplete(Text)]
    Open,
    #[error]
    Error,
}

#[test]
fn keywords_may_be_named_as_variants_are() {
    let lexer = SameNames::lexer().expect("the keywords differ");
    let tokens = lexer.lex(b"Name<x>ERROR<Open?name").expect("it is short");
    use SameNames::{Error, Name, Open, Text, Word};
    assert_eq!(tokens.kinds(), [Word, Text, Word, Open, Word, Error, Name]);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
#[token_kind(strict_ties)]
enum Ties {
    #[token("[a-z]+")]
    Name,
    #[keyword("if")]
    If,
    #[token("let|[0-9]")]
    Let,
    #[error]
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
#[token_kind(crate = crate)]
#[token_kind(strict_ties)]
enum NoTies {
    #[token("[a-z]+")]
    Name,
    #[keyword("if")]
    If,
    #[error]
    Error,
}

#[test]
fn an_enum_may_refuse_rules_that_shadow_others() {
    let error = Ties::lexer().expect_err("`let` is a name");
    assert_eq!(error.to_string(), "rules shadow others or never win:\n  rule Let matches \"let\" too, which is Name");
    let tokens = NoTies::lexer().expect("a keyword is no mistake").lex(b"if x?").expect("it is short");
    assert_eq!(tokens.kinds()[0], NoTies::If);
    assert_eq!((Ties::STRICT_TIES, NoTies::STRICT_TIES, Small::STRICT_TIES), (true, true, false));
}

/// Rules that parse as Rust, and are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
enum Wrong {
    #[token("[a-z")]
    Open,
    #[token("a*")]
    Empty,
    #[token("a+?b")]
    Lazy,
    #[keyword("same", "other")]
    Once,
    #[keyword("same")]
    Twice,
    #[incomplete(Open)]
    Begun,
    #[error]
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
enum OneByte {
    #[token("[a-z]")]
    Letter,
    #[incomplete(Letter)]
    Begun,
    #[error]
    Error,
}

#[test]
fn all_faults_of_an_enum_name_the_variant() {
    let Err(LexerError::Rules(error)) = Wrong::lexer() else { panic!("the rules are wrong") };
    let faults: Vec<_> = error.faults().iter().map(|fault| (&fault.place, &fault.fault)).collect();
    let place = |rule, name, column| Place::Variant { rule, name, column };
    assert!(matches!(faults[0], (p, Fault::Regex { .. }) if *p == place(1, "Open", 1)), "{error}");
    assert!(matches!(faults[1], (p, Fault::Empty { .. }) if *p == place(2, "Empty", 1)), "{error}");
    assert!(matches!(faults[2], (p, Fault::Lazy { .. }) if *p == place(3, "Lazy", 2)), "{error}");
    assert!(matches!(faults[3], (p, Fault::Duplicate { .. }) if *p == place(6, "Twice", 1)), "{error}");
    assert_eq!(faults.len(), 4, "{error}");
    let told = error.to_string();
    assert!(told.starts_with("variant Open, column 1: rule Open: regex parse error"), "{told}");
    let twice = "variant Twice, column 1: variant Once has a rule same already: a keyword is written once, and is no rule's name";
    assert!(told.ends_with(twice), "{told}");
    let Err(LexerError::Rules(error)) = OneByte::lexer() else { panic!("nothing begins a letter") };
    assert_eq!(error.faults()[0].fault, Fault::NeverIncomplete { name: "Letter".to_owned() });
}
