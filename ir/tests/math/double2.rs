//! Double-double arithmetic, and the functions in it that expansions are compared with.

use std::sync::LazyLock;

/// A number as the unevaluated sum of two: about 106 bits.
#[derive(Clone, Copy)]
pub(crate) struct Double2 {
    pub(crate) head: f64,
    pub(crate) tail: f64,
}

impl Double2 {
    pub(crate) const ONE: Double2 = Double2 { head: 1.0, tail: 0.0 };
    /// ln 2 to 106 bits: 0.693147180559945309417232121458176568…
    pub(crate) const LN_2: Double2 = Double2 { head: std::f64::consts::LN_2, tail: 2.3190468138462996e-17 };

    pub(crate) fn new(head: f64) -> Double2 {
        Double2 { head, tail: 0.0 }
    }

    pub(crate) fn sum(a: f64, b: f64) -> Double2 {
        let head = a + b;
        let of_b = head - a;
        Double2 { head, tail: (a - (head - of_b)) + (b - of_b) }
    }

    pub(crate) fn add(self, other: Double2) -> Double2 {
        let heads = Double2::sum(self.head, other.head);
        let tails = Double2::sum(self.tail, other.tail);
        let once = Double2::sum(heads.head, heads.tail + tails.head);
        Double2::sum(once.head, once.tail + tails.tail)
    }

    pub(crate) fn mul(self, other: Double2) -> Double2 {
        let head = self.head * other.head;
        let tail = self.head.mul_add(other.head, -head) + (self.head * other.tail + self.tail * other.head);
        Double2::sum(head, tail)
    }

    pub(crate) fn neg(self) -> Double2 {
        Double2 { head: -self.head, tail: -self.tail }
    }

    pub(crate) fn div(self, other: Double2) -> Double2 {
        let first = Double2::new(self.head / other.head);
        let rest = self.add(other.mul(first).neg());
        let second = Double2::new(rest.head / other.head);
        let rest = rest.add(other.mul(second).neg());
        first.add(second).add(Double2::new(rest.head / other.head))
    }

    pub(crate) fn scaled(self, by: f64) -> Double2 {
        Double2 { head: self.head * by, tail: self.tail * by }
    }
}

/// 1 / n, for as many terms as 106 bits take.
pub(crate) static RECIPROCALS: LazyLock<[Double2; 26]> =
    LazyLock::new(|| std::array::from_fn(|n| Double2::ONE.div(Double2::new(n as f64))));

/// How far `got` is from `reference·2^scale`, in units of the last place that `got` can have there.
pub(crate) fn ulps(got: f64, reference: Double2, scale: i32) -> f64 {
    let two_to = |n: i32| f64::from_bits(((n + 1023) as u64) << 52);
    let exponent = ((reference.head.abs().to_bits() >> 52) as i32 - 1023).max(-1022);
    let unit_exponent = (exponent + scale - 52).max(-1074);
    // Everything times 2^−scale, in two exact steps.
    let half = -scale / 2;
    let got = got * two_to(half) * two_to(-scale - half);
    let error = Double2::new(got).add(reference.neg()).head.abs();
    let unit = unit_exponent - scale;
    if unit < -1022 { error * two_to(500) / two_to(unit + 500) } else { error / two_to(unit) }
}

/// e^r − 1 by its Taylor series, for |r| ≤ 0.4.
pub(crate) fn exp_m1_reduced(r: Double2) -> Double2 {
    let mut sum = Double2::new(0.0);
    for &reciprocal in RECIPROCALS[1..].iter().rev() {
        // Horner: r/1·(1 + r/2·(1 + r/3·(1 + …)))
        sum = r.mul(reciprocal).mul(Double2::ONE.add(sum));
    }
    sum
}

/// e^x as a number near 1 and a power of two.
pub(crate) fn exp_parts(x: Double2) -> (Double2, i32) {
    let n = (x.head / Double2::LN_2.head).round();
    let r = x.add(Double2::LN_2.mul(Double2::new(-n)));
    (exp_m1_reduced(r).add(Double2::ONE), n as i32)
}

pub(crate) fn exp2_parts(x: f64) -> (Double2, i32) {
    let n = x.round();
    (exp_m1_reduced(Double2::LN_2.mul(Double2::new(x - n))).add(Double2::ONE), n as i32)
}

/// One Newton step from the library's value, which doubles its digits: y + (m·e^−y − 1).
pub(crate) fn ln_double2(x: f64) -> Double2 {
    let (m, k) = if x < f64::MIN_POSITIVE { (x * 2f64.powi(60), -60.0) } else { (x, 0.0) };
    let exponent = ((m.to_bits() >> 52) as i32 - 1023) as f64;
    let m = f64::from_bits(m.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    let (m, exponent) = if m > 1.5 { (m / 2.0, exponent + 1.0) } else { (m, exponent) };
    let mut y = Double2::new(m.ln());
    let ratio_m1 = exp_m1_reduced(y.neg()).mul(Double2::new(m)).add(Double2::sum(m, -1.0));
    // ln(1 + d) = d − d²/2 + …
    y = y.add(ratio_m1.add(ratio_m1.mul(ratio_m1).scaled(-0.5)));
    y.add(Double2::LN_2.mul(Double2::new(exponent + k)))
}

/// sin x and cos x for moderate x: the nearest multiple of π/2 is taken off in three parts, then Taylor series.
pub(crate) fn sin_cos_double2(x: f64) -> (Double2, Double2) {
    const QUARTER: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];
    let n = (x / QUARTER[0]).round();
    let part = |p: f64| {
        let product = n * p;
        Double2 { head: product, tail: n.mul_add(p, -product) }.neg()
    };
    let r = QUARTER.iter().fold(Double2::new(x), |r, &p| r.add(part(p)));
    let square = r.mul(r).neg();
    // 1 + z/(a·(a+1))·(1 + z/((a+2)·(a+3))·(…)), for 12 terms.
    let series = |first: usize| {
        (0..12).rev().fold(Double2::ONE, |sum, term| {
            let a = first + 2 * term;
            let factor = square.mul(RECIPROCALS[a]).mul(RECIPROCALS[a + 1]);
            Double2::ONE.add(factor.mul(sum))
        })
    };
    let (sine, cosine) = (r.mul(series(2)), series(1));
    match n.rem_euclid(4.0) as u8 {
        0 => (sine, cosine),
        1 => (cosine, sine.neg()),
        2 => (sine.neg(), cosine.neg()),
        _ => (cosine.neg(), sine),
    }
}
