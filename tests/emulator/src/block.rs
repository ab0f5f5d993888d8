//! A block while it is resident.

use std::collections::BTreeMap;

use fastrand::Rng;

use crate::barrier::Barrier;
use crate::error::Misuse;
use crate::order::Order;
use crate::shared::Shared;
use crate::warp::{LANES, Meeting};

/// A place for a block, and the block that has it.
pub(crate) struct Block {
    /// Its number.
    pub(crate) number: u32,
    pub(crate) shared: Shared,
    pub(crate) order: Order,
    /// The barriers in its shared memory, by their place.
    pub(crate) barriers: BTreeMap<usize, Barrier>,
    /// For each warp, the intrinsic that its lanes come to.
    pub(crate) meetings: Vec<Meeting>,
    /// How many threads wait for the others of the block.
    pub(crate) at_barrier: usize,
    pub(crate) ended: usize,
}

impl Block {
    pub(crate) fn new(threads: usize, shared_bytes: usize) -> Block {
        Block {
            number: 0,
            shared: Shared::new(shared_bytes),
            order: Order::new(threads),
            barriers: BTreeMap::new(),
            meetings: vec![Meeting::default(); threads / LANES],
            at_barrier: 0,
            ended: threads,
        }
    }

    /// The block of this number gets the place of one that has ended.
    pub(crate) fn begin(&mut self, number: u32, threads: usize, random: &mut Rng) {
        self.number = number;
        self.shared.begin(random);
        self.order = Order::new(threads);
        self.barriers.clear();
        self.at_barrier = 0;
        self.ended = 0;
    }

    /// The barrier at an address, for this thread.
    pub(crate) fn barrier(&mut self, thread: usize, address: u64) -> Result<(&mut Barrier, &mut Order), Misuse> {
        let at = self.shared.offset(address as usize, 8)?;
        let barrier = self.barriers.get_mut(&at).ok_or(Misuse::NoBarrier(at))?;
        barrier.check_made(thread, &self.order)?;
        Ok((barrier, &mut self.order))
    }
}
