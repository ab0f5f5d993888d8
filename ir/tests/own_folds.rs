//! Folds in the loop's own numbers: what they leave of a run does to every state what the loop
//! does, wherever the loop does not overflow.

use monoscan_ir::derive::{Derivation, Family, LoopProgram, derive};
use monoscan_ir::facts::OwnFold;
use monoscan_ir::laws::{Overflow::NeverOccurs, judge};
use monoscan_ir::random::SplitMix64;
use monoscan_ir::transform::{Form, lower};
use monoscan_ir::{
    Constant, FunctionBuilder, Layout, Mapping, Opcode, Output, Source, Type, Value, interp, text, verify,
};

/// Columns of a loop: numbers of the state's type, and whether it starts again.
const NUMBERS: u32 = 2;

/// A loop of one component of this type whose step is a few sums and bounds, of constants and of what records have.
fn bounded(ty: Type, numbers: &mut SplitMix64) -> LoopProgram {
    let mut b = FunctionBuilder::new();
    let state = b.param(ty);
    let records: Vec<Value> = (0..NUMBERS).map(|_| b.param(ty)).collect();
    let starts = b.param(Type::Bool);
    let mut after = state;
    for _ in 0..2 + numbers.next() % 4 {
        let k = match numbers.next() % 4 {
            0 => b.constant(ty.of_i64((numbers.next() % 200) as i64 - if ty.is_signed() { 100 } else { 0 })),
            place => records[place as usize % records.len()],
        };
        let opcode = match numbers.next() % 8 {
            0 | 1 => Opcode::Add,
            2 => Opcode::Sub,
            3 => Opcode::AddSat,
            4 => Opcode::SubSat,
            5 => Opcode::Max,
            _ => Opcode::Min,
        };
        after = b.binary(opcode, after, k);
    }
    if numbers.next().is_multiple_of(4) {
        after = b.select(starts, records[0], after);
    }
    let layout = Layout::of(ty);
    let inputs = vec![layout.clone(), layout.clone(), Layout::of(Type::Bool)];
    let reads = (0..=NUMBERS).map(Source::Record).collect();
    let mut same = FunctionBuilder::new();
    let whole = same.param(ty);
    let project = Mapping { reads: vec![Source::State(0)], function: same.finish(&[whole]) };
    LoopProgram {
        name: "bounded".into(),
        tables: vec![],
        inputs,
        parameters: vec![],
        names: vec!["s".into()],
        record_names: Vec::new(),
        initial: vec![ty.of_i64(3)],
        step: Mapping { reads, function: b.finish(&[after]) },
        places: vec![],
        output: Output { filter: None, project, columns: vec![layout] },
    }
}

/// A small number, a large one, or an end of the type.
fn number(ty: Type, numbers: &mut SplitMix64) -> Constant {
    let small = numbers.next() % 64;
    let ends = [0, ty.mask(), ty.mask() >> 1, (ty.mask() >> 1) + 1].map(|end| end.wrapping_add(u128::from(small % 5)));
    match numbers.next() % 4 {
        0 => Constant::new(ty, u128::from(numbers.next()) & ty.mask()),
        1 => Constant::new(ty, ends[small as usize % 4].wrapping_sub(2) & ty.mask()),
        _ => ty.of_i64(small as i64 - if ty.is_signed() { 32 } else { 0 }),
    }
}

/// The state after a run, unless the loop overflows.
fn looped(of: &LoopProgram, state: Constant, records: &[Vec<Constant>]) -> Option<Constant> {
    records.iter().try_fold(state, |state, record| {
        let (after, overflowed) = interp::call_checked(&of.step.function, &[&[state][..], record].concat(), &of.tables);
        (!overflowed).then_some(after[0])
    })
}

/// The state that the fold of a run makes of one.
fn folded(derivation: &Derivation, fold: &OwnFold, state: Constant, records: &[Vec<Constant>]) -> Constant {
    let tables = &derivation.program.tables;
    let mut carried = fold.initial.clone();
    for (place, record) in records.iter().enumerate() {
        let step = if place == 0 { &fold.step } else { &fold.later };
        let read = |source: &Source| match *source {
            Source::State(component) => carried[component as usize],
            Source::Record(component) => record[component as usize],
            _ => unreachable!("the loop has one component"),
        };
        let arguments: Vec<Constant> = step.reads.iter().map(read).collect();
        carried = interp::call(&step.function, &arguments, tables);
    }
    let run = interp::call(&fold.leave, &carried, tables);
    let start = interp::call(&derivation.seed, &[state], tables);
    let after = interp::call(&derivation.program.stages[0].combine, &[start, run].concat(), tables);
    interp::call(&derivation.value, &after, tables)[0]
}

