//! Why there is no lexer for some rules.

use monoscan_runtime::Error as ScanError;
use thiserror::Error;

use super::{Lookahead, MAX_LABELLED_RULES, MAX_RANKS, MAX_STATES, RulesError, Shadowed};

/// Why there is no lexer for some rules, or why it cannot do something.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LexerError {
    /// The rules are wrong.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// A rule matches the empty string.
    #[error("rule {rule} matches the empty string, but a token has at least one byte")]
    EmptyMatch {
        /// The rule's name.
        rule: String,
    },
    /// Rules shadow others, which was to be an error.
    #[error("rules shadow others:{}", list(rules))]
    Shadowed {
        /// Those that are shadowed; never empty.
        rules: Vec<Shadowed>,
    },
    /// Labels, and GPUs, need rules that one forward pass can lex; the CPU's tokens do not.
    #[error(transparent)]
    Lookahead(#[from] Lookahead),
    /// Labels, and GPUs, have at most [`MAX_LABELLED_RULES`] kinds; the CPU's tokens may have more.
    #[error("the rules have {kinds} kinds of tokens: expected at most {MAX_LABELLED_RULES} for labels, and on a GPU")]
    TooManyKinds {
        /// How many there are.
        kinds: usize,
    },
    /// Only the CPU lexes streams.
    #[error("a lexer on a GPU has no streams: use the same lexer on the CPU")]
    NoStream,
    /// The determinised rules are larger than [`MAX_STATES`], or than the memory set aside to build them.
    #[error(
        "the rules need more than {MAX_STATES} states as an automaton: bounded repetitions such as `{{1,1000}}` and Unicode classes cost most"
    )]
    TooManyStates,
    /// A byte may lead to more than [`MAX_RANKS`] states, which labels, and GPUs, do not support.
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
    /// The scan could not be built or run.
    #[error(transparent)]
    Scan(#[from] ScanError),
}

fn list(rules: &[Shadowed]) -> String {
    rules.iter().map(|rule| format!("\n  {rule}")).collect()
}
