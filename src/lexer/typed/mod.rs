//! Lexers whose kinds of tokens are the variants of an enum.
//!
//! The rules stand at the variants. A lexer is compiled from them as from any rules; then numbers
//! of rules become variants, by a table.

mod lexer;
mod list;

pub use lexer::{KindLexer, KindStream};
pub use list::KindList;

use super::{LexerError, Rules};
use crate::lexer::rules::Reader;

/// An enum whose variants are kinds of tokens; `#[derive(TokenKind)]` implements it.
///
/// Each variant has one attribute:
///
/// | attribute | the variant is the kind of |
/// |---|---|
/// | `#[token("regex")]` | what the regex matches |
/// | `#[skip("regex")]` | the same, but left out |
/// | `#[keyword("if", "else")]` | these words |
/// | `#[incomplete(Text)]` | what is no token and begins one of the variant `Text` |
/// | `#[error]` | each maximal run of bytes that begin no token; one variant has it |
///
/// The longest match wins, then a keyword, then the earlier variant. Regexes are those of [`Rules`].
/// `#[token_kind(strict_ties)]` on the enum refuses rules of which one [shadows](crate::lexer::Shadowed) another.
///
/// An enum of at most 256 variants is one byte, and so is a kind in a [`KindList`].
///
/// ```
/// use monoscan::lexer::TokenKind;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Eq, TokenKind)]
/// enum Sum {
///     #[token("[0-9]+")]
///     Number,
///     #[token("[+-]")]
///     Sign,
///     #[token(r#""[^"]*""#)]
///     Text,
///     #[incomplete(Text)]
///     OpenText,
///     #[skip("[ ]+")]
///     Space,
///     #[error]
///     Error,
/// }
///
/// let text = b"12 + 30 - \"7";
/// let mut sum = (1, 0);
/// for (kind, text) in Sum::lexer()?.lex(text)?.texts(text) {
///     match kind {
///         Sum::Number => sum.1 += sum.0 * std::str::from_utf8(text).unwrap().parse::<i32>().unwrap(),
///         Sum::Sign => sum.0 = if text == b"+" { 1 } else { -1 },
///         Sum::OpenText => println!("the text is open"),
///         other => println!("unexpected: {other:?}"),
///     }
/// }
/// assert_eq!(sum.1, 42);
/// # Ok::<(), monoscan::lexer::LexerError>(())
/// ```
pub trait TokenKind: Copy + PartialEq + Send + Sync + 'static {
    /// The rules in order of precedence, each with its kind.
    const RULES: &'static [KindRule<Self>];

    /// The kind of bytes that begin no token.
    const ERROR: Self;

    /// Whether rules that shadow others, [but by a keyword](crate::lexer::Shadowed), or match no text are refused.
    const STRICT_TIES: bool = false;

    /// Compiles the rules.
    ///
    /// # Errors
    /// Those of [`KindLexer::new`].
    fn lexer() -> Result<KindLexer<Self>, LexerError> {
        KindLexer::new()
    }
}

/// A rule of a [`TokenKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRule<K> {
    /// The kind of its tokens.
    pub kind: K,
    /// The name of the variant, which faults speak of.
    pub variant: &'static str,
    /// The rule's name: the variant's, or a keyword.
    pub name: &'static str,
    /// Which texts are such tokens.
    pub form: RuleForm,
}

/// Which texts are tokens of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleForm {
    /// The matches of a regex.
    Token(&'static str),
    /// The same, and the tokens are left out.
    Skip(&'static str),
    /// One word.
    Keyword(&'static str),
    /// A text that is no token and begins one of an earlier rule, by its place.
    Incomplete(usize),
}

/// The rules of an enum, in the same order.
fn rules_of<K: TokenKind>() -> Result<Rules, LexerError> {
    let mut reader = Reader::default();
    if K::STRICT_TIES {
        reader.strict_ties();
    }
    for rule in K::RULES {
        reader.call_form(rule.variant, rule.name, rule.form);
    }
    Ok(reader.finish_calls()?)
}
