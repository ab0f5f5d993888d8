//! A block that was lexed from a guess, and which of its tokens are right once it is known where
//! the block begins.

use crate::lexer::part::Part;
use crate::lexer::{KindNumber, PlaceNumber, TokenColumnsOf};

/// A block, lexed from a guess.
pub(super) struct Guess<K, P> {
    pub(super) from: usize,
    pub(super) until: usize,
    pub(super) behind: Part,
    pub(super) tokens: TokenColumnsOf<K, P>,
}

impl<K: KindNumber, P: PlaceNumber> Guess<K, P> {
    /// The number of the first of its tokens behind a place, if tokens end there, it knows that place, too, as one between tokens, and
    /// it has all tokens of the block from there on. It knows the places where tokens are that are not dropped.
    pub(super) fn tokens_from(&self, at: Part) -> Option<usize> {
        let TokenColumnsOf { kinds, starts, ends } = &self.tokens;
        let first = starts.partition_point(|start| start.index() < at.from);
        let ends_there = first.checked_sub(1).is_some_and(|last| ends[last].index() == at.from);
        // An error may go on from before.
        let begins_there = starts.get(first).is_some_and(|start| start.index() == at.from) && kinds[first] != K::ERROR;
        let is_whole = self.behind.from >= self.until;
        (is_whole && at.error.is_none() && (ends_there || begins_there)).then_some(first)
    }

    /// Goes on with the run of errors that is open where the block begins; errors are tokens if the lexer `keeps` them.
    pub(super) fn join_error(&mut self, error: usize, keeps: bool) {
        let Guess { from, behind, tokens, .. } = self;
        if tokens.kinds.first() == Some(&K::ERROR) && tokens.starts[0].index() == *from {
            tokens.starts[0] = P::of_place(error);
        } else if behind.error == Some(*from) || behind.from == *from {
            behind.error = Some(error);
        } else if keeps {
            tokens.kinds.insert(0, K::ERROR);
            tokens.starts.insert(0, P::of_place(error));
            tokens.ends.insert(0, P::of_place(*from));
        }
    }
}
