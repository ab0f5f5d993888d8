//! The effect of each intrinsic on the machine.

mod access;
mod copies;
mod words;

use std::cmp::Reverse;

use crate::barrier::Barrier;
use crate::block::Block;
use crate::device::Access;
use crate::error::Misuse;
use crate::intrinsic::Intrinsic;
use crate::jit::Pair;
use crate::machine::{Machine, Next, Wait};
use crate::pure;
use crate::schedule::chance;
use crate::site::Kind;

impl Machine {
    /// The running thread calls an intrinsic.
    pub(crate) fn intrinsic(&mut self, site: u32, args: [u64; 5]) -> Next {
        self.tick();
        self.threads[self.current].site = site;
        let Kind::Intrinsic(intrinsic) = self.code.sites()[site as usize].kind else {
            unreachable!("a site of an intrinsic")
        };
        let next = match self.left_out[site as usize] {
            true => Ok(self.maybe_switch(without(intrinsic, args))),
            false => self.perform(intrinsic, site, args),
        };
        self.or_fail(site, next)
    }

    /// The running thread is about to load or store.
    pub(crate) fn access(&mut self, site: u32, address: u64) -> Next {
        let Kind::Access(access) = self.code.sites()[site as usize].kind else { unreachable!("a site of an access") };
        self.threads[self.current].site = site;
        let next = self.check_access(access, address).map(|()| match chance(&mut self.random, self.temper.interrupt) {
            true => self.switch(Pair::default()),
            false => Next::Go(Pair::default()),
        });
        self.or_fail(site, next)
    }

    fn or_fail(&mut self, site: u32, next: Result<Next, Misuse>) -> Next {
        next.unwrap_or_else(|misuse| {
            self.fail(self.who(self.current), site, misuse);
            Next::Never
        })
    }

    fn here(&mut self) -> (&mut Block, usize) {
        (&mut self.blocks[self.current / self.threads_per_block], self.current % self.threads_per_block)
    }

    fn switch(&mut self, answer: Pair) -> Next {
        self.ready.add(self.current);
        Next::Switch(answer)
    }

    /// Goes on, or lets others run first.
    fn maybe_switch(&mut self, answer: Pair) -> Next {
        match chance(&mut self.random, self.temper.go_on) {
            true => Next::Go(answer),
            false => self.switch(answer),
        }
    }

    /// The same, of a thread that may be waiting in a loop: it does not keep others from what it waits for.
    fn soon_switch(&mut self, answer: Pair) -> Next {
        match chance(&mut self.random, self.temper.go_on.min(512)) {
            true => Next::Go(answer),
            false => self.switch(answer),
        }
    }

    fn wait(&mut self, wait: Wait) -> Next {
        self.threads[self.current].wait = wait;
        Next::Wait
    }

