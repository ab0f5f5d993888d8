//! One-dimensional views of `ndarray` as columns, whatever their strides.
//!
//! ```
//! use monoscan::{ops::Sum, prelude::*};
//! use ndarray::{Array2, s};
//!
//! let sums = Scan::<Sum<f64>>::plain()?;
//! let table = Array2::from_shape_fn((3, 4), |(row, column)| (10 * row + column) as f64);
//! assert_eq!(sums.inclusive(table.column(1))?, [1.0, 12.0, 33.0]);
//! assert_eq!(sums.inclusive(table.slice(s![0, ..;-1]))?, [3.0, 5.0, 6.0, 6.0]);
//!
//! let mut totals = Array2::zeros((3, 4));
//! for (row, into) in table.rows().into_iter().zip(totals.columns_mut()) {
//!     sums.reversed().inclusive_into(row.slice_move(s![..3]), into)?;
//! }
//! assert_eq!(totals[[0, 1]], 33.0);
//! # Ok::<(), monoscan::Error>(())
//! ```

use ndarray::{Array1, ArrayView1, ArrayViewMut1};

use super::columns::sealed::{AsColumn, Part};
use super::outputs::sealed::AsColumnMut;
use super::place::Host;
use super::strided::{Strided, StridedMut};
use crate::lang::ScanType;

impl<T: ScanType> AsColumn<T> for ArrayView1<'_, T> {
    type At = Host;

    fn part(&self) -> Part<*const u8> {
        // SAFETY: these are the records of the view, which borrows them.
        unsafe { Strided::from_raw(self.as_ptr(), self.len(), self.strides()[0]) }.part()
    }
}

impl<T: ScanType> AsColumn<T> for &Array1<T> {
    type At = Host;

    fn part(&self) -> Part<*const u8> {
        self.view().part()
    }
}

impl<T: ScanType> AsColumnMut<T> for ArrayViewMut1<'_, T> {
    type At = Host;

    fn part(&mut self) -> Part<*mut u8> {
        // SAFETY: these are the records of the view, which borrows them mutably; no two of them are the same.
        unsafe { StridedMut::from_raw(self.as_mut_ptr(), self.len(), self.strides()[0]) }.part()
    }
}

impl<T: ScanType> AsColumnMut<T> for &mut Array1<T> {
    type At = Host;

    fn part(&mut self) -> Part<*mut u8> {
        self.view_mut().part()
    }
}
