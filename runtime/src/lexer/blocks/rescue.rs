//! Blocks that are lexed once it is known where they begin: those whose guess was wrong, and those
//! whose thread does not get on.
//!
//! A thread that holds up the others may have lost its core. Once the others have lexed as much
//! ahead as they may, one of them lexes its block, from where it is known to begin, as tiles of a
//! scan are *rescued* (`monoscan_protocol::tiles`). The first to end places the block. A thread
//! that walks a hostile text is left alone while it gets on.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::guessed::Guess;
use super::{Blocks, Placed, Worker, lock};
use crate::error::Error;
use crate::lexer::part::{Lexing, Part};
use crate::lexer::{KindNumber, PlaceNumber, TokenColumnsOf};

/// How often a thread that has nothing else to do looks whether a block was placed, before it lexes that block itself.
const SPINS: usize = 2000;

/// So long may a thread that walks a hostile text get no further before another lexes its block too.
const STALL: Duration = Duration::from_millis(20);

/// After so many bytes of a block that another thread may have, it is looked whether that one has placed it.
const PIECE: usize = 16 << 10;

/// So many bytes are lexed first, and twice as many each time, before it is looked whether a wrong guess has the tokens behind them.
const FIRST_PIECE: usize = 256;

/// One try to lex and place a block, from what is known of those before it.
pub(super) struct Attempt<'a> {
    block: usize,
    pub(super) before: Part,
    /// The place of the block's first token among all.
    first: usize,
    lexing: Lexing<'a>,
}

impl<'a, K: KindNumber, P: PlaceNumber> Blocks<'a, K, P> {
    /// Waits until a block is placed, for a moment; then lexes and places it, whichever thread has it.
    pub(super) fn wait_or_rescue(&self, block: usize, worker: &mut Worker<K, P>) -> Result<(), Error> {
        for _ in 0..SPINS {
            if self.turn.load(Ordering::Acquire) != block {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        if self.walks_on(block) {
            return Ok(());
        }
        let placed = lock(&self.placed);
        if placed.blocks != block {
            return Ok(());
        }
        let attempt = self.attempt(placed);
        let (behind, until) = (attempt.before, self.until(block, self.start(block)));
        self.finish(attempt, behind, until, (worker.columns(), None), worker)
    }

    /// Whether the thread that has a block walks it and gets on, or has placed it. To lex it here too would take as long again, and
    /// longer: a walk begins by reading far ahead.
    fn walks_on(&self, block: usize) -> bool {
        let (walked, begin) = (self.walked.load(Ordering::Relaxed), Instant::now());
        while self.walks.load(Ordering::Relaxed) && begin.elapsed() < STALL {
            std::thread::sleep(Duration::from_millis(1));
            if self.turn.load(Ordering::Acquire) != block || self.walked.load(Ordering::Relaxed) != walked {
                return true;
            }
        }
        false
    }

    /// Begins to lex and place the next block.
    pub(super) fn attempt(&self, mut placed: MutexGuard<'_, Placed<'a>>) -> Attempt<'a> {
        // A thread that lost its core may have it. Then this one begins a new account: as many as there are threads.
        let lexing = placed.lexing.take().unwrap_or_else(|| Lexing::new(self.lexer));
        Attempt { block: placed.blocks, before: placed.at, first: placed.tokens, lexing }
    }

    /// Lexes what is left of a block, behind these tokens and up to those of a wrong guess that are right all the same, and places and
    /// writes it unless another thread has placed it.
    pub(super) fn finish(
        &self,
        mut attempt: Attempt<'a>,
        mut behind: Part,
        until: usize,
        (mut tokens, guess): (TokenColumnsOf<K, P>, Option<Guess<K, P>>),
        worker: &mut Worker<K, P>,
    ) -> Result<(), Error> {
        let block = attempt.block;
        if behind.from < until {
            tokens.reserve(until - behind.from + 1)?;
        }
        let mut piece = if guess.is_some() { FIRST_PIECE } else { PIECE };
        // The guess, and the first of its tokens that are right.
        let mut right = None;
        while behind.from < until && self.turn.load(Ordering::Acquire) == block {
            right = guess.as_ref().and_then(|guess| Some((guess, guess.tokens_from(behind)?)));
            if let Some((guess, _)) = right {
                behind = guess.behind;
                break;
            }
            let pause = until.min(behind.from.saturating_add(piece));
            behind = attempt.lexing.part(self.text, true, behind, pause, &mut tokens).behind;
            self.walked.fetch_add(1, Ordering::Relaxed);
            self.walks.store(attempt.lexing.walks(), Ordering::Relaxed);
            piece = (2 * piece).min(PIECE);
        }
        let mut placed = lock(&self.placed);
        placed.lexing.get_or_insert(attempt.lexing);
        let is_first = placed.blocks == block;
        if is_first {
            let more = right.map_or(0, |(guess, from)| guess.tokens.len() - from);
            self.announce(&mut placed, behind, tokens.len() + more);
        }
        drop(placed);
        if is_first {
            // SAFETY: this thread alone placed the block, which has these places.
            unsafe {
                self.output.write(attempt.first, &tokens, 0);
                if let Some((guess, from)) = right {
                    self.output.write(attempt.first + tokens.len(), &guess.tokens, from);
                }
            }
        }
        worker.spare.push(tokens);
        worker.spare.extend(guess.map(|guess| guess.tokens));
        Ok(())
    }
}
