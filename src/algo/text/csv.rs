//! Fields of comma-separated text, and columns of numbers in them.
//!
//! A separator counts if no quote is open before it, which the parity of the quotes so far says. A
//! doubled quote inside a field closes it and opens it again, so parity needs no rule for that. See
//! Langdale and Lemire, *Parsing Gigabytes of JSON per Second* (VLDB Journal, 2019), for strings.
//! The text is cut into blocks. The exclusive scan of their parities says of each whether a quote
//! is open where it begins; then a loop finds its separators, 64 bytes at a time. One thread puts
//! the fields of all blocks together: two threads took longer at that.
//!
//! ```text
//! monoid   Xor<bool>, one state a block
//! program  the parity of a block ↦ itself; writes that of all before
//! cost     work 2 n and 2 for each field, depth 1 scan of n / 32768 states between two loops, then
//!          two loops on one thread
//! passes   2 over the text, 2 over the fields
//! bytes    2 read a byte of the text; 20 a field, and 4 a row
//! ```
//!
//! A column of numbers or texts is one loop over its rows: 12 bytes of offsets read a row, the text
//! of the field, and the result written.

use std::borrow::Cow;
use std::ops::Range;

use super::super::{AlgoError, compiled, counted};
use super::numbers::{Number, all};
use super::separators::{self, Ends};
use crate::ops::Xor;
use crate::parallel;
use crate::prelude::*;

/// Bytes of a block.
const BLOCK: usize = 1 << 15;

/// The fields of a text, which they borrow, and which rows they make up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields<'t> {
    text: &'t [u8],
    starts: Vec<u32>,
    ends: Vec<u32>,
    rows: Vec<u32>,
}

/// The fields of a text of rows: fields with a separator between them, and a newline after each row, which the last may lack.
/// Quotes are `"`. A carriage return before a newline, or at the end of the text, is in no field.
///
/// ```
/// use monoscan::algo::text::csv;
/// let text = b"name,height\n\"Mustermann, Max\",1.83\nmin,1.60";
/// let fields = csv(text, b',')?;
/// assert_eq!(fields.rows(), [0, 2, 4, 6]);
/// assert_eq!(fields.unquoted(2), &b"Mustermann, Max"[..]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Separator`] if the separator is a quote, a newline or a carriage return; [`AlgoError::OpenQuote`] if a quote is
/// not closed; [`AlgoError::TooLong`].
pub fn csv(text: &[u8], separator: u8) -> Result<Fields<'_>, AlgoError> {
    if matches!(separator, b'"' | b'\n' | b'\r') {
        return Err(AlgoError::Separator { got: separator });
    }
    let len = counted(text.len())?;
    let is_odd = |_, block: &[u8]| Xor(block.iter().filter(|&&byte| byte == b'"').count() % 2 == 1);
    let parities: Vec<Xor<bool>> = parallel::map(text.chunks(BLOCK), is_odd);
    if parities.iter().filter(|parity| parity.0).count() % 2 == 1 {
        return Err(AlgoError::OpenQuote { place: open_quote(text, separator) });
    }

    let open = compiled(Scan::<Xor<bool>>::new)?.exclusive(&parities)?;
    let found = |block: usize, (text, open): (&[u8], Xor<bool>)| {
        separators::ends(text, (block * BLOCK) as u32, open.0, separator)
    };
    let found = parallel::map(text.chunks(BLOCK).zip(open), found);
    let fields: usize = found.iter().map(|ends| ends.fields.len()).sum();
    let (mut ends, mut rows) = (Vec::with_capacity(fields + 1), vec![0]);
    for Ends { fields, rows: ended } in found {
        let before = ends.len() as u32;
        rows.extend(ended.iter().map(|fields| before + fields));
        ends.extend(fields);
    }
    // The last row may lack its newline.
    if !text.is_empty() && (ends.last().is_none_or(|&end| end + 1 < len) || rows.last() != Some(&(ends.len() as u32))) {
        ends.push(len);
        rows.push(ends.len() as u32);
    }

    let mut starts = Vec::with_capacity(ends.len());
    starts.extend(ends.first().map(|_| 0));
    // Behind the last of 2³² − 1 bytes no field starts.
    starts.extend(ends.iter().take(ends.len().saturating_sub(1)).map(|end| end.wrapping_add(1)));
    for &fields in &rows[1..] {
        let end = &mut ends[fields as usize - 1];
        *end -= text[..*end as usize].ends_with(b"\r") as u32;
    }
    Ok(Fields { text, starts, ends, rows })
}

/// The quote that is not closed, of a text with an odd number of them: that of the first field that has something behind its last
/// quote, or else of the last field.
fn open_quote(text: &[u8], separator: u8) -> usize {
    let (mut opening, mut is_open) = (0, false);
    for (place, _) in text.iter().enumerate().filter(|(_, byte)| **byte == b'"') {
        is_open ^= true;
        let neighbour = if is_open { place.checked_sub(1) } else { Some(place + 1) };
        let beside = neighbour.and_then(|neighbour| text.get(neighbour)).copied();
        match beside {
            // A quote in a field is written twice.
            Some(b'"') => {}
            _ if is_open => opening = place,
            None | Some(b'\n' | b'\r') => {}
            Some(byte) if byte == separator => {}
            Some(_) => break,
        }
    }
    opening
}

