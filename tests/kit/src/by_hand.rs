//! Operators that are written by hand, which others derive from loops.

use monoscan::ops::StateMap;
use monoscan::prelude::*;

/// The best sum of neighbours, so far and at either end; none is below 0, the sum of nothing.
#[scan_monoid]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Best<T> {
    pub sum: T,
    pub first: T,
    pub last: T,
    pub best: T,
}

#[scan_monoid]
impl<T: Num> Monoid for Best<T> {
    fn identity() -> Self {
        Best { sum: T::ZERO, first: T::ZERO, last: T::ZERO, best: T::ZERO }
    }

    fn combine(self, next: Self) -> Self {
        Best {
            sum: self.sum + next.sum,
            first: self.first.larger(self.sum + next.first),
            last: next.last.larger(self.last + next.sum),
            best: self.best.larger(next.best).larger(self.last + next.first),
        }
    }
}

/// Of one number.
#[scan_fn]
pub fn best_of(x: i32) -> Best<i32> {
    Best { sum: x, first: x.max(0), last: x.max(0), best: x.max(0) }
}

/// Of one number, in 64 bits: no sum of a stretch overflows where the loop does not.
#[scan_fn]
pub fn wide_best_of(x: i32) -> Best<i64> {
    let x = x as i64;
    Best { sum: x, first: x.max(0), last: x.max(0), best: x.max(0) }
}

/// Comments of C: outside, behind a slash, inside, behind a star inside.
#[scan_fn]
pub fn comments(s: u8, c: u8) -> u8 {
    match (s, c) {
        (0 | 1, b'/') => 1,
        (1, b'*') => 2,
        (2 | 3, b'*') => 3,
        (3, b'/') => 0,
        (2 | 3, _) => 2,
        _ => 0,
    }
}

/// Where each byte leads the states of [`struct@comments`].
pub fn moves_of_comments() -> Vec<StateMap<4>> {
    (0..=255).map(|byte| StateMap { to: std::array::from_fn(|s| comments(s as u8, byte)) }).collect()
}

/// The map of a byte.
#[scan_fn]
pub fn move_of(moves: Table<StateMap<4>>, byte: u8) -> StateMap<4> {
    moves.get(byte as u32)
}
