//! Interval arithmetic: from the ranges of an instruction's operands to the range of its result.
//!
//! Each rule may be too wide but never too narrow, and wider operands never give a narrower result:
//! the induction over states relies on both.

use super::Range;
use crate::function::{Inst, Payload};
use crate::opcode::{Opcode, Rule};
use crate::program::Table;
use crate::types::Type;

/// Table elements looked at for one range; a longer stretch of a table may hold anything.
const MAX_SCANNED: i128 = 1 << 16;

/// The range of the result, given type and range of each operand.
pub(super) fn of_inst(inst: &Inst, operands: &[(Type, Range)], tables: &[Table]) -> Range {
    let ty = inst.ty;
    let full = Range::full(ty);
    if let Some(constant) = inst.as_constant() {
        return Range::of(constant);
    }
    if ty.is_float() || operands.iter().any(|(ty, _)| ty.is_float()) {
        return full;
    }
    let range = |i: usize| operands[i].1;
    match (inst.opcode.rule(), operands.len()) {
        (Rule::Select, 3) => match range(0) {
            Range { min: 1, .. } => range(1),
            Range { max: 0, .. } => range(2),
            _ => range(1).join(range(2)),
        },
        (Rule::Compare(_), 2) => comparison(inst.opcode, range(0), range(1)),
        (Rule::Cast, 1) => wrapped(ty, Some(range(0).min), Some(range(0).max)),
        (Rule::Bitcast, 1) if ty.is_int() && operands[0].0.is_int() => {
            wrapped(ty, Some(range(0).min), Some(range(0).max))
        }
        (Rule::Table, 1) => table(inst, range(0), tables).unwrap_or(full),
        (Rule::Splat | Rule::Lane, 1) => range(0),
        (Rule::WithLane, 2) => range(0).join(range(1)),
        (Rule::Permute, 2) => permuted(operands[0].0, range(0), range(1)),
        (Rule::Count, 1) => count(inst.opcode, operands[0].0, range(0)),
        (Rule::Shift, 2) => shift(inst.opcode, ty, range(0), range(1)),
        (Rule::Unary(_), 1) => unary(inst.opcode, ty, range(0)),
        (Rule::Binary(_), 2) => binary(inst.opcode, ty, range(0), range(1)),
        _ => full,
    }
}

/// The range from `min` to `max` taken modulo the type's width, if it stays in one piece.
fn wrapped(ty: Type, min: Option<i128>, max: Option<i128>) -> Range {
    let full = Range::full(ty);
    let width = full.max - full.min + 1;
    let (Some(min), Some(max)) = (min, max) else { return full };
    let (Some(low), Some(high)) = (min.checked_sub(full.min), max.checked_sub(full.min)) else { return full };
    if low.div_euclid(width) != high.div_euclid(width) {
        return full;
    }
    Range { min: low.rem_euclid(width) + full.min, max: high.rem_euclid(width) + full.min }
}

/// The range of a function that is monotone in each operand: its values at the corners.
fn corners(a: Range, b: Range, f: impl Fn(i128, i128) -> Option<i128>) -> (Option<i128>, Option<i128>) {
    let values = [f(a.min, b.min), f(a.min, b.max), f(a.max, b.min), f(a.max, b.max)];
    if values.iter().any(Option::is_none) {
        return (None, None);
    }
    (values.iter().flatten().min().copied(), values.iter().flatten().max().copied())
}

fn unary(opcode: Opcode, ty: Type, a: Range) -> Range {
    let full = Range::full(ty);
    match opcode {
        Opcode::Neg => wrapped(ty, Some(-a.max), Some(-a.min)),
        Opcode::Abs if a.min >= 0 => a,
        Opcode::Abs if a.min > full.min => Range { min: 0.max(-a.max), max: a.max.max(-a.min) },
        Opcode::Not if ty == Type::Bool || ty.is_vector() => Range { min: full.max - a.max, max: full.max - a.min },
        Opcode::Not => wrapped(ty, Some(-1 - a.max), Some(-1 - a.min)),
        _ => full,
    }
}

