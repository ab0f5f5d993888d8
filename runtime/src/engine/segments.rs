//! Segments as columns, which segmented programs read: a flag for each record, and the state that
//! its segment starts from, if each segment has its own.
//!
//! A flag says that a sequence begins at a record, in the order of the scan. Flags that the caller
//! has for a forward scan are such a column already. Bits and offsets are made into flags of a
//! tile when the tile is worked on, in a piece of memory that stays in cache. So are flags for
//! a reversed scan, where a sequence begins at the last record of a segment, and so are starts,
//! always.

use std::ops::Range;

use monoscan_ir::{Constant, Layout};

use crate::spacing::Bits;

/// Where segments begin.
#[derive(Clone, Copy)]
pub(crate) enum Heads<'a> {
    /// A flag for each record.
    Flags(&'a [bool]),
    /// A bit for each record.
    Bits(Bits<'a>),
    /// The starts in order, then the number of records.
    Offsets(&'a [usize]),
}

impl Heads<'_> {
    /// Whether this record has a flag; none if there are no flags, or none of it.
    pub(crate) fn is_flagged(&self, record: usize) -> Option<bool> {
        match self {
            Heads::Flags(flags) => flags.get(record).copied(),
            Heads::Bits(bits) => (record < bits.len()).then(|| bits.get(record)),
            Heads::Offsets(_) => None,
        }
    }

    /// How many of these records have a flag.
    fn count(&self, records: Range<usize>) -> usize {
        records.filter(|&record| self.is_flagged(record) == Some(true)).count()
    }

    /// How many flags there are.
    fn flags_len(&self) -> usize {
        match self {
            Heads::Flags(flags) => flags.len(),
            Heads::Bits(bits) => bits.len(),
            Heads::Offsets(_) => 0,
        }
    }

    /// A flag for each of these records, of so many in all, in the order of memory.
    #[cfg(feature = "cuda")]
    pub(crate) fn flags(self, records: Range<usize>, len: usize) -> Vec<bool> {
        let mut flags = Vec::new();
        Segments { heads: self, starts: None, reversed: false, len }.make_flags(records, &mut flags);
        flags
    }
}

/// The segments of a scan.
#[derive(Clone, Copy)]
pub(crate) struct Segments<'a> {
    pub(crate) heads: Heads<'a>,
    pub(crate) starts: Option<&'a Starts>,
    pub(crate) reversed: bool,
    pub(crate) len: usize,
}

/// The columns of some records, which a thread made for itself.
#[derive(Default)]
pub(crate) struct Made {
    flags: Vec<bool>,
    starts: Vec<u8>,
}

