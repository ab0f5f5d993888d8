//! A zoo of monoids: each catches what sums cannot, and each is run through every entry point at
//! every boundary size.

use monoscan::prelude::*;

/// Order: a product of `)` and `(` that cancels only where they meet. Not commutative.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bicyclic {
    pub closing: u32,
    pub opening: u32,
}

#[scan_monoid]
impl Monoid for Bicyclic {
    fn identity() -> Self {
        Bicyclic { closing: 0, opening: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let matched = self.opening.min(next.closing);
        Bicyclic { closing: self.closing + (next.closing - matched), opening: next.opening + (self.opening - matched) }
    }
}

/// Adjacency: intervals of indexes. Any merge of two that do not touch is counted, so a duplicate, a gap, a swap or
/// padding that reaches `combine` shows in the last result.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub empty: bool,
    pub start: u32,
    pub end: u32,
    pub broken: u32,
}

#[scan_monoid]
impl Monoid for Interval {
    fn identity() -> Self {
        Interval { empty: true, start: 0, end: 0, broken: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let broken = self.broken + next.broken;
        if self.empty {
            Interval { broken, ..next }
        } else if next.empty {
            Interval { broken, ..self }
        } else {
            let gap = if self.end == next.start { 0 } else { 1 };
            Interval { empty: false, start: self.start, end: next.end, broken: broken + gap }
        }
    }
    fn valid(self) -> bool {
        !self.empty || (self.start == 0 && self.end == 0)
    }
}

/// x ↦ a·x + b over any scalar.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine<T> {
    pub a: T,
    pub b: T,
}

#[scan_monoid]
impl<T: Real> Monoid for Affine<T> {
    fn identity() -> Self {
        Affine { a: T::ONE, b: T::ZERO }
    }
    fn combine(self, next: Self) -> Self {
        Affine { a: next.a * self.a, b: next.a * self.b + next.b }
    }
}

/// N×N matrices of wrapping integers: exact and not commutative.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matrix<const N: usize> {
    pub m: [[u32; N]; N],
}

#[scan_monoid]
impl<const N: usize> Monoid for Matrix<N> {
    fn identity() -> Self {
        let mut m = [[0; N]; N];
        for i in 0..N {
            m[i][i] = 1;
        }
        Matrix { m }
    }
    fn combine(self, next: Self) -> Self {
        let mut m = [[0; N]; N];
        for i in 0..N {
            for j in 0..N {
                let mut sum = 0u32;
                for k in 0..N {
                    sum = sum.wrapping_add(next.m[i][k].wrapping_mul(self.m[k][j]));
                }
                m[i][j] = sum;
            }
        }
        Matrix { m }
    }
}

/// 3×3 matrices with ones on the diagonal and zeros below: order shows in one corner alone, and in small numbers.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unitriangular {
    pub a: i32,
    pub b: i32,
    pub corner: i32,
}

#[scan_monoid]
impl Monoid for Unitriangular {
    fn identity() -> Self {
        Unitriangular { a: 0, b: 0, corner: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Unitriangular { a: self.a + next.a, b: self.b + next.b, corner: self.corner + next.corner + self.a * next.b }
    }
}

/// 2×2 matrices modulo a prime: nothing wraps, and nothing is lost.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modular {
    pub m: [[u64; 2]; 2],
}

pub const PRIME: u64 = 1_000_003;

#[scan_monoid]
impl Monoid for Modular {
    fn identity() -> Self {
        Modular { m: [[1, 0], [0, 1]] }
    }
    fn combine(self, next: Self) -> Self {
        let mut m = [[0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                m[i][j] = (next.m[i][0] * self.m[0][j] + next.m[i][1] * self.m[1][j]) % PRIME;
            }
        }
        Modular { m }
    }
    fn valid(self) -> bool {
        self.m[0][0] < PRIME && self.m[0][1] < PRIME && self.m[1][0] < PRIME && self.m[1][1] < PRIME
    }
}

/// The polynomial hash of a string and the power that shifts it.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hash {
    pub hash: u64,
    pub power: u64,
}

