//! Pieces of a text side by side, on one thread, without a branch that a byte decides.
//!
//! Code with a block for each state is fast where tokens are long, or come in an order that the
//! processor predicts. Words of a language do neither: each end of one is a misprediction. So three
//! pieces of the text are walked in turn, each by its look-ups ([`transducer`]), of which one waits
//! for the other while the other pieces' go on. Each byte writes a token, and the next one
//! overwrites it if it had not ended.
//!
//! A piece begins as if a token began there, and soon finds the tokens of the text. They are right
//! from the first place on where a token ends for the piece and for the text: nothing else is known
//! between tokens. Each piece goes on for some bytes behind the begin of the next, so most often
//! there is such a place. Else code lexes up to one, as it does where the transducer gave up.
//!
//! Which way is faster depends on the text and on the machine, so both are timed ([`Pace`]).

mod pace;
mod transducer;

use std::sync::{Arc, Mutex, PoisonError};

use monoscan_codegen::cpu::lexer::LexAutomaton;

use super::{KindNumber, PlaceNumber, TokenColumnsOf};
use pace::Pace;
pub(super) use transducer::is_supported;
use transducer::{Transducer, ago, ends, kind, row};

/// Pieces that are walked in turn.
pub(super) const BESIDE: usize = 3;

/// Bytes of a piece: no power of two, which would bring all pieces to the same places of a cache.
pub(super) const PIECE: usize = 4032;

/// A piece begins at most so many bytes later than it could, where a token may begin.
pub(super) const LATER: usize = 7;

/// So many groups of pieces are lexed before it is decided anew how.
pub(super) const GROUPS: usize = 5;

/// The tables and memory with which one thread walks pieces of so many bytes.
#[derive(Debug)]
pub(super) struct SideBySide<const LEN: usize> {
    automaton: Arc<LexAutomaton>,
    transducer: Transducer,
    pieces: Box<[Piece<LEN>; BESIDE]>,
    /// Whether cells were made since this was last asked.
    made: bool,
}

/// The tokens of a piece.
#[derive(Debug)]
pub(super) struct Piece<const LEN: usize> {
    /// Where it begins in the text.
    begin: usize,
    /// Of each token the byte at which it was known to have ended, and the cell that said so.
    at: [u16; LEN],
    cells: [u32; LEN],
    /// How many there are.
    count: usize,
    /// The row of the state behind the piece.
    row: u32,
}

impl<const LEN: usize> SideBySide<LEN> {
    /// From the begin of a piece to that of the next, which has the last bytes of this one, too: most often a token ends for both there.
    const STRIDE: usize = LEN - LEN / 64;

    /// Bytes of a group of pieces.
    pub(super) const GROUP: usize = (BESIDE - 1) * Self::STRIDE + LEN;

    /// Of an automaton that is supported.
    pub(super) fn new(automaton: &Arc<LexAutomaton>) -> SideBySide<LEN> {
        let transducer = Transducer::new(automaton);
        let piece = || Piece { begin: 0, at: [0; LEN], cells: [0; LEN], count: 0, row: 0 };
        let pieces = Box::new(std::array::from_fn(|_| piece()));
        SideBySide { automaton: automaton.clone(), transducer, pieces, made: false }
    }

    /// Walks the pieces from a place on; there are [`LATER`] more bytes than they have.
    pub(super) fn walk(&mut self, text: &[u8], from: usize) {
        for (place, piece) in self.pieces.iter_mut().enumerate() {
            let first = from + place * Self::STRIDE;
            let begins = |&&byte: &&u8| self.automaton.step(LexAutomaton::START, byte) != LexAutomaton::DEAD;
            let later = text[first..first + LATER].iter().take_while(|byte| !begins(byte)).count();
            piece.begin = first + later;
        }
        let texts: [&[u8; LEN]; BESIDE] = std::array::from_fn(|place| {
            text[self.pieces[place].begin..].first_chunk().expect("there are more bytes than the pieces have")
        });
        self.walk_beside(texts);
        for (place, text) in texts.into_iter().enumerate() {
            // Zeros were looked up.
            if self.pieces[place].row == 0 {
                self.learn(place, text);
                self.made = true;
            }
        }
    }

