//! List ranking: where each element stands in its linked list.
//!
//! `next[i]` is the element after i, or [`NONE`] at the end; there may be several lists.
//!
//! # Ruling set
//!
//! [`rank`] picks splitters, one element in 64 and every first one, and walks from each to the next
//! splitter, all at once. What is left is a list of walks. The exclusive segmented sum of their
//! lengths, in order, is where each walk begins: Helman and JáJá, *Designing Practical Efficient
//! Algorithms for Symmetric Multiprocessors* (ALENEX 1999).
//!
//! ```text
//! monoid   sums, segmented: a list is a segment
//! cost     work 3 n, depth 1 scan of n / 64 lengths between loops, 2 passes in the list's order
//! ```
//!
//! # Pointer jumping
//!
//! [`rank_by_jumping`] doubles the distance that each element looks back until all see the start:
//! Wyllie, *The Complexity of Parallel Computations* (1979). Work n log n, depth log n loops. It
//! has no scan, and is here beside the other for comparison.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::{AlgoError, compiled, counted};
use crate::ops::Sum;
use crate::prelude::*;

/// No element.
pub const NONE: u32 = u32::MAX;

/// How many elements come before each in its list.
///
/// ```
/// use monoscan::algo::lists::{NONE, rank};
/// // 2 → 0 → 3, and 1 alone
/// assert_eq!(rank(&[3, NONE, 0, NONE])?, [1, 0, 0, 2]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Index`] if an element has no such next one, [`AlgoError::Shared`] if one is next to two, [`AlgoError::Cycle`] if
/// lists have no end; [`AlgoError::TooLong`].
pub fn rank(next: &[u32]) -> Result<Vec<u32>, AlgoError> {
    let before = before(next)?;
    let is_picked = |&element: &u32| before[element as usize] == NONE || is_drawn(element);
    let picked: Vec<u32> = (0..next.len() as u32).into_par_iter().filter(is_picked).collect();

    // Of each element its walk, and its place there.
    let walks: Vec<AtomicU64> = (0..next.len()).into_par_iter().map(|_| AtomicU64::new(u64::MAX)).collect();
    let walk = |(number, &start): (usize, &u32)| {
        let (mut element, mut length) = (start, 0u32);
        loop {
            walks[element as usize].store((number as u64) << 32 | u64::from(length), Ordering::Relaxed);
            (element, length) = (next[element as usize], length + 1);
            if element == NONE || is_drawn(element) {
                return (element, length);
            }
        }
    };
    let ends: Vec<(u32, u32)> = picked.par_iter().enumerate().map(walk).collect();
    let walks: Vec<u64> = walks.into_par_iter().map(AtomicU64::into_inner).collect();

    // The walks list by list, in order.
    let mut order = Vec::with_capacity(picked.len());
    let mut heads = Vec::with_capacity(picked.len());
    for head in (0..picked.len()).filter(|&walk| before[picked[walk] as usize] == NONE) {
        let mut walk = head;
        loop {
            order.push(walk as u32);
            heads.push(walk == head);
            let (end, _) = ends[walk];
            if end == NONE {
                break;
            }
            walk = (walks[end as usize] >> 32) as usize;
        }
    }
    let unseen = |&(_, &walk): &(usize, &u64)| walk == u64::MAX;
    if let Some((element, _)) = walks.iter().enumerate().find(unseen) {
        return Err(AlgoError::Cycle { element });
    }
    if order.len() < picked.len() {
        let mut reached = vec![false; picked.len()];
        order.iter().for_each(|&walk| reached[walk as usize] = true);
        let walk = reached.iter().position(|reached| !reached).unwrap_or(0);
        return Err(AlgoError::Cycle { element: picked[walk] as usize });
    }

    let lengths: Vec<u32> = order.iter().map(|&walk| ends[walk as usize].1).collect();
    let sums = compiled(Scan::<Sum<u32>>::plain)?.segmented(&heads).exclusive(&lengths)?;
    let mut starts = vec![0; picked.len()];
    order.iter().zip(sums).for_each(|(&walk, start)| starts[walk as usize] = start);
    Ok(walks.into_par_iter().map(|walk| starts[(walk >> 32) as usize] + walk as u32).collect())
}

/// Whether this is one of the elements that are picked: one in 64, by Fibonacci hashing.
fn is_drawn(element: u32) -> bool {
    element.wrapping_mul(0x9e37_79b9) >> 26 == 0
}

/// The same as [`rank`], by pointer jumping.
///
/// # Errors
/// As [`rank`].
pub fn rank_by_jumping(next: &[u32]) -> Result<Vec<u32>, AlgoError> {
    let mut back = before(next)?;
    let mut ranks: Vec<u32> = back.iter().map(|&before| (before != NONE) as u32).collect();
    // Twice as far in each round, so this many reach the start of a list of all elements.
    for _ in 0..=next.len().max(1).ilog2() {
        let jump = |(&before, &rank): (&u32, &u32)| match before {
            NONE => (NONE, rank),
            before => (back[before as usize], rank + ranks[before as usize]),
        };
        (back, ranks) = back.par_iter().zip(&ranks).map(jump).unzip();
    }
    match back.iter().position(|&before| before != NONE) {
        Some(element) => Err(AlgoError::Cycle { element }),
        None => Ok(ranks),
    }
}

/// The element before each.
fn before(next: &[u32]) -> Result<Vec<u32>, AlgoError> {
    let len = counted(next.len())?;
    let mut before = vec![NONE; next.len()];
    for (element, &next) in (0..len).zip(next) {
        if next == NONE {
            continue;
        }
        let place = element as usize;
        let Some(slot) = before.get_mut(next as usize) else {
            return Err(AlgoError::Index { argument: "next", place, expected: len as usize, got: next as usize });
        };
        if *slot != NONE {
            return Err(AlgoError::Shared { element: next as usize, by: [*slot as usize, place] });
        }
        *slot = element;
    }
    Ok(before)
}
