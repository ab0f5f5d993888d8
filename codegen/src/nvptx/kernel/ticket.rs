//! Tickets: which tile a block takes, and in which launch.
//!
//! Ticket and epoch are one word of the workspace: a block learns both at once. The block that
//! draws the last ticket sets the next epoch, which no block of this launch reads any more. A block
//! that is alone needs neither.

use crate::gpu::TICKET;
use crate::nvptx::emit::{Builder, Ty, Value};

/// The tile and the epoch that a block drew.
pub struct Ticket<'k> {
    /// From 0, as 64 bits.
    pub number: Value<'k>,
    /// One more than the workspace's launches before this one, as 32 bits. Nothing if the block is alone.
    pub launch: Value<'k>,
}

/// Draws one of `all` tickets, by the first thread of the block; `drawn` is 8 bytes of shared memory. Waits for the block.
pub fn draw<'k>(
    k: &'k Builder,
    (thread, drawn): (Value<'k>, Value<'k>),
    workspace: Value<'k>,
    all: Value<'k>,
    alone: Value<'k>,
) -> Ticket<'k> {
    k.when(thread.is(k.i32(0)), || {
        drawn.store(k.i64(0), 8);
        k.when(!alone, || {
            let word = k.atomic_add_word(workspace.at(TICKET), k.i64(1));
            drawn.store(word, 8);
            let (number, launches) = (word & u32::MAX as usize, word >> 32);
            k.when((number + 1).is(all), || k.store_word(workspace.at(TICKET), (launches + 1) << 32));
        });
    });
    k.barrier();
    let word = drawn.load(Ty::I64, 8);
    Ticket { number: word & u32::MAX as usize, launch: (word >> 32).resize(Ty::I32) + 1 }
}
