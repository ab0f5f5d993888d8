//! Operators on choices, words and bits: wrappers, automata, counters.

use monoscan::prelude::*;

use super::harness::Laws::{Accepted, Proved};
use super::harness::{exactly, scans_like_the_loop};
use scan_kit::Random;

/// The least value and its first place.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct ArgMinTie {
    v: i32,
    i: u64,
}
#[scan_monoid]
impl Monoid for ArgMinTie {
    fn identity() -> Self {
        ArgMinTie { v: i32::MAX, i: u64::MAX }
    }
    fn combine(self, next: Self) -> Self {
        match (next.v < self.v, next.v == self.v) {
            (true, _) => next,
            (false, true) if next.i < self.i => next,
            _ => self,
        }
    }
}

/// Starts again where `start` is set.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segmented<M> {
    start: bool,
    value: M,
}
#[scan_monoid]
impl<M: Monoid> Monoid for Segmented<M> {
    fn identity() -> Self {
        Segmented { start: false, value: M::identity() }
    }
    fn combine(self, next: Self) -> Self {
        let value = if next.start { next.value } else { self.value.combine(next.value) };
        Segmented { start: self.start || next.start, value }
    }
    fn valid(self) -> bool {
        self.value.valid()
    }
}

/// Monoids side by side, in a struct, a tuple and an array.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Both<A, B> {
    a: A,
    b: (B, [A; 2]),
}
#[scan_monoid]
impl<A: Monoid, B: Monoid> Monoid for Both<A, B> {
    fn identity() -> Self {
        Both { a: A::identity(), b: (B::identity(), [A::identity(); 2]) }
    }
    fn combine(self, next: Self) -> Self {
        let mut pair = self.b.1;
        for i in 0..2 {
            pair[i] = pair[i].combine(next.b.1[i]);
        }
        Both { a: self.a.combine(next.a), b: (self.b.0.combine(next.b.0), pair) }
    }
    fn valid(self) -> bool {
        self.a.valid() && self.b.0.valid() && self.b.1[0].valid() && self.b.1[1].valid()
    }
}

/// Depth of brackets: where it ends, and the least it had.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Depth {
    low: i64,
    end: i64,
}
#[scan_monoid]
impl Monoid for Depth {
    fn identity() -> Self {
        Depth { low: 0, end: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Depth { low: self.low.min(self.end + next.low), end: self.end + next.end }
    }
    fn valid(self) -> bool {
        self.low <= 0 && self.low <= self.end
    }
}

/// The longest run of ones.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    len: u32,
    prefix: u32,
    suffix: u32,
    best: u32,
}
#[scan_monoid]
impl Monoid for Run {
    fn identity() -> Self {
        Run { len: 0, prefix: 0, suffix: 0, best: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let prefix = if self.prefix == self.len { self.len + next.prefix } else { self.prefix };
        let suffix = if next.suffix == next.len { next.len + self.suffix } else { next.suffix };
        let best = self.best.max(next.best).max(self.suffix + next.prefix);
        Run { len: self.len + next.len, prefix, suffix, best }
    }
    fn valid(self) -> bool {
        let Run { len, prefix, suffix, best } = self;
        // All ones, or a zero after the prefix and before the suffix, with space for a longer run between them.
        let all = prefix == len && suffix == len && best == len;
        let ends = prefix as u64 + suffix as u64;
        let inner = best == prefix.max(suffix) || ends + best as u64 + 2 <= len as u64;
        all || (ends < len as u64 && best >= prefix.max(suffix) && inner)
    }
}

/// The effect of two bits on the carry that enters them.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Carry {
    g: bool,
    p: bool,
}
#[scan_monoid]
impl Monoid for Carry {
    fn identity() -> Self {
        Carry { g: false, p: true }
    }
    fn combine(self, next: Self) -> Self {
        Carry { g: next.g || next.p && self.g, p: self.p && next.p }
    }
}

const ADD7: Table<u8> = Table::new(&[
    0, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 0, 2, 3, 4, 5, 6, 0, 1, 3, 4, 5, 6, 0, 1, 2, 4, 5, 6, 0, 1, 2, 3, 5, 6, 0,
    1, 2, 3, 4, 6, 0, 1, 2, 3, 4, 5,
]);

/// Days of the week, added by a table.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weekday {
    d: u8,
}
#[scan_monoid]
impl Monoid for Weekday {
    fn identity() -> Self {
        Weekday { d: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Weekday { d: ADD7.get(self.d as u32 * 7 + next.d as u32) }
    }
    fn valid(self) -> bool {
        self.d < 7
    }
}

/// A counter that stops at its greatest value.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct SatU {
    c: u16,
}
#[scan_monoid]
impl Monoid for SatU {
    fn identity() -> Self {
        SatU { c: 0 }
    }
    fn combine(self, next: Self) -> Self {
        SatU { c: self.c.saturating_add(next.c) }
    }
}

/// x ↦ clamp(x + add, lo, hi)
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Clamp {
    add: i32,
    lo: i32,
    hi: i32,
}
#[scan_monoid]
impl Monoid for Clamp {
    fn identity() -> Self {
        Clamp { add: 0, lo: -1_000_000_000, hi: 1_000_000_000 }
    }
    fn combine(self, next: Self) -> Self {
        Clamp {
            add: self.add.saturating_add(next.add),
            lo: self.lo.saturating_add(next.add).clamp(next.lo, next.hi),
            hi: self.hi.saturating_add(next.add).clamp(next.lo, next.hi),
        }
    }
    fn valid(self) -> bool {
        self.lo <= self.hi && self.add.abs() < 1000 && self.lo >= -1_000_000_000 && self.hi <= 1_000_000_000
    }
}

