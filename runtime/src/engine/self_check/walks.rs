//! The walks that kernels are for, as a set, and how they differ.

use monoscan_codegen::cpu::{Compiled, Kernel, LONGEST_STRAIGHT_ROW};

use crate::wrong::Walk;

/// Some walks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::engine) struct Walks(u16);

const EVERY: [Walk; 15] = [
    Walk::OnePass,
    Walk::Strips,
    Walk::Blocks,
    Walk::Together { writes: false },
    Walk::Together { writes: true },
    Walk::Totals,
    Walk::StreamedPass,
    Walk::StreamedStrips,
    Walk::StreamedBlocks,
    Walk::Whole { writes: false },
    Walk::Whole { writes: true },
    Walk::Rows,
    Walk::Short,
    Walk::ShortWhole { writes: false },
    Walk::ShortWhole { writes: true },
];

impl Walks {
    #[cfg(test)]
    pub(super) fn every() -> Walks {
        EVERY.into_iter().collect()
    }

    pub(in crate::engine) fn from_bits(bits: u16) -> Walks {
        Walks(bits)
    }

    pub(in crate::engine) fn bits(self) -> u16 {
        self.0
    }

    /// Those that these kernels are for; with `streams`, those that their streaming forms are for too.
    pub(in crate::engine) fn of(kernels: &[Kernel], streams: bool) -> Walks {
        let walk = |kernel: &Kernel| {
            Some(match *kernel {
                Kernel::ScanOne => Walk::OnePass,
                Kernel::Scan | Kernel::Reduce(_) | Kernel::ReduceOne(_) | Kernel::CarryUpdate(_) => Walk::Strips,
                Kernel::ScanBlocks => Walk::Blocks,
                Kernel::Together { writes } => Walk::Together { writes },
                Kernel::Combine(_) => Walk::Totals,
                Kernel::Whole { writes } => Walk::Whole { writes },
                // They are checked for themselves.
                Kernel::Rows(1..=LONGEST_STRAIGHT_ROW) | Kernel::ShortRows(_) => return None,
                Kernel::ShortBetween | Kernel::SideBySide { .. } => return None,
                Kernel::Rows(_) => Walk::Rows,
                Kernel::Short => Walk::Short,
                Kernel::ShortWhole { writes } => Walk::ShortWhole { writes },
            })
        };
        let streamed = kernels.iter().filter(|_| streams).filter_map(|kernel| match kernel {
            Kernel::ScanOne => Some(Walk::StreamedPass),
            Kernel::Scan => Some(Walk::StreamedStrips),
            Kernel::ScanBlocks => Some(Walk::StreamedBlocks),
            _ => None,
        });
        kernels.iter().filter_map(walk).chain(streamed).collect()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Walk> {
        EVERY.into_iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 != 0).map(|(_, walk)| walk)
    }

    /// Those that are not among others.
    pub(in crate::engine) fn without(self, others: Walks) -> Walks {
        Walks(self.0 & !others.0)
    }

    pub(in crate::engine) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Walk> for Walks {
    fn from_iter<I: IntoIterator<Item = Walk>>(walks: I) -> Walks {
        let bit = |walk| 1 << EVERY.iter().position(|&every| every == walk).expect("every walk has a bit");
        Walks(walks.into_iter().map(bit).fold(0, |bits, bit| bits | bit))
    }
}

/// Whether elements are associated otherwise than by a sequential loop.
pub(super) fn regroups(walk: Walk, code: &Compiled) -> bool {
    code.is_in_vectors()
        || match walk {
            // Of any length.
            Walk::Rows => !code.keeps_rows_in_order(usize::MAX),
            Walk::Strips | Walk::Blocks | Walk::Totals | Walk::StreamedStrips | Walk::StreamedBlocks => true,
            Walk::Together { .. } => true,
            _ => false,
        }
}

/// Whether blocks are whole groups of kernels in vectors: other blocks go through other kernels, or lie as streaming stores cannot.
pub(super) fn is_in_whole_groups(walk: Walk) -> bool {
    matches!(walk, Walk::Blocks | Walk::StreamedStrips | Walk::StreamedBlocks)
}

/// Whether a walk has results beside states.
pub(super) fn writes(walk: Walk) -> bool {
    use Walk::{ShortWhole, Together, Whole};
    !matches!(walk, Whole { writes: false } | ShortWhole { writes: false } | Together { writes: false })
}

/// The kernel that has a streaming form for a walk.
pub(super) fn streamed(walk: Walk) -> Option<Kernel> {
    match walk {
        Walk::StreamedPass => Some(Kernel::ScanOne),
        Walk::StreamedStrips => Some(Kernel::Scan),
        Walk::StreamedBlocks => Some(Kernel::ScanBlocks),
        _ => None,
    }
}