fn binary(opcode: Opcode, ty: Type, a: Range, b: Range) -> Range {
    let full = Range::full(ty);
    let clamped = |value: i128| value.clamp(full.min, full.max);
    let wrapped = |(min, max)| wrapped(ty, min, max);
    match opcode {
        Opcode::Add => wrapped((Some(a.min + b.min), Some(a.max + b.max))),
        Opcode::Sub => wrapped((Some(a.min - b.max), Some(a.max - b.min))),
        Opcode::Mul => wrapped(corners(a, b, i128::checked_mul)),
        Opcode::MulHigh => wrapped(corners(a, b, |x, y| Some(x.checked_mul(y)? >> ty.bits()))),
        Opcode::AddSat => Range { min: clamped(a.min + b.min), max: clamped(a.max + b.max) },
        Opcode::SubSat => Range { min: clamped(a.min - b.max), max: clamped(a.max - b.min) },
        Opcode::Min => Range { min: a.min.min(b.min), max: a.max.min(b.max) },
        Opcode::Max => Range { min: a.min.max(b.min), max: a.max.max(b.max) },
        Opcode::Div => quotient(full, a, b),
        Opcode::Rem => remainder(a, b),
        Opcode::And if a.min >= 0 && b.min >= 0 => Range { min: 0, max: a.max.min(b.max) },
        Opcode::And if b.min >= 0 => Range { min: 0, max: b.max },
        Opcode::And if a.min >= 0 => Range { min: 0, max: a.max },
        Opcode::Or | Opcode::Xor if a.min >= 0 && b.min >= 0 => {
            let below = ((a.max.max(b.max) + 1) as u128).next_power_of_two() as i128 - 1;
            Range { min: if opcode == Opcode::Or { a.min.max(b.min) } else { 0 }, max: below }
        }
        _ => full,
    }
}

/// x / y is never larger in magnitude than x; MIN / −1 stays in the type.
fn quotient(full: Range, a: Range, b: Range) -> Range {
    if a.min >= 0 && b.min > 0 {
        return Range { min: a.min / b.max, max: a.max / b.min };
    }
    let most = a.max.abs().max(a.min.abs());
    let min = if a.min >= 0 && b.min >= 0 { 0 } else { (-most).max(full.min) };
    Range { min, max: most.min(full.max) }
}

/// x % y has the sign of x, is no larger than x, and smaller than y unless y is 0.
fn remainder(a: Range, b: Range) -> Range {
    let divisor = b.max.abs().max(b.min.abs());
    let zero_possible = b.min <= 0 && b.max >= 0;
    let bound = |most: i128| if zero_possible { most } else { most.min(divisor - 1) };
    Range { min: -bound((-a.min).max(0)), max: bound(a.max.max(0)) }
}

fn shift(opcode: Opcode, ty: Type, a: Range, amount: Range) -> Range {
    let full = Range::full(ty);
    if amount.max >= ty.bits() as i128 {
        return if opcode == Opcode::Shr { a.join(Range { min: 0, max: 0 }) } else { full };
    }
    match opcode {
        Opcode::Shr => match corners(a, amount, |x, by| Some(x >> by)) {
            (Some(min), Some(max)) => Range { min, max },
            _ => full,
        },
        Opcode::Shl => {
            let (min, max) = corners(a, amount, |x, by| x.checked_mul(1 << by));
            wrapped(ty, min, max)
        }
        _ => full,
    }
}

fn count(opcode: Opcode, ty: Type, a: Range) -> Range {
    let bits = ty.bits() as i128;
    let zeros_above = |value: i128| bits - (128 - value.leading_zeros() as i128);
    match opcode {
        Opcode::LeadingZeros if a.min >= 0 => Range { min: zeros_above(a.max), max: zeros_above(a.min) },
        Opcode::CountOnes if a.min >= 0 => Range { min: 0, max: bits - zeros_above(a.max) },
        _ => Range { min: 0, max: bits },
    }
}

fn comparison(opcode: Opcode, a: Range, b: Range) -> Range {
    let (below, above) = (a.max < b.min, a.min > b.max);
    let same = a.min == a.max && a == b;
    let known = match opcode {
        Opcode::Eq => [same, below || above],
        Opcode::Ne => [below || above, same],
        Opcode::Lt => [below, a.min >= b.max],
        Opcode::Le => [a.max <= b.min, above],
        Opcode::Gt => [above, a.max <= b.min],
        _ => [a.min >= b.max, below],
    };
    match known {
        [true, _] => Range { min: 1, max: 1 },
        [_, true] => Range { min: 0, max: 0 },
        _ => Range::full(Type::Bool),
    }
}

/// A lane that is not there reads 0.
fn permuted(from: Type, a: Range, indices: Range) -> Range {
    let inside = indices.max < from.size() as i128;
    if inside { a } else { a.join(Range { min: 0, max: 0 }) }
}

