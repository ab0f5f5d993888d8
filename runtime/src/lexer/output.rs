//! The columns that several threads write the tokens of one text to.

use super::{KindNumber, PlaceNumber, TokenColumnsOf};

/// Where all tokens go: columns with space for a token for each byte of a text.
#[derive(Clone, Copy)]
pub(super) struct Output<K, P> {
    kinds: *mut K,
    starts: *mut P,
    ends: *mut P,
}

// SAFETY: threads write to parts of the columns that do not overlap, and nobody reads them meanwhile.
unsafe impl<K: Send, P: Send> Send for Output<K, P> {}
// SAFETY: as above.
unsafe impl<K: Send, P: Send> Sync for Output<K, P> {}

impl<K: KindNumber, P: PlaceNumber> Output<K, P> {
    pub(super) fn of(tokens: &mut TokenColumnsOf<K, P>) -> Output<K, P> {
        let TokenColumnsOf { kinds, starts, ends } = tokens;
        Output { kinds: kinds.as_mut_ptr(), starts: starts.as_mut_ptr(), ends: ends.as_mut_ptr() }
    }

    /// Writes a block's tokens from the one with this number on, so that the token has the place `first` among all.
    ///
    /// # Safety
    /// No other thread writes tokens of these places, and there are no more tokens than bytes of the text.
    pub(super) unsafe fn write(&self, first: usize, tokens: &TokenColumnsOf<K, P>, from: usize) {
        let (kinds, starts, ends) = (&tokens.kinds[from..], &tokens.starts[from..], &tokens.ends[from..]);
        // SAFETY: the columns have space for a token for each byte of the text; the rest is the caller's promise.
        unsafe {
            self.kinds.add(first).copy_from_nonoverlapping(kinds.as_ptr(), kinds.len());
            self.starts.add(first).copy_from_nonoverlapping(starts.as_ptr(), starts.len());
            self.ends.add(first).copy_from_nonoverlapping(ends.as_ptr(), ends.len());
        }
    }
}
