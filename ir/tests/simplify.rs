//! The simplifier keeps every result and reaches a fixed point, on functions made at random; and
//! each kind of rule does its work.

use monoscan_ir::interp::call;
use monoscan_ir::{Constant, Function, FunctionBuilder, Inst, Opcode, Payload, Rule, Table, Type, Value, simplify};
use proptest::prelude::*;

const TYPES: [Type; 9] =
    [Type::Bool, Type::I8, Type::U8, Type::I32, Type::U32, Type::U64, Type::F32, Type::F64, Type::bytes(4).unwrap()];

fn tables() -> Vec<Table> {
    vec![Table::new(Type::I32, (0..5).map(|i| Constant::from(i * i - 7)))]
}

/// Numbers that rules are about: zeros, ones, extremes, small ones.
fn constant(ty: Type, choice: u8) -> Constant {
    if ty.is_float() {
        let special = [0.0, -0.0, 1.0, -1.0, 0.5, 4.0, f64::INFINITY, f64::NAN, 1.5, -3.25];
        let value = special[choice as usize % special.len()];
        return if ty == Type::F32 { Constant::from(value as f32) } else { Constant::from(value) };
    }
    match choice % 7 {
        0 => ty.zero(),
        1 => Constant::new(ty, 1),
        2 => Constant::new(ty, u128::MAX),
        3 => Constant::new(ty, ty.mask() >> 1),
        4 => Constant::new(ty, (ty.mask() >> 1) + 1),
        5 => Constant::new(ty, 0x03_02_01_00),
        _ => ty.of_i64(choice as i64),
    }
}

/// Sees NaN payloads and signs, which the IR leaves open.
fn reads_float_bits(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::CopySign | Opcode::ToF16 | Opcode::ToBf16)
}

/// A well-typed function: each step picks an opcode and operands of fitting types among what there is.
fn random_function(steps: &[(u8, u8, u8, u8)]) -> Function {
    let mut b = FunctionBuilder::new();
    let mut values: Vec<Value> = b.params(&[TYPES, TYPES].concat());
    for &(kind, x, y, z) in steps {
        let opcode = Opcode::ALL[kind as usize % Opcode::ALL.len()];
        // Recent values are picked more often, so that rules see chains.
        let pick = |b: &FunctionBuilder, choice: u8, fits: &dyn Fn(Type) -> bool| -> Option<Value> {
            let fitting: Vec<Value> = values.iter().copied().filter(|&v| fits(b.type_of(v))).collect();
            let back = (choice as usize).min(255 - choice as usize) % fitting.len().max(1);
            fitting.len().checked_sub(1 + back).map(|place| fitting[place])
        };
        let same = |b: &FunctionBuilder, choice: u8, like: Value| {
            let ty = b.type_of(like);
            pick(b, choice, &|other| other == ty).unwrap()
        };
        if reads_float_bits(opcode) {
            continue;
        }
        let made = match opcode.rule() {
            Rule::Constant => Some(b.constant(constant(TYPES[x as usize % TYPES.len()], y))),
            Rule::Unary(class) => pick(&b, x, &|ty| class.contains(ty)).map(|a| b.unary(opcode, a)),
            Rule::Binary(class) | Rule::Compare(class) => pick(&b, x, &|ty| class.contains(ty)).map(|a| {
                let other = if z < 100 { b.constant(constant(b.type_of(a), y)) } else { same(&b, y, a) };
                if z % 2 == 0 { b.binary(opcode, a, other) } else { b.binary(opcode, other, a) }
            }),
            Rule::Ternary(class) => pick(&b, x, &|ty| class.contains(ty)).map(|a| {
                let factor = if z < 80 { b.constant(constant(b.type_of(a), y)) } else { same(&b, y, a) };
                let addend = if z % 3 == 0 { b.constant(constant(b.type_of(a), z)) } else { same(&b, z, a) };
                b.op(opcode, &[a, factor, addend])
            }),
            Rule::Shift => pick(&b, x, &Type::is_int).map(|a| {
                let amount = if z < 128 { b.lit(y as u32) } else { pick(&b, y, &|ty| ty == Type::U32).unwrap() };
                b.binary(opcode, a, amount)
            }),
            Rule::Count => pick(&b, x, &Type::is_int).map(|a| b.unary(opcode, a)),
            Rule::Select => pick(&b, x, &|ty| ty == Type::Bool).map(|condition| {
                let yes = pick(&b, y, &|_| true).unwrap();
                let no = if z < 60 { b.constant(constant(b.type_of(yes), z)) } else { same(&b, z, yes) };
                b.select(condition, yes, no)
            }),
            Rule::Cast => pick(&b, x, &|ty| !ty.is_vector())
                .map(|a| b.cast([Type::I8, Type::I32, Type::U64, Type::F32, Type::F64, Type::U32][y as usize % 6], a)),
            Rule::Bitcast => pick(&b, x, &|ty| ty == Type::U32 || ty == Type::I32 || ty.is_vector())
                .map(|a| b.bitcast([Type::U32, Type::I32, Type::bytes(4).unwrap()][y as usize % 3], a)),
            Rule::Convert(from, _) => pick(&b, x, &|ty| ty == from).map(|a| b.unary(opcode, a)),
            Rule::Table => {
                let index = if z < 128 { b.lit(y as u32) } else { pick(&b, y, &|ty| ty == Type::U32).unwrap() };
                Some(b.table(0, Type::I32, index))
            }
            Rule::Splat => pick(&b, x, &|ty| ty == Type::U8).map(|a| b.splat(Type::bytes(4).unwrap(), a)),
            Rule::Lane => pick(&b, x, &Type::is_vector).map(|a| b.lane(a, y % 4)),
            Rule::WithLane => pick(&b, x, &Type::is_vector).map(|a| {
                let byte = pick(&b, z, &|ty| ty == Type::U8).unwrap();
                b.with_lane(a, y % 4, byte)
            }),
            Rule::Permute => pick(&b, x, &Type::is_vector).map(|a| {
                let lanes = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 9, 2], [0, 0, 0, 0]][z as usize % 4];
                let indices = if z < 160 { b.constant(Constant::vector(&lanes)) } else { same(&b, y, a) };
                b.binary(opcode, a, indices)
            }),
        };
        values.extend(made);
    }
    let results: Vec<Value> = values.iter().rev().take(12).copied().collect();
    b.finish(&results)
}

