//! NaN and infinities.

use super::*;

#[test]
fn float_minimum_by_opcode_is_proved_and_by_comparison_breaks_on_nan() {
    assert_proved(&binary(Min, f32::INFINITY), "as an identity of minima");
    assert_proved(&binary(Max, f64::NEG_INFINITY), "as an identity of maxima");
    let report = assert_refuted(&smaller_by_comparison(), Law::Associativity);
    insta::assert_snapshot!(report, @r"
    `combine` is not associative
                x = 0.0
                y = NaN
                z = 1.0
      (x · y) · z = 1.0
      x · (y · z) = 0.0
      help: if `0` is never NaN, let `valid` say so
      help: if one of these states never occurs, let `valid` say which do; laws are then judged on valid states only
    identity: proved as an identity of minima
    valid states: proved because every state is valid
    ");
    let valid = with_valid(smaller_by_comparison(), |code, x| code.op(Eq, x[0], x[0]));
    assert_tested(&valid, 500);
}

#[test]
fn clamps_of_floats_are_not_proved_by_distributing_over_nan() {
    let clamp = |ty: Type, low: Constant, high: Constant| {
        stage(&[ty; 2], &[low, high], |code, x, y| {
            let (low, high) = (code.op(Max, x[0], y[0]), code.op(Max, x[1], y[0]));
            vec![code.op(Min, low, y[1]), code.op(Min, high, y[1])]
        })
    };
    let integers = with_valid(clamp(Type::I32, i32::MIN.into(), i32::MAX.into()), |code, x| code.op(Le, x[0], x[1]));
    let judgement = judged(&integers);
    assert_eq!(judgement.associativity.to_string(), "proved as an identity of minima and maxima");
    assert!(judgement.counterexample().is_none(), "{judgement}");
    let floats = judged(&clamp(Type::F32, f32::NEG_INFINITY.into(), f32::INFINITY.into()));
    assert!(!floats.associativity.is_proved(), "{floats}");
}

/// √(a² + b²), scaled so that no square overflows: m·√((a/m)² + (b/m)²) with m the larger.
fn scaled_norm(guarded: bool) -> Stage {
    stage(&[Type::F64], &[0f64.into()], |code, x, y| {
        let (a, b) = (code.0.unary(Opcode::Abs, x[0]), code.0.unary(Opcode::Abs, y[0]));
        let largest = code.op(Max, a, b);
        let (a, b) = (code.op(Div, a, largest), code.op(Div, b, largest));
        let (a, b) = (code.mul(a, a), code.mul(b, b));
        let sum = code.add(a, b);
        let root = code.0.unary(Opcode::Sqrt, sum);
        let result = code.mul(largest, root);
        let zero = code.lit(0f64);
        let empty = code.op(Eq, largest, zero);
        vec![if guarded { code.select(empty, zero, result) } else { result }]
    })
}

#[test]
fn a_norm_that_makes_nan_of_two_zeros_is_refuted_and_a_guarded_one_passes() {
    let not_negative = |code: &mut Code, x: &[Value]| {
        let zero = code.lit(0f64);
        code.op(Ge, x[0], zero)
    };
    let report = assert_refuted(&with_valid(scaled_norm(false), not_negative), Law::Associativity);
    assert!(report.contains("(x · y) · z = NaN") && report.contains("these finite numbers lead to NaN"), "{report}");
    assert!(report.contains("identity · x = NaN"), "{report}");
    assert_tested(&with_valid(scaled_norm(true), not_negative), 500);
}

/// max + ln(exp(a − max) + exp(b − max)), in which −∞ stands for a sum of nothing.
fn log_sum_exp(ty: Type, guarded: bool) -> Stage {
    let nothing = if ty == Type::F32 { f32::NEG_INFINITY.into() } else { Constant::from(f64::NEG_INFINITY) };
    stage(&[ty], &[nothing], |code, x, y| {
        let largest = code.op(Max, x[0], y[0]);
        let (a, b) = (code.op(Sub, x[0], largest), code.op(Sub, y[0], largest));
        let (a, b) = (monoscan_ir::math::exp(&mut code.0, a), monoscan_ir::math::exp(&mut code.0, b));
        let sum = code.add(a, b);
        let logarithm = monoscan_ir::math::ln(&mut code.0, sum);
        let result = code.add(largest, logarithm);
        let nothing = code.lit(nothing);
        let empty = code.op(Eq, largest, nothing);
        vec![if guarded { code.select(empty, largest, result) } else { result }]
    })
}

#[test]
fn a_log_sum_exp_that_makes_nan_of_two_identities_is_refuted_and_a_guarded_one_passes() {
    for ty in [Type::F32, Type::F64] {
        let judgement = judged(&log_sum_exp(ty, false));
        let broken = judgement.identity.counterexample().unwrap_or_else(|| panic!("{judgement}"));
        assert_eq!(broken.law, Law::LeftIdentity);
        insta::allow_duplicates! {
            let advice = [Advice::TellInfinityApart { component: 0 }, Advice::DeclareValidForIdentity];
            assert_eq!(broken.advice, advice, "data, of which the words are made");
            insta::assert_snapshot!(broken.report(&names(&["log"]), &Words::default()), @r"
    `identity` is no identity: combining it with a state changes the state
                 x = (log: -inf)
          identity = (log: -inf)
      identity · x = (log: NaN)
      help: arithmetic on an infinite `log` gives NaN (∞ − ∞, 0 · ∞): return the other state first where it is infinite
      help: an identity leaves every state as it is; if this state never occurs, let `valid` say which do
    ");
        }
        let guarded = assert_tested(&log_sum_exp(ty, true), 100);
        assert!(matches!(guarded.identity, Verdict::Tested { .. }), "{guarded}");
    }
}
