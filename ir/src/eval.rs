//! The value of each opcode, on constants. The interpreter runs this, the simplifier folds with it,
//! and every engine is compared to it.

use crate::function::{Inst, Payload};
use crate::opcode::{Opcode, Rule};
use crate::program::Table;
use crate::types::{Constant, Primitive, Type};

/// The result of an instruction on these operands, or none if it is typed wrongly (which the verifier refuses).
///
/// ```
/// use monoscan_ir::{evaluate, Constant, Inst, Opcode, Payload, Type, Value};
/// let divide = Inst::new(Opcode::Div, Type::I32, &[Value::new(0), Value::new(1)], Payload::None);
/// let (x, zero) = (Constant::from(7i32), Constant::from(0i32));
/// assert_eq!(evaluate(&divide, &[x, zero], &[]), Some(zero)); // total: nothing traps
/// ```
pub fn evaluate(inst: &Inst, operands: &[Constant], tables: &[Table]) -> Option<Constant> {
    if operands.len() != inst.opcode.rule().arity() {
        return None;
    }
    let result = match inst.opcode.rule() {
        Rule::Constant => inst.as_constant()?,
        Rule::Select => select(operands)?,
        Rule::Cast => cast(operands[0], inst.ty)?,
        Rule::Bitcast => {
            let (from, to) = (operands[0].ty(), inst.ty);
            (from.bits() == to.bits()).then(|| Constant::new(to, operands[0].bits()))?
        }
        Rule::Convert(from, _) => (operands[0].ty() == from).then(|| convert(inst.opcode, operands[0]))?,
        Rule::Table => {
            let Payload::Table(table) = inst.payload else { return None };
            tables.get(table as usize)?.element(operands[0].bits() as usize)?
        }
        Rule::Splat | Rule::Lane | Rule::WithLane | Rule::Permute => vector(inst, operands)?,
        Rule::Compare(_) => Constant::from(compare(inst.opcode, operands[0], operands[1])?),
        Rule::Count | Rule::Shift => int(inst.opcode, operands)?,
        Rule::Unary(_) | Rule::Binary(_) | Rule::Ternary(_) => arithmetic(inst.opcode, operands)?,
    };
    (result.ty() == inst.ty).then_some(result)
}

/// Whether Rust would panic in a build with overflow checks where this instruction has a defined result; never, if it is
/// [meant to wrap](Payload::Wraps).
pub fn overflows(inst: &Inst, operands: &[Constant]) -> bool {
    let [Some(a), b] = [operands.first(), operands.get(1)] else { return false };
    let ty = a.ty();
    if !ty.is_int() || inst.payload == Payload::Wraps {
        return false;
    }
    let exact = match (inst.opcode, b) {
        (Opcode::Add, Some(b)) => a.as_int() + b.as_int(),
        (Opcode::Sub, Some(b)) => a.as_int() - b.as_int(),
        (Opcode::Mul, Some(b)) => match a.as_int().checked_mul(b.as_int()) {
            Some(product) => product,
            None => return true,
        },
        (Opcode::Div | Opcode::Rem, Some(b)) if b.as_int() == 0 => return true,
        (Opcode::Div | Opcode::Rem, Some(b)) => a.as_int() / b.as_int(),
        (Opcode::Neg, _) => -a.as_int(),
        (Opcode::Abs, _) => a.as_int().abs(),
        (Opcode::Shl | Opcode::Shr, Some(b)) => return b.bits() >= ty.bits() as u128,
        _ => return false,
    };
    exact != Constant::new(ty, exact as u128).as_int()
}

fn select(operands: &[Constant]) -> Option<Constant> {
    let [condition, yes, no] = operands else { return None };
    let typed = condition.ty() == Type::Bool && yes.ty() == no.ty();
    typed.then_some(if condition.bits() != 0 { *yes } else { *no })
}

