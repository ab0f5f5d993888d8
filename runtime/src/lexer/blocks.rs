//! A text on several threads: blocks that begin where a token seems to begin, lexed apart, verified
//! and joined in order.
//!
//! A place between tokens says all there is to know of the text before it. So a guess is right if
//! the block before arrives at it, and a block that began at a right guess has the right tokens.
//! After a wrong guess the block is lexed again, from where the block before did arrive.
//!
//! A block looks ahead [`AHEAD`] bytes at most; a token that is not decided there is left to the
//! join, which does all looking far ahead in one account.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use monoscan_codegen::cpu::lexer::ERROR;

use super::guess::{LONGEST, token_start};
use super::part::{Lexed, Lexing, Part};
use super::{CpuLexer, TokenColumns};
use crate::error::Error;

/// How far behind a block's end it may be looked.
const AHEAD: usize = 64 << 10;

/// How often a thread looks whether it is its turn before it sleeps.
const SPINS: usize = 2000;

/// A text being lexed by several threads.
pub(super) struct Blocks<'a> {
    lexer: &'a CpuLexer,
    text: &'a [u8],
    block: usize,
    count: usize,
    /// The next block that nobody works on.
    next: AtomicUsize,
    /// The block whose turn to be joined it is, or [`STOPPED`]; a copy of what `joined` says.
    turn: AtomicUsize,
    joined: Mutex<Joined<'a>>,
    changed: Condvar,
}

/// The state behind all blocks before one.
struct Joined<'a> {
    /// That block, or [`STOPPED`].
    block: usize,
    at: Part,
    tokens: usize,
    /// How many blocks were lexed again, as they began at a wrong guess.
    again: usize,
    /// Lexes what blocks could not; taken by the thread whose turn it is.
    lexing: Option<Lexing<'a>>,
    failure: Option<Error>,
}

/// No block follows: something failed.
const STOPPED: usize = usize::MAX;

/// Where all tokens go.
#[derive(Clone, Copy)]
struct Output {
    kinds: *mut u16,
    starts: *mut u32,
    ends: *mut u32,
}

// SAFETY: threads write to parts of the columns that do not overlap, and nobody reads them meanwhile.
unsafe impl Send for Output {}
// SAFETY: as above.
unsafe impl Sync for Output {}

