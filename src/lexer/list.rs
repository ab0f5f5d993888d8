//! The tokens of a text as columns.

use monoscan_runtime::lexer::{ERROR_KIND, TokenColumns};

use super::gather::{Kind, Token};

/// The tokens of a text, from left to right: a kind, a start and an end for each, in columns of their own. Skipped tokens are
/// left out, and each maximal run of bytes that no rule matches is one token.
///
/// 10 bytes a token. [`Lexer::lex_into`](super::Lexer::lex_into) uses the memory of an old list again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenList {
    pub(super) columns: TokenColumns,
}

impl TokenList {
    /// No tokens.
    pub fn new() -> TokenList {
        TokenList::default()
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// For each token the place of its rule among the [`Rules`](super::Rules), or [`ERROR_KIND`](super::ERROR_KIND).
    ///
    /// ```
    /// use monoscan::lexer::{ERROR_KIND, Lexer, Rules};
    ///
    /// let lexer = Lexer::new(Rules::parse("NUMBER [0-9]+\nDOT [.]")?)?;
    /// assert_eq!(lexer.lex(b"12.x")?.kinds(), [0, 1, ERROR_KIND]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kinds(&self) -> &[u16] {
        self.columns.kinds()
    }

    /// Where each token begins, in bytes.
    pub fn starts(&self) -> &[u32] {
        self.columns.starts()
    }

    /// Where each token ends: the offset behind its last byte.
    pub fn ends(&self) -> &[u32] {
        self.columns.ends()
    }

    /// The columns.
    pub fn into_columns(self) -> TokenColumns {
        self.columns
    }

    /// The tokens from left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Token> + '_ {
        let places = self.starts().iter().zip(self.ends());
        self.kinds().iter().zip(places).map(|(&kind, (&start, &end))| Token {
            start: start as usize,
            end: end as usize,
            kind: kind_of(kind),
        })
    }

    /// The tokens with their texts, if `text` is what was lexed.
    ///
    /// # Panics
    /// If `text` is shorter than that.
    pub fn texts<'a>(&'a self, text: &'a [u8]) -> impl ExactSizeIterator<Item = (Kind, &'a [u8])> + 'a {
        self.iter().map(|token| (token.kind, &text[token.start..token.end]))
    }
}

/// A kind in a column.
pub(super) fn kind_of(kind: u16) -> Kind {
    if kind == ERROR_KIND { Kind::Error } else { Kind::Rule(kind) }
}
