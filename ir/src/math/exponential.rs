//! `exp`, `exp2` and `exp_m1`: split off a power of two, a polynomial for what remains.

use std::f64::consts::LN_2;

use super::{Doubles, LN_2_HEAD, LN_2_LACKS, LN_2_REST, LOG2_E, WHOLE, in_f64};
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::opcode::Opcode;
use crate::types::Type;

/// eˣ for an `f32` or `f64` value, in at most 40 instructions besides constants.
///
/// ```
/// use monoscan_ir::{interp, math, FunctionBuilder, Type};
/// let mut b = FunctionBuilder::new();
/// let x = b.param(Type::F32);
/// let y = math::exp(&mut b, x);
/// let exp = b.finish(&[y]);
/// assert_eq!(interp::call(&exp, &[1f32.into()], &[]), [std::f32::consts::E.into()]);
/// ```
pub fn exp(b: &mut FunctionBuilder, x: Value) -> Value {
    in_f64(b, x, |d, x, short| {
        // Beyond, the result is 0 or ∞ already.
        let x = if short { d.clamp(x, -110.0, 90.0) } else { d.clamp(x, -750.0, 711.0) };
        let Reduced { whole, r, .. } = reduce(d, x);
        // What r lacks is a quarter of a unit in the last place of the result at most.
        scaled_exp(d, whole, r, None, short)
    })
}

/// 2ˣ for an `f32` or `f64` value, in at most 40 instructions besides constants; exact where x is an integer.
pub fn exp2(b: &mut FunctionBuilder, x: Value) -> Value {
    in_f64(b, x, |d, x, short| {
        let x = if short { d.clamp(x, -160.0, 130.0) } else { d.clamp(x, -1080.0, 1025.0) };
        let (n, whole) = in_last_bits(d, x);
        let fraction = d.sub(x, n);
        let (ln_2, ln_2_rest) = (d.lit(LN_2), d.lit(LN_2_LACKS));
        let r = d.mul(fraction, ln_2);
        let minus = d.0.unary(Opcode::Neg, r);
        let missing = d.mul_add(fraction, ln_2, minus);
        let missing = d.mul_add(fraction, ln_2_rest, missing);
        scaled_exp(d, whole, r, Some(missing), short)
    })
}

/// eˣ − 1 for an `f32` or `f64` value, in at most 50 instructions besides constants.
pub fn exp_m1(b: &mut FunctionBuilder, x: Value) -> Value {
    in_f64(b, x, |d, x, short| {
        // Below, the result is −1; above, ∞.
        let clamped = d.clamp(x, -45.0, 711.0);
        let reduced = reduce(d, clamped);
        let missing = reduced.missing(d);
        let Reduced { n, r, .. } = reduced;
        // 2¹⁰²⁴ is no number, so what n has beyond 1023 is multiplied in at the end, where the 1 no longer counts.
        let most = d.lit(1023.0);
        let low = d.select_less(most, n, most, n);
        let (head, tail) = minus_one_as_sum(d, low, r, missing, short);
        let value = d.add(head, tail);
        let beyond = d.sub(n, low);
        let scale = d.power_of_two(beyond);
        let value = d.mul(value, scale);
        d.0.binary(Opcode::CopySign, value, x)
    })
}

/// 2ⁿ·e to the power r + missing, less 1, for −66 ≤ n ≤ 1023, as a sum of a number and its rounding error.
pub(super) fn minus_one_as_sum(d: &mut Doubles, n: Value, r: Value, missing: Value, short: bool) -> (Value, Value) {
    let (square, factor) = series(d, r, short);
    let tail = d.mul_add(square, factor, missing);
    let sum = d.add(r, tail);
    let lost = d.sub(r, sum);
    let lost = d.add(lost, tail);
    // 2ⁿ·(1 + sum + lost) − 1; 2ⁿ − 1 is 0 or larger than 2ⁿ·sum, so again the rounding error is exact.
    let power = d.power_of_two(n);
    let minus_one = d.lit(-1.0);
    let whole = d.add(power, minus_one);
    let part = d.mul(power, sum);
    let head = d.add(whole, part);
    let rounding = d.sub(whole, head);
    let rounding = d.add(rounding, part);
    let tail = d.mul_add(power, lost, rounding);
    (head, tail)
}

