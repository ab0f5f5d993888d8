//! How kernels are called.
//!
//! A kernel works on W interleaved blocks of `len` elements each. One loop takes an element of
//! every block in turn, so W independent chains of ⊕ hide each other's latency. W slots of state
//! lie at `states`, [`StateLayout::stride`] bytes apart; a slot has a part for each stage.
//!
//! | kernel | reads | leaves in slot w |
//! |---|---|---|
//! | `reduce` of a level | input, slot w: the carries of earlier levels into block w | the aggregates of the level's stages over block w, from their identities, in the components that are not length-only |
//! | `scan` | input, slot w: the carries into block w | the states after block w, in the live components |
//! | `carry_update` of a level | a carry and an aggregate, a slot each | the carry behind the aggregate's block, in what a carry of the level's stages needs |
//! | `combine` of a level | two states, a slot each | earlier ⊕ later of its stages, in all components |
//! | `whole`, with or without outputs | input, slot 0: the whole states before the block | the whole states after it |
//!
//! `short` scans a line of few columns from the identities. Nothing is in memory but the columns:
//! its arguments are in registers ([`ShortFn`]), and the identities in its code. It leaves no
//! states. Where these are wanted, or where the line starts from other states, `short_whole`
//! ([`ShortWholeFn`]) does the same as `whole`, to states that lie as their owner has them.
//!
//! Rows are scanned by `rows`: `blocks` rows of `len` records, `pitch` records from one to the
//! next, each from the carry in slot 0. `short_rows` ([`ShortRowsFn`]) does the same from the
//! identities, with its arguments in registers, as `short` has them. So does `short_between`
//! ([`ShortBetweenFn`]) of rows of different lengths: the segments between offsets. With spaced
//! access or strided, `short` and `short_whole` take any columns ([`ShortSpacedFn`]).
//! `side_by_side` is `scan` of neighbouring rows, a row in each lane and a slot for each row;
//! `step` is the records from one element to the next.
//!
//! Where whole groups of records are scanned and reduced in vectors, there is also `scan_blocks`.
//! From the carry in slot 0 it writes the outputs of `blocks` blocks and leaves the carry behind
//! them, in one pass. Reductions leave some components out of the aggregate of `len` elements, a
//! multiple of the group: slot 1 has these. If `adds` is not 0, the state in slot 2 becomes that
//! state ⊕ the aggregate of each block.
//!
//! Where neither is in vectors and all records are written, there is `together`. From the carry in
//! slot 0, which stays, it writes the outputs of one block and leaves its aggregates at all levels
//! in slot 1, but for the components that reductions leave out.
//!
//! Where elements are is decided when kernels are compiled ([`Access`]):
//!
//! | access | element i of block w | its number |
//! |---|---|---|
//! | `Line` | record `start + w·len + i` | the same |
//! | `Strided` | record `place + w·pitch + i·step` | `start + w·numbers + i` |
//! | `Spaced` | the same | the same |
//!
//! Record r of a column starts r records behind record 0; with `Spaced` access r times the column's
//! own [`Spacing`], which comes with the call.
//!
//! So strided kernels serve rows side by side (`numbers` = 0), blocks of one row, and, with a
//! negative step, reversed scans; places wrap around. The element whose number is 0 is the first,
//! without a record before it; the one whose number is `total − 1` is the last, without a next.
//!
//! A program's parameters lie one behind the other as a [packed](Layout::packed) record. A `short`
//! kernel finds its address behind those of the input columns.
//!
//! A program that `filter`s has the number of kept records in its last stage, the *rank*. A kept
//! record is written to the place that is the rank before its element; what is not kept goes to
//! `sink`. Where the rank and `len` together are at most `capacity`, `scan_one` may write anything
//! to places from the rank after the block on, up to `capacity`.
//!
//! Columns may lie at any address. An output column may be an input column (same records, element
//! for element) if the program reads no `Next` or `Prev` and keeps nothing; else outputs overlap
//! nothing.

use std::marker::PhantomData;

use monoscan_ir::{Field, Layout, Program, Type};

