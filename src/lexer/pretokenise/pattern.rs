//! Split patterns: alternatives, one of which may be `\s+(?!\S)`.

use regex_automata::util::syntax::{self, parse_with};
use regex_syntax::ast::{Ast, ErrorKind, parse::Parser};
use thiserror::Error;

use crate::lexer::LexerError;

/// Whitespace, of which the last character is left to the next piece, unless the text ends there.
const SPACE_BUT_ONE: &str = r"\s+(?!\S)";

/// The most alternatives of a pattern. A state has the number of one and three bits for a length, 16 bits in all.
pub const MAX_ALTERNATIVES: usize = 1 << 13;

/// Why there is no pre-tokeniser for a pattern. Alternatives count from 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// An alternative does not parse.
    #[error("alternative {alternative}: {message}")]
    Regex {
        /// Which one.
        alternative: usize,
        /// The parser's words.
        message: String,
    },
    /// An alternative matches the empty string.
    #[error("alternative {alternative} matches the empty string, but a piece has at least one character")]
    Empty {
        /// Which one.
        alternative: usize,
    },
    /// An alternative looks at what is outside its match.
    #[error(
        "alternative {alternative} looks outside its match: expected no `^`, `$`, `\\b` or `(?…)` of that kind, but for the whole \
         alternative `{SPACE_BUT_ONE}`"
    )]
    LookAround {
        /// Which one.
        alternative: usize,
    },
    /// An alternative sets flags for those behind it.
    #[error(
        "alternative {alternative} sets flags for the rest of the pattern: expected them in a group, as in `(?i:…)`"
    )]
    Flags {
        /// Which one.
        alternative: usize,
    },
    /// Nothing behind `\s+(?!\S)` takes a single blank.
    #[error(
        "alternative {alternative} takes no single blank before other text: expected `\\s+` or `\\s` as the next one"
    )]
    NoBlank {
        /// Which one.
        alternative: usize,
    },
    /// More than [`MAX_ALTERNATIVES`] alternatives.
    #[error("the pattern has {alternatives} alternatives: expected at most {MAX_ALTERNATIVES}")]
    TooMany {
        /// How many there are.
        alternatives: usize,
    },
    /// The automaton is too large.
    #[error(transparent)]
    Automaton(#[from] LexerError),
}

/// An alternative of a pattern.
pub(super) struct Alternative {
    /// A regex without look-around.
    pub(super) regex: String,
    /// Whether the last character of a match is given back, if more text follows.
    pub(super) gives_back: bool,
}

/// The alternatives of a pattern, each checked.
pub(super) fn alternatives(pattern: &str) -> Result<Vec<Alternative>, PatternError> {
    let parts = split(pattern);
    if parts.len() > MAX_ALTERNATIVES {
        return Err(PatternError::TooMany { alternatives: parts.len() });
    }
    let found: Vec<Alternative> =
        (1..).zip(parts).map(|(number, text)| alternative(number, text)).collect::<Result<_, _>>()?;
    let takes_blank = |next: Option<&Alternative>| next.is_some_and(|next| [r"\s+", r"\s"].contains(&&next.regex[..]));
    match (0..found.len()).find(|&i| found[i].gives_back && !takes_blank(found.get(i + 1))) {
        Some(place) => Err(PatternError::NoBlank { alternative: place + 1 }),
        None => Ok(found),
    }
}

/// How alternatives are read: as characters.
pub(super) fn syntax() -> syntax::Config {
    syntax::Config::new().unicode(true).utf8(true)
}

fn alternative(number: usize, text: &str) -> Result<Alternative, PatternError> {
    let alternative = number;
    if text == SPACE_BUT_ONE {
        return Ok(Alternative { regex: r"\s+\s".to_owned(), gives_back: true });
    }
    let ast = Parser::new().parse(text);
    if ast.as_ref().is_err_and(|error| *error.kind() == ErrorKind::UnsupportedLookAround) {
        return Err(PatternError::LookAround { alternative });
    }
    let regex =
        parse_with(text, &syntax()).map_err(|error| PatternError::Regex { alternative, message: error.to_string() })?;
    if !regex.properties().look_set().is_empty() {
        return Err(PatternError::LookAround { alternative });
    }
    if regex.properties().minimum_len() == Some(0) {
        return Err(PatternError::Empty { alternative });
    }
    if ast.is_ok_and(|ast| sets_flags(&ast)) {
        return Err(PatternError::Flags { alternative });
    }
    Ok(Alternative { regex: text.to_owned(), gives_back: false })
}

fn sets_flags(ast: &Ast) -> bool {
    match ast {
        Ast::Flags(_) => true,
        Ast::Concat(concat) => concat.asts.iter().any(sets_flags),
        _ => false,
    }
}

/// The parts between those `|` that are in no group and no class.
fn split(pattern: &str) -> Vec<&str> {
    let (mut parts, mut from, mut groups, mut classes, mut escaped) = (Vec::new(), 0, 0usize, 0usize, false);
    // Behind the `[` of the last class.
    let mut class = 0;
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => (classes, class) = (classes + 1, at + 1),
            // Where a class begins, it stands for itself.
            ']' if classes > 0 && ["", "^"].contains(&&pattern[class..at]) => {}
            ']' => classes = classes.saturating_sub(1),
            _ if classes > 0 => {}
            '(' => groups += 1,
            ')' => groups = groups.saturating_sub(1),
            '|' if groups == 0 => {
                parts.push(&pattern[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&pattern[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_split_outside_groups_and_classes() {
        assert_eq!(split(r"a(b|c)|[|]\||[[a|]b|]|"), ["a(b|c)", r"[|]\|", "[[a|]b|]", ""]);
        assert_eq!(split(r"[]|]+|[^]|]|\[]|[[^]|]^]|[^^]|x"), ["[]|]+", "[^]|]", r"\[]", "[[^]|]^]", "[^^]", "x"]);
    }

    #[test]
    fn what_cannot_be_said_is_refused_with_its_alternative() {
        let error = |pattern| alternatives(pattern).err().expect("it is refused");
        assert!(matches!(error("a|b*"), PatternError::Empty { alternative: 2 }));
        assert!(matches!(error("a|"), PatternError::Empty { alternative: 2 }));
        assert!(matches!(error(r"\s+$"), PatternError::LookAround { alternative: 1 }));
        assert!(matches!(error(r"a|x\s+(?!\S)"), PatternError::LookAround { alternative: 2 }));
        assert!(matches!(error("(?i)a|b"), PatternError::Flags { alternative: 1 }));
        assert!(matches!(error("a|[b"), PatternError::Regex { alternative: 2, .. }));
        assert!(matches!(error(r"a|\s+(?!\S)|b"), PatternError::NoBlank { alternative: 2 }));
        assert!(matches!(error(r"a|(?<=a)b"), PatternError::LookAround { alternative: 2 }));
        let too_many = ["a|".repeat(MAX_ALTERNATIVES), "b".to_owned()].concat();
        assert!(matches!(error(&too_many), PatternError::TooMany { alternatives: 8193 }));
        for pattern in [r"(?i:'s)|\s+(?!\S)|\s+", r"\(?!+", "[(?!]", "[]|]+"] {
            assert!(alternatives(pattern).is_ok(), "{pattern}");
        }
    }
}
