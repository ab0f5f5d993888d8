//! The parts that kernels of every schedule are made of.
//!
//! | file | part |
//! |---|---|
//! | `arguments.rs` | the kernel's arguments and tables, as code reads them |
//! | `recipe.rs` | a program's folds, operators and replay, each as code for one element |
//! | `element.rs`, `columns.rs`, `bytes.rs` | how that code reads an element: from registers, shared or device memory |
//! | `items.rs` | the items of a thread: consecutive records of a tile, gone over by a pass |
//! | `state.rs`, `warp.rs` | states of a level in 32-bit words, and how a warp combines them |
//! | `tile_states.rs`, `ticket.rs` | what blocks publish for each other, and which tile a block takes |
//! | `shared_memory.rs`, `shared_tables.rs` | the allocator of a block's shared memory, and copies of tables there |

pub(crate) mod arguments;
pub(crate) mod bytes;
pub(crate) mod columns;
pub(crate) mod element;
pub(crate) mod items;
pub(crate) mod overlays;
pub(crate) mod recipe;
pub(crate) mod shared_memory;
pub(crate) mod shared_tables;
pub(crate) mod state;
pub mod ticket;
pub(crate) mod tile_states;
pub(crate) mod warp;
