use super::*;
use crate::builder::FunctionBuilder;
use crate::function::Value;
use crate::interp;
use crate::random::SplitMix64;
use crate::types::Constant;

/// A condition on two numbers of eight bits: sums, bounds and choices, which wrap or do not, and a comparison of two of them.
fn condition(numbers: &mut SplitMix64) -> Function {
    use Opcode::{Add, AddSat, Eq, Ge, Le, Lt, Max, Min, Mul, Ne, Neg, Sub, SubSat, Xor};
    let ty = if numbers.next().is_multiple_of(2) { Type::I8 } else { Type::U8 };
    let mut b = FunctionBuilder::new();
    let mut pool = b.params(&[ty; 2]);
    pool.push(b.constant(ty.of_i64((numbers.next() % 100) as i64)));
    for _ in 0..2 + numbers.next() % 5 {
        let mut any = || pool[numbers.next() as usize % pool.len()];
        let (x, y, z) = (any(), any(), any());
        let opcode =
            [Add, Sub, Min, Max, Add, Sub, Min, Max, AddSat, SubSat, Neg, Mul, Xor][numbers.next() as usize % 13];
        let outer = b.set_wrapping(!numbers.next().is_multiple_of(4));
        let value = match opcode {
            _ if numbers.next().is_multiple_of(6) => {
                let is_less = b.binary(Lt, x, y);
                b.select(is_less, z, x)
            }
            Neg => b.unary(Neg, x),
            _ => b.binary(opcode, x, y),
        };
        b.set_wrapping(outer);
        let other = if ty == Type::I8 { Type::U8 } else { Type::I8 };
        let value = match numbers.next() % 12 {
            0 => {
                let bits = b.bitcast(other, value);
                b.bitcast(ty, bits)
            }
            1 => {
                let wide = b.cast(Type::I16, value);
                b.cast(ty, wide)
            }
            _ => value,
        };
        pool.push(value);
    }
    let mut any = || pool[numbers.next() as usize % pool.len()];
    let (x, y, z) = (any(), any(), any());
    let opcode = [Le, Ge, Eq, Ne][numbers.next() as usize % 4];
    let (premise, conclusion) = (b.binary(Le, x, z), b.binary(opcode, x, y));
    b.finish(&[premise, conclusion])
}

/// Arguments of eight bits for which no sum leaves its type natively and the premise is true, but not the conclusion: of all first ones,
/// and of some second ones with the ends of the types among them.
fn counterexample(function: &Function, numbers: &mut SplitMix64) -> Option<[Constant; 2]> {
    let ty = function.params[0];
    let mut second = vec![0, 1, 127, 128, 255];
    second.extend((0..8).map(|_| u128::from(numbers.next() & 255)));
    let all = (0..256u128).flat_map(|x| second.iter().map(move |&y| [Constant::new(ty, x), Constant::new(ty, y)]));
    all.into_iter().find(|arguments| {
        let (results, overflowed) = interp::call_checked(function, arguments, &[]);
        !overflowed && results[0].bits() == 1 && results[1].bits() == 0
    })
}

#[test]
fn what_is_proved_is_true_of_numbers_of_eight_bits() {
    let mut numbers = SplitMix64(2);
    let mut proved = 0;
    for _ in 0..400 {
        let function = condition(&mut numbers);
        if prove(&function, 1, &[], 400).is_some() {
            let found = counterexample(&function, &mut numbers);
            assert!(found.is_none(), "{found:?}\n{function}");
            proved += 1;
        }
    }
    assert!(proved > 40, "{proved} proved");
}

/// p·x + q·y ≤ c of two numbers that cannot overflow.
fn is_at_most(b: &mut FunctionBuilder, [x, y]: [Value; 2], [p, q, c]: [i32; 3]) -> Value {
    let [p, q, c] = [p, q, c].map(|number| b.lit(number));
    let (px, qy) = (b.binary(Opcode::Mul, p, x), b.binary(Opcode::Mul, q, y));
    let sum = b.binary(Opcode::Add, px, qy);
    b.binary(Opcode::Le, sum, c)
}

