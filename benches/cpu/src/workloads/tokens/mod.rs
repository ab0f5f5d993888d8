//! JSON text to its tokens: kind, start and end of each.

use std::cell::RefCell;

use logos::Logos;
use monoscan::lexer::{ENDS, Kind, Lexer, Rules, Skips, Token};
use monoscan::{Column, ColumnMut};

use super::Session;
use crate::automaton::{Automaton, Premultiplied};
use crate::race::{Field, Judge};
use crate::report::{Role, Row};
use bench_shared::{data, scans};

pub(super) fn tokens(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let lexer = Lexer::new(Rules::json()).expect("the rules of JSON are exact in one pass");
    let text = &text(session, len)[..];
    let expected = expected(&lexer, text);
    let ours = [1, 2].map(|threads| scans::labels(&lexer, threads).expect("it is a lexer"));
    let (spans, found) = (&Spans::new(&expected), &Found::new(&expected));
    let labels = &RefCell::new(vec![0; len]);
    let automaton = Automaton::new(lexer.tables().expect("one pass lexes JSON").ranks());
    let premultiplied = automaton.premultiplied();
    let lexer = &lexer;
    let mut field = field;

    field.enter((Role::Baseline, "logos", 1), spans, || by_logos(text, &mut spans.values.borrow_mut()));
    for (threads, scan) in (1..).zip(&ours) {
        field.enter((Role::Ours, "monoscan", threads), found, move || {
            let labels = &mut *labels.borrow_mut();
            scan.inclusive_into(&[Column::new(text)], &mut [ColumnMut::new(labels)]).expect("one length");
            let mut tokens = found.values.borrow_mut();
            tokens.clear();
            tokens.extend(lexer.tokens(labels, Skips::Drop));
        });
    }
    let by_table = || by_table(&premultiplied, text, (&mut labels.borrow_mut(), &mut spans.values.borrow_mut()));
    field.enter((Role::Rival, "premultiplied table", 1), spans, by_table);
    field.race(session.effort)
}

/// A text of this length: generated, or the file's own, cut or repeated, blanks behind its last whole token.
pub(super) fn text(session: &Session, len: usize) -> Vec<u8> {
    let Some(file) = &session.json else { return data::json(len) };
    let mut text: Vec<u8> = file.iter().copied().cycle().take(len).collect();
    let mut tokens = Json::lexer(&text[..]);
    let mut end = 0;
    while tokens.next().is_some() && tokens.span().end < len {
        end = tokens.span().end;
    }
    text[end..].fill(b' ');
    text
}

/// Kind, start and end; the kind is the rule's number among monoscan's.
type Span = (u8, u32, u32);

fn span(token: &Token) -> Span {
    let kind = match token.kind {
        Kind::Rule(rule) => rule as u8,
        Kind::Error => u8::MAX,
    };
    (kind, token.start as u32, token.end as u32)
}

/// The tokens by the plain automaton.
fn expected(lexer: &Lexer, text: &[u8]) -> Vec<Span> {
    let labels = lexer.tables().expect("one pass lexes JSON").label_sequentially(text);
    lexer.tokens(&labels, Skips::Drop).map(|token| span(&token)).collect()
}

/// JSON's tokens in logos, in the order of monoscan's rules.
#[derive(Logos, Clone, Copy)]
#[logos(utf8 = false, skip r"[ \t\n\r]+")]
enum Json {
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[regex(r#""((?-u:[^"\\\x00-\x1f])|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*""#)]
    String,
    #[regex(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("null")]
    Null,
}

#[inline(never)]
fn by_logos(text: &[u8], spans: &mut Vec<Span>) {
    spans.clear();
    let mut tokens = Json::lexer(text);
    while let Some(kind) = tokens.next() {
        let span = tokens.span();
        spans.push((kind.map_or(u8::MAX, |kind| kind as u8), span.start as u32, span.end as u32));
    }
}

/// The labels by a table, then a pass over them.
fn by_table(table: &Premultiplied<'_>, text: &[u8], (labels, spans): (&mut [u8], &mut Vec<Span>)) {
    table.labels(text, labels);
    spans.clear();
    let mut start = 0;
    for (label, place) in labels.iter().zip(1..) {
        if label & ENDS != 0 {
            let kind = label & !ENDS;
            if kind != SPACE {
                spans.push((kind, start, place));
            }
            start = place;
        }
    }
}

/// The place of the blanks among the rules of JSON.
const SPACE: u8 = Json::Null as u8 + 1;

/// Tokens as the rivals write them.
struct Spans<'a> {
    values: RefCell<Vec<Span>>,
    expected: &'a [Span],
}

impl Spans<'_> {
    fn new(expected: &[Span]) -> Spans<'_> {
        Spans { values: RefCell::new(Vec::with_capacity(expected.len())), expected }
    }
}

impl Judge for Spans<'_> {
    fn spoil(&self) {
        self.values.borrow_mut().clear();
    }

    fn check(&self) -> Result<(), String> {
        compare(self.values.borrow().iter().copied(), self.expected)
    }
}

/// Tokens as monoscan writes them.
struct Found<'a> {
    values: RefCell<Vec<Token>>,
    expected: &'a [Span],
}

impl Found<'_> {
    fn new(expected: &[Span]) -> Found<'_> {
        Found { values: RefCell::new(Vec::with_capacity(expected.len())), expected }
    }
}

impl Judge for Found<'_> {
    fn spoil(&self) {
        self.values.borrow_mut().clear();
    }

    fn check(&self) -> Result<(), String> {
        compare(self.values.borrow().iter().map(span), self.expected)
    }
}

fn compare(found: impl ExactSizeIterator<Item = Span>, expected: &[Span]) -> Result<(), String> {
    let count = found.len();
    match found.zip(expected).position(|(found, expected)| found != *expected) {
        Some(place) => Err(format!("token {place} differs")),
        None if count != expected.len() => Err(format!("{count} tokens instead of {}", expected.len())),
        None => Ok(()),
    }
}
