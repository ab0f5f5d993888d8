//! Lexers: token rules in, tokens out, by a scan.
//!
//! A lexer looks as sequential as a program can be: where a token ends decides where the next
//! begins. But what each byte does is a function from the automaton's state before it to the state
//! behind it, and functions compose associatively. So the state at *every* byte is a scan, and this
//! module builds what that scan needs:
//!
//! ```text
//! rules.rs     a text with a regex for each kind of token
//! dfa.rs       → the smallest DFA that knows which rule matches
//! restart.rs   → the lexing automaton, which starts over by itself where a token ends; here is the proof that one pass
//!                is exact, and lookahead.rs explains to the user when it cannot be
//! ranks.rs     → maps of at most a few ranks, one for each pair of neighbouring byte classes
//! program.rs   → the scans: a label for every byte, or an entry for every token
//! gather.rs    labels, the bytes that the first scan writes, → tokens
//! list.rs      the list of tokens that the second one writes
//! ```
//!
//! A *label* is one byte for each byte of the text: the kind of what is pending there, and [`ENDS`]
//! where it ends.

mod dfa;
mod gather;
mod list;
mod lookahead;
mod program;
mod ranks;
#[cfg(test)]
mod reference;
mod restart;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use monoscan_ir::{Program, Verified};
use monoscan_runtime::{Column, Device, DynScan, Error as ScanError};
use thiserror::Error;

use crate::scan::{Columns, ColumnsMut, Place, Plain};

pub use dfa::MAX_STATES;
pub use gather::{Counts, Kind, Skips, Token, Tokens};
pub use list::TokenList;
pub use lookahead::{Conflict, Lookahead};
pub use ranks::{MAX_RANKS, RankTables};
pub use restart::{ENDS, ERROR, PENDING};
pub use rules::{ERROR_NAME, Fault, JSON, MAX_RULES, Rule, RuleFault, Rules, RulesError};

/// Why there is no lexer for some rules.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LexerError {
    /// The text of the rules is wrong.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// A rule matches the empty string.
    #[error("rule {rule} matches the empty string, but a token has at least one byte")]
    EmptyMatch {
        /// The rule's name.
        rule: String,
    },
    /// Maximal munch needs more than one byte of look-ahead.
    #[error(transparent)]
    Lookahead(#[from] Lookahead),
    /// The determinised rules are larger than [`MAX_STATES`], or than the memory set aside to build them.
    #[error(
        "the rules need more than {MAX_STATES} states as an automaton: bounded repetitions such as `{{1,1000}}` and Unicode classes cost most"
    )]
    TooManyStates,
    /// A byte may lead to more than [`MAX_RANKS`] states.
    #[error("a byte such as '{}' may lead to {ranks} states, and at most {MAX_RANKS} are supported: bounded repetitions cost most", .byte.escape_ascii())]
    TooManyRanks {
        /// The byte.
        byte: u8,
        /// How many states it may lead to.
        ranks: usize,
    },
    /// regex-automata could not build the automaton.
    #[error("the rules' automaton cannot be built: {0}")]
    Automaton(String),
    /// The scan could not be built.
    #[error(transparent)]
    Scan(#[from] ScanError),
}

/// What the rules became: everything that a scan needs to label a text, and how large it is.
pub struct LexerTables {
    automaton: restart::LexAutomaton,
    ranks: RankTables,
}

impl LexerTables {
    /// Compiles rules, in milliseconds for those of a programming language.
    ///
    /// # Errors
    /// Where one pass cannot lex these rules exactly ([`LexerError::Lookahead`]), or where they are too large.
    pub fn new(rules: &Rules) -> Result<LexerTables, LexerError> {
        let automaton = restart::LexAutomaton::new(rules)?;
        let ranks = RankTables::new(&automaton)?;
        Ok(LexerTables { automaton, ranks })
    }

    /// How many states the lexing automaton has.
    pub fn states(&self) -> usize {
        self.automaton.states().count()
    }

    /// The tables of the scan.
    pub fn ranks(&self) -> &RankTables {
        &self.ranks
    }

    /// The scan that labels a text: a column of bytes in, a column of labels out.
    pub fn program(&self) -> Verified<Program> {
        program::labels(&self.ranks)
    }

    /// The scan that lists a text's tokens: a column of bytes in, a column of `u64` out, one for each token (and for each
    /// byte that no rule matches): its end shifted left by 8 bits, and its code.
    pub fn token_program(&self) -> Verified<Program> {
        program::endings(&self.ranks)
    }

    /// The labels of a text by the plain loop, one byte after the other: what the scan is checked and timed against.
    pub fn label_sequentially(&self, text: &[u8]) -> Vec<u8> {
        self.automaton.label_text(text)
    }
}

impl std::fmt::Debug for LexerTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LexerTables")
            .field("states", &self.states())
            .field("classes", &self.ranks.classes())
            .field("ranks", &self.ranks.ranks())
            .finish_non_exhaustive()
    }
}

