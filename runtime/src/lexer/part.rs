//! The tokens that begin in a part of a text, by code or by table, and what both share: where a
//! part begins and ends, and the account of what was read in vain.

use monoscan_codegen::cpu::lexer::{ERROR, LexArgs, NONE, Status};

use super::{CpuLexer, KindNumber, PlaceNumber, TokenColumnsOf, Walker};
use crate::engine::ahead::ask_for_bytes;
use crate::error::Error;

/// A place between tokens. This is all that lexing needs to know of what comes before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// Where the next token begins.
    pub(super) from: usize,
    /// Where the run of bytes that begin no token began that ends there for now.
    pub(super) error: Option<usize>,
}

/// The outcome of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lexed {
    /// The place behind the tokens that were written.
    pub(super) behind: Part,
    /// Whether the token there depends on what comes behind the end of what can be seen.
    pub(super) is_undecided: bool,
}

/// May be read in vain without giving back anything.
const CREDIT: usize = 1 << 16;

/// Behind so many bytes the next ones are asked for: code that looks at 16 bytes at a time from each token's end is no stream that a
/// processor sees well.
const STEP: usize = 16 << 10;

/// Lexes parts of a text, each from where the one before ended.
pub(super) struct Lexing<'a> {
    lexer: &'a CpuLexer,
    /// Is made when it is first needed: most texts are lexed by code alone.
    walker: Option<Walker<'a>>,
    /// How many bytes the walker has to make up for.
    debt: usize,
}

impl<'a> Lexing<'a> {
    pub(super) fn new(lexer: &'a CpuLexer) -> Lexing<'a> {
        Lexing { lexer, walker: None, debt: 0 }
    }

    /// Writes the tokens that begin before `until`, a place of the text. The text ends, or more is to come and is not `complete`.
    ///
    /// `tokens` has space for a token for each byte of the part, and for the error that is open before it.
    pub(super) fn part<K: KindNumber, P: PlaceNumber>(
        &mut self,
        text: &[u8],
        complete: bool,
        mut at: Part,
        until: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Lexed {
        // How many bytes may be read in vain by the code, and how many of them are left.
        let mut account = None;
        loop {
            let code = self.lexer.code_for(TokenColumnsOf::<K, P>::WIDTHS);
            let Some(code) = code.filter(|_| self.debt == 0) else {
                let pause = if code.is_some() { until.min(at.from.saturating_add(self.debt)) } else { until };
                let walker = self.walker.get_or_insert_with(|| Walker::new(&self.lexer.automaton));
                let lexed = walker.part(text, complete, at, pause, tokens);
                self.debt = self.debt.saturating_sub(lexed.behind.from - at.from);
                if lexed.is_undecided || lexed.behind.from >= until {
                    return lexed;
                }
                (at, account) = (lexed.behind, None);
                continue;
            };
            assert!(at.from <= until && until <= text.len() && text.len() <= P::MOST);
            assert!(tokens.space() >= until - at.from + usize::from(at.error.is_some()));
            let written = tokens.len();
            // SAFETY: there is space behind the tokens, as was asserted.
            let (kinds, starts, ends) = unsafe {
                (
                    tokens.kinds.as_mut_ptr().add(written),
                    tokens.starts.as_mut_ptr().add(written),
                    tokens.ends.as_mut_ptr().add(written),
                )
            };
            let budget = if self.lexer.is_bounded { i64::MAX } else { (until - at.from + CREDIT) as i64 };
            let (granted, left) = account.unwrap_or((budget, budget));
            let pause = until.min(at.from.saturating_add(STEP));
            ask_for_bytes(&text[pause..text.len().min(pause.saturating_add(STEP))]);
            let mut args = LexArgs {
                text: text.as_ptr(),
                from: at.from,
                until: pause,
                len: text.len(),
                last: usize::from(complete),
                kinds: kinds.cast(),
                starts: starts.cast(),
                ends: ends.cast(),
                error: at.error.unwrap_or(NONE),
                budget: left,
                status: Status::Done as u64,
            };
            // SAFETY: the text has so many bytes, the part is in it, and the columns have space for a token for each of its bytes and
            // for the error before it. So many of them are written.
            unsafe {
                let count = code.lex(&mut args);
                tokens.set_len(written + count);
            }
            at = Part { from: args.from, error: (args.error != NONE).then_some(args.error) };
            let is_undecided = args.status == Status::Undecided as u64;
            if args.status == Status::Vain as u64 {
                (self.debt, account) = ((granted - args.budget) as usize, None);
            } else if is_undecided || at.from >= until {
                return Lexed { behind: at, is_undecided };
            } else {
                account = Some((granted, args.budget));
            }
        }
    }

    /// Writes the run of errors that the end of the text ends.
    pub(super) fn finish<K: KindNumber, P: PlaceNumber>(
        &self,
        end: Part,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Result<(), Error> {
        if let Some(start) = end.error.filter(|_| self.lexer.automaton.keeps_errors) {
            tokens.reserve(1)?;
            tokens.push_found(ERROR, start, end.from);
        }
        Ok(())
    }
}
