//! Whether linear inequalities have a solution among the rational numbers.
//!
//! The simplex method in the form of Dutertre and de Moura, *A Fast Linear-Arithmetic Solver for
//! DPLL(T)*, CAV 2006. Every sum that is bounded is a variable of its own, which a row defines, and
//! bounds are added one at a time. Integers that have no solution here have none at all.

use super::form::Form;

/// A fraction in lowest terms, the denominator above 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rational {
    over: i128,
    under: i128,
}

impl Rational {
    const ZERO: Rational = Rational::whole(0);

    const fn whole(over: i128) -> Rational {
        Rational { over, under: 1 }
    }

    fn new(over: i128, under: i128) -> Option<Rational> {
        if under == 1 {
            return Some(Rational::whole(over));
        }
        let shared = greatest_divisor(over, under) * under.signum();
        Some(Rational { over: over.checked_div(shared)?, under: under.checked_div(shared)? })
    }

    fn plus(self, other: Rational) -> Option<Rational> {
        if self.under == 1 && other.under == 1 {
            return self.over.checked_add(other.over).map(Rational::whole);
        }
        let (left, right) = (self.over.checked_mul(other.under)?, other.over.checked_mul(self.under)?);
        Rational::new(left.checked_add(right)?, self.under.checked_mul(other.under)?)
    }

    fn minus(self, other: Rational) -> Option<Rational> {
        self.plus(Rational { over: other.over.checked_neg()?, ..other })
    }

    fn times(self, other: Rational) -> Option<Rational> {
        Rational::new(self.over.checked_mul(other.over)?, self.under.checked_mul(other.under)?)
    }

    fn divided_by(self, other: Rational) -> Option<Rational> {
        Rational::new(self.over.checked_mul(other.under)?, self.under.checked_mul(other.over)?)
    }

    fn is_below(self, other: Rational) -> Option<bool> {
        Some(self.over.checked_mul(other.under)? < other.over.checked_mul(self.under)?)
    }
}

/// Above 0, unless both are 0.
pub(super) fn greatest_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i128
}

/// A variable as a sum of the variables in the columns.
#[derive(Clone, Debug)]
struct Row {
    variable: usize,
    factors: Vec<Rational>,
}

/// Inequalities that have a solution, and one of their solutions.
#[derive(Clone, Default, Debug)]
pub(super) struct Simplex {
    /// The least and the largest value of each variable.
    bounds: Vec<[Option<i128>; 2]>,
    values: Vec<Rational>,
    /// The variables that no row defines. Their values are within their bounds.
    columns: Vec<usize>,
    rows: Vec<Row>,
    /// The variables of the forms' own, by their numbers there.
    own: Vec<Option<usize>>,
    /// The variables that stand for sums.
    sums: Vec<(Vec<(usize, i128)>, usize)>,
}

/// The first value of a variable.
fn at_first((least, most): (i128, i128)) -> Rational {
    Rational::whole(0.clamp(least, most))
}

/// Steps from solution to solution before giving up.
const MOST_STEPS: usize = 200;

impl Simplex {
    /// With `form ≤ 0` too: whether there is a solution still. None if numbers grow too large. `ranges` are those of the forms'
    /// variables.
    pub(super) fn with_at_most_zero(mut self, form: &Form, ranges: &[(i128, i128)]) -> Option<Option<Simplex>> {
        for &(variable, _) in &form.terms {
            self.own(variable as usize, ranges);
        }
        let (terms, sign, limit) = self.bounded(form)??;
        let variable = match terms[..] {
            [(variable, 1)] => variable,
            _ => self.sum(terms)?,
        };
        let [least, most] = &mut self.bounds[variable];
        if sign > 0 {
            *most = Some(most.map_or(limit, |most| most.min(limit)));
        } else {
            *least = Some(least.map_or(-limit, |least| least.max(-limit)));
        }
        if let [Some(least), Some(most)] = self.bounds[variable]
            && least > most
        {
            return Some(None);
        }
        if let Some(column) = self.columns.iter().position(|&other| other == variable)
            && let Some(bound) = self.missed(variable)?
        {
            self.move_to(column, bound.0)?;
        }
        Some(self.solve()?.then_some(self))
    }