/// A compiled set of rules: a scan that labels texts on all cores, or [on a GPU](Lexer::on).
///
/// ```
/// use monoscan::lexer::{Lexer, Rules, Skips};
///
/// let lexer = Lexer::new(Rules::json())?;
/// let text = br#"{"n": 1} ?"#;
/// let labels = lexer.labels(text)?;
/// let tokens: Vec<_> = lexer
///     .tokens(&labels, Skips::Drop)
///     .map(|token| (lexer.rules().name(token.kind), &text[token.start..token.end]))
///     .collect();
/// assert_eq!(tokens[1], ("STRING", &b"\"n\""[..]));
/// assert_eq!(tokens[5], ("ERROR", &b"?"[..]));
/// # Ok::<(), monoscan::lexer::LexerError>(())
/// ```
#[derive(Debug)]
pub struct Lexer {
    rules: Arc<Rules>,
    tables: Arc<LexerTables>,
    scan: DynScan,
    listing: OnceLock<DynScan>,
}

impl Lexer {
    /// Compiles rules.
    ///
    /// # Errors
    /// See [`LexerTables::new`]; or if the scan cannot be built.
    pub fn new(rules: Rules) -> Result<Lexer, LexerError> {
        let tables = LexerTables::new(&rules)?;
        let scan = DynScan::new(tables.program())?;
        Ok(Lexer { rules: rules.into(), tables: tables.into(), scan, listing: OnceLock::new() })
    }

    /// The same lexer on another device; see [`Scan::on`](crate::Scan::on).
    ///
    /// # Errors
    /// As there.
    pub fn on(&self, device: impl Into<Device>) -> Result<Lexer, ScanError> {
        let (rules, tables) = (self.rules.clone(), self.tables.clone());
        Ok(Lexer { rules, tables, scan: self.scan.on(device)?, listing: OnceLock::new() })
    }

    /// The label of every byte of a text: a vector for a slice, and a [`DeviceVec`](crate::DeviceVec) for one.
    ///
    /// # Errors
    /// [`ScanError::OutOfMemory`]; on a GPU [`ScanError::Cuda`] if it fails.
    pub fn labels<C: Columns<(u8,)>>(&self, text: C) -> Result<<C::Place as Place>::Vec<u8>, ScanError> {
        Plain::<u8, u8>::of(&self.scan).inclusive(text)
    }

    /// [`labels`](Lexer::labels) into a slice as long as the text.
    ///
    /// # Errors
    /// [`ScanError::Length`] if it has another length; nothing is written then.
    pub fn labels_into<C: Columns<(u8,)>>(
        &self,
        text: C,
        labels: impl ColumnsMut<u8, Place = C::Place>,
    ) -> Result<<C::Place as Place>::Written, ScanError> {
        Plain::of(&self.scan).inclusive_into(text, labels)
    }

    /// The tokens of a text, in one scan from bytes to tokens. Its code is compiled by the first call.
    ///
    /// Needs 8 bytes of address space for each byte of the text while it runs, and keeps 8 bytes of memory a token.
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules, Skips};
    /// let lexer = Lexer::new(Rules::json())?;
    /// let tokens = lexer.lex(br#"[1, "a"]"#)?;
    /// assert_eq!(tokens.iter(Skips::Drop).map(|token| token.end).collect::<Vec<_>>(), [1, 2, 3, 7, 8]);
    /// # Ok::<(), monoscan::lexer::LexerError>(())
    /// ```
    ///
    /// # Errors
    /// [`ScanError::OutOfMemory`].
    pub fn lex(&self, text: &[u8]) -> Result<TokenList, ScanError> {
        let listing = match self.listing.get() {
            Some(listing) => listing,
            None => {
                let made = DynScan::builder(self.tables.token_program()).device(self.scan.device()).build()?;
                self.listing.get_or_init(|| made)
            }
        };
        let mut endings: Vec<u64> = listing.inclusive(&[Column::new(text)])?;
        endings.shrink_to_fit();
        Ok(TokenList::new(endings, &self.rules))
    }

    /// The laws of the scan, and the schedule that was chosen for it.
    pub fn explain(&self) -> String {
        self.scan.explain()
    }

    /// The scan.
    pub fn scan(&self) -> &DynScan {
        &self.scan
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What they became.
    pub fn tables(&self) -> &LexerTables {
        &self.tables
    }

    /// The tokens that labels of this lexer spell.
    pub fn tokens<'a>(&self, labels: &'a [u8], skips: Skips) -> Tokens<'a> {
        Tokens::new(labels, &self.rules, skips)
    }

    /// How many tokens of each kind labels of this lexer spell, skips included.
    pub fn count(&self, labels: &[u8]) -> Counts {
        Counts::new(labels, &self.rules)
    }
}
