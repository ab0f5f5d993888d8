//! Totals over subtrees and paths by any monoid, in blocks of the order in which nodes are entered.
//!
//! A subtree is a range of that order. A block of nodes sums up the part of each subtree that is in
//! it, on a stack of the nodes that are open: what is closed is added to the node below it. A
//! subtree that goes on after the block has some whole blocks more, and the beginning of another.
//! The total of any range of blocks is one combination of two that were tabulated: Alon and
//! Schieber, *Optimal Preprocessing for Answering On-line Product Queries* (Tel Aviv University,
//! 71/87).
//!
//! A path is summed up from the highest of its nodes that is in the block. All nodes that are still
//! open at the end of a block are on one path, so what is above them there is one total: the carry
//! of the block. One loop over the blocks finds all carries.
//!
//! ```text
//! monoid   any; nodes in the order in which they are entered, paths from the root
//! subtree  work n, depth log(n / 8192) loops on one thread over the blocks between two loops
//! path     work n, depth a loop on one thread over n / 8192 blocks, each of which needs another
//! passes   2: the values by blocks, and the results; and one over what is open at ends of blocks
//! bytes    of values of b bytes: subtrees 20 + 5 b a node, paths 28 + 4 b
//! ```
//!
//! Each result combines values of its own subtree or path only. So no infinity or rounding of other
//! nodes is in it. Blocks do not depend on the number of threads, so neither do roundings.

use super::super::lists::NONE;
use super::{Entered, Tour};
use crate::parallel;

/// Nodes of a block.
const BLOCK: usize = 1 << 13;

impl Tour {
    /// The total of what each node of a subtree has, for each subtree.
    pub(super) fn over_subtrees<T: Copy + Send + Sync>(
        &self,
        value: impl Fn(usize) -> T + Sync,
        identity: T,
        add: impl Fn(T, T) -> T + Sync,
    ) -> Vec<T> {
        // At each place the total of its subtree as far as that is in the block, and of the block as far as there.
        let (mut totals, mut until) = (vec![identity; self.len()], vec![identity; self.len()]);
        let blocks = self.entered.chunks(BLOCK).zip(totals.chunks_mut(BLOCK)).zip(until.chunks_mut(BLOCK));
        let open = parallel::map(blocks, |_, ((entered, totals), until)| {
            for (entered, total) in entered.iter().zip(&mut *totals) {
                *total = value(entered.node as usize);
            }
            let mut sum = None;
            for (&value, until) in totals.iter().zip(until) {
                *until = sum.map_or(value, |sum| add(sum, value));
                sum = Some(*until);
            }
            let end = |place: usize| place + entered[place].size as usize;
            let mut open: Vec<usize> = Vec::new();
            let mut close = |place: usize, below: Option<&usize>| {
                if let Some(&below) = below {
                    totals[below] = add(totals[below], totals[place]);
                }
            };
            for place in 0..entered.len() {
                while let Some(closed) = open.pop_if(|last| end(*last) <= place) {
                    close(closed, open.last());
                }
                open.push(place);
            }
            // Of what is still open, the part in this block.
            for depth in (1..open.len()).rev() {
                close(open[depth], Some(&open[depth - 1]));
            }
            open.retain(|&place| end(place) > entered.len());
            open
        });

        let blocks = Ranges::of(until.chunks(BLOCK).map(|block| block[block.len() - 1]).collect(), &add);
        parallel::for_each(totals.chunks_mut(BLOCK).zip(open), |block, (totals, open)| {
            for place in open {
                let first = block * BLOCK + place;
                let last = first + self.entered[first].size as usize - 1;
                let own = totals[place];
                let whole = blocks.total(block + 1..last / BLOCK, &add).map_or(own, |whole| add(own, whole));
                totals[place] = add(whole, until[last]);
            }
        });
        self.each(|node| totals[node.before as usize])
    }

    /// The total of what each node of a path has, for the path from a root to each node.
    pub(super) fn over_paths<T: Copy + Send + Sync>(
        &self,
        value: impl Fn(usize) -> T + Sync,
        identity: T,
        add: impl Fn(T, T) -> T + Sync,
    ) -> Vec<T> {
        let parent = |entered: &Entered| match self.parents[entered.node as usize] {
            NONE => NONE,
            parent => self.nodes[parent as usize].before,
        };
        // At each place the total of its path as far as that is in the block, and the place that it comes from.
        let mut parts = vec![(identity, NONE); self.len()];
        let blocks = self.entered.chunks(BLOCK).zip(parts.chunks_mut(BLOCK));
        parallel::for_each(blocks, |_, (entered, parts)| {
            let mut open: Vec<usize> = Vec::new();
            for (place, node) in entered.iter().enumerate() {
                while open.pop_if(|last| *last + entered[*last].size as usize <= place).is_some() {}
                let value = value(node.node as usize);
                parts[place] = match open.last() {
                    Some(&parent) => (add(parts[parent].0, value), parts[parent].1),
                    None => (value, parent(node)),
                };
                open.push(place);
            }
        });

        // The total of the path to the part of another block.
        let before = |carries: &[Option<T>], above: u32| match above {
            NONE => None,
            above => {
                let own = parts[above as usize].0;
                Some(carries[above as usize / BLOCK].map_or(own, |carry| add(carry, own)))
            }
        };
        let mut carries = Vec::with_capacity(self.len().div_ceil(BLOCK));
        for next in self.entered.iter().step_by(BLOCK).skip(1) {
            // The lowest open node is the parent of the next one, if that is in this block. If not, none is open and nothing
            // reads the carry.
            let carry = match parent(next) {
                NONE => None,
                lowest => before(&carries, parts[lowest as usize].1),
            };
            carries.push(carry);
        }
        self.each(|node| {
            let (total, above) = parts[node.before as usize];
            before(&carries, above).map_or(total, |before| add(before, total))
        })
    }
}

/// Totals of elements before and after each middle of 2^(k + 1) elements, for each k: every range has one such middle.
struct Ranges<T> {
    /// For each k, of each element the total from there to the end of its 2^k elements, or of these until there, by turns.
    levels: Vec<Vec<T>>,
}

impl<T: Copy> Ranges<T> {
    fn of(elements: Vec<T>, add: &impl Fn(T, T) -> T) -> Ranges<T> {
        let (mut levels, mut half) = (vec![elements], 2);
        while half < levels[0].len() {
            let mut level = levels[0].clone();
            for (number, part) in level.chunks_mut(half).enumerate() {
                if number % 2 == 0 {
                    (1..part.len()).rev().for_each(|place| part[place - 1] = add(part[place - 1], part[place]));
                } else {
                    (1..part.len()).for_each(|place| part[place] = add(part[place - 1], part[place]));
                }
            }
            levels.push(level);
            half *= 2;
        }
        Ranges { levels }
    }

    /// The total of the elements in this range, if there are any.
    fn total(&self, range: std::ops::Range<usize>, add: &impl Fn(T, T) -> T) -> Option<T> {
        let (first, last) = (range.start, range.end.checked_sub(1).filter(|last| *last >= range.start)?);
        // The highest bit in which they differ tells the middle that is between them.
        Some(match (first ^ last).checked_ilog2() {
            None => self.levels[0][first],
            Some(k) => add(self.levels[k as usize][first], self.levels[k as usize][last]),
        })
    }
}
