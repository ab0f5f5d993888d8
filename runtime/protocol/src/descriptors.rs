//! Tile descriptors: what is known of each tile, for all threads to see.
//!
//! A descriptor is a word of flags, the tile's aggregate and its inclusive prefix, as in the
//! decoupled look-back of Merrill and Garland ("Single-pass parallel prefix scan with decoupled
//! look-back", NVIDIA NVR-2016-002). Each level of a cascade has an aggregate and a flag of its
//! own. Descriptors are not reused, so a flag that is set stays set.
//!
//! Reading a tile and writing it are rights: [`Reading`] and [`Claim`]. They exclude each other
//! where results are written over the inputs. Both are decided by the same word of flags, by
//! read-modify-writes alone, so one of two threads that come at once is first, and the other sees
//! it.
//!
//! An aggregate may be written by several threads at once. All write the same bits, so no order
//! between them is needed; and words are atomic, so that this is no data race.

use crate::rules::Rule::{self, AnnounceAfterWriting, ClaimAfterReading, ReadAfterAnnounced};
use crate::state::State;
use crate::sync::{AtomicU64, Ordering};
use crate::tickets::TileIndex;
use std::ops::Range;

/// The most levels of a cascade.
pub const MAX_LEVELS: usize = 8;

/// One more thread that reads the tile; counted in place only. The count has 32 bits, more than a process has threads.
const READER: u64 = 1;
const READERS: u64 = (1 << 32) - 1;
/// The tile is being written, or was.
const CLAIMED: u64 = 1 << 32;
/// The prefix is there, of all levels.
const PREFIX: u64 = 1 << 33;

/// The aggregate of a level is there.
const fn aggregate_of(level: usize) -> u64 {
    1 << (34 + level)
}

/// The flags of a tile, as they were seen.
#[derive(Clone, Copy)]
pub(crate) struct Flags(u64);

impl Flags {
    pub(crate) fn has_prefix(self) -> bool {
        self.0 & PREFIX != 0
    }

    pub(crate) fn has_aggregate(self, level: usize) -> bool {
        self.0 & aggregate_of(level) != 0
    }

    pub(crate) fn is_claimed(self) -> bool {
        self.0 & CLAIMED != 0
    }
}

/// Why a right is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// To read: the aggregate or the prefix is there.
    Known,
    /// To read or to claim: another thread has claimed the tile, and to read it in place is too late.
    Claimed,
    /// To claim: another thread is reading the tile, which would be written in place.
    BeingRead,
}

/// The descriptors of a scan's tiles.
pub(crate) struct Descriptors {
    lines: Box<[Line]>,
    lines_per_tile: usize,
    state_words: usize,
    is_in_place: bool,
}

/// A cache line. The descriptor of a small state is one, so that its state arrives with the flags that announce it.
#[derive(Default)]
#[repr(align(64))]
struct Line([AtomicU64; WORDS]);

const WORDS: usize = 8;

impl Descriptors {
    /// Of so many tiles of which nothing is known.
    pub(crate) fn new(tiles: usize, state_words: usize, is_in_place: bool) -> Self {
        let lines_per_tile = (1 + 2 * state_words).div_ceil(WORDS);
        let lines = (0..tiles * lines_per_tile).map(|_| Line::default()).collect();
        Self { lines, lines_per_tile, state_words, is_in_place }
    }

    pub(crate) fn tiles(&self) -> usize {
        self.lines.len() / self.lines_per_tile
    }

    /// The state of a tile as far as it is known. What its flags announce may be read after this.
    pub(crate) fn flags(&self, tile: usize) -> Flags {
        Flags(self.word(tile, 0).load(ReadAfterAnnounced.acquire()))
    }

    /// Reads a level's part of an aggregate that was announced.
    pub(crate) fn read_aggregate(&self, tile: usize, part: Range<usize>, state: &mut State) {
        part.for_each(|place| state.set(place, self.word(tile, 1 + place).load(Ordering::Relaxed)));
    }

    /// Reads a level's part of a prefix that was announced.
    pub(crate) fn read_prefix(&self, tile: usize, part: Range<usize>, state: &mut State) {
        let first = 1 + self.state_words;
        part.for_each(|place| state.set(place, self.word(tile, first + place).load(Ordering::Relaxed)));
    }

