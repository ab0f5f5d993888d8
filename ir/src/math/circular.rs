//! `sin`, `cos` and `tan`: the argument in turns, exactly, then a polynomial on an eighth of a turn
//! to either side.
//!
//! An argument above π/4 is a 53-bit integer m times a power of two. What counts of m·2ᵉ / 2π is
//! the fraction, so of the binary digits of 1/2π only the 192 behind the first e are multiplied by
//! m (Payne and Hanek 1983). They come from a table, [`turns`], which the caller adds to its
//! program. No double is so close to a multiple of π/2 that 128 bits of the fraction would not
//! leave 60 significant ones.

use super::{Doubles, in_f64};
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::opcode::Opcode;
use crate::program::Table;
use crate::types::{Constant, Type};

/// The binary digits of 1/2π, behind a word of zeros, for as far as the largest `f64` needs them.
const DIGITS: [u64; 20] = [
    0,
    0x28be_60db_9391_054a,
    0x7f09_d5f4_7d4d_3770,
    0x36d8_a566_4f10_e410,
    0x7f94_58ea_f7ae_f158,
    0x6dc9_1b8e_9093_74b8,
    0x0192_4bba_8274_6487,
    0x3f87_7ac7_2c4a_69cf,
    0xba20_8d7d_4bae_d121,
    0x3a67_1c09_ad17_df90,
    0x4e64_758e_60d4_ce7d,
    0x2721_17e2_ef7e_4a0e,
    0xc7fe_25ff_f781_6603,
    0xfbcb_c462_d682_9b47,
    0xdb4d_9fb3_c9f2_c26d,
    0xd3d1_8fd9_a797_fa8b,
    0x5d49_eeb1_faf9_7c5e,
    0xcf41_ce7d_e294_a4ba,
    0x9afe_d7ec_47e3_5742,
    0x1580_cc11_bf1e_daea,
];

/// The table that [`sin`], [`cos`] and [`tan`] look up; they take its number in the program.
pub fn turns() -> Table {
    Table::new(Type::U64, DIGITS.map(Constant::from))
}

/// The sine of an `f32` or `f64` value, in at most 110 instructions besides constants.
pub fn sin(b: &mut FunctionBuilder, x: Value, turns: u32) -> Value {
    in_f64(b, x, |d, x, short| {
        let angle = Angle::of(d, x, turns, short);
        let (sine, cosine) = angle.sine_and_cosine(d, short);
        let (sine, cosine) = (sine.sum(d), cosine.sum(d));
        let magnitude = angle.by_quadrant(d, angle.quadrant, sine, cosine);
        angle.odd(d, magnitude)
    })
}

/// The cosine of an `f32` or `f64` value, in at most 110 instructions besides constants.
pub fn cos(b: &mut FunctionBuilder, x: Value, turns: u32) -> Value {
    in_f64(b, x, |d, x, short| {
        let angle = Angle::of(d, x, turns, short);
        let (sine, cosine) = angle.sine_and_cosine(d, short);
        let (sine, cosine) = (sine.sum(d), cosine.sum(d));
        // A quarter of a turn ahead of the sine.
        let one = d.0.lit(1u64);
        let ahead = d.0.binary(Opcode::Add, angle.quadrant, one);
        let value = angle.by_quadrant(d, ahead, sine, cosine);
        let one = d.lit(1.0);
        angle.times(d, one, value)
    })
}

/// The tangent of an `f32` or `f64` value, in at most 130 instructions besides constants.
pub fn tan(b: &mut FunctionBuilder, x: Value, turns: u32) -> Value {
    in_f64(b, x, |d, x, short| {
        let angle = Angle::of(d, x, turns, short);
        let (sine, cosine) = angle.sine_and_cosine(d, short);
        let swap = d.is_odd(angle.quadrant);
        let above =
            Sum { head: d.0.select(swap, cosine.head, sine.head), tail: d.0.select(swap, cosine.tail, sine.tail) };
        let below =
            Sum { head: d.0.select(swap, sine.head, cosine.head), tail: d.0.select(swap, sine.tail, cosine.tail) };
        let quotient = quotient(d, above, below);
        let minus = d.0.unary(Opcode::Neg, quotient);
        let magnitude = d.0.select(swap, minus, quotient);
        angle.odd(d, magnitude)
    })
}

/// A number and what it lacks.
struct Sum {
    head: Value,
    tail: Value,
}

impl Sum {
    fn sum(&self, d: &mut Doubles) -> Value {
        d.add(self.head, self.tail)
    }
}

/// above / below, corrected once by its remainder.
fn quotient(d: &mut Doubles, above: Sum, below: Sum) -> Value {
    let (above_head, above_tail) = d.ordered_sum(above.head, above.tail);
    let (below_head, below_tail) = d.ordered_sum(below.head, below.tail);
    let one = d.lit(1.0);
    let reciprocal = d.0.binary(Opcode::Div, one, below_head);
    let first = d.mul(above_head, reciprocal);
    let minus = d.0.unary(Opcode::Neg, first);
    let remainder = d.mul_add(minus, below_head, above_head);
    let remainder = d.add(remainder, above_tail);
    let remainder = d.mul_add(minus, below_tail, remainder);
    d.mul_add(remainder, reciprocal, first)
}

