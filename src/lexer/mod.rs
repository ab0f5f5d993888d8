//! Lexers: token rules in, tokens out, exactly as maximal munch defines them.
//!
//! On the CPU the rules' automaton becomes direct code: a block of machine code for each of its
//! states, which skips through long tokens 16 bytes at a time, goes back where a longer token did
//! not come, and runs on several threads from guessed places that are verified.
//!
//! What each byte does is also a function from the automaton's state before it to the state behind
//! it, and functions compose associatively. So the state at *every* byte is a scan: that is how
//! GPUs lex, and how every byte gets a label. One forward pass must be exact for that.
//!
//! ```text
//! rules      texts and calls with a regex for each kind of token
//! dfa        → the smallest DFA that knows which rule matches; shadow: which rules lose ties
//! words      keywords, taken out of it
//! distance   how far ahead it looks; lookahead: which rules do
//! monoscan_runtime::lexer  → direct code, on one thread or several, and streams
//!
//! restart    the lexing automaton, which starts over by itself where a token ends; here is the proof
//!            that one pass is exact
//! ranks      → maps of at most a few ranks, one for each pair of neighbouring byte classes
//! program    → the scans: a label for every byte, or an entry for every token
//! gather     labels, the bytes that the first scan writes, → tokens
//! ```
//!
//! A *label* is one byte for each byte of the text: the kind of what is pending there, and [`ENDS`]
//! where it ends.

mod builder;
mod compiled;
mod dfa;
mod distance;
mod error;
mod gather;
mod list;
mod lookahead;
mod minimal;
mod patterns;
mod place;
mod pretokenise;
mod program;
mod ranks;
#[cfg(test)]
mod reference;
mod restart;
mod rules;
mod shadow;
mod stream;
#[cfg(test)]
mod tests;
mod typed;
mod words;

use monoscan_ir::{Program, Verified};

pub use monoscan_macros::TokenKind;

pub use builder::LexerBuilder;
pub use compiled::Lexer;
pub use dfa::MAX_STATES;
pub use distance::{Distance, LookAhead};
pub use error::LexerError;
pub use gather::{Counts, Kind, Skips, Token, Tokens};
pub use list::TokenList;
pub use lookahead::{Conflict, Lookahead};
pub use monoscan_runtime::lexer::{ERROR_KIND, MAX_TEXT, StreamToken, TokenColumns, TokenStream};
pub use patterns::{MAX_PATTERN_STATES, MatchEnd, MatchEnds, PatternSet, PatternSetError};
pub use place::Lines;
pub use pretokenise::{CL100K, GPT2, MAX_ALTERNATIVES, O200K, PatternError, Pretokeniser};
pub use ranks::{MAX_RANKS, RankTables};
pub use restart::{ENDS, ERROR, MAX_LABELLED_RULES, PENDING};
pub use rules::{
    C, CSV, ERROR_NAME, Fault, JSON, MAX_RULES, Place, RULE_SETS, RUST, Role, Rule, RuleFault, Rules, RulesError,
};
pub use shadow::Shadowed;
pub use stream::{LexerStream, Streamed};
pub use typed::{KindLexer, KindList, KindRule, KindStream, RuleForm, TokenKind};

/// What the rules became for a scan: everything that it needs to label a text, and how large it is.
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
