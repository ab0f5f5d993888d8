//! The recurrence as it is defined, with about 32 digits: what accuracy is measured against.

use super::Signature;

/// A number as the sum of two `f64` that do not overlap.
#[derive(Clone, Copy)]
struct Wide(f64, f64);

impl Wide {
    /// self + factor·other, the factor exact.
    fn plus_times(self, factor: f64, other: Wide) -> Wide {
        let product = factor * other.0;
        let low = factor.mul_add(other.0, -product) + factor * other.1;
        let sum = self.0 + product;
        let part = sum - self.0;
        let lost = (self.0 - (sum - part)) + (product - part);
        let low = lost + low + self.1;
        Wide(sum + low, low - ((sum + low) - sum))
    }
}

/// y\[i\] = Σ a_j·x\[i−j\] + Σ b_j·y\[i−j\], term by term with about 32 digits, rounded at the end: what both the scan
/// and the plain loop can be judged by. Some fifty times slower than the loop. Means nothing from the first x or y that
/// is not finite.
///
/// ```
/// use monoscan::recurrence::filter_exactly;
/// assert_eq!(filter_exactly(&"1 : 3, -3, 1".parse()?, &[1.0, 0.0, 0.0, 0.0]), [1.0, 3.0, 6.0, 10.0]);
/// # Ok::<(), monoscan::recurrence::SignatureError>(())
/// ```
pub fn filter_exactly(signature: &Signature, x: &[f64]) -> Vec<f64> {
    let mut y: Vec<Wide> = Vec::with_capacity(x.len());
    for i in 0..x.len() {
        let mut sum = Wide(0.0, 0.0);
        for (a, &x) in signature.feed_forward().iter().zip(x[..=i].iter().rev()) {
            sum = sum.plus_times(*a, Wide(x, 0.0));
        }
        for (b, &y) in signature.feedback().iter().zip(y.iter().rev()) {
            sum = sum.plus_times(*b, y);
        }
        y.push(sum);
    }
    y.iter().map(|y| y.0).collect()
}
