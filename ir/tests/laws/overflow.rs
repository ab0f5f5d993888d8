//! Laws and integer overflow, and constants that are special cases.

use super::*;

/// `let s = a + b; if s >= m { s - m } else { s }`
fn reduced_sum(code: &mut Code, a: Value, b: Value, modulus: Constant) -> Value {
    let (sum, modulus) = (code.add(a, b), code.lit(modulus));
    let (reduced, large) = (code.op(Sub, sum, modulus), code.op(Ge, sum, modulus));
    code.select(large, reduced, sum)
}

fn below(stage: Stage, modulus: Constant) -> Stage {
    with_valid(stage, |code, x| {
        let modulus = code.lit(modulus);
        let bounds: Vec<Value> = x.iter().map(|&value| code.op(Lt, value, modulus)).collect();
        bounds.into_iter().reduce(|a, b| code.op(And, a, b)).unwrap()
    })
}

#[test]
fn overflow_in_the_arm_not_taken_voids_no_case() {
    for modulus in [Constant::from(1_000_003u32), Constant::from(1_000_000_007u64), Constant::from(3_000_000_019u32)] {
        let ty = modulus.ty();
        let modular = stage(&[ty], &[ty.zero()], |code, x, y| vec![reduced_sum(code, x[0], y[0], modulus)]);
        assert_tested(&below(modular, modulus), 500);
    }
}

#[test]
fn a_wrong_rolling_hash_with_a_reduced_sum_is_refuted() {
    let modulus = Constant::from(1_000_000_007u64);
    let hash = |wrong: bool| {
        let hash = stage(&[Type::U64; 2], &[0u64.into(), 1u64.into()], |code, x, y| {
            let prime = code.lit(modulus);
            let (shifted, power) = (code.mul(x[0], if wrong { x[1] } else { y[1] }), code.mul(x[1], y[1]));
            let shifted = code.op(Rem, shifted, prime);
            vec![reduced_sum(code, shifted, y[0], modulus), code.op(Rem, power, prime)]
        });
        below(hash, modulus)
    };
    assert_tested(&hash(false), 500);
    assert_refuted(&hash(true), Law::Associativity);
}

