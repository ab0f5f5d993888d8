//! Tokens as columns, and the numbers that these are of.

use std::fmt::Debug;

use monoscan_codegen::cpu::lexer::Widths;

use crate::error::Error;
use crate::space::ask_for_large_pages;

/// A number in the column of kinds: `u8` or `u16`.
pub trait KindNumber: Number {
    /// The kind of bytes that begin no token: the greatest number.
    const ERROR: Self;

    /// A kind that is less than the greatest number, or [`ERROR_KIND`](super::ERROR_KIND).
    #[doc(hidden)]
    fn of_kind(kind: u16) -> Self;
}

/// A place in a text: `u32` or `u64`.
pub trait PlaceNumber: Number {
    /// The length of the longest text that it tells all places of.
    const MOST: usize;

    /// A place of such a text.
    #[doc(hidden)]
    fn of_place(place: usize) -> Self;

    /// As an index.
    fn index(self) -> usize;
}

mod number {
    /// Seals these traits, as code is made for these types alone.
    pub trait Number: Copy + Default + super::Debug + Eq + Send + Sync + 'static {}
    impl Number for u8 {}
    impl Number for u16 {}
    impl Number for u32 {}
    impl Number for u64 {}
}
use number::Number;

macro_rules! kind_number {
    ($($ty:ty)*) => {$(
        impl KindNumber for $ty {
            const ERROR: $ty = <$ty>::MAX;

            fn of_kind(kind: u16) -> $ty {
                kind as $ty
            }
        }
    )*};
}

macro_rules! place_number {
    ($($ty:ty)*) => {$(
        impl PlaceNumber for $ty {
            const MOST: usize = if size_of::<$ty>() < size_of::<usize>() { <$ty>::MAX as usize } else { isize::MAX as usize };

            fn of_place(place: usize) -> $ty {
                place as $ty
            }

            fn index(self) -> usize {
                self as usize
            }
        }
    )*};
}

kind_number!(u8 u16);
place_number!(u32 u64);

/// The columns that most texts and rules have: kinds of `u16`, places of `u32`.
pub type TokenColumns = TokenColumnsOf<u16, u32>;

/// The tokens of a text, from left to right: a kind, a start and an end for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenColumnsOf<K, P> {
    pub(super) kinds: Vec<K>,
    pub(super) starts: Vec<P>,
    pub(super) ends: Vec<P>,
}

impl<K: KindNumber, P: PlaceNumber> TokenColumnsOf<K, P> {
    /// The bytes of its numbers.
    pub(super) const WIDTHS: Widths = Widths { kind: size_of::<K>() as u8, place: size_of::<P>() as u8 };

    /// No tokens.
    pub fn new() -> TokenColumnsOf<K, P> {
        TokenColumnsOf::default()
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The kind of each token; [`KindNumber::ERROR`] for bytes that begin no token.
    pub fn kinds(&self) -> &[K] {
        &self.kinds
    }

    /// Where each token begins, in bytes.
    pub fn starts(&self) -> &[P] {
        &self.starts
    }

    /// Where each token ends: the offset behind its last byte.
    pub fn ends(&self) -> &[P] {
        &self.ends
    }

    /// The tokens with their texts, if `text` is what was lexed.
    ///
    /// # Panics
    /// If `text` is shorter than that.
    pub fn texts<'a>(&'a self, text: &'a [u8]) -> impl ExactSizeIterator<Item = (K, &'a [u8])> + 'a {
        let places = self.starts.iter().zip(&self.ends);
        self.kinds.iter().zip(places).map(|(&kind, (start, end))| (kind, &text[start.index()..end.index()]))
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

    /// Appends a token; its kind is [`KindNumber::ERROR`] for bytes that begin none.
    pub fn push(&mut self, kind: K, start: P, end: P) {
        self.kinds.push(kind);
        self.starts.push(start);
        self.ends.push(end);
    }

    /// Appends a token whose kind and places these numbers have, or whose kind is [`ERROR_KIND`](super::ERROR_KIND).
    #[doc(hidden)]
    pub fn push_found(&mut self, kind: u16, start: usize, end: usize) {
        self.push(K::of_kind(kind), P::of_place(start), P::of_place(end));
    }

    /// Space for so many more tokens.
    pub(super) fn reserve(&mut self, tokens: usize) -> Result<(), Error> {
        // Columns that grow may be moved by the system instead of copied, unless their pages differ.
        let is_new = self.is_empty() && self.space() < tokens;
        let reserved = self
            .kinds
            .try_reserve(tokens)
            .and_then(|()| self.starts.try_reserve(tokens))
            .and_then(|()| self.ends.try_reserve(tokens));
        let bytes = || tokens.saturating_mul(size_of::<K>() + 2 * size_of::<P>());
        reserved.map_err(|_| Error::OutOfMemory { bytes: bytes() })?;
        if is_new {
            ask_for_large_pages(self.kinds.spare_capacity_mut());
            ask_for_large_pages(self.starts.spare_capacity_mut());
            ask_for_large_pages(self.ends.spare_capacity_mut());
        }
        Ok(())
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
