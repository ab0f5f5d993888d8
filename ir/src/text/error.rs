//! Errors of a text that does not parse.

use std::fmt::{self, Display, Formatter};

/// One thing that is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// The expected text and the text that was found.
    pub message: String,
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// All that is wrong with a text, at least one error, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseErrors(pub(super) Vec<ParseError>);

impl ParseErrors {
    /// The errors, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, ParseError> {
        self.0.iter()
    }
}

impl std::error::Error for ParseErrors {}

impl Display for ParseErrors {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if place == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
