//! The plain loop that a recurrence stands for: what the scan is checked and timed against.

use std::ops::{Add, Mul};

use monoscan_ir::Primitive;

use super::{MAX_ORDER, Signature};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A type of samples: `f32` or `f64`.
pub trait Sample:
    Primitive + crate::prelude::ScanType + Default + Add<Output = Self> + Mul<Output = Self> + sealed::Sealed
{
    /// The number, rounded.
    fn from_f64(value: f64) -> Self;
    /// The number, without loss.
    fn to_f64(self) -> f64 {
        self.into().as_f64()
    }
    /// self·factor + addend: with one rounding if this crate was compiled for a processor that has the instruction,
    /// with two if not.
    fn times_plus(self, factor: Self, addend: Self) -> Self;
}

macro_rules! samples {
    ($($ty:ident)*) => {$(
        impl Sample for $ty {
            fn from_f64(value: f64) -> $ty {
                value as $ty
            }
            #[inline(always)]
            fn times_plus(self, factor: $ty, addend: $ty) -> $ty {
                if cfg!(target_feature = "fma") { self.mul_add(factor, addend) } else { self * factor + addend }
            }
        }
    )*};
}

samples! { f32 f64 }

/// y\[i\] = Σ a_j·x\[i−j\] + Σ b_j·y\[i−j\] by the plain loop, term by term in the type of the samples, for as many
/// samples as both slices have. For finite x, [`Recurrence`](super::Recurrence) agrees with it up to rounding.
///
/// ```
/// use monoscan::recurrence::filter_sequentially;
///
/// let mut y = [0.0; 4];
/// filter_sequentially(&"1 : 0.5".parse()?, &[1.0, 0.0, 0.0, 0.0], &mut y);
/// assert_eq!(y, [1.0, 0.5, 0.25, 0.125]);
/// # Ok::<(), monoscan::recurrence::SignatureError>(())
/// ```
pub fn filter_sequentially<T: Sample>(signature: &Signature, x: &[T], y: &mut [T]) {
    macro_rules! by_order {
        ($($order:literal)*) => {
            match (signature.order(), signature.feedback().is_empty()) {
                $(
                    ($order, true) => direct_form::<T, $order, false>(signature, x, y),
                    ($order, false) => direct_form::<T, $order, true>(signature, x, y),
                )*
                (_, true) => direct_form::<T, MAX_ORDER, false>(signature, x, y),
                (_, false) => direct_form::<T, MAX_ORDER, true>(signature, x, y),
            }
        };
    }
    by_order! { 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 }
}

/// The loop for a recurrence that looks back at most D samples. The oldest terms are summed first, so that y\[i\] waits
/// for y\[i−1\] through one product and one sum only.
fn direct_form<T: Sample, const D: usize, const FEEDBACK: bool>(signature: &Signature, x: &[T], y: &mut [T]) {
    let coefficients = |list: &[f64]| std::array::from_fn(|j| T::from_f64(list.get(j).copied().unwrap_or(0.0)));
    let a0 = T::from_f64(signature.feed_forward()[0]);
    let a: [T; D] = coefficients(&signature.feed_forward()[1..]);
    let b: [T; D] = coefficients(signature.feedback());
    let (mut past_x, mut past_y) = ([T::default(); D], [T::default(); D]);
    for (&x, y) in x.iter().zip(y) {
        let mut sum = x * a0;
        for j in (0..D).rev() {
            sum = past_x[j].times_plus(a[j], sum);
        }
        push(&mut past_x, x);
        // Without feedback there is nothing to multiply by 0, which would turn an ∞ of the past into NaN.
        if FEEDBACK {
            for j in (0..D).rev() {
                sum = past_y[j].times_plus(b[j], sum);
            }
            push(&mut past_y, sum);
        }
        *y = sum;
    }
}

/// Makes `newest` the first of the past and forgets the last.
#[inline(always)]
fn push<T: Copy, const D: usize>(past: &mut [T; D], newest: T) {
    for j in (1..D).rev() {
        past[j] = past[j - 1];
    }
    if let Some(first) = past.first_mut() {
        *first = newest;
    }
}
