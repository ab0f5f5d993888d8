//! Lexers: token rules in, tokens out, exactly as maximal munch defines them.
//!
//! On the CPU the rules' automaton becomes direct code: a block of machine code for each of its
//! states. The code skips through long tokens 16 bytes at a time, and goes back where a longer
//! token did not come. It runs on several threads from guessed places that are verified.
//!
//! Each byte is also a function from the automaton's state before it to the state behind
//! it, and functions compose associatively. So the state at *every* byte is a scan: that is how
//! GPUs lex, and how every byte gets a label. One forward pass is exact for rules that look at most
//! one byte ahead; for others a scan from the end of the text comes first.
//!
//! ```text
//! rules      texts and calls with a regex for each kind of token
//! dfa        → the smallest DFA that knows which rule matches; shadow: which rules lose ties
//! words      keywords, taken out of it; blame: which rule makes it too large
//! distance   how far ahead it looks; lookahead: which rules do
//! monoscan_runtime::lexer  → direct code, on one thread or several, and streams
//!
//! restart    the lexing automaton, which starts over by itself where a token ends; here is the proof
//!            that one pass is exact
//! ranks      → maps of at most a few ranks, one for each pair of neighbouring byte classes
//! oracle     any rules: an automaton from the end, which gives symbols, and one over these; the proof
//! possible   which of these symbols need not be told apart
//! transducer automata that give an output for each symbol; maps: how scans of them are represented
//! pieces     the same by walks of a text's pieces, which the CPU takes where there are two
//! program    → the scans: a label for every byte, or an entry for every token; scans runs them
//! tables     which of them the rules take; label: what is said of a byte; listing: tokens by scans
//! anchored   the automaton of matches that begin at one place; subsets: that of all matches of patterns
//! patterns   sets of patterns, by scans and walks of the latter
//! gather     labels → tokens; spans: the same by a scan; on_device: lists that GPUs make
//! ```
//!
//! A *label* is one byte for each byte of the text: the kind of what is pending there, and [`ENDS`]
//! where it ends.

mod anchored;
mod blame;
mod builder;
mod compiled;
mod dfa;
mod distance;
mod error;
mod gather;
mod label;
mod list;
mod listing;
mod lookahead;
mod maps;
mod minimal;
#[cfg(feature = "gpu")]
mod on_device;
mod oracle;
mod patterns;
mod pieces;
mod place;
mod possible;
mod pretokenise;
mod program;
mod ranks;
#[cfg(test)]
mod reference;
mod restart;
mod rules;
mod scans;
mod shadow;
#[cfg(any(test, feature = "gpu"))]
mod spans;
mod stream;
mod subsets;
mod tables;
#[cfg(test)]
mod tests;
mod transducer;
mod typed;
mod words;

pub use monoscan_macros::TokenKind;

pub use builder::LexerBuilder;
pub use compiled::Lexer;
pub use dfa::MAX_STATES;
pub use distance::{Distance, LookAhead};
pub use error::LexerError;
pub use gather::{Counts, Kind, Token, Tokens};
pub use label::{ENDS, ERROR, MAX_LABELLED_RULES, PENDING};
pub use list::TokenList;
pub use lookahead::Conflict;
pub use maps::MAX_SCAN_STATES;
pub use monoscan_runtime::lexer::{
    ERROR_KIND, KindNumber, MAX_TEXT, PlaceNumber, StreamToken, TokenColumns, TokenColumnsOf, TokenStream,
};
#[cfg(feature = "gpu")]
pub use on_device::DeviceTokens;
pub use oracle::MAX_ORACLE_CELLS;
#[cfg(feature = "gpu")]
pub use patterns::DeviceMatchEnds;
pub use patterns::{
    MAX_PATTERN_CELLS, MAX_PATTERN_STATES, MAX_SCANNED_STATES, MatchEnd, MatchEnds, PatternSet, PatternSetError,
};
pub use place::Lines;
pub use pretokenise::{CL100K, CL100K_TIKTOKEN, GPT2, MAX_ALTERNATIVES, O200K, PatternError, Pretokeniser};
pub use ranks::{MAX_RANKS, RankTables};
pub use rules::{
    C, CSV, ERROR_NAME, Fault, JSON, MAX_RULES, Place, RULE_SETS, RUST, Role, Rule, RuleFault, Rules, RulesError,
};
pub use shadow::Shadowed;
pub use stream::{LexerStream, Streamed};
pub use tables::LexerTables;
pub use typed::{KindLexer, KindList, KindRule, KindStream, RuleForm, TokenKind};