    /// The right to read a tile's input, to find its aggregate at a level.
    pub(crate) fn read(&self, tile: usize, level: usize) -> Result<Reading<'_>, Refusal> {
        let flags = self.word(tile, 0);
        let mut seen = flags.load(Ordering::Relaxed);
        loop {
            if seen & (aggregate_of(level) | PREFIX) != 0 {
                return Err(Refusal::Known);
            }
            if !self.is_in_place {
                break;
            }
            if Rule::ReadUnclaimed.forbids(seen & CLAIMED != 0) {
                return Err(Refusal::Claimed);
            }
            // Relaxed: reads need not come after anything. That they come before the writes of the thread that claims the
            // tile is for `Reading::publish` and `claim` to see to.
            match flags.compare_exchange_weak(seen, seen + READER, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        Ok(Reading { descriptors: self, tile, level })
    }

    /// The right to write a tile.
    pub(crate) fn claim(&self, tile: usize) -> Result<Claim<'_>, Refusal> {
        let flags = self.word(tile, 0);
        let mut seen = flags.load(Ordering::Relaxed);
        loop {
            if Rule::ClaimOnce.forbids(seen & CLAIMED != 0) {
                return Err(Refusal::Claimed);
            }
            if self.is_in_place && Rule::ClaimUnread.forbids(seen & READERS != 0) {
                return Err(Refusal::BeingRead);
            }
            match flags.compare_exchange_weak(seen, seen | CLAIMED, ClaimAfterReading.acquire(), Ordering::Relaxed) {
                Ok(_) => return Ok(Claim { descriptors: self, tile, seen: Flags(seen) }),
                Err(now) => seen = now,
            }
        }
    }

    fn word(&self, tile: usize, place: usize) -> &AtomicU64 {
        &self.lines[tile * self.lines_per_tile + place / WORDS].0[place % WORDS]
    }

    fn write(&self, tile: usize, first: usize, part: Range<usize>, state: &State) {
        part.for_each(|place| self.word(tile, first + place).store(state.get(place), Ordering::Relaxed));
    }
}

/// The right to read the input of a tile: nobody writes it meanwhile. Several threads may have it at the same time.
#[must_use = "a tile that is being read in place is never written"]
pub struct Reading<'a> {
    descriptors: &'a Descriptors,
    tile: usize,
    level: usize,
}

impl Reading<'_> {
    /// The tile that may be read.
    pub fn tile(&self) -> TileIndex {
        TileIndex::new(self.tile)
    }

    /// Announces the aggregate that was found, and ends the reading.
    pub(crate) fn publish(self, part: Range<usize>, aggregate: &State) {
        let Self { descriptors, tile, level } = self;
        descriptors.write(tile, 1, part, aggregate);
        let flags = descriptors.word(tile, 0);
        flags.fetch_or(aggregate_of(level), AnnounceAfterWriting.release());
        if descriptors.is_in_place {
            // Relaxed: as a read-modify-write it is part of the release sequence that the line above heads, so a thread
            // that claims the tile after it writes after this one has read.
            flags.fetch_sub(READER, Ordering::Relaxed);
        }
    }
}

/// The right to write a tile. It is given once; in place nobody reads the tile's input but its owner, now or later.
#[must_use = "a tile that is claimed is written by nobody else"]
pub struct Claim<'a> {
    descriptors: &'a Descriptors,
    tile: usize,
    seen: Flags,
}

impl Claim<'_> {
    /// The tile that may be written.
    pub fn tile(&self) -> TileIndex {
        TileIndex::new(self.tile)
    }

    /// The state of the tile when it was claimed.
    pub(crate) fn flags(&self) -> Flags {
        self.seen
    }

    /// Announces the inclusive prefix of all levels.
    pub(crate) fn publish(&self, prefix: &State) {
        let Self { descriptors, tile, .. } = *self;
        descriptors.write(tile, 1 + descriptors.state_words, 0..descriptors.state_words, prefix);
        descriptors.word(tile, 0).fetch_or(PREFIX, AnnounceAfterWriting.release());
    }
}
