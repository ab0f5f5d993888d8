//! Intrinsics of bulk copies.

use super::aligned;
use crate::bulk::{Copy, Direction, Request};
use crate::device::Access;
use crate::error::Misuse;
use crate::jit::Pair;
use crate::machine::{Machine, Next, Wait};

impl Machine {
    pub(super) fn bulk_load(&mut self, site: u32, [to, from, bytes, address, _]: [u64; 5]) -> Result<(), Misuse> {
        self.change();
        [to, from, bytes].iter().try_for_each(|&it| aligned(it, 16))?;
        if bytes == 0 {
            return Err(Misuse::EmptyCopy);
        }
        let (who, slot) = (self.who(self.current), self.current / self.threads_per_block);
        let device = self.device.place(from, bytes as usize)?;
        let Machine { blocks, random, current, threads_per_block, .. } = self;
        let (block, thread) = (&mut blocks[*current / *threads_per_block], *current % *threads_per_block);
        let (barrier, order) = block.barrier(thread, address)?;
        barrier.check_fenced()?;
        let stamp = barrier.load(order);
        let direction = Direction::Load { barrier: barrier.at() };
        let shared = block.shared.offset(to as usize, bytes as usize)?;
        block.shared.copy_in(thread, (shared, bytes as usize), stamp, &block.order, random)?;
        self.copies.push(Copy::new(Request { who, site, slot, stamp, device, shared, direction }, random));
        Ok(())
    }

    pub(super) fn bulk_store(&mut self, site: u32, [to, from, bytes, ..]: [u64; 5]) -> Result<(), Misuse> {
        self.change();
        [to, from, bytes].iter().try_for_each(|&it| aligned(it, 16))?;
        if bytes == 0 {
            return Err(Misuse::EmptyCopy);
        }
        let (who, slot) = (self.who(self.current), self.current / self.threads_per_block);
        let device = self.device.place(to, bytes as usize)?;
        self.device.claim(device, who.block, Access::Ordinary)?;
        let Machine { blocks, random, current, threads_per_block, .. } = self;
        let (block, thread) = (&mut blocks[*current / *threads_per_block], *current % *threads_per_block);
        let shared = block.shared.offset(from as usize, bytes as usize)?;
        let stamp = block.order.store(thread);
        block.shared.copy_out(thread, (shared, bytes as usize), stamp, &block.order, random)?;
        let direction = Direction::Store { committed: false };
        self.copies.push(Copy::new(Request { who, site, slot, stamp, device, shared, direction }, random));
        self.threads[self.current].stored = stamp;
        Ok(())
    }

    pub(super) fn bulk_commit(&mut self) {
        let who = self.who(self.current);
        for copy in self.copies.iter_mut().filter(|copy| copy.request.who == who) {
            copy.commit();
        }
        let thread = &mut self.threads[self.current];
        thread.committed = thread.stored;
    }

    pub(super) fn bulk_wait(&mut self, wait: Wait) -> Next {
        if !self.are_stored(self.who(self.current), wait) {
            return self.wait(wait);
        }
        let committed = self.threads[self.current].committed;
        let (block, thread) = self.here();
        block.order.learn(thread, committed);
        self.maybe_switch(Pair::default())
    }
}
