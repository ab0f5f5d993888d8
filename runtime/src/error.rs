//! Everything that can go wrong, as one enum.
//!
//! Errors found before a scan starts leave everything untouched, and name the argument, what was
//! expected and what came.

use monoscan_codegen::cpu::CodegenError;
use monoscan_ir::laws::{Judgement, Words};
use monoscan_ir::{Constant, Diagnostics, Layout, Type};

use crate::device::DeviceError;
use crate::refused::{
    Argument, Combination, ExpectedOffset, FunctionOf, InPlaceError, RowsError, layout, states, types,
};
use crate::spacing::SpacingError;
use crate::trace::TraceError;
use crate::wrong::{Difference, Walk};

/// Why a scan was not built or not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operator breaks a law of monoids. The message shows the states, both sides and what to do.
    #[error("{}{}", stage_of(*.stage, *.stages), .judgement.report(.names, .words))]
    NotAMonoid {
        /// Which stage of the program.
        stage: usize,
        /// How many stages it has.
        stages: usize,
        /// The verdicts, law by law. Its [counterexample](Judgement::counterexample) has the states, both sides and the
        /// [advice](monoscan_ir::laws::Advice) as data, for messages in other words.
        judgement: Box<Judgement>,
        /// The names of the state's components.
        names: Vec<String>,
        /// The words of the front end.
        words: Words,
    },

    /// A loop is no scan: no family of functions has what it does to its state. The refusal names the components, the operation and
    /// what would do.
    #[error(transparent)]
    NotAScan(Box<monoscan_ir::derive::Refusal>),

    /// The IR computes something else than the Rust function it was made from: a bug in monoscan.
    #[error(
        "the compiled `{function}` differs from the Rust function, which is a bug in monoscan if every function of the operator has its `#[scan_fn]` or `#[scan_monoid]`:\n  arguments {}\n  \
         Rust gives {}\n  the IR gives {}", states(.arguments), states(.native), states(.compiled)
    )]
    Mistranslated {
        /// The function that was compared.
        function: String,
        /// The arguments of the call.
        arguments: Vec<Constant>,
        /// The results of Rust.
        native: Vec<Constant>,
        /// The results of the IR.
        compiled: Vec<Constant>,
    },

    /// Compiled kernels give something else than the interpreter of the program: a bug in monoscan, or in a program that was not
    /// derived and has a [`Sequential`](monoscan_ir::Sequential) that is not the loop of its stages.
    #[error(
        "the compiled kernels differ from the interpreter, which is a bug in monoscan, or in a program written by hand whose \
         `sequential` is not the loop of its stages:\n  {walk}, {difference}"
    )]
    Miscompiled {
        /// How the sample was scanned.
        walk: Walk,
        /// The difference.
        difference: Difference,
    },

    /// A scan function is no finite straight-line program.
    #[error("cannot be compiled: {0}")]
    Trace(TraceError),

    /// The program breaks an invariant of the IR.
    #[error("the program is invalid:\n{0}")]
    Invalid(Diagnostics),

    /// Parts of a call that have no meaning together.
    #[error("not supported: {0}")]
    Combination(Combination),

    /// A program that cannot write over what it reads.
    #[error("not supported: {0}")]
    InPlace(InPlaceError),

    /// A state without components.
    #[error("the state `{state}` has no components: expected at least one")]
    EmptyState {
        /// The name of its type.
        state: String,
    },

    /// A state that is larger than engines carry.
    #[error(
        "the state `{state}` takes {got} bytes, and a state at most {expected}: use smaller numbers, or several scans"
    )]
    StateSize {
        /// The name of its type.
        state: String,
        /// The most bytes of a state.
        expected: usize,
        /// Its bytes.
        got: usize,
    },

    /// A checked scan whose states are too large to be compared where sequences of elements meet.
    #[error(
        "a checked scan compares at most {expected} bytes: of states whose laws hold only where nothing overflows, or of the \
         integers of a loop's state, and these have {got}: use `wrapping_add` and its kind where overflow is meant, or smaller states"
    )]
    CheckedState {
        /// The most bytes that are compared.
        expected: usize,
        /// The bytes of components whose laws are judged where nothing overflows.
        got: usize,
    },

    /// A checked scan of a loop, of which the program does not have the loop.
    #[error(
        "this loop has no checked scan: it keeps records, its output reads its initial state, or its step reads the record before \
         without using it; leave that out, or do not call `checked`"
    )]
    CheckedLoop,

    /// A function of a scan was given after one that reads what it changes.
    #[error("`{function}` was given after {after}, and changes what that reads: give `{function}` first")]
    Order {
        /// The method of the builder.
        function: &'static str,
        /// The parts that were given before.
        after: &'static str,
    },

    /// The lift of an operator without an identity gives states, which may be no values, and the results are values.
    #[error(
        "`lift` gives states of an operator without an identity, which may be no values, and the results are values: give \
         values, or make the output of the state by `project`"
    )]
    LiftedStates,

    /// The code generator failed.
    #[error("code generation failed: {0}")]
    Codegen(CodegenError),

    /// A wrong number of columns was given.
    #[error("expected {expected} {side} column(s), got {got}")]
    ColumnCount {
        /// `input` or `output`.
        side: &'static str,
        /// How many the program has.
        expected: usize,
        /// How many were given.
        got: usize,
    },

    /// A column has another length than the first input column.
    #[error("{argument} has {got} records, expected {expected}, as many as the first input column")]
    Length {
        /// Which column.
        argument: Argument,
        /// The length of the first input column.
        expected: usize,
        /// Its length.
        got: usize,
    },

    /// A column's records lie in memory in another way than the program's.
    #[error("{argument}: expected {}, got {}", layout(.expected), layout(.got))]
    Layout {
        /// Which column.
        argument: Argument,
        /// The program's layout.
        expected: Box<Layout>,
        /// The column's layout.
        got: Box<Layout>,
    },

    /// Bytes that are no whole number of records.
    #[error("{bytes} bytes are not a whole number of records of {record} bytes")]
    PartialRecord {
        /// How many bytes were given.
        bytes: usize,
        /// The size of a record.
        record: usize,
    },

    /// An initial state or carry that the loop does not reach from its own initial state, where the
    /// derived scan knows only those: a table of states, or a counter modulo m.
    #[error("the {argument} is a state that the loop does not reach from its initial state: {}", states(.got))]
    LoopState {
        /// Which argument.
        argument: &'static str,
        /// Its components.
        got: Vec<Constant>,
    },

    /// The initial state of a loop that combinations with the identity of its scan change, or that is NaN where the derivation holds
    /// without NaN only: results would depend on where blocks of records begin.
    #[error(
        "the scan of this loop cannot start from {}: comparisons, or blocks of records that are combined, lose it; start minima of \
         floats from infinity and maxima from minus infinity",
        states(.got)
    )]
    LoopStart {
        /// Its components.
        got: Vec<Constant>,
    },

    /// An initial state or carry that is no state of the program.
    #[error(
        "the {argument} has components of types {}, expected {}, the states of all stages", types(.got), types(.expected)
    )]
    State {
        /// Which argument.
        argument: &'static str,
        /// The types of the components of all stages, in order.
        expected: Vec<Type>,
        /// The types that were given.
        got: Vec<Type>,
    },

    /// Values of parameters that are not of their types, or none where a program has parameters.
    #[error("parameters of types {}, expected {}, in the order of the functions that read them", types(.got), types(.expected))]
    Parameters {
        /// The types of the program's parameters.
        expected: Vec<Type>,
        /// The types that were given.
        got: Vec<Type>,
    },

    /// Not as many states as there are runs that they are for.
    #[error("`{argument}` has {got} state(s), expected {expected}, one for each {}", one_of(.argument))]
    StateCount {
        /// Which argument.
        argument: &'static str,
        /// How many runs there are.
        expected: usize,
        /// How many states were given.
        got: usize,
    },

    /// Offsets that cut the records into no segments.
    #[error("offset {place} is {got}, expected {expected}")]
    Offsets {
        /// Which offset; its number is that of the segment that starts there.
        place: usize,
        /// Its bounds.
        expected: ExpectedOffset,
        /// The offset found.
        got: usize,
    },

    /// No offsets, or only one of some records.
    #[error("too few offsets: expected one more than there are segments, from 0 to {records}, the number of records")]
    TooFewOffsets {
        /// How many records there are.
        records: usize,
    },

    /// Rows that are none of an array, or not those of the columns.
    #[error("rows: {0}")]
    Rows(RowsError),

    /// Records of a strided column that are outside of its memory, or share some; bits that are not there.
    #[error(transparent)]
    Spacing(#[from] SpacingError),

    /// A slice is too short for the totals of a call.
    #[error("the slice for totals has {got} states, expected at least {expected}, as many as there are totals")]
    TotalsTooShort {
        /// How many totals there are.
        expected: usize,
        /// The length of the slice.
        got: usize,
    },

    /// An output column is too short for what a program keeps.
    #[error("output column {column} has {got} records, expected at least {expected}, as many as are kept")]
    OutputTooShort {
        /// Which column.
        column: usize,
        /// How many records are kept.
        expected: usize,
        /// Its length.
        got: usize,
    },

    /// Found by a checked scan: an integer overflows, or is divided by zero, in the sequential loop, and in none of the
    /// records before. What was written is unspecified; a carry is as it was.
    #[error(
        "an integer overflows or is divided by zero in {function} at record {index}: a sequential loop with overflow \
         checks panics there, and one without goes on with another number"
    )]
    Overflowed {
        /// The record in the columns of the call.
        index: usize,
        /// Which function of the program it is in.
        function: FunctionOf,
    },

    /// Found by a checked scan: nothing overflows in the sequential loop up to this record, but the state before it differs
    /// from the loop's, since an integer overflowed where elements were combined in another order. What was written is
    /// unspecified; a carry is as it was.
    #[error(
        "the state before record {index} is not that of the sequential loop: no integer overflows in the loop up to \
         there, but one does where elements are combined in another order; a wider type of integers avoids it"
    )]
    Regrouped {
        /// The record in the columns of the call.
        index: usize,
    },

    /// Found by a checked scan: this record may not follow those before it, as the operator's `follows` says, and each
    /// record before it may. What was written is unspecified; a carry is as it was.
    #[error(
        "record {index} is out of order{}: `follows` is false of the state before it and its own",
        .stage.map(|stage| format!(" in stage {stage}")).unwrap_or_default()
    )]
    OutOfOrder {
        /// The record in the columns of the call.
        index: usize,
        /// Which stage of several.
        stage: Option<u32>,
    },

    /// A text is longer than places of tokens, which are `u32`, can say.
    #[error(
        "a text of {bytes} bytes is too long for offsets of `u32`: expected at most {most} bytes; lex it as a stream of smaller chunks, or, with a `Lexer`, into columns of `u64`"
    )]
    TextTooLong {
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },

    /// The call was given up, since its [flag](crate::Call::interrupt) was set. What was written is unspecified; a carry is as
    /// it was.
    #[error("interrupted: outputs may be partly written")]
    Interrupted,

    /// There is no memory for the result.
    #[error("no memory for a result of {bytes} bytes")]
    OutOfMemory {
        /// How much was asked for.
        bytes: usize,
    },

    /// A device that cannot be used, or columns in other memory than a call needs.
    #[error(transparent)]
    Device(#[from] DeviceError),

    /// Work on a GPU was not done.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Cuda(#[from] crate::cuda::CudaError),

    /// A kernel made ahead of time cannot be loaded, or was made for other calls.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Aot(#[from] crate::gpu::AotError),

    /// No kernel for a GPU could be made.
    #[cfg(feature = "ptx")]
    #[error("no kernel for the GPU: {0}")]
    Nvptx(monoscan_codegen::nvptx::NvptxError),
}