impl<'a> Blocks<'a> {
    pub(super) fn new(lexer: &'a CpuLexer, text: &'a [u8], block: usize) -> Blocks<'a> {
        let at = Part { from: 0, error: None };
        let joined = Joined { block: 0, at, tokens: 0, again: 0, lexing: Some(Lexing::new(lexer)), failure: None };
        Blocks {
            lexer,
            text,
            block,
            count: text.len().div_ceil(block),
            next: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
            joined: Mutex::new(joined),
            changed: Condvar::new(),
        }
    }

    /// Lexes the text into empty columns; gives how many blocks were lexed again.
    pub(super) fn run(self, threads: usize, tokens: &mut TokenColumns) -> Result<usize, Error> {
        // Address space for a token a byte; what no token needs is never touched.
        tokens.reserve(self.text.len() + 1)?;
        let output = Output {
            kinds: tokens.kinds.as_mut_ptr(),
            starts: tokens.starts.as_mut_ptr(),
            ends: tokens.ends.as_mut_ptr(),
        };
        rayon::in_place_scope(|scope| {
            for _ in 1..threads.min(self.count) {
                scope.spawn(|_| self.work(output));
            }
            self.work(output);
        });
        let Joined { at, tokens: count, again, lexing, failure, .. } =
            self.joined.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failure {
            return Err(error);
        }
        // SAFETY: all blocks were joined, so these many tokens were written, each of at least one byte.
        unsafe { tokens.set_len(count) };
        lexing.expect("nobody has it any more").finish(at, tokens)?;
        Ok(again)
    }

    /// Takes blocks until there are no more.
    fn work(&self, output: Output) {
        let guard = StopIfPanicking(self);
        let mut local = TokenColumns::default();
        // Space for the longest block, once: columns that grow are copied, and what no token needed is touched then.
        if let Err(error) = local.reserve(self.block.saturating_add(LONGEST).min(self.text.len()) + 2) {
            return self.stop(Some(error));
        }
        loop {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            if block >= self.count {
                break;
            }
            let place = match self.lex(block, &mut local) {
                Ok(Some(place)) => place,
                Ok(None) => break,
                Err(error) => {
                    self.stop(Some(error));
                    break;
                }
            };
            // SAFETY: the columns have space for a token for each byte of the text, and a place is given to one block only.
            unsafe {
                output.kinds.add(place).copy_from_nonoverlapping(local.kinds.as_ptr(), local.len());
                output.starts.add(place).copy_from_nonoverlapping(local.starts.as_ptr(), local.len());
                output.ends.add(place).copy_from_nonoverlapping(local.ends.as_ptr(), local.len());
            }
        }
        drop(guard);
    }

    /// Lexes a block and joins it; gives the place of its first token among all, or none if another block failed.
    fn lex(&self, block: usize, local: &mut TokenColumns) -> Result<Option<usize>, Error> {
        let start = |block: usize| token_start(&self.lexer.automaton, self.text, block.saturating_mul(self.block));
        let from = start(block);
        let until = if block + 1 == self.count { self.text.len() } else { start(block + 1).max(from) };
        let seen = &self.text[..self.text.len().min(until.saturating_add(AHEAD))];
        local.clear();
        local.reserve(until - from + 2)?;
        let at = Part { from, error: None };
        let guessed = Lexing::new(self.lexer).part(seen, seen.len() == self.text.len(), at, until, local);

        let Some((before, mut lexing, place)) = self.wait(block) else { return Ok(None) };
        let behind = self.join(&mut lexing, before, (from, until), guessed, local)?;
        let mut joined = self.lock();
        if joined.block == block {
            joined.at = behind;
            joined.tokens += local.len();
            joined.again += usize::from(before.from != from);
            joined.lexing = Some(lexing);
            self.announce(&mut joined, block + 1);
        }
        Ok(Some(place))
    }

    /// Makes the tokens of a block right, given what is known of those before; gives the place behind them.
    fn join(
        &self,
        lexing: &mut Lexing<'a>,
        before: Part,
        (from, until): (usize, usize),
        guessed: Lexed,
        local: &mut TokenColumns,
    ) -> Result<Part, Error> {
        let mut behind = before;
        if before.from == from {
            behind = guessed.behind;
            if let Some(error) = before.error {
                self.join_error(error, from, &mut behind, local);
            }
        } else {
            local.clear();
        }
        if behind.from < until {
            local.reserve(until - behind.from + 1)?;
            behind = lexing.part(self.text, true, behind, until, local).behind;
        }
        Ok(behind)
    }

    /// Goes on with the run of errors that is open where a block begins.
    fn join_error(&self, error: usize, from: usize, behind: &mut Part, local: &mut TokenColumns) {
        if local.kinds.first() == Some(&ERROR) && local.starts[0] as usize == from {
            local.starts[0] = error as u32;
        } else if behind.error == Some(from) || behind.from == from {
            behind.error = Some(error);
        } else if self.lexer.automaton.keeps_errors {
            local.kinds.insert(0, ERROR);
            local.starts.insert(0, error as u32);
            local.ends.insert(0, from as u32);
        }
    }

    /// Waits until it is a block's turn; gives what is known of all before it, or none if one of these failed.
    fn wait(&self, block: usize) -> Option<(Part, Lexing<'a>, usize)> {
        for _ in 0..SPINS {
            if matches!(self.turn.load(Ordering::Acquire), STOPPED) || self.turn.load(Ordering::Acquire) == block {
                break;
            }
            std::hint::spin_loop();
        }
        let waiting = |joined: &mut Joined<'_>| joined.block != block && joined.block != STOPPED;
        let joined = self.changed.wait_while(self.lock(), waiting);
        let mut joined = joined.unwrap_or_else(PoisonError::into_inner);
        if joined.block == STOPPED {
            return None;
        }
        Some((joined.at, joined.lexing.take()?, joined.tokens))
    }

    fn announce(&self, joined: &mut Joined<'_>, block: usize) {
        joined.block = block;
        self.turn.store(block, Ordering::Release);
        self.changed.notify_all();
    }

    fn stop(&self, failure: Option<Error>) {
        let mut joined = self.lock();
        joined.failure = failure;
        self.announce(&mut joined, STOPPED);
    }

    fn lock(&self) -> MutexGuard<'_, Joined<'a>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets nobody wait for a thread that panics.
struct StopIfPanicking<'a, 'b>(&'a Blocks<'b>);

impl Drop for StopIfPanicking<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(None);
        }
    }
}
