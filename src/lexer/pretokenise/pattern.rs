//! Split patterns: alternatives, one of which may be `\s+(?!\S)`.

use regex_syntax::ast::{Ast, ErrorKind, parse::Parser};
use regex_syntax::hir::{Hir, HirKind, Look, LookSet, translate::Translator};
use thiserror::Error;

use super::possessive::{self, GivesBack, Repeated};
use crate::lexer::LexerError;

/// Whitespace, of which the last character is left to the next piece, unless the text ends there.
const SPACE_BUT_ONE: &str = r"\s+(?!\S)";

/// The same, but that the character which is left is part of a match, where more text follows.
const SPACE_AND_ONE: &str = r"\s+(?:\s|$)";

/// The most alternatives of a pattern: the kind of a piece has 16 bits, and one of their numbers is that of errors.
pub const MAX_ALTERNATIVES: usize = u16::MAX as usize;

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
        "alternative {alternative} looks outside its match: expected no `^`, `\\b` or `(?…)` of that kind, but for the whole \
         alternative `{SPACE_BUT_ONE}`, and no `$` but behind a character and for the end of the text"
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
    /// An alternative repeats a repetition, which is no possessive one.
    #[error(
        "alternative {alternative} repeats a repetition: expected `+` behind a greedy one, which makes it possessive, or a group, \
         as in `(?:a{{2}})*`"
    )]
    Repeated {
        /// Which one.
        alternative: usize,
    },
    /// A possessive repetition may match less than the greedy one.
    #[error(
        "alternative {alternative} has a possessive repetition that is not known to be a greedy one: expected that what follows \
         it may be empty, or that it repeats one class, of which no character begins what follows"
    )]
    Possessive {
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
    /// A regex that looks at nothing outside its match but the end of the text.
    pub(super) regex: Hir,
    /// Whether the last character of a match is given back, if more text follows.
    pub(super) gives_back: bool,
}

/// The alternatives of a pattern, each checked.
pub(super) fn alternatives(pattern: &str) -> Result<Vec<Alternative>, PatternError> {
    let parts = split(pattern);
    if parts.len() > MAX_ALTERNATIVES {
        return Err(PatternError::TooMany { alternatives: parts.len() });
    }
    (1..).zip(parts).map(|(number, text)| alternative(number, text)).collect()
}

fn alternative(number: usize, text: &str) -> Result<Alternative, PatternError> {
    let alternative = number;
    let gives_back = text == SPACE_BUT_ONE;
    let text = if gives_back { SPACE_AND_ONE } else { text };
    let wrong = |message: String| PatternError::Regex { alternative, message };
    let mut ast = Parser::new().parse(text).map_err(|error| match error.kind() {
        ErrorKind::UnsupportedLookAround => PatternError::LookAround { alternative },
        _ => wrong(error.to_string()),
    })?;
    possessive::group(&mut ast).map_err(|Repeated| PatternError::Repeated { alternative })?;
    let regex = Translator::new().translate(text, &ast).map_err(|error| wrong(error.to_string()))?;
    if regex.properties().minimum_len() == Some(0) {
        return Err(PatternError::Empty { alternative });
    }
    let looks = regex.properties().look_set().subtract(LookSet::singleton(Look::End));
    if !looks.is_empty() || looks_at_once(&regex) {
        return Err(PatternError::LookAround { alternative });
    }
    possessive::are_greedy(&regex).map_err(|GivesBack| PatternError::Possessive { alternative })?;
    if sets_flags(&ast) {
        return Err(PatternError::Flags { alternative });
    }
    Ok(Alternative { regex, gives_back })
}

/// Whether a regex may look around before its first character. The parser's own set of such looks is not all of them.
fn looks_at_once(regex: &Hir) -> bool {
    match regex.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => false,
        HirKind::Look(_) => true,
        HirKind::Repetition(of) => looks_at_once(&of.sub),
        HirKind::Capture(of) => looks_at_once(&of.sub),
        HirKind::Alternation(of) => of.iter().any(looks_at_once),
        HirKind::Concat(of) => {
            let may_be_empty = of.iter().take_while(|part| part.properties().minimum_len() == Some(0)).count();
            of.iter().take(may_be_empty + 1).any(looks_at_once)
        }
    }
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
        assert!(matches!(error(r"a$|b|$"), PatternError::Empty { alternative: 3 }));
        for looks in [r"$a", r"(?:$|b)c", r"(?:a|b?)(?:b|$)c", r"(?m:a$)", r"\ba", r"^a", r"a\b"] {
            assert!(matches!(error(looks), PatternError::LookAround { alternative: 1 }), "{looks}");
        }
        for repeated in [r"a{2}{3}", r"a+*", r"a+?+", r"a++?", r"a+++", r"(?:b|a?{2})c"] {
            assert!(matches!(error(repeated), PatternError::Repeated { alternative: 1 }), "{repeated}");
        }
        assert!(matches!(error(r"a|x\s+(?!\S)"), PatternError::LookAround { alternative: 2 }));
        assert!(matches!(error("(?i)a|b"), PatternError::Flags { alternative: 1 }));
        assert!(matches!(error("a|[b"), PatternError::Regex { alternative: 2, .. }));
        assert!(matches!(error(r"a|(?<=a)b"), PatternError::LookAround { alternative: 2 }));
        let too_many = ["a|".repeat(MAX_ALTERNATIVES), "b".to_owned()].concat();
        assert!(matches!(error(&too_many), PatternError::TooMany { alternatives: 65536 }));
        for pattern in [r"(?i:'s)|\s+(?!\S)|\s+", r"\(?!+", "[(?!]", "[]|]+", r"\s+(?!\S)|b", r"\s+$|a\z", "a(?:b|$)"] {
            assert!(alternatives(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn possessive_repetitions_that_give_back_in_vain_are_greedy() {
        for pattern in [
            // What follows may be empty.
            "a++",
            "x(?:ab|a)*+",
            "(?:ab|a)++c*",
            "x(?:a++b?)*",
            "(?:a++|b)++",
            "a++(?:b|)",
            // One way to match.
            "a{3}+a",
            "[ab]{2}+a",
            "(?:ab){1}+",
            "é{2}+é",
            // One class, and another follows.
            "a++b",
            "a?+b",
            "[ab]*+c",
            "a{1,3}+[^a]",
            "a++$",
            "(?:a++b)+",
            "a++b*c",
            "a++(?:b|c$)",
            r"\s*+\S",
            "(?i:a)++b",
            "a++(?:b*$)",
            "é++e",
        ] {
            assert!(alternatives(pattern).is_ok(), "{pattern}");
        }
        for pattern in [
            "a++a",
            "(?:a++b)++c",
            "a?+a",
            "a*+b*a",
            "(?:ab)++c",
            "(?:a++){2}",
            "(?:a++b?){2}",
            "(?:ab|a){1}+b",
            "(?:ab|a)++c",
            "(?U:a++)b",
            "(?i:a)++A",
            "a++(?:b|a)",
            "(?:x*a++){2}",
            r"\s++\n",
            "(?:ab|a)++$",
            "(?:ab){2}+a",
            "x(?:ab|a)?+b",
        ] {
            let error = alternatives(pattern).err().unwrap_or_else(|| panic!("{pattern} is accepted"));
            assert!(matches!(error, PatternError::Possessive { alternative: 1 }), "{pattern}: {error}");
        }
    }
}
