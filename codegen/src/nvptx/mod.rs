//! Kernels for NVIDIA GPUs: from a verified program to PTX, by LLVM.
//!
//! A kernel is written as LLVM IR (`emit` is the pen), in which everything that only a GPU has is a call of an *atom*, a function
//! of `intrinsics.ll`. That file alone knows PTX. So the same kernel runs in two places: on a GPU, with the atoms of that file, and
//! on a CPU under the emulator of the tests, which gives the atoms other bodies.

mod ahead;
#[allow(missing_docs, reason = "hidden but for studies")]
mod emit;
mod error;
mod ir;
#[allow(missing_docs, reason = "hidden but for studies")]
mod kernel;
#[allow(missing_docs, reason = "hidden but for studies")]
mod lower;
#[doc(hidden)]
pub mod parts;
mod schedule;
#[allow(missing_docs, reason = "hidden but for studies")]
mod strategy;

use monoscan_ir::transform::Lowered;

pub use ahead::{AotFiles, compile_ahead};
pub use error::NvptxError;
pub use ir::KernelIr;

use crate::gpu::{Arch, GpuPlan, Manifest};
use kernel::recipe::Recipe;

/// A kernel, and how it is launched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The kernel, named `scan`: PTX, or LLVM IR for the emulator.
    pub text: String,
    /// How it is launched.
    pub manifest: Manifest,
}

/// Makes the PTX of a program.
pub fn compile(program: &Lowered, plan: &GpuPlan, arch: Arch) -> Result<Kernel, NvptxError> {
    let ir = KernelIr::new(program, plan, arch)?;
    Ok(Kernel { text: ir.compile()?, manifest: ir.manifest })
}

/// The same kernel as LLVM IR that calls atoms which it only declares, and takes its arguments by address.
pub fn emulated(program: &Lowered, plan: &GpuPlan, arch: Arch) -> Result<Kernel, NvptxError> {
    let recipe = Recipe::new(program, Some(plan.schedule));
    schedule::kernel(&recipe, plan, arch)
}

/// The head of every kernel.
const HEAD: &str = "define void @scan(ptr %arguments)";

/// The same for a kernel of another name.
fn head(entry: &str) -> String {
    HEAD.replace("@scan", &format!("@{entry}"))
}

/// The module with this kernel's arguments by value, and the calling convention of kernels.
fn as_ptx_kernel(text: &str, entry: &str, bytes: usize, threads: usize) -> String {
    let ptx_head = format!(
        "define ptx_kernel void @{entry}(ptr byval([{bytes} x i8]) align 16 %arguments) \"nvvm.maxntid\"=\"{threads}\" \"nvvm.minctasm\"=\"1\""
    );
    text.replace(&head(entry), &ptx_head)
}
