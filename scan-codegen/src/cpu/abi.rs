//! How kernels are called.
//!
//! A kernel works on W *ways*: W consecutive blocks of `len` elements each, block w being the elements
//! `start + w·len .. start + (w+1)·len`. One loop takes an element of every block in turn, so W independent chains of ⊕
//! hide each other's latency. W slots of state lie at `states`, [`StateLayout::stride`] bytes apart:
//!
//! | kernel | reads | leaves in slot w |
//! |---|---|---|
//! | `reduce` | input | the aggregate of block w, from the identity, in the components that are not length-only |
//! | `scan` | input, slot w: the carry into block w | the state after block w, in the live components |
//! | `advance` | a carry and an aggregate, a slot each | the carry behind the aggregate's block, in what a carry needs |
//!
//! Columns may lie at any address. An output column may be an input column (same records, element for element) if the
//! program reads no `Next`; else outputs overlap nothing.

use scan_ir::{Layout, Type};

/// The argument of a tile kernel.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TileArgs {
    /// For each input column, where its element 0 is.
    pub inputs: *const *const u8,
    /// For each output column, where its element 0 is; `reduce` does not look at it.
    pub outputs: *const *mut u8,
    /// The first element of the first block.
    pub start: u64,
    /// How many elements a block has; may be 0.
    pub len: u64,
    /// How many elements the whole scan has: element `total − 1` is the last, without a next.
    pub total: u64,
    /// The slots.
    pub states: *mut u8,
}

/// `reduce` and `scan`.
pub type TileFn = unsafe extern "C" fn(*const TileArgs);

/// `advance`: (carry, aggregate, out); `out` may be one of the others.
pub type AdvanceFn = unsafe extern "C" fn(*const u8, *const u8, *mut u8);

/// How a state lies in its slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateLayout {
    /// The components, each at its natural alignment, in order.
    pub layout: Layout,
    /// Bytes from one slot to the next, a multiple of 16.
    pub stride: usize,
}

impl StateLayout {
    /// For states of these components.
    pub fn of(state: &[Type]) -> StateLayout {
        let layout = Layout::packed(state);
        let stride = (layout.size as usize).next_multiple_of(16).max(16);
        StateLayout { layout, stride }
    }
}
