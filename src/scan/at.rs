//! An element of a pass, as the user's own functions see it: its record, those beside it, and where
//! it is in its sequence.

use monoscan_runtime::InputAddresses;

use super::columns::Record;
use super::element::Element;
use crate::lang::ScanType;

/// An element of a pass.
#[derive(Clone, Copy)]
pub struct At {
    columns: InputAddresses,
    /// Its record's place from the first of the columns. That of the record before it may be -1: a pass may begin within a line.
    place: isize,
    /// Its number in its sequence, from 0, and whether it is the first there, or the last. Nothing in particular, where no function
    /// sees them.
    index: usize,
    first: bool,
    last: bool,
}

impl At {
    /// # Safety
    /// The columns have this record; and the one before it unless it is the first, and the next one unless
    /// it is the last, if a function sees those.
    #[inline(always)]
    pub(super) unsafe fn new(columns: InputAddresses, place: usize, (index, first, last): (usize, bool, bool)) -> At {
        At { columns, place: place as isize, index, first, last }
    }

    /// Its record.
    #[inline(always)]
    pub(super) fn record<In: Record>(self) -> In {
        self.at(self.place)
    }

    #[inline(always)]
    fn at<In: Record>(self, place: isize) -> In {
        // SAFETY: the columns have this record, as `new` was promised.
        unsafe { In::read(|column| self.columns.at(column), place) }
    }

    /// All of it, with these states. Records are of types that are valid as zeros.
    #[inline(always)]
    pub(super) fn element<In: Record, S: ScanType>(self, before: S, after: S) -> Element<In::Item, S> {
        // SAFETY: natives are of types whose components may be any, so they may be zeros.
        let none = || unsafe { std::mem::zeroed::<In::Item>() };
        let item = |place| self.at::<In>(place).item();
        Element {
            before,
            after,
            record: item(self.place),
            prev: if self.first { none() } else { item(self.place - 1) },
            next: if self.last { none() } else { item(self.place + 1) },
            first: self.first,
            last: self.last,
            index: self.index as u64,
        }
    }
}