/// Errors whose text is part of ours: as our source they would be printed twice.
macro_rules! worded {
    ($($(#[$when:meta])? $variant:ident $error:ty),* $(,)?) => {$(
        $(#[$when])?
        impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::$variant(error)
            }
        }
    )*};
}

worded! {
    Trace TraceError,
    Invalid Diagnostics,
    Combination Combination,
    InPlace InPlaceError,
    Codegen CodegenError,
    Rows RowsError,
    #[cfg(feature = "ptx")]
    Nvptx monoscan_codegen::nvptx::NvptxError,
}

/// Which of several stages.
fn stage_of(stage: usize, stages: usize) -> String {
    if stages == 1 { String::new() } else { format!("stage {stage}: ") }
}

/// The sequences that the states of an argument are for.
fn one_of(argument: &str) -> &'static str {
    if argument == "carry" { "row, or one for a line" } else { "line, segment or row that begins in the call" }
}

#[cfg(feature = "cuda")]
impl Error {
    /// The same of columns whose first record is so many records later in those of the call.
    pub(crate) fn later(mut self, records: usize) -> Error {
        if let Error::Overflowed { index, .. } | Error::OutOfOrder { index, .. } | Error::Regrouped { index } =
            &mut self
        {
            *index += records;
        }
        self
    }
}
