//! Token rules: each names a kind of token and gives its regex.
//!
//! ```text
//! # a comment
//! NUMBER  [0-9]+
//! WORD    [A-Za-z_]+
//! skip SPACE [ \t\n]+
//! keyword if else   # a comment too
//! incomplete ERROR_
//! strict_ties
//! ```
//!
//! A line that begins with `#` is a comment. So is what follows a `#` between blanks, but in a line
//! that ends with a regex, which may have one.
//!
//! One rule a line: a name, then a regex that runs to the end of the line, blanks at its ends
//! trimmed (write `[ ]` or `\x20` for a blank that matters). `skip` in front marks tokens that are
//! left out. `keyword` gives words, each a kind that goes by its own name. `incomplete` gives a
//! prefix, and maybe names of rules behind it. A text that is no token but begins one of these
//! rules (of any, if none is named) is a token of the kind `ERROR_WORD`, say, if it begins a
//! `WORD`. Of several such rules the earliest counts. Lines such as `A = a` or `token A a`, which
//! other tools read otherwise, are refused with the line to write.
//!
//! The longest match wins, then the keyword, then the earlier rule. `strict_ties`, on a line of its
//! own, refuses rules that lose against an earlier one, with a shortest text, and rules that match
//! no text: see [`Shadowed`](crate::lexer::Shadowed).
//!
//! Regexes are those of [regex-automata](https://docs.rs/regex-automata) on *bytes*: `.` is any
//! byte but a line feed, `\w` is ASCII, and Unicode is on only where a rule turns it on, as in
//! `(?u)\p{L}+` or `(?u:é)`. Lazy and possessive repetitions are refused, as the longest match
//! wins. Anchors and word boundaries look outside the token and are refused too.

mod fault;
mod meaningless;
mod read;

use regex_automata::util::syntax;

pub use fault::{Fault, Place, RuleFault, RulesError};
pub(super) use meaningless::meaningless;
pub(super) use read::{Reader, in_words};

use super::gather::Kind;

/// The most rules that [`Rules`] may have, kinds of incomplete tokens included.
pub const MAX_RULES: usize = 2048;

/// The name that bytes matched by no rule go by.
pub const ERROR_NAME: &str = "ERROR";

/// Token rules in order of precedence, checked one by one.
///
/// ```
/// use monoscan::lexer::Rules;
///
/// let rules = Rules::parse("WORD [a-z]+\nskip SPACE [ ]+")?;
/// assert_eq!(rules.iter().map(|rule| rule.name()).collect::<Vec<_>>(), ["WORD", "SPACE"]);
///
/// let error = Rules::parse("WORD [a-z").unwrap_err();
/// assert!(error.to_string().starts_with("line 1, column 6: rule WORD: regex parse error"));
/// # Ok::<(), monoscan::lexer::RulesError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
    strict_ties: bool,
    /// Whether rules were named to have kinds of incomplete tokens, instead of all.
    names_each_incomplete: bool,
}

/// One token rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    name: String,
    pattern: String,
    role: Role,
}

/// The role of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Tokens that are reported.
    Token,
    /// Tokens that are left out.
    Skip,
    /// One word, which wins against any other rule that matches it.
    Keyword,
    /// Texts that are no token but begin one of the rule at this place.
    Incomplete {
        /// The place of that rule.
        of: usize,
    },
}

