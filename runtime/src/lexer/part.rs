//! The tokens that begin in a part of a text, by code, by pieces side by side or by table, and what
//! they share: where a part begins and ends, and the account of what was read in vain.

use std::time::Instant;

use monoscan_codegen::cpu::lexer::{ERROR, LexArgs, NONE, Status};

use super::beside::{GROUPS, LATER, PIECE, SideBySide};
use super::{Ahead, CpuLexer, KindNumber, PlaceNumber, TokenColumnsOf, Walker};
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
pub(super) const CREDIT: usize = 1 << 16;

/// The same between pieces.
const SMALL_CREDIT: usize = 1 << 10;

/// So many tokens of a piece are lexed one by one at most, until one ends where the piece has an end.
const MOST_SINGLE: usize = 16;

/// Bytes that are lexed one way before it is decided how to go on.
const TURN: usize = GROUPS * SideBySide::<PIECE>::GROUP + LATER;

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
    /// Likewise made when it is first needed, or taken from what the lexer keeps for its next text.
    beside: Option<SideBySide<PIECE>>,
}

impl Drop for Lexing<'_> {
    fn drop(&mut self) {
        if let Some((beside, all)) = self.beside.take().zip(self.lexer.beside.as_ref()) {
            all.keep(beside);
        }
    }
}

impl<'a> Lexing<'a> {
    pub(super) fn new(lexer: &'a CpuLexer) -> Lexing<'a> {
        Lexing { lexer, walker: None, debt: 0, beside: None }
    }

    /// Whether it walks, since too much was read in vain.
    pub(super) fn walks(&self) -> bool {
        self.debt > 0
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
        let all = self.lexer.beside.as_ref().filter(|_| until.saturating_sub(at.from) >= TURN);
        while let Some(all) = all.filter(|_| until.saturating_sub(at.from) >= SideBySide::<PIECE>::GROUP + LATER) {
            let (from, written, start) = (at.from, tokens.len(), Instant::now());
            let until = until.min(from + TURN);
            let is_beside = all.pace.takes_beside();
            let mut made = false;
            let lexed = if is_beside {
                let mut beside = self.beside.take().unwrap_or_else(|| all.take(&self.lexer.automaton));
                let lexed = self.groups(&mut beside, (text, complete), at, until, tokens);
                made = beside.has_made();
                self.beside = Some(beside);
                lexed
            } else {
                self.by_code(text, complete, at, until, CREDIT, tokens)
            };
            if lexed.is_undecided {
                return lexed;
            }
            at = lexed.behind;
            all.pace.took(is_beside, made, start.elapsed(), at.from - from, tokens.len() - written);
        }
        // The last token of a turn may end behind it.
        match at.from < until {
            true => self.by_code(text, complete, at, until, CREDIT, tokens),
            false => Lexed { behind: at, is_undecided: false },
        }
    }

    /// The same by pieces side by side, but for what is left before `until`, which is less than a group of pieces.
    pub(super) fn groups<const LEN: usize, K: KindNumber, P: PlaceNumber>(
        &mut self,
        beside: &mut SideBySide<LEN>,
        (text, complete): (&[u8], bool),
        mut at: Part,
        until: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Lexed {
        while until.saturating_sub(at.from) >= SideBySide::<LEN>::GROUP + LATER {
            beside.walk(text, at.from);
            for piece in beside.pieces() {
                let (mut search, mut singles) = (0, 0);
                // By code up to a place that the piece knows. A token behind it is its own.
                let first = loop {
                    let known = piece.token_from(at.from, &mut search).filter(|_| at.error.is_none());
                    if known.is_some() || at.from >= piece.begin() + LEN {
                        break known;
                    }
                    let until = match singles {
                        _ if at.from < piece.begin() => piece.begin(),
                        MOST_SINGLE => piece.begin() + LEN,
                        _ => at.from + 1,
                    };
                    singles += 1;
                    let lexed = self.by_code(text, complete, at, until, SMALL_CREDIT, tokens);
                    if lexed.is_undecided {
                        return lexed;
                    }
                    at = lexed.behind;
                };
                if let Some(first) = first {
                    at.from = piece.put(first, at.from, &self.lexer.automaton, tokens);
                }
            }
        }
        Lexed { behind: at, is_undecided: false }
    }

    /// The same by code, or by table. So many bytes more than the part has may be read in vain before a table is walked.
    fn by_code<K: KindNumber, P: PlaceNumber>(
        &mut self,
        text: &[u8],
        complete: bool,
        mut at: Part,
        until: usize,
        credit: usize,
        tokens: &mut TokenColumnsOf<K, P>,
    ) -> Lexed {
        // How many bytes may be read in vain by the code, and how many of them are left.
        let mut account = None;
        loop {
            let code = self.lexer.code_for(TokenColumnsOf::<K, P>::WIDTHS);
            let Some(code) = code.filter(|_| self.debt == 0) else {
                let pause = if code.is_some() { until.min(at.from.saturating_add(self.debt)) } else { until };
                let walker = self.walker.get_or_insert_with(|| Walker::new(&self.lexer.automaton, self.lexer.ahead));
                walker.make_up_for(self.debt);
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
            let gains = self.walker.as_ref().map_or(self.lexer.ahead != Ahead::Short, Walker::gains);
            let budget = if gains { (until - at.from + credit) as i64 } else { i64::MAX };
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
            #[cfg(test)]
            super::steps::count((left - args.budget) as usize);
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
