//! Machine code for the CPU, made by Cranelift at run time.
//!
//! A [`Compiled`] program is four functions: `reduce` and `scan` over a strip of W interleaved blocks, `scan_one` over
//! one block, and `advance`, which takes a carry past a block; [`abi`] says how they are called. What one element does
//! comes from the facts (`fold_body`, `replay_body`), is lowered opcode by opcode, and is put into a loop by the kernels.
//! The loop around tiles, threads and the carry between tiles are the runtime's.

pub mod abi;
mod error;
mod helpers;
mod interior;
mod isa;
mod kernel;
mod lower;
mod memory;
mod module;
mod tables;

pub use abi::{StateLayout, TileArgs};
pub use error::CodegenError;
pub use isa::HostIsa;
pub use module::Compiled;