/// Of two numbers of eight bits: these premises, and that one of these conclusions holds.
fn implication(premises: &[[i32; 3]], conclusions: &[[i32; 3]]) -> Function {
    let mut b = FunctionBuilder::new();
    let narrow = b.params(&[Type::I8; 2]);
    let wide = [b.cast(Type::I32, narrow[0]), b.cast(Type::I32, narrow[1])];
    let mut results: Vec<Value> = premises.iter().map(|&form| is_at_most(&mut b, wide, form)).collect();
    let conclusions: Vec<Value> = conclusions.iter().map(|&form| is_at_most(&mut b, wide, form)).collect();
    let any = conclusions.into_iter().reduce(|one, other| b.binary(Opcode::Or, one, other));
    results.extend(any);
    b.finish(&results)
}

/// The corners of premises like these are fractions, which no integers are.
#[test]
fn what_is_proved_is_true_of_integers_where_corners_are_fractions() {
    // x + y ≥ 1 and x ≥ y; y ≥ 50 or x ≤ 0: not at (1, 1), but the corner is (½, ½).
    let false_at_one = implication(&[[-1, -1, -1], [-1, 1, 0]], &[[0, -1, -50], [2, 0, 1]]);
    assert_eq!(prove(&false_at_one, 2, &[], 400), None);
    let mut numbers = SplitMix64(3);
    let mut proved = 0;
    for round in 0..2000 {
        let mut form = || [7, 7, 9].map(|range| (numbers.next() % range) as i32 - range as i32 / 2);
        let (premises, conclusions) = ([form(), form(), form()], [form(), form()]);
        let premises = &premises[..2 + round % 2];
        let function = implication(premises, &conclusions);
        if prove(&function, premises.len(), &[], 400).is_none() {
            continue;
        }
        proved += 1;
        let holds = |[p, q, c]: [i32; 3], x: i32, y: i32| p * x + q * y <= c;
        for (x, y) in (-24..25).flat_map(|x| (-24..25).map(move |y| (x, y))) {
            let is_false =
                premises.iter().all(|&form| holds(form, x, y)) && !conclusions.iter().any(|&form| holds(form, x, y));
            assert!(!is_false, "({x}, {y})\n{function}");
        }
    }
    assert!(proved > 100, "{proved} proved");
}

#[test]
fn an_assumption_is_said() {
    let ty = Type::I32;
    let grows = |wraps: bool| {
        let mut b = FunctionBuilder::new();
        let x = b.param(ty);
        let one = b.lit(1i32);
        let outer = b.set_wrapping(wraps);
        let sum = b.binary(Opcode::Add, x, one);
        b.set_wrapping(outer);
        let holds = b.binary(Opcode::Gt, sum, x);
        b.finish(&[holds])
    };
    assert_eq!(prove(&grows(false), 0, &[], 100), Some(Holds { cases: 1, no_overflow: true }));
    assert_eq!(prove(&grows(true), 0, &[], 100), None);
}

/// A product is the same wherever its operands are.
#[test]
fn what_is_not_linear_is_an_argument() {
    let mut b = FunctionBuilder::new();
    let (x, y) = (b.param(Type::I32), b.param(Type::I32));
    let outer = b.set_wrapping(true);
    let product = b.binary(Opcode::Mul, x, y);
    b.set_wrapping(outer);
    let least = b.binary(Opcode::Min, x, y);
    let also = b.binary(Opcode::Min, least, product);
    let again = b.binary(Opcode::Mul, x, y);
    let holds = b.binary(Opcode::Le, also, again);
    let function = b.finish(&[holds]);
    assert!(prove(&function, 0, &[], 100).is_some_and(|holds| !holds.no_overflow));
}
