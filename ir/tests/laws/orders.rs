//! Minima and maxima, of sums too, and what is counted between neighbours.

use super::*;

#[test]
fn the_longest_run_of_ones_needs_its_valid_states() {
    let judgement = judged(&longest_run());
    let report =
        judgement.counterexample().unwrap().report(&names(&["len", "prefix", "suffix", "best"]), &Words::default());
    insta::assert_snapshot!(report, @r"
    `combine` is not associative
                x = (len: 0, prefix: 0, suffix: 1, best: 0)
                y = (len: 3, prefix: 0, suffix: 0, best: 0)
                z = (len: 0, prefix: 0, suffix: 3, best: 0)
      (x · y) · z = (len: 3, prefix: 0, suffix: 3, best: 1)
      x · (y · z) = (len: 3, prefix: 0, suffix: 4, best: 1)
      they differ in `suffix`: 3 against 4
      help: if one of these states never occurs, let `valid` say which do; laws are then judged on valid states only
    ");
    let valid = with_valid(longest_run(), |code, x| {
        // Best is at least both ends; all ones, or none of the ends is the whole and both fit beside a zero.
        let full = code.op(Eq, x[1], x[0]);
        let (end, best) = (code.op(Eq, x[2], x[0]), code.op(Eq, x[3], x[0]));
        let all = code.op(And, full, end);
        let all = code.op(And, all, best);
        let ends = code.add(x[1], x[2]);
        let used = code.op(Max, x[1], x[2]);
        let (enough, short) = (code.op(Ge, x[3], used), code.op(Lt, x[3], x[0]));
        let split = code.op(Lt, ends, x[0]);
        let parts = code.op(And, enough, short);
        let parts = code.op(And, parts, split);
        code.op(Or, all, parts)
    });
    let judgement = assert_tested(&valid, 500);
    assert_eq!(judgement.overflow_matters_to(), [0, 1, 2, 3], "{judgement}");
    let lifted = with_lift(longest_run(), &[Type::Bool], |code, x| {
        let one = code.lit(1u32);
        let ones = code.0.cast(Type::U32, x[0]);
        vec![one, ones, ones, ones]
    });
    assert_tested(&lifted, 500);
}

#[test]
fn shortest_paths_with_a_saturating_infinity_need_lengths_that_are_not_negative() {
    assert_proved(&min_plus(Type::U32, u32::MAX.into()), "as an identity of (min, +) expressions");
    let report = assert_refuted(&min_plus(Type::I32, i32::MAX.into()), Law::Associativity);
    assert!(report.contains("signed saturation forgets"), "{report}");
    let valid = with_valid(min_plus(Type::I32, i32::MAX.into()), |code, x| {
        let zero = code.lit(0i32);
        let bounds: Vec<Value> = x.iter().map(|&entry| code.op(Ge, entry, zero)).collect();
        bounds.into_iter().reduce(|a, b| code.op(And, a, b)).unwrap()
    });
    assert_tested(&valid, 200);
}

#[test]
fn tropical_matrices_and_bracket_depths_are_proved_where_nothing_overflows() {
    let nothing = f32::NEG_INFINITY;
    let max_plus = stage(&[Type::F32; 4], &[0f32.into(), nothing.into(), nothing.into(), 0f32.into()], |code, x, y| {
        let entry = |code: &mut Code, i: usize, j: usize| {
            let (a, b) = (code.add(x[2 * i], y[j]), code.add(x[2 * i + 1], y[2 + j]));
            code.op(Max, a, b)
        };
        vec![entry(code, 0, 0), entry(code, 0, 1), entry(code, 1, 0), entry(code, 1, 1)]
    });
    assert_proved(&max_plus, "as an identity of (max, +) expressions");
    let brackets = stage(&[Type::I32; 2], &[0i32.into(), 0i32.into()], |code, x, y| {
        let shifted = code.add(x[0], y[1]);
        vec![code.add(x[0], y[0]), code.op(Min, x[1], shifted)]
    });
    let judgement = judged(&brackets);
    assert!(judgement.associativity.is_proved(), "{judgement}");
    // The depth of nothing is 0, so the lowest depth of a part is at most 0 and at most where it ends.
    assert_refuted(&brackets, Law::RightIdentity);
    let valid = with_valid(brackets, |code, x| {
        let (zero, end) = (code.lit(0i32), code.op(Le, x[1], x[0]));
        let start = code.op(Le, x[1], zero);
        code.op(And, start, end)
    });
    let judgement = judged(&valid);
    assert!(judgement.associativity.is_proved() && judgement.counterexample().is_none(), "{judgement}");
    assert_eq!(judgement.overflow_matters_to(), [0, 1], "{judgement}");
}

#[test]
fn the_place_of_the_largest_with_ties_to_the_left_is_tested() {
    let largest = stage(&[Type::I32, Type::U32], &[i32::MIN.into(), u32::MAX.into()], |code, x, y| {
        let (above, equal) = (code.op(Gt, y[0], x[0]), code.op(Eq, y[0], x[0]));
        let before = code.op(Lt, y[1], x[1]);
        let tie = code.op(And, equal, before);
        let next = code.op(Or, above, tie);
        vec![code.select(next, y[0], x[0]), code.select(next, y[1], x[1])]
    });
    assert_tested(&largest, 1000);
}
