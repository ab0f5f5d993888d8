//! Recurrences of any order modulo m.
//!
//! `y[i] = x[i] + c[0]·y[i-1] + … + c[K-1]·y[i-K]` moves the last K results on by an affine map of
//! K numbers, whose matrix is the companion of the coefficients. Affine maps compose: Blelloch
//! 1990, §1.4. The matrix of several records depends on their number alone, so engines tabulate it
//! and carry vectors.
//!
//! ```text
//! monoid   (A, v) ⊕ (A', v') = (A'·A, A'·v + v')        all modulo M
//! cost     work K³ n at worst, depth 1 scan, 1 pass
//! ```

use super::super::AlgoError;
use crate::Error;
use crate::prelude::*;

/// x ↦ A·x + v, modulo M.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step<const K: usize, const M: u32> {
    rows: [[u32; K]; K],
    sums: [u32; K],
}

#[scan_monoid]
impl<const K: usize, const M: u32> Monoid for Step<K, M> {
    fn identity() -> Self {
        let mut rows = [[0; K]; K];
        for i in 0..K {
            rows[i][i] = 1;
        }
        Step { rows, sums: [0; K] }
    }

    fn combine(self, next: Self) -> Self {
        let mut rows = [[0; K]; K];
        let mut sums = next.sums;
        for i in 0..K {
            for k in 0..K {
                sums[i] = ((sums[i] as u64 + next.rows[i][k] as u64 * self.sums[k] as u64) % (M as u64)) as u32;
                for j in 0..K {
                    let product = next.rows[i][k] as u64 * self.rows[k][j] as u64;
                    rows[i][j] = ((rows[i][j] as u64 + product) % (M as u64)) as u32;
                }
            }
        }
        Step { rows, sums }
    }

    fn valid(self) -> bool {
        let mut is_reduced = true;
        for i in 0..K {
            is_reduced = is_reduced && self.sums[i] < M;
            for j in 0..K {
                is_reduced = is_reduced && self.rows[i][j] < M;
            }
        }
        is_reduced
    }
}

/// A recurrence of order K modulo M, compiled with its coefficients: build it once.
///
/// ```
/// use monoscan::algo::numbers::Modular;
///
/// let fibonacci = Modular::<2, 1000>::new([1, 1])?;
/// let mut x = [0; 20];
/// x[0] = 1; // the first number; what is before it counts as 0
/// assert_eq!(fibonacci.run(&x)?[15..], [987, 597, 584, 181, 765]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Modular<const K: usize, const M: u32> {
    scan: Scan<Step<K, M>, (u32,), u32>,
}

impl<const K: usize, const M: u32> Modular<K, M> {
    /// The recurrence with these coefficients, that of `y[i-1]` first.
    ///
    /// # Errors
    /// As [`Scan::new`]: a state of K² + K numbers of 32 bits takes at most 256 bytes, so K is at most 7.
    pub fn new(coefficients: [u32; K]) -> Result<Modular<K, M>, Error> {
        const { assert!(K > 0 && M > 1, "an order of at least 1, modulo at least 2") };
        let mut rows = [[0; K]; K];
        rows[0] = coefficients.map(|coefficient| coefficient % M);
        for i in 1..K {
            rows[i][i - 1] = 1;
        }
        let step = scan!(|x: u32| -> Step<K, M> {
            let mut sums = [0; K];
            sums[0] = x % M;
            Step { rows, sums }
        });
        let value = scan!(|state: Step<K, M>| -> u32 { state.sums[0] });
        Ok(Modular { scan: Scan::<Step<K, M>>::builder().lift(step).project(value).build()? })
    }

    /// y for x, both modulo M.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn run(&self, x: &[u32]) -> Result<Vec<u32>, AlgoError> {
        Ok(self.scan.inclusive(x)?)
    }
}
