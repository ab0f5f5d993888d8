//! Arithmetic modulo a prime: sums by one conditional subtraction, and hashes whose products take
//! 122 bits.

use monoscan::prelude::*;

use super::harness::Laws::Accepted;
use super::harness::{exactly, scans_like_the_loop};

const PRIME: u64 = (1 << 61) - 1;

/// Functions of a field, in a module of their own.
mod field {
    use monoscan::prelude::*;

    use super::PRIME;

    /// x modulo 2⁶¹ − 1, where 2⁶¹ = 1.
    #[scan_fn]
    pub(super) fn reduced(x: u64) -> u64 {
        let folded = (x & PRIME) + (x >> 61);
        if folded >= PRIME { folded - PRIME } else { folded }
    }

    #[scan_fn]
    pub(super) fn plus(a: u64, b: u64) -> u64 {
        reduced(a + b)
    }

    /// In halves of 32 bits: high·2⁶⁴ + middle·2³² + low.
    #[scan_fn]
    pub(super) fn times(a: u64, b: u64) -> u64 {
        let (a_low, a_high) = (a & 0xffff_ffff, a >> 32);
        let (b_low, b_high) = (b & 0xffff_ffff, b >> 32);
        let low = a_low * b_low;
        let middle = a_low * b_high + a_high * b_low;
        let high = a_high * b_high;
        let middle = ((middle & 0x1fff_ffff) << 32) + (middle >> 29);
        plus(plus(reduced(low), reduced(high << 3)), reduced(middle))
    }
}

/// A sum modulo 2⁶¹ − 1.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Residue {
    x: u64,
}

#[scan_monoid]
impl Monoid for Residue {
    fn identity() -> Self {
        Residue { x: 0 }
    }
    fn combine(self, next: Self) -> Self {
        let sum = self.x + next.x;
        Residue { x: if sum >= PRIME { sum - PRIME } else { sum } }
    }
    fn valid(self) -> bool {
        self.x < PRIME
    }
}

/// The hash of a string and the power of the base that shifts it (Rabin and Karp).
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct RabinKarp {
    hash: u64,
    power: u64,
}

#[scan_monoid]
impl Monoid for RabinKarp {
    fn identity() -> Self {
        RabinKarp { hash: 0, power: 1 }
    }
    fn combine(self, next: Self) -> Self {
        RabinKarp {
            hash: field::plus(field::times(self.hash, next.power), next.hash),
            power: field::times(self.power, next.power),
        }
    }
    fn valid(self) -> bool {
        self.hash < PRIME && self.power < PRIME
    }
}

#[test]
fn products_modulo_the_prime_are_exact() {
    let wide = |a: u64, b: u64| (a as u128 * b as u128 % PRIME as u128) as u64;
    for (a, b) in [(PRIME - 1, PRIME - 1), (1 << 60, 3), (123_456_789_012_345_678, 987_654_321_098_765_432)] {
        assert_eq!(field::times(a, b), wide(a, b));
    }
}

#[test]
fn residues_are_added() {
    scans_like_the_loop(Accepted, |r, _| Residue { x: r.below(PRIME) }, exactly);
}

#[test]
fn strings_are_hashed() {
    scans_like_the_loop(Accepted, |r, _| RabinKarp { hash: r.below(256), power: 31_000_000_217 }, exactly);
}
