//! A text on several threads: blocks that begin where a token seems to begin, lexed apart, verified
//! and joined in order.
//!
//! A place between tokens says all there is to know of the text before it. So a guess is right if
//! the block before arrives at it, and a block that began at a right guess has the right tokens.
//! After a wrong guess the block is lexed again, from where the block before did arrive.
//!
//! A block looks ahead [`AHEAD`] bytes at most; a token that is not decided there is left to the
//! join, which does all looking far ahead in one account.
//!
//! No thread waits for another one for long. A thread that holds up the others may have lost its
//! core. Then the thread that needs its block lexes it, from the place where it is known to begin,
//! as tiles of a scan are *rescued* (`monoscan_protocol::tiles`). The first to end joins the block.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use monoscan_protocol::crew::{self, HelperTask, Step};
use monoscan_protocol::tickets::Tickets;

use super::guess::{LONGEST, token_start};
use super::part::{Lexing, Part};
use super::{CpuLexer, KindNumber, PlaceNumber, TokenColumnsOf};
use crate::error::Error;

/// How far behind a block's end it may be looked.
const AHEAD: usize = 64 << 10;

/// How often a thread looks whether the block before its own was joined, before it lexes that block itself.
const SPINS: usize = 2000;

/// After so many bytes of a block that another thread may have, it is looked whether that one has joined it.
const PIECE: usize = 64 << 10;

/// A text being lexed by several threads.
pub(super) struct Blocks<'a, K, P> {
    lexer: &'a CpuLexer,
    text: &'a [u8],
    block: usize,
    count: usize,
    output: Output<K, P>,
    /// Where each block seems to begin, or [`UNKNOWN`].
    starts: Box<[AtomicUsize]>,
    /// The blocks that nobody works on.
    tickets: Tickets,
    /// The block whose turn to be joined it is, or [`STOPPED`]; a copy of what `joined` says.
    turn: AtomicUsize,
    joined: Mutex<Joined<'a>>,
}

/// The state behind all blocks before one.
struct Joined<'a> {
    /// That block, or [`STOPPED`].
    block: usize,
    at: Part,
    tokens: usize,
    /// How many blocks were lexed again, as they began at a wrong guess.
    again: usize,
    /// Lexes what blocks could not; none while a thread joins with it.
    lexing: Option<Lexing<'a>>,
    failure: Option<Error>,
}

/// Nobody has looked yet where a block begins.
const UNKNOWN: usize = usize::MAX;

/// No block follows: something failed.
const STOPPED: usize = usize::MAX;

/// Where all tokens go.
#[derive(Clone, Copy)]
struct Output<K, P> {
    kinds: *mut K,
    starts: *mut P,
    ends: *mut P,
}

// SAFETY: threads write to parts of the columns that do not overlap, and nobody reads them meanwhile.
unsafe impl<K: Send, P: Send> Send for Output<K, P> {}
// SAFETY: as above.
unsafe impl<K: Send, P: Send> Sync for Output<K, P> {}

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
    /// Whether it is the caller, which lexes what helpers leave.
    is_caller: bool,
    /// The block that it lexed and that waits for its turn.
    guessed: Option<Guessed>,
    /// The tokens of that block.
    tokens: TokenColumnsOf<K, P>,
    /// Those of a block that another thread has and does not join.
    rescued: TokenColumnsOf<K, P>,
}

/// A block, lexed from a guess.
#[derive(Clone, Copy)]
struct Guessed {
    block: usize,
    from: usize,
    until: usize,
    behind: Part,
}

/// One try to join a block, from what is known of those before it.
struct Joining<'a> {
    block: usize,
    before: Part,
    /// The place of the block's first token among all.
    place: usize,
    lexing: Lexing<'a>,
}

/// Lexes a text into empty columns, on this thread and as many others as `spawn` finds for the helpers.
pub(super) fn lex<K: KindNumber, P: PlaceNumber>(
    (lexer, text): (&CpuLexer, &[u8]),
    block: usize,
    tokens: &mut TokenColumnsOf<K, P>,
    helpers: usize,
    spawn: impl FnMut(HelperTask),
) -> Result<Done, Error> {
    // Address space for a token a byte; what no token needs is never touched.
    tokens.reserve(text.len() + 1)?;
    let output =
        Output { kinds: tokens.kinds.as_mut_ptr(), starts: tokens.starts.as_mut_ptr(), ends: tokens.ends.as_mut_ptr() };
    let count = text.len().div_ceil(block);
    let at = Part { from: 0, error: None };
    let joined = Joined { block: 0, at, tokens: 0, again: 0, lexing: None, failure: None };
    let blocks = Blocks {
        lexer,
        text,
        block,
        count,
        output,
        starts: (0..count).map(|_| AtomicUsize::new(UNKNOWN)).collect(),
        tickets: Tickets::new(count),
        turn: AtomicUsize::new(0),
        joined: Mutex::new(joined),
    };
    let helpers = helpers.min(count.saturating_sub(1));
    let waited = crew::with_helpers(spawn, helpers, &Worker::new, &|worker| blocks.step(worker));
    let Joined { at, tokens: count, again, failure, .. } =
        blocks.joined.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = failure {
        return Err(error);
    }
    // SAFETY: all blocks were joined, so these many tokens were written, each of at least one byte.
    unsafe { tokens.set_len(count) };
    Lexing::new(lexer).finish(at, tokens)?;
    Ok(Done { again, waited })
}