fn cast(a: Constant, to: Type) -> Option<Constant> {
    let from = a.ty();
    if from.is_vector() || to.is_vector() || (to == Type::Bool && from != Type::Bool) {
        return None;
    }
    Some(match (from, to) {
        (Type::F32, Type::F64) => Constant::from(a.as_f64()),
        (Type::F64, Type::F32) => Constant::from(a.as_f64() as f32),
        _ if from == to => a,
        // From an integer of up to 64 bits, i128 → float rounds once, as from the integer itself.
        (_, Type::F32) => Constant::from(a.as_int() as f32),
        (_, Type::F64) => Constant::from(a.as_int() as f64),
        (Type::F32 | Type::F64, _) => {
            let (min, max) = (to.least().as_int(), to.greatest().as_int());
            Constant::new(to, (a.as_f64() as i128).clamp(min, max) as u128)
        }
        _ => Constant::new(to, a.as_int() as u128),
    })
}

fn convert(opcode: Opcode, a: Constant) -> Constant {
    use half::{bf16, f16};
    let bits = a.bits();
    match opcode {
        Opcode::FromF16 => Constant::from(f16::from_bits(bits as u16).to_f32_const()),
        Opcode::FromBf16 => Constant::from(bf16::from_bits(bits as u16).to_f32_const()),
        Opcode::ToF16 => Constant::from(f16::from_f32_const(f32::from_bits(bits as u32)).to_bits()),
        _ => Constant::from(bf16::from_f32_const(f32::from_bits(bits as u32)).to_bits()),
    }
}

fn vector(inst: &Inst, operands: &[Constant]) -> Option<Constant> {
    let size = operands[0].ty().size();
    let mut bytes = operands[0].bits().to_le_bytes();
    let of_bytes = |ty: Type, bytes: [u8; 16]| Some(Constant::new(ty, u128::from_le_bytes(bytes)));
    match (inst.opcode, inst.payload, operands) {
        (Opcode::Splat, _, [byte]) if byte.ty() == Type::U8 && inst.ty.is_vector() => of_bytes(inst.ty, [bytes[0]; 16]),
        (Opcode::Lane, Payload::Lane(lane), [a]) if a.ty().is_vector() => {
            bytes[..size].get(lane as usize).map(|&byte| Constant::from(byte))
        }
        (Opcode::WithLane, Payload::Lane(lane), [a, byte]) if a.ty().is_vector() && byte.ty() == Type::U8 => {
            *bytes[..size].get_mut(lane as usize)? = byte.bits() as u8;
            of_bytes(a.ty(), bytes)
        }
        (Opcode::Permute, _, [a, b]) if a.ty().is_vector() && b.ty().is_vector() => {
            let pick = |lane: u8| bytes[..size].get(lane as usize).copied().unwrap_or(0);
            of_bytes(b.ty(), b.bits().to_le_bytes().map(pick))
        }
        _ => None,
    }
}

fn compare(opcode: Opcode, a: Constant, b: Constant) -> Option<bool> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let Rule::Compare(class) = opcode.rule() else { return None };
    if a.ty() != b.ty() || !class.contains(a.ty()) {
        return None;
    }
    let order = if a.ty().is_float() {
        a.as_f64().partial_cmp(&b.as_f64())
    } else if a.ty().is_vector() {
        Some(a.bits().cmp(&b.bits()))
    } else {
        Some(a.as_int().cmp(&b.as_int()))
    };
    Some(match opcode {
        Opcode::Eq => order == Some(Equal),
        Opcode::Ne => order != Some(Equal),
        Opcode::Lt => order == Some(Less),
        Opcode::Le => matches!(order, Some(Less | Equal)),
        Opcode::Gt => order == Some(Greater),
        _ => matches!(order, Some(Greater | Equal)),
    })
}

fn arithmetic(opcode: Opcode, operands: &[Constant]) -> Option<Constant> {
    let ty = operands[0].ty();
    let (Rule::Unary(class) | Rule::Binary(class) | Rule::Ternary(class)) = opcode.rule() else { return None };
    if !class.contains(ty) || operands.iter().any(|operand| operand.ty() != ty) {
        return None;
    }
    match ty {
        Type::F32 => f32_op(opcode, &gather(operands, f32::from_constant)[..operands.len()]).map(Constant::from),
        Type::F64 => f64_op(opcode, &gather(operands, f64::from_constant)[..operands.len()]).map(Constant::from),
        Type::Bytes(_) => lanes(opcode, operands),
        _ => int(opcode, operands),
    }
}

/// Up to three operands as Rust values.
fn gather<T: Default>(operands: &[Constant], value: impl Fn(Constant) -> T) -> [T; 3] {
    std::array::from_fn(|i| operands.get(i).map_or_else(T::default, |&operand| value(operand)))
}