/// The state that the stage makes of one by a run that is composed in any grouping.
fn composed(derivation: &Derivation, state: Constant, records: &[Vec<Constant>], numbers: &mut SplitMix64) -> Constant {
    let (tables, stage) = (&derivation.program.tables, &derivation.program.stages[0]);
    let lift = |record: &Vec<Constant>| {
        let read = |source: &Source| match *source {
            Source::Record(component) => record[component as usize],
            _ => unreachable!("the loop has one component"),
        };
        let arguments: Vec<Constant> = stage.lift.reads.iter().map(read).collect();
        interp::call(&stage.lift.function, &arguments, tables)
    };
    let mut run: Vec<Vec<Constant>> = records.iter().map(lift).collect();
    run.push(stage.identity.clone());
    while run.len() > 1 {
        let place = numbers.next() as usize % (run.len() - 1);
        let later = run.remove(place + 1);
        run[place] = interp::call(&stage.combine, &[&run[place][..], &later].concat(), tables);
    }
    let start = interp::call(&derivation.seed, &[state], tables);
    let after = interp::call(&stage.combine, &[&start[..], &run[0]].concat(), tables);
    interp::call(&derivation.value, &after, tables)[0]
}

/// Of every type, from states and by steps at its ends too. The laws of those of 32 and 64 bits with both bounds are proved.
#[test]
fn bounded_sums_are_composed_as_the_loop_goes() {
    use Type::{I8, I16, I32, I64, U8, U16, U32, U64};
    let numbers = &mut SplitMix64(5);
    let (mut compared, mut proved, mut ramps) = (0, 0, 0);
    for round in 0..240 {
        let ty = [I8, U8, I16, U16, I32, U32, I64, U64][round % 8];
        let of = bounded(ty, numbers);
        let Ok(derivation) = derive(&of) else { continue };
        // A table has those states alone that the loop reaches.
        let family = &derivation.groups[0].family;
        if !matches!(family, Family::Clamp { .. } | Family::Tropical { .. }) {
            continue;
        }
        let stage = &derivation.program.stages[0];
        if round % 8 > 3 && stage.state == [ty; 3] && stage.valid.is_some() {
            let judgement = judge(stage, &derivation.program.tables, NeverOccurs);
            assert!(judgement.verdict().is_proved(), "round {round}\n{}\n{judgement}", derivation.explain());
            // Steps of several sums have too many cases.
            proved += usize::from(derivation.is_step_proved());
            ramps += 1;
        }
        for _ in 0..40 {
            let (records, state) = run(ty, numbers);
            let Some(expected) = looped(&of, state, &records) else { continue };
            compared += 1;
            let got = composed(&derivation, state, &records, numbers);
            assert_eq!(got, expected, "round {round}: from {state:?} through {records:?}\n{}", of.step);
        }
    }
    assert!(proved * 2 > ramps && ramps > 25 && compared > 2000, "{proved} of {ramps} proved, {compared} runs");
}

/// Up to five records, and a state before them.
fn run(ty: Type, numbers: &mut SplitMix64) -> (Vec<Vec<Constant>>, Constant) {
    let count = numbers.next() % 6;
    let mut record =
        || vec![number(ty, numbers), number(ty, numbers), Constant::from(numbers.next().is_multiple_of(5))];
    let records = (0..count).map(|_| record()).collect();
    (records, number(ty, numbers))
}

/// Every element behind the first may be taken by the step that looks at fewer bounds, and the text form has all of it.
#[test]
fn bounded_sums_are_folded_as_the_loop_goes() {
    let numbers = &mut SplitMix64(17);
    let (mut folds, mut compared, mut shorter) = (0, 0, 0);
    for round in 0..400 {
        let ty = if round % 2 == 0 { Type::I32 } else { Type::U32 };
        let of = bounded(ty, numbers);
        let Ok(derivation) = derive(&of) else { continue };
        let printed = derivation.program.to_string();
        assert_eq!(text::parse(&printed).unwrap(), derivation.program, "{printed}");
        let lowered = lower(&verify(derivation.program.clone()).unwrap(), Form::default());
        let Some(fold) = lowered.own_fold(0) else { continue };
        folds += 1;
        shorter += usize::from(fold.later.function.insts.len() < fold.step.function.insts.len());
        for _ in 0..60 {
            let (records, state) = run(ty, numbers);
            let Some(expected) = looped(&of, state, &records) else { continue };
            compared += 1;
            let got = folded(&derivation, &fold, state, &records);
            assert_eq!(got, expected, "round {round}: from {state:?} through {records:?}\n{printed}");
        }
    }
    assert!(folds > 80 && compared > 2000 && shorter > 10, "{folds} folds, {compared} runs, {shorter} shorter");
}
