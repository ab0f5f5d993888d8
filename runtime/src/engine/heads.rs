//! Segments as a column of flags, which segmented programs read.
//!
//! A flag says that a sequence begins at a record, in the order of the scan. Flags that the caller has
//! for a forward scan are such a column already. From offsets, and for a reversed scan, where a sequence
//! begins at the last record of a segment, the flags of a tile are made when the tile is worked on,
//! in a piece of memory that stays in cache.

use std::ops::Range;

/// Where segments begin.
#[derive(Clone, Copy)]
pub(crate) enum Heads<'a> {
    /// A flag for each record.
    Flags(&'a [bool]),
    /// The starts in order, then the number of records.
    Offsets(&'a [usize]),
}

/// The flags of a scan.
#[derive(Clone, Copy)]
pub(crate) struct FlagColumn<'a> {
    pub(crate) heads: Heads<'a>,
    pub(crate) reversed: bool,
    pub(crate) len: usize,
}

impl FlagColumn<'_> {
    /// The column, where it lies in memory as it is.
    pub(crate) fn in_memory(&self) -> Option<*const u8> {
        match self.heads {
            Heads::Flags(flags) if !self.reversed => Some(flags.as_ptr().cast()),
            _ => None,
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

    /// Makes the flags of these elements and of the one after them. Gives where the column would start.
    pub(crate) fn make(&self, numbers: Range<usize>, flags: &mut Vec<bool>) -> *const u8 {
        let places = self.places(numbers);
        flags.clear();
        flags.resize(places.len(), false);
        // In a reversed scan a sequence begins at the record before a head.
        let shift = usize::from(self.reversed);
        let heads = places.start + shift..(places.end + shift).min(self.len);
        match self.heads {
            Heads::Flags(all) => {
                let made = &all[heads.start.min(heads.end)..heads.end];
                flags[..made.len()].copy_from_slice(made);
            }
            Heads::Offsets(offsets) => {
                let first = offsets.partition_point(|&offset| offset < heads.start);
                for &offset in offsets[first..].iter().take_while(|offset| heads.contains(offset)) {
                    flags[offset - heads.start] = true;
                }
            }
        }
        flags.as_ptr().cast::<u8>().wrapping_sub(places.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of these elements, by the record that each is.
    fn made(column: &FlagColumn<'_>, numbers: Range<usize>) -> Vec<(usize, bool)> {
        let mut flags = Vec::new();
        column.make(numbers.clone(), &mut flags);
        column.places(numbers).zip(flags).collect()
    }

    #[test]
    fn offsets_and_flags_make_the_same_columns() {
        let flags = [false, true, false, false, true, true, false];
        let offsets = [0, 1, 1, 4, 5, 7];
        for reversed in [false, true] {
            let of = |heads| FlagColumn { heads, reversed, len: 7 };
            for (start, end) in (0..7).flat_map(|start| (start + 1..=7).map(move |end| (start, end))) {
                let by_flags = made(&of(Heads::Flags(&flags)), start..end);
                let mut by_offsets = made(&of(Heads::Offsets(&offsets)), start..end);
                // Offset 0 flags record 0, which begins a sequence anyway.
                by_offsets.iter_mut().filter(|flag| !reversed && flag.0 == 0).for_each(|flag| flag.1 = false);
                assert_eq!(by_flags, by_offsets, "{start}..{end} reversed: {reversed}");
            }
        }
    }

    #[test]
    fn reversed_runs_begin_where_segments_end() {
        let flags = [true, false, true, false];
        let column = FlagColumn { heads: Heads::Flags(&flags), reversed: true, len: 4 };
        assert_eq!(made(&column, 0..4), [(0, false), (1, true), (2, false), (3, false)]);
        assert_eq!(made(&column, 0..1), [(2, false), (3, false)]);
    }
}