macro_rules! float_op {
    ($name:ident, $float:ident) => {
        fn $name(opcode: Opcode, x: &[$float]) -> Option<$float> {
            Some(match (opcode, x) {
                (Opcode::Add, [a, b]) => a + b,
                (Opcode::Sub, [a, b]) => a - b,
                (Opcode::Mul, [a, b]) => a * b,
                (Opcode::Div, [a, b]) => a / b,
                (Opcode::Neg, [a]) => -a,
                (Opcode::Abs, [a]) => a.abs(),
                // Rust leaves the order of −0 and +0 open; here −0 < +0.
                (Opcode::Min, [a, b]) if a == b => {
                    if a.is_sign_negative() {
                        *a
                    } else {
                        *b
                    }
                }
                (Opcode::Max, [a, b]) if a == b => {
                    if a.is_sign_negative() {
                        *b
                    } else {
                        *a
                    }
                }
                (Opcode::Min, [a, b]) => a.min(*b),
                (Opcode::Max, [a, b]) => a.max(*b),
                (Opcode::MulAdd, [a, b, c]) => a.mul_add(*b, *c),
                (Opcode::Sqrt, [a]) => a.sqrt(),
                (Opcode::Floor, [a]) => a.floor(),
                (Opcode::Ceil, [a]) => a.ceil(),
                (Opcode::Trunc, [a]) => a.trunc(),
                (Opcode::RoundEven, [a]) => a.round_ties_even(),
                (Opcode::CopySign, [a, b]) => a.copysign(*b),
                _ => return None,
            })
        }
    };
}

float_op!(f32_op, f32);
float_op!(f64_op, f64);

fn lanes(opcode: Opcode, operands: &[Constant]) -> Option<Constant> {
    let ty = operands[0].ty();
    let bytes = gather(operands, |operand| operand.bits().to_le_bytes());
    let mut result = [0; 16];
    for (i, byte) in result[..ty.size()].iter_mut().enumerate() {
        let lane: [Constant; 3] = bytes.map(|bytes| Constant::from(bytes[i]));
        *byte = int(opcode, &lane[..operands.len()])?.bits() as u8;
    }
    Some(Constant::new(ty, u128::from_le_bytes(result)))
}

