//! The exponential, logarithmic and circular functions as strict IR: some dozens of instructions
//! each, the same bits on every engine.
//!
//! The IR has no transcendental opcodes, because no two mathematical libraries agree on their last
//! bit. A front end expands them here instead. All are free of branches; the result is within 2 ulp
//! of the exact value for every argument (about 1 in all that the tests sample), subnormal results
//! included, and special arguments give what Rust's functions give:
//!
//! | | −∞ | −0 | +0 | +∞ | NaN | elsewhere |
//! |---|---|---|---|---|---|---|
//! | `exp`, `exp2` | 0 | 1 | 1 | ∞ | NaN | overflow to ∞, gradual underflow to 0 |
//! | `exp_m1` | −1 | −0 | +0 | ∞ | NaN | overflow to ∞ |
//! | `ln`, `log2` | NaN | −∞ | −∞ | ∞ | NaN | of negative numbers NaN; `log2(2ⁿ)` is exactly n |
//! | `ln_1p` | NaN | −0 | +0 | ∞ | NaN | of −1 it is −∞, below NaN |
//! | `tanh` | −1 | −0 | +0 | 1 | NaN | `tanh(−x)` is exactly −tanh x |
//! | `sin`, `tan` | NaN | −0 | +0 | NaN | NaN | odd; arguments of any size are reduced exactly |
//! | `cos` | NaN | 1 | 1 | NaN | NaN | even; as `sin` |
//!
//! `powf` is within 2 ulp, and its special arguments are those of IEEE 754 `pow`, as Rust's.
//!
//! For `f32` the work is done in `f64` with shorter polynomials and rounded once at the end.
//!
//! The polynomials interpolate at Chebyshev nodes of their interval, computed with 80 digits and
//! rounded to `f64`; each states its interval and error, and the tests judge the functions as a
//! whole against double-double arithmetic.

mod circular;
mod exponential;
mod logarithm;
mod power;
mod tangent;

pub use circular::{cos, sin, tan, turns};
pub use exponential::{exp, exp_m1, exp2};
pub use logarithm::{ln, ln_1p, log2};
pub use power::powf;
pub use tangent::tanh;

use crate::builder::FunctionBuilder;
use crate::function::{Function, Value};
use crate::opcode::Opcode;
use crate::types::Type;

/// A function of this module by its name, over `f32` or `f64`, as code of its own; none if there is no such function, or
/// not over this type. `turns` is asked for the number of the program's table of [turns], if the function looks up in that.
///
/// ```
/// use monoscan_ir::{Constant, Type, interp, math};
/// let exp = math::function("exp", Type::F64, || None).unwrap();
/// assert_eq!(interp::call(&exp, &[Constant::from(0.0)], &[]), [Constant::from(1.0)]);
/// ```
pub fn function(name: &str, ty: Type, turns: impl FnOnce() -> Option<u32>) -> Option<Function> {
    type Unary = fn(&mut FunctionBuilder, Value) -> Value;
    type LooksUp = fn(&mut FunctionBuilder, Value, u32) -> Value;
    let unary: [(&str, Unary); 7] = [
        ("exp", exp),
        ("exp2", exp2),
        ("exp_m1", exp_m1),
        ("ln", ln),
        ("ln_1p", ln_1p),
        ("log2", log2),
        ("tanh", tanh),
    ];
    let looks_up: [(&str, LooksUp); 3] = [("sin", sin), ("cos", cos), ("tan", tan)];
    if !ty.is_float() {
        return None;
    }
    let mut b = FunctionBuilder::new();
    let x = b.param(ty);
    let result = if let Some((_, of)) = unary.into_iter().find(|(own, _)| *own == name) {
        of(&mut b, x)
    } else if let Some((_, of)) = looks_up.into_iter().find(|(own, _)| *own == name) {
        of(&mut b, x, turns()?)
    } else if name == "powf" {
        let y = b.param(ty);
        powf(&mut b, x, y)
    } else {
        return None;
    };
    Some(b.finish(&[result]))
}

/// log₂ e.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// log₂ e − `LOG2_E`.
const LOG2_E_REST: f64 = 2.0355273740931033e-17;
/// ln 2 − the `f64` nearest to it.
const LN_2_LACKS: f64 = 2.3190468138462996e-17;
/// The first 42 bits of ln 2: its product with an exponent of up to 11 bits is exact.
const LN_2_HEAD: f64 = 0.6931471805598903;
/// ln 2 − `LN_2_HEAD`.
const LN_2_REST: f64 = 5.497923018708371e-14;

/// The sum of this number and a small one is rounded to a whole number, which is in its last bits.
const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;

