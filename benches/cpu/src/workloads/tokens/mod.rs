//! Text to its tokens: kind, start and end of each, stored, beside logos with the same rules.

#[cfg(test)]
mod fuzz;
mod rivals;
mod texts;

use std::cell::RefCell;

use logos::Logos;
use monoscan::lexer::{C, ENDS, JSON, Lexer, RUST, Rules, TokenColumns};

use super::Session;
use crate::automaton::{Automaton, Premultiplied};
use crate::race::{Field, Judge};
use crate::report::{Role, Row};
use rivals::{CToken, JsonToken, RustToken};
pub(crate) use texts::json as json_text;

/// Bytes that a thread takes at a time.
const BLOCK: usize = 256 << 10;

pub(super) fn json(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    of_json(session, field, &json_text(session.json.as_deref(), len))
}

/// The same text without blanks between tokens.
pub(super) fn minified(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    of_json(session, field, &texts::minified(session.json.as_deref(), len))
}

pub(super) fn numbers(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    of_json(session, field, &bench_shared::data::json_of_numbers(len))
}

fn of_json(session: &Session, field: Field<'_>, text: &[u8]) -> Vec<Row> {
    let lexer = &lexer(JSON);
    let automaton = Automaton::new(lexer.tables().ok().and_then(|tables| tables.ranks()).expect("one pass lexes JSON"));
    let premultiplied = automaton.premultiplied();
    let labels = &RefCell::new(vec![0; text.len()]);
    let (spans, found) = (&Spans::new(lexer, text), &Found::new(lexer, text));
    let mut field = field;
    enter::<JsonToken>(&mut field, (text, lexer), (spans, found), |token| token as u16);
    let by_table = || by_table(&premultiplied, text, (&mut labels.borrow_mut(), &mut spans.values.borrow_mut()));
    field.enter((Role::Rival, "premultiplied table", 1), spans, by_table);
    field.race(session.effort)
}

pub(super) fn c(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (text, lexer) = (&texts::c(len)[..], &lexer(C));
    let (spans, found) = (&Spans::new(lexer, text), &Found::new(lexer, text));
    let mut field = field;
    enter::<CToken>(&mut field, (text, lexer), (spans, found), |token| token as u16);
    field.race(session.effort)
}

pub(super) fn rust(session: &Session, field: Field<'_>, len: usize) -> Vec<Row> {
    let (text, lexer) = (&texts::rust(len)[..], &lexer(RUST));
    let (spans, found) = (&Spans::new(lexer, text), &Found::new(lexer, text));
    let mut field = field;
    enter::<RustToken>(&mut field, (text, lexer), (spans, found), |token| token as u16);
    field.race(session.effort)
}

fn lexer(rules: &str) -> Lexer {
    Lexer::new(Rules::parse(rules).expect("shipped rules parse")).expect("any rules can be lexed")
}

/// logos, and monoscan on one thread and on two.
fn enter<'a, T: Logos<'a, Source = [u8], Extras = ()> + 'a>(
    field: &mut Field<'a>,
    (text, lexer): (&'a [u8], &'a Lexer),
    (spans, found): (&'a Spans, &'a Found),
    kind: fn(T) -> u16,
) {
    field.enter((Role::Baseline, "logos", 1), spans, move || by_logos(text, &mut spans.values.borrow_mut(), kind));
    for threads in [1, 2] {
        field.enter((Role::Ours, "monoscan", threads), found, move || {
            let mut tokens = found.values.borrow_mut();
            lexer.on_cpu().lex_in_blocks(text, threads, BLOCK, &mut tokens).expect("there is memory for the tokens");
        });
    }
}

#[inline(never)]
fn by_logos<'a, T: Logos<'a, Source = [u8], Extras = ()>>(text: &'a [u8], spans: &mut Vec<Span>, kind: fn(T) -> u16) {
    spans.clear();
    let mut tokens = T::lexer(text);
    while let Some(token) = tokens.next() {
        let span = tokens.span();
        spans.push((token.map_or(u16::MAX, kind), span.start as u32, span.end as u32));
    }
}

/// The labels by a table, then a pass over them.
fn by_table(table: &Premultiplied<'_>, text: &[u8], (labels, spans): (&mut [u8], &mut Vec<Span>)) {
    table.labels(text, labels);
    spans.clear();
    let mut start = 0;
    for (label, place) in labels.iter().zip(1..) {
        if label & ENDS != 0 {
            let kind = u16::from(label & !ENDS);
            if kind != SPACE {
                spans.push((kind, start, place));
            }
            start = place;
        }
    }
}

/// The place of the blanks among the rules of JSON.
const SPACE: u16 = JsonToken::Null as u16 + 1;

/// Kind, start and end; the kind is the rule's number among monoscan's.
type Span = (u16, u32, u32);

/// Tokens as the rivals write them.
struct Spans {
    values: RefCell<Vec<Span>>,
    expected: TokenColumns,
}

impl Spans {
    fn new(lexer: &Lexer, text: &[u8]) -> Spans {
        let expected = expected(lexer, text);
        Spans { values: RefCell::new(Vec::with_capacity(expected.len())), expected }
    }
}

impl Judge for Spans {
    fn spoil(&self) {
        self.values.borrow_mut().clear();
    }

    fn check(&self) -> Result<(), String> {
        compare(self.values.borrow().iter().copied(), &self.expected)
    }
}

/// Tokens as monoscan writes them.
struct Found {
    values: RefCell<TokenColumns>,
    expected: TokenColumns,
}

impl Found {
    fn new(lexer: &Lexer, text: &[u8]) -> Found {
        Found { values: RefCell::default(), expected: expected(lexer, text) }
    }
}

impl Judge for Found {
    fn spoil(&self) {
        self.values.borrow_mut().clear();
    }

    fn check(&self) -> Result<(), String> {
        compare(spans(&self.values.borrow()), &self.expected)
    }
}

/// The tokens by the plain loop.
fn expected(lexer: &Lexer, text: &[u8]) -> TokenColumns {
    lexer.lex_sequentially(text).expect("there is memory for the tokens").into_columns()
}

fn spans(columns: &TokenColumns) -> impl ExactSizeIterator<Item = Span> {
    let places = columns.starts().iter().zip(columns.ends());
    columns.kinds().iter().zip(places).map(|(&kind, (&start, &end))| (kind, start, end))
}

fn compare(found: impl ExactSizeIterator<Item = Span>, expected: &TokenColumns) -> Result<(), String> {
    let count = found.len();
    match found.zip(spans(expected)).find(|(found, expected)| found != expected) {
        Some((found, expected)) => Err(format!("token {found:?} instead of {expected:?}")),
        None if count != expected.len() => Err(format!("{count} tokens instead of {}", expected.len())),
        None => Ok(()),
    }
}
