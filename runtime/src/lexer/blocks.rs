//! A text on several threads: blocks that begin where a token seems to begin, lexed apart, verified
//! and placed in order, and written.
//!
//! A place between tokens says all there is to know of the text before it. So a guess is right if
//! the block before arrives at it, and a block that began at a right guess has the right tokens.
//! After a wrong guess the block is lexed again, from where the block before did arrive. As soon as
//! that reaches a place where a guessed token begins or ends, the guessed tokens behind it are
//! right.
//!
//! A block looks ahead [`AHEAD`] bytes at most; a token that is not decided there is left to the
//! thread that places the block. All looking far ahead is in few accounts.
//!
//! No thread waits for its block's turn. It lexes the next one. The first thread that comes by when
//! the blocks before are placed places this one too, which is a few numbers. Then its thread, or in
//! the end the caller, writes the tokens. A block whose guess was wrong, or whose thread holds up
//! the others, is lexed by another (`rescue`).

mod guessed;
mod rescue;

use std::collections::VecDeque;
use std::mem::take;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use monoscan_protocol::crew::{self, HelperTask, Step};
use monoscan_protocol::tickets::{Tickets, TileIndex};

use super::guess::{LONGEST, token_start};
use super::output::Output;
use super::part::{Lexing, Part};
use super::{CpuLexer, KindNumber, PlaceNumber, TokenColumnsOf};
use crate::error::Error;
use guessed::Guess;

/// How far behind a block's end it may be looked, but no further than a block is long.
const AHEAD: usize = 64 << 10;

/// So many blocks of a thread may wait to be placed. Each holds the memory of its tokens.
const WAITING: usize = 4;

/// A text being lexed by several threads.
pub(super) struct Blocks<'a, K, P> {
    lexer: &'a CpuLexer,
    text: &'a [u8],
    block: usize,
    count: usize,
    output: Output<K, P>,
    /// How many tokens were written. Relaxed: it is read when all threads have left.
    written: AtomicUsize,
    /// Where each block seems to begin, or [`UNKNOWN`].
    starts: Box<[AtomicUsize]>,
    /// The blocks that nobody works on.
    tickets: Tickets,
    /// The tokens of each block, as far as they are known.
    blocks: Box<[Mutex<Block<K, P>>]>,
    /// The first block that is not placed, or [`STOPPED`]; a copy of what `placed` says.
    turn: AtomicUsize,
    /// How far all tokens are placed, and whether the last piece was walked, as too much had been read in vain.
    reached: AtomicUsize,
    walks: AtomicBool,
    placed: Mutex<Placed<'a>>,
}

/// The tokens of a block, as far as they are known.
#[derive(Default)]
enum Block<K, P> {
    /// Nothing, or they were written.
    #[default]
    Nothing,
    /// They are these if the guess is right. Becomes `Placed` while [`Blocks::placed`] is locked.
    Guessed(Guess<K, P>),
    /// They are these, and the first of them has this place among all.
    Placed(usize, TokenColumnsOf<K, P>),
}

