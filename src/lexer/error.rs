//! Why there is no lexer for some rules.

use monoscan_runtime::Error as ScanError;
use thiserror::Error;

use super::{MAX_LABELLED_RULES, MAX_ORACLE_CELLS, MAX_SCAN_STATES, MAX_STATES, RulesError, Shadowed};

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
    /// Rules shadow others or never win, which was to be an error.
    #[error("rules shadow others or never win:{}", list(rules))]
    Shadowed {
        /// Those that are shadowed or never win; never empty.
        rules: Vec<Shadowed>,
    },
    /// Labels have at most [`MAX_LABELLED_RULES`] kinds; lists of tokens may have more.
    #[error(
        "the rules have {kinds} kinds of tokens: expected at most {MAX_LABELLED_RULES} for labels, which are bytes"
    )]
    TooManyKinds {
        /// How many there are.
        kinds: usize,
    },
    /// A column of `u8` has 255 kinds at most, and one number for errors; one of `u16` has more.
    #[error("the rules have {kinds} kinds of tokens: expected at most 255 for a column of u8; one of u16 takes them")]
    KindsOfBytes {
        /// How many there are.
        kinds: usize,
    },
    /// Only the CPU lexes streams.
    #[error("a lexer on a GPU has no streams: use the same lexer on the CPU")]
    NoStream,
    /// The automaton of the rules has more than [`MAX_STATES`] states.
    #[error(
        "the automaton has more than {MAX_STATES} states{}; bounded repetitions such as `{{1,1000}}` and Unicode classes cost most",
        needs_most(rule)
    )]
    TooManyStates {
        /// The rule that is too large alone, or larger than all others together, if there is one.
        rule: Option<String>,
    },
    /// The automaton of the rules needs more memory to build than is set aside, which bounds the time too.
    #[error(
        "the automaton needs too much memory to build{}; bounded repetitions such as `{{1,1000}}` and Unicode classes cost most",
        needs_most(rule)
    )]
    TooMuchMemory {
        /// As for [`TooManyStates`](LexerError::TooManyStates).
        rule: Option<String>,
    },
    /// As a scan, which labels and GPUs need, the rules have more than [`MAX_SCAN_STATES`] states; and those that one symbol leads
    /// to are as many, or their tables too large.
    #[error(
        "as a scan the rules need {states} states: expected at most {MAX_SCAN_STATES} for labels, and on a GPU; bounded repetitions and Unicode classes cost most"
    )]
    TooManyScanStates {
        /// How many there are at least.
        states: usize,
    },
    /// Too many cases of text may follow: the oracle, which labels and GPUs need for these rules, would have more than
    /// [`MAX_ORACLE_CELLS`] entries, or 65,536 states or symbols.
    #[error(
        "what may follow a token has too many cases: expected an oracle of at most {MAX_ORACLE_CELLS} entries for labels, and on a GPU; `incomplete` kinds spare cases, and bounded repetitions and Unicode classes cost most"
    )]
    OracleTooLarge,
    /// A rule's match depends on the text before a token.
    #[error("what begins a token depends on the text before it: expected rules that look at the token alone")]
    LookBehind,
    /// The regexes could not be parsed together, or no automaton could be built of them.
    #[error("the rules' automaton cannot be built: {why}")]
    Automaton {
        /// The error of regex-syntax or regex-automata.
        #[source]
        why: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The scan could not be built or run.
    #[error(transparent)]
    Scan(#[from] ScanError),
}

impl LexerError {
    pub(super) fn automaton(why: impl std::error::Error + Send + Sync + 'static) -> LexerError {
        LexerError::Automaton { why: Box::new(why) }
    }
}

fn needs_most(rule: &Option<String>) -> String {
    rule.as_ref().map_or(String::new(), |rule| format!(", and rule {rule} needs most"))
}

fn list(rules: &[Shadowed]) -> String {
    rules.iter().map(|rule| format!("\n  {rule}")).collect()
}