/// Where the elements of a block are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// One after the other, and so are the blocks.
    Line,
    /// At any constant distance, and so are the blocks.
    Strided,
    /// As `Strided`, over columns whose records lie at distances of their own.
    Spaced,
}

/// How far apart the records of a column are, for spaced access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Spacing {
    /// From one record to the next: in bits for an input column of `bool` alone ([`Spacing::is_by_bits`]), else in bytes.
    pub step: i64,
    /// Input columns of `bool`: the bit of record 0, counted from where the column starts.
    pub first: u64,
    /// Input columns of `bool`: which bits of a byte, shifted down by the bit's place in it, say that the record is true.
    pub mask: u64,
}

impl Spacing {
    /// Whether an input column's records are reached by bits: whether they are `bool` and nothing else.
    pub fn is_by_bits(column: &Layout) -> bool {
        column.size == 1 && column.fields.len() == 1 && column.fields[0].ty == Type::Bool
    }

    /// So many bytes from one record of an input column to the next.
    pub fn of_input(bytes: isize, column: &Layout) -> Spacing {
        let step = if Spacing::is_by_bits(column) { bytes.wrapping_mul(8) } else { bytes };
        Spacing { step: step as i64, first: 0, mask: 0xff }
    }

    /// So many bytes from one record of an output column to the next.
    pub fn of_output(bytes: isize) -> Spacing {
        Spacing { step: bytes as i64, first: 0, mask: 0 }
    }

    /// Bits one after the other, from this one on.
    pub fn of_bits(first: usize) -> Spacing {
        Spacing { step: 1, first: first as u64, mask: 1 }
    }
}

/// The argument of a tile kernel. It borrows the tables of addresses that it points to, so a table that ends before the call does
/// not compile:
///
/// ```compile_fail,E0716
/// use monoscan_codegen::cpu::TileArgs;
///
/// let (input, output, states) = (std::ptr::null(), std::ptr::null_mut(), std::ptr::null_mut());
/// let args = TileArgs::line(&[input], &[output], (0, 4, 4), states);
/// println!("{args:?}");
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TileArgs<'tables> {
    /// For each input column, where its record 0 is.
    pub inputs: *const *const u8,
    /// For each output column, where its record 0 is; `reduce` does not look at it.
    pub outputs: *const *mut u8,
    /// The number of the first element of the first block.
    pub start: u64,
    /// How many elements a block has; may be 0.
    pub len: u64,
    /// How many elements the whole run has: element `total − 1` is the last, without a next.
    pub total: u64,
    /// The slots.
    pub states: *mut u8,
    /// A slot with the state that runs start from; only programs that read `Init` look at it.
    pub init: *const u8,
    /// The values of the program's parameters; only programs that have some look at it.
    pub parameters: *const u8,
    /// Space for a record of any output column; only programs that `filter` write there.
    pub sink: *mut u8,
    /// How many records outputs have space for that nobody else writes, or less; only programs that `filter` look at it.
    pub capacity: u64,
    /// Strided access: the record that the first element of the first block is.
    pub place: u64,
    /// Strided access: records from one element to the next.
    pub step: u64,
    /// Strided access and `rows`: records from one block to the next.
    pub pitch: u64,
    /// Strided access: how many elements later a block starts than the one before.
    pub numbers: u64,
    /// How many blocks, for `scan_blocks` and `rows`.
    pub blocks: u64,
    /// Whether `scan_blocks` adds their aggregates to slot 2.
    pub adds: u64,
    /// Spaced access: how far apart the records of each input column are, and then those of each output column.
    pub spacings: *const Spacing,
    /// The tables that `inputs` and `outputs` point to.
    pub tables: PhantomData<&'tables ()>,
}