impl<'t> Fields<'t> {
    /// How many rows there are.
    pub fn height(&self) -> usize {
        self.rows.len() - 1
    }

    /// The first byte of each field, as a place in the text.
    ///
    /// ```
    /// use monoscan::algo::text::csv;
    /// let fields = csv(b"a,bc\r\nd", b',')?;
    /// assert_eq!((fields.starts(), fields.ends()), (&[0, 2, 6][..], &[1, 4, 7][..]));
    /// assert_eq!((fields.rows(), fields.raw(1)), (&[0, 2, 3][..], &b"bc"[..]));
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The byte behind each field: its separator, newline, or a carriage return before a newline or the end of the text.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Offsets: row r has the fields `rows[r]..rows[r + 1]`.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Field k as it stands in the text.
    ///
    /// # Panics
    /// If there is no field k, as slices do.
    pub fn raw(&self, k: usize) -> &'t [u8] {
        &self.text[self.starts[k] as usize..self.ends[k] as usize]
    }

    /// Field k without its quotes.
    ///
    /// # Panics
    /// As [`raw`](Fields::raw).
    pub fn unquoted(&self, k: usize) -> Cow<'t, [u8]> {
        let raw = self.raw(k);
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

    /// The column of decimals in the rows from `first_row` on as integers.
    ///
    /// ```
    /// use monoscan::algo::text::csv;
    /// let text = b"a,1\nb,-20\n";
    /// assert_eq!(csv(text, b',')?.integers(0, 1)?, [1, -20]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgoError::NoNumber`] with the first row in which the field is no integer of 64 bits; [`AlgoError::NoField`] if it is
    /// missing there; [`AlgoError::Row`] if `first_row` is more than the [height](Fields::height).
    pub fn integers(&self, first_row: usize, column: usize) -> Result<Vec<i64>, AlgoError> {
        self.numbers((first_row, column), "integer of 64 bits")
    }

    /// The column of decimals in the rows from `first_row` on as floats, each rounded once: one beyond the largest is infinite.
    /// `inf` and `NaN` are numbers too ([`f64::from_str`](std::str::FromStr)).
    ///
    /// # Errors
    /// [`AlgoError::NoNumber`] with the first row in which the field is no number; [`AlgoError::NoField`] if it is missing there;
    /// [`AlgoError::Row`] as [`integers`](Fields::integers).
    pub fn floats(&self, first_row: usize, column: usize) -> Result<Vec<f64>, AlgoError> {
        self.numbers((first_row, column), "number")
    }

    /// The column in the rows from `first_row` on as it is, without quotes: names, or keys.
    ///
    /// ```
    /// use monoscan::algo::text::csv;
    /// let text = b"name,amount\nann,1\n\"O'Hara, Bob\",-20\n";
    /// assert_eq!(csv(text, b',')?.texts(1, 0)?, [&b"ann"[..], b"O'Hara, Bob"]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgoError::NoField`] with the first row that has no such column; [`AlgoError::Row`] as [`integers`](Fields::integers).
    pub fn texts(&self, first_row: usize, column: usize) -> Result<Vec<Cow<'t, [u8]>>, AlgoError> {
        let rows = self.from(first_row)?;
        let field = |row| Some(self.unquoted(self.field(first_row + row, column)?));
        all(rows.len(), field).map_err(|row| self.no_field(first_row + row, column))
    }

    fn numbers<T: Number>(
        &self,
        (first_row, column): (usize, usize),
        expected: &'static str,
    ) -> Result<Vec<T>, AlgoError> {
        let rows = self.from(first_row)?;
        let number = |row| {
            let field = self.field(first_row + row, column)?;
            T::short(self.raw(field)).or_else(|| T::parse(&self.unquoted(field)))
        };
        all(rows.len(), number).map_err(|row| {
            let row = first_row + row;
            match self.field(row, column) {
                None => self.no_field(row, column),
                Some(field) => {
                    let got = String::from_utf8_lossy(&self.unquoted(field)).into_owned();
                    AlgoError::NoNumber { row, column, got, expected }
                }
            }
        })
    }

    /// The rows from this one on; there may be none behind it.
    fn from(&self, first_row: usize) -> Result<Range<usize>, AlgoError> {
        let height = self.height();
        if first_row <= height { Ok(first_row..height) } else { Err(AlgoError::Row { got: first_row, height }) }
    }

    fn no_field(&self, row: usize, column: usize) -> AlgoError {
        AlgoError::NoField { row, column, fields: (self.rows[row + 1] - self.rows[row]) as usize }
    }

    /// The number of the field in this column of a row, if it has so many.
    fn field(&self, row: usize, column: usize) -> Option<usize> {
        let fields = self.rows[row] as usize..self.rows[row + 1] as usize;
        (column < fields.len()).then(|| fields.start + column)
    }
}
