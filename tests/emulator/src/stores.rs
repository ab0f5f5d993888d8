//! Words that threads write for others, until they are in device memory.
//!
//! A relaxed store is seen at once by its own thread, by its block when the thread has synchronised
//! with it, and by other blocks at some later moment. Stores to different addresses arrive in any
//! order; those to the same address keep theirs. So a kernel that relies on the order of two words,
//! which no intrinsic promises, meets the other order here.

use fastrand::Rng;

use crate::device::{Device, Place};
use crate::error::Who;

/// Stores on their way.
#[derive(Default)]
pub(crate) struct Stores {
    /// In the order in which the threads of a block made them.
    pending: Vec<Pending>,
}

struct Pending {
    who: Who,
    /// Whether all of the block sees it.
    released: bool,
    place: Place,
    bytes: [u8; 16],
}

impl Pending {
    fn sees(&self, who: Who) -> bool {
        self.who == who || (self.released && self.who.block == who.block)
    }
}

impl Stores {
    /// More than this many on their way are too many for any hardware.
    const MOST: usize = 256;

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.pending.len() >= Stores::MOST
    }

    pub(crate) fn push(&mut self, who: Who, place: Place, from: &[u8]) {
        let mut bytes = [0; 16];
        bytes[..from.len()].copy_from_slice(from);
        self.pending.push(Pending { who, released: false, place, bytes });
    }

    /// Puts what this thread sees of the stores over what it read from memory.
    pub(crate) fn overlay(&self, who: Who, place: Place, read: &mut [u8]) {
        for store in self.pending.iter().filter(|store| store.sees(who) && store.place.overlaps(place)) {
            let (first, start) = (store.place.offset(), place.offset());
            for (at, byte) in read.iter_mut().enumerate() {
                if let Some(byte_there) = (start + at).checked_sub(first).filter(|&there| there < store.place.bytes()) {
                    *byte = store.bytes[byte_there];
                }
            }
        }
    }

    /// The block sees from now on what these of its threads stored.
    pub(crate) fn release(&mut self, threads: impl Fn(Who) -> bool) {
        for store in &mut self.pending {
            store.released |= threads(store.who);
        }
    }

    /// One store arrives, any that may.
    pub(crate) fn arrive(&mut self, random: &mut Rng, device: &mut Device) {
        if !self.pending.is_empty() {
            let any = random.usize(..self.pending.len());
            self.land(any, device);
        }
    }

    /// All stores to these bytes arrive that the thread sees: an atomic addition is next.
    pub(crate) fn settle(&mut self, who: Who, place: Place, device: &mut Device) {
        while let Some(next) = self.pending.iter().position(|store| store.place.overlaps(place) && store.sees(who)) {
            self.land(next, device);
        }
    }

    /// Lands this store, or an earlier one to the same bytes, which goes first.
    fn land(&mut self, mut index: usize, device: &mut Device) {
        while let Some(earlier) =
            self.pending[..index].iter().position(|store| store.place.overlaps(self.pending[index].place))
        {
            index = earlier;
        }
        let store = self.pending.remove(index);
        device.store(store.place, &store.bytes[..store.place.bytes()]);
    }
}