impl Segments<'_> {
    /// How many columns they are.
    pub(crate) fn columns(&self) -> usize {
        1 + usize::from(self.starts.is_some())
    }

    /// The column of flags, where it lies in memory as it is.
    fn flags_in_memory(&self) -> Option<*const u8> {
        match self.heads {
            Heads::Flags(flags) if !self.reversed => Some(flags.as_ptr().cast()),
            _ => None,
        }
    }

    /// Whether columns must be made, tile by tile.
    pub(crate) fn are_made(&self) -> bool {
        self.starts.is_some() || self.flags_in_memory().is_none()
    }

    /// Where the columns start, one after the other; those that are made, anywhere.
    pub(crate) fn in_memory(&self) -> impl Iterator<Item = *const u8> {
        let flags = self.flags_in_memory().unwrap_or(std::ptr::null());
        [flags].into_iter().chain(self.starts.map(|_| std::ptr::null()))
    }

    /// Makes the columns of these elements and of the one after them, and puts where they would start into `columns`.
    pub(crate) fn make(&self, numbers: Range<usize>, made: &mut Made, columns: &mut [*const u8]) {
        let places = self.places(numbers);
        let [flags, starts @ ..] = columns else { return };
        if self.flags_in_memory().is_none() {
            *flags = self.make_flags(places.clone(), &mut made.flags);
        }
        if let (Some(of), Some(column)) = (self.starts, starts.first_mut()) {
            self.make_starts(of, places.clone(), &mut made.starts);
            *column = made.starts.as_ptr().wrapping_sub(places.start * of.size);
        }
    }

    /// The records that these elements are, by number, and the one after them, if there is one.
    fn places(&self, numbers: Range<usize>) -> Range<usize> {
        let end = (numbers.end + 1).min(self.len);
        match self.reversed {
            false => numbers.start..end,
            true => self.len - end..self.len - numbers.start,
        }
    }

    /// Gives where the column of flags would start.
    fn make_flags(&self, places: Range<usize>, flags: &mut Vec<bool>) -> *const u8 {
        flags.clear();
        flags.resize(places.len(), false);
        // In a reversed scan a run begins at the record before a head.
        let shift = usize::from(self.reversed);
        let heads = places.start + shift..(places.end + shift).min(self.len);
        match self.heads {
            Heads::Flags(all) => {
                let made = &all[heads.start.min(heads.end)..heads.end];
                flags[..made.len()].copy_from_slice(made);
            }
            Heads::Bits(bits) => flags.iter_mut().zip(heads).for_each(|(flag, place)| *flag = bits.get(place)),
            Heads::Offsets(offsets) => {
                let first = offsets.partition_point(|&offset| offset < heads.start);
                for &offset in offsets[first..].iter().take_while(|offset| heads.contains(offset)) {
                    flags[offset - heads.start] = true;
                }
            }
        }
        flags.as_ptr().cast::<u8>().wrapping_sub(places.start)
    }

    fn make_starts(&self, starts: &Starts, places: Range<usize>, column: &mut Vec<u8>) {
        column.clear();
        if places.is_empty() {
            return;
        }
        column.resize(places.len() * starts.size, 0);
        let (mut segment, mut place) = (starts.segment_of(self.heads, places.start), places.start);
        while place < places.end {
            // The records of a segment that are among these have one state.
            let end = match self.heads {
                Heads::Flags(flags) => {
                    flags[place + 1..places.end].iter().position(|&flag| flag).map(|more| place + 1 + more)
                }
                Heads::Bits(bits) => (place + 1..places.end).find(|&place| bits.get(place)),
                Heads::Offsets(offsets) => Some(offsets[segment + 1]),
            };
            let end = end.unwrap_or(places.end).min(places.end);
            let own = &mut column[(place - places.start) * starts.size..(end - places.start) * starts.size];
            fill(own, &starts.states[segment * starts.size..][..starts.size]);
            place = end;
            segment += match self.heads {
                Heads::Flags(_) | Heads::Bits(_) => 1,
                Heads::Offsets(offsets) => offsets[segment + 1..].iter().take_while(|&&offset| offset == place).count(),
            };
        }
    }
}

/// Fills memory with a record.
fn fill(memory: &mut [u8], record: &[u8]) {
    fn each<const SIZE: usize>(memory: &mut [u8], record: &[u8]) {
        let (records, _) = memory.as_chunks_mut::<SIZE>();
        if let Some(record) = record.first_chunk::<SIZE>() {
            records.fill(*record);
        }
    }
    // With a size that is known there is no call for each.
    match record.len() {
        1 => each::<1>(memory, record),
        2 => each::<2>(memory, record),
        4 => each::<4>(memory, record),
        8 => each::<8>(memory, record),
        16 => each::<16>(memory, record),
        size => memory.chunks_exact_mut(size.max(1)).for_each(|to| to.copy_from_slice(record)),
    }
}

/// The state that each segment starts from, in the order of memory.
pub(crate) struct Starts {
    /// One after the other, laid out as the column is.
    states: Vec<u8>,
    size: usize,
    /// How many flags there are before each group of records, but for that of record 0, which begins a segment anyway.
    ranks: Vec<usize>,
}

/// How many flags are counted together.
const GROUP: usize = 4096;

