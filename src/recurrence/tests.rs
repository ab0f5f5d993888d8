//! Recurrences keep the sequential answer: in one sweep exactly, and in blocks up to
//! rounding.

use monoscan_ir::facts::{LengthOnly, step};
use monoscan_ir::interp::{Interpreter, Request, run};
use monoscan_ir::laws::{Overflow, Verdict, judge};
use monoscan_ir::transform::{self, lower};
use monoscan_ir::{Constant, Function, Opcode, Program, Source, Type, simplify, verify};

use super::form::Form;
use super::{Precision, Recurrence, RecurrenceError, Sample, Signature, filter_exactly, filter_sequentially, program};

/// The recurrences that the literature measures: sums, tuple sums, sums of sums, low-pass and high-pass filters.
const PUBLISHED: [&str; 10] = [
    "1 : 1",
    "1 : 0, 1",
    "1 : 2, -1",
    "1 : 3, -3, 1",
    "0.2 : 0.8",
    "0.04 : 1.6, -0.64",
    "0.008 : 2.4, -1.92, 0.512",
    "0.9, -0.9 : 0.8",
    "0.81, -1.62, 0.81 : 1.6, -0.64",
    "0.729, -2.187, 2.187, -0.729 : 2.4, -1.92, 0.512",
];

/// Filters whose poles are close to the unit circle: Butterworth low-passes of order 2 and 4 at a hundredth of the
/// Nyquist frequency, and a resonator.
const SHARP: [&str; 3] = [
    "0.00024136, 0.00048272, 0.00024136 : 1.95557824, -0.95654368",
    "5.8451424e-8, 2.33805696e-7, 3.50708544e-7, 2.33805696e-7, 5.8451424e-8 : \
     3.9179079, -5.75707638, 3.76034951, -0.92118193",
    "1 : 1.2, -0.9999",
];

/// Shapes that those leave out: nothing fed back, nothing of x[i] itself, longer on either side.
const SHAPES: [&str; 7] =
    ["2 :", "0 :", "0, 1 :", "1, 2, 3 :", "0, 0, 0.5 : 0.5", "1, -1, 0, 0, 0.25 : 0, 0.5", "1 : 0, 0, 0, 0, 0.5"];

fn signature(text: &str) -> Signature {
    text.parse().expect("a signature")
}

fn form<T: Sample>(text: &str, precision: Precision) -> Form {
    Form::new(&signature(text), T::TYPE, precision).expect("in range")
}

fn program_of<T: Sample>(text: &str, precision: Precision) -> Program {
    program::<T>(&signature(text), precision).expect("in range")
}

/// Samples in [−1, 1) without a pattern.
fn noise<T: Sample>(len: usize) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::from_f64((state >> 40) as f64 / (1 << 23) as f64 - 1.0)
    };
    (0..len).map(|_| next()).collect()
}

fn numbers<T: Sample>(samples: &[T]) -> Vec<f64> {
    samples.iter().map(|&sample| sample.to_f64()).collect()
}

/// The largest difference, relative to the largest number expected.
fn error(got: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(got.len(), expected.len());
    let largest = expected.iter().fold(0.0f64, |largest, y| largest.max(y.abs()));
    let difference = got.iter().zip(expected).fold(0.0f64, |worst, (g, e)| worst.max((g - e).abs()));
    if largest == 0.0 { difference } else { difference / largest }
}

fn interpret<T: Sample>(program: &Program, x: &[T]) -> Vec<f64> {
    let bytes: Vec<u8> = x.iter().flat_map(|&x| x.into().to_bytes()).collect();
    let program = verify(program.clone()).expect("valid");
    let run = run(&program, &[&bytes], &Request::default()).expect("one column");
    run.outputs[0].chunks(T::TYPE.size()).map(|bytes| Constant::from_bytes(T::TYPE, bytes).as_f64()).collect()
}

/// The step that the program's prose promises, written as a loop in the type of the state.
fn state_space<T: Sample>(form: &Form, x: &[f64], fused: impl Fn(T, T, T) -> T) -> Vec<f64> {
    let constant = T::from_f64;
    let mut s = vec![constant(0.0); form.order() + 1];
    let step = |&x: &f64| {
        let (x, s1) = (constant(x), s[0]);
        for j in 0..form.order() {
            let input = constant(form.input[j]) * x;
            let kept = if form.shift == 0.0 { input } else { constant(form.shift) * s[j] + input };
            s[j] = fused(constant(form.feedback[j]), s1, s[j + 1] + kept);
        }
        fused(constant(form.direct), x, s1).to_f64()
    };
    x.iter().map(step).collect()
}

