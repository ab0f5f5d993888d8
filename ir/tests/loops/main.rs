//! Random steps: what is derived from one is the loop, in blocks of any length, or it is refused.
//!
//! `MONOSCAN_ROUNDS=1000000 nice -n 19 cargo test --release --package monoscan-ir --test loops`
//! tries so many steps, from `MONOSCAN_FIRST` on; with `MONOSCAN_EVERY` one of so many. Steps 15,
//! 47, 79, … are of one shape, so `MONOSCAN_FIRST=15 MONOSCAN_EVERY=32` tries that alone; steps 23,
//! 55, 87, … are counters, and steps 7, 39, 71, … machines of a few states.

mod by_hand;

use std::collections::BTreeMap;

use monoscan_ir::derive::{Derivation, Family, LoopProgram, Refusal, SourcePlace, Why, derive};
use monoscan_ir::interp::{Request, run_in_chunks};
use monoscan_ir::laws::{Overflow::NeverOccurs, Words, judge};
use monoscan_ir::random::SplitMix64;
use monoscan_ir::{Constant, Inst, Opcode, Program, Type, interp, verify};
use scan_kit::loop_step::step_arguments;
use scan_kit::random::random_loop;

const RECORDS: usize = 23;

/// A record of small numbers; some have a large one among them.
fn record(types: &[Type], numbers: &mut SplitMix64) -> Vec<Constant> {
    let number = |ty: &Type| {
        let bits = numbers.next();
        let small = (bits >> 8) as i64 % 5;
        match *ty {
            Type::Bool => Constant::from(bits & 1 == 0),
            Type::F32 => Constant::from(small as f32 / 4.0),
            Type::F64 => Constant::from(small as f64 / 4.0),
            ty if bits.is_multiple_of(61) => Constant::new(ty, u128::from(bits.rotate_left(44))),
            ty if ty.is_signed() => ty.of_i64(small),
            ty => ty.of_i64(small.abs()),
        }
    };
    types.iter().map(number).collect()
}

/// The states after each record, each with the largest float on the way, as long as nothing overflows, every number on the way is of
/// moderate size, and a quotient tells more than rounding: at a fixed point that repels, each step multiplies what was rounded.
fn sequential(
    of: &LoopProgram,
    has_poles: bool,
    parameters: &[Constant],
    records: &[Vec<Constant>],
) -> Vec<(Vec<Constant>, f64)> {
    let step = &of.step.function;
    let all = step.values().map(|(value, _)| value).collect();
    let all = monoscan_ir::Function { results: all, ..step.clone() };
    let is_finite = |c: &Constant| !c.ty().is_float() || c.as_f64().abs() < 1e6;
    let divides = |inst: &&Inst| has_poles && inst.opcode == Opcode::Div;
    let divisors = step.insts.iter().filter(divides).map(|inst| inst.operands()[1]).collect();
    let divisors = monoscan_ir::Function { results: divisors, ..step.clone() };
    // What is no more than rounding left of 0 says nothing.
    let may_be_zero = |divisor: &Constant, largest: f64| {
        let relative = if divisor.ty() == Type::F32 { 1e-2 } else { 1e-5 };
        divisor.ty().is_float() && divisor.as_f64().abs() < relative * largest
    };
    let mut state = of.initial.clone();
    let mut shaken = state.clone();
    let (mut states, mut largest) = (Vec::new(), 1.0f64);
    for place in 0..records.len() {
        let arguments = step_arguments(of, &state, parameters, records, place);
        let (next, overflowed) = interp::call_checked(step, &arguments, &of.tables);
        let on_the_way = interp::call(&all, &arguments, &of.tables);
        if overflowed || !on_the_way.iter().chain(&next).all(is_finite) {
            break;
        }
        let floats = on_the_way.iter().filter(|c| c.ty().is_float());
        largest = floats.fold(largest, |largest, c| largest.max(c.as_f64().abs()));
        if interp::call(&divisors, &arguments, &of.tables).iter().any(|divisor| may_be_zero(divisor, largest)) {
            break;
        }
        if has_poles {
            let arguments = step_arguments(of, &shaken, parameters, records, place);
            shaken = interp::call(step, &arguments, &of.tables).iter().copied().map(shake).collect();
            if !shaken.iter().zip(&next).all(|(&shaken, &next)| is_near(shaken, next, largest)) {
                break;
            }
        }
        state.clone_from(&next);
        states.push((next, largest));
    }
    states
}