    fn walk_beside(&mut self, texts: [&[u8; LEN]; BESIDE]) {
        let (cells, class_of) = (self.transducer.cells(), &self.automaton.class_of);
        let mut rows = [self.transducer.start() as usize; BESIDE];
        let mut counts = [0; BESIDE];
        for at in 0..LEN {
            for piece in 0..BESIDE {
                let class = class_of[usize::from(texts[piece][at])];
                let place = rows[piece] + usize::from(class);
                debug_assert!(place < cells.len() && counts[piece] <= at);
                // SAFETY: cells lead to rows of cells for all classes. No piece has more tokens than bytes were read.
                unsafe {
                    let cell = *cells.get_unchecked(place);
                    *self.pieces[piece].at.get_unchecked_mut(counts[piece]) = at as u16;
                    *self.pieces[piece].cells.get_unchecked_mut(counts[piece]) = cell;
                    counts[piece] += ends(cell) as usize;
                    rows[piece] = row(cell) as usize;
                }
            }
        }
        for (piece, (count, row)) in self.pieces.iter_mut().zip(counts.into_iter().zip(rows)) {
            (piece.count, piece.row) = (count, row as u32);
        }
    }

    /// Walks a piece alone, and makes the cells that it needs.
    #[cold]
    fn learn(&mut self, place: usize, text: &[u8; LEN]) {
        let piece = &mut self.pieces[place];
        (piece.count, piece.row) = (0, self.transducer.start());
        for (at, &byte) in (0..).zip(text) {
            let cell = self.transducer.cell(piece.row, byte);
            (piece.at[piece.count], piece.cells[piece.count]) = (at, cell);
            piece.count += ends(cell) as usize;
            piece.row = row(cell);
        }
    }

    /// Whether cells were made since this was last asked.
    pub(super) fn has_made(&mut self) -> bool {
        std::mem::take(&mut self.made)
    }

    /// The pieces, from left to right.
    pub(super) fn pieces(&self) -> &[Piece<LEN>] {
        &self.pieces[..]
    }
}

impl<const LEN: usize> Piece<LEN> {
    pub(super) fn begin(&self) -> usize {
        self.begin
    }

    /// Where a token ends.
    #[inline]
    fn end(&self, token: usize) -> usize {
        self.begin + usize::from(self.at[token]) + 1 - ago(self.cells[token])
    }

    /// The number of the token behind a place, if the piece knows it as one between tokens. The search begins at a token.
    pub(super) fn token_from(&self, place: usize, search: &mut usize) -> Option<usize> {
        if place == self.begin {
            return Some(0);
        }
        *search += (*search..self.count).take_while(|&token| self.end(token) < place).count();
        (*search < self.count && self.end(*search) == place).then_some(*search + 1)
    }

    /// Writes the tokens from the one with this number on, which begins at a place, and gives where the last one ends.
    pub(super) fn put<K: KindNumber, P: PlaceNumber>(
        &self,
        first: usize,
        place: usize,
        automaton: &LexAutomaton,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> usize {
        let Some(last) = self.count.checked_sub(1).filter(|&last| first <= last) else { return place };
        let (at, cells) = (&self.at[first..=last], &self.cells[first..=last]);
        if automaton.kept.iter().all(|&kept| kept) {
            let written = tokens.len();
            tokens.kinds.extend(cells.iter().map(|&cell| K::of_kind(kind(cell))));
            let ends = at.iter().zip(cells).map(|(&at, &cell)| self.begin + usize::from(at) + 1 - ago(cell));
            tokens.ends.extend(ends.map(P::of_place));
            tokens.starts.push(P::of_place(place));
            tokens.starts.extend_from_slice(&tokens.ends[written..written + last - first]);
        } else {
            let mut start = place;
            for token in first..=last {
                let (kind, end) = (kind(self.cells[token]), self.end(token));
                if automaton.keeps(kind) {
                    tokens.push_found(kind, start, end);
                }
                start = end;
            }
        }
        self.end(last)
    }
}

/// Times, tables and memory that a lexer keeps for its next texts.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) pace: Pace,
    /// Those that no thread has now.
    free: Mutex<Vec<SideBySide<PIECE>>>,
}