fn int(opcode: Opcode, operands: &[Constant]) -> Option<Constant> {
    let ty = operands[0].ty();
    let shift = matches!(opcode.rule(), Rule::Shift);
    if shift && operands[1].ty() != Type::U32 || !shift && operands.iter().any(|operand| operand.ty() != ty) {
        return None;
    }
    if !(ty.is_int() || ty == Type::Bool) || (ty == Type::Bool && matches!(opcode.rule(), Rule::Shift | Rule::Count)) {
        return None;
    }
    let width = ty.bits();
    let value = |result: i128| Constant::new(ty, result as u128);
    let count = |result: u32| Constant::from(result);
    let (min, max) = (ty.least().as_int(), ty.greatest().as_int());
    let a = operands[0].as_int();
    let bits = operands[0].bits();
    let b = operands.get(1).map_or(0, |b| b.as_int());
    let amount = (b as u32) % width;
    let rotated = |left: u32| Constant::new(ty, bits << left | bits >> ((width - left) % width));
    Some(match opcode {
        Opcode::Add => value(a + b),
        Opcode::Sub => value(a - b),
        Opcode::Mul => value(a.wrapping_mul(b)),
        Opcode::Div => value(if b == 0 { 0 } else { a / b }),
        Opcode::Rem => value(if b == 0 { a } else { a % b }),
        Opcode::Neg => value(-a),
        Opcode::Abs => value(a.abs()),
        Opcode::Min => value(a.min(b)),
        Opcode::Max => value(a.max(b)),
        Opcode::AddSat => value((a + b).clamp(min, max)),
        Opcode::SubSat => value((a - b).clamp(min, max)),
        // The product of two u64 fills u128 exactly, and the cast keeps its bits.
        Opcode::MulHigh if ty.is_signed() => value((a * b) >> width),
        Opcode::MulHigh => Constant::new(ty, ((a as u128) * (b as u128)) >> width),
        Opcode::And => value(a & b),
        Opcode::Or => value(a | b),
        Opcode::Xor => value(a ^ b),
        Opcode::Not => value(!a),
        Opcode::Shl => value(a << amount),
        Opcode::Shr => value(a >> amount),
        Opcode::RotateLeft => rotated(amount),
        Opcode::RotateRight => rotated((width - amount) % width),
        Opcode::CountOnes => count(bits.count_ones()),
        Opcode::LeadingZeros => count(bits.leading_zeros() - (128 - width)),
        Opcode::TrailingZeros => count(bits.trailing_zeros().min(width)),
        Opcode::SwapBytes => Constant::new(ty, bits.swap_bytes() >> (128 - width)),
        Opcode::ReverseBits => Constant::new(ty, bits.reverse_bits() >> (128 - width)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Value;

    fn run<T: Into<Constant> + Copy>(opcode: Opcode, operands: &[T]) -> Constant {
        let operands: Vec<Constant> = operands.iter().map(|&x| x.into()).collect();
        let values: Vec<Value> = (0..operands.len()).map(Value::new).collect();
        let inst = Inst::new(opcode, operands[0].ty(), &values, Payload::None);
        evaluate(&inst, &operands, &[]).unwrap()
    }

    #[test]
    fn integer_corner_cases_have_the_documented_values() {
        assert_eq!(run(Opcode::Div, &[7i32, 0]), 0i32.into());
        assert_eq!(run(Opcode::Rem, &[7i32, 0]), 7i32.into());
        assert_eq!(run(Opcode::Div, &[i32::MIN, -1]), i32::MIN.into());
        assert_eq!(run(Opcode::Rem, &[i64::MIN, -1]), 0i64.into());
        assert_eq!(run(Opcode::Abs, &[i8::MIN]), i8::MIN.into());
        assert_eq!(run(Opcode::AddSat, &[i8::MAX, 1]), i8::MAX.into());
        assert_eq!(run(Opcode::SubSat, &[3u8, 4]), 0u8.into());
        assert_eq!(run(Opcode::Mul, &[u64::MAX, u64::MAX]), 1u64.into());
        assert_eq!(run(Opcode::MulHigh, &[u64::MAX, u64::MAX]), (u64::MAX - 1).into());
        assert_eq!(run(Opcode::MulHigh, &[i32::MIN, i32::MIN]), (1i32 << 30).into());
        assert_eq!(run(Opcode::SwapBytes, &[0x1234u16]), 0x3412u16.into());
        assert_eq!(run(Opcode::Not, &[true]), false.into());
    }

    #[test]
    fn minimum_and_maximum_order_signed_zeros_and_skip_nan() {
        for zeros in [[0.0f32, -0.0], [-0.0, 0.0]] {
            assert_eq!(run(Opcode::Min, &zeros), (-0.0f32).into());
            assert_eq!(run(Opcode::Max, &zeros), 0.0f32.into());
        }
        assert_eq!(run(Opcode::Max, &[f64::NAN, 1.0]), 1.0f64.into());
        assert_eq!(run(Opcode::Min, &[1.0, f64::NAN]), 1.0f64.into());
    }

    #[test]
    fn casts_are_rusts() {
        assert_eq!(cast(300.7f32.into(), Type::U8), Some(255u8.into()));
        assert_eq!(cast(f64::NAN.into(), Type::I64), Some(0i64.into()));
        assert_eq!(cast((-1e30f32).into(), Type::I64), Some(i64::MIN.into()));
        assert_eq!(cast((-1i8).into(), Type::U32), Some(u32::MAX.into()));
        assert_eq!(cast(u64::MAX.into(), Type::F32), Some((u64::MAX as f32).into()));
        assert_eq!(cast(true.into(), Type::F64), Some(1.0f64.into()));
        assert_eq!(cast(1u8.into(), Type::Bool), None);
    }

    #[test]
    fn overflow_is_seen_where_rust_would_panic() {
        let add = Inst::new(Opcode::Add, Type::U8, &[Value::new(0), Value::new(1)], Payload::None);
        assert!(overflows(&add, &[200u8.into(), 56u8.into()]));
        assert!(!overflows(&add, &[200u8.into(), 55u8.into()]));
        assert!(!overflows(&add.wrapping(), &[200u8.into(), 56u8.into()]));
    }
}