/// n·ln 2 + r with a whole n and |r| ≤ ½·ln 2.
pub(super) struct Reduced {
    pub(super) n: Value,
    /// n + [`IN_LAST_BITS`].
    pub(super) whole: Value,
    pub(super) r: Value,
    /// x less the first bits of n·ln 2, exactly.
    exact: Value,
}

/// x as such a sum.
pub(super) fn reduce(d: &mut Doubles, x: Value) -> Reduced {
    let (log2_e, head, rest) = (d.lit(LOG2_E), d.lit(-LN_2_HEAD), d.lit(-LN_2_REST));
    let quotient = d.mul(x, log2_e);
    let (n, whole) = in_last_bits(d, quotient);
    let exact = d.mul_add(n, head, x);
    let r = d.mul_add(n, rest, exact);
    Reduced { n, whole, r, exact }
}

impl Reduced {
    /// The exact remainder − r.
    pub(super) fn missing(&self, d: &mut Doubles) -> Value {
        let rest = d.lit(-LN_2_REST);
        let lost = d.sub(self.exact, self.r);
        d.mul_add(self.n, rest, lost)
    }
}

/// The sum of this number and a whole n has n + 2·1023 in its last bits.
const IN_LAST_BITS: f64 = WHOLE + 2.0 * 1023.0;

/// The whole n next to x, and n + [`IN_LAST_BITS`]. That sum alone would round as well, but then the judge of laws, which bounds the
/// rounding of every sum, could not tell that n is whole.
fn in_last_bits(d: &mut Doubles, x: Value) -> (Value, Value) {
    let of_last_bits = d.lit(IN_LAST_BITS);
    let n = d.0.unary(Opcode::RoundEven, x);
    (n, d.add(n, of_last_bits))
}

/// (eʳ − 1 − r) / r² for |r| ≤ ½·ln 2, to 2⁻⁵⁷.
const EXPONENTIAL: [f64; 11] = [
    0.5,
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326136,
    0.0013888888888883748,
    0.00019841269874820627,
    2.4801587325547743e-05,
    2.7557255400206422e-06,
    2.75572736431103e-07,
    2.5105217004720745e-08,
    2.0914686968086876e-09,
];

/// The same to 2⁻²⁹.
const EXPONENTIAL_SHORT: [f64; 6] = [
    0.500000001346581,
    0.16666666681623232,
    0.041666464925285904,
    0.0083333109254809,
    0.0013933649996309251,
    0.00019890990824673654,
];

/// r² and q such that eʳ − 1 = r + r²·q, for |r| ≤ ½·ln 2.
fn series(d: &mut Doubles, r: Value, short: bool) -> (Value, Value) {
    let polynomial: &[f64] = if short { &EXPONENTIAL_SHORT } else { &EXPONENTIAL };
    (d.mul(r, r), d.polynomial(r, polynomial))
}

/// 2ⁿ times e to the power r + missing; `whole` has n + 2·1023 in its last bits. Half of the exponent at a time, so that only the last
/// product overflows or loses bits.
pub(super) fn scaled_exp(d: &mut Doubles, whole: Value, r: Value, missing: Option<Value>, short: bool) -> Value {
    let (square, factor) = series(d, r, short);
    let small = match missing.filter(|_| !short) {
        None => d.mul_add(square, factor, r),
        Some(missing) => {
            let tail = d.mul_add(square, factor, missing);
            d.add(r, tail)
        }
    };
    let bits = d.0.bitcast(Type::U64, whole);
    if short {
        let bias = d.0.lit(1023u64);
        let bits = d.0.binary(Opcode::Sub, bits, bias);
        let power = d.as_exponent(bits);
        return d.mul_add(small, power, power);
    }
    let one = d.0.lit(1u32);
    let half = d.0.binary(Opcode::Shr, bits, one);
    let other = d.0.binary(Opcode::Sub, bits, half);
    let (power, other) = (d.as_exponent(half), d.as_exponent(other));
    let value = d.mul_add(small, power, power);
    d.mul(value, other)
}
