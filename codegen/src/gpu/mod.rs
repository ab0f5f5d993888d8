//! Architectures, schedules and plans of NVIDIA GPUs, and how their kernels are called.
//!
//! Plain data, built always. Kernels themselves are made behind the feature `ptx`.

mod access_pattern;
#[cfg(feature = "kernels")]
mod aot;
mod arch;
mod arguments;
#[cfg(feature = "ptx")]
mod chunks;
#[cfg(feature = "ptx")]
mod look_ups;
mod manifest;
mod plan;
mod ptx;
mod schedule;
mod transducer;

pub use access_pattern::AccessPattern;
#[cfg(feature = "ptx")]
pub(crate) use aot::lowered_for;
#[cfg(feature = "kernels")]
pub use aot::{AotManifest, ExpectedLine, ExpectedValue, FoundLine, ManifestError, sha256};
pub use arch::Arch;
pub use arguments::{Arguments, EPOCH, FAULT, FAULT_BEFORE_TOTALS, FAULT_STUCK, HEADER_BYTES, TICKET};
#[cfg(feature = "ptx")]
pub use chunks::{CHUNK_STEP, CHUNK_WINDOW, CHUNK_WINDOWS, ChunkTables, RANGES, StateTable, UNUSED_STATE};
pub use manifest::{GROUP, Manifest};
pub use plan::GpuPlan;
pub use ptx::ptx_instructions;
pub use schedule::{MOST_BUFFERS, Schedule, natural};
pub use transducer::Transducer;
#[cfg(feature = "ptx")]
pub(crate) use {
    look_ups::{BANKS, LookUps, MOST_DEFERRED, WORD},
    schedule::alignment,
};
