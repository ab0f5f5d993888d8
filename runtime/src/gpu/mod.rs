//! Scans on NVIDIA GPUs: what a call asks for, as kernels of one program, launched in the caller's
//! streams.
//!
//! A [`DynScan`](crate::DynScan) on a GPU runs its calls here. Its kernels are compiled, form by
//! form, when a call first needs them, or were made ahead of time. Columns in device memory give a
//! [`Pending`] result; columns of the host are carried there and back. What calls mean is said
//! once, in [`call`](crate::call).
//!
//! | file | what it is |
//! |---|---|
//! | `on_gpu` | a program on a GPU as a backend, and what a source of kernels is |
//! | `compiled`, `variant` | kernels that are compiled: the forms of a program (with the feature `ptx`) |
//! | `ahead` | kernels that were made ahead of time |
//! | `column` | columns in device memory |
//! | `task` | a call over them, from its checks to its launch |
//! | `kernel` | a kernel that is loaded, and the launch of it |
//! | `arguments` | the block of bytes that a kernel takes |
//! | `pending`, `landing` | what a launch leaves, and how it comes to the host |
//! | `states` | states of a program among those of its lowered form |
//! | `host`, `pieces`, `staging` | calls over host memory, piece by piece on the way there and back |
//! | `transfer` | copies of large plain memory there and back, by all cores |
//! | `added` | what is made for a launch beside its columns: flags, starts, states of rows |
//! | `segments`, `numbers` | the making of these: flags out of keys or offsets, the start of each record's segment, copies (with the feature `ptx`) |
//! | `spaced` | copies of columns in device memory whose records are not one after the other |
//! | `helpers` | kernels that are no scans (with the feature `ptx`) |
//! | `moves` | records moved about for algorithms, by such kernels (with the feature `ptx`) |
//! | `totals` | totals of segments for algorithms, each its own, left on the device (with the feature `ptx`) |
//! | `chunks` | lines of automata of many states, by a thread for each chunk (with the feature `ptx`) |
//! | `rows` | rows that a thread each would be slow for: lines of wider records, segments |
//! | `row_chunks` | rows in chunks, a thread for each |
//! | `ends` | totals of segments between offsets, or of equal keys |

mod added;
mod ahead;
mod arguments;
#[cfg(feature = "ptx")]
mod chunks;
mod column;
#[cfg(feature = "ptx")]
mod compiled;
#[cfg(all(test, feature = "ptx"))]
mod driver_calls;
mod ends;
#[cfg(feature = "ptx")]
mod helpers;
mod host;
mod kernel;
mod landing;
#[cfg(feature = "ptx")]
#[doc(hidden)]
pub mod moves;
mod numbers;
mod on_gpu;
mod pending;
mod pieces;
#[cfg(feature = "ptx")]
mod row_chunks;
#[cfg(feature = "ptx")]
mod rows;
#[cfg(feature = "ptx")]
mod segments;
mod spaced;
mod staging;
mod states;
mod task;
#[cfg(feature = "ptx")]
#[doc(hidden)]
pub mod totals;
pub(crate) mod transfer;
#[cfg(feature = "ptx")]
mod variant;

pub use crate::cuda::CompileTimes;
pub use ahead::{AotError, AotKernel, Asked, Helper, MadeFor};
#[cfg(feature = "ptx")]
use compiled::Compiled;
pub use kernel::{GpuKernel, Launch, Span};
pub use monoscan_codegen::gpu::{
    AccessPattern, AotManifest, Arch, Arguments, ExpectedLine, ExpectedValue, FoundLine, GpuPlan, Manifest,
    ManifestError, Schedule,
};
pub(crate) use on_gpu::{Options, backend};
pub use pending::{Launched, Pending};
pub(crate) use task::Task;
