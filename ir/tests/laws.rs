//! Which operators are monoids: the judge on operators that people write, right ones and famous
//! wrong ones.

use monoscan_ir::laws::{Advice, Judgement, Law, Overflow, Verdict, judge, sample_states};
use monoscan_ir::{Constant, Function, FunctionBuilder, Mapping, Opcode, Source, Stage, Table, Type, Value};

use Opcode::{Add, AddSat, And, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Neg, Or, Permute, Rem, Sub, Xor};

/// Instructions without ceremony.
struct Code(FunctionBuilder);

impl Code {
    fn op(&mut self, opcode: Opcode, a: Value, b: Value) -> Value {
        self.0.binary(opcode, a, b)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.op(Add, a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.op(Mul, a, b)
    }
    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.0.select(condition, yes, no)
    }
    fn lit(&mut self, constant: impl Into<Constant>) -> Value {
        self.0.constant(constant)
    }
}

fn build(types: &[Type], body: impl FnOnce(&mut Code, &[Value]) -> Vec<Value>) -> Function {
    let mut code = Code(FunctionBuilder::new());
    let params = code.0.params(types);
    let results = body(&mut code, &params);
    code.0.finish(&results)
}

/// A stage whose lift copies the record.
fn stage(
    state: &[Type],
    identity: &[Constant],
    body: impl FnOnce(&mut Code, &[Value], &[Value]) -> Vec<Value>,
) -> Stage {
    let combine = build(&[state, state].concat(), |code, params| {
        let (x, y) = params.split_at(state.len());
        body(code, x, y)
    });
    let lift = build(state, |_, params| params.to_vec());
    let reads = (0..state.len() as u32).map(Source::Record).collect();
    let lift = Mapping { reads, function: lift };
    Stage { state: state.to_vec(), identity: identity.to_vec(), lift, combine, ..Stage::default() }
}

fn with_valid(mut stage: Stage, body: impl FnOnce(&mut Code, &[Value]) -> Value) -> Stage {
    stage.valid = Some(build(&stage.state.clone(), |code, state| vec![body(code, state)]));
    stage
}

fn with_lift(mut stage: Stage, record: &[Type], body: impl FnOnce(&mut Code, &[Value]) -> Vec<Value>) -> Stage {
    let reads = (0..record.len() as u32).map(Source::Record).collect();
    stage.lift = Mapping { reads, function: build(record, body) };
    stage
}

fn binary(opcode: Opcode, identity: impl Into<Constant>) -> Stage {
    let identity = identity.into();
    stage(&[identity.ty()], &[identity], |code, x, y| vec![code.op(opcode, x[0], y[0])])
}

fn judged(stage: &Stage) -> Judgement {
    judge(stage, &[], Overflow::NeverOccurs)
}

fn assert_proved(stage: &Stage, how: &str) {
    let judgement = judged(stage);
    assert!(judgement.verdict().is_proved(), "{judgement}");
    assert!(judgement.associativity.to_string().contains(how), "{judgement}");
}

fn assert_tested(stage: &Stage, at_least: usize) -> Judgement {
    let judgement = judged(stage);
    match judgement.associativity {
        Verdict::Tested { cases } => assert!(cases >= at_least, "{judgement}"),
        _ => panic!("{judgement}"),
    }
    assert!(judgement.counterexample().is_none(), "{judgement}");
    judgement
}

