//! `tanh`: with t = e²ᵃ − 1 for a = |x|, it is t / (t + 2).

use super::exponential::{minus_one_as_sum, reduce};
use super::{Doubles, in_f64};
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::opcode::Opcode;

/// The hyperbolic tangent of an `f32` or `f64` value, in at most 55 instructions besides constants.
pub fn tanh(b: &mut FunctionBuilder, x: Value) -> Value {
    in_f64(b, x, |d, x, short| {
        let magnitude = d.0.unary(Opcode::Abs, x);
        let twice = d.add(magnitude, magnitude);
        // From 2·19.1 on the result is 1.
        let most = d.lit(44.0);
        let twice = d.select_less(most, twice, most, twice);
        let reduced = reduce(d, twice);
        let missing = reduced.missing(d);
        let (head, tail) = minus_one_as_sum(d, reduced.n, reduced.r, missing, short);
        let value = quotient(d, head, tail, short);
        d.0.binary(Opcode::CopySign, value, x)
    })
}

/// t / (t + 2) for t = head + tail, corrected once by its remainder.
fn quotient(d: &mut Doubles, head: Value, tail: Value, short: bool) -> Value {
    let two = d.lit(2.0);
    let denominator = d.add(head, two);
    if short {
        return d.0.binary(Opcode::Div, head, denominator);
    }
    let one = d.lit(1.0);
    let rest = d.sub(denominator, two);
    let rest = d.sub(head, rest);
    let rest = d.add(rest, tail);
    let reciprocal = d.0.binary(Opcode::Div, one, denominator);
    let first = d.mul(head, reciprocal);
    let minus = d.0.unary(Opcode::Neg, first);
    let remainder = d.mul_add(minus, denominator, head);
    let remainder = d.add(remainder, tail);
    let remainder = d.mul_add(minus, rest, remainder);
    d.mul_add(remainder, reciprocal, first)
}
