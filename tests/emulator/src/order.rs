//! The order of events in a block: vector clocks.
//!
//! Each thread has a clock of its own, and knows of every other thread up to which tick it is
//! ordered after it. The barriers pass this knowledge on. An access to shared memory is stamped
//! with the ticker and its tick, so that a later one can ask whether it is ordered after it
//! (Flanagan, Freund: FastTrack, 2009).
//!
//! Bulk copies have clocks too, since the thread that starts one is not ordered after it. Bulk
//! stores tick for the warp that starts them, and threads that wait for them learn the tick. Bulk
//! loads are stamped with the phase that they count for, as the tick of their barrier, which those
//! who see that phase end learn.

use crate::warp::LANES;

/// The thread that did something, and at which of its ticks; 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Stamp(u32);

/// The ticks of all that a thread, or a barrier, is ordered after.
pub(crate) type Known = Box<[u32]>;

const TICK_BITS: u32 = 21;

/// Clocks beside those of the threads: of the bulk stores of each warp, then of barriers. Where there are more barriers, some
/// share a clock, and a mistake with one of them may pass.
const STORES: usize = 32;
const BARRIERS: usize = 64;

impl Stamp {
    /// The stamp of bytes that belong to a barrier.
    pub(crate) const BARRIER: Stamp = Stamp(u32::MAX);

    fn new(ticker: usize, tick: u32) -> Stamp {
        // A clock that runs for so long stops: what is missed then is a race, and no error is invented.
        Stamp((ticker as u32) << TICK_BITS | tick.min((1 << TICK_BITS) - 1))
    }

    /// Whose: a thread, or beyond them bulk copies.
    pub(crate) fn ticker(self) -> usize {
        (self.0 >> TICK_BITS) as usize
    }

    fn tick(self) -> u32 {
        self.0 & ((1 << TICK_BITS) - 1)
    }
}

/// The clocks of a block.
pub(crate) struct Order {
    threads: usize,
    known: Vec<Known>,
    /// Up to which of its ticks a thread's writes are ordered before bulk copies.
    fenced: Vec<u32>,
    stores: [u32; STORES],
}

impl Order {
    pub(crate) fn new(threads: usize) -> Order {
        let mut known = vec![nothing(threads); threads];
        known.iter_mut().enumerate().for_each(|(thread, known)| known[thread] = 1);
        Order { threads, known, fenced: vec![0; threads], stores: [0; STORES] }
    }

    /// The knowledge of a barrier before anyone has arrived.
    pub(crate) fn nothing(&self) -> Known {
        nothing(self.threads)
    }

    /// The stamp of what the thread does now.
    pub(crate) fn stamp(&self, thread: usize) -> Stamp {
        Stamp::new(thread, self.known[thread][thread])
    }

    /// Whether all that was stamped so is ordered before what the thread does now.
    pub(crate) fn after(&self, thread: usize, stamp: Stamp) -> bool {
        stamp.tick() <= self.known[thread][stamp.ticker()]
    }

    /// The stamp of a bulk store that the thread starts.
    pub(crate) fn store(&mut self, thread: usize) -> Stamp {
        let warp = thread / LANES;
        self.stores[warp] += 1;
        Stamp::new(self.threads + warp, self.stores[warp])
    }

    /// The stamp of a bulk load that counts for this phase of the barrier of this number.
    pub(crate) fn load(&self, barrier: usize, phase: u64) -> Stamp {
        let tick = u32::try_from(phase + 1).unwrap_or(u32::MAX);
        Stamp::new(self.threads + STORES + barrier % BARRIERS, tick)
    }

    /// Whose stamp it is, in words.
    pub(crate) fn describe(&self, stamp: Stamp) -> String {
        match stamp.ticker() {
            thread if thread < self.threads => format!("thread {thread}"),
            store if store < self.threads + STORES => "a bulk store".to_owned(),
            _ => "a bulk load".to_owned(),
        }
    }

    /// The thread is after a bulk copy.
    pub(crate) fn learn(&mut self, thread: usize, copy: Stamp) {
        learn(&mut self.known[thread], copy);
    }

    /// Passes the actions of the thread on to a barrier.
    pub(crate) fn release(&mut self, thread: usize, to: &mut Known) {
        join(to, &self.known[thread]);
        self.tick(thread);
    }

    /// The thread learns what a barrier knows.
    pub(crate) fn acquire(&mut self, thread: usize, from: &Known) {
        join(&mut self.known[thread], from);
    }

    /// Neighbouring threads learn all that any of them knows.
    pub(crate) fn meet(&mut self, threads: std::ops::Range<usize>) {
        let mut all = self.nothing();
        self.known[threads.clone()].iter().for_each(|known| join(&mut all, known));
        for thread in threads {
            self.known[thread].copy_from_slice(&all);
            self.tick(thread);
        }
    }

    /// Writes of the thread so far are ordered before bulk copies.
    pub(crate) fn fence(&mut self, thread: usize) {
        self.fenced[thread] = self.known[thread][thread];
        self.tick(thread);
    }

    /// The thread whose write was stamped so, if it has not fenced it.
    pub(crate) fn unfenced(&self, stamp: Stamp) -> Option<u32> {
        let thread = stamp.ticker();
        (stamp != Stamp::default() && thread < self.threads && stamp.tick() > self.fenced[thread])
            .then_some(thread as u32)
    }

    fn tick(&mut self, thread: usize) {
        self.known[thread][thread] += 1;
    }
}

fn nothing(threads: usize) -> Known {
    vec![0; threads + STORES + BARRIERS].into_boxed_slice()
}

/// Adds a stamp to what is known.
pub(crate) fn learn(known: &mut Known, stamp: Stamp) {
    let tick = &mut known[stamp.ticker()];
    *tick = stamp.tick().max(*tick);
}

/// Adds all that the other knows.
pub(crate) fn join(known: &mut Known, other: &Known) {
    for (mine, &theirs) in known.iter_mut().zip(other) {
        *mine = theirs.max(*mine);
    }
}
