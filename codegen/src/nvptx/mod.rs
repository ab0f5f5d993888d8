//! Kernels for NVIDIA GPUs: from a verified program to PTX, by LLVM.
//!
//! A kernel is written as LLVM IR by the builder of `emit`. Everything that only a GPU has is a
//! call of a *device intrinsic*, a function of `emit/intrinsics.ll`. That file alone knows PTX. So
//! the same kernel runs in two places: on a GPU, with that file, and on a CPU under the emulator of
//! the tests, which gives the intrinsics other bodies.
//!
//! | folder | what it is |
//! |---|---|
//! | `plan.rs` | [`KernelPlan`]: all that is decided about a kernel, shared memory included |
//! | `schedule` | ring, look-back, columnar: how tiles come, go and get their carry |
//! | `strategy` | how a pass takes a thread's items |
//! | `kernel` | the parts that kernels of every schedule are made of |
//! | `lower` | opcodes of the IR as LLVM IR |
//! | `helpers` | kernels that are no scans: flags out of offsets, starts and ends of segments, spaced columns, splits by digits |
//! | `totals.rs` | the totals of segments between offsets, in one pass |
//! | `emit` | the builder of LLVM IR, device intrinsics, and LLVM |

mod ahead;
#[allow(missing_docs, reason = "hidden but for studies")]
mod emit;
mod error;
mod helpers;
mod ir;
#[allow(missing_docs, reason = "hidden but for studies")]
mod kernel;
#[allow(missing_docs, reason = "hidden but for studies")]
mod lower;
#[doc(hidden)]
pub mod parts;
mod plan;
mod schedule;
#[allow(missing_docs, reason = "hidden but for studies")]
mod strategy;
mod totals;

pub use ahead::{AotFiles, compile_ahead};
pub use error::{NvptxError, PlanError};
pub use helpers::{
    ChunkKernel, ChunkPass, ChunkSymbols, ChunksArguments, FLAGS_OF_THREAD, HELPER_THREADS, HelperIr, HelperKernel,
    MOST_OF_BLOCK, OffsetsArguments, PartitionArguments, RowFlagsArguments, SpacingArguments, SplitArguments,
    StartsArguments, TableIn, Width,
};
pub use ir::KernelIr;
pub use plan::KernelPlan;
pub use totals::{TotalsKernel, TotalsPass};

use crate::gpu::Manifest;

/// A kernel, and how it is launched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The kernel, named `scan`: PTX, or LLVM IR for the emulator.
    pub text: String,
    /// How it is launched.
    pub manifest: Manifest,
}

/// The head of every kernel.
const HEAD: &str = "define void @scan(ptr %arguments)";

/// The same for a kernel of another name.
fn head(entry: &str) -> String {
    HEAD.replace("@scan", &format!("@{entry}"))
}

/// The module with this kernel's arguments by value, and the calling convention of kernels. Its registers are so few that a
/// multiprocessor has them for so many blocks.
fn as_ptx_kernel(text: &str, entry: &str, bytes: usize, (threads, blocks): (usize, usize)) -> String {
    let ptx_head = format!(
        "define ptx_kernel void @{entry}(ptr byval([{bytes} x i8]) align 16 %arguments) \"nvvm.maxntid\"=\"{threads}\" \"nvvm.minctasm\"=\"{blocks}\""
    );
    text.replace(&head(entry), &ptx_head)
}
