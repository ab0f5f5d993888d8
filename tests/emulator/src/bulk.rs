//! Bulk copies under way.
//!
//! A copy is cut into a few pieces, which are read and written at random later moments in any
//! order. So a destination that is read before the copy has landed holds poison in part, and a
//! source that is overwritten before it was read ends up in the output.

use fastrand::Rng;

use crate::device::Place;
use crate::error::Who;
use crate::order::Stamp;

/// The request of a copy.
pub(crate) struct Request {
    pub(crate) who: Who,
    /// The call that started it.
    pub(crate) site: u32,
    /// The place of its block among those that are resident.
    pub(crate) slot: usize,
    pub(crate) stamp: Stamp,
    pub(crate) device: Place,
    pub(crate) shared: usize,
    pub(crate) direction: Direction,
}

/// A bulk copy under way.
pub(crate) struct Copy {
    pub(crate) request: Request,
    /// Pieces that were not read yet, as offset and length.
    unread: Vec<(usize, usize)>,
    /// The bytes that were read and not written yet.
    unwritten: Vec<(usize, Vec<u8>)>,
}

/// Where to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To shared memory; its bytes count for this barrier.
    Load { barrier: usize },
    /// To device memory; waits know of it once it is committed.
    Store { committed: bool },
}

/// The next step of a copy.
pub(crate) enum Step {
    Read { offset: usize, bytes: usize },
    Write { offset: usize, bytes: Vec<u8> },
}

impl Copy {
    pub(crate) fn new(request: Request, random: &mut Rng) -> Copy {
        let unread = pieces(request.device.bytes(), random);
        Copy { request, unread, unwritten: Vec::new() }
    }

    pub(crate) fn has_read(&self) -> bool {
        self.unread.is_empty()
    }

    pub(crate) fn has_landed(&self) -> bool {
        self.unread.is_empty() && self.unwritten.is_empty()
    }

    pub(crate) fn is_committed(&self) -> bool {
        self.request.direction == Direction::Store { committed: true }
    }

    /// It becomes part of a group, if it is a store.
    pub(crate) fn commit(&mut self) {
        if let Direction::Store { committed } = &mut self.request.direction {
            *committed = true;
        }
    }

    /// The next step of a copy that has not landed.
    pub(crate) fn step(&mut self, random: &mut Rng) -> Step {
        let read = self.unwritten.is_empty() || (!self.unread.is_empty() && random.bool());
        match read {
            true => {
                let (offset, bytes) = self.unread.pop().expect("a copy that has not landed");
                Step::Read { offset, bytes }
            }
            false => {
                let (offset, bytes) = self.unwritten.swap_remove(random.usize(..self.unwritten.len()));
                Step::Write { offset, bytes }
            }
        }
    }

    /// The bytes that the last step read.
    pub(crate) fn holds(&mut self, offset: usize, bytes: Vec<u8>) {
        self.unwritten.push((offset, bytes));
    }
}

/// Cuts a length into a few pieces of multiples of 16, in any order.
fn pieces(bytes: usize, random: &mut Rng) -> Vec<(usize, usize)> {
    let mut cuts: Vec<usize> = (0..random.usize(..4)).map(|_| random.usize(..=bytes / 16) * 16).collect();
    cuts.extend([0, bytes]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces: Vec<_> = cuts.windows(2).map(|ends| (ends[0], ends[1] - ends[0])).collect();
    random.shuffle(&mut pieces);
    pieces
}