impl<K, P> Block<K, P> {
    /// The guess, if there is one. Tokens that are placed stay.
    fn take_guess(&mut self) -> Option<Guess<K, P>> {
        match take(self) {
            Block::Guessed(guess) => Some(guess),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// The state behind all that is placed.
struct Placed<'a> {
    /// How many blocks that is, or [`STOPPED`].
    blocks: usize,
    /// Where it ends: where the next block begins, or behind a piece of it.
    at: Part,
    tokens: usize,
    /// How many blocks were lexed again, as they began at a wrong guess, if only in part.
    again: usize,
    /// Lexes what blocks could not. A thread that lost its core may have the only one: then the next makes another account of what was
    /// read in vain, so there are as many as threads at most.
    lexing: Vec<Lexing<'a>>,
    failure: Option<Error>,
}

/// Nobody has looked yet where a block begins.
const UNKNOWN: usize = usize::MAX;

/// No block follows: something failed.
const STOPPED: usize = usize::MAX;

/// How a text was lexed.
#[derive(Debug)]
pub(super) struct Done {
    /// How many blocks were lexed again, as they began at a wrong guess.
    pub(super) again: usize,
    /// How long the caller waited in the end for helpers that were in the middle of a block.
    pub(super) waited: Duration,
}

/// The state of a thread from step to step.
struct Worker<K, P> {
    /// Whether it is the caller, which lexes and writes what helpers leave.
    is_caller: bool,
    /// The blocks that it lexed and has not written, in order.
    waiting: VecDeque<usize>,
    /// Columns for its next blocks.
    spare: Vec<TokenColumnsOf<K, P>>,
}

/// Lexes a text into empty columns, on this thread and as many others as `spawn` finds for the helpers.
pub(super) fn lex<K: KindNumber, P: PlaceNumber>(
    (lexer, text): (&CpuLexer, &[u8]),
    block: usize,
    tokens: &mut TokenColumnsOf<K, P>,
    helpers: usize,
    spawn: impl FnMut(HelperTask),
) -> Result<Done, Error> {
    tokens.reserve(text.len() + 1)?;
    let count = text.len().div_ceil(block);
    let at = Part { from: 0, error: None };
    let blocks = Blocks {
        lexer,
        text,
        block,
        count,
        output: Output::of(tokens),
        written: AtomicUsize::new(0),
        starts: (0..count).map(|_| AtomicUsize::new(UNKNOWN)).collect(),
        tickets: Tickets::new(count),
        blocks: (0..count).map(|_| Mutex::new(Block::Nothing)).collect(),
        turn: AtomicUsize::new(0),
        reached: AtomicUsize::new(0),
        walks: AtomicBool::new(false),
        placed: Mutex::new(Placed { blocks: 0, at, tokens: 0, again: 0, lexing: Vec::new(), failure: None }),
    };
    let helpers = helpers.min(count.saturating_sub(1));
    let waited = crew::with_helpers(spawn, helpers, &Worker::new, &|worker| blocks.step(worker));
    let Placed { at, tokens: count, again, failure, .. } =
        blocks.placed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = failure {
        return Err(error);
    }
    assert_eq!(blocks.written.into_inner(), count, "each block's tokens are written once");
    // SAFETY: so many tokens were written, no two to the same place, and each of at least one byte.
    unsafe { tokens.set_len(count) };
    Lexing::new(lexer).finish(at, tokens)?;
    Ok(Done { again, waited })
}

impl<K: KindNumber, P: PlaceNumber> Worker<K, P> {
    fn new(seat: usize) -> Worker<K, P> {
        Worker { is_caller: seat == 0, waiting: VecDeque::new(), spare: Vec::new() }
    }

    /// Keeps columns for its next blocks: as many as it can use, since those of other threads come here too.
    fn give_back(&mut self, columns: TokenColumnsOf<K, P>) {
        if self.spare.len() <= WAITING {
            self.spare.push(columns);
        }
    }

    /// Columns without tokens.
    fn columns(&mut self) -> TokenColumnsOf<K, P> {
        let mut columns = self.spare.pop().unwrap_or_default();
        columns.clear();
        columns
    }
}

impl<'a, K: KindNumber, P: PlaceNumber> Blocks<'a, K, P> {
    fn step(&self, worker: &mut Worker<K, P>) -> Step {
        self.try_step(worker).unwrap_or_else(|error| {
            let mut placed = lock(&self.placed);
            placed.failure = Some(error);
            placed.blocks = STOPPED;
            self.turn.store(STOPPED, Ordering::Release);
            Step::Done
        })
    }

    fn try_step(&self, worker: &mut Worker<K, P>) -> Result<Step, Error> {
        self.place(worker)?;
        let turn = self.turn.load(Ordering::Acquire);
        if turn == STOPPED {
            return Ok(Step::Done);
        }
        if let Some(block) = worker.waiting.pop_front_if(|block| *block < turn) {
            self.write(block, worker);
            return Ok(Step::More);
        }
        if turn == self.count {
            if worker.is_caller {
                (0..self.count).for_each(|block| self.write(block, worker));
            }
            return Ok(Step::Done);
        }
        if worker.waiting.len() < WAITING {
            if let Some(block) = self.tickets.take().map(TileIndex::get) {
                // It may be placed by now.
                if block >= turn {
                    self.guess(block, worker)?;
                }
                return Ok(Step::More);
            }
            if worker.waiting.is_empty() && !worker.is_caller {
                return Ok(Step::Done);
            }
        }
        self.wait_or_rescue(turn, worker)?;
        Ok(Step::More)
    }

    /// Where a block seems to begin. The block before looks for it first, as it ends there.
    fn start(&self, block: usize) -> usize {
        let known = &self.starts[block];
        match known.load(Ordering::Relaxed) {
            UNKNOWN => {
                let at = block.saturating_mul(self.block);
                let start = token_start(&self.lexer.automaton, self.text, at, self.longest());
                known.store(start, Ordering::Relaxed);
                start
            }
            start => start,
        }
    }

    /// How far behind the place where a block would begin a token is sought.
    fn longest(&self) -> usize {
        LONGEST.min(self.block)
    }

    /// Where the next block seems to begin.
    fn until(&self, block: usize, from: usize) -> usize {
        if block + 1 == self.count { self.text.len() } else { self.start(block + 1).max(from) }
    }

    /// Lexes a block from where it seems to begin.
    fn guess(&self, block: usize, worker: &mut Worker<K, P>) -> Result<(), Error> {
        let from = self.start(block);
        let until = self.until(block, from);
        let seen = &self.text[..self.text.len().min(until.saturating_add(AHEAD.min(self.block)))];
        let mut tokens = worker.columns();
        // Space for the longest block, once: columns that grow are copied, and what no token needed is touched then.
        tokens.reserve(self.block.saturating_add(self.longest()).min(self.text.len()).max(until - from) + 2)?;
        let at = Part { from, error: None };
        let lexed = Lexing::new(self.lexer).part(seen, seen.len() == self.text.len(), at, until, &mut tokens);
        *lock(&self.blocks[block]) = Block::Guessed(Guess { from, until, behind: lexed.behind, tokens });
        worker.waiting.push_back(block);
        Ok(())
    }

    /// Places the blocks whose turn it is, as long as they were lexed from right guesses. One that was not is lexed here.
    fn place(&self, worker: &mut Worker<K, P>) -> Result<(), Error> {
        loop {
            let turn = self.turn.load(Ordering::Acquire);
            let Some(block) = self.blocks.get(turn) else { return Ok(()) };
            if self.passes_over(turn) {
                continue;
            }
            if !matches!(*lock(block), Block::Guessed(_)) {
                return Ok(());
            }
            others_go_on();
            let mut placed = lock(&self.placed);
            if placed.blocks != turn {
                continue;
            }
            // Meanwhile another thread may have placed what it could of the block, and left it to the one that takes its tokens.
            let Some(mut guess) = lock(block).take_guess() else { return Ok(()) };
            if placed.at.from != guess.from {
                placed.again += 1;
                let (attempt, until) = (self.attempt(placed), guess.until);
                self.finish(attempt, until, Some(guess), worker)?;
                continue;
            }
            if let Some(error) = placed.at.error {
                guess.join_error(error, self.lexer.automaton.keeps_errors);
            }
            let Guess { until, behind, tokens, .. } = guess;
            let (first, count, is_whole) = (placed.tokens, tokens.len(), behind.from >= until);
            // They are there before others hear of them: the caller, once all blocks are placed, writes what it finds.
            *lock(block) = Block::Placed(first, tokens);
            self.announce(&mut placed, behind, count, is_whole);
            if !is_whole {
                let attempt = self.attempt(placed);
                self.finish(attempt, until, None, worker)?;
            }
        }
    }

    /// Places the next block if a token that is placed goes on behind its end, so that nothing is left of it. Says whether it did.
    fn passes_over(&self, block: usize) -> bool {
        // The next block begins there at most.
        let end = (block + 1).saturating_mul(self.block).saturating_add(self.longest());
        if block + 1 == self.count || self.reached.load(Ordering::Relaxed) < end {
            return false;
        }
        let mut placed = lock(&self.placed);
        let is_passed = placed.blocks == block && placed.at.from >= end;
        if is_passed {
            let at = placed.at;
            self.announce(&mut placed, at, 0, true);
        }
        is_passed
    }

    /// Writes the tokens of a block that is placed, unless that was done.
    fn write(&self, block: usize, worker: &mut Worker<K, P>) {
        let tokens = match take(&mut *lock(&self.blocks[block])) {
            Block::Placed(first, tokens) => {
                // SAFETY: this thread alone took the tokens, which have these places.
                unsafe { self.put(first, &tokens, 0) };
                tokens
            }
            // Another thread did not wait for it.
            Block::Guessed(guess) => guess.tokens,
            Block::Nothing => return,
        };
        worker.give_back(tokens);
    }

    /// Writes tokens from the one with this number on, so that the token has the place `first` among all.
    ///
    /// # Safety
    /// No other thread writes tokens of these places.
    unsafe fn put(&self, first: usize, tokens: &TokenColumnsOf<K, P>, from: usize) {
        // SAFETY: the caller's promise; each token has at least one byte.
        unsafe { self.output.write(first, tokens, from) };
        self.written.fetch_add(tokens.len() - from, Ordering::Relaxed);
    }

    /// So many tokens more are placed, up to there; it is the end of a block, or not.
    fn announce(&self, placed: &mut Placed<'_>, behind: Part, tokens: usize, ends_block: bool) {
        placed.at = behind;
        placed.tokens += tokens;
        placed.blocks += usize::from(ends_block);
        self.reached.store(behind.from, Ordering::Relaxed);
        self.turn.store(placed.blocks, Ordering::Release);
        others_go_on();
    }
}

/// In tests the thread often stops here, so that others see what was announced and no more.
fn others_go_on() {
    #[cfg(test)]
    {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        if CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            std::thread::sleep(Duration::from_micros(1));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