#[test]
fn a_law_of_which_no_case_can_be_judged_is_not_accepted() {
    // Only the identity and states whose every sum overflows.
    let narrow = stage(&[Type::U32], &[u32::MAX.into()], |code, x, y| {
        let sum = code.add(x[0], y[0]);
        vec![code.op(Max, sum, x[0])]
    });
    let narrow = with_valid(narrow, |code, x| {
        let limit = code.lit(3_000_000_000u32);
        code.op(Ge, x[0], limit)
    });
    let judgement = judged(&narrow);
    assert!(matches!(judgement.verdict(), Verdict::Untested { .. }), "{judgement}");
    assert!(!judgement.verdict().is_accepted());
    insta::assert_snapshot!(judgement.report(&[], &Words::default()), @r"
    associative: not proved, and no case could be judged: in every case an integer overflows or is divided by zero, or a comparison of floats depends on rounding
    identity: not proved, and no case could be judged: in every case an integer overflows or is divided by zero, or a comparison of floats depends on rounding
    valid states: not proved, and no case could be judged: in every case an integer overflows or is divided by zero, or a comparison of floats depends on rounding
      help: mend `valid` so that it accepts the states that occur and combine without overflow; if the laws hold for a reason that the compiler cannot see, let the scan assume them
    note: the laws hold if no integer overflows, in the loop or in a combination of its parts: where one does, results may differ from those of the sequential loop, and from call to call. A checked scan reports the first overflow; a wider type avoids it, if there is one, and so does arithmetic that is meant to wrap
    ");
}

fn assert_refuted_where_it_wraps(stage: &Stage) {
    let judgement = judge(stage, &[], Overflow::Wraps);
    let counterexample = judgement.associativity.counterexample().unwrap_or_else(|| panic!("not refuted: {judgement}"));
    assert_eq!(counterexample.law, Law::Associativity, "{judgement}");
    assert!(!judgement.to_string().contains("no integer overflows"), "{judgement}");
}

#[test]
fn products_that_wrap_before_they_are_reduced_are_refuted() {
    let prime = Constant::from((1u64 << 61) - 1);
    let product = stage(&[Type::U64], &[1u64.into()], |code, x, y| {
        let (product, prime) = (code.mul(x[0], y[0]), code.lit(prime));
        vec![code.op(Rem, product, prime)]
    });
    assert_refuted_where_it_wraps(&below(product, prime));
}

#[test]
fn overflow_that_is_meant_is_judged() {
    let mixed = stage(&[Type::U32], &[0u32.into()], |code, x, y| {
        let (sum, mask) = (code.add(x[0], y[0]), code.lit(0xffu32));
        let (carried, mixed) = (code.op(Lt, sum, x[0]), code.op(Xor, sum, mask));
        vec![code.select(carried, mixed, sum)]
    });
    assert_refuted_where_it_wraps(&mixed);
    let cut_off = stage(&[Type::U32; 2], &[1u32.into(), 0u32.into()], |code, x, y| {
        let product = code.mul(y[0], x[1]);
        vec![code.mul(y[0], x[0]), code.op(AddSat, product, y[1])]
    });
    assert_refuted_where_it_wraps(&cut_off);
    // The depth of brackets, proved where nothing overflows.
    let brackets = stage(&[Type::I8; 2], &[0i8.into(), 0i8.into()], |code, x, y| {
        let shifted = code.add(x[0], y[1]);
        vec![code.add(x[0], y[0]), code.op(Min, x[1], shifted)]
    });
    assert_refuted_where_it_wraps(&brackets);
    assert!(judged(&brackets).associativity.is_proved());
    for right in [binary(Add, 0u32), affine(Type::U64)] {
        let judgement = judge(&right, &[], Overflow::Wraps);
        assert!(judgement.verdict().is_proved(), "{judgement}");
    }
}

#[test]
fn special_cases_at_constants_are_found() {
    let special = |ty: Type, at: Constant, otherwise: Opcode| {
        stage(&[ty], &[ty.zero()], move |code, x, y| {
            let (at, five, result) = (code.lit(at), code.lit(ty.of_i64(5)), code.op(otherwise, x[0], y[0]));
            let special = code.op(Eq, x[0], at);
            vec![code.select(special, five, result)]
        })
    };
    assert_refuted(&special(Type::U32, 123_456_789u32.into(), Add), Law::Associativity);
    assert_refuted(&special(Type::U16, 4242u16.into(), Or), Law::Associativity);
    let pair = stage(&[Type::U8; 2], &[0u8.into(), 0u8.into()], |code, x, y| {
        let (first, second) = (code.lit(201u8), code.lit(77u8));
        let (first, second) = (code.op(Eq, x[0], first), code.op(Eq, y[1], second));
        let special = code.op(And, first, second);
        let (five, a, b) = (code.lit(5u8), code.op(Or, x[0], y[0]), code.op(Or, x[1], y[1]));
        vec![code.select(special, five, a), b]
    });
    assert_refuted(&pair, Law::Associativity);
    let large = stage(&[Type::F64], &[0f64.into()], |code, x, y| {
        let (limit, sum) = (code.lit(1e12f64), code.add(x[0], y[0]));
        let above = code.op(Gt, x[0], limit);
        vec![code.select(above, y[0], sum)]
    });
    assert_refuted(&large, Law::Associativity);
}

#[test]
fn a_case_that_divides_by_zero_is_no_evidence() {
    for opcode in [Div, Rem] {
        let of_nothing = stage(&[Type::I64], &[0i64.into()], |code, x, y| {
            let nothing = code.op(Xor, y[0], y[0]);
            vec![code.op(opcode, x[0], nothing)]
        });
        assert!(matches!(judged(&of_nothing).verdict(), Verdict::Untested { .. }), "{opcode:?}");
    }
    // Where the arm that divides is not taken, nothing is divided.
    let guarded = stage(&[Type::U32], &[0u32.into()], |code, x, y| {
        let zero = code.lit(0u32);
        let (is_zero, rest) = (code.op(Eq, y[0], zero), code.op(Rem, x[0], y[0]));
        let (kept, all) = (code.select(is_zero, x[0], rest), code.op(Max, x[0], y[0]));
        let (same, sum) = (code.op(Eq, kept, x[0]), code.op(Min, all, all));
        vec![code.select(same, sum, all)]
    });
    assert!(judged(&guarded).verdict().is_accepted());
}
