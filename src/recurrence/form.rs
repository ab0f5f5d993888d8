//! The form in which a recurrence is computed: which state, with which coefficients, and how far
//! they grow.
//!
//! The transposed direct form II with y substituted: y = a0·x + s1 and s ↦ A·s + B·x, where A has
//! b_1 … b_d in its first column and ones above its diagonal. For sums of sums, and filters that
//! are slow compared to the sampling rate, the components of this s are large and nearly cancel, in
//! A^n most of all. The cure is an old one, the delta form (Middleton and Goodwin 1986): the same
//! structure in terms of z − 1 instead of z, so that the components are differences of those above.
//! So A = `shift` + N, where N has the structure just described.

use monoscan_ir::{Constant, Type};

use super::{Precision, RecurrenceError, Signature};

/// Powers of A that stay below this within [`HORIZON`] samples need no shift, which costs an addition a component.
const HARMLESS: f64 = 64.0;
/// See [`HARMLESS`]; about the length of a block.
const HORIZON: u64 = 1024;

/// s ↦ (shift + N)·s + B·x with output y = a0·x + s1. Row j of that says s_j ↦ shift·s_j + β_j·s1 + s_{j+1} + B_j·x.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// The type of x and y, `f32` or `f64`.
    pub(crate) sample: Type,
    /// The type of the state and of all arithmetic, `f32` or `f64`.
    pub(crate) state: Type,
    /// 0, 1 or −1.
    pub(crate) shift: f64,
    /// a0: what the sample adds to its own output.
    pub(crate) direct: f64,
    /// β_1 … β_d: N^d = Σ β_j·N^(d−j).
    pub(crate) feedback: Vec<f64>,
    /// B_1 … B_d.
    pub(crate) input: Vec<f64>,
}

impl Form {
    /// The best conditioned form of a signature, with every coefficient rounded to the type of the state.
    ///
    /// # Errors
    /// [`RecurrenceError::Range`] if that type cannot hold one.
    pub(crate) fn new(signature: &Signature, sample: Type, precision: Precision) -> Result<Form, RecurrenceError> {
        let state = if precision == Precision::Double { Type::F64 } else { sample };
        let direct = Form::shifted_by(0.0, signature, sample, state)?;
        if direct.growth(HORIZON).peak <= HARMLESS {
            return Ok(direct);
        }
        let mut best = direct;
        for shift in [1.0, -1.0] {
            let form = Form::shifted_by(shift, signature, sample, state)?;
            if 2.0 * form.weight() < best.weight() {
                best = form;
            }
        }
        Ok(best)
    }

    fn shifted_by(shift: f64, signature: &Signature, sample: Type, state: Type) -> Result<Form, RecurrenceError> {
        let order = signature.order().max(1);
        let padded = |list: &[f64]| [list, &vec![0.0; order - list.len()]].concat();
        // Of samples that count for nothing y is 0, and stays 0 whatever is fed back.
        let is_silent = signature.feed_forward().iter().all(|&a| a == 0.0);
        let feedback = if is_silent { &[] } else { signature.feedback() };
        let (a, b) = (padded(&signature.feed_forward()[1..]), padded(feedback));
        let a0 = signature.feed_forward()[0];
        let input: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b.mul_add(a0, *a)).collect();
        // χ(z) = z^d − Σ b_j·z^(d−j), highest power first.
        let characteristic = [vec![-1.0], b.clone()].concat();

        let rounded = |name: &str, first: usize, list: &[f64]| round_all(state, name, first, list);
        rounded("a", 1, &a)?;
        rounded("b", 1, &b)?;
        let direct = rounded("a", 0, &[a0])?[0];
        let feedback = rounded("feedback of state ", 1, &moved(characteristic, shift)[1..])?;
        let input = rounded("input of state ", 1, &moved(input, shift))?;
        Ok(Form { sample, state, shift, direct, feedback, input })
    }

    /// d: how many numbers the state has; at least one.
    pub(crate) fn order(&self) -> usize {
        self.feedback.len()
    }

    /// Whether nothing enters the state: y is a0·x alone.
    pub(crate) fn is_memoryless(&self) -> bool {
        self.input.iter().chain(&self.feedback).all(|&coefficient| coefficient == 0.0)
    }

    /// How far N is from a plain shift.
    fn weight(&self) -> f64 {
        self.feedback.iter().map(|coefficient| coefficient.abs()).sum()
    }

    /// A as a polynomial in N of degree below d, lowest power first: shift + N, or, where d is 1, the number that it is.
    pub(crate) fn first_power(&self) -> Vec<f64> {
        let mut power = vec![0.0; self.order()];
        power[0] = self.shift;
        match power.get_mut(1) {
            Some(linear) => *linear = 1.0,
            None => power[0] += self.feedback[0],
        }
        power
    }

    /// How much A, …, A^`samples` magnify a state.
    pub(crate) fn growth(&self, samples: u64) -> Growth {
        let limit = if self.state == Type::F32 { f32::MAX as f64 } else { f64::MAX }.sqrt();
        let mut power = self.first_power();
        let mut growth = Growth { samples, peak: 0.0, exceeded_after: None };
        for sample in 1..=samples {
            growth.peak = power.iter().fold(growth.peak, |peak, coefficient| peak.max(coefficient.abs()));
            // Not `>`: what left the range may be NaN, which `max` skips.
            if !power.iter().all(|coefficient| coefficient.abs() <= limit) {
                growth.exceeded_after = Some(sample);
                break;
            }
            self.times_a(&mut power);
        }
        growth
    }

    /// Multiplies a polynomial in N by A.
    pub(super) fn times_a(&self, power: &mut [f64]) {
        let top = power[power.len() - 1];
        let mut below = 0.0;
        for (coefficient, b) in power.iter_mut().zip(self.feedback.iter().rev()) {
            let old = *coefficient;
            *coefficient = b.mul_add(top, self.shift.mul_add(old, below));
            below = old;
        }
    }
}

/// The polynomial in z − `point` that equals this one in z, both with the highest power first: Horner's scheme, again
/// and again.
fn moved(mut polynomial: Vec<f64>, point: f64) -> Vec<f64> {
    for end in (1..polynomial.len()).rev() {
        for place in 1..=end {
            polynomial[place] = point.mul_add(polynomial[place - 1], polynomial[place]);
        }
    }
    polynomial
}

/// Coefficients called `name` with a number from `first` on, in a type that must have space for them.
fn round_all(ty: Type, name: &str, first: usize, list: &[f64]) -> Result<Vec<f64>, RecurrenceError> {
    let round = |(place, &value): (usize, &f64)| {
        let rounded = if ty == Type::F32 { Constant::from(value as f32).as_f64() } else { value };
        let error = || RecurrenceError::Range { coefficient: format!("{name}{}", first + place), value, ty };
        rounded.is_finite().then_some(rounded).ok_or_else(error)
    };
    list.iter().enumerate().map(round).collect()
}

/// How much a state, and every rounding error in it, is magnified while some samples pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Growth {
    /// Up to how many samples were looked at.
    pub samples: u64,
    /// The largest coefficient of what these samples do to a state.
    pub peak: f64,
    /// After how many samples it exceeded the square root of the largest number of the state's type, if it did.
    pub exceeded_after: Option<u64>,
}
