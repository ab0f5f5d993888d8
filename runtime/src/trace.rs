//! [`TraceError`]: why scan functions in Rust gave no program. The typed front end traces them.

use monoscan_ir::MAX_INSTS;

/// How deep scan functions may call each other. Calls are inlined, so a recursion that data decides would never end.
#[doc(hidden)]
pub const MAX_CALL_DEPTH: usize = 64;

/// Why a scan function is no finite straight-line program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// A constant index is past the end of an array.
    #[error("in {function}: `{place}` has index {index}, but the array has {length} elements")]
    Index {
        /// The function that was traced.
        function: String,
        /// The expression, as it was written.
        place: String,
        /// The index.
        index: usize,
        /// The array's length.
        length: usize,
    },
    /// Scan functions call each other without end, or deeper than 64 calls.
    #[error(
        "in {function}: calls are nested deeper than {MAX_CALL_DEPTH} at `{callee}`; scan functions are inlined, so \
         they cannot be recursive: use `for` over a constant range"
    )]
    Recursion {
        /// The function that was traced.
        function: String,
        /// The scan function that was about to be entered.
        callee: String,
    },
    /// The function has more than [`MAX_INSTS`] instructions.
    #[error("in {function}: more than {MAX_INSTS} instructions; loops are unrolled, so shorten them or the state")]
    TooLarge {
        /// The function that was traced.
        function: String,
    },
    /// The thread ends: its thread-local data, which tracing needs, is gone.
    #[error("in {function}: the thread is ending, and builds no scan any more: build it before")]
    ThreadEnds {
        /// The function that was to be traced.
        function: String,
    },
    /// A table has no elements.
    #[error("in {function}: a table is empty, so looking it up has no value")]
    EmptyTable {
        /// The function that was traced.
        function: String,
    },
    /// `==` on a type whose `PartialEq` is not the derived one.
    #[error(
        "in {function}: `==` of {of} is not that of `#[derive(PartialEq)]`, which compares all fields; compare the fields \
         that count, or call a `#[scan_fn]`"
    )]
    OwnEquality {
        /// The function that was traced.
        function: String,
        /// The type that is compared.
        of: String,
    },
    /// Code that runs while tracing panicked: a constant expression, or a function that gives a constant.
    #[error("in {function}: a constant expression panicked: {message}")]
    Panicked {
        /// The function that was traced.
        function: String,
        /// Its message.
        message: String,
    },
}
