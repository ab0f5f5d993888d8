//! Quicksort of all segments at once: Blelloch 1990, §1.5.
//!
//! The array begins as one segment. At each level every segment picks a pivot, and its records go
//! to three segments: those below the pivot, equal to it, and above. A record's place in its part
//! is how many of its class came before it in its segment: one segmented scan of three counts.
//! Segments of a few records are sorted by comparisons. It ends when no segment has records below
//! or above its pivot.
//!
//! ```text
//! monoid   three counts, added up; segmented
//! program  class  ↦  one of that class; writes the count of the record's own class before it
//! cost     work 5 n a level; depth 3 scans a level: the totals of segments, ranks, and where the
//!          next segments begin; O(log n) levels expected
//! passes   5 a level: classes, totals, ranks, moves, and the copy back, which one thread makes, as
//!          it marks where segments begin
//! bytes    of keys of b: 5 b + 14 a record and level
//! ```
//!
//! Pivots are fixed picks: an input that is made for them takes n levels. [`sort`](super::sort())
//! is several times as fast; this is here for what it shows.

use monoscan_ir::{Program, Verified};
use rayon::prelude::*;

use super::{AlgoError, SortKey, compiled, counted, pieces};
use crate::Error;
use crate::ops::{Segmented, Sum};
use crate::prelude::*;

/// So few records of a segment are sorted by comparisons.
const SHORT: usize = 32;

/// How many records there are of each class.
#[scan_monoid]
#[derive(Clone, Copy)]
struct Counts {
    of: [u32; 3],
}

#[scan_monoid]
impl Monoid for Counts {
    fn identity() -> Self {
        Counts { of: [0; 3] }
    }

    fn combine(self, next: Self) -> Self {
        Counts { of: [self.of[0] + next.of[0], self.of[1] + next.of[1], self.of[2] + next.of[2]] }
    }
}

#[scan_fn]
fn one(class: u8) -> Counts {
    Counts { of: [(class == 0) as u32, (class == 1) as u32, (class == 2) as u32] }
}

#[scan_fn]
fn of_its_class(before: Counts, class: u8) -> u32 {
    match class {
        0 => before.of[0],
        1 => before.of[1],
        _ => before.of[2],
    }
}

#[scan_fn]
fn in_segment(head: bool, class: u8) -> Segmented<Counts> {
    Segmented { start: head, value: one(class) }
}

#[scan_fn]
fn ends(e: Element<(bool, u8), Segmented<Counts>>) -> bool {
    e.last || e.next.0
}

/// Sorts numbers, the least first; equal ones cannot be told apart. Gives how many levels there were.
///
/// ```
/// use monoscan::algo::sort::quicksort;
/// let mut x = [3, 1, 2, 3];
/// quicksort(&mut x)?;
/// assert_eq!(x, [1, 2, 3, 3]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`].
pub fn quicksort<K: SortKey>(keys: &mut [K]) -> Result<usize, AlgoError> {
    counted(keys.len())?;
    let (ranks, totals, sums) = (compiled(scan_of_ranks)?, compiled(scan_of_totals)?, compiled(scan_of_lengths)?);
    let mut next = keys.to_vec();
    let mut starts = vec![0];
    for level in 0.. {
        let mut classes = vec![0u8; keys.len()];
        // Segments are short at last, too short for a call through a pointer each.
        let segments = pieces(keys, &starts).into_par_iter().zip(pieces(&mut classes, &starts)).zip(&starts);
        segments.for_each(|((keys, classes), &start)| classify(keys, classes, (level, start)));

        let mut heads = vec![false; keys.len()];
        starts.iter().for_each(|&start| _ = heads.get_mut(start).map(|head| *head = true));
        let counts = totals.inclusive((&heads, &classes))?;
        if counts.iter().all(|&[less, _, greater]| less == 0 && greater == 0) {
            return Ok(level);
        }

        let ranks = ranks.segmented(&heads).exclusive(&classes)?;
        let from = pieces(keys, &starts).into_par_iter().zip(pieces(&mut classes, &starts)).zip(&starts);
        let to = pieces(&mut next, &starts).into_par_iter().zip(&counts);
        from.zip(to).for_each(|(((keys, classes), &start), (next, &[less, equal, _]))| {
            let parts = [0, less, less + equal];
            for ((key, class), rank) in keys.iter().zip(classes).zip(&ranks[start..]) {
                next[(parts[*class as usize] + rank) as usize] = *key;
            }
        });
        keys.copy_from_slice(&next);

        let lengths: Vec<u32> = counts.into_iter().flatten().filter(|&count| count > 0).collect();
        starts = sums.exclusive(&lengths)?.into_iter().map(|start| start as usize).collect();
    }
    unreachable!("the pivot leaves at least one record behind at each level")
}

fn scan_of_ranks() -> Result<Scan<Counts, (u8,), u32>, Error> {
    Scan::<Counts>::builder().lift(one {}).project_with_record(of_its_class {}).build()
}

/// A head and a class to the counts of each segment, at its last record.
type Totals = Scan<Segmented<Counts>, (bool, u8), [u32; 3]>;

fn scan_of_totals() -> Result<Totals, Error> {
    let counts = Scan::<Segmented<Counts>>::builder().lift(in_segment {}).filter(ends {});
    counts.project(scan!(|segment: Segmented<Counts>| -> [u32; 3] { segment.value.of })).build()
}

fn scan_of_lengths() -> Result<Scan<Sum<u64>, (u32,), u64>, Error> {
    let count = scan!(|count: u32| -> Sum<u64> { Sum(count as u64) });
    Scan::<Sum<u64>>::builder().lift(count).project(scan!(|sum: Sum<u64>| -> u64 { sum.0 })).build()
}

/// The programs of these scans.
pub(in crate::algo) fn programs() -> Result<[Verified<Program>; 3], Error> {
    let (ranks, totals, lengths) = (scan_of_ranks()?, scan_of_totals()?, scan_of_lengths()?);
    Ok([ranks.as_dyn(), totals.as_dyn(), lengths.as_dyn()].map(|scan| scan.program().clone()))
}

/// Compares the keys of a segment with a pivot; sorts those of a short one, which then counts as equal.
fn classify<K: SortKey>(keys: &mut [K], classes: &mut [u8], (level, start): (usize, usize)) {
    if keys.len() <= SHORT {
        keys.sort_unstable_by_key(|key| key.ordered());
        classes.fill(1);
        return;
    }
    // Fibonacci hashing spreads the picks.
    let pick = (level as u64 ^ (start as u64) << 8).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let pivot = keys[pick as usize % keys.len()].ordered();
    for (key, class) in keys.iter().zip(classes) {
        *class = match key.ordered().cmp(&pivot) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 2,
        };
    }
}
