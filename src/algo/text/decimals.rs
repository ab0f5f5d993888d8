//! Columns of numbers, read from the tokens of a lexer: the lexer has found where the numbers are.
//!
//! ```text
//! monoid   none: tokens that are known are a loop
//! cost     work n, depth 1 loop over the tokens of a column, 1 pass
//! bytes    8 and the text read of each token, 8 written
//! ```
//!
//! Integers of up to 18 digits cannot overflow. Floats of up to 16 digits are a quotient of two
//! exact floats, which is rounded once: Clinger, *How to Read Floating Point Numbers Accurately*
//! (PLDI 1990). The standard library reads all others, floats after Lemire, *Number Parsing at a
//! Gigabyte per Second* (Software: Practice and Experience, 2021). Results are the same as its own.

use super::numbers::{Number, all};
use crate::algo::AlgoError;
use crate::lexer::TokenList;

/// A table of decimals, row by row: so many tokens of a text are a row. A lexer that keeps nothing but numbers
/// ([`only`](crate::lexer::Lexer::only)) leaves such a list.
///
/// ```
/// use monoscan::algo::text::Decimals;
/// use monoscan::lexer::{Kind, Lexer};
///
/// let lexer = Lexer::builder().token("number", "-?[0-9]+(\\.[0-9]+)?").skip("other", "[^-0-9]+").build()?;
/// let text = b"at 1: 2.5 m, at -3: 4 m";
/// let tokens = lexer.only(&[Kind::Rule(0)]).lex(text)?;
/// let table = Decimals::new(text, &tokens, 2)?;
/// assert_eq!((table.integers(0)?, table.floats(1)?), (vec![1, -3], vec![2.5, 4.0]));
/// assert_eq!(table.integers(1).unwrap_err().to_string(), "token 1, bytes 6 to 9, is no integer of 64 bits: `2.5`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Decimals<'a> {
    text: &'a [u8],
    tokens: &'a TokenList,
    width: usize,
}

impl<'a> Decimals<'a> {
    /// The tokens of this text as rows of `width`.
    ///
    /// # Errors
    /// [`AlgoError::NoColumns`] if `width` is 0. [`AlgoError::Length`] if they are no whole rows: the expected length is
    /// that of the rows that have begun.
    pub fn new(text: &'a [u8], tokens: &'a TokenList, width: usize) -> Result<Decimals<'a>, AlgoError> {
        let got = tokens.len();
        let expected = got.checked_next_multiple_of(width).ok_or(AlgoError::NoColumns)?;
        if expected != got {
            return Err(AlgoError::Length { argument: "tokens", expected, got });
        }
        Ok(Decimals { text, tokens, width })
    }

    /// How many rows there are.
    pub fn height(&self) -> usize {
        self.tokens.len() / self.width
    }

    /// A column as integers.
    ///
    /// # Errors
    /// [`AlgoError::Column`] if there is no such column. [`AlgoError::Token`] with the first token of the column that is no
    /// integer of 64 bits, or lies outside of the text.
    pub fn integers(&self, column: usize) -> Result<Vec<i64>, AlgoError> {
        self.numbers(column, "integer of 64 bits")
    }

    /// A column as floats, each rounded once: one beyond the largest is infinite. `inf` and `NaN` are numbers too, where a
    /// rule finds them ([`f64::from_str`](std::str::FromStr)).
    ///
    /// # Errors
    /// [`AlgoError::Column`] if there is no such column. [`AlgoError::Token`] with the first token of the column that is no
    /// number, or lies outside of the text.
    pub fn floats(&self, column: usize) -> Result<Vec<f64>, AlgoError> {
        self.numbers(column, "number")
    }

    fn numbers<T: Number>(&self, column: usize, expected: &'static str) -> Result<Vec<T>, AlgoError> {
        if column >= self.width {
            return Err(AlgoError::Column { got: column, expected: self.width });
        }
        let place = |row: usize| row * self.width + column;
        let bytes = |token: usize| self.tokens.starts()[token] as usize..self.tokens.ends()[token] as usize;
        all(self.height(), |row| T::parse(self.text.get(bytes(place(row)))?)).map_err(|row| {
            let (token, bytes) = (place(row), bytes(place(row)));
            let got = String::from_utf8_lossy(self.text.get(bytes.clone()).unwrap_or_default()).into_owned();
            AlgoError::Token { token, bytes, expected, got }
        })
    }
}