impl<K: KindNumber, P: PlaceNumber> Worker<K, P> {
    fn new(seat: usize) -> Worker<K, P> {
        let (tokens, rescued) = (TokenColumnsOf::new(), TokenColumnsOf::new());
        Worker { is_caller: seat == 0, guessed: None, tokens, rescued }
    }
}

impl<'a, K: KindNumber, P: PlaceNumber> Blocks<'a, K, P> {
    fn step(&self, worker: &mut Worker<K, P>) -> Step {
        self.try_step(worker).unwrap_or_else(|error| {
            let mut joined = self.lock();
            joined.failure = Some(error);
            self.announce(&mut joined, STOPPED);
            Step::Done
        })
    }

    fn try_step(&self, worker: &mut Worker<K, P>) -> Result<Step, Error> {
        let turn = self.turn.load(Ordering::Acquire);
        if turn >= self.count {
            return Ok(Step::Done);
        }
        match worker.guessed {
            // Another thread did not wait for it.
            Some(guessed) if guessed.block < turn => worker.guessed = None,
            Some(guessed) if guessed.block == turn => {
                worker.guessed = None;
                self.join(guessed, &mut worker.tokens)?;
            }
            Some(_) => self.wait_or_rescue(turn, &mut worker.rescued)?,
            None => match self.tickets.take() {
                Some(block) => worker.guessed = Some(self.guess(block.get(), &mut worker.tokens)?),
                None if worker.is_caller => self.wait_or_rescue(turn, &mut worker.rescued)?,
                None => return Ok(Step::Done),
            },
        }
        Ok(Step::More)
    }

    /// Where a block seems to begin. The block before looks for it first, as it ends there.
    fn start(&self, block: usize) -> usize {
        let known = &self.starts[block];
        match known.load(Ordering::Relaxed) {
            UNKNOWN => {
                let start = token_start(&self.lexer.automaton, self.text, block.saturating_mul(self.block));
                known.store(start, Ordering::Relaxed);
                start
            }
            start => start,
        }
    }

    /// Where the next block seems to begin.
    fn until(&self, block: usize, from: usize) -> usize {
        if block + 1 == self.count { self.text.len() } else { self.start(block + 1).max(from) }
    }

    /// Lexes a block from where it seems to begin.
    fn guess(&self, block: usize, tokens: &mut TokenColumnsOf<K, P>) -> Result<Guessed, Error> {
        let from = self.start(block);
        let until = self.until(block, from);
        let seen = &self.text[..self.text.len().min(until.saturating_add(AHEAD))];
        tokens.clear();
        // Space for the longest block, once: columns that grow are copied, and what no token needed is touched then.
        tokens.reserve(self.block.saturating_add(LONGEST).min(self.text.len()).max(until - from) + 2)?;
        let at = Part { from, error: None };
        let lexed = Lexing::new(self.lexer).part(seen, seen.len() == self.text.len(), at, until, tokens);
        Ok(Guessed { block, from, until, behind: lexed.behind })
    }

    /// Joins a block whose turn it is.
    fn join(&self, guessed: Guessed, tokens: &mut TokenColumnsOf<K, P>) -> Result<(), Error> {
        let Some(joining) = self.begin(guessed.block) else { return Ok(()) };
        let (before, mut behind) = (joining.before, joining.before);
        let is_right = before.from == guessed.from;
        if is_right {
            behind = guessed.behind;
            if let Some(error) = before.error {
                self.join_error(error, guessed.from, &mut behind, tokens);
            }
        } else {
            tokens.clear();
        }
        self.finish(joining, behind, guessed.until, !is_right, tokens)
    }

