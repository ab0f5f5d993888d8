//! Machine code for the CPU, made by Cranelift at run time.
//!
//! A [`Compiled`] program is a few functions. Each level of its stages has `reduce`, over a strip
//! of W interleaved blocks, and `carry_update`, which takes a carry past a block. `scan` is the
//! replay that writes, and `combine` makes totals. [`abi`] says how they are called. What one
//! element does is the fold or replay of the [lowered](monoscan_ir::transform::Lowered) program; it
//! is lowered opcode by opcode (`lower`), reads and writes its records (`element`, `columns`), and
//! is put into a loop (`kernel`, `rounds`) of a function (`entries`). The loop around tiles,
//! threads and the carry between tiles are the runtime's.

pub mod abi;
mod blocks;
mod code;
mod columns;
mod combine;
mod element;
mod entries;
mod error;
mod helpers;
mod isa;
mod kernel;
pub mod lexer;
mod lower;
mod memory;
mod module;
mod native;
mod place;
mod recipe;
mod rounds;
mod rows;
mod short_inputs;
pub(crate) mod simd;
mod steady_state;
mod streaming;
mod tables;
mod vector;

pub use abi::{
    Access, CarryUpdateFn, ShortBetweenFn, ShortFn, ShortRowsFn, ShortSpacedFn, ShortWholeFn, Spacing, StateLayout,
    TileArgs, TileFn,
};
pub use error::CodegenError;
pub use isa::HostIsa;
pub(crate) use lower::plain_operand;
pub use module::Compiled;
pub use native::{Native, NativeFn, NativeRowsFn, NativeSequencesFn, Rival};
pub use recipe::Kernel;
pub use rows::LONGEST_STRAIGHT_ROW;
pub use short_inputs::{InputAddresses, MOST_SHORT_INPUTS, SHORT_REGISTERS, ShortInputs};
pub use vector::Vector;
