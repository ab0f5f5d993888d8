//! A tile that is put aside for the thread that knows its carry first.
//!
//! A thread that takes a tile and does not know its carry would have to reduce it before it writes
//! it: two passes where the thread in front, which is about to know the carry, needs one. So it
//! parks the tile and reduces the one behind it. One tile at most is parked; which thread scans it
//! in the end changes no result, and a tile that stays parked is swept like any other that nobody
//! claimed.

use crate::sync::{AtomicUsize, CacheLine, Ordering};
use crate::tickets::TileIndex;

/// The place of the parked tile: 0 if none is parked, else one more than the tile.
//
// Relaxed throughout: the place carries no data. The thread that takes the tile looks back for its carry and claims it like any other.
#[derive(Default)]
pub(crate) struct Parked(CacheLine<AtomicUsize>);

impl Parked {
    /// Parks a tile, unless one is parked already.
    pub(crate) fn park(&self, tile: TileIndex) -> bool {
        let place = &self.0.0;
        place.load(Ordering::Relaxed) == 0 && self.replace(0, tile.get() + 1)
    }

    /// The parked tile.
    pub(crate) fn peek(&self) -> Option<TileIndex> {
        self.0.0.load(Ordering::Relaxed).checked_sub(1).map(TileIndex::new)
    }

    /// Takes the parked tile, if it is this one.
    pub(crate) fn take(&self, tile: TileIndex) -> bool {
        self.replace(tile.get() + 1, 0)
    }

    fn replace(&self, old: usize, new: usize) -> bool {
        self.0.0.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
