//! Tokens as columns.

use crate::error::Error;

/// The tokens of a text, from left to right: a kind, a start and an end for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenColumns {
    pub(super) kinds: Vec<u16>,
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
}

impl TokenColumns {
    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The kind of each token; [`ERROR_KIND`](super::ERROR_KIND) for bytes that begin no token.
    pub fn kinds(&self) -> &[u16] {
        &self.kinds
    }

    /// Where each token begins, in bytes.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Where each token ends: the offset behind its last byte.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Drops the tokens and keeps the memory.
    pub fn clear(&mut self) {
        // SAFETY: no token is none that was not written.
        unsafe { self.set_len(0) };
    }

    /// Gives back the memory that no token needs.
    pub fn shrink_to_fit(&mut self) {
        self.kinds.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Appends a token.
    pub fn push(&mut self, kind: u16, start: u32, end: u32) {
        self.kinds.push(kind);
        self.starts.push(start);
        self.ends.push(end);
    }

    /// Space for so many more tokens.
    pub(super) fn reserve(&mut self, tokens: usize) -> Result<(), Error> {
        let reserved = self
            .kinds
            .try_reserve(tokens)
            .and_then(|()| self.starts.try_reserve(tokens))
            .and_then(|()| self.ends.try_reserve(tokens));
        reserved.map_err(|_| Error::OutOfMemory { bytes: tokens.saturating_mul(10) })
    }

    /// How many tokens there is space for.
    pub(super) fn space(&self) -> usize {
        self.kinds.capacity().min(self.starts.capacity()).min(self.ends.capacity()) - self.len()
    }

    /// # Safety
    /// The columns have space for so many tokens, and so many were written.
    pub(super) unsafe fn set_len(&mut self, len: usize) {
        // SAFETY: the caller says so of each column.
        unsafe {
            self.kinds.set_len(len);
            self.starts.set_len(len);
            self.ends.set_len(len);
        }
    }
}
