//! Operators on numbers: sums, products, statistics, paths.

use monoscan::prelude::*;

use super::harness::Laws::{Accepted, Proved};
use super::harness::{close, exactly, scans_like_the_loop};
use scan_kit::Random;

/// Sums of any number type.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sum<T> {
    s: T,
}
#[scan_monoid]
impl<T: Num> Monoid for Sum<T> {
    fn identity() -> Self {
        Sum { s: T::ZERO }
    }
    fn combine(self, next: Self) -> Self {
        Sum { s: self.s + next.s }
    }
}

/// The least and the greatest.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct MinMax<T> {
    lo: T,
    hi: T,
}
#[scan_monoid]
impl<T: Num> Monoid for MinMax<T> {
    fn identity() -> Self {
        MinMax { lo: T::HIGHEST, hi: T::LOWEST }
    }
    fn combine(self, next: Self) -> Self {
        MinMax { lo: self.lo.smaller(next.lo), hi: self.hi.larger(next.hi) }
    }
}

/// x ↦ a·x + b
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Affine<T> {
    a: T,
    b: T,
}
#[scan_monoid]
impl<T: Num> Monoid for Affine<T> {
    fn identity() -> Self {
        Affine { a: T::ONE, b: T::ZERO }
    }
    fn combine(self, next: Self) -> Self {
        Affine { a: next.a * self.a, b: next.a * self.b + next.b }
    }
}

/// Products of complex numbers.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}
#[scan_monoid]
impl Monoid for Complex {
    fn identity() -> Self {
        Complex { re: 1.0, im: 0.0 }
    }
    fn combine(self, n: Self) -> Self {
        Complex { re: self.re * n.re - self.im * n.im, im: self.re * n.im + self.im * n.re }
    }
}

/// Products of quaternions: rotations, in order.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quaternion([f64; 4]);
#[scan_monoid]
impl Monoid for Quaternion {
    fn identity() -> Self {
        Quaternion([1.0, 0.0, 0.0, 0.0])
    }
    fn combine(self, next: Self) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = next.0;
        Quaternion([
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ])
    }
}

/// Products of matrices of any size.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mat<T, const N: usize> {
    m: [[T; N]; N],
}
#[scan_monoid]
impl<T: Num, const N: usize> Monoid for Mat<T, N> {
    fn identity() -> Self {
        let mut m = [[T::ZERO; N]; N];
        for i in 0..N {
            m[i][i] = T::ONE;
        }
        Mat { m }
    }
    fn combine(self, next: Self) -> Self {
        let mut m = [[T::ZERO; N]; N];
        for i in 0..N {
            for j in 0..N {
                for k in 0..N {
                    m[i][j] += next.m[i][k] * self.m[k][j];
                }
            }
        }
        Mat { m }
    }
}

/// Count, mean and sum of squared deviations (Chan).
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moments {
    n: f64,
    mean: f64,
    m2: f64,
}
#[scan_monoid]
impl Monoid for Moments {
    fn identity() -> Self {
        Moments { n: 0.0, mean: 0.0, m2: 0.0 }
    }
    fn combine(self, next: Self) -> Self {
        let n = self.n + next.n;
        let d = next.mean - self.mean;
        let w = if n > 0.0 { next.n / n } else { 0.0 };
        Moments { n, mean: self.mean + d * w, m2: self.m2 + next.m2 + d * d * self.n * w }
    }
    fn valid(self) -> bool {
        self.n >= 0.0 && self.m2 >= 0.0 && (self.n > 0.0 || (self.mean == 0.0 && self.m2 == 0.0))
    }
}

/// ln(eˣ + eʸ), with −∞ for no summand.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogSumExp {
    x: f64,
}
#[scan_monoid]
impl Monoid for LogSumExp {
    fn identity() -> Self {
        LogSumExp { x: f64::NEG_INFINITY }
    }
    fn combine(self, next: Self) -> Self {
        let top = self.x.max(next.x);
        let low = self.x.min(next.x);
        LogSumExp { x: if top == f64::NEG_INFINITY { top } else { top + (1.0 + (low - top).exp()).ln() } }
    }
}

/// The greatest exponent, and the sum relative to it.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Online {
    m: f64,
    s: f64,
}
#[scan_monoid]
impl Monoid for Online {
    fn identity() -> Self {
        Online { m: f64::NEG_INFINITY, s: 0.0 }
    }
    fn combine(self, next: Self) -> Self {
        let m = self.m.max(next.m);
        let a = if self.m == f64::NEG_INFINITY { 0.0 } else { self.s * (self.m - m).exp() };
        let b = if next.m == f64::NEG_INFINITY { 0.0 } else { next.s * (next.m - m).exp() };
        Online { m, s: a + b }
    }
    fn valid(self) -> bool {
        if self.m == f64::NEG_INFINITY { self.s == 0.0 } else { self.s >= 0.0 }
    }
}

/// (max, +) matrices over integers, where `i64::MIN` is −∞.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct MaxPlus {
    m: [[i64; 3]; 3],
}
#[scan_monoid]
impl Monoid for MaxPlus {
    fn identity() -> Self {
        let mut m = [[i64::MIN; 3]; 3];
        for i in 0..3 {
            m[i][i] = 0;
        }
        MaxPlus { m }
    }
    fn combine(self, next: Self) -> Self {
        let mut m = [[i64::MIN; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                for k in 0..3 {
                    let (a, b) = (self.m[i][k], next.m[k][j]);
                    let sum = if a == i64::MIN || b == i64::MIN { i64::MIN } else { a.wrapping_add(b) };
                    m[i][j] = m[i][j].max(sum);
                }
            }
        }
        MaxPlus { m }
    }
    fn valid(self) -> bool {
        let mut ok = true;
        for row in self.m {
            for x in row {
                ok &= x == i64::MIN || (x > -1_000_000_000_000 && x < 1_000_000_000_000);
            }
        }
        ok
    }
}

