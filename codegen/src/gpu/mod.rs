//! What is known of kernels for NVIDIA GPUs without making one: architectures, plans, and how a kernel is called.
//!
//! Plain data, built always. Kernels themselves are made behind the feature `ptx`.

mod access_pattern;
mod aot;
mod arch;
mod arguments;
mod fit;
mod look_ups;
mod manifest;
mod plan;
mod ptx;

pub use access_pattern::AccessPattern;
pub use aot::{AotManifest, Component, ManifestError};
pub use arch::Arch;
pub use arguments::{Arguments, EPOCH, FAULT, FAULT_STUCK, HEADER_BYTES, TICKET};
pub use manifest::{GROUP, Manifest};
pub use plan::{GpuPlan, Schedule, natural};
pub use ptx::ptx_instructions;
#[cfg(feature = "ptx")]
pub(crate) use {
    fit::{LINE, MOST_TABLE_BYTES, OUTPUT_BUFFERS, overlays},
    look_ups::{BANKS, LookUps, MOST_DEFERRED, WORD},
    plan::alignment,
};
