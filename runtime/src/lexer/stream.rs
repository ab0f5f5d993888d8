//! A text that comes in chunks, cut anywhere.

use monoscan_codegen::cpu::lexer::LexAutomaton;

use super::part::{Lexing, Part};
use super::{CpuLexer, TokenColumns};
use crate::error::Error;

/// The tokens of a text that comes in chunks: the same as in one piece, wherever it is cut.
///
/// A token is given as soon as no byte that may follow changes it; a run of errors, with the token behind it. What is pending is
/// kept, and the automaton's state behind it, so a byte that is added is one step. It is read again only when a token has ended, so
/// a token as long as many chunks takes time in proportion to its length.
#[derive(Debug)]
pub struct TokenStream {
    lexer: CpuLexer,
    /// The text from the first byte that belongs to no token yet.
    pending: Vec<u8>,
    /// Where `pending` is in the whole text.
    base: u64,
    /// Where the run of errors before `pending` began in the whole text, if one is open there.
    error: Option<u64>,
    /// The state of the automaton behind `pending`: one whose token depends on what follows.
    state: u16,
    tokens: TokenColumns,
}

/// A token of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamToken {
    /// Its kind; [`ERROR_KIND`](super::ERROR_KIND) for bytes that begin no token.
    pub kind: u16,
    /// Where it begins in the whole text.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
}

impl TokenStream {
    pub(super) fn new(lexer: CpuLexer) -> TokenStream {
        let (pending, state) = (Vec::new(), LexAutomaton::START);
        TokenStream { lexer, pending, base: 0, error: None, state, tokens: TokenColumns::default() }
    }

    /// Takes the next chunk, and gives the tokens that are known now. After an error the stream is as it was.
    ///
    /// # Errors
    /// [`Error::TextTooLong`] if a chunk and what is pending have 4 GB or more, [`Error::OutOfMemory`].
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<StreamToken>, Error> {
        let bytes = self.pending.len() + chunk.len();
        if bytes > super::MAX_TEXT {
            return Err(Error::TextTooLong { bytes, most: super::MAX_TEXT });
        }
        self.pending.try_reserve(chunk.len()).map_err(|_| Error::OutOfMemory { bytes })?;
        let state = self.behind(self.state, chunk);
        self.pending.extend_from_slice(chunk);
        if self.lexer.automaton.is_open(state) {
            self.state = state;
            return Ok(Vec::new());
        }
        let tokens = self.lex(false);
        if tokens.is_err() {
            self.pending.truncate(bytes - chunk.len());
        }
        tokens
    }

    /// The state of the automaton behind some more bytes.
    fn behind(&self, state: u16, bytes: &[u8]) -> u16 {
        let automaton = &self.lexer.automaton;
        let step = |state: u16, &byte: &u8| Some(automaton.step(state, byte)).filter(|&to| to != LexAutomaton::DEAD);
        bytes.iter().try_fold(state, step).unwrap_or(LexAutomaton::DEAD)
    }

    /// Ends the text, and gives the last tokens.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn finish(mut self) -> Result<Vec<StreamToken>, Error> {
        let mut tokens = self.lex(true)?;
        if let Some(start) = self.error.filter(|_| self.lexer.automaton.keeps_errors) {
            tokens.push(StreamToken { kind: super::ERROR_KIND, start, end: self.base });
        }
        Ok(tokens)
    }

    fn lex(&mut self, complete: bool) -> Result<Vec<StreamToken>, Error> {
        let text = &self.pending;
        self.tokens.clear();
        self.tokens.reserve(text.len() + 1)?;
        // An error that is open begins somewhere before `pending`: it is told by the place 0, which no other token has then.
        let mut tokens = Vec::new();
        let error = self.error;
        let at = Part { from: 0, error: error.map(|_| 0) };
        let lexed = Lexing::new(&self.lexer).part(text, complete, at, text.len(), &mut self.tokens);
        let base = self.base;
        let columns = &self.tokens;
        let rest = columns.kinds.iter().zip(columns.starts.iter().zip(&columns.ends));
        tokens.extend(rest.map(|(&kind, (&start, &end))| {
            let is_open = kind == super::ERROR_KIND && start == 0;
            let start = error.filter(|_| is_open).unwrap_or(base + u64::from(start));
            StreamToken { kind, start, end: base + u64::from(end) }
        }));
        let behind = lexed.behind;
        self.error = behind.error.map(|place| error.filter(|_| place == 0).unwrap_or(base + place as u64));
        self.pending.drain(..behind.from);
        self.base += behind.from as u64;
        self.state = self.behind(LexAutomaton::START, &self.pending);
        Ok(tokens)
    }
}