    fn perform(&mut self, intrinsic: Intrinsic, site: u32, args: [u64; 5]) -> Result<Next, Misuse> {
        let [a, b, c, ..] = args;
        let nothing = Pair::default();
        let thread = self.current % self.threads_per_block;
        Ok(match intrinsic {
            Intrinsic::Thread => Next::Go(low(thread as u64)),
            Intrinsic::Block => Next::Go(low(self.here().0.number.into())),
            Intrinsic::Blocks => Next::Go(low(self.launched.into())),
            Intrinsic::Shared | Intrinsic::SharedOfWarp => Next::Go(low(self.here().0.shared.address() as u64)),
            Intrinsic::PickBytes
            | Intrinsic::PairBytes
            | Intrinsic::AddBytes
            | Intrinsic::SelectBits
            | Intrinsic::HighestBit
            | Intrinsic::Opaque
            | Intrinsic::FromF16
            | Intrinsic::ToF16
            | Intrinsic::ToBf16
            | Intrinsic::FloatBits
            | Intrinsic::DoubleBits => Next::Go(low(pure::value(intrinsic, [a, b, c])?)),
            Intrinsic::PolicyKeep | Intrinsic::PolicyNormal | Intrinsic::PolicyStream | Intrinsic::Prefetch => {
                Next::Go(nothing)
            }
            Intrinsic::Barrier => return self.block_barrier(),
            Intrinsic::WarpBarrier
            | Intrinsic::ShuffleUp
            | Intrinsic::ShuffleDown
            | Intrinsic::ShuffleFrom
            | Intrinsic::Ballot => {
                return self.meet(intrinsic, site, a as u32, b as u32);
            }
            Intrinsic::BarrierInit => {
                self.barrier_init(a, b)?;
                self.maybe_switch(nothing)
            }
            Intrinsic::BarrierInitFence => {
                let (block, thread) = self.here();
                block.barriers.values_mut().for_each(|barrier| barrier.fence(thread));
                self.maybe_switch(nothing)
            }
            Intrinsic::BarrierArrive => {
                self.arrive(a, 0)?;
                self.maybe_switch(nothing)
            }
            Intrinsic::BarrierExpect => {
                self.arrive(a, b)?;
                self.maybe_switch(nothing)
            }
            Intrinsic::BarrierTryWait => return self.try_wait(a, b),
            Intrinsic::BulkLoad => {
                self.bulk_load(site, args)?;
                self.maybe_switch(nothing)
            }
            Intrinsic::BulkStore => {
                self.bulk_store(site, args)?;
                self.maybe_switch(nothing)
            }
            Intrinsic::BulkCommit => {
                self.bulk_commit();
                self.maybe_switch(nothing)
            }
            Intrinsic::BulkWaitRead => self.bulk_wait(Wait::Reads),
            Intrinsic::BulkWait => self.bulk_wait(Wait::Stores),
            Intrinsic::BulkFence => {
                let (block, thread) = self.here();
                block.order.fence(thread);
                self.maybe_switch(nothing)
            }
            Intrinsic::LoadWord => return self.load(a, 8, Access::ForOthers),
            Intrinsic::LoadPair => return self.load(a, 16, Access::ForOthers),
            Intrinsic::LoadOnce => return self.load(a, 16, Access::Ordinary),
            Intrinsic::LoadControl => return self.load(a, 4, Access::ForOthers),
            Intrinsic::StoreWord => return self.store(a, &b.to_le_bytes()),
            Intrinsic::StorePair => return self.store(a, &(u128::from(b) | u128::from(c) << 64).to_le_bytes()),
            Intrinsic::StoreControl => return self.store(a, &(b as u32).to_le_bytes()),
            Intrinsic::Add => return self.add(a, b, 4),
            Intrinsic::AddWord => return self.add(a, b, 8),
            Intrinsic::Clock => {
                let step = self.temper.clock_step;
                self.maybe_switch(low(self.clock / step * step))
            }
            Intrinsic::Sleep => {
                let until = self.clock + a + self.random.u64(..=a);
                self.sleepers.push(Reverse((until, self.current)));
                self.wait(Wait::Sleep)
            }
        })
    }

    fn block_barrier(&mut self) -> Result<Next, Misuse> {
        let (current, threads) = (self.current, self.threads_per_block);
        let (block, _) = self.here();
        if block.ended > 0 {
            let first = current / threads * threads;
            let ended = self.threads[first..first + threads].iter().position(|thread| thread.wait == Wait::Ended);
            return Err(Misuse::EndedBeforeBarrier(ended.unwrap_or(0) as u32));
        }
        block.at_barrier += 1;
        if block.at_barrier < threads {
            return Ok(self.wait(Wait::Block));
        }
        block.at_barrier = 0;
        block.order.meet(0..threads);
        let number = block.number;
        self.stores.release(|who| who.block == number);
        let first = current / threads * threads;
        for thread in (first..first + threads).filter(|&thread| thread != current) {
            self.wake(thread, Pair::default());
        }
        Ok(self.maybe_switch(Pair::default()))
    }

