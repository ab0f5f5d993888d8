//! Overflow as a value: a function is copied with one more `bool` for each of its values, whether
//! native Rust panics on the way to it.
//!
//! A value hangs on an overflow if its own operation overflows or divides by zero
//! ([`overflows`](crate::overflows)), or if it is computed from a value that does. Of an `if` only
//! the arm that is taken counts, and the right side of `&&` and `||` only where it is needed: Rust
//! runs no more than these.

use crate::builder::FunctionBuilder;
use crate::function::{Function, Inst, Value};
use crate::opcode::Opcode;
use crate::types::Type;

/// A value, and whether it hangs on an overflow.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    pub(super) value: Value,
    pub(super) overflowed: Value,
}

/// Copies a function in, its parameters bound to values on which nothing overflowed or that say whether it did.
pub(super) fn inline(b: &mut FunctionBuilder, function: &Function, arguments: &[Checked]) -> Vec<Checked> {
    let mut values = arguments.to_vec();
    for inst in &function.insts {
        let operands: Vec<Checked> = inst.operands().iter().map(|operand| values[operand.index()]).collect();
        let value = b.push(inst.map_operands(|operand| values[operand.index()].value));
        let own = if inst.may_panic() { overflows(b, inst, &operands, value) } else { b.lit(false) };
        let propagated = propagated(b, inst, &operands);
        values.push(Checked { value, overflowed: or(b, own, propagated) });
    }
    function.results.iter().map(|result| values[result.index()]).collect()
}

/// A value on which nothing overflowed.
pub(super) fn sound(b: &mut FunctionBuilder, value: Value) -> Checked {
    Checked { value, overflowed: b.lit(false) }
}

/// Whether one of these values hangs on an overflow.
pub(super) fn any(b: &mut FunctionBuilder, values: &[Checked]) -> Value {
    let none = b.lit(false);
    values.iter().fold(none, |any, value| or(b, any, value.overflowed))
}

/// How an instruction propagates overflows of its operands.
fn propagated(b: &mut FunctionBuilder, inst: &Inst, operands: &[Checked]) -> Value {
    match (inst.opcode, operands) {
        (Opcode::Select, [condition, yes, no]) => {
            let taken = b.select(condition.value, yes.overflowed, no.overflowed);
            or(b, condition.overflowed, taken)
        }
        (Opcode::And | Opcode::Or, [first, second]) if inst.ty == Type::Bool => {
            let needed = match inst.opcode {
                Opcode::And => first.value,
                _ => b.unary(Opcode::Not, first.value),
            };
            let second = and(b, needed, second.overflowed);
            or(b, first.overflowed, second)
        }
        _ => any(b, operands),
    }
}

/// Whether an operation that may overflow does: the formula behind [`overflows`](crate::overflows).
fn overflows(b: &mut FunctionBuilder, inst: &Inst, operands: &[Checked], result: Value) -> Value {
    let (ty, x) = (inst.ty, operands[0].value);
    let y = operands.get(1).map_or(x, |operand| operand.value);
    let zero = b.constant(ty.zero());
    let lowest = |b: &mut FunctionBuilder| b.constant(ty.least());
    match inst.opcode {
        // Both operands have the sign that the sum has not; of a difference the first has, and the second has not.
        Opcode::Add | Opcode::Sub if ty.is_signed() => {
            let from_x = b.binary(Opcode::Xor, x, result);
            let other = if inst.opcode == Opcode::Add { result } else { x };
            let from_y = b.binary(Opcode::Xor, y, other);
            let both = b.binary(Opcode::And, from_x, from_y);
            b.binary(Opcode::Lt, both, zero)
        }
        Opcode::Add => b.binary(Opcode::Lt, result, x),
        Opcode::Sub => b.binary(Opcode::Lt, x, y),
        Opcode::Mul => product_overflows(b, ty, (x, y), result),
        Opcode::Neg | Opcode::Abs if ty.is_signed() => {
            let lowest = lowest(b);
            b.binary(Opcode::Eq, x, lowest)
        }
        Opcode::Neg => b.binary(Opcode::Ne, x, zero),
        Opcode::Shl | Opcode::Shr => {
            let width = b.lit(ty.bits());
            b.binary(Opcode::Ge, y, width)
        }
        Opcode::Div | Opcode::Rem => {
            let by_zero = b.binary(Opcode::Eq, y, zero);
            if !ty.is_signed() {
                return by_zero;
            }
            let (lowest, minus_one) = (lowest(b), b.constant(ty.of_i64(-1)));
            let (is_lowest, by_minus_one) = (b.binary(Opcode::Eq, x, lowest), b.binary(Opcode::Eq, y, minus_one));
            let beyond = and(b, is_lowest, by_minus_one);
            or(b, by_zero, beyond)
        }
        _ => b.lit(false),
    }
}