/// A float that some roundings changed.
fn shake(of: Constant) -> Constant {
    match of.ty() {
        Type::F32 => (of.as_f64() as f32 * (1.0 + 4.0 * f32::EPSILON)).into(),
        Type::F64 => (of.as_f64() * (1.0 + 4.0 * f64::EPSILON)).into(),
        _ => of,
    }
}

/// The states after each record by the scan, by this request, in blocks of so many.
fn scanned(program: Program, request: &Request, records: &[Vec<Constant>], block: usize) -> Vec<Vec<Constant>> {
    let column = |place: usize| records.iter().flat_map(|record| record[place].to_bytes()).collect::<Vec<u8>>();
    let columns: Vec<Vec<u8>> = (0..program.inputs.len()).map(column).collect();
    let columns: Vec<&[u8]> = columns.iter().map(Vec::as_slice).collect();
    let types = program.output_types();
    let program = verify(program).unwrap_or_else(|errors| panic!("{errors}"));
    let run = run_in_chunks(&program, &columns, request, block).unwrap();
    let part =
        |(ty, bytes): (&Type, &Vec<u8>), i: usize| Constant::from_bytes(*ty, &bytes[i * ty.size()..][..ty.size()]);
    (0..records.len()).map(|i| types.iter().zip(&run.outputs).map(|column| part(column, i)).collect()).collect()
}

/// Equal, but for rounding on the way through numbers of this size.
fn is_near(got: Constant, expected: Constant, largest: f64) -> bool {
    let tolerance = match expected.ty() {
        Type::F32 => 1e-4,
        Type::F64 => 1e-9,
        _ => return got == expected,
    };
    (got.as_f64() - expected.as_f64()).abs() <= tolerance * largest
}

/// The fault of a derivation, if there is one.
fn wrong(of: &LoopProgram, derivation: &Derivation, seed: u64) -> Option<String> {
    let types: Vec<Type> = of.inputs.iter().flat_map(|layout| layout.types()).collect();
    let mut numbers = SplitMix64(seed);
    let records: Vec<Vec<Constant>> = (0..RECORDS).map(|_| record(&types, &mut numbers)).collect();
    let parameters = record(&of.parameters, &mut numbers);
    let types: Vec<Type> = of.initial.iter().map(|initial| initial.ty()).collect();
    let other = LoopProgram { initial: record(&types, &mut numbers), ..of.clone() };
    // Any other state that going to the scan's and back leaves as it is stands for itself.
    let tables = &derivation.program.tables;
    let back = interp::call(&derivation.value, &interp::call(&derivation.seed, &other.initial, tables), tables);
    let stands = back.iter().zip(&other.initial).all(|(back, own)| back.same(*own));
    let starts = [Some(of), Some(&other).filter(|_| stands)];
    starts.into_iter().flatten().find_map(|of| {
        let found = wrong_from(of, derivation, &records, parameters.clone());
        found.map(|what| format!("from {:?}, {what}", of.initial))
    })
}

/// The same from its initial state.
fn wrong_from(
    of: &LoopProgram,
    derivation: &Derivation,
    records: &[Vec<Constant>],
    parameters: Vec<Constant>,
) -> Option<String> {
    let has_poles = derivation.groups.iter().any(|group| group.family == Family::Quotient);
    let expected = sequential(of, has_poles, &parameters, records);
    let records = &records[..expected.len()];
    let whole = &derivation.program;
    let mut seed = interp::call(&derivation.seed, &of.initial, &whole.tables).into_iter();
    let start: Vec<Vec<Constant>> =
        whole.stages.iter().map(|stage| seed.by_ref().take(stage.state.len()).collect()).collect();
    let request = Request { init: Some(start), parameters, ..Request::default() };
    let by_combine = Program { sequential: None, ..whole.clone() };
    for block in [1, 2, 3, 7, usize::MAX] {
        for (program, is_loop) in [(whole, whole.sequential.is_some()), (&by_combine, false)] {
            let got = scanned(program.clone(), &request, records, block);
            // The loop in one block is the loop to the bit. Once a float is rounded otherwise, what compares it may differ.
            let mut is_exact = true;
            for (i, (got, (expected, largest))) in got.iter().zip(&expected).enumerate() {
                let same = got.iter().zip(expected).all(|(&got, &expected)| got.same(expected));
                let near = got.iter().zip(expected).all(|(&got, &expected)| is_near(got, expected, *largest));
                if !near && is_exact || !same && is_loop && block == usize::MAX {
                    return Some(format!("blocks of {block}, record {i}: {got:?}, expected {expected:?}"));
                }
                is_exact &= same;
            }
        }
    }
    None
}