    /// `form ≤ 0` as sign · Σ factor · variable ≤ limit, of whole numbers without a common divisor. None within if a variable is new.
    #[expect(clippy::type_complexity, reason = "three parts of one inequality")]
    fn bounded(&self, form: &Form) -> Option<Option<(Vec<(usize, i128)>, i128, i128)>> {
        let shared = form.terms.iter().fold(0, |shared, term| greatest_divisor(shared, term.1));
        let sign = form.terms.first()?.1.signum();
        let own = |&(variable, factor): &(u32, i128)| {
            let own = self.own.get(variable as usize).copied().flatten()?;
            Some((own, factor / (shared * sign)))
        };
        let Some(terms) = form.terms.iter().map(own).collect() else { return Some(None) };
        Some(Some((terms, sign, form.constant.checked_neg()?.div_euclid(shared))))
    }

    /// Whether the bounds of a sum that was bounded before say if `form ≤ 0`.
    pub(super) fn knows(&self, form: &Form) -> Option<Option<bool>> {
        let Some((terms, sign, limit)) = self.bounded(form)? else { return Some(None) };
        let variable = match terms[..] {
            [(variable, 1)] => Some(variable),
            _ => self.sums.iter().find(|sum| sum.0 == terms).map(|sum| sum.1),
        };
        let Some(variable) = variable else { return Some(None) };
        let [least, most] = self.bounds[variable];
        let (above, below) = match sign > 0 {
            true => (least, most),
            false => (most.map(|most| -most), least.map(|least| -least)),
        };
        Some(match (below, above) {
            (Some(below), _) if below <= limit => Some(true),
            (_, Some(above)) if above > limit => Some(false),
            _ => None,
        })
    }

    /// Whether the known solution has `form ≤ 0`.
    pub(super) fn is_at_most_zero(&self, form: &Form, ranges: &[(i128, i128)]) -> Option<bool> {
        let mut sum = Rational::whole(form.constant);
        for &(variable, factor) in &form.terms {
            let value = match self.own.get(variable as usize).copied().flatten() {
                Some(own) => self.values[own],
                None => at_first(ranges[variable as usize]),
            };
            sum = sum.plus(value.times(Rational::whole(factor))?)?;
        }
        Some(sum.over <= 0)
    }

    fn own(&mut self, number: usize, ranges: &[(i128, i128)]) -> usize {
        if self.own.len() <= number {
            self.own.resize(number + 1, None);
        }
        if let Some(variable) = self.own[number] {
            return variable;
        }
        let (least, most) = ranges[number];
        let variable = self.bounds.len();
        self.own[number] = Some(variable);
        self.bounds.push([Some(least), Some(most)]);
        self.values.push(at_first((least, most)));
        self.columns.push(variable);
        self.rows.iter_mut().for_each(|row| row.factors.push(Rational::ZERO));
        variable
    }

    /// The variable that stands for a sum.
    fn sum(&mut self, terms: Vec<(usize, i128)>) -> Option<usize> {
        if let Some((_, variable)) = self.sums.iter().find(|sum| sum.0 == terms) {
            return Some(*variable);
        }
        let variable = self.bounds.len();
        let mut factors = vec![Rational::ZERO; self.columns.len()];
        let mut value = Rational::ZERO;
        for &(part, factor) in &terms {
            let factor = Rational::whole(factor);
            value = value.plus(factor.times(self.values[part])?)?;
            match self.rows.iter().find(|row| row.variable == part) {
                Some(row) => {
                    for (own, &of_row) in factors.iter_mut().zip(&row.factors) {
                        *own = own.plus(factor.times(of_row)?)?;
                    }
                }
                None => {
                    let column = self.columns.iter().position(|&other| other == part)?;
                    factors[column] = factors[column].plus(factor)?;
                }
            }
        }
        self.bounds.push([None, None]);
        self.values.push(value);
        self.rows.push(Row { variable, factors });
        self.sums.push((terms, variable));
        Some(variable)
    }

    /// The bound that the value of a variable is beyond, if it is; and whether that is the largest value.
    fn missed(&self, variable: usize) -> Option<Option<(Rational, bool)>> {
        let value = self.values[variable];
        let [least, most] = self.bounds[variable].map(|bound| bound.map(Rational::whole));
        if let Some(least) = least
            && value.is_below(least)?
        {
            return Some(Some((least, false)));
        }
        if let Some(most) = most
            && most.is_below(value)?
        {
            return Some(Some((most, true)));
        }
        Some(None)
    }

    /// Gives the variable of a column another value.
    fn move_to(&mut self, column: usize, value: Rational) -> Option<()> {
        let variable = self.columns[column];
        let by = value.minus(self.values[variable])?;
        for row in self.rows.iter().filter(|row| row.factors[column].over != 0) {
            self.values[row.variable] = self.values[row.variable].plus(row.factors[column].times(by)?)?;
        }
        self.values[variable] = value;
        Some(())
    }

