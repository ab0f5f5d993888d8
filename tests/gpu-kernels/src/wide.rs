//! Monoids whose states have up to 64 bytes: the most that kernels keep in registers.

use monoscan::ops::Matrix;
use monoscan::prelude::*;

use crate::Case;
use scan_kit::Random;

/// Matrices of (max, +): the longest paths between four places.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Paths<T> {
    rows: [[T; 4]; 4],
}

#[scan_monoid]
impl<T: Real> Monoid for Paths<T> {
    fn identity() -> Self {
        let mut rows = [[T::NEG_INFINITY; 4]; 4];
        for i in 0..4 {
            rows[i][i] = T::ZERO;
        }
        Paths { rows }
    }

    fn combine(self, next: Self) -> Self {
        let mut rows = [[T::NEG_INFINITY; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                for k in 0..4 {
                    rows[i][j] = rows[i][j].larger(next.rows[i][k] + self.rows[k][j]);
                }
            }
        }
        Paths { rows }
    }
}

/// So many sums at once.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums<T, const N: usize> {
    sums: [T; N],
}

#[scan_monoid]
impl<T: Num, const N: usize> Monoid for Sums<T, N> {
    fn identity() -> Self {
        Sums { sums: [T::ZERO; N] }
    }

    fn combine(self, next: Self) -> Self {
        let mut sums = self.sums;
        for place in 0..N {
            sums[place] += next.sums[place];
        }
        Sums { sums }
    }
}

/// Weights of the steps of a path, lifted from one number; what is written is the weight of one path. So blocks have more threads,
/// and these fewer registers, than where records are states.
fn lifted() -> Case {
    let scan = Scan::<Paths<f32>>::builder()
        .lift(scan!(|x: f32| -> Paths<f32> {
            Paths { rows: [[x, 0.0, 1.0, x], [2.0, x, 0.0, -x], [x, x, 1.0, 0.0], [-x, 3.0, x, 0.0]] }
        }))
        .project(scan!(|paths: Paths<f32>| -> f32 { paths.rows[0][3] }))
        .build()
        .expect("a monoid");
    Case::of_bytes(scan.as_dyn().program().clone())
}

/// So many sums of one number.
fn repeated<const N: usize>() -> Case {
    let scan = Scan::<Sums<f64, N>>::builder()
        .lift(scan!(|x: f32| -> Sums<f64, N> { Sums { sums: [x as f64; N] } }))
        .project(scan!(|sums: Sums<f64, N>| -> f32 { sums.sums[0] as f32 }))
        .build()
        .expect("a monoid");
    Case::of_bytes(scan.as_dyn().program().clone())
}

/// States of 24 bytes and more. For the assembler: those that are lifted from any number may round.
pub fn of_wide_states() -> Vec<Case> {
    let small = |r: &mut Random| r.below(3) as f32;
    vec![
        lifted(),
        repeated::<3>(),
        repeated::<4>(),
        repeated::<8>(),
        Case::of_states(move |r, _| Paths { rows: std::array::from_fn(|_| std::array::from_fn(|_| small(r))) }),
        Case::of_states(move |r, _| Matrix::<f32, 4> {
            rows: std::array::from_fn(|_| std::array::from_fn(|_| small(r))),
        }),
        wide_sums(),
    ]
}

/// States of 64 bytes, and exact.
pub fn wide_sums() -> Case {
    Case::of_states(|r, _| Sums::<u64, 8> { sums: std::array::from_fn(|_| r.bits()) })
}
