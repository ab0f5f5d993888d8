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
//! program  the length of a walk ↦ itself; writes the sum of those before
//! cost     work 6 n, depth 1 scan of n / 64 lengths between loops, one of which runs on one thread
//!          over n / 64 walks, as each says which one is next
//! passes   4 in memory's order, and 2 in the list's: the element before each, and the walks
//! bytes    48 an element, of which 16 in the list's order
//! ```
//!
//! # Pointer jumping
//!
//! [`rank_by_jumping`] doubles the distance that each element looks back until all see the start:
//! Wyllie, *The Complexity of Parallel Computations* (1979). It has no scan, and is here beside the
//! other for comparison.
//!
//! ```text
//! cost     work n log n, depth log n loops
//! passes   log n + 6, of which the rounds read in any order
//! bytes    24 an element and round, of which 8 anywhere
//! ```

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use monoscan_runtime::space::filled;

use super::{AlgoError, check_length, compiled, counted, mapped, part_of};
use crate::ops::Sum;
use crate::parallel;
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
    Ok(mapped(next.len(), ranked(next)?))
}

/// [`rank`] into a slice, all of one length. Walks take memory of their own all the same, 12 bytes an element.
///
/// ```
/// use monoscan::algo::lists::{NONE, rank_into};
/// let mut ranks = [0; 4];
/// rank_into(&[3, NONE, 0, NONE], &mut ranks)?;
/// assert_eq!(ranks, [1, 0, 0, 2]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; as [`rank`].
pub fn rank_into(next: &[u32], ranks: &mut [u32]) -> Result<(), AlgoError> {
    check_length("ranks", next.len(), ranks.len())?;
    let rank = ranked(next)?;
    let part = part_of(ranks.len());
    parallel::for_each(ranks.chunks_mut(part), |number, ranks| {
        (number * part..).zip(ranks).for_each(|(element, slot)| *slot = rank(element));
    });
    Ok(())
}

/// How the rank of an element is read from the walks of all.
fn ranked(next: &[u32]) -> Result<impl Fn(usize) -> u32 + Sync, AlgoError> {
    let before = before(next)?;
    let part = part_of(next.len());
    let picked = parallel::map(before.chunks(part), |number, before| {
        let numbered = ((number * part) as u32..).zip(before);
        numbered.filter_map(|(element, &before)| (before == NONE || is_drawn(element)).then_some(element)).collect()
    });
    let picked: Vec<u32> = <[Vec<u32>]>::concat(&picked);

    // Of each element its walk, and its place there.
    let walks = mapped(next.len(), |_| AtomicU64::new(u64::MAX));
    let mut ends = vec![(NONE, 0); picked.len()];
    parallel::for_each(picked.chunks(GROUP).zip(ends.chunks_mut(GROUP)), |number, (picked, ends)| {
        walk(next, (number * GROUP) as u64, picked, &walks, ends);
    });
    let walks: Vec<u64> = walks.into_iter().map(AtomicU64::into_inner).collect();

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
    let unseen = |number: usize, walks: &[u64]| Some(number * part + walks.iter().position(|&walk| walk == u64::MAX)?);
    if let Some(element) = parallel::map(walks.chunks(part), unseen).into_iter().flatten().next() {
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
    Ok(move |element: usize| starts[(walks[element] >> 32) as usize] + walks[element] as u32)
}

/// So many walks are taken by one thread.
const GROUP: usize = 256;

/// So many of them side by side: while one waits for memory, the others go on.
const SIDE_BY_SIDE: usize = 16;

/// Walks from each of these elements to the next one that is drawn. Writes the number of the walk and the place in it at each
/// element, and where each walk ends and how long it is. The first has the number `first`.
fn walk(next: &[u32], first: u64, starts: &[u32], walks: &[AtomicU64], ends: &mut [(u32, u32)]) {
    let mut waiting = (0..).zip(starts).map(|(number, &start)| (number, start, 0u32));
    let mut walking: Vec<(usize, u32, u32)> = waiting.by_ref().take(SIDE_BY_SIDE).collect();
    while !walking.is_empty() {
        walking.retain_mut(|(number, element, length)| {
            walks[*element as usize].store((first + *number as u64) << 32 | u64::from(*length), Relaxed);
            (*element, *length) = (next[*element as usize], *length + 1);
            if *element != NONE && !is_drawn(*element) {
                return true;
            }
            ends[*number] = (*element, *length);
            match waiting.next() {
                Some(other) => {
                    (*number, *element, *length) = other;
                    true
                }
                None => false,
            }
        });
    }
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
    // Of each element one before it, and how far that is.
    let far = |before: u32| (before, (before != NONE) as u32);
    let mut back: Vec<(u32, u32)> = before(next)?.into_iter().map(far).collect();
    // Twice as far in each round, so this many reach the start of a list of all elements.
    for _ in 0..=next.len().max(1).ilog2() {
        back = mapped(back.len(), |element| match back[element] {
            (NONE, rank) => (NONE, rank),
            (before, rank) => (back[before as usize].0, rank + back[before as usize].1),
        });
    }
    match back.iter().position(|&(before, _)| before != NONE) {
        Some(element) => Err(AlgoError::Cycle { element }),
        None => Ok(back.into_iter().map(|(_, rank)| rank).collect()),
    }
}

/// The element before each.
fn before(next: &[u32]) -> Result<Vec<u32>, AlgoError> {
    counted(next.len())?;
    let part = part_of(next.len());
    if next.len() <= part {
        return before_by_loop(next);
    }
    let before = mapped(next.len(), |_| AtomicU32::new(NONE));
    // How many links a part has, if all lead to elements.
    let links = parallel::map(next.chunks(part), |number, next| {
        let mut links = 0;
        for (element, &next) in ((number * part) as u32..).zip(next).filter(|(_, next)| **next != NONE) {
            before.get(next as usize)?.store(element, Relaxed);
            links += 1;
        }
        Some(links)
    });
    let before: Vec<u32> = before.into_iter().map(AtomicU32::into_inner).collect();
    let reached =
        parallel::map(before.chunks(part), |_, before| before.iter().filter(|&&before| before != NONE).count());
    // Of two elements that one comes after, one is left.
    match links.into_iter().sum::<Option<usize>>() {
        Some(links) if links == reached.into_iter().sum() => Ok(before),
        _ => before_by_loop(next),
    }
}

/// The same on one thread, which finds the first link that is wrong.
fn before_by_loop(next: &[u32]) -> Result<Vec<u32>, AlgoError> {
    let mut before = filled(NONE, next.len())?;
    for (place, &after) in next.iter().enumerate().filter(|(_, next)| **next != NONE) {
        let expected = next.len();
        let Some(slot) = before.get_mut(after as usize) else {
            return Err(AlgoError::Index { argument: "next", place, expected, got: after as usize });
        };
        if *slot != NONE {
            return Err(AlgoError::Shared { element: after as usize, by: [*slot as usize, place] });
        }
        *slot = place as u32;
    }
    Ok(before)
}