fn assert_same(function: &Function, arguments: &[Constant]) -> Result<(), TestCaseError> {
    let tables = tables();
    let simpler = simplify(function, &tables);
    let (expected, got) = (call(function, arguments, &tables), call(&simpler, arguments, &tables));
    for (place, (expected, got)) in expected.iter().zip(&got).enumerate() {
        prop_assert!(expected.same(*got), "result {place}: {expected:?} became {got:?}\n{function:?}\n{simpler:?}");
    }
    prop_assert_eq!(&simplify(&simpler, &tables), &simpler);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn simplified_functions_give_the_same_results_and_are_fixed_points(
        steps in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..40),
        arguments in prop::collection::vec((any::<u128>(), any::<u8>()), TYPES.len() * 2),
    ) {
        let function = random_function(&steps);
        let argument = |(ty, (bits, choice)): (&Type, &(u128, u8))| {
            if choice % 2 == 0 { constant(*ty, *choice / 2) } else { Constant::new(*ty, *bits) }
        };
        let arguments: Vec<Constant> = function.params.iter().zip(&arguments).map(argument).collect();
        assert_same(&function, &arguments)?;
    }
}

/// The simplified form of what `make` builds from one parameter of type `ty`.
fn simplified(ty: Type, make: impl FnOnce(&mut FunctionBuilder, Value) -> Value) -> Function {
    let mut b = FunctionBuilder::new();
    let x = b.param(ty);
    let result = make(&mut b, x);
    simplify(&b.finish(&[result]), &tables())
}

fn is_parameter(function: &Function) -> bool {
    function.insts.is_empty() && function.results == [Value::new(0)]
}

#[test]
fn integers_are_a_ring_with_zero_and_one() {
    let kept = simplified(Type::I32, |b, x| {
        let (zero, one) = (b.lit(0i32), b.lit(1i32));
        let sum = b.binary(Opcode::Add, zero, x);
        let product = b.binary(Opcode::Mul, sum, one);
        let minus = b.unary(Opcode::Neg, product);
        b.binary(Opcode::Sub, zero, minus)
    });
    assert!(is_parameter(&kept), "{kept:?}");
    let gone = simplified(Type::I32, |b, x| {
        let five = b.lit(5i32);
        let more = b.binary(Opcode::Add, x, five);
        let less = b.binary(Opcode::Sub, more, five);
        b.binary(Opcode::Xor, less, x)
    });
    assert_eq!(gone.insts, [Inst::constant(0i32.into())]);
}

