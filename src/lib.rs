//! monoscan, a scan compiler: write an associative operator in plain Rust, get the scan it
//! deserves.
//!
//! ```text
//! y[i] = x[0] ⊕ x[1] ⊕ … ⊕ x[i]
//! ```
//!
//! ```
//! use monoscan::{ops::Sum, prelude::*};
//!
//! let sums = Scan::<Sum<i32>>::plain()?; // compiled here, once
//! assert_eq!(sums.inclusive(&[1, 2, 3, 4])?, [1, 3, 6, 10]);
//! # Ok::<(), monoscan::Error>(())
//! ```
//!
//! # The book
//!
//! 1. [A tour](tour): fourteen questions of the first hour, each answered by a few lines that run.
//! 2. [Every call, once](every_call): all that a scan can be asked for, on one page that runs.
//! 3. [Is there a scan in your loop?](algorithms): patterns of loops, and the scan of each.
//! 4. [Scans from loops](from_a_loop): which loops become scans by themselves, and which do not.
//! 5. [Scan code](language): what Rust an operator may use, and what to write instead of the rest.
//! 6. [Calls](Call): one page of formulas says what each request, and each combination, means.
//! 7. [Writing a lexer](writing_a_lexer): from one rule to C, and what each thing costs.
//! 8. [The design](design): how monoscan works, from the overview to each engine, with a table of
//!    [terms](design::terms).
//!
//! # The parts
//!
//! - [`Scan`] runs the scan of a [`Monoid`](prelude::Monoid), a struct and its `combine` under
//!   `#[scan_monoid]`. The operator is judged (is it associative at all?), compiled at run time and
//!   run on all cores.
//! - [`ops`] has ready monoids: sums, extremes, maps, statistics, and wrappers that make new ones
//!   of them.
//! - [`algo`] has the algorithms that scans are for: selecting, sorting, ragged data, numbers,
//!   trees, text.
//! - [`lexer`] compiles token rules: on the CPU into machine code of their own, on a GPU into a
//!   scan. [`recurrence`] compiles coefficients that are known only at run time.
//! - [`Scan::on`] gives the same scan on a [`Device`]. With the feature `gpu` that may be an NVIDIA
//!   GPU, whose memory [`DeviceVec`]s are in; the methods stay the same.
//! - [`DynScan`] runs programs that were built with [`monoscan_ir`] by other means.
//!
//! Errors are values that say what was expected: [`Error`].

#![warn(clippy::missing_errors_doc)]
// Docs name what the feature adds; those of docs.rs and of the tests have it.
#![cfg_attr(not(feature = "cuda"), allow(rustdoc::broken_intra_doc_links))]

// The macros' output names `::monoscan`, and is used inside this crate too.
extern crate self as monoscan;

mod parallel;
#[macro_use]
mod prefixes;

pub mod algo;
#[doc(hidden)]
pub mod lang;
#[cfg(feature = "lexer")]
pub mod lexer;
pub mod ops;
pub mod recurrence;
mod scan;
mod words;

/// Programs, their laws and facts: front ends build scans from these.
pub use monoscan_ir as ir;
pub use monoscan_ir::laws::Judgement;
pub use monoscan_ir::{Constant, Layout, Mode};
pub use monoscan_runtime::{
    Argument, Bits, Call, CodegenError, Column, ColumnMut, Combination, Device, DeviceError, Difference, DynScan,
    DynScanBuilder, Error, ExpectedOffset, FunctionOf, InPlaceError, Init, Outcome, Overflow, Plan, PlanOptions,
    Representation, Rows, RowsError, Shape, Spacing, SpacingError, TraceError, Walk,
};
#[cfg(feature = "cuda")]
pub use monoscan_runtime::{cuda, gpu, include_kernel};
pub use scan::{
    ByKey, Cascade, ChunkStream, Columns, ColumnsMut, DeviceStrided, DeviceStridedMut, DeviceVec, Element, Host, Keys,
    LoopBuilder, OnDevice, Operator, Outputs, Over, Parameterised, Pending, Place, Record, Request, RowStream, Scan,
    ScanBuilder, Segments, Stages, State, States, Strided, StridedMut, Unzipped, WithTotals, by_key, native,
};

/// The plan of a scan on the CPU, and what plans and errors about them name.
pub mod plan {
    pub use monoscan_runtime::{Association, Kernel, Plan, PlanOptions, Vector};
}

/// Kernels for NVIDIA GPUs, made ahead of time: [`compile_ahead`](nvptx::compile_ahead) gives PTX and a manifest, which
/// a build with the feature `cuda` alone loads.
#[cfg(feature = "ptx")]
pub mod nvptx {
    pub use monoscan_codegen::gpu::{AccessPattern, AotManifest, Arch, GpuPlan, Manifest, Schedule};
    pub use monoscan_codegen::nvptx::{AotFiles, NvptxError, PlanError, compile_ahead};
    pub use monoscan_ir::transform::{Form, Role, SegmentStart};
}

/// The imports of a file that writes scan code.
pub mod prelude {
    pub use crate::lang::{BindTable, BitLike, Int, Monoid, Num, Real, Scalar, ScanFn, ScanType, Table};
    pub use crate::scan::{Element, Scan};
    pub use monoscan_macros::{ScanType, scan, scan_fn, scan_monoid};
}

#[doc = include_str!("../docs/tour.md")]
pub mod tour {}

#[doc = include_str!("../docs/every-call.md")]
pub mod every_call {}

#[doc = include_str!("../docs/from-a-loop.md")]
pub mod from_a_loop {}

#[doc = include_str!("../docs/algorithms.md")]
pub mod algorithms {}

#[doc = include_str!("../docs/language.md")]
pub mod language {}

#[cfg(feature = "lexer")]
#[doc = include_str!("../docs/writing-a-lexer.md")]
pub mod writing_a_lexer {}

#[doc = include_str!("../docs/design/overview.md")]
pub mod design {
    #[doc = include_str!("../docs/design/automata.md")]
    pub mod automata {}
    #[doc = include_str!("../docs/design/cpu.md")]
    pub mod cpu {}
    #[doc = include_str!("../docs/design/gpu.md")]
    pub mod gpu {}
    #[doc = include_str!("../docs/design/lexer.md")]
    pub mod lexer {}
    #[doc = include_str!("../docs/terms.md")]
    pub mod terms {}
    #[doc = include_str!("../docs/how-to/front-end.md")]
    pub mod front_ends {}
}

/// The README's code, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