fn assert_refuted(stage: &Stage, law: Law) -> String {
    let judgement = judged(stage);
    let counterexample = judgement.counterexample().unwrap_or_else(|| panic!("not refuted: {judgement}"));
    assert_eq!(counterexample.law, law, "{judgement}");
    judgement.report(&[])
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

const ZERO: Constant = Type::I64.zero();

fn unitriangular(wrong: bool) -> Stage {
    stage(&[Type::I64; 3], &[ZERO; 3], |code, x, y| {
        let a = code.add(x[0], y[0]);
        let b = code.add(x[1], if wrong { y[0] } else { y[1] });
        let (c, product) = (code.add(x[2], y[2]), code.mul(x[0], y[1]));
        vec![a, b, code.add(c, product)]
    })
}

#[test]
fn the_unitriangular_group_is_proved_and_its_famous_misprint_refuted() {
    assert_proved(&unitriangular(false), "as a polynomial identity over the integers modulo 2^64");
    let judgement = judged(&unitriangular(true));
    assert_eq!(judgement.counterexample().unwrap().advice, [Advice::DeclareValid]);
    let report = judgement.counterexample().unwrap().report(&names(&["a", "b", "c"]));
    insta::assert_snapshot!(report, @r"
    `combine` is not associative
                x = (a: 1, b: 0, c: 0)
                y = (a: 0, b: 0, c: 0)
                z = (a: 0, b: 1, c: 0)
      (x · y) · z = (a: 1, b: 0, c: 1)
      x · (y · z) = (a: 1, b: 0, c: 0)
      they differ in `c`: 1 against 0
      help: if one of these states never occurs, say which do with `fn valid(self) -> bool` in the impl; laws are then judged on valid states only
    ");
}

fn affine(ty: Type) -> Stage {
    stage(&[ty; 2], &[ty.of_i64(1), ty.of_i64(0)], |code, x, y| {
        let product = code.mul(y[0], x[1]);
        vec![code.mul(y[0], x[0]), code.add(product, y[1])]
    })
}

#[test]
fn affine_maps_are_proved_over_the_reals_and_the_integers() {
    assert_proved(&affine(Type::F32), "as a polynomial identity over the reals");
    assert_proved(&affine(Type::I64), "as a polynomial identity over the integers modulo 2^64");
    let fused = stage(&[Type::F64; 2], &[1f64.into(), 0f64.into()], |code, x, y| {
        vec![code.mul(y[0], x[0]), code.0.op(Opcode::MulAdd, &[y[0], x[1], y[1]])]
    });
    assert_proved(&fused, "over the reals");
}

fn matrices(ty: Type, n: usize) -> Stage {
    let identity: Vec<Constant> = (0..n * n).map(|i| ty.of_i64((i % (n + 1) == 0) as i64)).collect();
    stage(&vec![ty; n * n], &identity, |code, x, y| {
        let entry = |code: &mut Code, i: usize| {
            let products: Vec<Value> = (0..n).map(|k| code.mul(x[i / n * n + k], y[k * n + i % n])).collect();
            products.into_iter().reduce(|a, b| code.add(a, b)).unwrap()
        };
        (0..n * n).map(|i| entry(code, i)).collect()
    })
}

#[test]
fn matrix_products_are_proved_large_ones_at_random_points() {
    assert_proved(&matrices(Type::I32, 2), "modulo 2^32");
    assert_proved(&matrices(Type::F64, 4), "as a polynomial identity over the reals");
    assert_proved(&matrices(Type::F32, 8), "wrong with probability below 2^-1");
}

#[test]
fn subtraction_averaging_and_a_decaying_sum_are_refuted() {
    let report = assert_refuted(&binary(Sub, 0i32), Law::Associativity);
    insta::assert_snapshot!(report, @r"
    `combine` is not associative
                x = 0
                y = 0
                z = 1
      (x · y) · z = -1
      x · (y · z) = 1
      help: if one of these states never occurs, say which do with `fn valid(self) -> bool` in the impl; laws are then judged on valid states only
    `identity` is no identity: combining it with a state changes the state
                 x = 1
          identity = 0
      identity · x = -1
      help: an identity leaves every state as it is; if this state never occurs, say which do with `fn valid(self) -> bool` in the impl
    valid states: proved because every state is valid
    ");
    let averaging = stage(&[Type::F32], &[0f32.into()], |code, x, y| {
        let (sum, half) = (code.add(x[0], y[0]), code.lit(0.5f32));
        vec![code.mul(sum, half)]
    });
    assert_refuted(&averaging, Law::Associativity);
    let decaying = stage(&[Type::F64], &[0f64.into()], |code, x, y| {
        let gamma = code.lit(0.9f64);
        let decayed = code.mul(x[0], gamma);
        vec![code.add(decayed, y[0])]
    });
    assert_refuted(&decaying, Law::Associativity);
}

#[test]
fn saturating_addition_is_refuted_where_signed_and_proved_where_not() {
    let report = assert_refuted(&binary(AddSat, 0i8), Law::Associativity);
    assert!(report.contains("signed saturation forgets"), "{report}");
    assert_proved(&binary(AddSat, 0u8), "");
}

/// The smaller by comparison: `if a < b { a } else { b }`.
fn smaller_by_comparison() -> Stage {
    stage(&[Type::F32], &[f32::INFINITY.into()], |code, x, y| {
        let less = code.op(Lt, x[0], y[0]);
        vec![code.select(less, x[0], y[0])]
    })
}

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
      help: if `0` is never NaN, say so: `fn valid(self) -> bool { !self.0.is_nan() }`
      help: if one of these states never occurs, say which do with `fn valid(self) -> bool` in the impl; laws are then judged on valid states only
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
            insta::assert_snapshot!(broken.report(&names(&["log"])), @r"
    `identity` is no identity: combining it with a state changes the state
                 x = (log: -inf)
          identity = (log: -inf)
      identity · x = (log: NaN)
      help: arithmetic on an infinite `log` gives NaN (∞ − ∞, 0 · ∞): return the other state first where it is infinite
      help: an identity leaves every state as it is; if this state never occurs, say which do with `fn valid(self) -> bool` in the impl
    ");
        }
        let guarded = assert_tested(&log_sum_exp(ty, true), 100);
        assert!(matches!(guarded.identity, Verdict::Tested { .. }), "{guarded}");
    }
}

/// (length, ones at the start, ones at the end, longest run) of a bit string.
fn longest_run() -> Stage {
    let zero = Type::U32.zero();
    stage(&[Type::U32; 4], &[zero; 4], |code, x, y| {
        let (all_x, all_y) = (code.op(Eq, x[1], x[0]), code.op(Eq, y[2], y[0]));
        let (long_prefix, long_suffix) = (code.add(x[0], y[1]), code.add(x[2], y[0]));
        let prefix = code.select(all_x, long_prefix, x[1]);
        let suffix = code.select(all_y, long_suffix, y[2]);
        let (across, best) = (code.add(x[2], y[1]), code.op(Max, x[3], y[3]));
        vec![code.add(x[0], y[0]), prefix, suffix, code.op(Max, best, across)]
    })
}

#[test]
fn the_longest_run_of_ones_needs_its_valid_states() {
    let judgement = judged(&longest_run());
    let report = judgement.counterexample().unwrap().report(&names(&["len", "prefix", "suffix", "best"]));
    insta::assert_snapshot!(report, @r"
    `combine` is not associative
                x = (len: 0, prefix: 0, suffix: 1, best: 0)
                y = (len: 3, prefix: 0, suffix: 0, best: 0)
                z = (len: 0, prefix: 0, suffix: 3, best: 0)
      (x · y) · z = (len: 3, prefix: 0, suffix: 3, best: 1)
      x · (y · z) = (len: 3, prefix: 0, suffix: 4, best: 1)
      they differ in `suffix`: 3 against 4
      help: if one of these states never occurs, say which do with `fn valid(self) -> bool` in the impl; laws are then judged on valid states only
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

fn min_plus(ty: Type, infinity: Constant) -> Stage {
    let zero = ty.zero();
    stage(&[ty; 4], &[zero, infinity, infinity, zero], |code, x, y| {
        let entry = |code: &mut Code, i: usize, j: usize| {
            let (a, b) = (code.op(AddSat, x[2 * i], y[j]), code.op(AddSat, x[2 * i + 1], y[2 + j]));
            code.op(Min, a, b)
        };
        vec![entry(code, 0, 0), entry(code, 0, 1), entry(code, 1, 0), entry(code, 1, 1)]
    })
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

fn segmented(inner: &Stage) -> Stage {
    let types = [&[Type::Bool], &inner.state[..]].concat();
    let identity = [&[false.into()], &inner.identity[..]].concat();
    stage(&types, &identity, |code, x, y| {
        let flag = code.op(Or, x[0], y[0]);
        let combined = code.0.inline(&inner.combine, &[&x[1..], &y[1..]].concat());
        let chosen = combined.iter().zip(&y[1..]).map(|(&combined, &next)| code.select(y[0], next, combined));
        [vec![flag], chosen.collect()].concat()
    })
}

#[test]
fn wrappers_of_what_is_provable_are_proved_by_cases() {
    assert_proved(&segmented(&binary(Add, 0i32)), "in each of");
    assert_proved(&segmented(&affine(Type::F32)), "in each of");
    assert_proved(&segmented(&segmented(&affine(Type::I64))), "in each of");
    // A semigroup with an identity added: the flag says whether there is a value.
    let with_identity = stage(&[Type::Bool, Type::F64], &[false.into(), 0f64.into()], |code, x, y| {
        let largest = code.op(Max, x[1], y[1]);
        let next = code.select(x[0], largest, y[1]);
        vec![code.op(Or, x[0], y[0]), code.select(y[0], next, x[1])]
    });
    let judgement = judged(&with_identity);
    assert!(judgement.associativity.is_proved(), "{judgement}");
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

fn lane_map(lanes: usize) -> Stage {
    let ty = Type::bytes(lanes).unwrap();
    let identity = Constant::vector(&(0..lanes as u8).collect::<Vec<u8>>());
    stage(&[ty], &[identity], |code, x, y| vec![code.op(Permute, y[0], x[0])])
}

#[test]
fn composition_of_lane_maps_is_proved_where_lanes_are_indexes() {
    let ty = Type::bytes(8).unwrap();
    let rows = (0..256u32).map(|byte| Constant::vector(&(0..8).map(|q| (q * 3 + byte) as u8 % 8).collect::<Vec<u8>>()));
    let tables = [Table::new(ty, rows)];
    let automaton = with_lift(lane_map(8), &[Type::U8], |code, x| {
        let index = code.0.cast(Type::U32, x[0]);
        vec![code.0.table(0, ty, index)]
    });
    let judgement = judge(&automaton, &tables, Overflow::NeverOccurs);
    assert!(judgement.verdict().is_proved(), "{judgement}");
    assert_eq!(judgement.associativity.to_string(), "proved by construction: composition of lane maps");
    let valid = with_valid(lane_map(8), |code, x| {
        let last = code.lit(Constant::vector(&[7; 8]));
        let least = code.op(Min, x[0], last);
        code.op(Eq, least, x[0])
    });
    assert_proved(&valid, "by construction");
    assert_refuted(&lane_map(8), Law::Associativity);
}

#[test]
fn composition_of_maps_that_fill_several_vectors_is_proved() {
    let ty = Type::bytes(16).unwrap();
    let identity: Vec<Constant> =
        (0..2).map(|k| Constant::vector(&(0..16).map(|i| 16 * k + i).collect::<Vec<u8>>())).collect();
    let wide = stage(&[ty; 2], &identity, |code, x, y| {
        let sixteen = code.lit(Constant::vector(&[16; 16]));
        let result = |code: &mut Code, j: usize| {
            let (low, above) = (code.op(Permute, y[0], x[j]), code.op(Sub, x[j], sixteen));
            let high = code.op(Permute, y[1], above);
            code.op(Or, low, high)
        };
        vec![result(code, 0), result(code, 1)]
    });
    let wide = with_valid(wide, |code, x| {
        let last = code.lit(Constant::vector(&[31; 16]));
        let within = |code: &mut Code, j: usize| {
            let least = code.op(Min, x[j], last);
            code.op(Eq, x[j], least)
        };
        let (low, high) = (within(code, 0), within(code, 1));
        code.op(And, low, high)
    });
    assert_proved(&wide, "by construction");
}

#[test]
fn a_rolling_hash_is_proved_where_it_wraps_and_tested_modulo_a_prime() {
    let wrapping = stage(&[Type::U32; 2], &[0u32.into(), 1u32.into()], |code, x, y| {
        let shifted = code.mul(x[0], y[1]);
        vec![code.add(shifted, y[0]), code.mul(x[1], y[1])]
    });
    assert_proved(&wrapping, "modulo 2^32");
    let modular = stage(&[Type::U64; 2], &[0u64.into(), 1u64.into()], |code, x, y| {
        let prime = code.lit(1_000_000_007u64);
        let (shifted, power) = (code.mul(x[0], y[1]), code.mul(x[1], y[1]));
        let hash = code.add(shifted, y[0]);
        vec![code.op(Rem, hash, prime), code.op(Rem, power, prime)]
    });
    let modular = with_valid(modular, |code, x| {
        let prime = code.lit(1_000_000_007u64);
        let (a, b) = (code.op(Lt, x[0], prime), code.op(Lt, x[1], prime));
        code.op(And, a, b)
    });
    assert_tested(&modular, 500);
}

#[test]
fn a_carry_pair_is_proved_by_exhaustion_and_bit_sets_bit_by_bit() {
    let carries = |ty: Type, identity: [Constant; 2]| {
        stage(&[ty; 2], &identity, |code, x, y| {
            let carried = code.op(And, y[1], x[0]);
            vec![code.op(Or, y[0], carried), code.op(And, x[1], y[1])]
        })
    };
    assert_proved(&carries(Type::Bool, [false.into(), true.into()]), "by exhaustion over 4 states");
    assert_proved(&carries(Type::U64, [0u64.into(), u64::MAX.into()]), "as a boolean identity, bit by bit");
    assert_proved(&binary(Xor, 0u16), "");
}

#[test]
fn a_wrong_identity_is_refuted_by_name() {
    let report = assert_refuted(&binary(Add, 1i32), Law::LeftIdentity);
    insta::assert_snapshot!(report, @r"
    associative: proved as a polynomial identity over the integers modulo 2^32
    `identity` is no identity: combining it with a state changes the state
                 x = 1
          identity = 1
      identity · x = 2
      help: an identity leaves every state as it is; if this state never occurs, say which do with `fn valid(self) -> bool` in the impl
    valid states: proved because every state is valid
    ");
}

#[test]
fn valid_states_that_combine_leaves_are_refuted_by_name() {
    let short = with_valid(binary(Add, 0u32), |code, x| {
        let three = code.lit(3u32);
        code.op(Lt, x[0], three)
    });
    let report = assert_refuted(&short, Law::Closure);
    insta::assert_snapshot!(report, @r"
    associative: proved as a polynomial identity over the integers modulo 2^32
    identity: proved because both sides are the same expression
    `combine` leaves the valid states: x and y are valid, x · y is not
          x = 1
          y = 2
      x · y = 3
      help: `valid` must hold for every state that valid states combine to: widen it, or mend `combine`
    ");
    let no_identity = with_valid(binary(Add, 0u32), |code, x| {
        let zero = code.lit(0u32);
        code.op(Gt, x[0], zero)
    });
    assert_refuted(&no_identity, Law::IdentityValid);
}

#[test]
fn independent_components_are_judged_on_their_own() {
    let product =
        stage(&[Type::Bool, Type::I32, Type::F32], &[false.into(), 0i32.into(), f32::INFINITY.into()], |code, x, y| {
            vec![code.op(Or, x[0], y[0]), code.add(x[1], y[1]), code.op(Min, x[2], y[2])]
        });
    let how = judged(&product).associativity.to_string();
    assert!(how.contains("by exhaustion over 2 states; and as a polynomial identity"), "{how}");
    assert!(how.contains("; and as an identity of minima"), "{how}");
}

#[test]
fn what_lift_can_lead_to_is_tried_whole_where_it_is_small() {
    // Addition modulo 5 by comparison, which nothing but trying proves; lift gives 0 to 3.
    let modular = stage(&[Type::U32], &[0u32.into()], |code, x, y| {
        let five = code.lit(5u32);
        let sum = code.add(x[0], y[0]);
        vec![code.op(Rem, sum, five)]
    });
    let lifted = with_lift(modular, &[Type::Bool, Type::Bool], |code, x| {
        let (low, high) = (code.0.cast(Type::U32, x[0]), code.0.cast(Type::U32, x[1]));
        let twice = code.add(high, high);
        vec![code.add(low, twice)]
    });
    assert_proved(&lifted, "by exhaustion over the 5 states that lift can lead to");
}

#[test]
fn division_by_what_may_be_zero_is_no_proof() {
    let mean = stage(&[Type::F64; 2], &[0f64.into(), 0f64.into()], |code, x, y| {
        let count = code.add(x[0], y[0]);
        let (a, b) = (code.mul(x[0], x[1]), code.mul(y[0], y[1]));
        let sum = code.add(a, b);
        vec![count, code.op(Div, sum, count)]
    });
    assert!(judged(&mean).counterexample().is_some());
    let negated = stage(&[Type::F64], &[0f64.into()], |code, x, y| {
        let negated = code.0.unary(Neg, y[0]);
        vec![code.op(Sub, x[0], negated)]
    });
    assert_proved(&negated, "over the reals");
}

#[test]
fn verdicts_and_samples_are_the_same_every_time() {
    for stage in [longest_run(), smaller_by_comparison(), min_plus(Type::I32, i32::MAX.into())] {
        assert_eq!(judged(&stage).report(&[]), judged(&stage).report(&[]));
        // NaN is not equal to itself, so samples are compared as text.
        let samples = format!("{:?}", sample_states(&stage, &[], 20, 1));
        assert_eq!(samples, format!("{:?}", sample_states(&stage, &[], 20, 1)));
    }
}

#[test]
fn samples_are_valid_and_begin_with_the_identity() {
    let short = with_valid(binary(Max, 0u8), |code, x| {
        let limit = code.lit(3u8);
        code.op(Le, x[0], limit)
    });
    let samples = sample_states(&short, &[], 16, 0);
    assert_eq!(samples.len(), 4);
    assert_eq!(samples[0], [Constant::from(0u8)]);
}

#[test]
fn random_operators_are_judged_without_a_panic_and_associative_ones_are_not_refuted() {
    use monoscan_ir::random::{Options, random_program};
    for seed in 0..150 {
        let program = random_program(seed, &Options::default());
        let judgement = judge(&program.stages[0], &program.tables, Overflow::NeverOccurs);
        assert!(judgement.counterexample().is_none(), "seed {seed}: {judgement}");
        let any = random_program(seed, &Options { associative: false, ..Options::default() });
        judge(&any.stages[0], &any.tables, Overflow::NeverOccurs);
    }
}

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
    insta::assert_snapshot!(judgement.report(&[]), @r"
    associative: not proved, and no case could be judged: in every case an integer overflows, or a comparison of floats hangs on rounding
    identity: not proved, and no case could be judged: in every case an integer overflows, or a comparison of floats hangs on rounding
    valid states: not proved, and no case could be judged: in every case an integer overflows, or a comparison of floats hangs on rounding
      help: mend `valid` so that it accepts the states that occur and combine without overflow; if the laws hold for a reason that the compiler cannot see, build with `.assume_associative()`
    note: laws are judged where nothing overflows: where an integer does, results may differ from those of the sequential loop. A checked scan reports the first overflow, a wider type avoids it, and `wrapping_add` and its kind have it judged
    ");
}

fn assert_refuted_where_it_wraps(stage: &Stage) {
    let judgement = judge(stage, &[], Overflow::Wraps);
    let counterexample = judgement.associativity.counterexample().unwrap_or_else(|| panic!("not refuted: {judgement}"));
    assert_eq!(counterexample.law, Law::Associativity, "{judgement}");
    assert!(!judgement.to_string().contains("nothing overflows"), "{judgement}");
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
