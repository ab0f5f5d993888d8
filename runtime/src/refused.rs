//! Arguments that are refused, and why: what some of the variants of [`Error`](crate::Error) say in
//! detail.
//!
//! Each says what was given, and what is expected or what to do instead.

use monoscan_ir::{Constant, Layout, Type};

/// A column of a call, of which an error speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Argument {
    /// The input column of this number, from 0.
    #[error("input column {0}")]
    Input(usize),
    /// The output column of this number, from 0.
    #[error("output column {0}")]
    Output(usize),
    /// The flags that say where segments begin.
    #[error("the column of flags")]
    Flags,
    /// The keys whose changes say it.
    #[error("the column of keys")]
    Keys,
    /// The offsets that say it.
    #[error("the column of offsets")]
    Offsets,
}

fn expected_axis(shape: &[usize]) -> String {
    match shape.len() {
        0 => "an array with an axis".to_owned(),
        axes => format!("an axis below {axes}"),
    }
}

/// Rows that are none of an array, or not those of the columns of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowsError {
    /// An array has no such axis.
    #[error("axis {axis} of an array of shape {shape:?}: expected {}", expected_axis(.shape))]
    Axis {
        /// The axis, from 0.
        axis: usize,
        /// The array's extents.
        shape: Vec<usize>,
    },

    /// The array has more records, or rows, than there are addresses.
    #[error(
        "{planes} planes of {len} × {step} records every {pitch} records: expected at most {} rows, and as many records",
        usize::MAX
    )]
    TooLarge {
        /// How many planes.
        planes: usize,
        /// Records of a row.
        len: usize,
        /// Rows of a plane, side by side.
        step: usize,
        /// Records from the start of a plane to that of the next.
        pitch: usize,
    },

    /// An array of this shape has more records, or rows, than there are addresses.
    #[error("an array of shape {shape:?}: expected at most {} rows, and as many records", usize::MAX)]
    ShapeTooLarge {
        /// The array's extents.
        shape: Vec<usize>,
    },

    /// Rows, or planes of rows side by side, begin before the end of those before them.
    #[error(
        "{rows} rows of {len} records, {step} of them side by side, begin every {pitch} records: expected at least {expected}, else they overlap"
    )]
    Overlap {
        /// How many rows.
        rows: usize,
        /// Records of a row.
        len: usize,
        /// How many rows lie side by side.
        step: usize,
        /// Records from their start to that of the next ones.
        pitch: usize,
        /// The least such distance.
        expected: usize,
    },

    /// The columns have fewer records than the rows need.
    #[error("{rows} rows take {expected} records, and the columns have {got}")]
    TooFew {
        /// How many rows.
        rows: usize,
        /// How many records they need.
        expected: usize,
        /// How many there are.
        got: usize,
    },

    /// Not all records of a new vector are in rows, and the others would have no value.
    #[error(
        "{rows} rows have {inside} of {records} records, and a new vector needs a value for each: give an output, which keeps what is beside the rows (`inclusive_into`, `exclusive_into`)"
    )]
    Uncovered {
        /// How many rows.
        rows: usize,
        /// How many records they have in all.
        inside: usize,
        /// How many records the columns have.
        records: usize,
    },
}

/// The bounds of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectedOffset {
    /// The first one.
    #[error("0, the first record")]
    First,
    /// The last one: the number of records.
    #[error("{records}, the number of records")]
    Last {
        /// How many records there are.
        records: usize,
    },
    /// Any other one at most: the number of records.
    #[error("at most {records}, the number of records")]
    AtMost {
        /// How many records there are.
        records: usize,
    },
    /// Any other one at least: the one before it.
    #[error("at least {before}, the offset before it")]
    AtLeast {
        /// The one before it.
        before: usize,
    },
}

/// A function of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionOf {
    /// The lift of a stage.
    #[error("`lift`{}", of_stage(.stage))]
    Lift {
        /// Which one, from 0; none if the program has one stage.
        stage: Option<u32>,
    },
    /// The `combine` of a stage.
    #[error("`combine`{}", of_stage(.stage))]
    Combine {
        /// Which one, from 0; none if the program has one stage.
        stage: Option<u32>,
    },
    /// The step of a [loop](crate::DynScan::loop_builder).
    #[error("the step of the loop")]
    Step,
    /// The filter.
    #[error("`filter`")]
    Filter,
    /// The output.
    #[error("`project`")]
    Project,
}

fn of_stage(stage: &Option<u32>) -> String {
    stage.map_or_else(String::new, |stage| format!(" of stage {stage}"))
}