fn table(inst: &Inst, index: Range, tables: &[Table]) -> Option<Range> {
    let Payload::Table(place) = inst.payload else { return None };
    let table = tables.get(place as usize)?;
    let last = table.len().checked_sub(1)? as i128;
    let (first, last) = (index.min.clamp(0, last), index.max.clamp(0, last));
    if last - first >= MAX_SCANNED {
        return None;
    }
    match table.ty {
        // Every byte is a value, and kernels ask for each element that they are unrolled by.
        Type::U8 | Type::Bytes(_) => {
            let size = table.ty.size();
            let bytes = &table.bytes[first as usize * size..(last as usize + 1) * size];
            Some(Range { min: (*bytes.iter().min()?).into(), max: (*bytes.iter().max()?).into() })
        }
        _ => (first..=last).filter_map(|index| table.element(index as usize)).map(Range::of).reduce(Range::join),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::evaluate;
    use crate::function::Value;
    use crate::types::Constant;

    /// Some intervals of a type, and for each some values of it, its ends among them.
    fn intervals(ty: Type) -> Vec<(Range, Vec<Constant>)> {
        let full = Range::full(ty);
        let ends = [full.min, full.min + 1, -3, -1, 0, 1, 2, 7, 8, 100, full.max].map(|v| v.clamp(full.min, full.max));
        let mut all = Vec::new();
        for min in ends {
            for max in ends.into_iter().filter(|&max| max >= min) {
                let inside = (min..=max).step_by(1 + (max - min) as usize / 7).chain([max]);
                all.push((Range { min, max }, inside.map(|v| Constant::new(ty, v as u128)).collect()));
            }
        }
        all.dedup();
        all
    }

    fn check(opcode: Opcode, ty: Type, operand_types: &[Type]) {
        let values: Vec<Value> = (0..operand_types.len()).map(Value::new).collect();
        let inst = Inst::new(opcode, ty, &values, Payload::None);
        let firsts = intervals(operand_types[0]);
        let none = vec![(Range::full(Type::Bool), vec![Type::Bool.zero()])];
        let seconds = operand_types.get(1).map_or(none, |&ty| intervals(ty));
        for (a, of_a) in &firsts {
            for (b, of_b) in &seconds {
                let ranges = [*a, *b].into_iter().zip(operand_types).map(|(range, &ty)| (ty, range));
                let range = of_inst(&inst, &ranges.collect::<Vec<_>>(), &[]);
                for x in of_a {
                    for y in of_b {
                        let result = evaluate(&inst, &[*x, *y][..operand_types.len()], &[]).expect("well typed");
                        assert!(range.holds(result), "{opcode:?} {x:?} {y:?}: {result:?} not in {range:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn results_lie_in_the_range_found_for_their_operands() {
        for ty in [Type::I8, Type::U8] {
            for &opcode in Opcode::ALL {
                match opcode.rule() {
                    Rule::Unary(class) if class.contains(ty) => check(opcode, ty, &[ty]),
                    Rule::Binary(class) if class.contains(ty) => check(opcode, ty, &[ty, ty]),
                    Rule::Compare(class) if class.contains(ty) => check(opcode, Type::Bool, &[ty, ty]),
                    Rule::Shift => check(opcode, ty, &[ty, Type::U32]),
                    Rule::Count => check(opcode, Type::U32, &[ty]),
                    Rule::Cast => {
                        for to in [Type::I8, Type::U8, Type::I16, Type::U64] {
                            check(opcode, to, &[ty]);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn tables_hold_what_their_elements_in_reach_hold() {
        let of_bytes = |ty: Type, bytes: &[u8]| {
            let table = Table { ty, bytes: bytes.to_vec() };
            let inst = Inst::new(Opcode::Table, ty, &[Value::new(0)], Payload::Table(0));
            // The index is clamped to the last element.
            of_inst(&inst, &[(Type::U32, Range { min: 1, max: 9 })], &[table])
        };
        assert_eq!(of_bytes(Type::U8, &[255, 3, 200, 7]), Range { min: 3, max: 200 });
        assert_eq!(of_bytes(Type::I8, &[100, 3, 200, 7]), Range { min: -56, max: 7 });
        assert_eq!(of_bytes(Type::bytes(2).unwrap(), &[255, 0, 3, 200, 7, 9]), Range { min: 3, max: 200 });
    }

    #[test]
    fn differences_that_wrap_in_one_piece_stay_narrow() {
        let minus_one = Range::of(Constant::from(u32::MAX));
        let range = binary(Opcode::Add, Type::U32, Range { min: 1, max: 5 }, minus_one);
        assert_eq!(range, Range { min: 0, max: 4 });
    }
}
