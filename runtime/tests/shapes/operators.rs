//! Families of operators over integers of every width, alone and two beside each other: what each
//! is alone, both are together.

use monoscan_ir::laws::{Overflow, judge};
use monoscan_ir::{
    Constant, Function, FunctionBuilder, Layout, Mapping, Opcode, Output, Program, Source, Stage, Type, Value, verify,
};
use monoscan_runtime::DynScan;
use scan_kit::Random;
use scan_kit::families::{FAMILIES, Operator, family};

use super::{Data, Sequential, any_plan, seeds};

const TYPES: [Type; 6] = [Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::U32];

/// A family that is lawful, and whose records may come in any order. Some are not in some types.
fn any(random: &mut Random) -> Operator {
    loop {
        let operator = family(random.below(FAMILIES), *random.pick(&TYPES));
        let is_lawful = || judge(&operator.stage(), &[], Overflow::NeverOccurs).verdict().is_accepted();
        if operator.follows.is_none() && is_lawful() {
            return operator;
        }
    }
}

/// Writes the results of a function of some states.
type Written<'a> = dyn Fn(&mut FunctionBuilder, &[Vec<Value>]) -> Vec<Value> + 'a;

/// The operators beside each other, as one stage.
fn stage(operators: &[Operator]) -> Stage {
    let stages: Vec<Stage> = operators.iter().map(Operator::stage).collect();
    let state: Vec<Type> = stages.iter().flat_map(|stage| stage.state.clone()).collect();
    let function = |copies: usize, of: &Written<'_>| -> Function {
        let mut b = FunctionBuilder::new();
        let params: Vec<Vec<Value>> = (0..copies).map(|_| b.params(&state)).collect();
        let results = of(&mut b, &params);
        b.finish(&results)
    };
    let mut ends = vec![0];
    stages.iter().for_each(|stage| ends.push(ends[ends.len() - 1] + stage.state.len()));
    let own = |place: usize| ends[place]..ends[place + 1];
    let combine = function(2, &|b, both| {
        let of = |(place, stage): (usize, &Stage)| {
            b.inline(&stage.combine, &[&both[0][own(place)], &both[1][own(place)]].concat())
        };
        stages.iter().enumerate().flat_map(of).collect()
    });
    let valid = stages.iter().any(|stage| stage.valid.is_some()).then(|| {
        function(1, &|b, state| {
            let mut all = Vec::new();
            for (place, stage) in stages.iter().enumerate() {
                all.extend(stage.valid.iter().flat_map(|valid| b.inline(valid, &state[0][own(place)])));
            }
            vec![all.into_iter().reduce(|x, y| b.binary(Opcode::And, x, y)).expect("one is demanded")]
        })
    });
    let lift = Mapping {
        reads: (0..state.len() as u32).map(Source::Record).collect(),
        function: function(1, &|_, record| record[0].clone()),
    };
    let identity = stages.iter().flat_map(|stage| stage.identity.clone()).collect();
    Stage { identity, combine, valid, lift, state, ..Stage::default() }
}

/// Scans of a record that is a state, which write the state.
fn program(stage: Stage) -> Program {
    let record = Layout::packed(&stage.state);
    let mut b = FunctionBuilder::new();
    let state = b.params(&stage.state);
    let project =
        Mapping { reads: (0..stage.state.len() as u32).map(Source::State).collect(), function: b.finish(&state) };
    Program {
        name: "families".into(),
        tables: Vec::new(),
        inputs: vec![record.clone()],
        parameters: Vec::new(),
        stages: vec![stage],
        output: Output { filter: None, project, columns: vec![record] },
        sequential: None,
    }
}

/// A valid state of small numbers.
fn valid(operator: &Operator, random: &mut Random) -> Vec<i64> {
    let lowest = if operator.int.0.is_signed() { -2 } else { 0 };
    let drawn = (0..40).find_map(|_| {
        let state: Vec<i64> = operator.identity.iter().map(|_| lowest + random.below(5) as i64).collect();
        operator.is_valid(&state).then_some(state)
    });
    drawn.unwrap_or_else(|| operator.identity())
}

#[test]
fn families_are_built_in_every_width_alone_and_together() {
    let mut wrong = Vec::new();
    let all = seeds(120);
    for seed in all {
        let mut random = Random(seed);
        let operators: Vec<Operator> = (0..1 + seed % 2).map(|_| any(&mut random)).collect();
        let what =
            || format!("seed {seed}: {:?}", operators.iter().map(|of| (of.int, &of.combine)).collect::<Vec<_>>());
        let program = verify(program(stage(&operators))).unwrap_or_else(|errors| panic!("{errors}"));
        let plan = any_plan(&mut random);
        let scan = match DynScan::builder(program).plan(plan).threads(1).build() {
            Ok(scan) => scan,
            Err(error) => {
                wrong.push(format!("{}\n{error}", what()));
                continue;
            }
        };
        let len = [40, 40, 300, 300, 2000][random.below(5)];
        let records: Vec<Vec<Vec<i64>>> =
            (0..len).map(|_| operators.iter().map(|operator| valid(operator, &mut random)).collect()).collect();
        let constants = |states: &[Vec<i64>]| -> Vec<Constant> {
            let of = |(operator, state): (&Operator, &Vec<i64>)| {
                state.iter().map(|&number| operator.int.0.of_i64(number)).collect::<Vec<_>>()
            };
            operators.iter().zip(states).flat_map(of).collect()
        };
        let layout = &scan.program().inputs[0];
        let bytes = records.iter().flat_map(|record| layout.to_bytes(&constants(record))).collect();
        let data = Data { inputs: vec![(bytes, layout)], outputs: &scan.program().output.columns, len };
        let start: Vec<Vec<i64>> = operators.iter().map(Operator::identity).collect();
        let states = |places: &[usize]| {
            let mut state = start.clone();
            let next = |&place: &usize| {
                let parts = operators.iter().zip(&state).zip(&records[place]);
                state = parts.map(|((of, before), record)| of.combine(before, record)).collect::<Option<_>>()?;
                Some(constants(&state))
            };
            places.iter().map_while(next).collect()
        };
        let expected = Sequential { start: constants(&start), states: Some(&states) };
        if let Some(why) = data.wrong(&scan, &expected, &mut random) {
            wrong.push(format!("{}\n{why}", what()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}
