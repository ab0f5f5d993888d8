//! Scans on NVIDIA GPUs: what a call asks for, as kernels of one program, launched in the caller's
//! streams.
//!
//! A [`DynScan`](crate::DynScan) on a GPU runs its calls here: the forms of its program are
//! lowered, planned and compiled when a call first needs them. Columns in device memory give a
//! [`Pending`] result; columns of the host are carried there and back. What calls mean is said
//! once, in [`call`](crate::call).
//!
//! | file | what it is |
//! |---|---|
//! | `column` | columns in device memory |
//! | `kernel` | a kernel that is loaded, and the launch of it: all that is needed where nothing is compiled |
//! | `arguments` | the block of bytes that a kernel takes |
//! | `pending`, `landing` | what a launch leaves, and how it comes to the host |
//! | `states` | states of a program among those of its lowered form |
//! | `task` | a call on its way to a launch |
//! | `aot` | kernels from files, and their calls |
//! | `variant` | the forms of a program and their kernels (with the feature `ptx`) |
//! | `compiled`, `run` | the kernels of a program, and its calls over device memory (likewise) |
//! | `host`, `pieces`, `staging` | its calls over host memory, piece by piece on the way there and back (likewise) |
//! | `ends` | totals of segments between offsets (likewise) |

// Used only with the feature `ptx`: what makes columns and calls to launches.
#![cfg_attr(not(feature = "ptx"), allow(dead_code))]

mod aot;
mod arguments;
mod column;
#[cfg(feature = "ptx")]
mod compiled;
#[cfg(feature = "ptx")]
mod ends;
#[cfg(feature = "ptx")]
mod host;
mod kernel;
mod landing;
mod pending;
#[cfg(feature = "ptx")]
mod pieces;
#[cfg(feature = "ptx")]
mod run;
#[cfg(feature = "ptx")]
mod staging;
mod states;
mod task;
#[cfg(feature = "ptx")]
mod variant;

pub use crate::cuda::CompileTimes;
pub use aot::{AotError, AotKernel, AotScan};
#[cfg(feature = "ptx")]
pub(crate) use compiled::{Compiled, Options};
pub use kernel::{GpuKernel, Launch, Span};
pub use monoscan_codegen::gpu::{
    AccessPattern, AotManifest, Arch, Arguments, Component, GpuPlan, Manifest, ManifestError, Schedule,
};
pub use pending::{Launched, Pending};