impl<'tables> TileArgs<'tables> {
    /// For `len` elements a block of a line of `total`, from element `start` on.
    pub fn line(
        inputs: &'tables [*const u8],
        outputs: &'tables [*mut u8],
        (start, len, total): (u64, u64, u64),
        states: *mut u8,
    ) -> TileArgs<'tables> {
        TileArgs {
            inputs: inputs.as_ptr(),
            outputs: outputs.as_ptr(),
            start,
            len,
            total,
            states,
            init: std::ptr::null(),
            parameters: std::ptr::null(),
            sink: std::ptr::null_mut(),
            capacity: 0,
            place: start,
            step: 1,
            pitch: len,
            numbers: len,
            blocks: 1,
            adds: 0,
            spacings: std::ptr::null(),
            tables: PhantomData,
        }
    }
}

/// `reduce` and `scan`.
pub type TileFn = unsafe extern "C" fn(*const TileArgs<'_>);

/// `short`: how many elements, the output column, and the [registers](super::ShortInputs::registers) of the input columns. Gives how
/// many records it wrote.
pub type ShortFn = unsafe extern "C" fn(usize, *mut u8, *const u8, *const u8, *const u8, *const u8) -> usize;

/// `short_whole`: as [`ShortFn`], and where the states of all stages are, which are replaced; without outputs the second
/// argument is anything.
pub type ShortWholeFn =
    unsafe extern "C" fn(usize, *mut u8, *const u8, *const u8, *const u8, *const u8, *mut u8) -> usize;

/// `short_rows`: how many rows, at least one; the columns as of [`ShortFn`]; records from one row to the next, and of a row.
pub type ShortRowsFn = unsafe extern "C" fn(usize, *mut u8, *const u8, *const u8, *const u8, *const u8, usize, usize);

/// `short` and `short_whole` with strided or spaced access: of `short_whole` where the states are, which are replaced; how many
/// elements; where the first record of each input column is, and of each output column; how far apart the records of each are, inputs
/// first, or with strided access one step for all, in records; and where parameters are.
pub type ShortSpacedFn =
    unsafe extern "C" fn(*mut u8, usize, *const *const u8, *const *mut u8, *const Spacing, *const u8);

/// `short_between`: how many segments, at least one; the columns as of [`ShortFn`]; and where the segments begin, one more than there
/// are segments.
pub type ShortBetweenFn =
    unsafe extern "C" fn(usize, *mut u8, *const u8, *const u8, *const u8, *const u8, *const usize);

/// `carry_update` and `combine`: (earlier, later, out); `out` may be one of the others.
pub type CarryUpdateFn = unsafe extern "C" fn(*const u8, *const u8, *mut u8);

/// How the states of all stages lie in a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateLayout {
    /// For each stage where its part of the slot starts, a multiple of 16, and how it lies there: the components at their
    /// natural alignment, in order.
    pub stages: Vec<(usize, Layout)>,
    /// Bytes from one slot to the next, a multiple of 16.
    pub stride: usize,
}

impl StateLayout {
    /// For the stages of a program, in the order of `stages`, which names each once.
    pub fn of(program: &Program, stages: impl IntoIterator<Item = u32>) -> StateLayout {
        let mut parts: Vec<(usize, Layout)> =
            program.stages.iter().map(|stage| (0, Layout::packed(&stage.state))).collect();
        let mut end = 0usize;
        for stage in stages {
            let part = &mut parts[stage as usize];
            part.0 = end;
            end += (part.1.size as usize).next_multiple_of(16);
        }
        StateLayout { stages: parts, stride: end.max(16) }
    }

    /// Where a component is in a slot.
    pub fn field(&self, stage: u32, component: u32) -> Option<Field> {
        let (start, layout) = self.stages.get(stage as usize)?;
        let field = layout.fields.get(component as usize)?;
        Some(Field { offset: *start as u32 + field.offset, ty: field.ty })
    }

    /// All components of all stages in order, each with where it is.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        let parts = self.stages.iter();
        parts.flat_map(|(start, layout)| {
            layout.fields.iter().map(move |field| Field { offset: *start as u32 + field.offset, ty: field.ty })
        })
    }

    /// The types of all components of all stages in order.
    pub fn types(&self) -> Vec<Type> {
        self.fields().map(|field| field.ty).collect()
    }
}