#[test]
fn floats_keep_the_sign_of_zero() {
    for (zero, neutral) in [(0.0f32, false), (-0.0f32, true)] {
        let sum = simplified(Type::F32, |b, x| {
            let zero = b.lit(zero);
            b.binary(Opcode::Add, x, zero)
        });
        assert_eq!(is_parameter(&sum), neutral);
    }
    let product = simplified(Type::F64, |b, x| {
        let zero = b.lit(0.0f64);
        b.binary(Opcode::Mul, x, zero)
    });
    assert_eq!(product.insts.len(), 2, "0 · x may be NaN or −0");
    let quotient = simplified(Type::F32, |b, x| {
        let third = b.lit(3.0f32);
        b.binary(Opcode::Div, x, third)
    });
    assert_eq!(quotient.insts[1].opcode, Opcode::Div, "1/3 is not exact");
}

#[test]
fn equal_comparisons_know_their_answer_unless_nan_is_possible() {
    let integer = simplified(Type::U8, |b, x| b.binary(Opcode::Eq, x, x));
    assert_eq!(integer.insts, [Inst::constant(true.into())]);
    let float = simplified(Type::F32, |b, x| b.binary(Opcode::Eq, x, x));
    assert_eq!(float.insts[0].opcode, Opcode::Eq);
}

#[test]
fn selects_with_known_conditions_or_equal_arms_disappear() {
    let function = simplified(Type::Bool, |b, x| {
        let (yes, no) = (b.lit(true), b.lit(false));
        let opposite = b.unary(Opcode::Not, x);
        b.select(opposite, no, yes)
    });
    assert!(is_parameter(&function), "{function:?}");
}

/// As where the lengths of runs are counted: c ? 0 : x + (not c) is c ? 0 : x + 1.
#[test]
fn an_arm_knows_the_condition_within_its_operations() {
    for opposite in [Opcode::Ne, Opcode::Eq] {
        let function = simplified(Type::U32, |b, x| {
            let (five, zero) = (b.lit(5u32), b.lit(0u32));
            let ended = b.binary(Opcode::Eq, x, five);
            let counts = if opposite == Opcode::Eq { b.unary(Opcode::Not, ended) } else { b.binary(opposite, x, five) };
            let counts = b.cast(Type::U32, counts);
            let longer = b.binary(Opcode::Add, x, counts);
            b.select(ended, zero, longer)
        });
        let is_cast = |inst: &Inst| inst.opcode == Opcode::Cast;
        assert!(!function.insts.iter().any(is_cast) && function.insts.len() == 6, "{function}");
    }
}

#[test]
fn one_more_where_a_condition_holds_is_a_sum() {
    let function = simplified(Type::U64, |b, x| {
        let (five, one) = (b.lit(5u64), b.lit(1u64));
        let carries = b.binary(Opcode::Gt, x, five);
        let more = b.binary(Opcode::Add, x, one);
        b.select(carries, more, x)
    });
    let opcodes: Vec<Opcode> = function.insts.iter().map(|inst| inst.opcode).collect();
    assert_eq!(opcodes, [Opcode::Const, Opcode::Gt, Opcode::Cast, Opcode::Add], "{function}");
}

#[test]
fn tables_at_known_indices_are_constants() {
    let function = simplified(Type::I32, |b, x| {
        let index = b.lit(9u32);
        let last = b.table(0, Type::I32, index);
        b.binary(Opcode::Add, last, x)
    });
    assert_eq!(function.insts[0], Inst::constant(9i32.into()));
}

#[test]
fn exact_casts_merge_and_inexact_ones_stay() {
    let exact = simplified(Type::U8, |b, x| {
        let wide = b.cast(Type::I64, x);
        b.cast(Type::U8, wide)
    });
    assert!(is_parameter(&exact));
    let inexact = simplified(Type::U64, |b, x| {
        let narrow = b.cast(Type::U32, x);
        b.cast(Type::U64, narrow)
    });
    assert_eq!(inexact.insts.len(), 2);
}

#[test]
fn lanes_are_followed_through_vectors() {
    let function = simplified(Type::U8, |b, x| {
        let vector = b.splat(Type::bytes(4).unwrap(), x);
        let zero = b.lit(0u8);
        let replaced = b.with_lane(vector, 1, zero);
        let reversed = b.constant(Constant::vector(&[3, 2, 1, 0]));
        let permuted = b.binary(Opcode::Permute, replaced, reversed);
        b.lane(permuted, 1)
    });
    assert!(is_parameter(&function), "{function:?}");
}

#[test]
fn what_no_result_needs_is_dropped() {
    let mut b = FunctionBuilder::new();
    let (x, y) = (b.param(Type::F32), b.param(Type::F32));
    let unused = b.binary(Opcode::Div, x, y);
    b.push(Inst::new(Opcode::Sqrt, Type::F32, &[unused], Payload::None));
    let function = simplify(&b.finish(&[y]), &[]);
    assert_eq!((function.insts.len(), function.params.len()), (0, 2));
}
