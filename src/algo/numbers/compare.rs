//! The order of integers of any length.
//!
//! Of two digits that differ the higher one decides which number is greater. That is a monoid, as
//! Blelloch 1990, §1, compares strings. The top 16 digits are reduced, then twice as many below
//! them, and so on; what takes longer than to wake a thread, in blocks on all threads. So a loop
//! that stops at the first difference looks at half as many digits or more.
//!
//! ```text
//! monoid   Ordering::then: of the higher and the lower order the higher, unless that is Equal
//! cost     work n down to the first difference, depth log(n / 16) loops, 1 pass
//! bytes    16 read of each pair of digits
//! ```

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::parallel;

/// Digits of a block.
const BLOCK: usize = 1 << 13;

/// Digits at the top that are looked at first.
const FIRST: usize = 16;

/// Digits of a group that one thread looks at: to wake another takes as long.
const ALONE: usize = 1 << 16;

/// Which of two numbers is greater; digits of 0 at the top count for nothing. Reads the digits from the top to the
/// highest that differs, and at most 16 and as many again below it.
///
/// ```
/// use monoscan::algo::numbers::compare;
/// assert!(compare(&[5, 1], &[9]).is_gt() && compare(&[5, 0], &[5]).is_eq());
/// ```
pub fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let (a_common, a_more) = a.split_at(a.len().min(b.len()));
    let (b_common, b_more) = b.split_at(a_common.len());
    let is_zero = |digits: &[u64]| digits.iter().all(|&digit| digit == 0);
    let has_more = |digits: &[u64]| from_top(digits.len(), |block| true.cmp(&is_zero(&digits[block])));
    let more = if a.len() == b.len() { Ordering::Equal } else { has_more(a_more).then(has_more(b_more).reverse()) };
    let below = || from_top(a_common.len(), |block| compare_block(&a_common[block.clone()], &b_common[block]));
    more.then_with(below)
}

/// The order that `of` has for the highest block for which that is not equal.
#[inline]
fn from_top(len: usize, of: impl Fn(Range<usize>) -> Ordering + Sync) -> Ordering {
    let end = len.saturating_sub(FIRST);
    let first = of(end..len);
    if first.is_ne() || end == 0 { first } else { in_groups(end, &of) }
}

/// The same below the top digits, in groups of twice as many each.
fn in_groups(len: usize, of: &(dyn Fn(Range<usize>) -> Ordering + Sync)) -> Ordering {
    let (mut end, mut group) = (len, 2 * FIRST);
    while end > 0 {
        let start = end.saturating_sub(group);
        let order = if end - start <= ALONE { of(start..end) } else { of_blocks(start..end, of) };
        if order.is_ne() {
            return order;
        }
        (end, group) = (start, 2 * group);
    }
    Ordering::Equal
}

/// The same of a group whose blocks all threads look at, but for those below a block that decides.
fn of_blocks(group: Range<usize>, of: &(dyn Fn(Range<usize>) -> Ordering + Sync)) -> Ordering {
    let decides = AtomicUsize::new(usize::MAX);
    let block = |number: usize, end: usize| {
        if number > decides.load(Relaxed) {
            return Ordering::Equal;
        }
        let order = of(end.saturating_sub(BLOCK).max(group.start)..end);
        if order.is_ne() {
            decides.fetch_min(number, Relaxed);
        }
        order
    };
    let ends = (group.start + 1..=group.end).rev().step_by(BLOCK);
    parallel::map(ends, block).into_iter().fold(Ordering::Equal, Ordering::then)
}

/// The order of as many digits: eight at a time, as long as they are equal.
fn compare_block(a: &[u64], b: &[u64]) -> Ordering {
    let order = |a: &[u64], b: &[u64]| a.iter().rev().cmp(b.iter().rev());
    if a.len() <= FIRST {
        return order(a, b);
    }
    let ((a_rest, a), (b_rest, b)) = (a.as_rchunks::<8>(), b.as_rchunks::<8>());
    match a.iter().zip(b).rev().find(|(a, b)| a != b) {
        Some((a, b)) => order(a, b),
        None => order(a_rest, b_rest),
    }
}