    /// Waits until a block is joined, for a moment; then lexes and joins it, whichever thread has it.
    fn wait_or_rescue(&self, block: usize, tokens: &mut TokenColumnsOf<K, P>) -> Result<(), Error> {
        for _ in 0..SPINS {
            if self.turn.load(Ordering::Acquire) != block {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        let Some(joining) = self.begin(block) else { return Ok(()) };
        tokens.clear();
        let (behind, until) = (joining.before, self.until(block, self.start(block)));
        self.finish(joining, behind, until, false, tokens)
    }

    /// The parts that joining a block needs, unless it was joined.
    fn begin(&self, block: usize) -> Option<Joining<'a>> {
        let mut joined = self.lock();
        (joined.block == block).then(|| {
            // A thread that lost its core may have it. Then this one begins a new account: as many as there are threads.
            let lexing = joined.lexing.take().unwrap_or_else(|| Lexing::new(self.lexer));
            Joining { block, before: joined.at, place: joined.tokens, lexing }
        })
    }

    /// Lexes what is left of a block, and joins it unless another thread has done so.
    fn finish(
        &self,
        mut joining: Joining<'a>,
        mut behind: Part,
        until: usize,
        is_again: bool,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<(), Error> {
        let block = joining.block;
        if behind.from < until {
            tokens.reserve(until - behind.from + 1)?;
        }
        while behind.from < until && self.turn.load(Ordering::Acquire) == block {
            let pause = until.min(behind.from.saturating_add(PIECE));
            behind = joining.lexing.part(self.text, true, behind, pause, tokens).behind;
        }
        let mut joined = self.lock();
        joined.lexing.get_or_insert(joining.lexing);
        if joined.block != block {
            return Ok(());
        }
        joined.at = behind;
        joined.tokens += tokens.len();
        joined.again += usize::from(is_again);
        self.announce(&mut joined, block + 1);
        drop(joined);
        let Output { kinds, starts, ends } = self.output;
        // SAFETY: the columns have space for a token for each byte of the text, and this thread alone joined the block, which has
        // these places.
        unsafe {
            kinds.add(joining.place).copy_from_nonoverlapping(tokens.kinds.as_ptr(), tokens.len());
            starts.add(joining.place).copy_from_nonoverlapping(tokens.starts.as_ptr(), tokens.len());
            ends.add(joining.place).copy_from_nonoverlapping(tokens.ends.as_ptr(), tokens.len());
        }
        Ok(())
    }

    /// Goes on with the run of errors that is open where a block begins.
    fn join_error(&self, error: usize, from: usize, behind: &mut Part, local: &mut TokenColumnsOf<K, P>) {
        if local.kinds.first() == Some(&K::ERROR) && local.starts[0].index() == from {
            local.starts[0] = P::of_place(error);
        } else if behind.error == Some(from) || behind.from == from {
            behind.error = Some(error);
        } else if self.lexer.automaton.keeps_errors {
            local.kinds.insert(0, K::ERROR);
            local.starts.insert(0, P::of_place(error));
            local.ends.insert(0, P::of_place(from));
        }
    }

    fn announce(&self, joined: &mut Joined<'_>, block: usize) {
        joined.block = block;
        self.turn.store(block, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Joined<'a>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use monoscan_codegen::cpu::lexer::LexAutomaton;
    use scan_kit::Random;

    use super::super::TokenColumns;
    use super::*;

    /// Runs of `a` and `b`, at most one of them at the end: `a*b?`, and `(…)` whatever is in between.
    fn automaton() -> LexAutomaton {
        let mut class_of = [0; 256];
        for (byte, class) in [(b'a', 1), (b'b', 2), (b'(', 3), (b')', 4)] {
            class_of[usize::from(byte)] = class;
        }
        // States: dead, start, `a…`, `…b`, `(…`, `(…)`.
        let next = [[0; 5], [0, 2, 3, 4, 0], [0, 2, 3, 0, 0], [0; 5], [4, 4, 4, 4, 5], [0; 5]];
        LexAutomaton {
            class_of,
            classes: 5,
            next: next.concat(),
            accept: vec![None, None, Some(0), Some(1), None, Some(2)],
            back: vec![0; 6],
            kept: vec![true; 3],
            keeps_errors: true,
            words: Vec::new(),
        }
    }

    fn text(len: usize) -> Vec<u8> {
        let mut random = Random(3);
        let mut text = Vec::new();
        while text.len() < len {
            match random.below(9) {
                0 => text.push(b'?'),
                1 => text.push(b'('),
                2 => text.extend([b"(", &b"a? b".repeat(random.below(9))[..], b")"].concat()),
                _ => text.extend([&b"a".repeat(random.below(6))[..], b"b"].concat()),
            }
        }
        text
    }

    /// A block that is taken and never gone on with is lexed by the thread that needs it.
    #[test]
    fn helpers_that_stop_after_any_step_hold_up_nobody() {
        let text = text(3000);
        for lexer in [CpuLexer::new(automaton()), CpuLexer::by_table(automaton())] {
            let mut expected = TokenColumns::default();
            lexer.lex_in_blocks(&text, 1, 1 << 20, &mut expected).unwrap();
            assert!(expected.len() > 300);
            for block in [1, 7, 64, 1000] {
                for steps in 0..6 {
                    let mut stopped = Vec::new();
                    let spawn = |mut task: HelperTask| {
                        (0..steps).for_each(|_| _ = task.step());
                        stopped.push(task);
                    };
                    let mut tokens = TokenColumns::default();
                    lex((&lexer, &text), block, &mut tokens, 3, spawn).unwrap();
                    assert_eq!(tokens, expected, "blocks of {block} bytes, {steps} steps");
                    // However late they come.
                    stopped.into_iter().for_each(|task| task.run());
                }
            }
        }
    }
}