#[test]
fn one_sweep_is_the_sequential_loop_exactly() {
    for text in PUBLISHED.iter().chain(&SHAPES) {
        for precision in [Precision::Double, Precision::Samples] {
            let x = noise::<f64>(300);
            let expected = state_space(&form::<f64>(text, precision), &x, f64::mul_add);
            assert_eq!(interpret(&program_of::<f64>(text, precision), &x), expected, "{text} in f64");
        }
        let x = noise::<f32>(300);
        let expected = state_space(&form::<f32>(text, Precision::Samples), &numbers(&x), f32::mul_add);
        assert_eq!(interpret(&program_of::<f32>(text, Precision::Samples), &x), expected, "{text} in f32");

        let wide = state_space(&form::<f32>(text, Precision::Double), &numbers(&x), f64::mul_add);
        let expected: Vec<f64> = wide.iter().map(|&y| y as f32 as f64).collect();
        assert_eq!(interpret(&program_of::<f32>(text, Precision::Double), &x), expected, "{text} widened");
    }
}

#[test]
fn only_the_vector_is_carried_and_its_step_keeps_the_structure_of_the_matrix() {
    for text in PUBLISHED {
        let program = verify(program_of::<f64>(text, Precision::Double)).expect("valid");
        let (lowered, order) = (lower(&program, transform::Form::default()), signature(text).order());
        let is_vector: Vec<bool> = (0..2 * order).map(|component| component >= order).collect();
        assert!(
            lowered.replay().carried.iter().copied().eq((order..2 * order).map(|component| (0, component as u32))),
            "{text}"
        );
        let tabulated = lowered.facts()[0].length_only.components();
        assert!(tabulated.iter().zip(&is_vector).all(|(tabulated, carried)| tabulated != carried), "{text}");

        let step = step(&program, 0).function;
        let vector = Function { results: step.results[order..].to_vec(), ..step.clone() };
        let work = simplify(&vector, &[]).insts.iter().filter(|inst| inst.opcode != Opcode::Const).count();
        // Each component: B·x, what comes from below, one multiply-add, and one sum more if it is shifted.
        let shifted = form::<f64>(text, Precision::Double).shift != 0.0;
        let most = if shifted { 4 * order - 1 } else { 3 * order - 1 };
        assert!(work <= most, "{text}: {work} instructions for {order} components");
    }
}

#[test]
fn tabulated_powers_are_those_of_the_matrix() {
    for text in PUBLISHED.iter().chain(&SHARP) {
        let form = form::<f64>(text, Precision::Double);
        let program = program_of::<f64>(text, Precision::Double);
        let mut power = form.first_power();
        let length_only = LengthOnly::of(&program.stages[0], &[]);
        for samples in 1..=1000 {
            let largest = power.iter().fold(1.0f64, |largest, c| largest.max(c.abs()));
            let tabulated = length_only.after(samples).into_iter().flatten().map(|coefficient| coefficient.as_f64());
            for (got, expected) in tabulated.zip(&power) {
                assert!((got - expected).abs() <= 1e-12 * largest, "{text}, power {samples}");
            }
            form.times_a(&mut power);
        }
    }
}

/// The work of an engine: aggregates of blocks, carries, and a replay of each block from its carry.
fn in_blocks<T: Sample>(program: &Program, x: &[T], block: usize) -> Vec<f64> {
    let stage = &program.stages[0];
    let mut interpreter = Interpreter::new(&[]);
    let mut join =
        |left: &[Constant], right: &[Constant]| interpreter.call(&stage.combine, &[left, right].concat()).clone();
    let mut lifting = Interpreter::new(&[]);
    let mut lift = |x: T| lifting.call(&stage.lift.function, &[x.into()]).clone();
    let mut projecting = Interpreter::new(&[]);
    let mut output = Vec::new();
    let mut carry = stage.identity.clone();
    for block in x.chunks(block) {
        let mut state = carry.clone();
        let mut aggregate = stage.identity.clone();
        for &x in block {
            let reads = program.output.project.reads.iter().map(|read| match read {
                Source::Before { component, .. } => state[*component as usize],
                _ => x.into(),
            });
            let reads: Vec<Constant> = reads.collect();
            output.push(projecting.call(&program.output.project.function, &reads)[0].as_f64());
            let element = lift(x);
            state = join(&state, &element);
            aggregate = join(&aggregate, &element);
        }
        carry = join(&carry, &aggregate);
    }
    output
}

