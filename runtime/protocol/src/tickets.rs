//! Tickets: which thread works on which tile.

use crate::sync::{AtomicUsize, CacheLine, Ordering};
use std::fmt;

/// The place of a tile among the tiles of its scan, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileIndex(usize);

impl TileIndex {
    /// The tile that `index` tiles come before.
    pub const fn new(index: usize) -> Self {
        Self(index)
    }

    /// How many tiles come before this one.
    pub const fn get(self) -> usize {
        self.0
    }
}

impl fmt::Display for TileIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile {}", self.0)
    }
}

/// Gives tiles in order, each to one thread: for work whose tiles need nothing from each other, and within a
/// [scan](crate::tiles::scan).
///
/// ```
/// use monoscan_protocol::tickets::{TileIndex, Tickets};
///
/// let tickets = Tickets::new(2);
/// assert_eq!(tickets.take(), Some(TileIndex::new(0)));
/// assert_eq!(tickets.take(), Some(TileIndex::new(1)));
/// assert_eq!(tickets.take(), None);
/// assert_eq!(tickets.take(), None);
/// ```
#[derive(Debug)]
pub struct Tickets {
    next: CacheLine<AtomicUsize>,
    tiles: usize,
}

impl Tickets {
    /// Tickets for tiles 0 to `tiles` − 1.
    pub fn new(tiles: usize) -> Self {
        Self { next: CacheLine(AtomicUsize::new(0)), tiles }
    }

    /// The next tile, or none after the last one, however often it is asked.
    pub fn take(&self) -> Option<TileIndex> {
        // Relaxed: a ticket carries no data, it only must be unique, and a read-modify-write makes it so. After the last
        // tile each thread adds one at most, so the counter does not wrap.
        if self.next.0.load(Ordering::Relaxed) >= self.tiles {
            return None;
        }
        Some(self.next.0.fetch_add(1, Ordering::Relaxed)).filter(|&tile| tile < self.tiles).map(TileIndex)
    }
}