    /// Moves variables until all are within their bounds: whether that can be.
    fn solve(&mut self) -> Option<bool> {
        for _ in 0..MOST_STEPS {
            let mut worst: Option<(usize, Rational, bool)> = None;
            for (place, row) in self.rows.iter().enumerate() {
                // The first variable in order, so that no step is taken twice (Bland's rule).
                if worst.is_none_or(|(other, ..)| row.variable < self.rows[other].variable)
                    && let Some((bound, is_most)) = self.missed(row.variable)?
                {
                    worst = Some((place, bound, is_most));
                }
            }
            let Some((place, bound, is_most)) = worst else { return Some(true) };
            let mut chosen: Option<usize> = None;
            for (column, &factor) in self.rows[place].factors.iter().enumerate() {
                let variable = self.columns[column];
                let rises = (factor.over > 0) != is_most;
                let end = self.bounds[variable][usize::from(rises)].map(Rational::whole);
                let is_free = factor.over != 0 && end != Some(self.values[variable]);
                if is_free && chosen.is_none_or(|other| variable < self.columns[other]) {
                    chosen = Some(column);
                }
            }
            let Some(column) = chosen else { return Some(false) };
            self.exchange(place, column, bound)?;
        }
        None
    }

    /// The variable of a row gets this value and becomes that of the column, and the other way round.
    fn exchange(&mut self, place: usize, column: usize, value: Rational) -> Option<()> {
        let left = self.rows[place].variable;
        let factor = self.rows[place].factors[column];
        let by = value.minus(self.values[left])?.divided_by(factor)?;
        let entered = self.values[self.columns[column]].plus(by)?;
        self.move_to(column, entered)?;
        // left = factor · entered + rest, so entered = (left − rest) / factor.
        let mut solved = self.rows[place].factors.clone();
        for own in &mut solved {
            *own = Rational::ZERO.minus(own.divided_by(factor)?)?;
        }
        solved[column] = Rational::whole(1).divided_by(factor)?;
        for (other, row) in self.rows.iter_mut().enumerate() {
            let through = row.factors[column];
            if other == place || through == Rational::ZERO {
                continue;
            }
            row.factors[column] = Rational::ZERO;
            for (own, &of_solved) in row.factors.iter_mut().zip(&solved).filter(|(_, solved)| solved.over != 0) {
                *own = own.plus(through.times(of_solved)?)?;
            }
        }
        self.rows[place] = Row { variable: self.columns[column], factors: solved };
        self.columns[column] = left;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether c + a·x + b·y + … ≤ 0 for each of these has a solution in small whole numbers by trying all, and by the method: what
    /// the method calls impossible is, and where one variable stands alone with factor ±1 in differences it misses nothing.
    #[test]
    fn what_has_no_solution_is_found_out() {
        let mut numbers = crate::random::SplitMix64(5);
        let (mut possible, mut impossible) = (0, 0);
        for round in 0..3000 {
            let range = (-4, 4);
            let is_difference = round % 2 == 0;
            let forms: Vec<Form> = (0..3 + round % 5)
                .map(|_| {
                    let mut factor = || (numbers.next() % 5) as i128 - 2;
                    let factors = if is_difference { [1, -1, 0] } else { [factor(), factor(), factor()] };
                    let turn = (numbers.next() % 3) as usize;
                    let constant = (numbers.next() % 9) as i128 - 3;
                    let terms = (0..3).map(|place| (place as u32, factors[(place + turn) % 3]));
                    Form { constant, terms: terms.filter(|term| term.1 != 0).collect() }
                })
                .filter(|form| !form.terms.is_empty())
                .collect();
            let all = (-4..=4).flat_map(|x| (-4..=4).flat_map(move |y| (-4..=4).map(move |z| [x, y, z])));
            let holds = |at: &[i128; 3]| {
                let value =
                    |form: &Form| form.constant + form.terms.iter().map(|t| t.1 * at[t.0 as usize]).sum::<i128>();
                forms.iter().all(|form| value(form) <= 0)
            };
            let expected = all.into_iter().any(|at| holds(&at));
            let mut found = Some(Simplex::default());
            for form in &forms {
                found =
                    found.and_then(|simplex| simplex.with_at_most_zero(form, &[range; 3]).expect("numbers are small"));
            }
            assert!(found.is_some() || !expected, "{forms:?}");
            assert!(found.is_none() || expected || !is_difference, "{forms:?}");
            possible += usize::from(expected);
            impossible += usize::from(found.is_none());
        }
        assert!(possible > 300 && impossible > 300, "{possible} {impossible}");
    }
}