impl Rules {
    /// Reads a rules text.
    ///
    /// ```
    /// use monoscan::lexer::Rules;
    ///
    /// let faults = Rules::parse("WORD [a-z]*\nNUMBER [0-9").unwrap_err();
    /// assert_eq!(faults.faults().len(), 2); // an empty token, and a bracket that is not closed
    /// # Ok::<(), monoscan::lexer::RulesError>(())
    /// ```
    ///
    /// # Errors
    /// All faults of the text at once, each with its line and column.
    pub fn parse(text: &str) -> Result<Rules, RulesError> {
        let mut reader = Reader::default();
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, source) in (1..).zip(text.lines()) {
            reader.line(line, source);
        }
        reader.finish(Place::Text { line: 1, column: 1 })
    }

    /// The tokens of JSON, with every proper prefix of a token as a kind of its own: an editor can show an open string
    /// as such, and one forward pass is exact. The text is [`JSON`].
    pub fn json() -> Rules {
        Rules::parse(JSON).expect("the JSON rules parse")
    }

    /// The rules in order of precedence; a rule's place is its [`Kind::Rule`] index.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.rules.iter()
    }

    /// How many rules there are: at least 1, at most [`MAX_RULES`].
    #[allow(clippy::len_without_is_empty, reason = "there is always a rule")]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// The rule of a kind, unless the kind is an error or from other rules.
    pub fn get(&self, kind: Kind) -> Option<&Rule> {
        match kind {
            Kind::Rule(index) => self.rules.get(usize::from(index)),
            Kind::Error => None,
        }
    }

    /// The name of a kind: its rule's, or `ERROR`.
    pub fn name(&self, kind: Kind) -> &str {
        self.get(kind).map_or(ERROR_NAME, Rule::name)
    }

    /// The kind that goes by a name: a rule's, a keyword, or `ERROR`.
    ///
    /// ```
    /// use monoscan::lexer::{Kind, Rules};
    ///
    /// let rules = Rules::parse("WORD [a-z]+\nkeyword if")?;
    /// assert_eq!(rules.kind("if"), Some(Kind::Rule(1)));
    /// assert_eq!(rules.kind("while"), None);
    /// # Ok::<(), monoscan::lexer::RulesError>(())
    /// ```
    pub fn kind(&self, name: &str) -> Option<Kind> {
        if name == ERROR_NAME {
            return Some(Kind::Error);
        }
        self.rules.iter().position(|rule| rule.name == name).map(|index| Kind::Rule(index as u16))
    }

    /// Whether [`Lexer::new`](crate::lexer::Lexer::new) refuses these rules if one [shadows](crate::lexer::Shadowed) another. They say
    /// so themselves: by a line `strict_ties` of their text, by [the builder](crate::lexer::LexerBuilder::strict_ties), or by [the
    /// enum](crate::lexer::TokenKind::STRICT_TIES).
    ///
    /// ```
    /// use monoscan::lexer::{Lexer, Rules};
    ///
    /// let rules = Rules::parse("NAME [a-z]+\nLET let\nstrict_ties")?;
    /// assert!(rules.strict_ties());
    /// let error = Lexer::new(rules).unwrap_err();
    /// assert_eq!(error.to_string(), "rules shadow others or never win:\n  rule LET never wins: \"let\" is NAME");
    /// # Ok::<(), monoscan::lexer::RulesError>(())
    /// ```
    pub fn strict_ties(&self) -> bool {
        self.strict_ties
    }

    /// Whether texts that begin a token have kinds of their own.
    pub(super) fn names_incomplete(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.role, Role::Incomplete { .. }))
    }

    /// Whether each kind of incomplete tokens was asked for by the name of its rule.
    pub(super) fn names_each_incomplete(&self) -> bool {
        self.names_each_incomplete
    }

    /// For a rule, the kind of what begins one of its tokens.
    pub(super) fn incomplete_of(&self, rule: usize) -> Option<usize> {
        self.rules.iter().position(|other| other.role == Role::Incomplete { of: rule })
    }
}

impl Rule {
    /// The name of this kind of token; a keyword's is the word.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The regex; empty for incomplete tokens, which have none.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The role of the rule.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether tokens of this kind are left out.
    pub fn is_skip(&self) -> bool {
        self.role == Role::Skip
    }

    /// Whether the kind has a regex of its own.
    pub(super) fn has_pattern(&self) -> bool {
        !matches!(self.role, Role::Incomplete { .. })
    }
}

/// How every regex of a rule is read: as bytes, Unicode off until the rule turns it on.
pub(super) fn syntax() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

/// The rules of [`Rules::json`].
///
/// A hexadecimal digit is where most states meet: inside a string, after `\u` and one, two or three digits, in each part
/// of a number or word. There are eight, so the maps of this lexer are eight bytes.
pub const JSON: &str = include_str!("sets/json.rules");

/// The rules of CSV (RFC 4180), quotes kept in the fields.
pub const CSV: &str = include_str!("sets/csv.rules");

/// The tokens of C11; `#` and the name of a directive are one token.
pub const C: &str = include_str!("sets/c.rules");

/// The tokens of Rust; a block comment ends at its first `*/`, as nesting is no regular language. `1.` is an
/// integer and a dot.
pub const RUST: &str = include_str!("sets/rust.rules");

/// Rule sets that come with monoscan, by name: what a lexer of one's own may begin with.
///
/// ```
/// use monoscan::lexer::{Lexer, RULE_SETS, Rules};
///
/// let (_, rules) = RULE_SETS.into_iter().find(|(name, _)| *name == "sql").unwrap();
/// let lexer = Lexer::new(Rules::parse(rules)?)?;
/// assert_eq!(lexer.lex(b"SELECT 'it''s' -- a string")?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const RULE_SETS: [(&str, &str); 12] = [
    ("json", JSON),
    ("csv", CSV),
    ("c", C),
    ("c-preprocessor", include_str!("sets/c_preprocessor.rules")),
    ("rust", RUST),
    ("python", include_str!("sets/python.rules")),
    ("sql", include_str!("sets/sql.rules")),
    ("ini", include_str!("sets/ini.rules")),
    ("log", include_str!("sets/log.rules")),
    ("url", include_str!("sets/url.rules")),
    ("markdown", include_str!("sets/markdown.rules")),
    ("cl100k", include_str!("sets/cl100k.rules")),
];
