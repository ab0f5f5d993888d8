//! The emulated GPU during a launch: what its threads do, and what goes on beside them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use fastrand::Rng;

use crate::block::Block;
use crate::bulk::{Copy, Direction, Request, Step};
use crate::device::{Access, Device};
use crate::error::{LaunchError, Misuse, Who};
use crate::jit::{Code, Pair};
use crate::launch::{Launch, Report};
use crate::order::Stamp;
use crate::region::Region;
use crate::schedule::{Ready, Temper, chance};
use crate::stores::Stores;
use crate::stuck;

/// Why a thread does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// It can run, or does.
    Nothing,
    /// For the other lanes of its warp.
    Warp,
    /// For the other threads of its block.
    Block,
    /// For a phase of the barrier at this place.
    Phase(usize),
    /// For its bulk stores to have read.
    Reads,
    /// For its bulk stores to have landed.
    Stores,
    /// For the clock.
    Sleep,
    /// It has ended.
    Ended,
}

/// A thread of a resident block.
pub(crate) struct Thread {
    /// The intrinsic or access that it came to last.
    pub(crate) site: u32,
    pub(crate) wait: Wait,
    /// The result of the intrinsic that it waits in.
    pub(crate) answer: Pair,
    /// Its last bulk store, and the last that it has committed.
    pub(crate) stored: Stamp,
    pub(crate) committed: Stamp,
}

/// How the running thread goes on after a callback.
pub(crate) enum Next {
    /// At once.
    Go(Pair),
    /// When its turn comes again.
    Switch(Pair),
    /// When what it waits for has come, with the answer that it finds then.
    Wait,
    /// Not at all: the launch has failed.
    Never,
}

/// Everything but the fibers.
pub(crate) struct Machine {
    pub(crate) random: Rng,
    pub(crate) temper: Temper,
    pub(crate) code: Arc<Code>,
    /// For each site, whether a fault leaves it out.
    pub(crate) left_out: Vec<bool>,
    pub(crate) device: Device,
    pub(crate) arguments: Region,
    pub(crate) launched: u32,
    pub(crate) threads_per_block: usize,
    /// Blocks that have not begun.
    queue: Vec<u32>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) ready: Ready,
    pub(crate) current: usize,
    pub(crate) copies: Vec<Copy>,
    pub(crate) stores: Stores,
    pub(crate) sleepers: BinaryHeap<Reverse<(u64, usize)>>,
    pub(crate) clock: u64,
    steps: u64,
    /// The step at which something last changed for other threads.
    changed: u64,
    patience: u64,
    failure: Option<LaunchError>,
}

impl Machine {
    pub(crate) fn new(code: Arc<Code>, left_out: Vec<bool>, device: Device, launch: &Launch<'_>) -> Machine {
        let mut random = Rng::with_seed(launch.seed);
        let temper = Temper::new(&mut random);
        let threads_per_block = launch.threads as usize;
        let resident = launch.resident.min(launch.blocks) as usize;
        let mut queue: Vec<u32> = (0..launch.blocks).collect();
        random.shuffle(&mut queue);
        let mut arguments = Region::new(launch.args.len(), 0);
        arguments.write(0, launch.args);
        let mut machine = Machine {
            temper,
            code,
            left_out,
            device,
            arguments,
            launched: launch.blocks,
            threads_per_block,
            queue,
            blocks: (0..resident).map(|_| Block::new(threads_per_block, launch.shared_bytes)).collect(),
            threads: (0..resident * threads_per_block).map(|_| Thread::new()).collect(),
            ready: Ready::new(resident * threads_per_block / 32),
            current: 0,
            copies: Vec::new(),
            stores: Stores::default(),
            sleepers: BinaryHeap::new(),
            clock: random.u64(..1 << 40),
            steps: 0,
            changed: 0,
            patience: launch.patience,
            failure: None,
            random,
        };
        machine.device.begin(machine.code.constants());
        (0..resident).for_each(|slot| machine.begin_block(slot));
        machine
    }

    /// A block that has not begun gets this place, if there is one.
    fn begin_block(&mut self, slot: usize) {
        let Some(number) = self.queue.pop() else { return };
        self.blocks[slot].begin(number, self.threads_per_block, &mut self.random);
        for thread in slot * self.threads_per_block..(slot + 1) * self.threads_per_block {
            self.threads[thread] = Thread::new();
            self.ready.add(thread);
        }
    }

