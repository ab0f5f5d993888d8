//! A monoid that uses most of the language at once.

use monoscan::prelude::*;

use super::agree::monoid;
use super::generic::{Affine, Segmented};

const WEIGHTS: [f32; 3] = [0.5, -1.5, 2.0];

#[scan_fn]
fn mix(x: u64, by: u32) -> u64 {
    (x ^ x >> 29).rotate_left(by).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kitchen {
    hash: u64,
    n: i32,
    f: f32,
    g: f64,
    ok: bool,
    arr: [f32; 3],
    pair: (u8, i16),
    inner: Segmented<Affine<f32>>,
}

#[scan_monoid]
impl Monoid for Kitchen {
    fn identity() -> Self {
        Kitchen { hash: 0, n: 0, f: 0.0, g: 0.0, ok: true, arr: [0.0; 3], pair: (0, 0), inner: Monoid::identity() }
    }

    fn combine(self, next: Self) -> Self {
        let Kitchen { hash, n, .. } = self;
        let hash = hash.wrapping_add(next.hash.rotate_left(5)) & ((1 << 60) - 1);
        let hash = mix(hash ^ !0 >> 3, 7);
        let mut n = n.wrapping_mul(-3);
        let mut f = 2.0 * self.f;
        let mut arr = self.arr;
        if next.n > n && next.ok || !(self.g != next.g) {
            n = n.wrapping_add(1);
            let f2 = f + 1.0;
            f = f2;
            let mut n = 7;
            n |= next.n;
            f += n as f32;
            for i in 0..3 {
                if i != 1 {
                    arr[i] = WEIGHTS[i] * next.arr[2 - i] + (i as f32);
                } else {
                    arr[i] = -0.25;
                }
            }
        } else if next.f < 0.0 {
            f = (next.f.abs() + f).mul_add(1.5, 0.5);
        } else {
            n = n.wrapping_sub(next.n.min(4));
        }
        let (t0, t1) = next.pair;
        let k = match t0 {
            0 => 10,
            1 | 2 => t1,
            3..=9 if self.ok => !t1,
            x => x as i16,
        };
        let q = if t0 != 0 { 100 / t0 } else { 0 };
        let g = {
            let f = if next.ok { self.g } else { next.g };
            f + hash.count_ones() as f64
        };
        Kitchen { hash, n, f, arr, g, ok: self.ok && next.ok, pair: (q, k), inner: self.inner.combine(next.inner) }
    }

    fn valid(self) -> bool {
        self.hash < 1 << 60 && !self.f.is_nan() && self.arr[0] >= 0.0
    }
}

#[test]
fn the_kitchen_sink_agrees() {
    monoid::<Kitchen>();
}