/// (max, +) matrices over floats.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct MaxPlusF {
    m: [[f64; 2]; 2],
}
#[scan_monoid]
impl Monoid for MaxPlusF {
    fn identity() -> Self {
        let mut m = [[f64::NEG_INFINITY; 2]; 2];
        for i in 0..2 {
            m[i][i] = 0.0;
        }
        MaxPlusF { m }
    }
    fn combine(self, next: Self) -> Self {
        let mut m = [[f64::NEG_INFINITY; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 {
                    m[i][j] = m[i][j].max(self.m[i][k] + next.m[k][j]);
                }
            }
        }
        MaxPlusF { m }
    }
}

#[test]
fn sums_of_every_number_type() {
    macro_rules! sums {
        ($($type:ident)*) => {$(
            scans_like_the_loop(Proved, |_, i| Sum { s: [3 as $type, 5 as $type, 0 as $type][if i < 2 { i } else { 2 }] }, exactly);
        )*};
    }
    sums!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    scans_like_the_loop(Proved, |r, _| Sum { s: r.below(1000) }, exactly);
}

#[test]
fn minima_and_maxima() {
    scans_like_the_loop(Proved, |r, _| MinMax { lo: r.bits() as i8, hi: r.bits() as i8 }, exactly);
    scans_like_the_loop(Proved, |r, _| MinMax { lo: r.unit() as f32, hi: r.unit() as f32 }, exactly);
}

#[test]
fn affine_maps_that_decay_and_that_alternate() {
    let same = |x: Affine<f64>, y: Affine<f64>| close(x.a, y.a, 1e-12) && close(x.b, y.b, 1e-12);
    scans_like_the_loop(Proved, |r, _| Affine { a: 0.9, b: r.unit() }, same);
    scans_like_the_loop(Proved, |_, i| Affine { a: if i % 2 == 0 { 1 } else { -1 }, b: i as i64 }, exactly);
}

#[test]
fn rotations_of_the_plane_and_of_space() {
    let turn = |r: &mut Random| {
        let angle = r.unit();
        (angle.cos(), angle.sin())
    };
    let complex = |r: &mut Random, _| Complex { re: turn(r).0, im: 0.5 };
    scans_like_the_loop(Proved, complex, |x, y| close(x.re, y.re, 1e-8) && close(x.im, y.im, 1e-8));
    let axis = |r: &mut Random, i: usize| {
        let (re, im) = turn(r);
        Quaternion(if i.is_multiple_of(2) { [re, im, 0.0, 0.0] } else { [re, 0.0, im, 0.0] })
    };
    scans_like_the_loop(Proved, axis, |x, y| (0..4).all(|i| close(x.0[i], y.0[i], 1e-8)));
}

#[test]
fn matrices_of_two_to_four_rows() {
    fn permutation<T: Num, const N: usize>(_: &mut Random, i: usize) -> Mat<T, N> {
        let mut m = [[T::ZERO; N]; N];
        for k in 0..N {
            let sign = if i.is_multiple_of(7) { T::ZERO - T::ONE } else { T::ONE };
            let row = if i.is_multiple_of(3) && k < 2 { 1 - k } else { k };
            m[row][(k + i) % N] = sign;
        }
        Mat { m }
    }
    scans_like_the_loop(Proved, permutation::<f64, 2>, exactly);
    scans_like_the_loop(Proved, permutation::<i64, 3>, exactly);
    scans_like_the_loop(Proved, permutation::<f32, 4>, exactly);
}

#[test]
fn means_and_variances() {
    let make = |r: &mut Random, _| Moments { n: 1.0, mean: r.unit(), m2: 0.0 };
    scans_like_the_loop(Accepted, make, |x, y| close(x.mean, y.mean, 1e-9) && close(x.m2, y.m2, 1e-6));
}

#[test]
fn sums_of_exponentials() {
    scans_like_the_loop(Accepted, |r, _| LogSumExp { x: 20.0 * r.unit() - 10.0 }, |x, y| close(x.x, y.x, 1e-9));
    let make = |r: &mut Random, _| Online { m: 20.0 * r.unit() - 10.0, s: 1.0 };
    scans_like_the_loop(Accepted, make, |x, y| x.m == y.m && close(x.s, y.s, 1e-9));
}

#[test]
fn shortest_paths() {
    let length = |r: &mut Random| if r.below(4) == 0 { i64::MIN } else { r.below(100) as i64 - 50 };
    let make = |r: &mut Random, _| MaxPlus { m: std::array::from_fn(|_| std::array::from_fn(|_| length(r))) };
    scans_like_the_loop(Accepted, make, exactly);
    let float = |r: &mut Random| r.below(100) as f64 - 50.0;
    let make = |r: &mut Random, _| MaxPlusF { m: std::array::from_fn(|_| std::array::from_fn(|_| float(r))) };
    scans_like_the_loop(Proved, make, exactly);
}