impl Starts {
    /// States of this layout, as many as there are segments.
    pub(crate) fn new<'s>(layout: &Layout, states: impl Iterator<Item = &'s [Constant]>, heads: Heads<'_>) -> Starts {
        let (len, mut before) = (heads.flags_len(), 0);
        let groups = (1..len).step_by(GROUP).map(|first| first..len.min(first + GROUP));
        let count = |group: Range<usize>| {
            before += heads.count(group);
            before
        };
        let ranks = [0].into_iter().chain(groups.map(count)).collect();
        Starts { states: layout.records_to_bytes(states), size: layout.size as usize, ranks }
    }

    /// The number of the segment that a record is in.
    pub(crate) fn segment_of(&self, heads: Heads<'_>, record: usize) -> usize {
        match heads {
            Heads::Flags(_) | Heads::Bits(_) => {
                let counted = record / GROUP;
                self.ranks[counted] + heads.count(1 + counted * GROUP..record + 1)
            }
            Heads::Offsets(offsets) => offsets.partition_point(|&offset| offset <= record).saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use monoscan_ir::Type;

    use super::*;

    fn of<'a>(heads: Heads<'a>, starts: Option<&'a Starts>, reversed: bool, len: usize) -> Segments<'a> {
        Segments { heads, starts, reversed, len }
    }

    /// The flags and starts of these elements, by the record that each is.
    fn made(segments: &Segments<'_>, numbers: Range<usize>) -> Vec<(usize, bool, Option<u8>)> {
        let mut made = Made::default();
        let places = segments.places(numbers.clone());
        let mut columns: Vec<*const u8> = segments.in_memory().collect();
        segments.make(numbers, &mut made, &mut columns);
        let flag = |place: usize| match segments.heads {
            Heads::Flags(flags) if !segments.reversed => flags[place],
            _ => made.flags[place - places.start],
        };
        let start = |place: usize| made.starts.get(place - places.start).copied();
        places.clone().map(|place| (place, flag(place), start(place))).collect()
    }

    #[test]
    fn offsets_and_flags_make_the_same_columns() {
        let flags = [false, true, false, false, true, true, false];
        let offsets = [0, 1, 1, 4, 5, 7];
        let bits = Bits::new(&[0b1001_0101, 0b1_1101], 3, 7).unwrap();
        let layout = Layout::of(Type::U8);
        let states = |of: &[u8]| of.iter().map(|&byte| [Constant::from(byte)]).collect::<Vec<_>>();
        let (by_flags, by_offsets) = (states(&[3, 4, 5, 6]), states(&[3, 99, 4, 5, 6]));
        let starts = [
            Starts::new(&layout, by_flags.iter().map(|state| &state[..]), Heads::Flags(&flags)),
            Starts::new(&layout, by_offsets.iter().map(|state| &state[..]), Heads::Offsets(&offsets)),
            Starts::new(&layout, by_flags.iter().map(|state| &state[..]), Heads::Bits(bits)),
        ];
        for reversed in [false, true] {
            for (start, end) in (0..7).flat_map(|start| (start + 1..=7).map(move |end| (start, end))) {
                let by_flags = made(&of(Heads::Flags(&flags), Some(&starts[0]), reversed, 7), start..end);
                let by_bits = of(Heads::Bits(bits), Some(&starts[2]), reversed, 7);
                assert_eq!(made(&by_bits, start..end), by_flags);
                let by_offsets = of(Heads::Offsets(&offsets), Some(&starts[1]), reversed, 7);
                let mut by_offsets = made(&by_offsets, start..end);
                // Offset 0 flags record 0, which begins a run anyway.
                by_offsets.iter_mut().filter(|flag| !reversed && flag.0 == 0).for_each(|flag| flag.1 = false);
                assert_eq!(by_flags, by_offsets, "{start}..{end} reversed: {reversed}");
            }
        }
    }

    #[test]
    fn reversed_runs_begin_where_segments_end() {
        let flags = [true, false, true, false];
        let segments = of(Heads::Flags(&flags), None, true, 4);
        let flags =
            |numbers| made(&segments, numbers).into_iter().map(|(place, flag, _)| (place, flag)).collect::<Vec<_>>();
        assert_eq!(flags(0..4), [(0, false), (1, true), (2, false), (3, false)]);
        assert_eq!(flags(0..1), [(2, false), (3, false)]);
    }

    #[test]
    fn a_record_is_in_the_segment_of_the_last_head_up_to_it() {
        let flags: Vec<bool> = (0..3 * GROUP).map(|place| place % 1000 == 0 || place % 4097 == 1).collect();
        let starts = Starts::new(&Layout::of(Type::U8), [].into_iter(), Heads::Flags(&flags));
        let mut segment = 0;
        for place in 0..flags.len() {
            segment += usize::from(place > 0 && flags[place]);
            assert_eq!(starts.segment_of(Heads::Flags(&flags), place), segment, "record {place}");
        }
    }
}
