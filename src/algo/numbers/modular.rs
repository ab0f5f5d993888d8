//! Recurrences of any order modulo m: of 32 bits known to the compiler, or of 64 bits at run time.
//!
//! `y[i] = x[i] + c[0]·y[i-1] + … + c[K-1]·y[i-K]` moves the last K results on by an affine map of
//! K numbers, whose matrix is the companion of the coefficients. Affine maps compose: Blelloch
//! 1990, §1.4. The matrix of several records depends on their number alone, so engines tabulate it
//! and carry vectors.
//!
//! ```text
//! monoid   (A, v) ⊕ (A', v') = (A'·A, A'·v + v')        all modulo M
//! program  x ↦ (the companion matrix, (x, 0, …, 0)); writes the first number of v
//! cost     work K³ n at worst, depth 1 scan, 1 pass
//! bytes    4 read and 4 written of each record
//! ```
//!
//! The remainder of a compiled scan takes 64 bits, so M has 32. [`recur_modulo`] multiplies to 128
//! bits, in loops of Rust: reduce, then replay. Each block of records finds its last K results as
//! if zeros were before it. All blocks but the last are of one length, and so of one matrix A: its
//! columns are what a block of zeros makes of each unit vector. One loop over the blocks composes
//! their maps, and all run again from what is before them. It is no scan: one map in 16384 records
//! is composed, by products of 128 bits, which scans do not have. One thread has one block, and one
//! pass.
//!
//! ```text
//! monoid   the same, where A is known and only v is kept
//! cost     work 2 K n + K² (16384 + n / 16384), depth a loop on one thread over n / 16384 blocks,
//!          each of which needs the one before, between two loops; 2 passes
//! bytes    16 read and 8 written of each record; of one block 8 and 8
//! ```

use monoscan_runtime::space::zeros;

use super::super::{AlgoError, check_length};
use crate::prelude::*;
use crate::{Error, parallel};

/// x ↦ A·x + v, modulo M.
#[scan_monoid]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::algo) struct Step<const K: usize, const M: u32> {
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
            // The last result comes last: the element before has it late.
            for back in 0..K {
                let k = K - 1 - back;
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
    /// The recurrence with these coefficients, that of `y[i-1]` first. An order of 0, or a modulus below 2, does not compile.
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

    /// The same on a GPU, for vectors that are there. Compiles its kernels: make it once.
    ///
    /// ```no_run
    /// use monoscan::{Device, DeviceVec, algo::numbers::Modular};
    ///
    /// let powers_of_three = Modular::<1, 100>::new([3])?.on(Device::cuda(0)?)?;
    /// let x = DeviceVec::upload(&Device::cuda(0)?, &[1, 0, 0, 0, 0])?;
    /// assert_eq!(powers_of_three.run(&x)?.to_vec()?, [1, 3, 9, 27, 81]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scan::on`].
    #[cfg(feature = "gpu")]
    pub fn on(&self, device: impl Into<crate::Device>) -> Result<super::super::on_gpu::Modular<K, M>, Error> {
        Ok(super::super::on_gpu::Modular(self.scan.on(device)?))
    }

    /// The scan as a program.
    #[cfg(feature = "gpu")]
    pub(in crate::algo) fn program(&self) -> monoscan_ir::Verified<monoscan_ir::Program> {
        self.scan.as_dyn().program().clone()
    }

    /// y for x, both modulo M.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn run(&self, x: &[u32]) -> Result<Vec<u32>, AlgoError> {
        Ok(self.scan.inclusive(x)?)
    }

    /// [`run`](Modular::run) into a slice, all of one length.
    ///
    /// ```
    /// use monoscan::algo::numbers::Modular;
    /// let mut y = [0; 5];
    /// Modular::<1, 100>::new([3])?.run_into(&[1, 0, 0, 0, 0], &mut y)?;
    /// assert_eq!(y, [1, 3, 9, 27, 81]);
    /// # Ok::<(), monoscan::algo::AlgoError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgoError::Length`] if they differ in length; [`Error::OutOfMemory`].
    pub fn run_into(&self, x: &[u32], y: &mut [u32]) -> Result<(), AlgoError> {
        check_length("y", x.len(), y.len())?;
        self.scan.inclusive_into(x, y)?;
        Ok(())
    }
}

/// Records of a block.
const BLOCK: usize = 1 << 14;

/// `y[i] = x[i] + c[0]·y[i-1] + … + c[K-1]·y[i-K]` modulo any number of 64 bits, where what is before the first y counts as 0.
/// Coefficients and x need not be less than the modulus. Some 4 n remainders of 128 bits, by multiplications; on
/// one or two threads 2 n.
///
/// ```
/// use monoscan::algo::numbers::recur_modulo;
///
/// let mut x = [0; 100];
/// x[0] = 1;
/// let fibonacci = recur_modulo(&[1, 1], (1 << 61) - 1, &x)?;
/// assert_eq!(fibonacci[99], (354_224_848_179_261_915_075_u128 % ((1 << 61) - 1)) as u64);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Modulus`] if the modulus is 0.
pub fn recur_modulo(coefficients: &[u64], modulus: u64, x: &[u64]) -> Result<Vec<u64>, AlgoError> {
    let mut y = zeros(x.len())?;
    recur_modulo_into((coefficients, modulus), x, &mut y)?;
    Ok(y)
}

