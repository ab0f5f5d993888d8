//! Each family of derived loops is proved to be the loop: the step by its equation, and its
//! composition by the laws. Those whose laws no normal form decides are named.

use monoscan_ir::derive::{Derivation, Family, LoopProgram, derive};
use monoscan_ir::laws::{Overflow::NeverOccurs, judge};
use monoscan_ir::{FunctionBuilder, Layout, Mapping, Opcode, Output, Source, Type, Value};

/// The next state, of the state and the record.
type Step = fn(&mut FunctionBuilder, &[Value], &[Value]) -> Vec<Value>;

/// A loop from zeros, over records of these types.
fn derived(
    state: &[Type],
    record: &[Type],
    step: impl Fn(&mut FunctionBuilder, &[Value], &[Value]) -> Vec<Value>,
) -> Derivation {
    let mut b = FunctionBuilder::new();
    let (s, x) = (b.params(state), b.params(record));
    let next = step(&mut b, &s, &x);
    let step = Mapping { reads: (0..record.len() as u32).map(Source::Record).collect(), function: b.finish(&next) };
    let mut b = FunctionBuilder::new();
    let first = b.param(state[0]);
    let project = Mapping { reads: vec![Source::State(0)], function: b.finish(&[first]) };
    let of = LoopProgram {
        name: "loop".into(),
        tables: Vec::new(),
        inputs: record.iter().map(|&ty| Layout::of(ty)).collect(),
        parameters: Vec::new(),
        names: (0..state.len()).map(|place| format!("s{place}")).collect(),
        record_names: Vec::new(),
        initial: state.iter().map(|ty| ty.zero()).collect(),
        step,
        places: Vec::new(),
        output: Output { filter: None, project, columns: vec![Layout::of(state[0])] },
    };
    derive(&of).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// The loop is of one group of such a family, and all of it is proved.
#[track_caller]
fn assert_proved(of: &Derivation, is_family: impl Fn(&Family) -> bool) {
    assert!(of.groups.len() == 1 && is_family(&of.groups[0].family), "another family:\n{}", of.explain());
    assert!(of.is_proved(), "{}", verdicts(of));
}

/// The loop is of one group of such a family, of which the step or a law is tested alone.
#[track_caller]
fn assert_tested(of: &Derivation, is_family: impl Fn(&Family) -> bool) {
    assert!(of.groups.len() == 1 && is_family(&of.groups[0].family), "another family:\n{}", of.explain());
    let laws = of.program.stages.iter().map(|stage| judge(stage, &of.program.tables, NeverOccurs));
    assert!(laws.into_iter().all(|judgement| judgement.verdict().is_accepted()), "{}", verdicts(of));
    assert!(!of.is_proved(), "it is proved now:\n{}", verdicts(of));
}

fn verdicts(of: &Derivation) -> String {
    let laws = of.program.stages.iter().map(|stage| judge(stage, &of.program.tables, NeverOccurs));
    let laws: Vec<String> = laws.map(|judgement| format!("{judgement:?}")).collect();
    format!("{}\n{}", of.explain(), laws.join("\n"))
}

fn kept_or_set(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    vec![b.select(x[0], x[1], s[0])]
}

/// Every component is one of those before, or of the record.
fn moved(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    vec![b.select(x[0], x[1], s[1]), b.select(x[0], s[0], s[1])]
}

fn last(_: &mut FunctionBuilder, _: &[Value], x: &[Value]) -> Vec<Value> {
    x.to_vec()
}

#[test]
fn what_is_kept_set_or_moved() {
    for ty in [Type::Bool, Type::U8, Type::I32, Type::U64, Type::F32, Type::F64] {
        assert_proved(&derived(&[ty], &[Type::Bool, ty], kept_or_set), |family| *family == Family::Latch);
        assert_proved(&derived(&[ty], &[ty], last), |family| *family == Family::Last);
        let moves = derived(&[ty, ty], &[Type::Bool, ty], moved);
        match ty {
            Type::Bool => assert_proved(&moves, |family| *family == Family::Moves),
            // Three states have too many cases.
            _ => assert_tested(&moves, |family| *family == Family::Moves),
        }
    }
}

/// u ⊕ k, and k where the record says so.
macro_rules! accumulated {
    ($($name:ident $opcode:ident;)*) => {
        &[$({
            fn $name(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
                vec![b.binary(Opcode::$opcode, s[0], x[0])]
            }
            fn restarted(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
                let sum = b.binary(Opcode::$opcode, s[0], x[0]);
                vec![b.select(x[1], x[0], sum)]
            }
            (Opcode::$opcode, $name as Step, restarted as Step)
        }),*]
    };
}

#[test]
fn running_sums_products_and_extremes() {
    let all: &[(Opcode, Step, Step)] =
        accumulated!(sum Add; product Mul; least Min; most Max; all And; any Or; odd Xor;);
    for &(operation, plain, restarted) in all {
        let is_bitwise = matches!(operation, Opcode::And | Opcode::Or | Opcode::Xor);
        for ty in [Type::U8, Type::I32, Type::U64, Type::F32, Type::F64] {
            if is_bitwise && ty.is_float() {
                continue;
            }
            let is = |with: bool| move |family: &Family| *family == Family::Accumulate { operation, restarts: with };
            assert_proved(&derived(&[ty], &[ty], plain), is(false));
            // Of bits another family has less work.
            let bits = |family: &Family| *family == Family::Bits;
            match is_bitwise {
                true => assert_proved(&derived(&[ty], &[ty, Type::Bool], restarted), |f| is(true)(f) || bits(f)),
                false => assert_proved(&derived(&[ty], &[ty, Type::Bool], restarted), is(true)),
            }
        }
    }
}

/// A flag that is set by one kind of record and reset by another.
fn flag(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let toggled = b.binary(Opcode::Xor, s[0], x[0]);
    let off = b.lit(false);
    vec![b.select(x[1], off, toggled)]
}

/// A counter that stays at its ends where the record says so.
fn counter<const STATES: i64>(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let (one, last, none) = (b.lit(1i32), b.lit(STATES as i32 - 1), b.lit(0i32));
    let more = b.binary(Opcode::Add, s[0], one);
    let is_last = b.binary(Opcode::Eq, s[0], last);
    let more = b.select(is_last, none, more);
    let half = b.lit(STATES as i32 / 2);
    let is_half = b.binary(Opcode::Eq, s[0], half);
    let other = b.select(is_half, none, s[0]);
    vec![b.select(x[0], more, other)]
}

#[test]
fn tables() {
    assert_proved(&derived(&[Type::Bool], &[Type::Bool, Type::Bool], flag), |family| {
        matches!(family, Family::Table { states: 2 } | Family::Accumulate { .. } | Family::Bits)
    });
    for (states, step) in [(3, counter::<3> as Step), (11, counter::<11>), (16, counter::<16>), (40, counter::<40>)] {
        assert_proved(&derived(&[Type::I32], &[Type::Bool], step), |family| *family == Family::Table { states });
    }
}

fn clamped<const LOWER: bool, const UPPER: bool>(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let mut sum = b.binary(Opcode::Add, s[0], x[0]);
    if LOWER {
        sum = b.binary(Opcode::Max, sum, x[1]);
    }
    if UPPER {
        sum = b.binary(Opcode::Min, sum, x[2]);
    }
    vec![sum]
}

fn scaled_and_clamped(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let half = b.lit(0.5f64);
    let product = b.binary(Opcode::Mul, s[0], half);
    let sum = b.binary(Opcode::Add, product, x[0]);
    vec![b.binary(Opcode::Max, sum, x[1])]
}

#[test]
fn bounded_sums() {
    for ty in [Type::I8, Type::I32, Type::I64, Type::F32, Type::F64] {
        let of = |step: Step| derived(&[ty], &[ty; 3], step);
        let is = |low: bool, high: bool| move |family: &Family| matches!(*family, Family::Clamp { lower, upper, .. } if (lower, upper) == (low, high));
        for (lower, upper, step) in [
            (true, false, clamped::<true, false> as Step),
            (false, true, clamped::<false, true>),
            (true, true, clamped::<true, true>),
        ] {
            // Elsewhere a number stands for what is infinite, or a sum of floats must not be.
            match ty.is_int() && (ty.size() == 8 || (ty.size() == 4 && lower && upper)) {
                true => assert_proved(&of(step), is(lower, upper)),
                false => assert_tested(&of(step), is(lower, upper)),
            }
        }
    }
    assert_tested(&derived(&[Type::F64], &[Type::F64; 2], scaled_and_clamped), |family| {
        matches!(family, Family::Clamp { scaled: true, .. })
    });
}

fn affine(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let product = b.wrapping(|b| b.binary(Opcode::Mul, s[0], x[0]));
    vec![b.wrapping(|b| b.binary(Opcode::Add, product, x[1]))]
}

fn affine_of_two(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    b.wrapping(|b| {
        let products = [(0, 0), (1, 1)].map(|(i, j)| b.binary(Opcode::Mul, s[i], x[j]));
        let sum = b.binary(Opcode::Add, products[0], products[1]);
        vec![b.binary(Opcode::Add, sum, x[0]), s[0]]
    })
}

#[test]
fn affine_maps() {
    for ty in [Type::U8, Type::I32, Type::U64, Type::F32, Type::F64] {
        let is = |count: usize| move |family: &Family| matches!(*family, Family::Affine { components, .. } if components == count);
        assert_proved(&derived(&[ty], &[ty; 2], affine), is(1));
        assert_proved(&derived(&[ty; 2], &[ty; 2], affine_of_two), is(2));
    }
}

fn best_of_two<const OPCODE: bool>(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let opcode = if OPCODE { Opcode::Max } else { Opcode::Min };
    let sums = [(0, 0), (1, 1), (0, 2), (1, 0)].map(|(i, j)| b.binary(Opcode::Add, s[i], x[j]));
    vec![b.binary(opcode, sums[0], sums[1]), b.binary(opcode, sums[2], sums[3])]
}

#[test]
fn extremes_of_sums() {
    for ty in [Type::I32, Type::F64] {
        for (maxima, step) in [(true, best_of_two::<true> as Step), (false, best_of_two::<false>)] {
            let of = derived(&[ty; 2], &[ty; 3], step);
            let is = |f: &Family| matches!(*f, Family::Tropical { components: 2, maxima: found } if found == maxima);
            match ty.is_float() {
                true => assert_proved(&of, is),
                // A number stands for what is infinite.
                false => assert_tested(&of, is),
            }
        }
    }
}

/// The conditions on the states of one group are not asked of others, which compose to states that do not meet them.
#[test]
fn families_beside_a_last_value() {
    let all: [(&[Type], &[Type], Step); 8] = [
        (&[Type::I32; 2], &[Type::I32; 3], best_of_two::<true>),
        (&[Type::I32; 2], &[Type::I32; 3], best_of_two::<false>),
        (&[Type::F64; 2], &[Type::F64; 3], best_of_two::<true>),
        (&[Type::U64], &[Type::U64], remainder),
        (&[Type::I32], &[Type::I32; 3], clamped::<true, true>),
        (&[Type::I32], &[Type::I32; 3], clamped::<true, false>),
        (&[Type::F64; 2], &[Type::F64], product_of_neighbours),
        (&[Type::F64], &[Type::F64], gain),
    ];
    for (state, record, step) in all {
        let types = [state, &record[..1]].concat();
        let both = derived(&types, record, |b, s, x| [step(b, &s[..state.len()], x), vec![x[0]]].concat());
        let mut laws = both.program.stages.iter().map(|stage| judge(stage, &both.program.tables, NeverOccurs));
        assert!(laws.all(|judgement| judgement.verdict().is_accepted()), "{}", verdicts(&both));
    }
}

fn masked(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let kept = b.binary(Opcode::And, s[0], x[0]);
    vec![b.binary(Opcode::Xor, kept, x[1])]
}

fn remainder(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let (modulus, small) = (b.lit(1009u64), b.lit(255u64));
    let (added, factor) = (b.binary(Opcode::And, x[0], small), b.lit(17u64));
    let product = b.binary(Opcode::Mul, s[0], factor);
    let sum = b.binary(Opcode::Add, product, added);
    vec![b.binary(Opcode::Rem, sum, modulus)]
}

fn shifted(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let one = b.lit(1u32);
    let moved = b.binary(Opcode::Shl, s[0], one);
    vec![b.binary(Opcode::Xor, moved, x[0])]
}

fn product_of_neighbours(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let [high, low] = [0, 1].map(|i| b.binary(Opcode::Mul, s[i], x[0]));
    let (most, least) = (b.binary(Opcode::Max, high, low), b.binary(Opcode::Min, high, low));
    vec![b.binary(Opcode::Max, most, x[0]), b.binary(Opcode::Min, least, x[0])]
}

fn gain(b: &mut FunctionBuilder, s: &[Value], x: &[Value]) -> Vec<Value> {
    let sum = b.binary(Opcode::Add, s[0], x[0]);
    let product = b.binary(Opcode::Mul, s[0], x[0]);
    vec![b.binary(Opcode::Div, product, sum)]
}

#[test]
fn bits_remainders_intervals_and_quotients() {
    for ty in [Type::U8, Type::I32, Type::U64] {
        assert_proved(&derived(&[ty], &[ty; 2], masked), |family| *family == Family::Bits);
    }
    // No normal form has remainders, nor matrices of bits under masks of one bit, nor which end a product is.
    assert_tested(&derived(&[Type::U64], &[Type::U64], remainder), |family| matches!(family, Family::Modular { .. }));
    assert_tested(&derived(&[Type::U8], &[Type::U8], shifted), |family| *family == Family::Linear);
    assert_tested(&derived(&[Type::F64; 2], &[Type::F64], product_of_neighbours), |f| *f == Family::Interval);
    assert_tested(&derived(&[Type::F64], &[Type::F64], gain), |family| *family == Family::Quotient);
}
