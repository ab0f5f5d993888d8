//! `ln`, `log2` and `ln_1p`: split x into 2ᵏ·m with m around 1, a series in (m − 1) / (m + 1) for
//! the logarithm of m.

use super::{Doubles, LN_2_HEAD, LN_2_REST, LOG2_E, LOG2_E_REST, in_f64};
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::opcode::Opcode;
use crate::types::Type;

/// The natural logarithm of an `f32` or `f64` value, in at most 40 instructions besides constants.
pub fn ln(b: &mut FunctionBuilder, x: Value) -> Value {
    in_f64(b, x, |d, x, short| {
        let parts = split(d, x, short);
        let series = series(d, parts.f, short);
        let value = natural(d, parts.k, series);
        with_special_arguments(d, x, value)
    })
}

/// The logarithm to base 2 of an `f32` or `f64` value, in at most 50 instructions besides constants; exact for powers
/// of two.
pub fn log2(b: &mut FunctionBuilder, x: Value) -> Value {
    in_f64(b, x, |d, x, short| {
        let parts = split(d, x, short);
        let Logarithm { f, square, rest } = series(d, parts.f, short);
        // ln m as a sum of two, times log₂ e as a sum of two.
        let head = d.sub(f, square);
        let lost = d.sub(f, head);
        let lost = d.sub(lost, square);
        let tail = d.add(lost, rest);
        let (log2_e, log2_e_rest) = (d.lit(LOG2_E), d.lit(LOG2_E_REST));
        let product = d.mul(head, log2_e);
        let minus = d.0.unary(Opcode::Neg, product);
        let lost = d.mul_add(head, log2_e, minus);
        let lost = d.mul_add(head, log2_e_rest, lost);
        let lost = d.mul_add(tail, log2_e, lost);
        // k is 0 or larger than the product, so the sum's rounding error is exact.
        let sum = d.add(parts.k, product);
        let rounding = d.sub(parts.k, sum);
        let rounding = d.add(rounding, product);
        let small = d.add(rounding, lost);
        let value = d.add(sum, small);
        with_special_arguments(d, x, value)
    })
}

/// ln(1 + x) for an `f32` or `f64` value, in at most 60 instructions besides constants.
pub fn ln_1p(b: &mut FunctionBuilder, x: Value) -> Value {
    in_f64(b, x, |d, x, short| {
        let one = d.lit(1.0);
        let (sum, lost) = d.two_sum(one, x);
        // 1 + x is 0 or at least 2⁻⁵³, so `split` meets no subnormal number.
        let parts = split(d, sum, true);
        let zero = d.lit(0.0);
        let near = d.0.binary(Opcode::Eq, parts.k, zero);
        // Around 1 it is x itself that counts. Elsewhere what the sum lost is small beside the result, to first order.
        let f = d.0.select(near, x, parts.f);
        let Logarithm { f, square, rest } = series(d, f, short);
        let relative = d.0.binary(Opcode::Div, lost, sum);
        let relative = d.0.select(near, zero, relative);
        let rest = d.add(rest, relative);
        let value = natural(d, parts.k, Logarithm { f, square, rest });
        let value = with_special_arguments(d, sum, value);
        d.0.binary(Opcode::CopySign, value, x)
    })
}

/// k·ln 2 + f − (square − rest), the small ones first.
fn natural(d: &mut Doubles, k: Value, Logarithm { f, square, rest }: Logarithm) -> Value {
    let (head, tail) = (d.lit(LN_2_HEAD), d.lit(LN_2_REST));
    let small = d.mul_add(k, tail, rest);
    let small = d.sub(square, small);
    let small = d.sub(f, small);
    d.mul_add(k, head, small)
}

/// More than the exponent of the least number is below 0; with it, that of the largest has 12 bits.
const OFFSET: u64 = 2048;

/// x = 2ᵏ·(1 + f) with √½ ≤ 1 + f < √2, both as `f64`.
pub(super) struct Parts {
    pub(super) k: Value,
    pub(super) f: Value,
}