    /// The thread that runs next; none when all have ended.
    pub(crate) fn next(&mut self) -> Result<Option<usize>, LaunchError> {
        loop {
            self.tick();
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if self.steps - self.changed > self.patience {
                return Err(self.stuck());
            }
            if let Some(thread) = self.ready.take(&self.temper, &mut self.random) {
                self.current = thread;
                return Ok(Some(thread));
            }
            // All threads wait, so what they may wait for happens.
            if !self.copies.is_empty() && (self.stores.is_empty() || self.random.bool()) {
                self.step_copy();
            } else if !self.stores.is_empty() {
                self.store_arrives();
            } else if let Some(&Reverse((until, _))) = self.sleepers.peek() {
                self.clock = self.clock.max(until);
            } else if self.threads.iter().all(|thread| thread.wait == Wait::Ended) {
                return Ok(None);
            } else {
                return Err(self.stuck());
            }
        }
    }

    /// Time goes by, and things may happen beside the threads.
    pub(crate) fn tick(&mut self) {
        self.steps += 1;
        self.clock += 1;
        while let Some(&Reverse((_, thread))) = self.sleepers.peek().filter(|Reverse((until, _))| *until <= self.clock)
        {
            self.sleepers.pop();
            self.wake(thread, Pair::default());
        }
        if !self.copies.is_empty() && chance(&mut self.random, self.temper.copy) {
            self.step_copy();
        }
        if !self.stores.is_empty() && (self.stores.is_full() || chance(&mut self.random, self.temper.store)) {
            self.store_arrives();
        }
    }

    /// Something happened that other threads may wait for.
    pub(crate) fn change(&mut self) {
        self.changed = self.steps;
    }

    pub(crate) fn wake(&mut self, thread: usize, answer: Pair) {
        self.threads[thread].wait = Wait::Nothing;
        self.threads[thread].answer = answer;
        self.ready.add(thread);
    }

    pub(crate) fn who(&self, thread: usize) -> Who {
        let (slot, index) = (thread / self.threads_per_block, thread % self.threads_per_block);
        Who { block: self.blocks[slot].number, thread: index as u32 }
    }

    /// The running thread has returned from the kernel.
    pub(crate) fn ended(&mut self) {
        self.change();
        let thread = self.current;
        self.threads[thread].wait = Wait::Ended;
        let (slot, index) = (thread / self.threads_per_block, thread % self.threads_per_block);
        if let Some((site, _)) = self.blocks[slot].meetings[index / 32].waiting() {
            let waiting = &self.code.sites()[site as usize].text;
            let why = format!("lane {} has ended while others wait at `{waiting}`", index % 32);
            return self.fail(self.who(thread), self.threads[thread].site, Misuse::Diverged(why));
        }
        self.blocks[slot].ended += 1;
        if self.blocks[slot].at_barrier > 0 {
            let first = slot * self.threads_per_block;
            let block = &self.threads[first..first + self.threads_per_block];
            let waiting = block.iter().position(|thread| thread.wait == Wait::Block).unwrap_or(0);
            let why = Misuse::EndedBeforeBarrier(index as u32);
            return self.fail(self.who(first + waiting), block[waiting].site, why);
        }
        if self.blocks[slot].ended == self.threads_per_block {
            self.block_ended(slot);
        }
    }

    fn block_ended(&mut self, slot: usize) {
        let number = self.blocks[slot].number;
        let uses = |copy: &&Copy| copy.request.slot == slot && copy.request.who.block == number;
        let left = self.copies.iter().filter(uses).find_map(|copy| match copy.request.direction {
            Direction::Load { .. } => Some((copy.request.who, copy.request.site, "bulk load")),
            Direction::Store { .. } if !copy.has_read() => Some((copy.request.who, copy.request.site, "bulk store")),
            Direction::Store { .. } => None,
        });
        match left {
            Some((who, site, what)) => self.fail(who, site, Misuse::CopyOutlivesBlock(what)),
            None => self.begin_block(slot),
        }
    }