#[scan_monoid]
impl Monoid for Hash {
    fn identity() -> Self {
        Hash { hash: 0, power: 1 }
    }
    fn combine(self, next: Self) -> Self {
        Hash {
            hash: self.hash.wrapping_mul(next.power).wrapping_add(next.hash),
            power: self.power.wrapping_mul(next.power),
        }
    }
}

/// The greatest value and where it stands; ties keep the leftmost.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArgMax {
    pub value: i16,
    pub place: u32,
}

#[scan_monoid]
impl Monoid for ArgMax {
    fn identity() -> Self {
        ArgMax { value: i16::MIN, place: u32::MAX }
    }
    fn combine(self, next: Self) -> Self {
        if next.value > self.value || (next.value == self.value && next.place < self.place) { next } else { self }
    }
}

/// A scan that starts over wherever `start` is set.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segmented<M> {
    pub start: bool,
    pub value: M,
}

#[scan_monoid]
impl<M: Monoid> Monoid for Segmented<M> {
    fn identity() -> Self {
        Segmented { start: false, value: M::identity() }
    }
    fn combine(self, next: Self) -> Self {
        Segmented {
            start: self.start || next.start,
            value: if next.start { next.value } else { self.value.combine(next.value) },
        }
    }
}

/// Carries of an addition: what two bits do to the carry that enters them.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carry {
    pub generate: bool,
    pub propagate: bool,
}

#[scan_monoid]
impl Monoid for Carry {
    fn identity() -> Self {
        Carry { generate: false, propagate: true }
    }
    fn combine(self, next: Self) -> Self {
        Carry {
            generate: next.generate || (next.propagate && self.generate),
            propagate: self.propagate && next.propagate,
        }
    }
}

/// Sixteen sums side by side: a state of 128 bytes.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    pub sums: [u64; 16],
}

#[scan_monoid]
impl Monoid for Wide {
    fn identity() -> Self {
        Wide { sums: [0; 16] }
    }
    fn combine(self, next: Self) -> Self {
        let mut sums = [0; 16];
        for i in 0..16 {
            sums[i] = self.sums[i].wrapping_add(next.sums[i]);
        }
        Wide { sums }
    }
}

/// Words: runs of neighbours that are in one. The count reads both sides of the boundary.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Words {
    pub any: bool,
    pub first: bool,
    pub last: bool,
    pub count: u32,
}

#[scan_monoid]
impl Monoid for Words {
    fn identity() -> Self {
        Words { any: false, first: false, last: false, count: 0 }
    }
    fn combine(self, next: Self) -> Self {
        Words {
            any: self.any || next.any,
            first: if self.any { self.first } else { next.first },
            last: if next.any { next.last } else { self.last },
            count: self.count + next.count - (self.last && next.first) as u32,
        }
    }
    fn valid(self) -> bool {
        self.any || (!self.first && !self.last && self.count == 0)
    }
}

/// Times: whether they ascend, and the widest gap between neighbours. Four components of three widths.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaps {
    pub any: bool,
    pub ascending: bool,
    pub first: u16,
    pub last: u16,
    pub widest: u32,
}

#[scan_monoid]
impl Monoid for Gaps {
    fn identity() -> Self {
        Gaps { any: false, ascending: true, first: 0, last: 0, widest: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let meet = self.any && next.any;
        let gap = if meet { (next.first as u32).abs_diff(self.last as u32) } else { 0 };
        Gaps {
            any: self.any || next.any,
            ascending: self.ascending && next.ascending && (!meet || self.last <= next.first),
            first: if self.any { self.first } else { next.first },
            last: if next.any { next.last } else { self.last },
            widest: self.widest.max(next.widest).max(gap),
        }
    }
    fn valid(self) -> bool {
        self.any || (self.ascending && self.first == 0 && self.last == 0 && self.widest == 0)
    }
}

/// A switch, as an enum with a negative number: the last that was set. Not commutative.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Switch {
    Off = -1,
    Unset = 0,
    On = 7,
}

#[scan_monoid]
impl Monoid for Switch {
    fn identity() -> Self {
        Switch::Unset
    }
    fn combine(self, next: Self) -> Self {
        if next == Switch::Unset {
            return self;
        }
        next
    }
}