/// The error of the blocked scan, which must not be larger than `bound`, nor twice that of the plain loop in the same
/// type where the state has that type too. (A few rounding errors are always granted.)
fn check_blocks<T: Sample>(text: &str, precision: Precision, bound: f64) {
    let x = noise::<T>(4000);
    let exact = filter_exactly(&signature(text), &numbers(&x));
    let mut plain = vec![T::default(); x.len()];
    filter_sequentially(&signature(text), &x, &mut plain);
    let plain = error(&numbers(&plain), &exact);
    let got = error(&in_blocks(&program_of::<T>(text, precision), &x, 500), &exact);
    let place = format!("{text} in {}, {precision:?}: error {got:e}, the plain loop's is {plain:e}", T::TYPE);
    assert!(got <= bound, "{place}");
    let rounding = if T::TYPE == Type::F32 { f32::EPSILON as f64 } else { f64::EPSILON };
    assert!(precision == Precision::Double || got <= 2.0 * plain + 2.0 * rounding, "{place}");
}

#[test]
fn blocks_are_as_accurate_as_the_sequential_loop() {
    for text in PUBLISHED.iter().chain(&SHARP).chain(&SHAPES) {
        check_blocks::<f64>(text, Precision::Samples, 2e-14);
        check_blocks::<f32>(text, Precision::Double, 1e-7);
        check_blocks::<f32>(text, Precision::Samples, 1e-4);
    }
}

#[test]
fn an_infinite_sample_spreads_no_further_than_the_signature_says() {
    let mut x = noise::<f64>(64);
    x[20] = f64::INFINITY;
    let program = program_of::<f64>("0, 1, 1 :", Precision::Double);
    for y in [interpret(&program, &x), in_blocks(&program, &x, 7)] {
        let infinite: Vec<usize> = (0..64).filter(|&i| !y[i].is_finite()).collect();
        assert_eq!(infinite, [21, 22]);
    }
}

#[test]
fn the_operator_is_a_monoid() {
    for text in PUBLISHED.iter().chain(&SHAPES) {
        let program = program_of::<f32>(text, Precision::Double);
        let judgement = judge(&program.stages[0], &program.tables, Overflow::NeverOccurs);
        assert!(!matches!(judgement.verdict(), Verdict::Refuted(_)), "{text}: {:?}", judgement.verdict());
    }
}

/// Products of such coefficients overflow on the states that a refutation of the laws tries, and none of these samples.
#[test]
fn coefficients_at_the_end_of_the_range_are_taken() {
    let x = noise::<f64>(3000);
    let small: Vec<f32> = x.iter().map(|&x| x as f32 * 1e-20).collect();
    for text in PUBLISHED.iter().chain(&SHAPES).chain(&["-1, -0.085, -0.55 : 1.8, -0.81"]) {
        let plain = signature(text);
        let scaled = |by: f64| {
            let a: Vec<f64> = plain.feed_forward().iter().map(|a| a * by).collect();
            Signature::new(a, plain.feedback()).expect("they are finite")
        };
        let by = f64::powi(2.0, 1000);
        let y = Recurrence::<f64>::new(&scaled(by)).expect(text).filter(&x).expect("it is short");
        let exact = filter_exactly(&plain, &x);
        let top = exact.iter().fold(0.0f64, |top, y| top.max(y.abs()));
        assert!(y.iter().zip(&exact).all(|(y, exact)| (y / by - exact).abs() <= 1e-9 * top), "{text}");
        let samples = Recurrence::with_precision(&scaled(1e36), Precision::Samples).expect(text);
        let z = samples.filter(&small).expect("it is short");
        let is_near = |(z, exact): (&f32, &f64)| (f64::from(*z) / 1e16 - exact).abs() <= 1e-3 * top;
        assert!(z.iter().zip(&exact).all(is_near), "{text} in samples");
    }
}

#[test]
fn growth_is_that_of_the_powers() {
    let growth = |text, samples| form::<f32>(text, Precision::Double).growth(samples);
    assert_eq!(growth("1 : 0.5", 1000).peak, 0.5);
    assert_eq!(growth("0 : 0, 1", 100).peak, 1.0);
    assert_eq!(growth("1 : 2, -1", 100).peak, 100.0, "(1 + N)^n = 1 + n·N where N² = 0");
    assert_eq!(growth("1 : 2", 2000).exceeded_after, Some(512));
    assert_eq!(form::<f32>("1 : 2", Precision::Samples).growth(2000).exceeded_after, Some(64));
    for text in PUBLISHED {
        assert_eq!(growth(text, 1 << 16).exceeded_after, None, "{text}");
    }
}