/// |x| as a number of quarter turns, and r + missing with |r| ≤ π/4.
struct Angle {
    x: Value,
    /// A `u64`; its last two bits count.
    quadrant: Value,
    r: Value,
    missing: Value,
}

impl Angle {
    fn of(d: &mut Doubles, x: Value, turns: u32, short: bool) -> Angle {
        let magnitude = d.0.unary(Opcode::Abs, x);
        let fraction = fraction_of_a_turn(d, magnitude, turns, short);
        let (rounding, to_quarters) = (d.0.lit(1u64 << 61), d.0.lit(62u32));
        let quadrant = d.0.binary(Opcode::Add, fraction.high, rounding);
        let quadrant = d.0.binary(Opcode::Shr, quadrant, to_quarters);
        let whole = d.0.binary(Opcode::Shl, quadrant, to_quarters);
        let rest = d.0.binary(Opcode::Sub, fraction.high, whole);
        let rest = d.0.bitcast(Type::I64, rest);
        let (r, missing) = radians(d, rest, fraction.low);
        // The fraction of a small angle has few digits, and needs no reduction.
        let eighth = d.lit(std::f64::consts::FRAC_PI_4);
        let is_small = d.0.binary(Opcode::Lt, magnitude, eighth);
        let (zero, none) = (d.lit(0.0), d.0.lit(0u64));
        let quadrant = d.0.select(is_small, none, quadrant);
        let r = d.0.select(is_small, magnitude, r);
        let missing = d.0.select(is_small, zero, missing);
        Angle { x, quadrant, r, missing }
    }

    /// The sine and the cosine of r + missing.
    fn sine_and_cosine(&self, d: &mut Doubles, short: bool) -> (Sum, Sum) {
        let (sine, cosine): (&[f64], &[f64]) = if short { (&SINE_SHORT, &COSINE_SHORT) } else { (&SINE, &COSINE) };
        let (one, half) = (d.lit(1.0), d.lit(0.5));
        let r = self.r;
        let square = d.mul(r, r);
        let (sine, cosine) = (d.polynomial(square, sine), d.polynomial(square, cosine));
        let half_square = d.mul(square, half);
        let near = d.sub(one, half_square);
        let cube = d.mul(square, r);
        let fourth = d.mul(square, square);
        // sin: r + (r³·S + missing·(1 − r²/2))
        let tail = d.mul(self.missing, near);
        let tail = d.mul_add(cube, sine, tail);
        // cos: (1 − r²/2) + (r⁴·C − r·missing), with what the first rounding lost.
        let lost = d.sub(one, near);
        let lost = d.sub(lost, half_square);
        let minus = d.0.unary(Opcode::Neg, r);
        let lost = d.mul_add(minus, self.missing, lost);
        let lost = d.mul_add(fourth, cosine, lost);
        (Sum { head: r, tail }, Sum { head: near, tail: lost })
    }

    /// sin r, cos r, −sin r or −cos r.
    fn by_quadrant(&self, d: &mut Doubles, quadrant: Value, sine: Value, cosine: Value) -> Value {
        let swap = d.is_odd(quadrant);
        let value = d.0.select(swap, cosine, sine);
        let (one, minus) = (d.0.lit(1u32), d.0.unary(Opcode::Neg, value));
        let half_turns = d.0.binary(Opcode::Shr, quadrant, one);
        let negative = d.is_odd(half_turns);
        d.0.select(negative, minus, value)
    }

    /// An odd function's value, of its value for |x|.
    fn odd(&self, d: &mut Doubles, magnitude: Value) -> Value {
        let one = d.lit(1.0);
        let sign = d.0.binary(Opcode::CopySign, one, self.x);
        self.times(d, sign, magnitude)
    }

    /// sign · value, but NaN where x is NaN or infinite. That is left to x − x: to compare with ∞ would say that an
    /// operator names ∞ as a state.
    fn times(&self, d: &mut Doubles, sign: Value, value: Value) -> Value {
        let nothing = d.sub(self.x, self.x);
        let sign = d.add(sign, nothing);
        d.mul(value, sign)
    }
}

/// (sin r / r − 1) / r² as a function of r² for |r| ≤ π/4, to 2⁻⁵⁴.
const SINE: [f64; 6] = [
    -0.16666666666666666,
    0.008333333333330948,
    -0.00019841269836756774,
    2.7557316101617874e-06,
    -2.505113165023518e-08,
    1.5918115263265974e-10,
];

/// The same to 2⁻³⁵.
const SINE_SHORT: [f64; 4] =
    [-0.16666666663854168, 0.008333331874273714, -0.000198400864995936, 2.7249895230611676e-06];

