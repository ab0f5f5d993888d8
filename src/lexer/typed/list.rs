//! The tokens of a text, whose kinds are variants of an enum.

use monoscan_runtime::lexer::TokenColumns;

use crate::lexer::Token;

/// The tokens of a text, from left to right: a kind, a start and an end for each, in columns of their own.
///
/// As [`TokenList`](crate::lexer::TokenList), with the column of kinds as variants: one byte each, if the enum has no more than
/// 256. 10 bytes a token, and those of the kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindList<K> {
    pub(super) kinds: Vec<K>,
    pub(super) columns: TokenColumns,
}

impl<K> Default for KindList<K> {
    fn default() -> KindList<K> {
        KindList { kinds: Vec::new(), columns: TokenColumns::default() }
    }
}

impl<K: Copy> KindList<K> {
    /// No tokens.
    pub fn new() -> KindList<K> {
        KindList::default()
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The kind of each token.
    pub fn kinds(&self) -> &[K] {
        &self.kinds
    }

    /// Where each token begins, in bytes.
    pub fn starts(&self) -> &[u32] {
        self.columns.starts()
    }

    /// Where each token ends: the offset behind its last byte.
    pub fn ends(&self) -> &[u32] {
        self.columns.ends()
    }

    /// The tokens from left to right.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Token<K>> + '_ {
        let places = self.starts().iter().zip(self.ends());
        let token =
            |(&kind, (&start, &end)): (&K, (&u32, &u32))| Token { start: start as usize, end: end as usize, kind };
        self.kinds.iter().zip(places).map(token)
    }

    /// The tokens with their texts, if `text` is what was lexed.
    ///
    /// # Panics
    /// If `text` is shorter than that.
    pub fn texts<'a>(&'a self, text: &'a [u8]) -> impl ExactSizeIterator<Item = (K, &'a [u8])> + 'a {
        self.iter().map(|token| (token.kind, &text[token.start..token.end]))
    }
}