#[test]
fn a_coefficient_beyond_the_type_is_refused_by_name() {
    let error = Form::new(&signature("1, 1e39 : 0.5"), Type::F32, Precision::Samples).unwrap_err();
    assert_eq!(error.to_string(), "a1 is 1e39, which f32 cannot hold");
    let error = Form::new(&signature("1e200 : 1e200"), Type::F64, Precision::Double).unwrap_err();
    assert!(error.to_string().starts_with("input of state 1 is inf"), "{error}");
}

fn check_engine<T: Sample>(text: &str, len: usize, tolerance: f64) {
    let recurrence = Recurrence::<T>::new(&signature(text)).unwrap();
    let x = noise::<T>(len);
    let exact = filter_exactly(&signature(text), &numbers(&x));
    let got = error(&numbers(&recurrence.filter(&x).unwrap()), &exact);
    assert!(got <= tolerance, "{text} in {}, {len} samples: error {got:e}", T::TYPE);
}

#[test]
fn the_engine_solves_recurrences_of_every_shape_and_length() {
    for text in PUBLISHED.iter().chain(&SHARP).chain(&SHAPES) {
        for len in [0, 1, 2, 100, 40_000, 300_001] {
            check_engine::<f64>(text, len, 1e-12);
        }
        check_engine::<f32>(text, 40_000, 1e-7);
    }
}

#[test]
fn outputs_of_another_length_are_refused_untouched() {
    let recurrence = Recurrence::<f32>::new(&signature("1 : 1")).unwrap();
    let mut y = [7.0; 2];
    assert!(recurrence.filter_into(&[1.0, 2.0, 3.0], &mut y).is_err());
    assert_eq!(y, [7.0; 2]);
}

#[test]
fn an_unstable_recurrence_is_refused_with_the_reason() {
    let error = Recurrence::<f64>::new(&signature("1 : 3")).unwrap_err();
    assert!(matches!(error, RecurrenceError::Unstable { .. }), "{error}");
}

/// All lists of `len` of these numbers.
fn lists(numbers: &[f64], len: u32) -> impl Iterator<Item = Vec<f64>> {
    let base = numbers.len();
    (0..base.pow(len)).map(move |code| (0..len).map(|place| numbers[code / base.pow(place) % base]).collect())
}

fn bits(y: &[f64]) -> Vec<u64> {
    y.iter().map(|y| y.to_bits()).collect()
}

#[test]
fn zeros_have_the_sign_that_the_plain_loop_gives_them() {
    for coefficients in lists(&[0.0, 0.5, 1.0, 2.0], 4) {
        let signature = Signature::new(&coefficients[..2], &coefficients[2..]).unwrap();
        let program = program::<f64>(&signature, Precision::Double).unwrap();
        for x in lists(&[0.0, 1.0, -1.0], 5) {
            let mut plain = vec![7.0; x.len()];
            filter_sequentially(&signature, &x, &mut plain);
            // Terms of a coefficient that is 0 are none: 0·x has the sign of x, their sum is +0.
            let is_silent = coefficients[..2] == [0.0, 0.0];
            let expected = if is_silent { vec![0.0; x.len()] } else { plain };
            assert_eq!(bits(&interpret(&program, &x)), bits(&expected), "{signature}, {x:?}");
            assert_eq!(bits(&in_blocks(&program, &x, 2)), bits(&expected), "{signature}, {x:?} in blocks");
        }
    }
}

#[test]
fn a_factor_alone_keeps_the_signs_of_zeros() {
    for factor in [1.0, 2.0, -1.0, -0.5] {
        let program = program::<f64>(&Signature::new([factor], []).unwrap(), Precision::Double).unwrap();
        for x in lists(&[0.0, -0.0, 1.0], 3) {
            let expected: Vec<f64> = x.iter().map(|x| factor * x).collect();
            assert_eq!(bits(&interpret(&program, &x)), bits(&expected), "{factor}·x");
        }
    }
}

#[test]
fn what_counts_for_nothing_gives_zeros_whatever_is_fed_back() {
    for text in ["0 : 0", "0 :", "0, 0 : -1", "0 : 0, -0.5", "0 : 5"] {
        let recurrence = Recurrence::<f32>::new(&signature(text)).unwrap();
        for len in [0, 1, 3, 70_000] {
            let y = recurrence.filter(&noise::<f32>(len)).unwrap();
            assert!(y.len() == len && y.iter().all(|y| y.to_bits() == 0), "{text}, {len} samples");
        }
    }
}
