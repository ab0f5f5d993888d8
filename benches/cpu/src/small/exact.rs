//! A column of records of any type, and what ought to be in it, exactly.

use std::cell::{RefCell, RefMut};
use std::fmt::Debug;

use crate::race::Judge;

/// A column of results beside the expected ones.
pub(crate) struct Exact<T> {
    values: RefCell<Vec<T>>,
    expected: Vec<T>,
    /// Two values that differ: one of them is wrong, wherever it is.
    wrong: [T; 2],
}

impl<T: Copy + PartialEq + Debug> Exact<T> {
    /// Results must be these.
    pub(crate) fn new(expected: Vec<T>, wrong: [T; 2]) -> Exact<T> {
        Exact { values: RefCell::new(expected.clone()), expected, wrong }
    }

    /// The column, to write.
    pub(crate) fn write(&self) -> RefMut<'_, [T]> {
        RefMut::map(self.values.borrow_mut(), Vec::as_mut_slice)
    }
}

impl<T: Copy + PartialEq + Debug> Judge for Exact<T> {
    fn spoil(&self) {
        let [one, other] = self.wrong;
        let spoilt = |right: &T| if *right == one { other } else { one };
        self.values.borrow_mut().iter_mut().zip(&self.expected).for_each(|(y, right)| *y = spoilt(right));
    }

    fn check(&self) -> Result<(), String> {
        let values = self.values.borrow();
        match values.iter().zip(&self.expected).position(|(y, right)| y != right) {
            None => Ok(()),
            Some(place) => Err(format!("result {place} is {:?} instead of {:?}", values[place], self.expected[place])),
        }
    }
}

#[test]
fn a_result_that_is_not_written_is_wrong() {
    let exact = Exact::new(vec![1, 2, 3], [1, 2]);
    exact.spoil();
    for place in 0..3 {
        assert!(exact.check().is_err());
        exact.write()[place] = place as i32 + 1;
    }
    assert_eq!(exact.check(), Ok(()));
}
