//! Maps under composition: the earlier one is applied first.

use crate::prelude::*;

/// x ↦ a·x + b. Composing these maps solves `y[i] = a[i]·y[i-1] + b[i]`. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Affine, prelude::*};
/// let solve = Scan::<Affine<f64>>::builder()
///     .lift(scan!(|a: f64, b: f64| -> Affine<f64> { Affine { a, b } }))
///     .project(scan!(|map: Affine<f64>| -> f64 { map.b }))
///     .build()?;
/// assert_eq!(solve.inclusive((&[2.0, 0.5, 4.0], &[1.0, 3.0, 0.0]))?, [1.0, 3.5, 14.0]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Affine<T> {
    /// The factor.
    pub a: T,
    /// The addend.
    pub b: T,
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

/// x ↦ max(a + x, b): [`Affine`] in which + is max and · is +. It schedules queues and aligns sequences: a job that
/// arrives at time r and takes p ends at max(p + x, p + r), x being when the job before it ended. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::MaxPlus, prelude::*};
/// let ends = Scan::<MaxPlus<f64>>::builder()
///     .lift(scan!(|arrival: f64, takes: f64| -> MaxPlus<f64> { MaxPlus { a: takes, b: takes + arrival } }))
///     .project(scan!(|map: MaxPlus<f64>| -> f64 { map.b }))
///     .build()?;
/// assert_eq!(ends.inclusive((&[0.0, 1.0, 9.0], &[3.0, 2.0, 1.0]))?, [3.0, 5.0, 10.0]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxPlus<T> {
    /// The addend.
    pub a: T,
    /// The lower bound of results; −∞ for none.
    pub b: T,
}

#[scan_monoid]
impl<T: Real> Monoid for MaxPlus<T> {
    fn identity() -> Self {
        MaxPlus { a: T::ZERO, b: T::NEG_INFINITY }
    }

    fn combine(self, next: Self) -> Self {
        MaxPlus { a: self.a + next.a, b: next.b.max(next.a + self.b) }
    }
}

/// x ↦ A·x for vectors x of K components: the product, the later matrix on the left. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Matrix, prelude::*};
/// // (F[i+1], F[i]) ↦ (F[i+1] + F[i], F[i+1])
/// let step = Matrix { rows: [[1u64, 1], [1, 0]] };
/// let powers = Scan::<Matrix<u64, 2>>::new()?.inclusive(&[step; 10])?;
/// let fibonacci: Vec<u64> = powers.iter().map(|power| power.rows[1][0]).collect();
/// assert_eq!(fibonacci, [1, 1, 2, 3, 5, 8, 13, 21, 34, 55]);
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix<T, const K: usize> {
    /// Row by row.
    pub rows: [[T; K]; K],
}

#[scan_monoid]
impl<T: Num, const K: usize> Monoid for Matrix<T, K> {
    fn identity() -> Self {
        let mut rows = [[T::ZERO; K]; K];
        for i in 0..K {
            rows[i][i] = T::ONE;
        }
        Matrix { rows }
    }

    fn combine(self, next: Self) -> Self {
        let mut rows = [[T::ZERO; K]; K];
        for i in 0..K {
            for j in 0..K {
                for k in 0..K {
                    rows[i][j] += next.rows[i][k] * self.rows[k][j];
                }
            }
        }
        Matrix { rows }
    }
}

/// Complex numbers under multiplication: turns and stretches of the plane. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Complex, prelude::*};
/// // The powers of i.
/// let powers = Scan::<Complex<f32>>::new()?.inclusive(&[Complex { re: 0.0, im: 1.0 }; 4])?;
/// assert_eq!(powers[1], Complex { re: -1.0, im: 0.0 });
/// assert_eq!(powers[3], Complex { re: 1.0, im: 0.0 });
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

#[scan_monoid]
impl<T: Num> Monoid for Complex<T> {
    fn identity() -> Self {
        Complex { re: T::ONE, im: T::ZERO }
    }

    fn combine(self, next: Self) -> Self {
        Complex { re: self.re * next.re - self.im * next.im, im: self.re * next.im + self.im * next.re }
    }
}

/// Quaternions under multiplication, the later one on the left: rotations of space, one after the other. They are not
/// normalized. Law verdict: proved.
///
/// ```
/// use monoscan::{ops::Quaternion, prelude::*};
/// let i = Quaternion { w: 0.0, x: 1.0, y: 0.0, z: 0.0 };
/// let j = Quaternion { w: 0.0, x: 0.0, y: 1.0, z: 0.0 };
/// // j is on the left, and j·i = −k.
/// let turns = Scan::<Quaternion<f64>>::new()?.inclusive(&[i, j])?;
/// assert_eq!(turns[1], Quaternion { w: 0.0, x: 0.0, y: 0.0, z: -1.0 });
/// # Ok::<(), monoscan::Error>(())
/// ```
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quaternion<T> {
    /// The real part.
    pub w: T,
    /// The part of i.
    pub x: T,
    /// The part of j.
    pub y: T,
    /// The part of k.
    pub z: T,
}

#[scan_monoid]
impl<T: Num> Monoid for Quaternion<T> {
    fn identity() -> Self {
        Quaternion { w: T::ONE, x: T::ZERO, y: T::ZERO, z: T::ZERO }
    }

    fn combine(self, next: Self) -> Self {
        let (q, p) = (next, self);
        Quaternion {
            w: q.w * p.w - q.x * p.x - q.y * p.y - q.z * p.z,
            x: q.w * p.x + q.x * p.w + q.y * p.z - q.z * p.y,
            y: q.w * p.y - q.x * p.z + q.y * p.w + q.z * p.x,
            z: q.w * p.z + q.x * p.y - q.y * p.x + q.z * p.w,
        }
    }
}
