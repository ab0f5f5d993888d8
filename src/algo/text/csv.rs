//! Fields of comma-separated text, and columns of numbers in them.
//!
//! A separator counts if no quote is open before it, which the parity of the quotes so far says; a
//! doubled quote inside a field closes it and opens it again, so parity needs no rule for that:
//! Langdale and Lemire, *Parsing Gigabytes of JSON per Second* (VLDB Journal, 2019), for strings.
//! The separators that count are selected with their places.
//!
//! ```text
//! monoid   Xor<bool>
//! program  keeps separators and newlines outside of quotes; writes place and kind
//! cost     work n, depth 1 scan, 1 pass over the text, 2 over the fields
//! ```

use std::borrow::Cow;

use rayon::prelude::*;

use super::super::{AlgoError, compiled, counted};
use crate::ops::Xor;
use crate::prelude::*;

#[scan_fn]
fn separates(separator: u8, e: Element<u8, Xor<bool>>) -> bool {
    !e.after.0 && (e.record == separator || e.record == b'\n')
}

#[scan_fn]
fn place_and_kind(e: Element<u8, Xor<bool>>) -> (u32, bool) {
    (e.index as u32, e.record == b'\n')
}

/// Where the fields of a text are, and which rows they make up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The first byte of each.
    pub starts: Vec<u32>,
    /// The byte behind each: its separator, newline, or a carriage return before a newline or the end of the text.
    pub ends: Vec<u32>,
    /// Offsets: row r has the fields `rows[r]..rows[r + 1]`.
    pub rows: Vec<u32>,
}

/// The fields of a text of rows: fields with a separator between them, and a newline after each row, which the last may lack.
/// Quotes are `"`. A carriage return before a newline, or at the end of the text, is in no field.
///
/// ```
/// use monoscan::algo::text::csv;
/// let text = b"name,height\n\"Mustermann, Max\",1.83\nmin,1.60";
/// let fields = csv(text, b',')?;
/// assert_eq!(fields.rows, [0, 2, 4, 6]);
/// assert_eq!(fields.unquoted(text, 2), &b"Mustermann, Max"[..]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Separator`] if the separator is a quote, a newline or a carriage return; [`AlgoError::OpenQuote`] if a quote is
/// not closed; [`AlgoError::TooLong`].
pub fn csv(text: &[u8], separator: u8) -> Result<Fields, AlgoError> {
    if matches!(separator, b'"' | b'\n' | b'\r') {
        return Err(AlgoError::Separator { got: separator });
    }
    let len = counted(text.len())?;
    let scan = compiled(|| {
        Scan::<Xor<bool>>::builder()
            .lift(scan!(|byte: u8| -> Xor<bool> { Xor(byte == b'"') }))
            .filter_with(b',', separates {})
            .project_at(place_and_kind {})
            .unzip()
            .build()
    })?;
    let scan = scan.with(separator)?;
    let ((mut ends, mut closes), is_open) = scan.inclusive_with_total(text)?;
    if is_open.0 {
        let place = text.iter().rposition(|&byte| byte == b'"').unwrap_or(0);
        return Err(AlgoError::OpenQuote { place });
    }
    if text.last().is_some_and(|_| ends.last().is_none_or(|&end| end + 1 < len) || closes.last() == Some(&false)) {
        ends.push(len);
        closes.push(true);
    }
    let starts = [0].into_iter().chain(ends.iter().map(|&end| end + 1)).take(ends.len()).collect();
    let row_ends = closes.iter().zip(1..).filter(|(closes, _)| **closes).map(|(_, field)| field);
    let rows = [0].into_iter().chain(row_ends).collect();
    for (end, closes) in ends.iter_mut().zip(closes) {
        let returns = closes && text[..*end as usize].ends_with(b"\r");
        *end -= returns as u32;
    }
    Ok(Fields { starts, ends, rows })
}

impl Fields {
    /// How many rows there are.
    pub fn height(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// Field k as it stands in the text, which is the one that was taken apart.
    pub fn raw<'t>(&self, text: &'t [u8], k: usize) -> &'t [u8] {
        &text[self.starts[k] as usize..self.ends[k] as usize]
    }

    /// Field k without its quotes.
    pub fn unquoted<'t>(&self, text: &'t [u8], k: usize) -> Cow<'t, [u8]> {
        let raw = self.raw(text, k);
        let Some(inside) = raw.strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\"")) else {
            return Cow::Borrowed(raw);
        };
        if !inside.contains(&b'"') {
            return Cow::Borrowed(inside);
        }
        let mut quoted = false;
        let keep = |&byte: &u8| {
            quoted = byte == b'"' && !quoted;
            !quoted
        };
        Cow::Owned(inside.iter().copied().filter(keep).collect())
    }

    /// The column of decimals in these rows as integers.
    ///
    /// ```
    /// use monoscan::algo::text::csv;
    /// let text = b"a,1\nb,-20\n";
    /// assert_eq!(csv(text, b',')?.integers(text, 0, 1)?, [1, -20]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgoError::NoNumber`] with the first row in which the field is missing or no integer of 64 bits.
    pub fn integers(&self, text: &[u8], first_row: usize, column: usize) -> Result<Vec<i64>, AlgoError> {
        self.numbers(text, first_row, column)
    }

    /// The column of decimals in these rows as floats, each rounded once.
    ///
    /// # Errors
    /// [`AlgoError::NoNumber`] with the first row in which the field is missing or no number.
    pub fn floats(&self, text: &[u8], first_row: usize, column: usize) -> Result<Vec<f64>, AlgoError> {
        self.numbers(text, first_row, column)
    }

    fn numbers<T: std::str::FromStr + Send>(
        &self,
        text: &[u8],
        first_row: usize,
        column: usize,
    ) -> Result<Vec<T>, AlgoError> {
        let number = |row: usize| {
            let fields = self.rows[row] as usize..self.rows[row + 1] as usize;
            let text = (column < fields.len()).then(|| self.unquoted(text, fields.start + column));
            text.and_then(|text| std::str::from_utf8(&text).ok()?.parse().ok())
        };
        let numbers: Vec<Option<T>> = (first_row..self.height()).into_par_iter().map(number).collect();
        let missing = numbers.iter().position(Option::is_none);
        match missing {
            Some(place) => Err(AlgoError::NoNumber { row: first_row + place, column }),
            None => Ok(numbers.into_iter().flatten().collect()),
        }
    }
}
