//! Sparse matrices in compressed rows, times a vector.
//!
//! Blelloch, Heroux and Zagha, *Segmented Operations for Sparse Matrix Computation on Vector
//! Multiprocessors* (CMU-CS-93-173): rows are segments of one array of products, so work is shared
//! evenly however rows differ in length. Here the array is cut into blocks of equal length. A block
//! sums up the rows that begin in it by plain loops. What a row has in later blocks comes to it by
//! a segmented scan of one state a block: did a row begin here, and what came together since.
//!
//! ```text
//! monoid   Segmented<Sum<T>>, one state a block
//! program  a state ↦ itself; writes the sum that enters the block
//! cost     work n + rows, depth 1 scan of n / 8192 states after a loop, 1 pass; then one thread adds
//!          what rows have in later blocks, at most once a block
//! bytes    of values of b bytes: 4 + b of each product, and b of the vector at its column, read;
//!          8 of each row's offset read, and b written
//! ```
//!
//! Blocks do not depend on the number of threads, so neither do roundings.

use monoscan_runtime::space::filled;

use super::{AlgoError, check_length, compiled};
use crate::ops::{Segmented, Sum};
use crate::parallel;
use crate::prelude::*;

/// Products of a block.
const BLOCK: usize = 1 << 13;

/// A matrix in compressed rows (CSR): row r has the values `offsets[r]..offsets[r + 1]`, each with its column.
///
/// ```
/// use monoscan::algo::sparse::Csr;
/// // 1 0 2
/// // 0 0 0
/// // 0 3 0
/// let matrix = Csr::new(&[0, 2, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0], 3)?;
/// assert_eq!(matrix.times(&[10.0, 20.0, 30.0])?, [70.0, 0.0, 60.0]);
/// # Ok::<(), monoscan::algo::AlgoError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Csr<'a, T> {
    offsets: &'a [usize],
    columns: &'a [u32],
    values: &'a [T],
    width: usize,
}

impl<'a, T: Num> Csr<'a, T> {
    /// The matrix with these parts and so many columns. Reads offsets and columns once.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if there is not one column for each value; [`Error::Offsets`](crate::Error::Offsets) and [`TooFewOffsets`](crate::Error::TooFewOffsets) if offsets do not rise from 0 to
    /// the number of values; [`AlgoError::Index`] if a column is not below `width`.
    pub fn new(
        offsets: &'a [usize],
        columns: &'a [u32],
        values: &'a [T],
        width: usize,
    ) -> Result<Csr<'a, T>, AlgoError> {
        check_length("columns", values.len(), columns.len())?;
        monoscan_runtime::check_offsets(offsets, values.len())?;
        let is_wrong = |&column: &u32| column as usize >= width;
        let wrong = parallel::map(columns.chunks(BLOCK), |_, block| block.iter().any(is_wrong));
        if wrong.contains(&true)
            && let Some(place) = columns.iter().position(is_wrong)
        {
            return Err(AlgoError::Index { argument: "columns", place, expected: width, got: columns[place] as usize });
        }
        Ok(Csr { offsets, columns, values, width })
    }

    /// How many rows.
    pub fn height(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The product with a vector. Integers wrap.
    ///
    /// # Errors
    /// [`AlgoError::Length`] if `x` is not as long as the matrix is wide.
    pub fn times(&self, x: &[T]) -> Result<Vec<T>, AlgoError> {
        let mut y = filled(T::ZERO, self.height())?;
        self.times_into(x, &mut y)?;
        Ok(y)
    }

    /// The product with a vector, into a slice with an element for each row.
    ///
    /// # Errors
    /// As [`times`](Csr::times); also if `y` is not as long as the matrix is high.
    pub fn times_into(&self, x: &[T], y: &mut [T]) -> Result<(), AlgoError> {
        check_length("x", self.width, x.len())?;
        check_length("y", self.height(), y.len())?;
        let starts = &self.offsets[..self.height()];
        let blocks = self.values.len().div_ceil(BLOCK).max(1);
        // The first row that begins in each block.
        let first = |block: usize| starts.partition_point(|&start| start < block * BLOCK);
        let rows: Vec<usize> = (0..blocks).map(first).collect();

        let sum_block = |block: usize, y: &mut [T]| {
            let end = self.values.len().min((block + 1) * BLOCK);
            let rows = &self.offsets[rows[block]..][..=y.len()];
            let head = self.dot(block * BLOCK..rows[0].min(end), x);
            let mut tail = head;
            for (ends, y) in rows.windows(2).zip(&mut *y) {
                tail = self.dot(ends[0]..ends[1].min(end), x);
                *y = tail;
            }
            (head, Segmented { start: !y.is_empty(), value: Sum(tail) })
        };
        if blocks == 1 {
            sum_block(0, y);
            return Ok(());
        }
        let open = compiled(Scan::<Segmented<Sum<T>>>::new)?;
        let (heads, states): (Vec<T>, Vec<_>) =
            parallel::map(super::sort::pieces(y, &rows).into_iter(), sum_block).into_iter().unzip();

        let open = open.exclusive(&states)?;
        for ((row, head), open) in rows.into_iter().zip(heads).zip(open).skip(1) {
            // A row that goes on is written again by the blocks that it goes on in.
            if let Some(row) = row.checked_sub(1) {
                y[row] = open.value.0.wrapped_add(head);
            }
        }
        Ok(())
    }

    /// The sum of these products, four at a time.
    #[inline]
    fn dot(&self, products: std::ops::Range<usize>, x: &[T]) -> T {
        let (values, columns) = (&self.values[products.clone()], &self.columns[products]);
        let (fours, values) = values.as_chunks::<4>();
        let (columns_of_fours, columns) = columns.as_chunks::<4>();
        let mut sums = [T::ZERO; 4];
        for (values, columns) in fours.iter().zip(columns_of_fours) {
            for lane in 0..4 {
                sums[lane] = sums[lane].wrapped_add(values[lane].wrapped_mul(x[columns[lane] as usize]));
            }
        }
        let mut sum = sums[0].wrapped_add(sums[1]).wrapped_add(sums[2].wrapped_add(sums[3]));
        for (value, column) in values.iter().zip(columns) {
            sum = sum.wrapped_add(value.wrapped_mul(x[*column as usize]));
        }
        sum
    }
}
