//! Text: lines and columns, UTF-8, fields of CSV, numbers in decimals.
//!
//! | function | monoid | depth |
//! |---|---|---|
//! | [`lines_and_columns`] | newlines so far, and where the last one was | 1 scan |
//! | [`check_utf8`] | none: characters say where they begin | 1 loop |
//! | [`csv`] | whether a quote is open: parity of the quotes so far | 1 scan |
//! | [`Fields::integers`], [`Fields::floats`], [`Fields::texts`], [`Decimals`] | none: fields or tokens that are known are a loop | 1 loop |
//! | `PatternSet`, with the feature `lexer` | maps of an automaton's states | 1 scan, or walks |
//!
//! Lines and columns come from two monoids in one scan: a sum, and a maximum. A column is the
//! distance from the byte behind the last newline, whose place is copied over the line: a segmented
//! copy, Blelloch, *Scans as Primitive Parallel Operations* (IEEE Trans. Computers, 1989).
//!
//! ```text
//! monoid   Pair<Sum<u32>, Max<u32>>: newlines, and the place behind the last one
//! program  byte ↦ (is it a newline, the place behind it if so); writes both of what is before
//! cost     work n, depth 1 scan, 1 pass
//! bytes    1 read and 8 written for each of the text
//! ```
//!
//! Tokens of any other syntax are what [`lexer`](crate::lexer) is for. Its `PatternSet`, which is
//! here too, finds all places where matches of regular expressions end.

mod csv;
#[cfg(feature = "lexer")]
mod decimals;
mod numbers;
mod separators;
mod utf8;

pub use csv::{Fields, csv};
#[cfg(feature = "lexer")]
pub use decimals::Decimals;
pub use utf8::check_utf8;

#[cfg(feature = "lexer")]
pub use crate::lexer::{MatchEnd, MatchEnds, PatternSet, PatternSetError};

use super::{AlgoError, check_length, compiled, counted};
use crate::Error;
use crate::ops::{Max, Pair, Sum};
use crate::prelude::*;
use crate::scan::Unzipped;

#[scan_fn]
fn newline(e: Element<u8>) -> Pair<Sum<u32>, Max<u32>> {
    let ends = e.record == b'\n';
    Pair(Sum(ends as u32), Max(if ends { e.index as u32 + 1 } else { 0 }))
}

#[scan_fn]
fn line_and_column(e: Element<u8, Pair<Sum<u32>, Max<u32>>>) -> (u32, u32) {
    ((e.before.0).0, e.index as u32 - (e.before.1).0)
}

/// The line and the column of each byte, both from 0, columns in bytes. A newline is the last of its line.
///
/// Messages to a reader count from 1: [`lexer::Lines`](crate::lexer::Lines) gives the place of one offset so.
///
/// ```
/// use monoscan::algo::text::lines_and_columns;
/// let (lines, columns) = lines_and_columns(b"ab\n\nc")?;
/// assert_eq!((lines, columns), (vec![0, 0, 0, 1, 2], vec![0, 1, 2, 0, 0]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn lines_and_columns(text: &[u8]) -> Result<(Vec<u32>, Vec<u32>), AlgoError> {
    counted(text.len())?;
    Ok(scan()?.inclusive(text)?)
}

/// [`lines_and_columns`] into slices, all of one length.
///
/// ```
/// use monoscan::algo::text::lines_and_columns_into;
/// let (mut lines, mut columns) = ([0; 5], [0; 5]);
/// lines_and_columns_into(b"ab\n\nc", &mut lines, &mut columns)?;
/// assert_eq!((lines, columns), ([0, 0, 0, 1, 2], [0, 1, 2, 0, 0]));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; [`AlgoError::TooLong`].
pub fn lines_and_columns_into(text: &[u8], lines: &mut [u32], columns: &mut [u32]) -> Result<(), AlgoError> {
    check_length("lines", text.len(), lines.len())?;
    check_length("columns", text.len(), columns.len())?;
    counted(text.len())?;
    scan()?.inclusive_into(text, (lines, columns))?;
    Ok(())
}

/// The scan of [`lines_and_columns`]: reads a column of bytes, and writes one of lines and one of columns.
///
/// ```
/// let mut lines = monoscan::algo::text::scan()?.stream();
/// assert_eq!(lines.feed(b"ab\n")?.0, [0, 0, 0]);
/// assert_eq!(lines.feed(b"c\nd")?.0, [1, 1, 2]); // a text in pieces
/// # Ok::<(), monoscan::Error>(())
/// ```
///
/// # Errors
/// As [`Scan::new`].
#[expect(clippy::type_complexity, reason = "a name for it would hide what columns the scan takes and gives")]
pub fn scan() -> Result<&'static Scan<Pair<Sum<u32>, Max<u32>>, (u8,), Unzipped<(u32, u32)>>, Error> {
    compiled(|| {
        let lines = Scan::<Pair<Sum<u32>, Max<u32>>>::builder().lift_at(newline {});
        lines.project_at(line_and_column {}).unzip().build()
    })
}
