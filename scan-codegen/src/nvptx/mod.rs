//! Kernels for NVIDIA GPUs: from a verified program to PTX, by LLVM.
//!
//! A kernel is written as LLVM IR ([`emit`] is the pen), in which everything that only a GPU has is a call of an *atom*, a function
//! of `atoms.ll`. That file alone knows PTX. So the same kernel runs in two places: on a GPU, with the atoms of that file, and
//! on a CPU under the emulator of the tests, which gives the atoms other bodies.

mod assemble;
mod emit;
mod lower;