/// Splits a positive finite number; of any other it gives some numbers.
pub(super) fn split(d: &mut Doubles, x: Value, short: bool) -> Parts {
    let mantissa_bits = d.0.lit(52u32);
    // Less √½, the exponent changes where the one that is wanted does; with an offset it is no negative number.
    let root_half = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let offset = (OFFSET << 52).wrapping_sub(root_half);
    // Subnormal numbers are made normal first; an f32 widened to f64 is none.
    let bits = if short {
        let bits = d.0.bitcast(Type::U64, x);
        let offset = d.0.lit(offset);
        d.0.binary(Opcode::Add, bits, offset)
    } else {
        let (least, scale, one) = (d.lit(f64::MIN_POSITIVE), d.lit(2f64.powi(54)), d.lit(1.0));
        let scale = d.select_less(x, least, scale, one);
        let normal = d.mul(x, scale);
        let (bits, scale) = (d.0.bitcast(Type::U64, normal), d.0.bitcast(Type::U64, scale));
        let bits = d.0.binary(Opcode::Sub, bits, scale);
        let offset = d.0.lit(offset.wrapping_add(1f64.to_bits()));
        d.0.binary(Opcode::Add, bits, offset)
    };
    let mantissa = d.0.lit((1u64 << 52) - 1);
    let m = d.0.binary(Opcode::And, bits, mantissa);
    let root_half = d.0.lit(root_half);
    let m = d.0.binary(Opcode::Add, m, root_half);
    let m = d.0.bitcast(Type::F64, m);
    let one = d.lit(1.0);
    let f = d.sub(m, one);
    // 2⁵² + n has n in its last bits.
    let exponent = d.0.binary(Opcode::Shr, bits, mantissa_bits);
    let base = d.0.lit(2f64.powi(52).to_bits());
    let k = d.0.binary(Opcode::Or, exponent, base);
    let k = d.0.bitcast(Type::F64, k);
    let offset = d.lit((1u64 << 52 | OFFSET) as f64);
    let k = d.sub(k, offset);
    Parts { k, f }
}

/// ln(1 + f) = f − (square − rest).
struct Logarithm {
    f: Value,
    /// f² / 2
    square: Value,
    rest: Value,
}

/// (2·artanh(s) − 2s) / s³ as a function of s² for |s| ≤ 3 − 2√2, to 2⁻⁵¹.
const LOGARITHM: [f64; 7] = [
    0.666666666666667,
    0.39999999999899444,
    0.2857142862600327,
    0.22222211130259878,
    0.18182889455674947,
    0.15331710618210773,
    0.14616585424888623,
];

/// The same to 2⁻²⁹.
const LOGARITHM_SHORT: [f64; 4] = [0.6666666655445165, 0.40000121876972, 0.2855081659971155, 0.23330581938241893];

/// With s = f / (2 + f), ln(1 + f) = 2·artanh(s) = 2s + s·z·Q(z) where z = s². Since 2s = f − s·f, and
/// s·f = f²/2 − s·f²/2, this is f − (f²/2 − s·(f²/2 + z·Q(z))), whose first term is exact.
fn series(d: &mut Doubles, f: Value, short: bool) -> Logarithm {
    let (two, half) = (d.lit(2.0), d.lit(0.5));
    let denominator = d.add(two, f);
    let s = d.0.binary(Opcode::Div, f, denominator);
    let z = d.mul(s, s);
    let coefficients: &[f64] = if short { &LOGARITHM_SHORT } else { &LOGARITHM };
    let series = d.polynomial(z, coefficients);
    let f_half = d.mul(f, half);
    let square = d.mul(f, f_half);
    let both = d.mul_add(z, series, square);
    let rest = d.mul(s, both);
    Logarithm { f, square, rest }
}

/// `value` for positive finite x, and the limits elsewhere.
fn with_special_arguments(d: &mut Doubles, x: Value, value: Value) -> Value {
    let (zero, infinity) = (d.lit(0.0), d.lit(f64::INFINITY));
    let (minus_infinity, nan) = (d.lit(f64::NEG_INFINITY), d.lit(f64::NAN));
    let value = d.select_less(x, infinity, value, x);
    let is_zero = d.0.binary(Opcode::Eq, x, zero);
    let otherwise = d.0.select(is_zero, minus_infinity, nan);
    d.select_less(zero, x, value, otherwise)
}
