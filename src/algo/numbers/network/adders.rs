//! Sums, differences and order of integers by a prefix network of any kind.
//!
//! A lane takes the carry pair of a digit, (generate, propagate), and the network makes of it what
//! all digits up to there do with a carry: carry look-ahead, Ladner and Fischer 1980. More digits
//! than lanes go through in groups, and the carry out of one enters the next. a − b is the
//! complement of b plus that of a, and its borrow says whether a is less.
//!
//! ```text
//! monoid   Carry: c ↦ generate ∨ (propagate ∧ c), a lane a digit
//! cost     n digits, w lanes: work ⌈n / w⌉ · size, depth ⌈n / w⌉ · depth of the network, 1 pass,
//!          24 bytes a digit and 2 a lane; on one thread, to see networks at work
//! ```

use std::cmp::Ordering;

use super::Network;
use crate::algo::AlgoError;
use crate::ops::Carry;
use crate::prelude::*;

/// a + b in as many digits as the longer one has, and whether a carry leaves.
///
/// ```
/// use monoscan::algo::numbers::{Network, NetworkKind, add_by};
///
/// let network = Network::new(NetworkKind::BrentKung, 4);
/// assert_eq!(add_by(&network, &[u64::MAX; 6], &[1])?, (vec![0; 6], true));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::NoLanes`] if the network has none.
pub fn add_by(network: &Network, a: &[u64], b: &[u64]) -> Result<(Vec<u64>, bool), AlgoError> {
    add_flipped(network, a, b, 0)
}

/// a − b in as many digits as the longer one has, and whether a borrow leaves: then it is a − b + 2^(64 n).
///
/// ```
/// use monoscan::algo::numbers::{Network, NetworkKind, subtract_by};
///
/// let network = Network::new(NetworkKind::Sklansky, 4);
/// assert_eq!(subtract_by(&network, &[0, 0, 1], &[1])?, (vec![u64::MAX, u64::MAX, 0], false));
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`add_by`].
pub fn subtract_by(network: &Network, a: &[u64], b: &[u64]) -> Result<(Vec<u64>, bool), AlgoError> {
    add_flipped(network, a, b, u64::MAX)
}

/// Which of two numbers is greater, by their difference: digits of 0 at the top count for nothing.
///
/// ```
/// use monoscan::algo::numbers::{Network, NetworkKind, compare_by};
///
/// let network = Network::new(NetworkKind::KoggeStone, 2);
/// assert!(compare_by(&network, &[5, 1], &[9])?.is_gt());
/// assert!(compare_by(&network, &[5, 0, 0], &[5])?.is_eq());
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`add_by`].
pub fn compare_by(network: &Network, a: &[u64], b: &[u64]) -> Result<Ordering, AlgoError> {
    let (difference, is_less) = subtract_by(network, a, b)?;
    let is_more = !is_less && difference.iter().any(|&digit| digit != 0);
    Ok(is_more.cmp(&is_less))
}

/// (a ⊻ flip) + b, each digit of it ⊻ flip; and whether a carry leaves.
fn add_flipped(network: &Network, a: &[u64], b: &[u64], flip: u64) -> Result<(Vec<u64>, bool), AlgoError> {
    if network.width() == 0 {
        return Err(AlgoError::NoLanes);
    }
    let len = a.len().max(b.len());
    let digit = |digits: &[u64], place: usize| digits.get(place).copied().unwrap_or(0);
    let operands = |place: usize| (digit(a, place) ^ flip, digit(b, place));
    let (mut sums, mut enters) = (Vec::with_capacity(len), false);
    while sums.len() < len {
        let group = sums.len()..sums.len() + network.width();
        let carry = |place: usize| {
            let (a, b) = operands(place);
            Carry::of(a, b)
        };
        let mut lanes: Vec<Carry> = group.clone().map(carry).collect();
        network.apply(&mut lanes, |earlier, later| earlier.combine(*later))?;
        // What enters the group passes lanes that all propagate.
        let carry_into = |lane: usize| match lane.checked_sub(1) {
            None => enters,
            Some(before) => lanes[before].generate || (lanes[before].propagate && enters),
        };
        let inside = group.clone().take(len - group.start);
        sums.extend(inside.clone().map(|place| {
            let (a, b) = operands(place);
            a.wrapping_add(b).wrapping_add(carry_into(place - group.start).into()) ^ flip
        }));
        enters = carry_into(inside.len());
    }
    Ok((sums, enters))
}
