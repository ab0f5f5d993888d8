//! A block's threads put their states together: each learns what is before it in the block, and all
//! learn the whole.

use monoscan_codegen::nvptx::parts::Lanes;
use monoscan_codegen::nvptx::parts::{Packing, State, select};
use monoscan_codegen::nvptx::parts::{Ty, Value};

/// How they do it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockScan {
    HillisSteele,
    Blelloch(Banks),
    Warps(Exchange),
}

/// Whether states in shared memory leave gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Banks {
    /// No gaps.
    Plain,
    /// One after each 32.
    Padded,
}

/// How the lanes of a warp give each other their states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exchange {
    /// Through shared memory.
    Shared,
    /// From register to register.
    Shuffle,
}

/// Banks of shared memory, each of 4 bytes in turn; lanes of a warp.
const BANKS: usize = 32;

/// The threads of a block, with the memory that they share.
#[derive(Clone, Copy)]
pub(super) struct Block<'k, 'a> {
    /// The thread's warp.
    pub(super) lanes: Lanes<'k, 'a>,
    /// How many threads there are, a power of two, and which one this is.
    pub(super) threads: usize,
    pub(super) thread: Value<'k>,
    pub(super) scan: BlockScan,
    /// Where shared memory begins. The first [`bytes`](BlockScan::bytes) of it are for the scan.
    pub(super) base: Value<'k>,
}

/// The result of a thread.
pub(super) struct Scanned<'k> {
    /// The state before it; of the first thread, anything.
    pub(super) before: State<'k>,
    /// All states together.
    pub(super) aggregate: State<'k>,
}

impl BlockScan {
    /// Bytes of shared memory that it takes for so many threads.
    pub(super) fn bytes(self, threads: usize, packing: &Packing) -> usize {
        let states = match self {
            BlockScan::HillisSteele => 2 * threads,
            BlockScan::Blelloch(banks) => banks.slots(threads),
            // The last slots are for what warps have: as many as one warp has lanes.
            BlockScan::Warps(Exchange::Shared) => threads + BANKS,
            BlockScan::Warps(Exchange::Shuffle) => BANKS,
        };
        states * packing.shared_bytes()
    }
}

impl Banks {
    /// Slots for so many states.
    fn slots(self, states: usize) -> usize {
        match self {
            Banks::Plain => states,
            Banks::Padded => states + (states - 1) / BANKS,
        }
    }
}

impl<'k, 'a> Block<'k, 'a> {
    /// Scans the threads' states; called by all of them. Another call must come after a barrier.
    pub(super) fn scan(&self, state: &[Value<'k>]) -> Scanned<'k> {
        match self.scan {
            BlockScan::HillisSteele => self.hillis_steele(state),
            BlockScan::Blelloch(banks) => self.blelloch(state, banks),
            BlockScan::Warps(exchange) => self.warps(state, exchange),
        }
    }

    /// The state before this thread's records, if this one is before the block's.
    pub(super) fn behind(&self, carry: &[Value<'k>], before: &[Value<'k>]) -> State<'k> {
        let both = self.lanes.combine(carry, before);
        select(self.thread.is(self.lanes.k.i32(0)), carry, &both)
    }

    /// Space for so many states, after so many others in the scan's memory.
    pub(super) fn slots(&self, others: usize, states: usize, banks: Banks) -> Slots<'k, 'a> {
        let packing = self.lanes.packing();
        Slots { lanes: self.lanes, base: self.base.at(others * packing.shared_bytes()), banks, states }
    }
}

/// States in shared memory: the first words of all of them, then the second words, and so on, so that neighbours
/// lie in neighbouring banks whatever a state is.
pub(super) struct Slots<'k, 'a> {
    lanes: Lanes<'k, 'a>,
    base: Value<'k>,
    banks: Banks,
    states: usize,
}

impl<'k> Slots<'k, '_> {
    fn words(&self, slot: Value<'k>) -> impl Iterator<Item = Value<'k>> {
        let place = match self.banks {
            Banks::Plain => slot,
            Banks::Padded => slot + (slot >> BANKS.trailing_zeros() as usize),
        };
        let first = self.base.byte(place * 4);
        let plane = 4 * self.banks.slots(self.states);
        (0..self.lanes.packing().words).map(move |word| first.at(plane * word))
    }

    pub(super) fn store(&self, slot: Value<'k>, state: &[Value<'k>]) {
        let words = self.lanes.packing().pack(self.lanes.k, state);
        self.words(slot).zip(words).for_each(|(at, word)| at.store(word, 4));
    }

    pub(super) fn load(&self, slot: Value<'k>) -> State<'k> {
        let words: Vec<Value<'k>> = self.words(slot).map(|at| at.load(Ty::I32, 4)).collect();
        self.lanes.packing().unpack(self.lanes.k, &words)
    }
}