/// Narrow products are computed in 64 bits; of those of 64 bits the high half says what the low half must be.
fn product_overflows(b: &mut FunctionBuilder, ty: Type, (x, y): (Value, Value), result: Value) -> Value {
    if ty.bits() < 64 {
        let wide = if ty.is_signed() { Type::I64 } else { Type::U64 };
        let [x, y, narrow] = [x, y, result].map(|value| b.cast(wide, value));
        let product = b.wrapping(|b| b.binary(Opcode::Mul, x, y));
        return b.binary(Opcode::Ne, product, narrow);
    }
    let high = b.binary(Opcode::MulHigh, x, y);
    let expected = if ty.is_signed() {
        let sign = b.lit(63u32);
        b.binary(Opcode::Shr, result, sign)
    } else {
        b.constant(ty.zero())
    };
    b.binary(Opcode::Ne, high, expected)
}

/// `a || b`, with what is known left out.
pub(super) fn or(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    match (known(b, x), known(b, y)) {
        (Some(false), _) | (_, Some(true)) => y,
        (_, Some(false)) | (Some(true), _) => x,
        _ if x == y => x,
        _ => b.binary(Opcode::Or, x, y),
    }
}

/// `a && b`, with what is known left out.
pub(super) fn and(b: &mut FunctionBuilder, x: Value, y: Value) -> Value {
    match (known(b, x), known(b, y)) {
        (Some(true), _) | (_, Some(false)) => y,
        (_, Some(true)) | (Some(false), _) => x,
        _ => b.binary(Opcode::And, x, y),
    }
}

fn known(b: &FunctionBuilder, value: Value) -> Option<bool> {
    b.as_constant(value).map(|constant| constant.bits() != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Payload;
    use crate::{Constant, interp};

    /// Every operation that may overflow, on remarkable numbers of every type.
    #[test]
    fn formulas_say_what_the_reference_says() {
        use Opcode::{Abs, Add, Div, Mul, Neg, Rem, Shl, Shr, Sub};
        for ty in Type::SCALARS.into_iter().filter(|ty| ty.is_int()) {
            let half = 1u128 << (ty.bits() / 2);
            let top = 1u128 << (ty.bits() - 1);
            let numbers = [0, 1, 2, 3, half - 1, half, half + 1, top - 1, top, top + 1, ty.mask() - 1, ty.mask()];
            for opcode in [Add, Sub, Mul, Div, Rem, Neg, Abs, Shl, Shr] {
                let arity = if matches!(opcode, Neg | Abs) { 1 } else { 2 };
                let second = if matches!(opcode, Shl | Shr) { Type::U32 } else { ty };
                let types = &[ty, second][..arity];
                let operands: Vec<Value> = (0..arity).map(Value::new).collect();
                let inst = Inst::new(opcode, ty, &operands, Payload::None);
                let mut b = FunctionBuilder::new();
                let params = b.params(types);
                let checked: Vec<Checked> = params.iter().map(|&value| sound(&mut b, value)).collect();
                let plain = Function { params: types.to_vec(), insts: vec![inst], results: vec![Value::new(arity)] };
                let results = inline(&mut b, &plain, &checked);
                let function = b.finish(&[results[0].overflowed]);
                for x in numbers {
                    for y in numbers {
                        let arguments = &[Constant::new(ty, x), Constant::new(second, y)][..arity];
                        let expected = crate::overflows(&inst, arguments);
                        assert_eq!(
                            interp::call(&function, arguments, &[]),
                            [Constant::from(expected)],
                            "{inst} of {arguments:?}"
                        );
                    }
                }
            }
        }
    }
}
