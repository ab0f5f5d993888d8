//! Checked scans of the CPU engine against the sequential loop: the same first overflow, or the
//! same results.

use monoscan_ir::derive::LoopProgram;
use monoscan_ir::{Constant, Function, Opcode, Source, Type, Value, interp, overflows};
use monoscan_runtime::{Call, Column, ColumnMut, DynScan, Error, PlanOptions};
use scan_kit::Random;
use scan_kit::loops::{Seen, any_operator, compare_any, program};
use scan_kit::random::random_loop;

fn rounds() -> u64 {
    let rounds = std::env::var("MONOSCAN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    rounds.unwrap_or(1)
}

#[test]
fn a_checked_scan_gives_what_the_loop_gives_or_its_first_overflow() {
    let mut seen = Seen::default();
    for seed in 0..39 * rounds() {
        let mut random = Random(seed);
        let operator = any_operator(seed, &mut random);
        let plan = PlanOptions {
            interleave: Some(1 << random.below(3)),
            block: Some(1 + random.below(9)),
            strips: Some(1 + random.below(2)),
            direct: Some(random.below(2) * 8),
            ..PlanOptions::default()
        };
        let threads = 1 + 2 * random.below(2);
        let scan = DynScan::builder(program(&operator)).plan(plan).threads(threads).assume_associative().build();
        let scan = scan.unwrap().checked();
        for _ in 0..24 {
            let len = [1, 2, 7, 40, 150][random.below(5)];
            compare_any(
                &operator,
                &|call, inputs, outputs| scan.run(call, inputs, outputs),
                len,
                true,
                &mut random,
                &mut seen,
            );
        }
    }
    println!("{seen:?}");
    assert!(seen.equal > 300 && seen.overflowed > 60 && seen.out_of_order > 10, "{seen:?}");
}

/// Whether native Rust panics on the way to a value, which takes one arm of an `if` only, and no more of `&&` than it needs.
fn panics(function: &Function, values: &[Constant], value: Value) -> bool {
    let Some(inst) = function.inst(value) else { return false };
    let operands = inst.operands();
    let known: Vec<Constant> = operands.iter().map(|operand| values[operand.index()]).collect();
    let on_the_way = |place: usize| panics(function, values, operands[place]);
    let is_true = |place: usize| known[place].bits() != 0;
    overflows(inst, &known)
        || match inst.opcode {
            Opcode::Select => on_the_way(0) || on_the_way(if is_true(0) { 1 } else { 2 }),
            Opcode::And if inst.ty == Type::Bool => on_the_way(0) || is_true(0) && on_the_way(1),
            Opcode::Or if inst.ty == Type::Bool => on_the_way(0) || !is_true(0) && on_the_way(1),
            _ => (0..operands.len()).any(on_the_way),
        }
}

/// The states of a loop after each record, or the first record at which it overflows.
fn states(of: &LoopProgram, parameters: &[Constant], records: &[Vec<Constant>]) -> Result<Vec<Vec<Constant>>, usize> {
    let mut state = of.initial.clone();
    let next = |(place, record): (usize, &Vec<Constant>)| {
        let read = |source: &Source| match *source {
            Source::Record(component) => record[component as usize],
            Source::Parameter(parameter) => parameters[parameter as usize],
            Source::Prev(component) if place > 0 => records[place - 1][component as usize],
            Source::Prev(component) => record[component as usize].ty().zero(),
            _ => Constant::from(place == 0),
        };
        let arguments: Vec<Constant> = state.iter().copied().chain(of.step.reads.iter().map(read)).collect();
        let all: Vec<Value> = (0..arguments.len() + of.step.function.insts.len()).map(Value::new).collect();
        let values = interp::call(&Function { results: all, ..of.step.function.clone() }, &arguments, &of.tables);
        let results = &of.step.function.results;
        state = results.iter().map(|result| values[result.index()]).collect();
        let panics = results.iter().any(|&result| panics(&of.step.function, &values, result));
        if panics { Err(place) } else { Ok(state.clone()) }
    };
    records.iter().enumerate().map(next).collect()
}

/// A number of a type: mostly a small one, so that some loops come far.
fn number(ty: Type, is_wild: bool, random: &mut Random) -> Constant {
    match is_wild && random.chance(9) {
        true => random.constant(ty),
        false if ty == Type::Bool => Constant::from(random.chance(2)),
        false => ty.of_i64(random.below(5) as i64 - if ty.is_signed() { 2 } else { 0 }),
    }
}

#[test]
fn a_checked_scan_of_a_loop_gives_what_the_loop_gives_or_its_first_overflow() {
    let (mut equal, mut overflowed, mut regrouped, mut refused) = (0, 0, 0, 0);
    for seed in 0..2400 * rounds() {
        let of = random_loop(seed);
        let records: Vec<Type> = of.inputs.iter().flat_map(|column| column.types()).collect();
        let is_exact = |ty: Type| !ty.is_float();
        let step = &of.step.function;
        if !step.params.iter().copied().chain(step.insts.iter().map(|inst| inst.ty)).all(is_exact) {
            continue;
        }
        let Ok(builder) = DynScan::loop_builder(&of) else { continue };
        let mut random = Random(seed);
        let plan = PlanOptions {
            interleave: Some(1 << random.below(3)),
            block: Some(1 + random.below(9)),
            direct: Some(random.below(2) * 8),
            ..PlanOptions::default()
        };
        let scan = builder.plan(plan).threads(1 + 2 * random.below(2)).assume_associative().build().unwrap().checked();
        for round in 0..12 {
            let is_wild = round % 3 == 0;
            let parameters: Vec<Constant> = of.parameters.iter().map(|&ty| number(ty, is_wild, &mut random)).collect();
            let len = [1, 2, 7, 40, 150][random.below(5)];
            let record = |_| records.iter().map(|&ty| number(ty, is_wild, &mut random)).collect();
            let given: Vec<Vec<Constant>> = (0..len).map(record).collect();
            let bytes = |place: usize| given.iter().flat_map(|record| record[place].to_bytes()).collect::<Vec<u8>>();
            let columns: Vec<Vec<u8>> = (0..records.len()).map(bytes).collect();
            let inputs =
                columns.iter().zip(&of.inputs).map(|(bytes, layout)| Column::from_bytes(bytes, layout).unwrap());
            let layouts = &of.output.columns;
            let mut results: Vec<Vec<u8>> = layouts.iter().map(|layout| vec![0; len * layout.size as usize]).collect();
            let outputs =
                results.iter_mut().zip(layouts).map(|(bytes, layout)| ColumnMut::from_bytes(bytes, layout).unwrap());
            let (inputs, mut outputs) = (inputs.collect::<Vec<_>>(), outputs.collect::<Vec<_>>());
            let got = scan.with(&parameters).unwrap().run(&Call::default(), &inputs, &mut outputs);
            let expected = states(&of, &parameters, &given);
            let what = || format!("seed {seed}, round {round}, {len} records: {of:?}");
            match (got, expected) {
                (Ok(_), Ok(expected)) => {
                    let column = |place: usize| expected.iter().flat_map(move |state| state[place].to_bytes());
                    let same = |(place, bytes): (usize, &Vec<u8>)| column(place).eq(bytes.iter().copied());
                    assert!(results.iter().enumerate().all(same), "{}", what());
                    equal += 1;
                }
                (Err(Error::Overflowed { index, .. }), Err(expected)) => {
                    assert_eq!(index, expected, "{}", what());
                    overflowed += 1;
                }
                (Err(Error::Regrouped { index }), Err(expected)) if index <= expected => regrouped += 1,
                (Err(Error::Regrouped { .. }), Ok(_)) => regrouped += 1,
                (Err(Error::CheckedLoop), _) => refused += 1,
                (got, expected) => panic!("{got:?}, {:?}: {}", expected.err(), what()),
            }
        }
    }
    let seen = format!("{equal} equal, {overflowed} overflowed, {regrouped} regrouped, {refused} refused");
    println!("{seen}");
    assert!(equal > 3000 && overflowed > 500 && regrouped * 10 < equal && refused * 10 < equal, "{seen}");
}