    /// Ends the launch with an error, unless one is there already.
    pub(crate) fn fail(&mut self, who: Who, site: u32, misuse: Misuse) {
        let instruction = self.code.sites()[site as usize].text.clone();
        self.failure.get_or_insert(LaunchError::Misuse { who, instruction, misuse });
    }

    fn store_arrives(&mut self) {
        self.change();
        self.stores.arrive(&mut self.random, &mut self.device);
    }

    /// A bulk copy makes a step, any of them.
    fn step_copy(&mut self) {
        self.change();
        let index = self.random.usize(..self.copies.len());
        let copy = &mut self.copies[index];
        let step = copy.step(&mut self.random);
        let Request { who, site, slot, device, shared, direction, .. } = copy.request;
        let memory = &mut self.blocks[slot].shared;
        let load = matches!(direction, Direction::Load { .. });
        match step {
            Step::Read { offset, bytes } => {
                let mut read = vec![0; bytes];
                let part = device.part(offset, bytes);
                match load {
                    true => {
                        if let Err(misuse) = self.device.check(part, who.block, Access::Ordinary) {
                            return self.fail(who, site, misuse);
                        }
                        self.device.load(part, &mut read);
                    }
                    false => memory.fetch(shared + offset, &mut read),
                }
                copy.holds(offset, read);
                if copy.has_read() {
                    self.wake_storer(slot, who);
                }
            }
            Step::Write { offset, bytes } => {
                match load {
                    true => memory.land(shared + offset, &bytes),
                    false => self.device.store(device.part(offset, bytes.len()), &bytes),
                }
                if copy.has_landed() {
                    let copy = self.copies.swap_remove(index);
                    self.copy_landed(copy.request);
                }
            }
        }
    }

    fn copy_landed(&mut self, Request { who, slot, stamp, device, direction, .. }: Request) {
        match direction {
            Direction::Load { barrier: at } => {
                let barrier = self.blocks[slot].barriers.get_mut(&at);
                if barrier.is_some_and(|barrier| barrier.landed(device.bytes(), stamp)) {
                    self.phase_ended(slot, at);
                }
            }
            Direction::Store { .. } => self.wake_storer(slot, who),
        }
    }

    /// Threads that wait for the phase that has just ended go on.
    pub(crate) fn phase_ended(&mut self, slot: usize, at: usize) {
        let Block { barriers, order, .. } = &mut self.blocks[slot];
        let barrier = barriers.get_mut(&at).expect("a barrier whose phase ended");
        let waiting = std::mem::take(&mut barrier.waiting);
        for &thread in &waiting {
            order.acquire(thread, barrier.known());
        }
        for thread in waiting {
            self.wake(slot * self.threads_per_block + thread, Pair { low: 1, high: 0 });
        }
    }

    /// A thread that waits for its bulk stores goes on, if they are so far.
    fn wake_storer(&mut self, slot: usize, who: Who) {
        let thread = slot * self.threads_per_block + who.thread as usize;
        let wait = self.threads[thread].wait;
        if self.who(thread) == who && matches!(wait, Wait::Reads | Wait::Stores) && self.are_stored(who, wait) {
            self.blocks[slot].order.learn(who.thread as usize, self.threads[thread].committed);
            self.wake(thread, Pair::default());
        }
    }

    /// Whether all committed bulk stores of a thread have read, or landed.
    pub(crate) fn are_stored(&self, who: Who, wait: Wait) -> bool {
        let mut own = self.copies.iter().filter(|copy| copy.request.who == who && copy.is_committed());
        own.all(|copy| wait == Wait::Reads && copy.has_read())
    }

    /// The state that is left of a launch that has ended.
    pub(crate) fn finish(mut self) -> (Device, Report) {
        self.device.end();
        (self.device, Report { steps: self.steps })
    }

    /// The launch does not come to an end: which threads wait on what.
    fn stuck(&self) -> LaunchError {
        LaunchError::Stuck { steps: self.steps, waiting: stuck::describe(self) }
    }
}

impl Thread {
    fn new() -> Thread {
        let stamp = Stamp::default();
        Thread { site: 0, wait: Wait::Nothing, answer: Pair::default(), stored: stamp, committed: stamp }
    }
}
