//! The ring's pipeline: tiles go from phase to phase, through places of shared memory that are used
//! round after round.
//!
//! | places | each holds | phases, in order |
//! |---|---|---|
//! | [`Buffer`] | the records of a tile | fill, read, drain, write back |
//! | [`Pending`] of each level | the states of a tile's warps | reduce, total, carry, resume |
//! | [`OutputBuffer`] | the results of a tile, where they do not lie over its records | write, free |
//!
//! A [`Phase`] has the barrier that it begins after and the barrier that it arrives at, and goes
//! through the places by itself. [`Pipeline`] alone makes phases, and phases alone give
//! [places](Place): so no warp waits at another phase's barrier, and no place of one kind is taken
//! for one of another.

use std::marker::PhantomData;

use crate::nvptx::emit::{Builder, Ty, Value, Var};
use crate::nvptx::kernel::shared_memory::SharedAllocator;

/// Tiles of results that a ring keeps apart from its buffers while they are on their way to device memory.
pub(super) const OUTPUT_BUFFERS: usize = 2;

/// Bytes of a barrier.
const BARRIER: usize = 8;

/// Places for the records of tiles.
pub(super) enum Buffer {}
/// Places for the states of a level, of tiles that it is reduced of and that the next pass has not come to.
pub(super) enum Pending {}
/// Places for results that are on their way to device memory.
pub(super) enum OutputBuffer {}

/// Barriers between two phases, one for each place of a kind.
pub(super) struct Barriers<Kind> {
    /// Where the first is in shared memory.
    offset: usize,
    places: usize,
    /// How many threads arrive at each.
    arrivals: usize,
    kind: PhantomData<Kind>,
}

impl<Kind> Barriers<Kind> {
    fn new(allocator: &mut SharedAllocator, places: usize, arrivals: usize) -> Barriers<Kind> {
        Barriers { offset: allocator.take(BARRIER * places), places, arrivals, kind: PhantomData }
    }

    fn set_up(&self, k: &Builder, base: Value<'_>) {
        let barriers = base.at(self.offset);
        (0..self.places).for_each(|place| k.barrier_init(barriers.at(BARRIER * place), k.i32(self.arrivals)));
    }
}

/// All barriers of a block.
pub(super) struct AllBarriers {
    full: Barriers<Buffer>,
    drained: Barriers<Buffer>,
    freed: Barriers<OutputBuffer>,
    levels: Vec<LevelBarriers>,
}

/// Those of a level.
struct LevelBarriers {
    reduced: Barriers<Pending>,
    totalled: Barriers<Pending>,
    carried: Barriers<Pending>,
}

impl AllBarriers {
    /// Takes shared memory for the barriers of so many buffers, and of so many pending tiles of each level, in a block of so
    /// many warps that compute.
    pub(super) fn new(
        allocator: &mut SharedAllocator,
        (buffers, pending): (usize, &[usize]),
        warps: usize,
    ) -> AllBarriers {
        let full = Barriers::new(allocator, buffers, 1);
        let drained = Barriers::new(allocator, buffers, 32 * warps);
        let freed = Barriers::new(allocator, OUTPUT_BUFFERS, 1);
        let levels = pending.iter().map(|&pending| LevelBarriers {
            reduced: Barriers::new(allocator, pending, warps),
            totalled: Barriers::new(allocator, pending, 32),
            carried: Barriers::new(allocator, pending, 32),
        });
        AllBarriers { full, drained, freed, levels: levels.collect() }
    }
}

/// The maker of the phases of a kernel that is being written.
#[derive(Clone, Copy)]
pub(super) struct Pipeline<'k, 'a> {
    k: &'k Builder,
    /// Where the block's shared memory begins.
    base: Value<'k>,
    barriers: &'a AllBarriers,
}

/// The barriers that a phase begins after, or arrives at.
type Of<'a, Kind> = &'a Barriers<Kind>;

