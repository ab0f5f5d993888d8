//! Blocks that are lexed once it is known where they begin: those whose guess was wrong, and those
//! whose thread does not get on.
//!
//! A thread that holds up the others may have lost its core. Once the others have lexed as much
//! ahead as they may, one of them lexes its block, from where it is known to begin, as tiles of a
//! scan are *rescued* (`monoscan_protocol::tiles`). Such a block is placed a piece at a time. So a
//! second thread goes on from the last piece, and the first to end a piece places it: no more than
//! a piece is lexed twice. A thread that walks a hostile text is left alone while it gets on.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::guessed::Guess;
use super::{Blocks, Placed, Worker, lock, others_go_on};
use crate::error::Error;
use crate::lexer::part::{Lexing, Part};
use crate::lexer::{KindNumber, PlaceNumber, TokenColumnsOf};

/// How often a thread that has nothing else to do looks whether a block was placed, before it lexes that block itself.
const SPINS: usize = 2000;

/// So long may a thread that walks a hostile text get no further before another lexes its block too.
const STALL: Duration = Duration::from_millis(20);

/// So many bytes of a block are placed at once.
const PIECE: usize = 16 << 10;

/// So many are if they are walked, which is far less than what a thread does in [`STALL`], even one of several on its core.
const WALKED_PIECE: usize = 1 << 10;

/// So many bytes are lexed first, and twice as many each time, before it is looked whether a wrong guess has the tokens behind them.
const FIRST_PIECE: usize = 256;

/// One try to lex and place a block, from what is known of those before it.
pub(super) struct Attempt<'a> {
    block: usize,
    /// Where its next piece begins.
    at: Part,
    /// Given back with the last piece.
    lexing: Option<Lexing<'a>>,
}

impl<'a, K: KindNumber, P: PlaceNumber> Blocks<'a, K, P> {
    /// Waits until a piece of a block is placed, for a moment; then lexes and places it, whichever thread has it.
    pub(super) fn wait_or_rescue(&self, block: usize, worker: &mut Worker<K, P>) -> Result<(), Error> {
        let reached = self.reached.load(Ordering::Relaxed);
        let gets_on = || self.turn.load(Ordering::Acquire) != block || self.reached.load(Ordering::Relaxed) != reached;
        for _ in 0..SPINS {
            if gets_on() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        // To lex what another walks would take as long again, and longer: a walk begins by reading far ahead.
        let begin = Instant::now();
        while self.walks.load(Ordering::Relaxed) && begin.elapsed() < STALL {
            std::thread::sleep(Duration::from_millis(1));
            if gets_on() {
                return Ok(());
            }
        }
        let placed = lock(&self.placed);
        if placed.blocks != block {
            return Ok(());
        }
        let (attempt, until) = (self.attempt(placed), self.until(block, self.start(block)));
        self.finish(attempt, until, None, worker)
    }

    /// Begins to lex and place what is left of the next block.
    pub(super) fn attempt(&self, mut placed: MutexGuard<'_, Placed<'a>>) -> Attempt<'a> {
        let lexing = placed.lexing.pop().unwrap_or_else(|| Lexing::new(self.lexer));
        Attempt { block: placed.blocks, at: placed.at, lexing: Some(lexing) }
    }

    /// Lexes what is left of a block, up to the tokens of a wrong guess that are right all the same, and places and writes it, a piece
    /// at a time. It stops where another thread was first to place a piece.
    pub(super) fn finish(
        &self,
        mut attempt: Attempt<'a>,
        until: usize,
        guess: Option<Guess<K, P>>,
        worker: &mut Worker<K, P>,
    ) -> Result<(), Error> {
        others_go_on();
        let mut piece = if guess.is_some() { FIRST_PIECE } else { PIECE };
        let mut lexed = worker.columns();
        while let Some(lexing) = attempt.lexing.as_mut() {
            let at = attempt.at;
            let right = guess.as_ref().and_then(|guess| Some((guess, guess.tokens_from(at)?)));
            let (behind, tokens, from) = if let Some((guess, from)) = right {
                (guess.behind, &guess.tokens, from)
            } else {
                lexed.clear();
                let most = if lexing.walks() { WALKED_PIECE } else { PIECE };
                let pause = until.min(at.from.saturating_add(piece.min(most)));
                (self.piece(lexing, at, pause, &mut lexed)?, &lexed, 0)
            };
            piece = (2 * piece).min(PIECE);
            if let Some(first) = self.place_piece(&mut attempt, behind, tokens.len() - from, until) {
                // SAFETY: this thread alone placed the piece, which has these places.
                unsafe { self.put(first, tokens, from) };
            }
        }
        [lexed].into_iter().chain(guess.map(|guess| guess.tokens)).for_each(|columns| worker.give_back(columns));
        Ok(())
    }

    /// Lexes a piece.
    fn piece(
        &self,
        lexing: &mut Lexing<'_>,
        at: Part,
        until: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<Part, Error> {
        if at.from >= until {
            return Ok(at);
        }
        tokens.reserve(until - at.from + 1)?;
        let walked = lexing.walks();
        let behind = lexing.part(self.text, true, at, until, tokens).behind;
        self.walks.store(walked || lexing.walks(), Ordering::Relaxed);
        Ok(behind)
    }

    /// Places the next piece of a block, unless another thread has, and gives the place of its first token among all. The attempt is over
    /// if another thread has, or with the block's last piece.
    fn place_piece(&self, attempt: &mut Attempt<'a>, behind: Part, tokens: usize, until: usize) -> Option<usize> {
        let mut placed = lock(&self.placed);
        let is_first = (placed.blocks, placed.at) == (attempt.block, attempt.at);
        let ends_block = behind.from >= until;
        if !is_first || ends_block {
            placed.lexing.extend(attempt.lexing.take());
        }
        let first = placed.tokens;
        if is_first {
            self.announce(&mut placed, behind, tokens, ends_block);
            attempt.at = behind;
        }
        is_first.then_some(first)
    }
}
