//! Linear forms: a constant and multiples of variables.

/// constant + Σ factor · variable, in the order of the variables, without factors that are 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Form {
    pub(super) constant: i128,
    pub(super) terms: Vec<(u32, i128)>,
}

impl Form {
    pub(super) fn constant(constant: i128) -> Form {
        Form { constant, terms: Vec::new() }
    }

    pub(super) fn variable(variable: u32) -> Form {
        Form { constant: 0, terms: vec![(variable, 1)] }
    }

    pub(super) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// self + factor · other.
    pub(super) fn plus(&self, other: &Form, factor: i128) -> Option<Form> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let variable = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) => a.0.min(b.0),
                (Some(a), None) => a.0,
                (None, Some(b)) => b.0,
                (None, None) => return Some(Form { constant, terms }),
            };
            let own = left.next_if(|term| term.0 == variable).map_or(0, |term| term.1);
            let others = right.next_if(|term| term.0 == variable).map_or(0, |term| term.1);
            let sum = own.checked_add(others.checked_mul(factor)?)?;
            if sum != 0 {
                terms.push((variable, sum));
            }
        }
    }

    /// The form and a number.
    pub(super) fn moved(&self, by: i128) -> Option<Form> {
        Some(Form { constant: self.constant.checked_add(by)?, terms: self.terms.clone() })
    }

    pub(super) fn times(&self, factor: i128) -> Option<Form> {
        Form::default().plus(self, factor)
    }

    /// The least and the largest value, of variables in these ranges.
    pub(super) fn range(&self, ranges: &[(i128, i128)]) -> Option<(i128, i128)> {
        self.terms.iter().try_fold((self.constant, self.constant), |(least, most), &(variable, factor)| {
            let (low, high) = ranges[variable as usize];
            let ends = [low.checked_mul(factor)?, high.checked_mul(factor)?];
            Some((least.checked_add(ends[0].min(ends[1]))?, most.checked_add(ends[0].max(ends[1]))?))
        })
    }
}