/// Parts of a call that have no meaning together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Combination {
    /// Rows and segments.
    #[error("segments of {rows} rows: give one or the other; contiguous rows are segments too")]
    SegmentsOfRows {
        /// How many rows.
        rows: usize,
    },
    /// A stream of segments between offsets.
    #[error(
        "resuming a scan of {segments} segments between offsets: use flags instead, which are true where a segment begins"
    )]
    ResumedOffsets {
        /// How many segments.
        segments: usize,
    },
    /// A stream of segments of equal keys: keys of a chunk don't say whether its first segment goes on.
    #[error(
        "resuming a scan of segments of equal keys: use flags instead, true where a key differs from the one before; for record 0 that is \
         the last key of the chunk before"
    )]
    ResumedKeys,
    /// A stream of flagged segments from the end.
    #[error("resuming a reversed scan of flagged segments: whether the next chunk continues a segment is not known")]
    ResumedFromEnd,
    /// The total of a stream's chunk.
    #[error("the total of a resumed scan: it is the carry after `inclusive`; or start a line with `init`")]
    ResumedTotal,
    /// The state before the first record, of an operator without an identity.
    #[error(
        "an exclusive scan of an operator without an identity has no value before the first record: start from one by \
         `init`, or make the output of the state, which says whether there is one, by `project`"
    )]
    NoIdentity,
    /// An iterator, chunk by chunk, of a program that sees where chunks end.
    #[error(
        "records of an iterator come in chunks, at whose ends the next record, the last one and places are not known: collect them and scan the slice"
    )]
    OverIterator,
    /// Rows of a program that filters.
    #[error("keeping records of {rows} rows: scan each row as a line")]
    KeptOfRows {
        /// How many rows.
        rows: usize,
    },
    /// One total where there is one for each sequence.
    #[error("one total of {sequences} sequences: `totals` gives one for each")]
    OneTotal {
        /// How many sequences.
        sequences: usize,
    },
}

/// A program that cannot write over what it reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InPlaceError {
    /// It keeps some records only.
    #[error("keeping records in place: write them to another column")]
    Keeps,
    /// It reads the next record or the one before.
    #[error(
        "a scan in place that reads a neighbouring record, which may be overwritten by then: write to another column"
    )]
    ReadsNeighbour,
    /// Its output columns are laid out in another way than its input columns.
    #[error("a scan in place writes what it reads: expected outputs {}, got {}", columns(.inputs), columns(.outputs))]
    OtherColumns {
        /// The columns that it reads.
        inputs: Vec<Layout>,
        /// The columns that it writes.
        outputs: Vec<Layout>,
    },
}

/// A layout in words: `f32`, or `records (f32, u8) of 8 bytes`, with their offsets if they lie otherwise than in `repr(C)`.
pub(crate) fn layout(layout: &Layout) -> String {
    let types: Vec<Type> = layout.types().collect();
    let usual = Layout::packed(&types);
    let is_usual = (usual.size, &usual.fields) == (layout.size, &layout.fields);
    match types[..] {
        [one] if is_usual => one.to_string(),
        _ if is_usual => format!("records {} of {} bytes", self::types(&types), layout.size),
        _ => {
            let offsets: Vec<String> = layout.fields.iter().map(|field| field.offset.to_string()).collect();
            format!("records {} of {} bytes, at bytes {}", self::types(&types), layout.size, offsets.join(", "))
        }
    }
}

/// Types in words: `(f32, u8)`.
pub(crate) fn types(types: &[Type]) -> String {
    format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "))
}

/// The components of a state: `(3, true)`.
pub(crate) fn states(state: &[Constant]) -> String {
    format!("({})", state.iter().map(Constant::to_string).collect::<Vec<_>>().join(", "))
}

fn columns(layouts: &[Layout]) -> String {
    format!("[{}]", layouts.iter().map(layout).collect::<Vec<_>>().join(", "))
}

#[test]
fn layouts_are_told_apart_in_words() {
    use monoscan_ir::Field;
    let number = |offset, ty| Field { offset, ty };
    let of = |size, fields: &[Field]| layout(&Layout { size, align: 4, fields: fields.to_vec() });
    assert_eq!(layout(&Layout::of(Type::U8)), "u8");
    assert_eq!(layout(&Layout::packed(&[Type::F32, Type::F32])), "records (f32, f32) of 8 bytes");
    assert_eq!(layout(&Layout::packed(&[Type::U8, Type::F64])), "records (u8, f64) of 16 bytes");
    assert_eq!(of(8, &[number(4, Type::F32)]), "records (f32) of 8 bytes, at bytes 4");
    assert_eq!(of(8, &[number(4, Type::F32), number(0, Type::F32)]), "records (f32, f32) of 8 bytes, at bytes 4, 0");
    assert_eq!(of(12, &[number(0, Type::F32)]), "records (f32) of 12 bytes, at bytes 0");
}
