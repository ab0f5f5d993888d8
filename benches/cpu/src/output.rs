//! The column that all entrants of a field write, one after the other, and what ought to be in it.

use std::cell::{RefCell, RefMut};
use std::ops::Range;
use std::path::Path;

use bytemuck::Pod;

use crate::race::Judge;

/// A column of results beside the expected ones.
pub(crate) struct Output<T> {
    values: RefCell<Vec<T>>,
    expected: Vec<T>,
    tolerance: f64,
    /// A result that may be anything.
    free: Range<usize>,
}

impl<T: Pod + Into<f64> + From<u8>> Output<T> {
    /// Results must be exactly these.
    pub(crate) fn exact(expected: Vec<T>) -> Output<T> {
        Output::close(expected, 0.0)
    }

    /// Results must not differ from these by more than `tolerance`, relative to the largest of them.
    pub(crate) fn close(expected: Vec<T>, tolerance: f64) -> Output<T> {
        let largest = expected.iter().fold(0.0, |largest: f64, &y| largest.max(y.into().abs()));
        let values = RefCell::new(vec![T::from(SPOILT); expected.len()]);
        Output { values, expected, tolerance: tolerance * largest, free: 0..0 }
    }

    /// The first `count` results must be exactly these, and nothing is written behind them but the next four.
    pub(crate) fn first(mut expected: Vec<T>, count: usize) -> Output<T> {
        expected[count..].fill(T::from(SPOILT));
        Output { free: count..count + 4, ..Output::exact(expected) }
    }

    /// The column, to write.
    pub(crate) fn write(&self) -> RefMut<'_, [T]> {
        RefMut::map(self.values.borrow_mut(), |values| &mut values[..])
    }

    /// Replaces the column, for an entrant that makes its own.
    pub(crate) fn replace(&self, values: Vec<T>) {
        *self.values.borrow_mut() = values;
    }

    /// Fills the column from a file of plain values.
    pub(crate) fn read(&self, file: &Path) -> Result<(), String> {
        let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut values = self.write();
        let values: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        if bytes.len() != values.len() {
            return Err(format!("{} bytes of results instead of {}", bytes.len(), values.len()));
        }
        values.copy_from_slice(&bytes);
        Ok(())
    }
}

/// No workload has this result everywhere.
const SPOILT: u8 = 0x75;

impl<T: Pod + Into<f64> + From<u8>> Judge for Output<T> {
    fn spoil(&self) {
        self.write().fill(T::from(SPOILT));
    }

    fn check(&self) -> Result<(), String> {
        let values = self.values.borrow();
        if values.len() != self.expected.len() {
            return Err(format!("{} results instead of {}", values.len(), self.expected.len()));
        }
        let right = |(&y, &expected): (&T, &T)| (y.into() - expected.into()).abs() <= self.tolerance;
        let wrong = |&(place, pair): &(usize, (&T, &T))| !self.free.contains(&place) && !right(pair);
        match values.iter().zip(&self.expected).enumerate().find(wrong).map(|(place, _)| place) {
            None => Ok(()),
            Some(place) => {
                let (y, expected): (f64, f64) = (values[place].into(), self.expected[place].into());
                Err(format!("result {place} is {y} instead of {expected}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_expected_is_found() {
        let exact = Output::exact(vec![1i32, 2, 3]);
        assert!(exact.check().is_err());
        exact.write().copy_from_slice(&[1, 2, 3]);
        assert_eq!(exact.check(), Ok(()));
        exact.replace(vec![1, 2]);
        assert!(exact.check().is_err());
        let close = Output::close(vec![100.0f32, 1.0], 0.01);
        close.write().copy_from_slice(&[99.5, 1.5]);
        assert_eq!(close.check(), Ok(()));
        close.write()[1] = 2.5;
        assert!(close.check().is_err());
        close.write()[1] = f32::NAN;
        assert!(close.check().is_err());
    }
}
