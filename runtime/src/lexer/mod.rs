//! Lexing on the CPU: a text and an automaton of tokens in, columns of tokens out.
//!
//! The automaton is run as direct code (`monoscan_codegen::cpu::lexer`), or, where that has too
//! many states or no code can be made, by a table (`walk`). Both lex the tokens that begin in a
//! part of the text and give where the next one begins; `part` says in which words. All else is
//! built on them. A text on one thread is a part after the other. On several threads it is blocks
//! that begin where a token seems to begin (`guess`), lexed apart and verified in order (`blocks`).
//! A stream is parts of texts that are not complete.
//!
//! No text takes quadratic time. Bytes read in vain, in looking ahead for a longer token that does
//! not come, are counted. When they are more than those read for good, a walk that remembers failed
//! attempts (Reps 1998) goes on until it has made up for them.

mod blocks;
mod guess;
mod part;
mod stream;
mod tokens;
mod walk;

use std::sync::Arc;

pub use monoscan_codegen::cpu::lexer::{Dispatch, ERROR as ERROR_KIND, LexAutomaton, LexCode, MAX_WORD};

use crate::error::Error;
use blocks::Blocks;
use part::{Lexing, Part};
pub use stream::{StreamToken, TokenStream};
pub use tokens::TokenColumns;
use walk::Walker;

/// The greatest length of a text: places are `u32`.
pub const MAX_TEXT: usize = u32::MAX as usize;

/// Texts from this length on are worth a second thread.
const WORTH_A_THREAD: usize = 1 << 20;

/// Bytes of a block: some hundred microseconds of work.
const BLOCK: usize = 512 << 10;

/// A lexer for texts in memory.
#[derive(Clone, Debug)]
pub struct CpuLexer {
    automaton: Arc<LexAutomaton>,
    /// None where a table is walked.
    code: Option<Arc<LexCode>>,
}

impl CpuLexer {
    /// Compiles an automaton. If it has more states than are compiled, or no code can be made for the machine, a table is
    /// walked, some five times slower.
    ///
    /// # Panics
    /// Those of [`LexAutomaton::check`].
    pub fn new(automaton: LexAutomaton) -> CpuLexer {
        // This checks the automaton, whether it makes code or not.
        let automaton = Arc::new(automaton);
        let code = LexCode::new(automaton.clone()).ok().map(Arc::new);
        CpuLexer { automaton, code }
    }

    /// Walks the automaton's table.
    ///
    /// # Panics
    /// Those of [`LexAutomaton::check`].
    pub fn by_table(automaton: LexAutomaton) -> CpuLexer {
        automaton.check();
        CpuLexer { automaton: Arc::new(automaton), code: None }
    }

    /// The automaton.
    pub fn automaton(&self) -> &LexAutomaton {
        &self.automaton
    }

    /// The code, unless a table is walked.
    pub fn code(&self) -> Option<&LexCode> {
        self.code.as_deref()
    }

    /// Writes the tokens of a text, on as many threads as rayon's pool has if it is long. What `tokens` had is dropped, its
    /// memory is used again.
    ///
    /// Threads do more work in all. Where other programs keep the cores busy, one thread is faster:
    /// [`lex_in_blocks`](CpuLexer::lex_in_blocks) takes as many as it is told.
    ///
    /// # Errors
    /// [`Error::TextTooLong`] for more than [`MAX_TEXT`] bytes, [`Error::OutOfMemory`]; `tokens` is empty then.
    pub fn lex_into(&self, text: &[u8], tokens: &mut TokenColumns) -> Result<(), Error> {
        let threads = rayon::current_num_threads().min(text.len() / WORTH_A_THREAD + 1);
        self.lex_in_blocks(text, threads, BLOCK, tokens).map(drop)
    }

    /// The same on so many threads of rayon's pool, each of which takes a block of so many bytes at a time. Gives how
    /// many blocks were lexed again, because no token began where one was guessed to begin.
    ///
    /// # Errors
    /// Those of [`lex_into`](CpuLexer::lex_into).
    pub fn lex_in_blocks(
        &self,
        text: &[u8],
        threads: usize,
        block: usize,
        tokens: &mut TokenColumns,
    ) -> Result<usize, Error> {
        tokens.clear();
        if text.len() > MAX_TEXT {
            return Err(Error::TextTooLong { bytes: text.len(), most: MAX_TEXT });
        }
        let done = match threads {
            0 | 1 => self.lex_in_turn(text, block.max(1), tokens).map(|()| 0),
            _ => Blocks::new(self, text, block.max(1)).run(threads, tokens),
        };
        if done.is_err() {
            tokens.clear();
        }
        done
    }

    /// A part of the text after the other.
    fn lex_in_turn(&self, text: &[u8], block: usize, tokens: &mut TokenColumns) -> Result<(), Error> {
        let mut lexing = Lexing::new(self);
        let mut at = Part { from: 0, error: None };
        while at.from < text.len() {
            let until = (at.from + block).min(text.len());
            tokens.reserve(until - at.from + 1)?;
            at = lexing.part(text, true, at, until, tokens).behind;
        }
        lexing.finish(at, tokens)
    }

    /// A stream of texts that are one text.
    pub fn stream(&self) -> TokenStream {
        TokenStream::new(self.clone())
    }
}
