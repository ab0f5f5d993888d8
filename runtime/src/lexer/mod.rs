//! Lexing on the CPU: a text and an automaton of tokens in, columns of tokens out.
//!
//! The automaton is run as direct code (`monoscan_codegen::cpu::lexer`), or, where that has too
//! many states or no code can be made, by a table (`walk`). Long texts of short tokens may be
//! faster by look-ups in pieces side by side (`beside`). All of them lex the tokens that begin in a
//! part of the text and give where the next one begins; `part` says in which words. All else is
//! built on them. A text on one thread is a part after the other. On several threads it is blocks
//! that begin where a token seems to begin (`guess`), lexed apart, and verified and placed in order
//! (`blocks`). A stream is parts of texts that are not complete.
//!
//! No text takes quadratic time. Some automata read at most 64 bytes in vain, in looking ahead for
//! a longer token that does not come. Of others these bytes are counted. When they are more than
//! those read for good, a walk goes on until it has made up for them. If any number of bytes may be
//! read in vain, it remembers failed attempts (Reps 1998), else it asks an oracle (`oracle`).

mod beside;
mod blocks;
#[cfg(feature = "cuda")]
mod downloaded;
mod guess;
mod oracle;
mod output;
mod part;
#[cfg(test)]
mod steps;
mod stream;
mod tokens;
mod walk;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use monoscan_codegen::cpu::lexer::{Dispatch, ERROR as ERROR_KIND, LexAutomaton, LexCode, MAX_WORD, Widths};

use crate::engine::helpers::{self, Caller};
use crate::engine::off_core::OffCore;
use crate::engine::trials::Trials;
use crate::error::Error;
use beside::SideBySide;
use blocks::Done;
use part::{Lexing, Part};
pub use stream::{StreamToken, TokenStream};
pub use tokens::{KindNumber, PlaceNumber, TokenColumns, TokenColumnsOf};
use walk::Walker;

/// The greatest length of a text whose places are `u32`.
pub const MAX_TEXT: usize = u32::MAX as usize;

/// So many bytes are worth a thread.
const WORTH_A_THREAD: usize = 512 << 10;

/// About as many bytes as a thread lexes in a tenth of a millisecond.
const ALONE: usize = 256 << 10;

/// Bytes of a block, some hundred microseconds of work, where each thread has two or more. Else it is half as long, so that threads
/// end at about the same time.
const BLOCK: usize = 256 << 10;

/// A lexer for texts in memory.
#[derive(Clone, Debug)]
pub struct CpuLexer {
    automaton: Arc<LexAutomaton>,
    /// None where a table is walked.
    codes: Option<Arc<Codes>>,
    /// How many bytes are read in vain.
    ahead: Ahead,
    trials: Arc<Trials>,
    /// To lex pieces of a text side by side, where the automaton allows that and code could be better.
    beside: Option<Arc<beside::Kept>>,
}

/// How many bytes an attempt to lengthen a token reads in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    /// So few bytes that they need no account.
    Short,
    /// So many bytes at most.
    Bounded(usize),
    Unbounded,
}

impl Ahead {
    /// Reading ahead by so many bytes costs less than to avoid it.
    const SHORT: usize = 64;

    fn of(automaton: &LexAutomaton) -> Ahead {
        match automaton.most_in_vain() {
            Some(..=Ahead::SHORT) => Ahead::Short,
            Some(bytes) => Ahead::Bounded(bytes),
            None => Ahead::Unbounded,
        }
    }
}

/// The code that writes numbers of so many bytes, or none where it cannot be made; made when it is first needed.
type Codes = [(Widths, OnceLock<Option<LexCode>>); 4];

impl CpuLexer {
    /// Takes an automaton, and compiles it for [`TokenColumns`]; for other columns it is compiled when they are first asked for. If it
    /// has more states than are compiled, or no code can be made for the machine, a table is walked, some five times slower.
    ///
    /// # Panics
    /// Those of [`LexAutomaton::check`].
    pub fn new(automaton: LexAutomaton) -> CpuLexer {
        let widths = |kind, place| (Widths { kind, place }, OnceLock::new());
        let codes = [widths(2, 4), widths(1, 4), widths(2, 8), widths(1, 8)];
        let lexer = CpuLexer::by_table(automaton);
        let beside = beside::Kept::new(&lexer.automaton).map(Arc::new);
        let lexer = CpuLexer { codes: Some(codes.into()), beside, ..lexer };
        lexer.code();
        lexer
    }

    /// Walks the automaton's table.
    ///
    /// # Panics
    /// Those of [`LexAutomaton::check`].
    pub fn by_table(automaton: LexAutomaton) -> CpuLexer {
        automaton.check();
        let ahead = Ahead::of(&automaton);
        CpuLexer { automaton: Arc::new(automaton), codes: None, ahead, trials: Arc::new(Trials::new()), beside: None }
    }

    /// The automaton.
    pub fn automaton(&self) -> &LexAutomaton {
        &self.automaton
    }

    /// The code for [`TokenColumns`], unless a table is walked.
    pub fn code(&self) -> Option<&LexCode> {
        self.code_for(TokenColumns::WIDTHS)
    }

    /// The code for columns of numbers of so many bytes.
    fn code_for(&self, widths: Widths) -> Option<&LexCode> {
        let (_, code) = self.codes.as_ref()?.iter().find(|(of, _)| *of == widths)?;
        code.get_or_init(|| LexCode::new(self.automaton.clone(), widths).ok()).as_ref()
    }

