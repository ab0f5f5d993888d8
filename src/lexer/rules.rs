//! Token rules: a short text that names each kind of token and gives its regex.
//!
//! ```text
//! # a comment
//! NUMBER  [0-9]+
//! WORD    [a-z]+|[A-Z]+
//! skip SPACE [ \t\n]+
//! ```
//!
//! One rule a line: a name, then a regex that runs to the end of the line, blanks at its ends
//! trimmed (write `[ ]` or `\x20` for a blank that matters). `skip` in front marks tokens that a
//! reader usually wants left out. The longest match wins, then the earlier rule; so keywords go
//! above the identifiers they look like.
//!
//! Regexes are those of [regex-automata](https://docs.rs/regex-automata) on *bytes*: `.` is any
//! byte but a line feed, `\w` is ASCII, and Unicode is on only where a rule turns it on, as in
//! `(?u)\p{L}+` or `(?u:é)`. Because the longest match always wins, a lazy `*?` means the same as
//! `*`. Anchors and word boundaries look outside the token and are refused.

use std::fmt;

use regex_automata::util::syntax;
use thiserror::Error;

use super::gather::Kind;

/// The most rules a [`Rules`] may have: a kind and a flag share one byte.
pub const MAX_RULES: usize = 120;

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
}

/// One token rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    name: String,
    pattern: String,
    skip: bool,
    line: usize,
}

/// Everything that is wrong with a rules text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    faults: Vec<RuleFault>,
}

/// One thing that is wrong with a rules text, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct RuleFault {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// The ways in which a rules text can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A line has no name, or something else where the name should be.
    #[error(
        "expected a rule name (a letter or `_`, then letters, digits, `_` or `-`), found {}",
        if .found.is_empty() { "the end of the line".to_owned() } else { format!("`{}`", .found) }
    )]
    Name {
        /// The word in its place; empty at the end of the line.
        found: String,
    },
    /// A name that means something else already.
    #[error("`{ERROR_NAME}` names the bytes that no rule matches: choose another name")]
    Reserved,
    /// A name without a regex.
    #[error("expected a regex after the rule name {name}, found the end of the line")]
    NoRegex {
        /// The rule.
        name: String,
    },
    /// A second rule of one name.
    #[error("line {first} has a rule {name} already: write one rule whose regex joins the two with `|`")]
    Duplicate {
        /// The rule.
        name: String,
        /// The line that has the first rule of this name.
        first: usize,
    },
    /// The regex does not parse.
    #[error("rule {name}: {message}")]
    Regex {
        /// The rule.
        name: String,
        /// The parser's words.
        message: String,
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
    /// More than [`MAX_RULES`] rules.
    #[error("expected at most {MAX_RULES} rules")]
    TooMany,
    /// No rule at all.
    #[error("expected at least one rule, a line `NAME regex` or `skip NAME regex`")]
    NoRules,
}

impl Rules {
    /// Reads a rules text.
    ///
    /// # Errors
    /// All faults of the text at once, each with its line and column.
    pub fn parse(text: &str) -> Result<Rules, RulesError> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut faults = Vec::new();
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, source) in (1..).zip(text.lines()) {
            if source.trim().is_empty() || source.trim_start().starts_with('#') {
                continue;
            }
            match parse_line(line, source, &rules) {
                Ok(rule) => rules.push(rule),
                Err(fault) => faults.push(fault),
            }
        }
        if rules.is_empty() && faults.is_empty() {
            faults.push(RuleFault { line: 1, column: 1, fault: Fault::NoRules });
        }
        if faults.is_empty() { Ok(Rules { rules }) } else { Err(RulesError { faults }) }
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
}

impl Rule {
    /// The name of this kind of token.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The regex.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether tokens of this kind are usually left out.
    pub fn is_skip(&self) -> bool {
        self.skip
    }
}

impl RulesError {
    /// The faults in the order of their lines; never empty.
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

/// How every regex of a rule is read: as bytes, Unicode off until the rule turns it on.
pub(super) fn syntax() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

/// Reads a line that is neither blank nor a comment.
fn parse_line(line: usize, source: &str, earlier: &[Rule]) -> Result<Rule, RuleFault> {
    let at = |offset: usize, fault| RuleFault { line, column: source[..offset].chars().count() + 1, fault };
    let mut words = Words { source: source.trim_end(), offset: 0 };
    let (mut place, mut name) = words.word();
    let skip = name == "skip";
    if skip {
        (place, name) = words.word();
    }
    let (pattern_place, pattern) = words.rest();
    check_name(name, earlier).map_err(|fault| at(place, fault))?;
    check_regex(name, pattern).map_err(|fault| at(pattern_place, fault))?;
    Ok(Rule { name: name.to_owned(), pattern: pattern.to_owned(), skip, line })
}

/// A line being taken apart from the left; what it yields comes with its byte offset.
struct Words<'a> {
    source: &'a str,
    offset: usize,
}

impl<'a> Words<'a> {
    fn rest(&mut self) -> (usize, &'a str) {
        let rest = self.source[self.offset..].trim_start();
        self.offset = self.source.len() - rest.len();
        (self.offset, rest)
    }

    fn word(&mut self) -> (usize, &'a str) {
        let (place, rest) = self.rest();
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        self.offset = place + word.len();
        (place, word)
    }
}

fn check_name(name: &str, earlier: &[Rule]) -> Result<(), Fault> {
    let mut letters = name.chars();
    let starts_well = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if !starts_well || !letters.all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        return Err(Fault::Name { found: name.to_owned() });
    }
    if name == ERROR_NAME {
        return Err(Fault::Reserved);
    }
    if let Some(rule) = earlier.iter().find(|rule| rule.name == name) {
        return Err(Fault::Duplicate { name: name.to_owned(), first: rule.line });
    }
    if earlier.len() == MAX_RULES {
        return Err(Fault::TooMany);
    }
    Ok(())
}

fn check_regex(name: &str, pattern: &str) -> Result<(), Fault> {
    let name = name.to_owned();
    if pattern.is_empty() {
        return Err(Fault::NoRegex { name });
    }
    let regex = match syntax::parse_with(pattern, &syntax()) {
        Ok(regex) => regex,
        Err(error) => return Err(Fault::Regex { name, message: error.to_string() }),
    };
    if !regex.properties().look_set().is_empty() {
        return Err(Fault::LookAround { name });
    }
    if regex.properties().minimum_len() == Some(0) {
        return Err(Fault::Empty { name });
    }
    Ok(())
}

/// The rules of [`Rules::json`].
///
/// A hexadecimal digit is where most states meet: inside a string, after `\u` and one, two or three digits, in each part
/// of a number or word. There are eight, so the maps of this lexer are eight bytes.
pub const JSON: &str = r#"
LBRACE       \{
RBRACE       \}
LBRACKET     \[
RBRACKET     \]
COLON        :
COMMA        ,
STRING       "([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"
NUMBER       -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
TRUE         true
FALSE        false
NULL         null
skip SPACE   [ \t\n\r]+

# What a token may have been when the text broke off, or went wrong.
OPEN_STRING  "([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*(\\(u[0-9A-Fa-f]{0,3})?)?
PART_NUMBER  -|-?(0|[1-9][0-9]*)(\.|(\.[0-9]+)?[eE][+-]?)
PART_WORD    t|tr|tru|f|fa|fal|fals|n|nu|nul
"#;
