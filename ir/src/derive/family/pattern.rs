//! Which entries of a product of matrices are fixed: those that are 0 or 1 in every product are no
//! components of a state.

/// The value of an entry of a matrix in all products, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Zero,
    One,
    Any,
}

/// Which entries of products of such matrices, and of the identity, are not fixed.
pub(super) fn closure(mut pattern: Vec<Vec<Entry>>) -> Vec<Vec<Entry>> {
    use Entry::{Any, One, Zero};
    let join = |a: Entry, b: Entry| if a == b { a } else { Any };
    let times = |a: Entry, b: Entry| match (a, b) {
        (Zero, _) | (_, Zero) => Zero,
        (One, One) => One,
        _ => Any,
    };
    let plus = |a: Entry, b: Entry| match (a, b) {
        (Zero, other) | (other, Zero) => other,
        _ => Any,
    };
    let count = pattern.len();
    for (i, row) in pattern.iter_mut().enumerate() {
        for (j, entry) in row.iter_mut().enumerate() {
            *entry = join(*entry, if i == j { One } else { Zero });
        }
    }
    loop {
        let product = |i: usize, j: usize| (0..count).map(|k| times(pattern[i][k], pattern[k][j])).fold(Zero, plus);
        let next: Vec<Vec<Entry>> =
            (0..count).map(|i| (0..count).map(|j| join(pattern[i][j], product(i, j))).collect()).collect();
        if next == pattern {
            return pattern;
        }
        pattern = next;
    }
}

#[cfg(test)]
mod tests {
    use super::Entry::{Any, One, Zero};
    use super::*;

    #[test]
    fn entries_that_stay_fixed_in_all_products_are_found() {
        // Sum of sums: (a, b) ↦ (a + x, b + a + x).
        let triangular = closure(vec![vec![One, Zero], vec![One, One]]);
        assert_eq!(triangular, [[One, Zero], [Any, One]]);
        // A delay line forgets: after two moves nothing is left of what was there.
        assert_eq!(closure(vec![vec![Zero, Zero], vec![One, Zero]]), [[Any, Zero], [Any, Any]]);
    }
}
