//! Brackets: their partners, and what encloses each place.
//!
//! The depth at a place is the sum of +1 and −1 so far, a scan. A bracket's *level* is the depth
//! inside it. Within a level brackets open and close in turn, so after a stable sort by level
//! partners are neighbours; one that has no neighbour of the other kind is unmatched. The same
//! sorted lists answer what encloses a place: the last bracket before it in the level above.
//!
//! ```text
//! monoid   sums of +1, −1, 0
//! program  keeps brackets; writes place and level
//! cost     work n, depth 1 scan and a radix sort of as many bytes as levels span; then 1 loop
//! ```
//!
//! What encloses a place is found by a binary search of a level: work n log n, depth 3 scans, that
//! sort and a loop.
//!
//! Source: Bar-On and Vishkin, *Optimal Parallel Generation of a Computation Tree Form* (TOPLAS
//! 1985), with a radix sort for their search.

use rayon::prelude::*;

use super::lists::NONE;
use super::sort::{Order, sort_with_values};
use super::{AlgoError, compiled, counted, runs};
use crate::ops::Sum;
use crate::prelude::*;

/// What a place is to brackets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ScanType)]
#[repr(u8)]
pub enum Side {
    /// Neither.
    #[default]
    Neither,
    /// It opens one.
    Open,
    /// It closes one.
    Close,
}

impl Side {
    /// `(`, `[` and `{` open, `)`, `]` and `}` close.
    pub fn of_byte(byte: u8) -> Side {
        match byte {
            b'(' | b'[' | b'{' => Side::Open,
            b')' | b']' | b'}' => Side::Close,
            _ => Side::Neither,
        }
    }
}

#[scan_fn]
fn step(side: Side) -> Sum<i32> {
    match side {
        Side::Open => Sum(1),
        Side::Close => Sum(-1),
        Side::Neither => Sum(0),
    }
}

#[scan_fn]
fn is_bracket(e: Element<Side, Sum<i32>>) -> bool {
    e.record != Side::Neither
}

/// The level, and the place.
#[scan_fn]
fn levelled(e: Element<Side, Sum<i32>>) -> (i32, u32) {
    (if e.record == Side::Open { e.after.0 } else { e.before.0 }, e.index as u32)
}

/// The place of each bracket's partner; [`NONE`] for one that is unmatched, and where there is no bracket.
///
/// ```
/// use monoscan::algo::{brackets::{Side, partners}, lists::NONE};
/// let sides: Vec<Side> = "(a())))".bytes().map(Side::of_byte).collect();
/// assert_eq!(partners(&sides)?, [4, NONE, 3, 2, 0, NONE, NONE]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::TooLong`] for 2³¹ places and more.
pub fn partners(sides: &[Side]) -> Result<Vec<u32>, AlgoError> {
    let (levels, places, _) = by_level(sides)?;
    let mut partners = vec![NONE; sides.len()];
    for (pair, levels) in places.windows(2).zip(levels.windows(2)) {
        let [open, close] = [pair[0] as usize, pair[1] as usize];
        if levels[0] == levels[1] && sides[open] == Side::Open {
            (partners[open], partners[close]) = (pair[1], pair[0]);
        }
    }
    Ok(partners)
}

/// The place of the nearest bracket before each place that is open there; [`NONE`] if none is. A bracket does not enclose itself
/// or its partner.
///
/// ```
/// use monoscan::algo::{brackets::{Side, enclosing}, lists::NONE};
/// let sides: Vec<Side> = "(a(b)c)d".bytes().map(Side::of_byte).collect();
/// assert_eq!(enclosing(&sides)?, [NONE, 0, 0, 2, 0, 0, NONE, NONE]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// As [`partners`].
pub fn enclosing(sides: &[Side]) -> Result<Vec<u32>, AlgoError> {
    let depths = compiled(|| {
        let depth = scan!(|depth: Sum<i32>| -> i32 { depth.0 });
        Scan::<Sum<i32>>::builder().lift(step {}).project(depth).build()
    })?;
    let (levels, places, least) = by_level(sides)?;
    let (levels, counts) = runs::encode(&levels)?;
    let ends = compiled(Scan::<Sum<u32>>::plain)?.inclusive(&counts)?;
    let at_level = |level: i32| {
        let Ok(found) = levels.binary_search(&(level.wrapping_sub(least) as u32)) else { return &[][..] };
        &places[(ends[found] - counts[found]) as usize..ends[found] as usize]
    };
    let enclosing = |((place, &side), depth): ((u32, &Side), i32)| {
        let outside = if side == Side::Open { depth - 1 } else { depth };
        let level = at_level(outside);
        let before = level.partition_point(|&bracket| bracket < place);
        let nearest = before.checked_sub(1).map(|last| level[last]);
        nearest.filter(|&bracket| sides[bracket as usize] == Side::Open).unwrap_or(NONE)
    };
    let depths = depths.inclusive(sides)?;
    Ok((0..sides.len() as u32).into_par_iter().zip(sides).zip(depths).map(enclosing).collect())
}

/// Brackets sorted by level, in their order within each: levels above the least one, places, and the least level.
fn by_level(sides: &[Side]) -> Result<(Vec<u32>, Vec<u32>, i32), AlgoError> {
    // A level is an `i32`.
    if counted(sides.len())? > i32::MAX as u32 {
        return Err(AlgoError::TooLong { len: sides.len(), limit: 1 << 31 });
    }
    let scan = compiled(|| {
        let brackets = Scan::<Sum<i32>>::builder().lift(step {}).filter(is_bracket {});
        brackets.project_at(levelled {}).unzip().build()
    })?;
    let (levels, mut places) = scan.inclusive(sides)?;
    // From the least level on, greater bytes are all 0, and the sort skips them.
    let least = levels.iter().copied().min().unwrap_or(0);
    let mut levels: Vec<u32> = levels.into_iter().map(|level| level.abs_diff(least)).collect();
    sort_with_values(&mut levels, &mut places, Order::Ascending)?;
    Ok((levels, places, least))
}