    /// An intrinsic of the warp.
    fn meet(&mut self, intrinsic: Intrinsic, site: u32, value: u32, delta: u32) -> Result<Next, Misuse> {
        let current = self.current;
        let warp = current / 32 * 32;
        let (block, thread) = self.here();
        let number = block.number;
        let (meeting, lane) = (&mut block.meetings[thread / 32], thread % 32);
        if let Some((other, came)) = meeting.waiting().filter(|&(other, _)| other != site) {
            let why = format!("lane {} waits at `{}`", came.trailing_zeros(), self.code.sites()[other as usize].text);
            return Err(Misuse::Diverged(why));
        }
        let complete = meeting.come(lane, site, value, delta);
        if let Some(lane) = self.threads[warp..warp + 32].iter().position(|thread| thread.wait == Wait::Ended) {
            return Err(Misuse::Diverged(format!("lane {lane} has ended")));
        }
        if !complete {
            return Ok(self.wait(Wait::Warp));
        }
        let (block, _) = self.here();
        let answers = block.meetings[thread / 32].end(intrinsic)?;
        if intrinsic == Intrinsic::WarpBarrier {
            let first = thread / 32 * 32;
            block.order.meet(first..first + 32);
            self.stores.release(|who| who.block == number && who.thread as usize / 32 == thread / 32);
        }
        for (other, &answer) in answers.iter().enumerate().filter(|&(other, _)| other != lane) {
            self.wake(warp + other, low(answer.into()));
        }
        Ok(self.maybe_switch(low(answers[lane].into())))
    }

    fn barrier_init(&mut self, address: u64, count: u64) -> Result<(), Misuse> {
        aligned(address, 8)?;
        let (block, thread) = self.here();
        let at = block.shared.offset(address as usize, 8)?;
        if block.barriers.contains_key(&at) {
            return Err(Misuse::BarrierAgain(at));
        }
        block.shared.make_barrier(thread, at, &block.order)?;
        let barrier = Barrier::new(at, block.barriers.len(), count, thread, &block.order)?;
        block.barriers.insert(at, barrier);
        Ok(())
    }

    fn arrive(&mut self, address: u64, bytes: u64) -> Result<(), Misuse> {
        self.change();
        let slot = self.current / self.threads_per_block;
        let who = self.who(self.current);
        let (block, thread) = self.here();
        let (barrier, order) = block.barrier(thread, address)?;
        barrier.expect(bytes)?;
        let ends = barrier.arrive(thread, order)?;
        let at = barrier.at();
        self.stores.release(|storer| storer == who);
        if ends {
            self.phase_ended(slot, at);
        }
        Ok(())
    }

    fn try_wait(&mut self, address: u64, parity: u64) -> Result<Next, Misuse> {
        let impatient = chance(&mut self.random, 128);
        let (block, thread) = self.here();
        let (barrier, order) = block.barrier(thread, address)?;
        if parity > 1 {
            return Err(Misuse::Argument { what: "the parity", found: parity, expected: "0 or 1" });
        }
        if barrier.has_ended(parity) {
            order.acquire(thread, barrier.known());
            return Ok(self.maybe_switch(low(1)));
        }
        if impatient {
            return Ok(self.switch(low(0)));
        }
        barrier.waiting.push(thread);
        let at = barrier.at();
        Ok(self.wait(Wait::Phase(at)))
    }
}

fn low(low: u64) -> Pair {
    Pair { low, high: 0 }
}

fn aligned(found: u64, align: usize) -> Result<(), Misuse> {
    let found = found as usize;
    if found.is_multiple_of(align) { Ok(()) } else { Err(Misuse::Misaligned { found, align }) }
}

/// The result of an intrinsic that a fault leaves out: as if there were nothing to wait for, and nobody else.
fn without(intrinsic: Intrinsic, args: [u64; 5]) -> Pair {
    match intrinsic {
        Intrinsic::BarrierTryWait => low(1),
        Intrinsic::ShuffleUp | Intrinsic::ShuffleDown | Intrinsic::ShuffleFrom => low(args[0]),
        _ => Pair::default(),
    }
}
