//! Why an algorithm refuses its input.

use std::ops::Range;

use crate::Error;

/// Why an algorithm refuses its input, before it writes anything; or, as [`Scan`](AlgoError::Scan), why it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlgoError {
    /// A slice is not as long as another one that it goes with.
    #[error("`{argument}` has {got} elements, expected {expected}")]
    Length {
        /// The name of the argument.
        argument: &'static str,
        /// How many elements go with the others.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// More elements than their places or counts can number.
    #[error("{len} elements, expected fewer than {limit}")]
    TooLong {
        /// How many.
        len: usize,
        /// Fewer than so many are taken: 2³², or 2³¹.
        limit: u64,
    },
    /// A class that there is no part for.
    #[error("record {record} is of class {got}, expected a class below {expected}")]
    Class {
        /// Which record.
        record: usize,
        /// How many classes there are.
        expected: usize,
        /// The class it has.
        got: usize,
    },
    /// Bits that are no digit of a key.
    #[error("bits {} to {} as a digit, expected 1 to 16 bits of the {width} of a key", got.start, got.end)]
    Bits {
        /// The bits, from the first to before the last.
        got: Range<u32>,
        /// How many bits a key has.
        width: u32,
    },
    /// A place that is not there.
    #[error("`{argument}[{place}]` is {got}, expected less than {expected}")]
    Index {
        /// The name of the argument.
        argument: &'static str,
        /// Which element of it.
        place: usize,
        /// How many places there are.
        expected: usize,
        /// The number found.
        got: usize,
    },
    /// An element of a linked list that comes after two others.
    #[error("elements {} and {} are both followed by {element}: expected lists", by[0], by[1])]
    Shared {
        /// The element.
        element: usize,
        /// The two before it.
        by: [usize; 2],
    },
    /// Links that come back to where they began.
    #[error("element {element} comes after itself: expected links that end")]
    Cycle {
        /// One of the elements.
        element: usize,
    },
    /// A place without a parenthesis, or one without a partner.
    #[error("place {place} has no parenthesis with a partner")]
    Unmatched {
        /// The first such place.
        place: usize,
    },
    /// A byte that cannot separate fields.
    #[error("{:?} as separator, expected no quote, newline or carriage return", char::from(*got))]
    Separator {
        /// The byte.
        got: u8,
    },
    /// Bytes that are no UTF-8.
    #[error("the bytes from {valid_up_to} on are no character of UTF-8")]
    InvalidUtf8 {
        /// So many bytes are right.
        valid_up_to: usize,
    },
    /// A quote that is not closed.
    #[error("the quote at byte {place} is not closed")]
    OpenQuote {
        /// Where it is: it begins the first field that has something behind its last quote, or the last field.
        place: usize,
    },
    /// A field that is no number, or one that does not fit.
    #[error("row {row}, column {column}: `{got}` is no {expected}")]
    NoNumber {
        /// The first such row.
        row: usize,
        /// Which column, from 0.
        column: usize,
        /// The text of the field.
        got: String,
        /// The kind of number that was asked for.
        expected: &'static str,
    },
    /// A row with fewer fields.
    #[error("row {row} has no column {column}: it has {fields}")]
    NoField {
        /// The first such row.
        row: usize,
        /// Which column, from 0.
        column: usize,
        /// How many fields the row has.
        fields: usize,
    },
    /// Rows from one on that is beyond the last.
    #[error("rows from {got} on, expected {height} at most, the number of rows")]
    Row {
        /// The first row that was asked for, from 0.
        got: usize,
        /// How many rows there are.
        height: usize,
    },
    /// Rows without columns.
    #[error("rows of 0 columns, expected 1 or more")]
    NoColumns,
    /// A column that is not there.
    #[error("column {got}, expected a column below {expected}")]
    Column {
        /// Which column was asked for, from 0.
        got: usize,
        /// How many columns there are.
        expected: usize,
    },
    /// A token that is no number of the kind that was asked for.
    #[error("token {token}, bytes {} to {}, is no {expected}: `{got}`", bytes.start, bytes.end)]
    Token {
        /// Which token, from 0.
        token: usize,
        /// Where it is in the text.
        bytes: Range<usize>,
        /// The kind of number that was asked for.
        expected: &'static str,
        /// Its text; nothing if it lies outside of the text that was given.
        got: String,
    },
    /// A modulus of 0.
    #[error("modulus 0, expected 1 or more")]
    Modulus,
    /// A name that no kind of prefix network has.
    #[error(
        "`{got}` is no prefix network: expected Kogge–Stone, Sklansky, Brent–Kung, Han–Carlson or Ladner–Fischer(k)"
    )]
    Network {
        /// The name.
        got: String,
    },
    /// A prefix network that has no lane for a digit.
    #[error("a network of 0 lanes, expected 1 or more")]
    NoLanes,
    /// A scan could not be built or run. All slices are as they were if it was not built, or refuses offsets or too little
    /// space for its output. One that fails later, for want of memory, leaves old and new elements in slices that were to be
    /// written or sorted: some may be there twice, others not at all.
    #[error(transparent)]
    Scan(#[from] Error),
}