    /// Writes the tokens of a text, on as many threads as rayon's pool has if it is long. What `tokens` had is dropped, its
    /// memory is used again.
    ///
    /// It waits for no thread to start, and for none that has lost its core but at the end. Once it had to wait so, or this
    /// thread lost its core, texts are lexed by one thread for a while. So are they where trials show that two to four threads are no
    /// faster.
    ///
    /// # Errors
    /// [`Error::TextTooLong`] for more than [`PlaceNumber::MOST`] bytes, [`Error::OutOfMemory`]; `tokens` is empty then.
    ///
    /// # Panics
    /// If kinds are `u8` and there are more than 255.
    pub fn lex_into<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<(), Error> {
        let _caller = Caller::of(ALONE, text.len());
        let helpers = helpers::of(ALONE, text.len(), text.len() / WORTH_A_THREAD + 1, helpers::threads);
        let block = if text.len() / BLOCK < 2 * (helpers + 1) { BLOCK / 2 } else { BLOCK };
        self.trials.run(text.len(), helpers, |helpers| {
            let off_core = (helpers > 0).then(OffCore::since_now);
            let done = self.lex_with(text, helpers, block, tokens);
            if let Some((off_core, done)) = off_core.zip(done.as_ref().ok()) {
                // Where other programs take this thread's core, helpers take more of the cores from it than they give.
                helpers::ended(ALONE, BLOCK, off_core.time().max(done.waited));
            }
            let counts = done.is_ok();
            (done.map(drop), counts)
        })
    }

    /// The same on so many threads of rayon's pool, each of which takes a block of so many bytes at a time. Gives how
    /// many blocks were lexed again, because no token began where one was guessed to begin.
    ///
    /// # Errors
    /// Those of [`lex_into`](CpuLexer::lex_into).
    ///
    /// # Panics
    /// As there.
    pub fn lex_in_blocks<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        threads: usize,
        block: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<usize, Error> {
        self.lex_with(text, threads.saturating_sub(1), block.max(1), tokens).map(|done| done.again)
    }

    fn lex_with<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        helpers: usize,
        block: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<Done, Error> {
        let kinds = self.automaton.kept.len();
        assert!(size_of::<K>() > 1 || kinds <= usize::from(u8::MAX), "a byte is too short for {kinds} kinds");
        tokens.clear();
        // Compiled here, before threads take blocks: none of them waits for another that compiles.
        self.code_for(TokenColumnsOf::<K, P>::WIDTHS);
        if text.len() > P::MOST {
            return Err(Error::TextTooLong { bytes: text.len(), most: P::MOST });
        }
        // Address space for a token a byte; what no token needs is never touched. Blocks are written behind each other into it. Where
        // there is none, the text is lexed in turn into columns that grow.
        let has_space = tokens.reserve(text.len() + 1).is_ok();
        let done = match helpers {
            1.. if has_space => blocks::lex((self, text), block, tokens, helpers, helpers::spawn),
            _ => self.lex_in_turn(text, block, tokens),
        };
        if done.is_err() {
            tokens.clear();
        }
        done
    }

    /// A part of the text after the other.
    fn lex_in_turn<K: KindNumber, P: PlaceNumber>(
        &self,
        text: &[u8],
        block: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<Done, Error> {
        let mut lexing = Lexing::new(self);
        let mut at = Part { from: 0, error: None };
        while at.from < text.len() {
            let until = (at.from + block).min(text.len());
            tokens.reserve(until - at.from + 1)?;
            at = lexing.part(text, true, at, until, tokens).behind;
        }
        lexing.finish(at, tokens)?;
        Ok(Done { again: 0, waited: Duration::ZERO })
    }

    /// Whether long texts are lexed by pieces side by side, so far as trials have shown. None if they never are: the automaton has words
    /// beside it, or too many kinds, or its table is walked.
    pub fn is_faster_beside(&self) -> Option<bool> {
        self.beside.as_ref().map(|beside| beside.pace.is_faster_beside())
    }

    /// The same lexer, which lexes by code alone: what pieces side by side are timed against.
    #[doc(hidden)]
    pub fn by_code_alone(&self) -> CpuLexer {
        CpuLexer { beside: None, ..self.clone() }
    }

    /// The tokens by short pieces side by side, on one thread: what other ways are checked against. False if the automaton is not
    /// supported.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[doc(hidden)]
    pub fn lex_side_by_side(&self, text: &[u8], tokens: &mut TokenColumns) -> Result<bool, Error> {
        tokens.clear();
        if !beside::is_supported(&self.automaton) {
            return Ok(false);
        }
        tokens.reserve(text.len() + 1)?;
        let mut lexing = Lexing::new(self);
        let start = Part { from: 0, error: None };
        let mut beside = SideBySide::<24>::new(&self.automaton);
        let lexed = lexing.groups(&mut beside, (text, true), start, text.len(), tokens);
        let end = lexing.part(text, true, lexed.behind, text.len(), tokens).behind;
        lexing.finish(end, tokens)?;
        Ok(true)
    }

    /// A stream of texts that are one text.
    pub fn stream(&self) -> TokenStream {
        TokenStream::new(self.clone())
    }
}
