//! The expected and the found line of a manifest, for errors.

use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;

use crate::gpu::Arch;

/// The line that was expected in a manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ExpectedLine {
    /// A key with its value.
    Value {
        /// The key.
        key: &'static str,
        /// The value.
        value: ExpectedValue,
    },
    /// The text of the program.
    Program,
    /// The last line.
    End,
}

/// The value that was expected of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ExpectedValue {
    /// A number in this range.
    Number(RangeInclusive<usize>),
    /// `true` or `false`.
    Truth,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An architecture.
    Arch,
    /// A version of monoscan.
    Version,
    /// A hash.
    Hash,
    /// A schedule with its numbers.
    Schedule,
}

/// A line of a manifest that is not what was expected: its text, or nothing at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundLine(pub Option<String>);

impl Display for FoundLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(line) => write!(f, "`{line}`"),
            None => f.write_str("the end"),
        }
    }
}

impl Display for ExpectedLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedLine::Value { key, value } => write!(f, "`{key}` and {value}"),
            ExpectedLine::Program => f.write_str("`program` and its text"),
            ExpectedLine::End => f.write_str("`end`"),
        }
    }
}

impl Display for ExpectedValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedValue::Number(within) if within.start() == within.end() => write!(f, "{}", within.start()),
            ExpectedValue::Number(within) => write!(f, "a number from {} to {}", within.start(), within.end()),
            ExpectedValue::Truth => one_of(f, &["true", "false"]),
            ExpectedValue::OneOf(words) => one_of(f, words),
            ExpectedValue::Arch => one_of(f, &Arch::ALL),
            ExpectedValue::Version => f.write_str("a version of monoscan"),
            ExpectedValue::Hash => f.write_str("64 hexadecimal digits"),
            ExpectedValue::Schedule => f.write_str(
                "`ring buffers B ahead A` or `shifted-ring buffers B ahead A`, where 1 <= A < 64 and A + 2 <= B <= 64, \
                 `look-back` or `columnar`",
            ),
        }
    }
}

fn one_of(f: &mut Formatter<'_>, words: &[impl Display]) -> fmt::Result {
    for (place, word) in words.iter().enumerate() {
        let before = match place {
            0 => "",
            _ if place + 1 == words.len() => " or ",
            _ => ", ",
        };
        write!(f, "{before}`{word}`")?;
    }
    Ok(())
}