/// A sum of words, each rotated by all that follow.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rot {
    by: u32,
    x: u32,
}
#[scan_monoid]
impl Monoid for Rot {
    fn identity() -> Self {
        Rot { by: 0, x: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Rot { by: (self.by + next.by) % 32, x: self.x.rotate_left(next.by) ^ next.x }
    }
    fn valid(self) -> bool {
        self.by < 32
    }
}

/// Bit tricks side by side.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pop {
    ones: u64,
    or: u64,
    and: u64,
    xor: u64,
}
#[scan_monoid]
impl Monoid for Pop {
    fn identity() -> Self {
        Pop { ones: 0, or: 0, and: !0, xor: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Pop {
            ones: self.ones.wrapping_add(next.ones),
            or: self.or | next.or,
            and: self.and & next.and,
            xor: self.xor ^ next.xor,
        }
    }
}

/// The last value that was there.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Last {
    some: bool,
    x: f32,
}
#[scan_monoid]
impl Monoid for Last {
    fn identity() -> Self {
        Last { some: false, x: 0.0 }
    }
    fn combine(self, next: Self) -> Self {
        if next.some { next } else { self }
    }
    fn valid(self) -> bool {
        self.some || self.x == 0.0
    }
}

/// Euclid's algorithm, unrolled.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gcd {
    g: u8,
}
#[scan_monoid]
impl Monoid for Gcd {
    fn identity() -> Self {
        Gcd { g: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let (mut a, mut b) = (self.g, next.g);
        for _ in 0..13 {
            let r = if b == 0 { a } else { a % b };
            if b != 0 {
                a = b;
                b = r;
            }
        }
        Gcd { g: a }
    }
}

/// Maps between four states, composed.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Map4 {
    m: [u8; 4],
}
#[scan_monoid]
impl Monoid for Map4 {
    fn identity() -> Self {
        Map4 { m: [0, 1, 2, 3] }
    }
    fn combine(self, next: Self) -> Self {
        let mut m = [0u8; 4];
        for i in 0..4 {
            m[i] = match self.m[i] {
                0 => next.m[0],
                1 => next.m[1],
                2 => next.m[2],
                3..=u8::MAX => next.m[3],
            };
        }
        Map4 { m }
    }
    fn valid(self) -> bool {
        self.m[0] < 4 && self.m[1] < 4 && self.m[2] < 4 && self.m[3] < 4
    }
}

#[test]
fn ties_go_to_the_first() {
    scans_like_the_loop(Accepted, |r, i| ArgMinTie { v: r.below(1000), i: i as u64 }, exactly);
}

#[test]
fn wrappers_nest() {
    let run = |r: &mut Random| {
        let one = u32::from(r.below(5) > 0);
        Run { len: 1, prefix: one, suffix: one, best: one }
    };
    scans_like_the_loop(Accepted, |r, _| run(r), exactly);
    let start = |r: &mut Random, bound| r.below(bound) == 0;
    let nested =
        |r: &mut Random, _| Segmented { start: start(r, 100), value: Segmented { start: start(r, 7), value: run(r) } };
    scans_like_the_loop(Accepted, nested, exactly);
    let carry = |r: &mut Random| Carry { g: start(r, 40), p: !start(r, 8) };
    let both = |r: &mut Random, _| Both { a: carry(r), b: (run(r), [carry(r), carry(r)]) };
    scans_like_the_loop(Accepted, both, exactly);
}

#[test]
fn brackets_have_a_depth() {
    let make = |r: &mut Random, _| if r.below(2) == 0 { Depth { low: -1, end: -1 } } else { Depth { low: 0, end: 1 } };
    scans_like_the_loop(Accepted, make, exactly);
}

#[test]
fn carries_ripple() {
    scans_like_the_loop(Proved, |r, _| Carry { g: r.below(40) == 0, p: r.below(8) != 0 }, exactly);
}

#[test]
fn automata_by_table_and_by_match() {
    scans_like_the_loop(Accepted, |r, _| Weekday { d: r.below(7) as u8 }, exactly);
    scans_like_the_loop(Accepted, |r, _| Map4 { m: std::array::from_fn(|_| r.below(4) as u8) }, exactly);
}

#[test]
fn counters_that_stop() {
    scans_like_the_loop(Proved, |r, _| SatU { c: if r.below(50) == 0 { 100 } else { 0 } }, exactly);
    // Bounds that are to be large enough for ever are not: a sum of `add` leaves the valid states, and at the bounds
    // the identity is none.
    let error = Scan::<Clamp>::new().unwrap_err().to_string();
    assert!(error.contains("leaves the valid states"), "{error}");
}

#[test]
fn bits_turn_and_count() {
    scans_like_the_loop(Accepted, |r, _| Rot { by: r.below(32) as u32, x: r.bits() as u32 }, exactly);
    let make = |r: &mut Random, _| {
        let x = r.bits();
        Pop { ones: x.count_ones() as u64, or: x, and: !(1 << (x % 64)), xor: x }
    };
    scans_like_the_loop(Proved, make, exactly);
}

#[test]
fn the_last_value_and_the_common_divisor() {
    let make = |r: &mut Random, _| match r.below(5) {
        0 => Last { some: true, x: r.unit() as f32 },
        _ => Last { some: false, x: 0.0 },
    };
    scans_like_the_loop(Accepted, make, exactly);
    scans_like_the_loop(Accepted, |r, _| Gcd { g: 2 * r.below(100) as u8 }, exactly);
}