/// [`recur_modulo`] into a slice, x and y of one length.
///
/// ```
/// use monoscan::algo::numbers::recur_modulo_into;
/// let mut y = [0; 5];
/// recur_modulo_into((&[3], 100), &[1, 0, 0, 0, 0], &mut y)?;
/// assert_eq!(y, [1, 3, 9, 27, 81]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
///
/// # Errors
/// [`AlgoError::Length`] if they differ in length; [`AlgoError::Modulus`] if the modulus is 0.
pub fn recur_modulo_into((coefficients, modulus): (&[u64], u64), x: &[u64], y: &mut [u64]) -> Result<(), AlgoError> {
    check_length("y", x.len(), y.len())?;
    if modulus == 0 {
        return Err(AlgoError::Modulus);
    }
    // Coefficients of what is before the first y count for nothing.
    let coefficients: Vec<u64> = coefficients.iter().take(x.len()).map(|coefficient| coefficient % modulus).collect();
    let (order, modulus) = (coefficients.len(), Modulus::new(modulus));
    // Two passes, and the columns of A, pay from three threads on, if there are elements enough.
    let pays = order.saturating_mul(BLOCK) < x.len().saturating_mul(rayon::current_num_threads().saturating_sub(2));
    let block = if pays { BLOCK } else { x.len().max(1) };
    let after = |before: &[u64], x: &[u64]| {
        let mut y = vec![0; x.len()];
        modulus.run(&coefficients, before, x, &mut y);
        [before, &y].concat().split_off(x.len())
    };

    let mut before = vec![vec![0; order]];
    if x.len() > block {
        let unit = |place: usize| (0..order).map(|other| (other == place) as u64).collect::<Vec<_>>();
        let columns = parallel::map(0..order, |_, place| after(&unit(place), &vec![0; block]));
        let alone = parallel::map(x[..x.len() - 1].chunks_exact(block), |_, x| after(&before[0], x));
        for alone in alone {
            let last = &before[before.len() - 1];
            let terms = |row: usize| columns.iter().map(move |column| &column[row]).zip(last);
            let after = |row: usize| modulus.remainder(modulus.sum(alone[row], terms(row))) >> modulus.shift;
            before.push((0..order).map(after).collect());
        }
    }

    let blocks = x.chunks(block).zip(y.chunks_mut(block)).zip(before);
    parallel::for_each(blocks, |_, ((x, y), before)| modulus.run(&coefficients, &before, x, y));
    Ok(())
}

/// A number m of 64 bits, by which sums of two words are reduced without a division (Möller and Granlund, *Improved Division by
/// Invariant Integers*, IEEE Trans. Computers, 2011).
///
/// Remainders are kept scaled, times the power of two that makes m fill its word. So they need no shift from one to the next.
struct Modulus {
    shift: u32,
    /// m, scaled.
    divisor: u64,
    /// ⌊(2¹²⁸ − 1) / divisor⌋ − 2⁶⁴.
    reciprocal: u64,
}

impl Modulus {
    fn new(modulus: u64) -> Modulus {
        let shift = modulus.leading_zeros();
        let divisor = modulus << shift;
        Modulus { shift, divisor, reciprocal: (u128::MAX / u128::from(divisor)) as u64 }
    }

    /// The results of x, where these are before them, the earliest first. Coefficients are less than m.
    fn run(&self, coefficients: &[u64], before: &[u64], x: &[u64], y: &mut [u64]) {
        let order = coefficients.len();
        let (&first, others) = coefficients.split_first().unwrap_or((&0, &[]));
        // The last result, from one element to the next, takes no way through memory.
        let mut last = before.last().map_or(0, |&last| last << self.shift);
        for (place, &x) in x.iter().enumerate() {
            let (earlier, y) = y.split_at_mut(place);
            let sum = match place.checked_sub(order) {
                Some(from) => self.sum(x, others.iter().rev().zip(&earlier[from..])),
                None => self.sum(x, others.iter().rev().zip(before[place..].iter().chain(&*earlier))),
            };
            // The rest is reduced beside the element before. With it the product has a high word that is small enough.
            let rest = u128::from(self.remainder(sum));
            last = self.remainder(rest + u128::from(first) * u128::from(last));
            y[0] = last >> self.shift;
        }
    }

    /// A number and products, added: a multiple of m too much, and scaled. One factor of each is less than m, the other is reduced.
    fn sum<'n>(&self, first: u64, products: impl Iterator<Item = (&'n u64, &'n u64)>) -> u128 {
        products.fold(u128::from(first) << self.shift, |sum, (&a, &b)| self.add(sum, a, b << self.shift))
    }

    /// One product more, of which b is scaled. The high word of the sum is less than the divisor, and stays so.
    #[inline(always)]
    fn add(&self, sum: u128, a: u64, b: u64) -> u128 {
        let (sum, overflows) = sum.overflowing_add(u128::from(a) * u128::from(b));
        let (less, borrows) = sum.overflowing_sub(u128::from(self.divisor) << 64);
        if overflows || !borrows { less } else { sum }
    }

    /// The remainder of such a sum, scaled.
    #[inline(always)]
    fn remainder(&self, sum: u128) -> u64 {
        let quotient = (u128::from(self.reciprocal) * (sum >> 64)).wrapping_add(sum);
        let estimate = ((quotient >> 64) as u64).wrapping_add(1);
        let rest = (sum as u64).wrapping_sub(estimate.wrapping_mul(self.divisor));
        let rest = if rest > quotient as u64 { rest.wrapping_add(self.divisor) } else { rest };
        if rest >= self.divisor { rest - self.divisor } else { rest }
    }
}
