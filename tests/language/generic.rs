//! Generic monoids: over scalars, sizes and other monoids.

use monoscan::prelude::*;

use super::agree::{function, monoid};

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

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segmented<M> {
    start: bool,
    value: M,
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

    fn valid(self) -> bool {
        self.value.valid()
    }
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat<T, const N: usize> {
    m: [[T; N]; N],
}

#[scan_monoid]
impl<T: Num, const N: usize> Monoid for Mat<T, N> {
    fn identity() -> Self {
        let mut m = [[T::ZERO; N]; N];
        for (i, row) in m.iter_mut().enumerate() {
            row[i] = T::ONE;
        }
        Mat { m }
    }

    fn combine(self, next: Self) -> Self {
        let mut m = [[T::ZERO; N]; N];
        for i in 0..N {
            for j in 0..N {
                let mut sum = T::ZERO;
                for k in 0..N {
                    sum += next.m[i][k] * self.m[k][j];
                }
                m[i][j] = sum;
            }
        }
        Self { m }
    }
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<M>(M);

#[scan_monoid]
impl<M> Monoid for Dual<M>
where
    M: Monoid,
{
    fn identity() -> Self {
        Dual(M::identity())
    }

    fn combine(self, Dual(next): Self) -> Self {
        Dual(Monoid::combine(next, self.0))
    }
}

/// Counts modulo a const parameter.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modulo<const P: u64>(u64);

#[scan_monoid]
impl<const P: u64> Monoid for Modulo<P> {
    fn identity() -> Self {
        Modulo(0)
    }

    fn combine(self, next: Self) -> Self {
        Modulo((self.0 % P + next.0 % P) % P)
    }

    fn valid(self) -> bool {
        self.0 < P
    }
}

/// The longest run of ones: `valid` has several conditions.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Runs<T> {
    prefix: T,
    suffix: T,
    best: T,
    length: T,
}

#[scan_monoid]
impl<T: Int> Monoid for Runs<T> {
    fn identity() -> Self {
        Runs { prefix: T::ZERO, suffix: T::ZERO, best: T::ZERO, length: T::ZERO }
    }

    fn combine(self, next: Self) -> Self {
        let bridge = self.suffix.wrapping_add(next.prefix);
        let best = if self.best > next.best { self.best } else { next.best };
        Runs {
            prefix: if self.prefix == self.length { self.length.wrapping_add(next.prefix) } else { self.prefix },
            suffix: if next.suffix == next.length { next.length.wrapping_add(self.suffix) } else { next.suffix },
            best: best.max(bridge),
            length: self.length.wrapping_add(next.length),
        }
    }

    fn valid(self) -> bool {
        let full = self.prefix == self.length;
        self.prefix <= self.best
            && self.suffix <= self.best
            && self.best <= self.length
            && full == (self.suffix == self.length)
    }
}

#[scan_monoid]
impl<A: Monoid, B: Monoid> Monoid for Both<A, B> {
    fn identity() -> Self {
        Both(A::identity(), B::identity())
    }

    fn combine(self, next: Self) -> Self {
        Both(A::combine(self.0, next.0), <B as Monoid>::combine(self.1, next.1))
    }
}

#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Both<A, B>(A, B);

#[scan_fn]
fn between<T: Real, const N: usize>(x: [T; N], low: T) -> T {
    let mut sum = T::ZERO;
    for i in 0..N {
        sum += if x[i] > low { x[i] } else { -low };
    }
    sum / T::from_f64(N as f64)
}

#[test]
fn monoids_over_scalars_agree() {
    monoid::<Affine<f32>>();
    monoid::<Affine<f64>>();
    monoid::<Runs<u8>>();
    monoid::<Runs<i64>>();
}

#[test]
fn monoids_over_monoids_agree() {
    monoid::<Segmented<Affine<f32>>>();
    monoid::<Segmented<Segmented<Runs<u16>>>>();
    monoid::<Dual<Affine<f64>>>();
    monoid::<Both<Dual<Segmented<Affine<f32>>>, Modulo<97>>>();
}

#[test]
fn monoids_over_sizes_agree() {
    monoid::<Mat<f32, 3>>();
    monoid::<Mat<f64, 4>>();
    monoid::<Mat<i32, 1>>();
    monoid::<Segmented<Mat<f32, 2>>>();
    monoid::<Modulo<97>>();
}

#[test]
fn generic_functions_agree() {
    function::<_, ([f32; 3], f32)>(between {});
    function::<_, ([f64; 1], f64)>(between {});
}
