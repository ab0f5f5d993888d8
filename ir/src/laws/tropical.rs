//! Maxima of minima: the normal form of expressions of `min`, `max` and what they distribute over.
//!
//! A [`Lattice`] is the largest of some meets, each the smallest of some forms; a form is the
//! number of anything with a normal form of its own (an atom, a polynomial, a constant). `min` and
//! `max` distribute over each other, and `+` over both, so that (max, +) and (min, +) expressions,
//! and mixtures such as clamps, reach one shape. Absorption removes what cannot matter. Equal
//! normal forms are equal functions; the converse holds for `min` and `max` of independent forms.

/// The number of an element of the symbolic engine.
pub(crate) type Form = u32;

/// Most meets, and most forms in a meet, before a proof gives up.
const MAX_SIZE: usize = 48;

/// The largest of `meets`, each the smallest of its forms. Sorted, with no meet or form that can be left out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Lattice {
    /// The meets; never empty, nor is one of them.
    pub(crate) meets: Vec<Vec<Form>>,
}

impl Lattice {
    /// One form.
    pub(crate) fn form(form: Form) -> Lattice {
        Lattice { meets: vec![vec![form]] }
    }

    /// The form, if there is only one.
    pub(crate) fn as_form(&self) -> Option<Form> {
        match &self.meets[..] {
            [meet] if meet.len() == 1 => Some(meet[0]),
            _ => None,
        }
    }

    /// The larger of the two. `at_most(a, b)`: form a is never above form b.
    pub(crate) fn join(&self, other: &Lattice, at_most: &dyn Fn(Form, Form) -> bool) -> Option<Lattice> {
        normal(self.meets.iter().chain(&other.meets).cloned().collect(), at_most)
    }

    /// The smaller of the two.
    pub(crate) fn meet(&self, other: &Lattice, at_most: &dyn Fn(Form, Form) -> bool) -> Option<Lattice> {
        let pairs = self.meets.iter().flat_map(|a| other.meets.iter().map(move |b| [a.as_slice(), b].concat()));
        normal(pairs.take(MAX_SIZE * MAX_SIZE).collect(), at_most)
    }

    /// `combine` of every form of the one with every form of the other: for operations that keep the order of both
    /// sides, as `+` does.
    pub(crate) fn map2(
        &self,
        other: &Lattice,
        combine: &mut dyn FnMut(Form, Form) -> Option<Form>,
    ) -> Option<Vec<Vec<Form>>> {
        if self.meets.len() * other.meets.len() > MAX_SIZE {
            return None;
        }
        let mut meets = Vec::new();
        for a in &self.meets {
            for b in &other.meets {
                let mut meet = Vec::new();
                for &x in a {
                    for &y in b {
                        meet.push(combine(x, y)?);
                    }
                }
                meets.push(meet);
            }
        }
        Some(meets)
    }
}

/// Removes what cannot matter and sorts.
pub(crate) fn normal(mut meets: Vec<Vec<Form>>, at_most: &dyn Fn(Form, Form) -> bool) -> Option<Lattice> {
    for meet in &mut meets {
        meet.sort_unstable();
        meet.dedup();
        let all = meet.clone();
        meet.retain(|&x| !all.iter().any(|&y| y != x && at_most(y, x)));
    }
    meets.sort();
    meets.dedup();
    if meets.len() > MAX_SIZE || meets.iter().any(|meet| meet.len() > MAX_SIZE) {
        return None;
    }
    // a ≤ b if every form of b is above some form of a.
    let below = |a: &[Form], b: &[Form]| b.iter().all(|&y| a.iter().any(|&x| x == y || at_most(x, y)));
    let all = meets.clone();
    meets.retain(|meet| !all.iter().any(|other| other != meet && below(meet, other)));
    Some(Lattice { meets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_and_maximum_distribute_and_absorb() {
        let no_order = |_: Form, _: Form| false;
        let [a, b, c] = [1, 2, 3].map(Lattice::form);
        let left = a.join(&b, &no_order).unwrap().meet(&c, &no_order).unwrap();
        let right = a.meet(&c, &no_order).unwrap().join(&b.meet(&c, &no_order).unwrap(), &no_order).unwrap();
        assert_eq!(left, right);
        assert_eq!(a.join(&a.meet(&b, &no_order).unwrap(), &no_order), Some(a));
    }

    #[test]
    fn a_form_that_is_never_the_smallest_is_dropped() {
        let numbers = |x: Form, y: Form| x <= y;
        let [a, b] = [1, 2].map(Lattice::form);
        assert_eq!(a.meet(&b, &numbers), Some(a.clone()));
        assert_eq!(a.join(&b, &numbers), Some(b));
    }
}