/// Computes in `f64`, and for an `f32` argument rounds once at the end. `short` says that an `f32` is all that is needed.
/// Integers hold bits of floats here, so what overflows is meant to.
fn in_f64(b: &mut FunctionBuilder, x: Value, function: impl FnOnce(&mut Doubles, Value, bool) -> Value) -> Value {
    let short = b.type_of(x) == Type::F32;
    let wide = if short { b.cast(Type::F64, x) } else { x };
    let result = b.wrapping(|b| function(&mut Doubles(b), wide, short));
    if short { b.cast(Type::F32, result) } else { result }
}

/// A builder of `f64` arithmetic.
struct Doubles<'b>(&'b mut FunctionBuilder);

impl Doubles<'_> {
    fn lit(&mut self, value: f64) -> Value {
        self.0.lit(value)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(Opcode::Add, a, b)
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(Opcode::Sub, a, b)
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.0.binary(Opcode::Mul, a, b)
    }

    /// a·b + c, rounded once.
    fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.0.op(Opcode::MulAdd, &[a, b, c])
    }

    /// a + b, and what its rounding lost.
    fn two_sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let sum = self.add(a, b);
        let of_b = self.sub(sum, a);
        let of_a = self.sub(sum, of_b);
        let (lost_a, lost_b) = (self.sub(a, of_a), self.sub(b, of_b));
        (sum, self.add(lost_a, lost_b))
    }

    /// a + b, and what its rounding lost, where a is 0 or no smaller than b.
    fn ordered_sum(&mut self, a: Value, b: Value) -> (Value, Value) {
        let sum = self.add(a, b);
        let of_b = self.sub(sum, a);
        (sum, self.sub(b, of_b))
    }

    /// a·b, and what its rounding lost.
    fn two_product(&mut self, a: Value, b: Value) -> (Value, Value) {
        let product = self.mul(a, b);
        let minus = self.0.unary(Opcode::Neg, product);
        (product, self.mul_add(a, b, minus))
    }

    /// c₀ + c₁·x + c₂·x² + …: c₀, on which the error depends, as in Horner's scheme; the others by Estrin's, neighbours first, then
    /// pairs by x², then fours by x⁴. That is about as many operations, of which only some log₂ wait for each other. If the others are a
    /// few more than a power of two, the first of them are as c₀, and save a power of x.
    fn polynomial(&mut self, x: Value, coefficients: &[f64]) -> Value {
        let mut parts: Vec<Value> = coefficients.iter().map(|&coefficient| self.lit(coefficient)).collect();
        let (others, levels) = (coefficients.len() - 1, (coefficients.len() - 1).ilog2() as usize);
        let more = others - (1 << levels);
        let first: Vec<Value> = parts.drain(..if more < levels { 1 + more } else { 1 }).collect();
        let mut power = x;
        while parts.len() > 1 {
            let together = |pair: &[Value]| match *pair {
                [low, high] => self.mul_add(high, power, low),
                _ => pair[0],
            };
            parts = parts.chunks(2).map(together).collect();
            if parts.len() > 1 {
                power = self.mul(power, power);
            }
        }
        first.into_iter().rfold(parts[0], |sum, coefficient| self.mul_add(sum, x, coefficient))
    }

    /// Whether x has no fraction.
    fn is_whole(&mut self, x: Value) -> Value {
        let whole = self.0.unary(Opcode::Trunc, x);
        self.0.binary(Opcode::Eq, whole, x)
    }

    /// Whether a `u64` is odd.
    fn is_odd(&mut self, number: Value) -> Value {
        let (one, zero) = (self.0.lit(1u64), self.0.lit(0u64));
        let last = self.0.binary(Opcode::And, number, one);
        self.0.binary(Opcode::Ne, last, zero)
    }

    /// `if a < b { yes } else { no }`
    fn select_less(&mut self, a: Value, b: Value, yes: Value, no: Value) -> Value {
        let less = self.0.binary(Opcode::Lt, a, b);
        self.0.select(less, yes, no)
    }

    /// x, moved into [least, most]; NaN stays.
    fn clamp(&mut self, x: Value, least: f64, most: f64) -> Value {
        let (least, most) = (self.lit(least), self.lit(most));
        let x = self.select_less(x, least, least, x);
        self.select_less(most, x, most, x)
    }

    /// 2ⁿ for a whole n from −1022 to 1023.
    fn power_of_two(&mut self, n: Value) -> Value {
        let biased = self.lit(WHOLE + 1023.0);
        let biased = self.add(n, biased);
        let bits = self.0.bitcast(Type::U64, biased);
        self.as_exponent(bits)
    }

    /// The number whose exponent is the last bits of a `u64`.
    fn as_exponent(&mut self, bits: Value) -> Value {
        let mantissa_bits = self.0.lit(52u32);
        let bits = self.0.binary(Opcode::Shl, bits, mantissa_bits);
        self.0.bitcast(Type::F64, bits)
    }
}