/// The phase in which buffers are filled.
pub(super) type Fill<'k, 'a> = Phase<'k, Buffer, (), Of<'a, Buffer>>;
/// A phase in which buffers are neither filled nor drained, by warps that have read them before.
pub(super) type Stay<'k> = Phase<'k, Buffer, (), ()>;
/// The phase in which tiles are reduced.
pub(super) type Reduce<'k, 'a> = Phase<'k, Pending, (), Of<'a, Pending>>;
/// The phase in which the pass after a reduction goes on from its carries.
pub(super) type Resume<'k, 'a> = Phase<'k, Pending, Of<'a, Pending>, ()>;

impl<'k, 'a> Pipeline<'k, 'a> {
    pub(super) fn new(k: &'k Builder, base: Value<'k>, barriers: &'a AllBarriers) -> Pipeline<'k, 'a> {
        Pipeline { k, base, barriers }
    }

    /// Sets the barriers up, by one thread; the block must wait for it.
    pub(super) fn set_up(&self, has_output_buffers: bool) {
        let AllBarriers { full, drained, freed, levels } = self.barriers;
        let Pipeline { k, base, .. } = *self;
        [full, drained].into_iter().for_each(|barriers| barriers.set_up(k, base));
        if has_output_buffers {
            freed.set_up(k, base);
        }
        for LevelBarriers { reduced, totalled, carried } in levels {
            [reduced, totalled, carried].into_iter().for_each(|barriers| barriers.set_up(k, base));
        }
        k.barrier_init_fence();
    }

    /// The copy warp fills buffers. It knows itself which are free: those that it has written back.
    pub(super) fn fill(&self) -> Fill<'k, 'a> {
        self.phase(self.barriers.full.places, (), &self.barriers.full)
    }

    /// Every other warp reads buffers that are full.
    pub(super) fn read(&self) -> Phase<'k, Buffer, Of<'a, Buffer>, ()> {
        self.phase(self.barriers.full.places, &self.barriers.full, ())
    }

    /// The warps that compute fold another level of a tile in its buffer, which they have read before.
    pub(super) fn stay(&self) -> Stay<'k> {
        self.phase(self.barriers.full.places, (), ())
    }

    /// The warps that compute replay a tile out of its buffer, and may leave its results there. They have read it before.
    pub(super) fn drain(&self) -> Phase<'k, Buffer, (), Of<'a, Buffer>> {
        self.phase(self.barriers.drained.places, (), &self.barriers.drained)
    }

    /// The copy warp starts the copies of results to device memory.
    pub(super) fn write_back(&self) -> Phase<'k, Buffer, Of<'a, Buffer>, ()> {
        self.phase(self.barriers.drained.places, &self.barriers.drained, ())
    }

    /// The warps that compute reduce a tile. The next pass has taken the tile along that was in this place before.
    pub(super) fn reduce(&self, level: usize) -> Reduce<'k, 'a> {
        let LevelBarriers { reduced, .. } = &self.barriers.levels[level];
        self.phase(reduced.places, (), reduced)
    }

    /// The aggregate warp of the level scans the warps' aggregates.
    pub(super) fn total(&self, level: usize) -> Phase<'k, Pending, Of<'a, Pending>, Of<'a, Pending>> {
        let LevelBarriers { reduced, totalled, .. } = &self.barriers.levels[level];
        self.phase(reduced.places, reduced, totalled)
    }

    /// The look-ahead warp of the level puts the state before the tile in front of them.
    pub(super) fn carry(&self, level: usize) -> Phase<'k, Pending, Of<'a, Pending>, Of<'a, Pending>> {
        let LevelBarriers { totalled, carried, .. } = &self.barriers.levels[level];
        self.phase(totalled.places, totalled, carried)
    }

    /// The warps that compute go on from there, in the next pass.
    pub(super) fn resume(&self, level: usize) -> Resume<'k, 'a> {
        let LevelBarriers { carried, .. } = &self.barriers.levels[level];
        self.phase(carried.places, carried, ())
    }

    /// The warps that compute write results. The end of [`drain`](Pipeline::drain) says that they are there.
    pub(super) fn write(&self) -> Phase<'k, OutputBuffer, Of<'a, OutputBuffer>, ()> {
        self.phase(self.barriers.freed.places, &self.barriers.freed, ())
    }

    /// The copy warp says that results have been read.
    pub(super) fn free(&self) -> Phase<'k, OutputBuffer, (), Of<'a, OutputBuffer>> {
        self.phase(self.barriers.freed.places, (), &self.barriers.freed)
    }

    fn phase<Kind, After, End>(&self, places: usize, after: After, end: End) -> Phase<'k, Kind, After, End> {
        let Pipeline { k, base, .. } = *self;
        let [place, parity] = [(); 2].map(|()| k.var(k.i32(0)));
        Phase { k, base, places, place, parity, after, end, kind: PhantomData }
    }
}

