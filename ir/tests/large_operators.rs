//! Large operators are judged on few cases, and wrong ones are refused all the same: a product of
//! matrices of logarithms has thousands of instructions.

use monoscan_ir::laws::{Law, Overflow, Verdict, judge};
use monoscan_ir::{Constant, Function, FunctionBuilder, Mapping, Opcode, Source, Stage, Type, Value, math};

const SIZE: usize = 4;

/// ln Σ exp(terms); of terms that are all −∞ it is −∞.
fn log_sum_exp(b: &mut FunctionBuilder, terms: &[Value], joined: Opcode) -> Value {
    let high = terms[1..].iter().fold(terms[0], |high, &term| {
        let higher = b.binary(Opcode::Gt, term, high);
        b.select(higher, term, high)
    });
    let mut powers = Vec::new();
    for &term in terms {
        let less = b.binary(Opcode::Sub, term, high);
        powers.push(math::exp(b, less));
    }
    let sum = powers[1..].iter().fold(powers[0], |sum, &power| b.binary(Opcode::Add, sum, power));
    let logarithm = math::ln(b, sum);
    let (result, nothing) = (b.binary(joined, high, logarithm), b.lit(f64::NEG_INFINITY));
    let is_nothing = b.binary(Opcode::Eq, high, nothing);
    b.select(is_nothing, high, result)
}

/// The product, in which one element joins its logarithm by `joined`.
fn product(joined: Opcode) -> Function {
    let mut b = FunctionBuilder::new();
    let [x, y] = [(); 2].map(|()| b.params(&[Type::F64; SIZE * SIZE]));
    let mut results = Vec::new();
    for (row, column) in (0..SIZE).flat_map(|row| (0..SIZE).map(move |column| (row, column))) {
        let terms = (0..SIZE).map(|k| b.binary(Opcode::Add, x[row * SIZE + k], y[k * SIZE + column]));
        let terms: Vec<Value> = terms.collect();
        let joined = if (row, column) == (1, 2) { joined } else { Opcode::Add };
        results.push(log_sum_exp(&mut b, &terms, joined));
    }
    b.finish(&results)
}

fn log_matrices(joined: Opcode) -> Stage {
    let state = vec![Type::F64; SIZE * SIZE];
    let mut copy = FunctionBuilder::new();
    let record = copy.params(&state);
    let reads = (0..).map(Source::Record).take(record.len()).collect();
    let on_diagonal = |place: usize| if place / SIZE == place % SIZE { 0.0 } else { f64::NEG_INFINITY };
    Stage {
        identity: (0..SIZE * SIZE).map(|place| Constant::from(on_diagonal(place))).collect(),
        lift: Mapping { reads, function: copy.finish(&record) },
        combine: product(joined),
        state,
        ..Stage::default()
    }
}

#[test]
fn a_product_of_matrices_of_logarithms_is_tested_on_few_cases() {
    let judgement = judge(&log_matrices(Opcode::Add), &[], Overflow::NeverOccurs);
    let cases = |verdict: &Verdict| match verdict {
        Verdict::Tested { cases } => *cases,
        other => panic!("{other:?}"),
    };
    assert!((4..=16).contains(&cases(&judgement.associativity)), "{judgement}");
    assert!((16..=48).contains(&cases(&judgement.identity)), "{judgement}");
}

#[test]
fn one_wrong_element_of_the_product_is_found() {
    let judgement = judge(&log_matrices(Opcode::Sub), &[], Overflow::NeverOccurs);
    let found = judgement.counterexample().unwrap_or_else(|| panic!("{judgement}"));
    assert_eq!(found.law, Law::Associativity);
}
