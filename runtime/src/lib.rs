//! The runtime of monoscan: it owns compiled code and memory, and runs scans on all cores.
//!
//! A [`DynScan`] is made from a verified program: its laws are judged, a plan is chosen, kernels
//! are compiled (or found in the cache). It runs over [`Column`]s and [`ColumnMut`]s, which are
//! checked before any generated code runs. The typed front end of the `monoscan` crate is a thin
//! layer over this one. With the features `cuda` and `ptx` it runs on GPUs too: [`DynScan::on`].
//!
//! `unsafe` code calls generated code (`engine/line.rs`, `engine/short.rs`, `engine/short_rows.rs`,
//! `engine/short_whole.rs` and their callers, `engine/self_check`, `lexer/part.rs`). It makes raw
//! columns of borrowed memory (`column.rs`), and puts results in memory that was not initialised
//! (`scans.rs`, `lexer/blocks.rs`, `lexer/blocks/rescue.rs`). It asks for memory ahead
//! (`engine/ahead.rs`), and the system for a thread's time (`engine/off_core.rs`) and for large
//! pages (`space.rs`). It trusts kernels of files (`dynscan/place.rs`). With the feature
//! `cuda` it is also in `device_memory.rs`, in `lexer/downloaded.rs`, and in those files of the
//! `cuda` module that call the driver. So it is in the files of the `gpu` module that give the
//! driver memory to use later.

#![warn(clippy::missing_errors_doc)]
// Docs name what the feature adds; those of docs.rs and of the tests have it.
#![cfg_attr(not(feature = "cuda"), allow(rustdoc::broken_intra_doc_links))]

mod backend;
mod cache;
#[doc(hidden)]
pub mod caches;
pub mod call;
mod checked;
mod checks;
mod column;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod device_memory;
mod dynscan;
mod early;
mod engine;
mod error;
mod form;
#[cfg(feature = "cuda")]
pub mod gpu;
mod interleaved;
pub mod lexer;
mod loops;
#[cfg(test)]
mod memory;
mod parameters;
#[doc(hidden)]
pub mod parts;
mod refused;
mod scans;
mod sequences;
mod short;
#[doc(hidden)]
pub mod space;
mod spacing;
#[cfg(feature = "cuda")]
mod submit;
mod totals;
mod trace;
mod verdicts;
mod wrong;

pub use backend::Outcome;
pub use call::{Call, Init, Rows, Shape};
#[doc(hidden)]
pub use checks::check_offsets;
pub use column::{Column, ColumnMut};
pub use device::{Device, DeviceError};
#[doc(hidden)]
pub use device_memory::DeviceMemory;
pub use dynscan::{DynScan, DynScanBuilder, Representation};
pub use engine::{
    FromIdentity, Natives, Short, ShortBetween, ShortRows, ShortSpaced, ShortTotals, ShortWhole, SpacedColumn, Whole,
    with_flags,
};
pub use error::Error;
pub use monoscan_codegen::cpu::{CodegenError, InputAddresses, Kernel, ShortFn, ShortInputs, Vector};
#[doc(hidden)]
pub use monoscan_codegen::gpu::Transducer;
pub use monoscan_codegen::plan::{Association, Plan, PlanOptions};
pub use monoscan_ir::Mode;
pub use monoscan_ir::laws::Overflow;
pub use refused::{Argument, Combination, ExpectedOffset, FunctionOf, InPlaceError, RowsError};
pub use scans::collect;
#[doc(hidden)]
pub use sequences::{ShortCall, ShortColumns, ShortStart};
pub use spacing::{Bits, Spacing, SpacingError};
#[doc(hidden)]
pub use trace::MAX_CALL_DEPTH;
pub use trace::TraceError;
pub use wrong::{Difference, Walk};
