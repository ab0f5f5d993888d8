//! Kernels for NVIDIA GPUs: from a verified program to PTX, by LLVM.
//!
//! A kernel is written as LLVM IR (`emit` is the pen), in which everything that only a GPU has is a call of an *atom*, a function
//! of `atoms.ll`. That file alone knows PTX. So the same kernel runs in two places: on a GPU, with the atoms of that file, and
//! on a CPU under the emulator of the tests, which gives the atoms other bodies.

mod ahead;
mod assemble;
mod atoms;
mod bytes;
mod columnar;
mod columns;
mod element;
mod emit;
mod error;
mod given;
mod ir;
pub mod ladder;
mod lanes;
mod look_back;
mod lower;
mod named;
mod packed;
mod passes;
mod published;
mod recipe;
mod ring;
mod room;
mod run;
mod shared_tables;
mod state;
mod ticket;

use monoscan_ir::facts::Facts;
use monoscan_ir::{Program, Verified};

pub use ahead::{AotFiles, compile_ahead};
pub use error::NvptxError;
pub use ir::KernelIr;

use crate::gpu::{Arch, GpuPlan, Manifest, Schedule};
use recipe::Recipe;

/// A kernel, and how it is launched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The kernel, named `scan`: PTX, or LLVM IR for the emulator.
    pub text: String,
    /// How it is launched.
    pub manifest: Manifest,
}

/// Makes the PTX of a [lowered](monoscan_ir::transform::lower) program.
pub fn compile(program: &Verified<Program>, facts: &Facts, plan: &GpuPlan, arch: Arch) -> Result<Kernel, NvptxError> {
    let ir = KernelIr::new(program, facts, plan, arch)?;
    Ok(Kernel { text: ir.compile()?, manifest: ir.manifest })
}

/// The same kernel as LLVM IR that calls atoms which it only declares, and takes its arguments by address.
pub fn emulated(program: &Verified<Program>, facts: &Facts, plan: &GpuPlan, arch: Arch) -> Result<Kernel, NvptxError> {
    let recipe = Recipe::new(program, facts, Some(plan.schedule))?;
    match plan.schedule {
        Schedule::Ring { stages, ahead, shifted } => ring::kernel(&recipe, plan, (stages, ahead, shifted), arch),
        Schedule::LookBack => look_back::kernel(&recipe, plan, arch),
        Schedule::Columnar => columnar::kernel(&recipe, plan),
    }
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