/// A phase, as a warp goes through it: at a place of its kind, in a round. `After` and `End` are its barriers, or none.
pub(super) struct Phase<'k, Kind, After, End> {
    k: &'k Builder,
    base: Value<'k>,
    places: usize,
    place: Var<'k>,
    /// Of the round.
    parity: Var<'k>,
    after: After,
    end: End,
    kind: PhantomData<Kind>,
}

impl<'k, Kind, After, End> Phase<'k, Kind, After, End> {
    fn place(&self) -> Place<'k, Kind> {
        Place { number: self.place.get(), kind: PhantomData }
    }

    /// Goes on to the next place.
    pub(super) fn advance(&self) {
        let next = self.place.get() + 1;
        let wraps = next.is(self.k.i32(self.places));
        self.place.set(wraps.select(self.k.i32(0), next));
        self.parity.set(self.parity.get() ^ wraps.resize(Ty::I32));
    }
}

impl<'k, Kind, End> Phase<'k, Kind, (), End> {
    /// The place that comes next, which is free.
    pub(super) fn begin(&self) -> Place<'k, Kind> {
        self.place()
    }
}

impl<'k, Kind, End> Phase<'k, Kind, Of<'_, Kind>, End> {
    /// Waits until the phase before has ended at the place that comes next, and gives that.
    pub(super) fn begin(&self) -> Place<'k, Kind> {
        let place = self.place();
        self.k.barrier_wait(place.barrier(self.base, self.after), self.parity.get());
        place
    }
}

impl<'k, Kind, After> Phase<'k, Kind, After, Of<'_, Kind>> {
    /// Ends the phase at this place, as far as this thread is concerned.
    pub(super) fn end(&self, place: Place<'k, Kind>) {
        self.k.barrier_arrive(self.end_barrier(place));
    }

    /// Where the phase's end arrives: bulk copies do so by themselves.
    pub(super) fn end_barrier(&self, place: Place<'k, Kind>) -> Value<'k> {
        place.barrier(self.base, self.end)
    }

    /// Ends the phase at all places.
    pub(super) fn end_everywhere(&self) {
        let place = |place| Place { number: self.k.i32(place), kind: PhantomData };
        (0..self.places).for_each(|number| self.end(place(number)));
    }
}

/// A place in shared memory.
pub(super) struct Place<'k, Kind> {
    number: Value<'k>,
    kind: PhantomData<Kind>,
}

impl<Kind> Clone for Place<'_, Kind> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Kind> Copy for Place<'_, Kind> {}

impl<'k, Kind> Place<'k, Kind> {
    /// Which of its kind it is, from 0.
    pub(super) fn number(self) -> Value<'k> {
        self.number
    }

    fn barrier(self, base: Value<'k>, barriers: &Barriers<Kind>) -> Value<'k> {
        base.at(barriers.offset).byte(self.number * BARRIER)
    }
}
