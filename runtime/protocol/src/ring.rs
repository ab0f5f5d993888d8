//! The memory that carries pass through: for each link of a chain, a small ring of slots.
//!
//! The prefixes of a link are published strictly in order, and each is read (by the tile after it) before the next is
//! written, so only one is alive at a time. A single place in memory would do. There is a small fixed ring of them, so
//! that threads that wait for different tiles poll different cache lines and a handover disturbs only the thread it is
//! for, as in Anderson's array lock ("The performance of spin lock alternatives", 1990). How many threads take part
//! does not matter to it; more threads than slots only share lines again.

use crate::sync::{AtomicUsize, Ordering, UnsafeCell};

/// Slots of a link. Any number is right. Two let loom see slots reused within three tiles.
const SLOTS: usize = if cfg!(loom) { 2 } else { 8 };

/// The carries of a chain, by link and tile, in one allocation. The carry into tile t passes through slot t mod
/// [`SLOTS`] of its link.
pub(crate) struct Ring {
    lines: Box<[Line]>,
    lines_per_slot: usize,
}

impl Ring {
    /// A ring for each of `seeds`, with the seed in it as the carry into tile 0.
    pub(crate) fn new(seeds: &[&[u8]]) -> Self {
        let widest = seeds.iter().map(|seed| seed.len()).max().unwrap_or(0);
        let lines_per_slot = widest.div_ceil(LINE_BYTES).max(1);
        // All numbers are 0. Only those of the first slots are true: slot k will carry into tile k first.
        let lines = (0..seeds.len() * SLOTS * lines_per_slot).map(|_| Line::default()).collect();
        let ring = Self { lines, lines_per_slot };
        for (link, seed) in seeds.iter().enumerate() {
            // SAFETY: nobody else knows this ring yet.
            unsafe { ring.slot(link, 0).write(seed) };
        }
        ring
    }

    /// Where the carry into `tile` passes through `link`.
    pub(crate) fn slot(&self, link: usize, tile: usize) -> Slot<'_> {
        let first = (link * SLOTS + tile % SLOTS) * self.lines_per_slot;
        Slot(&self.lines[first..][..self.lines_per_slot])
    }
}

/// A place for a state, and the number of the tile that it is the carry into.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'ring>(&'ring [Line]);

impl Slot<'_> {
    /// Acquire, with the release of [`hand_over`](Self::hand_over): who sees the number sees the state, and everything
    /// that earlier tiles did before they published.
    pub(crate) fn has_carry_into(self, tile: usize) -> bool {
        self.0[0].into.load(Ordering::Acquire) == tile
    }

    /// Announces that the state, written before, is the carry into `tile`.
    pub(crate) fn hand_over(self, tile: usize) {
        self.0[0].into.store(tile, Ordering::Release);
    }

    /// Copies the first bytes of the state.
    ///
    /// # Safety
    ///
    /// All writes happened before, or happen after.
    pub(crate) unsafe fn read(self, state: &mut [u8]) {
        debug_assert!(state.len() <= self.0.len() * LINE_BYTES);
        for (line, part) in self.0.iter().zip(state.chunks_mut(LINE_BYTES)) {
            line.part.with(|bytes| {
                // SAFETY: the caller's promise.
                let bytes = unsafe { &*bytes };
                part.copy_from_slice(&bytes[..part.len()]);
            });
        }
    }

    /// Overwrites the first bytes of the state.
    ///
    /// # Safety
    ///
    /// All other reads and writes happened before, or happen after.
    pub(crate) unsafe fn write(self, state: &[u8]) {
        debug_assert!(state.len() <= self.0.len() * LINE_BYTES);
        for (line, part) in self.0.iter().zip(state.chunks(LINE_BYTES)) {
            line.part.with_mut(|bytes| {
                // SAFETY: the caller's promise.
                let bytes = unsafe { &mut *bytes };
                bytes[..part.len()].copy_from_slice(part);
            });
        }
    }
}

/// What a line holds of a state.
const LINE_BYTES: usize = 120;

/// A part of a slot: two cache lines of 64 bytes, since x86 prefetches them in pairs and other processors have lines of
/// 128. The first line of a slot has its number, so that a small state arrives with the number that announces it.
#[repr(C, align(128))]
struct Line {
    into: AtomicUsize,
    part: UnsafeCell<[u8; LINE_BYTES]>,
}

impl Default for Line {
    fn default() -> Self {
        Self { into: AtomicUsize::new(0), part: UnsafeCell::new([0; LINE_BYTES]) }
    }
}

// SAFETY: the part is accessed through `Slot::read` and `Slot::write`, whose callers promise that accesses are ordered.
unsafe impl Sync for Line {}
