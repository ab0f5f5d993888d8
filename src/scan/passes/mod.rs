//! Loops over the elements of a pass, for rustc to compile: a line, segments by flags, rows, each
//! written inclusive or exclusive; and reductions.

mod lines;
mod sequences;

pub(super) use lines::{line, reduce, short};
pub(super) use sequences::{flagged, rows, sequences, short_flagged, totals};

/// Of which state the results of an element are made.
pub(super) trait Work {
    const INCLUSIVE: bool;
}

pub(super) struct Inclusive;
pub(super) struct Exclusive;

impl Work for Inclusive {
    const INCLUSIVE: bool = true;
}
impl Work for Exclusive {
    const INCLUSIVE: bool = false;
}

/// The number of an element in its sequence, whether it is the first there, and whether it is the last.
type InSequence = (usize, bool, bool);

/// So many elements, which go on.
struct Line {
    len: usize,
    /// The number of the first in its sequence, and how many that has.
    first: usize,
    total: usize,
}

impl Line {
    /// So many elements; what is `seen` lies behind the states.
    ///
    /// # Safety
    /// There is the place of the first in its line, and behind it how many that has, if they are seen.
    #[inline(always)]
    unsafe fn new<S>(len: usize, sees: bool, after: *const u8) -> Line {
        let [first, total] = match sees {
            // SAFETY: they are behind the two states.
            true => unsafe { after.cast::<S>().add(2).cast::<[usize; 2]>().read_unaligned() },
            false => [0; 2],
        };
        Line { len, first, total }
    }

    /// The records in order. That most have neighbours is known where the loop is compiled.
    #[inline(always)]
    fn each_record(self, sees: bool, mut element: impl FnMut(usize, InSequence)) {
        let Line { len, first, total } = self;
        if !sees || len == 0 {
            // The iterator's own loop is a function that is optimised alone before.
            for place in 0..len {
                element(place, (first + place, false, false));
            }
            return;
        }
        // One call of `element`, so that it is compiled into the loop.
        let end = (len - 1).max(1);
        let parts =
            [(0..1, first == 0, first + 1 == total), (1..end, false, false), (end..len, false, first + len == total)];
        for (places, is_first, is_last) in parts {
            places.for_each(|place| element(place, (first + place, is_first, is_last)));
        }
    }
}