/// The verdict of a judge against the laws of the stages, if there is one. Composition is the family's, so some hundred programs have all
/// there are.
fn unlawful(derivation: &Derivation) -> Option<String> {
    let tables = &derivation.program.tables;
    derivation.program.stages.iter().find_map(|stage| {
        let judgement = judge(stage, tables, NeverOccurs);
        (!judgement.verdict().is_accepted()).then(|| judgement.report(&[], &Words::default()).to_string())
    })
}

/// Whether a refusal names the components, and what it is about and where, unless that is the step as a whole.
fn is_whole(refusal: &Refusal) -> bool {
    let is_of_all = match refusal.why {
        Why::Size { .. } | Why::Components { .. } | Why::Effort => true,
        Why::Vector { .. } | Why::Method(_) => refusal.source.is_some(),
        _ => refusal.place.is_some() && refusal.source.is_some(),
    };
    !refusal.components.is_empty() && (is_of_all || refusal.why == Why::Several && refusal.source.is_some())
}

/// How many steps were derived, of so many, and by which families; and the first that was wrong.
fn tried(seeds: impl Iterator<Item = u64>) -> (usize, BTreeMap<String, usize>, Option<String>) {
    let (mut derived, mut families) = (0, BTreeMap::new());
    for seed in seeds {
        let mut of = random_loop(seed);
        of.places = (1..=of.step.function.insts.len() as u32)
            .map(|line| Some(SourcePlace { file: "random".into(), line, column: 1, method: None }))
            .collect();
        let Ok(result) = std::panic::catch_unwind(|| derive(&of)) else {
            return (derived, families, Some(format!("seed {seed}: a panic, from {:?}\n{}", of.initial, of.step)));
        };
        let found = match result {
            Ok(derivation) => {
                derived += 1;
                for group in &derivation.groups {
                    let name = format!("{:?}", group.family);
                    *families.entry(name.split([' ', '{', '(']).next().unwrap_or("").to_owned()).or_insert(0) += 1;
                }
                let found = wrong(&of, &derivation, seed);
                let found = found.or_else(|| (seed < JUDGED).then(|| unlawful(&derivation)).flatten());
                found.map(|what| format!("{}\n{what}", derivation.explain()))
            }
            Err(refusal) => (refusal.why == Why::Wrong || !is_whole(&refusal)).then(|| refusal.to_string()),
        };
        if let Some(what) = found {
            return (derived, families, Some(format!("seed {seed}: from {:?}\n{}\n{what}", of.initial, of.step)));
        }
    }
    (derived, families, None)
}

/// Of how many steps the laws are judged too.
const JUDGED: u64 = 150;

#[test]
fn what_is_derived_from_a_random_step_is_the_loop() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (rounds, every) = (number("MONOSCAN_ROUNDS", 900), number("MONOSCAN_EVERY", 1));
    let seeds = (number("MONOSCAN_FIRST", 0)..).step_by(every as usize).take(rounds as usize);
    let (derived, families, wrong) = tried(seeds);
    println!("{derived} of {rounds} steps derived: {families:?}");
    assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
    if every > 1 {
        return; // Not all shapes are among them.
    }
    assert!(derived as u64 > rounds / 5, "{derived} of {rounds}");
    for family in [
        "Last",
        "Latch",
        "Moves",
        "Accumulate",
        "Table",
        "Clamp",
        "Affine",
        "Tropical",
        "Modular",
        "Bits",
        "Interval",
        "Quotient",
    ] {
        assert!(families.contains_key(family), "no random step has the family {family}: {families:?}");
    }
}

/// A few states are a table, wherever their values are.
#[test]
fn every_machine_of_a_few_states_is_derived() {
    let (derived, families, wrong) = tried((7..).step_by(32).take(200));
    assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
    assert!(derived == 200 && families["Table"] > 100, "{derived}: {families:?}");
}

/// Factors of records under bounds may grow.
#[test]
fn factors_under_bounds_that_may_be_above_1_are_refused() {
    // In the last two a state meets itself in a sum.
    for seed in [382_106, 458_956, 20_122, 28_072] {
        let refused = derive(&random_loop(seed)).unwrap_err();
        assert!(refused.why == Why::Growth && refused.place.is_some(), "{refused}");
    }
}

/// Steps that were once refused as bugs: numbers were judged that rounding had left of 0, or that leave the type when seven are
/// multiplied.
#[test]
fn steps_that_were_refused_as_bugs_are_derived() {
    for (seed, family) in [(50_431, "Quotient"), (396_767, "Quotient"), (643_007, "Quotient"), (694_229, "Affine")] {
        let (derived, families, wrong) = tried(seed..seed + 1);
        assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
        assert!(derived == 1 && families.contains_key(family), "{families:?}");
    }
}