impl Kept {
    /// None for some automata.
    pub(super) fn new(automaton: &Arc<LexAutomaton>) -> Option<Kept> {
        is_supported(automaton).then(|| Kept { pace: Pace::default(), free: Mutex::default() })
    }

    pub(super) fn take(&self, automaton: &Arc<LexAutomaton>) -> SideBySide<PIECE> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| SideBySide::new(automaton))
    }

    pub(super) fn keep(&self, beside: SideBySide<PIECE>) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(beside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte a token, and tokens that go on after a byte that is none: `a`, `b`, `bab`, `bb+c`; `d` begins none.
    fn automaton() -> Arc<LexAutomaton> {
        let mut class_of = [4; 256];
        class_of[usize::from(b'a')..=usize::from(b'd')].copy_from_slice(&[0, 1, 2, 3]);
        // Dead, start, `a`, `b`, `ba`, `bab`, `bb`, `bb+c`.
        let next = [[0; 5], [2, 3, 0, 0, 0], [0; 5], [4, 6, 0, 0, 0], [0, 5, 0, 0, 0], [0; 5], [0, 6, 7, 0, 0], [0; 5]];
        let kinds = [None, None, Some(0), Some(1), None, Some(2), None, Some(3)];
        Arc::new(LexAutomaton {
            class_of,
            classes: 5,
            next: next.concat(),
            accept: kinds.to_vec(),
            back: vec![0; 8],
            at_end: kinds.to_vec(),
            kept: vec![true; 4],
            keeps_errors: true,
            words: Vec::new(),
        })
    }

    /// The kinds and ends of the first piece's tokens, and whether it gave up.
    fn piece(text: &[u8; 80]) -> (Vec<(u16, usize)>, bool) {
        let mut beside = SideBySide::<80>::new(&automaton());
        beside.walk(&[&text[..], &[b'a'; 400]].concat(), 0);
        let piece = &beside.pieces()[0];
        ((0..piece.count).map(|token| (kind(piece.cells[token]), piece.end(token))).collect(), piece.row == 5)
    }

    #[test]
    fn bytes_behind_a_token_are_lexed_ahead() {
        let mut text = [b'a'; 80];
        text[..8].copy_from_slice(b"babbabbc");
        let (tokens, gave_up) = piece(&text);
        // `c` begins no token, and says so together with the end of `b`.
        assert_eq!((&tokens[..], gave_up), (&[(2, 3), (2, 6)][..], true));
        text[7] = b'b';
        let (tokens, gave_up) = piece(&text);
        // The second `a` ends `b` and the first `a`. They are given one after the other, and so are all behind them.
        let expected: Vec<_> =
            [(2, 3), (2, 6), (1, 7), (1, 8)].into_iter().chain((9..79).map(|end| (0, end))).collect();
        assert_eq!((tokens, gave_up), (expected, false));
    }

    #[test]
    fn a_token_that_ended_long_ago_is_left_to_code() {
        let mut text = [b'b'; 80];
        (text[0], text[79]) = (b'a', b'a');
        let (tokens, gave_up) = piece(&text);
        assert_eq!((&tokens[..], gave_up), (&[(0, 1)][..], true));
        text[60] = b'c';
        assert_eq!(piece(&text).0[1], (3, 61));
    }
}
