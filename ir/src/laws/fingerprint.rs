//! Polynomial identities by evaluation: the lemma of Schwartz, Zippel, DeMillo and Lipton.
//!
//! Two different polynomials of degree d agree at a random point of a field with p elements with a
//! probability of at most d/p. A value is therefore *fingerprinted*: computed at one random point
//! in each of three fields of 2^60 and more elements. What is not `+`, `−` or `×` becomes a
//! variable of its own, named by its operands' fingerprints. This costs three multiplications an
//! instruction, so it decides products of large matrices that expansion cannot.

use crate::function::{Function, Inst};
use crate::opcode::Opcode;
use crate::types::{Constant, Type};

/// Three primes, chosen at random: a coefficient that is a multiple of all three would have to be meant.
const PRIMES: [u64; 3] = [1735673665876579181, 2184358108299433489, 2174710125327088681];

/// A value at three points, with a bound on its degree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Print {
    at: [u64; 3],
    degree: f64,
    /// The value of a `bool`, where the case says so.
    known: Option<bool>,
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn multiply(a: u64, b: u64, prime: u64) -> u64 {
    (a as u128 * b as u128 % prime as u128) as u64
}

fn power(mut base: u64, mut exponent: u64, prime: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base, prime);
        }
        base = multiply(base, base, prime);
        exponent >>= 1;
    }
    result
}

impl Print {
    /// A variable, named by some words.
    fn named(words: &[u64]) -> Print {
        let field = |i: usize| {
            words.iter().fold(mix(i as u64 + 1), |hash, &word| mix(hash.rotate_left(7) ^ mix(word ^ 0x9e37_79b9)))
                % PRIMES[i]
        };
        Print { at: [field(0), field(1), field(2)], degree: 1.0, known: None }
    }

    /// The free variable with this number.
    pub(crate) fn variable(number: usize) -> Print {
        Print::named(&[number as u64, 0x7661_7269])
    }

    /// A `bool` that is known.
    pub(crate) fn flag(known: bool) -> Print {
        Print { known: Some(known), ..Print::named(&[known as u64, 0x666c_6167]) }
    }

    /// A constant: exact, since a float is a whole number times a power of two.
    pub(crate) fn constant(constant: Constant) -> Print {
        let ty = constant.ty();
        if ty == Type::Bool {
            return Print::flag(constant.bits() != 0);
        }
        if !(ty.is_int() || ty.is_float() && constant.as_f64().is_finite()) {
            let bits = constant.bits();
            return Print::named(&[bits as u64, (bits >> 64) as u64, ty.size() as u64, 0x636f_6e73]);
        }
        let (whole, exponent) = if ty.is_float() { split(constant.as_f64()) } else { (constant.as_int(), 0) };
        let field = |i: usize| {
            let prime = PRIMES[i];
            let whole = whole.rem_euclid(prime as i128) as u64;
            let two = if exponent >= 0 { 2 } else { prime.div_ceil(2) };
            multiply(whole, power(two, exponent.unsigned_abs() as u64, prime), prime)
        };
        Print { at: [field(0), field(1), field(2)], degree: 0.0, known: None }
    }

    fn map(self, other: Print, degree: f64, f: impl Fn(u64, u64, u64) -> u64) -> Print {
        Print { at: std::array::from_fn(|i| f(self.at[i], other.at[i], PRIMES[i])), degree, known: None }
    }

    fn add(self, other: Print) -> Print {
        self.map(other, self.degree.max(other.degree), |a, b, prime| (a + b) % prime)
    }

    fn negate(self) -> Print {
        self.map(self, self.degree, |a, _, prime| (prime - a) % prime)
    }

    fn multiply(self, other: Print) -> Print {
        self.map(other, self.degree + other.degree, multiply)
    }
}

/// `x` as a whole number times a power of two.
fn split(x: f64) -> (i128, i32) {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i128;
    let (whole, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    (if x < 0.0 { -whole } else { whole }, exponent)
}

/// The fingerprints of a function's results.
pub(crate) fn call(function: &Function, arguments: &[Print]) -> Vec<Print> {
    let mut prints = arguments.to_vec();
    for inst in &function.insts {
        let operands: Vec<Print> = inst.operands().iter().map(|operand| prints[operand.index()]).collect();
        prints.push(apply(inst, &operands));
    }
    function.results.iter().map(|result| prints[result.index()]).collect()
}

fn apply(inst: &Inst, x: &[Print]) -> Print {
    if let Some(constant) = inst.as_constant() {
        return Print::constant(constant);
    }
    if let Some(decided) = decide(inst, x) {
        return decided;
    }
    let numbers = inst.ty.is_int() || inst.ty.is_float();
    match inst.opcode {
        Opcode::Add if numbers => x[0].add(x[1]),
        Opcode::Sub if numbers => x[0].add(x[1].negate()),
        Opcode::Neg if numbers => x[0].negate(),
        Opcode::Mul if numbers => x[0].multiply(x[1]),
        Opcode::MulAdd => x[0].multiply(x[1]).add(x[2]),
        opcode => {
            let payload = match inst.payload {
                crate::Payload::Table(table) => table as u64,
                crate::Payload::Lane(lane) => lane as u64,
                _ => 0,
            };
            let head =
                [opcode as u64, inst.ty.bits() as u64, inst.ty.is_signed() as u64, inst.ty.is_float() as u64, payload];
            Print::named(&x.iter().flat_map(|print| print.at).chain(head).collect::<Vec<u64>>())
        }
    }
}

/// The values that follow from flags that are known.
fn decide(inst: &Inst, x: &[Print]) -> Option<Print> {
    let known = |i: usize| x.get(i).and_then(|print| print.known);
    match (inst.opcode, known(0), known(1)) {
        (Opcode::Select, Some(true), _) => Some(x[1]),
        (Opcode::Select, Some(false), _) => Some(x[2]),
        (Opcode::And, Some(true), _) | (Opcode::Or, Some(false), _) => Some(x[1]),
        (Opcode::And, _, Some(true)) | (Opcode::Or, _, Some(false)) => Some(x[0]),
        (Opcode::And, Some(false), _) | (Opcode::And, _, Some(false)) => Some(Print::flag(false)),
        (Opcode::Or, Some(true), _) | (Opcode::Or, _, Some(true)) => Some(Print::flag(true)),
        (Opcode::Xor | Opcode::Ne, Some(a), Some(b)) => Some(Print::flag(a != b)),
        (Opcode::Eq, Some(a), Some(b)) => Some(Print::flag(a == b)),
        (Opcode::Not, Some(a), _) => Some(Print::flag(!a)),
        _ => None,
    }
}

/// Whether two lists of fingerprints are of equal polynomials: how far from doubt, as a power of two.
pub(crate) fn equal(left: &[Print], right: &[Print]) -> Option<f64> {
    let degree = left.iter().chain(right).fold(1.0, |most: f64, print| most.max(print.degree));
    let bound = 3.0 * (60.0 - degree.log2()) - (left.len().max(1) as f64).log2();
    let agree = left.iter().zip(right).all(|(a, b)| a.at == b.at);
    agree.then_some(bound)
}
