//! monoscan and logos on texts made to hurt: between bytes that are wrong for the rules, both find
//! the same tokens.
//!
//! Of wrong bytes they differ by design. monoscan tells what a wrong token was to be, and takes a
//! run of wrong bytes as one token. So both begin again behind each.

use logos::Logos;
use monoscan::lexer::{C, JSON, RUST, Role, Rules};
use scan_kit::Random;
use scan_kit::munch::{self, Reference};

use super::rivals::{CToken, JsonToken, RustToken};
use super::{Span, by_logos, expected, lexer, spans};

/// Texts of each rule set, unless the environment says another number: `MONOSCAN_TEXTS=60000`.
const TEXTS: usize = 400;

/// Lexes random texts of a rule set; how many tokens both found. `last` is the last kind that logos has.
fn compared<T>(rules: &str, last: T, kind: fn(T) -> u16) -> usize
where
    T: for<'a> Logos<'a, Source = [u8], Extras = ()>,
{
    let parsed = Rules::parse(rules).expect("shipped rules parse");
    // Only to make tokens: what begins one, and does not end, is made by cutting tokens off.
    let texts = parsed.iter().filter(|rule| !matches!(rule.role(), Role::Incomplete { .. }));
    let reference = Reference::new(&texts.map(|rule| (rule.pattern(), munch::Role::Token)).collect::<Vec<_>>());
    let (lexer, last, mut random) = (lexer(rules), kind(last), Random(5));
    let tokens: Vec<Vec<u8>> = (0..1000).map(|_| reference.token(&mut random, 12)).collect();
    let texts = std::env::var("MONOSCAN_TEXTS").map_or(TEXTS, |texts| texts.parse().expect("a number"));
    let (mut by_rival, mut count) = (Vec::new(), 0);
    for _ in 0..texts {
        let most = [8, 60, 400][random.below(3)];
        let text = reference.text(&mut random, &tokens, most);
        let mut rest = &text[..];
        while !rest.is_empty() {
            let ours = expected(&lexer, rest);
            let right: Vec<Span> = spans(&ours).take_while(|&(kind, ..)| kind <= last).collect();
            by_logos(rest, &mut by_rival, kind);
            let found = &by_rival[..right.len().min(by_rival.len())];
            assert_eq!(found, right, "{}", rest.escape_ascii());
            assert!(right.len() < ours.len() || by_rival.len() == right.len(), "{}", rest.escape_ascii());
            count += right.len();
            rest = &rest[ours.ends().get(right.len()).map_or(rest.len(), |&wrong| wrong as usize)..];
        }
    }
    count
}

#[test]
fn logos_finds_the_same_tokens_in_texts_made_to_hurt() {
    let json = compared(JSON, JsonToken::Null, |token| token as u16);
    let c = compared(C, CToken::Punctuation, |token| token as u16);
    let rust = compared(RUST, RustToken::Punctuation, |token| token as u16);
    println!("tokens that both found: {json} of JSON, {c} of C, {rust} of Rust");
    for tokens in [json, c, rust] {
        assert!(tokens > 2 * TEXTS, "{tokens}");
    }
}