/// (cos r − 1 + r²/2) / r⁴ as a function of r² for |r| ≤ π/4, to 2⁻⁵⁸.
const COSINE: [f64; 6] = [
    0.041666666666666664,
    -0.0013888888888887398,
    2.480158729876456e-05,
    -2.7557317271145144e-07,
    2.087614614655861e-09,
    -1.1382623647474604e-11,
];

/// The same to 2⁻³⁸.
const COSINE_SHORT: [f64; 4] =
    [0.041666666664320264, -0.0013888887671652504, 2.480060018036381e-05, -2.7300933687212943e-07];

/// A fraction of a turn: high / 2⁶⁴ + low / 2¹²⁸, both `u64`.
struct Fraction {
    high: Value,
    /// None where an `f32` is all that is needed.
    low: Option<Value>,
}

/// The fraction of magnitude / 2π, for a magnitude of at least ½.
fn fraction_of_a_turn(d: &mut Doubles, magnitude: Value, turns: u32, short: bool) -> Fraction {
    let b = &mut *d.0;
    let bits = b.bitcast(Type::U64, magnitude);
    let (mantissa_bits, mantissa_mask, hidden) = (b.lit(52u32), b.lit((1u64 << 52) - 1), b.lit(1u64 << 52));
    let exponent = b.binary(Opcode::Shr, bits, mantissa_bits);
    let exponent = b.cast(Type::U32, exponent);
    let mantissa = b.binary(Opcode::And, bits, mantissa_mask);
    let mantissa = b.binary(Opcode::Or, mantissa, hidden);
    // magnitude = mantissa·2^(exponent − 1075), and the digits behind the point begin at number 64.
    let first = b.lit(1075 - 64u32);
    let place = b.binary(Opcode::Sub, exponent, first);
    let (six, low_bits) = (b.lit(6u32), b.lit(63u32));
    let word = b.binary(Opcode::Shr, place, six);
    let shift = b.binary(Opcode::And, place, low_bits);
    let counter_shift = b.binary(Opcode::Sub, low_bits, shift);
    let one = b.lit(1u32);
    let mut words = Vec::new();
    for number in 0..if short { 3u32 } else { 4 } {
        let number = b.lit(number);
        let at = b.binary(Opcode::Add, word, number);
        words.push(b.table(turns, Type::U64, at));
    }
    let digits: Vec<Value> = words
        .windows(2)
        .map(|pair| {
            let left = b.binary(Opcode::Shl, pair[0], shift);
            // In two steps, since 64 is no shift.
            let right = b.binary(Opcode::Shr, pair[1], one);
            let right = b.binary(Opcode::Shr, right, counter_shift);
            b.binary(Opcode::Or, left, right)
        })
        .collect();
    let high = b.binary(Opcode::Mul, mantissa, digits[0]);
    let carried = b.binary(Opcode::MulHigh, mantissa, digits[1]);
    let high = b.binary(Opcode::Add, high, carried);
    let Some(&last) = digits.get(2) else { return Fraction { high, low: None } };
    let middle = b.binary(Opcode::Mul, mantissa, digits[1]);
    let carried = b.binary(Opcode::MulHigh, mantissa, last);
    let low = b.binary(Opcode::Add, middle, carried);
    let carry = b.binary(Opcode::Lt, low, middle);
    let carry = b.cast(Type::U64, carry);
    Fraction { high: b.binary(Opcode::Add, high, carry), low: Some(low) }
}

/// 2π / 2⁶⁴, and what that lacks.
const RADIANS: (f64, f64) = (3.4061215800865545e-19, 1.3277647201629795e-35);

/// (high + low / 2⁶⁴) / 2⁶⁴ turns in radians, as a sum; high is an `i64`.
fn radians(d: &mut Doubles, high: Value, low: Option<Value>) -> (Value, Value) {
    let (unit, unit_lacks) = (d.lit(RADIANS.0), d.lit(RADIANS.1));
    let head = d.0.cast(Type::F64, high);
    let Some(low) = low else { return (d.mul(head, unit), d.lit(0.0)) };
    let back = d.0.cast(Type::I64, head);
    let lost = d.0.binary(Opcode::Sub, high, back);
    let lost = d.0.cast(Type::F64, lost);
    // Signed integers are the faster to convert.
    let one = d.0.lit(1u32);
    let low = d.0.binary(Opcode::Shr, low, one);
    let low = d.0.bitcast(Type::I64, low);
    let (low, scale) = (d.0.cast(Type::F64, low), d.lit(2f64.powi(-63)));
    let tail = d.mul_add(low, scale, lost);
    let (head, tail) = d.two_sum(head, tail);
    let (r, missing) = d.two_product(head, unit);
    let missing = d.mul_add(tail, unit, missing);
    (r, d.mul_add(head, unit_lacks, missing))
}
