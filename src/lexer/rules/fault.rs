//! Everything that can be wrong with token rules, each fault with its place.

use std::fmt;

use thiserror::Error;

use super::{ERROR_NAME, MAX_RULES, Role};

/// Everything that is wrong with some rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    pub(super) faults: Vec<RuleFault>,
}

/// One thing that is wrong with some rules, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {fault}")]
pub struct RuleFault {
    /// Where it is.
    pub place: Place,
    /// The fault.
    pub fault: Fault,
}

/// Where a fault is. Earlier places come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a text of rules.
    Text {
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
    },
    /// In a rule that was given to a [`LexerBuilder`](crate::lexer::LexerBuilder).
    Builder {
        /// Which of its rules, counted from 1.
        rule: usize,
        /// Column of the regex in characters, counted from 1.
        column: usize,
    },
    /// In a rule of a variant of a [`TokenKind`](crate::lexer::TokenKind).
    Variant {
        /// Which of the enum's rules, counted from 1: each keyword is one, and kinds of incomplete tokens come last.
        rule: usize,
        /// The name of the variant.
        name: &'static str,
        /// Column of the regex in characters, counted from 1.
        column: usize,
    },
}

impl Place {
    /// The line of the text, the number of the rule, or the variant.
    fn row(self) -> String {
        match self {
            Place::Text { line, .. } => format!("line {line}"),
            Place::Builder { rule, .. } => format!("rule number {rule}"),
            Place::Variant { name, .. } => format!("variant {name}"),
        }
    }

    fn column(self) -> usize {
        match self {
            Place::Text { column, .. } | Place::Builder { column, .. } | Place::Variant { column, .. } => column,
        }
    }

    /// So many characters further right.
    pub(super) fn right(mut self, by: usize) -> Place {
        match &mut self {
            Place::Text { column, .. } | Place::Builder { column, .. } | Place::Variant { column, .. } => *column += by,
        }
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, column {}", self.row(), self.column())
    }
}

/// The ways in which rules can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A line has no name, or something else where the name should be.
    #[error(
        "expected a name (a letter or `_`, then letters, digits, `_` or `-`), found {}",
        if .found.is_empty() { "nothing".to_owned() } else { format!("`{}`", .found) }
    )]
    Name {
        /// The word in its place, which may be empty.
        found: String,
    },
    /// A name that means something else already.
    #[error(
        "`{ERROR_NAME}` names the bytes that no rule matches: {}",
        match .role {
            Role::Token | Role::Skip => "choose another name",
            // Its name is its text.
            Role::Keyword => "write it as a rule, such as `ERROR_WORD ERROR`, before the others",
            Role::Incomplete { .. } => "choose another prefix for incomplete tokens",
        }
    )]
    Reserved {
        /// The role of what has the name.
        role: Role,
    },
    /// A line that would be read as a rule, and seems to be meant otherwise.
    #[error(
        "this would be a rule {name} whose regex is `{pattern}`: write `{instead}`, or if it is meant, write the regex's first \
         word as `(?:…)`"
    )]
    OtherForm {
        /// The name that the rule would have.
        name: String,
        /// The regex that the rule would have.
        pattern: String,
        /// The line that seems to be meant.
        instead: String,
    },
    /// A line of rules that is to choose kinds.
    #[error("`{name}` is no line of rules: call `Lexer::only` with the kinds of the tokens that are wanted")]
    Choice {
        /// Its first word.
        name: String,
    },
    /// A name without a regex.
    #[error("expected a regex after the rule name {name}, found nothing")]
    NoRegex {
        /// The rule.
        name: String,
    },
    /// A second rule of one name.
    #[error(
        "{} has a rule {name} already: {}",
        .first.row(),
        match .role {
            Role::Token | Role::Skip => "write one rule whose regex joins the two with `|`, or choose another name",
            Role::Keyword => "a keyword is written once, and is no rule's name",
            Role::Incomplete { .. } => "choose another prefix for incomplete tokens",
        }
    )]
    Duplicate {
        /// The rule.
        name: String,
        /// The role of the second one.
        role: Role,
        /// Where the first rule of this name is.
        first: Place,
    },
    /// The regex does not parse.
    #[error("rule {name}: {message}")]
    Regex {
        /// The rule.
        name: String,
        /// The parser's words.
        message: String,
    },
    /// A lazy repetition, `*?` and the like, or the flag `U`.
    #[error(
        "rule {name}: the longest match always wins, so a lazy repetition has no meaning: remove the `?` (or the flag \
         `U`), and say in the regex where the token ends"
    )]
    Lazy {
        /// The rule.
        name: String,
    },
    /// A possessive repetition, `a++` and the like.
    #[error(
        "rule {name}: the longest match always wins, so a possessive repetition has no meaning: remove the second of the \
         two repetitions, or write a group around the first"
    )]
    Repeated {
        /// The rule.
        name: String,
    },
    /// The regex matches the empty string.
    #[error(
        "rule {name} matches the empty string, but a token has at least one byte: use `+` in place of `*`, or remove a `?`"
    )]
    Empty {
        /// The rule.
        name: String,
    },
    /// The regex looks at what is outside its match.
    #[error("rule {name}: `^`, `$`, `\\b` and the like look outside the token and have no meaning in a token rule")]
    LookAround {
        /// The rule.
        name: String,
    },
    /// A keyword without a text.
    #[error("expected the text of a keyword, found none")]
    NoKeyword,
    /// A word that begins with `#` behind `keyword`, in a text.
    #[error(
        "expected a keyword, found `{found}`: a comment behind keywords begins with `#` and a blank, and a keyword that begins \
         with `#` is written as a rule, such as `HASH \\x23`, before the others"
    )]
    Comment {
        /// The word.
        found: String,
    },
    /// A second prefix for the kinds of incomplete tokens.
    #[error("expected one prefix for incomplete tokens, found a second")]
    SecondPrefix,
    /// The prefix for kinds of incomplete tokens is a rule's name.
    #[error("{name} is a rule, and a prefix is expected before the names of rules: write `incomplete OPEN_ {name}`")]
    NoPrefix {
        /// The rule.
        name: String,
    },
    /// Something behind `strict_ties`.
    #[error("expected `strict_ties` on a line of its own, found `{found}` behind it; a rule has another name")]
    NotAlone {
        /// The rest of the line.
        found: String,
    },
    /// `incomplete` names a rule that is none.
    #[error("there is no rule {name} whose incomplete tokens could have a kind")]
    UnknownRule {
        /// The name.
        name: String,
    },
    /// A kind for what begins a token of one byte.
    #[error("rule {name} matches single bytes only, so nothing begins its tokens: remove the kind for incomplete ones")]
    NeverIncomplete {
        /// The rule.
        name: String,
    },
    /// More than [`MAX_RULES`] rules.
    #[error("expected at most {MAX_RULES} rules")]
    TooMany,
    /// No rule at all.
    #[error(
        "expected at least one rule, {}",
        if *.in_text { "a line `NAME regex` or `skip NAME regex`" } else { "by `token`, `skip` or `keyword`" }
    )]
    NoRules {
        /// Whether a line was expected.
        in_text: bool,
    },
}

impl RulesError {
    /// The faults in the order of their places; never empty.
    pub fn faults(&self) -> &[RuleFault] {
        &self.faults
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for RulesError {}
