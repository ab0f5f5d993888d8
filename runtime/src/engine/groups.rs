//! How rows side by side are shared among threads, and which kernels take those that a thread has.
//!
//! A thread takes its share of neighbouring columns, 256 bytes to 16 KiB wide. Kernels in lanes
//! take as many of them as fill vectors, in a few pieces.

use std::ops::Range;

use monoscan_codegen::cpu::Kernel;
use smallvec::SmallVec;

use super::line::Line;
use super::rows::LEAST_ELEMENTS;
use crate::call::Rows;

/// Bytes of neighbouring records that a thread walks down together: not so few that memory is read in small pieces, nor so many
/// that their states leave the nearest cache.
const LEAST_BYTES: usize = 256;
const MOST_BYTES: usize = 16 << 10;

/// From so many vectors on, rows in lanes are walked down all at once, with their states in memory: more vectors than registers hold
/// would read the array in narrow pieces.
const MANY_VECTORS: usize = 16;

/// Neighbouring rows that kernels in lanes take, piece by piece, from the first on, and the number of rows of those kernels; of few rows
/// they are one piece.
pub(super) type Pieces = SmallVec<[(Range<usize>, usize); 2]>;

/// How rows side by side are shared among threads.
pub(super) struct Groups {
    /// Records from a row to its neighbour.
    pub(super) apart: usize,
    /// How many rows are neighbours.
    pub(super) neighbours: usize,
    /// How many of them a thread takes at a time, and how often; the last time it takes what is left.
    pub(super) group: usize,
    pub(super) count: usize,
    /// Those of a group that are taken in lanes, and of the last one.
    pieces: Pieces,
    last: Pieces,
}

impl Groups {
    /// The rows of a group among their neighbours, and those of them that are taken in lanes.
    pub(super) fn of(&self, group: usize) -> (Range<usize>, &Pieces) {
        let (first, is_last) = (group * self.group, group + 1 == self.count);
        match is_last {
            true => (first..self.neighbours, &self.last),
            false => (first..first + self.group, &self.pieces),
        }
    }

    /// Most rows of a group.
    pub(super) fn most(&self) -> usize {
        self.count.checked_sub(1).map_or(0, |last| self.of(last).0.len().max(self.group))
    }

    /// The kernels that are needed, to write or to fold.
    pub(super) fn kernels(&self, writes: bool) -> impl Iterator<Item = Kernel> {
        self.pieces.iter().chain(&self.last).map(move |&(_, rows)| Kernel::SideBySide { rows, writes })
    }
}

impl Line<'_> {
    /// How rows side by side are shared among threads.
    pub(super) fn groups(&self, rows: &Rows, threads: usize) -> Groups {
        // Neighbours are next to each other in memory where rows interleave, else a row apart.
        let (apart, neighbours) = match rows.step() {
            1 => (rows.pitch(), rows.plane_count()),
            step => (1, step),
        };
        let widest = self.kernels.sizes.widest().max(1);
        let few = (LEAST_BYTES / widest).max(LEAST_ELEMENTS.div_ceil(self.len.max(1)));
        let least = neighbours.div_ceil(threads).min(MOST_BYTES / widest).max(few);
        let most = self.kernels.code.side_by_side().first().map_or(1, |&rows| rows).max(self.plan.interleave);
        let group = least.clamp(1, 4096).next_multiple_of(most).min(neighbours.max(1));
        // Fewer than fill a vector go with the group before them, so that lanes take the same rows whatever a group is.
        let lanes = self.kernels.code.many_side_by_side().map_or(1, |(lanes, _)| lanes);
        let (whole, rest) = (neighbours / group, neighbours % group);
        let count = if whole > 0 && rest < lanes { whole } else { whole + usize::from(rest > 0) };
        let pieces = |rows: usize| if apart == 1 { self.pieces(rows) } else { Pieces::new() };
        let last = neighbours - count.saturating_sub(1) * group;
        Groups { apart, neighbours, group, count, pieces: pieces(group), last: pieces(last) }
    }

    /// How so many neighbouring rows, from the first on, are taken in lanes: all of them, or as many as fill vectors if there is no
    /// kernel for more.
    fn pieces(&self, rows: usize) -> Pieces {
        let code = &self.kernels.code;
        let mut pieces = Pieces::new();
        let Some((lanes, _)) = code.many_side_by_side().filter(|&(lanes, _)| rows >= lanes) else { return pieces };
        let has_kernel = |rows: usize| code.side_by_side().contains(&rows);
        if has_kernel(rows) {
            pieces.push((0..rows, rows));
            return pieces;
        }
        let rest = rows % lanes;
        let last = if rest > 0 && has_kernel(lanes + rest) { lanes + rest } else { 0 };
        let end = rows - if last > 0 { last } else { rest };
        let mut done = 0;
        if end >= MANY_VECTORS * lanes {
            done = end;
            pieces.push((0..done, 0));
        }
        let in_vectors = || code.side_by_side().iter().copied().filter(|rows| rows % lanes == 0);
        while let Some(taken) = in_vectors().find(|&taken| taken <= end - done) {
            pieces.push((done..done + taken, taken));
            done += taken;
        }
        if last > 0 {
            pieces.push((end..rows, last));
        }
        pieces
    }
}
