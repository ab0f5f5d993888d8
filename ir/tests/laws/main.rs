//! Which operators are monoids: the judge on operators that people write, right ones and famous
//! wrong ones.

mod floats;
mod maps;
mod orders;
mod overflow;
mod rings;

use Opcode::{Add, AddSat, And, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Neg, Or, Permute, Rem, Sub, Xor};
use monoscan_ir::laws::{Advice, Judgement, Law, Overflow, Verdict, Words, judge, sample_states};
use monoscan_ir::{Constant, Function, FunctionBuilder, Mapping, Opcode, Source, Stage, Table, Type, Value};

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
    judgement.report(&[], &Words::default())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

const ZERO: Constant = Type::I64.zero();

fn affine(ty: Type) -> Stage {
    stage(&[ty; 2], &[ty.of_i64(1), ty.of_i64(0)], |code, x, y| {
        let product = code.mul(y[0], x[1]);
        vec![code.mul(y[0], x[0]), code.add(product, y[1])]
    })
}

/// The smaller by comparison: `if a < b { a } else { b }`.
fn smaller_by_comparison() -> Stage {
    stage(&[Type::F32], &[f32::INFINITY.into()], |code, x, y| {
        let less = code.op(Lt, x[0], y[0]);
        vec![code.select(less, x[0], y[0])]
    })
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
fn a_wrong_identity_is_refuted_by_name() {
    let report = assert_refuted(&binary(Add, 1i32), Law::LeftIdentity);
    insta::assert_snapshot!(report, @r"
    `identity` is no identity: combining it with a state changes the state
                 x = 1
          identity = 1
      identity · x = 2
      help: an identity leaves every state as it is; if this state never occurs, let `valid` say which do
    associative: proved as a polynomial identity over the integers modulo 2^32
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
    `combine` leaves the valid states: x and y are valid, x · y is not
          x = 1
          y = 2
      x · y = 3
      help: `valid` must hold for every state that valid states combine to: widen it, or mend `combine`
    associative: proved as a polynomial identity over the integers modulo 2^32
    identity: proved because both sides are the same expression
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
        assert_eq!(judged(&stage).report(&[], &Words::default()), judged(&stage).report(&[], &Words::default()));
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
    use scan_kit::random::{Options, random_program};
    for seed in 0..150 {
        let program = random_program(seed, &Options::default());
        let judgement = judge(&program.stages[0], &program.tables, Overflow::NeverOccurs);
        assert!(judgement.counterexample().is_none(), "seed {seed}: {judgement}");
        let any = random_program(seed, &Options { associative: false, ..Options::default() });
        judge(&any.stages[0], &any.tables, Overflow::NeverOccurs);
    }
}
