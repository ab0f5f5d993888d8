//! `powf`: e to the power y·ln x, with ln x to 64 bits, since the product's error is the result's
//! relative one.

use super::exponential::{Reduced, reduce, scaled_exp};
use super::logarithm::{ln, split};
use super::{Doubles, LN_2_HEAD, LN_2_REST};
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::opcode::Opcode;
use crate::types::Type;

/// x to the power y for `f32` or `f64` values, in at most 150 instructions besides constants.
pub fn powf(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    let ty = b.type_of(x);
    let (x, y) = (b.cast(Type::F64, x), b.cast(Type::F64, y));
    let result = b.wrapping(|b| power(&mut Doubles(b), x, y, ty == Type::F32));
    b.cast(ty, result)
}

fn power(d: &mut Doubles, x: Value, y: Value, short: bool) -> Value {
    let magnitude = d.0.unary(Opcode::Abs, x);
    let value = if short {
        let logarithm = ln(d.0, magnitude);
        let exponent = d.mul(y, logarithm);
        let exponent = d.clamp(exponent, -110.0, 90.0);
        let Reduced { whole, r, .. } = reduce(d, exponent);
        scaled_exp(d, whole, r, None, true)
    } else {
        let (head, tail) = logarithm(d, magnitude);
        let (exponent, lost) = d.two_product(y, head);
        let lost = d.mul_add(y, tail, lost);
        let clamped = d.clamp(exponent, -750.0, 711.0);
        // Where something is infinite, what is lost has no meaning.
        let (zero, far) = (d.lit(0.0), d.lit(1e4));
        let distance = d.0.unary(Opcode::Abs, exponent);
        let lost = d.select_less(distance, far, lost, zero);
        let reduced = reduce(d, clamped);
        let missing = reduced.missing(d);
        let missing = d.add(missing, lost);
        let (r, missing) = d.two_sum(reduced.r, missing);
        scaled_exp(d, reduced.whole, r, Some(missing), false)
    };
    with_special_arguments(d, x, magnitude, y, value)
}

/// (2·artanh(s) − 2s − ⅔s³) / s⁵ as a function of s² for |s| ≤ 3 − 2√2, to 2⁻⁵⁵.
const LOGARITHM: [f64; 8] = [
    0.4,
    0.2857142857142937,
    0.2222222222165554,
    0.1818181833547124,
    0.15384594954137945,
    0.13334805149611875,
    0.11706224135460942,
    0.11723306234080849,
];

/// ⅔, and what that lacks.
const TWO_THIRDS: (f64, f64) = (0.6666666666666666, 3.700743415417188e-17);

/// ln x as a sum, for x ≥ 0: with x = 2ᵏ·(1 + f) and s = f / (2 + f) it is k·ln 2 + 2s + ⅔s³ + …, of which all but the
/// last terms are carried with what they lack.
fn logarithm(d: &mut Doubles, x: Value) -> (Value, Value) {
    let parts = split(d, x, false);
    let (one, two) = (d.lit(1.0), d.lit(2.0));
    let (denominator, denominator_lacks) = d.ordered_sum(two, parts.f);
    let reciprocal = d.0.binary(Opcode::Div, one, denominator);
    let s = d.mul(parts.f, reciprocal);
    let minus = d.0.unary(Opcode::Neg, s);
    let remainder = d.mul_add(minus, denominator, parts.f);
    let remainder = d.mul_add(minus, denominator_lacks, remainder);
    let s_lacks = d.mul(remainder, reciprocal);
    let (square, square_lacks) = d.two_product(s, s);
    let s_twice = d.add(s, s);
    let square_lacks = d.mul_add(s_twice, s_lacks, square_lacks);
    let (cube, cube_lacks) = d.two_product(s, square);
    let cube_lacks = d.mul_add(s, square_lacks, cube_lacks);
    let cube_lacks = d.mul_add(s_lacks, square, cube_lacks);
    let (factor, factor_lacks) = (d.lit(TWO_THIRDS.0), d.lit(TWO_THIRDS.1));
    let (third, third_lacks) = d.two_product(cube, factor);
    let third_lacks = d.mul_add(cube, factor_lacks, third_lacks);
    let third_lacks = d.mul_add(cube_lacks, factor, third_lacks);
    let fifth = d.mul(cube, square);
    let series = d.polynomial(square, &LOGARITHM);
    // k·ln 2 is 0 or larger than 2s, and the sum of both larger than ⅔s³.
    let (head, rest) = (d.lit(LN_2_HEAD), d.lit(LN_2_REST));
    let whole = d.mul(parts.k, head);
    let (sum, lost) = d.ordered_sum(whole, s_twice);
    let (sum, lost_again) = d.ordered_sum(sum, third);
    let tail = d.mul_add(parts.k, rest, third_lacks);
    let tail = d.mul_add(two, s_lacks, tail);
    let tail = d.mul_add(fifth, series, tail);
    let tail = d.add(tail, lost_again);
    let tail = d.add(tail, lost);
    let (head, tail) = d.ordered_sum(sum, tail);
    // Of 0 and ∞ the head alone counts.
    let (zero, most, minus_infinity) = (d.lit(0.0), d.lit(f64::MAX), d.lit(f64::NEG_INFINITY));
    let is_finite = d.0.binary(Opcode::Le, x, most);
    let head = d.0.select(is_finite, head, x);
    let is_zero = d.0.binary(Opcode::Eq, x, zero);
    (d.0.select(is_zero, minus_infinity, head), tail)
}

/// `value` is |x| to the power y, where that is a matter of logarithms. Nothing is compared with ∞: that would say that an
/// operator names it as a state.
fn with_special_arguments(d: &mut Doubles, x: Value, magnitude: Value, y: Value, value: Value) -> Value {
    let (zero, one, half, nan) = (d.lit(0.0), d.lit(1.0), d.lit(0.5), d.lit(f64::NAN));
    let (most, least) = (d.lit(f64::MAX), d.lit(f64::MIN));
    let is_whole = d.is_whole(y);
    let half_y = d.mul(y, half);
    let is_even = d.is_whole(half_y);
    let is_odd = d.0.unary(Opcode::Not, is_even);
    let is_odd = d.0.binary(Opcode::And, is_whole, is_odd);
    let sign = d.0.binary(Opcode::CopySign, one, x);
    let sign = d.0.select(is_odd, sign, one);
    let value = d.mul(value, sign);
    // A negative number has powers of whole exponents only; −0 and −∞ have all.
    let negative = d.0.binary(Opcode::Lt, x, zero);
    let finite = d.0.binary(Opcode::Le, least, x);
    let negative = d.0.binary(Opcode::And, negative, finite);
    let broken = d.0.unary(Opcode::Not, is_whole);
    let undefined = d.0.binary(Opcode::And, negative, broken);
    let value = d.0.select(undefined, nan, value);
    // 1, whatever the other is: x⁰, 1ʸ, and (−1)^±∞.
    let no_power = d.0.binary(Opcode::Eq, y, zero);
    let is_one = d.0.binary(Opcode::Eq, x, one);
    let is_unit = d.0.binary(Opcode::Eq, magnitude, one);
    let y_magnitude = d.0.unary(Opcode::Abs, y);
    let endless = d.0.binary(Opcode::Lt, most, y_magnitude);
    let endless = d.0.binary(Opcode::And, is_unit, endless);
    let always = d.0.binary(Opcode::Or, no_power, is_one);
    let always = d.0.binary(Opcode::Or, always, endless);
    d.0.select(always, one, value)
}
